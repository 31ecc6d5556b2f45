/* SPDX-License-Identifier: MIT */
/* What the files of a dataset share, and nobody else needs. */
#ifndef SIM_STUDY_DATASET_INTERNAL_H
#define SIM_STUDY_DATASET_INTERNAL_H

#include "study/dataset.h"

int dataset_add_result(struct dataset *d, const char *path, struct store_error *err);
/* What the point holds. */
void dataset_free_point(struct data_point *p);

#endif
