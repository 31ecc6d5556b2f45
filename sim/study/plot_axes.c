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

int plot_no_vm(struct store_error *err, const char *file, const char *vm, const char *const *names,
               size_t n)
{
    const char *near = conf_nearest(vm, names, n);
    char list[200] = "";
    size_t used = 0, i;

    for (i = 0; i < n && used + strlen(names[i]) + 8 < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", names[i]);
    return plot_fail(err, 2, "%s%sno VM '%s' in it%s%s%s; there are: %s%s", file ? file : "",
                     file ? ": " : "", vm, near ? "; did you mean '" : "", near ? near : "",
                     near ? "'?" : "", list, i < n ? ", ..." : "");
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

static bool is_bare_zero(struct quantity q)
{
    return q.kind == QUANTITY_PLAIN && q.value >= 0 && q.value <= 0;
}

/* A numeric axis needs numbers of one kind; a 0 is of any. Times get the unit of the largest one. */
static bool find_numbers(struct plot_axis *a)
{
    struct quantity first = quantity_parse(a->text[0]), largest;

    for (size_t i = 1; i < a->n && is_bare_zero(first); i++)
        first = quantity_parse(a->text[i]);
    largest = first;
    a->unit = "";
    a->number = calloc(a->n, sizeof(*a->number));
    if (!a->number)
        return false;
    a->numeric = first.kind != QUANTITY_NONE;
    for (size_t i = 0; i < a->n && a->numeric; i++) {
        const struct quantity q = quantity_parse(a->text[i]);

        a->numeric = q.kind == first.kind || is_bare_zero(q);
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

/* Value of a path at a point; the values of several paths split by ',' together. NULL without
 * memory, or with the part that is missing in `lacks`. */
static char *point_text(const struct data_point *p, const char *path, char *lacks, size_t size)
{
    char *all = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&all, &n);
    bool ok = out != NULL;

    lacks[0] = '\0';
    for (const char *part = path; ok && part; part = strchr(part, ',')) {
        part += *part == ',';
        snprintf(lacks, size, "%.*s", (int)strcspn(part, ","), part);
        char *value = data_value(p, lacks);

        ok = value != NULL;
        if (ok)
            fprintf(out, "%s%s", part == path ? "" : ", ", value);
        free(value);
    }
    if (out && fclose(out) == 0 && ok)
        return all;
    free(all);
    return NULL;
}

int axis_make(struct plot_axis *a, const char *path, const struct dataset *d, const bool *used,
              struct store_error *err)
{
    char axes[300], lacks[200];
    bool ok = true;

    *a = (struct plot_axis){.unit = ""};
    a->path = path ? strdup(path) : NULL;
    a->at = calloc(d->n + 1, sizeof(*a->at));
    ok = a->at && (!path || a->path);
    for (size_t i = 0; ok && i < d->n; i++) {
        char *text;

        if (!used[i])
            continue;
        text = path ? point_text(&d->point[i], path, lacks, sizeof(lacks)) : strdup("");
        if (!text && path) {
            axes_describe(d, axes, sizeof(axes));
            return plot_fail(err, 2, "no '%s' in %s; %s", lacks, d->point[i].source, axes);
        }
        if (!text)
            break;
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

bool axis_like(const char *path, const char *alternatives)
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
    char *joint[8]; /* paths of several axes, for as long as axes are chosen */
    int njoint;
};

static bool is_taken(const struct choosing *c, const char *path)
{
    const size_t n = strlen(path);

    for (int i = 0; i < c->ntaken; i++)
        for (const char *p = c->taken[i]; p; p = strchr(p, ',')) {
            p += *p == ',';
            if (strncmp(p, path, n) == 0 && (p[n] == '\0' || p[n] == ','))
                return true;
        }
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

static bool any_axis(const struct choosing *c, const char *path)
{
    (void)c;
    (void)path;
    return true;
}

static bool free_axis(const struct choosing *c, const char *path)
{
    return !is_taken(c, path) && adds(c, path);
}

/* The first alternative that an axis ends in, else the first axis that has one in its path. */
static const char *liked(const struct choosing *c, const char *alternatives,
                         bool (*allowed)(const struct choosing *c, const char *path))
{
    const char *part;
    size_t n;

    for (size_t k = 0; (part = plot_part(alternatives, k, &n)) != NULL; k++)
        for (size_t i = 0; i < c->naxes; i++) {
            const size_t all = strlen(c->axes[i]);

            if (all >= n && strncmp(c->axes[i] + all - n, part, n) == 0 &&
                (all == n || c->axes[i][all - n - 1] == '.') && allowed(c, c->axes[i]))
                return c->axes[i];
        }
    for (size_t i = 0; i < c->naxes; i++)
        if (axis_like(c->axes[i], alternatives) && allowed(c, c->axes[i]))
            return c->axes[i];
    return NULL;
}

/* Several axes split by ',': each as the data knows it. */
static const char *resolve(struct choosing *c, const char *given)
{
    char *all = NULL;
    size_t n = 0;
    FILE *out = strchr(given, ',') && c->njoint < 8 ? open_memstream(&all, &n) : NULL;

    if (!out)
        return axis_resolve(c->axes, c->naxes, given);
    for (const char *p = given; p; p = strchr(p, ',')) {
        p += *p == ',';
        char *part = strndup(p, strcspn(p, ","));

        fprintf(out, "%s%s", p == given ? "" : ",",
                part ? axis_resolve(c->axes, c->naxes, part) : "");
        free(part);
    }
    if (fclose(out) != 0)
        return given;
    c->joint[c->njoint++] = all;
    return all;
}

/* What the user names, else what the figure would like, else the next axis that adds something. */
static const char *pick(struct choosing *c, const char *given, const char *wanted)
{
    const char *axis;

    if (given)
        return resolve(c, given);
    if (wanted && (axis = liked(c, wanted, free_axis)) != NULL)
        return axis;
    for (size_t i = 0; i < c->naxes; i++)
        if (free_axis(c, c->axes[i]))
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
    const char *axis;

    if (given)
        c->taken[c->ntaken++] = resolve(c, given);
    else if (wanted && (axis = liked(c, wanted, any_axis)) != NULL)
        c->taken[c->ntaken++] = axis;
}

static const char *pick_x(struct choosing *c, const struct plot_request *r)
{
    const struct figure *f = r->figure;
    const char *x = NULL;

    if (!r->x && f->x && (x = liked(c, f->x, any_axis)) != NULL)
        return x;
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

/* A panel, or a part of the stack, for each metric: every point is in all of them. */
static int take_metrics(struct choosing *c, struct plot_axis *a, struct store_error *err)
{
    *a = (struct plot_axis){.unit = "", .path = strdup("metric")};
    a->at = calloc(c->d->n + 1, sizeof(*a->at));
    a->text = calloc(c->g->nmetrics, sizeof(*a->text));
    if (!a->path || !a->at || !a->text)
        return plot_fail(err, 3, "out of memory");
    for (size_t i = 0; i < c->g->nmetrics; i++) {
        a->text[a->n++] = strdup(c->g->metric[i]->key);
        if (!a->text[i])
            return plot_fail(err, 3, "out of memory");
    }
    return 0;
}

/* Axes that still tell points of one place apart become part of the facet. */
static int join_rest(struct choosing *c, struct store_error *err)
{
    struct plot_axis *a = &c->g->facet;
    int failed = 0;

    for (size_t i = 0; !failed && a->path && i < c->naxes; i++) {
        const size_t n = strlen(a->path) + strlen(c->axes[i]) + 2;
        char *path;

        if (!adds(c, c->axes[i]))
            continue;
        path = malloc(n);
        if (!path)
            return plot_fail(err, 3, "out of memory");
        snprintf(path, n, "%s,%s", a->path, c->axes[i]);
        axis_free(a);
        failed = axis_make(a, path, c->d, c->g->used, err);
        free(path);
    }
    return failed;
}

static int take_facet(struct choosing *c, const struct plot_request *r, struct store_error *err)
{
    if (plot_by_metric(c->g))
        return take_metrics(c, &c->g->facet, err);
    if (take(c, &c->g->facet, pick(c, r->facet, r->figure->facet), err) != 0)
        return -1;
    return r->figure->joins_facet && !r->facet ? join_rest(c, err) : 0;
}

static int choose(struct choosing *c, const struct plot_request *r, struct store_error *err)
{
    const struct figure *f = r->figure;
    const bool has_x = f->kind != FIGURE_CDF;
    const char *x = has_x ? pick_x(c, r) : NULL;
    const int after_x = has_x;
    const char *path;
    char axes[300];

    if (has_x && !x) {
        axes_describe(c->d, axes, sizeof(axes));
        return plot_fail(err, 2, "the figure %s needs an axis '%s' (or --x PATH); %s", f->name,
                         f->x, axes);
    }
    if (take(c, &c->g->x, x, err) != 0)
        return -1;
    if (c->g->stacked) {
        if (take_metrics(c, &c->g->series, err) != 0)
            return -1;
        return take_facet(c, r, err);
    }
    if (c->g->nmetrics == 1)
        reserve(c, r->facet, f->facet);
    path = f->needs_series && !r->series ? liked(c, f->series, any_axis) : NULL;
    if (!path)
        path = pick(c, r->series, f->series);
    c->ntaken = after_x;
    if (take(c, &c->g->series, path, err) != 0)
        return -1;
    return take_facet(c, r, err);
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
    for (int i = 0; i < c.njoint; i++)
        free(c.joint[i]);
    free(c.axes);
    return failed;
}
