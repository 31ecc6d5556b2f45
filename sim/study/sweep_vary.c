/* SPDX-License-Identifier: MIT */
/*
 * `vary:` of a sweep file: {by: [-50%, 50%], paths: [...]} becomes one axis. Among the paths, the
 * word assumed-costs stands for all prices of the machine whose source is an assumption, and
 * {label: L, paths: [...]} for one assumption that several numbers share.
 *
 * Always true: values are `none`, then path by path in the order of the file, each with every
 * percentage; assumed-costs comes in the order of the price list. What a path means is decided
 * point by point, in sweep_varied.c.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/costs.h"
#include "find.h"
#include "parts.h"
#include "study/quantity.h"
#include "study/sweep_internal.h"

#define BASES_MAX 8
#define ASSUMED   "assumed-costs"

static const char *const vary_keys[] = {"by", "paths"};
static const char *const group_keys[] = {"label", "paths"};

struct vary {
    struct sweep *s;
    struct conf_errors *e;
    double *by;
    size_t nby;
    struct item {
        char *label;
        const struct conf_node *at;
        struct sweep_varied *varied; /* without percent */
        size_t n;
    } * item;
    size_t nitems;
};

/* --- by --- */

static void read_percent(struct vary *v, const struct conf_node *n)
{
    const char *text = conf_str(n, v->e);
    const struct quantity q = quantity_parse(text ? text : "");

    if (!text)
        return;
    for (size_t i = 0; i < v->nby; i++)
        if (v->by[i] == q.value && q.kind == QUANTITY_PERCENT) {
            conf_error(v->e, n, "'by' has '%s' twice", text);
            return;
        }
    if (q.kind != QUANTITY_PERCENT) {
        conf_error(v->e, n, "'by' has '%s', expected a percentage such as -50%%", text);
    } else if (q.value <= -100) {
        conf_error(v->e, n, "'by' has '%s', which leaves nothing: expected more than -100%%", text);
    } else if (q.value == 0) {
        conf_error(v->e, n, "'by' has '%s', which changes nothing: 'none' is always there", text);
    } else {
        v->by = parts_grow(v->by, v->nby, sizeof(*v->by));
        v->by[v->nby++] = q.value;
    }
}

static void read_by(struct vary *v, const struct conf_node *map)
{
    const struct conf_node *by = conf_get(map, "by");

    if (!by || by->kind != CONF_SEQ || by->n == 0) {
        conf_error(v->e, by ? by : map,
                   "'vary' needs 'by', a list of percentages, as in [-50%%, 50%%]");
        return;
    }
    for (size_t i = 0; i < by->n; i++)
        read_percent(v, by->child[i]);
}

/* --- assumed-costs --- */

struct prices {
    struct costs value;
    bool *assumed; /* in step with costs_params */
};

static bool is_assumed(const char *source)
{
    return strncmp(source, "assumed", strlen("assumed")) == 0;
}

/* A price that a mapping names takes its source from there; one without a source is assumed. */
static void take_costs(struct prices *p, const struct conf_node *costs)
{
    const struct conf_node *zero = conf_get(costs, "all_zero");
    bool all_zero = false;

    if (zero)
        conf_bool(zero, &all_zero, NULL);
    for (size_t i = 0; costs_params[i].name; i++) {
        const struct param *row = &costs_params[i];
        const struct conf_node *n = conf_get(costs, row->name);
        const struct conf_node *value = n && n->kind == CONF_MAP ? conf_get(n, "value") : n;
        const struct conf_node *source = conf_get(n, "source");

        if (all_zero && row->type == PARAM_NS)
            *(ns_t *)(void *)((char *)&p->value + row->offset) = 0;
        if (!value)
            continue;
        param_read(row, &p->value, value, NULL);
        p->assumed[i] = !source || source->kind != CONF_SCALAR || is_assumed(source->text);
    }
}

/* Faults of machines are reported by whoever reads them, but for a name that is not found. */
static void take_machine(struct prices *p, const struct conf_node *n, const char *dir, int depth,
                         struct conf_errors *e)
{
    if (depth > BASES_MAX || n->kind == CONF_SEQ)
        return;
    if (n->kind == CONF_MAP) {
        if (conf_get(n, "base"))
            take_machine(p, conf_get(n, "base"), dir, depth + 1, e);
        take_costs(p, conf_get(n, "costs"));
        return;
    }
    char *file = find_or_report(FIND_MACHINE, dir, n, e);
    struct conf_tree *t = file ? conf_read_file(file, e) : NULL;

    if (t) {
        char *folder = parts_dir(file);

        take_machine(p, conf_root(t), folder, depth + 1, e);
        free(folder);
    }
    conf_free(t);
    free(file);
}

static void add_item(struct vary *v, const char *label, const struct conf_node *at)
{
    v->item = parts_grow(v->item, v->nitems, sizeof(*v->item));
    v->item[v->nitems++] = (struct item){.label = parts_copy(label), .at = at};
}

/* To the last item. */
static void add_path(struct vary *v, const char *path, const struct conf_node *at)
{
    struct item *i = &v->item[v->nitems - 1];

    i->varied = parts_grow(i->varied, i->n, sizeof(*i->varied));
    i->varied[i->n++] = (struct sweep_varied){.path = parts_copy(path), .node = at};
}

static void add_cost(struct vary *v, const char *name, const struct conf_node *at)
{
    char *path = parts_format("machine.costs.%s", name);

    add_item(v, path, at);
    add_path(v, path, at);
    free(path);
}

/* All of them but those that are 0, which stay 0. */
static void add_assumed(struct vary *v, const struct conf_node *at)
{
    const struct conf_node *machine =
        v->s->base ? conf_get(conf_root(v->s->base), "machine") : NULL;
    struct prices p = {.assumed = NULL};
    size_t rows = 0;

    for (size_t i = 0; i < v->s->naxes; i++)
        if (strcmp(v->s->axis[i].path, "machine") == 0)
            machine = NULL;
    if (!machine) {
        conf_error(v->e, at,
                   "'" ASSUMED "' needs a machine in the base, the same for all points: name the "
                   "paths");
        return;
    }
    while (costs_params[rows].name)
        rows++;
    params_default(costs_params, &p.value);
    p.assumed = parts_alloc(rows, sizeof(*p.assumed));
    for (size_t i = 0; i < rows; i++)
        p.assumed[i] = is_assumed(costs_params[i].source);
    char *dir = parts_dir(v->s->base_file);

    take_machine(&p, machine, dir, 0, v->e);
    free(dir);
    for (size_t i = 0; i < rows; i++) {
        /* Times and whole numbers alike are an int64_t. */
        const char *field = (const char *)&p.value + costs_params[i].offset;

        if (p.assumed[i] && *(const int64_t *)(const void *)field != 0)
            add_cost(v, costs_params[i].name, at);
    }
    free(p.assumed);
}

/* --- paths --- */

/* NULL, and reported, when it is none. */
static const char *path_of(struct vary *v, const struct conf_node *n)
{
    const char *text = conf_str(n, v->e);

    if (!text || !sweep_path_is_ours(text))
        return text;
    conf_error(v->e, n, "'%s' cannot be varied, it says which samples are drawn", text);
    return NULL;
}

static void read_group(struct vary *v, const struct conf_node *n)
{
    const struct conf_node *label = conf_get(n, "label"), *paths = conf_get(n, "paths");
    const char *text = label ? conf_str(label, v->e) : NULL;

    conf_only_keys(n, group_keys, 2, "a group of paths", v->e);
    if (!label || !paths || paths->kind != CONF_SEQ || paths->n == 0) {
        conf_error(
            v->e, n,
            "paths that vary together are {label: NAME, paths: [...]}, with one path or more");
        return;
    }
    add_item(v, text ? text : "", n);
    for (size_t i = 0; i < paths->n; i++) {
        const char *path = path_of(v, paths->child[i]);

        if (path)
            add_path(v, path, paths->child[i]);
    }
}

static void read_item(struct vary *v, const struct conf_node *n)
{
    const char *path = n->kind == CONF_MAP ? NULL : path_of(v, n);

    if (n->kind == CONF_MAP) {
        read_group(v, n);
    } else if (path && strcmp(path, ASSUMED) == 0) {
        add_assumed(v, n);
    } else if (path) {
        add_item(v, path, n);
        add_path(v, path, n);
    }
}

static void read_paths(struct vary *v, const struct conf_node *map)
{
    const struct conf_node *paths = conf_get(map, "paths");
    const bool list = paths && paths->kind == CONF_SEQ;

    if (!paths || paths->kind == CONF_MAP || (list && paths->n == 0)) {
        conf_error(v->e, paths ? paths : map,
                   "'vary' needs 'paths': a list of key paths, or " ASSUMED);
        return;
    }
    if (!list)
        read_item(v, paths);
    for (size_t i = 0; list && i < paths->n; i++)
        read_item(v, paths->child[i]);
}

/* --- the axis --- */

static struct sweep_value make_value(const struct item *item, double percent)
{
    struct sweep_value v = {.node = item->at, .nvaried = item->n};

    v.label = parts_format("%s %+.6g%%", item->label, percent);
    v.varied = parts_alloc(item->n, sizeof(*v.varied));
    for (size_t i = 0; i < item->n; i++) {
        v.varied[i] = item->varied[i];
        v.varied[i].path = parts_copy(item->varied[i].path);
        v.varied[i].percent = percent;
    }
    return v;
}

static bool make_axis(const struct vary *v, const struct conf_node *at)
{
    struct sweep *s = v->s;
    struct sweep_axis *a = realloc(s->axis, (s->naxes + 1) * sizeof(*a));

    if (!a)
        return false;
    s->axis = a;
    a += s->naxes;
    *a = (struct sweep_axis){.path = "vary", .at = at, .group = s->naxes, .varies = true};
    s->naxes++;
    a->value = parts_alloc(1 + v->nitems * v->nby, sizeof(*a->value));
    a->value[a->n++] = (struct sweep_value){.node = at, .label = parts_copy("none")};
    for (size_t i = 0; i < v->nitems; i++)
        for (size_t k = 0; k < v->nby; k++)
            a->value[a->n++] = make_value(&v->item[i], v->by[k]);
    return true;
}

static void vary_free(struct vary *v)
{
    for (size_t i = 0; i < v->nitems; i++) {
        for (size_t k = 0; k < v->item[i].n; k++)
            free(v->item[i].varied[k].path);
        free(v->item[i].varied);
        free(v->item[i].label);
    }
    free(v->item);
    free(v->by);
}

bool sweep_read_vary(struct sweep *s, const struct conf_node *map, struct conf_errors *e)
{
    struct vary v = {.s = s, .e = e};

    if (!map)
        return true;
    if (map->kind != CONF_MAP) {
        conf_error(e, map, "'vary' must be {by: [-50%%, 50%%], paths: [...]}");
        return true;
    }
    conf_only_keys(map, vary_keys, 2, "'vary'", e);
    for (size_t i = 0; i < s->naxes; i++)
        if (strcmp(s->axis[i].path, "vary") == 0)
            conf_error(e, s->axis[i].at, "an axis cannot be called 'vary' beside the key 'vary'");
    read_by(&v, map);
    read_paths(&v, map);
    const bool memory = make_axis(&v, map);

    vary_free(&v);
    return memory;
}

/* --- points without it --- */

/* What no point has is a slip of the pen: told as at the first point. */
static void report_nowhere(const struct sweep *s, size_t first, const struct sweep_value *v,
                           struct conf_errors *e)
{
    struct conf_errors mine = {0};
    struct conf_tree *t = sweep_tree_before_vary(s, first, &mine);

    if (t)
        sweep_apply_vary(s, t, v, e);
    conf_free(t);
    conf_errors_free(&mine);
}

static bool varies_at(const struct sweep *s, size_t point, const struct sweep_value *v)
{
    struct conf_errors mine = {0};
    struct conf_tree *t = v->nvaried > 0 ? sweep_tree_before_vary(s, point, &mine) : NULL;
    const bool changes = !t || sweep_apply_vary(s, t, v, &mine);

    conf_free(t);
    conf_errors_free(&mine);
    return changes;
}

bool sweep_leave_out(struct sweep *s, struct conf_errors *e)
{
    size_t axis = 0, kept = 0;
    size_t *keep;

    while (axis < s->naxes && !s->axis[axis].varies)
        axis++;
    if (axis == s->naxes)
        return true;
    keep = calloc(s->npoints, sizeof(*keep));
    if (!keep)
        return false;

    struct sweep_value *const value = s->axis[axis].value;
    const size_t each = s->npoints / s->axis[axis].n;

    for (size_t i = 0; i < s->npoints; i++) {
        struct sweep_value *v = &value[sweep_coordinate(s, i, axis)];

        if (varies_at(s, i, v))
            keep[kept++] = i;
        else if (++v->nleft == each)
            report_nowhere(s, i, v, e);
    }
    s->kept = keep;
    s->npoints = kept;
    return true;
}
