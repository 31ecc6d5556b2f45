/* SPDX-License-Identifier: MIT */
/* What the rival host policies balance and cluster decide, and the heap that gang uses. */
#include "fair/fair.h"
#include "host/heap.h"
#include "tests/models/host_world.h"

extern const struct host_ops host_policy_balance, host_policy_cluster;

static const struct topology_conf two = {1, 1, 1, 2, 1};

static struct fair_conf fair(void)
{
    struct fair_conf c;

    fair_conf_scaled(&c, 8);
    return c;
}

/* Before world_start: VM and number within it. */
static struct vcpu *in_vm(struct vcpu *v, int vm, int index)
{
    v->vm = vm;
    v->index = index;
    return v;
}

Test(host_rivals, heap_gives_the_least_whatever_leaves)
{
    struct heap h = {0};
    struct heap_node node[64] = {0};
    uint32_t x = 12345;

    for (int round = 0; round < 2000; round++) {
        struct heap_node *n;
        const struct heap_node *least = NULL;

        x = x * 1664525 + 1013904223;
        n = &node[x >> 26];
        if (n->from)
            heap_remove(&h, n);
        else
            heap_push(&h, n, (x >> 10) % 100, n);
        for (int i = 0; i < 64; i++)
            if (node[i].from && (!least || node[i].key < least->key))
                least = &node[i];
        cr_assert((h.top == NULL) == (least == NULL));
        cr_assert(!least || h.top->key == least->key, "round %d", round);
    }
    heap_remove(&h, &node[0]);
    heap_remove(&h, &node[0]); /* in none: nothing happens */
    cr_assert(!node[0].from);
}

/* Where siblings have no other pCPU the rule gives way; the order is that of cfs. */
Test(host_rivals, balance_and_cluster_order_as_cfs_does)
{
    const struct host_ops *const all[] = {&host_policy_balance, &host_policy_cluster};
    const struct fair_conf c = fair();
    struct cpumask *first = cpumask_new(2);

    cpumask_set(first, 0);
    for (int i = 0; i < 2; i++) {
        struct world *w = world_new(two, world_conf(250), all[i], &c);
        struct vcpu *to;

        in_vm(world_add(w, first, 0, hog, 1), 0, 0);
        in_vm(world_add(w, first, 0, hog, 1), 0, 1);
        world_start(w);
        world_run(w, 48 * NS_MS);
        expect_gantt(w, 0, 0, 48 * NS_MS, 4 * NS_MS, "BBBAAABBBAAA");
        /* B is ahead by now, so that it is fair to pass its turn on. */
        world_run(w, 58 * NS_MS);
        to = w->h->pcpu[0].ready.first->vcpu;
        cr_assert_eq(host_yield_to(w->h, w->h->pcpu[0].curr, to), 1);
        world_run(w, 58 * NS_MS + NS_US);
        to = w->h->pcpu[0].ready.first->vcpu;
        cr_assert(host_boost(w->h, to), "%s: boost", all[i]->head.name);
        world_free(w);
    }
    cpumask_free(first);
}

/* While the first one of VM 0 sleeps, a sibling comes to its pCPU; a stranger has the other one. */
Test(host_rivals, balance_wakes_beside_strangers_only)
{
    static const struct step nap[] = {{NS_MS, 3 * NS_MS}, {NS_NEVER, NS_NEVER}};
    const struct fair_conf c = fair();
    const struct host_ops *const all[] = {&host_policy_cfs, &host_policy_balance};

    for (int i = 0; i < 2; i++) {
        struct host_conf conf = world_conf(0);
        struct cpumask *first = cpumask_new(2);
        struct world *w;
        struct vcpu *sibling;

        conf.balance = false;
        cpumask_set(first, 0);
        w = world_new(two, conf, all[i], &c);
        sibling = in_vm(world_add(w, NULL, 0, nap, 2), 0, 0); /* pCPU 0, then asleep */
        in_vm(world_add(w, NULL, 100 * NS_US, hog, 1), 1, 0); /* pCPU 1 */
        in_vm(world_add(w, first, 2 * NS_MS, hog, 1), 0, 1);  /* pCPU 0 */
        world_start(w);
        world_run(w, 5 * NS_MS);
        cr_assert_eq(sibling->pcpu, i, "%s", all[i]->head.name);
        world_free(w);
        cpumask_free(first);
    }
}

/* Everybody starts on pCPU 0. */
static int select_first(struct hyp *h, struct vcpu *v, int prev, enum wake_why why)
{
    (void)h;
    (void)v;
    (void)why;
    return prev < 0 ? 0 : prev;
}

Test(host_rivals, balance_parts_siblings_and_never_joins_them)
{
    const struct fair_conf c = fair();
    struct host_ops ops = host_policy_balance;
    struct world *w;

    ops.select = select_first;
    for (int hz = 0; hz <= 250; hz += 250) {
        w = world_new(two, world_conf(hz), &ops, &c);
        for (int i = 0; i < 4; i++)
            in_vm(world_add(w, NULL, 0, hog, 1), i / 2, i % 2);
        world_start(w);
        world_run(w, NS_MS);
        cr_assert_eq(w->h->pcpu[0].nr_ready, 3);
        world_run(w, 600 * NS_MS);
        for (int t = 0; t < 100; t++) {
            world_run(w, w->e->now + 3 * NS_MS);
            cr_assert(w->script[0].v->pcpu != w->script[1].v->pcpu, "HZ %d", hz);
            cr_assert(w->script[2].v->pcpu != w->script[3].v->pcpu, "HZ %d", hz);
        }
        world_free(w);
    }
}

/* Instants at which two siblings are on one pCPU: three VMs of four vCPUs on four pCPUs, so that there
 * is always another one. */
static int together(const struct host_ops *ops, int64_t hz, const void *params)
{
    static const struct topology_conf four = {1, 1, 2, 2, 1};
    static const struct step step[] = {{3 * NS_MS, 2 * NS_MS},       {700 * NS_US, 400 * NS_US},
                                       {9100 * NS_US, 1300 * NS_US}, {200 * NS_US, 5 * NS_MS},
                                       {5 * NS_MS, 100 * NS_US},     {NS_MS, 20 * NS_MS}};
    struct world *w = world_new(four, world_conf(hz), ops, params);
    int n = 0;

    for (int i = 0; i < 12; i++)
        world_add(w, NULL, i * 300 * NS_US, &step[i % 3], i % 4 + 1);
    world_start(w);
    for (int t = 1; t <= 4000; t++) {
        world_run(w, t * 250 * NS_US);
        for (int i = 0; i < 12; i++)
            for (int k = i + 1; k < 12; k++) {
                const struct vcpu *a = w->script[i].v, *b = w->script[k].v;

                n += a->vm == b->vm && a->state != VCPU_BLOCKED && b->state != VCPU_BLOCKED &&
                     a->pcpu == b->pcpu;
            }
    }
    world_free(w);
    return n;
}

Test(host_rivals, balance_never_queues_siblings_together)
{
    const struct fair_conf c = fair();

    for (int hz = 0; hz <= 250; hz += 250) {
        cr_assert(together(&host_policy_cfs, hz, &c) > 100);
        cr_assert_eq(together(&host_policy_balance, hz, &c), 0);
    }
}

Test(host_rivals, cluster_fills_a_group_before_the_next)
{
    /* Two nodes of two groups of two pCPUs. */
    static const struct topology_conf shape = {1, 2, 2, 2, 1};
    const struct fair_conf c = fair();
    struct world *w = world_new(shape, world_conf(0), &host_policy_cluster, &c);
    static const int want[] = {0, 1, 2, 4, 5, 6, 3};

    /* A and B fill the first group; C, one of three, needs two groups: the free node; G is alone in
     * the group that is left. They wake in turn, C last. */
    in_vm(world_add(w, NULL, 0, hog, 1), 0, 0);
    in_vm(world_add(w, NULL, 0, hog, 1), 0, 1);
    in_vm(world_add(w, NULL, 10 * NS_US, hog, 1), 1, 0);
    for (int i = 0; i < 3; i++)
        in_vm(world_add(w, NULL, 20 * NS_US, hog, 1), 2, i);
    in_vm(world_add(w, NULL, 30 * NS_US, hog, 1), 3, 0);
    world_start(w);
    world_run(w, 300 * NS_MS);
    for (int i = 0; i < w->n; i++)
        cr_assert_eq(w->script[i].v->pcpu, want[i], "%c on pcpu %d", 'A' + i, w->script[i].v->pcpu);
    /* Other groups have an idle pCPU each: nobody is spread for that. */
    cr_assert_eq(w->moved, 0);
    world_free(w);
}

Test(host_rivals, cluster_comes_home_and_leaves_only_a_full_home)
{
    /* Two groups of two pCPUs. */
    static const struct topology_conf shape = {1, 1, 2, 2, 1};
    static const struct step once[] = {{10 * NS_MS, NS_NEVER}};
    static const struct step nap[] = {{20 * NS_MS, 5 * NS_MS}, {NS_NEVER, NS_NEVER}};
    const struct fair_conf c = fair();
    struct cpumask *one = cpumask_new(4);
    struct world *w;
    struct vcpu *d;

    /* VM 0 (A, D) is at home in group 0: B and C are pinned to its pCPUs 1 and 0, three that never
     * wake to the other group. D, the last to come, finds no pCPU at home: 2 is idle. Asleep from 20
     * to 25 ms, it then finds one at home. */
    struct cpumask *zero = cpumask_new(4), *three = cpumask_new(4);

    cpumask_set(zero, 0);
    cpumask_set(one, 1);
    cpumask_set(three, 3);
    w = world_new(shape, world_conf(0), &host_policy_cluster, &c);
    in_vm(world_add(w, NULL, 0, once, 1), 0, 0);
    in_vm(world_add(w, one, 0, hog, 1), 1, 0);
    in_vm(world_add(w, zero, NS_US, once, 1), 2, 0);
    d = in_vm(world_add(w, NULL, 2 * NS_US, nap, 2), 0, 1);
    for (int i = 0; i < 3; i++)
        in_vm(world_add(w, three, NS_NEVER, hog, 1), 3, i);
    world_start(w);
    world_run(w, NS_MS);
    cr_assert(d->pcpu >= 2 && d->steal == 0, "pcpu %d", d->pcpu);
    world_run(w, 24 * NS_MS);
    cr_assert_eq(d->state, VCPU_BLOCKED);
    world_run(w, 100 * NS_MS);
    cr_assert_eq(d->pcpu, 0);
    cr_assert_eq(d->steal, 0);
    world_free(w);
    cpumask_free(zero);
    cpumask_free(one);
    cpumask_free(three);
}
