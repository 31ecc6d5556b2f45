/* SPDX-License-Identifier: MIT */
/* The numbers of a picture as CSV. Always true: texts of users are quoted, numbers are exact. */
#include <math.h>
#include <stdio.h>

#include "study/plot_cdf.h"

static void put_text(FILE *out, const char *text)
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
        put_text(out, value ? a->text[*value] : a->path);
    return a->path != NULL;
}

static void put_cells(FILE *out, const struct plot_grid *g)
{
    if (put_axis(out, &g->facet, NULL))
        fputc(',', out);
    if (put_axis(out, &g->series, NULL))
        fputc(',', out);
    put_axis(out, &g->x, NULL);
    fprintf(out, ",%s%s,ci95,n%s\n", g->nmetrics > 1 ? "value" : g->metric[0]->key,
            g->relative ? "_relative" : "", g->published ? ",published_percent" : "");
    for (size_t i = 0; i < g->ncells; i++) {
        const size_t x = i % g->x.n, s = i / g->x.n % g->series.n, f = i / g->x.n / g->series.n;

        if (!g->cell[i].there)
            continue;
        if (put_axis(out, &g->facet, &f))
            fputc(',', out);
        if (put_axis(out, &g->series, &s))
            fputc(',', out);
        put_axis(out, &g->x, &x);
        fputc(',', out);
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
    else
        put_cells(out, g);
    return fflush(out) != 0 || ferror(out) ? -1 : 0;
}
