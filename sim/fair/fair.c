/* SPDX-License-Identifier: MIT */
/*
 * The queue of one CPU: what CFS and EEVDF share. Membership, counts and buddies change here only;
 * the rules are in fair_cfs.c and fair_eevdf.c, the ordering in fair_tree.c.
 */
#include <string.h>

#include "engine/check.h"
#include "fair/fair_impl.h"

#define EEVDF_SOURCE "Linux 6.12 kernel/sched/fair.c, 8 or more CPUs"

const struct param fair_cfs_params[] = {FAIR_CFS_ROWS, FAIR_GROUP_ROW, PARAM_END};

const struct param fair_eevdf_params[] = {
    {.name = "slice",
     .type = PARAM_NS,
     .offset = offsetof(struct fair_conf, slice),
     .def = "2.8ms",
     .min = NS_US,
     .max = 10 * NS_SEC,
     .help = "base slice: the request of every entity",
     .source = EEVDF_SOURCE},
    {.name = "run-to-parity",
     .type = PARAM_BOOL,
     .offset = offsetof(struct fair_conf, run_to_parity),
     .def = "on",
     .help = "an eligible running entity keeps the CPU until its request is used up",
     .source = EEVDF_SOURCE},
    {.name = "delay-dequeue",
     .type = PARAM_BOOL,
     .offset = offsetof(struct fair_conf, delay_dequeue),
     .def = "on",
     .help = "an entity that blocks with a debt stays queued until the debt is paid",
     .source = EEVDF_SOURCE},
    {.name = "place-lag",
     .type = PARAM_BOOL,
     .offset = offsetof(struct fair_conf, place_lag),
     .def = "on",
     .help = "an entity keeps its lag while it sleeps or moves",
     .source = EEVDF_SOURCE},
    FAIR_GROUP_ROW,
    PARAM_END};

void fair_conf_scaled(struct fair_conf *c, int ncpus)
{
    ns_t factor = 1;

    for (int n = ncpus < 8 ? ncpus : 8; n > 1; n /= 2)
        factor++;
    *c = (struct fair_conf){
        .latency = 6 * NS_MS * factor,
        .min_granularity = 750 * NS_US * factor,
        .wakeup_granularity = NS_MS * factor,
        .nr_latency = 8,
        .sleeper_credit = true,
        .wakeup_preemption = true,
        .slice = 700 * NS_US * factor,
        .run_to_parity = true,
        .delay_dequeue = true,
        .place_lag = true,
        .tick = 0,
    };
}

ns_t fair_time_to(const struct fair_entity *e, int64_t v)
{
    fair_wide need = (fair_wide)(v - e->vruntime) * e->weight - e->rest;

    if (need <= 0)
        return 0;
    need = (need + FAIR_NICE0 - 1) / FAIR_NICE0;
    return need < NS_NEVER ? (ns_t)need : NS_NEVER;
}

void fair_queue_init(struct fair_queue *q, enum fair_kind kind, const struct fair_conf *conf)
{
    memset(q, 0, sizeof *q);
    q->kind = kind;
    q->conf = conf;
}

void fair_entity_init(struct fair_entity *e, uint32_t weight, void *owner)
{
    CHECK_PRE(weight > 0, "entity without weight");
    memset(e, 0, sizeof *e);
    e->weight = weight;
    e->owner = owner;
}

void fair_forget_buddy(struct fair_queue *q, const struct fair_entity *e)
{
    if (q->next == e)
        q->next = NULL;
    if (q->skip == e)
        q->skip = NULL;
    if (q->last == e)
        q->last = NULL;
}

void fair_enqueue(struct fair_queue *q, struct fair_entity *e, enum fair_enqueue_why why)
{
    if (e->delayed) {
        CHECK_PRE(e->queue == q, "a delayed entity is enqueued elsewhere");
        fair_eevdf_revive(q, e);
        return;
    }
    CHECK_PRE(!e->queued, "entity is queued already");
    if (q->kind == FAIR_CFS)
        fair_cfs_place(q, e, why);
    else
        fair_eevdf_place(q, e, why);
    fair_tree_insert(q, e);
    q->load += e->weight;
    q->nr++;
    e->queue = q;
    e->queued = true;
}

/* Takes e out for good. Its count, in nr or nr_delayed, is the caller's affair. */
static void leave(struct fair_queue *q, struct fair_entity *e)
{
    if (q->kind == FAIR_EEVDF)
        fair_eevdf_keep_lag(q, e);
    if (q->curr == e)
        q->curr = NULL;
    else
        fair_tree_erase(q, e);
    if (q->prev == e)
        q->prev = NULL;
    q->load -= e->weight;
    e->queued = false;
    e->used_up = false;
}

static void leave_delayed(struct fair_queue *q, struct fair_entity *e)
{
    leave(q, e);
    q->nr_delayed--;
    e->delayed = false;
}

static void become_delayed(struct fair_queue *q, struct fair_entity *e)
{
    if (q->curr == e) {
        q->curr = NULL;
        fair_tree_insert(q, e);
    }
    if (q->prev == e)
        q->prev = NULL;
    q->nr--;
    q->nr_delayed++;
    e->delayed = true;
    e->used_up = false;
}

bool fair_dequeue(struct fair_queue *q, struct fair_entity *e, bool sleeps)
{
    CHECK_PRE(e->queued && e->queue == q, "entity is not queued here");
    fair_forget_buddy(q, e);
    if (e->delayed) {
        leave_delayed(q, e);
        return true;
    }
    if (sleeps && q->kind == FAIR_EEVDF && fair_eevdf_delays(q, e)) {
        become_delayed(q, e);
        return false;
    }
    leave(q, e);
    q->nr--;
    e->relative = !sleeps;
    if (q->kind == FAIR_CFS) {
        /* The offset is from the minimum that still counted e. */
        if (!sleeps)
            e->vruntime -= q->min_vruntime;
        fair_cfs_advance_min(q);
    } else if (!sleeps) {
        e->deadline -= e->vruntime;
    }
    return true;
}

/* e leaves the tree and runs. */
static struct fair_entity *take(struct fair_queue *q, struct fair_entity *e)
{
    fair_tree_erase(q, e);
    fair_forget_buddy(q, e);
    q->curr = e;
    e->prev_sum = e->sum_exec;
    e->used_up = false;
    /* Elected again at once, it has not been switched to: no new protection. */
    if (e != q->prev)
        e->fresh = false;
    q->prev = NULL;
    return e;
}

struct fair_entity *fair_pick(struct fair_queue *q)
{
    struct fair_entity *e;

    CHECK_PRE(!q->curr, "pick while an entity runs");
    if (q->kind == FAIR_CFS) {
        e = fair_cfs_choose(q);
    } else {
        while ((e = fair_eevdf_choose(q)) && e->delayed)
            leave_delayed(q, e);
    }
    return e ? take(q, e) : NULL;
}

struct fair_entity *fair_pick_protecting(struct fair_queue *q)
{
    CHECK_PRE(!q->curr, "pick while an entity runs");
    if (q->kind == FAIR_EEVDF && q->prev && fair_eevdf_protects(q, q->prev))
        return take(q, q->prev);
    return fair_pick(q);
}

void fair_put(struct fair_queue *q)
{
    CHECK_PRE(q->curr, "put without a running entity");
    q->prev = q->curr;
    q->curr = NULL;
    fair_tree_insert(q, q->prev);
}

static int64_t scaled(int64_t v, uint32_t from, uint32_t to)
{
    return (int64_t)((fair_wide)v * from / to);
}

/* CFS keeps vruntime, as Linux 6.1 does. */
static void fair_rescale(struct fair_queue *q, struct fair_entity *e, uint32_t weight, bool in_tree)
{
    const uint32_t before = e->weight;
    const int64_t v = q->kind == FAIR_EEVDF ? fair_eevdf_average(q) : 0;

    if (in_tree)
        fair_tree_erase(q, e);
    if (q->kind == FAIR_EEVDF) {
        const int64_t left = e->deadline - e->vruntime, rest = scaled(left, before, weight);

        e->vruntime = v - scaled(v - e->vruntime, before, weight);
        e->deadline = e->vruntime + (rest > 0 ? rest : 1);
    }
    q->load = q->load - before + weight;
    e->weight = weight;
    if (in_tree)
        fair_tree_insert(q, e);
}

void fair_reweight(struct fair_queue *q, struct fair_entity *e, uint32_t weight)
{
    const bool here = e->queued && e->queue == q, in_tree = here && q->curr != e;

    CHECK_PRE(weight > 0, "entity without weight");
    if (weight == e->weight)
        return;
    if (here) {
        fair_rescale(q, e, weight, in_tree);
    } else {
        e->vlag = scaled(e->vlag, e->weight, weight);
        if (q->kind == FAIR_EEVDF && e->relative)
            e->deadline = scaled(e->deadline, e->weight, weight);
        e->weight = weight;
    }
    e->rest = 0;
}

void fair_charge(struct fair_queue *q, ns_t delta)
{
    struct fair_entity *e = q->curr;

    if (!e || delta <= 0)
        return;
    e->sum_exec += delta;
    if (e->weight == FAIR_NICE0) {
        e->vruntime += delta;
    } else {
        int64_t parts = delta * FAIR_NICE0 + e->rest;
        e->vruntime += parts / e->weight;
        e->rest = (uint32_t)(parts % e->weight);
    }
    if (q->kind == FAIR_CFS)
        fair_cfs_advance_min(q);
    else
        fair_eevdf_charged(q);
}

bool fair_tick(struct fair_queue *q)
{
    if (!q->curr)
        return false;
    return q->kind == FAIR_CFS ? fair_cfs_tick(q) : fair_eevdf_tick(q);
}

ns_t fair_slice_left(const struct fair_queue *q)
{
    if (!q->curr)
        return NS_NEVER;
    return q->kind == FAIR_CFS ? fair_cfs_slice_left(q) : fair_eevdf_slice_left(q);
}

/* e is runnable in this queue and not running. */
static bool waits_here(const struct fair_queue *q, const struct fair_entity *e)
{
    return e->queued && e->queue == q && !e->delayed && e != q->curr;
}

bool fair_preempts(struct fair_queue *q, struct fair_entity *e)
{
    if (!q->curr || !waits_here(q, e))
        return false;
    return q->kind == FAIR_CFS ? fair_cfs_preempts(q, e) : fair_eevdf_preempts(q, e);
}

void fair_yield(struct fair_queue *q)
{
    if (!q->curr || fair_total(q) < 2)
        return;
    fair_forget_buddy(q, q->curr);
    if (q->kind == FAIR_CFS)
        q->skip = q->curr;
    else
        fair_eevdf_yield(q);
}

bool fair_prefer(struct fair_queue *q, struct fair_entity *e)
{
    if (!waits_here(q, e))
        return false;
    q->next = e;
    return true;
}

bool fair_yield_to(struct fair_queue *q, struct fair_entity *e)
{
    if (!fair_prefer(q, e))
        return false;
    fair_yield(q);
    return true;
}
