/* SPDX-License-Identifier: MIT */
/*
 * One number of a point multiplied: found by its path, wherever it comes from, and set again.
 *
 * Always true: the number is that of the point, after all other axes; a time stays a whole number
 * of ns, a whole number stays whole; every fault is reported where the path stands in the sweep.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "parts.h"
#include "scenario.h"
#include "study/quantity.h"
#include "study/sweep_internal.h"

/* --- finding --- */

static const struct conf_node *element(const struct conf_node *list, const char *part)
{
    char *end;
    const unsigned long index = strtoul(part, &end, 10);

    if (part[0] >= '0' && part[0] <= '9' && *end == '\0')
        return index < list->n ? list->child[index] : NULL;
    for (size_t i = 0; i < list->n; i++) {
        const struct conf_node *name = conf_get(list->child[i], "name");

        if (name && name->kind == CONF_SCALAR && strcmp(name->text, part) == 0)
            return list->child[i];
    }
    return NULL;
}

/* As conf_set goes: by key, by number or name, or into the only choice. */
static const struct conf_node *child_of(const struct conf_node *n, const char *part)
{
    if (n->kind == CONF_SEQ)
        return element(n, part);

    const struct conf_node *c = conf_get(n, part);

    if (!c && n->kind == CONF_MAP && n->key && n->n == 1 && n->child[0]->kind == CONF_MAP)
        c = conf_get(n->child[0], part);
    return c;
}

static const char *nearest_child(const struct conf_node *n, const char *part)
{
    const char **names = parts_alloc(n->n + 1, sizeof(*names)), *near;
    size_t count = 0;

    for (size_t i = 0; i < n->n; i++) {
        const struct conf_node *name = conf_get(n->child[i], "name");

        if (n->kind == CONF_MAP)
            names[count++] = n->child[i]->key;
        else if (name && name->kind == CONF_SCALAR)
            names[count++] = name->text;
    }
    near = conf_nearest(part, names, count);
    free(names);
    return near;
}

static void report_missing(const struct conf_node *n, const char *path, size_t done,
                           const char *part, const struct conf_node *at, struct conf_errors *e)
{
    const char *near = nearest_child(n, part);

    conf_error(e, at, "path '%s': %s%.*s%s has no '%s'%s%s%s", path, done ? "'" : "",
               done ? (int)done - 1 : 13, done ? path : "the top level", done ? "'" : "", part,
               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* NULL when nothing is there, reported unless `e` is NULL. */
static const struct conf_node *find(const struct conf_node *n, const char *path,
                                    const struct conf_node *at, struct conf_errors *e)
{
    char *copy = parts_copy(path), *save = NULL;

    for (char *part = strtok_r(copy, ".", &save); n && part; part = strtok_r(NULL, ".", &save)) {
        const struct conf_node *next = child_of(n, part);

        if (!next)
            report_missing(n, path, (size_t)(part - copy), part, at, e);
        n = next;
    }
    free(copy);
    return n;
}

/* --- multiplying --- */

struct product {
    char *exact, *whole; /* as YAML; `whole` has no fraction where there was none */
    bool exact_differs, whole_differs;
};

static void product_free(struct product *p)
{
    free(p->exact);
    free(p->whole);
}

static bool multiply_number(const struct conf_node *n, double percent, struct product *p)
{
    const struct quantity q =
        n->kind == CONF_SCALAR ? quantity_parse(n->text) : (struct quantity){QUANTITY_NONE, 0, ""};
    const double v = q.value * (100 + percent) / 100;
    const bool time = q.kind == QUANTITY_TIME || q.value == 0;
    const bool fraction = q.kind == QUANTITY_PERCENT || (n->text && strpbrk(n->text, ".eE"));
    const double whole = time || !fraction ? round(v) : v;

    if (q.kind == QUANTITY_NONE || (n->quoted && !time))
        return false;
    if (time) {
        p->exact = parts_format("%.0f%s", whole, q.value == 0 ? q.unit : "ns");
        p->whole = parts_copy(p->exact);
    } else {
        p->exact = parts_format("%.15g%s", v, q.unit);
        p->whole = parts_format("%.15g%s", whole, q.unit);
    }
    p->exact_differs = (time ? whole : v) != q.value;
    p->whole_differs = whole != q.value;
    return true;
}

static void append(char **list, const char *text)
{
    char *longer = parts_format("%s%s%s", *list ? *list : "", *list ? ", " : "[", text);

    free(*list);
    *list = longer;
}

/* A number, or a list of numbers, as in uniform: [80us, 120us]. */
static bool multiply(const struct conf_node *n, double percent, struct product *p)
{
    bool good = n->kind == CONF_SEQ && n->n > 0;

    if (n->kind == CONF_SCALAR)
        return multiply_number(n, percent, p);
    for (size_t i = 0; good && i < n->n; i++) {
        struct product one = {.exact = NULL};

        good = multiply_number(n->child[i], percent, &one);
        if (good) {
            append(&p->exact, one.exact);
            append(&p->whole, one.whole);
            p->exact_differs |= one.exact_differs;
            p->whole_differs |= one.whole_differs;
        }
        product_free(&one);
    }
    if (good) {
        append(&p->exact, "]");
        append(&p->whole, "]");
    }
    return good;
}

/* --- setting --- */

/* Faults of all that is below come out at `at`. */
static void stand_at(struct conf_node *n, const struct conf_node *at)
{
    n->line = n->key_line = at->line;
    n->column = n->key_column = at->column;
    for (size_t i = 0; i < n->n; i++)
        stand_at(n->child[i], at);
}

static struct conf_tree *tree_at(const char *text, const struct conf_node *at,
                                 struct conf_errors *e)
{
    struct conf_tree *t = conf_read_text(at->file, text, strlen(text), e);

    if (t)
        stand_at(conf_root(t), at);
    return t;
}

static void set_text(struct conf_tree *t, const char *path, const char *text,
                     const struct conf_node *at, struct conf_errors *e)
{
    struct conf_tree *value = tree_at(text, at, e);

    if (value)
        scenario_set_node(t, path, conf_root(value), e);
    conf_free(value);
}

/* Whether the scenario can be read with this value. */
static bool fits(const struct sweep *s, const struct conf_tree *t, const char *path,
                 const char *text, const struct conf_node *at)
{
    struct conf_errors mine = {0};
    struct conf_tree *copy = conf_clone(t);
    struct scenario *sc = NULL;

    if (copy)
        set_text(copy, path, text, at, &mine);
    if (copy && mine.n == 0)
        sc = scenario_from_tree_with(copy, s->base_file, s->files, &mine);
    const bool good = sc != NULL;

    scenario_free(sc);
    conf_free(copy);
    conf_errors_free(&mine);
    return good;
}

static bool set_product(const struct sweep *s, struct conf_tree *t, const char *path,
                        const struct conf_node *n, const struct sweep_varied *v,
                        struct conf_errors *e)
{
    struct product p = {.exact = NULL};
    bool changes = true;

    if (!multiply(n, v->percent, &p)) {
        char *text = n->kind == CONF_SCALAR ? conf_text(n) : NULL;

        conf_error(e, v->node, "'%s' is %s, expected a number or a time, or a list of them",
                   v->path,
                   text                  ? text
                   : n->kind == CONF_MAP ? "a mapping"
                                         : "a list of something else");
        free(text);
    } else {
        /* Only the reader of a key knows whether it takes 1.5: it is asked. */
        const bool whole = strcmp(p.exact, p.whole) != 0 && !fits(s, t, path, p.exact, v->node) &&
                           (!p.whole_differs || fits(s, t, path, p.whole, v->node));

        changes = whole ? p.whole_differs : p.exact_differs;
        if (changes)
            set_text(t, path, whole ? p.whole : p.exact, v->node, e);
        else
            conf_error(e, v->node, "'%s' is %s, which %+.6g%% does not change: leave it out",
                       v->path, n->kind == CONF_SCALAR ? n->text : "a list of zeros", v->percent);
    }
    product_free(&p);
    return changes;
}

/* --- where the number is --- */

/* The part of the path that names a workload: vms.X.workload, vms.X.mix.K; NULL when it goes
 * elsewhere. */
static char *workload_part(const char *path)
{
    const char *vm = strncmp(path, "vms.", 4) == 0 ? strchr(path + 4, '.') : NULL;
    const char *end = NULL;

    if (vm && strncmp(vm, ".workload.", 10) == 0)
        end = vm + 9;
    else if (vm && strncmp(vm, ".mix.", 5) == 0)
        end = strchr(vm + 5, '.');
    return end ? parts_format("%.*s", (int)(end - path), path) : NULL;
}

/* Puts a workload that is named in place, so that its numbers have paths. */
static void open_workload(const struct sweep *s, struct conf_tree *t, const char *part,
                          struct conf_errors *e)
{
    const struct conf_node *n = find(conf_root(t), part, NULL, NULL);
    const char *ending = n && n->kind == CONF_SCALAR ? strrchr(n->text, '.') : NULL;

    /* A recorded trace has no numbers to change; a file that is missing is reported elsewhere. */
    if (!n || n->kind != CONF_SCALAR || (ending && strcmp(ending, ".yaml") != 0))
        return;
    char *dir = parts_dir(s->base_file), *file = find_file(FIND_WORKLOAD, dir, n->text);
    struct conf_tree *w = file ? conf_read_file(file, e) : NULL;

    if (w)
        scenario_set_node(t, part, conf_root(w), e);
    conf_free(w);
    free(file);
    free(dir);
}

/* Lists that the tree does not spell out, as the C-states of a named machine, are set whole before
 * one of their elements is. */
static void copy_lists(struct conf_tree *t, const struct conf_node *all, const char *path,
                       struct conf_errors *e)
{
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
        char *part = parts_format("%.*s", (int)(dot - path), path);
        const struct conf_node *n = find(all, part, NULL, NULL);
        const struct conf_node *here = find(conf_root(t), part, NULL, NULL);

        if (n && n->kind == CONF_SEQ && (!here || here->kind != CONF_SEQ))
            scenario_set_node(t, part, n, e);
        free(part);
    }
}

/* Everything but what is inside a workload stands in the scenario's echo, defaults included. */
static bool vary_scenario(const struct sweep *s, struct conf_tree *t, const char *path,
                          const struct sweep_varied *v, struct conf_errors *e)
{
    struct conf_errors mine = {0};
    struct scenario *sc = scenario_from_tree_with(t, s->base_file, s->files, &mine);
    struct conf_tree *all = sc ? tree_at(sc->echo, v->node, e) : NULL;
    const struct conf_node *n = all ? find(conf_root(all), path, v->node, e) : NULL;

    bool changes = !all;

    if (n) {
        copy_lists(t, conf_root(all), path, e);
        changes = set_product(s, t, path, n, v, e);
    }
    conf_free(all);
    scenario_free(sc);
    conf_errors_free(&mine);
    return changes;
}

static bool vary_workload(const struct sweep *s, struct conf_tree *t, const char *part,
                          const struct sweep_varied *v, struct conf_errors *e)
{
    open_workload(s, t, part, e);

    const struct conf_node *n = find(conf_root(t), v->path, v->node, e);

    return n && set_product(s, t, v->path, n, v, e);
}

/* False when there is no such number or it would stay as it is. */
static bool vary_number(const struct sweep *s, struct conf_tree *t, const struct sweep_varied *v,
                        struct conf_errors *e)
{
    char *path = scenario_path(t, v->path), *workload = workload_part(path);
    const bool changes =
        workload ? vary_workload(s, t, workload, v, e) : vary_scenario(s, t, path, v, e);

    free(workload);
    free(path);
    return changes;
}

static bool can_vary(const struct sweep *s, const struct conf_tree *t, const struct sweep_varied *v)
{
    struct conf_errors mine = {0};
    struct conf_tree *copy = conf_clone(t);
    const bool changes = copy && vary_number(s, copy, v, &mine);

    conf_free(copy);
    conf_errors_free(&mine);
    return changes;
}

bool sweep_apply_vary(const struct sweep *s, struct conf_tree *t, const struct sweep_value *v,
                      struct conf_errors *e)
{
    size_t n = 0;

    if (v->nvaried == 1)
        return vary_number(s, t, &v->varied[0], e);
    for (size_t i = 0; i < v->nvaried; i++)
        if (can_vary(s, t, &v->varied[i])) {
            vary_number(s, t, &v->varied[i], e);
            n++;
        }
    for (size_t i = 0; n == 0 && i < v->nvaried; i++)
        vary_number(s, t, &v->varied[i], e);
    return n > 0 || v->nvaried == 0;
}
