/* SPDX-License-Identifier: MIT */
/*
 * Figures: which kinds there are, and the grid of numbers that a picture shows.
 *
 * Always true:
 *  - inputs are named by the caller, and every point of them is in the grid or filtered out by
 * name: two points that fall onto the same place are an error, never an average;
 *  - texts of axes are kept as they are in the data; what they mean for the drawing is decided
 * here, how they look in the templates.
 */
#ifndef SIM_STUDY_FIGURE_H
#define SIM_STUDY_FIGURE_H

#include "study/dataset.h"
#include "study/quantity.h"

#define PLOT_METRICS 8  /* panels of a figure of several metrics */
#define PLOT_FILLS   10 /* colours of filled shapes: FILL in plots/style.gp */

enum figure_kind {
    FIGURE_LINES,
    FIGURE_BARS,
    FIGURE_MAP,
    FIGURE_CDF,
    FIGURE_STACK,
    FIGURE_BOX,
    FIGURE_KINDS
};

struct figure {
    const char *name, *summary;
    enum figure_kind kind;
    const char *template; /* file in plots/ that ends in loading the kind's; NULL: the kind's */
    const char *x, *series,
        *facet;                /* alternatives, split by '|'; NULL: the next axis of the data */
    bool needs_x;              /* no figure without an axis like `x` */
    bool needs_series;         /* an axis like `series` is it, even where x alone tells all apart */
    bool joins_facet;          /* axes that are left over become part of the facet */
    bool plain_facets;         /* panels of a workload are named by its label alone */
    bool logx, logy;           /* logx: where the x axis has numbers */
    const char *metric;        /* split by '|': a panel each, in a stack its parts and then their
                                * whole; NULL: throughput, else the first that has values */
    const char *relative_to_x; /* ratios to this value of the x axis */
    const char *relative_to;   /* ratios to a value of the series axis, or to PATH=VALUE */
    size_t cols;               /* panels beside each other at most; 0: as fits */
    /* xlabel: of an axis like `x`; ylabel: what `metric` is called, split like it, the unit is
     * added, or of the ratios to `relative_to_x` or `relative_to`. */
    const char *title, *xlabel, *ylabel;
    /* Published facts (a name in configs/published): ratios are to their base policy, and points of
     * their new one are drawn, unless the user chooses otherwise. */
    const char *facts;
    /* What published values and ranges are called in the legend, if the template draws any. */
    const char *mark_key, *band_key;
};

extern const struct figure figures[];
extern const size_t nfigures;
/* NULL when there is none. */
const struct figure *figure_find(const char *name);
/* The file in plots/ that the script loads. */
const char *figure_template(const struct figure *f);

struct plot_filter {
    const char *path, *value; /* not terminated at '=': length given */
    size_t path_len;
};

/* What the user asked for; NULL and 0 = the figure's own choice. */
struct plot_request {
    const struct figure *figure;
    const char *x, *series, *facet; /* paths split by ',' make one axis of their pairs */
    const char *metric;             /* several: split by ',' or '|' */
    const char *relative_to, *relative_to_x;
    const char *title, *xlabel, *ylabel;
    bool logx, logy, two_columns;
    const struct plot_filter *filter;
    size_t nfilters;
};

/* One axis of the grid. An axis that is not used has one value with the text "". */
struct plot_axis {
    char *path; /* NULL: not used */
    size_t n;
    char **text;
    bool numeric;     /* all texts are numbers of one kind */
    const char *unit; /* of times and percentages */
    double *number;   /* numeric: in `unit` */
    size_t *at;       /* per point of the dataset: index of its value */
};

struct plot_cell {
    bool there;
    size_t point;
    struct summary sum;
    double published; /* its label of this name, NAN: none */
};

/* One distribution as steps: y per cent of the samples are <= x, in the unit of the metric's
 * register. Rising in both; the first point has y = 0, the last 100. */
struct plot_cdf {
    size_t n; /* 0: no samples */
    double *x, *y;
};

/* The runs behind a cell. */
struct plot_box {
    size_t n; /* 0: none */
    double q1, median, q3;
    double low, high; /* ends of the whiskers */
    double *value;    /* sorted */
};

struct plot_grid {
    /* Several: the facet axis, in a stack the series axis, is called `metric` and has a value for
     * each. */
    const struct metric *metric[PLOT_METRICS];
    size_t nmetrics;
    bool stacked;
    struct plot_axis x, series, facet;
    struct plot_cell *cell; /* [facet][series][x] */
    size_t ncells, with_data;
    int least_n, most_n;                   /* runs behind the cells */
    bool published;                        /* some cell has a published value */
    bool relative;                         /* values are ratios, else as they are */
    const struct plot_axis *relative_axis; /* x or series of this grid; NULL: another */
    size_t relative_at;                    /* which of its values is 1 */
    const char *relative_text;             /* another axis: the value that is 1 */
    size_t *base;                          /* the same: per point, that by which it is divided */
    struct plot_cdf *cdf;                  /* distributions: per cell; then x is not used */
    struct plot_box *box;                  /* box plots: per cell */
    bool *used;                            /* per point of the dataset */
};

/* 0, or -1 with *err (status 2: the request does not fit the data). */
int plot_grid_make(struct plot_grid *g, const struct plot_request *r, const struct dataset *d,
                   struct store_error *err);
void plot_grid_free(struct plot_grid *g);
static inline struct plot_cell *plot_cell(const struct plot_grid *g, size_t facet, size_t series,
                                          size_t x)
{
    return &g->cell[(facet * g->series.n + series) * g->x.n + x];
}
static inline const struct metric *plot_metric(const struct plot_grid *g, size_t facet)
{
    return g->metric[g->stacked ? g->nmetrics - 1 : g->nmetrics > 1 ? facet : 0];
}
/* A panel for each metric? */
static inline bool plot_by_metric(const struct plot_grid *g)
{
    return g->nmetrics > 1 && !g->stacked;
}
/* The next metric of a list, and *list behind it; NULL at the end, or with *unknown, which points
 * at a name of `len` bytes. */
const struct metric *plot_metric_next(const char **list, const char **unknown, size_t *len);
/* Is the n-th of several texts split by '|' there? Its start, and its length in *len. */
const char *plot_part(const char *texts, size_t n, size_t *len);
/* A text in a CSV file, in double quotes. */
void plot_put_csv(FILE *out, const char *text);
/* Clears `used` where a point does not pass all filters of the request. 0, or -1 with *err. */
int plot_filter_points(bool *used, const struct plot_request *r, const struct dataset *d,
                       struct store_error *err);
/* The numbers of the picture as CSV. 0 or -1. */
int plot_grid_csv(FILE *out, const struct plot_grid *g);

/* Which histogram the points of the dataset must keep for this request: 1 with *hist for a
 * distribution, 0 for other kinds, -1 with *err. To be asked before the data is read. */
int plot_hist(const struct plot_request *r, enum run_hist *hist, struct store_error *err);

#endif
