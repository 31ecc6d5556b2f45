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

enum figure_kind { FIGURE_LINES, FIGURE_BARS, FIGURE_MAP };

struct figure {
    const char *name, *summary;
    enum figure_kind kind;
    const char *x, *series,
        *facet;         /* alternatives, split by '|'; NULL: the next axis of the data */
    bool needs_x;       /* no figure without an axis like `x` */
    const char *metric; /* NULL: throughput, else the first that has values */
    const char *title, *xlabel, *ylabel;
};

extern const struct figure figures[];
extern const size_t nfigures;
/* NULL when there is none. */
const struct figure *figure_find(const char *name);
const char *figure_template(enum figure_kind kind);

struct plot_filter {
    const char *path, *value; /* not terminated at '=': length given */
    size_t path_len;
};

/* What the user asked for; NULL and 0 = the figure's own choice. */
struct plot_request {
    const struct figure *figure;
    const char *x, *series, *facet, *metric, *relative_to;
    const char *title, *xlabel, *ylabel;
    bool logx, two_columns;
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
};

struct plot_grid {
    const struct metric *metric;
    struct plot_axis x, series, facet;
    struct plot_cell *cell; /* [facet][series][x] */
    size_t ncells, with_data;
    int least_n, most_n; /* runs behind the cells */
    char *relative_to;   /* text of the series value, NULL */
    bool *used;          /* per point of the dataset */
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
/* The numbers of the picture as CSV. 0 or -1. */
int plot_grid_csv(FILE *out, const struct plot_grid *g);

#endif
