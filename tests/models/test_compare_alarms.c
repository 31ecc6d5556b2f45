/* SPDX-License-Identifier: MIT */
/*
 * How often a comparison says that something has become worse: at most at its level when only the seeds
 * are others, and nearly always when something is worse. With real runs, whose metrics are neither normal
 * nor independent of each other.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "study/compare.h"

#define COMPARISONS  200
#define REPLICATIONS 6

/* A database on eight pCPUs, the first `busy` of which a neighbour keeps busy. */
static struct scenario *scenario(const char *policy, int busy)
{
    struct conf_errors e = {0};
    struct conf_tree *t;
    struct scenario *s;
    char text[600];

    snprintf(text, sizeof(text),
             "machine: flat-8\n"
             "duration: 220ms\n"
             "warmup: 20ms\n"
             "vms:\n"
             "  - {name: service, vcpus: 8, pin: \"0-7\", workload: mysql-set, guest: {policy: "
             "%s}}\n"
             "  - {name: neighbour, role: background, vcpus: %d, pin: \"0-%d\", workload: "
             "cpu-bound}\n",
             policy, busy, busy - 1);
    t = conf_read_text("alarms.yaml", text, strlen(text), &e);
    s = t ? scenario_from_tree(t, ".", &e) : NULL;
    conf_errors_print(&e, stderr);
    cr_assert(s);
    conf_free(t);
    return s;
}

static void add_runs(struct dataset *d, const struct scenario *s, uint64_t seed)
{
    struct run_values *runs[REPLICATIONS];
    const struct manifest m = {.version = "1",
                               .git = "-",
                               .machine = "m",
                               .scenario_file = "-",
                               .echo = s->echo,
                               .hash = s->hash,
                               .seed = seed};
    struct store_error err;
    char *text = NULL, error[200];
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (int i = 0; i < REPLICATIONS; i++)
        cr_assert(run_replication(s, seed, i, &runs[i], error, sizeof(error)) == 0, "%s", error);
    cr_assert(result_write_json(out, &m, runs, REPLICATIONS) == 0 && fclose(out) == 0);
    cr_assert(dataset_add_text(d, "runs", text, &err) == 0, "%s", err.text);
    free(text);
    for (int i = 0; i < REPLICATIONS; i++)
        run_values_free(runs[i]);
}

/* Comparisons that say `worse`, of n, with seeds from `first` on. */
static int worse(const struct scenario *base, const struct scenario *new, int n, uint64_t first)
{
    const struct compare_rules rules = {.margin = 0.02, .confidence = 0.95};
    int found = 0;

    for (int k = 0; k < n; k++) {
        struct dataset a = {0}, b = {0};
        struct store_error err;
        struct compare c;

        add_runs(&a, base, first + 2 * (uint64_t)k);
        add_runs(&b, new, first + 2 * (uint64_t)k + 1);
        cr_assert(compare_make(&c, &a, &b, "base", "new", &rules, &err) == 0, "%s", err.text);
        cr_assert(c.verdict != VERDICT_IDENTICAL);
        cr_assert(c.tests >= 5, "%zu tests", c.tests);
        found += c.verdict == VERDICT_WORSE;
        compare_free(&c);
        dataset_free(&a);
        dataset_free(&b);
    }
    return found;
}

/* 200 at 5 %: 10 are expected, and more than 17 come in one of a hundred such tests. */
Test(compare_alarms, other_seeds)
{
    struct scenario *s = scenario("cps-load", 2);
    int found;

    if (getenv("TANDEM_SHORT"))
        cr_skip_test("200 comparisons are for the long tests");
    found = worse(s, s, COMPARISONS, 1000);
    fprintf(stderr, "compare: %d false alarms in %d comparisons of other seeds\n", found,
            COMPARISONS);
    cr_expect(found <= 17, "%d of %d comparisons of other seeds say worse", found, COMPARISONS);
    scenario_free(s);
}

/* A guest that does not look, on a fuller host. */
Test(compare_alarms, something_worse)
{
    struct scenario *before = scenario("cps-load", 2), *after = scenario("bare", 6);
    const int found = worse(before, after, 20, 5000);

    cr_expect(found >= 19, "%d of 20", found);
    scenario_free(before);
    scenario_free(after);
}
