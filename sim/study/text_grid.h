/* SPDX-License-Identifier: MIT */
/* Tables for people: columns as wide as their texts, words to the left, numbers to the right. */
#ifndef SIM_STUDY_TEXT_GRID_H
#define SIM_STUDY_TEXT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum grid_format { GRID_TABLE, GRID_JSON, GRID_CSV };

struct text_grid {
    size_t cols, lines, left; /* the first `left` columns are words */
    /* Other than a table: line 0 names the columns, and "" is no value. Set after text_grid_new. */
    enum grid_format format;
    bool left_last; /* and the last one; set after text_grid_new */
    char **cell;    /* lines * cols, NULL where memory ran out */
};

bool text_grid_new(struct text_grid *g, size_t cols, size_t lines, size_t left);
/* Copies the text. Every cell is set once. */
void text_grid_set(struct text_grid *g, size_t line, size_t col, const char *text);
/* Prints and frees. 0, or -1 with errno. */
int text_grid_put(struct text_grid *g, FILE *out);

#endif
