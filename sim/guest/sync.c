/* SPDX-License-Identifier: MIT */
/* Barriers, conditions, queues and devices of a guest. Locks are lock.c's. */
#include "guest/core.h"

/* -- barriers -- */

static void barrier_open(struct task *last, struct barrier *b)
{
    struct guest *k = last->guest;
    struct gcpu *g = task_gcpu(last);
    struct task *t, **chain = NULL;

    while ((t = list_pop(&b->waiting)) != NULL) {
        k->st.barrier_wait += know(k) - t->wait_since;
        k->st.barrier_waits++;
        t->wait_since = -1;
        if (t->act == ACT_SPIN_BARRIER) {
            gcpu_spin_done(t, k->costs->store);
            continue;
        }
        t->barrier = NULL;
        if (chain)
            *chain = t;
        else
            task_wake(g, t, 0);
        if (b->spec->chain)
            chain = &t->chain;
    }
}

bool barrier_arrive(struct task *t, struct barrier *b)
{
    struct guest *k = t->guest;

    if (++b->arrived == b->parties) {
        b->arrived = 0;
        k->st.barriers++;
        k->st.barrier_waits++;
        barrier_open(t, b);
        return true;
    }
    t->wait_since = know(k);
    t->barrier = b;
    if (b->spec->spin_limit == 0) {
        task_block(t);
    } else {
        t->act = ACT_SPIN_BARRIER;
        t->left = b->spec->spin_limit;
    }
    list_push(&b->waiting, t);
    return false;
}

/* Stays in the barrier's list; from now on it is blocked there. */
void barrier_spin_over(struct task *t)
{
    gcpu_overhead(task_gcpu(t), t->guest->costs->syscall);
    t->act = ACT_NEXT;
    task_block(t);
}

/* -- queues -- */

bool queue_send(struct task *t, struct msgq *q)
{
    const ns_t now = know(t->guest);

    if (q->n == q->spec->capacity) {
        task_block(t);
        list_push(&q->senders, t);
        return false;
    }
    q->stamp[(q->head + q->n) % q->spec->capacity] =
        t->last_open >= 0 && t->open[t->last_open] >= 0 ? t->open[t->last_open] : now;
    q->n++;
    gcpu_overhead(task_gcpu(t), guest_touch(t, q->line, false));
    if (q->receivers.head)
        task_wake(task_gcpu(t), list_pop(&q->receivers), SELECT_SYNC);
    return true;
}

/* One for each message taken; or all, once the queue is nearly empty, as Linux does with sockets. */
static void wake_senders(struct task *by, struct msgq *q)
{
    struct task *s;

    if (q->spec->low >= 0 && q->n > q->spec->low)
        return;
    while ((s = list_pop(&q->senders)) != NULL) {
        task_wake(task_gcpu(by), s, SELECT_SYNC);
        if (q->spec->low < 0)
            return;
    }
}

bool queue_recv(struct task *t, struct msgq *q)
{
    if (q->n == 0) {
        task_block(t);
        list_push(&q->receivers, t);
        return false;
    }
    t->stamp = q->stamp[q->head];
    q->head = (q->head + 1) % q->spec->capacity;
    q->n--;
    gcpu_overhead(task_gcpu(t), guest_touch(t, q->line, false));
    wake_senders(t, q);
    return true;
}

/* -- conditions -- */

void cond_wait(struct task *t, struct cond *c, struct lock *l)
{
    gcpu_overhead(task_gcpu(t), t->guest->costs->syscall);
    lock_release(t, l);
    t->relock = l;
    task_block(t);
    list_push(&c->waiting, t);
}

void cond_wake(struct task *t, struct cond *c, bool all)
{
    struct task *w;

    if (!c->waiting.head)
        return;
    gcpu_overhead(task_gcpu(t), t->guest->costs->syscall);
    while ((w = list_pop(&c->waiting)) != NULL) {
        task_wake(task_gcpu(t), w, 0);
        if (!all)
            return;
    }
}

/* -- devices -- */

static void device_start(struct device *d, struct task *t)
{
    struct guest *k = t->guest;

    d->busy++;
    engine_arm(k->engine, &t->timer, know(k) + t->pending_amount);
}

void device_submit(struct task *t, struct device *d, ns_t service, int irq_cpu)
{
    struct guest *k = t->guest;

    t->pending_amount =
        service >= 0 ? service : spread_draw(k, &d->spec->service, d->spec->spread, &d->rng);
    k->io_ops++;
    k->hooks->io_exit(k->hook_arg, task_gcpu(t), t->pending_amount);
    gcpu_overhead(task_gcpu(t), k->costs->syscall);
    t->device = d;
    t->irq_cpu = irq_cpu >= 0 ? irq_cpu : t->cpu;
    task_block(t);
    if (d->busy < d->spec->depth)
        device_start(d, t);
    else
        list_push(&d->pending, t);
}

void device_done(struct task *t)
{
    struct device *d = t->device;
    struct task *next;

    d->busy--;
    t->device = NULL;
    next = list_pop(&d->pending);
    if (next)
        device_start(d, next);
    task_irq(t, IRQ_DEVICE);
}
