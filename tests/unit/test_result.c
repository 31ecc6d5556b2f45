/* SPDX-License-Identifier: MIT */
/* From the values of runs to summaries and files: known answers, exact round trips, damage. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "obs/result.h"

static const struct manifest manifest = {.version = "1.0",
                                         .git = NULL,
                                         .machine = "uni",
                                         .scenario_file = "a \"b\".yaml",
                                         .echo = "{\"seed\":18446744073709551615,\"x\":[0.1]}",
                                         .hash = "00ff",
                                         .seed = UINT64_MAX};

/* Two VMs, throughput 10 + replication, latencies of 1 to 100 us shifted by the replication. */
static struct run_values *small_run(int replication)
{
    struct run_values *r = run_values_new(2);

    cr_assert(r && run_values_name(r, 0, "web") == 0 && run_values_name(r, 1, "d,b") == 0);
    r->seed = 7;
    r->replication = (uint64_t)replication;
    r->fingerprint = 0xabc + (uint64_t)replication;
    r->events = 1000;
    r->simulated = 2 * NS_SEC;
    *run_value(r, 0, METRIC_THROUGHPUT) = 10 + replication;
    *run_value(r, 1, METRIC_THROUGHPUT) = 0.1;
    *run_value(r, 2, METRIC_STEAL_RATIO) = 0.25;
    for (int us = 1; us <= 100; us++)
        hist_add(&r->hist[HIST_LATENCY], (us + replication) * NS_US);
    hist_add_n(&r->hist[HIST_SELECTION], 42, 3);
    run_count(r, "zebra", 2);
    run_count(r, "nothing", 0);
    if (replication == 1)
        run_count(r, "ant", 5);
    return r;
}

static void small_runs(struct run_values *runs[], int n)
{
    for (int i = 0; i < n; i++)
        runs[i] = small_run(i);
}

static void free_runs(struct run_values *runs[], int n)
{
    for (int i = 0; i < n; i++)
        run_values_free(runs[i]);
}

typedef int writer(FILE *, const struct manifest *, struct run_values *const *, int);

static char *written(writer *write, struct run_values *const *runs, int n)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    cr_assert_eq(write(out, &manifest, runs, n), 0);
    cr_assert_eq(fclose(out), 0);
    return text;
}

#define ASSERT_NEAR(got, want, relative)                                                           \
    cr_assert(fabs((got) - (want)) <= (relative)*fabs((double)(want)), "%.17g, not %.17g",         \
              (double)(got), (double)(want))

Test(summary, student_intervals_have_their_known_values)
{
    static const struct {
        double confidence;
        int df;
        double t;
    } known[] = {{0.95, 1, 12.706204736432095}, {0.95, 2, 4.302652729911275},
                 {0.95, 4, 2.7764451051977987}, {0.95, 9, 2.2621571627409915},
                 {0.95, 29, 2.045229642132703}, {0.99, 1, 63.65674116287158},
                 {0.90, 4, 2.1318467863266495}, {0.95, 100000, 1.9599877077}};
    double *v = calloc(100001, sizeof(*v));

    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
        const int n = known[k].df + 1;

        for (int i = 0; i < n; i++) /* mean 1, and a spread that makes the half-width t */
            v[i] = i % 2 ? 2 : 0;
        const double ones = n / 2, mean = 2 * ones / n;
        const double variance = (4 * ones - n * mean * mean) / (n - 1);
        const struct summary s = summary_of(v, n, known[k].confidence);

        cr_assert_eq(s.n, n);
        ASSERT_NEAR(s.mean, mean, 1e-12);
        ASSERT_NEAR(s.ci95 / sqrt(variance / n), known[k].t, 5e-8);
    }
    free(v);
    const struct summary s = summary_of((const double[]){1, 2, 3, 4, 5}, 5, 0.95);

    cr_assert_eq(s.mean, 3);
    ASSERT_NEAR(s.ci95, 2.776445105 * sqrt(2.5 / 5), 5e-8);
}

Test(summary, only_values_that_exist_count)
{
    struct summary s = summary_of((const double[]){NAN, 4, INFINITY, 6}, 4, 0.95);

    cr_assert(s.n == 2 && s.mean == 5);
    ASSERT_NEAR(s.ci95, 12.706204736432095, 5e-8);
    s = summary_of((const double[]){NAN, 4}, 2, 0.95);
    cr_assert(s.n == 1 && s.mean == 4 && isnan(s.ci95));
    s = summary_of(NULL, 0, 0.95);
    cr_assert(s.n == 0 && isnan(s.mean) && isnan(s.ci95));
    s = summary_of((const double[]){0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 6, 0.95);
    cr_assert(s.mean == 0.1 && s.ci95 == 0, "equal values give %.17g +- %g", s.mean, s.ci95);
}

Test(summary, percentiles_come_from_the_merged_histogram)
{
    struct run_values *runs[2] = {run_values_new(0), run_values_new(0)};

    cr_assert(isnan(run_summary(runs, 2, 0, METRIC_LATENCY_P99).mean));
    cr_assert_eq(run_summary(runs, 2, 0, METRIC_LATENCY_P99).n, 0);
    hist_add_n(&runs[0]->hist[HIST_LATENCY], 50, 90);
    hist_add_n(&runs[0]->hist[HIST_LATENCY], 100, 10);
    struct summary s = run_summary(runs, 2, 0, METRIC_LATENCY_P95);

    cr_assert(s.n == 1 && s.mean == 0.1 && isnan(s.ci95));
    hist_add_n(&runs[1]->hist[HIST_LATENCY], 10, 900);
    /* Own 95th percentiles 100 and 10 ns; of all 1000 samples it is 50 ns. The mean is 14.5 ns. */
    s = run_summary(runs, 2, 0, METRIC_LATENCY_P95);
    cr_assert(s.n == 2 && s.mean == 0.05, "p95 %.17g", s.mean);
    ASSERT_NEAR(s.ci95, 12.706204736432095 * 0.045, 5e-8);
    cr_assert_eq(run_summary(runs, 2, 0, METRIC_LATENCY_MEAN).mean, 14.5 / 1000);
    cr_assert_eq(run_summary(runs, 2, 0, METRIC_LATENCY_MAX).mean, 0.1);
    hist_add_n(&runs[0]->hist[HIST_SELECTION], 42, 2);
    cr_assert_eq(run_summary(runs, 2, 0, METRIC_SELECTION).mean, 42, "ns stay ns");
    *run_value(runs[0], 0, METRIC_STEAL_RATIO) = 0.5;
    cr_assert_eq(run_summary(runs, 2, 0, METRIC_STEAL_RATIO).mean, 0.5);
    cr_assert_eq(run_metric(runs[0], 0, METRIC_LATENCY_P50), 0.05);
    cr_assert(isnan(run_metric(runs[1], 0, METRIC_STEAL_RATIO)));
    free_runs(runs, 2);
}

Test(metrics, the_register_is_sound)
{
    static const char *const unit_end[][2] = {{"us", "_us"}, {"ns", "_ns"}, {"1/s", "_per_s"},
                                              {"J", "_j"},   {"W", "_w"},   {"1", ""}};
    char *text = NULL;
    size_t len, lines = 0;

    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric *m = &metrics[i];
        bool ends = false;

        cr_assert_eq(metric_find(m->key), m, "%s is there twice", m->key);
        if (m->alias)
            cr_assert_eq(metric_find(m->alias), m, "alias %s", m->alias);
        for (size_t u = 0; u < sizeof(unit_end) / sizeof(unit_end[0]); u++) {
            const size_t tail = strlen(unit_end[u][1]);

            if (strcmp(m->unit, unit_end[u][0]) == 0 && strlen(m->key) > tail)
                ends = strcmp(m->key + strlen(m->key) - tail, unit_end[u][1]) == 0;
        }
        cr_assert(ends, "%s does not end in its unit %s", m->key, m->unit);
        if (m->hist >= 0)
            cr_assert(m->hist < HIST_COUNT && m->quantile > 0 && m->quantile <= 2);
    }
    cr_assert_eq(metric_find("throughput"), &metrics[METRIC_THROUGHPUT]);
    cr_assert_eq(metric_find("p99.9"), &metrics[METRIC_LATENCY_P999]);
    cr_assert_null(metric_find("no_such_metric"));
    FILE *out = open_memstream(&text, &len);

    metrics_list(out);
    fclose(out);
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        lines++;
    cr_assert_eq(lines, METRIC_COUNT + 1);
    cr_assert(strstr(text, "\nsteal_ratio  ") && strstr(text, "READY / (READY + RUNNING)\n"));
    free(text);
}

static const cJSON *at(const cJSON *node, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(node, key);

    cr_assert(item != NULL, "no member %s", key);
    return item;
}

Test(result, the_file_says_what_it_should)
{
    struct run_values *runs[3];
    char hex[33];

    small_runs(runs, 3);
    char *text = written(result_write_json, runs, 3);
    cJSON *root = cJSON_ParseWithOpts(text, NULL, true);

    cr_assert(cJSON_IsObject(root), "not JSON: %s", text);
    cr_assert_str_eq(at(root, "schema")->valuestring, "tandem.result/1");
    const cJSON *m = at(root, "manifest");

    cr_assert_str_eq(at(m, "scenario_file")->valuestring, "a \"b\".yaml");
    cr_assert_str_eq(at(m, "seed")->valuestring, "18446744073709551615");
    cr_assert(cJSON_IsNull(at(m, "git")) && at(m, "replications")->valueint == 3);
    cr_assert(strstr(text, manifest.echo), "the echo is not verbatim");
    cr_assert(cJSON_IsObject(at(m, "scenario")));

    const cJSON *metric = at(root, "metrics");

    cr_assert_eq(cJSON_GetArraySize(metric), METRIC_COUNT);
    cr_assert_eq(at(at(metric, "throughput_per_s"), "mean")->valuedouble, 11);
    ASSERT_NEAR(at(at(metric, "throughput_per_s"), "ci95")->valuedouble,
                4.302652729911275 / sqrt(3), 5e-8);
    cr_assert_str_eq(at(at(metric, "throughput_per_s"), "better")->valuestring, "higher");
    ASSERT_NEAR(at(at(metric, "latency_p50_us"), "mean")->valuedouble, 51, 0.01);
    cr_assert_eq(at(at(metric, "latency_max_us"), "mean")->valuedouble, 102);
    cr_assert(cJSON_IsNull(at(at(metric, "energy_j"), "mean")));
    cr_assert(cJSON_IsNull(at(at(metric, "energy_j"), "ci95")));
    cr_assert_eq(at(at(metric, "energy_j"), "n")->valueint, 0);

    cr_assert_eq(at(at(at(at(root, "vms"), "d,b"), "steal_ratio"), "mean")->valuedouble, 0.25);
    cr_assert_eq(at(at(at(at(root, "vms"), "web"), "throughput_per_s"), "ci95")->valuedouble, 0);
    const cJSON *second = cJSON_GetArrayItem(at(root, "replications"), 1);

    cr_assert_eq(cJSON_GetArraySize(at(root, "replications")), 3);
    cr_assert_str_eq(at(second, "fingerprint")->valuestring, "0000000000000abd");
    cr_assert_str_eq(at(second, "simulated_ns")->valuestring, "2000000000");
    cr_assert_eq(at(at(second, "metrics"), "throughput_per_s")->valuedouble, 11);
    cr_assert(cJSON_IsNull(at(at(second, "metrics"), "energy_j")));
    const cJSON *c = at(root, "counters");

    cr_assert_eq(cJSON_GetArraySize(c), 3);
    cr_assert_str_eq(c->child->string, "ant");
    cr_assert(at(c, "ant")->valueint == 5 && at(c, "zebra")->valueint == 6);
    cr_assert_eq(at(c, "nothing")->valueint, 0);
    hash_hex("0000000000000abc0000000000000abd0000000000000abe", 48, hex);
    cr_assert_str_eq(at(root, "fingerprint")->valuestring, hex);
    cr_assert(!strstr(text, ": nan") && !strstr(text, ": -nan") && !strstr(text, ": inf"));

    char *again = written(result_write_json, runs, 3);

    cr_assert_str_eq(again, text);
    free(again);
    free(text);
    cJSON_Delete(root);
    free_runs(runs, 3);
}

Test(result, the_table_is_aligned_and_short)
{
    struct run_values *runs[2];

    small_runs(runs, 2);
    char *text = written(result_write_table, runs, 2);

    /* By hand: the 190th of 200 latencies is 96 us, whose bucket [95232, 96255] ns has the middle
     * 95743.5; own values of 1 us or one bucket apart give 12.7062 times half of that. */
    cr_assert_str_eq(text, "a \"b\".yaml: machine uni, seed 18446744073709551615, 2 replications\n"
                           "\n"
                           "metric                mean  +-95 %  n  unit\n"
                           "throughput_per_s   10.5000  6.3531  2  1/s\n"
                           "latency_mean_us    51.0000  6.3531  2  us\n"
                           "latency_p50_us     50.9435  6.5056  2  us\n"
                           "latency_p95_us     95.7435  6.5056  2  us\n"
                           "latency_p99_us     99.8395  6.5056  2  us\n"
                           "latency_p99_9_us   100.864   6.506  2  us\n"
                           "latency_max_us     101.000   6.353  2  us\n"
                           "selection_mean_ns  42.0000  0.0000  2  ns\n"
                           "\n"
                           "vm   throughput_per_s  latency_p50_us  latency_p99_us  steal_ratio\n"
                           "web          0.100000               -               -            -\n"
                           "d,b                 -               -               -     0.250000\n"
                           "\n"
                           "counter  total\n"
                           "ant          5\n"
                           "zebra        4\n");
    free(text);
    free_runs(runs, 2);
}

Test(result, csv_has_a_line_per_metric_and_quotes_what_it_must)
{
    struct run_values *runs[2];
    size_t lines = 0;

    small_runs(runs, 2);
    char *text = written(result_write_csv, runs, 2);

    for (const char *p = text; (p = strchr(p, '\n')); p++)
        lines++;
    cr_assert_eq(lines, 1 + 3 * METRIC_COUNT);
    cr_assert_eq(strncmp(text, "vm,metric,mean,ci95,n,unit,better\n,throughput_per_s,10.5,", 56),
                 0);
    cr_assert(strstr(text, "\n,energy_j,,,0,J,lower\n"), "a missing value is not empty");
    cr_assert(strstr(text, "\nweb,throughput_per_s,0.10000000000000001,0,2,1/s,higher\n"));
    cr_assert(strstr(text, "\n\"d,b\",steal_ratio,0.25,0,2,1,lower\n"));
    free(text);
    free_runs(runs, 2);
}

Test(result, bad_input_and_write_errors_are_reported)
{
    static writer *const writers[] = {result_write_json, result_write_table, result_write_csv};
    struct manifest bad = manifest;
    struct run_values *runs[2];
    FILE *full = fopen("/dev/full", "w"), *null = fopen("/dev/null", "w");

    cr_assert(full && null);
    small_runs(runs, 2);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(writers[i](null, &manifest, NULL, 0), 0, "no replication at all is fine");
        errno = 0;
        cr_assert_eq(writers[i](full, &manifest, runs, 2), -1);
        cr_assert_eq(errno, i == 0 ? ENOSPC : EIO, "writer %zu: %s", i, strerror(errno));
    }
    bad.echo = "{\"a\":1";
    cr_assert(result_write_json(null, &bad, runs, 2) == -1 && errno == EINVAL);
    bad.echo = "[1]";
    cr_assert(result_write_json(null, &bad, runs, 2) == -1 && errno == EINVAL);
    run_values_name(runs[1], 1, "another");
    for (size_t i = 0; i < 3; i++)
        cr_assert(writers[i](null, &manifest, runs, 2) == -1 && errno == EINVAL);
    fclose(full);
    fclose(null);
    free_runs(runs, 2);
}

/* A locale with a decimal comma, made in a folder of its own when the system has none. */
static bool comma_locale(char *dir)
{
    char command[200];

    if (setlocale(LC_ALL, "de_DE.UTF-8"))
        return true;
    if (!mkdtemp(dir))
        return false;
    snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
             dir, dir);
    return system(command) == 0 && setenv("LOCPATH", dir, 1) == 0 &&
           setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

Test(result, a_decimal_comma_changes_nothing)
{
    static writer *const writers[] = {result_write_json, result_write_table, result_write_csv};
    char dir[] = "/tmp/tandem-locale-XXXXXX", command[60], number[10];
    char *before[3];
    struct run_values *runs[2];

    small_runs(runs, 2);
    for (size_t i = 0; i < 3; i++)
        before[i] = written(writers[i], runs, 2);
    char *line = run_values_write(runs[0]);
    const bool have = comma_locale(dir);

    snprintf(command, sizeof(command), "rm -rf %s", dir);
    if (!have) {
        (void)!system(command);
        cr_skip_test("no locale with a decimal comma can be made here");
    }
    snprintf(number, sizeof(number), "%.1f", 0.5);
    cr_assert_str_eq(number, "0,5");
    for (size_t i = 0; i < 3; i++) {
        char *after = written(writers[i], runs, 2);

        cr_assert_str_eq(after, before[i]);
        free(after);
        free(before[i]);
    }
    char *again = run_values_write(runs[0]);
    struct run_values *back = run_values_parse(line);

    cr_assert_str_eq(again, line);
    cr_assert(back != NULL);
    cr_assert_eq(*run_value(back, 1, METRIC_THROUGHPUT), 0.1);
    snprintf(number, sizeof(number), "%.1f", 0.5);
    cr_assert_str_eq(number, "0,5", "the caller's locale is not restored");
    free(again);
    free(line);
    run_values_free(back);
    free_runs(runs, 2);
    (void)!system(command);
}

Test(result, hashes_are_those_of_fnv_1a)
{
    static const char *const known[][2] = {
        {"", "cbf29ce484222325"}, {"a", "af63dc4c8601ec8c"}, {"foobar", "85944171f73967e8"}};
    char hex[33];

    for (size_t i = 0; i < 3; i++) {
        hash_hex(known[i][0], strlen(known[i][0]), hex);
        cr_assert_eq(strlen(hex), 32);
        cr_assert_eq(strncmp(hex, known[i][1], 16), 0, "'%s' gives %s", known[i][0], hex);
        cr_assert_neq(strncmp(hex, hex + 16, 16), 0);
    }
}
