/* SPDX-License-Identifier: MIT */
/* What comparisons and baselines are made from: a store, a result, a baseline, or a scenario that is run. */
#ifndef SIM_STUDY_INPUT_H
#define SIM_STUDY_INPUT_H

#include "study/dataset.h"
#include "study/options.h"

/* How a scenario is run. */
struct input_rules {
    int64_t reps; /* 0: the scenario's own number */
    int64_t seed; /* -1: the scenario's own */
    int64_t jobs;
};

#define INPUT_OPTIONS                                                                              \
    OPTION("set", 's', "KEY=VALUE", "of a scenario that is run: override a key; may be repeated"), \
        OPTION("seed", 0, "N", "of a scenario that is run: the seed"),                             \
        OPTION("reps", 0, "N", "of a scenario that is run: the replications"),                     \
        OPTION("jobs", 'j', "N", "processes for that (default 1)")

/* The options above; false after a message. What is not given is left alone. */
bool input_rules_read(const struct options *o, struct input_rules *r);
/* The scenario of a file with what --set changes; NULL after messages. */
struct scenario *input_scenario(const struct options *o, const char *path);
/* Is it the name of a scenario's file? */
bool input_is_scenario(const char *path);
/* 0, or the exit status after a message. *baseline, if asked for, tells whether it was one. */
int input_add(const struct options *o, struct dataset *d, const char *path,
              const struct input_rules *r, bool *baseline);
/* The metrics of --metrics: a list split by commas, or `all`. malloc'ed; NULL after a message, or when
 * the option was not given, then with *n = 0. */
const struct metric **input_metrics(const struct options *o, size_t *n, bool *failed);

#endif
