/* SPDX-License-Identifier: MIT */
/*
 * From events to what each task did.
 *
 * Always true: the only decisions are taken at a switch-in (a task that was off stayed runnable)
 * and at a wake-up (a task that was off had blocked).
 */
#include "traces/model.h"

#include <stdlib.h>
#include <string.h>

void model_init(struct model *m, size_t max_ops)
{
    memset(m, 0, sizeof(*m));
    m->max_ops = max_ops;
}

void model_free(struct model *m)
{
    for (size_t i = 0; i < m->tasks; i++)
        free(m->task[i].op);
    free(m->task);
    free(m->cpu);
    tidmap_free(&m->by_tid);
    memset(m, 0, sizeof(*m));
}

static struct model_cpu *cpu_at(struct model *m, int cpu)
{
    size_t i = (size_t)cpu;
    if (i >= m->cpus) {
        size_t n = m->cpus ? m->cpus : 8;
        while (n <= i)
            n *= 2;
        struct model_cpu *p = realloc(m->cpu, n * sizeof(*p));
        if (!p)
            return NULL;
        memset(p + m->cpus, 0, (n - m->cpus) * sizeof(*p));
        m->cpu = p;
        m->cpus = n;
    }
    return &m->cpu[i];
}

/* A new task under this TID, whether there is an old one or not. -1 without memory. */
static int new_task(struct model *m, int tid, int *index)
{
    if (m->tasks == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 64;
        struct model_task *p = realloc(m->task, cap * sizeof(*p));
        if (!p)
            return -1;
        m->task = p;
        m->cap = cap;
    }
    int incarnation = *index < 0 ? 1 : m->task[*index].incarnation + 1;
    m->task[m->tasks] =
        (struct model_task){.tid = tid, .incarnation = incarnation, .cpu = -1, .full_at = NS_NEVER};
    *index = (int)m->tasks++;
    return *index;
}

static int task_index(struct model *m, int tid)
{
    int *index = tidmap_at(&m->by_tid, tid);
    if (!index)
        return -1;
    return *index >= 0 ? *index : new_task(m, tid, index);
}

static void set_name(struct model_task *t, struct slice comm)
{
    t->comm_len = comm.n < MODEL_NAME ? comm.n : MODEL_NAME;
    memcpy(t->comm, comm.p, t->comm_len);
}

static void task_start(struct model_task *t, ns_t now)
{
    if (!t->started) {
        t->started = true;
        t->start = now;
    }
}

static bool add_op(const struct model *m, struct model_task *t, struct model_op op)
{
    if (t->ops >= m->max_ops) {
        if (t->dropped++ == 0)
            t->full_at = op.end;
        return true;
    }
    if (t->ops == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 16;
        struct model_op *p = realloc(t->op, cap * sizeof(*p));
        if (!p)
            return false;
        t->op = p;
        t->cap = cap;
    }
    t->op[t->ops++] = op;
    return true;
}

/* Accounts the time on the CPU up to now. */
static void run_until(struct model_task *t, ns_t now)
{
    if (t->state != MODEL_RUNNING)
        return;
    ns_t ran = now - t->since;
    if (t->run == 0)
        t->run_start = t->since;
    t->run += ran;
    t->run_total += ran;
    t->since = now;
}

/* Makes an operation of the run so far. */
static bool flush_run(const struct model *m, struct model_task *t, ns_t end)
{
    ns_t run = t->run;
    t->run = 0;
    if (run == 0)
        return true;
    return add_op(m, t, (struct model_op){MODEL_RUN, -1, t->run_start, end, run});
}

static void switch_off(struct model_task *t, ns_t now, enum model_last last)
{
    run_until(t, now);
    t->state = MODEL_OFF;
    t->since = now;
    t->last = last;
}

/* The task was seen on the CPU without a switch-in: the recording began later, or lost it. */
static void appear(struct model *m, struct model_task *t, const struct model_cpu *c, int cpu,
                   ns_t now)
{
    ns_t from = c->seen ? c->last : now;
    if (t->state == MODEL_WOKEN || t->state == MODEL_OFF) {
        if (t->since > from)
            from = t->since;
    } else if (t->state == MODEL_RUNNING) {
        switch_off(t, t->since, MODEL_LAST_RUNNABLE);
        from = now;
    }
    m->runs_without_start++;
    t->state = MODEL_RUNNING;
    t->ran = true;
    t->cpu = cpu;
    t->since = from;
    task_start(t, from);
}

/* Somebody else is on this CPU than we believed: whoever it was left unseen. */
static void leave_unseen(struct model *m, const struct model_cpu *c, int cpu)
{
    if (!c->known || c->tid == 0)
        return;
    int i = task_index(m, c->tid);
    if (i >= 0 && m->task[i].state == MODEL_RUNNING && m->task[i].cpu == cpu)
        switch_off(&m->task[i], c->last > m->task[i].since ? c->last : m->task[i].since,
                   MODEL_LAST_RUNNABLE);
}

/* What the state as printed says: letters, or numbers from `trace-cmd report -R`, in which the low
 * byte holds the sleeping states and the bits above it mark a preemption. */
static enum model_last last_of(struct slice state)
{
    size_t at = 0;
    int bits;
    if (slice_int(state, &at, &bits) && at == state.n) {
        if (bits & 0x30)
            return MODEL_LAST_EXITED;
        return bits & 0xff ? MODEL_LAST_BLOCKED : MODEL_LAST_RUNNABLE;
    }
    if (state.p[0] == 'R')
        return MODEL_LAST_RUNNABLE;
    return state.p[0] == 'X' || state.p[0] == 'Z' || state.p[0] == 'x' ? MODEL_LAST_EXITED
                                                                       : MODEL_LAST_BLOCKED;
}

static bool switch_out(struct model *m, struct model_cpu *c, const struct trace_event *ev)
{
    const struct switch_payload *sw = &ev->sw;
    if (c->known && c->tid != sw->prev_tid)
        leave_unseen(m, c, ev->cpu);
    if (sw->prev_tid == 0)
        return true;
    int i = task_index(m, sw->prev_tid);
    if (i < 0)
        return false;
    struct model_task *t = &m->task[i];
    set_name(t, sw->prev_comm);
    if (t->state != MODEL_RUNNING || t->cpu != ev->cpu)
        appear(m, t, c, ev->cpu, ev->time);
    switch_off(t, ev->time, last_of(sw->state));
    return true;
}

static bool switch_in(struct model *m, const struct trace_event *ev)
{
    const struct switch_payload *sw = &ev->sw;
    if (sw->next_tid == 0)
        return true;
    int i = task_index(m, sw->next_tid);
    if (i < 0)
        return false;
    struct model_task *t = &m->task[i];
    set_name(t, sw->next_comm);
    if (t->state == MODEL_RUNNING)
        switch_off(t, t->since, MODEL_LAST_RUNNABLE);
    task_start(t, ev->time);
    t->state = MODEL_RUNNING;
    t->ran = true;
    t->cpu = ev->cpu;
    t->since = ev->time;
    return true;
}

static bool on_switch(struct model *m, struct model_cpu *c, const struct trace_event *ev)
{
    if (!switch_out(m, c, ev) || !switch_in(m, ev))
        return false;
    c->known = true;
    c->tid = ev->sw.next_tid;
    return true;
}

/* The task in whose context the wake-up was done, -1 for an interrupt, idle or a gap; -2 = no
 * memory. */
static int waker_of(struct model *m, struct model_cpu *c, const struct trace_event *ev)
{
    if (ev->interrupt || ev->tid == 0 || ev->tid == ev->wake.tid)
        return -1;
    int w = task_index(m, ev->tid);
    if (w < 0)
        return -2;
    struct model_task *t = &m->task[w];
    if (t->state != MODEL_RUNNING || t->cpu != ev->cpu) {
        if (c->known && c->tid != ev->tid)
            return -1;
        appear(m, t, c, ev->cpu, ev->time);
        c->known = true;
        c->tid = ev->tid;
    }
    return w;
}

/* It had blocked: closes the run, and pairs the block with the waker. */
static bool end_block(struct model *m, struct model_cpu *c, int sleeper,
                      const struct trace_event *ev)
{
    int w = waker_of(m, c, ev);
    if (w == -2)
        return false;
    struct model_task *t = &m->task[sleeper];
    struct model_op block = {MODEL_BLOCK, w, t->since, ev->time, 0};
    if (!flush_run(m, t, t->since) || !add_op(m, t, block))
        return false;
    t->state = MODEL_WOKEN;
    t->since = ev->time;
    if (w < 0)
        return true;
    struct model_task *waker = &m->task[w];
    run_until(waker, ev->time);
    return flush_run(m, waker, ev->time) &&
           add_op(m, waker, (struct model_op){MODEL_WAKE, sleeper, ev->time, ev->time, 0});
}

static bool on_wake(struct model *m, struct model_cpu *c, const struct trace_event *ev)
{
    if (ev->wake.tid == 0)
        return true;
    int i = task_index(m, ev->wake.tid);
    if (i < 0)
        return false;
    if (ev->kind == EV_WAKEUP_NEW && m->task[i].ran) {
        int *index = tidmap_at(&m->by_tid, ev->wake.tid);
        if (!index || (i = new_task(m, ev->wake.tid, index)) < 0)
            return false;
    }
    struct model_task *t = &m->task[i];
    set_name(t, ev->wake.comm);
    if (t->state == MODEL_OFF)
        return end_block(m, c, i, ev);
    if (t->state == MODEL_ASLEEP) {
        task_start(t, ev->time);
        t->state = MODEL_WOKEN;
        t->since = ev->time;
    } else if (ev->kind == EV_WAKING) {
        m->wakes_of_awake++;
    }
    return true;
}

bool model_event(void *arg, const struct trace_event *ev)
{
    struct model *m = arg;
    struct model_cpu *c = cpu_at(m, ev->cpu);
    if (!c)
        return false;
    if (!m->any) {
        m->any = true;
        m->first = ev->time;
    }
    m->last = ev->time;
    bool fine = true;
    if (ev->kind == EV_LOST) {
        leave_unseen(m, c, ev->cpu);
        c->known = false;
        return true;
    }
    if (ev->kind == EV_SWITCH)
        fine = on_switch(m, c, ev);
    else if (ev->kind != EV_OTHER)
        fine = on_wake(m, c, ev);
    c->seen = true;
    c->last = ev->time;
    return fine;
}

bool model_finish(struct model *m)
{
    bool fine = true;
    for (size_t i = 0; fine && i < m->tasks; i++) {
        struct model_task *t = &m->task[i];
        if (t->state == MODEL_RUNNING) {
            const struct model_cpu *c = &m->cpu[t->cpu];
            run_until(t, c->known && c->tid == t->tid ? m->last : t->since);
        }
        fine = flush_run(m, t, t->since);
    }
    return fine;
}
