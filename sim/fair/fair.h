/* SPDX-License-Identifier: MIT */
/*
 * Fair queueing as Linux does it, for one CPU: CFS (4.9-6.5) and EEVDF (6.6+). Both levels use it:
 * the host policies `cfs` and `eevdf` order vCPUs with it, the guests order tasks. It knows neither
 * level.
 *
 * Always true: the running entity is not in the tree (fair_pick takes it out, fair_put returns it);
 * an entity belongs to at most one queue; all arithmetic is on integers; nothing allocates.
 * Charging a then b equals charging a + b as long as no request ends in between. Sources:
 * EEVDF of Linux 6.12 and CFS of Linux 6.1, with their constants.
 */
#ifndef SIM_FAIR_FAIR_H
#define SIM_FAIR_FAIR_H

#include <stdbool.h>

#include "conf/param.h"

#define FAIR_NICE0 1024

enum fair_kind { FAIR_CFS, FAIR_EEVDF };

struct fair_conf {
    /* CFS */
    ns_t latency, min_granularity, wakeup_granularity;
    int64_t nr_latency;
    bool sleeper_credit; /* GENTLE_FAIR_SLEEPERS: half a latency; off: none */
    bool wakeup_preemption;
    /* EEVDF */
    ns_t slice; /* base slice */
    bool run_to_parity, delay_dequeue, place_lag;
    bool free_yield; /* a yielder begins a new request, but forfeits nothing */
    ns_t tick;       /* lower bound of the lag clamp; 0 = none */
    bool groups; /* not this folder's: the owner of the queues nests them, see host/fair_order.h */
};

#define FAIR_GROUP_ROW                                                                             \
    {                                                                                              \
        .name = "vm-groups", .type = PARAM_BOOL, .offset = offsetof(struct fair_conf, groups),     \
        .def = "off",                                                                              \
        .help =                                                                                    \
            "a cgroup per VM: VMs share each pCPU by their own weight, their vCPUs share that",    \
        .source = "libvirt: a cgroup per VM; off: Tandem"                                          \
    }

/* The rows of fair_cfs_params, for tables over structs that begin with a struct fair_conf. */
#define FAIR_CFS_SOURCE "Linux 6.1 kernel/sched/fair.c, 8 or more CPUs"
#define FAIR_CFS_ROWS                                                                              \
    {.name = "latency",                                                                            \
     .type = PARAM_NS,                                                                             \
     .offset = offsetof(struct fair_conf, latency),                                                \
     .def = "24ms",                                                                                \
     .min = 100 * NS_US,                                                                           \
     .max = 10 * NS_SEC,                                                                           \
     .help = "period in which every entity runs once",                                             \
     .source = FAIR_CFS_SOURCE},                                                                   \
        {.name = "min-granularity",                                                                \
         .type = PARAM_NS,                                                                         \
         .offset = offsetof(struct fair_conf, min_granularity),                                    \
         .def = "3ms",                                                                             \
         .min = NS_US,                                                                             \
         .max = 10 * NS_SEC,                                                                       \
         .help = "shortest slice",                                                                 \
         .source = FAIR_CFS_SOURCE},                                                               \
        {.name = "wakeup-granularity",                                                             \
         .type = PARAM_NS,                                                                         \
         .offset = offsetof(struct fair_conf, wakeup_granularity),                                 \
         .def = "4ms",                                                                             \
         .min = 0,                                                                                 \
         .max = 10 * NS_SEC,                                                                       \
         .help = "lead in virtual time that a woken entity needs to preempt",                      \
         .source = FAIR_CFS_SOURCE},                                                               \
        {.name = "nr-latency",                                                                     \
         .type = PARAM_INT,                                                                        \
         .offset = offsetof(struct fair_conf, nr_latency),                                         \
         .def = "8",                                                                               \
         .min = 1,                                                                                 \
         .max = 1000,                                                                              \
         .help = "number of entities above which the period grows",                                \
         .source = FAIR_CFS_SOURCE},                                                               \
        {.name = "sleeper-credit",                                                                 \
         .type = PARAM_BOOL,                                                                       \
         .offset = offsetof(struct fair_conf, sleeper_credit),                                     \
         .def = "on",                                                                              \
         .help = "a sleeper is placed up to half a latency ahead",                                 \
         .source = FAIR_CFS_SOURCE},                                                               \
    {                                                                                              \
        .name = "wakeup-preemption", .type = PARAM_BOOL,                                           \
        .offset = offsetof(struct fair_conf, wakeup_preemption), .def = "on",                      \
        .help = "a woken entity may preempt the running one", .source = FAIR_CFS_SOURCE            \
    }

/* Parameter tables over struct fair_conf, with the values for 8 CPUs or more. */
extern const struct param fair_cfs_params[];
extern const struct param fair_eevdf_params[];
/* Linux scales its normalised constants by 1 + ilog2(min(ncpus, 8)). Fills conf with the values for
 * a machine of ncpus. */
void fair_conf_scaled(struct fair_conf *c, int ncpus);

struct fair_entity {
    /* tree links; owner: the queue */
    struct fair_entity *parent, *left, *right;
    uint32_t priority; /* heap order of the tree */
    uint32_t weight;   /* 1024 = nice 0; while queued by fair_reweight only */
    int64_t vruntime, deadline, vlag, min_vruntime; /* virtual ns; min_vruntime: of the subtree */
    ns_t slice;               /* request, EEVDF; 0 = the base slice. The caller's to set */
    uint32_t rest;            /* run time not yet in vruntime, in 1/weight virtual ns */
    uint32_t seq;             /* ties: first in, first out */
    bool queued;              /* in the tree of a queue, or its current entity */
    bool delayed;             /* EEVDF: blocked, dequeue delayed */
    bool fresh;               /* EEVDF: new deadline since picked, so no longer protected */
    bool used_up;             /* EEVDF: request used up, fair_tick has not been asked since */
    bool relative;            /* moving: vruntime (CFS) or deadline (EEVDF) is an offset */
    ns_t sum_exec, prev_sum;  /* run in all; at the last pick */
    struct fair_queue *queue; /* where it is, or was last; queues outlive their entities */
    void *owner;
};

struct fair_queue {
    enum fair_kind kind;
    const struct fair_conf *conf;
    struct fair_entity *root, *leftmost, *curr, *next, *skip, *last;
    struct fair_entity *prev; /* put last, until the next pick */
    /* CFS: never goes back. EEVDF: a point near the weighted average, origin of avg_vruntime. */
    int64_t min_vruntime;
    int64_t avg_vruntime;     /* EEVDF: sum of weight * (v - min_vruntime) over the tree */
    uint64_t load, tree_load; /* sum of weights, with and without curr; delayed ones count */
    int nr;                   /* runnable, curr included, delayed not */
    int nr_delayed;
    uint32_t seq;
};

/* FAIR_RESTORE: back into the queue it was taken from, as if nothing had happened. */
enum fair_enqueue_why { FAIR_WAKE, FAIR_NEW, FAIR_MIGRATE, FAIR_RESTORE };

void fair_queue_init(struct fair_queue *q, enum fair_kind kind, const struct fair_conf *conf);
void fair_entity_init(struct fair_entity *e, uint32_t weight, void *owner);
/* Places and inserts e. A delayed e of this queue is revived instead; one that is delayed in
 * another queue must be taken out there first. */
void fair_enqueue(struct fair_queue *q, struct fair_entity *e, enum fair_enqueue_why why);
/* Takes out e (queued, current or delayed). `sleeps`: it blocks (EEVDF may then keep it as delayed:
 * returns false and e stays in the tree); else it moves to another queue: its lag is kept in vlag.
 * A delayed e really leaves, in both cases. */
bool fair_dequeue(struct fair_queue *q, struct fair_entity *e, bool sleeps);
/* Takes the next entity out of the tree and makes it current; NULL when nothing is runnable. Really
 * dequeues the delayed entities it meets. Call with no current entity. */
struct fair_entity *fair_pick(struct fair_queue *q);
/* The same, but one that was put last and whose request is not used up goes on (EEVDF, run to parity),
 * unless a buddy is preferred: for a decision that was asked for on another ground than this queue's. */
struct fair_entity *fair_pick_protecting(struct fair_queue *q);
/* Current entity goes back into the tree, still runnable. */
void fair_put(struct fair_queue *q);
/* e gets another weight, whether it is queued or not; its lag and what is left of its request are worth
 * as much as before. */
void fair_reweight(struct fair_queue *q, struct fair_entity *e, uint32_t weight);
/* Current entity ran for `delta`. Call before every decision about it. */
void fair_charge(struct fair_queue *q, ns_t delta);
/* Tick: should curr be replaced? (after fair_charge). True only when fair_put and fair_pick would
 * change something: another entity runs, a delayed one leaves, or a new slice begins. */
bool fair_tick(struct fair_queue *q);
/* How long curr may still run from now if nothing else happens, NS_NEVER when alone. For exact
 * slices without a tick: the length of one charge after which fair_tick says true, and not one ns
 * sooner; never 0 after a pick. Ask again after every other call on this queue that may change it.
 */
ns_t fair_slice_left(const struct fair_queue *q);
/* e was just enqueued: does it preempt curr? (after fair_charge). May set the next buddy. */
bool fair_preempts(struct fair_queue *q, struct fair_entity *e);
/* Curr lets others go first. The caller puts and picks afterwards. */
void fair_yield(struct fair_queue *q);
/* e becomes next buddy, then curr yields. False, and nothing happens, when e does not wait here. */
bool fair_yield_to(struct fair_queue *q, struct fair_entity *e);
/* First half of fair_yield_to, for a yielder on another queue: the next pick prefers e if that is
 * fair enough. False when e does not wait here. */
bool fair_prefer(struct fair_queue *q, struct fair_entity *e);

#endif
