/* SPDX-License-Identifier: MIT */
/* Distributions out of the histograms of runs. */
#ifndef SIM_STUDY_PLOT_CDF_H
#define SIM_STUDY_PLOT_CDF_H

#include "study/figure.h"

#define CDF_POINTS 400 /* of one line, at most */

/* Fills g->cdf from the cells. 0, or -1 with *err. */
int cdf_make(struct plot_grid *g, const struct dataset *d, struct store_error *err);
void cdf_free(struct plot_grid *g);
/* The steps of one histogram, in units of `unit` ns. At most CDF_POINTS: steps that neither rise by
 * half a per cent nor move by a 190th of the buckets are drawn with the next. False without
 * memory. */
bool cdf_steps(struct plot_cdf *c, const struct hist *h, double unit);
/* What is on the x axis: "idle length" for idle_length_p99_us, with `space` between the words. */
void cdf_words(const struct metric *m, char space, char *out, size_t size);

/* The x axis as decades of ns, `first` to `last`: every line rises between them but for half a per
 * cent at each end, so that a single sample does not squeeze the others. */
struct cdf_range {
    double first, last;
    size_t decades;
};
struct cdf_range cdf_range(const struct plot_grid *g);
/* One block per panel and series: x, y, and y again where the line has a marker. */
void cdf_data(FILE *out, const struct plot_grid *g);

#endif
