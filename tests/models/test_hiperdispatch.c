/* SPDX-License-Identifier: MIT */
/* What hiperdispatch makes of steal, by hand, and what capacity does to placement and balancing. */
#include "tests/models/governor_world.h"

/* Capacities in units of 128: 8 is full, 1 is low. */
static const char *capacities(struct governed_world *w)
{
    static char c[32];

    for (int i = 0; i < w->k->ncpus; i++)
        c[i] = (char)('0' + guest_capacity(w->k, i) / 128);
    c[w->k->ncpus] = 0;
    return c;
}

#define expect_capacities(w, want)                                                                 \
    cr_expect_str_eq(capacities(w), want, "line %d: %s, expected %s", __LINE__, capacities(w), want)

static struct governed_world *dispatched(const char *params, const char *workload)
{
    return governed_new(
        (struct governed_setting){&guest_policy_hiperdispatch, params, workload, 4, 0, 0});
}

/* All steal on the last: so much of two CPUs' time. */
static void sampled(struct governed_world *w, ns_t steal)
{
    publish(w, 3, steal);
    sample(w);
}

Test(hiperdispatch, averages_and_switches)
{
    struct governed_world *w = dispatched(NULL, NULL);

    cr_expect_eq(next_sample(w), NS_SEC);
    expect_capacities(w, "8888");
    /* 100 % of CPUs 2 and 3, a part in 16 new: 6.25, 12.1, 17.6, 22.7, 27.6 %, then 32.1 %. */
    sampled(w, 2 * NS_SEC);
    cr_expect_eq(next_sample(w), NS_SEC + 250 * NS_MS);
    for (int i = 0; i < 4; i++)
        sampled(w, 500 * NS_MS);
    expect_capacities(w, "8888");
    sampled(w, 500 * NS_MS);
    expect_capacities(w, "8811");
    /* 30.1 %, then 28.2 %. */
    sampled(w, 0);
    expect_capacities(w, "8811");
    sampled(w, 0);
    expect_capacities(w, "8888");
    governed_free(w);
}

Test(hiperdispatch, whose_steal_counts)
{
    struct governed_world *w = dispatched(NULL, NULL);

    /* That of entitled CPUs does not, */
    for (int i = 0; i < 40; i++) {
        publish(w, 0, NS_SEC);
        publish(w, 1, NS_SEC);
        sample(w);
    }
    expect_capacities(w, "8888");
    governed_free(w);
    /* unless they are entitled in part. From 10 % on: the second sample. */
    w = dispatched("{threshold: 10, entitled: 3, medium: 1, low: 512}", NULL);
    for (int i = 0; i < 2; i++) {
        expect_capacities(w, "8888");
        publish(w, 2, 2 * (next_sample(w) - w->e->now));
        sample(w);
    }
    expect_capacities(w, "8884");
    governed_free(w);
    /* All are entitled: nothing to take away. */
    w = dispatched("{entitled: 9}", NULL);
    for (int i = 0; i < 40; i++)
        sampled(w, NS_SEC);
    expect_capacities(w, "8888");
    governed_free(w);
}

static struct governed_world *low(const char *params, const char *workload)
{
    struct governed_world *w = dispatched(params, workload);

    while (guest_capacity(w->k, 3) == 1024)
        sampled(w, 2 * NS_SEC);
    return w;
}

Test(hiperdispatch, wake_ups_take_small_cpus_last)
{
    struct governed_world *w = low(NULL, IDLE_TASK);
    struct task *t = &w->k->task[0];

    /* It needs half a CPU: 3 has less, though it is idle. */
    pelt_init(&t->util, w->e->now, 512);
    cr_expect_eq(op_select(w->k, t, 3, 3, 0), 0);
    w->k->cpu[0].nr_running = 1;
    cr_expect_eq(op_select(w->k, t, 3, 3, 0), 1);
    /* Nothing larger is idle: no exclusion. */
    w->k->cpu[1].nr_running = 1;
    cr_expect_eq(op_select(w->k, t, 3, 3, 0), 3);
    cr_expect_eq(op_select(w->k, t, 0, 0, 0), 2);
    /* It needs little. */
    w->k->cpu[1].nr_running = 0;
    pelt_init(&t->util, w->e->now, 102);
    cr_expect_eq(op_select(w->k, t, 3, 3, 0), 3);
    pelt_init(&t->util, w->e->now, 103);
    cr_expect_eq(op_select(w->k, t, 3, 3, 0), 1);
    w->k->cpu[0].nr_running = 0;
    governed_free(w);
    /* Idle is idle without the search by capacity. */
    w = low("{asym: off}", IDLE_TASK);
    pelt_init(&w->k->task[0].util, w->e->now, 512);
    cr_expect_eq(op_select(w->k, &w->k->task[0], 3, 3, 0), 3);
    governed_free(w);
}

Test(hiperdispatch, a_lone_task_leaves_a_small_cpu_if_another_is_idle)
{
    static const char lone[] = "{tasks: [{name: a, count: 1, program: [exit]}, "
                               "{name: b, count: 1, program: [{sleep: 1ms}, exit]}, "
                               "{name: c, count: 1, program: [{sleep: 1ms}, exit]}, "
                               "{name: d, count: 1, program: [{run: 100s}]}]}";
    static const char full[] = "{tasks: [{name: h, count: 4, program: [{run: 100s}]}]}";
    struct governed_world *w = dispatched(NULL, lone);

    engine_run(w->e, 900 * NS_MS);
    expect_places(w, "...3");
    governed_free(w);
    w = low(NULL, lone);
    engine_run(w->e, w->e->now + 100 * NS_MS);
    cr_expect_lt(w->k->task[3].cpu, 2);
    cr_expect_eq(w->evicted, 0);
    governed_free(w);
    /* All are busy: it stays where it is. */
    w = low(NULL, full);
    engine_run(w->e, w->e->now + 500 * NS_MS);
    expect_places(w, "0123");
    governed_free(w);
}

/* Low capacity alone moves nobody: it is judged against what the task needs, and steal against it. */
Test(hiperdispatch, a_task_that_fits_a_small_cpu_stays)
{
    static const char lone[] = "{tasks: [{name: e, count: 3, program: [exit]}, "
                               "{name: d, program: [{run: 100s}]}]}";
    struct governed_world *w = dispatched(NULL, lone);

    w->k->conf.balance = false;
    while (guest_capacity(w->k, 3) == 1024)
        sampled(w, 2 * NS_SEC);
    expect_places(w, "...3");
    pelt_init(&w->k->task[3].util, w->e->now, 102);
    guest_nohz_balance(&w->k->cpu[0]);
    expect_places(w, "...3");
    pelt_init(&w->k->task[3].util, w->e->now, 103);
    guest_nohz_balance(&w->k->cpu[0]);
    expect_places(w, "...0");
    governed_free(w);
}
