/* SPDX-License-Identifier: MIT */
/* From points to the grid of a picture: filters, places. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/facts.h"
#include "study/plot_axes.h"
#include "study/plot_box.h"
#include "study/plot_cdf.h"
#include "study/plot_ratio.h"

static bool passes(const struct data_point *p, const char *path, const char *value)
{
    char *text = data_value(p, path);
    const bool yes = text && strcmp(text, value) == 0;

    free(text);
    return yes;
}

/* The values an axis has, for the message of a filter that fits nothing. */
static int no_match(const struct dataset *d, const char *path, const char *value, const bool *used,
                    struct store_error *err)
{
    struct plot_axis a;
    char list[300] = "";

    if (axis_make(&a, path, d, used, err) != 0) {
        axis_free(&a);
        return -1;
    }
    for (size_t i = 0; i < a.n; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
                 a.text[i]);
    axis_free(&a);
    return plot_fail(err, 2, "no point has %s = %s; values there are: %s", path, value, list);
}

static int apply_filter(bool *used, const struct plot_filter *f, const struct dataset *d,
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
            kept[i] = used[i] && passes(&d->point[i], path, f->value);
            left += kept[i];
        }
        if (left == 0)
            failed = no_match(d, path, f->value, used, err);
        else
            memcpy(used, kept, d->n * sizeof(*kept));
    }
    free(kept);
    free(axes);
    free(name);
    return failed;
}

int plot_filter_points(bool *used, const struct plot_request *r, const struct dataset *d,
                       struct store_error *err)
{
    for (size_t i = 0; i < r->nfilters; i++)
        if (apply_filter(used, &r->filter[i], d, err) != 0)
            return -1;
    return 0;
}

const char *plot_part(const char *texts, size_t n, size_t *len)
{
    for (; n > 0; n--) {
        texts += strcspn(texts, "|");
        if (!*texts)
            return NULL;
        texts++;
    }
    *len = strcspn(texts, "|");
    return texts;
}

const struct metric *plot_metric_next(const char **list, const char **unknown, size_t *len)
{
    const struct metric *m;
    char *name;

    *unknown = NULL;
    *len = strcspn(*list, ",|");
    if (!**list)
        return NULL;
    name = strndup(*list, *len);
    m = name ? metric_find(name) : NULL;
    free(name);
    if (!m)
        *unknown = *list;
    *list += *len + ((*list)[*len] != '\0');
    return m;
}

/* The first metric that any of the points has a value for, throughput first of all. */
static const struct metric *first_metric(const struct plot_grid *g, const struct dataset *d)
{
    for (int m = 0; m < METRIC_COUNT; m++)
        for (size_t i = 0; i < d->n; i++)
            if (g->used[i] && isfinite(d->point[i].sum[m].mean))
                return &metrics[m];
    return &metrics[METRIC_THROUGHPUT];
}

/* Parts and their whole are on one axis. */
static int one_unit(const struct plot_grid *g, const struct plot_request *r,
                    struct store_error *err)
{
    const struct metric *whole = g->metric[g->nmetrics - 1];

    if (r->series)
        return plot_fail(err, 2, "the series of a stack are its metrics: no --series");
    if (r->relative_to || r->relative_to_x)
        return plot_fail(err, 2, "a stack has no ratios: no --relative-to");
    for (size_t m = 0; m < g->nmetrics; m++)
        if (strcmp(g->metric[m]->unit, whole->unit) != 0)
            return plot_fail(err, 2, "metrics of a stack have one unit: %s and %s do not",
                             g->metric[m]->key, whole->key);
    return 0;
}

static int choose_metrics(struct plot_grid *g, const struct plot_request *r,
                          const struct dataset *d, struct store_error *err)
{
    const char *list = r->metric ? r->metric : r->figure->metric;
    const char *unknown = NULL;
    const struct metric *m;
    size_t len = 0;

    while (list && (m = plot_metric_next(&list, &unknown, &len)) != NULL) {
        if (g->nmetrics == PLOT_METRICS)
            return plot_fail(err, 2, "a figure has at most %d metrics", PLOT_METRICS);
        g->metric[g->nmetrics++] = m;
    }
    g->stacked = r->figure->kind == FIGURE_STACK;
    if (unknown)
        return plot_fail(err, 2, "unknown metric '%.*s'", (int)len, unknown);
    if (g->nmetrics == 0)
        g->metric[g->nmetrics++] = first_metric(g, d);
    if (g->stacked)
        return one_unit(g, r, err);
    if (g->nmetrics > 1 && r->facet)
        return plot_fail(err, 2,
                         "the figure has a panel for each of its %zu metrics: --facet needs one "
                         "metric, chosen with --metric",
                         g->nmetrics);
    return 0;
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

/* Not of a stack, the parts of which have no values of their own. */
static double published_of(struct plot_grid *g, const struct data_point *p)
{
    char *text = g->stacked ? NULL : data_value(p, FACTS_PUBLISHED);
    const struct quantity q = quantity_parse(text ? text : "");

    free(text);
    g->published = g->published || q.kind == QUANTITY_PLAIN;
    return q.kind == QUANTITY_PLAIN ? q.value : NAN;
}

static int fill_cells(struct plot_grid *g, const struct dataset *d, struct store_error *err)
{
    g->ncells = g->x.n * g->series.n * g->facet.n;
    g->cell = calloc(g->ncells, sizeof(*g->cell));
    if (!g->cell)
        return plot_fail(err, 3, "out of memory");
    for (size_t i = 0; i < g->ncells; i++)
        g->cell[i] = (struct plot_cell){.sum = {.mean = NAN, .ci95 = NAN}, .published = NAN};
    for (size_t i = 0; i < d->n; i++)
        for (size_t m = 0; g->used[i] && m < g->nmetrics; m++) {
            struct plot_cell *c = plot_cell(g, g->facet.at[i] + (g->stacked ? 0 : m),
                                            g->series.at[i] + (g->stacked ? m : 0), g->x.at[i]);

            if (c->there)
                return two_points(d, c->point, i, err);
            *c = (struct plot_cell){true, i, d->point[i].sum[g->metric[m] - metrics],
                                    published_of(g, &d->point[i])};
        }
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
    if (plot_filter_points(g->used, r, d, err) != 0)
        return -1;
    if (choose_metrics(g, r, d, err) != 0 || ratio_prepare(g, r, d, err) != 0 ||
        axes_choose(g, r, d, err) != 0 || sort_axes(g, d->n, err) != 0 ||
        fill_cells(g, d, err) != 0 || ratio_make(g, r, d, err) != 0)
        return -1;
    if (r->figure->kind == FIGURE_CDF && cdf_make(g, d, err) != 0)
        return -1;
    if (r->figure->kind == FIGURE_BOX && box_make(g, d, err) != 0)
        return -1;
    count_data(g);
    return 0;
}

void plot_grid_free(struct plot_grid *g)
{
    cdf_free(g);
    box_free(g);
    axis_free(&g->x);
    axis_free(&g->series);
    axis_free(&g->facet);
    free(g->cell);
    free(g->base);
    free(g->used);
}
