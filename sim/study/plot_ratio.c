/* SPDX-License-Identifier: MIT */
/* Which point is divided by which, and the ratios run by run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "study/plot_axes.h"
#include "study/plot_ratio.h"

static double run_value_of(const struct data_point *p, uint64_t seed, int64_t replication, long m)
{
    for (size_t i = 0; i < p->nruns; i++)
        if (p->run[i].seed == seed && p->run[i].replication == replication)
            return p->run[i].value[m];
    return NAN;
}

size_t ratio_values(const struct data_point *p, const struct data_point *base, long m, double *out)
{
    size_t n = 0;

    for (size_t i = 0; i < p->nruns; i++) {
        const double v = p->run[i].value[m];
        const double b = run_value_of(base, p->run[i].seed, p->run[i].replication, m);

        if (isfinite(v) && isfinite(b) && b != 0)
            out[n++] = v / b;
    }
    return n;
}

struct summary ratio_paired(const struct data_point *p, const struct data_point *base, long m)
{
    double *ratio = calloc(p->nruns + 1, sizeof(*ratio));
    struct summary s = {.mean = NAN, .ci95 = NAN};
    const size_t n = ratio ? ratio_values(p, base, m, ratio) : 0;

    if (n > 0)
        s = summary_of(ratio, (int)n, 0.95);
    free(ratio);
    return s;
}

/* By text, else by size: 1 is 1.0, and 0 is 0us. */
static size_t value_at(const struct plot_axis *a, const char *text)
{
    const struct quantity want = quantity_parse(text);
    size_t i = 0;

    while (i < a->n && strcmp(a->text[i], text) != 0)
        i++;
    if (i < a->n || want.kind == QUANTITY_NONE)
        return i;
    for (i = 0; i < a->n; i++) {
        const struct quantity q = quantity_parse(a->text[i]);

        const bool same_kind = q.kind == want.kind || (q.kind != QUANTITY_NONE && want.value <= 0);

        if (same_kind && q.value <= want.value && q.value >= want.value)
            break;
    }
    return i;
}

static int find_base(struct plot_grid *g, const struct plot_axis *a, const char *what,
                     const char *text, struct store_error *err)
{
    const char *near;

    g->relative_axis = a;
    g->relative_at = value_at(a, text);
    if (g->relative_at < a->n)
        return 0;
    near = conf_nearest(text, (const char *const *)a->text, a->n);
    return plot_fail(err, 2, "the %s axis %s has no value '%s'%s%s%s", what,
                     a->path ? a->path : "(none)", text, near ? "; did you mean '" : "",
                     near ? near : "", near ? "'?" : "");
}

/* What the user asks for replaces what the figure would do. */
static const char *wanted(const struct plot_request *r)
{
    if (r->relative_to || r->relative_to_x || r->figure->relative_to_x)
        return r->relative_to;
    return r->figure->relative_to;
}

static bool same_text(const struct data_point *p, const struct data_point *q, const char *path)
{
    char *a = data_value(p, path), *b = data_value(q, path);
    const bool same = a && b ? strcmp(a, b) == 0 : !a && !b;

    free(a);
    free(b);
    return same;
}

/* Do two points differ in this axis only? */
static bool beside(const struct data_point *p, const struct data_point *q, const char **axes,
                   size_t naxes, const char *path)
{
    bool same = strcmp(p->version, q->version) == 0 && strcmp(p->source, q->source) == 0;

    for (size_t i = 0; same && i < naxes; i++)
        same = strcmp(axes[i], path) == 0 || same_text(p, q, axes[i]);
    return same;
}

static int no_base(const struct dataset *d, const struct plot_axis *a, const char *path,
                   const char *value, size_t point, struct store_error *err)
{
    const char *near;

    if (value_at(a, value) < a->n)
        return plot_fail(err, 2, "no point with %s = %s beside that with %s", path, value,
                         a->text[a->at[point]]);
    near = conf_nearest(value, (const char *const *)a->text, a->n);
    return plot_fail(err, 2, "no point of %s has %s = %s%s%s%s", d->point[point].source, path,
                     value, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int find_points(struct plot_grid *g, const struct dataset *d, const char **axes,
                       size_t naxes, const char *path, const char *value, struct store_error *err)
{
    bool *all = calloc(d->n + 1, sizeof(*all));
    struct plot_axis a = {0};
    size_t at, left = 0;
    int failed = all ? 0 : plot_fail(err, 3, "out of memory");

    for (size_t i = 0; all && i < d->n; i++)
        all[i] = true;
    failed = failed || axis_make(&a, path, d, all, err) != 0;
    at = failed ? 0 : value_at(&a, value);
    for (size_t i = 0; !failed && i < d->n; i++) {
        size_t b = 0;

        g->used[i] = g->used[i] && a.at[i] != at;
        if (!g->used[i])
            continue;
        while (b < d->n &&
               !(a.at[b] == at && beside(&d->point[i], &d->point[b], axes, naxes, path)))
            b++;
        g->base[i] = b;
        left++;
        if (b == d->n)
            failed = no_base(d, &a, path, value, i, err);
    }
    if (!failed && left == 0)
        failed =
            plot_fail(err, 2, "all points have %s = %s: there is nothing to compare", path, value);
    axis_free(&a);
    free(all);
    return failed ? -1 : 0;
}

int ratio_prepare(struct plot_grid *g, const struct plot_request *r, const struct dataset *d,
                  struct store_error *err)
{
    const char *text = wanted(r);
    const char *value = text ? strchr(text, '=') : NULL;
    char *name = value ? strndup(text, (size_t)(value - text)) : NULL;
    size_t naxes, i = 0;
    const char **axes = name ? dataset_axes(d, &naxes) : NULL;
    int failed = 0;

    if (axes) {
        const char *path = axis_resolve(axes, naxes, name);

        while (i < naxes && strcmp(axes[i], path) != 0)
            i++;
        if (i < naxes) {
            g->relative_text = value + 1;
            g->base = calloc(d->n + 1, sizeof(*g->base));
            failed = !g->base ? plot_fail(err, 3, "out of memory")
                              : find_points(g, d, axes, naxes, path, value + 1, err);
        }
    }
    free(axes);
    free(name);
    return failed;
}

static int choose_base(struct plot_grid *g, const struct plot_request *r, struct store_error *err)
{
    if (r->relative_to && r->relative_to_x)
        return plot_fail(err, 2, "--relative-to and --relative-to-x exclude each other");
    if (g->base)
        return 0;
    if (wanted(r))
        return find_base(g, &g->series, "series", wanted(r), err);
    if (r->relative_to_x)
        return find_base(g, &g->x, "x", r->relative_to_x, err);
    if (r->figure->relative_to_x)
        return find_base(g, &g->x, "x", r->figure->relative_to_x, err);
    return 0;
}

const struct data_point *ratio_base(const struct plot_grid *g, const struct dataset *d, size_t i)
{
    const size_t x = i % g->x.n, s = i / g->x.n % g->series.n, f = i / g->x.n / g->series.n;
    const bool along_x = g->relative_axis == &g->x;
    const struct plot_cell *b;

    if (g->base)
        return &d->point[g->base[g->cell[i].point]];
    b = plot_cell(g, f, along_x ? s : g->relative_at, along_x ? g->relative_at : x);
    return b->there ? &d->point[b->point] : NULL;
}

int ratio_make(struct plot_grid *g, const struct plot_request *r, const struct dataset *d,
               struct store_error *err)
{
    if (choose_base(g, r, err) != 0)
        return -1;
    g->relative = g->base || g->relative_axis;
    for (size_t i = 0; g->relative && i < g->ncells; i++) {
        const long m = plot_metric(g, i / g->x.n / g->series.n) - metrics;
        const struct data_point *b = g->cell[i].there ? ratio_base(g, d, i) : NULL;

        g->cell[i].sum = b ? ratio_paired(&d->point[g->cell[i].point], b, m)
                           : (struct summary){.mean = NAN, .ci95 = NAN};
    }
    return 0;
}
