/* SPDX-License-Identifier: MIT */
/* What the readers of a sweep file share, and nobody else needs. */
#ifndef SIM_STUDY_SWEEP_INTERNAL_H
#define SIM_STUDY_SWEEP_INTERNAL_H

#include "study/sweep.h"

/* `axes:`, `pair:`; false without memory, all else is reported and reading goes on. */
bool sweep_read_axes(struct sweep *s, const struct conf_node *axes, struct conf_errors *e);
bool sweep_read_pairs(struct sweep *s, const struct conf_node *pair, struct conf_errors *e);
/* {from, to, steps, scale} -> values of the axis. */
bool sweep_read_range(struct sweep *s, struct sweep_axis *a, const struct conf_node *range,
                      struct conf_errors *e);

#endif
