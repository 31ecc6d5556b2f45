/* SPDX-License-Identifier: MIT */
/* Writes the gnuplot script: terminal, variables, data; the drawing itself is in the templates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "study/plot.h"
#include "study/plot_axes.h"
#include "study/plot_box.h"
#include "study/plot_cdf.h"
#include "study/plot_label.h"
#include "study/plot_layout.h"

#ifndef TANDEM_SOURCE_DIR
#define TANDEM_SOURCE_DIR "."
#endif

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

/* In single quotes only the quote itself is special. gnuplot reads a doubled one, but not two of them
 * or one at the start: each is a text of its own. */
void plot_put_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'.\"'\".'", out);
            continue;
        }
        fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, out);
    }
    fputc('\'', out);
}

void plot_put_tic(FILE *out, const char *text)
{
    char doubled[2 * LABEL_SIZE];
    size_t n = 0;

    for (; *text && n < sizeof(doubled) - 3; text++) {
        if (*text == '%')
            doubled[n++] = '%';
        doubled[n++] = *text;
    }
    doubled[n] = '\0';
    plot_put_text(out, doubled);
}

void plot_put_variable(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s = ", name);
    plot_put_text(out, text);
    fputc('\n', out);
}

static bool is_map(const struct plot_request *r)
{
    return r->figure->kind == FIGURE_MAP;
}

/* With the upper ends of intervals, where these are drawn. */
static double largest(const struct plot_grid *g, const struct plot_request *r, size_t from,
                      size_t n)
{
    double most = 0;

    for (size_t i = from; i < from + n; i++) {
        const struct summary *s = &g->cell[i].sum;
        const struct plot_box *b = g->box && g->box[i].n > 0 ? &g->box[i] : NULL;
        const double top =
            b ? b->value[b->n - 1] : s->mean + (isfinite(s->ci95) && !is_map(r) ? s->ci95 : 0);

        if (isfinite(top) && top > most)
            most = top;
    }
    return most;
}

void plot_put_terminal(FILE *out, double width, double height, enum picture_format format)
{
    const double px = 15, pt = 7;

    if (format == PICTURE_SVG)
        fprintf(out,
                "set terminal svg noenhanced size %.0f,%.0f font 'DejaVu Sans,%.0f' "
                "background rgb 'white' linewidth 1.2\n",
                width * px, height * px, px);
    else if (format == PICTURE_PNG)
        fprintf(out,
                "set terminal pngcairo noenhanced size %.0f,%.0f font 'DejaVu Sans,%.1f' "
                "background rgb 'white' linewidth 2 pointscale 1.6\n",
                width * px * 1.6, height * px * 1.6, px * 1.6 * 0.75);
    else if (format == PICTURE_TEX)
        fprintf(out,
                "set terminal cairolatex pdf colortext size %.3fin,%.3fin linewidth 0.9 pointscale "
                "0.5\n"
                "if (!exists('OUTPUT')) { OUTPUT = 'picture.tex' }\nset output OUTPUT\n",
                width * pt / 72, height * pt / 72);
    else
        fprintf(out,
                "set terminal pdfcairo noenhanced size %.3fin,%.3fin font 'DejaVu Sans,%.0f' "
                "linewidth 0.9 pointscale 0.5\n",
                width * pt / 72, height * pt / 72, pt);
}

static void put_element(FILE *out, const char *array, size_t i, const char *text)
{
    fprintf(out, "%s[%zu] = ", array, i + 1);
    plot_put_text(out, text);
    fputc('\n', out);
}

/* A panel's name, in as many lines as it takes. */
static void put_lines_of(FILE *out, const struct layout *l, size_t f, const char *title)
{
    char folded[LABEL_SIZE], *line = folded, *end;
    const size_t n = label_fold(title, l->facet_chars, FACET_LINES, folded);

    fprintf(out, "FACET_LINES[%zu] = %zu; FACET[%zu] = ", f + 1, n, f + 1);
    while ((end = strchr(line, '\n')) != NULL) {
        *end = '\0';
        plot_put_text(out, line);
        fputs(".\"\\n\".", out);
        line = end + 1;
    }
    plot_put_text(out, line);
    fputc('\n', out);
}

static bool y_is_log(const struct plot_request *r)
{
    return (r->logy || r->figure->logy) && r->figure->kind != FIGURE_CDF &&
           r->figure->kind != FIGURE_STACK;
}

/* The largest value that a panel's unit must suit: panels of one metric share theirs. */
static double unit_for(const struct plot_grid *g, const struct plot_request *r, size_t f)
{
    const size_t cells = g->x.n * g->series.n;

    if (y_is_log(r) && !is_map(r))
        return 0;
    return plot_by_metric(g) ? largest(g, r, f * cells, cells) : largest(g, r, 0, g->ncells);
}

/* What is written along the values of a panel; the divisor of these. */
static double value_label(const struct plot_grid *g, const struct plot_request *r, size_t f,
                          char out[LABEL_SIZE])
{
    const double scale = label_metric(g, r, f, unit_for(g, r, f), out);
    size_t len;
    const char *own =
        r->ylabel && !is_map(r) ? plot_part(r->ylabel, plot_by_metric(g) ? f : 0, &len) : NULL;

    if (own && plot_by_metric(g))
        snprintf(out, LABEL_SIZE, "%.*s", (int)(len < LABEL_SIZE ? len : LABEL_SIZE - 1), own);
    else if (own)
        snprintf(out, LABEL_SIZE, "%.250s", r->ylabel);
    else if (g->cdf)
        snprintf(out, LABEL_SIZE, "share of samples (%%)");
    return scale;
}

/* The power of ten below the smallest value that a logarithmic axis can show. */
static double power_below(const struct plot_grid *g, size_t from, size_t n, double scale)
{
    double least = INFINITY, power = 1;

    for (size_t i = from; i < from + n; i++) {
        const double v =
            (g->box && g->box[i].n > 0 ? g->box[i].value[0] : g->cell[i].sum.mean) / scale;

        if (isfinite(v) && v > 0 && v < least)
            least = v;
    }
    while (isfinite(least) && power >= least)
        power /= 10;
    while (isfinite(least) && power * 10 < least)
        power *= 10;
    return power;
}

/* Where an axis that does not start at 0 starts; maps of one metric share a scale. */
static double panel_low(const struct plot_grid *g, const struct plot_request *r, size_t f,
                        double scale)
{
    const size_t cells = g->x.n * g->series.n;

    if (g->box && !y_is_log(r))
        return box_floor(g, f * cells, cells, scale);
    if (is_map(r) && !plot_by_metric(g))
        return power_below(g, 0, g->ncells, scale);
    return power_below(g, f * cells, cells, scale);
}

static void put_panel(FILE *out, const struct layout *l, const struct plot_grid *g,
                      const struct plot_request *r, size_t f)
{
    const double w = l->width / (double)l->cols;
    const double h = (l->height - l->top - l->foot) / (double)l->rows;
    const double x = w * (double)(f % l->cols);
    const double y = l->height - l->top - h * (double)(f / l->cols);
    const size_t cells = g->x.n * g->series.n;
    char title[LABEL_SIZE], label[LABEL_SIZE];
    const double scale = value_label(g, r, f, label);
    const double top = largest(g, r, f * cells, cells) / scale;
    const double low = panel_low(g, r, f, scale);
    size_t there = 0;

    for (size_t i = f * cells; i < (f + 1) * cells; i++)
        if (isfinite(g->cell[i].sum.mean))
            there++;
    label_facet(g, r, f, title);
    put_lines_of(out, l, f, title);
    put_element(out, "FACET_TEXT", f, g->facet.text[f]);
    put_element(out, "METRIC", f, plot_metric(g, f)->key);
    put_element(out, "YLABEL", f, label);
    fprintf(out, "LEFT[%zu] = %.5f; RIGHT[%zu] = %.5f; TOP[%zu] = %.5f; BOTTOM[%zu] = %.5f\n",
            f + 1, (x + l->left) / l->width, f + 1, (x + w - l->right) / l->width, f + 1,
            (y - l->above) / l->height, f + 1, (y - h + l->bottom) / l->height);
    fprintf(out, "YMAX[%zu] = %.9g; YMIN[%zu] = %.9g; SCALE[%zu] = %.9g; CELLS[%zu] = %zu\n", f + 1,
            top > 0 ? top + 0.06 * (g->box && !y_is_log(r) ? top - low : top) : 1, f + 1, low,
            f + 1, scale, f + 1, there);
    fprintf(out, "VMAX[%zu] = %.9g\n", f + 1,
            (plot_by_metric(g) ? largest(g, r, f * cells, cells) : largest(g, r, 0, g->ncells)) /
                scale);
}

static void put_panels(FILE *out, const struct layout *l, const struct plot_grid *g,
                       const struct plot_request *r)
{
    static const char *const arrays[] = {"FACET", "FACET_LINES", "FACET_TEXT", "METRIC", "YLABEL",
                                         "LEFT",  "RIGHT",       "TOP",        "BOTTOM", "YMAX",
                                         "YMIN",  "SCALE",       "CELLS",      "VMAX"};

    fprintf(out, "NFACET = %zu\n", g->facet.n);
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        fprintf(out, "array %s[NFACET]\n", arrays[i]);
    for (size_t f = 0; f < g->facet.n; f++)
        put_panel(out, l, g, r, f);
    fprintf(out, "COLS = %zu; EM = %.6f; EMX = %.6f; YLABEL_AT = %.5f; XLABEL_AT = %.5f\n", l->cols,
            1 / l->height, 1 / l->width, (l->left - 1.1) / l->width, (l->bottom - 1.4) / l->height);
    fprintf(out, "METRICS = %zu\n", g->stacked ? 1 : g->nmetrics);
    fprintf(out, "TITLE_Y = %.5f; KEY_TOP = %.5f; KEY_BOTTOM = %.5f; KEY_COLS = %zu\n",
            1 - 1.2 / l->height, 1 - l->title / l->height, 1 - l->top / l->height, l->key_cols);
}

static void put_series(FILE *out, const struct plot_grid *g)
{
    fprintf(out, "NSERIES = %zu; NKEYS = %zu\narray SERIES[NSERIES]; array SERIES_TEXT[NSERIES]\n",
            g->series.n, g->series.path ? g->series.n : 0);
    for (size_t s = 0; s < g->series.n; s++) {
        char text[LABEL_SIZE];

        label_value(&g->series, s, text);
        put_element(out, "SERIES", s, text);
        label_shorten(g->series.text[s], 32, text);
        fprintf(out, "SERIES_TEXT[%zu] = ", s + 1);
        plot_put_tic(out, text);
        fputc('\n', out);
    }
}

/* Tics at the values themselves, unless these lie so close that their texts would touch. */
static bool own_tics(const struct plot_grid *g, const struct plot_request *r,
                     const struct layout *l)
{
    const double room = panel_width(l) / EM_PER_CHAR;
    const bool in_log = x_is_log(g, r);
    const double first = x_place(g, r, 0), last = x_place(g, r, g->x.n - 1);
    const double span = in_log ? log(last / first) : last - first;

    for (size_t i = 1; i < g->x.n; i++) {
        const double a = x_place(g, r, i - 1), b = x_place(g, r, i);
        char left[48], right[48];

        snprintf(left, sizeof(left), "%.10g", g->x.number[i - 1]);
        snprintf(right, sizeof(right), "%.10g", g->x.number[i]);
        /* Half of each text, and a character between them. */
        if ((in_log ? log(b / a) : b - a) / span * room * 0.92 <
            0.5 * (double)(strlen(left) + strlen(right)) + 1)
            return false;
    }
    return true;
}

/* Of upright texts that would touch only every second, third ... is written. */
static size_t tics_apart(const struct plot_grid *g, const struct layout *l)
{
    const double each = panel_width(l) / (double)g->x.n;

    return l->rotate == 90 && each < 1.1 ? (size_t)ceil(1.1 / each) : 1;
}

static void put_x_range(FILE *out, double first, double last, bool in_log, double pad)
{
    if (in_log) {
        const double k = last > first ? pow(last / first, 0.04) : 2;

        fprintf(out, "XMIN = %.12g; XMAX = %.12g\n", first / k, last * k);
    } else {
        fprintf(out, "XMIN = %.12g; XMAX = %.12g\n", first - pad, last + pad);
    }
}

static void put_x(FILE *out, const struct plot_grid *g, const struct plot_request *r,
                  const struct layout *l)
{
    const bool categories = x_is_categories(g, r), in_log = x_is_log(g, r);
    const double first = x_place(g, r, 0), last = x_place(g, r, g->x.n - 1);
    const size_t stride = categories ? tics_apart(g, l) : 1;

    fprintf(out, "NX = %zu; CATEGORIES = %d; LOGX = %d; ROTATE = %d; OWN_TICS = %d\n", g->x.n,
            categories, in_log, l->rotate, categories || own_tics(g, r, l));
    fprintf(out, "XUNIT = %.9g; ZERO_APART = %d; array XTEXT[NX]; array XPOS[NX]\n",
            quantity_scale(g->x.unit), x_zero_apart(g, r));
    for (size_t x = 0; x < g->x.n; x++) {
        char text[LABEL_SIZE];

        if (x % stride)
            text[0] = '\0';
        else if (categories)
            label_shorten(g->x.text[x], TIC_CHARS, text);
        else
            snprintf(text, sizeof(text), "%.10g", g->x.number[x]);
        fprintf(out, "XPOS[%zu] = %.12g; XTEXT[%zu] = ", x + 1, x_place(g, r, x), x + 1);
        plot_put_tic(out, text);
        fputc('\n', out);
    }
    put_x_range(out, first, last, in_log,
                categories     ? 0.6
                : last > first ? (last - first) * 0.04
                               : 1);
}

/* Decades of time, as many of them named as there is room for. */
static void put_decades(FILE *out, const struct plot_grid *g, const struct layout *l)
{
    static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
    const struct cdf_range range = cdf_range(g);
    const double unit = quantity_scale(g->metric[0]->unit);
    const double each = panel_width(l) / (double)range.decades;
    const size_t stride = (size_t)ceil(6.5 * EM_PER_CHAR / each);
    const size_t n = range.decades + 1;
    double ns = range.first;

    fprintf(out,
            "NX = %zu; CATEGORIES = 0; LOGX = 1; ROTATE = 0; OWN_TICS = 1; XUNIT = %.9g\n"
            "ZERO_APART = 0; array XTEXT[NX]; array XPOS[NX]\n",
            n, unit);
    for (size_t i = 0; i < n; i++) {
        size_t u = 0;
        double v = ns;

        for (; v >= 1000 && u < 3; u++)
            v /= 1000;
        fprintf(out, "XPOS[%zu] = %.12g; XTEXT[%zu] = ", i + 1, ns / unit, i + 1);
        if (i % stride == 0)
            fprintf(out, "'%.12g %s'\n", v, units[u]);
        else
            fputs("''\n", out);
        ns *= 10;
    }
    /* Tics exactly at the ends get lost when gnuplot rounds its logarithms. */
    fprintf(out, "XMIN = %.12g; XMAX = %.12g\n", range.first * 0.9999 / unit,
            range.last * 1.0001 / unit);
}

static void put_number(FILE *out, double v)
{
    if (isfinite(v))
        fprintf(out, " %.12g", v);
    else
        fputs(" NaN", out);
}

/* One block per panel and series, in this order: x mean half-width series, and a published change
 * where there are any. */
static void put_lines(FILE *out, const struct plot_grid *g, const struct plot_request *r)
{
    const size_t cells = g->x.n * g->series.n;
    char label[LABEL_SIZE];
    double scale = 1;

    fputs("$data << END_OF_DATA\n", out);
    for (size_t i = 0; i < g->ncells; i++) {
        const size_t x = i % g->x.n, s = i / g->x.n % g->series.n;

        if (i % cells == 0)
            scale = value_label(g, r, i / cells, label);
        fprintf(out, "%.12g", x_place(g, r, x));
        put_number(out, g->cell[i].sum.mean / scale);
        put_number(out, g->cell[i].sum.ci95 / scale);
        fprintf(out, " %zu", s + 1);
        if (g->published || r->figure->facts)
            put_number(out, g->cell[i].published);
        fputc('\n', out);
        if (x + 1 == g->x.n)
            fputs("\n\n", out);
        else if (x_zero_apart(g, r) && g->x.number[x] <= 0)
            fputc('\n', out); /* no line to where the axis does not lead */
    }
    fputs("END_OF_DATA\n", out);
}

static bool put_boxes(FILE *out, const struct plot_grid *g, const struct plot_request *r)
{
    double *scale = calloc(g->facet.n, sizeof(*scale));
    char label[LABEL_SIZE];

    for (size_t f = 0; scale && f < g->facet.n; f++)
        scale[f] = value_label(g, r, f, label);
    if (scale)
        box_data(out, g, scale);
    free(scale);
    return scale != NULL;
}

static bool put_data(FILE *out, const struct plot_grid *g, const struct plot_request *r)
{
    if (g->box)
        return put_boxes(out, g, r);
    if (g->cdf)
        cdf_data(out, g);
    else
        put_lines(out, g, r);
    return true;
}

/* The figure's own words fit its own choice of axis or metric only. */
static const char *x_label(const struct plot_grid *g, const struct plot_request *r,
                           char out[LABEL_SIZE])
{
    const struct figure *f = r->figure;

    if (r->xlabel)
        return r->xlabel;
    if (g->cdf && !(f->xlabel && !r->metric))
        cdf_words(g->metric[0], ' ', out, LABEL_SIZE);
    else if (f->xlabel && (g->cdf || !f->x || axis_like(g->x.path, f->x)))
        return f->xlabel;
    else
        label_axis(&g->x, !x_is_categories(g, r), out);
    return out;
}

static void put_labels(FILE *out, const struct plot_grid *g, const struct plot_request *r)
{
    const struct figure *f = r->figure;
    const char *title = r->title ? r->title : f->title;
    char text[LABEL_SIZE];

    plot_put_variable(out, "TITLE", title ? title : "");
    plot_put_variable(out, "XLABEL", x_label(g, r, text));
    label_axis(&g->series, false, text);
    plot_put_variable(out, "SLABEL", is_map(r) && r->ylabel ? r->ylabel : text);
    label_note(g, is_map(r), text);
    plot_put_variable(out, "NOTE", text);
    plot_put_variable(out, "MARK_KEY", f->mark_key ? f->mark_key : "");
    plot_put_variable(out, "BAND_KEY", f->band_key ? f->band_key : "");
}

int plot_script(FILE *out, const struct plot_grid *g, const struct plot_request *r,
                enum picture_format format, const char *folder)
{
    const struct layout l = lay_out(g, r);

    fputs("set encoding utf8\n", out);
    plot_put_terminal(out, l.width, l.height, format);
    put_labels(out, g, r);
    put_series(out, g);
    if (g->cdf)
        put_decades(out, g, &l);
    else
        put_x(out, g, r, &l);
    put_panels(out, &l, g, r);
    fprintf(out, "RELATIVE = %d; LOGY = %d; NUMBERS = %d\n", g->relative, y_is_log(r),
            panel_width(&l) / (double)g->x.n > 5 * EM_PER_CHAR);
    if (!put_data(out, g, r))
        return -1;
    plot_put_variable(out, "FOLDER", folder);
    fprintf(out, "load FOLDER.'/style.gp'\nload FOLDER.'/%s'\n", figure_template(r->figure));
    return ferror(out) ? -1 : 0;
}
