/* SPDX-License-Identifier: MIT */
/*
 * Worker processes. The parent hands out jobs over pipes and takes results back as text; a worker
 * does one job after another and knows nothing of the store.
 *
 * Always true:
 *  - what a worker does to itself (crash, broken policy) costs its job and no other;
 *  - workers end when the parent does, however it ends;
 *  - the callbacks of the parent run in the parent only, one at a time.
 *
 * Protocol, both ways: 8 hex digits of length, then that many bytes of text. A job is "POINT
 * REPLICATION", an answer "ok WALL_MS\n" and the values, or "error STATUS\n" and a message.
 */
#ifndef SIM_STUDY_POOL_H
#define SIM_STUDY_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_MAX_WORKERS 1024

struct pool_job {
    size_t point;
    int64_t replication;
};

struct pool_ops {
    /* In the worker: 0 and malloc'ed text, or an exit status and a message. */
    int (*run)(void *arg, struct pool_job job, char **text, char *error, size_t error_size);
    /* In the parent. False when there is no job. */
    bool (*next)(void *arg, struct pool_job *job);
    /* In the parent: whether `next` may have jobs again though it just had none. May be NULL: never. It
     * is asked when all workers are idle, and `next` about ten times a second then. */
    bool (*more)(void *arg);
    /* In the parent: nonzero ends the whole pool with that status. */
    int (*done)(void *arg, struct pool_job job, const char *text, int64_t wall_ms);
    /* In the parent: `status` as the worker gave it, or 128 + signal. `report` is the message and
     * what the worker wrote to stderr, or says how it died. */
    int (*failed)(void *arg, struct pool_job job, int status, const char *report);
    /* In the parent, about ten times a second. May be NULL. */
    void (*tick)(void *arg);
};

/* Runs all jobs on at most `workers` processes. 0; a status from done or failed; 3 when no process
 * can be made; 128 + signal after SIGINT or SIGTERM (answers that had arrived are delivered first).
 */
int pool_run(const struct pool_ops *ops, void *arg, int workers, char *error, size_t error_size);

#endif
