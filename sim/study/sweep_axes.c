/* SPDX-License-Identifier: MIT */
/* Axes of a sweep file, their values with labels, and the pairs of axes that move together. */
#include <stdlib.h>
#include <string.h>

#include "study/sweep_internal.h"

static const char *const value_keys[] = {"label", "value"};
static const char *const range_keys[] = {"from", "to", "steps", "scale"};

/* {label: x12, value: {...}}: exactly these two keys, so that no scenario mapping is mistaken for
 * it. */
static bool is_labelled(const struct conf_node *n)
{
    return n->kind == CONF_MAP && n->n == 2 && conf_get(n, "label") && conf_get(n, "value");
}

static bool is_range(const struct conf_node *n)
{
    return n->kind == CONF_MAP &&
           (conf_get(n, "from") || conf_get(n, "to") || conf_get(n, "steps"));
}

/* False without memory. */
static bool read_value(struct sweep_axis *a, const struct conf_node *n, struct conf_errors *e)
{
    struct sweep_value *v = &a->value[a->n];
    const char *label = NULL;

    if (is_labelled(n)) {
        label = conf_str(conf_get(n, "label"), e);
        n = conf_get(n, "value");
        if (!label)
            return true;
    } else if (n->kind == CONF_MAP && conf_get(n, "label")) {
        conf_only_keys(n, value_keys, 2, "a labelled value", e);
        if (!conf_get(n, "value"))
            conf_error(e, n, "a label needs a 'value' beside it");
        return true;
    }
    v->label = label ? strdup(label) : conf_text(n);
    if (!v->label)
        return false;
    v->node = n;
    a->n++;
    return true;
}

static bool read_list(struct sweep_axis *a, const struct conf_node *list, struct conf_errors *e)
{
    if (list->n == 0) {
        conf_error(e, list, "the axis '%s' has no values", a->path);
        return true;
    }
    a->value = calloc(list->n, sizeof(*a->value));
    if (!a->value)
        return false;
    for (size_t i = 0; i < list->n; i++)
        if (!read_value(a, list->child[i], e))
            return false;
    return true;
}

bool sweep_path_is_ours(const char *path)
{
    return strcmp(path, "replications") == 0 || strcmp(path, "seed") == 0;
}

static bool read_axis(struct sweep *s, const struct conf_node *n, struct conf_errors *e)
{
    struct sweep_axis *a = &s->axis[s->naxes];

    a->path = n->key;
    a->at = n;
    a->group = s->naxes++;
    if (sweep_path_is_ours(a->path)) {
        conf_error_key(e, n,
                       "'%s' is no axis, it says which samples are drawn: set it at the top of the "
                       "sweep",
                       a->path);
        return true;
    }
    if (n->kind == CONF_SEQ)
        return read_list(a, n, e);
    if (is_range(n)) {
        conf_only_keys(n, range_keys, 4, "a range", e);
        return sweep_read_range(s, a, n, e);
    }
    conf_error(e, n, "the axis '%s' must be a list of values or {from, to, steps, scale}", a->path);
    return true;
}

bool sweep_read_axes(struct sweep *s, const struct conf_node *axes, struct conf_errors *e)
{
    if (!axes)
        return true;
    if (axes->kind != CONF_MAP || axes->n == 0) {
        conf_error(e, axes,
                   "'axes' must map key paths to values, as in {oversubscription: [1, 2]}");
        return true;
    }
    s->axis = calloc(axes->n, sizeof(*s->axis));
    if (!s->axis)
        return false;
    for (size_t i = 0; i < axes->n; i++)
        if (!read_axis(s, axes->child[i], e))
            return false;
    return true;
}

static struct sweep_axis *find_axis(struct sweep *s, const struct conf_node *n,
                                    struct conf_errors *e)
{
    const char *name = conf_str(n, e);
    const char *near;
    const char **names;

    for (size_t i = 0; name && i < s->naxes; i++)
        if (strcmp(s->axis[i].path, name) == 0)
            return &s->axis[i];
    if (!name)
        return NULL;
    names = calloc(s->naxes + 1, sizeof(*names));
    if (!names) {
        conf_error_file(e, s->file, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < s->naxes; i++)
        names[i] = s->axis[i].path;
    near = conf_nearest(name, names, s->naxes);
    conf_error(e, n, "'%s' is not among the axes%s%s%s", name, near ? "; did you mean '" : "",
               near ? near : "", near ? "'?" : "");
    free(names);
    return NULL;
}

/* `paired[i]` is set for each axis that has its pair. */
static void read_pair(struct sweep *s, const struct conf_node *list, bool *paired,
                      struct conf_errors *e)
{
    struct sweep_axis *first = NULL;

    if (list->kind != CONF_SEQ || list->n < 2) {
        conf_error(e, list, "a pair is a list of two or more axes, as in [[a, b]]");
        return;
    }
    for (size_t i = 0; i < list->n; i++) {
        struct sweep_axis *a = find_axis(s, list->child[i], e);

        if (!a)
            continue;
        if (paired[a - s->axis]) {
            conf_error(e, list->child[i], "the axis '%s' is paired twice", a->path);
            continue;
        }
        paired[a - s->axis] = true;
        if (!first)
            first = a;
        if (a->n != first->n)
            conf_error(e, list->child[i],
                       "paired axes need as many values as each other: '%s' has %zu, '%s' has %zu",
                       first->path, first->n, a->path, a->n);
        /* The earliest axis of the file gives the place in the order of points. */
        if (a->group < first->group)
            first->group = a->group;
        a->group = first->group;
    }
    for (size_t i = 0; first && i < list->n; i++)
        for (size_t k = 0; k < s->naxes; k++)
            if (list->child[i]->text && strcmp(list->child[i]->text, s->axis[k].path) == 0)
                s->axis[k].group = first->group;
}

/* Groups are numbered 0, 1, ... in the order of their first axes. */
static bool number_groups(struct sweep *s)
{
    s->group = calloc(s->naxes + 1, sizeof(*s->group));
    if (!s->group)
        return false;
    for (size_t i = 0; i < s->naxes; i++) {
        const size_t lead = s->axis[i].group;

        if (lead == i) {
            s->group[s->ngroups] = s->axis[i].n;
            s->axis[i].group = s->ngroups++;
        } else {
            s->axis[i].group = s->axis[lead].group;
        }
    }
    return true;
}

/* Whether the axes that move with `first` all have the same value at both places. */
static bool same_values(const struct sweep *s, const struct sweep_axis *first, size_t a, size_t b)
{
    for (size_t i = 0; i < s->naxes; i++) {
        const struct sweep_axis *x = &s->axis[i];

        if (x->group == first->group &&
            (x->n <= b || strcmp(x->value[a].label, x->value[b].label) != 0))
            return false;
    }
    return true;
}

/* A value may come again in an axis only if a paired axis differs there. */
static void check_repeats(const struct sweep *s, struct conf_errors *e)
{
    bool done[s->naxes + 1];

    memset(done, 0, sizeof(done));
    for (size_t i = 0; i < s->naxes; i++) {
        const struct sweep_axis *a = &s->axis[i];

        for (size_t k = 1; k < a->n && !done[a->group]; k++)
            for (size_t m = 0; m < k; m++)
                if (same_values(s, a, m, k)) {
                    conf_error(e, a->value[k].node, "'%s' stands twice in the axis '%s'",
                               a->value[k].label, a->path);
                    break;
                }
        done[a->group] = true;
    }
}

bool sweep_read_pairs(struct sweep *s, const struct conf_node *pair, struct conf_errors *e)
{
    bool *paired = calloc(s->naxes + 1, sizeof(*paired));

    if (!paired)
        return false;
    if (pair && pair->kind != CONF_SEQ)
        conf_error(e, pair, "'pair' must be a list of lists of axes, as in [[a, b]]");
    for (size_t i = 0; pair && pair->kind == CONF_SEQ && i < pair->n; i++)
        read_pair(s, pair->child[i], paired, e);
    free(paired);
    if (!number_groups(s))
        return false;
    check_repeats(s, e);
    return true;
}
