/* SPDX-License-Identifier: MIT */
/* See repeat.h. */
#include "study/repeat.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "study/pool.h"
#include "study/progress.h"

struct session {
    const struct repeat *r;
    struct progress progress;
    int64_t next;
    struct run_values **runs;
};

static int replicate(const struct repeat *r, int64_t replication, struct run_values **v,
                     char *error, size_t size)
{
    return run_watched(r->scenario, r->scenario->seed, replication,
                       replication == 0 ? r->watch : NULL, v, error, size);
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void finished(struct session *x, int64_t replication, int64_t wall_ms)
{
    if (x->r->done)
        x->r->done(x->r->arg, replication, wall_ms, x->runs[replication]);
    progress_step(&x->progress, true);
}

static int run_job(void *arg, struct pool_job job, char **text, char *error, size_t size)
{
    const struct session *x = arg;
    struct run_values *v;
    const int status = replicate(x->r, job.replication, &v, error, size);

    if (status)
        return status;
    *text = run_values_write(v);
    run_values_free(v);
    if (*text)
        return 0;
    snprintf(error, size, "out of memory");
    return STATUS_FAILED;
}

static bool next_job(void *arg, struct pool_job *job)
{
    struct session *x = arg;

    if (x->next == x->r->n)
        return false;
    *job = (struct pool_job){.replication = x->next++};
    return true;
}

static int job_done(void *arg, struct pool_job job, const char *text, int64_t wall_ms)
{
    struct session *x = arg;

    x->runs[job.replication] = run_values_parse(text);
    if (!x->runs[job.replication])
        return STATUS_BUG;
    finished(x, job.replication, wall_ms);
    return 0;
}

static int job_failed(void *arg, struct pool_job job, int status, const char *report)
{
    const struct session *x = arg;

    fprintf(stderr, "%s: replication %lld: %s\n", x->r->who, (long long)job.replication, report);
    return status == STATUS_BUG ? STATUS_BUG : STATUS_FAILED;
}

static const struct pool_ops pool_ops = {
    .run = run_job,
    .next = next_job,
    .done = job_done,
    .failed = job_failed,
};

static int run_here(struct session *x, char *error, size_t size)
{
    int status = 0;

    for (int64_t i = 0; i < x->r->n && !status; i++) {
        const int64_t start = now_ms();

        status = replicate(x->r, i, &x->runs[i], error, size);
        if (status)
            fprintf(stderr, "%s: replication %lld: %s\n", x->r->who, (long long)i, error);
        else
            finished(x, i, now_ms() - start);
    }
    return status;
}

struct run_values **repeat_runs(const struct repeat *r, int *status)
{
    struct session x = {.r = r, .runs = calloc((size_t)r->n, sizeof(*x.runs))};
    char error[256] = "";

    *status = STATUS_FAILED;
    if (!x.runs)
        return NULL;
    progress_begin(&x.progress, r->n, 0, r->progress && r->n > 1);
    if (r->workers > 1) {
        *status = pool_run(&pool_ops, &x, r->workers, error, sizeof(error));
        if (*status && *error)
            fprintf(stderr, "%s: %s\n", r->who, error);
    } else {
        *status = run_here(&x, error, sizeof(error));
    }
    progress_end(&x.progress);
    if (!*status)
        return x.runs;
    repeat_free(x.runs, r->n);
    return NULL;
}

void repeat_free(struct run_values **runs, int64_t n)
{
    for (int64_t i = 0; runs && i < n; i++)
        run_values_free(runs[i]);
    free(runs);
}
