/* SPDX-License-Identifier: MIT */
/*
 * What the files of this folder share and nobody else may see: the arena of a tree, a growing text,
 * and reports that are made before there is a node.
 */
#ifndef SIM_CONF_INTERNAL_H
#define SIM_CONF_INTERNAL_H

#include "conf/conf.h"

#define CONF_MAX_BYTES ((size_t)4 << 20)
#define CONF_MAX_DEPTH 64
#define CONF_MAX_KEY   128 /* bytes; with every byte escaped still a simple key for the parser */
#define CONF_LIST_MAX  12  /* names of valid choices that a message may list */
#define CONF_SHOWN     64  /* buffer for a text shortened for a message */

/* Memory that is given back all at once. Allocations are zeroed and aligned for any type. */
struct conf_arena {
    struct conf_chunk *head;
};

void *conf_arena_alloc(struct conf_arena *a, size_t size);
char *conf_arena_copy(struct conf_arena *a, const char *s, size_t len);
void conf_arena_free(struct conf_arena *a);

struct conf_tree {
    struct conf_arena arena; /* holds everything, the names of files included */
    struct conf_node *root;
};

/* All of these return NULL or false without memory, and report nothing. */
struct conf_tree *conf_tree_new(void);
struct conf_node *conf_node_new(struct conf_tree *t, enum conf_kind kind, const char *file,
                                int line, int column);
struct conf_node *conf_node_copy(struct conf_tree *t, const struct conf_node *n);
bool conf_node_append(struct conf_tree *t, struct conf_node *parent, struct conf_node *child);

/* A text that grows; `failed` once memory ran out, and then it stays as it is. */
struct conf_buf {
    char *s; /* NULL until the first byte, else NUL-terminated */
    size_t n, cap;
    bool failed;
};

void conf_buf_add(struct conf_buf *b, const char *s, size_t len);
void conf_buf_str(struct conf_buf *b, const char *s);

/* The first characters of `text`, "..." at the end of a cut one, never cut inside a character. */
const char *conf_shown(const char *text, char out[CONF_SHOWN]);
/* "; did you mean 'x'?", or the list of names when none is near and the list is short, or nothing.
 */
void conf_hint(struct conf_buf *b, const char *name, const char *const *names, size_t n,
               const char *list_title);
/* Starts a message about a scalar: "'key' is 'text'", "'key' has no value", "'key' is a list". */
void conf_subject(const struct conf_node *n, struct conf_buf *b);
/* Reports "<subject>, expected <what>". */
void conf_expected(struct conf_errors *e, const struct conf_node *n, const char *what);
/* Double as the shortest text that reads back the same, with a point whatever the locale. */
void conf_real_text(double v, char out[32]);
/* "true" or "on" and so on: 1 or 0; -1 for any other text. */
int conf_bool_word(const char *text);

void conf_error_at(struct conf_errors *e, const char *file, int line, int column, const char *fmt,
                   ...) __attribute__((format(printf, 5, 6)));
/* Moves all faults of `from` to the end of `to`, by position, each with `suffix` at its end. */
void conf_errors_move(struct conf_errors *to, struct conf_errors *from, const char *suffix);

/* Parses `len` bytes of UTF-8 without NUL and without byte order mark. */
struct conf_tree *conf_parse(const char *name, const char *text, size_t len, struct conf_errors *e);
/* Line and column, from 1 and in characters, of the byte at `offset`. */
void conf_position(const char *text, size_t len, size_t offset, int *line, int *column);

#endif
