/* SPDX-License-Identifier: MIT */
/*
 * Lays out a picture. Lengths are counted in em, the size of the font, from estimates of the text's
 * width: gnuplot places panels before it knows its labels, and a shared legend needs to know how many
 * lines it takes.
 */
#include <math.h>

#include "study/plot_label.h"
#include "study/plot_layout.h"

#define ONE_COLUMN  34.0 /* widths of a picture: 34 em of 7 pt are 84 mm, a column of usual papers */
#define TWO_COLUMNS 68.0
#define PLOT_HEIGHT 17.0
#define MAX_COLS    4
#define FACET_LINE  1.3 /* from line to line of a panel's name */
#define SLANT       40  /* degrees */
/* Of slanted and upright texts, as parts of their length; heights are those of texts as wide as they
 * are on average. */
#define SLANT_WIDTH    0.77
#define SLANT_HEIGHT   0.6
#define UPRIGHT_HEIGHT 0.92
#define SLANT_APART    1.6 /* places closer than that have texts that touch */

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

static size_t text_width(const struct plot_axis *a, size_t i)
{
    char text[LABEL_SIZE];

    label_shorten(a->text[i], TIC_CHARS, text);
    return label_width(text);
}

static size_t widest_text(const struct plot_axis *a)
{
    size_t widest = 0;

    for (size_t i = 0; i < a->n; i++)
        if (text_width(a, i) > widest)
            widest = text_width(a, i);
    return widest;
}

static bool is_map(const struct plot_request *r)
{
    return r->figure->kind == FIGURE_MAP;
}

/* Categories of bars and maps, and of lines along something that is no number. */
bool x_is_categories(const struct plot_grid *g, const struct plot_request *r)
{
    return r->figure->kind != FIGURE_LINES || !g->x.numeric;
}

bool x_is_log(const struct plot_grid *g, const struct plot_request *r)
{
    return (r->logx || r->figure->logx) && !x_is_categories(g, r) && g->x.number[0] >= 0 &&
           g->x.number[g->x.n - 1] > 0;
}

bool x_zero_apart(const struct plot_grid *g, const struct plot_request *r)
{
    return x_is_log(g, r) && g->x.number[0] <= 0;
}

double x_place(const struct plot_grid *g, const struct plot_request *r, size_t x)
{
    const double last = g->x.number ? g->x.number[g->x.n - 1] : 0;
    size_t first = 0;

    if (x_is_categories(g, r))
        return (double)(x + 1);
    if (!x_is_log(g, r) || g->x.number[x] > 0)
        return g->x.number[x];
    while (g->x.number[first] <= 0)
        first++;
    return g->x.number[first] / fmax(1.8, pow(last / g->x.number[first], 0.15));
}

static void lay_out_legend(struct layout *l, const struct plot_grid *g,
                           const struct plot_request *r)
{
    const char *const marks[] = {r->figure->mark_key, r->figure->band_key};
    size_t n = g->series.path ? g->series.n : 0, widest = n ? widest_value(&g->series) : 0;

    for (size_t i = 0; i < 2; i++) {
        n += marks[i] != NULL;
        if (marks[i] && label_width(marks[i]) > widest)
            widest = label_width(marks[i]);
    }
    if (n == 0 || is_map(r))
        return;
    const double item = (double)widest * EM_PER_CHAR + 5;

    l->key_cols = (size_t)((l->width - 2) / item);
    if (l->key_cols < 1)
        l->key_cols = 1;
    if (l->key_cols > n)
        l->key_cols = n;
    l->key_rows = (n + l->key_cols - 1) / l->key_cols;
    /* Even lines look better than a full one and a rest. */
    l->key_cols = (n + l->key_rows - 1) / l->key_rows;
    l->legend = 1.5 * (double)l->key_rows + 0.5;
}

double panel_width(const struct layout *l)
{
    return l->width / (double)l->cols - l->left - l->right;
}

/* As many panels beside each other as keep a readable width; 5 and 6 look better as rows of 3,
 * four panels with axes of their own as a square. */
static void lay_out_panels(struct layout *l, const struct plot_grid *g,
                           const struct plot_request *r)
{
    const double least = is_map(r) ? fmax(9, 2.6 * (double)g->x.n) : 8;

    l->cols = g->facet.n < MAX_COLS ? g->facet.n : MAX_COLS;
    if (g->facet.n == 5 || g->facet.n == 6 || g->facet.n == 9)
        l->cols = 3;
    if (plot_by_metric(g) && g->nmetrics == 4)
        l->cols = 2;
    if (r->figure->cols > 0 && l->cols > r->figure->cols)
        l->cols = r->figure->cols;
    while (l->cols > 1 && panel_width(l) < least)
        l->cols--;
    l->rows = (g->facet.n + l->cols - 1) / l->cols;
}

/* How far the texts of slanted categories, which end below their places, reach beyond the left edge
 * of the picture. */
static double overhang(const struct layout *l, const struct plot_axis *x)
{
    double most = -INFINITY;

    for (size_t i = 0; i < x->n; i++) {
        const double text = (double)text_width(x, i) * EM_PER_CHAR * SLANT_WIDTH;
        const double place = ((double)i + 0.6) / ((double)x->n + 0.2) * panel_width(l);

        most = fmax(most, text + 0.6 - place - l->left);
    }
    return most;
}

/* Texts that touch are slanted. The margin grows for them as far as the only panel beside it can
 * spare it; where that is not enough, or slanted texts would touch, too, they stand upright. */
static void turn_tics(struct layout *l, const struct plot_axis *x)
{
    const double most = l->cols > 1 ? l->left : fmax(l->left, 0.38 * l->width), before = l->left;
    const double tics = (double)widest_text(x) * EM_PER_CHAR;

    l->rotate = SLANT;
    while (overhang(l, x) > 0 && l->left + 0.5 <= most)
        l->left += 0.5;
    if (overhang(l, x) > 0 || panel_width(l) / (double)x->n < SLANT_APART) {
        l->rotate = 90;
        l->left = before;
    }
    l->bottom += tics * (l->rotate == SLANT ? SLANT_HEIGHT : UPRIGHT_HEIGHT);
}

/* Room for the names of panels: they are centred on the axes, and must touch neither each other nor the
 * edge of the picture. */
static void lay_out_names(struct layout *l, const struct plot_grid *g, const struct plot_request *r)
{
    const double pitch = l->width / (double)l->cols;
    const double room = fmin(panel_width(l) + 2 * fmin(l->left, l->right) + 1, pitch - 1);
    size_t most = 1;

    l->facet_chars = (size_t)fmax(8, room / EM_PER_CHAR);
    for (size_t f = 0; f < g->facet.n; f++) {
        char title[LABEL_SIZE], folded[LABEL_SIZE];

        label_facet(g, r, f, title);
        const size_t n = label_fold(title, l->facet_chars, FACET_LINES, folded);

        most = n > most ? n : most;
    }
    l->above += FACET_LINE * (double)(most - 1);
}

struct layout lay_out(const struct plot_grid *g, const struct plot_request *r)
{
    struct layout l = {.width = r->two_columns ? TWO_COLUMNS : ONE_COLUMN};
    const double tics = (double)widest_text(&g->x) * EM_PER_CHAR;

    l.left = is_map(r) ? 3.2 + (double)widest_text(&g->series) * EM_PER_CHAR : 6.2;
    /* The last name of a decade stands at the very end. */
    l.right = is_map(r) ? 8.5 : g->cdf ? 2.4 : 1.2;
    lay_out_panels(&l, g, r);
    lay_out_legend(&l, g, r);
    l.title = r->title || r->figure->title ? 2.2 : 0.6;
    l.top = l.title + l.legend;
    /* Panels of metrics are named by their axes. */
    l.above = g->facet.path ? plot_by_metric(g) ? 1.2 : 1.9 : 0.6;
    /* Panels side by side share one name of the axis, below them all. */
    l.foot = l.cols > 1 ? 3.2 : 1.6;
    l.bottom = l.cols > 1 ? 1.9 : 3.6;
    if (x_is_categories(g, r) && (tics + 0.8) * (double)g->x.n > panel_width(&l))
        turn_tics(&l, &g->x);
    lay_out_names(&l, g, r);
    l.height = l.top + (double)l.rows * (PLOT_HEIGHT + l.bottom + l.above) + l.foot;
    if (is_map(r)) /* square-ish cells, within reason */
        l.height += (double)l.rows * fmin(20, fmax(0, 2.2 * (double)g->series.n - PLOT_HEIGHT));
    return l;
}
