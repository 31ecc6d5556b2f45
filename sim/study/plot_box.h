/* SPDX-License-Identifier: MIT */
/* Box plots: the spread of the runs behind each cell. */
#ifndef SIM_STUDY_PLOT_BOX_H
#define SIM_STUDY_PLOT_BOX_H

#include "study/figure.h"

/* Fills g->box from the runs of the cells, of ratios from the pairs of runs. 0, or -1 with *err. */
int box_make(struct plot_grid *g, const struct dataset *d, struct store_error *err);
void box_free(struct plot_grid *g);
/* Of n >= 1 values, which are sorted: quartiles interpolate between neighbours, whiskers end at the
 * last values within 1.5 times the distance of the quartiles. */
void box_of(struct plot_box *b, double *value, size_t n);
/* Where the axis of cells [from, from + n) starts: at 0, or a little below the lowest value where
 * that is far from 0 for the spread there is. Values are divided by `scale`. */
double box_floor(const struct plot_grid *g, size_t from, size_t n, double scale);
/* Is value i of the box drawn as a dot? All are when there are few, else those beyond the whiskers. */
bool box_dot(const struct plot_box *b, size_t i);
/* $data, one block per panel and series: x median q1 q3 low high series; $dots, the same way:
 * x value place, this from -1 to 1 so that equal values do not hide each other. */
void box_data(FILE *out, const struct plot_grid *g, const double *scale);

#endif
