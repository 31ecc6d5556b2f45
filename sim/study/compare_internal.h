/* SPDX-License-Identifier: MIT */
/* What the files of a comparison share, and nobody else needs. */
#ifndef SIM_STUDY_COMPARE_INTERNAL_H
#define SIM_STUDY_COMPARE_INTERNAL_H

#include "study/compare.h"

/* Fills the points: the base's in its own order, then those that only the new side has. 0, or -1 with
 * *err. */
int compare_match(struct compare *c, const struct dataset *base, const struct dataset *new,
                  struct store_error *err);

#endif
