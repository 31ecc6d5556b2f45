/* SPDX-License-Identifier: MIT */
/*
 * Contract of an idle policy: how a vCPU waits once its guest has nothing to run.
 *
 *     guest of v runs out of tasks
 *     use(i, u)                                  // at most once per window it asks for (use_at)
 *     plan = enter(v, ctx)                       // required
 *     loop:
 *         the core carries out plan (see enum idle_act) and prices it
 *         the host wakes v:        to_whom = wake(v, via); break   // it gave its pCPU up
 *         when `until` passes:     plan = expire(v, ctx)
 *         another vCPU wants the pCPU while v keeps it: plan = rival(v, ctx)
 *     stable = reflect(v, episode, via)          // after the wake that gave the guest work;
 *                                                // a change goes to the host policy's idle_class
 *
 * A policy never sees a pCPU or a vCPU structure, only the context below and its own memory.
 */
#ifndef SIM_CHANNEL_IDLE_OPS_H
#define SIM_CHANNEL_IDLE_OPS_H

#include "channel/policy.h"

enum idle_act {
    IDLE_SPIN,  /* pCPU kept and burnt; a store ends it within a turn, an interrupt at once */
    IDLE_HOLD,  /* pCPU kept in C-state `cstate`, no exit; any store or interrupt ends it */
    IDLE_BLOCK, /* pCPU given up after an exit; an interrupt ends it */
    IDLE_WATCH  /* pCPU given up after an exit; a store is noticed at the next look (`until`) or
                 * scan,  an interrupt at once */
};

/* The pCPUs whose hypervisor entries scan for a waiting vCPU: those that share this unit with the
 * pCPU where it waits. */
enum idle_set { IDLE_SET_PCPU, IDLE_SET_CORE, IDLE_SET_GROUP, IDLE_SET_NODE, IDLE_SET_MACHINE };

/* What a plan says about the vCPU's place: leave it, pack it with other idle ones, or take it out. */
enum idle_view { IDLE_VIEW_KEEP, IDLE_VIEW_STABLE, IDLE_VIEW_ACTIVE };

struct idle_plan {
    enum idle_act act;
    ns_t until;   /* absolute; NS_NEVER = no limit */
    int cstate;   /* HOLD: index into the machine's table */
    ns_t turn;    /* SPIN: length of a turn, 0 = the machine's poll_turn, or nop_turn if it traps */
    bool traps;   /* SPIN: each turn is one VM exit */
    bool in_host; /* SPIN: polled by the host after an exit (halt polling): the next stop is
                            free of an exit */
    bool yields;  /* SPIN that traps: each exit yields the pCPU to whoever waits for it */
    bool self_look;      /* WATCH: at `until` the vCPU is switched in and looks for itself */
    bool monitored;      /* WATCH: hardware tells the host of a store at once */
    bool irq_waits;      /* WATCH: an interrupt waits for the next look or scan, like a store */
    enum idle_set set;   /* WATCH of a policy that scans */
    enum idle_view view; /* a change goes to the host policy's idle_class */
};

struct idle_ctx {
    ns_t now;
    ns_t next_timer; /* guest's next timer, NS_NEVER if none; not known while v is off its pCPU */
    ns_t since;      /* start of this idle episode */
    int rivals;      /* other vCPUs queued on this pCPU */
    bool shared;     /* the pCPU serves more than this vCPU */
    bool gathered;   /* the host counts v among the stable ones, and packs it */
    int ncstates;
    const ns_t *residency, *exit_latency; /* [ncstates], the lightest C-state first */
    ns_t last_run;                        /* how long the guest was busy before */
};

/* What a VM has done since it started, as the host's counters show it. */
struct idle_use {
    ns_t now;
    ns_t used;       /* time that its vCPUs executed while not idle, all together */
    uint64_t io_ops; /* operations submitted to its devices */
};

enum idle_via { VIA_STORE, VIA_IRQ, VIA_TIMER, VIA_LOOK, VIA_SCAN };

/* Who becomes runnable: the one; also the VM's vCPUs that wait under WATCH; and those of its vCPUs
 * that are READY move to the head of their queues. */
enum idle_wake { WAKE_ONE, WAKE_VM_MARK, WAKE_VM };

struct idle; /* one instance per VM: ops, private memory, parameters */

struct idle_ops {
    struct policy_head head; /* head.unit_size = private memory per vCPU */
    struct idle_plan (*enter)(struct idle *i, int vcpu, const struct idle_ctx *ctx); /* required */
    /* Default: the same plan again for WATCH, BLOCK for others. After WATCH any other act means: v is
     * switched in and, if it finds nothing, asks `enter` anew. */
    struct idle_plan (*expire)(struct idle *i, int vcpu, const struct idle_ctx *ctx);
    struct idle_plan (*rival)(struct idle *i, int vcpu, const struct idle_ctx *ctx,
                              struct idle_plan now);
    enum idle_wake (*wake)(struct idle *i, int vcpu, enum idle_via via);
    /* `episode` = from the guest's idle entry to the wake that gave it work: looks, host ticks and
     * VM-wide wakes that find nothing do not end it. */
    bool (*reflect)(struct idle *i, int vcpu, ns_t episode, enum idle_via via);
    /* Called at the first idle entry or look at or after i->use_at, which it moves on. */
    void (*use)(struct idle *i, const struct idle_use *u);
    bool wants_timer; /* fill ctx.next_timer: costs a search of the guest's timers */
    bool scans;       /* the core scans this policy's watch list at each host entry of the set */
};

/* What policies count for the result. */
struct idle_stats {
    uint64_t windows, windows_short; /* of the slice classifier; those classified short */
    uint64_t flips;                  /* changes of its verdict */
};

struct idle {
    const struct idle_ops *ops;
    void *self;
    const void *params;
    char *unit; /* nvcpus * unit_size */
    int nvcpus;
    ns_t use_at; /* `use` is due; starts at 0 */
    struct idle_stats st;
};

static inline void *idle_unit(const struct idle *i, int vcpu)
{
    return i->unit + (size_t)vcpu * i->ops->head.unit_size;
}

#endif
