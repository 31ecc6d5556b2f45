/* SPDX-License-Identifier: MIT */
/*
 * Programs of the workload format -> flat arrays of operations. One row of OPS per operation.
 *
 * Always true: each OP_LOOP knows its OP_NEXT and the other way round, also after errors.
 */
#include <stdlib.h>
#include <string.h>

#include "workload_parts.h"

#define LOOP_TURNS_MAX 1000000000000
#define SHARES_MAX     1000000000
#define PULSE_DEFAULT  1000 /* ns; assumed */

struct compiler {
    struct parser *p;
    int task;
    int depth;
};

static struct task_spec *task_of(const struct compiler *c)
{
    return &c->p->w->task[c->task];
}

/* Appends an operation. The pointer holds until the next one. */
static struct op *emit(struct compiler *c, enum op_code code, const struct conf_node *at)
{
    struct task_spec *t = task_of(c);
    struct object_note *note = &c->p->note[OBJ_TASK][c->task];

    t->op = parts_grow(t->op, (size_t)t->nops, sizeof(*t->op));
    note->op_node = parts_grow(note->op_node, (size_t)t->nops, sizeof(*note->op_node));
    note->op_node[t->nops] = at;
    t->op[t->nops] = (struct op){.code = code, .obj = -1, .obj2 = -1, .jump = -1, .line = at->line};
    t->op[t->nops].amount = (struct dist){.kind = DIST_CONST, .num = 1, .den = 1};
    return &t->op[t->nops++];
}

static void read_amount(struct compiler *c, const struct conf_node *n, struct op *op)
{
    if (amount_read_spread(c->p, n, &op->amount, &op->spread))
        op->has_amount = 1;
}

static void only_keys(struct compiler *c, const struct conf_node *map, const char *const *names,
                      size_t n)
{
    conf_only_keys(map, names, n, map->key, c->p->e);
}

static void read_flag(struct compiler *c, const struct conf_node *map, const char *key,
                      uint8_t *out)
{
    const struct conf_node *n = conf_get(map, key);
    bool on = false;

    if (n && conf_bool(n, &on, c->p->e))
        *out = on;
}

/* -- one reader per form of argument; `code` is the row's -- */

static void read_run(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    static const char *const NAMES[] = {"amount", "shared", "divide"};
    const struct conf_node *amount = conf_get(arg, "amount");
    bool options = conf_get(arg, "shared") || conf_get(arg, "divide");
    struct op *op = emit(c, code, arg);

    if (!amount && !options) {
        read_amount(c, arg, op);
        return;
    }
    only_keys(c, arg, NAMES, 3);
    if (amount)
        read_amount(c, amount, op);
    else
        conf_error(c->p->e, arg, "run is missing its 'amount'");
    read_flag(c, arg, "shared", &op->shared);
    read_flag(c, arg, "divide", &op->divide);
}

static void read_plain_amount(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    read_amount(c, arg, emit(c, code, arg));
}

static void read_timer(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    static const char *const NAMES[] = {"every", "at"};
    const struct conf_node *every = conf_get(arg, "every"), *at = conf_get(arg, "at");
    struct op *op = emit(c, code, arg);

    op->periodic = 1;
    if (!every && !at) {
        read_amount(c, arg, op);
        return;
    }
    only_keys(c, arg, NAMES, 2);
    if (every && at)
        conf_error(c->p->e, arg, "timer takes either 'every' or 'at'");
    read_amount(c, every ? every : at, op);
    op->periodic = every != NULL;
    op->absolute = every == NULL;
}

static enum object_kind kind_of_code(enum op_code code)
{
    switch (code) {
    case OP_BARRIER:
        return OBJ_BARRIER;
    case OP_LOCK:
    case OP_UNLOCK:
        return OBJ_LOCK;
    case OP_SEND:
    case OP_RECV:
        return OBJ_QUEUE;
    case OP_FORK:
        return OBJ_TASK;
    case OP_SHARE:
        return OBJ_LINE;
    default:
        return OBJ_COND;
    }
}

/* A name, or a mapping whose only key is the kind of object. */
static void read_object(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    enum object_kind kind = kind_of_code(code);
    const char *const names[] = {object_title[kind]};
    const struct conf_node *name = arg;
    struct op *op = emit(c, code, arg);

    if (arg->kind == CONF_MAP) {
        only_keys(c, arg, names, 1);
        name = conf_get(arg, names[0]);
    }
    if (name)
        op->obj = object_find(c->p, name, kind);
    else
        conf_error(c->p->e, arg, "%s is missing its '%s'", arg->key, names[0]);
}

/* Which element, and only of an array. */
static void read_at(struct compiler *c, const struct conf_node *at, const struct conf_node *arg,
                    int64_t count, struct op *op)
{
    static const char *const NAMES[] = {"self", "turn"};
    const char *text = at ? conf_str(at, c->p->e) : NULL;

    if (at && count == 0)
        conf_error_key(c->p->e, at, "'at' is for an array: one object has no elements");
    if (!at && count > 0)
        conf_error(c->p->e, arg, "this is an array: say which element, at: self or at: turn");
    for (int i = 0; text && i < 2; i++) {
        if (strcmp(NAMES[i], text) == 0) {
            op->at = (uint8_t)(AT_SELF + i);
            return;
        }
    }
    if (text)
        parts_unknown(c->p->e, at, "element", text, NAMES, 2);
}

static void read_queue_op(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    static const char *const NAMES[] = {"queue", "at"};
    const struct conf_node *name = arg;
    struct op *op = emit(c, code, arg);

    if (arg->kind == CONF_MAP) {
        only_keys(c, arg, NAMES, 2);
        name = conf_get(arg, "queue");
    }
    if (name)
        op->obj = object_find(c->p, name, OBJ_QUEUE);
    else
        conf_error(c->p->e, arg, "%s is missing its 'queue'", arg->key);
    if (op->obj >= 0)
        read_at(c, conf_get(arg, "at"), arg, c->p->w->queue[op->obj].count, op);
}

static void read_lock_mode(struct compiler *c, const struct conf_node *n, struct op *op)
{
    static const char *const MODES[] = {"write", "read"};
    const char *text = conf_str(n, c->p->e);

    for (int i = 0; text && i < 2; i++) {
        if (strcmp(MODES[i], text) == 0) {
            op->read = (uint8_t)i;
            if (i == 1 && op->obj >= 0 && c->p->w->lock[op->obj].kind != LOCK_RW)
                conf_error_key(c->p->e, n, "only a lock of kind: rwsem has readers");
            return;
        }
    }
    if (text)
        parts_unknown(c->p->e, n, "mode", text, MODES, 2);
}

static void read_lock_op(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    static const char *const NAMES[] = {"lock", "at", "mode"};
    const struct conf_node *name = arg;
    struct op *op = emit(c, code, arg);

    if (arg->kind == CONF_MAP) {
        only_keys(c, arg, NAMES, code == OP_LOCK ? 3 : 2);
        name = conf_get(arg, "lock");
    }
    if (name)
        op->obj = object_find(c->p, name, OBJ_LOCK);
    else
        conf_error(c->p->e, arg, "%s is missing its 'lock'", arg->key);
    if (op->obj >= 0)
        read_at(c, conf_get(arg, "at"), arg, c->p->w->lock[op->obj].count, op);
    if (code == OP_LOCK && conf_get(arg, "mode"))
        read_lock_mode(c, conf_get(arg, "mode"), op);
}

static void read_share(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    static const char *const NAMES[] = {"line", "count"};
    const struct conf_node *name = arg;
    struct op *op = emit(c, code, arg);

    op->count = 1;
    if (arg->kind == CONF_MAP) {
        only_keys(c, arg, NAMES, 2);
        name = conf_get(arg, "line");
        if (conf_get(arg, "count"))
            conf_int(conf_get(arg, "count"), 1, SHARES_MAX, &op->count, c->p->e);
    }
    if (name)
        op->obj = object_find(c->p, name, OBJ_LINE);
    else
        conf_error(c->p->e, arg, "share is missing its 'line'");
}

static void read_wait(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    static const char *const NAMES[] = {"cond", "lock"};
    const struct conf_node *cond = conf_get(arg, "cond"), *lock = conf_get(arg, "lock");
    struct op *op = emit(c, code, arg);

    if (!cond || !lock) {
        conf_error(c->p->e, arg, "wait takes a condition and a lock: {cond: c, lock: l}");
        return;
    }
    only_keys(c, arg, NAMES, 2);
    op->obj = object_find(c->p, cond, OBJ_COND);
    op->obj2 = object_find(c->p, lock, OBJ_LOCK);
    if (op->obj2 >= 0 && c->p->w->lock[op->obj2].kind == LOCK_RW)
        conf_error(c->p->e, lock, "a condition goes with a lock of kind: sleep or spin, not rwsem");
    if (op->obj2 >= 0 && c->p->w->lock[op->obj2].count > 0)
        conf_error(c->p->e, lock, "a condition goes with one lock, not with an array");
}

static void read_io(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    static const char *const NAMES[] = {"device", "service", "irq"};
    const struct conf_node *device = arg, *service = NULL;
    struct op *op = emit(c, code, arg);
    int64_t irq = -1;

    if (arg->kind == CONF_MAP) {
        only_keys(c, arg, NAMES, 3);
        if (conf_get(arg, "irq"))
            conf_int(conf_get(arg, "irq"), 0, 65535, &irq, c->p->e);
        device = conf_get(arg, "device");
        service = conf_get(arg, "service");
    }
    if (device)
        op->obj = object_find(c->p, device, OBJ_DEVICE);
    else
        conf_error(c->p->e, arg, "io is missing its 'device'");
    op->obj2 = (int)irq;
    if (service)
        read_amount(c, service, op);
}

static void read_mark(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    static const char *const NAMES[] = {"op", "open", "close", "inherit"};
    const struct conf_node *open = conf_get(arg, "open"), *close = conf_get(arg, "close");
    const struct conf_node *count = arg->kind == CONF_SCALAR ? arg : conf_get(arg, "op");
    const struct conf_node *name = open ? open : close ? close : count;
    struct op *op = emit(c, open ? OP_MARK_OPEN : close ? OP_MARK_CLOSE : code, arg);

    if (arg->kind == CONF_MAP)
        only_keys(c, arg, NAMES, 4);
    if (!!open + !!close + !!count != 1) {
        conf_error(c->p->e, arg, "mark takes one of op, open and close");
        return;
    }
    if (conf_get(arg, "inherit") && !open)
        conf_error_key(c->p->e, conf_get(arg, "inherit"), "only 'open' can inherit");
    read_flag(c, arg, "inherit", &op->inherit);
    op->obj = object_find(c->p, name, OBJ_MARK);
}

/* The vCPU is a number, looked at again once the VM's size is known, or the next one. */
static void read_poke_vcpu(struct compiler *c, const struct conf_node *n, struct op *op)
{
    int64_t vcpu = -1;

    if ((n->kind != CONF_SCALAR || strcmp(n->text, "next") != 0) &&
        conf_int(n, 0, 65535, &vcpu, c->p->e))
        op->obj = (int)vcpu;
}

static void read_poke_kind(struct compiler *c, const struct conf_node *n, struct op *op)
{
    static const char *const KINDS[] = {
        [POKE_SAME] = "same", [POKE_PULSE] = "pulse", [POKE_FLAG] = "flag"};
    const char *text = conf_str(n, c->p->e);

    for (int i = 0; text && i < 3; i++) {
        if (strcmp(KINDS[i], text) == 0) {
            op->poke = (uint8_t)i;
            return;
        }
    }
    if (text)
        parts_unknown(c->p->e, n, "kind of store", text, KINDS, 3);
}

static void read_poke(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    static const char *const NAMES[] = {"vcpu", "as", "for"};
    const struct conf_node *vcpu = conf_get(arg, "vcpu"), *as = conf_get(arg, "as");
    const struct conf_node *length = conf_get(arg, "for");
    struct op *op = emit(c, code, arg);

    if (!vcpu || !as) {
        conf_error(c->p->e, arg,
                   "poke takes {vcpu: N or next, as: same, pulse or flag, for: TIME (of a pulse)}");
        return;
    }
    only_keys(c, arg, NAMES, 3);
    read_poke_vcpu(c, vcpu, op);
    read_poke_kind(c, as, op);
    if (op->poke == POKE_PULSE)
        op->amount.a = PULSE_DEFAULT;
    if (length && op->poke != POKE_PULSE)
        conf_error_key(c->p->e, length, "only a pulse has a length");
    else if (length)
        read_amount(c, length, op);
    if (op->has_amount && op->amount.kind == DIST_CONST && op->amount.a == 0)
        conf_error(c->p->e, length, "a pulse that lasts 0 changes nothing: write as: same");
}

static void read_nothing(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    emit(c, code, arg);
}

static void read_body(struct compiler *c, const struct conf_node *body);

static int64_t read_turns(struct compiler *c, const struct conf_node *n)
{
    int64_t turns = 1;

    if (n->kind == CONF_SCALAR && strcmp(n->text, "forever") == 0)
        return 0;
    conf_int(n, 1, LOOP_TURNS_MAX, &turns, c->p->e);
    return turns;
}

static void read_loop(struct compiler *c, const struct conf_node *arg, enum op_code code)
{
    static const char *const NAMES[] = {"count", "body"};
    const struct conf_node *count = conf_get(arg, "count"), *body = conf_get(arg, "body");
    int start = task_of(c)->nops;

    if (!count || !body) {
        conf_error(c->p->e, arg, "loop takes {count: N or forever, body: [operations]}");
        return;
    }
    only_keys(c, arg, NAMES, 2);
    if (c->depth == PROGRAM_LOOPS) {
        conf_error_key(c->p->e, arg, "loops nest deeper than %d", PROGRAM_LOOPS);
        return;
    }
    emit(c, code, arg)->count = read_turns(c, count);
    if (++c->depth > c->p->w->loop_depth)
        c->p->w->loop_depth = c->depth;
    read_body(c, body);
    c->depth--;
    task_of(c)->op[start].jump = task_of(c)->nops;
    emit(c, OP_NEXT, arg)->jump = start;
}

static const struct op_rule {
    const char *name;
    enum op_code code;
    bool bare; /* written without an argument */
    void (*read)(struct compiler *c, const struct conf_node *arg, enum op_code code);
} OPS[] = {
    {"run", OP_RUN, false, read_run},
    {"sleep", OP_SLEEP, false, read_plain_amount},
    {"timer", OP_TIMER, false, read_timer},
    {"barrier", OP_BARRIER, false, read_object},
    {"lock", OP_LOCK, false, read_lock_op},
    {"unlock", OP_UNLOCK, false, read_lock_op},
    {"wait", OP_WAIT, false, read_wait},
    {"signal", OP_SIGNAL, false, read_object},
    {"broadcast", OP_BROADCAST, false, read_object},
    {"send", OP_SEND, false, read_queue_op},
    {"recv", OP_RECV, false, read_queue_op},
    {"turn", OP_TURN, true, read_nothing},
    {"io", OP_IO, false, read_io},
    {"spin", OP_SPIN, false, read_plain_amount},
    {"yield", OP_YIELD, true, read_nothing},
    {"share", OP_SHARE, false, read_share},
    {"poke", OP_POKE, false, read_poke},
    {"fork", OP_FORK, false, read_object},
    {"loop", OP_LOOP, false, read_loop},
    {"mark", OP_MARK_OP, false, read_mark},
    {"exit", OP_EXIT, true, read_nothing},
};

#define NOPS (sizeof(OPS) / sizeof(OPS[0]))

static const struct op_rule *rule_of(const char *name)
{
    for (size_t i = 0; i < NOPS; i++)
        if (strcmp(OPS[i].name, name) == 0)
            return &OPS[i];
    return NULL;
}

static void unknown_op(struct compiler *c, const struct conf_node *at, const char *name)
{
    const char *names[NOPS];

    for (size_t i = 0; i < NOPS; i++)
        names[i] = OPS[i].name;
    parts_unknown(c->p->e, at, "operation", name, names, NOPS);
}

static void read_op(struct compiler *c, const struct conf_node *item)
{
    const struct conf_node *arg = item->kind == CONF_MAP && item->n == 1 ? item->child[0] : NULL;
    const char *name = arg ? arg->key : item->kind == CONF_SCALAR ? item->text : NULL;

    if (!name) {
        conf_error(c->p->e, item, "an operation is one word or one 'key: value', e.g. run: 2ms");
        return;
    }
    const struct op_rule *rule = rule_of(name);

    if (!rule)
        unknown_op(c, item, name);
    else if (arg && rule->bare)
        conf_error(c->p->e, arg, "%s takes no argument", name);
    else if (!arg && !rule->bare)
        conf_error(c->p->e, item, "%s needs an argument", name);
    else
        rule->read(c, arg ? arg : item, rule->code);
}

static void read_body(struct compiler *c, const struct conf_node *body)
{
    if (body->kind != CONF_SEQ || body->n == 0) {
        conf_error(c->p->e, body, "a program is a list of operations, with at least one");
        return;
    }
    for (size_t i = 0; i < body->n; i++)
        read_op(c, body->child[i]);
}

void ops_read(struct parser *p, int task, const struct conf_node *program)
{
    struct compiler c = {.p = p, .task = task};

    read_body(&c, program);
}
