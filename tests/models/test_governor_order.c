/* SPDX-License-Identifier: MIT */
/* steal-governor: which core leaves, where its tasks go on several NUMA nodes, and what stock Linux takes for
 * an idle CPU meanwhile. */
#include "tests/models/governor_world.h"

static struct governed_world *govern_n(int ncpus, const char *params)
{
    struct governed_world *w = governed_new(
        (struct governed_setting){&guest_policy_steal_governor, params, NULL, ncpus, 0, 0});

    sample(w);
    return w;
}

/* Of one VM, whatever its size. */
static void much_steal(struct governed_world *w)
{
    sample_with(w, 10 * NS_SEC);
}

Test(governor_order, even_takes_from_the_node_with_most_left)
{
    static const char *const down[] = {"+++++++-", "+++-+++-", "+++-++--", "++--++--",
                                       "++--+---", "+---+---", "+-------", "+-------"};
    struct governed_world *w = govern_n(8, "{order: even, nodes: 2}");

    for (int i = 0; i < 8; i++) {
        much_steal(w);
        expect_set(w, down[i]);
    }
    for (int i = 5; i >= 0; i--) {
        sample_with(w, 0);
        expect_set(w, down[i]);
    }
    sample_with(w, 0);
    expect_set(w, "++++++++");
    governed_free(w);
}

Test(governor_order, even_without_nodes_is_last)
{
    struct governed_world *w = govern_n(5, "{order: even}"), *last = govern_n(5, "{nodes: 2}");

    for (int i = 0; i < 5; i++) {
        much_steal(w);
        much_steal(last);
        expect_set(w, i == 0 ? "++++-" : i == 1 ? "+++--" : i == 2 ? "++---" : "+----");
        cr_expect_str_eq(preferred(last), preferred(w));
    }
    governed_free(w);
    governed_free(last);
}

Test(governor_order, nodes_hold_whole_cores)
{
    /* Cores 0 and 1 are node 0, core 2 is node 1, and the half core 3 as well. */
    struct governed_world *w = govern_n(7, "{order: even, nodes: 2, threads-per-core: 2}");

    much_steal(w);
    expect_set(w, "++++++-");
    much_steal(w);
    expect_set(w, "++--++-");
    much_steal(w);
    expect_set(w, "++-----");
    much_steal(w);
    expect_set(w, "++-----");
    governed_free(w);
    /* powerpc's floor counts the cores of all nodes. */
    w = govern_n(8, "{mode: two-sample, order: even, nodes: 4, entitled: 5}");
    for (int i = 0; i < 9; i++)
        much_steal(w);
    expect_set(w, "+++-+-+-");
    governed_free(w);
}

Test(governor_order, a_task_falls_back_within_its_node)
{
    struct governed_world *w = govern_n(8, "{nodes: 2}");
    struct task *t = &w->k->task[0];

    much_steal(w);
    much_steal(w);
    expect_set(w, "++++++--");
    cr_expect_eq(op_select(w->k, t, 7, 7, 0), 4);
    cr_expect_eq(op_evict(w->k, 7, t), 4);
    cr_expect_eq(op_evict(w->k, 6, t), 4);
    /* Where the task was counts, not where stock placement looks: only 6 is idle. */
    for (int i = 0; i < 8; i++)
        w->k->cpu[i].nr_running = i != 6;
    cr_expect_eq(op_select(w->k, t, 1, 1, 0), 0);
    for (int i = 0; i < 8; i++)
        w->k->cpu[i].nr_running = 0;
    /* Nothing is left of that node. */
    much_steal(w);
    much_steal(w);
    expect_set(w, "++++----");
    cr_expect_eq(op_evict(w->k, 7, t), 0);
    cr_expect_eq(op_select(w->k, t, 7, 7, 0), 0);
    governed_free(w);
    /* One node: the lowest of all. */
    w = govern_n(8, NULL);
    much_steal(w);
    cr_expect_eq(op_evict(w->k, 7, &w->k->task[0]), 0);
    governed_free(w);
}

/* So many vCPUs, and what is preferred after the next look. */
static void expect_told(struct governed_world *w, int told, const char *want)
{
    channel_publish_quota(w->end, told);
    sample(w);
    cr_expect_str_eq(preferred(w), want, "told %d: %s, expected %s", told, preferred(w), want);
}

Test(governor_order, told_is_obeyed_at_once)
{
    struct governed_world *w = govern_n(6, "{mode: told, interval: 1ms}");

    cr_expect_eq(next_sample(w) - w->e->now, NS_MS - 1);
    much_steal(w);
    expect_set(w, "++++++"); /* the host does not say, and steal is not looked at */
    expect_told(w, 2, "++----");
    expect_told(w, 5, "+++++-");
    expect_told(w, 1, "+-----");
    expect_told(w, 6, "++++++");
    expect_told(w, 3, "+++---");
    expect_told(w, 0, "++++++");
    governed_free(w);
    /* A core for a part of a core. */
    w = govern_n(6, "{mode: told, threads-per-core: 2}");
    expect_told(w, 3, "++++--");
    expect_told(w, 2, "++----");
    expect_told(w, 1, "++----");
    expect_told(w, 6, "++++++");
    governed_free(w);
    w = govern_n(6, "{mode: told, order: even, nodes: 2}");
    expect_told(w, 3, "++-+--");
    expect_told(w, 4, "++-++-");
    governed_free(w);
}

/* 1 is idle, but its vCPU is off its pCPU: with a wake-up from there it would be the first choice. */
static void expect_no_preempted_choice(const struct guest_ops *policy)
{
    struct governed_world *w = governed_new((struct governed_setting){policy, NULL, NULL, 4, 0, 0});
    struct task *t = &w->k->task[0];

    cr_expect_eq(op_select(w->k, t, 1, 1, 0), 1, "%s", policy->head.name);
    channel_publish_vcpu(w->end, 1, false, true);
    cr_expect_eq(op_select(w->k, t, 1, 1, 0), 2, "%s", policy->head.name);
    /* Nobody else is idle: it stays. */
    for (int i = 0; i < 4; i++)
        w->k->cpu[i].nr_running = i != 1;
    cr_expect_eq(op_select(w->k, t, 1, 1, 0), 1, "%s", policy->head.name);
    for (int i = 0; i < 4; i++)
        w->k->cpu[i].nr_running = 0;
    /* Each look is a row that is paid for. */
    channel_take_reads(w->end);
    op_select(w->k, t, 0, 0, 0);
    cr_expect_eq(channel_take_reads(w->end).preempted, 1, "%s", policy->head.name);
    governed_free(w);
}

Test(governor_order, preempted_vcpus_are_not_idle)
{
    expect_no_preempted_choice(&guest_policy_steal_governor);
    expect_no_preempted_choice(&guest_policy_hiperdispatch);
}

/* The search by capacity takes them for busy, too. */
Test(governor_order, preempted_vcpus_have_no_capacity_to_offer)
{
    struct governed_world *w = governed_new(
        (struct governed_setting){&guest_policy_hiperdispatch, "{threshold: 10}", NULL, 4, 0, 0});
    struct task *t = &w->k->task[0];

    while (guest_capacity(w->k, 3) == 1024)
        sample_with(w, 4 * NS_SEC);
    pelt_init(&t->util, w->e->now, 512);
    channel_publish_vcpu(w->end, 0, false, true);
    cr_expect_eq(op_select(w->k, t, 0, 0, 0), 1);
    /* 1 is busy: the largest of those that are available is a small one. */
    w->k->cpu[1].nr_running = 1;
    cr_expect_eq(op_select(w->k, t, 0, 0, 0), 2);
    w->k->cpu[1].nr_running = 0;
    governed_free(w);
}
