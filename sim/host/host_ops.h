/* SPDX-License-Identifier: MIT */
/*
 * Contract of a hypervisor policy. The core (host/) owns every state change; a policy owns an
 * ordering per pCPU, or only a choice. One life, in which each operation appears once:
 *
 *     init(h)
 *     vcpu_init(h, v) for each vCPU
 *     v wakes up:   p = select(h, v, prev, why)     // a hint; a forbidden pCPU is rejected, counted
 *                   enqueue(h, p, v, why)           // READY now
 *                   if p is busy and preempts(h, p, curr, v): p decides again
 *     p decides:    {v, slice} = pick(h, p, prev)   // v leaves the ordering; NULL = idle. prev ran
 *                                                   // until now and is queued again, or is NULL
 *                   (no vCPU: balance(h, p, BALANCE_NEWIDLE), then pick once more)
 *                   running(h, p, v)
 *     v runs:       tick(h, p, v) at each host tick -> decide again?
 *                   slice(h, p, v) whenever p's queue changed: how long may v still run? (exact
 *                   slices only; default: the rest of what pick gave, alone for ever)
 *                   yield(h, v, to) on a yield of v, directed (to != NULL) or not
 *     v stops:      stopping(h, p, v, ran, why)     // pure accounting; `ran` since the last one
 *                   if still runnable: enqueue(h, p, v, ENQUEUE_REQUEUE), then pick: v's state and
 *                   p->nr_ready change only once pick has chosen somebody else
 *                   (why STOP_MIGRATE: no requeue, an enqueue elsewhere follows)
 *     v moves:      dequeue(h, p, v, why) there, enqueue(h, q, v, ENQUEUE_MIGRATE) here
 *     now and then: balance(h, p, BALANCE_PERIODIC)  // default: the core's, along the domains; also
 *                                                   // for an idle p, when a busy pCPU kicks it
 *                   admits(h, p, v)                 // may the core's balancing bring v to p?
 *                   timer(h, cookie)                // armed by the policy
 *     channel:      channel_read(h, v, row) when the guest's row changed, looked at when v is switched
 *                   in, at ticks, and before stopping(h, p, v, ...); channel_hint(h, v)
 *     idle policy:  idle_class(h, v, stable) when it changed its view of v
 *     boost(h, p, v): queued v to the head (VM-wide wake-up)
 *     vcpu_fini(h, v), fini(h); dump(h, out) in a crash report
 *
 * Required: head.name only; enqueue, dequeue and pick come all three or none (none: the core's FIFO).
 */
#ifndef SIM_HOST_HOST_OPS_H
#define SIM_HOST_HOST_OPS_H

#include "channel/policy.h"
#include "host/host.h"

struct host_pick {
    struct vcpu *vcpu;
    ns_t slice; /* relative; NS_NEVER = until something happens */
    bool exact; /* on a host with a tick too, it ends to the ns and `slice` is asked (a timer) */
};

struct host_ran {
    ns_t total, guest; /* wall time since switch-in; the part that was guest work */
};

struct host_ops {
    struct policy_head head;
    bool
        idles; /* pick may return NULL although vCPUs are READY: counted, not a fault. Needs pick */
    int (*init)(struct hyp *h); /* 0, or -1 = refused */
    void (*fini)(struct hyp *h);
    void (*vcpu_init)(struct hyp *h, struct vcpu *v);
    void (*vcpu_fini)(struct hyp *h, struct vcpu *v);
    int (*select)(struct hyp *h, struct vcpu *v, int prev, enum wake_why why);
    void (*enqueue)(struct hyp *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why);
    void (*dequeue)(struct hyp *h, struct pcpu *p, struct vcpu *v, enum stop_why why);
    struct host_pick (*pick)(struct hyp *h, struct pcpu *p, struct vcpu *prev);
    ns_t (*slice)(struct hyp *h, struct pcpu *p, struct vcpu *curr);
    bool (*tick)(struct hyp *h, struct pcpu *p, struct vcpu *curr);
    bool (*preempts)(struct hyp *h, struct pcpu *p, struct vcpu *curr, struct vcpu *woken);
    void (*running)(struct hyp *h, struct pcpu *p, struct vcpu *v);
    void (*stopping)(struct hyp *h, struct pcpu *p, struct vcpu *v, struct host_ran ran,
                     enum stop_why why);
    bool (*yield)(struct hyp *h, struct vcpu *from, struct vcpu *to);
    bool (*boost)(struct hyp *h, struct pcpu *p, struct vcpu *v);
    void (*balance)(struct hyp *h, struct pcpu *p, enum balance_why why);
    bool (*admits)(struct hyp *h, struct pcpu *p, struct vcpu *v);
    void (*timer)(struct hyp *h, uint64_t cookie);
    void (*idle_class)(struct hyp *h, struct vcpu *v, bool stable);
    void (*channel_read)(struct hyp *h, struct vcpu *v, const struct guest_row *row);
    int (*channel_hint)(struct hyp *h, struct vcpu *v);
    void (*dump)(struct hyp *h, FILE *out);
};

/* An instance: the const table, private memory, parameters. */
struct hyp {
    const struct host_ops *ops;
    void *self;
    void *params;
    char *cpu, *unit; /* per-pCPU and per-vCPU memory, zeroed */
    struct host *host;
    char label[48]; /* "host rr": for crash reports */
};

static inline void *hyp_pcpu(const struct pcpu *p)
{
    return p->priv;
}
static inline void *hyp_vcpu(const struct vcpu *v)
{
    return v->priv;
}
ns_t hyp_now(const struct hyp *h);
/* The policy's own stream. */
struct rng *hyp_rng(struct hyp *h);
/* The core's wake placement: prev if idle, else an idle pCPU within the configured scope (core,
 * cache group, node, machine), else prev (or the least queued allowed pCPU when prev is not
 * allowed). */
int hyp_select_default(struct hyp *h, struct vcpu *v, int prev);
/* Counts something under this name (static text) in the result. */
void hyp_count(struct hyp *h, const char *name);
/* The core's balancing along the domains; nothing when the scenario balances nothing. */
void hyp_balance_default(struct hyp *h, struct pcpu *p, enum balance_why why);
/* Asks that RUNNING v goes on at another pCPU, if that is empty at the end of this instant. */
void hyp_push(struct hyp *h, struct vcpu *v, int to);
/* A timer of the policy: one per slot 0..7. NS_NEVER cancels. */
void hyp_timer(struct hyp *h, int slot, ns_t at, uint64_t cookie);

/* NULL when fit, else what is wrong ("rr: enqueue without pick"). Static text or the buffer. */
const char *host_ops_check(const struct host_ops *o, char buf[160]);

#endif
