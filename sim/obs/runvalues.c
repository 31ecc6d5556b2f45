/* SPDX-License-Identifier: MIT */
/*
 * The values of one replication, and their text form.
 *
 * Text form: one line of JSON, members in a fixed order. Values that do not exist are left out,
 * empty histograms are null, others are sparse: [[bucket, count], ...]. The last member is a
 * checksum over everything before it, so that a damaged store cannot pass as a result.
 */
#include "obs/runvalues.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/check.h"
#include "obs/json.h"

struct run_values *run_values_new(int nvms)
{
    const size_t rows = (size_t)nvms + 1;
    struct run_values *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->nvms = nvms;
    r->vm = calloc(rows, sizeof(*r->vm));
    r->value = calloc(rows * METRIC_COUNT, sizeof(*r->value));
    r->hist = calloc(rows * HIST_COUNT, sizeof(*r->hist));
    bool ok = r->vm && r->value && r->hist;

    for (size_t i = 0; ok && i < rows * METRIC_COUNT; i++)
        r->value[i] = NAN;
    for (size_t i = 0; ok && i < rows * HIST_COUNT; i++)
        ok = hist_init(&r->hist[i]) == 0;
    if (!ok) {
        run_values_free(r);
        return NULL;
    }
    return r;
}

void run_values_free(struct run_values *r)
{
    if (!r)
        return;
    for (int i = 0; r->vm && i < r->nvms; i++)
        free(r->vm[i]);
    for (int i = 0; r->hist && i < (r->nvms + 1) * HIST_COUNT; i++)
        hist_free(&r->hist[i]);
    free(r->vm);
    free(r->value);
    free(r->hist);
    free(r);
}

int run_values_name(struct run_values *r, int vm, const char *name)
{
    char *copy = strdup(name);

    if (!copy)
        return -1;
    free(r->vm[vm]);
    r->vm[vm] = copy;
    return 0;
}

void run_count(struct run_values *r, const char *name, uint64_t n)
{
    const size_t len = strlen(name);
    int i = 0;

    CHECK(len > 0 && len < sizeof(r->counter[0].name), "counter name '%s' is %zu bytes long", name,
          len);
    while (i < r->ncounters && strcmp(r->counter[i].name, name) < 0)
        i++;
    if (i == r->ncounters || strcmp(r->counter[i].name, name) != 0) {
        CHECK(r->ncounters < RUN_COUNTERS, "no room for counter '%s'", name);
        memmove(&r->counter[i + 1], &r->counter[i],
                (size_t)(r->ncounters - i) * sizeof(r->counter[0]));
        r->ncounters++;
        r->counter[i] = (struct run_counter){.n = 0};
        memcpy(r->counter[i].name, name, len + 1);
    }
    r->counter[i].n += n;
}

static void put_u128(struct json *j, const char *key, hist_sum_t v)
{
    char digits[40];
    size_t i = sizeof(digits);

    digits[--i] = '\0';
    do {
        digits[--i] = (char)('0' + (int)(v % 10));
        v /= 10;
    } while (v > 0);
    json_string(j, key, digits + i);
}

static void put_hist(struct json *j, const struct hist *h)
{
    if (h->count == 0) {
        json_raw(j, NULL, NULL);
        return;
    }
    json_object(j, NULL, true);
    json_u64(j, "count", h->count);
    put_u128(j, "sum", h->sum);
    json_u64(j, "min", (uint64_t)h->min);
    json_u64(j, "max", (uint64_t)h->max);
    json_array(j, "buckets", true);
    for (int b = hist_bucket(h->min), last = hist_bucket(h->max); b <= last; b++) {
        if (h->bucket[b] == 0)
            continue;
        json_array(j, NULL, true);
        json_count(j, NULL, (uint64_t)b);
        if (h->bucket[b] <= RUN_EXACT_NUMBER)
            json_count(j, NULL, h->bucket[b]);
        else
            json_u64(j, NULL, h->bucket[b]);
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

static void put_row(struct json *j, const struct run_values *r, int row)
{
    json_object(j, NULL, true);
    json_object(j, "values", true);
    for (int m = 0; m < METRIC_COUNT; m++) {
        const double v = r->value[(size_t)row * METRIC_COUNT + (size_t)m];

        if (isfinite(v))
            json_number(j, metrics[m].key, v);
    }
    json_close(j);
    json_array(j, "hists", true);
    for (int h = 0; h < HIST_COUNT; h++)
        put_hist(j, &r->hist[row * HIST_COUNT + h]);
    json_close(j);
    json_close(j);
}

/* Everything but the checksum and the closing brace. */
static void put_body(struct json *j, const struct run_values *r)
{
    json_object(j, NULL, true);
    json_string(j, "schema", RUN_SCHEMA);
    json_u64(j, "seed", r->seed);
    json_u64(j, "replication", r->replication);
    json_hex64(j, "fingerprint", r->fingerprint);
    json_u64(j, "events", r->events);
    json_u64(j, "simulated_ns", (uint64_t)r->simulated);
    json_array(j, "vms", true);
    for (int i = 0; i < r->nvms; i++)
        json_string(j, NULL, r->vm[i]);
    json_close(j);
    json_array(j, "rows", true);
    for (int row = 0; row <= r->nvms; row++)
        put_row(j, r, row);
    json_close(j);
    json_object(j, "counters", true);
    for (int i = 0; i < r->ncounters; i++)
        json_u64(j, r->counter[i].name, r->counter[i].n);
    json_close(j);
}

char *run_values_write(const struct run_values *r)
{
    char *text = NULL;
    size_t len = 0;
    struct c_numbers locale;
    struct json j;

    if (c_numbers_begin(&locale) != 0)
        return NULL;
    FILE *out = open_memstream(&text, &len);

    if (out) {
        json_init(&j, out, true);
        put_body(&j, r);
        fflush(out);
        if (text && !ferror(out))
            fprintf(out, RUN_CHECK_FORMAT, run_checksum(text, len));
        const bool bad = ferror(out) != 0;

        if (fclose(out) != 0 || bad) {
            free(text);
            text = NULL;
        }
    }
    c_numbers_end(&locale);
    return text;
}
