/* SPDX-License-Identifier: MIT */
/*
 * Decisions: which vCPU a pCPU runs next.
 *
 * Always true: a pCPU decides at most once per round of deferred calls, after all events of the
 * instant; until then the vCPU that ran stays RUNNING. The policy orders and picks before anything
 * visible happens, so a decision that keeps the vCPU is no switch. What a policy picks is checked
 * here: it must be the vCPU that ran, or READY on this pCPU.
 */
#include <inttypes.h>

#include "host/internal.h"
#include "host/ops.h"

void host_resched(struct host *h, struct pcpu *p, enum stop_why why)
{
    if (!p->need_resched) {
        p->need_resched = true;
        p->resched_why = why;
    }
    engine_defer(h->engine, &p->dispatch);
}

static const char *fault(const struct host *h, const struct pcpu *p, const struct vcpu *v,
                         const struct vcpu *prev)
{
    if (v->id < 0 || v->id >= h->nvcpus || h->vcpu[v->id] != v)
        return "is no vCPU of this host";
    if (v == prev)
        return NULL;
    if (v->state == VCPU_BLOCKED)
        return "is blocked";
    if (v->state == VCPU_RUNNING)
        return "is running";
    return v->pcpu == p->id ? NULL : "is queued on another pCPU";
}

static struct host_pick pick(struct host *h, struct pcpu *p, struct vcpu *prev)
{
    const struct host_pick k = ops_pick(h->policy, p, prev);
    const int ready = p->nr_ready + (prev ? 1 : 0);
    const char *wrong;

    if (!k.vcpu) {
        if (ready == 0)
            return k;
        if (!h->policy->ops->idles)
            crash_policy(h->policy->label, "pick", pcpu_name(p),
                         "picked nothing while %d vCPUs are ready; was one of them forgotten?",
                         ready);
        h->idle_while_ready++;
        HOOK(h, count, "host_idle_while_ready");
        return k;
    }
    wrong = fault(h, p, k.vcpu, prev);
    if (wrong)
        crash_policy(h->policy->label, "pick", pcpu_name(p), "picked %s, which %s (pcpu %d)",
                     vcpu_name(k.vcpu), wrong, k.vcpu->pcpu);
    if (k.slice <= 0)
        crash_policy(h->policy->label, "pick", vcpu_name(k.vcpu), "gave a slice of %" PRId64 " ns",
                     k.slice);
    return k;
}

static struct host_pick decide(struct host *h, struct pcpu *p, struct vcpu *prev)
{
    struct host_pick k = pick(h, p, prev);

    if (!k.vcpu && !prev && p->nr_ready == 0 && lb_newidle_worth(h, p)) {
        ops_balance(h->policy, p, BALANCE_NEWIDLE);
        if (p->nr_ready > 0)
            k = pick(h, p, NULL);
    }
    return k;
}

void dispatch_done(struct host *h, struct pcpu *p)
{
    p->deciding = false;
    if (!p->arrivals)
        return;
    p->arrivals = false;
    if (p->curr)
        slice_refresh(h, p);
    else if (p->nr_ready > 0)
        host_resched(h, p, STOP_PREEMPT);
}

static void go_idle(struct host *h, struct pcpu *p)
{
    const bool told = p->told_idle;

    if (!told)
        p->idle_since = h->engine->now;
    p->told_idle = true;
    dispatch_done(h, p);
    if (!told)
        HOOK(h, idle, p);
}

/* Average idle time as Linux keeps it: 1/8 of each new spell, at most twice the migration cost. */
static void idle_ended(struct host *h, struct pcpu *p)
{
    const ns_t limit = 2 * h->conf.migration_cost;

    p->avg_idle += (h->engine->now - p->idle_since - p->avg_idle) / 8;
    if (p->avg_idle > limit)
        p->avg_idle = limit;
}

static void go_on(struct host *h, struct pcpu *p, struct host_pick k)
{
    const bool was_idle = p->told_idle;
    const int from = k.vcpu->last_pcpu;
    const bool moved = from >= 0 && from != p->id;

    if (was_idle)
        idle_ended(h, p);
    vcpu_switch_in(h, p, k.vcpu);
    ops_running(h->policy, p, k.vcpu);
    slice_start(h, p, k);
    if (h->lb)
        lb_busy(h, p);
    dispatch_done(h, p);
    HOOK(h, entered, p, k.vcpu, moved, from);
}

static void renew(struct host *h, struct pcpu *p, struct host_pick k)
{
    ops_running(h->policy, p, k.vcpu);
    slice_start(h, p, k);
    dispatch_done(h, p);
    if (k.exact)
        HOOK(h, renewed, p, k.vcpu);
}

/* A policy asked for it, and the place is still free. */
static bool pushed(struct host *h, struct pcpu *p, struct vcpu *v)
{
    const int to = v->push_to;

    v->push_to = -1;
    if (to == p->id || !vcpu_may_use(v, to) || pcpu_load(&h->pcpu[to]) > 0)
        return false;
    vcpu_push(h, p, &h->pcpu[to]);
    return true;
}

static void dispatch(struct engine *e, struct deferred *d)
{
    struct pcpu *p = container_of(d, struct pcpu, dispatch);
    struct host *h = p->host;
    struct vcpu *prev = p->curr;
    const enum stop_why why = p->resched_why;
    struct host_pick k;

    (void)e;
    p->need_resched = false;
    if (prev && prev->push_to >= 0 && pushed(h, p, prev))
        return; /* p decides once more, without it */
    if (prev && prev->home >= 0 && prev->home != p->id) {
        vcpu_push(h, p, &h->pcpu[prev->home]); /* p decides once more, without it */
        return;
    }
    p->deciding = true;
    if (prev) {
        vcpu_tell_stopping(h, p, prev, why);
        ops_enqueue(h->policy, p, prev, ENQUEUE_REQUEUE);
    }
    k = decide(h, p, prev);
    if (prev && k.vcpu == prev) {
        renew(h, p, k);
        return;
    }
    if (prev) {
        HOOK(h, leaving, p, prev, why);
        vcpu_switch_out(h, p, VCPU_READY, why, true);
    }
    if (k.vcpu)
        go_on(h, p, k);
    else
        go_idle(h, p);
}

void dispatch_init(struct pcpu *p)
{
    p->dispatch.fn = dispatch;
}
