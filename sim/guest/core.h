/* SPDX-License-Identifier: MIT */
/* What the guest's own files share. Nobody outside sim/guest includes this. */
#ifndef SIM_GUEST_CORE_H
#define SIM_GUEST_CORE_H

#include "engine/check.h"
#include "guest/guest.h"
#include "guest/guest_ops.h"

/* list.c */
void list_init(struct task_list *l);
void list_push(struct task_list *l, struct task *t);
void list_push_head(struct task_list *l, struct task *t);
struct task *list_pop(struct task_list *l);
void list_remove(struct task_list *l, struct task *t);

/* gcpu.c */
void gcpu_init(struct gcpu *g, struct guest *k, int id);
void gcpu_step(struct gcpu *g);
void gcpu_flush_task(struct gcpu *g);
void gcpu_arm(struct gcpu *g);
void gcpu_overhead(struct gcpu *g, ns_t ns);
void gcpu_update_busy(struct gcpu *g);
/* The spinning task t got what it waited for; it goes on after `cost`. */
void gcpu_spin_done(struct task *t, ns_t cost);

/* sched.c */
/* The current task's time off the pCPU since it was last accounted. */
void task_stolen(struct task *t);
int64_t gcpu_util(const struct gcpu *g);
void runq_add(struct gcpu *g, struct task *t, enum guest_enqueue_why why);
void runq_remove(struct gcpu *g, struct task *t); /* queued, not current */

void runq_charge(struct gcpu *g);
bool runq_preempts(struct gcpu *g, struct task *woken);
void gcpu_schedule(struct gcpu *g);
void runq_push_current(struct gcpu *g, int to);
void task_block(struct task *t); /* current -> BLOCKED */
void task_exit(struct task *t);
void task_begin(struct task *t); /* the policy's task_init and task_fini */
void task_end(struct task *t);
void guest_areas(struct guest *k);
void guest_usable_area(struct guest *k);
void task_state_time(struct task *t, enum task_term term);
void gcpu_tick_init(struct gcpu *g);
void gcpu_tick_start(struct gcpu *g);
void gcpu_tick_stop(struct gcpu *g);
void gcpu_tick_idle(struct gcpu *g);
void gcpu_run_tick(struct gcpu *g);

/* wake.c */
void task_wake(struct gcpu *waker, struct task *t, unsigned flags);
void gcpu_begin_wake(struct gcpu *g);
void gcpu_finish_wake(struct gcpu *g);
void gcpu_take_irqs(struct gcpu *g);
void gcpu_look_irq(struct gcpu *g); /* an interrupt: the policy's look at the channel */
void task_irq(struct task *t, enum irq_kind kind); /* t's timer or I/O is done */
void task_timer(struct engine *e, struct event *ev);

/* program.c */
void task_start_program(struct task *t);
/* Interprets until it takes time, blocks or queues wake-ups. False: debts have to be burnt first.
 */
bool task_advance(struct task *t);

/* spread.c */
int spread_init(struct guest *k, uint64_t seed);
/* A draw, multiplied by the VM's factor of `spread` (as in struct op). */
ns_t spread_draw(struct guest *k, const struct dist *d, int spread, struct rng *r);

/* lock.c */
bool lock_take(struct task *t, struct lock *l, bool read); /* true: taken; else t spins or blocks */
void lock_release(struct task *t, struct lock *l);
void lock_spin_over(struct task *t); /* spin limit reached */
/* A waiter of a paravirt spinlock whose budget is spent: does it halt? */
bool lock_halts(struct task *t);
void lock_halted(struct task *t);    /* its vCPU has */
void lock_halt_ends(struct task *t); /* its vCPU wants a pCPU again */
void lock_resume(struct task *t);    /* t spins on: it is current and executes again */

/* sync.c */
bool barrier_arrive(struct task *t, struct barrier *b);
void barrier_spin_over(struct task *t);
bool queue_send(struct task *t, struct msgq *q);
bool queue_recv(struct task *t, struct msgq *q);
void cond_wait(struct task *t, struct cond *c, struct lock *l);
void cond_wake(struct task *t, struct cond *c, bool all);
void device_submit(struct task *t, struct device *d, ns_t service, int irq_cpu);
void device_done(struct task *t);

/* hints.c */
/* g executes and its state is settled: its row is written if what it says has changed. */
void hints_update(struct gcpu *g);
/* The same at a tick, when a policy may want to say something else, and for guests without hints. */
void hints_tick(struct gcpu *g);

/* balance.c */
bool guest_newidle(struct gcpu *g);
void guest_periodic(struct gcpu *g);
void guest_nohz_balance(struct gcpu *g);
void guest_push_current(struct gcpu *g);
/* The tick of a CPU with a running task: may the policy have it moved? */
void guest_evict_tick(struct gcpu *g);

/* ops.c: one typed wrapper per operation */
int op_select(struct guest *k, struct task *t, int prev, int waker, unsigned flags);
void op_irq(struct guest *k, int cpu);
bool op_usable(struct guest *k, int cpu);
int op_evict(struct guest *k, int cpu, struct task *curr);
int op_capacity(struct guest *k, int cpu);

static inline ns_t know(const struct guest *k)
{
    return k->engine->now;
}

static inline void gcpu_push(struct gcpu *g, int to, bool evicts)
{
    g->push_to = to;
    g->evicts = evicts;
}

static inline struct gcpu *task_gcpu(const struct task *t)
{
    return &t->guest->cpu[t->cpu];
}

/* What it takes until t can write a cache line of the guest. */
static inline ns_t guest_touches(const struct task *t, int line, bool queue, int64_t times)
{
    const struct guest *k = t->guest;

    return k->hooks->touch ? k->hooks->touch(k->hook_arg, task_gcpu(t), line, queue, times) : 0;
}

static inline ns_t guest_touch(const struct task *t, int line, bool queue)
{
    return guest_touches(t, line, queue, 1);
}

#endif
