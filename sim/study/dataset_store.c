/* SPDX-License-Identifier: MIT */
/* Which points of a store a dataset takes: of one sweep, of all, and what failed there. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "study/dataset_internal.h"

static int out_of_memory(struct store_error *err)
{
    *err = (struct store_error){.status = 3, .text = "out of memory"};
    return -1;
}

struct rows {
    struct store_point *list;
    size_t n;
    struct dataset *d;
    struct store *s;
    const char *sweep; /* NULL: all */
    struct store_error *err;
    int failed;
};

static bool is_wanted(const struct rows *r, size_t i)
{
    return !r->sweep || strcmp(r->list[i].sweep, r->sweep) == 0;
}

static bool add_failure(struct rows *r, const struct store_point *row, const struct store_run *run,
                        int status, const char *report)
{
    struct dataset *d = r->d;
    struct data_failure *more, *f;

    more = realloc(d->failure, (d->nfailures + 1) * sizeof(*more));
    if (!more)
        return false;
    d->failure = more;
    f = &more[d->nfailures++];
    *f = (struct data_failure){.sweep = strdup(row->sweep),
                               .labels = cJSON_Parse(row->labels),
                               .hash = strdup(run->point),
                               .version = strdup(run->version),
                               .policy = strdup(run->policy),
                               .report = strdup(report),
                               .seed = run->seed,
                               .replication = run->replication,
                               .status = status};
    return f->sweep && f->labels && f->hash && f->version && f->policy && f->report;
}

/* Once for each sweep that has the point. */
static bool take_failure(void *arg, const struct store_run *run, int status, const char *report)
{
    struct rows *r = arg;

    for (size_t i = 0; i < r->n; i++)
        if (is_wanted(r, i) && strcmp(r->list[i].hash, run->point) == 0 &&
            !add_failure(r, &r->list[i], run, status, report)) {
            r->failed = out_of_memory(r->err);
            return false;
        }
    return true;
}

int dataset_add_sweep(struct dataset *d, struct store *s, const char *sweep,
                      struct store_error *err)
{
    struct rows r = {.d = d, .s = s, .sweep = sweep, .err = err};
    int failed = 0;

    if (store_points(s, &r.list, &r.n, err) != 0)
        return -1;
    for (size_t i = 0; !failed && i < r.n; i++)
        if (is_wanted(&r, i))
            failed = dataset_add_point(d, s, &r.list[i], err);
    if (!failed)
        failed = store_failures(s, take_failure, &r, err);
    store_points_free(r.list, r.n);
    return failed;
}

int dataset_add_store(struct dataset *d, struct store *s, struct store_error *err)
{
    return dataset_add_sweep(d, s, NULL, err);
}

static bool name_once(const char ***names, size_t *n, const char *name)
{
    const char **more;

    for (size_t i = 0; i < *n; i++)
        if (strcmp((*names)[i], name) == 0)
            return true;
    more = realloc(*names, (*n + 1) * sizeof(*more));
    if (!more)
        return false;
    *names = more;
    more[(*n)++] = name;
    return true;
}

const char **dataset_sweeps(const struct dataset *d, size_t *n)
{
    const char **names = calloc(1, sizeof(*names));
    bool ok = names != NULL;

    *n = 0;
    for (size_t i = 0; ok && i < d->n; i++)
        ok = name_once(&names, n, d->point[i].sweep);
    for (size_t i = 0; ok && i < d->nfailures; i++)
        ok = name_once(&names, n, d->failure[i].sweep);
    if (ok)
        return names;
    free(names);
    return NULL;
}

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

/* Splits STORE:SWEEP when there is no file of the whole name, but one of the first part. */
static bool split_name(const char *path, char **file, char **sweep)
{
    const char *colon = strrchr(path, ':');

    *sweep = NULL;
    *file = strdup(path);
    if (!*file)
        return false;
    if (!colon || colon == path || is_file(path))
        return true;
    (*file)[colon - path] = '\0';
    if (!is_file(*file)) {
        (*file)[colon - path] = ':';
        return true;
    }
    *sweep = strdup(colon + 1);
    return *sweep;
}

static void list_sweeps(const struct store_point *list, size_t n, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < n && used < size; i++)
        if (i == 0 || strcmp(list[i].sweep, list[i - 1].sweep) != 0)
            used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "",
                                     *list[i].sweep ? list[i].sweep : "(one without a name)");
}

static bool has_sweep(struct store *s, const char *sweep, struct store_error *err)
{
    struct store_point *list;
    bool found = false;
    char names[300];
    size_t n;

    if (store_points(s, &list, &n, err) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        found = found || strcmp(list[i].sweep, sweep) == 0;
    list_sweeps(list, n, names, sizeof(names));
    if (!found) {
        err->status = 2;
        snprintf(err->text, sizeof(err->text), "%s has no sweep '%.60s'; it has: %s", store_path(s),
                 sweep, names);
    }
    store_points_free(list, n);
    return found;
}

struct store *dataset_open_store(const char *path, char **sweep, struct store_error *err)
{
    struct store *s = NULL;
    char *file;

    if (!split_name(path, &file, sweep)) {
        out_of_memory(err);
    } else {
        s = store_open(file, STORE_READ, err);
        if (s && *sweep && !has_sweep(s, *sweep, err)) {
            store_close(s);
            s = NULL;
        }
    }
    free(file);
    if (!s) {
        free(*sweep);
        *sweep = NULL;
    }
    return s;
}

static bool same_axes(const cJSON *a, const cJSON *b)
{
    const cJSON *x = a->child, *y = b->child;

    while (x && y && strcmp(x->string, y->string) == 0) {
        x = x->next;
        y = y->next;
    }
    return !x && !y;
}

/* Several sweeps with different axes: which one is meant must be said. */
static int check_axes(const struct dataset *d, size_t first, const char *path,
                      struct store_error *err)
{
    for (size_t i = first + 1; i < d->n; i++) {
        const struct data_point *a = &d->point[i - 1], *b = &d->point[i];

        if (strcmp(a->sweep, b->sweep) == 0 || same_axes(a->labels, b->labels))
            continue;
        err->status = 2;
        snprintf(err->text, sizeof(err->text),
                 "%s holds several sweeps with different axes; say which: %s:%s, %s:%s", path, path,
                 a->sweep, path, b->sweep);
        return -1;
    }
    return 0;
}

/* Takes out what stands twice: the same runs with the same labels, by two sweeps. */
static void drop_repeated(struct dataset *d, size_t first)
{
    size_t n = first;

    /* Points come sweep by sweep. */
    if (d->n == first || strcmp(d->point[first].sweep, d->point[d->n - 1].sweep) == 0)
        return;
    for (size_t i = first; i < d->n; i++) {
        bool again = false;

        for (size_t k = first; k < n && !again; k++)
            again = strcmp(d->point[k].sweep, d->point[i].sweep) != 0 &&
                    strcmp(d->point[k].hash, d->point[i].hash) == 0 &&
                    strcmp(d->point[k].version, d->point[i].version) == 0 &&
                    strcmp(d->point[k].policy, d->point[i].policy) == 0 &&
                    cJSON_Compare(d->point[k].labels, d->point[i].labels, true);
        if (again)
            dataset_free_point(&d->point[i]);
        else
            d->point[n++] = d->point[i];
    }
    d->n = n;
}

static int add_database(struct dataset *d, const char *path, struct store_error *err)
{
    const size_t first = d->n;
    char *sweep;
    struct store *s = dataset_open_store(path, &sweep, err);
    int failed = s ? dataset_add_sweep(d, s, sweep, err) : -1;

    if (!failed && !sweep)
        failed = check_axes(d, first, path, err);
    if (!failed && !sweep)
        drop_repeated(d, first);
    store_close(s);
    free(sweep);
    return failed;
}

static bool looks_like_database(const char *path)
{
    FILE *in = fopen(path, "rb");
    char head[16] = "";
    const size_t n = in ? fread(head, 1, sizeof(head), in) : 0;

    if (in)
        fclose(in);
    return n == sizeof(head) && memcmp(head, "SQLite format 3", 16) == 0;
}

int dataset_add(struct dataset *d, const char *path, struct store_error *err)
{
    char *file, *sweep;
    bool database;

    if (!split_name(path, &file, &sweep)) {
        free(file);
        return out_of_memory(err);
    }
    database = looks_like_database(file);
    free(file);
    free(sweep);
    return database ? add_database(d, path, err) : dataset_add_result(d, path, err);
}
