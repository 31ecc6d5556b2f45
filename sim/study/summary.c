/* SPDX-License-Identifier: MIT */
/* The closing table of a sweep. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obs/json.h"
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

/* What a line shows of a point: the chosen metrics, or the default ones. */
struct line {
    size_t runs;
    struct summary *sum; /* per candidate */
};

struct lines {
    const struct metric **metric; /* candidates */
    size_t nmetrics;
    struct line *line; /* per point */
    struct summary *sums;
};

static bool lines_new(struct lines *l, const struct sweep *s, const struct study *st)
{
    const size_t n = s->nmetrics ? s->nmetrics : NDEFAULT;

    *l = (struct lines){.metric = calloc(n, sizeof(*l->metric)),
                        .nmetrics = n,
                        .line = calloc(st->npoints + 1, sizeof(*l->line)),
                        .sums = calloc((st->npoints + 1) * n, sizeof(*l->sums))};
    if (!l->metric || !l->line || !l->sums)
        return false;
    for (size_t m = 0; m < n; m++)
        l->metric[m] = s->nmetrics ? s->metrics[m] : &metrics[default_metrics[m]];
    for (size_t i = 0; i < st->npoints; i++) {
        l->line[i].sum = &l->sums[i * n];
        for (size_t m = 0; m < n; m++)
            l->line[i].sum[m] = (struct summary){.mean = NAN, .ci95 = NAN};
    }
    return true;
}

static void lines_free(struct lines *l)
{
    free(l->metric);
    free(l->line);
    free(l->sums);
}

/* Takes the runs of this version and policy; all runs of all points at once would be too many. */
static int read_line(struct lines *l, const struct study *st, size_t i, struct store *store,
                     struct store_error *err)
{
    const struct store_point row = {
        .hash = st->point[i].row.hash, .labels = "{}", .echo = "{}", .machine = ""};
    struct dataset d = {0};
    const int failed = dataset_add_point(&d, store, &row, err);

    for (size_t k = 0; !failed && k < d.n; k++) {
        if (strcmp(d.point[k].version, st->version) != 0 ||
            strcmp(d.point[k].policy, st->policy) != 0)
            continue;
        l->line[i].runs = d.point[k].nruns;
        for (size_t m = 0; m < l->nmetrics; m++)
            l->line[i].sum[m] = d.point[k].sum[l->metric[m] - metrics];
    }
    dataset_free(&d);
    return failed;
}

/* Of the default metrics those that no point has are not shown. */
static void drop_empty(struct lines *l, const struct study *st)
{
    size_t kept = 0;

    for (size_t m = 0; m < l->nmetrics; m++) {
        bool used = false;

        for (size_t i = 0; i < st->npoints; i++)
            used = used || isfinite(l->line[i].sum[m].mean);
        for (size_t i = 0; used && i < st->npoints; i++)
            l->line[i].sum[kept] = l->line[i].sum[m];
        if (used)
            l->metric[kept++] = l->metric[m];
    }
    l->nmetrics = kept;
}

/* For people as many digits as can be told apart, for programs all of them. */
static void value_text(double v, int decimals, enum grid_format format, char out[32])
{
    if (format == GRID_TABLE)
        number_text(v, decimals, out);
    else if (isfinite(v))
        snprintf(out, 32, "%.17g", v);
    else
        out[0] = '\0';
}

static void fill_line(struct text_grid *g, size_t line, const struct line *x, size_t n,
                      int64_t failed)
{
    size_t col = g->left;
    char text[64];

    snprintf(text, sizeof(text), "%zu", x->runs);
    if (failed > 0 && g->format == GRID_TABLE)
        snprintf(text + strlen(text), 32, " (%d failed)", (int)failed);
    text_grid_set(g, line, col++, text);
    if (g->format != GRID_TABLE) {
        snprintf(text, sizeof(text), "%" PRId64, failed);
        text_grid_set(g, line, col++, text);
    }
    for (size_t m = 0; m < n; m++) {
        const int decimals = decimals_for(x->sum[m].mean);

        value_text(x->sum[m].mean, decimals, g->format, text);
        text_grid_set(g, line, col++, text);
        value_text(x->sum[m].ci95, decimals, g->format, text);
        text_grid_set(g, line, col++, text);
    }
}

static size_t points_there(const struct study *st)
{
    size_t n = 0;

    for (size_t p = 0; p < st->npoints; p++)
        n += !st->point[p].left_out;
    return n;
}

static void put_head(struct text_grid *g, const struct sweep *s, const struct lines *l)
{
    size_t col = s->naxes;
    char text[96];

    for (size_t i = 0; i < s->naxes; i++)
        text_grid_set(g, 0, i, s->axis[i].path);
    text_grid_set(g, 0, col++, "n");
    if (g->format != GRID_TABLE)
        text_grid_set(g, 0, col++, "failed");
    for (size_t m = 0; m < l->nmetrics; m++) {
        text_grid_set(g, 0, col++, l->metric[m]->key);
        snprintf(text, sizeof(text), "%s_ci95", l->metric[m]->key);
        text_grid_set(g, 0, col++, g->format == GRID_TABLE ? "+-95 %" : text);
    }
}

static int put_lines(FILE *out, const struct sweep *s, const struct study *st,
                     const struct lines *l, enum grid_format format)
{
    struct c_numbers numbers;
    struct text_grid g;
    const size_t n = l->nmetrics, counts = format == GRID_TABLE ? 1 : 2;
    int failed;

    if (!text_grid_new(&g, s->naxes + counts + 2 * n, points_there(st) + 1, s->naxes))
        return -1;
    if (c_numbers_begin(&numbers) != 0)
        return -1;
    g.format = format;
    put_head(&g, s, l);
    for (size_t p = 0, line = 1; p < s->npoints; p++) {
        if (st->point[p].left_out)
            continue;
        for (size_t i = 0; i < s->naxes; i++)
            text_grid_set(&g, line, i, sweep_label(s, p, i));
        fill_line(&g, line++, &l->line[p], n, st->point[p].nfailed);
    }
    failed = text_grid_put(&g, out);
    c_numbers_end(&numbers);
    return failed;
}

int summary_read(struct summary_table *t, const struct sweep *s, const struct study *st,
                 struct store *store, struct store_error *err)
{
    struct lines *l = calloc(1, sizeof(*l));
    int failed = 0;

    t->lines = l;
    if (!l || !lines_new(l, s, st)) {
        *err = (struct store_error){.status = 3, .text = "out of memory"};
        return -1;
    }
    for (size_t i = 0; !failed && i < st->npoints; i++)
        if (!st->point[i].left_out)
            failed = read_line(l, st, i, store, err);
    if (s->nmetrics == 0)
        drop_empty(l, st);
    return failed;
}

int summary_write(FILE *out, const struct summary_table *t, const struct sweep *s,
                  const struct study *st, enum grid_format format)
{
    return put_lines(out, s, st, t->lines, format);
}

void summary_free(struct summary_table *t)
{
    if (t->lines)
        lines_free(t->lines);
    free(t->lines);
    t->lines = NULL;
}

int summary_write_points(FILE *out, const struct sweep *s, const struct study *st,
                         const int64_t *missing, enum grid_format format)
{
    struct text_grid g;

    if (!text_grid_new(&g, s->naxes + 3, points_there(st) + 1, s->naxes + 2))
        return -1;
    g.format = format;
    text_grid_set(&g, 0, 0, "point");
    for (size_t i = 0; i < s->naxes; i++)
        text_grid_set(&g, 0, i + 1, s->axis[i].path);
    text_grid_set(&g, 0, s->naxes + 1, "scenario");
    text_grid_set(&g, 0, s->naxes + 2, "missing");
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
        snprintf(number, sizeof(number), "%" PRId64, missing[p]);
        text_grid_set(&g, line, s->naxes + 2, number);
    }
    return text_grid_put(&g, out);
}
