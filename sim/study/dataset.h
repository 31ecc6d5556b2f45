/* SPDX-License-Identifier: MIT */
/*
 * What exports, tables and figures are made from: points with their runs, read from stores and
 * result files.
 *
 * Always true: runs of one point have the same scenario, program version and loaded policy; a store
 * with runs of two versions gives two points for one scenario. Nothing here depends on the order in
 * which runs were stored.
 */
#ifndef SIM_STUDY_DATASET_H
#define SIM_STUDY_DATASET_H

#include <cjson/cJSON.h>

#include "obs/result.h"
#include "study/store.h"

struct data_run {
    uint64_t seed;
    int64_t replication;
    char *fingerprint;
    double value[METRIC_COUNT]; /* of the measured VMs together; NAN = none */
};

struct data_point {
    char *source; /* name of the file without folder and ending */
    char *sweep;  /* whose labels these are; "" without a name */
    cJSON *labels, *echo;
    char *hash, *version, *policy, *machine;
    bool partial; /* a metric without a value may have had one, which was not kept */
    int64_t position;
    struct data_run *run;
    size_t nruns;
    struct summary sum[METRIC_COUNT];
    struct hist *hist; /* measured VMs, runs merged; NULL: not kept, or from a result file */
};

/* A run that failed and has not been finished since. */
struct data_failure {
    char *sweep;
    cJSON *labels;
    char *hash, *version, *policy, *report;
    uint64_t seed;
    int64_t replication;
    int status;
};

struct dataset {
    struct data_point *point;
    size_t n;
    struct data_failure *failure; /* of stores */
    size_t nfailures;
    bool keeps; /* set before anything is added: points of stores keep the histogram `kept` */
    enum run_hist kept;
};

/* Adds a result store or a result file, told apart by their first bytes. STORE:SWEEP means the points
 * of one sweep in the store; without it, a store of several sweeps with different axes is refused, and
 * a point to which several give the same labels comes once. 0, or -1 with *err. */
int dataset_add(struct dataset *d, const char *path, struct store_error *err);
/* A result in memory, as `tandem run --format json` writes it; `path` names it. */
int dataset_add_text(struct dataset *d, const char *path, const char *text,
                     struct store_error *err);
/* All points of a store, once for each sweep that has them, or those of one sweep. */
int dataset_add_store(struct dataset *d, struct store *s, struct store_error *err);
int dataset_add_sweep(struct dataset *d, struct store *s, const char *sweep,
                      struct store_error *err);
/* The runs of one point. */
int dataset_add_point(struct dataset *d, struct store *s, const struct store_point *row,
                      struct store_error *err);
/* Opens a store for reading, named as above; *sweep is malloc'ed, or NULL for all. */
struct store *dataset_open_store(const char *path, char **sweep, struct store_error *err);
/* Names of the sweeps that the points are from, each once, in their order; malloc'ed array of names
 * that the dataset owns. NULL without memory. */
const char **dataset_sweeps(const struct dataset *d, size_t *n);
/* Keeps the points that have this value on an axis, and takes the axis out of their labels. How many are
 * left. */
size_t dataset_keep(struct dataset *d, const char *path, const char *value);
void dataset_free(struct dataset *d);

/* Text of an axis at a point: its label; else `version`, `machine`, `sweep` or `file`; else the value at
 * this key path of the scenario, defaults included. malloc'ed; NULL when there is none. */
char *data_value(const struct data_point *p, const char *path);
/* Names of all axes that points have labels for, in the order of the points; malloc'ed array of
 * names that the dataset owns. NULL without memory. */
const char **dataset_axes(const struct dataset *d, size_t *n);

/* With several sweeps in the dataset, their names come first. Failed runs come with status and report,
 * if there are any: in CSV in the same table, with the first line of the report. */
/* Runs by labels (axis by axis, numbers by size), scenario, version, policy, seed, replication. */
int export_csv(FILE *out, struct dataset *d);
int export_json(FILE *out, struct dataset *d);

#endif
