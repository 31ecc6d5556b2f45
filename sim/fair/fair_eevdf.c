/* SPDX-License-Identifier: MIT */
/*
 * EEVDF as in Linux 6.12: among the entities that have had no more than their share (eligible), the
 * one with the earliest virtual deadline runs.
 *
 * Always true: V is the average of all vruntimes weighted by weight, curr and delayed entities
 * included; e is eligible when v <= V, tested without division, so that the sum of all lags is
 * exactly zero and somebody is always eligible. deadline > vruntime. Curr is protected from the
 * moment it is picked until it gets a new deadline or a shorter request overrules it (`fresh`).
 * Source: Linux 6.12 kernel/sched/fair.c.
 */
#include "fair/fair_impl.h"

/* V as a fraction, measured from min_vruntime. */
struct average {
    fair_wide sum;
    int64_t weight;
};

/* The average if curr stood at `v_curr`. */
static struct average average_at(const struct fair_queue *q, int64_t v_curr)
{
    struct average a = {.sum = q->avg_vruntime, .weight = (int64_t)q->tree_load};

    if (q->curr) {
        a.sum += (fair_wide)(v_curr - q->min_vruntime) * q->curr->weight;
        a.weight += q->curr->weight;
    }
    return a;
}

static struct average average_now(const struct fair_queue *q)
{
    return average_at(q, q->curr ? q->curr->vruntime : 0);
}

static bool eligible(const struct fair_queue *q, const struct average *a, int64_t v)
{
    return a->sum >= (fair_wide)(v - q->min_vruntime) * a->weight;
}

static int64_t divide_down(fair_wide a, int64_t b)
{
    int64_t n = (int64_t)a;

    return n / b - (n % b < 0);
}

/* V rounded down. Moves the origin of the sums there, which keeps them small. */
static int64_t settle_average(struct fair_queue *q)
{
    struct average a = average_now(q);
    int64_t step;

    if (a.weight == 0)
        return q->min_vruntime;
    step = divide_down(a.sum, a.weight);
    q->min_vruntime += step;
    q->avg_vruntime -= step * (int64_t)q->tree_load;
    return q->min_vruntime;
}

int64_t fair_eevdf_average(struct fair_queue *q)
{
    return settle_average(q);
}

static ns_t request(const struct fair_queue *q, const struct fair_entity *e)
{
    return e->slice > 0 ? e->slice : q->conf->slice;
}

static int64_t virtual_request(const struct fair_queue *q, const struct fair_entity *e, int divisor)
{
    int64_t r = fair_virtual(request(q, e), e->weight) / divisor;

    return r > 0 ? r : 1;
}

void fair_eevdf_place(struct fair_queue *q, struct fair_entity *e, enum fair_enqueue_why why)
{
    int64_t lag = 0;
    int64_t v = settle_average(q);

    if (why == FAIR_NEW)
        e->vlag = 0;
    if (q->conf->place_lag && q->load > 0) {
        /* e moves the average towards itself; this much more lag leaves it with vlag afterwards. */
        fair_wide inflated = (fair_wide)e->vlag * (int64_t)(q->load + e->weight);
        lag = (int64_t)(inflated / (int64_t)q->load);
    }
    e->vruntime = v - lag;
    e->rest = 0;
    if (e->relative && why != FAIR_NEW)
        e->deadline += e->vruntime;
    else
        e->deadline = e->vruntime + virtual_request(q, e, why == FAIR_NEW ? 2 : 1);
    e->relative = false;
}

void fair_eevdf_keep_lag(struct fair_queue *q, struct fair_entity *e)
{
    ns_t longest = 2 * request(q, e);
    int64_t limit = fair_virtual(longest > q->conf->tick ? longest : q->conf->tick, e->weight);
    int64_t lag = settle_average(q) - e->vruntime;

    if (lag > limit)
        lag = limit;
    if (lag < -limit)
        lag = -limit;
    /* Time spent blocked earns nothing. */
    if (e->delayed && lag > 0)
        lag = 0;
    e->vlag = lag;
}

bool fair_eevdf_delays(const struct fair_queue *q, const struct fair_entity *e)
{
    struct average a = average_now(q);

    return q->conf->delay_dequeue && !eligible(q, &a, e->vruntime);
}

void fair_eevdf_revive(struct fair_queue *q, struct fair_entity *e)
{
    if (settle_average(q) > e->vruntime) {
        /* Its debt is paid, and what it would have gained since is not its own. */
        fair_tree_erase(q, e);
        q->load -= e->weight;
        e->vlag = 0;
        fair_eevdf_place(q, e, FAIR_WAKE);
        q->load += e->weight;
        fair_tree_insert(q, e);
    }
    e->delayed = false;
    q->nr_delayed--;
    q->nr++;
}

static void renew_deadline(struct fair_queue *q, struct fair_entity *e)
{
    e->deadline = e->vruntime + virtual_request(q, e, 1);
    e->fresh = true;
    settle_average(q);
}

void fair_eevdf_charged(struct fair_queue *q)
{
    struct fair_entity *curr = q->curr;

    if (curr->vruntime >= curr->deadline) {
        renew_deadline(q, curr);
        curr->used_up = true;
    }
}

/* The eligible entity of the tree with the earliest deadline, NULL when none is eligible. */
static struct fair_entity *earliest(const struct fair_queue *q, const struct average *a)
{
    struct fair_entity *e = q->root;

    if (e && eligible(q, a, q->leftmost->vruntime))
        return q->leftmost;
    while (e) {
        if (e->left && eligible(q, a, e->left->min_vruntime))
            e = e->left;
        else if (eligible(q, a, e->vruntime))
            return e;
        else
            e = e->right;
    }
    return NULL;
}

struct fair_entity *fair_eevdf_choose(const struct fair_queue *q)
{
    struct average a = average_now(q);

    if (q->next && eligible(q, &a, q->next->vruntime))
        return q->next;
    return earliest(q, &a);
}

bool fair_eevdf_protects(const struct fair_queue *q, const struct fair_entity *e)
{
    struct average a = average_now(q);

    if (q->next && eligible(q, &a, q->next->vruntime))
        return false;
    return q->conf->run_to_parity && !e->fresh && !e->delayed && eligible(q, &a, e->vruntime);
}

/* Curr as it is now or will be. */
struct view {
    int64_t vruntime, deadline;
    bool fresh, used_up;
};

static struct view view_after(const struct fair_queue *q, ns_t delta)
{
    const struct fair_entity *e = q->curr;
    struct view s = {fair_vruntime_after(e, delta), e->deadline, e->fresh, e->used_up};

    if (s.vruntime >= s.deadline) {
        s.deadline = s.vruntime + virtual_request(q, e, 1);
        s.fresh = s.used_up = true;
    }
    return s;
}

/* Whether curr, seen so, should be replaced. For the views of one moment: once true, true for every
 * longer run, because V, curr's deadline and curr's distance from V only grow. */
static bool due(const struct fair_queue *q, const struct view *s)
{
    struct average a = average_at(q, s->vruntime);
    const struct fair_entity *best;

    if (!eligible(q, &a, s->vruntime))
        return s->fresh;
    if (!s->used_up)
        return false;
    if (q->next && eligible(q, &a, q->next->vruntime))
        return true;
    best = earliest(q, &a);
    return best && best->deadline <= s->deadline;
}

static bool due_after(const struct fair_queue *q, ns_t delta)
{
    struct view s = view_after(q, delta);

    return due(q, &s);
}

bool fair_eevdf_tick(struct fair_queue *q)
{
    bool replace = fair_total(q) > 1 && due_after(q, 0);

    q->curr->used_up = false;
    return replace;
}

ns_t fair_eevdf_slice_left(const struct fair_queue *q)
{
    const struct fair_entity *curr = q->curr;
    ns_t no = 0, yes;

    if (fair_total(q) < 2)
        return NS_NEVER;
    if (due_after(q, 0))
        return 0;
    yes = fair_time_to(curr, curr->deadline);
    if (!due_after(q, yes)) {
        /* Nobody else is eligible then; curr itself ceases to be, right of the average of the
         * others. */
        no = yes;
        yes = fair_time_to(curr, q->min_vruntime + 1 +
                                     divide_down(q->avg_vruntime, (int64_t)q->tree_load));
    } else if (!curr->fresh) {
        return yes;
    }
    while (yes - no > 1) {
        ns_t middle = no + (yes - no) / 2;
        if (due_after(q, middle))
            yes = middle;
        else
            no = middle;
    }
    return yes;
}

bool fair_eevdf_preempts(struct fair_queue *q, struct fair_entity *e)
{
    struct fair_entity *curr = q->curr;
    struct average a = average_now(q);
    bool keeps = eligible(q, &a, curr->vruntime);
    const struct fair_entity *best;

    if (due_after(q, 0))
        return true;
    if (request(q, e) < request(q, curr) && eligible(q, &a, e->vruntime) &&
        (e->deadline < curr->deadline || !keeps))
        curr->fresh = true;
    if (keeps && q->conf->run_to_parity && !curr->fresh)
        return false;
    best = earliest(q, &a);
    return best == e && !(keeps && curr->deadline < e->deadline);
}

void fair_eevdf_yield(struct fair_queue *q)
{
    struct fair_entity *curr = q->curr;
    struct average a = average_now(q);

    if (!eligible(q, &a, curr->vruntime))
        return;
    if (!q->conf->free_yield) {
        curr->vruntime = curr->deadline;
        curr->rest = 0;
    }
    renew_deadline(q, curr);
}
