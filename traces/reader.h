/* SPDX-License-Identifier: MIT */
/*
 * From lines to events. Used by the counting and by the model; not for others.
 *
 * Always true: times handed to the callback never go back; every line with a readable prefix is
 * handed on, as EV_OTHER when it is no scheduler event, because it tells who was on that CPU.
 */
#ifndef TRACES_READER_H
#define TRACES_READER_H

#include "traces/payload.h"
#include "traces/trace.h"

enum event_kind { EV_SWITCH, EV_WAKING, EV_WAKEUP, EV_WAKEUP_NEW, EV_LOST, EV_OTHER };

struct trace_event {
    enum event_kind kind;
    ns_t time;
    int cpu;
    int tid;        /* whose context it is */
    bool interrupt; /* that context is a hard or soft interrupt */
    struct switch_payload sw;
    struct wake_payload wake;
};

/* Returns false when memory is out. */
typedef bool event_fn_trace(void *arg, const struct trace_event *ev);

/* Reads all of `in`. `fn` may be NULL. */
enum trace_status reader_run(FILE *in, const char *name, const struct trace_read_options *o,
                             struct trace_counts *c, event_fn_trace *fn, void *arg, char **error);

/* printf into malloc'ed memory; NULL without memory. */
char *trace_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
enum trace_status trace_open(const char *path, FILE **in, char **error);

#endif
