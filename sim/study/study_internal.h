/* SPDX-License-Identifier: MIT */
/* What the files of a study share, and nobody else needs. */
#ifndef SIM_STUDY_STUDY_INTERNAL_H
#define SIM_STUDY_STUDY_INTERNAL_H

#include "study/study.h"

/* Points by hash, for finding them. */
struct study_index {
    struct study_indexed {
        const char *hash;
        size_t point;
    } * list;
    size_t n;
};
bool study_index_make(struct study_index *x, const struct study *st);
/* The point, or -1. */
int64_t study_index_find(const struct study_index *x, const char *hash);

/* How far a point with `until` is. */
struct until_point {
    int64_t goal;     /* replications that are known to be needed */
    int64_t first;    /* the goal when the session began */
    int64_t expected; /* a guess for progress, at least `goal` */
    int64_t known;    /* replications 0 to known - 1 have their values */
    bool closed, wide, valueless;
    double *value; /* NAN: none; of the replications with `have` */
    unsigned char *have;
    int64_t room;
};

/* What a session is to do: which runs there are, and how far each point goes. */
struct study_plan {
    const struct study *st;
    const struct study_options *o;
    const struct sweep_until *until; /* NULL: off */
    struct until_point *point;       /* with `until` */
    char (*key)[32];                 /* of the store when the session began, ascending */
    size_t nkeys, room;
};

/* 0, or -1 with *err; `store` may be NULL. study_plan_free in any case. */
int study_plan_make(struct study_plan *p, const struct study *st, struct store *store,
                    const struct study_options *o, struct store_error *err);
void study_plan_free(struct study_plan *p);
void study_key(const struct study *st, size_t point, int64_t r, char key[33]);
bool study_plan_has(const struct study_plan *p, const char *key);
/* Shards share out (point + replication), which stays put when replications are added; with `until`
 * whole points, as whoever decides must know all replications of one. */
bool study_plan_ours(const struct study_plan *p, size_t point, int64_t r);
/* How many replications a point is known to need. */
int64_t study_plan_goal(const struct study_plan *p, size_t point);
/* Counts what is there. `missing` may be NULL. */
void study_plan_count(const struct study_plan *p, struct study_counts *c, int64_t *missing);

/* study_until.c. The least number of replications of a point. */
int64_t until_least(const struct study *st, const struct study_options *o, size_t point);
/* Takes the value of a replication. False without memory. */
bool until_note(struct until_point *u, int64_t r, double value);
/* Judges what is known, in order. */
void until_advance(struct until_point *u, const struct sweep_until *rule);
/* Takes the values that the store has for a point. 0, or -1 with *err. */
int until_load(struct study_plan *p, struct store *store, size_t point, struct store_error *err);

#endif
