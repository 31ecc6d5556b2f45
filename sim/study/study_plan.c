/* SPDX-License-Identifier: MIT */
/* What a study has in a store and what it lacks. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scenario.h"
#include "study/study_internal.h"

static int by_hash(const void *a, const void *b)
{
    const struct study_indexed *x = a, *y = b;

    return strcmp(x->hash, y->hash);
}

bool study_index_make(struct study_index *x, const struct study *st)
{
    *x = (struct study_index){.list = calloc(st->npoints + 1, sizeof(*x->list)), .n = st->npoints};
    if (!x->list)
        return false;
    for (size_t i = 0; i < st->npoints; i++)
        x->list[i] = (struct study_indexed){st->point[i].row.hash, i};
    qsort(x->list, x->n, sizeof(*x->list), by_hash);
    return true;
}

int64_t study_index_find(const struct study_index *x, const char *hash)
{
    const struct study_indexed wanted = {.hash = hash};
    const struct study_indexed *at = bsearch(&wanted, x->list, x->n, sizeof(*x->list), by_hash);

    return at ? (int64_t)at->point : -1;
}

void study_key(const struct study *st, size_t point, int64_t r, char key[33])
{
    store_key(st->point[point].row.hash, st->point[point].seed, r, st->version, st->policy, key);
}

static int by_key(const void *a, const void *b)
{
    return memcmp(a, b, 32);
}

bool study_plan_has(const struct study_plan *p, const char *key)
{
    return p->nkeys > 0 && bsearch(key, p->key, p->nkeys, sizeof(*p->key), by_key);
}

bool study_plan_ours(const struct study_plan *p, size_t point, int64_t r)
{
    if (p->st->point[point].left_out || r >= study_plan_goal(p, point))
        return false;
    return ((int64_t)point + (p->until ? 0 : r)) % p->o->shards == p->o->shard - 1;
}

int64_t study_plan_goal(const struct study_plan *p, size_t point)
{
    return p->until ? p->point[point].goal : until_least(p->st, p->o, point);
}

static bool keep_key(void *arg, const char *key)
{
    struct study_plan *p = arg;

    if (p->nkeys == p->room) {
        const size_t room = p->room ? 2 * p->room : 1024;
        char(*more)[32] = realloc(p->key, room * sizeof(*more));

        if (!more)
            return false;
        p->key = more;
        p->room = room;
    }
    if (strlen(key) == 32)
        memcpy(p->key[p->nkeys++], key, 32);
    return true;
}

static int out_of_memory(struct store_error *err)
{
    *err = (struct store_error){.status = 3, .text = "out of memory"};
    return -1;
}

static bool has_some(const struct study_plan *p, size_t point)
{
    char key[33];
    int64_t r = 0;

    do
        study_key(p->st, point, r, key);
    while (!study_plan_has(p, key) && ++r < p->point[point].goal);
    return r < p->point[point].goal;
}

/* How far each point is, by what the store has of it. */
static int judge_points(struct study_plan *p, struct store *store, struct store_error *err)
{
    p->point = calloc(p->st->npoints + 1, sizeof(*p->point));
    if (!p->point)
        return out_of_memory(err);
    for (size_t i = 0; i < p->st->npoints; i++) {
        struct until_point *u = &p->point[i];

        u->goal = u->expected = until_least(p->st, p->o, i);
        if (study_plan_ours(p, i, 0) && has_some(p, i)) {
            if (until_load(p, store, i, err) != 0)
                return -1;
            until_advance(u, p->until);
        }
        u->first = u->goal;
    }
    return 0;
}

int study_plan_make(struct study_plan *p, const struct study *st, struct store *store,
                    const struct study_options *o, struct store_error *err)
{
    *p = (struct study_plan){.st = st, .o = o, .until = o->replications ? NULL : st->until};
    err->text[0] = '\0';
    if (store && store_keys(store, keep_key, p, err) != 0)
        return err->text[0] ? -1 : out_of_memory(err);
    return p->until ? judge_points(p, store, err) : 0;
}

void study_plan_free(struct study_plan *p)
{
    for (size_t i = 0; p->point && i < p->st->npoints; i++) {
        free(p->point[i].value);
        free(p->point[i].have);
    }
    free(p->point);
    free(p->key);
}

void study_plan_count(const struct study_plan *p, struct study_counts *c, int64_t *missing)
{
    *c = (struct study_counts){0};
    for (size_t i = 0; i < p->st->npoints; i++) {
        const int64_t goal = study_plan_goal(p, i);
        int64_t here = 0, there = 0;

        for (int64_t r = 0; r < goal; r++) {
            char key[33];

            if (!study_plan_ours(p, i, r))
                continue;
            here++;
            study_key(p->st, i, r, key);
            there += study_plan_has(p, key);
        }
        c->planned += here;
        c->before += there;
        c->most += here == 0 || !p->until || p->point[i].closed ? here : p->until->max;
        if (missing)
            missing[i] = here - there;
    }
}

int study_plan(const struct study *st, struct store *store, const struct study_options *o,
               struct study_counts *c, int64_t *missing, struct store_error *err)
{
    struct study_plan p;
    const int failed = study_plan_make(&p, st, store, o, err);

    if (!failed)
        study_plan_count(&p, c, missing);
    study_plan_free(&p);
    return failed;
}

/* Wall times of the points that the store has runs of. */
struct timing {
    struct study_index index;
    struct timed {
        int64_t n, ms;
    } * point;
};

static bool take_time(void *arg, const char *hash, int64_t n, int64_t total_ms)
{
    struct timing *t = arg;
    const int64_t at = study_index_find(&t->index, hash);

    if (at >= 0)
        t->point[at] = (struct timed){n, total_ms};
    return true;
}

/* A run of a point without one takes as long per simulated time as those that are there. */
static void add_times(const struct study *st, const struct timing *t, const int64_t *missing,
                      struct study_estimate *e)
{
    double ms = 0, simulated = 0, sum = 0;

    for (size_t i = 0; i < st->npoints; i++) {
        ms += (double)t->point[i].ms;
        simulated += (double)t->point[i].n * (double)st->point[i].duration;
        e->runs += t->point[i].n;
    }
    for (size_t i = 0; i < st->npoints; i++) {
        const struct timed *x = &t->point[i];

        if (x->n > 0)
            sum += (double)missing[i] * (double)x->ms / (double)x->n;
        else if (simulated > 0)
            sum += (double)missing[i] * (double)st->point[i].duration * ms / simulated;
        e->points += x->n > 0;
    }
    e->seconds = sum / 1000;
}

int study_estimate(const struct study *st, struct store *store, const int64_t *missing,
                   struct study_estimate *e, struct store_error *err)
{
    struct timing t = {.point = calloc(st->npoints + 1, sizeof(*t.point))};
    int failed = 0;

    *e = (struct study_estimate){0};
    if (!t.point || !study_index_make(&t.index, st))
        failed = out_of_memory(err);
    else if (store && store_wall_times(store, take_time, &t, err) != 0)
        failed = -1;
    else
        add_times(st, &t, missing, e);
    free(t.point);
    free(t.index.list);
    return failed;
}

#define TRIALS   24
#define TRIAL_NS (100 * NS_MS)
#define TRIALS_S 2

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Wall seconds per simulated ns of a point's beginning, -1 when it cannot be had. */
static double try_point(const struct study *st, size_t point, study_run_fn *run)
{
    const struct scenario *s = study_scenario(st, point);
    struct run_values *v = NULL;
    struct scenario part;
    char error[256];
    double begin, rate = -1;

    if (!s)
        return -1;
    part = *s; /* borrows everything */
    part.duration = s->duration < TRIAL_NS ? s->duration : TRIAL_NS;
    part.warmup = s->warmup < part.duration / 2 ? s->warmup : part.duration / 2;
    begin = seconds_now();
    if (run(&part, st->point[point].seed, 0, &v, error, sizeof(error)) == 0)
        rate = (seconds_now() - begin) / (double)part.duration;
    run_values_free(v);
    study_give_back(st, point, s);
    return rate;
}

void study_try(const struct study *st, const int64_t *missing, study_run_fn *run,
               struct study_estimate *e)
{
    double rates = 0, simulated = 0;
    const double begin = seconds_now();
    size_t n = 0, seen = 0;

    *e = (struct study_estimate){0};
    for (size_t i = 0; i < st->npoints; i++) {
        n += missing[i] > 0;
        simulated += (double)missing[i] * (double)st->point[i].duration;
    }
    /* Evenly over the points that have something to do. */
    for (size_t i = 0; i < st->npoints && seconds_now() - begin < TRIALS_S; i++) {
        const bool wanted = missing[i] > 0 && (seen * TRIALS) / n != ((seen + 1) * TRIALS) / n;
        const double rate = wanted ? try_point(st, i, run) : -1;

        seen += missing[i] > 0;
        if (rate < 0)
            continue;
        rates += rate;
        e->runs++;
        e->points++;
    }
    if (e->runs == 0)
        return;
    e->trial = TRIAL_NS;
    e->seconds = simulated * rates / (double)e->runs;
}
