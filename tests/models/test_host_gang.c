/* SPDX-License-Identifier: MIT */
/* What gang decides, as strings on machines small enough to follow by hand. */
#include "tests/models/host_world.h"
#include "tests/support/run_text.h"

extern const struct host_ops host_policy_gang;

static const struct topology_conf two = {1, 1, 1, 2, 1}, four = {1, 1, 1, 4, 1};

/* gang with some parameters of its own; the rest has the defaults. The largest is copied. */
static struct world *gang_on(struct topology_conf shape, int64_t hz, const char *mode, ns_t slice)
{
    const struct policy_head *head = &host_policy_gang.head;
    void *params = calloc(1, head->params_size);
    struct world *w;

    params_default(head->params, params);
    *(int *)(void *)((char *)params + param_find(head->params, "mode")->offset) =
        strcmp(mode, "relaxed") == 0;
    *(ns_t *)(void *)((char *)params + param_find(head->params, "slice")->offset) = slice;
    w = world_new(shape, world_conf(hz), &host_policy_gang, params);
    free(params);
    return w;
}

static struct vcpu *add(struct world *w, int vm, int index, const struct cpumask *allowed,
                        ns_t start, const struct step *step, int nsteps)
{
    struct vcpu *v = world_add(w, allowed, start, step, nsteps);

    v->vm = vm;
    v->index = index;
    return v;
}

static struct cpumask *only(int pcpu, int npcpus)
{
    struct cpumask *m = cpumask_new(npcpus);

    cpumask_set(m, pcpu);
    return m;
}

/* A and B are VM 0, C and D are VM 1. */
Test(host_gang, strict_runs_a_vm_together)
{
    for (int hz = 0; hz <= 250; hz += 250) {
        struct world *w = gang_on(two, hz, "strict", 2 * NS_MS);

        for (int i = 0; i < 4; i++)
            add(w, i / 2, i % 2, NULL, 0, hog, 1);
        world_start(w);
        world_run(w, 12 * NS_MS);
        expect_gantt(w, 0, 0, 12 * NS_MS, NS_MS, "AACCAACCAACC");
        expect_gantt(w, 1, 0, 12 * NS_MS, NS_MS, "BBDDBBDDBBDD");
        world_free(w);
    }
}

/* A and B are VM 0, C is VM 1, D and E are VM 2: beside C no VM of two fits on two pCPUs. */
Test(host_gang, strict_leaves_pcpus_idle)
{
    struct world *w = gang_on(two, 0, "strict", 2 * NS_MS);

    add(w, 0, 0, NULL, 0, hog, 1);
    add(w, 0, 1, NULL, 0, hog, 1);
    add(w, 1, 0, NULL, 0, hog, 1);
    add(w, 2, 0, NULL, 0, hog, 1);
    add(w, 2, 1, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 12 * NS_MS);
    expect_gantt(w, 0, 0, 12 * NS_MS, NS_MS, "AACCDDAACCDD");
    expect_gantt(w, 1, 0, 12 * NS_MS, NS_MS, "BB..EEBB..EE");
    cr_assert(w->idle_while_ready > 0);
    world_free(w);

    /* Another VM of one fits beside C, and both are the first in turn in the end. */
    w = gang_on(two, 0, "strict", 2 * NS_MS);
    add(w, 0, 0, NULL, 0, hog, 1);
    add(w, 0, 1, NULL, 0, hog, 1);
    add(w, 1, 0, NULL, 0, hog, 1);
    add(w, 2, 0, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 8 * NS_MS);
    expect_gantt(w, 0, 0, 8 * NS_MS, NS_MS, "AACCAACC");
    expect_gantt(w, 1, 0, 8 * NS_MS, NS_MS, "BBDDBBDD");
    world_free(w);
}

/* Nobody takes the pCPU of B, which sleeps for 1 ms: it runs again at once. When A and B have both
 * blocked the others need not wait for the round to end. */
Test(host_gang, strict_keeps_the_seat_of_a_sleeper)
{
    static const struct step nap[] = {{NS_MS, NS_MS}, {3 * NS_MS, NS_NEVER}};
    static const struct step once[] = {{5 * NS_MS, NS_NEVER}};
    struct world *w = gang_on(two, 0, "strict", 10 * NS_MS);

    add(w, 0, 0, NULL, 0, once, 1);
    add(w, 0, 1, NULL, 0, nap, 2);
    add(w, 1, 0, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 8 * NS_MS);
    expect_gantt(w, 0, 0, 8 * NS_MS, NS_MS, "AAAAACCC");
    expect_gantt(w, 1, 0, 8 * NS_MS, NS_MS, "B.BBB...");
    world_free(w);
}

/* B sleeps from 1 to 5 ms. In the round from 4 ms on it has a seat beside A because it ran in the VM's
 * last turn: E of VM 2, which wakes at 4.5 ms, finds pCPU 1 idle and yet has to wait. */
Test(host_gang, strict_seats_those_who_will_wake)
{
    static const struct step nap[] = {{NS_MS, 4 * NS_MS}, {NS_NEVER, NS_NEVER}};
    struct world *w = gang_on(two, 0, "strict", 2 * NS_MS);

    add(w, 0, 0, NULL, 0, hog, 1);
    add(w, 0, 1, NULL, 0, nap, 2);
    add(w, 1, 0, NULL, 0, hog, 1);
    add(w, 1, 1, NULL, 0, hog, 1);
    add(w, 2, 0, NULL, 4500 * NS_US, hog, 1);
    world_start(w);
    world_run(w, 10 * NS_MS);
    expect_gantt(w, 0, 0, 10 * NS_MS, NS_MS, "AACCAACCEE");
    expect_gantt(w, 1, 0, 10 * NS_MS, NS_MS, "B.DD.BDD..");
    world_free(w);
}

/* Three vCPUs on two pCPUs, a stranger, and two siblings pinned upon each other: all get on. */
Test(host_gang, strict_starves_nobody)
{
    struct cpumask *first = only(0, 2);
    struct world *w = gang_on(two, 0, "strict", NS_MS);

    for (int i = 0; i < 3; i++)
        add(w, 0, i, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 6 * NS_MS);
    expect_gantt(w, 0, 0, 6 * NS_MS, NS_MS, "ACCBCB");
    expect_gantt(w, 1, 0, 6 * NS_MS, NS_MS, "BABAAC");
    world_free(w);

    w = gang_on(two, 0, "strict", NS_MS);
    for (int i = 0; i < 3; i++)
        add(w, 0, i, NULL, 0, hog, 1);
    add(w, 1, 0, NULL, 0, hog, 1);
    add(w, 2, 0, first, 0, hog, 1);
    add(w, 2, 1, first, 0, hog, 1);
    add(w, 2, 2, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 90 * NS_MS);
    for (int i = 0; i < w->n; i++)
        cr_assert(vcpu_time_in(w->script[i].v, VCPU_RUNNING, w->e->now) >= 14 * NS_MS, "%c ran %ld",
                  'A' + i, (long)vcpu_time_in(w->script[i].v, VCPU_RUNNING, w->e->now));
    world_free(w);
    cpumask_free(first);
}

Test(host_gang, strict_passes_seats_and_turns)
{
    struct world *w = gang_on(two, 0, "strict", 10 * NS_MS);

    /* Too wide by one: a directed yield passes the seat, an undirected one nothing. */
    for (int i = 0; i < 3; i++)
        add(w, 0, i, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, NS_MS);
    host_yield(w->h, w->script[1].v, STOP_YIELD);
    world_run(w, 2 * NS_MS);
    cr_assert_eq(host_yield_to(w->h, w->script[1].v, w->script[2].v), 1);
    world_run(w, 4 * NS_MS);
    expect_gantt(w, 0, 0, 4 * NS_MS, NS_MS, "AAAA");
    expect_gantt(w, 1, 0, 4 * NS_MS, NS_MS, "BBCC");
    world_free(w);

    /* Three VMs; the third is boosted and comes before the second. */
    w = gang_on(two, 0, "strict", 2 * NS_MS);
    for (int i = 0; i < 6; i++)
        add(w, i / 2, i % 2, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, NS_MS);
    cr_assert(host_boost(w->h, w->script[4].v));
    world_run(w, 8 * NS_MS);
    expect_gantt(w, 0, 0, 8 * NS_MS, NS_MS, "AAEECCAA");
    expect_gantt(w, 1, 0, 8 * NS_MS, NS_MS, "BBFFDDBB");
    world_free(w);
}

/* A runs alone on pCPU 0; its sibling B shares pCPU 1 with C of another VM. C, which came first, has half a
 * request, then B, then they have whole ones. When B has waited for 3 ms A leads by the skew and
 * stops, to the ns. It goes on when B runs, and stops at once when C's next turn begins: B has not
 * caught up. */
Test(host_gang, relaxed_stops_a_leader_at_its_skew)
{
    struct cpumask *zero = only(0, 2), *one = only(1, 2);
    struct world *w = gang_on(two, 0, "relaxed", 10 * NS_MS);
    const struct vcpu *a = add(w, 0, 0, zero, 0, hog, 1);

    add(w, 0, 1, one, NS_US, hog, 1);
    add(w, 1, 0, one, 0, hog, 1);
    world_start(w);
    world_run(w, 3 * NS_MS + NS_US - 1);
    cr_assert_eq(a->state, VCPU_RUNNING);
    world_run(w, 3 * NS_MS + NS_US);
    cr_assert_eq(a->state, VCPU_READY);
    cr_assert_eq(a->state_since, 3 * NS_MS + NS_US);
    world_run(w, 100 * NS_MS);
    expect_gantt(w, 0, 0, 40 * NS_MS, NS_MS, "AAA..AAAAA..........AAAAAAAAAA..........");
    expect_gantt(w, 1, 0, 40 * NS_MS, NS_MS, "CCCCCBBBBBCCCCCCCCCCBBBBBBBBBBCCCCCCCCCC");
    cr_assert(w->idle_while_ready > 0);
    world_free(w);
    cpumask_free(zero);
    cpumask_free(one);
}

/* The same with a B that sleeps instead of waiting: no skew. */
Test(host_gang, relaxed_does_not_count_idle_siblings)
{
    static const struct step nap[] = {{NS_MS, 20 * NS_MS}};
    struct cpumask *zero = only(0, 2), *one = only(1, 2);
    struct world *w = gang_on(two, 0, "relaxed", 10 * NS_MS);
    const struct vcpu *a = add(w, 0, 0, zero, 0, hog, 1);

    add(w, 0, 1, one, 0, nap, 1);
    world_start(w);
    world_run(w, 100 * NS_MS);
    cr_assert_eq(vcpu_steal(a, w->e->now), 0);
    cr_assert_eq(w->entered, 1 + 5);
    world_free(w);
    cpumask_free(zero);
    cpumask_free(one);
}

/* Too wide, pinned upon each other, floating, with strangers, with and without a tick: all get on,
 * and no two siblings are ever further apart than the skew and the time to notice. */
Test(host_gang, relaxed_starves_nobody)
{
    static const struct step nap[] = {{3 * NS_MS, 2 * NS_MS}, {NS_MS, 700 * NS_US}};
    struct cpumask *zero = only(0, 4);

    for (int hz = 0; hz <= 250; hz += 250) {
        struct world *w = gang_on(four, hz, "relaxed", 5 * NS_MS);
        uint64_t naps = 0;

        for (int i = 0; i < 6; i++)
            add(w, 0, i, NULL, 0, i < 4 ? hog : nap, i < 4 ? 1 : 2);
        for (int i = 0; i < 2; i++)
            add(w, 1, i, zero, 0, hog, 1);
        for (int i = 0; i < 3; i++)
            add(w, 2, i, NULL, NS_MS, hog, 1);
        world_start(w);
        for (int t = 1; t < 2000; t++) {
            ns_t most = 0;

            world_run(w, t * NS_MS / 2);
            for (int i = 0; i < 6; i++)
                if (w->script[i].v->state == VCPU_READY) {
                    const ns_t s = vcpu_steal(w->script[i].v, w->e->now);

                    most = s > most ? s : most;
                }
            for (int i = 0; i < 6; i++)
                cr_assert(w->script[i].v->state != VCPU_RUNNING ||
                              most - vcpu_steal(w->script[i].v, w->e->now) <= 3 * NS_MS,
                          "HZ %ld, %c leads at %ld", (long)hz, 'A' + i, (long)w->e->now);
        }
        for (int i = 0; i < w->n; i++)
            cr_assert(vcpu_time_in(w->script[i].v, VCPU_RUNNING, w->e->now) > 150 * NS_MS,
                      "HZ %d, %c ran %ld", hz, 'A' + i,
                      (long)vcpu_time_in(w->script[i].v, VCPU_RUNNING, w->e->now));
        for (int i = 4; i < 6; i++)
            naps += w->script[i].done;
        cr_assert(naps > 50);
        world_free(w);
    }
    cpumask_free(zero);
}

/* Siblings on one pCPU alternate by the skew: whoever waited for 3 ms comes next. */
Test(host_gang, relaxed_siblings_on_one_pcpu_alternate)
{
    struct world *w = gang_on(uni, 0, "relaxed", 20 * NS_MS);

    add(w, 0, 0, NULL, 0, hog, 1);
    add(w, 0, 1, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 60 * NS_MS);
    expect_gantt(w, 0, 0, 15 * NS_MS, NS_MS, "AAABBBBBBAAAAAA");
    world_free(w);
}

/* A leads its sibling C, which waits behind the stranger B and may use both pCPUs: when A stops, its
 * pCPU is for C. */
Test(host_gang, relaxed_gives_the_pcpu_of_a_leader_to_who_is_behind)
{
    struct cpumask *zero = only(0, 2), *one = only(1, 2);
    struct world *w = gang_on(two, 0, "relaxed", 20 * NS_MS);

    w->h->conf.balance = false;
    w->h->conf.wakeup_preemption = false;
    add(w, 0, 0, zero, 0, hog, 1);
    add(w, 1, 0, one, 0, hog, 1);
    add(w, 0, 1, NULL, NS_US, hog, 1);
    world_start(w);
    world_run(w, 100 * NS_US);
    if (w->script[2].v->pcpu == 0)
        cr_assert(host_migrate(w->h, w->script[2].v, 1, ENQUEUE_MIGRATE));
    world_run(w, 6 * NS_MS);
    expect_gantt(w, 0, 0, 6 * NS_MS, NS_MS, "AAACCC");
    expect_gantt(w, 1, 0, 6 * NS_MS, NS_MS, "BBBBBB");
    world_free(w);
    cpumask_free(zero);
    cpumask_free(one);
}

/* A, which spins and yields all the time, has half of the pCPU beside B of another VM. */
Test(host_gang, relaxed_yields_cost_nothing)
{
    for (int hz = 0; hz <= 250; hz += 250) {
        struct world *w = gang_on(uni, hz, "relaxed", 10 * NS_MS);
        struct vcpu *a = add(w, 0, 0, NULL, 0, hog, 1);

        add(w, 1, 0, NULL, 0, hog, 1);
        world_start(w);
        for (int t = 1; t < 20000; t++) {
            world_run(w, t * 50 * NS_US);
            if (a->state == VCPU_RUNNING)
                host_yield(w->h, a, STOP_SPIN);
        }
        cr_assert(vcpu_time_in(a, VCPU_RUNNING, w->e->now) > 480 * NS_MS, "HZ %d: A ran %ld", hz,
                  (long)vcpu_time_in(a, VCPU_RUNNING, w->e->now));
        cr_assert(vcpu_time_in(a, VCPU_RUNNING, w->e->now) < 520 * NS_MS);
        world_free(w);
    }
}

/* Four VMs on three pCPUs, two of which sleep now and then. The one furthest behind in one VM comes in
 * where a leader of another has stopped, which lets its own siblings go on, and so round and round: none
 * of them may displace who came in at the same moment, or that moment never ends. */
Test(host_gang, relaxed_chains_of_stops_end, .timeout = 30)
{
    static const char naps[] =
        "{tasks: [{name: w, count: vcpus, vcpu: spread, program: [loop: {count: forever, body: "
        "[run: {exponential: 2ms}, sleep: {exponential: 1ms}]}]}]}";
    char text[2048];
    struct run_values *v;

    snprintf(text, sizeof(text),
             "machine: flat-8\nduration: 300ms\nallow_cold: on\nseed: 0\npool: \"0-2\"\n"
             "host: {scheduler: {gang: {mode: relaxed, skew: 50us}}, placement: pinned, tick: 0}\n"
             "vms:\n  - {name: a, vcpus: 3, workload: %s}\n"
             "  - {name: b, vcpus: 2, workload: cpu-bound}\n"
             "  - {name: c, vcpus: 3, workload: %s}\n"
             "  - {name: d, vcpus: 2, workload: cpu-bound}\n",
             naps, naps);
    v = run_of_text(text, 0, NULL);
    for (int vm = 1; vm <= 4; vm++)
        cr_expect_gt(metric_of(v, vm, METRIC_GUEST_CPU_VCPU), 0.05, "VM %d", vm);
    run_values_free(v);
}
