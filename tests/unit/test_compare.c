/* SPDX-License-Identifier: MIT */
/* Comparisons: what is matched, what is judged how, and that all ways of writing it say the same. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/baseline.h"
#include "study/compare.h"

/* A result file of `n` runs from `seed`: text of the metrics of run i is made by `values`. */
struct fake {
    const char *scenario;
    int seed, n;
    const char *fingerprint; /* begins them */
    void (*values)(FILE *out, int i);
};

static void add(struct dataset *d, const struct fake *f)
{
    struct store_error err;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fprintf(out,
            "{\"schema\": \"tandem.result/1\", \"manifest\": {\"version\": \"1\", \"machine\": "
            "\"m\", \"hash\": \"%zu\", \"scenario\": %s}, \"metrics\": {}, \"replications\": [",
            strlen(f->scenario), f->scenario);
    for (int i = 0; i < f->n; i++) {
        fprintf(out,
                "%s{\"seed\": \"%d\", \"replication\": %d, \"fingerprint\": \"%s%d\", "
                "\"metrics\": {",
                i ? "," : "", f->seed, i, f->fingerprint, i);
        f->values(out, i);
        fputs("}}", out);
    }
    fputs("]}", out);
    fclose(out);
    cr_assert(dataset_add_text(d, "fake", text, &err) == 0, "%s\n%s", err.text, text);
    free(text);
}

/* Noise without randomness: -1, 0 or 1, with mean 0 over 12. */
static double noise(int i)
{
    static const double v[] = {0, 1, -1, 1, 0, -1, -1, 0, 1, 0, 1, -1};

    return v[i % 12];
}

static void base_values(FILE *out, int i)
{
    fprintf(out,
            "\"throughput_per_s\": %g, \"latency_mean_us\": %g, \"latency_p99_us\": %g, "
            "\"wake_latency_mean_us\": %g, \"barriers_per_s\": %g, \"operations\": %g",
            1000 + noise(i), 50 + noise(i), 200 + noise(i), 10 + noise(i), 70 + noise(i), 5.0);
}

/* Throughput worse by 10 %, mean latency the same, p99 better by a quarter, wake-ups by noise alone,
 * barriers gone. */
static void new_values(FILE *out, int i)
{
    fprintf(out,
            "\"throughput_per_s\": %g, \"latency_mean_us\": %g, \"latency_p99_us\": %g, "
            "\"wake_latency_mean_us\": %g, \"operations\": %g",
            900 + noise(i + 1), 50.01 + noise(i) * 1.01, 150 + noise(i + 2), 10 + 9 * noise(i + 3),
            5.0);
}

static const struct fake base = {"{\"a\": 1}", 1, 12, "f", base_values};
static const struct fake new = {"{\"a\": 1}", 1, 12, "g", new_values};

struct pair {
    struct dataset base, new;
    struct compare c;
};

static void compare_fakes(struct pair *p, const struct fake *a, const struct fake *b,
                          struct compare_rules rules)
{
    struct store_error err = {0};

    *p = (struct pair){0};
    add(&p->base, a);
    add(&p->new, b);
    if (rules.margin == 0)
        rules.margin = 0.02;
    if (rules.confidence == 0)
        rules.confidence = 0.95;
    cr_assert(compare_make(&p->c, &p->base, &p->new, "BASE", "NEW", &rules, &err) == 0, "%s",
              err.text);
}

static void release(struct pair *p)
{
    compare_free(&p->c);
    dataset_free(&p->base);
    dataset_free(&p->new);
}

static const struct compare_row *row_of(const struct compare *c, const char *metric)
{
    for (size_t i = 0; i < c->nrows; i++)
        if (strcmp(c->row[i].metric->key, metric) == 0)
            return &c->row[i];
    cr_assert(false, "no row of %s", metric);
    return NULL;
}

static void expect(const struct compare *c, const char *metric, enum verdict v)
{
    const struct compare_row *r = row_of(c, metric);

    cr_expect_eq(r->verdict, v, "%s: %s, expected %s", metric, verdict_name(r->verdict),
                 verdict_name(v));
}

Test(compare, verdicts)
{
    struct pair p;

    compare_fakes(&p, &base, &new, (struct compare_rules){0});
    expect(&p.c, "throughput_per_s", VERDICT_WORSE);
    expect(&p.c, "latency_mean_us", VERDICT_SAME);
    expect(&p.c, "latency_p99_us", VERDICT_BETTER);
    expect(&p.c, "wake_latency_mean_us", VERDICT_UNDECIDED);
    expect(&p.c, "barriers_per_s", VERDICT_WORSE);
    cr_expect_eq(p.c.nrows, 5u);
    cr_expect_eq(p.c.verdict, VERDICT_WORSE);
    cr_expect(p.c.failed);
    const struct compare_row *r = row_of(&p.c, "throughput_per_s");

    cr_expect(r->paired && !r->tail && r->nbase == 12 && r->nnew == 12);
    cr_expect_float_eq(r->effect, -0.1, 1e-12);
    cr_expect(r->low < -0.1 && r->high > -0.1 && r->high < 0);
    cr_expect(row_of(&p.c, "latency_p99_us")->tail);
    r = row_of(&p.c, "wake_latency_mean_us");
    cr_expect(r->needed > 12, "needed %zu", r->needed);
    release(&p);
}

/* The same events: identical, even of metrics that only one side kept. */
Test(compare, identical)
{
    struct pair p;
    struct fake more = base;

    compare_fakes(&p, &base, &base, (struct compare_rules){0});
    cr_expect_eq(p.c.verdict, VERDICT_IDENTICAL);
    cr_expect_eq(p.c.count[VERDICT_IDENTICAL], p.c.nrows);
    cr_expect(!p.c.failed && p.c.tests == 0);
    release(&p);
    more.n = 9;
    compare_fakes(&p, &base, &more, (struct compare_rules){0});
    cr_expect_eq(p.c.verdict, VERDICT_IDENTICAL, "fewer runs of the same");
    release(&p);
    more.values = new_values;
    compare_fakes(&p, &base, &more, (struct compare_rules){0});
    cr_expect_eq(p.c.verdict, VERDICT_WORSE, "the same events measured otherwise");
    cr_assert_eq(p.c.nnotes, 2u);
    cr_expect(strstr(p.c.note[0], "how something is measured"));
    cr_expect_str_eq(p.c.note[1], "12 runs in BASE, 9 in NEW");
    release(&p);
}

/* Other seeds: two samples, no pairs. */
Test(compare, other_seeds)
{
    struct pair p;
    struct fake other = base;

    other.seed = 2;
    other.fingerprint = "h";
    compare_fakes(&p, &base, &other, (struct compare_rules){0});
    const struct compare_row *r = row_of(&p.c, "throughput_per_s");

    cr_expect(!r->paired && r->nbase == 12 && r->nnew == 12);
    cr_expect_eq(r->verdict, VERDICT_SAME);
    release(&p);
}

Test(compare, one_replication)
{
    struct pair p;
    struct fake a = base, b = new;

    a.n = b.n = 1;
    compare_fakes(&p, &a, &b, (struct compare_rules){0});
    expect(&p.c, "throughput_per_s", VERDICT_UNDECIDED);
    cr_expect(strstr(row_of(&p.c, "throughput_per_s")->note, "one replication"));
    release(&p);
}

static void add_failure(struct dataset *d)
{
    const struct data_point *p = &d->point[0];

    d->failure = calloc(1, sizeof(*d->failure));
    d->nfailures = 1;
    *d->failure = (struct data_failure){.hash = strdup(p->hash),
                                        .sweep = strdup(p->sweep),
                                        .version = strdup(p->version),
                                        .policy = strdup(p->policy),
                                        .labels = cJSON_CreateObject()};
}

/* A run that failed is no run that is as good as the others, unless it failed before, too. */
Test(compare, failed_runs)
{
    struct pair p = {0};
    const struct compare_rules rules = {.margin = 0.02, .confidence = 0.95};
    struct store_error err;

    add(&p.base, &base);
    add(&p.new, &base);
    add_failure(&p.new);
    cr_assert(compare_make(&p.c, &p.base, &p.new, "BASE", "NEW", &rules, &err) == 0);
    cr_expect_eq(p.c.verdict, VERDICT_WORSE);
    cr_expect(p.c.failed && p.c.row[0].metric == NULL);
    char *words = compare_words(&p.c, &p.c.row[0]);

    cr_expect_str_eq(words, "worse: some of its runs failed");
    free(words);
    compare_free(&p.c);
    add_failure(&p.base);
    cr_assert(compare_make(&p.c, &p.base, &p.new, "BASE", "NEW", &rules, &err) == 0);
    cr_assert(p.c.verdict == VERDICT_IDENTICAL && p.c.nwarnings == 1);
    cr_expect_str_eq(p.c.warning[0], "1 runs failed in BASE, 1 in NEW");
    release(&p);
}

static void some_lost(FILE *out, int i)
{
    if (i % 4 != 1)
        fprintf(out, "\"throughput_per_s\": %g", 1000 + noise(i));
}

/* Where the base always has a value, a run without one is no missing number but a bad one. */
Test(compare, lost_values)
{
    struct pair p;
    struct fake b = new;

    b.values = some_lost;
    compare_fakes(&p, &base, &b, (struct compare_rules){0});
    expect(&p.c, "throughput_per_s", VERDICT_WORSE);
    cr_expect_str_eq(row_of(&p.c, "throughput_per_s")->note, "some runs have no value any more");
    release(&p);
    compare_fakes(&p, &b, &base, (struct compare_rules){0});
    expect(&p.c, "throughput_per_s", VERDICT_SAME);
    release(&p);
}

/* A base of which nothing can be held against the new side says nothing, and does not pass. */
Test(compare, base_without_values)
{
    struct pair p = {0};
    const struct metric *m[] = {metric_find("power_w")};
    const struct compare_rules rules = {
        .margin = 0.02, .confidence = 0.95, .metrics = m, .nmetrics = 1};
    struct store_error err = {0};

    add(&p.base, &base);
    add(&p.new, &new);
    for (size_t i = 0; i < p.new.point[0].nruns; i++)
        p.new.point[0].run[i].value[METRIC_POWER] = 5;
    cr_expect_eq(compare_make(&p.c, &p.base, &p.new, "BASE", "NEW", &rules, &err), -1);
    cr_expect_eq(err.status, 2);
    cr_expect(strstr(err.text, "none of these metrics in common"));
    release(&p);
}

static void neutral_before(FILE *out, int i)
{
    fprintf(out, "\"host_cpu_pool_ratio\": %g", 0.5 + noise(i) / 100);
}

static void neutral_after(FILE *out, int i)
{
    fprintf(out, "\"host_cpu_pool_ratio\": %g", 0.9 + noise(i + 1) / 100);
}

/* What is neither good nor bad is never worse. */
Test(compare, neutral_metric)
{
    struct pair p;
    struct fake a = base, b = new;
    const struct metric *m[] = {metric_find("host_cpu_pool_ratio")};

    cr_assert(m[0] && m[0]->better == BETTER_NONE);
    a.values = neutral_before;
    b.values = neutral_after;
    compare_fakes(&p, &a, &b, (struct compare_rules){.metrics = m, .nmetrics = 1});
    expect(&p.c, "host_cpu_pool_ratio", VERDICT_CHANGED);
    cr_expect(!p.c.failed);
    release(&p);
}

static void zero_values(FILE *out, int i)
{
    (void)i;
    fputs("\"throughput_per_s\": 0", out);
}

static void some_values(FILE *out, int i)
{
    fprintf(out, "\"throughput_per_s\": %g", 5 + noise(i));
}

Test(compare, base_of_zero)
{
    struct pair p;
    struct fake a = base, b = new;

    a.values = zero_values;
    b.values = some_values;
    compare_fakes(&p, &a, &b, (struct compare_rules){0});
    const struct compare_row *r = row_of(&p.c, "throughput_per_s");

    cr_expect_eq(r->verdict, VERDICT_BETTER);
    cr_expect(!r->relative);
    cr_expect_float_eq(r->effect, 5, 1e-12, "in the metric's unit");
    release(&p);
}

/* A difference that is shown, but smaller than the margin: neither worse nor the same. */
static void slightly_worse(FILE *out, int i)
{
    fprintf(out, "\"throughput_per_s\": %g", 985 + 8 * noise(i));
}

Test(compare, within_the_margin_as_measured)
{
    struct pair p;
    struct fake b = new;

    b.values = slightly_worse;
    compare_fakes(&p, &base, &b, (struct compare_rules){.margin = 0.017});
    expect(&p.c, "throughput_per_s", VERDICT_UNDECIDED);
    cr_expect(row_of(&p.c, "throughput_per_s")->p_differs < 0.05);
    release(&p);
    compare_fakes(&p, &base, &b, (struct compare_rules){.margin = 0.01});
    expect(&p.c, "throughput_per_s", VERDICT_WORSE);
    release(&p);
    compare_fakes(&p, &base, &b, (struct compare_rules){.margin = 0.05});
    expect(&p.c, "throughput_per_s", VERDICT_SAME);
    release(&p);
}

Test(compare, parameters)
{
    struct pair p;
    struct fake a = base, b = base;
    static const char *const meant[] = {"vms.web.guest"};
    struct compare_rules rules = {.differs = meant, .ndiffers = 1};

    a.scenario = "{\"seed\": \"1\", \"x\": {\"y\": 1}, \"vms\": [{\"name\": \"db\"}, {\"name\": "
                 "\"web\", \"guest\": {\"policy\": \"bare\"}}]}";
    b.scenario = "{\"seed\": \"2\", \"x\": {\"y\": 2, \"z\": 3}, \"vms\": [{\"name\": \"web\", "
                 "\"guest\": {\"policy\": \"cps-load\"}}, {\"name\": \"db\"}]}";
    compare_fakes(&p, &a, &b, (struct compare_rules){0});
    cr_assert_eq(p.c.nwarnings, 3u);
    cr_expect_str_eq(p.c.warning[0], "x.y differs: 1 in BASE, 2 in NEW");
    cr_expect_str_eq(p.c.warning[1], "x.z differs: nothing in BASE, 3 in NEW");
    cr_expect_str_eq(p.c.warning[2], "vms.web.guest.policy differs: bare in BASE, cps-load in NEW");
    cr_expect(!p.c.failed);
    release(&p);
    compare_fakes(&p, &a, &b, rules);
    cr_expect_eq(p.c.nwarnings, 2u, "what is meant to differ is no warning");
    release(&p);
    rules.strict = true;
    compare_fakes(&p, &a, &b, rules);
    cr_expect(p.c.failed, "with --strict a warning fails");
    release(&p);
}

/* ---- one verdict in every form ---- */

static char *written(int (*write)(FILE *, const struct compare *), const struct compare *c)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    cr_assert(write(out, c) == 0);
    fclose(out);
    return text;
}

/* The text between `from` and `to` behind `key`; "" when it is not there. malloc'ed. */
static char *between(const char *text, const char *key, const char *from, const char *to)
{
    const char *at = strstr(text, key);

    at = at ? strstr(at + strlen(key), from) : NULL;
    if (!at)
        return strdup("");
    at += strlen(from);
    return strndup(at, (size_t)(strstr(at, to) - at));
}

static void agree(const char *form, const char *metric, bool says, bool fails, const char *text)
{
    cr_expect_eq(says, fails, "%s says of %s that it %s:\n%s", form, metric,
                 says ? "fails" : "passes", text);
}

static void check_row(const struct compare *c, const struct compare_row *r, char *const form[6])
{
    const bool fails = compare_fails(c, r);
    char key[80], *part;
    cJSON *root = cJSON_Parse(form[0]);
    const cJSON *item, *rows = cJSON_GetObjectItemCaseSensitive(root, "rows");
    size_t found = 0;

    cJSON_ArrayForEach(item, rows)
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "metric"));

        if (strcmp(name, r->metric->key) != 0)
            continue;
        found++;
        agree("JSON", name, cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "fails")), fails,
              form[0]);
        cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "verdict")),
                         verdict_name(r->verdict));
    }
    cr_expect_eq(found, 1u);
    cJSON_Delete(root);
    snprintf(key, sizeof(key), "\n,%s,", r->metric->key);
    part = between(form[1], key, ",", "\n");
    cr_expect(strncmp(part, verdict_name(r->verdict), strlen(verdict_name(r->verdict))) == 0,
              "CSV: %s", part);
    agree("CSV", r->metric->key,
          strstr(part, ",yes,paired") != NULL || strstr(part, ",yes,equal") ||
              strstr(part, ",yes,welch"),
          fails, form[1]);
    free(part);
    snprintf(key, sizeof(key), "name=\"%s\"", r->metric->key);
    part = between(form[2], key, ">", "</testcase>");
    agree("JUnit", r->metric->key, strstr(part, "<failure") != NULL, fails, form[2]);
    cr_expect_eq(strstr(part, "<skipped") != NULL, !fails && r->verdict == VERDICT_UNDECIDED);
    free(part);
    snprintf(key, sizeof(key), "::error title=%s::", r->metric->key);
    agree("annotations", r->metric->key, strstr(form[3], key) != NULL, fails, form[3]);
    char *words = compare_words(c, r);

    snprintf(key, sizeof(key), "| **%s** |", words);
    agree("Markdown", r->metric->key, strstr(form[4], key) != NULL, fails, form[4]);
    cr_expect(strstr(form[5], words), "table: no '%s' in\n%s", words, form[5]);
    free(words);
}

static void check_forms(const struct compare *c)
{
    char *form[6] = {written(compare_write_json, c),     written(compare_write_csv, c),
                     written(compare_write_junit, c),    written(compare_write_annotations, c),
                     written(compare_write_markdown, c), written(compare_write_table, c)};
    char *summary = compare_summary(c);
    char *failures = between(form[2], "<testsuite ", "failures=\"", "\"");
    cJSON *root = cJSON_Parse(form[0]);
    size_t fails = c->rules.strict ? c->nwarnings : 0;

    for (size_t i = 0; i < c->nrows; i++) {
        check_row(c, &c->row[i], form);
        fails += compare_fails(c, &c->row[i]);
    }
    cr_expect_eq(strtoul(failures, NULL, 10), fails, "JUnit counts %s failures", failures);
    cr_expect_eq(fails > 0, c->failed);
    cr_expect_eq(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "failed")), c->failed);
    cr_expect_eq(strstr(form[3], "::error title=tandem compare::") != NULL, c->failed);
    cr_expect_eq(strstr(form[4], "tandem compare: failed") != NULL, c->failed);
    for (int i = 2; i < 6; i++)
        cr_expect(strstr(form[i], summary), "form %d has no '%s':\n%s", i, summary, form[i]);
    free(failures);
    free(summary);
    cJSON_Delete(root);
    for (int i = 0; i < 6; i++)
        free(form[i]);
}

Test(compare, one_verdict_in_every_form)
{
    struct pair p;
    struct fake noisy = new;
    static const struct fake *const sides[][2] = {{&base, &new}, {&base, &base}, {&new, &base}};

    for (int strict = 0; strict < 2; strict++)
        for (size_t i = 0; i < 3; i++) {
            compare_fakes(&p, sides[i][0], sides[i][1], (struct compare_rules){.strict = strict});
            check_forms(&p.c);
            release(&p);
        }
    noisy.n = 3;
    compare_fakes(&p, &base, &noisy, (struct compare_rules){.strict = true});
    check_forms(&p.c);
    release(&p);
}

/* Text from users does not break out of a form. */
Test(compare, text_of_users)
{
    struct pair p;
    struct fake a = base, b = base;

    a.scenario = "{\"x|<y>&\\\"z\\\"\": 1}";
    b.scenario = "{\"x|<y>&\\\"z\\\"\": 10}";
    b.fingerprint = "h";
    compare_fakes(&p, &a, &b, (struct compare_rules){0});
    char *junit = written(compare_write_junit, &p.c);
    char *json = written(compare_write_json, &p.c);
    cJSON *root = cJSON_Parse(json);

    cr_expect(strstr(junit, "x|&lt;y&gt;&amp;&quot;z&quot; differs"), "%s", junit);
    cr_expect(root != NULL, "%s", json);
    cJSON_Delete(root);
    free(junit);
    free(json);
    release(&p);
}

/* A value is shown up to a length, which may end within a character; lines and bars stay in theirs. */
Test(compare, text_that_is_cut)
{
    struct pair p;
    struct fake a = base, b = base;
    char scenario[200];

    snprintf(scenario, sizeof(scenario), "{\"x\": \"%079d\u00e9z\", \"y\": \"1\\n# |<b>\"}", 0);
    b.scenario = scenario;
    b.fingerprint = "h";
    compare_fakes(&p, &a, &b, (struct compare_rules){0});
    char *junit = written(compare_write_junit, &p.c);
    char *markdown = written(compare_write_markdown, &p.c);

    cr_expect(strstr(junit, "0? in NEW"), "half a character: %s", junit);
    cr_expect(strchr(junit, '\xc3') == NULL);
    cr_expect(strstr(markdown, "1 # \\|\\<b\\> in NEW"), "%s", markdown);
    free(junit);
    free(markdown);
    release(&p);
}

/* ---- baselines ---- */

static void write_baseline(const char *path, const struct dataset *d)
{
    const struct metric *kept[] = {metric_find("throughput_per_s"), metric_find("latency_p99_us")};
    FILE *out = fopen(path, "w");

    cr_assert(out && baseline_write(out, d, kept, 2) == 0);
    fclose(out);
}

Test(compare, baseline_round_trip)
{
    struct pair p;
    struct dataset again = {0};
    struct store_error err = {0};
    char path[] = "/tmp/tandem-baseline-XXXXXX";
    const int fd = mkstemp(path);

    cr_assert(fd >= 0);
    compare_fakes(&p, &base, &new, (struct compare_rules){0});
    write_baseline(path, &p.base);
    cr_assert_eq(baseline_is(path, &err), 1);
    cr_assert(baseline_read(&again, path, &err) == 0, "%s", err.text);
    cr_assert_eq(again.n, 1u);
    cr_assert_eq(again.point[0].nruns, 12u);
    for (size_t i = 0; i < 12; i++) {
        const struct data_run *a = &again.point[0].run[i], *b = &p.base.point[0].run[i];

        cr_expect_str_eq(a->fingerprint, b->fingerprint);
        cr_expect_eq(a->seed, b->seed);
        cr_expect(a->value[METRIC_THROUGHPUT] == b->value[METRIC_THROUGHPUT]);
        cr_expect(isnan(a->value[METRIC_BARRIERS]), "only what was chosen is kept");
    }
    cr_expect_eq(baseline_fits(&again, &p.base, "b.json", "how", &err), 0);
    dataset_free(&again);
    release(&p);
    remove(path);
}

/* The same events are identical, also where only a metric is asked for that the base does not keep. */
Test(compare, identical_without_the_metric)
{
    struct pair p = {0};
    const struct metric *m[] = {metric_find("barriers_per_s")};
    const struct compare_rules rules = {.margin = 0.02, .metrics = m, .nmetrics = 1};
    struct store_error err;

    add(&p.base, &base);
    add(&p.new, &base);
    for (size_t i = 0; i < p.base.point[0].nruns; i++)
        p.base.point[0].run[i].value[METRIC_BARRIERS] = NAN;
    cr_assert(compare_make(&p.c, &p.base, &p.new, "BASE", "NEW", &rules, &err) == 0);
    cr_expect_eq(p.c.verdict, VERDICT_IDENTICAL);
    release(&p);
}
