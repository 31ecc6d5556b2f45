/* SPDX-License-Identifier: MIT */
/*
 * A cgroup per VM in the fair host schedulers: what a VM gets of a pCPU does not depend on how many of
 * its vCPUs want it, and is spread over the pCPUs as they are.
 */
#include "fair/fair.h"
#include "tests/models/host_world.h"
#include "tests/support/run_text.h"

static struct fair_conf grouped(bool yes)
{
    struct fair_conf c;

    fair_conf_scaled(&c, 8);
    c.groups = yes;
    return c;
}

static const struct topology_conf pair = {1, 1, 1, 2, 1};
static const struct host_ops *const both[] = {&host_policy_cfs, &host_policy_eevdf};

/* vCPU i on the pCPU with this digit, '.' = it never starts. Four vCPUs in a row are a VM. */
static struct world *placed_at(int64_t hz, const char *where, const struct host_ops *ops,
                               bool groups, struct cpumask *mask[2])
{
    const struct fair_conf c = grouped(groups);
    struct world *w = world_new(pair, world_conf(hz), ops, &c);

    for (int i = 0; i < 2; i++) {
        mask[i] = cpumask_new(2);
        cpumask_set(mask[i], i);
    }
    for (int i = 0; where[i]; i++)
        world_add(w, mask[where[i] == '1'], where[i] == '.' ? NS_NEVER : 0, hog, 1);
    world_start(w);
    return w;
}

static struct world *placed(const char *where, const struct host_ops *ops, bool groups,
                            struct cpumask *mask[2])
{
    return placed_at(250, where, ops, groups, mask);
}

static void done(struct world *w, struct cpumask *mask[2])
{
    world_free(w);
    cpumask_free(mask[0]);
    cpumask_free(mask[1]);
}

static double share(const struct world *w, int vcpu)
{
    return (double)vcpu_time_in(w->script[vcpu].v, VCPU_RUNNING, w->e->now) / (double)w->e->now;
}

Test(vm_groups, many_vcpus_are_no_more_than_one)
{
    for (int p = 0; p < 2; p++)
        for (int groups = 0; groups < 2; groups++) {
            struct cpumask *mask[2];
            struct world *w = placed("000.0", both[p], groups, mask);

            world_run(w, 6 * NS_SEC);
            for (int i = 0; i < 3; i++)
                cr_expect_float_eq(share(w, i), groups ? 1 / 6.0 : 0.25, 0.01, "%s %d",
                                   both[p]->head.name, i);
            cr_expect_float_eq(share(w, 4), groups ? 0.5 : 0.25, 0.01, "%s", both[p]->head.name);
            done(w, mask);
        }
}

/* The first VM has a vCPU on each pCPU, and half of its weight there: a third of what the second, which
 * wants one only, gives up. */
Test(vm_groups, weight_is_spread_as_the_vcpus_are)
{
    for (int p = 0; p < 4; p++) {
        const struct host_ops *ops = both[p % 2];
        struct cpumask *mask[2];
        struct world *w = placed_at(p < 2 ? 250 : 0, "01..0", ops, true, mask);

        world_run(w, 6 * NS_SEC);
        cr_expect_float_eq(share(w, 0), 1 / 3.0, 0.01, "%s", ops->head.name);
        cr_expect_float_eq(share(w, 4), 2 / 3.0, 0.01, "%s", ops->head.name);
        cr_expect_float_eq(share(w, 1), 1, 0.01);
        /* Its other vCPU blocks: the whole weight is here, from its next tick on, or its next turn. */
        host_block(w->h, w->script[1].v);
        const ns_t before = vcpu_time_in(w->script[0].v, VCPU_RUNNING, w->e->now);
        world_run(w, 12 * NS_SEC);
        cr_expect_float_eq(
            (double)(vcpu_time_in(w->script[0].v, VCPU_RUNNING, w->e->now) - before) /
                (6.0 * NS_SEC),
            0.5, 0.01, "%s", ops->head.name);
        done(w, mask);
    }
}

/* The weight in a scenario is the VM's, whether it has one vCPU or three. */
Test(vm_groups, weight_is_the_vms_own)
{
    for (int i = 0; i < 2; i++) {
        char text[1024];
        struct run_values *v;

        snprintf(text, sizeof(text),
                 "machine: flat-8\nduration: 4s\nwarmup: 200ms\n"
                 "host: {scheduler: {%s: {vm-groups: on}}, placement: float, tick: 250}\nvms:\n"
                 "  - {name: three, vcpus: 3, pin: \"0\", workload: sysbench-cpu}\n"
                 "  - {name: one, vcpus: 1, pin: \"0\", weight: 2048, workload: sysbench-cpu}\n",
                 both[i]->head.name);
        v = run_of_text(text, 1, NULL);
        cr_expect_float_eq(metric_of(v, 2, METRIC_THROUGHPUT) / metric_of(v, 1, METRIC_THROUGHPUT),
                           2, 0.05, "%s", both[i]->head.name);
        run_values_free(v);
    }
}

/* Some time into a slice of a vCPU of the first VM on pCPU 0, it yields; who runs then. */
static const struct vcpu *after_yield(struct world *w, struct vcpu **from)
{
    world_run(w, 400 * NS_MS);
    while (w->h->pcpu[0].curr->vm != 0 || w->e->now - w->h->pcpu[0].curr->run_start > 2 * NS_MS)
        world_run(w, w->e->now + NS_MS / 2);
    *from = w->h->pcpu[0].curr;
    host_yield(w->h, *from, STOP_SPIN);
    world_run(w, w->e->now + NS_US);
    return w->h->pcpu[0].curr;
}

/* Alone in its VM on this pCPU there is nobody to yield to; else a sibling goes on with the group's slice. */
Test(vm_groups, a_yield_stays_in_the_group)
{
    struct cpumask *mask[2];
    struct world *w;
    struct vcpu *from;

    w = placed("0...0", &host_policy_eevdf, false, mask);
    cr_expect_eq(after_yield(w, &from)->vm, 1);
    done(w, mask);
    w = placed("0...0", &host_policy_eevdf, true, mask);
    cr_expect_eq(after_yield(w, &from), from);
    done(w, mask);
    w = placed("00..0", &host_policy_eevdf, true, mask);
    cr_expect_eq(after_yield(w, &from)->vm, 0);
    cr_expect_neq(w->h->pcpu[0].curr, from);
    done(w, mask);
}

Test(vm_groups, a_directed_yield_reaches_into_the_group)
{
    struct cpumask *mask[2];
    struct world *w = placed("1...10", &host_policy_eevdf, true, mask);

    world_run(w, 400 * NS_MS);
    /* Where the target is owed time: late in the other VM's slice. */
    while (w->h->pcpu[1].curr->vm == 0 || w->e->now - w->h->pcpu[1].curr->run_start < 2 * NS_MS)
        world_run(w, w->e->now + NS_MS / 2);
    cr_assert_eq(w->h->pcpu[1].curr, w->script[4].v);
    cr_assert_eq(host_yield_to(w->h, w->script[5].v, w->script[0].v), 1);
    world_run(w, w->e->now + NS_US);
    cr_expect_eq(w->h->pcpu[1].curr, w->script[0].v);
    done(w, mask);
}

/* The first vCPU blocks with a debt, the second soon after it: nobody of their VM is left on pCPU 0, and the
 * first is free to wake where a pCPU is idle. */
Test(vm_groups, a_debt_ties_nobody_to_an_empty_group)
{
    static const struct step first[] = {{4 * NS_MS, 100 * NS_MS}, {NS_NEVER, NS_NEVER}};
    static const struct step second[] = {{3800 * NS_US, NS_NEVER}};
    static const struct step beside[] = {{30 * NS_MS, NS_NEVER}};

    for (int groups = 0; groups < 2; groups++) {
        const struct fair_conf c = grouped(groups);
        struct world *w = world_new(pair, world_conf(0), &host_policy_eevdf, &c);
        struct cpumask *only[2];

        for (int i = 0; i < 2; i++) {
            only[i] = cpumask_new(2);
            cpumask_set(only[i], i);
        }
        world_add(w, NULL, 1, first, 2);
        world_add(w, only[0], 1, second, 1);
        for (int i = 2; i < 4; i++)
            world_add(w, NULL, NS_NEVER, hog, 1);
        world_add(w, only[1], 0, beside, 1);
        world_add(w, only[0], 20 * NS_MS, hog, 1);
        world_start(w);
        world_run(w, 10 * NS_MS);
        cr_assert_eq(w->script[0].v->state, VCPU_BLOCKED);
        cr_assert_eq(w->script[1].v->state, VCPU_BLOCKED);
        cr_assert_eq(w->script[0].v->pcpu, 0);
        const ns_t steal = w->script[0].v->steal;
        world_run(w, 150 * NS_MS);
        cr_expect_eq(w->script[0].v->pcpu, 1, "%d", groups);
        cr_expect_eq(w->script[0].v->steal, steal, "%d", groups);
        world_free(w);
        cpumask_free(only[0]);
        cpumask_free(only[1]);
    }
}

/* Three VMs that run and sleep, floating over two pCPUs: the invariants of host_world hold at every ms. */
Test(vm_groups, nothing_is_lost_when_vcpus_come_and_go)
{
    static const struct step restless[4][3] = {
        {{300 * NS_US, 700 * NS_US}, {5 * NS_MS, 100 * NS_US}, {40 * NS_US, 3 * NS_MS}},
        {{9 * NS_MS, 2 * NS_MS}, {100 * NS_US, 100 * NS_US}, {NS_MS, 50 * NS_US}},
        {{2 * NS_MS, 8 * NS_MS}, {20 * NS_US, 30 * NS_US}, {3 * NS_MS, 1500 * NS_US}},
        {{NS_MS, NS_MS}, {7 * NS_MS, 20 * NS_US}, {130 * NS_US, 370 * NS_US}}};

    for (int p = 0; p < 2; p++) {
        const struct fair_conf c = grouped(true);
        struct world *w = world_new(pair, world_conf(p ? 250 : 0), both[p], &c);
        uint64_t done_all = 0;

        for (int i = 0; i < 12; i++)
            world_add(w, NULL, i * 170 * NS_US, restless[i % 4], 3);
        world_start(w);
        for (int t = 1; t <= 2000; t++)
            world_run(w, t * NS_MS);
        for (int i = 0; i < 12; i++) {
            cr_expect_gt(w->script[i].done, 50, "%s: vcpu %d", both[p]->head.name, i);
            done_all += w->script[i].done;
        }
        cr_expect_gt(done_all, 1500);
        world_free(w);
    }
}
