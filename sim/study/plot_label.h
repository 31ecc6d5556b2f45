/* SPDX-License-Identifier: MIT */
/* Words and units around the numbers of a picture. */
#ifndef SIM_STUDY_PLOT_LABEL_H
#define SIM_STUDY_PLOT_LABEL_H

#include "study/figure.h"

#define LABEL_SIZE 256
#define MICRO      "\xc2\xb5" /* before "s" */

/* Divisor for the values of a panel, so that no axis has numbers of seven digits, and the axis label
 * with the unit that fits it. */
double label_metric(const struct plot_grid *g, const struct plot_request *r, size_t facet,
                    double largest, char out[LABEL_SIZE]);
/* Last part of a path, or of each of several; with the unit of a numeric axis, where its values stand
 * as numbers and not as the texts that they were. */
void label_axis(const struct plot_axis *a, bool with_unit, char out[LABEL_SIZE]);
/* A number, on or off: means nothing without the name of its axis. */
bool label_is_bare(const char *text);
/* A value for the legend or above a panel: bare ones get the name of their axis. */
void label_value(const struct plot_axis *a, size_t i, char out[LABEL_SIZE]);
/* The name of a panel: "axis: value"; '' without panels, and for metrics, which their axes name. */
void label_facet(const struct plot_grid *g, const struct plot_request *r, size_t f,
                 char out[LABEL_SIZE]);
/* Breaks a text into at most `lines` of `most` characters, at spaces where there are any; what is too
 * much ends in an ellipsis. How many lines came out, split by '\n'. */
size_t label_fold(const char *text, size_t most, size_t lines, char out[LABEL_SIZE]);
/* "mean and 95 % interval, n = 5"; `means` alone where intervals are not drawn. */
void label_note(const struct plot_grid *g, bool means, char out[LABEL_SIZE]);
/* Width in characters. */
size_t label_width(const char *text);
/* Cut to `most` characters, with an ellipsis, and without control characters. */
void label_shorten(const char *text, size_t most, char out[LABEL_SIZE]);

#endif
