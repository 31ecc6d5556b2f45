/* SPDX-License-Identifier: MIT */
/*
 * Running a study. Jobs go replication by replication over all points, so that a sweep that is
 * stopped early has a bit of everything, and the time left can be estimated. Then come replications
 * that `until` asks for, and what another process had begun when its turn was here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "obs/result.h"
#include "study/pool.h"
#include "study/progress.h"
#include "study/study_internal.h"

/* How many points are written at once: others want to write, too. */
#define BATCH 200
#define ASK_S 0.05

struct job_list {
    struct pool_job *job;
    size_t n, room, next;
};

struct session {
    struct study *st;
    struct store *store;
    study_run_fn *run;
    struct study_counts *c;
    struct store_error *err;
    struct study_plan plan;
    struct progress progress;
    size_t point; /* the next job to look at */
    int64_t replication, most;
    struct job_list wanted; /* by `until`, from `next` on */
    struct job_list later;  /* another process is at it */
    struct timespec asked;  /* when we last looked whether it has finished */
    int reports;
    int status;
};

static bool push_job(struct job_list *l, struct pool_job job)
{
    if (l->n == l->room) {
        const size_t room = l->room ? 2 * l->room : 64;
        struct pool_job *more = realloc(l->job, room * sizeof(*more));

        if (!more)
            return false;
        l->job = more;
        l->room = room;
    }
    l->job[l->n++] = job;
    return true;
}

static void give_up(struct session *x, int status, const char *why)
{
    x->status = status;
    if (why)
        *x->err = (struct store_error){.status = status, .text = ""};
    if (why)
        snprintf(x->err->text, sizeof(x->err->text), "%s", why);
}

static int run_job(void *arg, struct pool_job job, char **text, char *error, size_t error_size)
{
    const struct session *x = arg;
    const struct study_point *p = &x->st->point[job.point];
    const struct scenario *s = study_scenario(x->st, job.point);
    struct run_values *v = NULL;
    int status;

    if (!s) {
        snprintf(error, error_size, "a file of this scenario has changed since the sweep began");
        return 2;
    }
    status = x->run(s, p->seed, job.replication, &v, error, error_size);
    if (status == 0) {
        *text = v ? run_values_write(v) : NULL;
        if (!*text) {
            snprintf(error, error_size, "out of memory");
            status = 3;
        }
    }
    if (v)
        run_values_free(v);
    study_give_back(x->st, job.point, s);
    return status;
}

/* After a value has come: judges the point, and asks for one replication more where it needs one. */
static void go_on(struct session *x, size_t point)
{
    struct until_point *u = &x->plan.point[point];
    const int64_t goal = u->goal, expected = u->expected;

    until_advance(u, x->plan.until);
    x->c->planned += u->goal - goal;
    progress_grow(&x->progress, u->expected - expected);
    for (int64_t r = goal; r < u->goal; r++)
        if (!push_job(&x->wanted, (struct pool_job){point, r}))
            give_up(x, 3, "out of memory");
}

/* Somebody else has finished the run since the session began. */
static void take_over(struct session *x, struct pool_job job)
{
    x->c->before++;
    progress_skip(&x->progress);
    if (!x->plan.until)
        return;
    if (until_load(&x->plan, x->store, job.point, x->err) != 0)
        give_up(x, x->err->status, NULL);
    else
        go_on(x, job.point);
}

enum turn { TURN_OURS, TURN_DONE, TURN_LATER };

/* Whether a run that was missing is ours to make now. */
static enum turn turn_of(struct session *x, struct pool_job job)
{
    char key[33];
    int has;

    study_key(x->st, job.point, job.replication, key);
    has = store_has(x->store, key, x->err);
    if (has == 0 && !store_claim(x->store, key))
        return TURN_LATER;
    if (has == 0) /* it may have been finished between the two */
        has = store_has(x->store, key, x->err);
    if (has < 0)
        give_up(x, x->err->status, NULL);
    if (has == 0)
        return TURN_OURS;
    store_unclaim(x->store, key);
    if (has > 0)
        take_over(x, job);
    return TURN_DONE;
}

/* The next run of the plan that was missing when the session began. */
static bool next_planned(struct session *x, struct pool_job *job)
{
    for (; x->replication < x->most; x->replication++, x->point = 0)
        while (x->point < x->st->npoints) {
            const size_t point = x->point++;
            char key[33];

            if (!study_plan_ours(&x->plan, point, x->replication) ||
                (x->plan.until && x->replication >= x->plan.point[point].first))
                continue;
            study_key(x->st, point, x->replication, key);
            if (study_plan_has(&x->plan, key))
                continue;
            *job = (struct pool_job){point, x->replication};
            return true;
        }
    return false;
}

static bool next_wanted(struct session *x, struct pool_job *job)
{
    while (x->wanted.next < x->wanted.n) {
        char key[33];

        *job = x->wanted.job[x->wanted.next++];
        study_key(x->st, job->point, job->replication, key);
        if (!study_plan_has(&x->plan, key))
            return true;
    }
    return false;
}

static bool asked_lately(struct session *x)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((double)(now.tv_sec - x->asked.tv_sec) + 1e-9 * (double)(now.tv_nsec - x->asked.tv_nsec) <
        ASK_S)
        return true;
    x->asked = now;
    return false;
}

/* Asks for each run that others had begun. */
static bool next_left(struct session *x, struct pool_job *job)
{
    const size_t n = x->later.n;
    bool found = false;

    if (n == 0 || asked_lately(x))
        return false;
    x->later.n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pool_job left = x->later.job[i];
        const enum turn turn = found || x->status ? TURN_LATER : turn_of(x, left);

        if (turn == TURN_OURS) {
            *job = left;
            found = true;
        } else if (turn == TURN_LATER) {
            x->later.job[x->later.n++] = left;
        }
    }
    return found;
}

static bool next_job(void *arg, struct pool_job *job)
{
    struct session *x = arg;

    while (x->status == 0 && (next_planned(x, job) || next_wanted(x, job))) {
        const enum turn turn = turn_of(x, *job);

        if (x->status == 0 && turn == TURN_OURS)
            return true;
        if (turn == TURN_LATER && !push_job(&x->later, *job))
            give_up(x, 3, "out of memory");
    }
    return x->status == 0 && next_left(x, job);
}

static bool more_later(void *arg)
{
    const struct session *x = arg;

    return x->status == 0 && (x->later.n > 0 || x->wanted.next < x->wanted.n);
}

static struct store_run row_of(const struct session *x, struct pool_job job, char key[33])
{
    struct study_point *p = &x->st->point[job.point];

    study_key(x->st, job.point, job.replication, key);
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
    if (p->nfailed++ == 0 && x->reports++ < STUDY_REPORTS)
        p->first_failure = strdup(report);
    if (store_begin(x->store, x->err) != 0)
        return x->err->status;
    if (store_put_failure(x->store, &row, status, report, x->err) != 0) {
        store_rollback(x->store);
        return x->err->status;
    }
    if (store_commit(x->store, x->err) != 0)
        return x->err->status;
    store_unclaim(x->store, key);
    return 0;
}

/* What `until` looks at. */
static void note_value(struct session *x, struct pool_job job, const struct run_values *v)
{
    const enum metric_id m = (enum metric_id)(x->plan.until->metric - metrics);

    if (until_note(&x->plan.point[job.point], job.replication, run_metric(v, 0, m)))
        go_on(x, job.point);
    else
        give_up(x, 3, "out of memory");
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
    row.fingerprint = fingerprint;
    row.values = (char *)text;
    row.wall_ms = wall_ms;
    if (store_begin(x->store, x->err) != 0) {
        x->status = x->err->status;
    } else if (store_put_run(x->store, &row, x->err) != 0) {
        store_rollback(x->store);
        x->status = x->err->status;
    } else if (store_commit(x->store, x->err) != 0) {
        x->status = x->err->status;
    } else {
        store_unclaim(x->store, key);
        x->c->done++;
        progress_step(&x->progress, true);
        if (x->plan.until)
            note_value(x, job, v);
    }
    run_values_free(v);
    return x->status;
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

struct placing {
    struct study *st;
    struct study_index index;
    bool failed;
};

/* A place that the store has already, with the same labels. */
static bool know_place(void *arg, const char *hash, const char *labels, int64_t position)
{
    struct placing *p = arg;
    const int64_t at = study_index_find(&p->index, hash);
    char *mine;

    if (at < 0 || p->st->point[at].row.position != position)
        return true;
    mine = study_labels(p->st, (size_t)at);
    p->failed = !mine;
    p->st->point[at].placed = mine && strcmp(mine, labels) == 0;
    free(mine);
    return !p->failed;
}

static int put_point(struct session *x, size_t i)
{
    struct store_point row;
    int failed = study_row(x->st, i, &row) ? 0 : -1;

    if (failed)
        give_up(x, 3, "out of memory, or a file of a scenario has changed since the sweep began");
    else if (store_put_point(x->store, &row, x->err) != 0 ||
             store_put_place(x->store, x->st->name ? x->st->name : "", &row, x->err) != 0)
        failed = x->status = x->err->status;
    study_row_free(&row);
    x->st->point[i].placed = !failed;
    return failed;
}

/* Puts down up to BATCH points from *i on that the store does not have. */
static int put_batch(struct session *x, size_t *i)
{
    size_t n = 0;

    if (store_begin(x->store, x->err) != 0)
        return x->status = x->err->status;
    for (; *i < x->st->npoints && n < BATCH; ++*i) {
        if (x->st->point[*i].placed)
            continue;
        n++;
        if (put_point(x, *i) != 0) {
            store_rollback(x->store);
            return x->status;
        }
    }
    return store_commit(x->store, x->err) != 0 ? (x->status = x->err->status) : 0;
}

static int put_points(struct session *x)
{
    struct placing p = {.st = x->st};
    const char *name = x->st->name ? x->st->name : "";
    size_t i = 0;

    for (size_t k = 0; k < x->st->npoints; k++)
        x->st->point[k].placed = false;
    if (!study_index_make(&p.index, x->st))
        give_up(x, 3, "out of memory");
    else if (store_places(x->store, name, know_place, &p, x->err) != 0)
        give_up(x, p.failed ? 3 : x->err->status, p.failed ? "out of memory" : NULL);
    free(p.index.list);
    while (x->status == 0) {
        while (i < x->st->npoints && x->st->point[i].placed)
            i++;
        if (i == x->st->npoints)
            break;
        put_batch(x, &i);
    }
    return x->status;
}

static void count_ends(struct session *x)
{
    for (size_t i = 0; x->plan.until && i < x->st->npoints; i++) {
        x->c->valueless += x->plan.point[i].closed && x->plan.point[i].valueless;
        x->c->wide += x->plan.point[i].wide;
    }
}

/* What is to be done, by what is known now. */
static int begin(struct session *x, const struct study_options *o)
{
    int64_t total;

    if (study_plan_make(&x->plan, x->st, x->store, o, x->err) != 0)
        return x->status = x->err->status;
    study_plan_count(&x->plan, x->c, NULL);
    total = x->c->planned;
    for (size_t i = 0; i < x->st->npoints; i++) {
        if (study_plan_goal(&x->plan, i) > x->most)
            x->most = study_plan_goal(&x->plan, i);
        if (x->plan.until && study_plan_ours(&x->plan, i, 0))
            total += x->plan.point[i].expected - x->plan.point[i].goal;
    }
    progress_begin(&x->progress, total, x->c->before, o->progress);
    return put_points(x);
}

int study_run(struct study *st, struct store *store, const struct study_options *o,
              study_run_fn *run, struct study_counts *c, struct store_error *err)
{
    static const struct pool_ops ops = {.run = run_job,
                                        .next = next_job,
                                        .more = more_later,
                                        .done = keep_run,
                                        .failed = keep_failed,
                                        .tick = tick};
    struct session x = {.st = st, .store = store, .run = run, .c = c, .err = err};
    char why[200] = "";
    int status;

    *c = (struct study_counts){0};
    err->text[0] = '\0';
    status = begin(&x, o);
    if (status == 0) {
        status = pool_run(&ops, &x, o->workers, why, sizeof(why));
        count_ends(&x);
    }
    progress_end(&x.progress);
    if (status == 0)
        status = x.status;
    if (status == 3 && why[0])
        snprintf(err->text, sizeof(err->text), "%s", why);
    if (status == 0 && c->failed > 0)
        status = 4;
    study_plan_free(&x.plan);
    free(x.wanted.job);
    free(x.later.job);
    return status;
}
