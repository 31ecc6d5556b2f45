/* SPDX-License-Identifier: MIT */
/*
 * One typed wrapper per operation of a policy, with its default. Always true: core code calls an
 * operation through its wrapper and never tests a pointer itself, and while an operation runs the
 * crash report names it.
 */
#ifndef SIM_HOST_OPS_H
#define SIM_HOST_OPS_H

#include "engine/check.h"
#include "host/host_ops.h"
#include "host/internal.h"

#define POLICY_TIMERS 8

/* Calls a void operation, or nothing. */
#define OPS_TELL(hyp, op, ...)                                                                     \
    do {                                                                                           \
        if ((hyp)->ops->op) {                                                                      \
            crash_enter((hyp)->label, #op);                                                        \
            (hyp)->ops->op(__VA_ARGS__);                                                           \
            crash_leave();                                                                         \
        }                                                                                          \
    } while (0)

/* Assigns the answer of an operation, or the default. */
#define OPS_ASK(answer, otherwise, hyp, op, ...)                                                   \
    do {                                                                                           \
        if ((hyp)->ops->op) {                                                                      \
            crash_enter((hyp)->label, #op);                                                        \
            (answer) = (hyp)->ops->op(__VA_ARGS__);                                                \
            crash_leave();                                                                         \
        } else {                                                                                   \
            (answer) = (otherwise);                                                                \
        }                                                                                          \
    } while (0)

static inline int ops_init(struct hyp *h)
{
    int r;

    OPS_ASK(r, 0, h, init, h);
    return r;
}

static inline void ops_fini(struct hyp *h)
{
    OPS_TELL(h, fini, h);
}

static inline void ops_vcpu_init(struct hyp *h, struct vcpu *v)
{
    OPS_TELL(h, vcpu_init, h, v);
}

static inline void ops_vcpu_fini(struct hyp *h, struct vcpu *v)
{
    OPS_TELL(h, vcpu_fini, h, v);
}

/* Default: the core's wake placement. */
static inline int ops_select(struct hyp *h, struct vcpu *v, int prev, enum wake_why why)
{
    int to;

    OPS_ASK(to, hyp_select_default(h, v, prev), h, select, h, v, prev, why);
    return to;
}

/* Default: the core's list of READY vCPUs is the ordering; nothing to do. */
static inline void ops_enqueue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why)
{
    OPS_TELL(h, enqueue, h, p, v, why);
}

static inline void ops_dequeue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum stop_why why)
{
    OPS_TELL(h, dequeue, h, p, v, why);
}

/* Default: first come, first served; runs to block. */
static inline struct host_pick ops_pick(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    struct host_pick k;

    OPS_ASK(k, fifo_pick(p, prev), h, pick, h, p, prev);
    return k;
}

/* Default: the rest of the slice that pick gave, and no end when nobody waits. */
static inline ns_t ops_slice(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    ns_t left;

    OPS_ASK(left, slice_left(p, curr), h, slice, h, p, curr);
    return left;
}

/* Default: the slice that pick gave is over and somebody waits. */
static inline bool ops_tick(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    bool again;

    OPS_ASK(again, slice_over(p, curr), h, tick, h, p, curr);
    return again;
}

static inline bool ops_preempts(struct hyp *h, struct pcpu *p, struct vcpu *curr,
                                struct vcpu *woken)
{
    bool yes;

    OPS_ASK(yes, false, h, preempts, h, p, curr, woken);
    return yes;
}

static inline void ops_running(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    OPS_TELL(h, running, h, p, v);
}

static inline void ops_stopping(struct hyp *h, struct pcpu *p, struct vcpu *v, struct host_ran ran,
                                enum stop_why why)
{
    OPS_TELL(h, stopping, h, p, v, ran, why);
}

/* Default: no preference; the caller is queued again behind the others. */
static inline bool ops_yield(struct hyp *h, struct vcpu *from, struct vcpu *to)
{
    bool preferred;

    OPS_ASK(preferred, false, h, yield, h, from, to);
    return preferred;
}

/* Default: to the head of the core's FIFO when that is the ordering, else not supported. */
static inline bool ops_boost(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    bool done;

    OPS_ASK(done, h->ops->pick ? false : fifo_boost(p, v), h, boost, h, p, v);
    return done;
}

/* Default: the core's balancing along the domains. */
static inline void ops_balance(struct hyp *h, struct pcpu *p, enum balance_why why)
{
    if (h->ops->balance)
        OPS_TELL(h, balance, h, p, why);
    else
        lb_balance(h->host, p, why);
}

/* Default: the vCPU's mask alone says where it may go. */
static inline bool ops_admits(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    bool yes;

    OPS_ASK(yes, true, h, admits, h, p, v);
    return yes;
}

static inline void ops_timer(struct hyp *h, uint64_t cookie)
{
    OPS_TELL(h, timer, h, cookie);
}

/* Default: the core's gathering, if the host gathers. */
static inline void ops_idle_class(struct hyp *h, struct vcpu *v, bool stable)
{
    if (h->ops->idle_class)
        OPS_TELL(h, idle_class, h, v, stable);
    else if (h->host->gather)
        gather_class(h->host, v, stable);
}

static inline void ops_channel_read(struct hyp *h, struct vcpu *v, const struct guest_row *row)
{
    OPS_TELL(h, channel_read, h, v, row);
}

static inline int ops_channel_hint(struct hyp *h, struct vcpu *v)
{
    int hint;

    OPS_ASK(hint, 0, h, channel_hint, h, v);
    return hint;
}

static inline void ops_dump(struct hyp *h, FILE *out)
{
    OPS_TELL(h, dump, h, out);
}

#endif
