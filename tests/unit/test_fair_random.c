/* SPDX-License-Identifier: MIT */
/*
 * Fair queueing under random use: the structure of the tree, the sums, every choice compared with
 * one made by looking at all entities, slice ends exact to the nanosecond, and nobody starves.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/unit/fair_world.h"

__extension__ typedef __int128 wide;

static int64_t key(const struct fair_queue *q, const struct fair_entity *e)
{
    return q->kind == FAIR_CFS ? e->vruntime : e->deadline;
}

struct walk {
    const struct fair_queue *q;
    const struct fair_entity *last;
    uint64_t load;
    int nodes, depth;
};

static int64_t walk(struct walk *s, const struct fair_entity *e, int depth)
{
    int64_t least = e->vruntime;

    s->depth = depth > s->depth ? depth : s->depth;
    if (e->left) {
        int64_t m = walk(s, e->left, depth + 1);
        cr_assert_eq(e->left->parent, e);
        least = m < least ? m : least;
    }
    if (s->last) {
        cr_assert(key(s->q, s->last) <= key(s->q, e));
        cr_assert(key(s->q, s->last) < key(s->q, e) || s->last->seq < e->seq);
    } else {
        cr_assert_eq(s->q->leftmost, e);
    }
    s->last = e;
    s->nodes++;
    s->load += e->weight;
    if (e->right) {
        int64_t m = walk(s, e->right, depth + 1);
        cr_assert_eq(e->right->parent, e);
        least = m < least ? m : least;
    }
    cr_assert_eq(e->min_vruntime, least);
    return least;
}

/* Structure, counts and, under EEVDF, that the weighted distances from V cancel out. */
static int check(const struct fair_queue *q, const struct fair_entity *e, int n)
{
    struct walk s = {.q = q};
    uint64_t load = 0;
    wide sum = 0;
    int nr = 0, delayed = 0;

    if (q->root)
        walk(&s, q->root, 1);
    for (int i = 0; i < n; i++) {
        if (!e[i].queued || e[i].queue != q)
            continue;
        load += e[i].weight;
        nr += !e[i].delayed;
        delayed += e[i].delayed;
        if (&e[i] != q->curr)
            sum += (wide)(e[i].vruntime - q->min_vruntime) * e[i].weight;
        cr_assert(q->kind == FAIR_CFS || e[i].deadline > e[i].vruntime);
    }
    cr_assert(q->nr == nr && q->nr_delayed == delayed && q->load == load);
    cr_assert(q->tree_load == s.load && s.nodes == nr + delayed - (q->curr != NULL));
    cr_assert(q->kind == FAIR_CFS || sum == q->avg_vruntime);
    return s.depth;
}

/* The rule of EEVDF by looking at everybody; curr is none. */
static const struct fair_entity *choose_slowly(const struct fair_queue *q)
{
    const struct fair_entity *best = NULL;

    for (int i = 0; i < w.n; i++) {
        const struct fair_entity *e = &w.e[i];
        bool good = e->queued && e->queue == q &&
                    q->avg_vruntime >= (wide)(e->vruntime - q->min_vruntime) * (int64_t)q->load;
        if (good && q->next == e)
            return e;
        if (good && (!best || e->deadline < best->deadline ||
                     (e->deadline == best->deadline && e->seq < best->seq)))
            best = e;
    }
    return best;
}

/* As fair_pick, but every step of the choice is looked at, and whoever runs may run for a while. */
static void checked_pick(void)
{
    while (w.q.kind == FAIR_EEVDF && w.q.root) {
        const struct fair_entity *expected = choose_slowly(&w.q);
        struct world before = w;
        cr_assert_not_null(expected, "nobody is eligible");
        if (!expected->delayed) {
            cr_assert_eq(fair_pick(&w.q), expected);
            break;
        }
        fair_pick(&w.q);
        cr_assert(!expected->queued, "a delayed entity that comes first must leave");
        w = before;
        fair_dequeue(&w.q, &w.e[expected - w.e], true);
    }
    if (!w.q.curr)
        fair_pick(&w.q);
    cr_assert_gt(fair_slice_left(&w.q), 0);
}

/* The two promises about slice ends, tried and undone. */
static void check_slice_end(void)
{
    ns_t left = fair_slice_left(&w.q);
    struct world before = w;
    bool earlier, then;

    cr_assert_geq(left, 0);
    if (left == NS_NEVER) {
        fair_charge(&w.q, NS_SEC);
        cr_assert_not(fair_tick(&w.q), "alone");
        w = before;
        return;
    }
    fair_charge(&w.q, left);
    then = fair_tick(&w.q);
    w = before;
    fair_charge(&w.q, left - 1);
    earlier = left > 0 && fair_tick(&w.q);
    w = before;
    cr_assert(then, "kind %d: not over after %lld ns", w.q.kind, (long long)left);
    cr_assert_not(earlier, "kind %d: over before %lld ns", w.q.kind, (long long)left);
}

static void act_on_current(uint64_t what)
{
    struct fair_entity *curr = w.q.curr;

    if (what < 30) {
        fair_dequeue(&w.q, curr, true);
    } else if (what < 34 && w.q.nr > 1) {
        fair_dequeue(&w.q, curr, false);
        fair_enqueue(&w.other, curr, FAIR_MIGRATE);
    } else if (what < 40) {
        fair_yield(&w.q);
        fair_put(&w.q);
    } else if (what < 46) {
        fair_yield_to(&w.q, &w.e[below((uint64_t)w.n)]);
        fair_put(&w.q);
    } else if (fair_tick(&w.q)) {
        fair_put(&w.q);
    }
    if (!w.q.curr)
        checked_pick();
}

static void wake_somebody(void)
{
    struct fair_entity *e = &w.e[below((uint64_t)w.n)];

    if (e->queued && !e->delayed && e->queue == &w.other) {
        fair_dequeue(&w.other, e, false);
        fair_enqueue(&w.q, e, FAIR_MIGRATE);
    } else if (!e->queued || (e->delayed && e->queue == &w.q)) {
        fair_enqueue(&w.q, e, e->sum_exec ? FAIR_WAKE : FAIR_NEW);
    } else {
        return;
    }
    if (fair_preempts(&w.q, e)) {
        fair_put(&w.q);
        checked_pick();
    }
}

static void live(enum fair_kind kind, int n, int steps)
{
    static const uint32_t weights[] = {15, 335, 1024, 1024, 1024, 3121, 88761};
    int64_t least = 0;

    begin(kind);
    w.conf.tick = below(2) ? TICK : 0;
    w.conf.run_to_parity = below(4) != 0;
    w.conf.delay_dequeue = below(4) != 0;
    w.conf.place_lag = below(4) != 0;
    for (int i = 0; i < n; i++) {
        struct fair_entity *e = add(weights[below(7)], FAIR_NEW);
        e->slice = below(4) ? 0 : (ns_t)(100 * NS_US + (ns_t)below(5000000));
    }
    for (int i = 0; i < steps; i++) {
        cr_assert(kind == FAIR_EEVDF || w.q.min_vruntime >= least);
        least = w.q.min_vruntime;
        check(&w.q, w.e, w.n);
        check(&w.other, w.e, w.n);
        if (w.q.curr) {
            ns_t left = fair_slice_left(&w.q);
            check_slice_end();
            fair_charge(&w.q, below(2) || left == NS_NEVER ? (ns_t)below(5000000) : left);
            act_on_current(below(100));
        }
        if (below(2))
            wake_somebody();
        if (!w.q.curr)
            checked_pick();
    }
}

Test(fair, invariants_under_random_use)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        random_state = seed;
        live(FAIR_CFS, 1 + (int)below(24), 400);
        live(FAIR_EEVDF, 1 + (int)below(24), 400);
    }
}

/* n entities that run 1 us to 6 ms at a time and sleep half of the time, but number 0, which never
 * sleeps; returns its longest wait in units of n * step. */
static ns_t longest_wait(enum fair_kind kind, int n, ns_t step)
{
    ns_t now = 0, since = 0, longest = 0;

    begin(kind);
    for (int i = 0; i < n; i++)
        add(1024, FAIR_NEW);
    fair_pick(&w.q);
    for (int i = 0; i < 20000; i++) {
        ns_t ran = 1 + (ns_t)below(6000000);
        struct fair_entity *woken = &w.e[below((uint64_t)n)];
        bool again = false;
        fair_charge(&w.q, ran);
        now += ran;
        if (w.q.curr == &w.e[0])
            since = now;
        longest = now - since > longest ? now - since : longest;
        if (w.q.curr != &w.e[0] && below(2))
            fair_dequeue(&w.q, w.q.curr, true);
        else
            again = fair_tick(&w.q);
        if (!woken->queued || woken->delayed) {
            fair_enqueue(&w.q, woken, FAIR_WAKE);
            again |= fair_preempts(&w.q, woken);
        }
        if (again || !w.q.curr)
            repick();
    }
    return longest / (n * step);
}

Test(fair, nobody_starves)
{
    random_state = 7;
    for (int n = 2; n <= 32; n *= 2) {
        ns_t cfs = longest_wait(FAIR_CFS, n, 12 * NS_MS);
        ns_t eevdf = longest_wait(FAIR_EEVDF, n, 6 * NS_MS);
        cr_expect_leq(cfs, 2, "%d under CFS: %lld", n, (long long)cfs);
        cr_expect_leq(eevdf, 3, "%d under EEVDF: %lld", n, (long long)eevdf);
    }
}

Test(fair, five_hundred_entities)
{
    static struct fair_entity many[500];

    for (int kind = FAIR_CFS; kind <= FAIR_EEVDF; kind++) {
        int deepest = 0;
        begin((enum fair_kind)kind);
        for (int i = 0; i < 500; i++) {
            fair_entity_init(&many[i], 1024, NULL);
            fair_enqueue(&w.q, &many[i], FAIR_WAKE);
        }
        fair_pick(&w.q);
        for (int i = 0; i < 20000; i++) {
            fair_charge(&w.q, TICK);
            if (fair_tick(&w.q))
                repick();
            if (i % 500 == 0) {
                int depth = check(&w.q, many, 500);
                deepest = depth > deepest ? depth : deepest;
            }
        }
        cr_expect_leq(deepest, 35, "a tree of 500 is %d deep", deepest);
        for (int i = 0; i < 500; i++)
            cr_expect_leq(llabs(many[i].sum_exec - 40 * TICK), 2 * TICK, "%d ran %lld", i,
                          (long long)many[i].sum_exec);
    }
}
