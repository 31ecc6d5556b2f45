/* SPDX-License-Identifier: MIT */
/*
 * Parameter tables: one row per parameter drives parsing, ranges, defaults, `tandem list`, the echo
 * in results and the messages. Values land in a plain struct at `offset`.
 */
#ifndef SIM_CONF_PARAM_H
#define SIM_CONF_PARAM_H

#include "conf/conf.h"

enum param_type {
    PARAM_NS,   /* ns_t; min and max in ns */
    PARAM_INT,  /* int64_t */
    PARAM_BOOL, /* bool */
    PARAM_REAL, /* double; never used to decide an event's time */
    PARAM_ENUM  /* int: index into `values`, a NULL-terminated list */
};

struct param {
    const char *name;
    enum param_type type;
    size_t offset;
    const char *def;           /* as one would write it in YAML: "3ms", "250", "on" */
    int64_t min, max;          /* NS, INT and REAL (whole bounds); both 0 = any value >= 0 */
    const char *const *values; /* ENUM */
    const char *help;          /* one line, with unit where the type does not say it */
    const char *source;        /* where the default comes from, or "assumed" */
};

/* A table ends with a row whose name is NULL. */
#define PARAM_END                                                                                  \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/* Checks the table itself, which may come from a loaded policy: names unique, defaults readable and
 * in range, enums with values, help and source given. Reports under the name `what`. */
bool params_check(const struct param *table, const char *what, struct conf_errors *e);
/* Requires a table that passes params_check. */
void params_default(const struct param *table, void *dst);
/* `map` may be NULL or an empty value (all defaults). Unknown keys, wrong units and ranges become
 * errors, all of them in one call; what they leave unset has its default. `table` may be NULL: no
 * parameters. */
bool params_read(const struct param *table, void *dst, const struct conf_node *map,
                 const char *what, struct conf_errors *e);
/* The same over values that are there: what `map` leaves unset stays as it is. */
bool params_change(const struct param *table, void *dst, const struct conf_node *map,
                   const char *what, struct conf_errors *e);
/* One value from a node. */
bool param_read(const struct param *p, void *dst, const struct conf_node *n, struct conf_errors *e);
const struct param *param_find(const struct param *table, const char *name);
/* Value as canonical text, malloc'ed, NULL without memory. A time in the largest unit that makes it
 * a whole number (2800us, 1500ns, 3ms; 0 without unit), a number as the shortest text that reads
 * back the same, a switch as on or off. */
char *param_text(const struct param *p, const void *src);
/* What values it may have: "1..100", "on|off"; malloc'ed, NULL without memory. */
char *param_range(const struct param *p);
/* Prints rows for `tandem list`: name, default, range or values, help, source. */
void params_list(const struct param *table, const char *indent, FILE *out);

#endif
