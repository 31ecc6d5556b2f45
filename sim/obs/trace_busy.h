/* SPDX-License-Identifier: MIT */
/* What trace records tell about a vCPU: whether it wants a pCPU for its guest's work. */
#ifndef SIM_OBS_TRACE_BUSY_H
#define SIM_OBS_TRACE_BUSY_H

#include "obs/account.h"
#include "obs/trace.h"

/* enum vcpu_state, as the trace documents it. */
enum { STATE_BLOCKED, STATE_READY, STATE_RUNNING };

/* Zero is a vCPU at the start of a run. */
struct vcpu_busy {
    int state;
    bool idles; /* its guest polls or holds its pCPU, or did so when it was switched out */
};

/* It runs or waits for a pCPU, and its guest does not idle. */
static inline bool vcpu_is_busy(const struct vcpu_busy *b)
{
    return b->state != STATE_BLOCKED && !b->idles;
}

/* Takes a record about this vCPU, TRACE_VCPU_STATE or TRACE_ACTIVITY. */
static inline void vcpu_busy_take(struct vcpu_busy *b, const struct trace_record *r)
{
    if (r->kind == TRACE_ACTIVITY) {
        b->idles = r->b == TERM_IDLESPIN || r->b == TERM_HELD;
    } else {
        b->state = r->b;
        b->idles = b->idles && r->b != STATE_BLOCKED;
    }
}

#endif
