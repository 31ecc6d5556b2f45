/* SPDX-License-Identifier: MIT */
/*
 * Writes the gnuplot script: terminal, variables, data; the drawing itself is in the templates.
 *
 * Lengths are counted in em, the size of the font, from estimates of the text's width: gnuplot
 * places panels before it knows its labels, and a shared legend needs to know how many lines it
 * takes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "study/plot.h"
#include "study/plot_label.h"

#ifndef TANDEM_SOURCE_DIR
#define TANDEM_SOURCE_DIR "."
#endif

#define EM_PER_CHAR 0.62 /* DejaVu Sans, on the wide side */
#define ONE_COLUMN  34.0 /* widths of a picture in em: 34 em of 8 pt are 96 mm */
#define TWO_COLUMNS 68.0
#define PLOT_HEIGHT 17.0
#define MAX_COLS    4

struct layout {
    double width, height; /* em */
    double top;           /* title and legend */
    double title, legend, foot;
    size_t key_cols, key_rows;
    size_t cols, rows;                 /* of panels */
    double left, right, bottom, above; /* around the axes of one panel */
    bool rotate;
};

int picture_format(const char *file)
{
    static const char *const endings[] = {".svg", ".pdf", ".png"};

    for (int i = 0; i < 3; i++) {
        const size_t n = strlen(file);

        if (n > 4 && strcmp(file + n - 4, endings[i]) == 0)
            return i;
    }
    return -1;
}

const char *plot_folder(const char *name, char *buf, size_t size)
{
    const char *const roots[] = {getenv("TANDEM_HOME"), TANDEM_SOURCE_DIR, "."};

    for (size_t i = 0; i < 3; i++) {
        struct stat st;
        int n;

        if (!roots[i])
            continue;
        n = snprintf(buf, size, "%s/plots/%s", roots[i], name);
        if (n > 0 && (size_t)n < size && stat(buf, &st) == 0) {
            buf[(size_t)n - strlen(name) - 1] = '\0';
            return buf;
        }
    }
    return NULL;
}

/* Single quotes: only the quote itself is special, and is doubled. */
static void put_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', out);
        fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, out);
    }
    fputc('\'', out);
}

/* Text of a tic, which gnuplot takes as a format: % is doubled. */
static void put_tic(FILE *out, const char *text)
{
    char doubled[2 * LABEL_SIZE];
    size_t n = 0;

    for (; *text && n < sizeof(doubled) - 3; text++) {
        if (*text == '%')
            doubled[n++] = '%';
        doubled[n++] = *text;
    }
    doubled[n] = '\0';
    put_text(out, doubled);
}

static void put_variable(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s = ", name);
    put_text(out, text);
    fputc('\n', out);
}

static double largest(const struct plot_grid *g, size_t from, size_t n)
{
    double most = 0;

    for (size_t i = from; i < from + n; i++) {
        const struct summary *s = &g->cell[i].sum;
        const double top = s->mean + (isfinite(s->ci95) ? s->ci95 : 0);

        if (isfinite(top) && top > most)
            most = top;
    }
    return most;
}

static size_t widest_value(const struct plot_axis *a)
{
    size_t most = 0;

    for (size_t i = 0; i < a->n; i++) {
        char text[LABEL_SIZE];

        label_value(a, i, text);
        if (label_width(text) > most)
            most = label_width(text);
    }
    return most;
}

static size_t widest_text(const struct plot_axis *a)
{
    size_t most = 0;

    for (size_t i = 0; i < a->n; i++) {
        char text[LABEL_SIZE];

        label_shorten(a->text[i], 32, text);
        if (label_width(text) > most)
            most = label_width(text);
    }
    return most;
}

static bool is_map(const struct plot_request *r)
{
    return r->figure->kind == FIGURE_MAP;
}

/* Categories of bars and maps, and of lines along something that is no number. */
static bool x_is_categories(const struct plot_grid *g, const struct plot_request *r)
{
    return r->figure->kind != FIGURE_LINES || !g->x.numeric;
}

static void lay_out_legend(struct layout *l, const struct plot_grid *g,
                           const struct plot_request *r)
{
    const double item = (double)widest_value(&g->series) * EM_PER_CHAR + 5;

    if (!g->series.path || is_map(r))
        return;
    l->key_cols = (size_t)((l->width - 2) / item);
    if (l->key_cols < 1)
        l->key_cols = 1;
    if (l->key_cols > g->series.n)
        l->key_cols = g->series.n;
    l->key_rows = (g->series.n + l->key_cols - 1) / l->key_cols;
    /* Even lines look better than a full one and a rest. */
    l->key_cols = (g->series.n + l->key_rows - 1) / l->key_rows;
    l->legend = 1.5 * (double)l->key_rows + 0.5;
}

static double panel_width(const struct layout *l)
{
    return l->width / (double)l->cols - l->left - l->right;
}

/* As many panels beside each other as keep a readable width; 5 and 6 look better as rows of 3. */
static void lay_out_panels(struct layout *l, const struct plot_grid *g,
                           const struct plot_request *r)
{
    const double least = is_map(r) ? fmax(9, 2.6 * (double)g->x.n) : 8;

    l->cols = g->facet.n < MAX_COLS ? g->facet.n : MAX_COLS;
    if (g->facet.n == 5 || g->facet.n == 6 || g->facet.n == 9)
        l->cols = 3;
    while (l->cols > 1 && panel_width(l) < least)
        l->cols--;
    l->rows = (g->facet.n + l->cols - 1) / l->cols;
}

static struct layout lay_out(const struct plot_grid *g, const struct plot_request *r)
{
    struct layout l = {.width = r->two_columns ? TWO_COLUMNS : ONE_COLUMN};
    const double tics = (double)widest_text(&g->x) * EM_PER_CHAR;

    l.left = is_map(r) ? 3.2 + (double)widest_text(&g->series) * EM_PER_CHAR : 6.2;
    l.right = is_map(r) ? 8.5 : 1.2;
    lay_out_panels(&l, g, r);
    lay_out_legend(&l, g, r);
    l.title = r->title || r->figure->title ? 2.2 : 0.6;
    l.top = l.title + l.legend;
    l.above = g->facet.path ? 1.9 : 0.6;
    /* Panels side by side share one name of the axis, below them all. */
    l.foot = l.cols > 1 ? 3.2 : 1.6;
    l.bottom = l.cols > 1 ? 1.9 : 3.6;
    if (x_is_categories(g, r) && (tics + 0.8) * (double)g->x.n > panel_width(&l)) {
        l.rotate = true;
        l.bottom += tics * 0.57;
    }
    l.height = l.top + (double)l.rows * (PLOT_HEIGHT + l.bottom + l.above) + l.foot;
    if (is_map(r)) /* square-ish cells, within reason */
        l.height += (double)l.rows * fmin(20, fmax(0, 2.2 * (double)g->series.n - PLOT_HEIGHT));
    return l;
}

static void put_terminal(FILE *out, const struct layout *l, enum picture_format format)
{
    const double px = 15, pt = 8;

    if (format == PICTURE_SVG)
        fprintf(out,
                "set terminal svg noenhanced size %.0f,%.0f font 'DejaVu Sans,%.0f' "
                "background rgb 'white' linewidth 1.2\n",
                l->width * px, l->height * px, px);
    else if (format == PICTURE_PNG)
        fprintf(out,
                "set terminal pngcairo noenhanced size %.0f,%.0f font 'DejaVu Sans,%.1f' "
                "background rgb 'white' linewidth 2 pointscale 1.6\n",
                l->width * px * 1.6, l->height * px * 1.6, px * 1.6 * 0.75);
    else
        fprintf(out,
                "set terminal pdfcairo noenhanced size %.3fin,%.3fin font 'DejaVu Sans,%.0f' "
                "linewidth 0.9 pointscale 0.5\n",
                l->width * pt / 72, l->height * pt / 72, pt);
}

/* "axis: value"; without panels nothing. */
static void facet_title(const struct plot_grid *g, size_t f, char out[LABEL_SIZE])
{
    char axis[LABEL_SIZE], value[LABEL_SIZE];

    label_value(&g->facet, f, out);
    if (!g->facet.path)
        return;
    label_axis(&g->facet, axis);
    label_value(&g->facet, f, value);
    snprintf(out, LABEL_SIZE, "%.80s: %.160s", axis, value);
}

static void put_panel(FILE *out, const struct layout *l, const struct plot_grid *g, size_t f,
                      double scale)
{
    const double w = l->width / (double)l->cols;
    const double h = (l->height - l->top - l->foot) / (double)l->rows;
    const double x = w * (double)(f % l->cols);
    const double y = l->height - l->top - h * (double)(f / l->cols);
    const size_t cells = g->x.n * g->series.n;
    const double top = largest(g, f * cells, cells) / scale;
    char text[LABEL_SIZE];
    size_t there = 0;

    for (size_t i = f * cells; i < (f + 1) * cells; i++)
        if (isfinite(g->cell[i].sum.mean))
            there++;
    facet_title(g, f, text);
    fprintf(out, "FACET[%zu] = ", f + 1);
    put_text(out, text);
    fprintf(out, "\nLEFT[%zu] = %.5f; RIGHT[%zu] = %.5f; TOP[%zu] = %.5f; BOTTOM[%zu] = %.5f\n",
            f + 1, (x + l->left) / l->width, f + 1, (x + w - l->right) / l->width, f + 1,
            (y - l->above) / l->height, f + 1, (y - h + l->bottom) / l->height);
    fprintf(out, "YMAX[%zu] = %.9g; CELLS[%zu] = %zu\n", f + 1, top > 0 ? top * 1.06 : 1, f + 1,
            there);
}

static void put_panels(FILE *out, const struct layout *l, const struct plot_grid *g, double scale)
{
    fprintf(out,
            "NFACET = %zu\narray FACET[NFACET]; array LEFT[NFACET]; array RIGHT[NFACET]\n"
            "array TOP[NFACET]; array BOTTOM[NFACET]; array YMAX[NFACET]; array CELLS[NFACET]\n",
            g->facet.n);
    for (size_t f = 0; f < g->facet.n; f++)
        put_panel(out, l, g, f, scale);
    fprintf(out, "COLS = %zu; EM = %.6f; EMX = %.6f; YLABEL_AT = %.5f\n", l->cols, 1 / l->height,
            1 / l->width, (l->left - 1.1) / l->width);
    fprintf(out, "TITLE_Y = %.5f; KEY_TOP = %.5f; KEY_BOTTOM = %.5f; KEY_COLS = %zu\n",
            1 - 1.2 / l->height, 1 - l->title / l->height, 1 - l->top / l->height, l->key_cols);
}

static void put_series(FILE *out, const struct plot_grid *g)
{
    fprintf(out, "NSERIES = %zu\narray SERIES[NSERIES]; array SERIES_TEXT[NSERIES]\n", g->series.n);
    for (size_t s = 0; s < g->series.n; s++) {
        char text[LABEL_SIZE];

        label_value(&g->series, s, text);
        fprintf(out, "SERIES[%zu] = ", s + 1);
        put_text(out, text);
        label_shorten(g->series.text[s], 32, text);
        fprintf(out, "\nSERIES_TEXT[%zu] = ", s + 1);
        put_tic(out, text);
        fputc('\n', out);
    }
}

/* Tics at the values themselves, unless these lie so close that their texts would touch. */
static bool own_tics(const struct plot_grid *g, const struct plot_request *r,
                     const struct layout *l)
{
    const double room = panel_width(l) / EM_PER_CHAR;
    const double need = (double)widest_text(&g->x) + 1;
    const double span = r->logx ? log(g->x.number[g->x.n - 1] / g->x.number[0])
                                : g->x.number[g->x.n - 1] - g->x.number[0];

    for (size_t i = 1; i < g->x.n; i++) {
        const double gap = r->logx ? log(g->x.number[i] / g->x.number[i - 1])
                                   : g->x.number[i] - g->x.number[i - 1];

        if (gap / span * room * 0.92 < need)
            return false;
    }
    return true;
}

static void put_x(FILE *out, const struct plot_grid *g, const struct plot_request *r,
                  const struct layout *l)
{
    const bool categories = x_is_categories(g, r);

    fprintf(out, "NX = %zu; CATEGORIES = %d; LOGX = %d; ROTATE = %d; OWN_TICS = %d\n", g->x.n,
            categories, r->logx && !categories, l->rotate, categories || own_tics(g, r, l));
    fprintf(out, "array XTEXT[NX]; array XPOS[NX]\n");
    for (size_t x = 0; x < g->x.n; x++) {
        char text[LABEL_SIZE];

        if (categories)
            label_shorten(g->x.text[x], 32, text);
        else
            snprintf(text, sizeof(text), "%.10g", g->x.number[x]);
        fprintf(out, "XPOS[%zu] = %.12g; XTEXT[%zu] = ", x + 1,
                categories ? (double)(x + 1) : g->x.number[x], x + 1);
        put_tic(out, text);
        fputc('\n', out);
    }
    const double first = categories ? 1 : g->x.number[0];
    const double last = categories ? (double)g->x.n : g->x.number[g->x.n - 1];
    const double pad = categories ? 0.6 : last > first ? (last - first) * 0.04 : 1;

    if (r->logx && !categories) {
        const double k = last > first ? pow(last / first, 0.04) : 2;

        fprintf(out, "XMIN = %.12g; XMAX = %.12g\n", first / k, last * k);
    } else {
        fprintf(out, "XMIN = %.12g; XMAX = %.12g\n", first - pad, last + pad);
    }
}

static void put_number(FILE *out, double v)
{
    if (isfinite(v))
        fprintf(out, " %.12g", v);
    else
        fputs(" NaN", out);
}

/* One block per panel and series, in this order: x mean half-width series. */
static void put_data(FILE *out, const struct plot_grid *g, const struct plot_request *r,
                     double scale)
{
    const bool categories = x_is_categories(g, r);

    fputs("$data << END_OF_DATA\n", out);
    for (size_t i = 0; i < g->ncells; i++) {
        const size_t x = i % g->x.n, s = i / g->x.n % g->series.n;

        fprintf(out, "%.12g", categories ? (double)(x + 1) : g->x.number[x]);
        put_number(out, g->cell[i].sum.mean / scale);
        put_number(out, g->cell[i].sum.ci95 / scale);
        fprintf(out, " %zu\n", s + 1);
        if (x + 1 == g->x.n)
            fputs("\n\n", out);
    }
    fputs("END_OF_DATA\n", out);
}

static void put_labels(FILE *out, const struct plot_grid *g, const struct plot_request *r,
                       const char *metric)
{
    char text[LABEL_SIZE];
    const char *title = r->title ? r->title : r->figure->title;

    put_variable(out, "TITLE", title ? title : "");
    label_axis(&g->x, text);
    put_variable(out, "XLABEL",
                 r->xlabel           ? r->xlabel
                 : r->figure->xlabel ? r->figure->xlabel
                                     : text);
    label_axis(&g->series, text);
    put_variable(out, "SLABEL", is_map(r) && r->ylabel ? r->ylabel : text);
    put_variable(out, "YLABEL",
                 !is_map(r) && r->ylabel ? r->ylabel
                 : r->figure->ylabel     ? r->figure->ylabel
                                         : metric);
    put_variable(out, "METRIC", g->metric->key);
    label_note(g, is_map(r), text);
    put_variable(out, "NOTE", text);
}

int plot_script(FILE *out, const struct plot_grid *g, const struct plot_request *r,
                enum picture_format format, const char *folder)
{
    const struct layout l = lay_out(g, r);
    char metric[LABEL_SIZE];
    const double scale = label_metric(g, largest(g, 0, g->ncells), metric);

    fputs("set encoding utf8\n", out);
    put_terminal(out, &l, format);
    put_labels(out, g, r, metric);
    put_series(out, g);
    put_x(out, g, r, &l);
    put_panels(out, &l, g, scale);
    fprintf(out, "RELATIVE = %d; VMAX = %.9g; NUMBERS = %d\n", g->relative_to != NULL,
            largest(g, 0, g->ncells) / scale, panel_width(&l) / (double)g->x.n > 5 * EM_PER_CHAR);
    put_data(out, g, r, scale);
    put_variable(out, "FOLDER", folder);
    fprintf(out, "load FOLDER.'/style.gp'\nload FOLDER.'/%s'\n", figure_template(r->figure->kind));
    return ferror(out) ? -1 : 0;
}
