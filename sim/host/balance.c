/* SPDX-License-Identifier: MIT */
/*
 * When balancing happens: periodically on busy pCPUs, before a pCPU goes idle, and on an idle pCPU
 * on behalf of a busy one that has too much. How much moves is pull.c's affair.
 *
 * Always true: an idle pCPU has no event; every pass costs a walk along the domains of one pCPU,
 * not along the machine.
 */
#include "host/domain.h"
#include "host/ops.h"
#include "host/pull.h"

#define BUSY_FACTOR 16

static ns_t interval(const struct host *h, const struct host_lb *s, bool busy)
{
    const ns_t tick = h->conf.tick_hz > 0 ? NS_SEC / h->conf.tick_hz : 4 * NS_MS;
    const ns_t limit = 100 * NS_MS * h->npcpus;
    ns_t t = s->interval;

    /* The tick less keeps busy domains of several levels from always meeting. */
    if (busy)
        t = t * BUSY_FACTOR - tick;
    if (t > limit)
        t = limit;
    return t > NS_MS ? t : NS_MS;
}

/* For a group, its first idle pCPU balances, or its first one. */
static bool is_balancer(const struct host *h, const struct pcpu *p, int depth)
{
    const enum level level = h->lb->at[depth - 1].level;
    const int unit = h->topo->of[level][p->id];
    int first;

    if (depth == 1)
        return true;
    first = topology_find(h->topo, level, unit, h->idle, h->usable, -1);
    if (first < 0)
        first = topology_find(h->topo, level, unit, h->usable, h->usable, -1);
    return first == p->id;
}

static void balance_due(struct host *h, struct pcpu *p)
{
    const ns_t now = h->engine->now;

    for (int depth = 1; depth <= h->lb->depths; depth++) {
        struct host_lb *s = &p->lb[depth - 1];
        const bool busy = pcpu_load(p) > 0;

        if (now - s->last < interval(h, s, busy))
            continue;
        s->last = now;
        if (is_balancer(h, p, depth))
            h->periodic_pulls += (uint64_t)lb_pull(h, p, depth, busy ? LB_BUSY : LB_IDLE);
    }
}

static void balance_newidle(struct host *h, struct pcpu *p)
{
    for (int depth = 1; depth <= h->lb->depths && p->nr_ready == 0; depth++)
        h->newidle_pulls += (uint64_t)lb_pull(h, p, depth, LB_NEWIDLE);
}

void lb_balance(struct host *h, struct pcpu *p, enum balance_why why)
{
    if (why == BALANCE_NEWIDLE)
        balance_newidle(h, p);
    else
        balance_due(h, p);
}

void hyp_balance_default(struct hyp *hyp, struct pcpu *p, enum balance_why why)
{
    if (hyp->host->lb)
        lb_balance(hyp->host, p, why);
}

bool lb_newidle_worth(const struct host *h, const struct pcpu *p)
{
    return h->lb && h->lb->at[h->lb->depths].unit[0].pull > 0 && cpumask_test(h->usable, p->id) &&
           p->avg_idle >= h->conf.newidle_min_idle;
}

/* Its core siblings are busy too, and it could go elsewhere. */
static bool crowded(const struct host *h, const struct pcpu *p)
{
    return h->lb->at[1].level == LEVEL_CORE && p->curr && p->curr->allowed->count > 1 &&
           h->lb->at[1].unit[lb_unit_of(h, 1, p->id)].nr > 1;
}

void lb_kick(struct host *h, struct pcpu *p)
{
    const struct lb_tree *t = h->lb;
    int to = -1;

    if (t->at[t->depths].unit[0].idle == 0)
        return;
    if (t->at[0].unit[p->id].pull == 0 && !crowded(h, p))
        return;
    for (int depth = 1; depth <= t->depths && to < 0; depth++)
        if (t->at[depth].unit[lb_unit_of(h, depth, p->id)].idle > 0)
            to = topology_find(h->topo, t->at[depth].level, lb_unit_of(h, depth, p->id), h->idle,
                               h->usable, -1);
    if (to >= 0)
        ops_balance(h->policy, &h->pcpu[to], BALANCE_PERIODIC);
}

static ns_t next_time(const struct host *h, const struct pcpu *p)
{
    ns_t due = NS_NEVER;

    for (int depth = 1; depth <= h->lb->depths; depth++) {
        const struct host_lb *s = &p->lb[depth - 1];
        const ns_t at = s->last + interval(h, s, true);

        if (at < due)
            due = at;
    }
    /* Without a tick this event also does the tick's kick. */
    if (due <= h->engine->now || (h->conf.tick_hz == 0 && h->lb->at[0].unit[p->id].pull > 0))
        return slice_tick_after(h, p, h->engine->now);
    return slice_tick_after(h, p, due - 1);
}

void lb_busy(struct host *h, struct pcpu *p)
{
    if (!event_armed(&p->balance))
        engine_arm(h->engine, &p->balance, next_time(h, p));
}

void lb_pullable(struct host *h, struct pcpu *p)
{
    ns_t at;

    if (!event_armed(&p->balance) || h->conf.tick_hz > 0)
        return;
    at = slice_tick_after(h, p, h->engine->now);
    if (at < p->balance.time)
        engine_arm(h->engine, &p->balance, at);
}

static void on_balance(struct engine *e, struct event *ev)
{
    struct pcpu *p = container_of(ev, struct pcpu, balance);
    struct host *h = p->host;

    if (!p->curr)
        return;
    ops_balance(h->policy, p, BALANCE_PERIODIC);
    if (h->conf.tick_hz == 0)
        lb_kick(h, p);
    engine_arm(e, ev, next_time(h, p));
}

void lb_event_init(struct pcpu *p)
{
    event_init(&p->balance, PHASE_BALANCE, host_tag(TAG_BALANCE, p->id), on_balance);
}
