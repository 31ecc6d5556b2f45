/* SPDX-License-Identifier: MIT */
/*
 * Contract of a guest policy: which guest CPU (vCPU) a waking task gets, and optionally the ordering
 * on each guest CPU. One life, in which each operation appears once:
 *
 *     init(k)
 *     task_init(k, t) when t starts
 *     interrupts:    irq(k, c) when c takes them, once for all that are pending; then they wake up
 *     t wakes up:    c = select(k, t, prev, waker, flags) // on the waker's vCPU
 *                    enqueue(k, c, t, why)
 *                    preempts(k, c, curr, t) -> c decides again
 *     c decides:     t = pick(k, c); running(k, c, t)
 *     t runs:        tick(k, c, t) at each guest tick, late while the vCPU is off its pCPU;
 *                    evict(k, c, t) after it -> d: the stopper moves t to CPU d, -1: t stays
 *     t stops:       stopping(k, c, t, ran, why); if still runnable enqueue(..., GUEST_REQUEUE)
 *     t moves:       dequeue(k, c, t) there, enqueue(k, d, t, GUEST_MIGRATE) here
 *     now and then:  balance(k, c, why); timer(k, cookie) armed by the policy
 *     the core asks: usable(k, c) when it balances: one that is not gives and gets no task then
 *                    capacity(k, c) of wake_affine and balancing: what c is worth without steal
 *     channel:       channel_fill(k, c, row) when the guest writes its row
 *     task_fini(k, t), fini(k); dump(k, out)
 *
 * Required: head.name only. enqueue, dequeue and pick come all three or none (none: the guest core's
 * ordering, `guest.scheduler`: eevdf, cfs or fifo). A policy sees guest CPUs only: no pCPU exists here.
 * It may read the channel facts it declared in `facts`; with the channel off these read as "not known":
 * not preempted, LOW, not idle, no group (-1), no quota (0). Policies add no time: guest_* and channel reads
 * count what was looked at, the machine prices it: in `select` and in `irq` by the row. One that declares
 * facts and has no `irq` pays the flat `reread` for each interrupt instead. An IPI asks no `irq`, and costs
 * every policy that declares facts `reread`.
 */
#ifndef SIM_GUEST_GUEST_OPS_H
#define SIM_GUEST_GUEST_OPS_H

#include "channel/channel.h"
#include "channel/policy.h"
#include "guest/guest.h"

enum guest_enqueue_why { GUEST_NEW, GUEST_WAKE, GUEST_REQUEUE, GUEST_MIGRATE };
enum guest_stop_why { GUEST_STOP_PREEMPT, GUEST_STOP_BLOCK, GUEST_STOP_YIELD, GUEST_STOP_EXIT };

enum select_flags {
    SELECT_SYNC = 1 << 0, /* the waker is about to block */
    SELECT_IRQ = 1 << 1,  /* woken from interrupt context: the waker CPU is the interrupted one */
    SELECT_FORK = 1 << 2
};

/* What a guest believes a task got, and what it really got. */
struct guest_ran {
    ns_t run, stolen;
};

struct guest_ops {
    struct policy_head head;              /* cpu_size per guest CPU, unit_size per task */
    unsigned facts;                       /* enum fact: what it reads from the channel */
    int (*threshold)(const void *params); /* load threshold of FACT_DEGREE; default 1 */
    int (*init)(struct guest *k);
    void (*fini)(struct guest *k);
    void (*task_init)(struct guest *k, struct task *t);
    void (*task_fini)(struct guest *k, struct task *t);
    void (*irq)(struct guest *k, int cpu); /* cpu takes a device, timer or tick interrupt: a time to
                                            * look at the channel */
    int (*select)(struct guest *k, struct task *t, int prev, int waker, unsigned flags);
    void (*enqueue)(struct guest *k, int cpu, struct task *t, enum guest_enqueue_why why);
    void (*dequeue)(struct guest *k, int cpu, struct task *t);
    struct task *(*pick)(struct guest *k, int cpu);
    bool (*preempts)(struct guest *k, int cpu, struct task *curr, struct task *woken);
    void (*running)(struct guest *k, int cpu, struct task *t);
    void (*stopping)(struct guest *k, int cpu, struct task *t, struct guest_ran ran,
                     enum guest_stop_why why);
    bool (*tick)(struct guest *k, int cpu, struct task *curr);
    bool (*balance)(struct guest *k, int cpu, bool newidle); /* true: it moved something */
    /* Optional, like all: without it the core's balancing spans all CPUs. Wake-ups do not ask it. */
    bool (*usable)(struct guest *k, int cpu);
    /* The running task is moved although it holds locks and whatever runs on d, unless a stopper is
     * pending or it may not run there; the stopper's switches are paid. */
    int (*evict)(struct guest *k, int cpu, struct task *curr);
    int (*capacity)(struct guest *k, int cpu); /* 1..1024; without it 1024 */
    void (*timer)(struct guest *k, uint64_t cookie);
    void (*channel_fill)(struct guest *k, int cpu, struct guest_row *row);
    void (*dump)(struct guest *k, FILE *out);
};

/* -- what a policy may call (all count towards the price of a selection where they look) -- */

ns_t guest_now(const struct guest *k);
int guest_ncpus(const struct guest *k);
void *guest_self(const struct guest *k);
const void *guest_policy_params(const struct guest *k);
void *guest_cpu_mem(const struct guest *k, int cpu);
void *guest_task_mem(const struct guest *k, const struct task *t);
struct rng *guest_rng(struct guest *k);
bool guest_allowed(const struct task *t, int cpu);
/* The communication group that the task named, 0 = none. They are numbered from 1 to guest_ntags:
 * small numbers, for memory per group. */
uint32_t guest_tag(const struct task *t);
int guest_ntags(const struct guest *k);
/* Looks at a run queue: nothing current, nothing queued, no wake-up pending. Counts as examined. */
bool guest_idle_cpu(struct guest *k, int cpu);
/* Runnable tasks there, current included. Counts as examined. */
int guest_nr_running(struct guest *k, int cpu);
/* Averages of a CPU in 0..1024. */
int guest_util(struct guest *k, int cpu);
int64_t guest_load(struct guest *k, int cpu);
/* That of a task that does not run, as of its last change: for one that wakes, now. */
int guest_task_util(const struct task *t);
/* What steal leaves of a CPU's capacity, 1..1024. */
int guest_capacity(struct guest *k, int cpu);
/* The scan limit of an idle search over the LLC of `cpu` (Linux SIS_UTIL), 0 = do not search. */
int guest_scan_limit(const struct guest *k, int cpu);
/* First and one-past-last CPU of the LLC that holds cpu. */
void guest_llc(const struct guest *k, int cpu, int *first, int *end);
int guest_recent(const struct task *t);
/* Channel reads about a vCPU; refuse undeclared facts. */
bool guest_preempted(struct guest *k, int cpu);
enum degree guest_degree(struct guest *k, int cpu);
bool guest_pcpu_idle(struct guest *k, int cpu);
int guest_group(struct guest *k, int cpu); /* a virtual id, good for comparing; -1 = in none */
ns_t guest_steal(struct guest *k, int cpu);
int guest_hint(struct guest *k, int cpu);
/* How many vCPUs the host lets this VM use; 0 = it does not say. A channel read as well. */
int guest_quota(struct guest *k);
/* The order of the kernel's select_idle_sibling with wake_affine before it; `avail` says which CPU
 * may be taken as idle (NULL: guest_idle_cpu). */
int guest_select_sibling(struct guest *k, struct task *t, int prev, int waker, unsigned flags,
                         bool (*avail)(struct guest *k, int cpu));
/* The task that runs on a CPU, NULL = none. Counts as a look at its run queue. */
struct task *guest_current(struct guest *k, int cpu);
/* Asks that the task that runs on `cpu`, alone there, moves to the idle CPU `to` (by the stopper, at the
 * end of the interrupt). It stays if by then it holds a lock, or one of the two has changed. */
void guest_push(struct guest *k, int cpu, int to);
/* Moves a queued (not current) task. False when it is not allowed there. */
bool guest_migrate(struct guest *k, struct task *t, int to);
void guest_timer(struct guest *k, int slot, ns_t at, uint64_t cookie);
/* For the result: the policy uses n of the CPUs from now on, by a set of its own. */
void guest_report_usable(struct guest *k, int n);
void guest_count(struct guest *k, const char *name); /* a named fallback counter of the result */

const char *guest_ops_check(const struct guest_ops *o, char buf[160]);

#endif
