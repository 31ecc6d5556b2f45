/* SPDX-License-Identifier: MIT */
/* The numbers of a picture as CSV. Always true: texts of users are quoted, numbers are exact. */
#include <math.h>
#include <stdio.h>

#include "study/plot_box.h"
#include "study/plot_cdf.h"

void plot_put_csv(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_number(FILE *out, double v)
{
    char text[48] = "";

    if (isfinite(v))
        quantity_exact(v, text);
    fputs(text, out);
}

/* The value of an axis that is used, its name when there is no such value. */
static bool put_axis(FILE *out, const struct plot_axis *a, const size_t *value)
{
    if (a->path)
        plot_put_csv(out, value ? a->text[*value] : a->path);
    return a->path != NULL;
}

/* The places of a cell, or the names of the axes, with a comma behind each. */
static void put_cell_place(FILE *out, const struct plot_grid *g, const size_t *cell)
{
    const size_t x = cell ? *cell % g->x.n : 0, s = cell ? *cell / g->x.n % g->series.n : 0;
    const size_t f = cell ? *cell / g->x.n / g->series.n : 0;

    if (put_axis(out, &g->facet, cell ? &f : NULL))
        fputc(',', out);
    if (put_axis(out, &g->series, cell ? &s : NULL))
        fputc(',', out);
    put_axis(out, &g->x, cell ? &x : NULL);
    fputc(',', out);
}

/* Dots as a list in one column. */
static void put_boxes(FILE *out, const struct plot_grid *g)
{
    put_cell_place(out, g, NULL);
    fprintf(out, "%s%s,q1,q3,whisker_low,whisker_high,n,dots\n",
            g->nmetrics > 1 ? "median" : g->metric[0]->key,
            g->nmetrics > 1 ? ""
            : g->relative   ? "_relative_median"
                            : "_median");
    for (size_t i = 0; i < g->ncells; i++) {
        const struct plot_box *b = &g->box[i];
        const double values[] = {b->median, b->q1, b->q3, b->low, b->high};
        const char *between = "";

        if (!g->cell[i].there)
            continue;
        put_cell_place(out, g, &i);
        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
            put_number(out, b->n > 0 ? values[k] : NAN);
            fputc(',', out);
        }
        fprintf(out, "%zu,\"", b->n);
        for (size_t k = 0; k < b->n; k++)
            if (box_dot(b, k)) {
                fputs(between, out);
                put_number(out, b->value[k]);
                between = " ";
            }
        fputs("\"\n", out);
    }
}

static void put_cells(FILE *out, const struct plot_grid *g)
{
    put_cell_place(out, g, NULL);
    fprintf(out, "%s%s,ci95,n%s\n", g->nmetrics > 1 ? "value" : g->metric[0]->key,
            g->relative ? "_relative" : "", g->published ? ",published_percent" : "");
    for (size_t i = 0; i < g->ncells; i++) {
        if (!g->cell[i].there)
            continue;
        put_cell_place(out, g, &i);
        put_number(out, g->cell[i].sum.mean);
        fputc(',', out);
        put_number(out, g->cell[i].sum.ci95);
        fprintf(out, ",%d", g->cell[i].sum.n);
        if (g->published) {
            fputc(',', out);
            put_number(out, g->cell[i].published);
        }
        fputc('\n', out);
    }
}

static void put_place(FILE *out, const struct plot_grid *g, const size_t *series,
                      const size_t *facet)
{
    if (g->series.path)
        fputc(',', out);
    put_axis(out, &g->series, series);
    if (g->facet.path)
        fputc(',', out);
    put_axis(out, &g->facet, facet);
    fputc('\n', out);
}

/* Distributions: x and y come first, as each place has many of them. */
static void put_steps(FILE *out, const struct plot_grid *g)
{
    char words[64];

    cdf_words(g->metric[0], '_', words, sizeof(words));
    fprintf(out, "%s_%s,percent", words, g->metric[0]->unit);
    put_place(out, g, NULL, NULL);
    for (size_t i = 0; i < g->ncells; i++) {
        const size_t series = i % g->series.n, facet = i / g->series.n;

        for (size_t k = 0; k < g->cdf[i].n; k++) {
            put_number(out, g->cdf[i].x[k]);
            fputc(',', out);
            put_number(out, g->cdf[i].y[k]);
            put_place(out, g, &series, &facet);
        }
    }
}

int plot_grid_csv(FILE *out, const struct plot_grid *g)
{
    if (g->cdf)
        put_steps(out, g);
    else if (g->box)
        put_boxes(out, g);
    else
        put_cells(out, g);
    return fflush(out) != 0 || ferror(out) ? -1 : 0;
}
