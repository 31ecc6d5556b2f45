/* SPDX-License-Identifier: MIT */
/* The host's mechanism: states, identities, placement, hooks, and everything at once at random. */
#include "engine/rng.h"
#include "fair/fair.h"
#include "host/fair_order.h"
#include "tests/models/host_world.h"

static const ns_t slice_1ms = NS_MS;
static const struct host_ops *const policies[] = {&host_policy_null, &host_policy_rr,
                                                  &host_policy_cfs, &host_policy_eevdf};

static const void *params_of(const struct host_ops *ops)
{
    static struct fair_conf c;

    if (ops == &host_policy_null)
        return NULL;
    if (ops == &host_policy_rr)
        return &slice_1ms;
    fair_conf_scaled(&c, 8);
    return &c;
}

Test(host, steal_at_one_to_one_is_nothing)
{
    static const struct step nap[] = {{300 * NS_US, 700 * NS_US}};
    static const struct topology_conf four = {1, 1, 1, 4, 1};

    for (size_t i = 0; i < 4; i++) {
        struct world *w = world_new(four, world_conf(0), policies[i], params_of(policies[i]));

        for (int v = 0; v < 4; v++)
            world_add(w, w->topo->span[LEVEL_THREAD][v], v * 10 * NS_US, nap, 1);
        world_start(w);
        world_run(w, 99900 * NS_US);
        for (int v = 0; v < 4; v++) {
            const struct vcpu *x = w->script[v].v;

            cr_assert_eq(vcpu_steal(x, w->e->now), 0, "%s", policies[i]->head.name);
            cr_assert_eq(x->switches, 100);
            cr_assert_eq(x->migrations, 0);
            cr_assert_eq(vcpu_time_in(x, VCPU_RUNNING, w->e->now), 100 * 300 * NS_US);
        }
        world_free(w);
    }
}

Test(host, overload_shares_the_time)
{
    for (size_t i = 1; i < 4; i++) {
        struct world *w = world_new(uni, world_conf(0), policies[i], params_of(policies[i]));
        ns_t steal = 0;

        for (int v = 0; v < 3; v++)
            world_add(w, NULL, 0, hog, 1);
        world_start(w);
        world_run(w, 10 * NS_SEC);
        for (int v = 0; v < 3; v++) {
            const ns_t s = vcpu_steal(w->script[v].v, w->e->now);

            /* Each waits for two thirds of the time. */
            cr_assert(llabs(s - 2 * w->e->now / 3) < 30 * NS_MS, "%s: %ld", policies[i]->head.name,
                      (long)s);
            steal += s;
        }
        cr_assert_eq(steal, 2 * w->e->now);
        world_free(w);
    }
}

Test(host, times_can_be_forgotten_and_steal_goes_on)
{
    struct world *w = world_new(uni, world_conf(0), &host_policy_rr, &slice_1ms);
    struct vcpu *a = world_add(w, NULL, 0, hog, 1), *b = world_add(w, NULL, 0, hog, 1);

    world_start(w);
    engine_run(w->e, 2500 * NS_US);
    cr_assert_eq(vcpu_steal(b, w->e->now), 1500 * NS_US);
    host_reset_times(w->h);
    cr_assert_eq(vcpu_time_in(b, VCPU_READY, w->e->now), 0);
    cr_assert_eq(vcpu_steal(b, w->e->now), 1500 * NS_US);
    engine_run(w->e, 4500 * NS_US);
    cr_assert_eq(vcpu_time_in(a, VCPU_RUNNING, w->e->now), NS_MS);
    cr_assert_eq(vcpu_time_in(b, VCPU_RUNNING, w->e->now), NS_MS);
    cr_assert_eq(vcpu_steal(b, w->e->now), 2500 * NS_US);
    world_free(w);
}

/* A guest that finds nothing to do blocks in the very call that tells it that it runs. */
static bool block_at_once(struct world *w, struct script *s)
{
    if (s->v->id != 0)
        return false;
    host_block(w->h, s->v);
    world_sleep(s);
    return true;
}

Test(host, blocking_within_entered_is_safe)
{
    static const struct step blink[] = {{NS_MS, NS_MS}};

    for (size_t i = 0; i < 4; i++) {
        struct world *w = world_new(uni, world_conf(0), policies[i], params_of(policies[i]));

        world_add(w, NULL, 0, blink, 1);
        world_add(w, NULL, 0, blink, 1);
        w->busy_hook = block_at_once;
        world_start(w);
        world_run(w, 20500 * NS_US);
        cr_assert_eq(w->script[0].work, 0);
        cr_assert_eq(w->script[1].done, 10);
        world_free(w);
    }
}

Test(host, a_decision_that_keeps_the_vcpu_is_no_switch)
{
    for (size_t i = 0; i < 4; i++) {
        struct world *w = world_new(uni, world_conf(250), policies[i], params_of(policies[i]));

        world_add(w, NULL, 0, hog, 1);
        world_start(w);
        for (int k = 1; k <= 50; k++) {
            world_run(w, k * NS_MS);
            host_resched(w->h, &w->h->pcpu[0], STOP_PREEMPT);
        }
        cr_assert_eq(w->entered, 1, "%s", policies[i]->head.name);
        cr_assert_eq(w->left, 0);
        cr_assert_eq(w->script[0].v->switches, 1);
        world_free(w);
    }
}

Test(host, wake_placement_looks_nearby_first)
{
    /* Two nodes of two groups of two cores; A naps on pCPU 0, which B takes meanwhile. */
    static const struct topology_conf eight = {1, 2, 2, 2, 1};
    static const int want[][4] = {{0, 1, 1, 1}, {0, 0, 2, 2}, {0, 0, 0, 4}};

    for (int busy = 0; busy < 3; busy++) {
        for (int scope = SCOPE_PREVIOUS; scope <= SCOPE_MACHINE; scope++) {
            struct host_conf conf = world_conf(0);
            struct world *w;
            struct vcpu *a;

            conf.scope = scope;
            conf.balance = false;
            w = world_new(eight, conf, &host_policy_rr, &slice_1ms);
            a = world_add(w, NULL, NS_NEVER, hog, 1);
            for (int p = 0; p < 1 << busy; p++)
                world_add(w, w->topo->span[LEVEL_THREAD][p], 0, hog, 1);
            world_start(w);
            world_run(w, NS_MS);
            a->pcpu = 0;
            cr_assert_eq(hyp_select_default(w->h->policy, a, 0), want[busy][scope],
                         "busy %d, scope %d", 1 << busy, scope);
            world_free(w);
        }
    }
}

Test(host, new_vcpus_spread_then_pile_evenly)
{
    static const struct topology_conf eight = {1, 1, 2, 4, 1};
    struct world *w = world_new(eight, world_conf(0), &host_policy_rr, &slice_1ms);
    int group[2] = {0, 0};

    for (int i = 0; i < 20; i++)
        world_add(w, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, NS_US);
    for (int p = 0; p < 8; p++) {
        const int nr = w->h->pcpu[p].nr_ready;

        cr_assert(nr == 1 || nr == 2, "pcpu %d has %d", p, nr);
        group[p / 4] += nr;
    }
    cr_assert(group[0] == 6 && group[1] == 6, "groups have %d and %d", group[0], group[1]);
    world_free(w);
}

/* -- everything at random -- */

enum { CHAOS_PCPUS = 64, CHAOS_VCPUS = 150, CHAOS_STEPS = 5 };

struct chaos {
    struct world *w;
    struct rng rng;
    struct step step[CHAOS_VCPUS][CHAOS_STEPS];
    struct cpumask *mask[8];
    struct event poke;
};

static struct chaos chaos;

static void on_poke(struct engine *e, struct event *ev)
{
    struct host *h = chaos.w->h;
    struct vcpu *a = h->vcpu[rng_below(&chaos.rng, CHAOS_VCPUS)];
    struct vcpu *b = h->vcpu[rng_below(&chaos.rng, CHAOS_VCPUS)];

    switch (rng_below(&chaos.rng, 6)) {
    case 0:
        if (a->state == VCPU_RUNNING)
            host_yield(h, a, STOP_YIELD);
        break;
    case 1:
        if (a->state == VCPU_RUNNING)
            (void)host_yield_to(h, a, b);
        break;
    case 2:
        (void)host_boost(h, a);
        break;
    case 3:
        (void)host_migrate(h, a, (int)rng_below(&chaos.rng, CHAOS_PCPUS), ENQUEUE_MIGRATE);
        break;
    case 4:
        host_resched(h, &h->pcpu[rng_below(&chaos.rng, CHAOS_PCPUS)], STOP_PREEMPT);
        break;
    default:
        host_wake(h, b, WAKE_GROUP);
        engine_cancel(e, &script_of(b)->wake);
    }
    engine_arm(e, ev, e->now + (ns_t)rng_below(&chaos.rng, 20 * NS_US));
}

static void chaos_masks(void)
{
    const struct topology *t = chaos.w->topo;

    for (int i = 0; i < 8; i++)
        chaos.mask[i] = cpumask_new(CHAOS_PCPUS);
    for (int p = 0; p < CHAOS_PCPUS; p++) {
        cpumask_set(chaos.mask[0], p);
        cpumask_set(chaos.mask[1 + t->of[LEVEL_SOCKET][p]], p);
        if (p % 2)
            cpumask_set(chaos.mask[3], p);
        if (p < 5)
            cpumask_set(chaos.mask[4], p);
    }
    cpumask_set(chaos.mask[5], 7);
    cpumask_set(chaos.mask[6], 63);
    cpumask_set(chaos.mask[7], 40);
    cpumask_set(chaos.mask[7], 41);
}

static struct world *chaos_new(const struct host_ops *ops, int64_t hz)
{
    static const struct topology_conf shape = {2, 2, 2, 4, 2};

    chaos.w = world_new(shape, world_conf(hz), ops, params_of(ops));
    rng_init(&chaos.rng, 5, RNG_TEST, (uint64_t)hz, RNG_PROGRAM);
    chaos_masks();
    for (int v = 0; v < CHAOS_VCPUS; v++) {
        for (int s = 0; s < CHAOS_STEPS; s++)
            chaos.step[v][s] = (struct step){(ns_t)rng_below(&chaos.rng, 2 * NS_MS),
                                             (ns_t)rng_below(&chaos.rng, 3 * NS_MS)};
        world_add(chaos.w, chaos.mask[rng_below(&chaos.rng, 3) ? 0 : rng_below(&chaos.rng, 8)],
                  (ns_t)rng_below(&chaos.rng, NS_MS), chaos.step[v], CHAOS_STEPS);
    }
    world_start(chaos.w);
    event_init(&chaos.poke, PHASE_WAKE, 99, on_poke);
    engine_arm(chaos.w->e, &chaos.poke, 0);
    return chaos.w;
}

static void chaos_free(void)
{
    engine_cancel(chaos.w->e, &chaos.poke);
    world_free(chaos.w);
    for (int i = 0; i < 8; i++)
        cpumask_free(chaos.mask[i]);
}

Test(host, invariants_hold_under_chaos)
{
    for (size_t i = 0; i < 4; i++) {
        for (int hz = 0; hz <= 250; hz += 250) {
            struct world *w = chaos_new(policies[i], hz);
            uint64_t fingerprint, pulls;

            for (ns_t t = 0; t <= 150 * NS_MS; t += 53 * NS_US)
                world_run(w, t);
            for (int v = 0; v < w->n; v++)
                cr_assert(w->script[v].done > 0, "%s: vcpu %d never ran to an end",
                          policies[i]->head.name, v);
            fingerprint = w->e->fingerprint;
            pulls = w->h->newidle_pulls + w->h->periodic_pulls;
            cr_assert(pulls > 0);
            cr_assert_eq(w->rejected, 0);
            cr_assert_eq(w->idle_while_ready, 0);
            cr_assert_eq(w->ticks > 0, hz > 0);
            chaos_free();

            /* The same again, to the event. */
            w = chaos_new(policies[i], hz);
            for (ns_t t = 0; t <= 150 * NS_MS; t += 53 * NS_US)
                engine_run(w->e, t);
            cr_assert_eq(w->e->fingerprint, fingerprint, "%s", policies[i]->head.name);
            chaos_free();
        }
    }
}

static bool only_second(void *arg, const struct vcpu *v)
{
    return v->index == *(int *)arg;
}

Test(host, spin_yield_goes_round_the_vm)
{
    struct world *w = world_new(uni, world_conf(0), &host_policy_rr, &slice_1ms);
    struct vcpu *vm[4];
    int last = -1, wanted = 2;

    for (int i = 0; i < 4; i++)
        vm[i] = world_add(w, NULL, i == 3 ? NS_NEVER : 0, hog, 1);
    world_start(w);
    world_run(w, NS_US);
    cr_assert_eq(host_spin_yield(w->h, vm[0], vm, 4, &last, NULL, NULL), 1);
    cr_assert_eq(last, 1);
    world_run(w, 2 * NS_US);
    cr_assert(w->h->pcpu[0].curr == vm[1]);
    cr_assert_eq(host_spin_yield(w->h, vm[1], vm, 4, &last, only_second, &wanted), 2);
    wanted = 3;
    cr_assert_eq(host_spin_yield(w->h, vm[1], vm, 4, &last, only_second, &wanted), -1);
    cr_assert_eq(last, 2);
    world_free(w);
}

static int timer_fired;

static void on_policy_timer(struct hyp *h, uint64_t cookie)
{
    timer_fired++;
    cr_assert_eq(cookie, 40u + (uint64_t)timer_fired);
    cr_assert_eq(hyp_now(h), timer_fired * NS_MS);
    if (timer_fired < 3)
        hyp_timer(h, 2, hyp_now(h) + NS_MS, cookie + 1);
}

static int timer_init(struct hyp *h)
{
    hyp_timer(h, 2, NS_MS, 41);
    hyp_timer(h, 0, NS_MS / 2, 1);
    hyp_timer(h, 0, NS_NEVER, 1);
    return 0;
}

Test(host, policies_have_timers)
{
    struct host_ops ops = host_policy_null;
    struct world *w;

    ops.init = timer_init;
    ops.timer = on_policy_timer;
    w = world_new(uni, world_conf(0), &ops, NULL);
    world_start(w);
    world_run(w, 10 * NS_MS);
    cr_assert_eq(timer_fired, 3);
    world_free(w);
}
