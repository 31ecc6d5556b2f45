/* SPDX-License-Identifier: MIT */
/*
 * Inside of sim/fair: the tree that both kinds share, virtual time, and the rules of each kind that
 * fair.c dispatches to. Nobody outside this folder includes it.
 */
#ifndef SIM_FAIR_FAIR_IMPL_H
#define SIM_FAIR_FAIR_IMPL_H

#include "fair/fair.h"

/* Products of a weight and a virtual time may leave 64 bits. */
__extension__ typedef __int128 fair_wide;

/* -- fair_tree.c -- */
/* Insertion gives e a new sequence number; both keep the sums of the queue. */
void fair_tree_insert(struct fair_queue *q, struct fair_entity *e);
void fair_tree_erase(struct fair_queue *q, struct fair_entity *e);
struct fair_entity *fair_tree_next(const struct fair_entity *e);

/* -- fair.c -- */
void fair_forget_buddy(struct fair_queue *q, const struct fair_entity *e);

/* Entities in the queue, delayed ones and curr included. */
static inline int fair_total(const struct fair_queue *q)
{
    return q->nr + q->nr_delayed;
}

/* Virtual length of a wall length for a weight. */
static inline int64_t fair_virtual(ns_t wall, uint32_t weight)
{
    return weight == FAIR_NICE0 ? wall : wall * FAIR_NICE0 / weight;
}

/* vruntime of e after it has run `delta` more. */
static inline int64_t fair_vruntime_after(const struct fair_entity *e, ns_t delta)
{
    if (e->weight == FAIR_NICE0)
        return e->vruntime + delta;
    return e->vruntime + (delta * FAIR_NICE0 + e->rest) / e->weight;
}

/* The shortest run after which e's vruntime is at least v. */
ns_t fair_time_to(const struct fair_entity *e, int64_t v);

/* -- fair_cfs.c; place sets vruntime, before e joins -- */
void fair_cfs_place(struct fair_queue *q, struct fair_entity *e, enum fair_enqueue_why why);
void fair_cfs_advance_min(struct fair_queue *q);
struct fair_entity *fair_cfs_choose(const struct fair_queue *q);
bool fair_cfs_tick(struct fair_queue *q);
ns_t fair_cfs_slice_left(const struct fair_queue *q);
bool fair_cfs_preempts(struct fair_queue *q, struct fair_entity *e);

/* -- fair_eevdf.c; place sets vruntime and deadline, before e joins -- */
void fair_eevdf_place(struct fair_queue *q, struct fair_entity *e, enum fair_enqueue_why why);
void fair_eevdf_revive(struct fair_queue *q, struct fair_entity *e);
/* e would rather stay as delayed when it blocks. */
bool fair_eevdf_delays(const struct fair_queue *q, const struct fair_entity *e);
/* Keeps the lag of e, which is about to leave. */
void fair_eevdf_keep_lag(struct fair_queue *q, struct fair_entity *e);
/* V rounded down. */
int64_t fair_eevdf_average(struct fair_queue *q);
void fair_eevdf_charged(struct fair_queue *q);
struct fair_entity *fair_eevdf_choose(const struct fair_queue *q);
/* e, put last, would go on until its request is used up. */
bool fair_eevdf_protects(const struct fair_queue *q, const struct fair_entity *e);
bool fair_eevdf_tick(struct fair_queue *q);
ns_t fair_eevdf_slice_left(const struct fair_queue *q);
bool fair_eevdf_preempts(struct fair_queue *q, struct fair_entity *e);
void fair_eevdf_yield(struct fair_queue *q);

#endif
