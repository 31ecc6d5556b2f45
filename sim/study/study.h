/* SPDX-License-Identifier: MIT */
/*
 * A study: the points of a sweep as checked scenarios, and running what a store does not have yet.
 *
 * Always true:
 *  - nothing runs before every point has been checked;
 *  - what a run is called (its key) depends on the scenario without `replications`, the seed, the
 *    replication, the program's version and a loaded policy: raising the number of replications
 * keeps what is there;
 *  - the order in which results arrive has no influence on what an export says.
 */
#ifndef SIM_STUDY_STUDY_H
#define SIM_STUDY_STUDY_H

#include "study/store.h"
#include "study/sweep.h"

struct scenario;
struct run_values;

/* run_replication, or a stand-in for tests. */
typedef int study_run_fn(const struct scenario *s, uint64_t seed, int64_t replication,
                         struct run_values **out, char *error, size_t error_size);

struct study_point {
    struct scenario *scenario;
    struct store_point row;
    uint64_t seed;
    int64_t replications;
    bool left_out;   /* by study_filter */
    int64_t nfailed; /* of this session */
    char *first_failure;
};

struct study {
    const char *version; /* of the program */
    const char *policy;  /* hash of a loaded policy, "" without */
    struct study_point *point;
    size_t npoints;
};

struct study_options {
    int workers;
    int64_t shard, shards; /* this one of so many, from 1; 1/1 is everything */
    int64_t replications;  /* 0: as the points say */
    bool progress;
};

/* What a session did. */
struct study_counts {
    int64_t planned; /* of this shard */
    int64_t before;  /* of these, finished in earlier sessions */
    int64_t done, failed;
};

/* Makes and checks all points. NULL with errors in *e: each distinct message once, with the first
 * point that has it. */
struct study *study_new(const struct sweep *s, const char *version, const char *policy,
                        struct conf_errors *e);
void study_free(struct study *st);
/* Leaves out the points that have another value than those wanted: each filter is PATH=VALUE, those
 * of one path are alternatives. 0, or -1 with *err. */
int study_filter(struct study *st, const struct sweep *s, const char *const *filter, size_t n,
                 struct store_error *err);

/* Plans, without running: what is there and what is missing. `store` may be NULL. 0 or -1. */
int study_plan(const struct study *st, struct store *store, const struct study_options *o,
               struct study_counts *c, struct store_error *err);
/* Runs what is missing. 0, or the exit status with a message in err->text: 3 the store or a
 * process, 4 runs that failed (the others are done), 128 + signal. */
int study_run(struct study *st, struct store *store, const struct study_options *o,
              study_run_fn *run, struct study_counts *c, struct store_error *err);

/* The echo of a scenario without `seed` and `replications`, which say which sample is drawn;
 * malloc'ed, NULL without memory. */
char *study_echo(const char *echo);

#endif
