/* SPDX-License-Identifier: MIT */
/*
 * A study: the points of a sweep as checked scenarios, and running what a store does not have yet.
 *
 * Always true:
 *  - nothing runs before every point has been checked;
 *  - what a run is called (its key) depends on the scenario without `replications`, the seed, the
 *    replication, the program's version and a loaded policy: raising the number of replications
 * keeps what is there;
 *  - the order in which results arrive has no influence on what an export says, nor on which runs
 *    there are: with `until` a point's replications are judged in their order, and none is begun
 *    before it is known that it is needed;
 *  - the parent's memory does not grow with the size of scenarios or results: a point is its hash.
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
    /* Of a study that carries its own; NULL: made from the sweep whenever it is needed. */
    struct scenario *scenario;
    struct store_point
        row; /* of a study from a sweep: hash and position; study_row gives the rest */
    uint64_t seed;
    int64_t replications;
    ns_t duration;       /* simulated */
    bool left_out;       /* by study_filter */
    bool placed;         /* the store has it, with its labels */
    int64_t nfailed;     /* of this session */
    char *first_failure; /* its report; of the first points that failed */
};
#define STUDY_REPORTS 10

struct study {
    const char *version;             /* of the program */
    const char *policy;              /* hash of a loaded policy, "" without */
    const char *name;                /* of the sweep */
    const struct sweep *sweep;       /* NULL: the points carry their scenarios */
    const struct sweep_until *until; /* NULL: each point has a fixed number of replications */
    struct study_point *point;
    size_t npoints;
};

struct study_options {
    int workers;
    int64_t shard, shards; /* this one of so many, from 1; 1/1 is everything */
    int64_t replications;  /* 0: as the points say; else exactly so many, whatever `until` says */
    bool progress;
};

/* What a session did. */
struct study_counts {
    int64_t planned; /* of this shard; with `until` so many as are known to be needed */
    int64_t before;  /* of these, finished in earlier sessions or by others meanwhile */
    int64_t most;    /* what `planned` can grow to */
    int64_t done, failed;
    int64_t valueless, wide; /* with `until`: points without a value, points that ended at `max` */
};

/* Makes and checks all points. NULL with errors in *e: each distinct message once, with the first
 * point that has it. `s` must live as long as the study. */
struct study *study_new(const struct sweep *s, const char *version, const char *policy,
                        struct conf_errors *e);
/* The scenario of a point as it was checked; study_give_back when done. NULL when it cannot be made
 * again (no memory). */
const struct scenario *study_scenario(const struct study *st, size_t point);
void study_give_back(const struct study *st, size_t point, const struct scenario *s);
/* The point with labels, echo and machine. False without memory. study_row_free in any case. */
bool study_row(const struct study *st, size_t point, struct store_point *row);
void study_row_free(struct store_point *row);
/* The labels alone: malloc'ed, NULL without memory. */
char *study_labels(const struct study *st, size_t point);
void study_free(struct study *st);
/* Leaves out the points that have another value than those wanted: each filter is PATH=VALUE, those
 * of one path are alternatives. 0, or -1 with *err. */
int study_filter(struct study *st, const struct sweep *s, const char *const *filter, size_t n,
                 struct store_error *err);

/* Plans, without running: what is there and what is missing. `store` may be NULL. `missing`: NULL, or
 * room for a number per point. 0 or -1. */
int study_plan(const struct study *st, struct store *store, const struct study_options *o,
               struct study_counts *c, int64_t *missing, struct store_error *err);
/* How long the missing runs would take one after the other, by the wall times in the store. */
struct study_estimate {
    double seconds;
    int64_t runs, points; /* that it comes from; 0: nothing is known */
    ns_t trial;           /* not 0: from runs made for it, of this simulated length */
};
int study_estimate(const struct study *st, struct store *store, const int64_t *missing,
                   struct study_estimate *e, struct store_error *err);
/* The same by short runs of some of the points, about two seconds of them, which are kept nowhere. */
void study_try(const struct study *st, const int64_t *missing, study_run_fn *run,
               struct study_estimate *e);
/* Runs what is missing. 0, or the exit status with a message in err->text: 3 the store or a
 * process, 4 runs that failed (the others are done), 128 + signal. */
int study_run(struct study *st, struct store *store, const struct study_options *o,
              study_run_fn *run, struct study_counts *c, struct store_error *err);

/* The echo of a scenario without `seed` and `replications`, which say which sample is drawn;
 * malloc'ed, NULL without memory. */
char *study_echo(const char *echo);

#endif
