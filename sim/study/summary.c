/* SPDX-License-Identifier: MIT */
/* The closing table of a sweep. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/summary.h"
#include "study/text_grid.h"

/* What is shown when the sweep names no metrics, as far as it has values. */
static const enum metric_id default_metrics[] = {METRIC_THROUGHPUT, METRIC_LATENCY_P99,
                                                 METRIC_STEAL_RATIO};
#define NDEFAULT (sizeof(default_metrics) / sizeof(default_metrics[0]))

/* Four significant digits, plain notation where that stays short. */
static int decimals_for(double v)
{
    const double a = fabs(v);

    if (a == 0)
        return 0;
    if (a >= 1e9 || a < 1e-4)
        return -1;
    return a >= 1000 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : a >= 1 ? 3 : a >= 0.1 ? 4 : 6;
}

/* Mean and half-width of a line have the same number of digits after the point. */
static void number_text(double v, int decimals, char out[32])
{
    if (!isfinite(v))
        strcpy(out, "-");
    else if (decimals < 0)
        snprintf(out, 32, "%.3e", v);
    else
        snprintf(out, 32, "%.*f", decimals, v);
}

static const struct data_point *find_point(const struct dataset *d, const struct study *st,
                                           size_t i)
{
    for (size_t k = 0; k < d->n; k++)
        if (strcmp(d->point[k].hash, st->point[i].row.hash) == 0 &&
            strcmp(d->point[k].version, st->version) == 0 &&
            strcmp(d->point[k].policy, st->policy) == 0)
            return &d->point[k];
    return NULL;
}

/* The chosen metrics, or the default ones that some point has. */
static size_t choose(const struct sweep *s, const struct dataset *d, const struct metric **list)
{
    size_t n = 0;

    if (s->nmetrics > 0) {
        memcpy(list, s->metrics, s->nmetrics * sizeof(*list));
        return s->nmetrics;
    }
    for (size_t i = 0; i < NDEFAULT; i++)
        for (size_t k = 0; k < d->n; k++)
            if (isfinite(d->point[k].sum[default_metrics[i]].mean)) {
                list[n++] = &metrics[default_metrics[i]];
                break;
            }
    return n;
}

static void fill_line(struct text_grid *g, size_t line, const struct data_point *p,
                      const struct metric *const *list, size_t n, int64_t failed)
{
    char count[64];

    snprintf(count, sizeof(count), "%zu", p ? p->nruns : 0);
    if (failed > 0)
        snprintf(count + strlen(count), 32, " (%d failed)", (int)failed);
    text_grid_set(g, line, g->left, count);
    for (size_t m = 0; m < n; m++) {
        const struct summary none = {.mean = NAN, .ci95 = NAN};
        const struct summary *s = p ? &p->sum[list[m] - metrics] : &none;
        const int decimals = decimals_for(s->mean);
        char text[32];

        number_text(s->mean, decimals, text);
        text_grid_set(g, line, g->left + 1 + 2 * m, text);
        number_text(s->ci95, decimals, text);
        text_grid_set(g, line, g->left + 2 + 2 * m, text);
    }
}

static size_t points_there(const struct study *st)
{
    size_t n = 0;

    for (size_t p = 0; p < st->npoints; p++)
        n += !st->point[p].left_out;
    return n;
}

int summary_write(FILE *out, const struct sweep *s, const struct study *st, const struct dataset *d)
{
    const struct metric **list = calloc(s->nmetrics + NDEFAULT, sizeof(*list));
    struct text_grid g;
    size_t n;

    if (!list)
        return -1;
    n = choose(s, d, list);
    if (!text_grid_new(&g, s->naxes + 1 + 2 * n, points_there(st) + 1, s->naxes)) {
        free(list);
        return -1;
    }
    for (size_t i = 0; i < s->naxes; i++)
        text_grid_set(&g, 0, i, s->axis[i].path);
    text_grid_set(&g, 0, s->naxes, "n");
    for (size_t m = 0; m < n; m++) {
        text_grid_set(&g, 0, s->naxes + 1 + 2 * m, list[m]->key);
        text_grid_set(&g, 0, s->naxes + 2 + 2 * m, "+-95 %");
    }
    for (size_t p = 0, line = 1; p < s->npoints; p++) {
        if (st->point[p].left_out)
            continue;
        for (size_t i = 0; i < s->naxes; i++)
            text_grid_set(&g, line, i, sweep_label(s, p, i));
        fill_line(&g, line++, find_point(d, st, p), list, n, st->point[p].nfailed);
    }
    free(list);
    return text_grid_put(&g, out);
}

int summary_write_points(FILE *out, const struct sweep *s, const struct study *st)
{
    struct text_grid g;

    if (!text_grid_new(&g, s->naxes + 2, points_there(st) + 1, s->naxes + 2))
        return -1;
    text_grid_set(&g, 0, 0, "point");
    for (size_t i = 0; i < s->naxes; i++)
        text_grid_set(&g, 0, i + 1, s->axis[i].path);
    text_grid_set(&g, 0, s->naxes + 1, "scenario");
    for (size_t p = 0, line = 0; p < s->npoints; p++) {
        char number[24];

        if (st->point[p].left_out)
            continue;
        line++;
        snprintf(number, sizeof(number), "%zu", p);
        text_grid_set(&g, line, 0, number);
        for (size_t i = 0; i < s->naxes; i++)
            text_grid_set(&g, line, i + 1, sweep_label(s, p, i));
        text_grid_set(&g, line, s->naxes + 1, st->point[p].row.hash);
    }
    return text_grid_put(&g, out);
}
