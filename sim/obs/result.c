/* SPDX-License-Identifier: MIT */
/*
 * The result file (tandem.result/1) and its CSV form. Every metric of the register is there, in its
 * order, whether it has a value or not, so that files of one version always have the same shape.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obs/json.h"
#include "obs/resultfile.h"
#include "obs/text.h"

static const char percentile_definition[] =
    "The q-quantile of N samples is the smallest recorded value v such that at least ceil(q * N) "
    "samples are <= v. Samples are whole nanoseconds in a log-linear histogram (exact below 128 "
    "ns, "
    "64 buckets per power of two above), merged over the replications; the middle of the bucket is "
    "reported, kept between the smallest and the largest sample: relative error below 1 %. Means "
    "and "
    "maxima are exact. ci95 is the half-width of the 95 % interval (Student) over the "
    "replications' "
    "own values, and n counts the replications that have one.";

int result_begin(FILE *out, struct run_values *const *runs, int n, struct c_numbers *locale)
{
    for (int i = 1; i < n; i++) {
        bool same = runs[i]->nvms == runs[0]->nvms;

        for (int v = 0; same && v < runs[0]->nvms; v++)
            same = strcmp(result_vm(runs[i], v), result_vm(runs[0], v)) == 0;
        if (!same) {
            errno = EINVAL;
            return -1;
        }
    }
    if (c_numbers_begin(locale) != 0)
        return -1;
    errno = 0;
    return ferror(out) ? result_end(out, locale) : 0;
}

int result_end(FILE *out, struct c_numbers *locale)
{
    const bool bad = fflush(out) != 0 || ferror(out);
    const int why = errno != 0 ? errno : EIO;

    c_numbers_end(locale);
    errno = bad ? why : 0;
    return bad ? -1 : 0;
}

const char *result_vm(const struct run_values *r, int vm)
{
    return r->vm[vm] ? r->vm[vm] : "";
}

int result_counters(struct run_values *const *runs, int n, struct run_counter **total)
{
    size_t room = 0;
    int count = 0;

    for (int i = 0; i < n; i++)
        room += (size_t)runs[i]->ncounters;
    *total = calloc(room + 1, sizeof(**total));
    if (!*total)
        return -1;
    for (int i = 0; i < n; i++) {
        int at = 0; /* both sides are sorted */

        for (int c = 0; c < runs[i]->ncounters; c++) {
            const struct run_counter *from = &runs[i]->counter[c];

            while (at < count && strcmp((*total)[at].name, from->name) < 0)
                at++;
            if (at < count && strcmp((*total)[at].name, from->name) == 0) {
                (*total)[at].n += from->n;
                continue;
            }
            memmove(&(*total)[at + 1], &(*total)[at], (size_t)(count - at) * sizeof(**total));
            (*total)[at] = *from;
            count++;
        }
    }
    return count;
}

static bool is_json_object(const char *text)
{
    cJSON *root = cJSON_ParseWithOpts(text, NULL, true);
    const bool yes = cJSON_IsObject(root);

    cJSON_Delete(root);
    return yes;
}

static void put_manifest(struct json *j, const struct manifest *m, int n)
{
    json_object(j, "manifest", false);
    json_string(j, "version", m->version);
    json_string(j, "git", m->git);
    json_string(j, "machine", m->machine);
    json_string(j, "scenario_file", m->scenario_file);
    json_string(j, "hash", m->hash);
    if (m->policy && m->policy[0])
        json_string(j, "policy", m->policy);
    json_u64(j, "seed", m->seed);
    json_count(j, "replications", (uint64_t)n);
    json_raw(j, "scenario", m->echo);
    json_close(j);
}

static void put_metrics(struct json *j, const char *key, struct run_values *const *runs, int n,
                        int row)
{
    json_object(j, key, false);
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct summary s = run_summary(runs, n, row, (enum metric_id)i);

        json_object(j, metrics[i].key, true);
        json_number(j, "mean", s.mean);
        json_number(j, "ci95", s.ci95);
        json_count(j, "n", (uint64_t)s.n);
        json_string(j, "unit", metrics[i].unit);
        json_string(j, "better", better_name(metrics[i].better));
        json_close(j);
    }
    json_close(j);
}

static void put_replication(struct json *j, const struct run_values *r)
{
    json_object(j, NULL, false);
    json_u64(j, "seed", r->seed);
    json_count(j, "replication", r->replication);
    json_hex64(j, "fingerprint", r->fingerprint);
    json_count(j, "events", r->events);
    json_u64(j, "simulated_ns", (uint64_t)r->simulated);
    json_object(j, "metrics", false);
    for (int i = 0; i < METRIC_COUNT; i++)
        json_number(j, metrics[i].key, run_metric(r, 0, (enum metric_id)i));
    json_close(j);
    json_close(j);
}

/* A hash over the fingerprints in the order of the replications, each as 16 hex digits. */
static int put_fingerprint(struct json *j, struct run_values *const *runs, int n)
{
    char *text = malloc((size_t)n * 16 + 1);
    char hex[33];

    if (!text)
        return -1;
    for (int i = 0; i < n; i++)
        snprintf(text + 16 * i, 17, "%016" PRIx64, runs[i]->fingerprint);
    hash_hex(text, (size_t)n * 16, hex);
    json_string(j, "fingerprint", hex);
    free(text);
    return 0;
}

static void put_result(struct json *j, const struct manifest *m, struct run_values *const *runs,
                       int n)
{
    json_object(j, NULL, false);
    json_string(j, "schema", "tandem.result/1");
    put_manifest(j, m, n);
    json_string(j, "percentile_definition", percentile_definition);
    put_metrics(j, "metrics", runs, n, 0);
    json_object(j, "vms", false);
    for (int v = 0; n > 0 && v < runs[0]->nvms; v++)
        put_metrics(j, result_vm(runs[0], v), runs, n, v + 1);
    json_close(j);
    json_array(j, "replications", false);
    for (int i = 0; i < n; i++)
        put_replication(j, runs[i]);
    json_close(j);
}

int result_write_json(FILE *out, const struct manifest *m, struct run_values *const *runs, int n)
{
    struct run_counter *total;
    struct c_numbers locale;
    struct json j;
    int failed;

    if (m->echo && !is_json_object(m->echo)) {
        errno = EINVAL;
        return -1;
    }
    if (result_begin(out, runs, n, &locale) != 0)
        return -1;
    const int ncounters = result_counters(runs, n, &total);

    if (ncounters < 0) {
        c_numbers_end(&locale);
        errno = ENOMEM;
        return -1;
    }
    json_init(&j, out, false);
    put_result(&j, m, runs, n);
    json_object(&j, "counters", false);
    for (int i = 0; i < ncounters; i++)
        json_count(&j, total[i].name, total[i].n);
    json_close(&j);
    failed = put_fingerprint(&j, runs, n);
    json_close(&j);
    fputc('\n', out);
    free(total);
    if (result_end(out, &locale) != 0)
        return -1;
    errno = failed ? ENOMEM : 0;
    return failed;
}

static void put_csv_number(FILE *out, double v)
{
    if (isfinite(v))
        fprintf(out, "%.17g", v);
}

static void put_csv_row(FILE *out, struct run_values *const *runs, int n, int row)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric *m = &metrics[i];
        const struct summary s = run_summary(runs, n, row, (enum metric_id)i);

        if (row > 0)
            text_put_csv(out, result_vm(runs[0], row - 1));
        fprintf(out, ",%s,", m->key);
        put_csv_number(out, s.mean);
        fputc(',', out);
        put_csv_number(out, s.ci95);
        fprintf(out, ",%d,%s,%s\n", s.n, m->unit, better_name(m->better));
    }
}

int result_write_csv(FILE *out, const struct manifest *m, struct run_values *const *runs, int n)
{
    struct c_numbers locale;

    (void)m;
    if (result_begin(out, runs, n, &locale) != 0)
        return -1;
    fputs("vm,metric,mean,ci95,n,unit,better\n", out);
    for (int row = 0; row <= (n > 0 ? runs[0]->nvms : 0); row++)
        put_csv_row(out, runs, n, row);
    return result_end(out, &locale);
}
