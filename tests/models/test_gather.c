/* SPDX-License-Identifier: MIT */
/*
 * Gathering by hand, on hosts of two to four pCPUs: where vCPUs are at home, who is packed, who gets
 * a pCPU of its own, and when they move. What it does to a whole run is in test_idle_plans.c.
 */
#include "tests/models/host_world.h"

static struct world *gathering(struct topology_conf shape, int limit, const struct host_ops *ops)
{
    struct host_conf c = world_conf(0);

    c.gather = true;
    c.gather_limit = limit;
    c.gather_undone = 100 * NS_MS;
    return world_new(shape, c, ops, NULL);
}

/* The homes of all vCPUs, a digit each. */
static void expect_homes(const struct world *w, const char *want, const char *what)
{
    char have[VCPUS_MAX + 1];
    int count[10] = {0};

    for (int i = 0; i < w->n; i++) {
        const struct vcpu *v = w->script[i].v;

        have[i] = (char)('0' + v->home);
        count[v->home]++;
        cr_expect(v->allowed->count == 1 && cpumask_test(v->allowed, v->home));
    }
    have[w->n] = '\0';
    cr_expect_str_eq(have, want, "%s: homes %s, not %s", what, have, want);
    for (int p = 0; p < w->h->npcpus; p++)
        cr_expect_eq(gather_homes(w->h, p), count[p], "%s: pcpu %d", what, p);
    world_check(w);
}

static void class(struct world *w, int v, bool stable)
{
    host_idle_class(w->h, w->script[v].v, stable);
}

static struct vcpu *vcpu(struct world *w, int v)
{
    return w->script[v].v;
}

/* In turn; of a restricted one, among its pCPUs; the next one goes on behind it. */
Test(gather, homes_at_the_start)
{
    static const struct topology_conf four = {1, 1, 2, 2, 1};
    struct cpumask *upper = cpumask_new(4);
    struct world *w = gathering(four, 2, &host_policy_rr);

    for (int i = 0; i < 6; i++)
        world_add(w, NULL, NS_NEVER, hog, 1);
    world_start(w);
    expect_homes(w, "012301", "six");
    world_free(w);

    cpumask_set(upper, 2);
    cpumask_set(upper, 3);
    w = gathering(four, 2, &host_policy_rr);
    world_add(w, upper, NS_NEVER, hog, 1);
    world_add(w, NULL, NS_NEVER, hog, 1);
    world_add(w, NULL, NS_NEVER, hog, 1);
    world_add(w, upper, NS_NEVER, hog, 1);
    world_add(w, NULL, NS_NEVER, hog, 1);
    world_start(w);
    /* The fourth: 2 and 3 are home to one each, and 2 comes after 0. */
    expect_homes(w, "23021", "restricted");
    world_free(w);
    cpumask_free(upper);
}

/* Two cache groups: pCPUs 0 and 1, 2 and 3. */
Test(gather, packs_stable_ones_and_splits_to_the_nearest)
{
    struct world *w = gathering((struct topology_conf){1, 1, 2, 2, 1}, 2, &host_policy_rr);

    for (int i = 0; i < 4; i++)
        world_add(w, NULL, NS_NEVER, hog, 1);
    world_start(w);
    class(w, 0, true);
    expect_homes(w, "0123", "nobody to join: at home");
    class(w, 0, true);
    cr_expect_eq(vcpu(w, 0)->gathers, 1, "said twice");
    class(w, 3, true);
    expect_homes(w, "0120", "joins the stable one");
    class(w, 1, true);
    expect_homes(w, "0120", "two are the limit");
    class(w, 2, true);
    expect_homes(w, "0110", "joins the other");
    class(w, 2, false);
    expect_homes(w, "0120", "2 is the next after 1, though in another group: 0 is taken");
    class(w, 2, true);
    class(w, 3, false);
    expect_homes(w, "0112", "2 and 3 are as near: the first one");
    class(w, 2, false);
    expect_homes(w, "0132", "the last one");
    class(w, 0, false);
    class(w, 1, false);
    expect_homes(w, "0132", "alone already");
    cr_expect_eq(vcpu(w, 2)->splits, 2);
    cr_expect_eq(vcpu(w, 3)->splits, 1);
    cr_expect_eq(vcpu(w, 0)->splits, 0, "no pCPU was given to it");
    cr_expect_eq(vcpu(w, 2)->gathers, 2);
    world_free(w);
}

/* In the same cache group first. */
Test(gather, nearest_means_the_same_cache_group)
{
    struct world *w = gathering((struct topology_conf){1, 1, 2, 2, 1}, 2, &host_policy_rr);

    for (int i = 0; i < 4; i++)
        world_add(w, NULL, NS_NEVER, hog, 1);
    world_start(w);
    class(w, 2, true);
    class(w, 3, true);
    expect_homes(w, "0122", "in the upper group");
    class(w, 0, true);
    class(w, 1, true);
    expect_homes(w, "0022", "in the lower group");
    class(w, 3, false);
    expect_homes(w, "0023", "1 has the lower number, 3 is nearer");
    world_free(w);
}

/* Three pCPUs for five: nobody is packed with an active one; no free pCPU, so requests wait. */
Test(gather, refused_ones_are_served_in_order)
{
    struct world *w = gathering((struct topology_conf){1, 1, 1, 3, 1}, 3, &host_policy_rr);

    for (int i = 0; i < 5; i++)
        world_add(w, NULL, NS_NEVER, hog, 1);
    world_start(w);
    expect_homes(w, "01201", "at the start");
    class(w, 0, true);
    class(w, 3, true);
    expect_homes(w, "01201", "they share 0 already");
    class(w, 1, true);
    expect_homes(w, "00201", "joins them");
    class(w, 4, true);
    expect_homes(w, "00201", "three are the limit");
    class(w, 0, false);
    class(w, 3, false);
    expect_homes(w, "00201", "no free pCPU");
    cr_expect(vcpu(w, 0)->refused == 1 && vcpu(w, 3)->refused == 1);
    cr_expect(vcpu(w, 0)->splits == 0 && vcpu(w, 3)->splits == 0);
    class(w, 2, true);
    expect_homes(w, "20101", "2 joins 4, the first one refused gets its pCPU");
    class(w, 0, true);
    expect_homes(w, "10121", "and the second one when the first is stable again");
    cr_expect(vcpu(w, 0)->splits == 1 && vcpu(w, 3)->splits == 1);
    class(w, 4, false);
    cr_expect_eq(vcpu(w, 4)->refused, 1);
    class(w, 4, true);
    expect_homes(w, "10121", "4 takes back its request; 0 and 2 beside it are stable: it stays");
    class(w, 3, true);
    expect_homes(w, "10101", "1 is full: joins the one on 0; 2 is for nobody");
    cr_expect(vcpu(w, 4)->splits == 0 && vcpu(w, 4)->refused == 1);
    world_free(w);
}

/* A vCPU keeps to the pCPUs it may use, gathered or not. */
Test(gather, keeps_to_the_allowed_pcpus)
{
    struct cpumask *lower = cpumask_new(4), *upper = cpumask_new(4);
    struct world *w = gathering((struct topology_conf){1, 1, 2, 2, 1}, 2, &host_policy_rr);

    cpumask_set(lower, 0);
    cpumask_set(lower, 1);
    cpumask_set(upper, 2);
    cpumask_set(upper, 3);
    world_add(w, lower, NS_NEVER, hog, 1);
    world_add(w, upper, NS_NEVER, hog, 1);
    world_start(w);
    expect_homes(w, "02", "at the start");
    class(w, 0, true);
    class(w, 1, true);
    expect_homes(w, "02", "1 may not join 0");
    world_free(w);
    cpumask_free(lower);
    cpumask_free(upper);
}

/* What happens at one moment. */
struct at {
    struct event ev;
    struct world *w;
    void (*fn)(struct world *w);
};

static void at_event(struct engine *e, struct event *ev)
{
    struct at *a = container_of(ev, struct at, ev);

    (void)e;
    a->fn(a->w);
}

static void at_time(struct at *a, struct world *w, ns_t time, void (*fn)(struct world *w))
{
    a->w = w;
    a->fn = fn;
    event_init(&a->ev, PHASE_TIMER, 99, at_event);
    engine_arm(w->e, &a->ev, time);
}

static void both_stable(struct world *w)
{
    class(w, 0, true);
    class(w, 1, true);
}

static void second_active(struct world *w)
{
    class(w, 1, false);
}

/*
 * A and B work on a pCPU each, in slices of 1 ms. At 1.5 ms both count as stable: B, which runs,
 * moves to 0 at once and waits there for the end of A's slice. At `split` it gets 1 back.
 *   5.5 ms  it waits: moved at once
 *   4.5 ms  it runs: it stops, and goes on there in the same instant
 */
Test(gather, running_and_waiting_ones_move)
{
    static const struct topology_conf two = {1, 1, 1, 2, 1};
    static const struct {
        ns_t split;
        const char *p0, *p1;
    } row[] = {{5500 * NS_US, "AAAABBAABBAAAAAA", "BBB........BBBBB"},
               {4500 * NS_US, "AAAABBAABAAAAAAA", "BBB......BBBBBBB"}};
    const ns_t half = NS_MS / 2;

    for (int i = 0; i < 2; i++) {
        struct world *w = gathering(two, 2, &host_policy_rr);
        struct at a, b;

        memset(&a, 0, sizeof(a));
        memset(&b, 0, sizeof(b));
        world_add(w, NULL, 0, hog, 1);
        world_add(w, NULL, 0, hog, 1);
        world_start(w);
        at_time(&a, w, 1500 * NS_US, both_stable);
        at_time(&b, w, row[i].split, second_active);
        world_run(w, 8 * NS_MS);
        expect_gantt(w, 0, 0, 8 * NS_MS, half, row[i].p0);
        expect_gantt(w, 1, 0, 8 * NS_MS, half, row[i].p1);
        cr_expect_eq(vcpu(w, 1)->undone, 1, "asked back within 100 ms");
        cr_expect_eq(gather_time(vcpu(w, 1), w->e->now), row[i].split - 1500 * NS_US);
        cr_expect_eq(gather_time(vcpu(w, 0), w->e->now), 6500 * NS_US);
        world_free(w);
    }
}

/*
 * B sleeps from 1 to 2.7 ms, on 1. Packed at 1.5 ms, it waits on 0 at once, and is woken there: in its
 * turn behind A, whose slices end at full ms. C has never been anywhere.
 */
Test(gather, a_blocked_one_waits_at_its_new_home)
{
    static const struct step nap[] = {{NS_MS, 1700 * NS_US}, {NS_NEVER, NS_NEVER}};
    struct world *w = gathering((struct topology_conf){1, 1, 1, 3, 1}, 3, &host_policy_rr);
    struct at a;

    memset(&a, 0, sizeof(a));
    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, 0, nap, 2);
    world_add(w, NULL, NS_NEVER, hog, 1);
    world_start(w);
    at_time(&a, w, 1500 * NS_US, both_stable);
    world_run(w, 1400 * NS_US);
    cr_expect(vcpu(w, 1)->state == VCPU_BLOCKED && vcpu(w, 1)->pcpu == 1);
    world_run(w, 1600 * NS_US);
    cr_expect(vcpu(w, 1)->state == VCPU_BLOCKED && vcpu(w, 1)->pcpu == 0);
    class(w, 2, true);
    cr_expect(vcpu(w, 2)->home == 0 && vcpu(w, 2)->pcpu == -1);
    world_run(w, 7 * NS_MS);
    expect_gantt(w, 0, 0, 7 * NS_MS, NS_MS / 2, "AAAAAABBAABBAA");
    expect_gantt(w, 1, 0, 7 * NS_MS, NS_MS / 2, "BB............");
    world_free(w);
}

/* Not wrong: asked back 100 ms after it. */
Test(gather, undone_is_within_100_ms)
{
    for (int early = 0; early < 2; early++) {
        struct world *w = gathering((struct topology_conf){1, 1, 1, 2, 1}, 2, &host_policy_rr);
        struct at a, b;

        memset(&a, 0, sizeof(a));
        memset(&b, 0, sizeof(b));
        world_add(w, NULL, 0, hog, 1);
        world_add(w, NULL, 0, hog, 1);
        world_start(w);
        at_time(&a, w, NS_MS, both_stable);
        at_time(&b, w, 101 * NS_MS - early, second_active);
        world_run(w, 102 * NS_MS);
        cr_expect_eq(vcpu(w, 1)->undone, (uint64_t)early);
        world_free(w);
    }
}
