/* SPDX-License-Identifier: MIT */
/* The replications of one scenario, on several processes if asked. */
#ifndef SIM_STUDY_REPEAT_H
#define SIM_STUDY_REPEAT_H

#include "run.h"

struct repeat {
    const struct scenario *scenario;
    int64_t n;
    int workers;
    const char *who;               /* begins messages on stderr: "tandem run" */
    const struct run_watch *watch; /* of the first replication, or NULL */
    /* After each replication, in the order in which they end. May be NULL. */
    void (*done)(void *arg, int64_t replication, int64_t wall_ms, const struct run_values *v);
    void *arg;
    bool progress; /* a bar on a terminal, lines in a log; for several replications */
};

/* n results, which do not depend on the number of workers; repeat_free releases them. NULL after a
 * message; *status is the exit status then. */
struct run_values **repeat_runs(const struct repeat *r, int *status);
void repeat_free(struct run_values **runs, int64_t n);

#endif
