/* SPDX-License-Identifier: MIT */
/* Axes of a figure: their values, and which of the data's axes is which of the picture's. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "study/plot_axes.h"

int plot_fail(struct store_error *err, int status, const char *fmt, ...)
{
    va_list ap;

    err->status = status;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    return -1;
}

void axes_describe(const struct dataset *d, char *out, size_t size)
{
    size_t n;
    const char **axes = dataset_axes(d, &n);

    snprintf(out, size, "%s", n ? "the data has the axes " : "the data has no axes");
    for (size_t i = 0; axes && i < n; i++)
        snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? ", " : "", axes[i]);
    free(axes);
}

static bool ends_in(const char *path, const char *part)
{
    const size_t n = strlen(path), m = strlen(part);

    return n > m && path[n - m - 1] == '.' && strcmp(path + n - m, part) == 0;
}

const char *axis_resolve(const char **axes, size_t n, const char *path)
{
    const char *only = NULL;
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(axes[i], path) == 0)
            return axes[i];
        if (ends_in(axes[i], path)) {
            only = axes[i];
            found++;
        }
    }
    return found == 1 ? only : path;
}

static bool add_value(struct plot_axis *a, char *text, size_t point)
{
    char **more;

    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->text[i], text) == 0) {
            a->at[point] = i;
            free(text);
            return true;
        }
    more = realloc(a->text, (a->n + 1) * sizeof(*more));
    if (!more) {
        free(text);
        return false;
    }
    a->text = more;
    a->text[a->n] = text;
    a->at[point] = a->n++;
    return true;
}

/* A numeric axis needs numbers of one kind. Times get the unit of the largest one. */
static bool find_numbers(struct plot_axis *a)
{
    struct quantity first = quantity_parse(a->text[0]), largest = first;

    a->unit = "";
    a->number = calloc(a->n, sizeof(*a->number));
    if (!a->number)
        return false;
    a->numeric = first.kind != QUANTITY_NONE;
    for (size_t i = 0; i < a->n && a->numeric; i++) {
        const struct quantity q = quantity_parse(a->text[i]);

        a->numeric = q.kind == first.kind ||
                     (q.kind == QUANTITY_PLAIN && q.value == 0 && first.kind == QUANTITY_TIME);
        if (q.value > largest.value)
            largest = q;
        a->number[i] = q.value;
    }
    for (size_t i = 0; i < a->n && a->numeric; i++)
        a->number[i] /= quantity_scale(largest.unit);
    if (a->numeric)
        a->unit = largest.unit;
    return true;
}

int axis_make(struct plot_axis *a, const char *path, const struct dataset *d, const bool *used,
              struct store_error *err)
{
    char axes[300];
    bool ok = true;

    *a = (struct plot_axis){.unit = ""};
    a->path = path ? strdup(path) : NULL;
    a->at = calloc(d->n + 1, sizeof(*a->at));
    ok = a->at && (!path || a->path);
    for (size_t i = 0; ok && i < d->n; i++) {
        char *text;

        if (!used[i])
            continue;
        text = path ? data_value(&d->point[i], path) : strdup("");
        if (!text) {
            axes_describe(d, axes, sizeof(axes));
            return plot_fail(err, 2, "no '%s' in %s; %s", path, d->point[i].source, axes);
        }
        ok = add_value(a, text, i);
    }
    if (ok && a->n > 0 && find_numbers(a))
        return 0;
    return plot_fail(err, 3, "out of memory");
}

void axis_free(struct plot_axis *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->text[i]);
    free(a->text);
    free(a->number);
    free(a->at);
    free(a->path);
    *a = (struct plot_axis){0};
}

/* Does `path`, a part of it, or its end match one of the alternatives? */
static bool like(const char *path, const char *alternatives)
{
    while (*alternatives) {
        const size_t n = strcspn(alternatives, "|");

        for (const char *p = path; p; p = strchr(p, '.') ? strchr(p, '.') + 1 : NULL)
            if (strncmp(p, alternatives, n) == 0 && (p[n] == '\0' || p[n] == '.'))
                return true;
        alternatives += n + (alternatives[n] == '|');
    }
    return false;
}

struct choosing {
    struct plot_grid *g;
    const struct dataset *d;
    const char **axes;
    size_t naxes;
    const char *taken[3];
    int ntaken;
};

static bool is_taken(const struct choosing *c, const char *path)
{
    for (int i = 0; i < c->ntaken; i++)
        if (strcmp(c->taken[i], path) == 0)
            return true;
    return false;
}

static bool same_in(const struct choosing *c, size_t i, size_t k)
{
    const struct plot_axis *list[] = {&c->g->x, &c->g->series, &c->g->facet};

    for (size_t a = 0; a < 3; a++)
        if (list[a]->at && list[a]->path && list[a]->at[i] != list[a]->at[k])
            return false;
    return true;
}

/* Tells two points apart that the axes chosen so far do not; paired axes add nothing. */
static bool adds(const struct choosing *c, const char *path)
{
    struct plot_axis a;
    struct store_error ignored;
    bool found = false;

    if (axis_make(&a, path, c->d, c->g->used, &ignored) == 0 && a.n > 1)
        for (size_t i = 0; i < c->d->n && !found; i++)
            for (size_t k = i + 1; k < c->d->n && !found; k++)
                found = c->g->used[i] && c->g->used[k] && a.at[i] != a.at[k] && same_in(c, i, k);
    axis_free(&a);
    return found;
}

/* What the user names, else what the figure would like, else the next axis that adds something. */
static const char *pick(const struct choosing *c, const char *given, const char *wanted)
{
    if (given)
        return axis_resolve(c->axes, c->naxes, given);
    for (size_t i = 0; wanted && i < c->naxes; i++)
        if (!is_taken(c, c->axes[i]) && like(c->axes[i], wanted) && adds(c, c->axes[i]))
            return c->axes[i];
    for (size_t i = 0; i < c->naxes; i++)
        if (!is_taken(c, c->axes[i]) && adds(c, c->axes[i]))
            return c->axes[i];
    return NULL;
}

static int take(struct choosing *c, struct plot_axis *a, const char *path, struct store_error *err)
{
    if (path)
        c->taken[c->ntaken++] = path;
    return axis_make(a, path, c->d, c->g->used, err);
}

/* Axes named for a later place are not given away to an earlier one. */
static void reserve(struct choosing *c, const char *given, const char *wanted)
{
    if (given)
        c->taken[c->ntaken++] = axis_resolve(c->axes, c->naxes, given);
    else if (wanted)
        for (size_t i = 0; i < c->naxes; i++)
            if (like(c->axes[i], wanted)) {
                c->taken[c->ntaken++] = c->axes[i];
                return;
            }
}

static const char *pick_x(struct choosing *c, const struct plot_request *r)
{
    const struct figure *f = r->figure;
    const char *x = NULL;

    for (size_t i = 0; !r->x && f->x && i < c->naxes; i++)
        if (like(c->axes[i], f->x))
            return c->axes[i];
    if (!r->x && f->needs_x)
        return NULL;
    reserve(c, r->series, f->series);
    reserve(c, r->facet, f->facet);
    x = pick(c, r->x, f->x);
    c->ntaken = 0;
    /* A single point still makes a figure. */
    if (!x && c->naxes > 0)
        x = c->axes[0];
    return x ? x : "file";
}

static int choose(struct choosing *c, const struct plot_request *r, struct store_error *err)
{
    const struct figure *f = r->figure;
    const char *x = pick_x(c, r);
    const char *path;
    char axes[300];

    if (!x) {
        axes_describe(c->d, axes, sizeof(axes));
        return plot_fail(err, 2, "the figure %s needs an axis '%s' (or --x PATH); %s", f->name,
                         f->x, axes);
    }
    if (take(c, &c->g->x, x, err) != 0)
        return -1;
    reserve(c, r->facet, f->facet);
    path = pick(c, r->series, f->series);
    c->ntaken = 1;
    if (take(c, &c->g->series, path, err) != 0)
        return -1;
    return take(c, &c->g->facet, pick(c, r->facet, f->facet), err);
}

int axes_choose(struct plot_grid *g, const struct plot_request *r, const struct dataset *d,
                struct store_error *err)
{
    struct choosing c = {.g = g, .d = d};
    int failed;

    c.axes = dataset_axes(d, &c.naxes);
    if (!c.axes)
        return plot_fail(err, 3, "out of memory");
    failed = choose(&c, r, err);
    free(c.axes);
    return failed;
}
