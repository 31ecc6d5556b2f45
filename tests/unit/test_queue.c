/* SPDX-License-Identifier: MIT */
/*
 * The event queue against a reference: every event that runs must be the least, by (time, phase,
 * sequence), of those a plain array knows to be pending.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <time.h>

#include "engine/engine.h"
#include "engine/rng.h"

/* One event as the reference sees it. */
struct item {
    struct event ev;
    ns_t time;
    uint64_t armed; /* count of engine_arm calls at the time of arming; 0 = not pending */
};

struct model {
    struct engine *engine;
    struct item *items;
    size_t n;
    uint64_t arms;
    struct rng rng;
    ns_t spread;
    size_t ran;
};

static bool before(ns_t t1, enum phase p1, uint64_t a1, ns_t t2, enum phase p2, uint64_t a2)
{
    if (t1 != t2)
        return t1 < t2;
    return p1 != p2 ? p1 < p2 : a1 < a2;
}

static ns_t random_delay(struct model *m)
{
    switch (rng_below(&m->rng, 4)) {
    case 0:
        return (ns_t)rng_below(&m->rng, 3);
    case 1:
        return (ns_t)rng_below(&m->rng, 1000);
    case 2:
        return (ns_t)(rng_below(&m->rng, 8) * 1000);
    default:
        return (ns_t)rng_below(&m->rng, (uint64_t)m->spread);
    }
}

static void model_arm(struct model *m, struct item *it, ns_t at)
{
    engine_arm(m->engine, &it->ev, at);
    it->time = at;
    it->armed = at == NS_NEVER ? 0 : ++m->arms;
    cr_assert_eq(event_armed(&it->ev), at != NS_NEVER);
}

static void model_cancel(struct model *m, struct item *it)
{
    engine_cancel(m->engine, &it->ev);
    it->armed = 0;
    cr_assert(!event_armed(&it->ev));
}

static void check_least(const struct model *m, const struct item *it)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct item *x = &m->items[i];

        if (x->armed && x != it)
            cr_assert(before(it->time, it->ev.phase, it->armed, x->time, x->ev.phase, x->armed),
                      "event of %ld ns ran before one of %ld ns", (long)it->time, (long)x->time);
    }
}

static void on_run(struct engine *e, struct event *ev)
{
    struct model *m = e->owner;
    struct item *it = container_of(ev, struct item, ev);

    cr_assert(it->armed != 0, "an event ran that was not pending");
    cr_assert_eq(it->time, e->now);
    cr_assert(!event_armed(ev));
    check_least(m, it);
    it->armed = 0;
    m->ran++;
    for (uint64_t todo = rng_below(&m->rng, 4); todo > 0; todo--) {
        struct item *x = &m->items[rng_below(&m->rng, m->n)];

        if (rng_below(&m->rng, 4) == 0)
            model_cancel(m, x);
        else if (rng_below(&m->rng, 50) == 0)
            model_arm(m, x, NS_NEVER);
        else
            model_arm(m, x, e->now + random_delay(m));
    }
}

static void model_init(struct model *m, size_t n, ns_t spread, uint64_t seed)
{
    *m = (struct model){.engine = engine_new(), .n = n, .spread = spread};
    m->items = calloc(n, sizeof(*m->items));
    cr_assert(m->engine && m->items);
    m->engine->owner = m;
    rng_init(&m->rng, seed, RNG_TEST, n, RNG_PROGRAM);
    for (size_t i = 0; i < n; i++)
        event_init(&m->items[i].ev, (enum phase)(i % PHASE_COUNT), (uint32_t)i, on_run);
}

static void model_fini(struct model *m)
{
    engine_free(m->engine);
    free(m->items);
}

static size_t pending_until(const struct model *m, ns_t until)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++)
        n += m->items[i].armed != 0 && m->items[i].time <= until;
    return n;
}

/* Runs in short pieces, arming some from outside in between, as a driver of several windows does.
 */
static void model_run(struct model *m, size_t events)
{
    while (m->ran < events) {
        ns_t until = m->engine->now + (ns_t)rng_below(&m->rng, (uint64_t)m->spread);

        for (unsigned k = 0; k < 3; k++)
            model_arm(m, &m->items[rng_below(&m->rng, m->n)], m->engine->now + random_delay(m));
        engine_run(m->engine, until);
        cr_assert_eq(m->engine->now, until);
        cr_assert_eq(pending_until(m, until), 0, "events due were left behind");
    }
}

Test(queue, order_matches_reference_for_few_and_many_events)
{
    static const size_t sizes[] = {1, 2, 7, 40, 400};
    static const ns_t spreads[] = {1, 70, 5000, 4 * NS_MS, 90 * NS_SEC};

    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        for (size_t k = 0; k < sizeof(spreads) / sizeof(*spreads); k++) {
            struct model m;

            model_init(&m, sizes[s], spreads[k], 7 * s + k);
            model_run(&m, 4000);
            model_fini(&m);
        }
    }
}

/* What a big set must deliver, sorted by the C library. */
static int by_order(const void *a, const void *b)
{
    const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;

    return before(x->time, x->ev.phase, x->armed, y->time, y->ev.phase, y->armed) ? -1 : 1;
}

static struct item **expected;
static size_t expected_next;

static void on_expected(struct engine *e, struct event *ev)
{
    struct item *it = container_of(ev, struct item, ev);

    cr_assert_eq(it, expected[expected_next], "event %zu out of order", expected_next);
    cr_assert_eq(e->now, it->time);
    expected_next++;
}

static void big_set(size_t n, ns_t spread)
{
    struct model m;
    size_t live = 0;

    model_init(&m, n, spread, (uint64_t)spread);
    expected = malloc(n * sizeof(struct item *));
    cr_assert(expected);
    for (size_t i = 0; i < n; i++) {
        m.items[i].ev.fn = on_expected;
        model_arm(&m, &m.items[i], (ns_t)rng_below(&m.rng, (uint64_t)spread));
    }
    for (size_t i = 0; i < n; i++) {
        struct item *it = &m.items[rng_below(&m.rng, n)];

        if (i % 3 == 0)
            model_cancel(&m, it);
        else
            model_arm(&m, it, (ns_t)rng_below(&m.rng, (uint64_t)spread));
    }
    for (size_t i = 0; i < n; i++) {
        if (m.items[i].armed)
            expected[live++] = &m.items[i];
    }
    qsort(expected, live, sizeof(struct item *), by_order);
    expected_next = 0;
    engine_run(m.engine, NS_NEVER);
    cr_assert_eq(expected_next, live);
    cr_assert_eq(m.engine->events, live);
    free(expected);
    model_fini(&m);
}

Test(queue, hundred_thousand_events_run_sorted_at_every_density)
{
    big_set(100000, 1);
    big_set(100000, 200);
    big_set(100000, 3 * NS_MS);
    big_set(100000, INT64_MAX);
}

/* Processor time, so that a busy machine does not fail the test. */
static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void on_nothing(struct engine *e, struct event *ev)
{
    (void)e;
    (void)ev;
}

/* Arms a whole earlier phase while a later one is pending at the same nanosecond. */
static void on_first_arm_all(struct engine *e, struct event *ev)
{
    struct model *m = e->owner;

    (void)ev;
    for (size_t i = 1; i < m->n; i += 2) {
        m->items[i].ev.phase = PHASE_FINISH;
        engine_arm(e, &m->items[i].ev, e->now);
    }
    for (size_t i = 1; i < m->n; i += 2)
        engine_arm(e, &m->items[i].ev, e->now);
}

Test(queue, equal_times_are_not_quadratic)
{
    static const ns_t times[] = {0, 1, NS_MS + 17, INT64_MAX - 1};

    for (size_t k = 0; k < sizeof(times) / sizeof(*times); k++) {
        struct model m;
        double start = cpu_seconds();

        model_init(&m, 100000, 1, 1);
        for (size_t i = 0; i < m.n; i++) {
            event_init(&m.items[i].ev, i == 0 ? PHASE_FINISH : PHASE_SAMPLE, 0,
                       i == 0 ? on_first_arm_all : on_nothing);
            engine_arm(m.engine, &m.items[i].ev, times[k]);
        }
        engine_run(m.engine, NS_NEVER);
        cr_assert_eq(m.engine->events, m.n);
        cr_assert_eq(m.engine->now, times[k]);
        model_fini(&m);
        /* Quadratic is 10^10 steps: minutes. */
        cr_assert_lt(cpu_seconds() - start, 5.0);
    }
}

/* A window with few events is sorted; a burst into it, always to its front, must not walk it all.
 */
Test(queue, bursts_into_a_sorted_window_are_not_quadratic)
{
    struct model m;
    double start = cpu_seconds();
    ns_t base = 40 * NS_SEC, last = base + 500 * NS_MS;

    model_init(&m, 100000, 1, 1);
    for (size_t i = 0; i < m.n; i++)
        m.items[i].ev.fn = on_nothing;
    engine_arm(m.engine, &m.items[0].ev, base);
    engine_run(m.engine, base);
    for (size_t i = 1; i < m.n; i++)
        engine_arm(m.engine, &m.items[i].ev, last - (ns_t)i * 1000);
    engine_run(m.engine, last);
    cr_assert_eq(m.engine->events, m.n);
    model_fini(&m);
    cr_assert_lt(cpu_seconds() - start, 5.0);
}

static void on_rearm_other(struct engine *e, struct event *ev)
{
    struct model *m = e->owner;

    engine_arm(e, &m->items[1].ev, e->now + 4 * NS_MS);
    if (++m->ran < 300000)
        engine_arm(e, ev, e->now + 10);
}

Test(queue, one_timer_pushed_back_forever_runs_once)
{
    struct model m;

    model_init(&m, 2, 1, 1);
    m.items[0].ev.fn = on_rearm_other;
    m.items[1].ev.fn = on_nothing;
    engine_arm(m.engine, &m.items[0].ev, 5);
    engine_run(m.engine, NS_NEVER);
    cr_assert_eq(m.engine->events, 300001);
    cr_assert_eq(m.engine->now, 5 + 299999 * 10 + 4 * NS_MS);
    model_fini(&m);
}

Test(queue, a_moved_event_counts_as_armed_anew)
{
    struct model m;
    struct item *order[3];

    model_init(&m, 3, 1, 1);
    for (size_t i = 0; i < 3; i++) {
        event_init(&m.items[i].ev, PHASE_TIMER, 0, on_expected);
        model_arm(&m, &m.items[i], 100);
    }
    model_arm(&m, &m.items[0], 100);
    order[0] = &m.items[1];
    order[1] = &m.items[2];
    order[2] = &m.items[0];
    expected = order;
    expected_next = 0;
    engine_run(m.engine, 100);
    cr_assert_eq(expected_next, 3);
    model_fini(&m);
}

Test(queue, looking_ahead_does_not_hide_what_is_armed_later_for_earlier)
{
    struct model m;
    struct item *order[3];

    model_init(&m, 3, 1, 1);
    for (size_t i = 0; i < 3; i++)
        event_init(&m.items[i].ev, PHASE_TIMER, 0, on_expected);
    order[0] = &m.items[2];
    order[1] = &m.items[1];
    order[2] = &m.items[0];
    expected = order;
    expected_next = 0;
    model_arm(&m, &m.items[0], NS_SEC);
    engine_run(m.engine, 700 * NS_MS);
    model_arm(&m, &m.items[1], NS_SEC - 1);
    engine_run(m.engine, NS_SEC - 2);
    model_arm(&m, &m.items[2], NS_SEC - 2);
    engine_run(m.engine, NS_SEC);
    cr_assert_eq(expected_next, 3);
    model_fini(&m);
}
