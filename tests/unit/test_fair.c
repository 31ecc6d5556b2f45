/* SPDX-License-Identifier: MIT */
/*
 * Fair queueing: decision strings worked out by hand from the rules, and one test per rule.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/fair_world.h"

__extension__ typedef __int128 wide;

static char name(const struct fair_entity *e)
{
    return (char)(e ? 'A' + (e - w.e) : '.');
}

/* Who ran between the ticks, a letter each. */
static const char *ticks(int n)
{
    static char s[128];

    for (int i = 0; i < n; i++) {
        if (!w.q.curr)
            fair_pick(&w.q);
        s[i] = name(w.q.curr);
        fair_charge(&w.q, TICK);
        if (fair_tick(&w.q))
            repick();
    }
    s[n] = '\0';
    return s;
}

static void expect_ticks(enum fair_kind kind, int n, const uint32_t *weight, const char *expected)
{
    const char *got;

    begin(kind);
    for (int i = 0; i < n; i++)
        add(weight[i], FAIR_WAKE);
    got = ticks((int)strlen(expected));
    cr_expect_str_eq(got, expected, "%s: %s, expected %s", kind == FAIR_CFS ? "cfs" : "eevdf", got,
                     expected);
}

Test(fair, decisions_at_ticks)
{
    expect_ticks(FAIR_CFS, 1, (uint32_t[]){1024}, "AAAA");
    /* A period of 24 ms for two is 3 ticks each, for three 2 ticks each. */
    expect_ticks(FAIR_CFS, 2, (uint32_t[]){1024, 1024}, "AAABBBAAABBB");
    expect_ticks(FAIR_CFS, 3, (uint32_t[]){1024, 1024, 1024}, "AABBCCAABBCC");
    /* 16 ms and 8 ms. */
    expect_ticks(FAIR_CFS, 2, (uint32_t[]){2048, 1024}, "AAAABBAAAABB");
    /* Nine entities: the period is 9 x 3 ms, a slice of 3 ms ends at the first tick. */
    expect_ticks(FAIR_CFS, 9, (uint32_t[]){1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024},
                 "ABCDEFGHIABCDEFGHI");
    /* A request of 2.8 ms is used up at the first tick. */
    expect_ticks(FAIR_EEVDF, 2, (uint32_t[]){1024, 1024}, "ABABABAB");
    expect_ticks(FAIR_EEVDF, 3, (uint32_t[]){1024, 1024, 1024}, "ABCABCABC");
    /* Virtual ms. A: +2 a tick, request 1.4; B: +4, request 2.8. After A and B: v 2 and 4, V 2.67,
     * only A is eligible. Then v 4 and 4, deadlines 5.4 and 6.8: A again. Then A 6 > V 5.33: B. */
    expect_ticks(FAIR_EEVDF, 2, (uint32_t[]){2048, 1024}, "ABAABAABAAB");
}

/* Lengths of the slices in us without a tick, as "A12000 B12000 ...". */
static const char *slices(int n)
{
    static char s[256];
    size_t len = 0;

    for (int i = 0; i < n; i++) {
        ns_t left;
        if (!w.q.curr)
            fair_pick(&w.q);
        left = fair_slice_left(&w.q);
        len += (size_t)snprintf(s + len, sizeof s - len, "%s%c%lld", i ? " " : "", name(w.q.curr),
                                (long long)(left == NS_NEVER ? -1 : left / NS_US));
        if (left == NS_NEVER)
            break;
        fair_charge(&w.q, left);
        cr_assert(fair_tick(&w.q));
        repick();
    }
    return s;
}

Test(fair, exact_slices)
{
    begin(FAIR_CFS);
    add(1024, FAIR_WAKE);
    cr_expect_str_eq(slices(1), "A-1");
    add(1024, FAIR_WAKE);
    cr_expect_str_eq(slices(3), "A12000 B12000 A12000");

    begin(FAIR_EEVDF);
    add(1024, FAIR_WAKE);
    cr_expect_str_eq(slices(1), "A-1");
    add(1024, FAIR_WAKE);
    cr_expect_str_eq(slices(4), "A2800 B2800 A2800 B2800");

    /* A new one has half a request at first, so it comes first, and then waits its turn. */
    begin(FAIR_EEVDF);
    add(1024, FAIR_WAKE);
    add(1024, FAIR_NEW);
    cr_expect_str_eq(slices(4), "B1400 A2800 B2800 A2800");

    /* Under CFS a new one goes to the end of the period that runs: v = 24 ms / 2. */
    begin(FAIR_CFS);
    add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    add(1024, FAIR_NEW);
    cr_expect_eq(w.e[1].vruntime, 12 * NS_MS);
}

Test(fair, constants_follow_the_machine)
{
    struct fair_conf c;
    const char *cfs[] = {"latency",        "min-granularity",   "wakeup-granularity", "nr-latency",
                         "sleeper-credit", "wakeup-preemption", "vm-groups"};
    const char *eevdf[] = {"slice", "run-to-parity", "delay-dequeue", "place-lag", "vm-groups"};

    fair_conf_scaled(&c, 1);
    cr_expect(c.latency == 6 * NS_MS && c.min_granularity == 750 * NS_US && c.slice == 700 * NS_US);
    fair_conf_scaled(&c, 3);
    cr_expect(c.latency == 12 * NS_MS && c.wakeup_granularity == 2 * NS_MS);
    cr_expect_eq(c.slice, 1400 * NS_US);
    fair_conf_scaled(&c, 500);
    cr_expect(c.latency == 24 * NS_MS && c.min_granularity == 3 * NS_MS);
    cr_expect(c.wakeup_granularity == 4 * NS_MS && c.slice == 2800 * NS_US && c.nr_latency == 8);
    for (size_t i = 0; i < 7; i++)
        cr_expect_str_eq(fair_cfs_params[i].name, cfs[i]);
    for (size_t i = 0; i < 5; i++)
        cr_expect_str_eq(fair_eevdf_params[i].name, eevdf[i]);
    cr_expect(!fair_cfs_params[7].name && !fair_eevdf_params[5].name && !c.groups);
    /* The tables hold the values for many CPUs. */
    w.conf = c;
    memset(&c, 0, sizeof c);
    params_default(fair_cfs_params, &c);
    params_default(fair_eevdf_params, &c);
    cr_expect(c.latency == w.conf.latency && c.min_granularity == w.conf.min_granularity);
    cr_expect(c.wakeup_granularity == w.conf.wakeup_granularity && c.slice == w.conf.slice);
    cr_expect(c.nr_latency == w.conf.nr_latency && c.sleeper_credit && c.wakeup_preemption);
    cr_expect(c.run_to_parity && c.delay_dequeue && c.place_lag);
}

/* A runs alone for a while, B has slept since the start and wakes. */
static bool sleeper_preempts(enum fair_kind kind, ns_t slice)
{
    struct fair_entity *a, *b;

    begin(kind);
    a = add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    fair_charge(&w.q, 100 * NS_MS + NS_US); /* not at the end of a request */
    if (fair_tick(&w.q))
        repick();
    repick();
    b = &w.e[w.n++];
    fair_entity_init(b, 1024, NULL);
    b->slice = slice;
    fair_enqueue(&w.q, b, FAIR_WAKE);
    /* Curr once more in the state of one that has just been switched to. */
    a->fresh = false;
    return fair_preempts(&w.q, b);
}

Test(fair, wakeup_preemption)
{
    /* CFS: B stands half a latency left of A, more than the 4 ms it needs. */
    cr_expect(sleeper_preempts(FAIR_CFS, 0));
    cr_expect_eq(w.e[0].vruntime - w.e[1].vruntime, 12 * NS_MS);
    repick();
    cr_expect_eq(name(w.q.curr), 'B');

    /* A gap of exactly the granularity is not enough; a heavy B needs less. */
    sleeper_preempts(FAIR_CFS, 0);
    fair_dequeue(&w.q, &w.e[1], true);
    w.conf.sleeper_credit = false;
    fair_enqueue(&w.q, &w.e[1], FAIR_WAKE);
    cr_expect_not(fair_preempts(&w.q, &w.e[1]), "no credit, no gap");
    fair_charge(&w.q, 4 * NS_MS);
    cr_expect_not(fair_preempts(&w.q, &w.e[1]));
    fair_charge(&w.q, 1);
    cr_expect(fair_preempts(&w.q, &w.e[1]));
    w.conf.wakeup_preemption = false;
    cr_expect_not(fair_preempts(&w.q, &w.e[1]));

    /* EEVDF: a protected curr stays, unless the request of B is shorter. */
    cr_expect_not(sleeper_preempts(FAIR_EEVDF, 0));
    cr_expect(sleeper_preempts(FAIR_EEVDF, NS_MS));
    repick();
    cr_expect_eq(name(w.q.curr), 'B');
}

Test(fair, run_to_parity)
{
    /* A has run 6 ms and B, now current, nothing: V = 3 ms. C comes with so much lag that its
     * deadline is earlier than B's, while B remains eligible. */
    for (int parity = 0; parity < 2; parity++) {
        struct fair_entity *c = &w.e[2];
        begin(FAIR_EEVDF);
        w.conf.run_to_parity = parity;
        add(1024, FAIR_WAKE);
        add(1024, FAIR_WAKE);
        fair_pick(&w.q);
        fair_charge(&w.q, 6 * NS_MS);
        repick();
        fair_entity_init(c, 1024, NULL);
        c->vlag = 2200 * NS_US;
        fair_enqueue(&w.q, c, FAIR_WAKE);
        cr_expect_eq(c->vruntime, -300 * NS_US);
        cr_expect_lt(c->deadline, w.q.curr->deadline);
        cr_expect_eq(fair_preempts(&w.q, c), !parity);
        repick();
        cr_expect_eq(name(w.q.curr), 'C', "without curr it is the first");
    }
}

/* Makes an entity that carries this lag and wakes it. */
static struct fair_entity *wake_with_lag(int64_t lag)
{
    struct fair_entity *e = &w.e[w.n++];

    fair_entity_init(e, 1024, NULL);
    e->vlag = lag;
    fair_enqueue(&w.q, e, FAIR_WAKE);
    return e;
}

Test(fair, eevdf_preemption_without_protection)
{
    /* A protected curr that has had more than its share gives way to the earliest deadline. */
    begin(FAIR_EEVDF);
    add(1024, FAIR_WAKE);
    add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    fair_charge(&w.q, 2 * NS_MS);
    cr_expect_not(fair_tick(&w.q), "protected");
    cr_expect_not(fair_preempts(&w.q, wake_with_lag(0)), "B has an earlier deadline than C");
    cr_expect(fair_preempts(&w.q, wake_with_lag(3 * NS_MS)));

    /* No protection at all: curr still wins with the earlier deadline. */
    begin(FAIR_EEVDF);
    w.conf.run_to_parity = false;
    add(1024, FAIR_NEW);
    fair_pick(&w.q);
    cr_expect_not(fair_preempts(&w.q, wake_with_lag(0)));
    w.conf.place_lag = false;
    cr_expect_not(fair_preempts(&w.q, wake_with_lag(5 * NS_MS)));
    cr_expect_eq(w.e[2].vruntime, 0, "lag is not kept");
}

Test(fair, elected_again_without_protection)
{
    for (int put = 0; put < 2; put++) {
        /* B is 10 ms ahead: A is elected again at the end of its requests. */
        begin(FAIR_EEVDF);
        add(1024, FAIR_WAKE);
        fair_pick(&w.q);
        wake_with_lag(-5 * NS_MS);
        cr_expect_eq(w.e[1].vruntime, 10 * NS_MS);
        for (int i = 0; i < 2; i++) {
            fair_charge(&w.q, TICK);
            cr_expect_not(fair_tick(&w.q));
            if (put)
                repick();
            cr_expect_eq(name(w.q.curr), 'A');
        }
        /* One with an earlier deadline moves here: no reason for a tick to replace A. */
        wake_with_lag(NS_MS);
        cr_expect_lt(w.e[2].deadline, w.e[0].deadline);
        cr_expect_not(fair_tick(&w.q));
        fair_dequeue(&w.q, &w.e[2], true);
        /* 10.5 of the 10.8 virtual ms are used, but they are more than the average of 10.25. */
        fair_charge(&w.q, 2500 * NS_US);
        cr_expect(fair_tick(&w.q));
        repick();
        cr_expect_eq(name(w.q.curr), 'B');
    }
}

Test(fair, lag_is_bounded_and_rounded_down)
{
    static const ns_t tick[] = {0, 8 * NS_MS};

    for (int i = 0; i < 2; i++) {
        int64_t limit = i ? 8 * NS_MS : 5600 * NS_US;
        begin(FAIR_EEVDF);
        w.conf.tick = tick[i];
        w.conf.delay_dequeue = false;
        add(1024, FAIR_WAKE);
        add(1024, FAIR_WAKE);
        fair_pick(&w.q);
        fair_charge(&w.q, 100 * NS_MS);
        fair_put(&w.q);
        fair_dequeue(&w.q, &w.e[0], true);
        cr_expect_eq(w.e[0].vlag, -limit);
        fair_enqueue(&w.q, &w.e[0], FAIR_WAKE);
        fair_pick(&w.q);
        cr_expect_eq(name(w.q.curr), 'B');
        fair_dequeue(&w.q, w.q.curr, false);
        cr_expect_eq(w.e[1].vlag, limit);
    }
    /* At 0, -2 and -2: V is -4/3, and the next one starts at -2. */
    begin(FAIR_EEVDF);
    add(1024, FAIR_WAKE);
    wake_with_lag(1);
    wake_with_lag(1);
    cr_expect(w.e[1].vruntime == -2 && w.e[2].vruntime == -2);
    cr_expect_eq(wake_with_lag(0)->vruntime, -2);
}

Test(fair, cfs_buddies)
{
    /* A next buddy further right than the granularity has to wait. */
    begin(FAIR_CFS);
    add(1024, FAIR_WAKE);
    add(1024, FAIR_WAKE);
    add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    fair_charge(&w.q, 5 * NS_MS);
    repick();
    cr_expect(fair_yield_to(&w.q, &w.e[0]));
    repick();
    cr_expect_eq(name(w.q.curr), 'C');

    /* Eight or more: the one that a sleeper preempted comes next, though it is not the leftmost. */
    for (int n = 7; n <= 8; n++) {
        struct fair_entity *sleeper = &w.e[n - 1];
        begin(FAIR_CFS);
        for (int i = 0; i < n - 1; i++)
            add(1024, FAIR_WAKE);
        fair_pick(&w.q);
        fair_charge(&w.q, 2 * NS_MS);
        w.n = n;
        fair_entity_init(sleeper, 1024, NULL);
        sleeper->vruntime = -NS_SEC;
        fair_enqueue(&w.q, sleeper, FAIR_WAKE);
        cr_expect(fair_preempts(&w.q, sleeper));
        repick();
        cr_expect_eq(w.q.curr, sleeper);
        fair_dequeue(&w.q, sleeper, true);
        repick();
        cr_expect_eq(name(w.q.curr), n == 8 ? 'A' : 'B');
    }
}

Test(fair, yield)
{
    /* CFS: the next one right of the yielder runs if it is within the granularity. */
    begin(FAIR_CFS);
    add(1024, FAIR_WAKE);
    add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    fair_charge(&w.q, NS_US);
    fair_yield(&w.q);
    repick();
    cr_expect_eq(name(w.q.curr), 'B');
    /* Not if it is too far right: B yields, A has run 5 ms more. */
    fair_yield(&w.q);
    repick();
    fair_charge(&w.q, 5 * NS_MS);
    repick();
    cr_expect_eq(name(w.q.curr), 'B');
    fair_yield(&w.q);
    repick();
    cr_expect_eq(name(w.q.curr), 'B');

    /* EEVDF: an eligible yielder forfeits the rest of its request, another loses nothing. */
    begin(FAIR_EEVDF);
    add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    fair_yield(&w.q);
    cr_expect_eq(w.e[0].vruntime, 0, "alone: nothing to forfeit");
    add(1024, FAIR_WAKE);
    fair_yield(&w.q);
    cr_expect_eq(w.e[0].vruntime, 2800 * NS_US);
    cr_expect_eq(w.e[0].deadline, 5600 * NS_US);
    fair_yield(&w.q);
    cr_expect_eq(w.e[0].vruntime, 2800 * NS_US, "no longer eligible");
    repick();
    cr_expect_eq(name(w.q.curr), 'B');
}

Test(fair, yield_to)
{
    for (int kind = FAIR_CFS; kind <= FAIR_EEVDF; kind++) {
        begin((enum fair_kind)kind);
        for (int i = 0; i < 4; i++)
            add(1024, FAIR_WAKE);
        fair_pick(&w.q);
        fair_charge(&w.q, NS_US);
        cr_expect_not(fair_yield_to(&w.q, &w.e[0]), "itself");
        cr_expect(fair_yield_to(&w.q, &w.e[3]));
        repick();
        cr_expect_eq(name(w.q.curr), 'D', "kind %d: %c", kind, name(w.q.curr));
        /* Once only. */
        fair_charge(&w.q, NS_US);
        fair_yield(&w.q);
        repick();
        cr_expect_eq(name(w.q.curr), 'B', "kind %d: %c", kind, name(w.q.curr));
        /* Neither a sleeper nor one that waits elsewhere. */
        fair_dequeue(&w.q, &w.e[2], true);
        cr_expect_not(fair_yield_to(&w.q, &w.e[2]));
        fair_enqueue(&w.other, &w.e[2], FAIR_WAKE);
        cr_expect_not(fair_yield_to(&w.q, &w.e[2]));
        cr_expect(fair_prefer(&w.other, &w.e[2]));
    }
    /* A buddy that has had more than its share is not preferred. */
    begin(FAIR_EEVDF);
    for (int i = 0; i < 3; i++)
        add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    fair_charge(&w.q, 2 * NS_MS);
    repick();
    cr_expect_eq(name(w.q.curr), 'B');
    fair_charge(&w.q, NS_US);
    cr_expect(fair_yield_to(&w.q, &w.e[0]));
    repick();
    cr_expect_eq(name(w.q.curr), 'C');
}

Test(fair, delayed_dequeue)
{
    struct fair_entity *a;

    /* A blocks with a debt of 1 ms to the average: it stays, but is neither counted nor run. */
    begin(FAIR_EEVDF);
    a = add(1024, FAIR_WAKE);
    add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    fair_charge(&w.q, 2 * NS_MS);
    cr_expect_not(fair_dequeue(&w.q, a, true));
    cr_expect(a->delayed && a->queued && w.q.nr == 1 && w.q.nr_delayed == 1 && !w.q.curr);
    cr_expect_not(fair_prefer(&w.q, a), "it is not runnable");
    fair_pick(&w.q);
    cr_expect_eq(name(w.q.curr), 'B');
    /* Woken while still in debt: it goes on where it stood. */
    fair_charge(&w.q, NS_MS);
    fair_enqueue(&w.q, a, FAIR_WAKE);
    cr_expect(!a->delayed && w.q.nr == 2 && w.q.nr_delayed == 0);
    cr_expect_eq(a->vruntime, 2 * NS_MS);
    /* Woken after the debt was paid: it starts at the average, 5 ms, without a gain. */
    cr_expect_not(fair_dequeue(&w.q, a, true));
    fair_charge(&w.q, 4 * NS_MS);
    fair_enqueue(&w.q, a, FAIR_WAKE);
    cr_expect_eq(a->vruntime, 5 * NS_MS);
    cr_expect_eq(a->deadline, 5 * NS_MS + 2800 * NS_US);

    /* Not woken: the pick that meets it lets it go. The paid debt leaves no lag. */
    begin(FAIR_EEVDF);
    a = add(1024, FAIR_WAKE);
    add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    fair_charge(&w.q, 2 * NS_MS);
    cr_expect_not(fair_dequeue(&w.q, a, true));
    cr_expect_str_eq(ticks(3), "BBB");
    cr_expect(!a->delayed && !a->queued && w.q.nr_delayed == 0 && a->vlag == 0);
    /* Alone and delayed: nothing is runnable. */
    add(1024, FAIR_WAKE);
    fair_dequeue(&w.q, &w.e[1], true);
    fair_dequeue(&w.q, &w.e[2], true);
    cr_expect_null(fair_pick(&w.q));
    cr_expect(w.q.nr == 0 && w.q.load == 0 && !w.q.root);

    /* Without the feature, or without a debt, it leaves at once. */
    begin(FAIR_EEVDF);
    w.conf.delay_dequeue = false;
    a = add(1024, FAIR_WAKE);
    add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    fair_charge(&w.q, 2 * NS_MS);
    cr_expect(fair_dequeue(&w.q, a, true));
    cr_expect_eq(a->vlag, -NS_MS);
}

static int64_t lag_of(const struct fair_queue *q, const struct fair_entity *e)
{
    wide sum = q->avg_vruntime;
    int64_t weight = (int64_t)q->load;

    if (q->curr)
        sum += (wide)(q->curr->vruntime - q->min_vruntime) * q->curr->weight;
    return (int64_t)(sum / weight) + q->min_vruntime - e->vruntime;
}

Test(fair, migration)
{
    /* EEVDF: the lag and the distance to the deadline survive the move, whatever V is there. */
    for (int debt = 0; debt < 2; debt++) {
        struct fair_entity *e, *there = &w.e[40];
        int64_t lag, to_deadline;
        begin(FAIR_EEVDF);
        fair_entity_init(there, 3072, NULL);
        fair_enqueue(&w.other, there, FAIR_WAKE);
        fair_pick(&w.other);
        fair_charge(&w.other, 900 * NS_MS);
        for (int i = 0; i < 3; i++)
            add(1024, FAIR_WAKE);
        fair_pick(&w.q);
        fair_charge(&w.q, 2 * NS_MS);
        e = debt ? &w.e[0] : &w.e[1];
        lag = lag_of(&w.q, e);
        to_deadline = e->deadline - e->vruntime;
        cr_assert(debt ? lag < 0 : lag > 0);
        cr_expect(fair_dequeue(&w.q, e, false));
        fair_enqueue(&w.other, e, FAIR_MIGRATE);
        cr_expect_leq(llabs(lag_of(&w.other, e) - lag), 3);
        cr_expect_eq(e->deadline - e->vruntime, to_deadline);
    }
    /* CFS: the distance from min_vruntime does. A sleeper that wakes elsewhere gets its credit
     * there. */
    begin(FAIR_CFS);
    fair_entity_init(&w.e[40], 1024, NULL);
    fair_enqueue(&w.other, &w.e[40], FAIR_WAKE);
    fair_pick(&w.other);
    fair_charge(&w.other, 900 * NS_MS);
    add(1024, FAIR_WAKE);
    add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    fair_charge(&w.q, 5 * NS_MS);
    fair_dequeue(&w.q, &w.e[0], false);
    fair_enqueue(&w.other, &w.e[0], FAIR_MIGRATE);
    cr_expect_eq(w.e[0].vruntime, 905 * NS_MS);
    fair_dequeue(&w.q, &w.e[1], true);
    fair_enqueue(&w.other, &w.e[1], FAIR_WAKE);
    cr_expect_leq(w.e[1].vruntime, 900 * NS_MS);
    cr_expect_geq(w.e[1].vruntime, 888 * NS_MS);
    /* One that sleeps 5 ms ahead wakes 5 ms ahead. */
    add(1024, FAIR_WAKE);
    add(1024, FAIR_WAKE);
    repick();
    fair_charge(&w.q, 5 * NS_MS);
    fair_dequeue(&w.q, w.q.curr, true);
    fair_enqueue(&w.other, &w.e[2], FAIR_WAKE);
    cr_expect_eq(w.e[2].vruntime - w.other.min_vruntime, 5 * NS_MS);
}

Test(fair, service_follows_weight)
{
    static const uint32_t weight[] = {15, 335, 1024, 1024, 3121, 9548, 88761};
    uint64_t total = 0;

    for (size_t i = 0; i < 7; i++)
        total += weight[i];
    for (int kind = FAIR_CFS; kind <= FAIR_EEVDF; kind++) {
        for (int exact = 0; exact < 2; exact++) {
            ns_t elapsed = 0;
            begin((enum fair_kind)kind);
            for (size_t i = 0; i < 7; i++)
                add(weight[i], FAIR_WAKE);
            while (elapsed < 6000 * NS_SEC) {
                ns_t step;
                if (!w.q.curr)
                    fair_pick(&w.q);
                step = exact ? fair_slice_left(&w.q) : TICK;
                fair_charge(&w.q, step);
                elapsed += step;
                if (fair_tick(&w.q))
                    repick();
            }
            for (size_t i = 0; i < 7; i++) {
                double share = (double)w.e[i].sum_exec / (double)elapsed;
                double due = (double)weight[i] / (double)total;
                cr_expect_float_eq(share / due, 1.0, 0.02, "kind %d exact %d weight %u: %.4f", kind,
                                   exact, weight[i], share / due);
            }
        }
    }
}

Test(fair, charges_add_up)
{
    random_state = 3;
    for (int kind = FAIR_CFS; kind <= FAIR_EEVDF; kind++) {
        int64_t once, in_parts;
        ns_t done = 0, whole = 2 * NS_MS + 12345;
        begin((enum fair_kind)kind);
        add(335, FAIR_WAKE);
        fair_pick(&w.q);
        while (done < whole) {
            ns_t part = 1 + (ns_t)below(999);
            part = part < whole - done ? part : whole - done;
            fair_charge(&w.q, part);
            done += part;
        }
        in_parts = w.e[0].vruntime;
        begin((enum fair_kind)kind);
        add(335, FAIR_WAKE);
        fair_pick(&w.q);
        fair_charge(&w.q, whole);
        once = w.e[0].vruntime;
        cr_expect_eq(in_parts, once);
        cr_expect_eq(once, whole * 1024 / 335);
    }
}
