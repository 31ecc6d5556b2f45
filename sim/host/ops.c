/* SPDX-License-Identifier: MIT */
/*
 * The policy's side of the contract: the check of its table, what it may call, its timers, and what
 * cross/ passes on to it.
 */
#include "host/ops.h"

#include <stdio.h>
#include <stdlib.h>

struct policy_timer {
    struct event event;
    struct hyp *hyp;
    uint64_t cookie;
};

/* Which of the three operations of an ordering is there and which is missing; NULL when all or
 * none. */
static const char *ordering_fault(const struct host_ops *o, const char **missing)
{
    const char *const name[] = {"enqueue", "dequeue", "pick"};
    const bool has[] = {o->enqueue != NULL, o->dequeue != NULL, o->pick != NULL};
    const char *present = NULL;

    *missing = NULL;
    for (int i = 0; i < 3; i++) {
        if (has[i] && !present)
            present = name[i];
        if (!has[i] && !*missing)
            *missing = name[i];
    }
    return *missing ? present : NULL;
}

const char *host_ops_check(const struct host_ops *o, char buf[160])
{
    const struct policy_head *d = &o->head;
    const char *present, *missing;

    if (d->abi != TANDEM_POLICY_ABI) {
        /* Nothing else in a table of another version can be trusted. */
        snprintf(buf, 160, "host policy made for contract version %u, this is version %u", d->abi,
                 (unsigned)TANDEM_POLICY_ABI);
        return buf;
    }
    if (!d->name || !d->name[0])
        return "host policy without a name";
    present = ordering_fault(o, &missing);
    if (present)
        snprintf(buf, 160, "%s: %s without %s", d->name, present, missing);
    else if (o->idles && !o->pick)
        snprintf(buf, 160, "%s: idles without pick", d->name);
    else if (d->params && d->params_size == 0)
        snprintf(buf, 160, "%s: params without params_size", d->name);
    else if (!d->params && d->params_size > 0)
        snprintf(buf, 160, "%s: params_size without params", d->name);
    else
        return NULL;
    return buf;
}

ns_t hyp_now(const struct hyp *h)
{
    return h->host->engine->now;
}

struct rng *hyp_rng(struct hyp *h)
{
    return &h->host->rng;
}

void hyp_count(struct hyp *h, const char *name)
{
    HOOK(h->host, count, name);
}

void hyp_timer(struct hyp *h, int slot, ns_t at, uint64_t cookie)
{
    struct policy_timer *t;

    if (slot < 0 || slot >= POLICY_TIMERS)
        crash_policy(h->label, "timer", "host", "timer slot %d of %d", slot, POLICY_TIMERS);
    if (at < h->host->engine->now)
        crash_policy(h->label, "timer", "host", "timer armed for the past");
    t = &h->host->timers[slot];
    t->cookie = cookie;
    engine_arm(h->host->engine, &t->event, at);
}

static void on_timer(struct engine *e, struct event *ev)
{
    struct policy_timer *t = container_of(ev, struct policy_timer, event);

    (void)e;
    ops_timer(t->hyp, t->cookie);
}

bool timers_init(struct host *h)
{
    h->timers = calloc(POLICY_TIMERS, sizeof(*h->timers));
    if (!h->timers)
        return false;
    for (int i = 0; i < POLICY_TIMERS; i++) {
        h->timers[i].hyp = h->policy;
        event_init(&h->timers[i].event, PHASE_TIMER, host_tag(TAG_POLICY, i), on_timer);
    }
    return true;
}

void timers_free(struct host *h)
{
    for (int i = 0; h->timers && i < POLICY_TIMERS; i++)
        engine_cancel(h->engine, &h->timers[i].event);
    free(h->timers);
}

void host_idle_class(struct host *h, struct vcpu *v, bool stable)
{
    ops_idle_class(h->policy, v, stable);
}

void host_channel_read(struct host *h, struct vcpu *v, const struct guest_row *row)
{
    ops_channel_read(h->policy, v, row);
}

int host_channel_hint(struct host *h, struct vcpu *v)
{
    return ops_channel_hint(h->policy, v);
}

void hyp_push(struct hyp *h, struct vcpu *v, int to)
{
    if (v->state != VCPU_RUNNING || !vcpu_may_use(v, to))
        return;
    v->push_to = to;
    host_resched(h->host, &h->host->pcpu[v->pcpu], STOP_MIGRATE);
}
