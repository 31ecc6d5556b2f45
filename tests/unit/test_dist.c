/* SPDX-License-Identifier: MIT */
/* Amounts: moments against theory, tables, scaling, limits. */
#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "engine/dist.h"

struct moments {
    double mean, variance;
    ns_t min, max;
};

static struct moments sample(const struct dist *d, size_t n, uint64_t seed)
{
    struct moments m = {.min = NS_NEVER};
    struct rng r;
    double sum2 = 0;

    rng_init(&r, seed, RNG_TEST, 0, RNG_SERVICE);
    for (size_t i = 0; i < n; i++) {
        ns_t x = dist_draw(d, &r);
        double delta = (double)x - m.mean;

        m.mean += delta / (double)(i + 1);
        sum2 += delta * ((double)x - m.mean);
        m.min = x < m.min ? x : m.min;
        m.max = x > m.max ? x : m.max;
    }
    m.variance = sum2 / (double)(n - 1);
    return m;
}

static struct dist make(enum dist_kind kind, double a, double b)
{
    return (struct dist){.kind = kind, .a = a, .b = b, .num = 1, .den = 1};
}

Test(dist, means_and_variances_of_the_continuous_kinds)
{
    const double g1 = tgamma(1 + 1 / 1.5), g2 = tgamma(1 + 2 / 1.5);
    const double ln = exp(10 + 0.125);
    const struct {
        const char *name;
        struct dist d;
        double mean, variance, tolerance; /* of the variance: depends on the fourth moment */
    } cases[] = {
        {"const", make(DIST_CONST, 1234, 0), 1234, 0, 0},
        {"exponential", make(DIST_EXPONENTIAL, 1e6, 0), 1e6, 1e12, 0.03},
        {"gamma", make(DIST_GAMMA, 3, 2e5), 6e5, 3 * 4e10, 0.03},
        {"lognormal", make(DIST_LOGNORMAL, 10, 0.5), ln, ln * ln * (exp(0.25) - 1), 0.05},
        {"pareto", make(DIST_PARETO, 5, 8e5), 1e6, 6.4e11 * 5 / (16 * 3), 0.25},
        {"weibull", make(DIST_WEIBULL, 1e6, 1.5), 1e6 * g1, 1e12 * (g2 - g1 * g1), 0.03},
        {"uniform", make(DIST_UNIFORM, 1e5, 7e5), 4e5, 3.6e11 / 12, 0.03},
    };
    const size_t n = 200000;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct moments m = sample(&cases[i].d, n, 1);
        double error = sqrt(cases[i].variance / (double)n);

        cr_assert_float_eq(dist_mean(&cases[i].d), cases[i].mean, 1e-9 * cases[i].mean, "%s",
                           cases[i].name);
        cr_assert_leq(fabs(m.mean - cases[i].mean), 4 * error, "%s: mean %g", cases[i].name,
                      m.mean);
        cr_assert_leq(fabs(m.variance - cases[i].variance), cases[i].tolerance * cases[i].variance,
                      "%s: variance %g", cases[i].name, m.variance);
        cr_assert_geq(m.min, 0);
    }
}

Test(dist, draws_are_gsl_draws_rounded_to_the_nearest_ns)
{
    struct dist d = make(DIST_EXPONENTIAL, 3, 0);
    struct rng a, b;

    rng_init(&a, 5, RNG_TASK, 1, RNG_PROGRAM);
    rng_init(&b, 5, RNG_TASK, 1, RNG_PROGRAM);
    for (unsigned i = 0; i < 5000; i++) {
        double x = gsl_ran_exponential(&b.gsl, 3);
        cr_assert_leq(fabs((double)dist_draw(&d, &a) - x), 0.5);
    }
    struct moments m = sample(
        &(struct dist){.kind = DIST_UNIFORM, .a = 10, .b = 20, .num = 1, .den = 1}, 10000, 2);
    cr_assert(m.min == 10 && m.max == 20);
}

Test(dist, histogram_and_empirical_draw_what_is_in_the_table)
{
    ns_t value[] = {10, 1000, 500000, 7};
    uint64_t cumulated[] = {1, 1, 6, 10}; /* weights 1, 0, 5, 4 */
    struct dist d = {
        .kind = DIST_HISTOGRAM, .n = 4, .value = value, .cumulated = cumulated, .num = 1, .den = 1};
    unsigned count[4] = {0};
    struct rng r;

    cr_assert_float_eq(dist_mean(&d), (10 + 5 * 500000 + 4 * 7) / 10.0, 1e-6);
    rng_init(&r, 3, RNG_TEST, 0, RNG_SERVICE);
    for (unsigned i = 0; i < 100000; i++) {
        ns_t x = dist_draw(&d, &r);
        unsigned k = 0;

        while (k < 4 && value[k] != x)
            k++;
        cr_assert_lt(k, 4);
        count[k]++;
    }
    cr_assert_eq(count[1], 0, "a bucket without weight was drawn");
    cr_assert(abs((int)count[0] - 10000) < 400, "%u", count[0]);
    cr_assert(abs((int)count[2] - 50000) < 650, "%u", count[2]);
    d.kind = DIST_EMPIRICAL;
    cr_assert_float_eq(dist_mean(&d), 501017 / 4.0, 1e-6);
    struct moments m = sample(&d, 100000, 4);
    cr_assert_leq(fabs(m.mean - 501017 / 4.0), 4 * 217000 / sqrt(100000));
    cr_assert(m.min == 7 && m.max == 500000);
}

Test(dist, mixture_weighs_its_parts)
{
    struct dist d = {.kind = DIST_MIXTURE, .n = 2, .num = 3, .den = 2};

    d.parts = calloc(2, sizeof(*d.parts));
    d.cumulated = calloc(2, sizeof(*d.cumulated));
    cr_assert(d.parts && d.cumulated);
    d.parts[0] = dist_const(100);
    d.parts[1] = make(DIST_HISTOGRAM, 0, 0);
    d.parts[1].n = 1;
    d.parts[1].value = calloc(1, sizeof(ns_t));
    d.parts[1].cumulated = calloc(1, sizeof(uint64_t));
    cr_assert(d.parts[1].value && d.parts[1].cumulated);
    d.parts[1].value[0] = 1000;
    d.parts[1].cumulated[0] = 1;
    d.cumulated[0] = 9;
    d.cumulated[1] = 10;
    cr_assert_float_eq(dist_mean(&d), 1.5 * (0.9 * 100 + 0.1 * 1000), 1e-9);
    struct moments m = sample(&d, 100000, 6);
    cr_assert(m.min == 150 && m.max == 1500);
    cr_assert_leq(fabs(m.mean - 285), 4 * 405 / sqrt(100000));
    d.parts[1].kind = DIST_PARETO;
    d.parts[1].a = 1;
    cr_assert(isnan(dist_mean(&d)), "no mean where a part has none");
    dist_free(&d);
    cr_assert(!d.parts && !d.cumulated && d.n == 0);
}

/* Against the exact quotient, found by long division in two 64-bit halves. */
static ns_t scale_exactly(uint64_t x, uint64_t num, uint64_t den)
{
    uint64_t mask = UINT32_MAX;
    uint64_t low = (x & mask) * (num & mask);
    uint64_t mid1 = (x >> 32) * (num & mask), mid2 = (x & mask) * (num >> 32);
    uint64_t carry = (low >> 32) + (mid1 & mask) + (mid2 & mask);
    uint64_t high = (x >> 32) * (num >> 32) + (mid1 >> 32) + (mid2 >> 32) + (carry >> 32);
    uint64_t rest = 0, quotient = 0;
    bool huge = false;

    low = (carry << 32) | (low & mask);
    for (unsigned bit = 128; bit-- > 0;) {
        rest = rest << 1 | ((bit >= 64 ? high >> (bit - 64) : low >> bit) & 1);
        huge = huge || quotient >> 63;
        quotient <<= 1;
        if (rest >= den) {
            rest -= den;
            quotient |= 1;
        }
    }
    quotient += rest >= den - rest;
    return huge || quotient > (uint64_t)DIST_MAX ? DIST_MAX : (ns_t)quotient;
}

Test(dist, scaling_is_exact_and_cannot_overflow)
{
    struct rng r;

    cr_assert_eq(dist_scale(7, 1, 2), 4);
    cr_assert_eq(dist_scale(5, 1, 4), 1);
    cr_assert_eq(dist_scale(5, 0, 4), 0);
    cr_assert_eq(dist_scale(0, INT64_MAX, 1), 0);
    cr_assert_eq(dist_scale(DIST_MAX, INT64_MAX, 1), DIST_MAX);
    cr_assert_eq(dist_scale(DIST_MAX, INT64_MAX, INT64_MAX), DIST_MAX);
    cr_assert_eq(dist_scale(DIST_MAX, INT64_MAX - 1, INT64_MAX), DIST_MAX);
    cr_assert_eq(dist_scale(1, INT64_MAX - 1, INT64_MAX), 1);
    rng_init(&r, 8, RNG_TEST, 0, RNG_SERVICE);
    for (unsigned i = 0; i < 200000; i++) {
        ns_t x = (ns_t)(rng_below(&r, (uint64_t)DIST_MAX) >> rng_below(&r, 60));
        int64_t num = (int64_t)(rng_u64(&r) >> 1 >> rng_below(&r, 63));
        int64_t den = (int64_t)(rng_u64(&r) >> 1 >> rng_below(&r, 62)) | 1;

        cr_assert_eq(dist_scale(x, num, den),
                     scale_exactly((uint64_t)x, (uint64_t)num, (uint64_t)den), "%ld * %ld / %ld",
                     (long)x, (long)num, (long)den);
    }
}

Test(dist, absurd_values_end_at_the_limit)
{
    struct dist wild = make(DIST_LOGNORMAL, 600, 50);
    struct dist tail = make(DIST_PARETO, 0.01, 1);
    struct dist below = make(DIST_UNIFORM, -100, -50);
    struct dist huge = make(DIST_CONST, 1e300, 0);
    struct moments m = sample(&wild, 1000, 1);

    cr_assert(m.min >= 0 && m.max == DIST_MAX);
    m = sample(&tail, 1000, 1);
    cr_assert(m.min >= 1 && m.max == DIST_MAX);
    cr_assert(isnan(dist_mean(&tail)));
    cr_assert_eq(sample(&below, 1000, 1).max, 0);
    cr_assert_eq(sample(&huge, 10, 1).min, DIST_MAX);
    huge.num = 5;
    cr_assert_eq(sample(&huge, 10, 1).max, DIST_MAX);
}

/* Hash over draws of every kind: the same for every compiler and level of optimisation. */
Test(dist, draws_are_pinned)
{
    const struct dist d[] = {
        make(DIST_EXPONENTIAL, 1e6, 0), make(DIST_GAMMA, 0.7, 2e5),   make(DIST_LOGNORMAL, 10, 0.5),
        make(DIST_PARETO, 1.5, 8e5),    make(DIST_WEIBULL, 1e6, 0.8), make(DIST_UNIFORM, 1e5, 7e5),
    };
    struct rng r;
    uint64_t h = 0;

    rng_init(&r, 1, RNG_TEST, 0, RNG_SERVICE);
    for (unsigned i = 0; i < 60000; i++)
        h = rng_mix(h, (uint64_t)dist_draw(&d[i % 6], &r));
    cr_assert_eq(h, UINT64_C(0x767e2e0710ad0793), "%#lx", h);
}
