/* SPDX-License-Identifier: MIT */
/*
 * Run queues of guest CPUs, the switch between tasks, and the guest tick.
 *
 * Always true: nr_running counts queued and current tasks; the sums over CPUs in struct guest
 * follow it.
 */
#include <string.h>

#include "guest/core.h"

void task_state_time(struct task *t, enum task_term term)
{
    const ns_t now = know(t->guest);

    t->acct.term[term] += now - t->state_since;
    t->state_since = now;
}

void task_stolen(struct task *t)
{
    struct guest *k = t->guest;
    const ns_t now = know(k), dt = now - t->stolen_from;

    /* Who halts for a lock sleeps as far as its task is concerned. */
    t->acct.term[task_gcpu(t)->halted ? TASK_SLEEPING : TASK_STOLEN] += dt;
    if (t->locks_held)
        k->st.holder_preempted += dt;
    t->stolen_from = now;
}

/* Utilisation now, 0..1024. It stands still while the vCPU of a current task is off its pCPU. */
int64_t gcpu_util(const struct gcpu *g)
{
    if (g->curr && !g->on)
        return pelt_value(&g->util);
    return pelt_peek(&g->util, know(g->guest), g->curr ? 1024 : 0);
}

/* Brings the time integrals of the guest up to now. */
void guest_areas(struct guest *k)
{
    const ns_t now = know(k), dt = now - k->spread_since;

    k->spread_since = now;
    if (dt == 0 || k->run_sum == 0)
        return;
    k->st.spread_time += dt;
    k->st.spread_area += (unsigned __int128)((uint64_t)dt * (uint64_t)k->nr_busy_cpus);
    k->st.stack_area += (unsigned __int128)((uint64_t)dt * (uint64_t)k->stack_sum);
    k->st.run_area += (unsigned __int128)((uint64_t)dt * (uint64_t)k->run_sum);
}

static void set_nr(struct gcpu *g, int delta)
{
    struct guest *k = g->guest;
    const int before = g->nr_running, after = before + delta;

    guest_areas(k);
    pelt_update(&g->load, know(k), (int64_t)before * 1024);
    g->nr_running = after;
    k->run_sum += delta;
    k->nr_busy_cpus += (after > 0) - (before > 0);
    k->stack_sum += (after > 1 ? after - 1 : 0) - (before > 1 ? before - 1 : 0);
    if ((after > 1) != (before > 1)) {
        k->nr_overloaded += after > 1 ? 1 : -1;
        k->overloaded[g->id >> 6] ^= (uint64_t)1 << (g->id & 63);
    }
}

static enum fair_enqueue_why fair_why(enum guest_enqueue_why why)
{
    switch (why) {
    case GUEST_NEW:
        return FAIR_NEW;
    case GUEST_MIGRATE:
        return FAIR_MIGRATE;
    case GUEST_WAKE:
    case GUEST_REQUEUE:
        break;
    }
    return FAIR_WAKE;
}

static bool own_ordering(const struct guest *k)
{
    return k->ops->enqueue != NULL;
}

static void order_add(struct gcpu *g, struct task *t, enum guest_enqueue_why why)
{
    struct guest *k = g->guest;

    t->qnext = NULL;
    t->qprev = g->queued_last;
    if (g->queued_last)
        g->queued_last->qnext = t;
    else
        g->queued = t;
    g->queued_last = t;
    if (own_ordering(k)) {
        crash_enter(k->ops->head.name, "enqueue");
        k->ops->enqueue(k, g->id, t, why);
        crash_leave();
    } else if (k->conf.scheduler == GUEST_SCHED_FIFO) {
        return; /* the list of queued tasks is the order */
    } else if (why == GUEST_REQUEUE) {
        fair_put(&g->fq);
    } else {
        fair_enqueue(&g->fq, &t->fair, fair_why(why));
    }
}

static void unlink_queued(struct gcpu *g, struct task *t)
{
    if (t->qprev)
        t->qprev->qnext = t->qnext;
    else
        g->queued = t->qnext;
    if (t->qnext)
        t->qnext->qprev = t->qprev;
    else
        g->queued_last = t->qprev;
}

void runq_add(struct gcpu *g, struct task *t, enum guest_enqueue_why why)
{
    runq_charge(g);
    t->cpu = g->id;
    t->state = TASK_QUEUED;
    set_nr(g, 1);
    order_add(g, t, why);
}

void runq_remove(struct gcpu *g, struct task *t)
{
    struct guest *k = g->guest;

    runq_charge(g);
    set_nr(g, -1);
    unlink_queued(g, t);
    if (own_ordering(k)) {
        crash_enter(k->ops->head.name, "dequeue");
        k->ops->dequeue(k, g->id, t);
        crash_leave();
    } else if (k->conf.scheduler != GUEST_SCHED_FIFO) {
        fair_dequeue(&g->fq, &t->fair, false);
    }
}

/* Hands the current task's run since the last call to the ordering. */
void runq_charge(struct gcpu *g)
{
    struct task *t = g->curr;

    gcpu_settle(g);
    if (!t) {
        g->uncharged = 0;
        return;
    }
    if (!g->uncharged)
        return;
    if (!own_ordering(g->guest) && g->guest->conf.scheduler != GUEST_SCHED_FIFO)
        fair_charge(&g->fq, g->uncharged);
    g->uncharged = 0;
}

bool runq_preempts(struct gcpu *g, struct task *woken)
{
    struct guest *k = g->guest;
    bool yes;

    if (!k->conf.wakeup_preemption || !g->curr)
        return false;
    if (k->ops->preempts) {
        crash_enter(k->ops->head.name, "preempts");
        yes = k->ops->preempts(k, g->id, g->curr, woken);
        crash_leave();
        return yes;
    }
    if (own_ordering(k) || k->conf.scheduler == GUEST_SCHED_FIFO)
        return false;
    return fair_preempts(&g->fq, &woken->fair);
}

static struct task *order_pick(struct gcpu *g)
{
    struct guest *k = g->guest;
    struct fair_entity *e;
    struct task *t;

    if (own_ordering(k)) {
        crash_enter(k->ops->head.name, "pick");
        t = k->ops->pick(k, g->id);
        crash_leave();
    } else if (k->conf.scheduler == GUEST_SCHED_FIFO) {
        t = g->queued;
    } else {
        e = fair_pick(&g->fq);
        t = e ? e->owner : NULL;
    }
    if (!t && g->nr_running > 0)
        crash_policy(k->ops->head.name, "pick", "guest CPU",
                     "vm%d cpu %d has %d runnable tasks, none "
                     "was picked",
                     k->vm, g->id, g->nr_running);
    if (t && (t->state != TASK_QUEUED || t->cpu != g->id))
        crash_policy(k->ops->head.name, "pick", "task", "vm%d cpu %d: task %d is not queued here",
                     k->vm, g->id, t->id);
    if (t)
        unlink_queued(g, t);
    return t;
}

/* Tells the policy that t stops running. */
static void stopping(struct gcpu *g, struct task *t, enum guest_stop_why why)
{
    struct guest *k = g->guest;
    struct guest_ran ran;

    gcpu_flush_task(g);
    ran = (struct guest_ran){.run = t->ran_since_in, .stolen = t->stolen_since_in};
    if (k->ops->stopping) {
        crash_enter(k->ops->head.name, "stopping");
        k->ops->stopping(k, g->id, t, ran, why);
        crash_leave();
    }
    t->ran_since_in = 0;
    t->stolen_since_in = 0;
}

static void trace_out(struct gcpu *g, const struct task *t, enum guest_stop_why why)
{
    const struct guest *k = g->guest;

    trace_put(k->trace, know(k), TRACE_TASK_OUT, k->vcpu_base + g->id, k->task_base + t->id,
              (int32_t)why);
}

static void put_current(struct gcpu *g)
{
    struct task *t = g->curr;

    runq_charge(g);
    stopping(g, t, GUEST_STOP_PREEMPT);
    g->curr = NULL;
    t->last_ran = know(g->guest);
    t->state = TASK_QUEUED;
    t->state_since = know(g->guest);
    order_add(g, t, GUEST_REQUEUE);
}

/* First run after a wake-up ends the wake latency. */
static void wake_done(struct gcpu *g, struct task *t)
{
    if (t->woken_at < 0)
        return;
    hist_add(&g->guest->wake, know(g->guest) + g->hyp + g->ovh - t->woken_at);
    t->woken_at = -1;
}

static void set_current(struct gcpu *g, struct task *t)
{
    struct guest *k = g->guest;

    task_state_time(t, TASK_WAITING);
    t->state = TASK_CURRENT;
    gcpu_flush_task(g);
    g->uncharged = 0;
    g->curr = t;
    if (k->costs->fill_group > 0 && k->hooks->refill) {
        const ns_t cold = k->hooks->refill(k->hook_arg, g, t);

        t->cold = cold > t->cold ? cold : t->cold;
    } else if (t->refill) {
        gcpu_overhead(g, k->costs->task_refill);
    }
    t->refill = false;
    if (k->ops->running) {
        crash_enter(k->ops->head.name, "running");
        k->ops->running(k, g->id, t);
        crash_leave();
    }
}

void gcpu_schedule(struct gcpu *g)
{
    struct guest *k = g->guest;
    struct task *prev = g->curr, *next;

    gcpu_settle(g);
    g->need_resched = false;
    if (prev) {
        if (g->nr_running == 1 && !own_ordering(k))
            return;
        pelt_update(&g->util, know(k), 1024);
        put_current(g);
    } else {
        pelt_update(&g->util, know(k), 0);
        if (g->nr_running == 0 && g->fq.nr_delayed > 0)
            fair_pick(&g->fq); /* nothing to run: the delayed ones leave the queue for good */
        if (g->nr_running == 0 &&
            (g->act == GCPU_IDLE || g->act == GCPU_DRAIN || !guest_newidle(g)))
            return;
    }
    next = order_pick(g);
    if (prev && prev != next)
        trace_out(g, prev, GUEST_STOP_PREEMPT);
    if (!next)
        return;
    set_current(g, next);
    if (prev == next)
        return;
    k->st.switches++;
    gcpu_overhead(g, k->costs->guest_switch);
    trace_put(k->trace, know(k), TRACE_TASK_IN, k->vcpu_base + g->id, k->task_base + next->id, 0);
    wake_done(g, next);
    if (next->act == ACT_SPIN_LOCK)
        lock_resume(next);
    if (next->chain) {
        task_wake(g, next->chain, 0);
        next->chain = NULL;
    }
}

static void leave_cpu(struct task *t, enum guest_stop_why why)
{
    struct gcpu *g = task_gcpu(t);
    struct guest *k = g->guest;

    CHECK(g->curr == t, "vm%d task %d is not current", k->vm, t->id);
    runq_charge(g);
    pelt_update(&g->util, know(k), 1024);
    pelt_update(&t->util, know(k), 1024);
    stopping(g, t, why);
    trace_out(g, t, why);
    g->curr = NULL;
    t->state_since = know(k);
    set_nr(g, -1);
    t->last_ran = know(k);
    if (!own_ordering(k) && k->conf.scheduler != GUEST_SCHED_FIFO)
        fair_dequeue(&g->fq, &t->fair, why == GUEST_STOP_BLOCK);
    gcpu_overhead(g, k->costs->guest_switch);
    g->need_resched = true;
}

void task_block(struct task *t)
{
    leave_cpu(t, GUEST_STOP_BLOCK);
    t->state = TASK_BLOCKED;
}

void task_begin(struct task *t)
{
    const struct guest_ops *ops = t->guest->ops;

    memset(t->priv, 0, ops->head.unit_size);
    if (!ops->task_init)
        return;
    crash_enter(ops->head.name, "task_init");
    ops->task_init(t->guest, t);
    crash_leave();
}

void task_end(struct task *t)
{
    const struct guest_ops *ops = t->guest->ops;

    if (!ops->task_fini)
        return;
    crash_enter(ops->head.name, "task_fini");
    ops->task_fini(t->guest, t);
    crash_leave();
}

void task_exit(struct task *t)
{
    leave_cpu(t, GUEST_STOP_EXIT);
    t->state = TASK_DEAD;
    task_end(t);
}

/* The current task is stopped, queued and moved to another CPU. */
void runq_push_current(struct gcpu *g, int to)
{
    struct task *t = g->curr;

    put_current(g);
    trace_out(g, t, GUEST_STOP_PREEMPT);
    g->need_resched = true;
    if (!guest_migrate(g->guest, t, to))
        guest_count(g->guest, "guest_push_refused");
}

/* -- tick -- */

void gcpu_tick_start(struct gcpu *g)
{
    struct guest *k = g->guest;

    if (!g->tick_stopped || k->conf.hz == 0)
        return;
    g->tick_stopped = false;
    g->next_tick =
        g->tick_phase + ((know(k) - g->tick_phase) / g->tick_period + 1) * g->tick_period;
    engine_arm(k->engine, &g->tick, g->next_tick);
    k->hooks->timer_exit(k->hook_arg, g);
}

void gcpu_tick_stop(struct gcpu *g)
{
    struct guest *k = g->guest;

    if (g->tick_stopped)
        return;
    g->tick_stopped = true;
    engine_cancel(k->engine, &g->tick);
    k->hooks->timer_exit(k->hook_arg, g);
}

/* Going idle: the tick stops when the spell is likely to outlast it. */
void gcpu_tick_idle(struct gcpu *g)
{
    if (g->guest->conf.nohz != NOHZ_OFF && g->avg_idle >= g->tick_period)
        gcpu_tick_stop(g);
}

static void update_scan(struct gcpu *g)
{
    struct guest *k = g->guest;
    int first, end;
    int64_t sum = 0, x;

    guest_llc(k, g->id, &first, &end);
    for (int c = first; c < end; c++)
        sum += gcpu_util(&k->cpu[c]);
    x = sum * 117 / (100 * (end - first));
    k->scan[first / k->llc] =
        x >= 1024 ? 0 : (int)((int64_t)(end - first) * (1024 * 1024 - x * x) / (1024 * 1024));
}

static void tick_work(struct gcpu *g)
{
    struct guest *k = g->guest;
    bool resched = false;

    if (g->curr) {
        runq_charge(g);
        pelt_update(&g->util, know(k), 1024);
        if (k->ops->tick) {
            crash_enter(k->ops->head.name, "tick");
            resched = k->ops->tick(k, g->id, g->curr);
            crash_leave();
        } else if (!own_ordering(k) && k->conf.scheduler != GUEST_SCHED_FIFO)
            resched = fair_tick(&g->fq);
        if (resched)
            g->need_resched = true;
        guest_evict_tick(g);
    }
    hints_tick(g);
    if (know(k) >= g->next_balance)
        update_scan(g);
    guest_periodic(g);
}

void gcpu_run_tick(struct gcpu *g)
{
    struct guest *k = g->guest;

    g->tick_late = false;
    gcpu_overhead(g, k->costs->guest_tick + (k->ops->irq ? 0 : guest_reread(k)));
    gcpu_look_irq(g);
    tick_work(g);
}

static void tick_event(struct engine *e, struct event *ev)
{
    struct gcpu *g = container_of(ev, struct gcpu, tick);
    struct guest *k = g->guest;
    const bool idle = g->act == GCPU_IDLE || g->act == GCPU_DRAIN;

    g->next_tick = ev->time + g->tick_period;
    if (idle && k->conf.nohz != NOHZ_OFF)
        g->tick_stopped = true; /* fired into an idle spell after all: not again in this one */
    else if (k->conf.nohz == NOHZ_FULL && g->nr_running == 1 && !idle)
        g->tick_stopped = true;
    else
        engine_arm(e, ev, g->next_tick);
    g->tick_late = true;
    if (idle)
        g->avg_idle += (e->now - g->idle_since - g->avg_idle) / 8;
    k->hooks->irq(k->hook_arg, g, IRQ_TICK);
}

void gcpu_tick_init(struct gcpu *g)
{
    struct guest *k = g->guest;

    event_init(&g->tick, PHASE_TIMER, (uint32_t)(2 << 24 | (k->vcpu_base + g->id)), tick_event);
    g->tick_stopped = true;
    g->tick_period = k->conf.hz ? NS_SEC / k->conf.hz : NS_SEC;
    g->tick_phase = g->tick_period * g->id / (k->ncpus ? k->ncpus : 1);
    g->avg_idle = g->tick_period;
    g->balance_interval = (ns_t)k->ncpus * NS_MS;
    g->next_balance = g->balance_interval;
}
