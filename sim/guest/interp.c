/* SPDX-License-Identifier: MIT */
/*
 * The interpreter of programs. An operation that concerns other tasks takes effect once no more
 * than `guest.batch` of overhead is still owed; work and loops need not wait for that.
 */
#include "guest/core.h"

static ns_t amount(struct task *t, const struct op *op)
{
    const ns_t v =
        spread_draw(t->guest, &op->amount, op->spread, op->shared ? &t->shared : &t->rng);

    return op->divide ? v / t->peers : v;
}

static ns_t owed(const struct gcpu *g)
{
    return g->hyp + g->ovh;
}

void task_start_program(struct task *t)
{
    t->pc = 0;
    t->loop_top = 0;
    t->act = ACT_NEXT;
    t->release = -1;
    t->stamp = -1;
    t->last_open = -1;
    t->wait_since = -1;
    t->share_left = 0;
    t->turn = 0;
    for (int i = 0; i < t->guest->work->nmarks; i++)
        t->open[i] = -1;
}

static void next_round(struct task *t)
{
    if (t->loop[t->loop_top - 1].left < 0 || --t->loop[t->loop_top - 1].left > 0) {
        t->pc = t->loop[t->loop_top - 1].pc;
    } else {
        t->loop_top--;
        t->pc++;
    }
}

static void mark(struct task *t, const struct op *op)
{
    struct guest *k = t->guest;
    const struct gcpu *g = task_gcpu(t);
    const ns_t at = know(k) + owed(g);

    switch (op->code) {
    case OP_MARK_OP:
        k->st.ops++;
        if (op->obj == k->phase_mark)
            k->phase_at = know(k);
        trace_put(k->trace, know(k), TRACE_MARK, k->vcpu_base + g->id, k->task_base + t->id,
                  op->obj);
        break;
    case OP_MARK_OPEN:
        t->open[op->obj] = op->inherit && t->stamp >= 0 ? t->stamp : at;
        t->last_open = op->obj;
        break;
    default:
        if (t->open[op->obj] >= 0) {
            hist_add(&k->latency, at - t->open[op->obj]);
            t->open[op->obj] = -1;
        } else {
            guest_count(k, "mark_close_without_open");
        }
        break;
    }
}

/* Operations on this task alone; true when `op` was one of them. */
static bool alone(struct task *t, const struct op *op)
{
    switch (op->code) {
    case OP_RUN:
    case OP_SPIN:
        t->left = amount(t, op);
        t->act = op->code == OP_RUN ? ACT_RUN : ACT_BURN;
        t->pc++;
        return true;
    case OP_LOOP:
        t->loop[t->loop_top].pc = t->pc + 1;
        t->loop[t->loop_top++].left = op->count > 0 ? op->count : -1;
        t->pc++;
        return true;
    case OP_NEXT:
        next_round(t);
        return true;
    case OP_TURN:
        t->turn++;
        t->pc++;
        return true;
    case OP_MARK_OP:
    case OP_MARK_OPEN:
    case OP_MARK_CLOSE:
        mark(t, op);
        t->pc++;
        return true;
    default:
        return false;
    }
}

static void sleep_until(struct task *t, ns_t at)
{
    struct guest *k = t->guest;

    t->irq_cpu = t->cpu;
    k->hooks->timer_exit(k->hook_arg, task_gcpu(t));
    engine_arm(k->engine, &t->timer, at);
    task_block(t);
}

static void do_timer(struct task *t, const struct op *op)
{
    const ns_t now = know(t->guest), a = amount(t, op);

    if (op->absolute)
        t->release = t->guest->start + a;
    else
        t->release = (t->release < 0 ? now : t->release) + a;
    t->pc++;
    t->stamp = t->release;
    if (t->release > now)
        sleep_until(t, t->release);
}

static void do_fork(struct task *t, const struct op *op)
{
    struct guest *k = t->guest;
    const struct task_spec *spec = &k->work->task[op->obj];

    t->pc++;
    for (int i = 0; i < k->ntasks; i++) {
        struct task *c = &k->task[i];

        if (c->spec != spec || (c->state != TASK_UNBORN && c->state != TASK_DEAD))
            continue;
        if (c->state == TASK_DEAD) {
            task_state_time(c, TASK_SLEEPING);
            c->state = TASK_UNBORN;
        }
        task_start_program(c);
        c->cpu = t->cpu;
        task_wake(task_gcpu(t), c, SELECT_FORK);
        return;
    }
    guest_count(k, "fork_refused");
}

/* Blocks are as large as the groups of the task's template; without groups all elements are one. */
static int64_t element_of(const struct task *t, enum element_at at, int64_t count)
{
    const int64_t block = t->spec->tag_of > 0 && t->spec->tag_of < count ? t->spec->tag_of : count;

    if (at == AT_SELF)
        return t->instance % count;
    return (t->instance / block * block + t->turn % block) % count;
}

static void do_queue(struct task *t, const struct op *op)
{
    struct msgq *q = &t->guest->queue[op->obj];

    if (q->element)
        q = &q->element[element_of(t, (enum element_at)op->at, q->spec->count)];

    gcpu_overhead(task_gcpu(t), t->guest->costs->syscall);
    if (op->code == OP_SEND ? queue_send(t, q) : queue_recv(t, q))
        t->pc++;
}

static void do_yield(struct task *t)
{
    struct gcpu *g = task_gcpu(t);
    struct guest *k = t->guest;

    t->pc++;
    gcpu_overhead(g, k->costs->syscall);
    runq_charge(g);
    if (!k->ops->enqueue && k->conf.scheduler != GUEST_SCHED_FIFO)
        fair_yield(&g->fq);
    g->need_resched = true;
}

/* A store to one's own word changes nothing: whoever stores is not idle. */
static void do_poke(struct task *t, const struct op *op)
{
    struct guest *k = t->guest;
    struct gcpu *from = task_gcpu(t),
                *to = &k->cpu[op->obj < 0 ? (t->cpu + 1) % k->ncpus : op->obj];
    ns_t length = 0;

    t->pc++;
    if (op->poke == POKE_PULSE) {
        length = amount(t, op);
        length = length > 0 ? length : 1;
    }
    if (k->hooks->poke && from != to)
        k->hooks->poke(k->hook_arg, from, to, (enum poke_kind)op->poke, length);
}

/* One exchange at a time: between two of them, others may have the line. It takes some time on every
 * machine. */
static void do_share(struct task *t, const struct op *op)
{
    ns_t cost = guest_touch(t, op->obj, true);

    if (cost == 0)
        cost = t->guest->costs->exchange_own;
    gcpu_overhead(task_gcpu(t), cost > 0 ? cost : 1);
    if (t->share_left == 0)
        t->share_left = op->count;
    if (--t->share_left == 0)
        t->pc++;
}

/* The lock that t takes here, or took. */
static struct lock *lock_of(const struct task *t, int obj, enum element_at at, bool taken)
{
    struct lock *l = &t->guest->lock[obj];

    if (l->element)
        return &l->element[element_of(t, at, l->spec->count)];
    if (!l->per_cpu)
        return l;
    for (int i = 0; taken && i < t->guest->ncpus; i++)
        if (l->per_cpu[i].owner == t)
            return &l->per_cpu[i];
    return &l->per_cpu[t->cpu];
}

/* Operations that concern others. */
static void interact(struct task *t, const struct op *op)
{
    struct guest *k = t->guest;

    switch (op->code) {
    case OP_SLEEP:
        t->pc++;
        sleep_until(t, know(k) + owed(task_gcpu(t)) + amount(t, op));
        break;
    case OP_TIMER:
        do_timer(t, op);
        break;
    case OP_BARRIER:
        t->pc++;
        gcpu_overhead(task_gcpu(t), k->costs->syscall);
        barrier_arrive(t, &k->barrier[op->obj]);
        break;
    case OP_LOCK:
        if (lock_take(t, lock_of(t, op->obj, (enum element_at)op->at, false), op->read))
            t->pc++;
        break;
    case OP_UNLOCK:
        t->pc++;
        lock_release(t, lock_of(t, op->obj, (enum element_at)op->at, true));
        break;
    case OP_WAIT:
        t->pc++;
        cond_wait(t, &k->cond[op->obj], lock_of(t, op->obj2, AT_NONE, true));
        break;
    case OP_SIGNAL:
    case OP_BROADCAST:
        t->pc++;
        cond_wake(t, &k->cond[op->obj], op->code == OP_BROADCAST);
        break;
    case OP_SEND:
    case OP_RECV:
        do_queue(t, op);
        break;
    case OP_IO:
        t->pc++;
        device_submit(t, &k->device[op->obj], op->has_amount ? amount(t, op) : -1, op->obj2);
        break;
    case OP_YIELD:
        do_yield(t);
        break;
    case OP_POKE:
        do_poke(t, op);
        break;
    case OP_SHARE:
        do_share(t, op);
        break;
    case OP_FORK:
        do_fork(t, op);
        break;
    case OP_EXIT:
        task_exit(t);
        break;
    default:
        CHECK(false, "operation %d has no meaning", (int)op->code);
    }
}

/* Does it ask for a cache line that others ask for all the time? Their order is to the nanosecond. */
static bool in_line(const struct task *t, const struct op *op)
{
    const struct lock *l;

    if (op->code == OP_UNLOCK) {
        l = lock_of(t, op->obj, (enum element_at)op->at, true);
        return l->spec->kind == LOCK_RW && l->owner != t;
    }
    return op->code == OP_SHARE || (op->code == OP_LOCK && op->read);
}

/* Behind the last operation of every program. */
static const struct op end_of_program = {.code = OP_EXIT};

bool task_advance(struct task *t)
{
    struct gcpu *g = task_gcpu(t);
    struct guest *k = t->guest;
    const struct op *op;

    while (g->curr == t && t->act == ACT_NEXT && !g->wakes.head && !gcpu_resched(g)) {
        CHECK(g->steps++ < 10000000, "vm%d task %d goes round without taking time", k->vm, t->id);
        op = t->pc < t->spec->nops ? &t->spec->op[t->pc] : &end_of_program;
        if (!t->relock && alone(t, op))
            continue;
        if (owed(g) > (in_line(t, op) ? 0 : k->conf.batch))
            return false;
        if (!t->relock)
            interact(t, op);
        else if (lock_take(t, t->relock, false))
            t->relock = NULL;
    }
    return true;
}
