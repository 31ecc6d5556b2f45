/* SPDX-License-Identifier: MIT */
/*
 * Contract of an idle policy: how a vCPU waits once its guest has nothing to run.
 *
 *     guest of v runs out of tasks
 *     plan = enter(v, ctx)                       // required
 *     loop:
 *         the core carries out plan (see enum idle_act) and prices it
 *         on a wake-up:            to_whom = wake(v, via); break
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

struct idle_plan {
    enum idle_act act;
    ns_t until;   /* absolute; NS_NEVER = no limit */
    int cstate;   /* HOLD: index into the machine's table */
    ns_t turn;    /* SPIN: length of a turn, 0 = the machine's poll_turn */
    bool traps;   /* SPIN: each turn is one VM exit */
    bool in_host; /* SPIN: polled by the host after an exit (halt polling): the next stop is free of
                     an exit */
};

struct idle_ctx {
    ns_t now;
    ns_t next_timer; /* guest's next timer, NS_NEVER if none */
    ns_t since;      /* start of this idle episode */
    int rivals;      /* other vCPUs queued on this pCPU */
    bool shared;     /* the pCPU serves more than this vCPU */
    int ncstates;
    ns_t last_run; /* how long the guest was busy before */
};

enum idle_via { VIA_STORE, VIA_IRQ, VIA_TIMER, VIA_LOOK, VIA_SCAN };
enum idle_wake { WAKE_ONE, WAKE_VM };

struct idle; /* one instance per VM: ops, private memory, parameters */

struct idle_ops {
    struct policy_head head; /* head.unit_size = private memory per vCPU */
    struct idle_plan (*enter)(struct idle *i, int vcpu, const struct idle_ctx *ctx); /* required */
    struct idle_plan (*expire)(struct idle *i, int vcpu, const struct idle_ctx *ctx);
    struct idle_plan (*rival)(struct idle *i, int vcpu, const struct idle_ctx *ctx,
                              struct idle_plan now);
    enum idle_wake (*wake)(struct idle *i, int vcpu, enum idle_via via);
    bool (*reflect)(struct idle *i, int vcpu, ns_t episode, enum idle_via via);
    bool wants_timer; /* fill ctx.next_timer: costs a search of the guest's timers */
    bool scans;       /* the core scans this policy's watch list at each host entry on that pCPU */
};

struct idle {
    const struct idle_ops *ops;
    void *self;
    const void *params;
    char *unit; /* nvcpus * unit_size */
    int nvcpus;
};

static inline void *idle_unit(const struct idle *i, int vcpu)
{
    return i->unit + (size_t)vcpu * i->ops->head.unit_size;
}

#endif
