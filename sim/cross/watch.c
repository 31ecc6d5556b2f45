/* SPDX-License-Identifier: MIT */
/*
 * Words that the host watches for vCPUs which gave their pCPU up (WATCH): looks by timer, scans at
 * hypervisor entries, VM-wide wake-ups.
 *
 * Always true: a look or a scan compares values. It sees work, which leaves its mark until the vCPU
 * runs (in a guest whose wakers only pulse the word: while the pulse lasts), and interrupts that
 * wait; it does not see a store of the same value, or a pulse that is over. What was not seen is
 * counted as missed once it is over.
 */
#include <stdlib.h>

#include "cross/world.h"
#include "engine/check.h"
#include "host/host_ops.h"

static const enum level set_level[IDLE_SETS] = {
    [IDLE_SET_PCPU] = LEVEL_THREAD,     [IDLE_SET_CORE] = LEVEL_CORE,
    [IDLE_SET_GROUP] = LEVEL_GROUP,     [IDLE_SET_NODE] = LEVEL_NODE,
    [IDLE_SET_MACHINE] = LEVEL_MACHINE,
};

static int unit_of(const struct xpcpu *p, int set)
{
    return set == IDLE_SET_PCPU ? p->p->id : p->world->topo->of[set_level[set]][p->p->id];
}

int watch_init(struct world *w)
{
    for (int s = 0; s < IDLE_SETS; s++) {
        const int n = s == IDLE_SET_PCPU ? w->topo->npcpus : w->topo->count[set_level[s]];

        w->watch[s] = calloc((size_t)n, sizeof(*w->watch[s]));
        if (!w->watch[s])
            return -1;
    }
    return 0;
}

void watch_free(struct world *w)
{
    for (int s = 0; s < IDLE_SETS; s++)
        free(w->watch[s]);
}

void watch_add(struct xvcpu *x)
{
    struct watch_list *l;

    if (!x->vm->idle.ops->scans || x->watch_in)
        return;
    l = &x->world->watch[x->plan.set][unit_of(xpcpu_of(x), (int)x->plan.set)];
    x->watch_in = l;
    x->watch_next = l->first;
    x->watch_link = &l->first;
    if (l->first)
        l->first->watch_link = &x->watch_next;
    l->first = x;
    l->n++;
    x->world->nwatching++;
}

void watch_remove(struct xvcpu *x)
{
    if (!x->watch_in)
        return;
    *x->watch_link = x->watch_next;
    if (x->watch_next)
        x->watch_next->watch_link = x->watch_link;
    x->watch_in->n--;
    x->world->nwatching--;
    x->watch_in = NULL;
}

void watch_clear(struct xvcpu *x)
{
    if (x->pulse_open && x->planned && x->plan.act == IDLE_WATCH &&
        x->pulse_until <= x->world->engine->now)
        x->waits.missed++;
    x->pulse_open = false;
    x->flag = false;
}

void watch_pulse(struct xvcpu *x, ns_t at, ns_t length)
{
    if (x->pulse_open && x->pulse_until <= x->world->engine->now)
        x->waits.missed++;
    x->pulse_open = true;
    x->pulse_until = at + length;
}

/* Does the word differ from what it was when the wait began? */
static bool differs(const struct xvcpu *x)
{
    if (x->flag || x->pending_irq)
        return true;
    if (x->pulse_open && x->world->engine->now < x->pulse_until)
        return true;
    return gcpu_word_set(x->g) && x->vm->guest->conf.wake_word == WORD_FLAG;
}

ns_t watch_charge(struct xvcpu *x, ns_t cost)
{
    struct xpcpu *p = xpcpu_of(x);
    const struct costs *c = x->world->costs;

    if (p->p->curr) {
        struct xvcpu *curr = p->p->curr->owner;

        cost += c->exit + c->entry;
        gcpu_charge(curr->g, cost, 0);
        count_exit(curr, EXIT_IRQ);
    } else {
        xpcpu_flush(p);
        if (p->owed == 0 && p->idle_since >= 0 && p->cstate >= 0)
            cost += x->world->conf.cstate[p->cstate].exit_latency;
        p->owed += cost;
    }
    return cost;
}

/* -- VM-wide wake-ups -- */

static void group_add(struct xvcpu *x)
{
    if (x->in_group)
        return;
    x->in_group = true;
    x->vm->group_left++;
}

void watch_group_ran(struct xvcpu *x)
{
    struct xvm *vm = x->vm;

    if (!x->in_group)
        return;
    x->in_group = false;
    if (--vm->group_left == 0)
        hist_add(&vm->vm_wake, x->world->engine->now + x->g->hyp - vm->group_since);
}

static bool waits(const struct xvcpu *x)
{
    return x->v->state == VCPU_BLOCKED && x->planned && x->plan.act == IDLE_WATCH;
}

static void mark_one(struct xvcpu *x, bool boost)
{
    struct host *h = x->world->host;

    x->to_mark = false;
    if (waits(x)) {
        watch_remove(x);
        x->woken = true;
        host_wake(h, x->v, WAKE_GROUP);
    } else if (x->v->state != VCPU_READY) {
        return; /* it has run meanwhile */
    }
    if (boost)
        host_boost(h, x->v);
}

void watch_mark(struct engine *e, struct event *ev)
{
    struct xvm *vm = container_of(ev, struct xvm, mark);
    struct xvcpu *x;

    while (vm->mark_left > 0 && !vm->vcpu[vm->mark_next].to_mark)
        vm->mark_next = (vm->mark_next + 1) % vm->nvcpus;
    x = &vm->vcpu[vm->mark_next];
    mark_one(x, vm->mark_boost);
    if (--vm->mark_left > 0)
        engine_arm(e, ev, e->now + vm->world->costs->wake_mark);
}

/* Marks the VM's other vCPUs one after the other, which keeps the pCPU of `by` busy that long. */
static void wake_vm(struct xvcpu *by, bool boost)
{
    struct xvm *vm = by->vm;
    struct engine *e = by->world->engine;
    const ns_t each = by->world->costs->wake_mark;
    int marked = 0;

    if (vm->group_left == 0)
        vm->group_since = e->now;
    vm->vm_wakes++;
    vm->mark_boost = boost;
    for (int i = 0; i < vm->nvcpus; i++) {
        struct xvcpu *x = &vm->vcpu[i];

        if (x == by || x->to_mark || (!waits(x) && (x->v->state != VCPU_READY || !boost)))
            continue;
        x->to_mark = true;
        group_add(x);
        marked++;
    }
    if (by->v->state == VCPU_READY)
        group_add(by);
    if (marked == 0)
        return;
    if (vm->mark_left == 0) {
        vm->mark_next = by->g->id;
        engine_arm(e, &vm->mark, e->now + each);
    }
    vm->mark_left += marked;
    vm->mark_time += marked * each;
    watch_charge(by, marked * each);
}

static enum idle_wake ask_whom(struct xvcpu *x, enum idle_via via)
{
    struct idle *i = &x->vm->idle;
    enum idle_wake who = WAKE_ONE;

    if (!i->ops->wake)
        return who;
    crash_enter(i->ops->head.name, "wake");
    who = i->ops->wake(i, x->g->id, via);
    crash_leave();
    return who;
}

void idle_wake(struct xvcpu *x, enum idle_via via)
{
    static const enum wake_why why[] = {[VIA_STORE] = WAKE_LOOK,
                                        [VIA_IRQ] = WAKE_IRQ,
                                        [VIA_TIMER] = WAKE_IRQ,
                                        [VIA_LOOK] = WAKE_LOOK,
                                        [VIA_SCAN] = WAKE_LOOK};
    const bool planned = x->planned;
    enum idle_wake who;

    x->via = via;
    x->woken = true;
    if (x->pulse_open && x->pulse_until <= x->world->engine->now)
        x->waits.missed++;
    x->pulse_open = false;
    watch_remove(x);
    who = planned ? ask_whom(x, via) : WAKE_ONE;
    host_wake(x->world->host, x->v, why[via]);
    if (who != WAKE_ONE)
        wake_vm(x, who == WAKE_VM);
}

void watch_self_found(struct xvcpu *x)
{
    const enum idle_wake who = ask_whom(x, VIA_LOOK);

    x->via = VIA_LOOK;
    if (who != WAKE_ONE)
        wake_vm(x, who == WAKE_VM);
}

/* -- looks -- */

/* The next look, counted from the end of this one; no host timer is shorter than its floor. */
static void look_again(struct xvcpu *x, ns_t cost)
{
    const struct world *w = x->world;
    const ns_t now = w->engine->now;

    x->committed_at = now;
    x->planned_at = now;
    if (x->plan.until != NS_NEVER) {
        if (x->plan.until < now + w->costs->timer_floor)
            x->plan.until = now + w->costs->timer_floor;
        x->plan.until += cost;
    }
    engine_arm(w->engine, &x->until, x->plan.until);
}

/* The vCPU is switched in: to look at its word itself, or to wait in another way. */
static void send_in(struct xvcpu *x, bool looks)
{
    x->self_looks = looks;
    x->woken = looks;
    watch_remove(x);
    host_wake(x->world->host, x->v, WAKE_LOOK);
}

void watch_look(struct xvcpu *x)
{
    struct idle_plan plan;
    ns_t cost;

    x->waits.looks++;
    if (x->plan.self_look) {
        send_in(x, true);
        return;
    }
    cost = watch_charge(x, x->world->costs->look);
    if (differs(x)) {
        idle_wake(x, VIA_LOOK);
        return;
    }
    x->waits.looks_empty++;
    idle_tell_use(x);
    plan = idle_expired(x);
    x->plan = plan;
    idle_view(x, plan.view);
    if (plan.act != IDLE_WATCH)
        send_in(x, false);
    else
        look_again(x, cost);
}

/* -- scans -- */

static ns_t scan_list(struct world *w, struct watch_list *l)
{
    struct xvcpu *x, *next;
    int n = 0;

    for (x = l->first; x; x = next) {
        next = x->watch_next;
        n++;
        x->waits.scanned++;
        if (!differs(x))
            continue;
        idle_wake(x, VIA_SCAN);
        if (next && next->watch_in != l)
            next = l->first; /* a VM-wide wake-up took it */
    }
    return n * w->costs->scan_element;
}

/* Never nested: what a scan itself causes is no entry of its own. */
void watch_scan(struct xpcpu *p)
{
    struct world *w = p->world;
    ns_t cost = 0;

    if (w->scanning)
        return;
    w->scanning = true;
    for (int s = 0; s < IDLE_SETS; s++) {
        struct watch_list *l = &w->watch[s][unit_of(p, s)];

        if (l->n > 0)
            cost += scan_list(w, l);
    }
    w->scanning = false;
    if (cost == 0)
        return;
    if (p->p->curr) {
        gcpu_charge(((struct xvcpu *)p->p->curr->owner)->g, cost, 0);
    } else {
        xpcpu_flush(p);
        p->owed += cost;
    }
}
