/* SPDX-License-Identifier: MIT */
/* The statistics of comparisons against printed tables, textbook examples and closed forms. */
#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#include "engine/rng.h"
#include "study/stats.h"

#define N(v) (sizeof(v) / sizeof((v)[0]))

static void near(double got, double want, double within, const char *what)
{
    cr_expect(fabs(got - want) <= within, "%s: %.10g, expected %.10g +- %g", what, got, want,
              within);
}

/* Half-widths of intervals for values with standard error 1 are the quantiles of printed tables. */
Test(stats, quantiles_of_student)
{
    static const struct {
        double df, confidence, t;
    } table[] = {{1, 0.95, 12.706}, {2, 0.95, 4.303},  {4, 0.95, 2.776}, {9, 0.95, 2.262},
                 {30, 0.95, 2.042}, {9, 0.90, 1.833},  {9, 0.99, 3.250}, {120, 0.95, 1.980},
                 {5, 0.99, 4.032},  {20, 0.90, 1.725}, {1, 0.90, 6.314}};

    for (size_t i = 0; i < N(table); i++) {
        const struct stats_diff d = {.mean = 10, .se = 1, .df = table[i].df, .n = 2};
        double low, high;

        stats_interval(&d, table[i].confidence, &low, &high);
        near(10 - low, table[i].t, 5e-4, "below");
        near(high - 10, table[i].t, 5e-4, "above");
    }
}

/* With one degree of freedom Student's distribution is Cauchy's: P(T > t) = 1/2 - atan(t) / pi. With
 * two it is P(T > t) = 1/2 - t / (2 sqrt(2 + t^2)). */
Test(stats, tails_in_closed_form)
{
    for (double t = -4; t <= 4; t += 0.5) {
        const struct stats_diff one = {.mean = t, .se = 1, .df = 1, .n = 2};
        const struct stats_diff two = {.mean = 3 + 2 * t, .se = 2, .df = 2, .n = 3};

        near(stats_p_above(&one, 0), 0.5 - atan(t) / acos(-1), 1e-9, "one above");
        near(stats_p_below(&one, 0), 0.5 + atan(t) / acos(-1), 1e-9, "one below");
        near(stats_p_above(&two, 3), 0.5 - t / (2 * sqrt(2 + t * t)), 1e-9, "two above");
        near(stats_p_differs(&one), 1 - 2 * atan(fabs(t)) / acos(-1), 1e-9, "two-sided");
    }
}

/* Student's sleep data (1908): extra hours by two drugs for ten patients. Paired t = 4.0621, p =
 * 0.002833, interval 0.70 to 2.46; Welch t = 1.8608 with 17.776 degrees of freedom, p = 0.07939. */
static const double drug1[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double drug2[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

Test(stats, sleep_paired)
{
    const struct stats_diff d = stats_paired(drug1, drug2, 10);
    double low, high;

    near(d.mean, 1.58, 1e-12, "mean");
    near(d.mean / d.se, 4.0621, 5e-5, "t");
    near(d.df, 9, 0, "df");
    near(stats_p_differs(&d), 0.002833, 5e-7, "p");
    stats_interval(&d, 0.95, &low, &high);
    near(low, 0.7001142, 5e-7, "low");
    near(high, 2.4598858, 5e-7, "high");
}

Test(stats, sleep_welch)
{
    const struct stats_diff d = stats_welch(drug1, 10, drug2, 10);
    double low, high;

    near(d.mean / d.se, 1.8608, 5e-5, "t");
    near(d.df, 17.776, 5e-4, "df");
    near(stats_p_differs(&d), 0.07939, 5e-6, "p");
    stats_interval(&d, 0.95, &low, &high);
    near(low, -0.2054832, 5e-7, "low");
    near(high, 3.3654832, 5e-7, "high");
}

/* Sides of different size and spread, by hand: 1 2 3 4 5 (mean 3, variance 2.5) and 10 12 14 (12, 4):
 * se^2 = 0.5 + 4/3, df = (11/6)^2 / (0.25/4 + (16/9)/2). */
Test(stats, welch_by_hand)
{
    static const double a[] = {1, 2, 3, 4, 5}, b[] = {10, 12, 14};
    const struct stats_diff d = stats_welch(a, N(a), b, N(b));

    near(d.mean, 9, 1e-12, "mean");
    near(d.se, sqrt(11.0 / 6), 1e-12, "se");
    near(d.df, (121.0 / 36) / (1.0 / 16 + 8.0 / 9), 1e-12, "df");
    cr_expect_eq(d.n, 3u);
}

/* Equivalence is the two one-sided tests: the interval at 1 - 2 alpha lies within the bounds exactly
 * when p <= alpha. With Cauchy's distribution both are closed forms. */
Test(stats, equivalence)
{
    const struct stats_diff d = {.mean = 0.25, .se = 0.5, .df = 1, .n = 2};
    const double pi = acos(-1);

    near(stats_p_within(&d, 1), 0.5 - atan(0.75 / 0.5) / pi, 1e-9, "the nearer bound counts");
    for (double alpha = 0.01; alpha < 0.5; alpha += 0.01) {
        double low, high;

        stats_interval(&d, 1 - 2 * alpha, &low, &high);
        const double bound = fmax(fabs(low), fabs(high));

        cr_expect(stats_p_within(&d, bound * 1.0001) <= alpha, "alpha %g", alpha);
        cr_expect(stats_p_within(&d, bound * 0.9999) > alpha, "alpha %g", alpha);
    }
}

/* Holm (1979): with p = 0.01, 0.04, 0.03, 0.005 the corrected values are 0.03, 0.06, 0.06, 0.02. */
Test(stats, holm)
{
    double p[] = {0.01, 0.04, 0.03, 0.005};
    static const double want[] = {0.03, 0.06, 0.06, 0.02};
    double large[] = {0.9, 0.6, 0.7}, none[1] = {0.5};

    stats_holm(p, N(p));
    for (size_t i = 0; i < N(p); i++)
        near(p[i], want[i], 1e-15, "Holm");
    stats_holm(large, N(large));
    for (size_t i = 0; i < N(large); i++)
        near(large[i], 1, 0, "never above 1");
    stats_holm(none, 1);
    near(none[0], 0.5, 0, "one test");
}

/* Values with standard deviation 1 at 95 %, from printed quantiles: with 9 degrees of freedom t(0.975) =
 * 2.262 and t(0.8) = 0.883, so ten see 3.145 / sqrt(10) = 0.9946; with 63, 1.998 + 0.847, so 64 see 0.3557. */
Test(stats, needed)
{
    const struct stats_diff d = {.mean = 0, .se = 0.25, .df = 15, .n = 16};

    cr_expect_eq(stats_needed(&d, 0.95, 0.996, 1000), 10u);
    cr_expect_eq(stats_needed(&d, 0.95, 0.994, 1000), 11u);
    cr_expect_eq(stats_needed(&d, 0.95, 0.3559, 1000), 64u);
    cr_expect_eq(stats_needed(&d, 0.95, 1e-9, 1000), 1000u);
    cr_expect_eq(stats_needed(&d, 0.95, 0, 1000), 0u);
}

Test(stats, too_few_values)
{
    static const double a[] = {1, 2, 3}, b[] = {4};
    const struct stats_diff one = stats_paired(a, b, 1), none = stats_paired(a, b, 0);
    const struct stats_diff w = stats_welch(a, 3, b, 1);
    double low, high;

    near(one.mean, 3, 0, "mean of one");
    near(w.mean, 2, 0, "mean");
    cr_expect(isnan(none.mean));
    for (int i = 0; i < 3; i++) {
        const struct stats_diff *d = i == 0 ? &one : i == 1 ? &none : &w;

        stats_interval(d, 0.95, &low, &high);
        cr_expect(isnan(low) && isnan(high), "case %d", i);
        near(stats_p_differs(d), 1, 0, "p");
        near(stats_p_within(d, 100), 1, 0, "within");
    }
}

/* Differences that are all the same leave no doubt, unless values are known to a step only. */
Test(stats, no_spread)
{
    static const double a[] = {1, 2, 3}, b[] = {1.5, 2.5, 3.5};
    struct stats_diff d = stats_paired(a, b, 3);
    double low, high;

    stats_interval(&d, 0.95, &low, &high);
    near(low, 0.5, 1e-12, "low");
    near(stats_p_differs(&d), 0, 0, "p");
    near(stats_p_within(&d, 0.6), 0, 0, "within");
    near(stats_p_within(&d, 0.4), 1, 0, "not within");
    stats_add_step(&d, 0.6);
    near(d.se, 0.6 * sqrt(2.0 / 12 / 3), 1e-12, "se of the steps");
    cr_expect(stats_p_differs(&d) > 0.05);
}

/* Of normal values the bootstrap-t interval is Student's up to the noise of resampling; of skewed ones
 * its upper side is longer, and it covers more often than Student's. */
Test(stats, bootstrap)
{
    struct rng r;
    int covers_t = 0, covers_boot = 0;
    double base[40], new[40];

    rng_init(&r, 7, RNG_TEST, 0, RNG_PROGRAM);
    for (int i = 0; i < 40; i++) {
        base[i] = 0;
        new[i] = gsl_ran_gaussian(&r.gsl, 1);
    }
    struct stats_diff t = stats_paired(base, new, 40), boot = stats_paired_tail(base, new, 40);
    double tl, th, bl, bh;

    stats_interval(&t, 0.95, &tl, &th);
    stats_interval(&boot, 0.95, &bl, &bh);
    near(boot.mean, t.mean, 0, "mean");
    near(bl, tl, 0.12 * (th - tl), "low");
    near(bh, th, 0.12 * (th - tl), "high");
    stats_free(&boot);
    for (int k = 0; k < 300; k++) {
        for (int i = 0; i < 10; i++)
            new[i] = gsl_ran_lognormal(&r.gsl, 0, 1.2);
        const double mean = exp(1.2 * 1.2 / 2);

        t = stats_paired(base, new, 10);
        boot = stats_paired_tail(base, new, 10);
        stats_interval(&t, 0.95, &tl, &th);
        stats_interval(&boot, 0.95, &bl, &bh);
        covers_t += tl <= mean && mean <= th;
        covers_boot += bl <= mean && mean <= bh;
        stats_free(&boot);
    }
    cr_expect(covers_boot > covers_t && covers_boot >= 260, "bootstrap %d, Student %d of 300",
              covers_boot, covers_t);
}

/* However many tests there are, a difference can be so large that it is sure: beyond the resamples p goes on
 * falling, from where they end, and never rises. */
Test(stats, bootstrap_beyond_all_resamples)
{
    struct stats_diff d = stats_paired_tail(drug1, drug2, 10);
    const double mean = d.mean;
    double above = 1, below = 1;

    cr_assert(d.sorted != NULL);
    for (int i = 0; i <= 400; i++) {
        d.mean = i * d.se / 4;
        const double p = stats_p_above(&d, 0);

        cr_expect(p <= above, "above at %d: %g after %g", i, p, above);
        above = p;
        d.mean = -d.mean;
        const double q = stats_p_below(&d, 0);

        cr_expect(q <= below, "below at %d: %g after %g", i, q, below);
        below = q;
    }
    cr_expect(above < 1e-6 && below < 1e-6, "%g, %g", above, below);
    d.mean = (d.sorted[STATS_RESAMPLES - 1] + 1e-9) * d.se;
    near(stats_p_above(&d, 0), 1e-4, 1e-10, "where the resamples end");
    d.mean = mean;
    stats_free(&d);
}

Test(stats, bootstrap_is_the_same_every_time)
{
    struct stats_diff a = stats_paired_tail(drug1, drug2, 10);
    struct stats_diff b = stats_paired_tail(drug1, drug2, 10);
    struct stats_diff few = stats_paired_tail(drug1, drug2, 9);
    struct stats_diff w = stats_welch_tail(drug1, 10, drug2, 10);
    double low, high;

    cr_assert(a.sorted && b.sorted && w.sorted && !few.sorted);
    for (int i = 0; i < STATS_RESAMPLES; i++)
        cr_assert(a.sorted[i] == b.sorted[i], "resample %d", i);
    stats_interval(&w, 0.95, &low, &high);
    cr_expect(low < w.mean && w.mean < high);
    near(stats_p_differs(&w), 0.08, 0.03, "as Welch's");
    stats_free(&a);
    stats_free(&b);
    stats_free(&w);
    stats_free(&few);
}

/* Of 2000 comparisons of equal normal samples about 5 % differ at 5 %, by Student and by Welch: 100 +-
 * 3 standard deviations of 9.7. */
Test(stats, false_alarms)
{
    struct rng r;
    int paired = 0, welch = 0;

    rng_init(&r, 3, RNG_TEST, 1, RNG_PROGRAM);
    for (int k = 0; k < 2000; k++) {
        double a[8], b[8];

        for (int i = 0; i < 8; i++) {
            a[i] = 5 + gsl_ran_gaussian(&r.gsl, 2);
            b[i] = 5 + gsl_ran_gaussian(&r.gsl, 2);
        }
        const struct stats_diff p = stats_paired(a, b, 8), w = stats_welch(a, 8, b, 5);

        paired += stats_p_differs(&p) <= 0.05;
        welch += stats_p_differs(&w) <= 0.05;
    }
    cr_expect(abs(paired - 100) <= 29, "paired: %d of 2000", paired);
    cr_expect(abs(welch - 100) <= 29, "Welch: %d of 2000", welch);
}
