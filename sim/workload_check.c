/* SPDX-License-Identifier: MIT */
/*
 * What can be said about programs without running them: loops that take no time, locks that are not
 * taken or never given back, barriers that cannot open, queues and conditions with one side only,
 * samples that never close, tasks that never start.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "workload_parts.h"

/* A loop without time may turn this often: more is as good as endless. */
#define IDLE_TURNS_MAX 1000000

struct checker {
    struct parser *p;
    const struct task_spec *task;
    const struct conf_node **at;
    bool *held; /* [nlocks] */
};

static void fault(const struct checker *c, int i, const char *what, const char *name)
{
    conf_error(c->p->e, c->at[i], "task '%s': %s '%s'", c->task->name, what, name);
}

static bool never_zero(const struct dist *d)
{
    return d->kind != DIST_CONST || d->a > 0;
}

/* Whether time passes or may pass before the next operation. */
static bool takes_time(const struct workload *w, const struct op *op)
{
    switch (op->code) {
    case OP_RUN:
    case OP_SLEEP:
    case OP_SPIN:
        return never_zero(&op->amount);
    case OP_TIMER:
        return op->periodic && never_zero(&op->amount);
    case OP_IO:
        return never_zero(op->has_amount ? &op->amount : &w->device[op->obj].service);
    case OP_BARRIER:
    case OP_WAIT:
    case OP_SEND:
    case OP_RECV:
    case OP_EXIT:
    case OP_SHARE:
        return true;
    default:
        return false;
    }
}

static bool range_takes_time(const struct checker *c, int from, int to)
{
    for (int i = from; i < to; i++)
        if (takes_time(c->p->w, &c->task->op[i]))
            return true;
    return false;
}

static void check_loop(const struct checker *c, int i)
{
    const struct op *op = &c->task->op[i];
    const struct op *after = op->jump + 1 < c->task->nops ? &c->task->op[op->jump + 1] : NULL;

    if ((op->count == 0 || op->count > IDLE_TURNS_MAX) && !range_takes_time(c, i + 1, op->jump))
        conf_error_key(c->p->e, c->at[i],
                       "task '%s': this loop turns for ever without taking time; "
                       "it needs a run, sleep, io or another operation that may block",
                       c->task->name);
    if (op->count == 0 && after && after->code != OP_NEXT)
        conf_error(c->p->e, c->at[op->jump + 1],
                   "task '%s': never reached, the loop before it has no end", c->task->name);
}

static void check_lock_op(struct checker *c, int i)
{
    const struct op *op = &c->task->op[i];
    int lock = op->code == OP_WAIT ? op->obj2 : op->obj;
    const char *name = c->p->w->lock[lock].name;

    if (op->code == OP_LOCK) {
        if (c->held[lock])
            fault(c, i, "takes a lock that it holds already:", name);
        c->held[lock] = true;
    } else {
        if (!c->held[lock])
            fault(c, i,
                  op->code == OP_WAIT ? "waits without holding lock"
                                      : "unlocks a lock that it does not hold:",
                  name);
        c->held[lock] = op->code == OP_WAIT;
    }
}

static void check_nothing_held(struct checker *c, int i)
{
    for (int k = 0; k < c->p->w->nlocks; k++) {
        if (c->held[k])
            fault(c, i, "ends with a lock held:", c->p->w->lock[k].name);
        c->held[k] = false;
    }
}

/* Follows the program once. A loop must give back what it takes: its second turn starts as the
 * first. */
static void check_locks(struct checker *c)
{
    size_t nlocks = (size_t)c->p->w->nlocks;
    bool *before = parts_alloc((PROGRAM_LOOPS + 1) * nlocks, sizeof(*before));
    bool *mark = before;

    for (int i = 0; i < c->task->nops; i++) {
        const struct op *op = &c->task->op[i];

        if (op->code == OP_LOCK || op->code == OP_UNLOCK || op->code == OP_WAIT) {
            check_lock_op(c, i);
        } else if (op->code == OP_LOOP && nlocks) {
            memcpy(mark, c->held, nlocks);
            mark += nlocks;
        } else if (op->code == OP_NEXT && nlocks) {
            mark -= nlocks;
            if (memcmp(mark, c->held, nlocks) != 0)
                conf_error_key(c->p->e, c->at[op->jump],
                               "task '%s': a turn of this loop ends with other locks held than it "
                               "began with",
                               c->task->name);
            memcpy(c->held, mark, nlocks);
        } else if (op->code == OP_EXIT) {
            check_nothing_held(c, i);
        }
    }
    if (c->task->nops)
        check_nothing_held(c, c->task->nops - 1);
    free(before);
}

static void check_inherit(const struct checker *c, int i)
{
    const struct op *op = c->task->op;
    int k = i - 1;

    if (op[i].code != OP_MARK_OPEN || !op[i].inherit)
        return;
    while (k >= 0 &&
           (op[k].code == OP_MARK_OP || op[k].code == OP_MARK_OPEN || op[k].code == OP_MARK_CLOSE))
        k--;
    if (k < 0 || !(op[k].code == OP_RECV || op[k].code == OP_IO || op[k].code == OP_SLEEP ||
                   op[k].code == OP_TIMER))
        conf_error(
            c->p->e, c->at[i],
            "task '%s': inherit takes the time of a message or an interrupt: it must follow a "
            "recv, an io, a sleep or a timer",
            c->task->name);
}

static void check_program(struct parser *p, int task)
{
    struct checker c = {.p = p, .task = &p->w->task[task], .at = p->note[OBJ_TASK][task].op_node};

    c.held = parts_alloc((size_t)p->w->nlocks, sizeof(*c.held));
    for (int i = 0; i < c.task->nops; i++) {
        if (c.task->op[i].code == OP_LOOP)
            check_loop(&c, i);
        check_inherit(&c, i);
    }
    check_locks(&c);
    free(c.held);
}

static const struct op *first_op(const struct task_spec *t, enum op_code code, int obj)
{
    for (int i = 0; i < t->nops; i++)
        if (t->op[i].code == code && t->op[i].obj == obj)
            return &t->op[i];
    return NULL;
}

static bool anybody(const struct workload *w, enum op_code code, int obj)
{
    for (int i = 0; i < w->ntasks; i++)
        if (first_op(&w->task[i], code, obj))
            return true;
    return false;
}

/* One side of an object is used without the other. */
struct pair {
    enum object_kind kind;
    enum op_code one, other;
    const char *text;
};

static const struct pair PAIRS[] = {
    {OBJ_QUEUE, OP_RECV, OP_SEND, "receives from queue '%s', but nobody sends to it"},
    {OBJ_QUEUE, OP_SEND, OP_RECV, "sends to queue '%s', but nobody receives from it"},
    {OBJ_MARK, OP_MARK_CLOSE, OP_MARK_OPEN, "closes sample '%s', but nobody opens it"},
    {OBJ_MARK, OP_MARK_OPEN, OP_MARK_CLOSE, "opens sample '%s', but nobody closes it"},
};

/* Reports at the first use of `code` on object `obj`. */
static void report_use(struct parser *p, enum op_code code, int obj, const char *text,
                       const char *name)
{
    for (int i = 0; i < p->w->ntasks; i++) {
        const struct task_spec *t = &p->w->task[i];
        const struct op *op = first_op(t, code, obj);

        if (!op)
            continue;
        char *what = parts_format(text, name);

        conf_error(p->e, p->note[OBJ_TASK][i].op_node[op - t->op], "task '%s' %s", t->name, what);
        free(what);
        return;
    }
}

static void check_pairs(struct parser *p)
{
    for (size_t k = 0; k < sizeof(PAIRS) / sizeof(PAIRS[0]); k++) {
        const struct pair *q = &PAIRS[k];

        for (int obj = 0; obj < object_count(p->w, q->kind); obj++)
            if (anybody(p->w, q->one, obj) && !anybody(p->w, q->other, obj))
                report_use(p, q->one, obj, q->text, object_name(p->w, q->kind, obj));
    }
    for (int i = 0; i < p->w->nconds; i++)
        if (anybody(p->w, OP_WAIT, i) && !anybody(p->w, OP_SIGNAL, i) &&
            !anybody(p->w, OP_BROADCAST, i))
            report_use(p, OP_WAIT, i, "waits for '%s', but nobody signals it", p->w->cond[i]);
}

static bool counted(const struct task_spec *t)
{
    return !t->on_demand && t->count > 0;
}

static void check_barrier(struct parser *p, int b)
{
    const struct barrier_spec *spec = &p->w->barrier[b];
    const struct conf_node *at = p->note[OBJ_BARRIER][b].node;
    int64_t users = 0;
    bool exact = true, forked = false;

    for (int i = 0; i < p->w->ntasks; i++) {
        const struct task_spec *t = &p->w->task[i];

        if (!first_op(t, OP_BARRIER, b))
            continue;
        users += counted(t) ? t->count : 1;
        exact = exact && counted(t);
        forked = forked || t->on_demand;
    }
    if (users == 0)
        return;
    if (spec->parties == 0 && forked)
        conf_error_key(p->e, at, "barrier '%s' has users that are forked: say how many 'parties'",
                       spec->name);
    else if (spec->parties == 0 && exact && users == 1)
        conf_error_key(p->e, at, "barrier '%s' has only one party", spec->name);
    else if (exact && users < spec->parties)
        conf_error_key(p->e, at,
                       "barrier '%s' waits for %" PRId64 " parties, but only %" PRId64
                       " tasks use it",
                       spec->name, spec->parties, users);
}

static void check_starts(struct parser *p)
{
    bool any = false;

    for (int i = 0; i < p->w->ntasks; i++) {
        const struct task_spec *t = &p->w->task[i];

        any = any || !t->on_demand;
        if (t->on_demand && !anybody(p->w, OP_FORK, i))
            conf_error(p->e, p->note[OBJ_TASK][i].node,
                       "task '%s' is on_demand, but nobody forks it", t->name);
        if (!t->on_demand && anybody(p->w, OP_FORK, i))
            report_use(p, OP_FORK, i, "forks task '%s', which is not on_demand", t->name);
    }
    if (!any)
        conf_error(p->e, p->note[OBJ_TASK][0].node, "no task starts: all are on_demand");
}

void workload_check(struct parser *p)
{
    for (int i = 0; i < p->w->ntasks; i++)
        check_program(p, i);
    check_pairs(p);
    for (int i = 0; i < p->w->nbarriers; i++)
        check_barrier(p, i);
    check_starts(p);
}
