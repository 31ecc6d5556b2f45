/* SPDX-License-Identifier: MIT */
/* The clock, the order within an instant, deferred calls and the fingerprint. */
#include <criterion/criterion.h>
#include <string.h>

#include "engine/engine.h"

/* Each event and deferred call writes its letter. */
struct log {
    char text[64];
    size_t n;
};

struct probe {
    struct event ev;
    struct deferred call;
    char letter;
    struct probe *arms;      /* armed for now by the event, or by the call if from_call */
    struct deferred *defers; /* queued by the event */
    struct deferred *again;  /* queued by the call */
    bool from_call, stops;
};

static void write_letter(struct engine *e, char c)
{
    struct log *log = e->owner;

    cr_assert_lt(log->n, sizeof(log->text) - 1);
    log->text[log->n++] = c;
}

static void on_event(struct engine *e, struct event *ev)
{
    struct probe *p = container_of(ev, struct probe, ev);

    write_letter(e, p->letter);
    if (p->arms && !p->from_call)
        engine_arm(e, &p->arms->ev, e->now);
    if (p->defers)
        engine_defer(e, p->defers);
    if (p->stops)
        e->stop = true;
}

static void on_call(struct engine *e, struct deferred *d)
{
    struct probe *p = container_of(d, struct probe, call);

    write_letter(e, (char)(p->letter - 'a' + 'A'));
    if (p->arms && p->from_call)
        engine_arm(e, &p->arms->ev, e->now);
    if (p->again)
        engine_defer(e, p->again);
    p->again = NULL;
}

static struct log text_log;

static struct engine *setup(struct probe *p, size_t n)
{
    struct engine *e = engine_new();

    cr_assert(e);
    e->owner = &text_log;
    text_log = (struct log){.n = 0};
    for (size_t i = 0; i < n; i++) {
        p[i] = (struct probe){.letter = (char)('a' + i)};
        event_init(&p[i].ev, PHASE_TIMER, (uint32_t)i, on_event);
        p[i].call.fn = on_call;
    }
    return e;
}

Test(engine, phases_order_an_instant)
{
    struct probe p[PHASE_COUNT];
    struct engine *e = setup(p, PHASE_COUNT);

    for (size_t i = PHASE_COUNT; i-- > 0;) {
        p[i].ev.phase = (enum phase)i;
        engine_arm(e, &p[i].ev, 1000);
    }
    engine_run(e, 999);
    cr_assert_eq(text_log.n, 0);
    cr_assert_eq(engine_now(e), 999);
    engine_run(e, 1000);
    cr_assert_str_eq(text_log.text, "abcde");
    cr_assert_eq(e->events, 5);
    engine_free(e);
}

Test(engine, deferred_calls_follow_the_events_of_their_instant)
{
    struct probe p[6];
    struct engine *e = setup(p, 6);

    p[0].ev.phase = PHASE_FINISH;
    p[0].defers = &p[1].call;
    p[2].ev.phase = PHASE_WAKE;
    p[2].defers = &p[1].call; /* queued already */
    p[1].ev.phase = PHASE_SAMPLE;
    p[1].defers = &p[0].call;
    p[1].arms = &p[4]; /* by the call: runs in a second round */
    p[1].from_call = true;
    p[0].again = &p[3].call; /* by the call: follows in the same round */
    p[4].ev.phase = PHASE_FINISH;
    p[4].defers = &p[2].call;
    for (size_t i = 0; i < 3; i++)
        engine_arm(e, &p[i].ev, 50);
    engine_arm(e, &p[5].ev, 51);
    engine_run(e, 50);
    cr_assert_str_eq(text_log.text, "acbBADeC");
    engine_free(e);
}

Test(engine, deferred_calls_queued_outside_run_first)
{
    struct probe p[3];
    struct engine *e = setup(p, 3);

    engine_arm(e, &p[0].ev, 0);
    engine_defer(e, &p[1].call);
    engine_defer(e, &p[2].call);
    engine_defer(e, &p[1].call);
    engine_run(e, 0);
    cr_assert_str_eq(text_log.text, "BCa");
    engine_free(e);
}

/* The next event is far away: looking for it must not get in the way of a call that arms for now.
 */
Test(engine, a_deferred_call_arms_for_now_with_a_distant_event_pending)
{
    struct probe p[3];
    struct engine *e = setup(p, 3);

    engine_arm(e, &p[0].ev, 10);
    p[0].defers = &p[0].call;
    p[0].arms = &p[1];
    p[0].from_call = true;
    engine_arm(e, &p[2].ev, 3 * NS_SEC);
    engine_run(e, 4 * NS_SEC);
    cr_assert_str_eq(text_log.text, "aAbc");
    engine_free(e);
}

Test(engine, stop_returns_at_the_last_event_and_nothing_is_lost)
{
    struct probe p[3];
    struct engine *e = setup(p, 3);

    p[0].stops = true;
    p[0].defers = &p[2].call;
    engine_arm(e, &p[0].ev, 10);
    engine_arm(e, &p[1].ev, 20);
    engine_run(e, 100);
    cr_assert_str_eq(text_log.text, "a");
    cr_assert_eq(engine_now(e), 10);
    engine_run(e, 100);
    cr_assert_str_eq(text_log.text, "a", "stop stays set until it is cleared");
    e->stop = false;
    engine_run(e, 100);
    cr_assert_str_eq(text_log.text, "aCb");
    cr_assert_eq(engine_now(e), 100);
    engine_free(e);
}

Test(engine, never_cancels_and_the_last_nanosecond_runs)
{
    struct probe p[3];
    struct engine *e = setup(p, 3);

    engine_cancel(e, &p[0].ev);
    engine_arm(e, &p[0].ev, NS_NEVER);
    cr_assert(!event_armed(&p[0].ev));
    engine_arm(e, &p[0].ev, 7);
    cr_assert(event_armed(&p[0].ev));
    engine_arm(e, &p[0].ev, NS_NEVER);
    cr_assert(!event_armed(&p[0].ev));
    engine_arm(e, &p[1].ev, NS_NEVER - 1);
    engine_arm(e, &p[2].ev, 5);
    engine_run(e, NS_NEVER);
    cr_assert_str_eq(text_log.text, "cb");
    cr_assert_eq(engine_now(e), NS_NEVER - 1);
    engine_run(e, NS_NEVER);
    cr_assert_eq(engine_now(e), NS_NEVER - 1, "with nothing pending the clock stays");
    engine_free(e);
}

static uint64_t run_three(ns_t time, enum phase phase, uint32_t tag, bool swap)
{
    struct probe p[3];
    struct engine *e = setup(p, 3);

    event_init(&p[2].ev, phase, tag, on_event);
    engine_arm(e, &p[swap].ev, 5);
    engine_arm(e, &p[!swap].ev, 5);
    engine_arm(e, &p[2].ev, time);
    engine_run(e, 100);
    uint64_t f = e->fingerprint;
    engine_free(e);
    return f;
}

Test(engine, fingerprint_tells_time_phase_tag_and_order)
{
    uint64_t f = run_three(10, PHASE_WAKE, 9, false);

    cr_assert_eq(f, run_three(10, PHASE_WAKE, 9, false));
    cr_assert_neq(f, run_three(11, PHASE_WAKE, 9, false));
    cr_assert_neq(f, run_three(10, PHASE_TIMER, 9, false));
    cr_assert_neq(f, run_three(10, PHASE_WAKE, 8, false));
    cr_assert_neq(f, run_three(10, PHASE_WAKE, 9, true));
    cr_assert_neq(f, run_three(200, PHASE_WAKE, 9, false));
    /* A change of it would make every pinned result look different. */
    cr_assert_eq(f, UINT64_C(0x509ed67aee73a0f0), "%#lx", f);
}
