/* SPDX-License-Identifier: MIT */
/* Which CPUs steal-governor prefers, by hand, and what becomes of the tasks on the others. */
#include "tests/models/governor_world.h"

/* Of 4 vCPUs: so many 1/100 % of an interval of 1 s. */
#define PERMYRIAD(n) ((ns_t)(n)*4 * NS_SEC / 10000)

static struct governed_world *govern_n(int ncpus, const char *params)
{
    struct governed_world *w = governed_new(
        (struct governed_setting){&guest_policy_steal_governor, params, NULL, ncpus, 0, 0});

    /* The first sample is what the second counts from, however much it is. */
    sample_with(w, 100 * NS_SEC);
    cr_expect_null(strchr(preferred(w), '-'));
    return w;
}

Test(steal_governor, the_thresholds_are_exact)
{
    struct governed_world *w = govern_n(4, NULL);

    sample_with(w, PERMYRIAD(500));
    expect_set(w, "++++");
    /* Between two samples only: the 5 % before do not count again. */
    sample_with(w, PERMYRIAD(300));
    expect_set(w, "++++");
    sample_with(w, PERMYRIAD(501));
    expect_set(w, "+++-");
    sample_with(w, PERMYRIAD(201));
    expect_set(w, "+++-");
    sample_with(w, PERMYRIAD(500));
    expect_set(w, "+++-");
    sample_with(w, PERMYRIAD(200));
    expect_set(w, "++++");
    sample_with(w, PERMYRIAD(0));
    expect_set(w, "++++");
    governed_free(w);
}

Test(steal_governor, one_core_per_sample_last_out_first_in)
{
    static const char *const down[] = {"+++-", "++--", "+---", "+---", "+---"};
    static const char *const up[] = {"++--", "+++-", "++++", "++++"};
    struct governed_world *w = govern_n(4, NULL);

    for (int i = 0; i < 5; i++) {
        sample_with(w, PERMYRIAD(9000));
        expect_set(w, down[i]);
    }
    for (int i = 0; i < 4; i++) {
        sample_with(w, 0);
        expect_set(w, up[i]);
    }
    governed_free(w);
}

Test(steal_governor, the_denominator_is_time_and_all_vcpus)
{
    /* 8 vCPUs at 5 % are 0.4 s per second, also when most of them are not preferred. */
    struct governed_world *w = govern_n(8, "{interval: 500ms}");

    sample_with(w, 200 * NS_MS);
    expect_set(w, "++++++++");
    for (int i = 0; i < 7; i++)
        sample_with(w, 201 * NS_MS);
    expect_set(w, "+-------");
    sample_with(w, 81 * NS_MS);
    expect_set(w, "+-------");
    sample_with(w, 80 * NS_MS);
    expect_set(w, "++------");
    governed_free(w);
}

Test(steal_governor, siblings_go_together)
{
    struct governed_world *w = govern_n(7, "{threads-per-core: 2}");

    sample_with(w, NS_SEC);
    expect_set(w, "++++++-");
    sample_with(w, NS_SEC);
    expect_set(w, "++++---");
    sample_with(w, NS_SEC);
    expect_set(w, "++-----");
    sample_with(w, NS_SEC);
    expect_set(w, "++-----");
    sample_with(w, 0);
    expect_set(w, "++++---");
    governed_free(w);
}

Test(steal_governor, thresholds_and_interval_are_parameters)
{
    struct governed_world *w = govern_n(4, "{high: 1000, low: 0, interval: 100ms}");

    sample_with(w, 40 * NS_MS);
    expect_set(w, "++++");
    sample_with(w, 41 * NS_MS);
    expect_set(w, "+++-");
    sample_with(w, NS_MS);
    expect_set(w, "+++-");
    sample_with(w, 0);
    expect_set(w, "++++");
    governed_free(w);
}

/* A vCPU that is off its pCPU says nothing of it until it enters. */
Test(steal_governor, late_steal_exceeds_all_time_and_counts_once)
{
    struct governed_world *w = govern_n(2, "{interval: 100ms}");

    sample_with(w, 50 * NS_MS);
    expect_set(w, "+-");
    /* Both are off for 300 ms from here: no steal is to be seen. */
    sample(w);
    expect_set(w, "++");
    sample(w);
    expect_set(w, "++");
    publish(w, 0, 300 * NS_MS);
    publish(w, 1, 300 * NS_MS);
    sample(w); /* 300 % */
    expect_set(w, "+-");
    sample(w);
    expect_set(w, "++");
    governed_free(w);
}

Test(steal_governor, floor_steal_avoids_the_first_after_cpu_0)
{
    struct governed_world *w = govern_n(6, "{mode: floor-steal}");

    sample_with(w, 2900 * NS_MS);
    expect_set(w, "+--+++");
    sample_with(w, 999 * NS_MS);
    expect_set(w, "++++++");
    sample_with(w, NS_SEC);
    expect_set(w, "+-++++");
    sample_with(w, 4 * NS_SEC);
    expect_set(w, "+----+");
    sample_with(w, 60 * NS_SEC);
    expect_set(w, "+-----");
    governed_free(w);
}

/* Avoided CPUs suffer no steal: the next sample sees none and takes all of them back. */
Test(steal_governor, floor_steal_swings)
{
    struct governed_world *w = govern_n(4, "{mode: floor-steal}");

    for (int i = 0; i < 6; i++) {
        const bool all = strcmp(preferred(w), "++++") == 0;

        cr_expect_eq(all, i % 2 == 0);
        sample_with(w, all ? 2 * NS_SEC : 0);
    }
    governed_free(w);
    /* The governor in the same place comes down to what fits and alternates by one core. */
    w = govern_n(4, NULL);
    for (int i = 0; i < 9; i++)
        sample_with(w, strcmp(preferred(w) + 2, "--") ? 2 * NS_SEC : 0);
    expect_set(w, "+++-");
    sample_with(w, 2 * NS_SEC);
    expect_set(w, "++--");
    governed_free(w);
}

Test(steal_governor, two_sample_needs_two)
{
    struct governed_world *w = govern_n(4, "{mode: two-sample, entitled: 2}");

    sample_with(w, PERMYRIAD(400));
    expect_set(w, "++++");
    sample_with(w, PERMYRIAD(399));
    sample_with(w, PERMYRIAD(400));
    expect_set(w, "++++");
    sample_with(w, PERMYRIAD(400));
    expect_set(w, "+++-");
    /* Each further one, down to what is entitled. */
    sample_with(w, PERMYRIAD(400));
    expect_set(w, "++--");
    sample_with(w, PERMYRIAD(400));
    expect_set(w, "++--");
    sample_with(w, PERMYRIAD(150));
    expect_set(w, "++--");
    sample_with(w, PERMYRIAD(151));
    sample_with(w, PERMYRIAD(150));
    expect_set(w, "++--");
    sample_with(w, PERMYRIAD(150));
    expect_set(w, "+++-");
    sample_with(w, PERMYRIAD(400));
    sample_with(w, PERMYRIAD(150));
    expect_set(w, "+++-");
    governed_free(w);
}

Test(steal_governor, each_vm_has_a_phase_of_its_own)
{
    ns_t at[8];

    for (int vm = 0; vm < 8; vm++) {
        struct governed_world *w = governed_new(
            (struct governed_setting){&guest_policy_steal_governor, NULL, NULL, 2, vm, 0});

        at[vm] = next_sample(w);
        cr_expect(at[vm] >= 0 && at[vm] < NS_SEC);
        for (int i = 0; i < vm; i++)
            cr_expect_neq(at[vm], at[i]);
        sample(w);
        cr_expect_eq(next_sample(w), at[vm] + NS_SEC);
        governed_free(w);
    }
}

static ns_t phase_of(int vm, uint64_t seed)
{
    struct governed_world *w = governed_seeded(
        (struct governed_setting){&guest_policy_steal_governor, NULL, NULL, 2, vm, 0}, seed);
    const ns_t at = next_sample(w);

    governed_free(w);
    return at;
}

Test(steal_governor, the_seed_gives_the_phases)
{
    for (int vm = 0; vm < 8; vm++) {
        cr_expect_eq(phase_of(vm, 7), phase_of(vm, 7), "VM %d", vm);
        cr_expect_neq(phase_of(vm, 7), phase_of(vm, 8), "VM %d", vm);
    }
}

Test(steal_governor, a_wake_up_falls_back_to_the_lowest)
{
    struct governed_world *w = govern_n(4, NULL);
    struct task *t = &w->k->task[0];

    sample_with(w, NS_SEC);
    sample_with(w, NS_SEC);
    expect_set(w, "++--");
    cr_expect_eq(op_select(w->k, t, 1, 1, 0), 1);
    cr_expect_eq(w->fallbacks, 0);
    cr_expect_eq(op_select(w->k, t, 3, 3, 0), 0);
    cr_expect_eq(w->fallbacks, 1);
    /* Stock placement knows nothing of the set, so that an idle preferred CPU is of no use: herding. */
    w->k->cpu[0].nr_running = 3;
    cr_expect_eq(op_select(w->k, t, 3, 3, 0), 0);
    /* Busy CPUs before: it finds the avoided 2 idle. */
    w->k->cpu[1].nr_running = 1;
    cr_expect_eq(op_select(w->k, t, 1, 1, 0), 0);
    cr_expect_eq(op_select(w->k, t, 1, 1, SELECT_FORK), 0);
    cr_expect_eq(w->fallbacks, 4);
    w->k->cpu[0].nr_running = 0;
    w->k->cpu[1].nr_running = 0;
    governed_free(w);
}

#define HOGS(n, more) "{tasks: [{name: h, count: " n ", program: [{run: 100s}]}" more "]}"

static struct governed_world *tasks_on_4(const char *workload, ns_t guest_switch)
{
    struct governed_world *w = governed_new((struct governed_setting){
        &guest_policy_steal_governor, NULL, workload, 4, 0, guest_switch});

    sample_with(w, 0);
    return w;
}

static void run_for(struct governed_world *w, ns_t time)
{
    engine_run(w->e, w->e->now + time);
}

Test(steal_governor, the_tick_moves_the_running_task_only)
{
    /* Two each: A and E on 0 ... D and H on 3. */
    struct governed_world *w = tasks_on_4(HOGS("8", ""), 0);

    expect_places(w, "01230123");
    sample_with(w, NS_SEC);
    expect_set(w, "+++-");
    expect_places(w, "01230123");
    /* A tick per 10 ms: the one that runs, then the other, both to 0. */
    run_for(w, 10 * NS_MS);
    cr_expect_eq(w->evicted, 1);
    cr_expect_eq(w->k->cpu[3].nr_running, 1);
    cr_expect_eq(w->k->cpu[0].nr_running, 3);
    run_for(w, 10 * NS_MS);
    cr_expect_eq(w->evicted, 2);
    cr_expect_eq(w->k->cpu[3].nr_running, 0);
    cr_expect_eq(w->k->cpu[0].nr_running + w->k->cpu[1].nr_running + w->k->cpu[2].nr_running, 8);
    run_for(w, 100 * NS_MS);
    cr_expect_eq(w->evicted, 2);
    governed_free(w);
}

Test(steal_governor, the_stopper_costs_two_switches)
{
    struct governed_world *w = tasks_on_4(HOGS("4", ""), NS_US);
    ns_t before;

    sample_with(w, NS_SEC);
    gcpu_settle(&w->k->cpu[3]);
    before = w->k->cpu[3].acct.term[TERM_OVERHEAD];
    run_for(w, 10 * NS_MS);
    cr_expect_eq(w->evicted, 1);
    gcpu_settle(&w->k->cpu[3]);
    cr_expect_eq(w->k->cpu[3].acct.term[TERM_OVERHEAD] - before, 2 * NS_US);
    governed_free(w);
    /* With one queued behind: the second of them is the switch to that one. */
    w = tasks_on_4(HOGS("8", ""), NS_US);
    sample_with(w, NS_SEC);
    while (w->evicted == 0) {
        gcpu_settle(&w->k->cpu[3]);
        before = w->k->cpu[3].acct.term[TERM_OVERHEAD];
        run_for(w, NS_MS);
    }
    gcpu_settle(&w->k->cpu[3]);
    cr_expect_eq(w->k->cpu[3].acct.term[TERM_OVERHEAD] - before, 2 * NS_US);
    governed_free(w);
}

Test(steal_governor, a_lock_holder_moves_and_a_pinned_task_stays)
{
    static const char workload[] = "{objects: {locks: {l: {kind: sleep}}}, tasks: [{name: h, "
                                   "count: 3, program: [{run: 100s}]}, "
                                   "{name: holder, program: [{lock: l}, {run: 100s}, {unlock: l}]},"
                                   "{name: pinned, vcpu: 3, program: [{run: 100s}]}]}";
    struct governed_world *w = tasks_on_4(workload, 0);

    expect_places(w, "01233");
    sample_with(w, NS_SEC);
    run_for(w, 200 * NS_MS);
    cr_expect_eq(w->evicted, 1);
    cr_expect_eq(w->k->task[3].locks_held, 1);
    cr_expect_neq(w->k->task[3].cpu, 3);
    cr_expect_eq(w->k->task[4].cpu, 3);
    cr_expect_eq(w->k->task[4].state, TASK_CURRENT);
    governed_free(w);
}

Test(steal_governor, balancing_spans_preferred_cpus)
{
    static const char workload[] = "{tasks: [{name: h, count: 4, program: [{run: 100s}]}, "
                                   "{name: more, vcpu: 3, count: 2, program: [{run: 100s}]}, "
                                   "{name: wide, count: 2, program: [{run: 100s}]}]}";
    struct governed_world *w = tasks_on_4(HOGS("4", ""), 0);

    /* Nobody brings back what was moved away, however long it is idle; 0 has two. */
    sample_with(w, NS_SEC);
    run_for(w, 900 * NS_MS);
    expect_places(w, "0120");
    sample_with(w, PERMYRIAD(300));
    run_for(w, 900 * NS_MS);
    expect_places(w, "0120");
    /* Preferred again, it is like any. */
    sample_with(w, 0);
    run_for(w, 900 * NS_MS);
    cr_expect_eq(w->k->cpu[3].nr_running, 1);
    governed_free(w);
    /* Pinned to an avoided CPU: no balancing there, neither from it nor to it. */
    w = tasks_on_4(workload, 0);
    sample_with(w, NS_SEC);
    run_for(w, 900 * NS_MS);
    cr_expect_eq(w->k->cpu[3].nr_running, 2);
    cr_expect_eq(w->k->task[4].cpu, 3);
    cr_expect_eq(w->k->task[5].cpu, 3);
    cr_expect_eq(w->k->cpu[0].nr_running + w->k->cpu[1].nr_running + w->k->cpu[2].nr_running, 6);
    /* Without a look at them: newidle on an avoided CPU returns at once, and costs nothing. */
    w->costs.guest_balance = NS_US;
    cr_expect_not(guest_newidle(&w->k->cpu[3]));
    cr_expect_eq(w->k->cpu[3].ovh, 0);
    governed_free(w);
}

/* Without a sample: the policy's memory of a CPU is one bool. */
static void avoid_now(struct governed_world *w, int cpu)
{
    *(bool *)guest_cpu_mem(w->k, cpu) = true;
}

/* Until here nothing was balanced: A is alone on 0 or two are, B and C are on 1 and 2. */
static struct governed_world *unbalanced(const char *workload, ns_t steal)
{
    struct governed_world *w = governed_new(
        (struct governed_setting){&guest_policy_steal_governor, NULL, workload, 4, 0, 0});

    w->k->conf.balance = false;
    sample_with(w, 0);
    sample_with(w, steal);
    w->k->conf.balance = true;
    return w;
}

#define HOG(name)  "{name: " name ", program: [{run: 100s}]}"
#define EXIT(name) "{name: " name ", program: [{run: 1ms}, exit]}"
/* 0 is idle, 3 has two; 0 has two, 3 is idle; 0 has two, 2 and 3 are idle. */
static const char FULL_3[] = "{tasks: [" EXIT("a") "," HOG("b") "," HOG("c") "," HOG("d") "," EXIT(
    "e") "," EXIT("f") "," EXIT("g") "," HOG("h") "]}";
static const char FULL_0[] =
    "{tasks: [" HOG("a") "," HOG("b") "," HOG("c") "," EXIT("d") "," HOG("e") "]}";
static const char IDLE_2[] =
    "{tasks: [" HOG("a") "," HOG("b") "," EXIT("c") "," EXIT("d") "," HOG("e") "]}";

Test(steal_governor, nothing_is_pulled_from_an_avoided_cpu)
{
    struct governed_world *w = unbalanced(FULL_3, 0);

    expect_places(w, ".123...3");
    cr_expect(guest_newidle(&w->k->cpu[0]));
    governed_free(w);
    w = unbalanced(FULL_3, NS_SEC);
    expect_places(w, ".123...3");
    expect_set(w, "+++-");
    cr_expect_not(guest_newidle(&w->k->cpu[0]));
    /* A pass looks at three CPUs. */
    w->costs.guest_balance = 100;
    w->k->cpu[0].ovh = 0;
    cr_expect_not(guest_newidle(&w->k->cpu[0]));
    cr_expect_eq(w->k->cpu[0].ovh, 300);
    governed_free(w);
}

/* A periodic or nohz balance of CPU 3. True: it has something to run now. */
static bool fills_3(ns_t steal, bool periodic)
{
    struct governed_world *w = unbalanced(FULL_0, steal);
    struct gcpu *g = &w->k->cpu[3];
    bool fills;

    expect_places(w, "012.0");
    if (periodic) {
        g->next_balance = 0;
        guest_periodic(g);
    } else {
        guest_nohz_balance(g);
    }
    fills = g->nr_running > 0;
    governed_free(w);
    return fills;
}

Test(steal_governor, nothing_is_pulled_to_an_avoided_cpu)
{
    struct governed_world *w;

    cr_expect(fills_3(0, true));
    cr_expect(fills_3(0, false));
    cr_expect_not(fills_3(NS_SEC, true));
    cr_expect_not(fills_3(NS_SEC, false));
    /* The tick of 0 finds a helper, the first after it: with 3 and 2 avoided, none. */
    w = unbalanced(IDLE_2, 0);
    run_for(w, 20 * NS_MS);
    expect_places(w, "01..2");
    governed_free(w);
    w = unbalanced(IDLE_2, NS_SEC);
    avoid_now(w, 2);
    expect_set(w, "++--");
    w->k->next_nohz = 0;
    guest_periodic(&w->k->cpu[0]);
    cr_expect_eq(w->k->next_nohz, w->e->now + 10 * NS_MS);
    run_for(w, 20 * NS_MS);
    expect_places(w, "01..0");
    governed_free(w);
}

Test(steal_governor, the_helper_is_one_that_may_pull)
{
    /* 2 has two. After it comes 3, idle but avoided, then 0. */
    static const char full_2[] = "{tasks: [" EXIT("a") "," HOG("b") "," HOG("c") "," EXIT(
        "d") "," EXIT("e") "," EXIT("f") "," HOG("g") "]}";
    struct governed_world *w = unbalanced(full_2, NS_SEC);

    expect_places(w, ".12...2");
    expect_set(w, "+++-");
    run_for(w, 20 * NS_MS); /* two ticks */
    cr_expect_eq(w->k->cpu[0].nr_running, 1);
    cr_expect_eq(w->k->cpu[2].nr_running, 1);
    governed_free(w);
}

/* Where a lone task on 3 is when 0 balances and 3 has lost half its capacity. */
static int lone_on_3(ns_t steal)
{
    static const char lone[] = "{tasks: [" EXIT("a") "," EXIT("b") "," EXIT("c") "," HOG("d") "]}";
    struct governed_world *w = unbalanced(lone, steal);
    int at;

    pelt_init(&w->k->cpu[3].steal, w->e->now, 512);
    guest_nohz_balance(&w->k->cpu[0]);
    at = w->k->task[3].cpu;
    governed_free(w);
    return at;
}

Test(steal_governor, active_balance_leaves_avoided_cpus_to_the_tick)
{
    cr_expect_eq(lone_on_3(0), 0);
    cr_expect_eq(lone_on_3(NS_SEC), 3);
}

/* A wake-up under way is work of the kernel: the stopper waits for its end. */
Test(steal_governor, the_stopper_waits_for_a_wake_up)
{
    static const char workload[] =
        "{objects: {queues: {q: {capacity: 9}}}, tasks: [{name: r, vcpu: 0, program: [{loop: "
        "{count: "
        "forever, body: [{recv: q}]}}]}, {name: e, count: 2, program: [exit]}, {name: s, program: "
        "[{run: 3s}, {send: q}, {run: 9s}]}]}";
    struct governed_world *w = governed_new(
        (struct governed_setting){&guest_policy_steal_governor, NULL, workload, 4, 0, 0});
    struct gcpu *g = &w->k->cpu[3];

    run_for(w, 2 * NS_SEC);
    w->costs.wake = 30 * NS_MS;
    while (g->act != GCPU_WAKE)
        run_for(w, NS_MS);
    expect_places(w, "...3");
    avoid_now(w, 3);
    expect_set(w, "+++-");
    run_for(w, 20 * NS_MS);
    cr_expect_eq(g->act, GCPU_WAKE);
    cr_expect_eq(g->push_to, 0);
    expect_places(w, "...3");
    run_for(w, 20 * NS_MS);
    expect_places(w, "...0");
    cr_expect_eq(w->evicted, 1);
    governed_free(w);
}
