/* SPDX-License-Identifier: MIT */
/* See plot_box.h. */
#include "study/plot_box.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

#include "study/plot_axes.h"
#include "study/plot_ratio.h"

#define REACH   1.5 /* of a whisker, in distances of the quartiles */
#define FEW     20  /* runs that are all drawn */
#define FAR_OFF 0.5 /* lowest value, as a part of the highest, above which the axis leaves 0 */

void box_of(struct plot_box *b, double *value, size_t n)
{
    gsl_sort(value, 1, n);
    *b = (struct plot_box){
        .n = n,
        .value = value,
        .q1 = gsl_stats_quantile_from_sorted_data(value, 1, n, 0.25),
        .median = gsl_stats_quantile_from_sorted_data(value, 1, n, 0.5),
        .q3 = gsl_stats_quantile_from_sorted_data(value, 1, n, 0.75),
    };
    const double reach = REACH * (b->q3 - b->q1);
    size_t first = 0, last = n - 1;

    while (value[first] < b->q1 - reach)
        first++;
    while (value[last] > b->q3 + reach)
        last--;
    b->low = value[first];
    b->high = value[last];
}

static size_t values_of(const struct plot_grid *g, const struct dataset *d, size_t i, double *out)
{
    const struct data_point *p = &d->point[g->cell[i].point];
    const long m = plot_metric(g, i / g->x.n / g->series.n) - metrics;
    const struct data_point *base = g->relative ? ratio_base(g, d, i) : NULL;
    size_t n = 0;

    if (g->relative)
        return base ? ratio_values(p, base, m, out) : 0;
    for (size_t k = 0; k < p->nruns; k++)
        if (isfinite(p->run[k].value[m]))
            out[n++] = p->run[k].value[m];
    return n;
}

int box_make(struct plot_grid *g, const struct dataset *d, struct store_error *err)
{
    g->box = calloc(g->ncells, sizeof(*g->box));
    if (!g->box)
        return plot_fail(err, 3, "out of memory");
    for (size_t i = 0; i < g->ncells; i++) {
        double *value;
        size_t n;

        if (!g->cell[i].there)
            continue;
        value = calloc(d->point[g->cell[i].point].nruns + 1, sizeof(*value));
        if (!value)
            return plot_fail(err, 3, "out of memory");
        n = values_of(g, d, i, value);
        if (n > 0)
            box_of(&g->box[i], value, n);
        else
            free(value);
    }
    return 0;
}

void box_free(struct plot_grid *g)
{
    for (size_t i = 0; g->box && i < g->ncells; i++)
        free(g->box[i].value);
    free(g->box);
    g->box = NULL;
}

bool box_dot(const struct plot_box *b, size_t i)
{
    return b->n <= FEW || b->value[i] < b->low || b->value[i] > b->high;
}

double box_floor(const struct plot_grid *g, size_t from, size_t n, double scale)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = from; i < from + n; i++)
        if (g->box[i].n > 0) {
            low = fmin(low, g->box[i].value[0]);
            high = fmax(high, g->box[i].value[g->box[i].n - 1]);
        }
    if (!isfinite(low) || (low >= 0 && low < FAR_OFF * high))
        return 0;
    return (low - 0.06 * (high > low ? high - low : fabs(high))) / scale;
}

void box_data(FILE *out, const struct plot_grid *g, const double *scale)
{
    const size_t cells = g->x.n * g->series.n;

    fputs("$data << END_OF_DATA\n", out);
    for (size_t i = 0; i < g->ncells; i++) {
        const struct plot_box *b = &g->box[i];
        const double k = scale[i / cells];

        if (b->n > 0)
            fprintf(out, "%zu %.12g %.12g %.12g %.12g %.12g %zu\n", i % g->x.n + 1, b->median / k,
                    b->q1 / k, b->q3 / k, b->low / k, b->high / k, i / g->x.n % g->series.n + 1);
        else
            fprintf(out, "%zu NaN NaN NaN NaN NaN NaN\n", i % g->x.n + 1);
        if (i % g->x.n + 1 == g->x.n)
            fputs("\n\n", out);
    }
    fputs("END_OF_DATA\n$dots << END_OF_DATA\n", out);
    for (size_t i = 0; i < g->ncells; i++) {
        const struct plot_box *b = &g->box[i];

        fprintf(out, "%zu NaN 0\n", i % g->x.n + 1); /* no block is empty */
        for (size_t r = 0; r < b->n; r++)
            if (box_dot(b, r))
                fprintf(out, "%zu %.12g %.6g\n", i % g->x.n + 1, b->value[r] / scale[i / cells],
                        b->n > 1 && b->n <= FEW ? 2 * (double)r / (double)(b->n - 1) - 1 : 0);
        if (i % g->x.n + 1 == g->x.n)
            fputs("\n\n", out);
    }
    fputs("END_OF_DATA\n", out);
}
