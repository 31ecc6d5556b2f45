/* SPDX-License-Identifier: MIT */
/*
 * What guests ask for: interrupts, IPIs, exits, idleness. Who pays (design section 4): the waker
 * pays a store or an IPI, the target the way back to its task.
 */
#include "cross/world.h"
#include "engine/check.h"

/* Does x wait for a store to its flag? Then nobody sends it an IPI. */
static bool polls(const struct xvcpu *x)
{
    return x->planned && !x->plan.in_host && x->plan.act != IDLE_BLOCK;
}

/* It runs: the interrupt is taken now. */
static void interrupt_running(struct xvcpu *x, ns_t exit_cost, enum exit_reason why,
                              enum idle_via via)
{
    const bool exits = exit_cost >= 0 && !(x->planned && x->committed && x->plan.in_host);

    x->via = via;
    if (exits) {
        count_exit(x, why);
        gcpu_charge(x->g, exit_cost, 0);
    }
    /* A store has waited for the C-state already. */
    if (x->planned && x->committed && x->plan.act == IDLE_HOLD && via != VIA_STORE)
        gcpu_charge(x->g, x->world->conf.cstate[x->plan.cstate].exit_latency, 0);
    gcpu_kick(x->g);
    if (exits && x->v->state == VCPU_RUNNING)
        host_entry(xpcpu_of(x));
}

/* An interrupt for x is pending: now, at its wake-up, or at its next entry. */
void vcpu_interrupt(struct xvcpu *x, ns_t exit_cost, enum exit_reason why, enum idle_via via)
{
    if (x->g->on) {
        interrupt_running(x, exit_cost, why, via);
        return;
    }
    x->pending_irq = true;
    if (x->v->state == VCPU_BLOCKED)
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

/* The store or the IPI has arrived. */
void vcpu_arrival(struct engine *e, struct event *ev)
{
    struct xvcpu *x = container_of(ev, struct xvcpu, ipi);
    const bool store = x->g->on && polls(x);

    (void)e;
    if (!store)
        gcpu_charge(x->g, 0, x->world->costs->guest_irq);
    vcpu_interrupt(x, -1, EXIT_IRQ, store ? VIA_STORE : VIA_IRQ);
}

static void notify(void *arg, struct gcpu *from, struct gcpu *to)
{
    struct world *w = arg;
    struct xvcpu *x = to->owner;
    struct engine *e = w->engine;
    const struct costs *c = w->costs;
    ns_t owed = from ? from->hyp + from->ovh : 0, wait;

    if (event_armed(&x->ipi))
        return;
    if (polls(x)) {
        if (from)
            gcpu_charge(from, 0, c->store);
        if (x->v->state != VCPU_RUNNING)
            return; /* seen at the next look or scan, or when it runs again */
        wait = c->store;
        if (x->plan.act == IDLE_HOLD && x->committed)
            wait += w->conf.cstate[x->plan.cstate].exit_latency;
        engine_arm(e, &x->ipi, e->now + owed + wait);
        return;
    }
    if (from) {
        from->guest->st.ipis++;
        count_exit(from->owner, EXIT_IPI);
        gcpu_charge(from, c->ipi_send, 0);
        owed += c->ipi_send;
    }
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
    if (x->v->state != VCPU_RUNNING) {
        /* The time up to now belongs to the state before the flip. */
        g->busy = !g->busy;
        xvcpu_flush(x);
        g->busy = !g->busy;
        xvcpu_off_term(x);
    }
    xvcpu_recount(x);
}

static void spin_exit(void *arg, struct gcpu *g)
{
    (void)arg;
    pause_exit(g->owner);
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

const struct guest_hooks cross_guest_hooks = {
    .irq = irq,
    .notify = notify,
    .idle = idle,
    .idle_commit = commit,
    .idle_end = idle_end,
    .work_begins = work_begins,
    .busy = busy,
    .spin_exit = spin_exit,
    .timer_exit = timer_exit,
    .io_exit = io_exit,
    .count = count,
};
