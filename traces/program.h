/* SPDX-License-Identifier: MIT */
/*
 * From the model to the text of a program file.
 *
 * Always true of the text in closed mode: for each pair of tasks there is a queue with one sender
 * and one receiver and as many sends as receives per lap. In the order of (lap, recorded time)
 * every receive comes behind its send, sends find room (capacity is at least four laps, at least
 * 64), so the first operation in that order that is not done yet can always be done: no deadlock.
 * In both modes the same model gives the same bytes.
 */
#ifndef TRACES_PROGRAM_H
#define TRACES_PROGRAM_H

#include "traces/model.h"

#define PROGRAM_MAX_TASKS 1024
/* A pause may be twice as long, and a program file has no times above 10^6 s. */
#define PROGRAM_MAX_SPAN (400000 * NS_SEC)

/* NULL without memory, and also when no task is left: then *n tells tasks_written = 0. */
char *program_text(const struct model *m, const struct trace_import_options *o, const char *name,
                   const char *form, struct trace_import_counts *n);

#endif
