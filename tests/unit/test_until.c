/* SPDX-License-Identifier: MIT */
/* Replications until an interval is narrow: the same runs whoever makes them, in whatever order. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "study_fake.h"

TestSuite(until, .init = fake_dir_make, .fini = fake_dir_remove, .timeout = 120);

#define POINTS 12

static const struct study_options one = {.workers = 1, .shard = 1, .shards = 1};
static const struct study_options four = {.workers = 4, .shard = 1, .shards = 1};

/* What the metric is at replication r of point i: points differ in how much it scatters. Point 0 is a
 * constant, point 1 has no value, 2 has a mean of 0, 3 is negative, 4 scatters too much to end, 5 has a value
 * in every other run only. */
static double value_at(int64_t i, int64_t r)
{
    uint64_t x = (uint64_t)(i * 1000 + r) * 0x9e3779b97f4a7c15u + 12345;

    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 32)) * 0x94d049bb133111ebu;

    const double noise = (double)((x ^ (x >> 31)) >> 11) * 0x1p-53 - 0.5;

    switch (i) {
    case 0:
        return 42;
    case 1:
        return NAN;
    case 2:
        return r % 2 ? 1 : -1;
    case 3:
        return -100 + 20 * noise;
    case 4:
        return 100 + 400 * noise;
    case 5:
        return r % 2 ? NAN : 100 + 5 * noise;
    default:
        return 100 + (double)i * 3 * noise;
    }
}

static int run_value_of(const struct scenario *s, uint64_t seed, int64_t replication,
                        struct run_values **out, char *error, size_t error_size)
{
    const int status = fake_run(s, seed, replication, out, error, error_size);

    *run_value(*out, 0, METRIC_THROUGHPUT) = value_at((int64_t)s->duration, replication);
    return status;
}

/* Later replications of a point are faster: results come in another order than they were begun in. */
static int uneven_run(const struct scenario *s, uint64_t seed, int64_t replication,
                      struct run_values **out, char *error, size_t error_size)
{
    const struct timespec t = {.tv_nsec = 1000000 * ((7 * s->duration + 3 * replication) % 5)};

    nanosleep(&t, NULL);
    return run_value_of(s, seed, replication, out, error, error_size);
}

static const struct sweep_until *rule(double half_width, int64_t max)
{
    static struct sweep_until u;

    u = (struct sweep_until){
        .metric = &metrics[METRIC_THROUGHPUT], .half_width = half_width, .max = max};
    return &u;
}

/* The number of replications by the definition of the t interval, computed here. */
static int64_t wanted(int64_t i, int64_t least, double half_width, int64_t max)
{
    for (int64_t n = least; n < max; n++) {
        double sum = 0, squares = 0;
        int k = 0;

        for (int64_t r = 0; r < n; r++)
            if (!isnan(value_at(i, r))) {
                sum += value_at(i, r);
                k++;
            }
        for (int64_t r = 0; r < n; r++)
            if (!isnan(value_at(i, r)))
                squares += pow(value_at(i, r) - sum / k, 2);
        if (k == 0)
            return n;
        const double mean = sum / k;
        const double width =
            k < 2 ? INFINITY : gsl_cdf_tdist_Pinv(0.975, k - 1) * sqrt(squares / (k - 1) / k);

        if (width < 1e-9 || (fabs(mean) > 1e-9 && width <= half_width * fabs(mean)))
            return n;
    }
    return max;
}

/* Replications in the store per point, which must be 0 to n - 1. */
static bool count_run(void *arg, const struct store_run *r)
{
    int64_t *n = arg;

    cr_expect(r->replication == *n, "replication %d at place %d", (int)r->replication, (int)*n);
    ++*n;
    return true;
}

static void expect_counts(const char *path, const struct study *st, int64_t least,
                          double half_width, int64_t max)
{
    struct store_error err = {0};
    struct store *s = store_open(path, STORE_READ, &err);

    cr_assert(s, "%s", err.text);
    for (size_t i = 0; i < st->npoints; i++) {
        const int64_t want = wanted((int64_t)i, least, half_width, max);
        int64_t n = 0;

        cr_assert(store_runs(s, st->point[i].row.hash, count_run, &n, &err) == 0);
        cr_expect(n == want, "point %zu has %d runs, not %d", i, (int)n, (int)want);
    }
    store_close(s);
}

static void expect_same(const char *a, const char *b)
{
    char *x = fake_export(a), *y = fake_export(b);

    cr_expect_str_eq(x, y);
    free(x);
    free(y);
}

Test(until, as_many_as_the_interval_needs)
{
    struct study *st = fake_study(POINTS, 3);
    struct study_counts c;
    struct store_error err = {0};
    int64_t all = 0;

    st->until = rule(0.02, 40);
    cr_assert(fake_session(fake_path("a.db"), st, &one, run_value_of, &c, &err) == 0, "%s",
              err.text);
    expect_counts(fake_path("a.db"), st, 3, 0.02, 40);
    for (int64_t i = 0; i < POINTS; i++)
        all += wanted(i, 3, 0.02, 40);
    cr_expect(c.planned == all && c.done == all, "%d planned, %d done, %d wanted", (int)c.planned,
              (int)c.done, (int)all);
    cr_expect(c.valueless == 1, "%d points without a value", (int)c.valueless);
    /* Mean 0, and what scatters too much. */
    cr_expect(c.wide >= 2, "%d points are too wide", (int)c.wide);
    cr_expect(wanted(0, 3, 0.02, 40) == 3 && wanted(1, 3, 0.02, 40) == 3 &&
              wanted(2, 3, 0.02, 40) == 40 && wanted(4, 3, 0.02, 40) == 40);
    /* Some points in between, or nothing has been shown. */
    cr_expect(wanted(3, 3, 0.02, 40) > 3 && wanted(3, 3, 0.02, 40) < 40);

    /* Again: nothing to do. A narrower interval and a larger end go on from there. */
    cr_assert(fake_session(fake_path("a.db"), st, &one, run_value_of, &c, &err) == 0);
    cr_expect(c.done == 0 && c.before == all && c.planned == all);
    st->until = rule(0.01, 60);
    cr_assert(fake_session(fake_path("a.db"), st, &four, run_value_of, &c, &err) == 0);
    cr_expect(c.before == all && c.done > 0, "%d %d", (int)c.before, (int)c.done);
    expect_counts(fake_path("a.db"), st, 3, 0.01, 60);
    fake_study_free(st);
}

static void kill_a_session(const char *path, struct study *st, int sig, long after_us)
{
    const struct timespec t = {.tv_nsec = after_us * 1000};
    const pid_t pid = fork();

    if (pid == 0) {
        struct study_counts c;
        struct store_error err;

        fake_session(path, st, &four, uneven_run, &c, &err);
        _exit(0);
    }
    nanosleep(&t, NULL);
    kill(pid, sig);
    waitpid(pid, NULL, 0);
}

Test(until, same_runs_for_any_split)
{
    struct study *st = fake_study(POINTS, 2);
    struct study_counts c;
    struct store_error err = {0};
    struct store *out, *in;

    st->until = rule(0.03, 30);
    cr_assert(fake_session(fake_path("j1.db"), st, &one, run_value_of, &c, &err) == 0);
    expect_counts(fake_path("j1.db"), st, 2, 0.03, 30);
    cr_assert(fake_session(fake_path("j4.db"), st, &four, uneven_run, &c, &err) == 0);
    expect_same(fake_path("j1.db"), fake_path("j4.db"));

    for (int i = 0; i < 5; i++)
        kill_a_session(fake_path("k.db"), st, i % 2 ? SIGKILL : SIGINT, 15000 + 9000 * i);
    cr_assert(fake_session(fake_path("k.db"), st, &four, uneven_run, &c, &err) == 0);
    cr_expect(c.before > 0, "nothing was kept of the sessions that were ended");
    expect_same(fake_path("j1.db"), fake_path("k.db"));

    for (int k = 1; k <= 3; k++) {
        const struct study_options o = {.workers = 2, .shard = k, .shards = 3};
        char name[16];

        snprintf(name, sizeof(name), "s%d.db", k);
        cr_assert(fake_session(fake_path(name), st, &o, uneven_run, &c, &err) == 0);
        out = store_open(fake_path("merged.db"), STORE_CREATE, &err);
        in = store_open(fake_path(name), STORE_READ, &err);
        cr_assert(out && in && store_merge(out, in, &err) == 0, "%s", err.text);
        store_close(out);
        store_close(in);
    }
    expect_same(fake_path("j1.db"), fake_path("merged.db"));
    fake_study_free(st);
}

/* Replication 0 of every point, and 4 of those that get so far. */
static int broken_run(const struct scenario *s, uint64_t seed, int64_t replication,
                      struct run_values **out, char *error, size_t error_size)
{
    if (replication != 0 && replication != 4)
        return run_value_of(s, seed, replication, out, error, error_size);
    snprintf(error, error_size, "no progress");
    return 4;
}

Test(until, a_failure_stops_its_point_until_it_is_repaired)
{
    struct study *st = fake_study(POINTS, 3);
    struct study_counts c;
    struct store_error err = {0};

    st->until = rule(0.02, 20);
    cr_expect(fake_session(fake_path("f.db"), st, &four, broken_run, &c, &err) == 4);
    cr_expect(c.failed == POINTS && c.done == 2 * POINTS, "%d failed, %d done", (int)c.failed,
              (int)c.done);
    cr_expect(fake_session(fake_path("f.db"), st, &four, uneven_run, &c, &err) == 0);
    expect_counts(fake_path("f.db"), st, 3, 0.02, 20);
    fake_study_free(st);
}

Test(until, a_number_on_the_command_line_is_that_number)
{
    struct study *st = fake_study(POINTS, 3);
    struct study_options o = one;
    struct study_counts c;
    struct store_error err = {0};
    int64_t missing[POINTS];

    st->until = rule(0.02, 20);
    o.replications = 1;
    cr_assert(fake_session(fake_path("n.db"), st, &o, run_value_of, &c, &err) == 0);
    cr_expect(c.done == POINTS && c.planned == POINTS);
    o.replications = 25;
    cr_assert(fake_session(fake_path("n.db"), st, &o, run_value_of, &c, &err) == 0);
    cr_expect(c.done == 24 * POINTS && c.before == POINTS);
    /* What is more than needed does no harm: the rule looks at the first ones only. */
    struct store *s = store_open(fake_path("n.db"), STORE_READ, &err);

    cr_assert(s && study_plan(st, s, &one, &c, missing, &err) == 0, "%s", err.text);
    int64_t all = 0;

    for (int64_t i = 0; i < POINTS; i++) {
        all += wanted(i, 3, 0.02, 20);
        cr_expect(missing[i] == 0);
    }
    cr_expect(c.planned == all && c.before == all && c.most == all);
    store_close(s);
    fake_study_free(st);
}

Test(until, plan_says_the_least_and_the_most)
{
    struct study *st = fake_study(4, 1);
    struct study_counts c;
    struct store_error err = {0};
    int64_t missing[4];

    st->until = rule(0.02, 20);
    cr_assert(study_plan(st, NULL, &one, &c, missing, &err) == 0);
    /* One replication has no interval: two are the least. */
    cr_expect(c.planned == 8 && c.most == 80 && missing[3] == 2, "%d %d", (int)c.planned,
              (int)c.most);
    fake_study_free(st);
}
