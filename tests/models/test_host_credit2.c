/* SPDX-License-Identifier: MIT */
/* What credit2 decides, as strings on machines small enough to follow by hand. */
#include "tests/models/host_world.h"

extern const struct host_ops host_policy_credit2;

static const struct topology_conf two = {1, 1, 1, 2, 1};

static struct world *credit2_on(struct topology_conf shape, int64_t hz)
{
    struct host_conf conf = world_conf(hz);

    return world_new(shape, conf, &host_policy_credit2, NULL);
}

/* Slices are as long as the picked one leads the next: at least 0.5 ms, and 1 ms for whoever was
 * switched to. A: 10 to 9 ms of credit, B: 10 to 9; equal, so B goes on, for 0.5 ms. Then they
 * alternate until A is the first with nothing left, at 20.5 ms: everybody gets 10 ms, at most 10. */
Test(host_credit2, runs_until_equal_to_the_next)
{
    struct world *w = credit2_on(uni, 0);

    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 100 * NS_MS);
    expect_gantt(w, 0, 0, 8 * NS_MS, NS_MS / 2, "AABBBAABBAABBAAB");
    /* A 10, B 9.5: 1 ms A, then B has half a millisecond more. */
    expect_gantt(w, 0, 18500 * NS_US, 24500 * NS_US, NS_MS / 2, "AABBAABBAABB");
    for (int i = 0; i < 2; i++)
        cr_assert(llabs(vcpu_time_in(w->script[i].v, VCPU_RUNNING, w->e->now) - 50 * NS_MS) <=
                  NS_MS);
    world_free(w);
}

Test(host_credit2, alone_runs_for_the_whole_credit)
{
    struct world *w = credit2_on(uni, 0);

    w->h->conf.balance = false;
    world_add(w, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 95 * NS_MS);
    cr_assert_eq(w->entered, 1);
    /* The first arrival and nine slices of 10 ms, each of which ends with a reset. */
    cr_assert_eq(w->e->events, 10, "%lu events", (unsigned long)w->e->events);
    world_free(w);
}

Test(host_credit2, weights_decide_how_fast_credit_burns)
{
    struct world *w = credit2_on(uni, 0);
    struct vcpu *a = world_add(w, NULL, 0, hog, 1), *b = world_add(w, NULL, 0, hog, 1);
    ns_t share;

    a->weight = 2048;
    world_start(w);
    world_run(w, 600 * NS_MS);
    share = vcpu_time_in(a, VCPU_RUNNING, w->e->now);
    cr_assert(llabs(share - 400 * NS_MS) <= 3 * NS_MS, "A has %ld of 600 ms", (long)share);
    cr_assert(vcpu_time_in(b, VCPU_RUNNING, w->e->now) == 600 * NS_MS - share);
    world_free(w);
}

/* A hog burnt credit, a sleeper comes with more: it takes the pCPU, but not before the hog has had
 * its millisecond. */
Test(host_credit2, ratelimit_protects_who_just_began)
{
    static const struct step burst[] = {{200 * NS_US, NS_NEVER}};
    const ns_t at[] = {5 * NS_MS, 5400 * NS_US, 5900 * NS_US};
    struct world *w = credit2_on(uni, 0);

    world_add(w, NULL, 0, hog, 1);
    for (int i = 0; i < 3; i++)
        world_add(w, NULL, at[i], burst, 1);
    world_start(w);
    world_run(w, 8 * NS_MS);
    /* B preempts at once. A is back at 5.2; for C at 5.4 it may go on to 6.2. For D at 5.9 it is
     * looked at again, and gets the shortest slice: to 6.4. Both have more credit than A. */
    cr_assert_eq(w->script[1].v->steal, 0);
    cr_assert_eq(w->script[2].v->steal, NS_MS, "%ld", (long)w->script[2].v->steal);
    cr_assert_eq(w->script[3].v->steal, 700 * NS_US, "%ld", (long)w->script[3].v->steal);
    expect_gantt(w, 0, 4800 * NS_US, 6800 * NS_US, 200 * NS_US, "ABAAAAAACD");
    world_free(w);
}

/* Three hogs share two pCPUs by one queue: two thirds each, although nothing is balanced. */
Test(host_credit2, a_socket_shares_its_queue)
{
    struct host_conf conf = world_conf(0);
    struct world *w;

    conf.balance = false;
    w = world_new(two, conf, &host_policy_credit2, NULL);
    for (int i = 0; i < 3; i++)
        world_add(w, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 600 * NS_MS);
    for (int i = 0; i < 3; i++) {
        const ns_t ran = vcpu_time_in(w->script[i].v, VCPU_RUNNING, w->e->now);

        cr_assert(llabs(ran - 400 * NS_MS) <= 4 * NS_MS, "%c ran %ld", 'A' + i, (long)ran);
    }
    world_free(w);
}

/* Two sockets, queues of their own. Six vCPUs keep the second one busy for 15 ms, so that four hogs
 * all come to the first. Then the second one has nothing, unless balancing brings it two. */
Test(host_credit2, sockets_have_queues_of_their_own)
{
    static const struct topology_conf shape = {2, 1, 1, 2, 1};
    static const struct step once[] = {{5 * NS_MS, NS_NEVER}};

    for (int balance = 0; balance < 2; balance++) {
        struct host_conf conf = world_conf(0);
        struct cpumask *there = cpumask_new(4);
        struct world *w;
        int idle = 0;

        conf.balance = balance;
        cpumask_set(there, 2);
        cpumask_set(there, 3);
        w = world_new(shape, conf, &host_policy_credit2, NULL);
        for (int i = 0; i < 6; i++)
            world_add(w, there, 0, once, 1);
        for (int i = 0; i < 4; i++)
            world_add(w, NULL, NS_US, hog, 1);
        world_start(w);
        world_run(w, 10 * NS_MS);
        for (int i = 6; i < 10; i++)
            cr_assert(w->script[i].v->pcpu < 2);
        world_run(w, 40 * NS_MS);
        for (int p = 0; p < 4; p++)
            idle += w->h->pcpu[p].curr == NULL;
        cr_assert_eq(idle, balance ? 0 : 2, "balance %d: %d idle", balance, idle);
        world_free(w);
        cpumask_free(there);
    }
}

/* A runs on pCPU 0, B on 1, where C ran last, and C wakes with more credit than both. It would have to
 * move for A, but that has so much less than B that it is worth it. */
Test(host_credit2, the_one_that_is_surpassed_most_is_told)
{
    static const struct step nap[] = {{NS_MS, 5 * NS_MS}, {NS_MS, NS_NEVER}};
    struct world *w = credit2_on(two, 0);

    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, NS_MS + NS_US, hog, 1);
    world_add(w, NULL, 0, nap, 2);
    world_start(w);
    world_run(w, 10 * NS_MS);
    /* A has 4 ms left at 6 ms, B 5 ms, C 9 ms: A is surpassed by 5 - 0.5 ms, B by 4 ms. */
    expect_gantt(w, 0, 0, 8 * NS_MS, NS_MS, "AAAAAACA");
    expect_gantt(w, 1, 0, 8 * NS_MS, NS_MS, "CBBBBBBB");
    world_free(w);
}

Test(host_credit2, a_yield_lets_the_next_run_whatever_its_credit)
{
    struct world *w = credit2_on(uni, 0);

    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 200 * NS_US);
    host_yield(w->h, w->script[0].v, STOP_YIELD);
    world_run(w, 400 * NS_US);
    cr_assert(w->h->pcpu[0].curr == w->script[1].v);
    /* Directed or not; B has run for less than the ratelimit and has as much credit as A. */
    cr_assert_eq(host_yield_to(w->h, w->script[1].v, w->script[0].v), 1);
    world_run(w, 500 * NS_US);
    cr_assert(w->h->pcpu[0].curr == w->script[0].v);
    world_free(w);
}

/* The slice ends at ticks. A host tick of 4 ms is longer than every lead. */
Test(host_credit2, a_tick_stretches_slices)
{
    struct world *w = credit2_on(uni, 250);

    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 32 * NS_MS);
    expect_gantt(w, 0, 0, 16 * NS_MS, 4 * NS_MS, "ABBA");
    world_free(w);
}

/* A pinned vCPU pushes a floating one off its pCPU: that finds the idle one at once. */
Test(host_credit2, whoever_is_displaced_finds_an_idle_pcpu)
{
    static const struct step once[] = {{2 * NS_MS, NS_NEVER}};
    struct cpumask *first = cpumask_new(2);
    struct world *w = credit2_on(two, 0);

    cpumask_set(first, 0);
    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, 0, once, 1);
    world_add(w, first, 4 * NS_MS, hog, 1);
    world_start(w);
    world_run(w, 6 * NS_MS);
    expect_gantt(w, 0, 0, 6 * NS_MS, NS_MS, "AAAACC");
    expect_gantt(w, 1, 0, 6 * NS_MS, NS_MS, "BB..AA");
    cr_assert_eq(w->script[0].v->steal, 0);
    world_free(w);
    cpumask_free(first);
}
