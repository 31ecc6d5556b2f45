/* SPDX-License-Identifier: MIT */
/* Comparisons: what is matched, and what is judged how. */
#include "compare_fake.h"

#include "study/baseline.h"

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

static int with_value; /* runs of `some_left` that have one */

static void some_left(FILE *out, int i)
{
    fputs("\"latency_mean_us\": 5", out);
    if (i < with_value)
        fprintf(out, ", \"throughput_per_s\": %g", 1000 + noise(i));
}

/* A run without a value is no missing number: fewer of them are judged by Fisher's exact test. Of 12 and
 * 12 runs, 12 with a value against 9 have p = 0.109, against 5 p = 0.0023 (by hand: C(12,k) / C(24,12)). */
Test(compare, lost_values)
{
    static const struct {
        int base, new;
        enum verdict verdict;
    } cases[] = {{12, 9, VERDICT_UNDECIDED}, {12, 5, VERDICT_WORSE}, {12, 0, VERDICT_WORSE},
                 {2, 0, VERDICT_UNDECIDED},  {9, 12, VERDICT_SAME},  {11, 1, VERDICT_WORSE},
                 {12, 12, VERDICT_SAME}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct compare_rules rules = {.margin = 0.02, .confidence = 0.95};
        struct pair p = {0};
        struct fake a = base, b = new;
        struct store_error err = {0};

        a.values = b.values = some_left;
        with_value = cases[i].base;
        add(&p.base, &a);
        with_value = cases[i].new;
        add(&p.new, &b);
        cr_assert(compare_make(&p.c, &p.base, &p.new, "BASE", "NEW", &rules, &err) == 0);
        expect(&p.c, "throughput_per_s", cases[i].verdict);
        if (cases[i].base == 12 && cases[i].new == 9)
            cr_expect_float_eq(row_of(&p.c, "throughput_per_s")->p_lost, 0.1086957, 1e-6);
        release(&p);
    }
}

/* The same events with a metric gone: not identical, unless one side never kept it. */
Test(compare, same_events_without_a_metric)
{
    for (int partial = 0; partial < 2; partial++) {
        const struct compare_rules rules = {.margin = 0.02, .confidence = 0.95};
        struct pair p = {0};
        struct store_error err = {0};

        add(&p.base, &base);
        add(&p.new, &base);
        p.new.point[0].partial = partial;
        for (size_t i = 0; i < p.new.point[0].nruns; i++)
            p.new.point[0].run[i].value[METRIC_BARRIERS] = NAN;
        cr_assert(compare_make(&p.c, &p.base, &p.new, "BASE", "NEW", &rules, &err) == 0);
        cr_expect_eq(p.c.verdict, partial ? VERDICT_IDENTICAL : VERDICT_WORSE);
        release(&p);
    }
}

/* What a baseline did not keep cannot be said to have had no value. */
Test(compare, metric_that_is_not_kept)
{
    const struct metric *m[] = {metric_find("power_w"), metric_find("throughput_per_s")};
    const struct compare_rules rules = {
        .margin = 0.02, .confidence = 0.95, .metrics = m, .nmetrics = 2};

    for (int partial = 0; partial < 2; partial++) {
        struct pair p = {0};
        struct store_error err = {0};

        add(&p.base, &base);
        add(&p.new, &new);
        p.base.point[0].partial = partial;
        for (size_t i = 0; i < p.new.point[0].nruns; i++)
            p.new.point[0].run[i].value[METRIC_POWER] = 5;
        cr_assert(compare_make(&p.c, &p.base, &p.new, "BASE", "NEW", &rules, &err) == 0);
        expect(&p.c, "power_w", partial ? VERDICT_UNDECIDED : VERDICT_CHANGED);
        release(&p);
    }
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
    p.base.point[0].partial = true;
    for (size_t i = 0; i < p.base.point[0].nruns; i++)
        p.base.point[0].run[i].value[METRIC_BARRIERS] = NAN;
    cr_assert(compare_make(&p.c, &p.base, &p.new, "BASE", "NEW", &rules, &err) == 0);
    cr_expect_eq(p.c.verdict, VERDICT_IDENTICAL);
    release(&p);
}
