/* SPDX-License-Identifier: MIT */
/*
 * What a sweep file says of its points as a whole: which of them there are (`only`, `except`), and how
 * many replications they get (`until`).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/plot_axes.h"
#include "study/sweep_internal.h"

#define MAX_UNTIL   100000
#define VALUES_TOLD 8 /* of an axis, in a message */

size_t sweep_find_axis(const struct sweep *s, const char *path, char *why, size_t size)
{
    const char **paths = calloc(s->naxes + 1, sizeof(*paths));
    const char *found;
    size_t axis = 0, used;

    if (!paths) {
        snprintf(why, size, "out of memory");
        return s->naxes;
    }
    for (size_t i = 0; i < s->naxes; i++)
        paths[i] = s->axis[i].path;
    found = axis_resolve(paths, s->naxes, path);
    while (axis < s->naxes && strcmp(paths[axis], found) != 0)
        axis++;
    free(paths);
    if (axis < s->naxes)
        return axis;
    used = (size_t)snprintf(why, size, "no axis '%s'; the sweep has", path);
    for (size_t i = 0; i < s->naxes && used < size; i++)
        used += (size_t)snprintf(why + used, size - used, "%s %s", i ? "," : "", s->axis[i].path);
    if (s->naxes == 0 && used < size)
        snprintf(why + used, size - used, " none");
    return s->naxes;
}

static const char *near_label(const struct sweep_axis *a, const char *label)
{
    const char **labels = calloc(a->n + 1, sizeof(*labels)), *near;

    for (size_t i = 0; labels && i < a->n; i++)
        labels[i] = a->value[i].label;
    near = labels ? conf_nearest(label, labels, a->n) : NULL;
    free(labels);
    return near;
}

void sweep_no_value(const struct sweep *s, size_t axis, const char *label, char *out, size_t size)
{
    const struct sweep_axis *a = &s->axis[axis];
    const char *near = near_label(a, label);
    size_t n = (size_t)snprintf(out, size, "the axis %s has no value '%s'", a->path, label);

    if (n < size && near)
        snprintf(out + n, size - n, "; did you mean '%s'?", near);
    for (size_t i = 0; !near && i < a->n && i <= VALUES_TOLD && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : "; values there are: ",
                              i < VALUES_TOLD ? a->value[i].label : "...");
}

/* {axis: value or list, ...}: the points that have one of the values of every axis named. */
struct rule {
    bool **wanted; /* [axis][value]; NULL: the axis is not named */
    size_t naxes;
};

static void rule_free(struct rule *r)
{
    for (size_t i = 0; r->wanted && i < r->naxes; i++)
        free(r->wanted[i]);
    free(r->wanted);
}

/* `n` is one value, as it would stand in the axis, or its label. */
static bool want_value(const struct sweep *s, size_t axis, const struct conf_node *n, bool *wanted,
                       struct conf_errors *e)
{
    const struct sweep_axis *a = &s->axis[axis];
    char *text = conf_text(n);
    char why[400];
    bool found = false;

    if (!text)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->value[i].label, text) == 0 ||
            (n->kind == CONF_SCALAR && strcmp(a->value[i].label, n->text) == 0))
            wanted[i] = found = true;
    if (!found) {
        sweep_no_value(s, axis, text, why, sizeof(why));
        conf_error(e, n, "%s", why);
    }
    free(text);
    return true;
}

static bool read_wanted(const struct sweep *s, const struct conf_node *n, struct rule *r,
                        struct conf_errors *e)
{
    char why[500];
    const size_t axis = sweep_find_axis(s, n->key, why, sizeof(why));
    bool ok = true;

    if (axis == s->naxes) {
        conf_error_key(e, n, "%s", why);
        return true;
    }
    if (!r->wanted[axis])
        r->wanted[axis] = calloc(s->axis[axis].n, sizeof(bool));
    if (!r->wanted[axis])
        return false;
    if (n->kind != CONF_SEQ)
        return want_value(s, axis, n, r->wanted[axis], e);
    for (size_t i = 0; ok && i < n->n; i++)
        ok = want_value(s, axis, n->child[i], r->wanted[axis], e);
    return ok;
}

static bool matches(const struct sweep *s, const struct rule *r, size_t point)
{
    for (size_t a = 0; a < s->naxes; a++)
        if (r->wanted[a] && !r->wanted[a][sweep_coordinate(s, point, a)])
            return false;
    return true;
}

/* Marks the points that the rule means. */
static bool apply_rule(const struct sweep *s, const struct conf_node *n, bool *marked,
                       struct conf_errors *e)
{
    struct rule r = {.wanted = calloc(s->naxes + 1, sizeof(*r.wanted)), .naxes = s->naxes};
    const size_t before = e->n;
    size_t found = 0;
    bool ok = r.wanted != NULL;

    for (size_t i = 0; ok && i < n->n; i++)
        ok = read_wanted(s, n->child[i], &r, e);
    for (size_t p = 0; ok && e->n == before && p < s->npoints; p++)
        if (matches(s, &r, p)) {
            marked[p] = true;
            found++;
        }
    if (ok && e->n == before && found == 0)
        conf_error(e, n, "no point has all of these values");
    rule_free(&r);
    return ok;
}

static bool apply_rules(const struct sweep *s, const char *key, const struct conf_node *list,
                        bool *marked, struct conf_errors *e)
{
    bool ok = true;

    if (list->kind != CONF_SEQ || list->n == 0) {
        conf_error(e, list,
                   "'%s' is a list of mappings from axes to values, as in [{a: 1, b: [x, y]}]",
                   key);
        return true;
    }
    for (size_t i = 0; ok && i < list->n; i++)
        if (list->child[i]->kind == CONF_MAP && list->child[i]->n > 0)
            ok = apply_rule(s, list->child[i], marked, e);
        else
            conf_error(e, list->child[i],
                       "an entry of '%s' is a mapping from axes to values, as in {a: 1, b: [x, y]}",
                       key);
    return ok;
}

/* Takes the places of the points that stay. */
static bool keep_points(struct sweep *s, const bool *in, const bool *out)
{
    size_t *kept = calloc(s->npoints, sizeof(*kept));
    size_t n = 0;

    if (!kept)
        return false;
    for (size_t p = 0; p < s->npoints; p++)
        if ((!in || in[p]) && (!out || !out[p]))
            kept[n++] = s->kept ? s->kept[p] : p;
    free(s->kept);
    s->kept = kept;
    s->npoints = n;
    return true;
}

bool sweep_read_filters(struct sweep *s, const struct conf_node *only,
                        const struct conf_node *except, struct conf_errors *e)
{
    const size_t before = e->n;
    bool *in = only ? calloc(s->npoints, sizeof(*in)) : NULL;
    bool *out = except ? calloc(s->npoints, sizeof(*out)) : NULL;
    bool ok = (in || !only) && (out || !except);

    if (!only && !except)
        return true;
    ok = ok && (!only || apply_rules(s, "only", only, in, e)) &&
         (!except || apply_rules(s, "except", except, out, e));
    if (ok && e->n == before)
        ok = keep_points(s, in, out);
    if (ok && e->n == before && s->npoints == 0)
        conf_error(e, only ? only : except, "all points are left out");
    free(in);
    free(out);
    return ok;
}

static bool read_until_fields(struct sweep_until *u, const struct conf_node *n,
                              struct conf_errors *e)
{
    const struct conf_node *metric = conf_get(n, "metric"), *width = conf_get(n, "half_width"),
                           *max = conf_get(n, "max"), *min = conf_get(n, "min");
    bool ok = true;

    if (!metric || !width || !max) {
        conf_error(e, n, "'until' needs '%s', as in {metric: throughput, half_width: 2%%, max: 50}",
                   !metric  ? "metric"
                   : !width ? "half_width"
                            : "max");
        return false;
    }
    u->metric = sweep_read_metric(metric, e);
    ok = conf_real(width, 1e-6, 1, &u->half_width, e);
    ok &= conf_int(max, 2, MAX_UNTIL, &u->max, e);
    if (min)
        ok &= conf_int(min, 2, MAX_UNTIL, &u->min, e);
    return ok && u->metric;
}

void sweep_read_until(struct sweep *s, const struct conf_node *until, struct conf_errors *e)
{
    static const char *const keys[] = {"metric", "half_width", "max", "min"};
    const struct conf_node *max;

    if (!until)
        return;
    if (until->kind != CONF_MAP) {
        conf_error(e, until,
                   "'until' is a mapping, as in {metric: throughput, half_width: 2%%, max: 50}");
        return;
    }
    conf_only_keys(until, keys, 4, "'until'", e);
    if (!read_until_fields(&s->until, until, e))
        return;
    max = conf_get(until, "max");
    if (s->until.min > s->until.max)
        conf_error(e, max, "'max' is below 'min'");
    else if (!s->until.min && s->replications > s->until.max)
        conf_error(e, max, "'max' is below 'replications', which each point gets at least");
}
