/* SPDX-License-Identifier: MIT */
/*
 * Trace points: what happened, as small records handed to one sink per run. Without a sink a point
 * costs a test. Times never go back; every vCPU starts BLOCKED, off every pCPU. Consumers: the
 * ASCII Gantt of the tests, the timeline export, the crash report's tail.
 */
#ifndef SIM_OBS_TRACE_H
#define SIM_OBS_TRACE_H

#include "engine/engine.h"

enum trace_kind {
    TRACE_VCPU_IN,    /* a = pCPU, b = vCPU (global index) */
    TRACE_VCPU_OUT,   /* a = pCPU, b = vCPU, c = enum stop_why */
    TRACE_VCPU_STATE, /* a = vCPU, b = new enum vcpu_state: 0 BLOCKED, 1 READY, 2 RUNNING */
    TRACE_TASK_IN,    /* a = vCPU, b = task (global index) */
    TRACE_TASK_OUT,   /* a = vCPU, b = task, c = enum guest_stop_why */
    TRACE_TASK_WAKE, /* a = vCPU chosen, b = task woken, c = vCPU of the waker (interrupts: the interrupted one) */
    TRACE_ACTIVITY, /* a = vCPU, b = enum term that its time now goes to */
    TRACE_EXIT,     /* a = vCPU, b = enum exit_reason */
    TRACE_MARK,     /* a = vCPU, b = task, c = mark index */
    TRACE_USABLE    /* a = VM, b = vCPUs that its policy uses from now on, by a set that it keeps */
};

struct trace_record {
    ns_t time;
    enum trace_kind kind;
    int32_t a, b, c;
};

struct trace_sink {
    void (*put)(struct trace_sink *s, const struct trace_record *r);
};

static inline void trace_put(struct trace_sink *s, ns_t now, enum trace_kind kind, int32_t a,
                             int32_t b, int32_t c)
{
    if (s) {
        const struct trace_record r = {.time = now, .kind = kind, .a = a, .b = b, .c = c};

        s->put(s, &r);
    }
}

#endif
