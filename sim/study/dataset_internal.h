/* SPDX-License-Identifier: MIT */
/* What the files of a dataset share, and nobody else needs. */
#ifndef SIM_STUDY_DATASET_INTERNAL_H
#define SIM_STUDY_DATASET_INTERNAL_H

#include "study/dataset.h"

/* A point without anything yet; NULL without memory. */
struct data_point *dataset_new_point(struct dataset *d);
/* From the manifest, the metrics and the replications of a result file; labels are empty. False without
 * memory. */
bool dataset_fill_result(struct data_point *p, const cJSON *root, const char *path);
/* malloc'ed and terminated, *n bytes; NULL with *err. */
char *dataset_read_file(const char *path, size_t *n, struct store_error *err);
int dataset_add_result(struct dataset *d, const char *path, struct store_error *err);
/* What the point holds. */
void dataset_free_point(struct data_point *p);

#endif
