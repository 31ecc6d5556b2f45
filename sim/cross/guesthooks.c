/* SPDX-License-Identifier: MIT */
/*
 * What guests ask for: interrupts, IPIs, exits, idleness. Who pays: the waker pays a store or an IPI,
 * the target the way back to its task.
 */
#include "cross/world.h"
#include "engine/check.h"

/* Does x wait for a store to its flag? Then nobody sends it an IPI. */
static bool polls(const struct xvcpu *x)
{
    return x->planned && !x->plan.in_host && x->plan.act != IDLE_BLOCK;
}

/* It runs: the interrupt is taken now. A guest that was woken for nothing looks round and goes idle
 * again. */
static void interrupt_running(struct xvcpu *x, ns_t exit_cost, enum exit_reason why,
                              enum idle_via via)
{
    const bool exits = exit_cost >= 0 && !idle_in_host(x);

    x->via = via;
    /* A store has waited for the C-state already. */
    if (via != VIA_STORE)
        gcpu_charge(x->g, idle_hold_exit(x), 0);
    if (exits) {
        gcpu_charge(x->g, exit_cost, 0);
        count_exit(x, why);
    }
    x->woken = x->planned;
    if (x->planned && x->committed && !gcpu_has_work(x->g))
        gcpu_look_round(x->g);
    else
        gcpu_kick(x->g);
}

/* An interrupt for x is pending: now, at its wake-up, or at its next entry. */
void vcpu_interrupt(struct xvcpu *x, ns_t exit_cost, enum exit_reason why, enum idle_via via)
{
    if (x->g->on) {
        interrupt_running(x, exit_cost, why, via);
        return;
    }
    if (x->v->pcpu >= 0)
        host_entry(xpcpu_of(x)); /* it reaches the pCPU where x waits */
    x->pending_irq = true;
    if (x->v->state == VCPU_BLOCKED && !(x->planned && x->plan.irq_waits))
        idle_wake(x, via);
}

static void irq(void *arg, struct gcpu *g, enum irq_kind kind)
{
    struct world *w = arg;
    struct xvcpu *x = g->owner;
    const struct costs *c = w->costs;

    if (kind == IRQ_DEVICE)
        vcpu_interrupt(x, c->exit + c->inject + c->entry, EXIT_IRQ, VIA_IRQ);
    else
        vcpu_interrupt(x, c->timer_irq, EXIT_TIMER, VIA_TIMER);
}

/* READY, it sees its word when it runs. */
static void store_arrival(struct xvcpu *x)
{
    if (x->g->on && polls(x)) {
        vcpu_interrupt(x, -1, EXIT_IRQ, VIA_STORE);
    } else if (x->g->on) {
        gcpu_kick(x->g);
    } else if (x->v->state == VCPU_BLOCKED && x->ipi_scans) {
        /* If that spin has ended, the exit that ended it has scanned. */
        if (watch_trapping(&x->world->pcpu[x->scan_pcpu]))
            host_entry(&x->world->pcpu[x->scan_pcpu]);
    } else if (x->v->state == VCPU_BLOCKED && !watch_compares(x)) {
        xpcpu_visit(xpcpu_of(x), 0);
        if (x->v->state == VCPU_BLOCKED)
            idle_wake(x, VIA_STORE);
    }
}

/* The store or the IPI has arrived. */
void vcpu_arrival(struct engine *e, struct event *ev)
{
    struct xvcpu *x = container_of(ev, struct xvcpu, ipi);

    (void)e;
    if (x->ipi_is_store) {
        store_arrival(x);
        return;
    }
    gcpu_charge(x->g, 0, x->world->costs->guest_irq + guest_reread(x->vm->guest));
    vcpu_interrupt(x, -1, EXIT_IRQ, VIA_IRQ);
}

/* A store to x's word is done at `at`: who notices it, and when. */
static void store_seen(struct xvcpu *x, ns_t at)
{
    struct engine *e = x->world->engine;

    x->ipi_is_store = true;
    x->ipi_scans = false;
    if (x->v->state == VCPU_READY)
        x->via = VIA_STORE;
    if (x->v->state == VCPU_RUNNING) {
        at += idle_hold_exit(x);
        if (x->plan.act == IDLE_SPIN && x->committed)
            at = idle_turn_end(x, at);
        engine_arm(e, &x->ipi, at);
    } else if (x->plan.act == IDLE_WATCH && x->plan.monitored) {
        engine_arm(e, &x->ipi, at);
    } else {
        watch_spinners(x, at);
    }
}

static void notify(void *arg, struct gcpu *from, struct gcpu *to)
{
    struct world *w = arg;
    struct xvcpu *x = to->owner;
    struct engine *e = w->engine;
    const struct costs *c = w->costs;
    ns_t owed = from ? from->hyp + from->ovh : 0;

    if (watch_compares(x) && x->vm->guest->conf.wake_word == WORD_PULSE)
        watch_pulse(x, e->now + owed + c->store, x->vm->guest->conf.wake_pulse);
    if (event_armed(&x->ipi))
        return;
    if (polls(x)) {
        if (from)
            gcpu_charge(from, 0, c->store);
        store_seen(x, e->now + owed + c->store);
        return;
    }
    if (from) {
        from->guest->st.ipis++;
        count_exit(from->owner, EXIT_IPI);
        gcpu_charge(from, c->ipi_send, 0);
        owed += c->ipi_send;
    }
    x->ipi_is_store = false;
    engine_arm(e, &x->ipi, e->now + owed + c->ipi_latency);
}

static void idle(void *arg, struct gcpu *g)
{
    (void)arg;
    idle_begin(g->owner);
}

static void commit(void *arg, struct gcpu *g)
{
    (void)arg;
    idle_commit(g->owner);
}

static void idle_end(void *arg, struct gcpu *g)
{
    (void)arg;
    idle_finish(g->owner);
}

static void work_begins(void *arg, struct gcpu *g)
{
    (void)arg;
    idle_reflect(g->owner);
}

static void busy(void *arg, struct gcpu *g)
{
    struct xvcpu *x = g->owner;

    (void)arg;
    x->work_at = g->busy && x->held_busy_start >= 0 ? x->world->engine->now : -1;
    if (x->v->state != VCPU_RUNNING) {
        /* The time up to now belongs to the state before the flip. */
        g->busy = !g->busy;
        xvcpu_flush(x);
        g->busy = !g->busy;
        xvcpu_off_term(x);
    }
    xvcpu_recount(x);
}

/* A store that stands for no work. Hardware that watches the line sees it, whatever it stores; a
 * comparison of values may not. */
static void poke(void *arg, struct gcpu *from, struct gcpu *to, enum poke_kind kind, ns_t length)
{
    struct world *w = arg;
    struct xvcpu *x = to->owner;
    const ns_t at = w->engine->now + from->hyp + from->ovh + w->costs->store;

    gcpu_charge(from, 0, w->costs->store);
    if (!polls(x))
        return; /* nobody watches */
    if (kind == POKE_FLAG)
        x->flag = true;
    else if (kind == POKE_PULSE && watch_compares(x))
        watch_pulse(x, at, length);
    else if (kind == POKE_SAME && watch_compares(x))
        x->waits.missed++;
    if ((x->plan.act != IDLE_SPIN || kind == POKE_FLAG) && !event_armed(&x->ipi))
        store_seen(x, at);
}

static void spin_exit(void *arg, struct gcpu *g)
{
    (void)arg;
    pause_exit(g->owner);
}

static void halt_exit(void *arg, struct gcpu *g)
{
    struct world *w = arg;

    count_exit(g->owner, EXIT_IDLE);
    gcpu_charge(g, w->costs->exit, 0);
    world_count(w, "spinlock_halts");
}

/* Assumed: the host does not poll in this halt. */
static void halt(void *arg, struct gcpu *g)
{
    struct world *w = arg;
    struct xvcpu *x = g->owner;

    host_block(w->host, x->v);
}

/* A hypercall; no interrupt handler runs for it. */
static void kick(void *arg, struct gcpu *from, struct gcpu *to)
{
    struct world *w = arg;
    struct xvcpu *x = to->owner;

    count_exit(from->owner, EXIT_IPI);
    gcpu_charge(from, w->costs->exit + w->costs->entry, 0);
    world_count(w, "spinlock_kicks");
    host_wake(w->host, x->v, WAKE_IRQ);
}

static void timer_exit(void *arg, struct gcpu *g)
{
    struct world *w = arg;

    count_exit(g->owner, EXIT_TIMER);
    gcpu_charge(g, w->costs->timer_exit, 0);
}

/* The I/O threads' time, if the scenario gives them any, is spent on the pCPU that submits. */
static void io_exit(void *arg, struct gcpu *g, ns_t service)
{
    struct world *w = arg;

    count_exit(g->owner, EXIT_IO);
    gcpu_charge(g, w->costs->io_submit + dist_scale(service, w->conf.io_cpu_1024, 1024), 0);
}

static void count(void *arg, const char *name)
{
    world_count(arg, name);
}

static ns_t touch(void *arg, struct gcpu *g, int line, bool queue, int64_t times)
{
    (void)arg;
    return distance_touch(g->owner, line, queue, times);
}

static ns_t refill(void *arg, struct gcpu *g, struct task *t)
{
    (void)arg;
    return distance_refill(g->owner, t);
}

const struct guest_hooks cross_guest_hooks = {
    .irq = irq,
    .notify = notify,
    .idle = idle,
    .idle_commit = commit,
    .idle_end = idle_end,
    .work_begins = work_begins,
    .busy = busy,
    .spin_exit = spin_exit,
    .halt_exit = halt_exit,
    .halt = halt,
    .kick = kick,
    .timer_exit = timer_exit,
    .io_exit = io_exit,
    .poke = poke,
    .count = count,
    .touch = touch,
    .refill = refill,
};
