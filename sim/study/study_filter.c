/* SPDX-License-Identifier: MIT */
/* Running a part of a sweep: the points that have certain values. */
#include <stdlib.h>
#include <string.h>

#include "study/plot_axes.h"
#include "study/study.h"

/* The axis that PATH=VALUE names, and the value's text. -1 with *err. */
static int axis_of(const struct sweep *s, const char *filter, size_t *axis, const char **value,
                   struct store_error *err)
{
    const char *equals = strchr(filter, '=');
    char *name = equals ? strndup(filter, (size_t)(equals - filter)) : NULL;
    char why[400];
    int failed = 0;

    if (!equals) {
        failed = plot_fail(err, 2, "'--filter' is '%s', expected PATH=VALUE", filter);
    } else if (!name) {
        failed = plot_fail(err, 3, "out of memory");
    } else {
        *value = equals + 1;
        *axis = sweep_find_axis(s, name, why, sizeof(why));
        if (*axis == s->naxes)
            failed = plot_fail(err, 2, "%s", why);
    }
    free(name);
    return failed;
}

static int no_value(const struct sweep *s, size_t axis, const char *value, struct store_error *err)
{
    char why[400];

    sweep_no_value(s, axis, value, why, sizeof(why));
    return plot_fail(err, 2, "%s", why);
}

int study_filter(struct study *st, const struct sweep *s, const char *const *filter, size_t n,
                 struct store_error *err)
{
    /* Per axis: is it named; per point and axis: is its value wanted. */
    bool *named = calloc(s->naxes + 1, sizeof(*named));
    bool *wanted = calloc(st->npoints * (s->naxes + 1), sizeof(*wanted));
    int failed = named && wanted ? 0 : plot_fail(err, 3, "out of memory");
    size_t left = 0;

    for (size_t i = 0; !failed && i < n; i++) {
        const char *value = "";
        size_t axis = 0, found = 0;

        failed = axis_of(s, filter[i], &axis, &value, err);
        for (size_t p = 0; !failed && p < st->npoints; p++)
            if (strcmp(sweep_label(s, p, axis), value) == 0) {
                wanted[p * s->naxes + axis] = true;
                found++;
            }
        if (!failed && found == 0)
            failed = no_value(s, axis, value, err);
        if (!failed)
            named[axis] = true;
    }
    for (size_t p = 0; !failed && p < st->npoints; p++) {
        for (size_t a = 0; a < s->naxes; a++)
            if (named[a] && !wanted[p * s->naxes + a])
                st->point[p].left_out = true;
        left += !st->point[p].left_out;
    }
    if (!failed && left == 0)
        failed = plot_fail(err, 2, "no point has all of these values");
    free(named);
    free(wanted);
    return failed;
}
