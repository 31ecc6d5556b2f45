/* SPDX-License-Identifier: MIT */
/* See list.h. */
#include "list.h"

#include <stdlib.h>

#include "conf/costs.h"
#include "guest/guest_conf.h"
#include "obs/result.h"
#include "registry.h"
#include "study/commands.h"
#include "study/rows.h"

const struct list_operation list_operations[] = {
    {"run: AMOUNT", "work in ns at nominal speed; {amount: A, shared: on, divide: on}"},
    {"sleep: AMOUNT", "block for that long"},
    {"timer: AMOUNT", "block until the last release + AMOUNT; {at: T} after the start"},
    {"barrier: B", "wait for all parties"},
    {"lock: L, unlock: L", "spin-then-block, spinning or rwsem; {lock: L, mode: read}"},
    {"share: LINE", "exchange of a cache line, priced by distance; {line: L, count: N}"},
    {"wait: {cond: C, lock: L}", "release L, wait for C, take L again"},
    {"signal: C, broadcast: C", "wake one, or all, that wait for C"},
    {"send: Q, recv: Q", "bounded queue; blocks while full, or empty"},
    {"io: D", "an operation of a device; {device: D, service: AMOUNT}"},
    {"turn", "the task's turn moves on: {lock: L, at: turn} or {queue: Q, at: self} of an array"},
    {"spin: AMOUNT", "burn CPU time without work"},
    {"yield", "let others of this CPU run"},
    {"fork: T", "start a task of template T"},
    {"loop: {count: N, body: [...]}", "N or forever"},
    {"mark: {op: M}", "count an operation; {open: M} and {close: M} take a latency sample"},
    {"exit", "the task ends"},
    {NULL, NULL},
};

/* Columns of what has parameters: `name` alone for the thing, with `parameter` for one of its own. */
static const char *const param_columns[] = {"kind",    "name",  "key",  "summary", "parameter",
                                            "default", "range", "help", "source",  NULL};

static void put_params(struct rows *r, const char *kind, const char *name, const char *key,
                       const struct param *table)
{
    for (const struct param *p = table; p && p->name; p++) {
        char *range = param_range(p);

        rows_put(
            r, (const char *[]){kind, name, key, NULL, p->name, p->def, range, p->help, p->source});
        free(range);
    }
}

static void put_thing(struct rows *r, const char *kind, const char *name, const char *key,
                      const char *summary)
{
    rows_put(r, (const char *[]){kind, name, key, summary, NULL, NULL, NULL, NULL, NULL});
}

static void policies(struct rows *r)
{
    static const char *const key[] = {"host.scheduler", "vms.NAME.guest.policy", "vms.NAME.idle"};

    for (int k = POLICY_HOST; k <= POLICY_IDLE; k++)
        for (size_t i = 0; i < registry_count((enum policy_kind)k); i++) {
            const struct policy_head *h = registry_head((enum policy_kind)k, i);
            const char *kind = registry_kind_name((enum policy_kind)k);

            put_thing(r, kind, h->name, key[k], h->summary);
            put_params(r, kind, h->name, key[k], h->params);
        }
    put_params(r, "host", NULL, "host", host_params);
    put_params(r, "guest", NULL, "vms.NAME.guest", guest_params);
}

void list_found(enum find_kind kind, void (*each)(void *arg, const char *name, const char *summary),
                void *arg)
{
    size_t n;
    char **name = find_names(kind, ".", &n);

    for (size_t i = 0; i < n; i++) {
        char *path = find_file(kind, ".", name[i]);
        struct conf_errors e = {0};
        struct conf_tree *t = path ? conf_read_file(path, &e) : NULL;
        const struct conf_node *s = t ? conf_get(conf_root(t), "summary") : NULL;

        each(arg, name[i], s && s->text ? s->text : "");
        conf_free(t);
        conf_errors_free(&e);
        free(path);
    }
    find_names_free(name, n);
}

static void put_workload(void *rows, const char *name, const char *summary)
{
    put_thing(rows, "workload", name, NULL, summary);
}

static void put_machine(void *rows, const char *name, const char *summary)
{
    put_thing(rows, "machine", name, NULL, summary);
}

static void list_metric_rows(struct rows *r)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric *m = &metrics[i];

        rows_put(r, (const char *[]){m->key, m->unit, better_name(m->better), m->alias, m->help});
    }
}

static void put_figure(void *arg, const char *name, const char *kind, const char *summary,
                       const char *needs)
{
    rows_put(arg, (const char *[]){name, kind, summary, *needs ? needs : NULL});
}

static void list_operation_rows(struct rows *r)
{
    for (size_t i = 0; list_operations[i].form; i++)
        rows_put(r, (const char *[]){list_operations[i].form, list_operations[i].help});
}

void list_rows(enum list_kind kind, FILE *out, bool as_json)
{
    static const char *const metric[] = {"metric", "unit", "better", "alias", "meaning", NULL};
    static const char *const figure[] = {"figure", "kind", "summary", "needs", NULL};
    static const char *const operation[] = {"operation", "help", NULL};
    const char *const *const columns[] = {
        [LIST_POLICIES] = param_columns, [LIST_WORKLOADS] = param_columns,
        [LIST_MACHINES] = param_columns, [LIST_METRICS] = metric,
        [LIST_FIGURES] = figure,         [LIST_PROGRAMS] = operation};
    struct rows r;

    rows_begin(&r, out, as_json, columns[kind]);
    switch (kind) {
    case LIST_POLICIES:
        policies(&r);
        break;
    case LIST_WORKLOADS:
        list_found(FIND_WORKLOAD, put_workload, &r);
        break;
    case LIST_MACHINES:
        list_found(FIND_MACHINE, put_machine, &r);
        put_params(&r, "costs", NULL, "costs", costs_params);
        break;
    case LIST_METRICS:
        list_metric_rows(&r);
        break;
    case LIST_FIGURES:
        figures_each(put_figure, &r);
        break;
    case LIST_PROGRAMS:
        list_operation_rows(&r);
        break;
    }
    rows_end(&r);
}
