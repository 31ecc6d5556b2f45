/* SPDX-License-Identifier: MIT */
/* Which points of a store are which published cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/plot_axes.h"
#include "study/plot_ratio.h"
#include "study/score.h"

#define NONE ((size_t)-1)

struct join {
    const struct facts *f;
    const struct dataset *d;
    size_t *base, *new; /* per row: the point, or NONE */
};

/* What two points that claim the same cell differ in. */
static int two_points(const struct join *j, size_t a, size_t b, struct store_error *err)
{
    const struct data_point *p = &j->d->point[a], *q = &j->d->point[b];
    size_t n;
    const char **axes = dataset_axes(j->d, &n);
    int failed = 0;

    for (size_t i = 0; axes && !failed && i < n; i++) {
        char *x = data_value(p, axes[i]), *y = data_value(q, axes[i]);

        if (x && y && strcmp(x, y) != 0)
            failed =
                plot_fail(err, 2,
                          "points with %s = %s and %s = %s are the same published cell: choose "
                          "with --filter %s=VALUE",
                          axes[i], x, axes[i], y, axes[i]);
        free(x);
        free(y);
    }
    free(axes);
    if (!failed && strcmp(p->version, q->version) != 0)
        failed = plot_fail(err, 2,
                           "the data has runs of the program versions %s and %s: choose with "
                           "--filter version=VERSION",
                           p->version, q->version);
    if (!failed)
        failed = plot_fail(err, 2, "two points are the same published cell (from %s and %s)",
                           p->source, q->source);
    return failed;
}

static int place(struct join *j, size_t point, struct store_error *err)
{
    const struct data_point *p = &j->d->point[point];
    const size_t row = facts_row_of(j->f, p);
    char *policy = data_value(p, j->f->policy);
    size_t *list = NULL;

    if (policy && strcmp(policy, j->f->base) == 0)
        list = j->base;
    else if (policy && strcmp(policy, j->f->new) == 0)
        list = j->new;
    free(policy);
    if (!list || row == j->f->nrows)
        return 0;
    if (list[row] != NONE)
        return two_points(j, list[row], point, err);
    list[row] = point;
    return 0;
}

/* An axis that has none of the wanted values, for the message. */
static int lacks(const struct join *j, const bool *used, const char *path, const char *value,
                 struct store_error *err)
{
    struct plot_axis a;
    const char *near;
    bool there = false;
    int failed = axis_make(&a, path, j->d, used, err);

    for (size_t i = 0; !failed && i < a.n; i++)
        there = there || strcmp(a.text[i], value) == 0;
    if (!failed && !there) {
        near = conf_nearest(value, (const char *const *)a.text, a.n);
        failed = plot_fail(err, 2, "no point has %s = %s%s%s%s", path, value,
                           near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    axis_free(&a);
    return failed;
}

/* Nothing fits at all: the reason that is found first. */
static int nothing_fits(const struct join *j, const bool *used, struct store_error *err)
{
    struct plot_axis a;

    if (lacks(j, used, j->f->policy, j->f->base, err) != 0 ||
        lacks(j, used, j->f->policy, j->f->new, err) != 0)
        return -1;
    for (size_t i = 0; i < j->f->naxes; i++) {
        const int failed = axis_make(&a, j->f->axis[i].path, j->d, used, err);

        axis_free(&a);
        if (failed)
            return -1;
    }
    return plot_fail(err, 2, "no point is one of the %zu cells of %s", j->f->nrows, j->f->table);
}

/* Runs that are all alike measure no spread: an interval of 0 would say that nothing else can come
 * out. */
static struct summary change(const struct join *j, size_t row)
{
    struct summary s = {.mean = NAN, .ci95 = NAN};

    if (j->base[row] == NONE || j->new[row] == NONE)
        return s;
    s = ratio_paired(&j->d->point[j->new[row]], &j->d->point[j->base[row]], j->f->metric - metrics);
    s.mean = 100 * (s.mean - 1);
    s.ci95 = s.ci95 > 0 ? 100 * s.ci95 : NAN;
    return s;
}

static int fill(struct scoreboard *b, struct join *j, const bool *used, struct store_error *err)
{
    size_t pairs = 0, points = 0;

    for (size_t i = 0; i < j->f->nrows; i++)
        j->base[i] = j->new[i] = NONE;
    for (size_t i = 0; i < j->d->n; i++) {
        points += used[i];
        if (used[i] && place(j, i, err) != 0)
            return -1;
    }
    if (points == 0)
        return plot_fail(err, 2, "no runs to judge: the store is empty");
    for (size_t i = 0; i < j->f->nrows; i++) {
        b->cell[i].simulated = change(j, i);
        pairs += j->base[i] != NONE && j->new[i] != NONE;
    }
    return pairs ? 0 : nothing_fits(j, used, err);
}

int scoreboard_make(struct scoreboard *b, const struct facts *f, const struct dataset *d,
                    const bool *used, struct store_error *err)
{
    struct join j = {f, d, calloc(f->nrows, sizeof(size_t)), calloc(f->nrows, sizeof(size_t))};
    int failed;

    *b = (struct scoreboard){.facts = f, .cell = calloc(f->nrows, sizeof(*b->cell))};
    failed =
        !j.base || !j.new || !b->cell ? plot_fail(err, 3, "out of memory") : fill(b, &j, used, err);
    if (!failed && !scoreboard_judge(b))
        failed = plot_fail(err, 3, "out of memory");
    free(j.base);
    free(j.new);
    return failed;
}
