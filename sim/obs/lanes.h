/* SPDX-License-Identifier: MIT */
/*
 * The spans of a window (obs/spans.h) as CSV: a trace sink. What a Gantt chart is drawn from.
 *
 * The first line is `# ` and an object of JSON: `schema`: tandem.gantt/1, then `from_ns`, `to_ns`, `pcpus`, `vms`
 * with `name` and `vcpus`, and what the caller says about the run. Then a head and a row per span, every time of the window in
 * one of each lane. Times are whole nanoseconds of the run. Columns that do not apply are empty:
 *
 *   lane      pcpu, vcpu or wake
 *   pcpu      of the lane
 *   vm vcpu   of the lane; in a pCPU's the one that has it, or nobody
 *   to_vcpu   of a wake-up: where its task runs, woken by one on `vcpu`
 *   state     of a pCPU: vcpu, idle; of a vCPU as in obs/spans.h
 *   task      the current one, of a wake-up the woken one
 *   from_ns to_ns
 *
 * Rows come as spans end: in the order of time within a lane.
 */
#ifndef SIM_OBS_LANES_H
#define SIM_OBS_LANES_H

#include <stdio.h>

#include "obs/spans.h"

struct json;

struct lanes_conf {
    int npcpus, nvcpus;
    ns_t from, to; /* the window */
    const struct spans_probe *probe;
    void *arg;
    /* The callbacks may return a buffer of their own: it is used at once. */
    const char *(*vm)(void *arg, int vcpu); /* name of its VM */
    int (*index)(void *arg, int vcpu);      /* its number there */
    const char *(*task)(void *arg, int task);
    void (*origin)(void *arg, struct json *j); /* more members of the first line */
};

struct lanes;

/* Writes the head. `out` stays the caller's. NULL without memory. */
struct lanes *lanes_open(FILE *out, const struct lanes_conf *conf);
struct trace_sink *lanes_sink(struct lanes *l);
/* Writes the rest up to `end` or the end of the window, flushes and frees. 0, or -1 (errno). */
int lanes_close(struct lanes *l, ns_t end);

#endif
