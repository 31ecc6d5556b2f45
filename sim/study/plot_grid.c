/* SPDX-License-Identifier: MIT */
/* From points to the grid of a picture: filters, places, ratios. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "study/plot_axes.h"

static bool passes(const struct data_point *p, const char *path, const char *value)
{
    char *text = data_value(p, path);
    const bool yes = text && strcmp(text, value) == 0;

    free(text);
    return yes;
}

/* The values an axis has, for the message of a filter that fits nothing. */
static int no_match(const struct dataset *d, const char *path, const char *value,
                    const struct plot_grid *g, struct store_error *err)
{
    struct plot_axis a;
    char list[300] = "";

    if (axis_make(&a, path, d, g->used, err) != 0) {
        axis_free(&a);
        return -1;
    }
    for (size_t i = 0; i < a.n; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
                 a.text[i]);
    axis_free(&a);
    return plot_fail(err, 2, "no point has %s = %s; values there are: %s", path, value, list);
}

static int apply_filter(struct plot_grid *g, const struct plot_filter *f, const struct dataset *d,
                        struct store_error *err)
{
    char *name = strndup(f->path, f->path_len);
    size_t naxes, left = 0;
    const char **axes = dataset_axes(d, &naxes);
    bool *kept = calloc(d->n + 1, sizeof(*kept));
    int failed = 0;

    if (!name || !axes || !kept) {
        failed = plot_fail(err, 3, "out of memory");
    } else {
        const char *path = axis_resolve(axes, naxes, name);

        for (size_t i = 0; i < d->n; i++) {
            kept[i] = g->used[i] && passes(&d->point[i], path, f->value);
            left += kept[i];
        }
        if (left == 0)
            failed = no_match(d, path, f->value, g, err);
        else
            memcpy(g->used, kept, d->n * sizeof(*kept));
    }
    free(kept);
    free(axes);
    free(name);
    return failed;
}

static void choose_metric(struct plot_grid *g, const struct plot_request *r,
                          const struct dataset *d)
{
    const char *name = r->metric ? r->metric : r->figure->metric;

    g->metric = name ? metric_find(name) : NULL;
    for (int m = 0; m < METRIC_COUNT && !g->metric; m++)
        for (size_t i = 0; i < d->n && !g->metric; i++)
            if (g->used[i] && isfinite(d->point[i].sum[m].mean))
                g->metric = &metrics[m];
    if (!g->metric)
        g->metric = &metrics[METRIC_THROUGHPUT];
}

/* The first axis in which two points of one place differ, for the message. */
static int two_points(const struct dataset *d, size_t a, size_t b, struct store_error *err)
{
    const struct data_point *p = &d->point[a], *q = &d->point[b];
    size_t n;
    const char **axes = dataset_axes(d, &n);
    int failed = -1;

    if (strcmp(p->version, q->version) != 0)
        failed = plot_fail(err, 2,
                           "the data has runs of the program versions %s and %s: choose one with "
                           "--filter version=VERSION",
                           p->version, q->version);
    for (size_t i = 0; axes && i < n && failed == -1; i++) {
        char *x = data_value(p, axes[i]), *y = data_value(q, axes[i]);

        if (x && y && strcmp(x, y) != 0) {
            failed = -2;
            plot_fail(err, 2,
                      "points with %s = %s and %s = %s fall onto the same place: fix the axis with "
                      "--filter %s=VALUE, or use it as --series or --facet",
                      axes[i], x, axes[i], y, axes[i]);
        }
        free(x);
        free(y);
    }
    free(axes);
    if (failed == -1 && strcmp(p->version, q->version) == 0)
        plot_fail(err, 2,
                  "two points fall onto the same place (from %s and %s): use --series file to keep "
                  "files apart",
                  p->source, q->source);
    return -1;
}

static int fill_cells(struct plot_grid *g, const struct dataset *d, struct store_error *err)
{
    g->ncells = g->x.n * g->series.n * g->facet.n;
    g->cell = calloc(g->ncells, sizeof(*g->cell));
    if (!g->cell)
        return plot_fail(err, 3, "out of memory");
    for (size_t i = 0; i < g->ncells; i++)
        g->cell[i].sum = (struct summary){.mean = NAN, .ci95 = NAN};
    for (size_t i = 0; i < d->n; i++) {
        struct plot_cell *c;

        if (!g->used[i])
            continue;
        c = plot_cell(g, g->facet.at[i], g->series.at[i], g->x.at[i]);
        if (c->there)
            return two_points(d, c->point, i, err);
        *c = (struct plot_cell){true, i, d->point[i].sum[g->metric - metrics]};
    }
    return 0;
}

static double run_value_of(const struct data_point *p, uint64_t seed, int64_t replication, long m)
{
    for (size_t i = 0; i < p->nruns; i++)
        if (p->run[i].seed == seed && p->run[i].replication == replication)
            return p->run[i].value[m];
    return NAN;
}

/* Runs with the same seed and replication met the same arrivals, so they are compared pair by pair.
 * Pairs that lack a value, or divide by zero, have no ratio. */
static struct summary paired_ratio(const struct data_point *p, const struct data_point *base,
                                   long m)
{
    double *ratio = calloc(p->nruns + 1, sizeof(*ratio));
    struct summary s = {.mean = NAN, .ci95 = NAN};
    int n = 0;

    for (size_t i = 0; ratio && i < p->nruns; i++) {
        const double v = p->run[i].value[m];
        const double b = run_value_of(base, p->run[i].seed, p->run[i].replication, m);

        if (isfinite(v) && isfinite(b) && b != 0)
            ratio[n++] = v / b;
    }
    if (n > 0)
        s = summary_of(ratio, n, 0.95);
    free(ratio);
    return s;
}

static int make_relative(struct plot_grid *g, const struct plot_request *r, const struct dataset *d,
                         struct store_error *err)
{
    struct summary *ratio;
    size_t base = 0;

    while (base < g->series.n && strcmp(g->series.text[base], r->relative_to) != 0)
        base++;
    if (base == g->series.n) {
        const char *near =
            conf_nearest(r->relative_to, (const char *const *)g->series.text, g->series.n);

        return plot_fail(err, 2, "the series axis %s has no value '%s'%s%s%s",
                         g->series.path ? g->series.path : "(none)", r->relative_to,
                         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    ratio = calloc(g->ncells, sizeof(*ratio));
    g->relative_to = strdup(r->relative_to);
    if (!ratio || !g->relative_to) {
        free(ratio);
        return plot_fail(err, 3, "out of memory");
    }
    for (size_t i = 0; i < g->ncells; i++) {
        const size_t x = i % g->x.n, f = i / g->x.n / g->series.n;
        const struct plot_cell *b = plot_cell(g, f, base, x);

        ratio[i] = (struct summary){.mean = NAN, .ci95 = NAN};
        if (g->cell[i].there && b->there)
            ratio[i] =
                paired_ratio(&d->point[g->cell[i].point], &d->point[b->point], g->metric - metrics);
    }
    for (size_t i = 0; i < g->ncells; i++)
        g->cell[i].sum = ratio[i];
    free(ratio);
    return 0;
}

static void count_data(struct plot_grid *g)
{
    for (size_t i = 0; i < g->ncells; i++) {
        const struct summary *s = &g->cell[i].sum;

        if (!isfinite(s->mean))
            continue;
        if (g->with_data++ == 0 || s->n < g->least_n)
            g->least_n = s->n;
        if (s->n > g->most_n)
            g->most_n = s->n;
    }
}

/* Numbers in order of size, whatever order the sweep had them in; names in the sweep's order. */
static int sort_numbers(struct plot_axis *a, size_t npoints)
{
    size_t *order = calloc(a->n, sizeof(*order)), *place = calloc(a->n, sizeof(*place));
    char **text = calloc(a->n, sizeof(*text));
    double *number = calloc(a->n, sizeof(*number));
    const bool ok = order && place && text && number;

    for (size_t i = 0; ok && i < a->n; i++) {
        size_t k = i;

        for (; k > 0 && a->number[order[k - 1]] > a->number[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    for (size_t i = 0; ok && i < a->n; i++) {
        place[order[i]] = i;
        text[i] = a->text[order[i]];
        number[i] = a->number[order[i]];
    }
    for (size_t i = 0; ok && i < npoints; i++)
        a->at[i] = place[a->at[i]];
    if (ok) {
        memcpy(a->text, text, a->n * sizeof(*text));
        memcpy(a->number, number, a->n * sizeof(*number));
    }
    free(order);
    free(place);
    free(text);
    free(number);
    return ok ? 0 : -1;
}

static int sort_axes(struct plot_grid *g, size_t npoints, struct store_error *err)
{
    struct plot_axis *list[] = {&g->x, &g->series, &g->facet};

    for (int i = 0; i < 3; i++)
        if (list[i]->numeric && sort_numbers(list[i], npoints) != 0)
            return plot_fail(err, 3, "out of memory");
    return 0;
}

int plot_grid_make(struct plot_grid *g, const struct plot_request *r, const struct dataset *d,
                   struct store_error *err)
{
    *g = (struct plot_grid){0};
    if (d->n == 0)
        return plot_fail(err, 2, "no runs to draw: the store is empty");
    g->used = calloc(d->n + 1, sizeof(*g->used));
    if (!g->used)
        return plot_fail(err, 3, "out of memory");
    for (size_t i = 0; i < d->n; i++)
        g->used[i] = true;
    for (size_t i = 0; i < r->nfilters; i++)
        if (apply_filter(g, &r->filter[i], d, err) != 0)
            return -1;
    choose_metric(g, r, d);
    if (axes_choose(g, r, d, err) != 0 || sort_axes(g, d->n, err) != 0 ||
        fill_cells(g, d, err) != 0)
        return -1;
    if (r->relative_to && make_relative(g, r, d, err) != 0)
        return -1;
    count_data(g);
    return 0;
}

void plot_grid_free(struct plot_grid *g)
{
    axis_free(&g->x);
    axis_free(&g->series);
    axis_free(&g->facet);
    free(g->cell);
    free(g->relative_to);
    free(g->used);
}

static void put_field(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputs("\",", out);
}

static void put_number(FILE *out, double v, char end)
{
    char text[48] = "";

    if (isfinite(v))
        quantity_exact(v, text);
    fprintf(out, "%s%c", text, end);
}

static void put_cell(FILE *out, const struct plot_grid *g, size_t i)
{
    const size_t x = i % g->x.n, s = i / g->x.n % g->series.n, f = i / g->x.n / g->series.n;

    if (g->facet.path)
        put_field(out, g->facet.text[f]);
    if (g->series.path)
        put_field(out, g->series.text[s]);
    put_field(out, g->x.text[x]);
    put_number(out, g->cell[i].sum.mean, ',');
    put_number(out, g->cell[i].sum.ci95, ',');
    fprintf(out, "%d\n", g->cell[i].sum.n);
}

int plot_grid_csv(FILE *out, const struct plot_grid *g)
{
    if (g->facet.path)
        put_field(out, g->facet.path);
    if (g->series.path)
        put_field(out, g->series.path);
    put_field(out, g->x.path);
    fprintf(out, "%s%s,ci95,n\n", g->metric->key, g->relative_to ? "_relative" : "");
    for (size_t i = 0; i < g->ncells; i++)
        if (g->cell[i].there)
            put_cell(out, g, i);
    return fflush(out) != 0 || ferror(out) ? -1 : 0;
}
