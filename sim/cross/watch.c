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

static void look_add(struct xvcpu *x)
{
    struct xpcpu *p = xpcpu_of(x);

    x->look_next = p->looked;
    x->look_link = &p->looked;
    if (p->looked)
        p->looked->look_link = &x->look_next;
    p->looked = x;
}

static void look_remove(struct xvcpu *x)
{
    if (!x->look_link)
        return;
    *x->look_link = x->look_next;
    if (x->look_next)
        x->look_next->look_link = x->look_link;
    x->look_link = NULL;
}

static void list_remove(struct xvcpu *x)
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

void watch_remove(struct xvcpu *x)
{
    look_remove(x);
    list_remove(x);
}

void watch_moved(struct xvcpu *x)
{
    if (x->look_link) {
        look_remove(x);
        look_add(x);
    }
    if (x->watch_in) {
        list_remove(x);
        watch_add(x);
    }
}

bool watch_compares(const struct xvcpu *x)
{
    return x->planned && x->plan.act == IDLE_WATCH && !x->plan.monitored;
}

/* A pulse that is over, and was not seen. */
static void count_missed(struct xvcpu *x)
{
    if (x->pulse_open && x->pulse_until <= x->world->engine->now) {
        x->waits.missed++;
        x->pulse_open = false;
    }
}

void watch_clear(struct xvcpu *x)
{
    count_missed(x);
    x->pulse_open = false;
    x->flag = false;
}

void watch_pulse(struct xvcpu *x, ns_t at, ns_t length)
{
    count_missed(x);
    x->pulse_open = true;
    x->pulse_until = at + length;
}

void watch_count_missed(struct world *w)
{
    for (int i = 0; i < w->nvms; i++)
        for (int j = 0; j < w->vm[i].nvcpus; j++)
            count_missed(&w->vm[i].vcpu[j]);
}

/* Does the word differ from what it was when the wait began? */
static bool word_differs(const struct xvcpu *x)
{
    if (x->flag)
        return true;
    if (x->pulse_open && x->world->engine->now < x->pulse_until)
        return true;
    return gcpu_word_set(x->g) && x->vm->guest->conf.wake_word == WORD_FLAG;
}

static bool differs(const struct xvcpu *x)
{
    return x->pending_irq || word_differs(x);
}

/* An interrupt that waited for a look is no satisfied wait. */
static enum idle_via found(const struct xvcpu *x, enum idle_via via)
{
    return word_differs(x) ? via : VIA_IRQ;
}

ns_t xpcpu_work(struct xpcpu *p, ns_t cost)
{
    const struct vcpu *curr = p->p->curr;
    struct xvcpu *x = curr ? curr->owner : NULL;

    if (x && x->g->on) {
        gcpu_charge(x->g, cost, 0);
        return x->g->hyp;
    }
    xpcpu_flush(p);
    if (p->owed == 0 && p->idle_since >= 0 && p->cstate >= 0)
        cost += p->world->conf.cstate[p->cstate].exit_latency;
    p->owed += cost;
    return p->owed;
}

ns_t xpcpu_visit(struct xpcpu *p, ns_t cost)
{
    const struct costs *c = p->world->costs;
    struct xvcpu *x = p->p->curr ? p->p->curr->owner : NULL;
    const bool exits = x && !idle_in_host(x);
    ns_t done;

    if (exits)
        cost += c->exit + c->entry + idle_hold_exit(x);
    done = xpcpu_work(p, cost);
    if (exits)
        count_exit(x, EXIT_IRQ);
    else
        host_entry(p);
    return done;
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
    if (vm->group_end < x->world->engine->now + x->g->hyp)
        vm->group_end = x->world->engine->now + x->g->hyp;
    if (--vm->group_left == 0)
        hist_add(&vm->vm_wake, vm->group_end - vm->group_since);
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
    if (boost && x->vm->mark_by->in_group && x->vm->mark_by->v->pcpu == x->v->pcpu)
        host_boost(h, x->vm->mark_by->v); /* whose wait was satisfied comes before the others */
}

void watch_mark(struct engine *e, struct event *ev)
{
    struct xvm *vm = container_of(ev, struct xvm, mark);
    struct xvcpu *x;

    for (int i = 0; !vm->vcpu[vm->mark_next].to_mark; i++) {
        CHECK(i < vm->nvcpus, "vm%d: %d vCPUs are to be marked, none is known", vm->index,
              vm->mark_left);
        vm->mark_next = (vm->mark_next + 1) % vm->nvcpus;
    }
    x = &vm->vcpu[vm->mark_next];
    mark_one(x, vm->mark_boost);
    if (--vm->mark_left > 0) {
        engine_arm(e, ev, e->now + vm->world->costs->wake_mark);
        return;
    }
    vm->vm_marks++;
    vm->mark_time += e->now - vm->mark_since;
}

/* Marks the VM's other vCPUs one after the other, which keeps the pCPU that noticed busy that long. */
static void wake_vm(struct xvcpu *by, struct xpcpu *at, bool boost)
{
    struct xvm *vm = by->vm;
    struct engine *e = by->world->engine;
    const ns_t each = by->world->costs->wake_mark;
    int marked = 0;
    ns_t done;

    if (vm->group_left == 0)
        vm->group_since = e->now;
    vm->vm_wakes++;
    vm->mark_boost = boost;
    vm->mark_by = by;
    for (int i = 0; i < vm->nvcpus; i++) {
        struct xvcpu *x = &vm->vcpu[i];

        /* Who has been marked and has not run since needs no second mark. */
        if (x == by || x->to_mark || x->in_group ||
            (!waits(x) && (x->v->state != VCPU_READY || !boost)))
            continue;
        x->to_mark = true;
        group_add(x);
        marked++;
    }
    if (by->v->state == VCPU_READY)
        group_add(by);
    if (marked == 0)
        return;
    done = xpcpu_work(at, marked * each);
    if (vm->mark_left == 0) {
        vm->mark_next = by->g->id;
        vm->mark_since = e->now + done - marked * each;
        engine_arm(e, &vm->mark, e->now + done - (marked - 1) * each);
    }
    vm->mark_left += marked;
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
    struct xpcpu *at = x->v->pcpu >= 0 ? xpcpu_of(x) : NULL;
    const bool planned = x->planned;
    enum idle_wake who;

    x->via = via;
    x->woken = true;
    watch_clear(x);
    watch_remove(x);
    who = planned ? ask_whom(x, via) : WAKE_ONE;
    host_wake(x->world->host, x->v, why[via]);
    if (who != WAKE_ONE)
        wake_vm(x, at, who == WAKE_VM);
}

void watch_self_found(struct xvcpu *x)
{
    const enum idle_wake who = ask_whom(x, VIA_LOOK);

    x->via = VIA_LOOK;
    if (who != WAKE_ONE)
        wake_vm(x, xpcpu_of(x), who == WAKE_VM);
}

/* -- looks -- */

void watch_arm(struct xvcpu *x, ns_t from)
{
    const ns_t floor = x->world->costs->timer_floor;
    const ns_t soonest = from + (floor > 0 ? floor : 1);

    if (x->plan.until < soonest)
        x->plan.until = soonest;
    engine_arm(x->world->engine, &x->until, x->plan.until);
    if (x->plan.until != NS_NEVER && !x->look_link)
        look_add(x);
}

/* The next look, counted from the end of this one; no host timer is shorter than its floor. The pCPU
 * goes to sleep again knowing of it. */
static void look_again(struct xvcpu *x, ns_t took)
{
    struct xpcpu *p = xpcpu_of(x);

    x->committed_at = x->world->engine->now + took;
    if (x->plan.until != NS_NEVER)
        x->plan.until += took;
    watch_arm(x, x->committed_at);
    if (!p->p->curr && p->idle_since >= 0)
        xpcpu_choose_cstate(p);
}

/* The vCPU is switched in: to look at its word itself, or to wait in another way. */
static void send_in(struct xvcpu *x, bool looks)
{
    x->committed = x->committed && looks; /* else the plan is not the one that was carried out */
    x->self_looks = looks;
    x->woken = looks;
    x->via = VIA_LOOK;
    watch_remove(x);
    host_wake(x->world->host, x->v, WAKE_LOOK);
}

/* The plan changes while x waits: it may be scanned by others from now on. */
static void next_watch(struct xvcpu *x, struct idle_plan plan)
{
    const bool other_set = x->watch_in && plan.set != x->plan.set;

    if (other_set)
        list_remove(x);
    x->plan = plan;
    if (other_set && plan.act == IDLE_WATCH)
        watch_add(x);
    idle_view(x, plan.view);
}

void watch_look(struct xvcpu *x)
{
    struct idle_plan plan;
    ns_t took;

    x->waits.looks++;
    if (x->plan.self_look) {
        xpcpu_visit(xpcpu_of(x), 0);
        if (x->v->state == VCPU_BLOCKED)
            send_in(x, true);
        return;
    }
    took = xpcpu_visit(xpcpu_of(x), x->world->costs->look);
    if (x->v->state != VCPU_BLOCKED)
        return; /* the same visit has seen and woken it */
    if (differs(x)) {
        idle_wake(x, found(x, VIA_LOOK));
        return;
    }
    x->waits.looks_empty++;
    idle_tell_use(x);
    plan = idle_expired(x);
    next_watch(x, plan);
    if (plan.act != IDLE_WATCH)
        send_in(x, false);
    else
        look_again(x, took);
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
        idle_wake(x, found(x, VIA_SCAN));
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
    if (cost > 0)
        xpcpu_work(p, cost);
}

/* -- spinners with exits: each turn is an entry, and no event is spent on it -- */

const struct xvcpu *watch_trapping(const struct xpcpu *p)
{
    const struct xvcpu *s = p->p->curr ? p->p->curr->owner : NULL;

    return s && s->planned && s->committed && s->plan.act == IDLE_SPIN && s->plan.traps ? s : NULL;
}

static void scan_at(struct xvcpu *x, const struct xvcpu *spinner, ns_t at)
{
    if (event_armed(&x->ipi) && (!x->ipi_is_store || x->ipi.time <= at))
        return;
    x->ipi_is_store = true;
    x->ipi_scans = true;
    x->scan_pcpu = spinner->v->pcpu;
    engine_arm(x->world->engine, &x->ipi, at);
}

void watch_spinners(struct xvcpu *x, ns_t at)
{
    const struct world *w = x->world;
    const struct xpcpu *p = xpcpu_of(x);
    const int set = (int)x->plan.set;
    const struct cpumask *span;
    const struct xvcpu *first = NULL;

    if (!x->watch_in || w->ntrapping == 0)
        return;
    span = w->topo->span[set_level[set]][unit_of(p, set)];
    for (int i = cpumask_next(span, 0); i >= 0; i = cpumask_next(span, i + 1)) {
        const struct xvcpu *s = watch_trapping(&w->pcpu[i]);

        if (s && (!first || idle_turn_end(s, at) < idle_turn_end(first, at)))
            first = s;
    }
    if (first)
        scan_at(x, first, idle_turn_end(first, at));
}

void watch_spinner_begins(struct xvcpu *s)
{
    struct world *w = s->world;

    if (w->nwatching == 0)
        return;
    for (int set = 0; set < IDLE_SETS; set++) {
        struct watch_list *l = &w->watch[set][unit_of(xpcpu_of(s), set)];

        for (struct xvcpu *x = l->first; x; x = x->watch_next)
            if (differs(x))
                scan_at(x, s, idle_turn_end(s, w->engine->now + 1));
    }
}
