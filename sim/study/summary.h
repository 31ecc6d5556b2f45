/* SPDX-License-Identifier: MIT */
/* The table that a sweep ends with: a line per point, labels first, then mean and 95 % interval of
 * the chosen metrics. */
#ifndef SIM_STUDY_SUMMARY_H
#define SIM_STUDY_SUMMARY_H

#include "study/dataset.h"
#include "study/study.h"
#include "study/sweep.h"
#include "study/text_grid.h"

struct summary_table {
    struct lines *lines; /* opaque */
};

/* Reads what the table shows, point by point. 0, or -1 with *err; summary_free in any case. */
int summary_read(struct summary_table *t, const struct sweep *s, const struct study *st,
                 struct store *store, struct store_error *err);
/* Points without a run of this version show "-". 0, or -1 with errno. */
int summary_write(FILE *out, const struct summary_table *t, const struct sweep *s,
                  const struct study *st, enum grid_format format);
void summary_free(struct summary_table *t);
/* The same labels without results, for --dry-run; `missing` runs per point. */
int summary_write_points(FILE *out, const struct sweep *s, const struct study *st,
                         const int64_t *missing, enum grid_format format);

#endif
