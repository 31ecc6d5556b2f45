/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "obs/text.h"
#include "study/rows.h"
#include "study/text_grid.h"

bool text_grid_new(struct text_grid *g, size_t cols, size_t lines, size_t left)
{
    *g = (struct text_grid){.cols = cols, .lines = lines, .left = left};
    g->cell = calloc(cols * lines + 1, sizeof(*g->cell));
    return g->cell != NULL;
}

void text_grid_set(struct text_grid *g, size_t line, size_t col, const char *text)
{
    g->cell[line * g->cols + col] = strdup(text);
}

static const char *grid_get(const struct text_grid *g, size_t line, size_t col)
{
    const char *text = g->cell[line * g->cols + col];

    return text ? text : "";
}

static int column_width(const struct text_grid *g, size_t col)
{
    int widest = 0;

    for (size_t l = 0; l < g->lines; l++)
        if (text_width(grid_get(g, l, col)) > widest)
            widest = text_width(grid_get(g, l, col));
    return widest;
}

/* The columns after the first `left` are numbers. */
static void put_rows(const struct text_grid *g, FILE *out, const char **text)
{
    struct rows rows;

    rows_begin(&rows, out, g->format == GRID_JSON, text);
    rows.numbers = g->left;
    for (size_t l = 1; l < g->lines; l++) {
        const char **line = text + g->cols + 1;

        for (size_t c = 0; c < g->cols; c++) {
            const char *cell = grid_get(g, l, c);

            line[c] = *cell ? cell : NULL;
        }
        rows_put(&rows, line);
    }
    rows_end(&rows);
}

static int put_as_rows(struct text_grid *g, FILE *out)
{
    const char **text = calloc(2 * g->cols + 2, sizeof(*text)); /* names, then one line */

    for (size_t c = 0; text && c < g->cols; c++)
        text[c] = grid_get(g, 0, c);
    if (text)
        put_rows(g, out, text);
    free(text);
    return text ? 0 : -1;
}

static void grid_free(struct text_grid *g)
{
    for (size_t i = 0; i < g->cols * g->lines; i++)
        free(g->cell[i]);
    free(g->cell);
}

static int put_table(const struct text_grid *g, FILE *out)
{
    int *width = calloc(g->cols + 1, sizeof(*width));
    bool missing = false;

    for (size_t c = 0; width && c < g->cols; c++)
        width[c] = column_width(g, c);
    for (size_t l = 0; width && l < g->lines; l++)
        for (size_t c = 0; c < g->cols; c++) {
            const char *text = grid_get(g, l, c);
            const int pad = width[c] - text_width(text);
            const bool last = c + 1 == g->cols;
            const bool left = c < g->left || (last && g->left_last);

            missing = missing || !g->cell[l * g->cols + c];
            if (!left)
                fprintf(out, "%*s", pad, "");
            text_put(out, text);
            if (left && !last)
                fprintf(out, "%*s", pad, "");
            fputs(last ? "\n" : "  ", out);
        }
    missing = missing || !width;
    free(width);
    return missing ? -1 : 0;
}

int text_grid_put(struct text_grid *g, FILE *out)
{
    const int failed = g->format == GRID_TABLE ? put_table(g, out) : put_as_rows(g, out);

    grid_free(g);
    if (failed)
        errno = ENOMEM;
    return failed || fflush(out) != 0 || ferror(out) ? -1 : 0;
}
