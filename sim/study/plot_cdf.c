/* SPDX-License-Identifier: MIT */
/*
 * Distributions: the buckets of merged histograms as steps.
 *
 * Always true: every point of a line is exact, in the sense that y per cent of the samples lie at or
 * below x, the upper end of a bucket; thinning leaves points out and moves none. It counts in
 * buckets and samples, so that it is the same everywhere.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/plot_axes.h"
#include "study/plot_cdf.h"

#define X_STEPS 190u
#define Y_STEPS 200u

static int no_hist(const struct metric *m, struct store_error *err)
{
    char list[600] = "";

    for (int i = 0; i < METRIC_COUNT; i++)
        if (metrics[i].hist >= 0)
            snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", *list ? ", " : "",
                     metrics[i].key);
    return plot_fail(err, 2, "no distribution of %s is kept; there is one for: %s", m->key, list);
}

int plot_hist(const struct plot_request *r, enum run_hist *hist, struct store_error *err)
{
    const char *list = r->metric ? r->metric : r->figure->metric;
    const char *unknown = NULL;
    const struct metric *m;
    size_t len = 0;

    if (r->figure->kind != FIGURE_CDF)
        return 0;
    m = list ? plot_metric_next(&list, &unknown, &len) : &metrics[METRIC_LATENCY_MEAN];
    if (!m)
        return plot_fail(err, 2, "unknown metric '%.*s'", (int)len, unknown ? unknown : "");
    if (list && *list)
        return plot_fail(err, 2, "a distribution has one metric");
    if (r->x)
        return plot_fail(err, 2, "the horizontal axis of a distribution is the metric: no --x");
    if (r->relative_to || r->relative_to_x)
        return plot_fail(err, 2, "distributions have no ratios: no --relative-to");
    if (m->hist < 0)
        return no_hist(m, err);
    *hist = (enum run_hist)m->hist;
    return 1;
}

/* How many of n equal parts lie in `part` of `all`, without a product that could overflow. */
static bool reaches(uint64_t part, uint64_t all, unsigned n)
{
    return part > all / n;
}

bool cdf_steps(struct plot_cdf *c, const struct hist *h, double unit)
{
    const int low = h->count ? hist_bucket(h->min) : 0, high = h->count ? hist_bucket(h->max) : -1;
    uint64_t seen = 0, kept = 0;
    int at = low;

    *c = (struct plot_cdf){0};
    if (h->count == 0)
        return true;
    c->x = calloc(CDF_POINTS, sizeof(*c->x));
    c->y = calloc(CDF_POINTS, sizeof(*c->y));
    if (!c->x || !c->y)
        return false;
    c->x[0] = (double)h->min / unit;
    c->n = 1;
    for (int b = low; b <= high; b++) {
        seen += h->bucket[b];
        if (h->bucket[b] == 0 || (b < high && !reaches(seen - kept, h->count, Y_STEPS) &&
                                  !reaches((uint64_t)(b - at), (uint64_t)(high - low), X_STEPS)))
            continue;
        const ns_t end = hist_bucket_high(b);

        c->x[c->n] = (double)(end < h->max ? end : h->max) / unit;
        c->y[c->n++] = b == high ? 100 : 100 * ((double)seen / (double)h->count);
        kept = seen;
        at = b;
    }
    return true;
}

int cdf_make(struct plot_grid *g, const struct dataset *d, struct store_error *err)
{
    const double unit = quantity_scale(g->metric[0]->unit);

    for (size_t i = 0; i < d->n; i++)
        if (g->used[i] && !d->point[i].hist)
            return plot_fail(err, 2,
                             "%s is a result file, which has no histograms: a distribution needs "
                             "the store of a sweep",
                             d->point[i].source);
    g->cdf = calloc(g->ncells, sizeof(*g->cdf));
    if (!g->cdf)
        return plot_fail(err, 3, "out of memory");
    for (size_t i = 0; i < g->ncells; i++)
        if (g->cell[i].there && !cdf_steps(&g->cdf[i], d->point[g->cell[i].point].hist, unit))
            return plot_fail(err, 3, "out of memory");
    return 0;
}

void cdf_free(struct plot_grid *g)
{
    for (size_t i = 0; g->cdf && i < g->ncells; i++) {
        free(g->cdf[i].x);
        free(g->cdf[i].y);
    }
    free(g->cdf);
    g->cdf = NULL;
}

void cdf_words(const struct metric *m, char space, char *out, size_t size)
{
    static const char *const ends[] = {"_mean", "_max", "_p"};
    const char *end = m->key + strlen(m->key) - strlen(m->unit) - 1;

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const char *found = strstr(m->key, ends[i]);

        if (found && found < end)
            end = found;
    }
    snprintf(out, size, "%.*s", (int)(end - m->key), m->key);
    for (char *p = out; *p; p++)
        if (*p == '_')
            *p = space;
}

struct cdf_range cdf_range(const struct plot_grid *g)
{
    const double unit = quantity_scale(g->metric[0]->unit);
    struct cdf_range r = {1, 1, 0};
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < g->ncells; i++) {
        const struct plot_cdf *c = &g->cdf[i];

        for (size_t k = 1; k < c->n; k++) {
            const double ns = c->x[k] * unit;

            if (ns > 0 && ns < least && c->y[k] >= 0.5)
                least = ns;
            if (ns > most && c->y[k - 1] < 99.5)
                most = ns;
        }
    }
    if (most == 0) {
        least = 1e3;
        most = 1e6;
    }
    while (r.first * 10 <= least)
        r.first *= 10;
    for (r.last = r.first; r.last < most || r.decades == 0; r.last *= 10)
        r.decades++;
    return r;
}

/* Markers tell lines apart without colour; those of different lines stand at different heights. */
static void put_line(FILE *out, const struct plot_cdf *c, size_t series, double least)
{
    double next = 8 + 4 * (double)(series % 5);

    if (c->n == 0)
        fputs("NaN NaN NaN\n", out);
    for (size_t k = 0; k < c->n; k++) {
        const bool marked = c->y[k] >= next;

        /* A logarithmic axis has no 0: such samples are below all of it. */
        fprintf(out, "%.12g %.9g ", c->x[k] > 0 ? c->x[k] : least, c->y[k]);
        if (marked)
            fprintf(out, "%.9g\n", c->y[k]);
        else
            fputs("NaN\n", out);
        while (next <= c->y[k])
            next += 20;
    }
    fputs("\n\n", out);
}

void cdf_data(FILE *out, const struct plot_grid *g)
{
    const double least = cdf_range(g).first / quantity_scale(g->metric[0]->unit);

    fputs("$data << END_OF_DATA\n", out);
    for (size_t i = 0; i < g->ncells; i++)
        put_line(out, &g->cdf[i], i % g->series.n, least);
    fputs("END_OF_DATA\n", out);
}
