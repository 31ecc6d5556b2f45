/* SPDX-License-Identifier: MIT */
/* See baseline.h. */
#include "study/baseline.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "obs/json.h"
#include "study/compare.h"
#include "study/dataset_internal.h"

static void put_json(struct json *j, const char *key, const cJSON *value)
{
    char *text = cJSON_PrintUnformatted(value);

    json_raw(j, key, text);
    cJSON_free(text);
}

static void put_run(struct json *j, const struct data_run *r, const struct metric *const *chosen,
                    size_t n)
{
    json_object(j, NULL, true);
    json_u64(j, "seed", r->seed);
    json_count(j, "replication", (uint64_t)r->replication);
    json_string(j, "fingerprint", r->fingerprint);
    json_object(j, "metrics", true);
    for (size_t i = 0; i < n; i++) {
        const double v = r->value[chosen[i] - metrics];

        if (!isnan(v))
            json_number(j, chosen[i]->key, v);
    }
    json_close(j);
    json_close(j);
}

static void put_point(struct json *j, const struct data_point *p,
                      const struct metric *const *chosen, size_t n)
{
    json_object(j, NULL, false);
    put_json(j, "labels", p->labels);
    json_object(j, "manifest", false);
    json_string(j, "version", p->version);
    json_string(j, "machine", p->machine);
    json_string(j, "hash", p->hash);
    if (*p->policy)
        json_string(j, "policy", p->policy);
    put_json(j, "scenario", p->echo);
    json_close(j);
    json_array(j, "replications", false);
    for (size_t i = 0; i < p->nruns; i++)
        put_run(j, &p->run[i], chosen, n);
    json_close(j);
    json_close(j);
}

int baseline_write(FILE *out, const struct dataset *d, const struct metric *const *chosen,
                   size_t nchosen)
{
    struct c_numbers numbers;
    struct json j;

    if (c_numbers_begin(&numbers) != 0)
        return -1;
    json_init(&j, out, false);
    json_object(&j, NULL, false);
    json_string(&j, "schema", BASELINE_SCHEMA);
    json_array(&j, "points", false);
    for (size_t i = 0; i < d->n; i++)
        put_point(&j, &d->point[i], chosen, nchosen);
    json_close(&j);
    json_close(&j);
    fputc('\n', out);
    c_numbers_end(&numbers);
    return ferror(out) ? -1 : 0;
}

/* The whole file as a tree when it is a baseline; *is tells whether it is one. */
static cJSON *read_tree(const char *path, bool *is, struct store_error *err)
{
    size_t n;
    char *text = dataset_read_file(path, &n, err);
    cJSON *root = text ? cJSON_ParseWithOpts(text, NULL, true) : NULL;
    const char *schema = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "schema"));

    *is = schema && strcmp(schema, BASELINE_SCHEMA) == 0;
    if (text)
        err->status = 0;
    free(text);
    return root;
}

int baseline_is(const char *path, struct store_error *err)
{
    FILE *in = fopen(path, "rb");
    char head[16] = "";
    size_t n = in ? fread(head, 1, sizeof(head) - 1, in) : 0;
    bool is = false;

    if (in)
        fclose(in);
    if (in && n > 0 && memcmp(head, "SQLite", n < 6 ? n : 6) == 0)
        return 0;
    cJSON_Delete(read_tree(path, &is, err));
    return err->status ? -1 : is;
}

static bool is_digits(const char *text)
{
    return text && *text && text[strspn(text, "0123456789")] == '\0';
}

/* Why a run is none: what would be left out silently otherwise, and pass for ever. */
static const char *fault_of_run(const cJSON *run)
{
    const cJSON *value;

    if (!is_digits(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(run, "seed"))))
        return "no seed";
    if (!cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(run, "replication")))
        return "no replication";
    if (!cJSON_IsString(cJSON_GetObjectItemCaseSensitive(run, "fingerprint")))
        return "no fingerprint";
    cJSON_ArrayForEach(value, cJSON_GetObjectItemCaseSensitive(run, "metrics"))
    {
        if (!cJSON_IsNumber(value))
            return "a metric that is no number";
    }
    return NULL;
}

static bool is_twice(const struct data_point *p, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (p->run[i].seed == p->run[at].seed && p->run[i].replication == p->run[at].replication)
            return true;
    return false;
}

/* A fault of the runs of a point, *at being which. */
static const char *fault_of_runs(const struct data_point *p, const cJSON *runs, size_t *at)
{
    const cJSON *run;

    *at = 0;
    cJSON_ArrayForEach(run, runs)
    {
        const char *why =
            is_twice(p, *at) ? "the seed and replication of another" : fault_of_run(run);

        if (why)
            return why;
        ++*at;
    }
    return NULL;
}

static int damaged(struct store_error *err, const char *path, size_t point, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static int damaged(struct store_error *err, const char *path, size_t point, const char *fmt, ...)
{
    char what[120];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    err->status = 2;
    snprintf(err->text, sizeof(err->text), "%s: damaged: point %zu %s", path, point, what);
    return -1;
}

static int add_points(struct dataset *d, const char *path, const cJSON *list,
                      struct store_error *err)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        const cJSON *labels = cJSON_GetObjectItemCaseSensitive(item, "labels");
        struct data_point *p = dataset_new_point(d);
        const char *why;
        size_t at;

        if (!p || !dataset_fill_result(p, item, path)) {
            *err = (struct store_error){.status = 3, .text = "out of memory"};
            return -1;
        }
        if (cJSON_IsObject(labels)) {
            cJSON_Delete(p->labels);
            p->labels = cJSON_Duplicate(labels, true);
        }
        p->position = (int64_t)d->n;
        p->partial = true;
        if (p->nruns == 0 || !*p->hash || !p->labels)
            return damaged(err, path, d->n - 1, "has no runs or no hash");
        why = fault_of_runs(p, cJSON_GetObjectItemCaseSensitive(item, "replications"), &at);
        if (why)
            return damaged(err, path, d->n - 1, "has in run %zu %s", at, why);
    }
    return 0;
}

int baseline_read(struct dataset *d, const char *path, struct store_error *err)
{
    bool is;
    cJSON *root = read_tree(path, &is, err);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "points");
    int failed = err->status ? -1 : 0;

    if (!failed && (!is || cJSON_GetArraySize(list) == 0)) {
        err->status = 2;
        snprintf(err->text, sizeof(err->text), "%s: %s", path,
                 is ? "damaged: a baseline without points" : "not a baseline of Tandem");
        failed = -1;
    }
    if (!failed)
        failed = add_points(d, path, list, err);
    cJSON_Delete(root);
    return failed;
}

struct changes {
    char text[300];
    size_t n;
};

static void note_change(void *arg, const char *path, const char *base, const char *new)
{
    struct changes *c = arg;
    const size_t used = strlen(c->text);

    if (strcmp(path, "seed") == 0 || strcmp(path, "replications") == 0)
        return;
    if (++c->n <= 2)
        snprintf(c->text + used, sizeof(c->text) - used, "%s%.60s was %.30s, is %.30s",
                 c->n > 1 ? "; " : "", path, *base ? base : "nothing", *new ? new : "nothing");
}

static int refuse(const struct data_point *base, const struct data_point *new, const char *name,
                  const char *how, struct store_error *err)
{
    struct changes c = {.text = ""};

    compare_params(base->echo, new->echo, note_change, &c);
    err->status = 2;
    snprintf(err->text, sizeof(err->text),
             "%s was made of another scenario: %s%s. If the change is wanted, make a new one: %s",
             name, c.n ? c.text : "a file that it names has changed", c.n > 2 ? "; and more" : "",
             how);
    return -1;
}

static const struct data_point *same_labels(const struct dataset *d, const struct data_point *p)
{
    for (size_t i = 0; i < d->n; i++)
        if (cJSON_Compare(d->point[i].labels, p->labels, true))
            return &d->point[i];
    return NULL;
}

int baseline_fits(const struct dataset *base, const struct dataset *new, const char *name,
                  const char *how, struct store_error *err)
{
    for (size_t i = 0; i < base->n; i++) {
        const struct data_point *b = &base->point[i];
        const struct data_point *w =
            base->n == 1 && new->n == 1 ? &new->point[0] : same_labels(new, b);

        if (w && strcmp(b->hash, w->hash) != 0)
            return refuse(b, w, name, how, err);
    }
    return 0;
}
