/* SPDX-License-Identifier: MIT */
/*
 * Exports: one line or object per run, sorted, with every metric of the register that any run has.
 * Wall times and everything else that differs between equal runs stay out, so two stores hold the
 * same when their exports are the same bytes.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obs/json.h"
#include "obs/text.h"
#include "study/dataset.h"
#include "study/quantity.h"

/* A run that finished or one that failed. */
struct row {
    const struct data_point *point; /* NULL: failed */
    const struct data_run *run;
    const struct data_failure *failure;
    const cJSON *labels;
    const char *sweep, *hash, *version, *policy;
    uint64_t seed;
    int64_t replication;
    const char **axis;
    size_t naxes;
};

struct table {
    struct row *row;
    size_t nrows, naxes;
    const char **axis;
    bool used[METRIC_COUNT];
    bool policy; /* some run had a loaded policy */
    bool sweeps; /* there are several */
    bool failed; /* some run did */
};

static const char *label_of(const struct row *r, const char *axis)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(r->labels, axis));

    return text ? text : "";
}

static int by_number(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int c = strcmp(x->sweep, y->sweep);

    for (size_t i = 0; c == 0 && i < x->naxes; i++)
        c = quantity_compare(label_of(x, x->axis[i]), label_of(y, x->axis[i]));
    if (c == 0)
        c = strcmp(x->hash, y->hash);
    if (c == 0)
        c = strcmp(x->version, y->version);
    if (c == 0)
        c = strcmp(x->policy, y->policy);
    if (c == 0 && x->seed != y->seed)
        c = x->seed < y->seed ? -1 : 1;
    return c ? c : by_number(x->replication, y->replication);
}

static void note_run(struct table *t, const struct data_point *p, const struct data_run *r)
{
    t->row[t->nrows++] = (struct row){.point = p,
                                      .run = r,
                                      .labels = p->labels,
                                      .sweep = p->sweep,
                                      .hash = p->hash,
                                      .version = p->version,
                                      .policy = p->policy,
                                      .seed = r->seed,
                                      .replication = r->replication,
                                      .axis = t->axis,
                                      .naxes = t->naxes};
    t->policy = t->policy || *p->policy;
    for (int m = 0; m < METRIC_COUNT; m++)
        t->used[m] = t->used[m] || isfinite(r->value[m]);
}

static void note_failure(struct table *t, const struct data_failure *f)
{
    t->row[t->nrows++] = (struct row){.failure = f,
                                      .labels = f->labels,
                                      .sweep = f->sweep,
                                      .hash = f->hash,
                                      .version = f->version,
                                      .policy = f->policy,
                                      .seed = f->seed,
                                      .replication = f->replication,
                                      .axis = t->axis,
                                      .naxes = t->naxes};
    t->policy = t->policy || *f->policy;
    t->failed = true;
}

static int table_make(struct table *t, const struct dataset *d)
{
    size_t total = d->nfailures, nsweeps = 0;
    const char **sweeps = dataset_sweeps(d, &nsweeps);

    free(sweeps);
    *t = (struct table){.sweeps = nsweeps > 1};
    for (size_t i = 0; i < d->n; i++)
        total += d->point[i].nruns;
    t->axis = dataset_axes(d, &t->naxes);
    t->row = calloc(total + 1, sizeof(*t->row));
    if (!sweeps || !t->axis || !t->row) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < d->point[i].nruns; k++)
            note_run(t, &d->point[i], &d->point[i].run[k]);
    for (size_t i = 0; i < d->nfailures; i++)
        note_failure(t, &d->failure[i]);
    qsort(t->row, t->nrows, sizeof(*t->row), compare_rows);
    return 0;
}

static void table_free(struct table *t)
{
    free(t->axis);
    free(t->row);
}

static void put_head(FILE *out, const struct table *t)
{
    if (t->sweeps)
        fprintf(out, "sweep,");
    for (size_t i = 0; i < t->naxes; i++) {
        text_put_csv(out, t->axis[i]);
        fputc(',', out);
    }
    fprintf(out, "seed,replication,version%s,scenario,fingerprint", t->policy ? ",policy" : "");
    for (int m = 0; m < METRIC_COUNT; m++)
        if (t->used[m])
            fprintf(out, ",%s", metrics[m].key);
    fprintf(out, "%s\n", t->failed ? ",status,report" : "");
}

static void put_value(FILE *out, const struct row *r, int m)
{
    char number[48] = "";

    if (r->run && isfinite(r->run->value[m]))
        quantity_exact(r->run->value[m], number);
    fprintf(out, ",%s", number);
}

/* A line of a table has room for one line of a report. */
static void put_report(FILE *out, const struct data_failure *f)
{
    char line[500] = "";

    if (f)
        snprintf(line, sizeof(line), "%.*s", (int)strcspn(f->report, "\n"), f->report);
    fprintf(out, ",%d,", f ? f->status : 0);
    text_put_csv(out, line);
}

static void put_line(FILE *out, const struct table *t, const struct row *r)
{
    if (t->sweeps) {
        text_put_csv(out, r->sweep);
        fputc(',', out);
    }
    for (size_t i = 0; i < t->naxes; i++) {
        text_put_csv(out, label_of(r, t->axis[i]));
        fputc(',', out);
    }
    fprintf(out, "%" PRIu64 ",%" PRId64 ",", r->seed, r->replication);
    text_put_csv(out, r->version);
    if (t->policy) {
        fputc(',', out);
        text_put_csv(out, r->policy);
    }
    fprintf(out, ",%s,%s", r->hash, r->run ? r->run->fingerprint : "");
    for (int m = 0; m < METRIC_COUNT; m++)
        if (t->used[m])
            put_value(out, r, m);
    if (t->failed)
        put_report(out, r->failure);
    fputc('\n', out);
}

static int finish(FILE *out, struct table *t, struct c_numbers *numbers)
{
    const bool bad = fflush(out) != 0 || ferror(out);

    c_numbers_end(numbers);
    table_free(t);
    return bad ? -1 : 0;
}

static int begin(struct table *t, const struct dataset *d, struct c_numbers *numbers)
{
    if (table_make(t, d) == 0 && c_numbers_begin(numbers) == 0)
        return 0;
    table_free(t);
    return -1;
}

int export_csv(FILE *out, struct dataset *d)
{
    struct c_numbers numbers;
    struct table t;

    if (begin(&t, d, &numbers) != 0)
        return -1;
    put_head(out, &t);
    for (size_t i = 0; i < t.nrows; i++)
        put_line(out, &t, &t.row[i]);
    return finish(out, &t, &numbers);
}

static void put_object(struct json *j, const struct table *t, const struct row *r)
{
    json_object(j, NULL, false);
    if (t->sweeps)
        json_string(j, "sweep", r->sweep);
    json_object(j, "labels", true);
    for (size_t i = 0; i < t->naxes; i++)
        if (cJSON_GetObjectItemCaseSensitive(r->labels, t->axis[i]))
            json_string(j, t->axis[i], label_of(r, t->axis[i]));
    json_close(j);
    json_u64(j, "seed", r->seed);
    json_count(j, "replication", (uint64_t)r->replication);
    json_string(j, "version", r->version);
    if (t->policy)
        json_string(j, "policy", r->policy);
    json_string(j, "scenario", r->hash);
    if (r->failure) {
        json_count(j, "status", (uint64_t)r->failure->status);
        json_string(j, "report", r->failure->report);
        json_close(j);
        return;
    }
    json_string(j, "fingerprint", r->run->fingerprint);
    json_object(j, "metrics", false);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (t->used[m])
            json_number(j, metrics[m].key, r->run->value[m]);
    json_close(j);
    json_close(j);
}

static void put_list(struct json *j, const struct table *t, const char *key, bool failed)
{
    json_array(j, key, false);
    for (size_t i = 0; i < t->nrows; i++)
        if (failed == (t->row[i].failure != NULL))
            put_object(j, t, &t->row[i]);
    json_close(j);
}

int export_json(FILE *out, struct dataset *d)
{
    struct c_numbers numbers;
    struct table t;
    struct json j;

    if (begin(&t, d, &numbers) != 0)
        return -1;
    json_init(&j, out, false);
    json_object(&j, NULL, false);
    json_string(&j, "schema", "tandem.export/1");
    json_array(&j, "axes", true);
    for (size_t i = 0; i < t.naxes; i++)
        json_string(&j, NULL, t.axis[i]);
    json_close(&j);
    put_list(&j, &t, "runs", false);
    if (t.failed)
        put_list(&j, &t, "failures", true);
    json_close(&j);
    fputc('\n', out);
    return finish(out, &t, &numbers);
}
