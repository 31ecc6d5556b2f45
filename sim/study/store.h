/* SPDX-License-Identifier: MIT */
/*
 * The result store: one SQLite file with points, finished runs and failed runs.
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
/* A point that is there keeps its runs and gets these labels and this position. */
int store_put_point(struct store *s, const struct store_point *p, struct store_error *err);
/* Ignored when its key is there. Takes away an earlier failure of the same key. */
int store_put_run(struct store *s, const struct store_run *r, struct store_error *err);
int store_put_failure(struct store *s, const struct store_run *r, int status, const char *report,
                      struct store_error *err);
int store_put_meta(struct store *s, const char *key, const char *value, struct store_error *err);
/* malloc'ed in *value, NULL when there is none. */
int store_get_meta(struct store *s, const char *key, char **value, struct store_error *err);
/* 1 when a finished run has this key, 0 when not. */
int store_has(struct store *s, const char *key, struct store_error *err);

/* Points by (position, hash); malloc'ed array. */
int store_points(struct store *s, struct store_point **list, size_t *n, struct store_error *err);
void store_points_free(struct store_point *list, size_t n);
/* Runs of a point by (seed, replication, version, policy). The callback's run is borrowed; it
 * returns false to stop, which makes the call fail with what the callback put into its own
 * argument. */
int store_runs(struct store *s, const char *point,
               bool (*each)(void *arg, const struct store_run *r), void *arg,
               struct store_error *err);
int store_failures(struct store *s,
                   bool (*each)(void *arg, const struct store_run *r, int status,
                                const char *report),
                   void *arg, struct store_error *err);

/* Adds all that `from` has and `into` lacks. Two stores that disagree about a run (same key, other
 * fingerprint or values) or about the labels of a point are refused, and `into` is left as it was.
 */
int store_merge(struct store *into, struct store *from, struct store_error *err);

#endif
