/* SPDX-License-Identifier: MIT */
/*
 * The timeline: a sink that streams trace events in the JSON format that Perfetto, chrome://tracing
 * and speedscope read.
 *
 * Process "pCPUs" has a track per pCPU whose slices are the vCPUs on it. Each VM is a process with
 * a track per vCPU, whose slices are its spans (obs/spans.h): on a pCPU the name of the task that makes progress,
 * "kernel" without one, "lock spin", "idle spin", "held idle"; off it "steal" or "unseen wait"; nothing while it
 * is blocked without work. Arrows lead from a waker to where the woken task first runs, and both ends lie in
 * slices: viewers drop those that do not.
 *
 * Of a window only what is in it is written, with the times of the run.
 *
 * Counter tracks: idle pCPUs of the machine (no vCPU is there); of each VM its busy vCPUs, which run or
 * wait for a pCPU and whose guest does not idle, and the vCPUs that its policy prefers, if it keeps such
 * a set.
 */
#ifndef SIM_OBS_TIMELINE_H
#define SIM_OBS_TIMELINE_H

#include <stdio.h>

#include "obs/spans.h"

/* What the tracks are called. The callbacks may return a buffer of their own: it is used at once.
 */
struct timeline_names {
    int npcpus, nvcpus;              /* vCPUs of all VMs: the global index of the trace */
    ns_t from, to;                   /* the window; to = 0: to the end of the run */
    const struct spans_probe *probe; /* or NULL */
    void *arg;
    int (*vm)(void *arg, int vcpu); /* number of its VM, from 0 */
    const char *(*vm_name)(void *arg, int vm);
    const char *(*vcpu_name)(void *arg,
                             int vcpu); /* unique on its own: on pCPU tracks it is alone */
    const char *(*task_name)(void *arg, int task);
};

struct timeline;

/* Writes the head. `out` stays the caller's. NULL without memory. */
struct timeline *timeline_open(FILE *out, const struct timeline_names *names);
struct trace_sink *timeline_sink(struct timeline *t);
/* Ends every open slice at `end`, writes the tail, flushes and frees. 0, or -1 (errno) when
 * something could not be written. */
int timeline_close(struct timeline *t, ns_t end);

#endif
