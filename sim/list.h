/* SPDX-License-Identifier: MIT */
/* Lists of what there is, as tables for programs. */
#ifndef SIM_LIST_H
#define SIM_LIST_H

#include <stdbool.h>
#include <stdio.h>

#include "find.h"

/* In the order in which `tandem list` names them. */
enum list_kind {
    LIST_POLICIES,
    LIST_WORKLOADS,
    LIST_MACHINES,
    LIST_METRICS,
    LIST_FIGURES,
    LIST_PROGRAMS
};

/* What a task's program may do; `form` NULL ends the table. */
struct list_operation {
    const char *form, *help;
};
extern const struct list_operation list_operations[];

/* Files of a kind that are found, with the summary that they have, "" without one. */
void list_found(enum find_kind kind, void (*each)(void *arg, const char *name, const char *summary),
                void *arg);
/* CSV or JSON. Parameters have rows of their own, behind what they belong to. */
void list_rows(enum list_kind kind, FILE *out, bool as_json);

#endif
