/* SPDX-License-Identifier: MIT */
/*
 * Balance scheduling (EuroSys'11): completely fair scheduling with one rule more. No two vCPUs of a
 * VM are in one pCPU's run queue, running one included, as long as one of them may use a pCPU
 * without a sibling. Nothing is run at the same time on purpose; siblings merely do not wait for
 * each other.
 *
 * The rule holds where a vCPU wakes (select), for whatever the core's balancing moves (admits), and
 * periodically for pairs that came together when there was no other pCPU (balance). BLOCKED
 * siblings are in no run queue and do not count (assumed). Costs: a queue is looked at, not the
 * machine; each pCPU that is refused holds a sibling, so a search looks at no more of them than the
 * VM has vCPUs.
 */
#include "host/fair_order.h"

static int balance_init(struct hyp *h)
{
    return fair_order_init(h, FAIR_CFS);
}

static bool has_sibling(const struct pcpu *p, const struct vcpu *v)
{
    if (p->curr && p->curr != v && p->curr->vm == v->vm)
        return true;
    for (const struct runq_node *n = p->ready.first; n; n = n->next)
        if (n->vcpu != v && n->vcpu->vm == v->vm)
            return true;
    return false;
}

/* The idle pCPU nearest to `from`, which holds nobody; else the next one by number whose queue is
 * without siblings. -1: none. */
static int without_sibling(const struct hyp *h, const struct vcpu *v, int from)
{
    const struct host *host = h->host;
    int p = from;

    for (int level = LEVEL_CORE; level < LEVEL_COUNT; level++) {
        const int unit = host->topo->of[level][from];
        const int to =
            topology_find(host->topo, (enum level)level, unit, host->idle, v->allowed, from);

        if (to >= 0)
            return to;
    }
    for (int i = 0; i < v->allowed->count; i++) {
        p = cpumask_next(v->allowed, p + 1);
        if (p < 0)
            p = cpumask_next(v->allowed, 0);
        if (!has_sibling(&host->pcpu[p], v))
            return p;
    }
    return -1;
}

static int balance_select(struct hyp *h, struct vcpu *v, int prev, enum wake_why why)
{
    const int usual = hyp_select_default(h, v, prev);
    int other = -1;

    (void)why;
    if (v->allowed->count > 1 && has_sibling(&h->host->pcpu[usual], v))
        other = without_sibling(h, v, usual);
    return other >= 0 ? other : usual;
}

static bool balance_admits(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    (void)h;
    return !has_sibling(p, v);
}

/* One pair a time is parted, whatever that does to the lengths of queues: the core evens them. */
static void part_siblings(struct hyp *h, struct pcpu *p)
{
    for (const struct runq_node *n = p->ready.first; n; n = n->next) {
        struct vcpu *v = n->vcpu;
        int to;

        if (v->allowed->count == 1 || !has_sibling(p, v))
            continue;
        to = without_sibling(h, v, p->id);
        if (to >= 0) {
            (void)host_migrate(h->host, v, to, ENQUEUE_MIGRATE);
            return;
        }
    }
}

static void balance_balance(struct hyp *h, struct pcpu *p, enum balance_why why)
{
    if (why == BALANCE_PERIODIC)
        part_siblings(h, p);
    hyp_balance_default(h, p, why);
}

const struct host_ops host_policy_balance = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "balance",
            .summary = "cfs with siblings in different run queues (EuroSys'11)",
            .params = fair_cfs_params,
            .params_size = sizeof(struct fair_conf),
            .scale = fair_order_scale,
            .cpu_size = sizeof(struct fair_order_cpu),
            .unit_size = sizeof(struct fair_order_unit),
        },
    .init = balance_init,
    .fini = fair_order_fini,
    .vcpu_init = fair_order_vcpu_init,
    .select = balance_select,
    .enqueue = fair_order_enqueue,
    .dequeue = fair_order_dequeue,
    .pick = fair_order_pick,
    .slice = fair_order_slice,
    .tick = fair_order_tick,
    .preempts = fair_order_preempts,
    .stopping = fair_order_stopping,
    .yield = fair_order_yield,
    .boost = fair_order_boost,
    .balance = balance_balance,
    .admits = balance_admits,
};
