/* SPDX-License-Identifier: MIT */
/*
 * Adaptive replications: a point goes on until the 95 % interval of one metric is narrow enough.
 *
 * Always true: whether replication n is needed hangs on the values of replications 0 to n - 1 and on
 * nothing else, so the same runs are made by any number of workers, in any number of sessions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/study_internal.h"

#define CONFIDENCE 0.95

int64_t until_least(const struct study *st, const struct study_options *o, size_t point)
{
    const int64_t given = o->replications ? o->replications : st->point[point].replications;

    if (!st->until || o->replications)
        return given;
    if (st->until->min)
        return st->until->min;
    /* One value has no interval. */
    return given < 2 ? 2 : given > st->until->max ? st->until->max : given;
}

static bool make_room(struct until_point *u, int64_t r)
{
    int64_t room = u->room ? u->room : 8;
    double *value;
    unsigned char *have;

    while (room <= r)
        room *= 2;
    if (room == u->room)
        return true;
    value = realloc(u->value, (size_t)room * sizeof(*value));
    if (value)
        u->value = value;
    have = realloc(u->have, (size_t)room);
    if (have)
        u->have = have;
    if (!value || !have)
        return false;
    memset(have + u->room, 0, (size_t)(room - u->room));
    u->room = room;
    return true;
}

bool until_note(struct until_point *u, int64_t r, double value)
{
    if (!make_room(u, r))
        return false;
    u->value[r] = value;
    u->have[r] = 1;
    while (u->known < u->room && u->have[u->known])
        u->known++;
    return true;
}

/* The half-width as a multiple of what is wanted; infinite where there is none, 0 for a constant. */
static double excess(const struct summary *s, const struct sweep_until *rule)
{
    if (s->n < 2 || !isfinite(s->ci95))
        return INFINITY;
    if (s->ci95 == 0)
        return 0;
    return s->mean == 0 ? INFINITY : s->ci95 / (rule->half_width * fabs(s->mean));
}

static int64_t guess(int64_t n, double over, int64_t max)
{
    const double need = (double)n * over * over;

    return need >= (double)max ? max : need <= (double)n ? n + 1 : (int64_t)ceil(need);
}

void until_advance(struct until_point *u, const struct sweep_until *rule)
{
    while (!u->closed && u->known >= u->goal) {
        const struct summary s = summary_of(u->value, (int)u->goal, CONFIDENCE);
        const double over = excess(&s, rule);

        /* Where no run has a value, more of them would not have one either. */
        u->valueless = s.n == 0;
        u->wide = over > 1 && u->goal == rule->max && !u->valueless;
        u->closed = over <= 1 || u->valueless || u->wide;
        u->expected = u->closed ? u->goal : guess(u->goal, over, rule->max);
        u->goal += !u->closed;
    }
}

struct loading {
    struct study_plan *p;
    size_t point;
    bool failed, damaged;
};

static bool load_value(void *arg, const struct store_run *r)
{
    struct loading *l = arg;
    const struct study *st = l->p->st;
    struct run_values *v;

    if (r->seed != st->point[l->point].seed || r->replication >= l->p->until->max ||
        strcmp(r->version, st->version) != 0 || strcmp(r->policy, st->policy) != 0)
        return true;
    v = run_values_parse(r->values);
    l->damaged = !v;
    l->failed =
        !v || !until_note(&l->p->point[l->point], r->replication,
                          run_metric(v, 0, (enum metric_id)(l->p->until->metric - metrics)));
    if (v)
        run_values_free(v);
    return !l->failed;
}

int until_load(struct study_plan *p, struct store *store, size_t point, struct store_error *err)
{
    struct loading l = {.p = p, .point = point};

    if (store_runs(store, p->st->point[point].row.hash, load_value, &l, err) != 0) {
        if (l.failed) {
            err->status = 3;
            snprintf(err->text, sizeof(err->text), "%s: %s", store_path(store),
                     l.damaged ? "damaged: a run cannot be read" : "out of memory");
        }
        return -1;
    }
    return 0;
}
