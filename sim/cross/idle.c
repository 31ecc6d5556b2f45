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

/* Shorter and longer episodes than these are what the published distributions tell apart. */
#define SHORT_IDLE (200 * NS_US)
#define LONG_IDLE  NS_MS

static bool leaves(const struct idle_plan *p)
{
    return p->act == IDLE_BLOCK || p->act == IDLE_WATCH;
}

static bool shares_pcpu(const struct xvcpu *x)
{
    const struct world *w = x->world;
    const struct xpcpu *p = xpcpu_of(x);

    if (w->host->gather)
        return gather_homes(w->host, p->p->id) > 1 || x->v->home != p->p->id;
    return p->pinned + w->floating > 1;
}

struct idle_ctx idle_context(const struct xvcpu *x)
{
    const struct world *w = x->world;
    const bool off = x->planned && x->committed && leaves(&x->plan);
    const bool timer = x->vm->idle.ops->wants_timer && !off;

    return (struct idle_ctx){
        .now = w->engine->now,
        .next_timer = timer ? gcpu_next_timer(x->g) : NS_NEVER,
        .since = x->held_busy_start,
        .rivals = xpcpu_of(x)->p->nr_ready,
        .shared = shares_pcpu(x),
        .gathered = x->v->gathered,
        .ncstates = w->conf.ncstates,
        .residency = w->conf.residency,
        .exit_latency = w->conf.exit_latency,
        .last_run = x->held_busy_start - x->busy_since,
    };
}

/* What is wrong with a plan, NULL when nothing is. */
static const char *plan_fault(const struct xvcpu *x, const struct idle_plan *plan)
{
    const ns_t now = x->world->engine->now;

    if ((unsigned)plan->act > IDLE_WATCH || (unsigned)plan->set > IDLE_SET_MACHINE ||
        (unsigned)plan->view > IDLE_VIEW_ACTIVE)
        return "an act, a set or a view that does not exist";
    if (plan->act == IDLE_HOLD && (plan->cstate < 0 || plan->cstate >= x->world->conf.ncstates))
        return "a C-state that the machine does not have";
    if (plan->until < now)
        return "a limit in the past";
    if (plan->until == now && plan->act != IDLE_WATCH)
        return "a limit at once, for ever";
    if (plan->yields && (plan->act != IDLE_SPIN || !plan->traps))
        return "a yield without an exit";
    if (plan->self_look && (plan->act != IDLE_WATCH || plan->until == NS_NEVER))
        return "a look of its own without a time";
    return NULL;
}

void plan_check(const struct xvcpu *x, const struct idle_plan *plan, const char *op)
{
    const char *fault = plan_fault(x, plan);
    char who[64];

    if (!fault)
        return;
    snprintf(who, sizeof(who), "%.40s vcpu %d", x->vm->name, x->g->id);
    crash_policy(x->vm->idle.ops->head.name, op, who, "%s", fault);
}

/* What the vCPUs of the VM have executed while not idle. */
static ns_t time_used(const struct xvm *vm)
{
    ns_t sum = 0;

    for (int i = 0; i < vm->nvcpus; i++) {
        const struct xvcpu *x = &vm->vcpu[i];
        const ns_t *a = x->g->acct.term;

        gcpu_settle(x->g);
        sum += x->used_before + a[TERM_WORK] + a[TERM_OVERHEAD] + a[TERM_LOCKSPIN];
    }
    return sum;
}

void idle_tell_use(struct xvcpu *x)
{
    struct idle *i = &x->vm->idle;
    struct guest *g = x->vm->guest;
    const ns_t now = x->world->engine->now;
    const uint64_t flips = i->st.flips;
    struct idle_use u;

    if (!i->ops->use || now < i->use_at)
        return;
    u = (struct idle_use){.now = now, .used = time_used(x->vm), .io_ops = g->io_ops};
    crash_enter(i->ops->head.name, "use");
    i->ops->use(i, &u);
    crash_leave();
    if (i->st.flips != flips && g->phase_at >= 0) {
        hist_add(&x->vm->reaction, now - g->phase_at);
        g->phase_at = -1;
    }
}

void idle_trap(struct xvcpu *x)
{
    const struct idle_plan *p = &x->plan;
    int8_t exits;

    if (p->act == IDLE_BLOCK || (p->act == IDLE_SPIN && !p->traps))
        return;
    exits = p->act != IDLE_HOLD;
    if (x->mwait_exits >= 0 && x->mwait_exits != exits)
        gcpu_charge(x->g, x->world->costs->mwait_toggle, 0);
    x->mwait_exits = exits;
}

void idle_view(struct xvcpu *x, enum idle_view view)
{
    const bool stable = view == IDLE_VIEW_STABLE;

    if (view == IDLE_VIEW_KEEP || stable == x->stable)
        return;
    x->stable = stable;
    host_idle_class(x->world->host, x->v, stable);
}

/* Charges the exit that a plan needs when it begins in the guest. */
static void plan_exit(struct xvcpu *x)
{
    if (!leaves(&x->plan) && !x->plan.in_host && !x->plan.yields)
        return;
    /* A yield that took no time would go round for ever. */
    gcpu_charge(x->g, x->world->costs->exit + (x->plan.yields && x->world->costs->exit == 0), 0);
    count_exit(x, EXIT_IDLE);
}

void idle_begin(struct xvcpu *x)
{
    struct idle *i = &x->vm->idle;
    struct idle_ctx ctx;

    if (x->held_busy_start < 0)
        x->held_busy_start = x->world->engine->now;
    else
        x->waits.wakes_empty += x->woken;
    if (x->self_looks)
        x->waits.looks_empty++;
    x->woken = false;
    x->self_looks = false;
    idle_tell_use(x);
    ctx = idle_context(x);
    crash_enter(i->ops->head.name, "enter");
    x->plan = i->ops->enter(i, x->g->id, &ctx);
    crash_leave();
    plan_check(x, &x->plan, "enter");
    x->planned = true;
    x->committed = false;
    x->planned_at = x->world->engine->now;
    idle_trap(x);
    plan_exit(x);
    if (!leaves(&x->plan))
        idle_view(x, x->plan.view);
}

/* The exit and what else was owed took their time first: the limit moves by that much. */
static void arm_limit(struct xvcpu *x)
{
    struct engine *e = x->world->engine;

    if (x->plan.until != NS_NEVER)
        x->plan.until += e->now - x->planned_at;
    x->planned_at = e->now;
    if (x->plan.act == IDLE_WATCH)
        watch_arm(x, e->now);
    else
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
        x->kept_from = x->g->acct.term[TERM_IDLESPIN];
        arm_limit(x);
        if (x->plan.traps) {
            w->ntrapping++;
            watch_spinner_begins(x);
        }
        if (x->plan.in_host)
            publish_pcpu(xpcpu_of(x)); /* the host knows that its guest is idle */
        break;
    case IDLE_HOLD:
        x->g->idle_term = TERM_HELD;
        xpcpu_set_hot(xpcpu_of(x), false);
        x->kept_from = x->g->acct.term[TERM_HELD];
        arm_limit(x);
        break;
    case IDLE_BLOCK:
        host_block(w->host, x->v);
        idle_view(x, x->plan.view);
        return;
    case IDLE_WATCH:
        host_block(w->host, x->v);
        idle_view(x, x->plan.view);
        watch_add(x);
        arm_limit(x);
        return;
    }
    if (xpcpu_of(x)->p->nr_ready > 0)
        idle_rival(x);
}

static ns_t turn_of(const struct xvcpu *x)
{
    const struct costs *c = x->world->costs;

    if (x->plan.turn > 0)
        return x->plan.turn;
    return x->plan.traps ? c->nop_turn + (c->nop_turn == 0) : c->poll_turn;
}

ns_t idle_turn_end(const struct xvcpu *x, ns_t at)
{
    const ns_t turn = turn_of(x);

    if (!x->plan.traps || turn <= 0 || at < x->committed_at)
        return at;
    return at + (turn - (at - x->committed_at) % turn) % turn;
}

void idle_keep_flush(struct xvcpu *x)
{
    const ns_t turn = turn_of(x), *a = x->g->acct.term;
    ns_t dt;

    if (!x->planned || !x->committed || leaves(&x->plan))
        return;
    /* Ticks and looks under it are hypervisor time. */
    if (x->plan.act == IDLE_HOLD) {
        dt = a[TERM_HELD] - x->kept_from;
        xpcpu_of(x)->cstate_time[x->plan.cstate] += dt;
        x->kept_from += dt;
    } else if (x->plan.traps) {
        dt = a[TERM_IDLESPIN] - x->kept_from;
        x->exits[EXIT_IDLE] += (uint64_t)(dt / turn);
        x->kept_from += dt / turn * turn; /* a turn begun is counted when it ends */
    }
}

ns_t idle_hold_exit(struct xvcpu *x)
{
    if (!x->planned || !x->committed || x->plan.act != IDLE_HOLD)
        return 0;
    gcpu_settle(x->g);
    return x->g->hyp || x->g->ovh ? 0 : x->world->conf.exit_latency[x->plan.cstate];
}

void idle_keep_ends(struct xvcpu *x)
{
    if (x->committed && x->plan.act == IDLE_SPIN && x->plan.traps)
        x->world->ntrapping--;
}

static void end_keeping(struct xvcpu *x)
{
    if (!x->committed)
        return;
    idle_keep_flush(x);
    idle_keep_ends(x);
    if (x->plan.act == IDLE_HOLD)
        xpcpu_set_hot(xpcpu_of(x), true);
}

/* The plan changes while v keeps its pCPU. */
static void replan(struct xvcpu *x, struct idle_plan plan, const char *op)
{
    const bool was_in_host = x->plan.in_host;

    plan_check(x, &plan, op);
    gcpu_settle(x->g);
    gcpu_charge(x->g, idle_hold_exit(x), 0);
    end_keeping(x);
    x->plan = plan;
    x->committed = false;
    x->planned_at = x->world->engine->now;
    if (was_in_host && !leaves(&plan) && !plan.in_host)
        gcpu_charge(x->g, x->world->costs->entry, 0);
    idle_trap(x);
    if (!was_in_host)
        plan_exit(x);
    if (!leaves(&plan))
        idle_view(x, plan.view);
    gcpu_idle_again(x->g);
}

struct idle_plan idle_expired(struct xvcpu *x)
{
    struct idle *i = &x->vm->idle;
    const struct idle_ctx ctx = idle_context(x);
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
    plan_check(x, &plan, "expire");
    return plan;
}

static bool same_plan(const struct idle_plan *a, const struct idle_plan *b)
{
    return a->act == b->act && a->until == b->until && a->cstate == b->cstate &&
           a->turn == b->turn && a->traps == b->traps && a->in_host == b->in_host &&
           a->yields == b->yields;
}

/* At the end of a turn. If the host picks x again, it yields at the next one. */
static void yield_to_rival(struct xvcpu *x)
{
    struct engine *e = x->world->engine;

    if (x->plan.until <= e->now) {
        replan(x, idle_expired(x), "expire");
        return;
    }
    if (xpcpu_of(x)->p->nr_ready == 0) {
        engine_arm(e, &x->until, x->plan.until);
        return;
    }
    x->rival_pending = true;
    engine_arm(e, &x->until, idle_turn_end(x, e->now + 1));
    host_yield(x->world->host, x->v, STOP_YIELD);
}

/* x keeps its pCPU while another vCPU wants it. */
static void answer_rival(struct xvcpu *x)
{
    struct idle *i = &x->vm->idle;
    struct engine *e = x->world->engine;
    struct idle_plan plan = x->plan;

    x->rival_pending = false;
    if (plan.yields) {
        yield_to_rival(x);
        return;
    }
    if (i->ops->rival) {
        const struct idle_ctx ctx = idle_context(x);

        crash_enter(i->ops->head.name, "rival");
        plan = i->ops->rival(i, x->g->id, &ctx, x->plan);
        crash_leave();
    }
    if (same_plan(&plan, &x->plan))
        engine_arm(e, &x->until, plan.until);
    else
        replan(x, plan, "rival");
}

void idle_until(struct engine *e, struct event *ev)
{
    struct xvcpu *x = container_of(ev, struct xvcpu, until);

    (void)e;
    if (!x->planned || !x->committed)
        return;
    if (x->v->state == VCPU_BLOCKED && x->plan.act == IDLE_WATCH) {
        watch_look(x);
        return;
    }
    if (x->v->state != VCPU_RUNNING || x->g->busy)
        return;
    if (x->rival_pending)
        answer_rival(x);
    else
        replan(x, idle_expired(x), "expire");
}

/* Another vCPU wants the pCPU that x keeps while idle. Decided at this instant, after the queueing;
 * a spin that yields at its exits, at the next one. */
void idle_rival(struct xvcpu *x)
{
    const ns_t now = x->world->engine->now;

    if (!x->planned || !x->committed || leaves(&x->plan))
        return;
    if (!x->plan.yields && !x->vm->idle.ops->rival)
        return;
    x->rival_pending = true;
    engine_arm(x->world->engine, &x->until, x->plan.yields ? idle_turn_end(x, now) : now);
}

static void count_episode(struct xvcpu *x, ns_t episode)
{
    hist_add(&x->vm->idle_length, episode);
    x->waits.short_idle += episode < SHORT_IDLE;
    x->waits.long_idle += episode > LONG_IDLE;
}

void idle_reflect(struct xvcpu *x)
{
    struct world *w = x->world;
    struct idle *i = &x->vm->idle;
    const ns_t end = x->work_at >= 0 ? x->work_at : w->engine->now;
    const ns_t episode = end - x->held_busy_start;
    bool stable;

    if (x->self_looks)
        watch_self_found(x);
    x->woken = false;
    x->self_looks = false;
    count_episode(x, episode);
    if (episode > LONG_IDLE)
        x->active_since = x->v->gathered ? w->engine->now : -1;
    x->held_busy_start = -1;
    x->work_at = -1;
    x->busy_since = w->engine->now;
    if (!i->ops->reflect)
        return;
    crash_enter(i->ops->head.name, "reflect");
    stable = i->ops->reflect(i, x->g->id, episode, x->via);
    crash_leave();
    idle_view(x, stable ? IDLE_VIEW_STABLE : IDLE_VIEW_ACTIVE);
}

void idle_finish(struct xvcpu *x)
{
    const struct costs *c = x->world->costs;

    if (!x->planned)
        return;
    engine_cancel(x->world->engine, &x->until);
    x->rival_pending = false;
    watch_remove(x);
    watch_clear(x);
    end_keeping(x);
    if (x->plan.in_host && x->committed && x->plan.act == IDLE_SPIN) {
        gcpu_charge(x->g, c->inject + c->entry, 0);
        publish_pcpu(xpcpu_of(x));
    }
    x->planned = false;
    x->committed = false;
}
