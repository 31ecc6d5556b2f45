/* SPDX-License-Identifier: MIT */
/*
 * Wake-ups: from the waker's call over the choice of a CPU to the run queue, and interrupts.
 *
 * Always true: the choice is made when the waker's CPU gets to it, with what it can see then; the
 * task reaches the run queue when the selection time has been spent on that CPU.
 */
#include "guest/core.h"

static void note_wakee(struct task *waker, struct task *t)
{
    const ns_t now = know(t->guest);

    if (now - waker->flip_decay > NS_SEC) {
        waker->wakee_flips >>= 1;
        waker->flip_decay = now;
    }
    if (waker->last_wakee != t) {
        waker->last_wakee = t;
        waker->wakee_flips++;
    }
}

void task_wake(struct gcpu *waker, struct task *t, unsigned flags)
{
    CHECK(t->state == TASK_BLOCKED || t->state == TASK_UNBORN, "vm%d: task %d woken in state %d",
          t->guest->vm, t->id, (int)t->state);
    task_state_time(t, TASK_SLEEPING);
    if (t->state == TASK_UNBORN)
        task_begin(t);
    t->state = TASK_WAKING;
    t->wake_flags = flags;
    if (t->woken_at < 0)
        t->woken_at = know(t->guest);
    pelt_update(&t->util, know(t->guest), 0);
    if (waker->curr && !(flags & SELECT_IRQ))
        note_wakee(waker->curr, t);
    list_push(&waker->wakes, t);
}

static void begin_look(struct guest *k)
{
    k->examined = 0;
    if (k->channel)
        channel_take_reads(k->channel);
}

/* Of all that was looked at since begin_look. */
static ns_t look_price(struct guest *k)
{
    const struct costs *c = k->costs;
    struct channel_reads r = {0};

    if (k->channel)
        r = channel_take_reads(k->channel);
    return k->examined * c->select_examine + r.preempted * c->select_preempted +
           r.load * c->select_load + r.group * c->select_group + r.other * c->select_examine;
}

static ns_t selection_price(struct guest *k)
{
    if (k->conf.equal_selection)
        return k->conf.selection_cost;
    return k->costs->select_base + look_price(k);
}

void gcpu_begin_wake(struct gcpu *g)
{
    struct guest *k = g->guest;
    struct task *t = g->wakes.head;
    ns_t price;

    gcpu_settle(g);
    if (t->pin >= 0 || t->fair.delayed) {
        /* No choice: pinned, or (EEVDF) still in its queue, where it is revived. */
        g->target = t->pin >= 0 ? t->pin : t->cpu;
        g->left = k->costs->wake;
    } else {
        begin_look(k);
        g->target = op_select(k, t, t->cpu, g->id, t->wake_flags);
        price = selection_price(k);
        hist_add(&k->selection, price);
        g->left = price + k->costs->wake;
    }
    g->act = GCPU_WAKE;
}

void gcpu_finish_wake(struct gcpu *g)
{
    struct guest *k = g->guest;
    struct task *t = list_pop(&g->wakes);
    struct gcpu *to = &k->cpu[g->target];
    const bool born = t->wake_flags & SELECT_FORK;

    k->st.wakes++;
    task_state_time(t, TASK_WAITING);
    if (t->cpu != to->id && !born) {
        k->st.migrations++;
        t->refill = true;
    }
    trace_put(k->trace, know(k), TRACE_TASK_WAKE, k->vcpu_base + to->id, k->task_base + t->id,
              k->vcpu_base + g->id);
    runq_add(to, t, born ? GUEST_NEW : GUEST_WAKE);
    if (!to->curr || runq_preempts(to, t)) {
        to->need_resched = true;
        if (to != g)
            k->hooks->notify(k->hook_arg, g, to);
    } else if (to != g && to->tick_stopped && k->conf.hz > 0 && to->nr_running > 1) {
        k->hooks->notify(k->hook_arg, g, to); /* its tick must start again */
    }
    gcpu_update_busy(to);
}

ns_t guest_reread(const struct guest *k)
{
    return k->channel && k->ops->facts ? k->costs->reread : 0;
}

void gcpu_look_irq(struct gcpu *g)
{
    struct guest *k = g->guest;

    if (!k->ops->irq)
        return;
    begin_look(k);
    op_irq(k, g->id);
    gcpu_overhead(g, look_price(k));
}

void gcpu_take_irqs(struct gcpu *g)
{
    struct guest *k = g->guest;
    struct task *t = g->irq_head;
    const ns_t reread = k->ops->irq ? 0 : guest_reread(k);

    gcpu_look_irq(g);
    g->irq_head = NULL;
    g->irq_tail = &g->irq_head;
    while (t) {
        struct task *next = t->irq_link;

        t->irq_link = NULL;
        gcpu_overhead(g, k->costs->guest_irq + reread);
        task_wake(g, t, SELECT_IRQ);
        t = next;
    }
}

void task_irq(struct task *t, enum irq_kind kind)
{
    struct guest *k = t->guest;
    struct gcpu *g = &k->cpu[t->irq_cpu];

    t->woken_at = know(k);
    t->stamp = know(k);
    t->irq_link = NULL;
    *g->irq_tail = t;
    g->irq_tail = &t->irq_link;
    gcpu_update_busy(g);
    k->hooks->irq(k->hook_arg, g, kind);
}

void task_timer(struct engine *e, struct event *ev)
{
    struct task *t = container_of(ev, struct task, timer);

    (void)e;
    if (t->device)
        device_done(t);
    else
        task_irq(t, IRQ_TIMER);
}
