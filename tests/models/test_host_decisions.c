/* SPDX-License-Identifier: MIT */
/* What the host policies decide, as strings on machines small enough to follow by hand. */
#include "fair/fair.h"
#include "tests/models/host_world.h"

static const ns_t slice_1ms = NS_MS;
static const struct topology_conf two = {1, 1, 1, 2, 1};

static struct fair_conf fair(void)
{
    struct fair_conf c;

    fair_conf_scaled(&c, 8);
    return c;
}

static struct world *hogs(int n, int64_t hz, const struct host_ops *ops, const void *params)
{
    struct world *w = world_new(uni, world_conf(hz), ops, params);

    for (int i = 0; i < n; i++)
        world_add(w, NULL, 0, hog, 1);
    world_start(w);
    return w;
}

Test(host_decisions, rr_alternates_by_its_slice)
{
    struct world *w = hogs(2, 0, &host_policy_rr, &slice_1ms);

    world_run(w, 12 * NS_MS);
    expect_gantt(w, 0, 0, 4 * NS_MS, NS_MS / 2, "AABBAABB");
    cr_assert_eq(w->entered, 12 + 1);
    world_free(w);

    w = hogs(3, 0, &host_policy_rr, &slice_1ms);
    world_run(w, 9 * NS_MS);
    expect_gantt(w, 0, 0, 9 * NS_MS, NS_MS, "ABCABCABC");
    world_free(w);

    /* Alone there is no slice end, no event and no switch. */
    w = hogs(1, 0, &host_policy_rr, &slice_1ms);
    w->h->conf.balance = false;
    world_run(w, 100 * NS_MS);
    cr_assert_eq(w->entered, 1);
    cr_assert_eq(w->e->events, 1, "%lu events", (unsigned long)w->e->events);
    world_free(w);
}

Test(host_decisions, a_host_tick_stretches_slices_to_its_grid)
{
    const struct fair_conf c = fair();
    struct world *w = hogs(2, 250, &host_policy_rr, &slice_1ms);

    world_run(w, 16 * NS_MS);
    expect_gantt(w, 0, 0, 16 * NS_MS, 2 * NS_MS, "AABBAABB");
    cr_assert_eq(w->ticks, 4);
    world_free(w);

    /* 2.8 ms become 4 ms. */
    w = hogs(2, 250, &host_policy_eevdf, &c);
    world_run(w, 32 * NS_MS);
    expect_gantt(w, 0, 0, 32 * NS_MS, 4 * NS_MS, "ABABABAB");
    world_free(w);

    /* Half a request at first, whole ones from then on. */
    w = hogs(2, 0, &host_policy_eevdf, &c);
    world_run(w, 14 * NS_MS);
    expect_gantt(w, 0, 0, 14 * NS_MS, 1400 * NS_US, "ABAABBAABB");
    world_free(w);

    /* 24 ms for two: 12 ms each, three ticks. The second comer starts with the smaller debit. */
    w = hogs(2, 250, &host_policy_cfs, &c);
    world_run(w, 48 * NS_MS);
    expect_gantt(w, 0, 0, 48 * NS_MS, 4 * NS_MS, "BBBAAABBBAAA");
    world_free(w);
}

/* Wait of the second wake-up of a vCPU that slept for 10.3 ms beside two hogs. */
static ns_t sleeper_wait(const struct host_ops *ops, const void *params, int64_t hz,
                         bool wakeup_preemption)
{
    static const struct step naps[] = {{200 * NS_US, 10300 * NS_US}, {200 * NS_US, NS_NEVER}};
    struct host_conf conf = world_conf(hz);
    struct world *w;
    struct vcpu *v;
    ns_t wait;

    conf.wakeup_preemption = wakeup_preemption;
    w = world_new(uni, conf, ops, params);
    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, 0, hog, 1);
    v = world_add(w, NULL, 0, naps, 2);
    world_start(w);
    while (v->switches < 1)
        world_run(w, w->e->now + 100 * NS_US);
    wait = v->steal;
    world_run(w, 100 * NS_MS);
    cr_assert_eq(v->switches, 2);
    wait = v->steal - wait;
    world_free(w);
    return wait;
}

Test(host_decisions, cfs_is_kinder_to_sleepers_than_eevdf)
{
    const struct fair_conf c = fair();
    ns_t wait;

    cr_assert_eq(sleeper_wait(&host_policy_cfs, &c, 0, true), 0);
    cr_assert_eq(sleeper_wait(&host_policy_cfs, &c, 250, true), 0);
    wait = sleeper_wait(&host_policy_cfs, &c, 250, false);
    cr_assert(wait > NS_MS, "CFS without wake-up preemption: %ld", (long)wait);
    wait = sleeper_wait(&host_policy_eevdf, &c, 0, true);
    cr_assert(wait > 0 && wait <= 2 * 2800 * NS_US, "EEVDF: %ld", (long)wait);
    wait = sleeper_wait(&host_policy_rr, &slice_1ms, 0, true);
    cr_assert(wait > 0 && wait <= 2 * NS_MS, "rr: %ld", (long)wait);
}

Test(host_decisions, pinned_vcpus_stay_and_floating_ones_spread)
{
    struct cpumask *first = cpumask_new(2);
    struct world *w = world_new(two, world_conf(0), &host_policy_rr, &slice_1ms);

    cpumask_set(first, 0);
    world_add(w, first, 0, hog, 1);
    world_add(w, first, 0, hog, 1);
    world_start(w);
    world_run(w, 50 * NS_MS);
    expect_gantt(w, 0, 46 * NS_MS, 50 * NS_MS, NS_MS, "ABAB");
    expect_gantt(w, 1, 0, 50 * NS_MS, 10 * NS_MS, ".....");
    world_free(w);

    w = world_new(two, world_conf(0), &host_policy_rr, &slice_1ms);
    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 50 * NS_MS);
    expect_gantt(w, 0, 0, 50 * NS_MS, 10 * NS_MS, "AAAAA");
    expect_gantt(w, 1, 0, 50 * NS_MS, 10 * NS_MS, "BBBBB");
    cr_assert_eq(w->moved, 0);
    for (int i = 0; i < w->n; i++)
        cr_assert_eq(w->script[i].v->steal, 0);
    world_free(w);
    cpumask_free(first);
}

Test(host_decisions, a_pcpu_that_runs_dry_pulls)
{
    static const struct step once[] = {{5 * NS_MS, NS_NEVER}};

    for (int balance = 0; balance < 2; balance++) {
        struct host_conf conf = world_conf(0);
        struct world *w;

        conf.balance = balance;
        w = world_new(two, conf, &host_policy_null, NULL);
        world_add(w, NULL, 0, hog, 1);
        world_add(w, NULL, 0, once, 1);
        world_add(w, NULL, 0, hog, 1);
        world_start(w);
        world_run(w, 10 * NS_MS);
        expect_gantt(w, 0, 0, 10 * NS_MS, NS_MS, "AAAAAAAAAA");
        expect_gantt(w, 1, 0, 10 * NS_MS, NS_MS, balance ? "BBBBBCCCCC" : "BBBBB.....");
        cr_assert_eq(w->h->newidle_pulls, (unsigned)balance);
        world_free(w);
    }
}

/* Everybody's first pCPU is 0; the rest is up to balancing. */
static int select_first(struct hyp *h, struct vcpu *v, int prev, enum wake_why why)
{
    (void)h;
    (void)v;
    (void)why;
    return prev < 0 ? 0 : prev;
}

Test(host_decisions, balancing_evens_out_a_heap)
{
    static const struct topology_conf four = {1, 1, 2, 2, 1};
    struct host_ops ops = host_policy_rr;

    ops.select = select_first;
    for (int hz = 0; hz <= 250; hz += 250) {
        struct world *w = world_new(four, world_conf(hz), &ops, &slice_1ms);

        for (int i = 0; i < 8; i++)
            world_add(w, NULL, 0, hog, 1);
        world_start(w);
        world_run(w, NS_MS);
        cr_assert_eq(w->h->pcpu[0].nr_ready, 7);
        world_run(w, 400 * NS_MS);
        for (int p = 0; p < 4; p++)
            cr_assert(w->h->pcpu[p].curr && w->h->pcpu[p].nr_ready == 1, "HZ %d, pcpu %d: %d ready",
                      hz, p, w->h->pcpu[p].nr_ready);
        cr_assert(w->h->periodic_pulls >= 6);
        world_free(w);
    }
}

Test(host_decisions, two_on_one_core_part_when_a_core_is_idle)
{
    /* pCPUs 0 and 2 are the threads of core 0. */
    static const struct topology_conf smt = {1, 1, 1, 2, 2};
    struct cpumask *core = cpumask_new(4);
    struct host_ops ops = host_policy_rr;
    struct world *w;

    cpumask_set(core, 0);
    cpumask_set(core, 2);
    ops.select = select_first;
    w = world_new(smt, world_conf(250), &ops, &slice_1ms);
    world_add(w, NULL, 0, hog, 1);
    world_add(w, core, NS_US, hog, 1);
    world_start(w);
    world_run(w, 2000 * NS_MS);
    cr_assert_eq(w->h->active_pulls, 1);
    cr_assert(w->h->topo->of[LEVEL_CORE][w->script[0].v->pcpu] == 1);
    cr_assert(w->h->topo->of[LEVEL_CORE][w->script[1].v->pcpu] == 0);
    world_free(w);
    cpumask_free(core);
}

/* A runs on pCPU 0 with B and C behind it, D on pCPU 1 with E behind it. */
static struct world *five(struct cpumask *mask[2], const struct host_ops *ops, const void *params)
{
    struct world *w = world_new(two, world_conf(0), ops, params);

    for (int p = 0; p < 2; p++) {
        mask[p] = cpumask_new(2);
        cpumask_set(mask[p], p);
    }
    for (int i = 0; i < 5; i++)
        world_add(w, mask[i >= 3], 0, hog, 1);
    world_start(w);
    return w;
}

Test(host_decisions, directed_yield_prefers_its_target)
{
    const struct host_ops *const all[] = {&host_policy_rr, &host_policy_cfs, &host_policy_eevdf};
    const struct fair_conf c = fair();
    struct cpumask *mask[2];
    struct world *w = five(mask, &host_policy_rr, &slice_1ms);

    world_run(w, NS_MS / 2);
    cr_assert_eq(host_yield_to(w->h, w->script[0].v, w->script[2].v), 1);
    world_run(w, 4 * NS_MS);
    expect_gantt(w, 0, 0, 3500 * NS_US, NS_MS / 2, "ACCBBAA");
    expect_gantt(w, 1, 0, 4 * NS_MS, NS_MS, "DEDE");
    world_free(w);
    cpumask_free(mask[0]);
    cpumask_free(mask[1]);

    for (int i = 0; i < 3; i++) {
        struct vcpu *from, *to;

        w = five(mask, all[i], i == 0 ? (const void *)&slice_1ms : &c);
        /* Where the target is owed time: fair queueing honours no unfair preference. */
        world_run(w, 20300 * NS_US);
        from = w->h->pcpu[0].curr;
        to = w->h->pcpu[1].ready.first->vcpu;
        cr_assert_eq(host_yield_to(w->h, from, w->h->pcpu[1].curr), 0);
        cr_assert_eq(host_yield_to(w->h, from, to), 1);
        world_run(w, w->e->now + NS_US);
        cr_assert(w->h->pcpu[1].curr == to, "%s", all[i]->head.name);
        cr_assert(from->state == VCPU_READY, "%s", all[i]->head.name);
        world_free(w);
        cpumask_free(mask[0]);
        cpumask_free(mask[1]);
    }
}

Test(host_decisions, an_undirected_yield_goes_behind_the_others)
{
    const struct host_ops *const all[] = {&host_policy_null, &host_policy_rr};

    for (int i = 0; i < 2; i++) {
        struct world *w = hogs(3, 0, all[i], i ? &slice_1ms : NULL);

        world_run(w, NS_MS / 2);
        host_yield(w->h, w->script[0].v, STOP_YIELD);
        world_run(w, 1400 * NS_US);
        expect_gantt(w, 0, 0, 1400 * NS_US, NS_MS / 10, "AAAAABBBBBBBBB");
        host_boost(w->h, w->script[0].v);
        host_yield(w->h, w->script[1].v, STOP_YIELD);
        world_run(w, 1600 * NS_US);
        cr_assert(w->h->pcpu[0].curr == w->script[0].v, "%s: boosted", all[i]->head.name);
        world_free(w);
    }
}

Test(host_decisions, delayed_dequeue_is_blocked_to_everybody)
{
    /* B overdraws its first half request, blocks with a debt and wakes while A runs. */
    static const struct step nap[] = {{1500 * NS_US, 300 * NS_US}, {NS_NEVER, NS_NEVER}};
    const struct fair_conf c = fair();
    struct cpumask *first = cpumask_new(2);
    struct world *w = world_new(two, world_conf(250), &host_policy_eevdf, &c);
    struct vcpu *b;

    cpumask_set(first, 0);
    world_add(w, first, 0, hog, 1);
    b = world_add(w, first, 0, nap, 2);
    world_start(w);
    world_run(w, 5600 * NS_US);
    cr_assert_eq(b->state, VCPU_BLOCKED);
    cr_assert_eq(vcpu_time_in(b, VCPU_BLOCKED, w->e->now), 100 * NS_US);
    cr_assert_eq(w->h->pcpu[0].nr_ready, 0);
    world_run(w, 40 * NS_MS);
    cr_assert_eq(b->in_state[VCPU_BLOCKED], 300 * NS_US);
    world_free(w);

    /* The same with another idle pCPU: it goes back to its old one when it may. */
    w = world_new(two, world_conf(250), &host_policy_eevdf, &c);
    world_add(w, first, 0, hog, 1);
    b = world_add(w, NULL, NS_US, nap, 2);
    world_start(w);
    world_run(w, 100 * NS_MS);
    cr_assert(w->script[0].v->pcpu == 0);
    cr_assert_eq(b->pcpu, 1);
    cr_assert_eq(b->steal, 0);
    world_free(w);
    cpumask_free(first);
}
