/* SPDX-License-Identifier: MIT */
/*
 * Running a study. Jobs go replication by replication over all points, so that a sweep that is
 * stopped early has a bit of everything, and the time left can be estimated.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obs/result.h"
#include "study/pool.h"
#include "study/progress.h"
#include "study/study.h"

struct session {
    struct study *st;
    struct store *store;
    const struct study_options *o;
    study_run_fn *run;
    struct study_counts *c;
    struct store_error *err;
    struct progress progress;
    size_t point; /* the next job to look at */
    int64_t replication, most;
    int status;
};

static int64_t replications_of(const struct study *st, const struct study_options *o, size_t point)
{
    return o->replications ? o->replications : st->point[point].replications;
}

static int64_t most_replications(const struct study *st, const struct study_options *o)
{
    int64_t most = 0;

    for (size_t i = 0; i < st->npoints; i++)
        if (replications_of(st, o, i) > most)
            most = replications_of(st, o, i);
    return most;
}

/* Shards share out (point + replication), which stays put when replications are added. */
static bool is_ours(const struct study *st, const struct study_options *o, size_t point, int64_t r)
{
    return !st->point[point].left_out && r < replications_of(st, o, point) &&
           ((int64_t)point + r) % o->shards == o->shard - 1;
}

static void key_of(const struct study *st, size_t point, int64_t r, char key[33])
{
    store_key(st->point[point].row.hash, st->point[point].seed, r, st->version, st->policy, key);
}

int study_plan(const struct study *st, struct store *store, const struct study_options *o,
               struct study_counts *c, struct store_error *err)
{
    const int64_t most = most_replications(st, o);

    *c = (struct study_counts){0};
    for (int64_t r = 0; r < most; r++)
        for (size_t i = 0; i < st->npoints; i++) {
            char key[33];
            int has = 0;

            if (!is_ours(st, o, i, r))
                continue;
            c->planned++;
            key_of(st, i, r, key);
            if (store && (has = store_has(store, key, err)) < 0)
                return -1;
            c->before += has;
        }
    return 0;
}

static int run_job(void *arg, struct pool_job job, char **text, char *error, size_t error_size)
{
    const struct session *x = arg;
    const struct study_point *p = &x->st->point[job.point];
    struct run_values *v = NULL;
    int status = x->run(p->scenario, p->seed, job.replication, &v, error, error_size);

    if (status == 0) {
        *text = v ? run_values_write(v) : NULL;
        if (!*text) {
            snprintf(error, error_size, "out of memory");
            status = 3;
        }
    }
    if (v)
        run_values_free(v);
    return status;
}

static bool next_job(void *arg, struct pool_job *job)
{
    struct session *x = arg;

    for (; x->replication < x->most; x->replication++, x->point = 0)
        while (x->point < x->st->npoints) {
            const size_t point = x->point++;
            char key[33];
            int has;

            if (!is_ours(x->st, x->o, point, x->replication))
                continue;
            key_of(x->st, point, x->replication, key);
            has = store_has(x->store, key, x->err);
            if (has < 0) {
                x->status = x->err->status;
                return false;
            }
            if (has)
                continue;
            *job = (struct pool_job){point, x->replication};
            return true;
        }
    return false;
}

static struct store_run row_of(const struct session *x, struct pool_job job, char key[33])
{
    struct study_point *p = &x->st->point[job.point];

    key_of(x->st, job.point, job.replication, key);
    return (struct store_run){
        .key = key,
        .point = p->row.hash,
        .seed = p->seed,
        .replication = job.replication,
        .version = (char *)x->st->version,
        .policy = (char *)x->st->policy,
    };
}

static int keep_failure(struct session *x, struct pool_job job, int status, const char *report)
{
    struct study_point *p = &x->st->point[job.point];
    char key[33];
    const struct store_run row = row_of(x, job, key);

    x->c->failed++;
    progress_step(&x->progress, false);
    if (p->nfailed++ == 0)
        p->first_failure = strdup(report);
    if (store_begin(x->store, x->err) != 0)
        return x->err->status;
    if (store_put_failure(x->store, &row, status, report, x->err) != 0) {
        store_rollback(x->store);
        return x->err->status;
    }
    return store_commit(x->store, x->err) != 0 ? x->err->status : 0;
}

static int keep_run(void *arg, struct pool_job job, const char *text, int64_t wall_ms)
{
    struct session *x = arg;
    struct run_values *v = run_values_parse(text);
    char key[33], fingerprint[17];
    struct store_run row = row_of(x, job, key);

    if (!v)
        return keep_failure(x, job, 70, "the values of the run cannot be read back");
    snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, v->fingerprint);
    run_values_free(v);
    row.fingerprint = fingerprint;
    row.values = (char *)text;
    row.wall_ms = wall_ms;
    if (store_begin(x->store, x->err) != 0)
        return x->err->status;
    if (store_put_run(x->store, &row, x->err) != 0) {
        store_rollback(x->store);
        return x->err->status;
    }
    if (store_commit(x->store, x->err) != 0)
        return x->err->status;
    x->c->done++;
    progress_step(&x->progress, true);
    return 0;
}

static int keep_failed(void *arg, struct pool_job job, int status, const char *report)
{
    return keep_failure(arg, job, status, report);
}

static void tick(void *arg)
{
    struct session *x = arg;

    progress_draw(&x->progress);
}

static int put_points(struct session *x)
{
    if (store_begin(x->store, x->err) != 0)
        return x->err->status;
    for (size_t i = 0; i < x->st->npoints; i++)
        if (store_put_point(x->store, &x->st->point[i].row, x->err) != 0) {
            store_rollback(x->store);
            return x->err->status;
        }
    return store_commit(x->store, x->err) != 0 ? x->err->status : 0;
}

int study_run(struct study *st, struct store *store, const struct study_options *o,
              study_run_fn *run, struct study_counts *c, struct store_error *err)
{
    static const struct pool_ops ops = {
        .run = run_job, .next = next_job, .done = keep_run, .failed = keep_failed, .tick = tick};
    struct session x = {.st = st, .store = store, .o = o, .run = run, .c = c, .err = err};
    char why[200] = "";
    int status;

    err->text[0] = '\0';
    if (study_plan(st, store, o, c, err) != 0)
        return err->status;
    status = put_points(&x);
    if (status)
        return status;
    x.most = most_replications(st, o);
    progress_begin(&x.progress, c->planned, c->before, o->progress);
    status = pool_run(&ops, &x, o->workers, why, sizeof(why));
    progress_end(&x.progress);
    if (status == 0)
        status = x.status;
    if (status == 3 && why[0])
        snprintf(err->text, sizeof(err->text), "%s", why);
    if (status == 0 && c->failed > 0)
        status = 4;
    return status;
}
