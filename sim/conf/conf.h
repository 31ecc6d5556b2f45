/* SPDX-License-Identifier: MIT */
/*
 * YAML with positions. A file becomes a tree of nodes that know their line and column; readers of
 * the tree report faults into a list, so that all faults of a file come out at once.
 *
 * Always true: depth <= 64, file <= 4 MB, one document, no aliases or anchors, no duplicate keys
 * (each of these is an error with a position); after a syntax error only that one is reported;
 * after 1000 faults a file is given up.
 * Nothing here exits or prints.
 */
#ifndef SIM_CONF_CONF_H
#define SIM_CONF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "engine/engine.h"

enum conf_kind { CONF_SCALAR, CONF_MAP, CONF_SEQ };

/* Owned by its tree. Strings are UTF-8, NUL-terminated, without NUL inside. */
struct conf_node {
    enum conf_kind kind;
    bool quoted;      /* scalar written in quotes: a string, never a number or bool */
    const char *text; /* scalar */
    const char *key;  /* when the child of a mapping */
    int line, column; /* of the value, from 1 */
    int key_line, key_column;
    size_t n; /* children of a mapping or sequence, in file order */
    struct conf_node **child;
    const char *file; /* name for messages; "command line" for overrides */
};

struct conf_tree;

/* One fault: "file:line:column: message" (+ "; did you mean 'x'?"). */
struct conf_errors {
    size_t n;
    struct conf_error *list;
};

struct conf_error {
    char *text;       /* the whole line, ready to print: no control characters, of bounded length */
    int line, column; /* 0 for a fault without a position */
    size_t file_len;  /* of the file name at the start of `text` */
    size_t file;      /* files are numbered as they are first reported */
};

/* A list starts as {0}. Whoever reports takes NULL for a list that nobody wants to see. */
void conf_errors_free(struct conf_errors *e);
/* By file (in the order of first report), line and column; each line once. */
void conf_errors_print(const struct conf_errors *e, FILE *out);
/* Reports at the node; conf_error_key at its key when it has one. */
void conf_error(struct conf_errors *e, const struct conf_node *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void conf_error_key(struct conf_errors *e, const struct conf_node *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A fault without a node, e.g. a file that cannot be opened: "name: message". */
void conf_error_file(struct conf_errors *e, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* NULL with at least one error when the file cannot be read or parsed. An empty file is an error. A
 * byte order mark of UTF-8 and all three line ends are accepted. */
struct conf_tree *conf_read_file(const char *path, struct conf_errors *e);
struct conf_tree *conf_read_text(const char *name, const char *text, size_t len,
                                 struct conf_errors *e);
/* A deep copy, for overrides. NULL without memory. */
struct conf_tree *conf_clone(const struct conf_tree *t);
void conf_free(struct conf_tree *t);
struct conf_node *conf_root(const struct conf_tree *t);

/* Child of a mapping by key, NULL when absent or when `map` is NULL or no mapping. */
const struct conf_node *conf_get(const struct conf_node *map, const char *key);
/* Sets KEY.PATH to a value given as YAML text ("hlt", "2ms", "{cps-load: {threshold: 2}}"). List
 * elements by index or by the value of their `name`. Missing mappings on the way are made. Returns
 * false with an error (naming the part of the path that failed, nearest key) when it cannot; the
 * tree is then as it was.
 *
 * A choice is written as a name or as a name with parameters, and a path need not say which.
 * Through a name: with `policy: cps-load`, the path `policy.threshold` makes of it
 * `policy: {cps-load: {threshold: V}}`; `policy.cps-load.threshold` does the same. A number, a time
 * or a switch is no name, and a path through it is an error.
 * Into the only choice: with `policy: {cps-load: {degree: 1}}`, the path `policy.threshold` goes to
 * cps-load unless `policy` itself has that key. This holds for the value of a key whose only child
 * is a mapping that holds no mapping; not for the top level, a list element, or a section that
 * holds choices: with `host: {scheduler: {eevdf: {}}}`, `host.tick` is a new key of `host`. */
bool conf_set(struct conf_tree *t, const char *path, const char *value, struct conf_errors *e);
/* The same with a node (copied) as value. */
bool conf_set_node(struct conf_tree *t, const char *path, const struct conf_node *value,
                   struct conf_errors *e);
/* Node as compact one-line JSON-like text (for labels and storage): hlt, 2ms, {"a":1}. malloc'ed,
 * NULL without memory. It reads back as the same tree: keys are quoted, words and numbers are not
 * when they were not ({"policy":hlt}), so it is YAML but not always JSON. */
char *conf_text(const struct conf_node *n);

/* Scalar readers: false + error with the expected form, `out` untouched. A missing node (NULL) is
 * the caller's affair. A time may stand in quotes; numbers and switches may not. */
/* "2ms", "1.5us", "0"; a unit is required unless 0. */
bool conf_ns(const struct conf_node *n, ns_t *out, struct conf_errors *e);
bool conf_int(const struct conf_node *n, int64_t lo, int64_t hi, int64_t *out,
              struct conf_errors *e);
/* "1.5", "20%" = 0.2; no comma. */
bool conf_real(const struct conf_node *n, double lo, double hi, double *out, struct conf_errors *e);
/* true false on off yes no */
bool conf_bool(const struct conf_node *n, bool *out, struct conf_errors *e);
/* Non-empty scalar, else NULL + error. */
const char *conf_str(const struct conf_node *n, struct conf_errors *e);
/* "0-3,8,10-11" or a list of integers; malloc'ed ascending array without repeats. */
bool conf_cpulist(const struct conf_node *n, int limit, int **out, size_t *count,
                  struct conf_errors *e);

/* A time in the largest unit that makes it a whole number: "3ms", "1500ns", "0". */
void conf_ns_text(ns_t v, char out[32]);

/* Nearest of n names by edit distance, or NULL when none is near (distance > 1 + length/3, or
 * nothing in common). Two swapped neighbours count as one edit, upper and lower case as none. */
const char *conf_nearest(const char *name, const char *const *names, size_t n);
/* Reports every key of `map` that is not in `names`, each with its nearest name, or with all names
 * when none is near and there are at most 12: "unknown key 'x' in <what>; ...". Says nothing when
 * `map` is no mapping. */
void conf_only_keys(const struct conf_node *map, const char *const *names, size_t n,
                    const char *what, struct conf_errors *e);

#endif
