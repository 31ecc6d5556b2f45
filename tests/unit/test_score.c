/* SPDX-License-Identifier: MIT */
/* Scores against values computed by hand, claims against cells made by hand. */
#include <locale.h>
#include <math.h>

#include "plot_fake.h"
#include "study/score.h"

TestSuite(score, .init = fake_dir_make, .fini = fake_dir_remove, .timeout = 60);

static void near(const char *what, double got, double want)
{
    cr_expect(fabs(got - want) < 1e-6 || (isnan(got) && isnan(want)), "%s is %g, not %g", what, got,
              want);
}

Test(score, rank_correlation_shares_the_ranks_of_equal_values)
{
    near("without ties", score_rank((double[]){1, 2, 3, 4, 5}, (double[]){2, 1, 4, 3, 5}, 5), 0.8);
    /* Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5). */
    near("with ties", score_rank((double[]){1, 2, 2, 3}, (double[]){10, 30, 20, 40}, 4),
         0.9486832980505138);
    near("turned round", score_rank((double[]){1, 2, 3}, (double[]){9, 8, 1}, 3), -1);
    near("constant", score_rank((double[]){1, 2, 3}, (double[]){7, 7, 7}, 3), NAN);
    near("two cells", score_rank((double[]){1, 2}, (double[]){1, 2}, 2), NAN);
}

Test(score, is_over_the_cells_that_are_there)
{
    const double published[] = {10, -2, 4, 0}, predicted[] = {5, -1, NAN, 1};
    const struct score s = score_of(published, predicted, 4);
    const struct score none = score_of(published, predicted + 2, 1);

    cr_expect_eq(s.n, 3);
    cr_expect_eq(s.signs, 2, "a published 0 has no sign");
    near("published mean", s.published, 8.0 / 3);
    near("mean", s.mean, 5.0 / 3);
    near("factor", s.factor, 5.0 / 8);
    near("error", s.error, (5 + 1 + 1) / 3.0);
    near("rank", s.rank, 1);
    cr_expect_eq(none.n, 0);
    near("mean of nothing", none.mean, NAN);
    near("factor of nothing", none.factor, NAN);
}

static const char table[] = "bench,vms,cpus,delta,host\n"
                            "a,2,2,1,8\na,2,8,10,8\na,4,4,20,8\na,2,16,40,8\n"
                            "b,2,2,0.5,8\nb,2,8,-1,8\nb,4,4,-2,8\nb,2,16,-4,8\n";
static const char description[] =
    "source: somewhere\n"
    "facts: table.csv\n"
    "change: delta\n"
    "metric: throughput_per_s\n"
    "axes: {vms.vm.workload: bench, vms.vm.count: vms, vms.vm.vcpus: cpus}\n"
    "rename: {bench: {a: a-long}}\n"
    "policy: {axis: policy, base: bare, new: other}\n"
    "group: bench\n"
    "ratio: {sold: [vms, cpus], of: host}\n"
    "predictors: {null: {below: 0, above: {a: 1, b: -1}}, oracle: group-means}\n"
    "claims:\n"
    "  - {claim: small-change, limit: 2, side: below}\n"
    "  - {claim: rank, limit: 0.5, group: a}\n"
    "  - {claim: trend, limit: 100%, along: vms, direction: up, group: a, basis: calibrated}\n"
    "  - {claim: mean, limit: 2, group: a}\n"
    "  - {claim: no-gain, group: b}\n";

static struct facts *made_facts(void)
{
    struct conf_errors e = {0};
    struct facts *f;

    fake_file("table.csv", table);
    f = facts_read(fake_file("facts.yaml", description), &e);
    conf_errors_print(&e, stderr);
    cr_assert(f && e.n == 0);
    return f;
}

/* Changes in the order of the table, then half-widths. */
static struct scoreboard board_of(const struct facts *f, const double change[8],
                                  const double ci95[8])
{
    struct scoreboard b = {.facts = f, .cell = calloc(8, sizeof(*b.cell))};

    cr_assert(b.cell && f->nrows == 8);
    for (size_t i = 0; i < 8; i++)
        b.cell[i].simulated = (struct summary){change[i], ci95[i], isfinite(change[i]) ? 3 : 0};
    cr_assert(scoreboard_judge(&b));
    return b;
}

static const double some[8] = {0.5, 5, 20, 60, 0, -1, 1, -1};
static const double widths[8] = {1, 1, 1, 1, 1, 1, 2, 1};

Test(score, facts_know_ratios_groups_and_names)
{
    struct facts *f = made_facts();

    cr_expect_eq(f->ngroups, 2);
    near("ratio", f->row[3].ratio, 4);
    cr_expect_eq(facts_side_of(f, 0), SIDE_BELOW);
    cr_expect_eq(facts_side_of(f, 1), SIDE_ABOVE);
    cr_expect_str_eq(facts_value(f, 0, 0), "a-long");
    cr_expect_str_eq(facts_value(f, 4, 0), "b");
    facts_free(f);
}

Test(score, predictors_stand_beside_the_simulation)
{
    struct facts *f = made_facts();
    struct scoreboard b = board_of(f, some, widths);
    const struct score *a = b.line[0].by, *all = b.line[2].by;

    cr_expect_eq(b.nlines, 7, "two groups and all, above and below, and all of all");
    cr_expect(b.line[0].group == 0 && b.line[0].side == SIDE_ABOVE && b.line[0].cells == 3);
    near("published", a[PREDICTOR_SIMULATED].published, 70.0 / 3);
    near("simulated", a[PREDICTOR_SIMULATED].mean, 85.0 / 3);
    near("factor", a[PREDICTOR_SIMULATED].factor, 85.0 / 70);
    near("error", a[PREDICTOR_SIMULATED].error, 25.0 / 3);
    near("rank", a[PREDICTOR_SIMULATED].rank, 1);
    near("null's mean", a[PREDICTOR_NULL].mean, 1);
    near("null's error", a[PREDICTOR_NULL].error, 67.0 / 3);
    near("null's rank", a[PREDICTOR_NULL].rank, NAN);
    near("oracle's factor", a[PREDICTOR_ORACLE].factor, 1);
    near("oracle's error", a[PREDICTOR_ORACLE].error, (40.0 / 3 + 10.0 / 3 + 50.0 / 3) / 3);
    cr_expect_eq(all[PREDICTOR_NULL].signs, 6);
    /* Published ranks 1 to 6 against 2, 2, 2, 5, 5, 5. */
    near("null's rank over all", all[PREDICTOR_NULL].rank, 13.5 / sqrt(17.5 * 13.5));
    cr_expect_eq(b.line[5].by[PREDICTOR_NULL].signs, 0, "nothing has no sign");
    scoreboard_free(&b);
    facts_free(f);
}

static void verdicts(const struct facts *f, const double change[8], const double ci95[8],
                     const char *want)
{
    struct scoreboard b = board_of(f, change, ci95);
    char got[8] = "";

    for (size_t i = 0; i < f->nclaims; i++)
        got[i] = "hfi"[b.verdict[i].verdict];
    cr_expect_str_eq(got, want, "%s, not %s: %s; %s; %s; %s; %s", got, want, b.verdict[0].found,
                     b.verdict[1].found, b.verdict[2].found, b.verdict[3].found,
                     b.verdict[4].found);
    cr_expect_eq(scoreboard_status(&b), strcmp(got, "hhhhh") != 0);
    scoreboard_free(&b);
}

Test(score, claims_hold_fail_or_lack_cells)
{
    struct facts *f = made_facts();
    double v[8], w[8];
#define CELLS(...) (const double[]){__VA_ARGS__}

    verdicts(f, some, widths, "hhhhh");
    /* A cell at or below 1 that changes; one that is not there. */
    verdicts(f, CELLS(0.5, 5, 20, 60, -2, -1, 1, -1), widths, "fhhhh");
    verdicts(f, CELLS(0.5, 5, 20, 60, NAN, -1, 1, -1), widths, "ihhhh");
    verdicts(f, CELLS(3, 5, 20, 60, NAN, -1, 1, -1), widths, "fhhhh");
    /* The whole group is needed for its rank, its trend and its mean. */
    verdicts(f, CELLS(0.5, 5, NAN, 60, 0, -1, 1, -1), widths, "hiiih");
    verdicts(f, CELLS(0.5, 20, 5, 1, 0, -1, 1, -1), widths, "hfffh");
    /* A gain counts when it is outside of its interval, and is not known without one. */
    verdicts(f, CELLS(0.5, 5, 20, 60, 0, -1, 1, -1), CELLS(1, 1, 1, 1, 1, 1, 0.9, 1), "hhhhf");
    verdicts(f, CELLS(0.5, 5, 20, 60, 0, -1, 1, -1), CELLS(1, 1, 1, 1, 1, 1, NAN, 1), "hhhhi");
    verdicts(f, CELLS(0.5, 5, 20, 60, 0, -1, 0, -1), CELLS(1, 1, 1, 1, 1, 1, NAN, 1), "hhhhh");
    for (int i = 0; i < 8; i++)
        v[i] = w[i] = NAN;
    verdicts(f, v, w, "iiiii");
    facts_free(f);
}

/* One point with a run per value; `skip`: this replication is not there. */
static void put_cell(struct store *s, const char *policy, const double *value, int n, int skip)
{
    static int position;
    cJSON *o = cJSON_CreateObject();
    char hash[33];

    cJSON_AddStringToObject(o, "vms.vm.workload", "a-long");
    cJSON_AddStringToObject(o, "vms.vm.count", "2");
    cJSON_AddStringToObject(o, "vms.vm.vcpus", "8");
    cJSON_AddStringToObject(o, "policy", policy);
    put_point(s, o, position++, hash);
    for (int k = 0; k < n; k++) {
        struct run_values *v;

        if (k == skip)
            continue;
        v = new_run(k);
        *run_value(v, 0, METRIC_THROUGHPUT) = value[k];
        store_run(s, hash, v);
    }
}

static void made_store(const double *base, const double *new, int skip, struct dataset *d)
{
    struct store_error err;
    struct store *s = store_open(fake_path("made.db"), STORE_CREATE, &err);

    cr_assert(s && store_begin(s, &err) == 0, "%s", err.text);
    put_cell(s, "bare", base, 3, skip);
    put_cell(s, "other", new, 3, -1);
    cr_assert(store_commit(s, &err) == 0);
    store_close(s);
    cr_assert(dataset_add(d, fake_path("made.db"), &err) == 0, "%s", err.text);
}

Test(score, changes_are_paired_by_replication)
{
    const bool used[2] = {true, true};
    struct facts *f = made_facts();
    struct store_error err = {0};
    struct dataset d = {0};
    struct scoreboard b;

    /* +10 and +20 %; the third run has no partner. */
    made_store((double[]){100, 200, 0}, (double[]){110, 240, 999}, 2, &d);
    cr_assert(scoreboard_make(&b, f, &d, used, &err) == 0, "%s", err.text);
    cr_expect_eq(b.nthere, 1);
    cr_expect_eq(b.cell[1].simulated.n, 2);
    near("mean", b.cell[1].simulated.mean, 15);
    /* Student's t at 97.5 % with one degree of freedom is 12.7062, the standard error 5. */
    cr_expect(fabs(b.cell[1].simulated.ci95 - 63.531) < 1e-3, "%g", b.cell[1].simulated.ci95);
    near("no cell", b.cell[2].simulated.mean, NAN);
    scoreboard_free(&b);
    dataset_free(&d);
    facts_free(f);
}

Test(score, runs_that_are_alike_have_no_interval)
{
    const bool used[2] = {true, true};
    struct facts *f = made_facts();
    struct store_error err = {0};
    struct dataset d = {0};
    struct scoreboard b;

    made_store((double[]){100, 100, 100}, (double[]){102, 102, 102}, -1, &d);
    cr_assert(scoreboard_make(&b, f, &d, used, &err) == 0, "%s", err.text);
    near("mean", b.cell[1].simulated.mean, 2);
    near("interval", b.cell[1].simulated.ci95, NAN);
    cr_expect_eq(b.nalike, 1);
    scoreboard_free(&b);
    dataset_free(&d);
    facts_free(f);
}

Test(score, data_that_do_not_fit_are_refused_with_the_reason)
{
    struct facts *f = made_facts();
    struct store_error err = {0};
    struct dataset d = {0};
    struct scoreboard b;

    made_store((double[]){100, 100, 100}, (double[]){102, 102, 102}, -1, &d);
    cr_expect(scoreboard_make(&b, f, &d, (bool[]){false, true}, &err) == -1 && err.status == 2);
    cr_expect_str_eq(err.text, "no point has policy = bare");
    scoreboard_free(&b);
    cr_expect(scoreboard_make(&b, f, &d, (bool[]){false, false}, &err) == -1);
    cr_expect_str_eq(err.text, "no runs to judge: the store is empty");
    scoreboard_free(&b);
    dataset_add(&d, fake_path("made.db"), &err);
    cr_expect(scoreboard_make(&b, f, &d, (bool[]){true, true, true, true}, &err) == -1);
    cr_expect(strstr(err.text, "two points are the same published cell"), "%s", err.text);
    scoreboard_free(&b);
    dataset_free(&d);
    facts_free(f);
}

Test(score, figures_get_the_ratio_and_the_published_change)
{
    struct facts *f = made_facts();
    struct dataset d = {0};
    char *ratio, *published;

    made_store((double[]){100, 100, 100}, (double[]){102, 102, 102}, -1, &d);
    cr_assert(facts_label(f, &d));
    ratio = data_value(&d.point[1], FACTS_RATIO);
    published = data_value(&d.point[1], FACTS_PUBLISHED);
    cr_expect_str_eq(ratio, "2");
    cr_expect_str_eq(published, "10");
    free(ratio);
    free(published);
    dataset_free(&d);
    facts_free(f);
}

Test(score, the_report_is_the_same_in_each_locale_and_has_no_nan)
{
    struct facts *f = made_facts();
    struct scoreboard b = board_of(f, some, widths);
    static const char *const names[] = {"table", "json", "csv"};

    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        cr_skip_test("no locale de_DE.UTF-8");
    setlocale(LC_ALL, "C");

    for (int format = REPORT_TABLE; format <= REPORT_CSV; format++) {
        char *here = NULL, *there = NULL;
        size_t size;
        FILE *out = open_memstream(&here, &size);

        cr_expect(report_write(out, &b, (enum report_format)format, true, "x.db") == 0);
        fclose(out);
        setlocale(LC_ALL, "de_DE.UTF-8");
        out = open_memstream(&there, &size);
        cr_expect(report_write(out, &b, (enum report_format)format, true, "x.db") == 0);
        fclose(out);
        setlocale(LC_ALL, "C");
        cr_expect_str_eq(here, there, "%s", names[format]);
        cr_expect(!strstr(here, "nan") && !strstr(here, "inf"), "%s", here);
        free(here);
        free(there);
    }
    scoreboard_free(&b);
    facts_free(f);
}
