/* SPDX-License-Identifier: MIT */
/*
 * A guest CPU as a small state machine: what its time goes to, and what it does next.
 *
 * Always true: while `on`, the accounts are right up to `settled`, and `end` is armed for the
 * moment at which debts and activity are spent. Decisions are made only in gcpu_step, never
 * recursively: whoever changes the state of a CPU from outside settles it and calls gcpu_kick or
 * arms `end`.
 */
#include "guest/core.h"

/* More steps than this at one instant means that a program goes round without taking time. */
#define STEPS_MAX 10000000

static void account(struct gcpu *g, enum term term, enum task_term task_term, ns_t n)
{
    g->acct.term[term] += n;
    g->spent[task_term] += n; /* means nothing without a current task, and is forgotten then */
}

/* The part of dt in which t gets on: while its working set comes in it loses some. */
static ns_t warm_time(struct task *t, ns_t dt)
{
    ns_t lost;

    if (t->cold == 0)
        return dt;
    lost = dt * t->guest->costs->cold_stall / 100;
    if (lost > t->cold)
        lost = t->cold;
    t->cold -= lost;
    t->guest->st.refill += lost;
    return dt - lost;
}

/* The time in which warm_time lets `work` be done. */
static ns_t cold_time(const struct task *t, ns_t work)
{
    const int64_t stall = t->guest->costs->cold_stall;

    if (t->cold == 0)
        return work;
    if (work / (100 - stall) * stall >= t->cold)
        return work + t->cold;
    return (work * 100 + 99 - stall) / (100 - stall);
}

static void progress(struct gcpu *g, struct task *t, ns_t dt)
{
    ns_t warm;

    switch (t->act) {
    case ACT_RUN:
        account(g, TERM_WORK, TASK_RUN, dt);
        warm = warm_time(t, dt);
        t->left -= g->speed == 1024 ? warm : warm * g->speed / 1024;
        if (t->left < 0)
            t->left = 0;
        break;
    case ACT_BURN:
        account(g, TERM_LOCKSPIN, TASK_SPIN, dt);
        t->left -= dt;
        break;
    case ACT_SPIN_LOCK:
    case ACT_SPIN_BARRIER:
        account(g, TERM_LOCKSPIN, TASK_SPIN, dt);
        if (t->left != NS_NEVER)
            t->left -= dt;
        if (g->ple_left != NS_NEVER && gcpu_spins(g))
            g->ple_left -= dt;
        break;
    case ACT_NEXT:
        CHECK(false, "vm%d cpu %d: task %d let %lld ns pass between operations", g->guest->vm,
              g->id, t->id, (long long)dt);
    }
}

void gcpu_settle(struct gcpu *g)
{
    const ns_t now = know(g->guest);
    ns_t dt = now - g->settled, n;

    if (!g->on || dt == 0)
        return;
    g->settled = now;
    g->uncharged += dt;
    if (g->hyp) {
        n = dt < g->hyp ? dt : g->hyp;
        account(g, TERM_HYP, TASK_OVERHEAD, n);
        g->hyp -= n;
        dt -= n;
    }
    if (g->ovh && dt) {
        n = dt < g->ovh ? dt : g->ovh;
        account(g, TERM_OVERHEAD, TASK_OVERHEAD, n);
        g->ovh -= n;
        dt -= n;
    }
    if (dt == 0)
        return;
    switch (g->act) {
    case GCPU_IDLE:
        account(g, g->idle_term, TASK_OVERHEAD, dt);
        break;
    case GCPU_WAKE:
        account(g, TERM_OVERHEAD, TASK_OVERHEAD, dt);
        g->left -= dt;
        break;
    case GCPU_TASK:
        CHECK(g->curr, "vm%d cpu %d: time passes without a task", g->guest->vm, g->id);
        progress(g, g->curr, dt);
        break;
    case GCPU_DRAIN:
        CHECK(false, "vm%d cpu %d: time passes after the debts", g->guest->vm, g->id);
    }
}

/* What is summed up here goes to where it belongs. Accounts of tasks and pCPUs lie far away: they are
 * touched when a task or vCPU leaves, not at every event. */
void gcpu_flush(struct gcpu *g)
{
    gcpu_settle(g);
    gcpu_flush_task(g);
    if (!g->on)
        return;
    for (int i = 0; i < TERM_STEAL; i++) {
        g->pcpu_acct->term[i] += g->acct.term[i] - g->flushed[i];
        g->flushed[i] = g->acct.term[i];
    }
}

void gcpu_flush_task(struct gcpu *g)
{
    struct task *t = g->curr;

    for (int i = 0; i <= TASK_SPIN; i++) {
        if (t) {
            t->acct.term[i] += g->spent[i];
            t->ran_since_in += g->spent[i];
        }
        g->spent[i] = 0;
    }
}

/* Spinning in the kernel is what the hardware counts. */
bool gcpu_spins(const struct gcpu *g)
{
    const struct task *t = g->curr;

    return t && t->act == ACT_SPIN_LOCK && t->lock->spec->kernel && g->act == GCPU_TASK;
}

/* A spinning lock of the kernel turns preemption off, for its holder and for who spins on it, also while an
 * interrupt is handled. */
static bool preemptible(const struct gcpu *g)
{
    const struct task *t = g->curr;

    return !t || (t->kernel_spins == 0 && !(t->act == ACT_SPIN_LOCK && t->lock->spec->kernel &&
                                            t->lock->spec->kind == LOCK_SPIN));
}

bool gcpu_resched(const struct gcpu *g)
{
    return g->need_resched && preemptible(g);
}

bool gcpu_in_kernel(const struct gcpu *g)
{
    return g->act == GCPU_WAKE || gcpu_spins(g) ||
           (g->curr && (g->curr->kernel_locks > 0 || g->curr->spec->kernel));
}

static ns_t task_needs(const struct gcpu *g, const struct task *t)
{
    if (g->halting)
        return 0;
    switch (t->act) {
    case ACT_NEXT:
        return 0;
    case ACT_RUN:
        return cold_time(t,
                         g->speed == 1024 ? t->left : (t->left * 1024 + g->speed - 1) / g->speed);
    case ACT_BURN:
        return t->left;
    case ACT_SPIN_LOCK:
    case ACT_SPIN_BARRIER:
        break;
    }
    if (gcpu_spins(g) && g->ple_left < t->left)
        return g->ple_left;
    return t->left;
}

void gcpu_arm(struct gcpu *g)
{
    const ns_t debts = g->hyp + g->ovh;
    ns_t needs = 0;

    if (!g->on || g->act == GCPU_IDLE) {
        engine_cancel(g->guest->engine, &g->end);
        return;
    }
    if (g->act == GCPU_WAKE)
        needs = g->left;
    else if (g->act == GCPU_TASK && g->curr)
        needs = task_needs(g, g->curr);
    engine_arm(g->guest->engine, &g->end,
               needs == NS_NEVER ? NS_NEVER : know(g->guest) + debts + needs);
}

static void gcpu_end(struct engine *e, struct event *ev)
{
    struct gcpu *g = container_of(ev, struct gcpu, end);

    (void)e;
    gcpu_settle(g);
    gcpu_step(g);
}

/* The CPU stops being idle: it has work, or it was made to look for some. */
static void leave_idle(struct gcpu *g)
{
    struct guest *k = g->guest;

    if (g->act != GCPU_IDLE && g->act != GCPU_DRAIN)
        return;
    g->act = GCPU_TASK;
    k->hooks->idle_end(k->hook_arg, g);
}

/* There is something to do: an idle spell, if this was one, is over. */
static void work_begins(struct gcpu *g)
{
    struct guest *k = g->guest;

    if (g->idle_since < 0)
        return;
    g->avg_idle += (know(k) - g->idle_since - g->avg_idle) / 8;
    g->idle_since = -1;
    k->hooks->work_begins(k->hook_arg, g);
}

/* Nothing to run. True: look again. */
static bool enter_idle(struct gcpu *g)
{
    struct guest *k = g->guest;

    if (g->act == GCPU_IDLE)
        return false;
    if (g->act != GCPU_DRAIN) {
        g->act = GCPU_DRAIN;
        if (g->idle_since < 0)
            g->idle_since = know(k);
        gcpu_tick_idle(g);
        hints_update(g);
        gcpu_update_busy(g);
        k->hooks->idle(k->hook_arg, g);
    }
    if (g->hyp || g->ovh)
        return false;
    g->act = GCPU_IDLE;
    k->hooks->idle_commit(k->hook_arg, g);
    return g->on && gcpu_has_work(g);
}

static bool step_wake(struct gcpu *g)
{
    if (g->act != GCPU_WAKE) {
        leave_idle(g);
        work_begins(g);
        gcpu_begin_wake(g);
    }
    if (g->hyp || g->ovh || g->left > 0)
        return false;
    gcpu_finish_wake(g);
    g->act = GCPU_TASK;
    return true;
}

/* Once the debts of the exit are burnt the vCPU halts. */
static void step_halt(struct gcpu *g)
{
    if (g->hyp || g->ovh)
        return;
    g->halting = false;
    g->halted = true;
    lock_halted(g->curr);
    g->guest->hooks->halt(g->guest->hook_arg, g);
}

static bool step_spin(struct gcpu *g, struct task *t)
{
    struct guest *k = g->guest;

    /* Released while this CPU was busy with something else, when no spinner executed. */
    if (t->act == ACT_SPIN_LOCK && !t->lock->owner)
        lock_resume(t); /* if readers do not have it */
    if (t->act == ACT_NEXT)
        return true;
    if (g->halting) {
        step_halt(g);
        return false;
    }
    if (t->left <= 0 && t->act == ACT_SPIN_LOCK && lock_halts(t)) {
        g->halting = true;
        k->hooks->halt_exit(k->hook_arg, g);
        return true;
    }
    if (t->left <= 0) {
        if (t->act == ACT_SPIN_LOCK)
            lock_spin_over(t);
        else
            barrier_spin_over(t);
        return true;
    }
    if (gcpu_spins(g) && g->ple_left <= 0) {
        k->hooks->spin_exit(k->hook_arg, g);
        if (k->costs->ple_grow > 1 && g->ple_window < k->costs->ple_max)
            g->ple_window = g->ple_window < k->costs->ple_max / k->costs->ple_grow
                                ? g->ple_window * k->costs->ple_grow
                                : k->costs->ple_max;
        g->ple_left = g->ple_window;
    }
    return false;
}

static bool step_task(struct gcpu *g)
{
    struct task *t = g->curr;

    switch (t->act) {
    case ACT_NEXT:
        return task_advance(t);
    case ACT_RUN:
    case ACT_BURN:
        if (t->left > 0)
            return false;
        t->act = ACT_NEXT;
        return true;
    case ACT_SPIN_LOCK:
    case ACT_SPIN_BARRIER:
        return step_spin(g, t);
    }
    return false;
}

/* One step at this instant; true: there may be another. */
static bool step_once(struct gcpu *g)
{
    if (!g->on)
        return false;
    CHECK(g->steps++ < STEPS_MAX, "vm%d cpu %d goes round without taking time", g->guest->vm,
          g->id);
    if (g->irq_head)
        gcpu_take_irqs(g);
    if (g->tick_late)
        gcpu_run_tick(g);
    if (g->nohz_kick)
        guest_nohz_balance(g);
    if (g->push_to >= 0 && preemptible(g) &&
        !(g->evicts && g->wakes.head)) /* first it leaves the kernel */
        guest_push_current(g);
    if (g->wakes.head)
        return step_wake(g);
    if (gcpu_resched(g) || !g->curr) {
        if (g->nr_running > 0)
            leave_idle(g);
        gcpu_schedule(g);
        if (g->wakes.head)
            return true;
        if (!g->curr)
            return enter_idle(g);
    }
    g->act = GCPU_TASK;
    work_begins(g);
    if (g->tick_stopped && (g->guest->conf.nohz != NOHZ_FULL || g->nr_running > 1))
        gcpu_tick_start(g);
    return step_task(g);
}

/* What the time from now on goes to, once the debts are burnt. */
static void trace_activity(const struct gcpu *g)
{
    const struct guest *k = g->guest;
    enum term term = TERM_OVERHEAD;

    if (g->act == GCPU_IDLE)
        term = g->idle_term;
    else if (g->act == GCPU_TASK && g->curr)
        term = g->curr->act == ACT_RUN    ? TERM_WORK
               : g->curr->act == ACT_NEXT ? TERM_OVERHEAD
                                          : TERM_LOCKSPIN;
    trace_put(k->trace, know(k), TRACE_ACTIVITY, k->vcpu_base + g->id, (int32_t)term, 0);
}

void gcpu_step(struct gcpu *g)
{
    if (!g->on || g->in_step)
        return;
    if (g->steps_at != know(g->guest)) {
        g->steps_at = know(g->guest);
        g->steps = 0;
    }
    g->in_step = true;
    while (step_once(g))
        ;
    g->in_step = false;
    gcpu_update_busy(g);
    hints_update(g);
    gcpu_arm(g);
    if (g->guest->trace && g->on)
        trace_activity(g);
}

void gcpu_kick(struct gcpu *g)
{
    if (!g->on || g->in_step)
        return;
    gcpu_settle(g);
    gcpu_step(g);
}

void gcpu_idle_again(struct gcpu *g)
{
    if (g->act != GCPU_IDLE || !g->on)
        return;
    gcpu_settle(g);
    g->act = GCPU_DRAIN;
    gcpu_step(g);
}

void gcpu_look_round(struct gcpu *g)
{
    if (g->act != GCPU_IDLE || !g->on || g->in_step)
        return;
    gcpu_settle(g);
    leave_idle(g);
    gcpu_step(g);
}

void gcpu_overhead(struct gcpu *g, ns_t ns)
{
    g->ovh += ns;
}

void gcpu_charge(struct gcpu *g, ns_t hyp, ns_t ovh)
{
    gcpu_settle(g);
    g->hyp += hyp;
    g->ovh += ovh;
    if (g->on && !g->in_step)
        gcpu_arm(g);
}

void gcpu_spin_done(struct task *t, ns_t cost)
{
    struct gcpu *g = task_gcpu(t);

    gcpu_settle(g);
    t->act = ACT_NEXT;
    t->lock = NULL;
    t->barrier = NULL;
    g->halting = g->halting && g->curr != t;
    if (g->curr != t)
        return;
    g->ovh += cost;
    if (g->on && !g->in_step)
        gcpu_arm(g);
}

void gcpu_unhalt(struct gcpu *g)
{
    task_stolen(g->curr);
    g->halted = false;
    lock_halt_ends(g->curr);
}

bool gcpu_has_work(const struct gcpu *g)
{
    return g->nr_running > 0 || g->wakes.head || g->irq_head;
}

bool gcpu_word_set(const struct gcpu *g)
{
    return g->nr_running > 0 || g->wakes.head || g->nohz_kick || g->push_to >= 0;
}

void gcpu_update_busy(struct gcpu *g)
{
    const bool busy = gcpu_has_work(g);

    if (busy == g->busy)
        return;
    g->busy = busy;
    g->guest->hooks->busy(g->guest->hook_arg, g);
}

void gcpu_set_speed(struct gcpu *g, int64_t speed)
{
    if (speed == g->speed)
        return;
    gcpu_settle(g);
    g->speed = speed;
    if (g->on && !g->in_step)
        gcpu_arm(g);
}

/* The tick that fell due while the vCPU was off is late; several coalesce into one. */
static void resume_tick(struct gcpu *g, ns_t now)
{
    if (g->tick_stopped || event_armed(&g->tick))
        return;
    if (g->next_tick <= now) {
        g->tick_late = true;
        g->next_tick =
            g->tick_phase + ((now - g->tick_phase) / g->tick_period + 1) * g->tick_period;
    }
    engine_arm(g->guest->engine, &g->tick, g->next_tick);
}

void gcpu_resume(struct gcpu *g, int64_t speed, ns_t stolen)
{
    struct guest *k = g->guest;
    const ns_t now = know(k), off = now - g->settled;

    if (g->curr) {
        task_stolen(g->curr);
        g->curr->stolen_since_in += off;
        g->util.updated = now;
    }
    if (stolen > 0) {
        pelt_update(&g->steal, now - stolen, 0);
        pelt_update(&g->steal, now, 1024);
    }
    g->settled = now;
    g->on = true;
    g->speed = speed;
    g->ple_window = k->costs->ple_window;
    g->ple_left = g->ple_window ? g->ple_window : NS_NEVER;
    if (g->act == GCPU_IDLE)
        leave_idle(g);
    resume_tick(g, now);
    if (g->curr && g->curr->act == ACT_SPIN_LOCK)
        lock_resume(g->curr);
    gcpu_step(g);
}

void gcpu_pause(struct gcpu *g)
{
    struct guest *k = g->guest;

    gcpu_flush(g);
    if (g->curr) {
        pelt_update(&g->util, know(k), 1024);
        g->curr->stolen_from = know(k);
    }
    g->on = false;
    engine_cancel(k->engine, &g->end);
    if (g->act != GCPU_IDLE)
        engine_cancel(k->engine, &g->tick);
}

ns_t gcpu_next_timer(const struct gcpu *g)
{
    const struct guest *k = g->guest;
    ns_t next = event_armed(&g->tick) ? g->tick.time : NS_NEVER;

    for (int i = 0; i < k->ntasks; i++) {
        const struct task *t = &k->task[i];

        if (t->irq_cpu == g->id && event_armed(&t->timer) && !t->device && t->timer.time < next)
            next = t->timer.time;
    }
    return next;
}

void gcpu_init(struct gcpu *g, struct guest *k, int id)
{
    g->guest = k;
    g->id = id;
    g->act = GCPU_IDLE;
    g->idle_term = TERM_IDLESPIN;
    g->push_to = -1;
    g->speed = 1024;
    list_init(&g->wakes);
    g->irq_tail = &g->irq_head;
    event_init(&g->end, PHASE_FINISH, (uint32_t)(1 << 24 | (k->vcpu_base + id)), gcpu_end);
    fair_queue_init(&g->fq, k->conf.scheduler == GUEST_SCHED_CFS ? FAIR_CFS : FAIR_EEVDF, &k->fair);
    pelt_init(&g->util, 0, 0);
    pelt_init(&g->load, 0, 0);
    pelt_init(&g->steal, 0, 0);
    gcpu_tick_init(g);
}
