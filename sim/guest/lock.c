/* SPDX-License-Identifier: MIT */
/*
 * Locks: sleeping (Linux' mutex), spinning (queued or test-and-set), readers and writers (rwsem).
 *
 * Always true: a released lock goes to a spinner that executes, or stays free until somebody takes
 * it; only a fair spinning lock (queued spinlock) is handed to a waiter that may be descheduled. A
 * blocked waiter is woken and tries again, as with Linux' mutexes. But readers that wait are given the
 * lock together with their wake-up; a writer that was woken in vain keeps its place in line; and who is
 * first there and has waited for HANDOFF is given the lock before anybody can take it away (rwsem.c, 6.12).
 *
 * The line of waiters of a paravirt lock has a head that keeps others from passing, from when it has seen
 * that it is the first until it halts, also while its vCPU is off the pCPU. Who comes while there is no such
 * head spins beside the line, takes the lock if it is free, and joins the line when somebody heads it (Linux
 * 6.12 qspinlock_paravirt.h).
 *
 * A lock lies in a cache line: who takes it on another pCPU than the last brings that line there first.
 * Waiters of a queued lock spin on lines of their own; those of a test-and-set lock all ask for the one,
 * so that it takes as many exchanges as there are spinners until the next has it.
 */
#include "guest/core.h"

#define HANDOFF       (4 * NS_MS)
#define READERS_WOKEN 256 /* at once */
/* Turns of a waiter of a paravirt spinlock before it halts (SPIN_THRESHOLD); between two looks whether the one
 * before it has. */
#define PARAVIRT_TURNS 32768
#define PARAVIRT_EARLY 256
/* How often an optimistic spinner looks whether the owner still executes. Linux looks in each turn. */
#define OWNER_CHECK (10 * NS_US)

static bool executes(const struct task *t)
{
    const struct gcpu *g = task_gcpu(t);

    return g->on && g->curr == t && g->act == GCPU_TASK;
}

/* The one in line before t, who need not be in it yet. */
static struct task *task_before(const struct lock *l, const struct task *t)
{
    struct task *before = NULL;

    for (struct task *s = l->spinners.head; s && s != t; s = s->link)
        before = s;
    return before;
}

static bool is_free(const struct lock *l, bool read)
{
    return !l->owner && (read || l->readers == 0);
}

/* What a spinning lock is in this guest; only queued ones of the kernel depend on the guest. */
static enum guest_spinlock spinlock_kind(const struct guest *k, const struct lock *l)
{
    if (!l->spec->fair)
        return SPINLOCK_UNFAIR;
    if (!l->spec->kernel || l->spec->kind != LOCK_SPIN)
        return SPINLOCK_NATIVE;
    return (enum guest_spinlock)k->conf.spinlock;
}

/* Who has it next is settled among the spinners, wherever they are. */
static bool handed_in_order(const struct guest *k, const struct lock *l)
{
    return l->spec->kind == LOCK_SPIN && spinlock_kind(k, l) == SPINLOCK_NATIVE;
}

static bool is_paravirt(const struct guest *k, const struct lock *l)
{
    return spinlock_kind(k, l) == SPINLOCK_PARAVIRT;
}

/* The first in line at a paravirt spinlock spins for it, wherever its vCPU is (Linux: the pending bit
 * is set). */
static bool has_head(const struct lock *l)
{
    return l->spinners.head && l->spinners.head->heads;
}

/* Writers take an rwsem that is free, readers do not overtake those who wait. */
static bool may_take(const struct guest *k, const struct lock *l, bool read)
{
    if (handed_in_order(k, l) && l->spinners.head)
        return false;
    if (is_paravirt(k, l) && has_head(l))
        return false;
    return is_free(l, read) && !(read && l->waiters.head);
}

static void lock_got(struct task *t, struct lock *l, bool read, ns_t cost)
{
    struct guest *k = t->guest;
    struct lock *named = &k->lock[l->spec - k->work->lock]; /* has the accounts of all its CPUs */

    if (read)
        l->readers++;
    else
        l->owner = t;
    t->retries = false;
    t->heads = false;
    t->passes = false;
    t->locks_held++;
    t->kernel_locks += l->spec->kernel;
    t->kernel_spins += l->spec->kernel && l->spec->kind == LOCK_SPIN;
    named->waited += cost;
    if (t->wait_since >= 0) {
        named->waited += know(k) - t->wait_since;
        k->st.lock_wait += know(k) - t->wait_since;
        k->st.lock_waits++;
        t->wait_since = -1;
    }
}

/* The operation that made t wait is done. */
static void operation_done(struct task *t)
{
    if (t->relock)
        t->relock = NULL;
    else
        t->pc++;
}

static ns_t turns(const struct task *t, int n)
{
    const ns_t pause = t->guest->costs->pause;

    return pause > 0 ? n * pause : 1;
}

/* A paravirt waiter halts after so many turns; soon, when the one before it has halted. */
static ns_t halt_after(const struct task *t, const struct lock *l)
{
    const struct task *before = task_before(l, t);

    return turns(t, before && task_gcpu(before)->halted ? PARAVIRT_EARLY : PARAVIRT_TURNS);
}

/* From now on t spins for so long. */
static void spin_for(struct task *t, ns_t left)
{
    struct gcpu *g = task_gcpu(t);

    gcpu_settle(g);
    t->left = left;
    gcpu_charge(g, 0, 0);
}

/* The first in line at a paravirt spinlock, if it spins, sees that it is. Who could pass so far stands in
 * line behind it. */
static void see_head(struct lock *l)
{
    struct task *t = l->spinners.head;
    const struct gcpu *g = t ? task_gcpu(t) : NULL;

    if (!t || t->heads || !is_paravirt(t->guest, l) || !g->on || g->curr != t || g->halting)
        return;
    t->heads = true;
    t->passes = false;
    spin_for(t, turns(t, PARAVIRT_TURNS));
    for (struct task *s = t->link; s; s = s->link) {
        if (!s->passes)
            continue;
        s->passes = false;
        spin_for(s, turns(s, PARAVIRT_TURNS));
    }
}

/* A spinner gets the lock, whose line is asked for by `askers` meanwhile. */
static void lock_grant(struct task *t, struct lock *l, int64_t askers)
{
    const ns_t cost = t->guest->costs->lock_handover + guest_touches(t, l->line, false, askers);

    list_remove(&l->spinners, t);
    lock_got(t, l, t->reads, cost);
    operation_done(t);
    gcpu_spin_done(t, cost);
    see_head(l);
}

/* Who was woken and found an rwsem taken is the first in line again. */
static void lock_block(struct task *t, struct lock *l)
{
    gcpu_overhead(task_gcpu(t), t->guest->costs->syscall);
    t->act = ACT_NEXT;
    t->lock = NULL;
    task_block(t);
    if (t->retries)
        list_push_head(&l->waiters, t);
    else
        list_push(&l->waiters, t);
    t->retries = false;
}

/* Does the owner execute, as far as this guest can see? With the preempted flag it sees a vCPU that is
 * off its pCPU, without it only that the owner is the current task there. An rwsem that is kept for a
 * waiter who has yet to wake up has no owner in Linux, and spinners stay. */
static bool owner_runs(struct guest *k, const struct lock *l, const struct task *owner)
{
    if (l->spec->kind == LOCK_RW && owner->woken_at >= 0)
        return true;
    if (task_gcpu(owner)->curr != owner)
        return false;
    if (!k->channel || !(k->ops->facts & FACT_PREEMPTED))
        return true;
    return !channel_preempted(k->channel, owner->cpu);
}

/* How long t may spin before it looks again or blocks; 0 = not at all. Behind readers a writer spins
 * for 10 us and half a microsecond for each of up to 30 of them. */
static ns_t spin_time(const struct task *t, const struct lock *l)
{
    if (l->spec->kind == LOCK_SPIN)
        return is_paravirt(t->guest, l) && !t->passes ? halt_after(t, l) : NS_NEVER;
    if (t->reads)
        return 0;
    if (!l->spec->optimistic)
        return l->spec->spin_limit;
    if (l->owner)
        return owner_runs(t->guest, l, l->owner) ? OWNER_CHECK : 0;
    return 10 * NS_US + (l->readers < 30 ? l->readers : 30) * NS_US / 2;
}

bool lock_take(struct task *t, struct lock *l, bool read)
{
    struct gcpu *g = task_gcpu(t);
    ns_t limit;

    if (may_take(t->guest, l, read)) {
        const ns_t cost = guest_touch(t, l->line, read);

        gcpu_overhead(g, cost);
        lock_got(t, l, read, cost);
        return true;
    }
    if (t->wait_since < 0)
        t->wait_since = know(t->guest);
    t->reads = read;
    t->passes = is_paravirt(t->guest, l) && l->spinners.head && !has_head(l);
    limit = spin_time(t, l);
    if (limit == 0) {
        lock_block(t, l);
        return false;
    }
    t->act = ACT_SPIN_LOCK;
    t->lock = l;
    g->ple_left = g->ple_window ? g->ple_window : NS_NEVER; /* each loop has a window of its own */
    t->left = limit;
    list_push(&l->spinners, t);
    see_head(l);
    return false;
}

/* Optimistic spinners stand in a queue: the first watches the owner, all others those before them. */
static bool waits_for_one_who_runs(const struct task *t, const struct lock *l)
{
    const struct task *ahead = l->owner ? l->owner : l->spinners.head;

    return l->readers == 0 && ahead != t && owner_runs(t->guest, l, ahead);
}

void lock_spin_over(struct task *t)
{
    struct lock *l = t->lock;

    if (l->spec->optimistic && waits_for_one_who_runs(t, l)) {
        t->left = OWNER_CHECK;
    } else if (l->spec->optimistic && is_free(l, t->reads)) {
        lock_grant(t, l, 1);
    } else {
        list_remove(&l->spinners, t);
        lock_block(t, l);
    }
}

bool lock_halts(struct task *t)
{
    if (!is_paravirt(t->guest, t->lock))
        return false;
    t->heads = false;
    return true;
}

void lock_halted(struct task *t)
{
    struct task *next = t->link;
    const ns_t early = turns(t, PARAVIRT_EARLY);

    if (!next || next->passes)
        return;
    gcpu_settle(task_gcpu(next));
    if (next->left > early)
        spin_for(next, early);
}

void lock_halt_ends(struct task *t)
{
    t->left = halt_after(t, t->lock);
}

void lock_resume(struct task *t)
{
    const struct guest *k = t->guest;
    struct lock *l = t->lock;
    const bool in_line = spinlock_kind(k, l) != SPINLOCK_UNFAIR;

    if (is_free(l, t->reads) && (!in_line || l->spinners.head == t || (t->passes && !has_head(l))))
        lock_grant(t, l, 1);
    else
        see_head(l);
}

/* Gives the lock to a blocked waiter, which wakes up as its holder. */
static void hand_over(struct task *by, struct task *w, struct lock *l)
{
    lock_got(w, l, w->reads, 0);
    operation_done(w);
    task_wake(task_gcpu(by), w, 0);
}

/* All readers that wait, wherever they stand, have it together. */
static void wake_readers(struct task *by, struct lock *l)
{
    struct task_list rest;
    struct task *w;

    list_init(&rest);
    for (int n = 0; (w = list_pop(&l->waiters)) != NULL;) {
        if (w->reads && n++ < READERS_WOKEN)
            hand_over(by, w, l);
        else
            list_push(&rest, w);
    }
    while ((w = list_pop(&rest)) != NULL)
        list_push(&l->waiters, w);
}

static void wake_waiter(struct task *by, struct lock *l)
{
    struct task *w;

    gcpu_overhead(task_gcpu(by), by->guest->costs->syscall);
    if (l->waiters.head->reads) {
        wake_readers(by, l);
        return;
    }
    w = list_pop(&l->waiters);
    w->retries = l->spec->kind == LOCK_RW;
    task_wake(task_gcpu(by), w, 0);
}

/* A waiter of an rwsem that was overtaken for too long. */
static bool handed_off(struct task *by, struct lock *l)
{
    const struct task *w = l->waiters.head;

    if (l->spec->kind != LOCK_RW || !w || know(by->guest) - w->wait_since < HANDOFF)
        return false;
    gcpu_overhead(task_gcpu(by), by->guest->costs->syscall);
    if (w->reads)
        wake_readers(by, l);
    else
        hand_over(by, list_pop(&l->waiters), l);
    return true;
}

/* The first in line, if it runs; while it does not spin for the lock, one that came since. A head that halts is
 * kicked. */
static struct task *next_paravirt(struct task *by, const struct lock *l)
{
    struct task *head = l->spinners.head, *s = head;

    if (head && task_gcpu(head)->halted)
        by->guest->hooks->kick(by->guest->hook_arg, task_gcpu(by), task_gcpu(head));
    while (s && !(executes(s) && (s == head || (s->passes && !head->heads))))
        s = s->link;
    return s;
}

/* The spinner that gets a released lock; how many ask for its line. */
static struct task *next_spinner(struct task *by, const struct lock *l, int64_t *askers)
{
    const struct guest *k = by->guest;
    const bool queued = handed_in_order(k, l);
    struct task *next = NULL;

    if (is_paravirt(k, l)) {
        *askers = 1;
        return next_paravirt(by, l);
    }
    *askers = 0;
    for (struct task *s = l->spinners.head; s; s = s->link) {
        if (!queued && !executes(s))
            continue;
        if (!next)
            next = s;
        ++*askers;
        if (spinlock_kind(k, l) != SPINLOCK_UNFAIR)
            break;
    }
    return next;
}

void lock_release(struct task *t, struct lock *l)
{
    struct guest *k = t->guest;
    const bool write = l->owner == t;
    int64_t askers;
    struct task *s;

    if (!write && (l->owner || l->readers == 0)) {
        guest_count(k, "unlock_by_other");
        return;
    }
    l->owner = NULL;
    l->readers -= !write;
    t->locks_held--;
    t->kernel_locks -= l->spec->kernel;
    t->kernel_spins -= l->spec->kernel && l->spec->kind == LOCK_SPIN;
    gcpu_overhead(task_gcpu(t), guest_touch(t, l->line, !write));
    if (l->readers > 0 || handed_off(t, l))
        return;
    s = next_spinner(t, l, &askers);
    if (s)
        lock_grant(s, l, askers);
    else if (l->waiters.head)
        wake_waiter(t, l);
}
