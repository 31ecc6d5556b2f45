/* SPDX-License-Identifier: MIT */
/* What the host tells: entries and exits of vCPUs, ticks, empty pCPUs. */
#include "cross/world.h"
#include "engine/check.h"
#include "host/host_ops.h"

/* Flat prices, where the machine does not say what its caches hold. */
static ns_t refill(const struct world *w, int from, int to)
{
    if (distance_caches(w->costs))
        return 0;
    switch (topology_distance(w->topo, from, to)) {
    case LEVEL_THREAD:
        return 0;
    case LEVEL_CORE:
        return w->costs->refill_core;
    case LEVEL_GROUP:
        return w->costs->refill_group;
    case LEVEL_NODE:
        return w->costs->refill_node;
    case LEVEL_SOCKET:
        return w->costs->refill_socket;
    case LEVEL_MACHINE:
    case LEVEL_COUNT:
        break;
    }
    return w->costs->refill_machine;
}

/* An empty pCPU gets a vCPU: leaves its C-state. What that takes. */
static ns_t wake_pcpu(struct xpcpu *p)
{
    ns_t latency = 0;

    if (p->idle_since < 0)
        return 0;
    xpcpu_flush(p);
    if (p->cstate >= 0 && p->owed == 0) /* else it is awake, working for the hypervisor */
        latency = p->world->conf.cstate[p->cstate].exit_latency;
    p->idle_since = -1;
    return latency;
}

static bool same_row(const struct guest_row *a, const struct guest_row *b)
{
    return a->stamp == b->stamp && a->nr_runnable == b->nr_runnable && a->need == b->need &&
           a->idle == b->idle && a->tag == b->tag;
}

/* The host looks at the guest's row, if its policy cares. A row may be written twice in an instant. */
static void read_row(struct xvcpu *x)
{
    struct host *h = x->world->host;
    struct guest_row row;

    if (!x->vm->channel || !h->policy->ops->channel_read)
        return;
    row = channel_read_guest(x->vm->channel, x->g->id);
    if (same_row(&row, &x->row_seen))
        return;
    x->row_seen = row;
    host_channel_read(h, x->v, &row);
}

/* At its switches and ticks the host looks at the guest's row and sets its hint. */
static void exchange(struct xvcpu *x)
{
    struct host *h = x->world->host;

    read_row(x);
    if (x->vm->channel && h->policy->ops->channel_hint)
        channel_publish_hint(x->vm->channel, x->g->id, host_channel_hint(h, x->v));
}

/* A gathered vCPU that turned active runs on a pCPU of its own. */
static void split_done(struct xvcpu *x)
{
    if (x->split_seen == x->v->splits)
        return;
    x->split_seen = x->v->splits;
    if (x->active_since >= 0)
        hist_add(&x->vm->split, x->world->engine->now - x->active_since);
    x->active_since = -1;
}

/* The current task comes along to another pCPU; the others see it when they run. */
static void find_cold(struct xvcpu *x)
{
    struct task *t = x->g->curr;
    ns_t cold;

    if (!t || !distance_caches(x->world->costs))
        return;
    cold = distance_refill(x, t);
    t->cold = cold > t->cold ? cold : t->cold;
}

static void entered(void *arg, struct pcpu *p, struct vcpu *v, bool moved, int from)
{
    struct world *w = arg;
    struct xvcpu *x = v->owner;
    struct xpcpu *xp = &w->pcpu[p->id];
    const struct costs *c = w->costs;
    ns_t hyp = wake_pcpu(xp), stolen;

    hyp += xp->owed + c->host_switch + c->entry + c->steal_write;

    xp->owed = 0;
    x->in_spin = false;
    xvcpu_flush(x);
    xvcpu_recount(x);
    x->g->pcpu_acct = &xp->acct;
    if (x->pending_irq) {
        hyp += c->inject;
        x->pending_irq = false;
    }
    if (w->channel_used)
        hyp += c->publish + (moved ? c->remap : 0);
    xpcpu_set_hot(xp, true);
    publish_pcpu(xp);
    publish_entry(x, moved || from < 0);
    exchange(x);
    gcpu_charge(x->g, hyp, moved && from >= 0 ? refill(w, from, p->id) : 0);
    if (moved)
        find_cold(x);
    watch_group_ran(x);
    split_done(x);
    x->work_at_entry = x->g->acct.term[TERM_WORK];
    stolen = v->steal - x->steal_at_entry;
    x->steal_at_entry = v->steal;
    gcpu_resume(x->g, xpcpu_speed(xp), stolen);
}

static void deciding(void *arg, struct pcpu *p, struct vcpu *v)
{
    (void)arg;
    (void)p;
    read_row(v->owner);
}

static void leaving(void *arg, struct pcpu *p, struct vcpu *v, enum stop_why why)
{
    struct world *w = arg;
    struct xvcpu *x = v->owner;
    const ns_t now = w->engine->now;
    const bool in_host = idle_in_host(x);
    const ns_t out = why != STOP_BLOCK ? idle_hold_exit(x) : 0;

    gcpu_pause(x->g);
    x->in_spin = x->in_spin && why == STOP_SPIN;
    /* What the hypervisor has not finished here delays whoever comes next. */
    w->pcpu[p->id].owed += x->g->hyp + out;
    x->g->hyp = 0;
    if (x->planned && x->committed && why != STOP_BLOCK) {
        idle_keep_flush(x);
        idle_keep_ends(x);
        x->committed = false;
    }
    /* Idle and pause exits were paid by who made them, a tick by the tick. */
    if (why != STOP_BLOCK && why != STOP_SPIN && x->ticked_at != now && !in_host &&
        !(why == STOP_YIELD && x->planned && x->plan.yields)) {
        w->pcpu[p->id].owed += w->costs->exit;
        count_exit(x, EXIT_PREEMPT);
    }
    x->off_since = now;
}

/* A tick has paid already. */
static void renewed(void *arg, struct pcpu *p, struct vcpu *v)
{
    struct world *w = arg;
    struct xvcpu *x = v->owner;

    (void)p;
    if (x->ticked_at == w->engine->now)
        return;
    count_exit(x, EXIT_PREEMPT);
    gcpu_charge(x->g, w->costs->exit + w->costs->entry, 0);
}

static void left(void *arg, struct pcpu *p, struct vcpu *v)
{
    struct world *w = arg;
    struct xvcpu *x = v->owner;

    xvcpu_off_term(x);
    xvcpu_recount(x);
    if (x->vm->channel)
        channel_publish_vcpu(x->vm->channel, x->g->id, false, v->state == VCPU_READY);
    publish_pcpu(&w->pcpu[p->id]);
}

/* The deepest whose residency its usual idle spell reaches, and the time to the next look: the host
 * knows its own timers. */
void xpcpu_choose_cstate(struct xpcpu *p)
{
    const struct world_conf *c = &p->world->conf;
    const ns_t now = p->world->engine->now;
    ns_t spell = p->avg_idle;

    for (const struct xvcpu *x = p->looked; x; x = x->look_next)
        if (x->until.time - now - p->owed < spell)
            spell = x->until.time - now - p->owed;
    p->cstate = c->host_ncstates > 0 ? 0 : -1;
    for (int i = 1; i < c->host_ncstates; i++)
        if (c->cstate[i].residency <= spell)
            p->cstate = i;
}

static void pcpu_idle(void *arg, struct pcpu *p)
{
    struct world *w = arg;
    struct xpcpu *xp = &w->pcpu[p->id];

    if (xp->idle_since >= 0)
        return;
    xp->idle_since = w->engine->now;
    xp->avg_idle = p->avg_idle;
    xpcpu_choose_cstate(xp);
    xpcpu_set_hot(xp, false);
    publish_pcpu(xp);
}

static void tick(void *arg, struct pcpu *p, struct vcpu *v)
{
    struct world *w = arg;
    struct xvcpu *x = v->owner;
    struct xpcpu *xp = &w->pcpu[p->id];

    if (idle_in_host(x))
        host_entry(xp);
    else
        count_exit(x, EXIT_PREEMPT);
    x->ticked_at = w->engine->now;
    gcpu_charge(x->g, idle_hold_exit(x), 0);
    gcpu_charge(x->g, w->costs->host_tick + (w->channel_used ? w->costs->publish : 0), 0);
    publish_pcpu(xp);
    exchange(x);
}

/* Its wait is noticed. */
static void end_unseen(struct xvcpu *x)
{
    if (x->unseen_since >= 0)
        hist_add(&x->vm->unseen, x->world->engine->now - x->unseen_since);
    x->unseen_since = -1;
}

static void queued(void *arg, struct pcpu *p, struct vcpu *v)
{
    struct xvcpu *x = v->owner, *curr;

    (void)arg;
    end_unseen(x);
    if (x->g->halted)
        gcpu_unhalt(x->g);
    xvcpu_flush(x);
    xvcpu_off_term(x);
    xvcpu_recount(x);
    curr = p->curr ? p->curr->owner : NULL;
    if (curr && curr != x)
        idle_rival(curr);
}

static ns_t guest_time(void *arg, const struct vcpu *v)
{
    const struct xvcpu *x = v->owner;

    (void)arg;
    gcpu_settle(x->g);
    return x->g->acct.term[TERM_WORK] - x->work_at_entry;
}

/* It waits on another pCPU from now on: other entries scan for it. */
static void rehomed(void *arg, struct vcpu *v)
{
    struct xvcpu *x = v->owner;

    (void)arg;
    watch_moved(x);
}

static void count(void *arg, const char *name)
{
    world_count(arg, name);
}

const struct host_hooks cross_host_hooks = {
    .entered = entered,
    .deciding = deciding,
    .leaving = leaving,
    .left = left,
    .renewed = renewed,
    .idle = pcpu_idle,
    .tick = tick,
    .queued = queued,
    .guest_time = guest_time,
    .count = count,
    .rehomed = rehomed,
};
