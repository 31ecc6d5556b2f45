/* SPDX-License-Identifier: MIT */
/*
 * Reads the text form of a run. The text comes from files and from other processes, so nothing in
 * it is taken on trust: members must be the known ones in the known order, integers plain decimals
 * in range, and every histogram must agree with itself. Anything else is damage.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obs/json.h"
#include "obs/runvalues.h"

/* The next member of an object, if it has the name that must come now. */
static const cJSON *take(const cJSON **at, const char *name)
{
    const cJSON *item = *at;

    if (!item || !item->string || strcmp(item->string, name) != 0)
        return NULL;
    *at = item->next;
    return item;
}

static const char *text_of(const cJSON *item)
{
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

/* A decimal as the writer makes it: digits only, no leading zero, at most `max`. */
static bool parse_decimal(const char *s, hist_sum_t max, hist_sum_t *v)
{
    if (!s || !*s || (s[0] == '0' && s[1]))
        return false;
    *v = 0;
    for (; *s; s++) {
        if (*s < '0' || *s > '9')
            return false;
        const unsigned digit = (unsigned)(*s - '0');

        if (*v > (max - digit) / 10)
            return false;
        *v = *v * 10 + digit;
    }
    return true;
}

static bool take_u64(const cJSON **at, const char *name, uint64_t max, uint64_t *out)
{
    hist_sum_t v;
    const cJSON *item = take(at, name);

    if (!item || !parse_decimal(text_of(item), max, &v))
        return false;
    *out = (uint64_t)v;
    return true;
}

static bool take_ns(const cJSON **at, const char *name, ns_t *out)
{
    uint64_t v;

    if (!take_u64(at, name, INT64_MAX, &v))
        return false;
    *out = (ns_t)v;
    return true;
}

static bool parse_hex64(const char *s, uint64_t *out)
{
    if (!s || strlen(s) != 16 || strspn(s, "0123456789abcdef") != 16)
        return false;
    *out = strtoull(s, NULL, 16);
    return true;
}

/* A count in a bucket: a number while every reader agrees on it, a string above. */
static bool bucket_count(const cJSON *item, uint64_t *n)
{
    hist_sum_t v;

    if (cJSON_IsNumber(item)) {
        const double d = item->valuedouble;

        if (!(d >= 1 && d <= (double)RUN_EXACT_NUMBER) || d != floor(d))
            return false;
        *n = (uint64_t)d;
        return true;
    }
    if (!parse_decimal(text_of(item), UINT64_MAX, &v) || v <= RUN_EXACT_NUMBER)
        return false;
    *n = (uint64_t)v;
    return true;
}

static bool parse_bucket(const cJSON *pair, int *b, uint64_t *n)
{
    if (!cJSON_IsArray(pair) || cJSON_GetArraySize(pair) != 2)
        return false;
    const cJSON *index = pair->child;

    if (!cJSON_IsNumber(index) || !(index->valuedouble >= 0 && index->valuedouble < HIST_BUCKETS) ||
        index->valuedouble != floor(index->valuedouble))
        return false;
    *b = (int)index->valuedouble;
    return bucket_count(index->next, n);
}

/* Fills the buckets; they must add up to the count, and leave room for the sum. */
static bool parse_buckets(const cJSON *list, struct hist *h)
{
    hist_sum_t total = 0, least = 0, most = 0;
    const cJSON *pair;
    int last = -1;

    if (!cJSON_IsArray(list))
        return false;
    cJSON_ArrayForEach(pair, list)
    {
        uint64_t n;
        int b;

        if (!parse_bucket(pair, &b, &n) || b <= last)
            return false;
        if (last < 0 && b != hist_bucket(h->min))
            return false;
        h->bucket[b] = n;
        total += n;
        if (total > h->count)
            return false;
        least += (hist_sum_t)hist_bucket_low(b) * n;
        most += (hist_sum_t)hist_bucket_high(b) * n;
        last = b;
    }
    return last == hist_bucket(h->max) && total == h->count && h->sum >= least && h->sum <= most;
}

static bool parse_hist(const cJSON *item, struct hist *h)
{
    hist_sum_t sum;

    if (cJSON_IsNull(item))
        return true;
    if (!cJSON_IsObject(item))
        return false;
    const cJSON *at = item->child;

    if (!take_u64(&at, "count", UINT64_MAX, &h->count) || h->count == 0 ||
        !parse_decimal(text_of(take(&at, "sum")), ~(hist_sum_t)0, &sum))
        return false;
    h->sum = sum;
    if (!take_ns(&at, "min", &h->min) || !take_ns(&at, "max", &h->max) || h->min > h->max)
        return false;
    return parse_buckets(take(&at, "buckets"), h) && !at;
}

static bool parse_row(const cJSON *item, struct run_values *r, int row)
{
    if (!cJSON_IsObject(item))
        return false;
    const cJSON *at = item->child;
    const cJSON *values = take(&at, "values");
    const cJSON *hists = take(&at, "hists");

    if (at || !cJSON_IsObject(values) || !cJSON_IsArray(hists) ||
        cJSON_GetArraySize(hists) != HIST_COUNT)
        return false;
    at = values->child;
    for (int m = 0; m < METRIC_COUNT; m++) {
        const cJSON *v = take(&at, metrics[m].key);

        if (!v)
            continue;
        if (!cJSON_IsNumber(v) || !isfinite(v->valuedouble))
            return false;
        *run_value(r, row, (enum metric_id)m) = v->valuedouble;
    }
    if (at)
        return false;
    int h = row * HIST_COUNT;

    cJSON_ArrayForEach(at, hists)
    {
        if (!parse_hist(at, &r->hist[h++]))
            return false;
    }
    return true;
}

static bool parse_counters(const cJSON *object, struct run_values *r)
{
    const cJSON *at = object ? object->child : NULL;

    if (!cJSON_IsObject(object))
        return false;
    while (at) {
        struct run_counter *c = &r->counter[r->ncounters];
        const size_t len = strlen(at->string);

        if (r->ncounters == RUN_COUNTERS || len == 0 || len >= sizeof(c->name))
            return false;
        memcpy(c->name, at->string, len + 1);
        if (!take_u64(&at, c->name, UINT64_MAX, &c->n))
            return false;
        if (r->ncounters > 0 && strcmp(c[-1].name, c->name) >= 0)
            return false;
        r->ncounters++;
    }
    return true;
}

static bool parse_names(const cJSON *list, struct run_values *r)
{
    const cJSON *name;
    int i = 0;

    cJSON_ArrayForEach(name, list)
    {
        if (cJSON_IsString(name) ? run_values_name(r, i, name->valuestring) != 0
                                 : !cJSON_IsNull(name))
            return false;
        i++;
    }
    return true;
}

/* What follows the scalars. `r` is made here, as soon as the number of VMs is known to be meant. */
static struct run_values *parse_rows(const cJSON **at)
{
    const cJSON *vms = take(at, "vms");
    const cJSON *rows = take(at, "rows");
    const cJSON *counters = take(at, "counters");

    if (!cJSON_IsArray(vms) || !cJSON_IsArray(rows) ||
        cJSON_GetArraySize(rows) != cJSON_GetArraySize(vms) + 1)
        return NULL;
    struct run_values *r = run_values_new(cJSON_GetArraySize(vms));

    if (!r)
        return NULL;
    bool ok = parse_names(vms, r) && parse_counters(counters, r);
    const cJSON *item = rows->child;

    for (int row = 0; ok && row <= r->nvms; row++, item = item->next)
        ok = parse_row(item, r, row);
    if (!ok) {
        run_values_free(r);
        return NULL;
    }
    return r;
}

static struct run_values *parse_run(const cJSON *root)
{
    struct run_values head;

    if (!cJSON_IsObject(root))
        return NULL;
    const cJSON *at = root->child;
    const char *schema = text_of(take(&at, "schema"));

    if (!schema || strcmp(schema, RUN_SCHEMA) != 0 ||
        !take_u64(&at, "seed", UINT64_MAX, &head.seed) ||
        !take_u64(&at, "replication", UINT64_MAX, &head.replication) ||
        !parse_hex64(text_of(take(&at, "fingerprint")), &head.fingerprint) ||
        !take_u64(&at, "events", UINT64_MAX, &head.events) ||
        !take_ns(&at, "simulated_ns", &head.simulated))
        return NULL;
    struct run_values *r = parse_rows(&at);

    if (!r)
        return NULL;
    if (!take(&at, "check") || at) {
        run_values_free(r);
        return NULL;
    }
    r->seed = head.seed;
    r->replication = head.replication;
    r->fingerprint = head.fingerprint;
    r->events = head.events;
    r->simulated = head.simulated;
    return r;
}

/* Does the text end in the checksum of what stands before? */
static bool intact(const char *text, size_t len)
{
    char want[RUN_CHECK_LEN + 1];

    if (len < RUN_CHECK_LEN)
        return false;
    const size_t body = len - RUN_CHECK_LEN;

    snprintf(want, sizeof(want), RUN_CHECK_FORMAT, run_checksum(text, body));
    return memcmp(text + body, want, RUN_CHECK_LEN) == 0;
}

struct run_values *run_values_parse(const char *text)
{
    size_t len = strlen(text);
    struct run_values *r = NULL;
    struct c_numbers locale;

    if (len > 0 && text[len - 1] == '\n')
        len--;
    if (!intact(text, len) || c_numbers_begin(&locale) != 0)
        return NULL;
    cJSON *root = cJSON_ParseWithLength(text, len);

    if (root) {
        r = parse_run(root);
        cJSON_Delete(root);
    }
    c_numbers_end(&locale);
    return r;
}
