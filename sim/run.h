/* SPDX-License-Identifier: MIT */
/* One replication of a scenario: builds a world, runs it, collects its values. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "obs/result.h"
#include "obs/trace.h"
#include "scenario.h"

/* Exit statuses of the program. */
enum status {
    STATUS_OK = 0,
    STATUS_REGRESSED = 1,
    STATUS_USAGE = 2,
    STATUS_IO = 3,
    STATUS_FAILED = 4,
    STATUS_BUG = 70
};

/* 0 and *out (caller frees), or an exit status and a message. A broken policy ends the process. */
int run_replication(const struct scenario *s, uint64_t seed, int64_t replication,
                    struct run_values **out, char *error, size_t error_size);
/* The same with somebody who watches the run: `begin` sees the world before it starts and gives a sink, or
 * NULL (a failure); `end` comes after it in any case, at the time where the run ended. 0 or a status. */
struct world;
struct run_watch {
    struct trace_sink *(*begin)(void *arg, const struct world *w);
    int (*end)(void *arg, ns_t now);
    void *arg;
};
int run_watched(const struct scenario *s, uint64_t seed, int64_t replication,
                const struct run_watch *watch, struct run_values **out, char *error,
                size_t error_size);
/* The same with a trace sink. */
int run_traced(const struct scenario *s, uint64_t seed, int64_t replication,
               struct trace_sink *trace, struct run_values **out, char *error, size_t error_size);

/* Names of the run's VMs and tasks for trace consumers: vCPU and task numbers are global. */
const char *run_vcpu_name(const struct scenario *s, int vcpu, char buf[64]);

const char *run_version(void);
const char *run_git(void);

#endif
