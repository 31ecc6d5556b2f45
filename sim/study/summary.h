/* SPDX-License-Identifier: MIT */
/* The table that a sweep ends with: a line per point, labels first, then mean and 95 % interval of
 * the chosen metrics. */
#ifndef SIM_STUDY_SUMMARY_H
#define SIM_STUDY_SUMMARY_H

#include "study/dataset.h"
#include "study/study.h"
#include "study/sweep.h"

/* Points without a run of this version show "-". 0, or -1 with errno. */
int summary_write(FILE *out, const struct sweep *s, const struct study *st,
                  const struct dataset *d);
/* The same labels without results, for --dry-run. */
int summary_write_points(FILE *out, const struct sweep *s, const struct study *st);

#endif
