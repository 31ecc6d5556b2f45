/* SPDX-License-Identifier: MIT */
/*
 * Carries out idle plans. SPIN and HOLD keep the pCPU, BLOCK and WATCH give it up after an exit.
 *
 * Always true: a plan is asked for when the guest goes idle, takes effect when the debts are burnt
 * (idle_commit), and ends when the guest has something to do or is made to look (idle_finish). An
 * idle spin is accounted as time, its turns by division.
 */
#include "cross/world.h"
#include "engine/check.h"
#include "host/host_ops.h"

static struct idle_ctx context(const struct xvcpu *x)
{
    const struct world *w = x->world;
    const struct xpcpu *p = xpcpu_of(x);

    return (struct idle_ctx){
        .now = w->engine->now,
        .next_timer = x->vm->idle.ops->wants_timer ? gcpu_next_timer(x->g) : NS_NEVER,
        .since = x->held_busy_start,
        .rivals = p->p->nr_ready,
        .shared = p->pinned + w->floating > 1,
        .ncstates = w->conf.ncstates,
        .last_run = x->held_busy_start - x->busy_since,
    };
}

/* What is wrong with a plan, NULL when nothing is. */
static const char *plan_fault(const struct xvcpu *x, const struct idle_plan *plan)
{
    const ns_t now = x->world->engine->now;

    if (plan->act == IDLE_HOLD && (plan->cstate < 0 || plan->cstate >= x->world->conf.ncstates))
        return "a C-state that the machine does not have";
    if (plan->until < now)
        return "a limit in the past";
    if (plan->act == IDLE_WATCH && plan->until == now)
        return "a look at once, for ever";
    return NULL;
}

static void check_plan(const struct xvcpu *x, const struct idle_plan *plan, const char *op)
{
    const char *fault = plan_fault(x, plan);
    char who[64];

    if (!fault)
        return;
    snprintf(who, sizeof(who), "%.40s vcpu %d", x->vm->name, x->g->id);
    crash_policy(x->vm->idle.ops->head.name, op, who, "%s", fault);
}

static bool leaves(const struct idle_plan *p)
{
    return p->act == IDLE_BLOCK || p->act == IDLE_WATCH;
}

/* Charges the exit that a plan needs when it begins in the guest. */
static void plan_exit(struct xvcpu *x)
{
    if (!leaves(&x->plan) && !x->plan.in_host)
        return;
    count_exit(x, EXIT_IDLE);
    gcpu_charge(x->g, x->world->costs->exit, 0);
}

void idle_begin(struct xvcpu *x)
{
    struct idle *i = &x->vm->idle;
    struct idle_ctx ctx;

    if (x->held_busy_start < 0)
        x->held_busy_start = x->world->engine->now;
    ctx = context(x);
    crash_enter(i->ops->head.name, "enter");
    x->plan = i->ops->enter(i, x->g->id, &ctx);
    crash_leave();
    check_plan(x, &x->plan, "enter");
    x->planned = true;
    x->committed = false;
    x->planned_at = x->world->engine->now;
    plan_exit(x);
}

static void watch_list_add(struct xvcpu *x)
{
    struct xpcpu *p = xpcpu_of(x);

    if (!x->vm->idle.ops->scans || x->watch_at)
        return;
    x->watch_at = p;
    x->watch_next = p->watchers;
    p->watchers = x;
}

static void watch_list_remove(struct xvcpu *x)
{
    struct xvcpu **at;

    if (!x->watch_at)
        return;
    at = &x->watch_at->watchers;
    while (*at && *at != x)
        at = &(*at)->watch_next;
    CHECK(*at == x, "vcpu %d is not in its watch list", x->v->id);
    *at = x->watch_next;
    x->watch_at = NULL;
}

/* The exit and what else was owed took their time first: the limit moves by that much. */
static void arm_limit(struct xvcpu *x)
{
    struct engine *e = x->world->engine;

    if (x->plan.until != NS_NEVER)
        x->plan.until += e->now - x->planned_at;
    x->planned_at = e->now;
    engine_arm(e, &x->until, x->plan.until);
}

void idle_commit(struct xvcpu *x)
{
    struct world *w = x->world;

    x->committed = true;
    x->committed_at = w->engine->now;
    switch (x->plan.act) {
    case IDLE_SPIN:
        x->g->idle_term = TERM_IDLESPIN;
        arm_limit(x);
        if (x->plan.in_host)
            publish_pcpu(xpcpu_of(x)); /* the host knows that its guest is idle */
        break;
    case IDLE_HOLD:
        x->g->idle_term = TERM_HELD;
        xpcpu_set_hot(xpcpu_of(x), false);
        arm_limit(x);
        break;
    case IDLE_BLOCK:
        host_block(w->host, x->v);
        return;
    case IDLE_WATCH:
        host_block(w->host, x->v);
        watch_list_add(x);
        arm_limit(x);
        return;
    }
    if (xpcpu_of(x)->p->nr_ready > 0)
        idle_rival(x);
}

void idle_keep_flush(struct xvcpu *x)
{
    const struct world *w = x->world;
    const ns_t turn = x->plan.turn > 0 ? x->plan.turn : w->costs->poll_turn;
    const ns_t dt = w->engine->now - x->committed_at;

    if (!x->planned || !x->committed || leaves(&x->plan))
        return;
    if (x->plan.act == IDLE_HOLD) {
        xpcpu_of(x)->cstate_time[x->plan.cstate] += dt;
        x->committed_at += dt;
    } else if (x->plan.traps && turn > 0) {
        x->exits[EXIT_IDLE] += (uint64_t)(dt / turn);
        x->committed_at += dt / turn * turn; /* a turn begun is counted when it ends */
    }
}

static void end_keeping(struct xvcpu *x)
{
    if (!x->committed)
        return;
    idle_keep_flush(x);
    if (x->plan.act == IDLE_HOLD)
        xpcpu_set_hot(xpcpu_of(x), true);
}

/* The plan changes while v keeps its pCPU. */
static void replan(struct xvcpu *x, struct idle_plan plan, const char *op)
{
    const bool was_in_host = x->plan.in_host;

    check_plan(x, &plan, op);
    gcpu_settle(x->g);
    if (x->plan.act == IDLE_HOLD && x->committed)
        gcpu_charge(x->g, x->world->conf.cstate[x->plan.cstate].exit_latency, 0);
    end_keeping(x);
    x->plan = plan;
    x->committed = false;
    x->planned_at = x->world->engine->now;
    if (was_in_host && plan.act == IDLE_SPIN && !plan.in_host)
        gcpu_charge(x->g, x->world->costs->entry, 0);
    if (!was_in_host)
        plan_exit(x);
    gcpu_idle_again(x->g);
}

static struct idle_plan expired(struct xvcpu *x)
{
    struct idle *i = &x->vm->idle;
    const struct idle_ctx ctx = context(x);
    struct idle_plan plan = x->plan;

    if (i->ops->expire) {
        crash_enter(i->ops->head.name, "expire");
        plan = i->ops->expire(i, x->g->id, &ctx);
        crash_leave();
    } else if (plan.act == IDLE_WATCH) {
        plan.until = ctx.now + (plan.until - x->committed_at);
    } else {
        plan = (struct idle_plan){.act = IDLE_BLOCK, .until = NS_NEVER};
    }
    return plan;
}

/* Hypervisor work on the pCPU where x waits, under whoever runs there. */
static void charge_there(struct xvcpu *x, ns_t cost)
{
    struct xpcpu *p = xpcpu_of(x);
    const struct costs *c = x->world->costs;

    if (p->p->curr) {
        struct xvcpu *curr = p->p->curr->owner;

        count_exit(curr, EXIT_IRQ);
        gcpu_charge(curr->g, c->exit + cost + c->entry, 0);
    } else {
        xpcpu_flush(p);
        p->owed += cost;
    }
}

static void wake_vm(struct xvcpu *by)
{
    struct xvm *vm = by->vm;
    struct host *h = by->world->host;
    ns_t cost = 0;

    for (int i = 0; i < vm->nvcpus; i++) {
        struct xvcpu *x = &vm->vcpu[i];

        if (x == by || x->v->state == VCPU_RUNNING)
            continue;
        cost += by->world->costs->wake_mark;
        if (x->v->state == VCPU_READY)
            host_boost(h, x->v);
        else if (x->planned && x->plan.act == IDLE_WATCH) {
            watch_list_remove(x);
            host_wake(h, x->v, WAKE_GROUP);
        }
    }
    charge_there(by, cost);
}

void idle_wake(struct xvcpu *x, enum idle_via via)
{
    static const enum wake_why why[] = {[VIA_STORE] = WAKE_LOOK,
                                        [VIA_IRQ] = WAKE_IRQ,
                                        [VIA_TIMER] = WAKE_IRQ,
                                        [VIA_LOOK] = WAKE_LOOK,
                                        [VIA_SCAN] = WAKE_LOOK};
    struct idle *i = &x->vm->idle;
    enum idle_wake who = WAKE_ONE;

    x->via = via;
    watch_list_remove(x);
    if (x->planned && i->ops->wake) {
        crash_enter(i->ops->head.name, "wake");
        who = i->ops->wake(i, x->g->id, via);
        crash_leave();
    }
    host_wake(x->world->host, x->v, why[via]);
    if (who == WAKE_VM)
        wake_vm(x);
}

static void look(struct xvcpu *x)
{
    const ns_t cost = x->world->costs->look;
    struct idle_plan plan;

    charge_there(x, cost);
    if (gcpu_word_set(x->g)) {
        idle_wake(x, VIA_LOOK);
        return;
    }
    world_count(x->world, "idle_looks_empty");
    plan = expired(x);
    if (plan.act != IDLE_WATCH)
        crash_policy(x->vm->idle.ops->head.name, "expire", x->vm->name,
                     "only WATCH may follow WATCH: the vCPU is off its pCPU");
    check_plan(x, &plan, "expire");
    x->plan = plan;
    x->committed_at = x->world->engine->now;
    x->planned_at = x->committed_at;
    if (plan.until != NS_NEVER) {
        /* Counted from the end of this look; no host timer is shorter than its floor. */
        plan.until += cost;
        if (plan.until < x->committed_at + x->world->costs->timer_floor)
            plan.until = x->committed_at + x->world->costs->timer_floor;
    }
    engine_arm(x->world->engine, &x->until, plan.until);
}

void idle_until(struct engine *e, struct event *ev)
{
    struct xvcpu *x = container_of(ev, struct xvcpu, until);
    struct idle *i = &x->vm->idle;

    (void)e;
    if (!x->planned || !x->committed)
        return;
    if (x->v->state == VCPU_BLOCKED && x->plan.act == IDLE_WATCH) {
        look(x);
        return;
    }
    if (x->v->state != VCPU_RUNNING || x->g->busy)
        return;
    if (x->rival_pending) {
        const struct idle_ctx ctx = context(x);
        struct idle_plan plan;

        x->rival_pending = false;
        crash_enter(i->ops->head.name, "rival");
        plan = i->ops->rival(i, x->g->id, &ctx, x->plan);
        crash_leave();
        if (plan.act == x->plan.act && plan.until == x->plan.until)
            engine_arm(e, &x->until, plan.until);
        else
            replan(x, plan, "rival");
        return;
    }
    replan(x, expired(x), "expire");
}

/* Another vCPU wants the pCPU that x keeps while idle. Decided at this instant, after the queueing.
 */
void idle_rival(struct xvcpu *x)
{
    if (!x->planned || !x->committed || leaves(&x->plan) || !x->vm->idle.ops->rival)
        return;
    x->rival_pending = true;
    engine_arm(x->world->engine, &x->until, x->world->engine->now);
}

void idle_reflect(struct xvcpu *x)
{
    struct world *w = x->world;
    struct idle *i = &x->vm->idle;
    const struct host_ops *h = w->host->policy->ops;
    const ns_t episode = w->engine->now - x->held_busy_start;
    bool stable;

    x->held_busy_start = -1;
    x->busy_since = w->engine->now;
    if (!i->ops->reflect)
        return;
    crash_enter(i->ops->head.name, "reflect");
    stable = i->ops->reflect(i, x->g->id, episode, x->via);
    crash_leave();
    if (stable == x->stable)
        return;
    x->stable = stable;
    if (h->idle_class)
        h->idle_class(w->host->policy, x->v, stable);
}

void idle_finish(struct xvcpu *x)
{
    const struct costs *c = x->world->costs;

    if (!x->planned)
        return;
    engine_cancel(x->world->engine, &x->until);
    x->rival_pending = false;
    watch_list_remove(x);
    end_keeping(x);
    if (x->plan.in_host && x->committed && x->plan.act == IDLE_SPIN) {
        gcpu_charge(x->g, c->inject + c->entry, 0);
        publish_pcpu(xpcpu_of(x));
    }
    x->planned = false;
    x->committed = false;
}

void host_entry(struct xpcpu *p)
{
    struct xvcpu *x = p->watchers, *next;
    ns_t cost = 0;

    if (!x)
        return;
    for (; x; x = next) {
        next = x->watch_next;
        cost += p->world->costs->scan_element;
        if (gcpu_word_set(x->g))
            idle_wake(x, VIA_SCAN);
    }
    if (p->p->curr)
        gcpu_charge(((struct xvcpu *)p->p->curr->owner)->g, cost, 0);
}
