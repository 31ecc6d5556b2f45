/* SPDX-License-Identifier: MIT */
/*
 * Level 1: a hypervisor that places vCPUs on pCPUs.
 *
 * Always true:
 *  - a vCPU is BLOCKED, READY or RUNNING; only vcpu.c changes that, policies own an ordering;
 *  - READY time is steal, from host enqueue to switch-in; a RUNNING vCPU is exactly one pCPU's
 * curr;
 *  - a BLOCKED vCPU is in no ordering (a policy may keep private memory of it: EEVDF's delayed
 *    dequeue), a READY one is in exactly one pCPU's ordering;
 *  - decisions are deferred to the end of the instant: host_resched marks a pCPU, host_dispatch
 *    decides once.
 *
 * This level knows no guest. What a vCPU does while it runs is told through `struct host_hooks`,
 * which cross/ fills. It keeps no time accounts of work: cross/ does; it keeps state times (steal).
 */
#ifndef SIM_HOST_HOST_H
#define SIM_HOST_HOST_H

#include "channel/channel.h"
#include "conf/costs.h"
#include "engine/engine.h"
#include "engine/rng.h"
#include "host/runq.h"
#include "host/topology.h"
#include "obs/account.h"
#include "obs/trace.h"

enum vcpu_state { VCPU_BLOCKED, VCPU_READY, VCPU_RUNNING };

/* Why a vCPU stops running, or is put into or out of an ordering. */
enum stop_why { STOP_SLICE, STOP_PREEMPT, STOP_BLOCK, STOP_YIELD, STOP_SPIN, STOP_MIGRATE };
enum enqueue_why { ENQUEUE_NEW, ENQUEUE_WAKE, ENQUEUE_REQUEUE, ENQUEUE_MIGRATE };
enum wake_why { WAKE_IRQ, WAKE_LOOK, WAKE_GROUP };
enum balance_why { BALANCE_PERIODIC, BALANCE_NEWIDLE };

struct hyp;

struct vcpu {
    int id;        /* global, dense */
    int vm, index; /* VM number, number within it */
    enum vcpu_state state;
    int pcpu; /* RUNNING or READY: there; BLOCKED: where it last was; -1 before the first wake */
    const struct cpumask *allowed; /* pCPUs it may use; shared, never NULL */
    uint32_t weight;               /* 1024 = normal */
    ns_t state_since;
    ns_t steal;       /* sum of finished READY times, since the start of the run: never goes back */
    ns_t in_state[3]; /* finished times by state */
    ns_t run_start;   /* last switch-in */
    ns_t slice_end;   /* when running: NS_NEVER or absolute */
    ns_t last_ran;    /* when it last stopped */
    uint64_t switches;           /* switch-ins */
    uint64_t migrations;         /* switch-ins on another pCPU than the last */
    int last_pcpu;               /* where it last ran; -1: nowhere yet */
    ns_t slice_len;              /* when running: length that pick gave, NS_NEVER = none... */
    ns_t slice_from;             /* ... counted from here */
    ns_t told_total, told_guest; /* parts of the current run that the policy has been told of */
    struct runq_node ready;      /* core's: in the list of its pCPU when READY */
    const struct cpumask *may;   /* gathering: the pCPUs it may have as a home */
    int push_to;                 /* RUNNING: is to go there at the next decision, -1 */
    int home;                    /* gathering: the only pCPU it may use, -1 without gathering */
    bool gathered;               /* packed with stable ones */
    bool waits_own, asked;       /* is to get a pCPU of its own; its idle policy asked for it */
    struct vcpu *next_waiting;
    ns_t gathered_at, gathered_since, gathered_time;
    uint64_t gathers, undone, splits, refused; /* since the last reset */
    void *priv;                                /* policy's unit memory */
    void *owner;                               /* cross/ */
};

struct pcpu {
    int id;
    struct vcpu *curr; /* RUNNING vCPU or NULL = idle */
    int nr_ready;      /* READY vCPUs in its ordering */
    int nr_movable;    /* those of them that may use other pCPUs too */
    bool need_resched;
    enum stop_why resched_why;
    ns_t idle_since;    /* when idle */
    ns_t avg_idle;      /* for new-idle balancing */
    bool exact;         /* curr's slice ends exactly: no tick, or pick asked for it */
    struct event slice; /* the end of an exact slice */
    struct event tick;  /* host tick while not idle (tick > 0); phase of each pCPU staggered */
    struct deferred dispatch;
    void *priv;  /* policy's cpu memory */
    void *owner; /* cross/ */
    struct host *host;
    struct host_lb *lb;   /* balancing state per domain level */
    struct runq ready;    /* READY vCPUs, longest in the queue first; the default ordering */
    struct event balance; /* periodic balancing, not while idle */
    bool deciding;        /* a decision or switch-out is under way: changes only mark */
    bool arrivals;        /* something was queued meanwhile */
    bool told_idle;       /* hooks.idle was the last one called (also at the start) */
    uint64_t switches, ticks;
};

/* Called by the host, implemented by cross/. `now` is the engine's. Any may be NULL. At a switch:
 * leaving, state change, left, then entered or idle as the last thing that happens, so that these
 * two (and tick and queued) may wake, block, yield and resched any vCPU. When a decision keeps the
 * running vCPU, none is called. In leaving and left only wakes are allowed. */
struct host_hooks {
    /* v was switched in on p (state is RUNNING already) / is about to be switched out (still
     * RUNNING). */
    void (*entered)(void *arg, struct pcpu *p, struct vcpu *v, bool moved, int from_pcpu);
    void (*leaving)(void *arg, struct pcpu *p, struct vcpu *v, enum stop_why why);
    /* The policy is about to be told that v stops on p, or asked whether it goes on: what the policy
     * should know of v by then is handed to it now. May change nothing else. */
    void (*deciding)(void *arg, struct pcpu *p, struct vcpu *v);
    /* After the switch-out, with the new state set. */
    void (*left)(void *arg, struct pcpu *p, struct vcpu *v);
    /* A decision kept v and asked for an exact slice: the host was entered for that. */
    void (*renewed)(void *arg, struct pcpu *p, struct vcpu *v);
    /* p has no vCPU from now on. */
    void (*idle)(void *arg, struct pcpu *p);
    /* A host tick hits running v; before the policy sees it. */
    void (*tick)(void *arg, struct pcpu *p, struct vcpu *v);
    /* A vCPU became READY on p or moved there, p's curr is `p->curr` (may be NULL): rivals changed.
     * Not called for the vCPU that just left p (`left` says it). While p switches (p->deciding:
     * only wakes are allowed), `entered` or `idle` follows. */
    void (*queued)(void *arg, struct pcpu *p, struct vcpu *v);
    /* READY v left p's ordering for another pCPU's. Fewer rivals. May only wake. */
    void (*unqueued)(void *arg, struct pcpu *p, struct vcpu *v);
    /* Part of the last run (since run_start) that was guest work; for `running/stopping`
     * accounting. Up to now, and asked before `leaving` when a decision may yet keep v. */
    ns_t (*guest_time)(void *arg, const struct vcpu *v);
    /* Refused or repaired decisions of policies, by name: counted in the result. */
    void (*count)(void *arg, const char *name);
    /* BLOCKED v waits on another pCPU from now on (gathering). */
    void (*rehomed)(void *arg, struct vcpu *v);
};

enum placement_scope { SCOPE_PREVIOUS, SCOPE_GROUP, SCOPE_NODE, SCOPE_MACHINE };

/* Where a vCPU that may be anywhere runs first: in order of number, or somewhere at random. */
enum start_place { START_ORDER, START_RANDOM };

/* A VM weighs as its vCPUs together, or each VM as much, as with the vm-groups of the fair schedulers. */
enum quota_per { QUOTA_PER_VCPU, QUOTA_PER_VM };

struct host_conf {
    int64_t tick_hz; /* 0 = none, slices end exactly */
    int scope;    /* enum placement_scope: how far a waking floating vCPU looks for an idle pCPU */
    int start;    /* enum start_place */
    bool balance; /* periodic and new-idle balancing */
    bool wakeup_preemption; /* false: the policy's preempts() is not asked */
    ns_t migration_cost;    /* cache hot below this (0.5 ms) */
    bool gather;            /* idle vCPUs are packed, active ones get a pCPU (gather.c) */
    ns_t gather_undone;     /* a request to leave this soon says that a gathering was wrong */
    int64_t gather_limit;   /* stable vCPUs on one pCPU */
    ns_t shuffle;           /* every floating vCPU changes its place once in this time, 0 = none */
    int shuffle_scope;      /* enum placement_scope: how far away the other place may be */
    ns_t quota;            /* every so often each VM is told how many vCPUs it may use, 0 = never */
    int quota_per;         /* enum quota_per: what the weights of VMs are */
    ns_t newidle_min_idle; /* no new-idle balancing on a pCPU that is idle for less on average */
};

extern const struct param host_params[]; /* over struct host_conf */

struct host {
    struct engine *engine;
    const struct topology *topo;
    const struct costs *costs;
    struct host_conf conf;
    struct hyp *policy;
    int npcpus, nvcpus;
    struct pcpu *pcpu;          /* [npcpus] */
    struct vcpu **vcpu;         /* [nvcpus] */
    struct cpumask *idle;       /* pCPUs without curr and without READY vCPUs */
    struct cpumask *overloaded; /* pCPUs with a READY vCPU beside curr or another READY one */
    int nr_overloaded;
    const struct host_hooks *hooks;
    void *hook_arg;
    struct trace_sink *trace;
    struct rng rng;
    uint64_t ticks, newidle_pulls, periodic_pulls, active_pulls;
    uint64_t rejected_picks;     /* placement hints refused */
    uint64_t idle_while_ready;   /* decisions for idleness with READY vCPUs, by policies that may */
    struct cpumask *usable;      /* from host_start: pCPUs that some vCPU may use */
    struct lb_tree *lb;          /* NULL: no balancing */
    struct gather *gather;       /* NULL: off */
    struct policy_timer *timers; /* [8] */
    struct event shuffle;
    ns_t shuffle_every;
    int shuffle_next;  /* vCPU whose turn it is */
    uint64_t shuffles; /* places changed */
    int next_new;      /* first pCPU to try for a vCPU that never ran */
    bool started;
};

struct host_ops;

/* `params` was filled from ops->params by the scenario; copied. NULL + message in *why when the
 * policy's table is refused. */
struct host *host_new(struct engine *e, const struct topology *t, const struct costs *costs,
                      const struct host_conf *conf, const struct host_ops *ops, const void *params,
                      uint64_t seed, const struct host_hooks *hooks, void *hook_arg, char why[160]);
void host_free(struct host *h);
/* Adds a vCPU, BLOCKED. Before host_start. */
struct vcpu *host_add_vcpu(struct host *h, int vm, int index, const struct cpumask *allowed,
                           uint32_t weight, void *owner);
/* Calls the policy's init and vcpu_init; starts periodic balancing. */
int host_start(struct host *h, char why[160]);

/* BLOCKED -> READY: chooses a pCPU (policy's hint, checked), enqueues, asks for preemption. A vCPU
 * that is not BLOCKED is left alone. */
void host_wake(struct host *h, struct vcpu *v, enum wake_why why);
/* RUNNING -> BLOCKED: v gives its pCPU up (its guest is idle under BLOCK or WATCH). */
void host_block(struct host *h, struct vcpu *v);
/* RUNNING -> READY by its own wish. */
void host_yield(struct host *h, struct vcpu *v, enum stop_why why);
/* Directed yield from RUNNING `from` to READY `to` (any pCPU). 1 done, 0 nothing to do (to runs
 * already), -1 both queues hold one vCPU only. */
int host_yield_to(struct host *h, struct vcpu *from, struct vcpu *to);
/* Moves READY v to another pCPU's ordering (policies' balance operations and the core's own).
 * Refused (false, counted) when not READY or not allowed. */
bool host_migrate(struct host *h, struct vcpu *v, int to, enum enqueue_why why);
/* Marks p for a decision at the end of the instant. */
void host_resched(struct host *h, struct pcpu *p, enum stop_why why);
/* Moves READY v to the head of its queue if the policy supports it (VM-wide wake-up). */
bool host_boost(struct host *h, struct vcpu *v);
/* Steal so far, the current READY spell included. */
ns_t vcpu_steal(const struct vcpu *v, ns_t now);
/* Time in a state so far, the current spell included. */
ns_t vcpu_time_in(const struct vcpu *v, enum vcpu_state s, ns_t now);
/* Forgets state times so far (end of warm-up); `steal`, which guests see, goes on. */
void host_reset_times(struct host *h);
/* Pass over the VM of `me` for a directed yield after a pause-loop exit (Linux 6.12 kvm_main.c): twice
 * round its n vCPUs after *last_boosted, READY ones that `eligible` (may be NULL) grants, giving up
 * after three refusals. Returns the index that got the yield, also left in *last_boosted, or -1. */
int host_spin_yield(struct host *h, struct vcpu *me, struct vcpu *const *vm_vcpus, int n,
                    int *last_boosted, bool (*eligible)(void *arg, const struct vcpu *v),
                    void *arg);

/* Gathering (host.gather): vCPUs at home on a pCPU; how long v has been gathered. */
int gather_homes(const struct host *h, int pcpu);
ns_t gather_time(const struct vcpu *v, ns_t now);

/* What cross/ tells or asks the policy. */
void host_idle_class(struct host *h, struct vcpu *v, bool stable);
void host_channel_read(struct host *h, struct vcpu *v, const struct guest_row *row);
int host_channel_hint(struct host *h, struct vcpu *v); /* 0 = none */

/* Compares counts, masks and sums with the vCPUs' states; a difference is a bug and ends the run.
 */
void host_check(const struct host *h);
/* pCPUs that are not idle with their vCPUs, then the policy's own dump: for crash reports. */
void host_dump(const struct host *h, FILE *out);

#endif
