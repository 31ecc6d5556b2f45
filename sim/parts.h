/* SPDX-License-Identifier: MIT */
/*
 * Small helpers shared by the readers of scenarios and workloads. Memory that cannot be had ends
 * the process with a message: no reader has anything better to do then.
 */
#ifndef SIM_PARTS_H
#define SIM_PARTS_H

#include "conf/conf.h"
#include "conf/param.h"

/* n zeroed elements, never NULL. */
void *parts_alloc(size_t n, size_t size);
char *parts_copy(const char *text);
char *parts_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A list that holds n elements, with room for one more (all lists start as NULL with n = 0). */
void *parts_grow(void *list, size_t n, size_t size);

/* "unknown <what> 'x'; did you mean 'y'?", or all names when none is near. */
void parts_unknown(struct conf_errors *e, const struct conf_node *at, const char *what,
                   const char *name, const char *const *names, size_t n);
/* "unknown metric 'x'; did you mean 'y'?", or where the list is; malloc'ed. */
char *parts_unknown_metric(const char *name);
/* Reads the rows of a table from `map` (which may be NULL), which may also hold the keys `others`.
 */
bool parts_read_rows(const struct param *table, void *dst, const struct conf_node *map,
                     const char *const *others, size_t nothers, const char *what,
                     struct conf_errors *e);
/* True when absent or a mapping, else an error. */
bool parts_mapping(const struct conf_node *n, const char *what, struct conf_errors *e);
/* Whether anything was reported since `e` held `before` errors. */
static inline bool parts_clean(const struct conf_errors *e, size_t before)
{
    return e->n == before;
}
/* Names of objects, VMs and tasks: letters, digits, '-' and '_' (a dot would break key paths). */
bool parts_name(const struct conf_node *n, const char *what, struct conf_errors *e);

/* Part of a path after the last slash, without ".yaml". malloc'ed. */
char *parts_base(const char *path);
/* Part of a path before the last slash, "." without one. malloc'ed. */
char *parts_dir(const char *path);
/* "2ms", malloc'ed. */
char *parts_ns(ns_t t);

#endif
