/* SPDX-License-Identifier: MIT */
/*
 * The result store: one SQLite file with points, their places in sweeps, finished runs and failed
 * runs. Several sweeps may share a store, and points: each has labels of its own for them.
 *
 * Always true:
 *  - one transaction per finished run: a run is in the store whole or not at all, whenever the
 *    process is killed (only a power cut can lose the last ones, never damage the rest);
 *  - a key is stored once: a run that is there is never replaced;
 *  - nothing that differs between two equal runs is part of an export: wall times stand apart;
 *  - a connection is used by the process that opened it, never by one forked from it.
 */
#ifndef SIM_STUDY_STORE_H
#define SIM_STUDY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_SCHEMA "tandem.store/1"

enum store_mode { STORE_CREATE, STORE_READ };

struct store;

struct store_point {
    char *hash;   /* of echo, hex */
    char *labels; /* one JSON object, axis -> label, in the order of the axes */
    char *echo;   /* the scenario with every default, without `replications` */
    char *machine;
    int64_t position; /* number of the point in its sweep */
    char *sweep;      /* whose labels and position these are; "" when no sweep has a name for it */
};

struct store_run {
    char *key, *point;
    uint64_t seed;
    int64_t replication;
    char *version, *policy; /* of the program; hash of a loaded policy, "" without */
    char *fingerprint;      /* 16 hex digits */
    char *values;           /* run_values_write */
    int64_t wall_ms;
};

/* Why something failed. `status` is the exit status that fits: 2 for a file that is no store, 3 for
 * what could not be read or written. */
struct store_error {
    int status;
    char text[512];
};

/* Key of a run. */
void store_key(const char *point_hash, uint64_t seed, int64_t replication, const char *version,
               const char *policy, char out[33]);

/* NULL with *err. CREATE makes the file when there is none; READ never changes or makes one. */
struct store *store_open(const char *path, enum store_mode mode, struct store_error *err);
void store_close(struct store *s);
const char *store_path(const struct store *s);

/* All of these: 0, or -1 with *err. */
int store_begin(struct store *s, struct store_error *err);
int store_commit(struct store *s, struct store_error *err);
void store_rollback(struct store *s);
/* Ignored when the point is there. Labels and position stand until a sweep has its own. */
int store_put_point(struct store *s, const struct store_point *p, struct store_error *err);
/* Labels and position that the sweep has for a point that is there; replaces earlier ones. */
int store_put_place(struct store *s, const char *sweep, const struct store_point *p,
                    struct store_error *err);
/* Ignored when its key is there. Takes away an earlier failure of the same key. */
int store_put_run(struct store *s, const struct store_run *r, struct store_error *err);
/* Replaces an earlier failure of the same key; ignored when the run is finished. */
int store_put_failure(struct store *s, const struct store_run *r, int status, const char *report,
                      struct store_error *err);
int store_put_meta(struct store *s, const char *key, const char *value, struct store_error *err);
/* malloc'ed in *value, NULL when there is none. */
int store_get_meta(struct store *s, const char *key, char **value, struct store_error *err);
/* 1 when a finished run has this key, 0 when not. */
int store_has(struct store *s, const char *key, struct store_error *err);

/* Tells other processes that this one is about to make the run. False when another one is: its claim
 * ends when it says so, or with the process, however that ends. Where claims cannot be kept (a file
 * system without locks) everybody has every claim, and runs may be made twice, but not stored. */
bool store_claim(struct store *s, const char *key);
void store_unclaim(struct store *s, const char *key);

/* Points by (sweep, position, hash), once for each sweep that has them; malloc'ed array. */
int store_points(struct store *s, struct store_point **list, size_t *n, struct store_error *err);
void store_points_free(struct store_point *list, size_t n);
/* The readers below call back with borrowed arguments; a callback returns false to stop, which makes
 * the call fail with what the callback put into its own argument. */
/* Places of one sweep. */
int store_places(struct store *s, const char *sweep,
                 bool (*each)(void *arg, const char *point, const char *labels, int64_t position),
                 void *arg, struct store_error *err);
/* Keys of all finished runs, ascending. */
int store_keys(struct store *s, bool (*each)(void *arg, const char *key), void *arg,
               struct store_error *err);
/* How many finished runs a point has, and their wall times together. */
int store_wall_times(struct store *s,
                     bool (*each)(void *arg, const char *point, int64_t n, int64_t total_ms),
                     void *arg, struct store_error *err);
/* Runs of a point by (seed, replication, version, policy). */
int store_runs(struct store *s, const char *point,
               bool (*each)(void *arg, const struct store_run *r), void *arg,
               struct store_error *err);
int store_failures(struct store *s,
                   bool (*each)(void *arg, const struct store_run *r, int status,
                                const char *report),
                   void *arg, struct store_error *err);

/* Adds all that `from` has and `into` lacks. Two stores that disagree about a run (same key, other
 * fingerprint or values) or about the labels that a sweep has for a point are refused, and `into` is left as it was.
 */
int store_merge(struct store *into, struct store *from, struct store_error *err);

#endif
