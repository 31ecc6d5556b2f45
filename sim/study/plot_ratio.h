/* SPDX-License-Identifier: MIT */
/*
 * Ratios of a figure. The base is a value of the x or the series axis, which stays in the picture as
 * 1, or PATH=VALUE of any axis of the data: then each point is divided by the one that differs from
 * it in this axis only, whatever filters say, and the points that have the value are not drawn.
 */
#ifndef SIM_STUDY_PLOT_RATIO_H
#define SIM_STUDY_PLOT_RATIO_H

#include "study/figure.h"

/* Before axes are chosen: finds the base of each point for PATH=VALUE. 0, or -1 with *err. */
int ratio_prepare(struct plot_grid *g, const struct plot_request *r, const struct dataset *d,
                  struct store_error *err);
/* Replaces the cells by their ratios, if any were asked for. 0, or -1 with *err. */
int ratio_make(struct plot_grid *g, const struct plot_request *r, const struct dataset *d,
               struct store_error *err);
/* Runs with the same seed and replication met the same arrivals, so they are compared pair by pair.
 * Pairs that lack a value, or divide by zero, have no ratio. `m`: index of the metric. */
struct summary ratio_paired(const struct data_point *p, const struct data_point *base, long m);

/* The ratios themselves, in the order of the runs of `p`, into room for all of these; how many. */
size_t ratio_values(const struct data_point *p, const struct data_point *base, long m, double *out);
/* The point that cell i is divided by; NULL when there is none. */
const struct data_point *ratio_base(const struct plot_grid *g, const struct dataset *d, size_t i);

#endif
