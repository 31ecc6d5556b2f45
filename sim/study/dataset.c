/* SPDX-License-Identifier: MIT */
/* Reading stores and result files into points. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/dataset_internal.h"
#include "study/quantity.h"

#define MAX_RESULT ((size_t)1 << 30)

static int out_of_memory(struct store_error *err)
{
    *err = (struct store_error){.status = 3, .text = "out of memory"};
    return -1;
}

static char *bare_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash ? slash + 1 : path);
    char *dot = name ? strrchr(name, '.') : NULL;

    if (dot && dot != name)
        *dot = '\0';
    return name;
}

struct data_point *dataset_new_point(struct dataset *d)
{
    struct data_point *more;

    /* Room doubles whenever n is a power of two. */
    if ((d->n & (d->n - 1)) == 0) {
        more = realloc(d->point, (d->n ? 2 * d->n : 1) * sizeof(*more));
        if (!more)
            return NULL;
        d->point = more;
    }
    d->point[d->n] = (struct data_point){0};
    return &d->point[d->n++];
}

static void failure_free(struct data_failure *f)
{
    free(f->sweep);
    cJSON_Delete(f->labels);
    free(f->hash);
    free(f->version);
    free(f->policy);
    free(f->report);
}

void dataset_free_point(struct data_point *p)
{
    for (size_t k = 0; k < p->nruns; k++)
        free(p->run[k].fingerprint);
    free(p->run);
    cJSON_Delete(p->labels);
    cJSON_Delete(p->echo);
    free(p->source);
    free(p->sweep);
    free(p->hash);
    free(p->version);
    free(p->policy);
    free(p->machine);
    if (p->hist)
        hist_free(p->hist);
    free(p->hist);
}

void dataset_free(struct dataset *d)
{
    for (size_t i = 0; i < d->n; i++)
        dataset_free_point(&d->point[i]);
    for (size_t i = 0; i < d->nfailures; i++)
        failure_free(&d->failure[i]);
    free(d->failure);
    free(d->point);
    *d = (struct dataset){0};
}

/* Runs of one point as they come out of the store, before they are grouped by version. */
struct loaded {
    size_t n;
    struct loaded_run {
        char *version, *policy, *fingerprint, *key;
        struct run_values *v;
        int64_t replication;
        bool taken;
    } * run;
    bool damaged;
    char key[64];
};

static bool load_run(void *arg, const struct store_run *r)
{
    struct loaded *l = arg;
    struct loaded_run *more = realloc(l->run, (l->n + 1) * sizeof(*more));
    struct loaded_run *x;

    if (!more)
        return false;
    l->run = more;
    x = &more[l->n++];
    *x = (struct loaded_run){.version = strdup(r->version),
                             .policy = strdup(r->policy),
                             .fingerprint = strdup(r->fingerprint),
                             .v = run_values_parse(r->values),
                             .replication = r->replication};
    if (!x->v) {
        l->damaged = true;
        snprintf(l->key, sizeof(l->key), "%s", r->key);
    }
    return x->v && x->version && x->policy && x->fingerprint;
}

static void loaded_free(struct loaded *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->run[i].version);
        free(l->run[i].policy);
        free(l->run[i].fingerprint);
        if (l->run[i].v)
            run_values_free(l->run[i].v);
    }
    free(l->run);
}

/* Histograms are large: a point keeps one of them at most. */
static bool keep_hist(struct data_point *p, struct run_values *const *group, int n,
                      enum run_hist kept)
{
    p->hist = calloc(1, sizeof(*p->hist));
    if (!p->hist || hist_init(p->hist) != 0)
        return false;
    for (int i = 0; i < n; i++)
        hist_merge(p->hist, &group[i]->hist[kept]);
    return true;
}

static bool fill_runs(struct data_point *p, struct loaded *l, size_t first, const struct dataset *d)
{
    bool ok = true;
    struct run_values **group = calloc(l->n, sizeof(*group));
    int n = 0;

    p->run = calloc(l->n, sizeof(*p->run));
    if (!group || !p->run) {
        free(group);
        return false;
    }
    for (size_t i = first; i < l->n; i++) {
        struct loaded_run *x = &l->run[i];
        struct data_run *r = &p->run[p->nruns];

        if (x->taken || strcmp(x->version, l->run[first].version) != 0 ||
            strcmp(x->policy, l->run[first].policy) != 0)
            continue;
        x->taken = true;
        group[n++] = x->v;
        r->seed = x->v->seed;
        r->replication = x->replication;
        r->fingerprint = x->fingerprint;
        x->fingerprint = NULL;
        p->nruns++;
        for (int m = 0; m < METRIC_COUNT; m++)
            r->value[m] = run_metric(x->v, 0, (enum metric_id)m);
    }
    for (int m = 0; m < METRIC_COUNT; m++)
        p->sum[m] = run_summary(group, n, 0, (enum metric_id)m);
    if (d->keeps)
        ok = keep_hist(p, group, n, d->kept);
    free(group);
    return ok;
}

static bool fill_point(struct data_point *p, const struct store_point *row, const char *path,
                       const char *version, const char *policy)
{
    p->source = bare_name(path);
    p->sweep = strdup(row->sweep ? row->sweep : "");
    p->labels = cJSON_Parse(row->labels);
    p->echo = cJSON_Parse(row->echo);
    p->hash = strdup(row->hash);
    p->machine = strdup(row->machine);
    p->version = strdup(version);
    p->policy = strdup(policy);
    p->position = row->position;
    return p->source && p->sweep && p->labels && p->hash && p->machine && p->version && p->policy;
}

int dataset_add_point(struct dataset *d, struct store *s, const struct store_point *row,
                      struct store_error *err)
{
    struct loaded l = {0};
    int failed = 0;

    err->text[0] = '\0';
    if (store_runs(s, row->hash, load_run, &l, err) != 0) {
        failed = -1;
        if (l.damaged) {
            err->status = 3;
            snprintf(err->text, sizeof(err->text), "%s: damaged: run %s cannot be read",
                     store_path(s), l.key);
        } else if (!err->text[0]) {
            out_of_memory(err);
        }
    }
    for (size_t i = 0; !failed && i < l.n; i++) {
        struct data_point *p;

        if (l.run[i].taken)
            continue;
        p = dataset_new_point(d);
        if (!p || !fill_point(p, row, store_path(s), l.run[i].version, l.run[i].policy) ||
            !fill_runs(p, &l, i, d))
            failed = out_of_memory(err);
    }
    loaded_free(&l);
    return failed;
}

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

    return text ? text : "";
}

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsNumber(n) ? n->valuedouble : NAN;
}

static bool result_runs(struct data_point *p, const cJSON *list)
{
    const cJSON *item;

    p->run = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*p->run));
    if (!p->run)
        return false;
    cJSON_ArrayForEach(item, list)
    {
        struct data_run *r = &p->run[p->nruns++];
        const cJSON *values = cJSON_GetObjectItemCaseSensitive(item, "metrics");
        const double number = number_of(item, "replication");

        r->seed = strtoull(text_of(item, "seed"), NULL, 10);
        r->replication = number >= 0 && number < 1e15 ? (int64_t)number : 0;
        r->fingerprint = strdup(text_of(item, "fingerprint"));
        if (!r->fingerprint)
            return false;
        for (int m = 0; m < METRIC_COUNT; m++)
            r->value[m] = number_of(values, metrics[m].key);
    }
    return true;
}

bool dataset_fill_result(struct data_point *p, const cJSON *root, const char *path)
{
    const cJSON *manifest = cJSON_GetObjectItemCaseSensitive(root, "manifest");
    const cJSON *echo = cJSON_GetObjectItemCaseSensitive(manifest, "scenario");
    const cJSON *sums = cJSON_GetObjectItemCaseSensitive(root, "metrics");

    for (int m = 0; m < METRIC_COUNT; m++) {
        const cJSON *sum = cJSON_GetObjectItemCaseSensitive(sums, metrics[m].key);
        const double n = number_of(sum, "n");

        p->sum[m] = (struct summary){.mean = number_of(sum, "mean"),
                                     .ci95 = number_of(sum, "ci95"),
                                     .n = n >= 0 && n < 1e9 ? (int)n : 0};
    }
    p->source = bare_name(path);
    p->sweep = strdup("");
    p->labels = cJSON_CreateObject();
    p->echo = cJSON_Duplicate(echo, true);
    p->hash = strdup(text_of(manifest, "hash"));
    p->machine = strdup(text_of(manifest, "machine"));
    p->version = strdup(text_of(manifest, "version"));
    p->policy = strdup(text_of(manifest, "policy"));
    return p->source && p->sweep && p->labels && p->hash && p->machine && p->version && p->policy &&
           result_runs(p, cJSON_GetObjectItemCaseSensitive(root, "replications"));
}

char *dataset_read_file(const char *path, size_t *n, struct store_error *err)
{
    FILE *in = fopen(path, "rb");
    char *text = NULL;
    size_t room = 0;

    *n = 0;
    err->status = 3;
    errno = in ? 0 : errno;
    while (in && !feof(in) && !ferror(in) && room < MAX_RESULT) {
        char *more = realloc(text, (room = room ? 2 * room : 65536) + 1);

        if (!more)
            break;
        text = more;
        *n += fread(text + *n, 1, room - *n, in);
    }
    if (!in || ferror(in) || !feof(in)) {
        snprintf(err->text, sizeof(err->text), "%s: %s", path,
                 errno ? strerror(errno) : "too large");
        free(text);
        text = NULL;
    } else {
        text[*n] = '\0';
    }
    if (in)
        fclose(in);
    return text;
}

int dataset_add_text(struct dataset *d, const char *path, const char *text, struct store_error *err)
{
    cJSON *root = cJSON_ParseWithOpts(text, NULL, true);
    const bool good = strcmp(text_of(root, "schema"), "tandem.result/1") == 0;
    struct data_point *p = good ? dataset_new_point(d) : NULL;
    int failed = 0;

    if (!good) {
        err->status = 2;
        snprintf(err->text, sizeof(err->text),
                 "%s: neither a result store nor a result file of Tandem (%s)", path,
                 root ? "no schema tandem.result/1" : "not JSON");
        failed = -1;
    } else if (!p || !dataset_fill_result(p, root, path)) {
        failed = out_of_memory(err);
    } else {
        p->position = (int64_t)d->n; /* files keep the order in which they are named */
    }
    cJSON_Delete(root);
    return failed;
}

int dataset_add_result(struct dataset *d, const char *path, struct store_error *err)
{
    size_t n;
    char *text = dataset_read_file(path, &n, err);
    const int failed = text ? dataset_add_text(d, path, text, err) : -1;

    free(text);
    return failed;
}

/* A policy stands in the scenario as {NAME: {parameters}}: its text is the name. */
static char *json_text(const cJSON *n)
{
    char number[48];

    if (cJSON_IsObject(n) && cJSON_GetArraySize(n) == 1 && cJSON_IsObject(n->child))
        return strdup(n->child->string);
    if (cJSON_IsString(n))
        return strdup(n->valuestring);
    if (cJSON_IsNumber(n)) {
        quantity_exact(n->valuedouble, number);
        return strdup(number);
    }
    return n ? cJSON_PrintUnformatted(n) : NULL;
}

/* One step of a key path: a member, a list element by index or by its name. */
static const cJSON *step(const cJSON *n, const char *part)
{
    const cJSON *item;
    char *end;
    long index;

    if (!cJSON_IsArray(n))
        return cJSON_GetObjectItemCaseSensitive(n, part);
    index = strtol(part, &end, 10);
    if (*part && !*end && index >= 0 && index < cJSON_GetArraySize(n))
        return cJSON_GetArrayItem(n, (int)index);
    cJSON_ArrayForEach(item, n)
    {
        if (strcmp(text_of(item, "name"), part) == 0)
            return item;
    }
    return NULL;
}

static char *echo_value(const cJSON *n, const char *path)
{
    char *copy = strdup(path);
    char *rest = copy;

    while (n && rest) {
        char *dot = strchr(rest, '.');

        if (dot)
            *dot++ = '\0';
        n = step(n, rest);
        rest = dot;
    }
    free(copy);
    return copy ? json_text(n) : NULL;
}

char *data_value(const struct data_point *p, const char *path)
{
    const cJSON *label = cJSON_GetObjectItemCaseSensitive(p->labels, path);

    if (label)
        return json_text(label);
    if (strcmp(path, "version") == 0)
        return strdup(p->version);
    if (strcmp(path, "file") == 0)
        return strdup(p->source);
    if (strcmp(path, "sweep") == 0 && *p->sweep)
        return strdup(p->sweep);
    if (strcmp(path, "machine") == 0 && *p->machine)
        return strdup(p->machine);
    return echo_value(p->echo, path);
}

/* Adds the axes that are not there yet. */
static bool add_axes(const char ***axes, size_t *n, const cJSON *labels)
{
    const cJSON *label;

    cJSON_ArrayForEach(label, labels)
    {
        const char **more;
        size_t k = 0;

        while (k < *n && strcmp((*axes)[k], label->string) != 0)
            k++;
        if (k < *n)
            continue;
        more = realloc(*axes, (*n + 1) * sizeof(*more));
        if (!more)
            return false;
        *axes = more;
        more[(*n)++] = label->string;
    }
    return true;
}

const char **dataset_axes(const struct dataset *d, size_t *n)
{
    const char **axes = calloc(1, sizeof(*axes));
    bool ok = axes != NULL;

    *n = 0;
    for (size_t i = 0; ok && i < d->n; i++)
        ok = add_axes(&axes, n, d->point[i].labels);
    for (size_t i = 0; ok && i < d->nfailures; i++)
        ok = add_axes(&axes, n, d->failure[i].labels);
    if (ok)
        return axes;
    free(axes);
    return NULL;
}

size_t dataset_keep(struct dataset *d, const char *path, const char *value)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++) {
        char *own = data_value(&d->point[i], path);
        const bool keep = own && strcmp(own, value) == 0;

        free(own);
        if (!keep) {
            dataset_free_point(&d->point[i]);
            continue;
        }
        cJSON_DeleteItemFromObjectCaseSensitive(d->point[i].labels, path);
        d->point[n++] = d->point[i];
    }
    d->n = n;
    return n;
}
