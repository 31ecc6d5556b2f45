/* SPDX-License-Identifier: MIT */
/*
 * What tasks share: locks, barriers, queues, conditions, devices, marks. Read before any program,
 * so that a program can be checked name by name.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload_parts.h"

#define CAPACITY_MAX 10000000
#define ELEMENTS_MAX 100000
#define SIGMA_MAX    4 /* a factor of 55 for one VM in six */

const char *const object_title[OBJ_KINDS] = {"lock", "barrier", "queue",  "device", "cond",
                                             "mark", "task",    "spread", "line"};

int object_count(const struct workload *w, enum object_kind kind)
{
    switch (kind) {
    case OBJ_LOCK:
        return w->nlocks;
    case OBJ_BARRIER:
        return w->nbarriers;
    case OBJ_QUEUE:
        return w->nqueues;
    case OBJ_DEVICE:
        return w->ndevices;
    case OBJ_COND:
        return w->nconds;
    case OBJ_MARK:
        return w->nmarks;
    case OBJ_SPREAD:
        return w->nspreads;
    case OBJ_LINE:
        return w->nlines;
    default:
        return w->ntasks;
    }
}

const char *object_name(const struct workload *w, enum object_kind kind, int i)
{
    switch (kind) {
    case OBJ_LOCK:
        return w->lock[i].name;
    case OBJ_BARRIER:
        return w->barrier[i].name;
    case OBJ_QUEUE:
        return w->queue[i].name;
    case OBJ_DEVICE:
        return w->device[i].name;
    case OBJ_COND:
        return w->cond[i];
    case OBJ_MARK:
        return w->mark[i];
    case OBJ_SPREAD:
        return w->spread[i].name;
    case OBJ_LINE:
        return w->line[i].name;
    default:
        return w->task[i].name;
    }
}

static const struct dist NOTHING = {.kind = DIST_CONST, .num = 1, .den = 1};

/* Appends an element with the defaults of its kind. */
#define APPEND(list, count, ...)                                                                   \
    do {                                                                                           \
        (list) = parts_grow((list), (size_t)(count), sizeof(*(list)));                             \
        (list)[(count)++] = __VA_ARGS__;                                                           \
    } while (0)

int object_add(struct parser *p, enum object_kind kind, const char *name,
               const struct conf_node *at)
{
    struct workload *w = p->w;
    int n = object_count(w, kind);
    char *copy = parts_copy(name);

    p->note[kind] = parts_grow(p->note[kind], (size_t)n, sizeof(*p->note[kind]));
    p->note[kind][n] = (struct object_note){.node = at};
    switch (kind) {
    case OBJ_LOCK:
        APPEND(w->lock, w->nlocks, (struct lock_spec){.name = copy, .fair = true});
        break;
    case OBJ_BARRIER:
        APPEND(w->barrier, w->nbarriers, (struct barrier_spec){.name = copy});
        break;
    case OBJ_QUEUE:
        APPEND(w->queue, w->nqueues, (struct queue_spec){.name = copy, .capacity = 1, .low = -1});
        break;
    case OBJ_DEVICE:
        APPEND(w->device, w->ndevices,
               (struct device_spec){.name = copy, .depth = 1, .service = NOTHING});
        break;
    case OBJ_COND:
        APPEND(w->cond, w->nconds, copy);
        break;
    case OBJ_MARK:
        APPEND(w->mark, w->nmarks, copy);
        break;
    case OBJ_SPREAD:
        APPEND(w->spread, w->nspreads, (struct spread_spec){.name = copy, .factor = NOTHING});
        break;
    case OBJ_LINE:
        APPEND(w->line, w->nlines, (struct line_spec){.name = copy});
        break;
    default:
        APPEND(w->task, w->ntasks,
               (struct task_spec){.name = copy,
                                  .count = 1,
                                  .vcpu = -1,
                                  .weight = 1024,
                                  .footprint = -1,
                                  .start_dist = NOTHING});
    }
    return n;
}

int object_find(struct parser *p, const struct conf_node *n, enum object_kind kind)
{
    const char *name = conf_str(n, p->e);
    int count = object_count(p->w, kind);

    if (!name)
        return -1;
    for (int i = 0; i < count; i++)
        if (strcmp(object_name(p->w, kind, i), name) == 0)
            return i;
    if (kind == OBJ_MARK || (kind == OBJ_COND && !p->conds_declared))
        return parts_name(n, object_title[kind], p->e) ? object_add(p, kind, name, n) : -1;
    const char **names = parts_alloc((size_t)count, sizeof(*names));

    for (int i = 0; i < count; i++)
        names[i] = object_name(p->w, kind, i);
    parts_unknown(p->e, n, object_title[kind], name, names, (size_t)count);
    free(names);
    return -1;
}

static bool is_word(const struct conf_node *n, const char *word)
{
    return n->kind == CONF_SCALAR && strcmp(n->text, word) == 0;
}

/* How long to spin: a time, or without limit by this word; true for the word. */
static bool read_spin(struct parser *p, const struct conf_node *n, const char *word, ns_t *limit)
{
    if (is_word(n, word))
        return true;
    if (n->kind == CONF_SCALAR && isalpha((unsigned char)n->text[0]))
        conf_error(p->e, n, "'spin' is '%s', expected %s or a time such as 20us", n->text, word);
    else
        conf_ns(n, limit, p->e);
    return false;
}

/* The key's value must be one of two words; true for the second. */
static bool read_choice(struct parser *p, const struct conf_node *map, const char *key,
                        const char *first, const char *second)
{
    const struct conf_node *n = conf_get(map, key);

    if (n && !is_word(n, first) && !is_word(n, second))
        conf_error(p->e, n, "%s is %s or %s", key, first, second);
    return n && is_word(n, second);
}

static void read_lock_kind(struct parser *p, const struct conf_node *n, struct lock_spec *l)
{
    static const char *const KINDS[] = {
        [LOCK_SLEEP] = "sleep", [LOCK_SPIN] = "spin", [LOCK_RW] = "rwsem"};
    const char *text = conf_str(n, p->e);

    for (int i = 0; text && i < 3; i++) {
        if (strcmp(KINDS[i], text) == 0) {
            l->kind = (enum lock_kind)i;
            return;
        }
    }
    if (text)
        parts_unknown(p->e, n, "kind of lock", text, KINDS, 3);
}

static void read_lock(struct parser *p, const struct conf_node *map, int i)
{
    static const char *const NAMES[] = {"kind", "spin", "kernel", "fair", "per", "count"};
    struct lock_spec *l = &p->w->lock[i];
    const struct conf_node *v;

    conf_only_keys(map, NAMES, 6, "lock", p->e);
    if ((v = conf_get(map, "kind")))
        read_lock_kind(p, v, l);
    if ((v = conf_get(map, "spin"))) {
        if (l->kind == LOCK_SPIN)
            conf_error_key(
                p->e, v, "a lock of kind: spin spins without limit: 'spin' is for sleep and rwsem");
        else
            l->optimistic = read_spin(p, v, "owner", &l->spin_limit);
    }
    if ((v = conf_get(map, "kernel")))
        conf_bool(v, &l->kernel, p->e);
    if ((v = conf_get(map, "fair"))) {
        if (l->kind != LOCK_SPIN)
            conf_error_key(p->e, v, "'fair' is for locks of kind: spin");
        else
            conf_bool(v, &l->fair, p->e);
    }
    l->per_cpu = read_choice(p, map, "per", "vm", "vcpu");
    if (l->per_cpu && l->kind != LOCK_SPIN)
        conf_error_key(p->e, conf_get(map, "per"), "'per: vcpu' is for locks of kind: spin");
    if ((v = conf_get(map, "count")) && conf_int(v, 1, ELEMENTS_MAX, &l->count, p->e) && l->per_cpu)
        conf_error_key(p->e, v, "a lock of 'per: vcpu' has as many elements as the VM has vCPUs");
}

static void read_barrier(struct parser *p, const struct conf_node *map, int i)
{
    static const char *const NAMES[] = {"parties", "spin", "wake"};
    struct barrier_spec *b = &p->w->barrier[i];
    const struct conf_node *v;

    conf_only_keys(map, NAMES, 3, "barrier", p->e);
    if ((v = conf_get(map, "parties")))
        conf_int(v, 2, 1000000, &b->parties, p->e);
    if ((v = conf_get(map, "spin")) && read_spin(p, v, "forever", &b->spin_limit))
        b->spin_limit = NS_NEVER;
    b->chain = read_choice(p, map, "wake", "all", "chain");
}

static void read_queue(struct parser *p, const struct conf_node *map, int i)
{
    static const char *const NAMES[] = {"capacity", "count", "low"};
    const struct conf_node *v = conf_get(map, "capacity"), *low = conf_get(map, "low");
    struct queue_spec *q = &p->w->queue[i];

    conf_only_keys(map, NAMES, 3, "queue", p->e);
    if (conf_get(map, "count"))
        conf_int(conf_get(map, "count"), 1, ELEMENTS_MAX, &p->w->queue[i].count, p->e);
    if (v)
        conf_int(v, 1, CAPACITY_MAX, &p->w->queue[i].capacity, p->e);
    else
        conf_error(p->e, map, "a queue needs a capacity");
    if (low && conf_int(low, 0, CAPACITY_MAX, &q->low, p->e) && q->low >= q->capacity)
        conf_error(p->e, low, "low must be below the capacity of %" PRId64, q->capacity);
}

static void read_device(struct parser *p, const struct conf_node *map, int i)
{
    static const char *const NAMES[] = {"depth", "service"};
    struct device_spec *d = &p->w->device[i];
    const struct conf_node *v;

    conf_only_keys(map, NAMES, 2, "device", p->e);
    if ((v = conf_get(map, "depth")))
        conf_int(v, 1, 1000000, &d->depth, p->e);
    if ((v = conf_get(map, "service")))
        amount_read_spread(p, v, &d->service, &d->spread);
    else
        conf_error(p->e, map, "a device needs a service time");
}

/* A line has a name and nothing else. */
static void read_line(struct parser *p, const struct conf_node *map, int i)
{
    (void)i;
    conf_only_keys(map, NULL, 0, "line", p->e);
}

/* Lognormal with median 1, so that as many VMs are above as below. */
static void read_spread(struct parser *p, const struct conf_node *map, int i)
{
    static const char *const NAMES[] = {"sigma", "again"};
    const struct conf_node *sigma = conf_get(map, "sigma"), *again = conf_get(map, "again");
    struct spread_spec *s = &p->w->spread[i];

    conf_only_keys(map, NAMES, 2, "spread", p->e);
    s->factor.kind = DIST_LOGNORMAL;
    s->factor.a = log(1024);
    if (sigma)
        conf_real(sigma, 0, SIGMA_MAX, &s->factor.b, p->e);
    else
        conf_error(p->e, map, "a spread needs a sigma");
    if (again && conf_ns(again, &s->again, p->e) && s->again == 0)
        conf_error(p->e, again, "again must be above 0");
}

static const struct object_rule {
    const char *key;
    enum object_kind kind;
    void (*read)(struct parser *p, const struct conf_node *map, int i);
} RULES[] = {
    {"spreads", OBJ_SPREAD, read_spread}, /* first: amounts name them */
    {"locks", OBJ_LOCK, read_lock},       {"barriers", OBJ_BARRIER, read_barrier},
    {"queues", OBJ_QUEUE, read_queue},    {"devices", OBJ_DEVICE, read_device},
    {"lines", OBJ_LINE, read_line},
};

#define NRULES (sizeof(RULES) / sizeof(RULES[0]))

static void read_kind(struct parser *p, const struct conf_node *map, const struct object_rule *rule)
{
    if (!map || !parts_mapping(map, rule->key, p->e))
        return;
    for (size_t i = 0; i < map->n; i++) {
        const struct conf_node *n = map->child[i];

        if (parts_mapping(n, n->key, p->e))
            rule->read(p, n, object_add(p, rule->kind, n->key, n));
    }
}

static void read_conds(struct parser *p, const struct conf_node *list)
{
    if (list->kind != CONF_SEQ) {
        conf_error(p->e, list, "conds is a list of names");
        return;
    }
    for (size_t i = 0; i < list->n; i++)
        if (parts_name(list->child[i], "cond", p->e))
            object_add(p, OBJ_COND, list->child[i]->text, list->child[i]);
    p->conds_declared = true;
}

void objects_read(struct parser *p, const struct conf_node *objects)
{
    const char *names[NRULES + 1];

    if (!objects || !parts_mapping(objects, "objects", p->e))
        return;
    for (size_t i = 0; i < NRULES; i++) {
        names[i] = RULES[i].key;
        read_kind(p, conf_get(objects, RULES[i].key), &RULES[i]);
    }
    names[NRULES] = "conds";
    conf_only_keys(objects, names, NRULES + 1, "objects", p->e);
    if (conf_get(objects, "conds"))
        read_conds(p, conf_get(objects, "conds"));
}
