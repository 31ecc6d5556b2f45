/* SPDX-License-Identifier: MIT */
/*
 * Which tasks and which part of the recording go into the program.
 *
 * Always true: all tasks are cut at the same recorded time, so that a wake-up is kept at both ends
 * or at neither.
 */
#ifndef TRACES_SELECT_H
#define TRACES_SELECT_H

#include "traces/model.h"

struct selection {
    bool *in;   /* per task of the model */
    int *index; /* tasks selected, in order of first appearance */
    size_t n;
    ns_t start; /* recorded time that becomes 0 */
    ns_t cut;   /* operations that end here or later are out; NS_NEVER = none */
    ns_t end;   /* the last run that is kept */
};

/* False without memory. n may be 0. */
bool select_tasks(struct selection *s, const struct model *m, const struct trace_import_options *o,
                  struct trace_import_counts *c);
/* Sets start, cut and end for at most max_ops operations per task. */
void select_window(struct selection *s, const struct model *m, size_t max_ops);
void select_free(struct selection *s);
/* Whether an operation is kept; a run may be shortened. */
bool select_op(const struct selection *s, const struct model_op *op, struct model_op *kept);

#endif
