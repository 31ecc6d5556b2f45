/* SPDX-License-Identifier: MIT */
/*
 * CFS as in Linux 5.10 to 6.1: the least vruntime runs, for its share of a period.
 *
 * Always true: min_vruntime of the queue never goes back, and no entity is placed left of it by
 * more than the sleeper credit. Two details differ from Linux, on purpose: a slice ends when it is
 * used up (Linux: when it is exceeded, a matter of one ns), and a tick asks for a new pick only
 * when an entity that waits is not right of curr, since otherwise the pick would return curr.
 * Source: Linux 6.1 kernel/sched/fair.c.
 */
#include "fair/fair_impl.h"

static ns_t slice_among(const struct fair_queue *q, const struct fair_entity *e, int nr,
                        uint64_t load)
{
    const struct fair_conf *c = q->conf;
    ns_t period = nr > c->nr_latency ? nr * c->min_granularity : c->latency;
    ns_t share = (ns_t)((uint64_t)period * e->weight / load);

    return share > c->min_granularity ? share : c->min_granularity;
}

/* Lead in vruntime that e, were it waiting, must have over the one that runs instead. */
static int64_t granularity(const struct fair_queue *q, const struct fair_entity *e)
{
    return fair_virtual(q->conf->wakeup_granularity, e->weight);
}

void fair_cfs_place(struct fair_queue *q, struct fair_entity *e, enum fair_enqueue_why why)
{
    int64_t least = q->min_vruntime;

    if (why == FAIR_NEW) {
        /* The period that runs is promised to the others: start at its end. */
        ns_t slice = slice_among(q, e, q->nr + 1, q->load + e->weight);
        e->vruntime = least + fair_virtual(slice, e->weight);
    } else if (e->relative) {
        e->vruntime += least;
    } else {
        if (e->queue && e->queue != q)
            e->vruntime += least - e->queue->min_vruntime;
        if (q->conf->sleeper_credit)
            least -= q->conf->latency / 2;
        if (e->vruntime < least)
            e->vruntime = least;
    }
    e->relative = false;
}

void fair_cfs_advance_min(struct fair_queue *q)
{
    const struct fair_entity *first = q->leftmost;

    if (q->curr && (!first || q->curr->vruntime < first->vruntime))
        first = q->curr;
    if (first && first->vruntime > q->min_vruntime)
        q->min_vruntime = first->vruntime;
}

struct fair_entity *fair_cfs_choose(const struct fair_queue *q)
{
    struct fair_entity *first = q->leftmost;
    struct fair_entity *chosen = first;
    int64_t limit;

    if (!first)
        return NULL;
    /* Whoever is at most this far right may go first without being unfair. */
    limit = first->vruntime + granularity(q, first);
    if (q->skip == first) {
        struct fair_entity *second = fair_tree_next(first);
        if (second && second->vruntime <= limit)
            chosen = second;
    }
    if (q->next && q->next->vruntime <= limit)
        chosen = q->next;
    else if (q->last && q->last->vruntime <= limit)
        chosen = q->last;
    return chosen;
}

bool fair_cfs_tick(struct fair_queue *q)
{
    struct fair_entity *curr = q->curr;
    ns_t ran, slice;
    int64_t lead;

    if (q->nr < 2)
        return false;
    ran = curr->sum_exec - curr->prev_sum;
    slice = slice_among(q, curr, q->nr, q->load);
    lead = curr->vruntime - q->leftmost->vruntime;
    if (ran >= slice && lead >= 0) {
        fair_forget_buddy(q, curr);
        return true;
    }
    return ran >= q->conf->min_granularity && lead > slice;
}

static ns_t longer(ns_t a, ns_t b)
{
    return a > b ? a : b;
}

ns_t fair_cfs_slice_left(const struct fair_queue *q)
{
    const struct fair_entity *curr = q->curr;
    ns_t ran, slice, full, unfair;
    int64_t left;

    if (q->nr < 2)
        return NS_NEVER;
    ran = curr->sum_exec - curr->prev_sum;
    slice = slice_among(q, curr, q->nr, q->load);
    left = q->leftmost->vruntime;
    full = longer(slice - ran, fair_time_to(curr, left));
    unfair = longer(q->conf->min_granularity - ran, fair_time_to(curr, left + slice + 1));
    return longer(full < unfair ? full : unfair, 0);
}

bool fair_cfs_preempts(struct fair_queue *q, struct fair_entity *e)
{
    if (!q->conf->wakeup_preemption)
        return false;
    if (q->curr->vruntime - e->vruntime <= granularity(q, e))
        return false;
    q->next = e;
    if (q->nr >= q->conf->nr_latency)
        q->last = q->curr; /* its cache is still warm: it should follow e */
    return true;
}
