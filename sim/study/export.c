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

struct row {
    const struct data_point *point;
    const struct data_run *run;
    const char **axis;
    size_t naxes;
};

struct table {
    struct row *row;
    size_t nrows, naxes;
    const char **axis;
    bool used[METRIC_COUNT];
    bool policy; /* some run had a loaded policy */
};

static const char *label_of(const struct data_point *p, const char *axis)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(p->labels, axis));

    return text ? text : "";
}

static int by_number(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int c = 0;

    for (size_t i = 0; c == 0 && i < x->naxes; i++)
        c = quantity_compare(label_of(x->point, x->axis[i]), label_of(y->point, x->axis[i]));
    if (c == 0)
        c = strcmp(x->point->hash, y->point->hash);
    if (c == 0)
        c = strcmp(x->point->version, y->point->version);
    if (c == 0)
        c = strcmp(x->point->policy, y->point->policy);
    if (c == 0 && x->run->seed != y->run->seed)
        c = x->run->seed < y->run->seed ? -1 : 1;
    return c ? c : by_number(x->run->replication, y->run->replication);
}

static void note_row(struct table *t, const struct data_point *p, const struct data_run *r)
{
    t->row[t->nrows++] = (struct row){p, r, t->axis, t->naxes};
    t->policy = t->policy || *p->policy;
    for (int m = 0; m < METRIC_COUNT; m++)
        t->used[m] = t->used[m] || isfinite(r->value[m]);
}

static int table_make(struct table *t, const struct dataset *d)
{
    size_t total = 0;

    *t = (struct table){0};
    for (size_t i = 0; i < d->n; i++)
        total += d->point[i].nruns;
    t->axis = dataset_axes(d, &t->naxes);
    t->row = calloc(total + 1, sizeof(*t->row));
    if (!t->axis || !t->row) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < d->point[i].nruns; k++)
            note_row(t, &d->point[i], &d->point[i].run[k]);
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
    for (size_t i = 0; i < t->naxes; i++) {
        text_put_csv(out, t->axis[i]);
        fputc(',', out);
    }
    fprintf(out, "seed,replication,version%s,scenario,fingerprint", t->policy ? ",policy" : "");
    for (int m = 0; m < METRIC_COUNT; m++)
        if (t->used[m])
            fprintf(out, ",%s", metrics[m].key);
    fputc('\n', out);
}

static void put_line(FILE *out, const struct table *t, const struct row *r)
{
    for (size_t i = 0; i < t->naxes; i++) {
        text_put_csv(out, label_of(r->point, t->axis[i]));
        fputc(',', out);
    }
    fprintf(out, "%" PRIu64 ",%" PRId64 ",", r->run->seed, r->run->replication);
    text_put_csv(out, r->point->version);
    if (t->policy) {
        fputc(',', out);
        text_put_csv(out, r->point->policy);
    }
    fprintf(out, ",%s,%s", r->point->hash, r->run->fingerprint);
    for (int m = 0; m < METRIC_COUNT; m++) {
        char number[48] = "";

        if (!t->used[m])
            continue;
        if (isfinite(r->run->value[m]))
            quantity_exact(r->run->value[m], number);
        fprintf(out, ",%s", number);
    }
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
    json_object(j, "labels", true);
    for (size_t i = 0; i < t->naxes; i++)
        if (cJSON_GetObjectItemCaseSensitive(r->point->labels, t->axis[i]))
            json_string(j, t->axis[i], label_of(r->point, t->axis[i]));
    json_close(j);
    json_u64(j, "seed", r->run->seed);
    json_count(j, "replication", (uint64_t)r->run->replication);
    json_string(j, "version", r->point->version);
    if (t->policy)
        json_string(j, "policy", r->point->policy);
    json_string(j, "scenario", r->point->hash);
    json_string(j, "fingerprint", r->run->fingerprint);
    json_object(j, "metrics", false);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (t->used[m])
            json_number(j, metrics[m].key, r->run->value[m]);
    json_close(j);
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
    json_array(&j, "runs", false);
    for (size_t i = 0; i < t.nrows; i++)
        put_object(&j, &t, &t.row[i]);
    json_close(&j);
    json_close(&j);
    fputc('\n', out);
    return finish(out, &t, &numbers);
}
