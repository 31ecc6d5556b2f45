/* SPDX-License-Identifier: MIT */
/* The histogram against exact answers: sorted samples, 128-bit sums, the edges of every bucket. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obs/hist.h"

static uint64_t state = 1;

static uint64_t draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state ^ (state >> 29);
}

/* Every magnitude of ns_t is equally likely. */
static ns_t draw_any_magnitude(void)
{
    return (ns_t)((draw() >> 1) >> (draw() % 63));
}

static int by_value(const void *a, const void *b)
{
    const ns_t x = *(const ns_t *)a, y = *(const ns_t *)b;

    return (x > y) - (x < y);
}

Test(hist, buckets_tile_all_values)
{
    cr_assert_eq(hist_bucket_low(0), 0);
    for (int b = 0; b < HIST_BUCKETS; b++) {
        const ns_t low = hist_bucket_low(b), high = hist_bucket_high(b);

        cr_assert_eq(hist_bucket(low), b, "low end of bucket %d", b);
        cr_assert_eq(hist_bucket(high), b, "high end of bucket %d", b);
        if (b < 128)
            cr_assert(low == b && high == b, "bucket %d is not exact", b);
        if (b < HIST_BUCKETS - 1)
            cr_assert_eq(hist_bucket_low(b + 1), high + 1, "gap after bucket %d", b);
        else
            cr_assert_eq(high, INT64_MAX);
    }
}

Test(hist, quantiles_stay_within_the_error_bound)
{
    enum { ROUNDS = 40 };
    static ns_t v[3000];
    static const double q[] = {0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1};
    double worst = 0;
    struct hist h;

    cr_assert_eq(hist_init(&h), 0);
    for (int round = 0; round < ROUNDS; round++) {
        const size_t n = 1 + draw() % 3000;

        hist_reset(&h);
        for (size_t i = 0; i < n; i++) {
            v[i] = draw_any_magnitude();
            hist_add(&h, v[i]);
        }
        qsort(v, n, sizeof(v[0]), by_value);
        for (size_t k = 0; k < sizeof(q) / sizeof(q[0]); k++) {
            const size_t rank = (size_t)ceil(q[k] * (double)n - 1e-9);
            const double exact = (double)v[rank - 1];
            const double got = hist_quantile(&h, q[k]);

            if (exact < 128 || q[k] == 1)
                cr_assert_eq(got, exact, "q %g of %zu: %.17g, not %.17g", q[k], n, got, exact);
            else if (fabs(got - exact) / exact > worst)
                worst = fabs(got - exact) / exact;
        }
    }
    cr_assert_lt(worst, 1.0 / 128);
    cr_assert_gt(worst, 1.0 / 1024, "suspiciously exact: is the bound tested at all?");
    hist_free(&h);
}

Test(hist, totals_are_exact)
{
    hist_sum_t sum = 0;
    ns_t min = NS_NEVER, max = 0;
    struct hist h;

    cr_assert_eq(hist_init(&h), 0);
    for (int i = 0; i < 10000; i++) {
        const ns_t v = i % 100 == 99 ? INT64_MAX - i : draw_any_magnitude();

        hist_add(&h, v);
        sum += (uint64_t)v;
        min = v < min ? v : min;
        max = v > max ? v : max;
    }
    hist_add_n(&h, INT64_MAX, UINT64_C(1) << 60);
    sum += (hist_sum_t)INT64_MAX << 60;
    hist_add_n(&h, 0, 0);
    cr_assert_eq(h.count, 10000 + (UINT64_C(1) << 60));
    cr_assert(h.sum == sum);
    cr_assert_eq(h.min, min);
    cr_assert_eq(h.max, INT64_MAX);
    cr_assert_eq(hist_mean(&h), (double)sum / (double)h.count);
    hist_free(&h);
}

Test(hist, rank_is_the_ceiling_of_q_times_count)
{
    struct hist h;

    cr_assert_eq(hist_init(&h), 0);
    cr_assert(isnan(hist_quantile(&h, 0.5)) && isnan(hist_quantile(&h, 1)));
    cr_assert(isnan(hist_mean(&h)));
    for (ns_t v = 1; v <= 100; v++)
        hist_add(&h, v);
    /* Also where the product of doubles is a little above a whole number, as in 0.07 * 100. */
    for (int percent = 1; percent <= 100; percent++)
        cr_assert_eq(hist_quantile(&h, percent / 100.0), percent);
    cr_assert_eq(hist_quantile(&h, 0.9901), 100);
    cr_assert_eq(hist_quantile(&h, 1e-12), 1);
    cr_assert_eq(hist_mean(&h), 50.5);
    hist_free(&h);
}

Test(hist, results_stay_between_min_and_max)
{
    struct hist h;

    cr_assert_eq(hist_init(&h), 0);
    for (int i = 0; i < 2000; i++) {
        const ns_t v = draw_any_magnitude();

        hist_reset(&h);
        hist_add_n(&h, v, 3);
        cr_assert_eq(hist_quantile(&h, 0.5), (double)v, "of one value, %lld", (long long)v);
    }
    hist_reset(&h);
    hist_add(&h, 1000001);
    hist_add(&h, 1000002); /* one bucket, whose middle is elsewhere */
    cr_assert_eq(hist_quantile(&h, 0.5), 1000002);
    cr_assert_eq(hist_quantile(&h, 1), 1000002);
    hist_free(&h);
}

static const struct hist *part_at(const void *arg, int i)
{
    return (const struct hist *)arg + i;
}

Test(hist, a_set_reads_like_its_merge_and_like_one_histogram)
{
    struct hist part[3], merged, all;
    const struct hist_set set = {.at = part_at, .arg = part, .n = 3};

    cr_assert(hist_init(&merged) == 0 && hist_init(&all) == 0);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(hist_init(&part[i]), 0);
    cr_assert(isnan(hist_set_quantile(&set, 0.5)) && isnan(hist_set_mean(&set)));
    for (int i = 0; i < 5000; i++) {
        const ns_t v = draw_any_magnitude() >> 20;

        hist_add(&part[i % 4 == 0], v); /* the third stays empty */
        hist_add(&all, v);
    }
    for (int i = 0; i < 3; i++)
        hist_merge(&merged, &part[i]);
    cr_assert(merged.count == all.count && merged.sum == all.sum);
    cr_assert(merged.min == all.min && merged.max == all.max);
    cr_assert_eq(memcmp(merged.bucket, all.bucket, HIST_BUCKETS * sizeof(*all.bucket)), 0);
    for (int permille = 1; permille <= 1000; permille++) {
        const double want = hist_quantile(&all, permille / 1000.0);

        cr_assert_eq(hist_quantile(&merged, permille / 1000.0), want);
        cr_assert_eq(hist_set_quantile(&set, permille / 1000.0), want);
    }
    cr_assert_eq(hist_set_mean(&set), hist_mean(&all));
    hist_reset(&merged);
    cr_assert(merged.count == 0 && merged.sum == 0 && isnan(hist_quantile(&merged, 0.5)));
    for (int b = 0; b < HIST_BUCKETS; b++)
        cr_assert_eq(merged.bucket[b], 0);
    for (int i = 0; i < 3; i++)
        hist_free(&part[i]);
    hist_free(&merged);
    hist_free(&all);
}

Test(hist, a_negative_value_is_a_bug, .exit_code = 70)
{
    struct hist h;

    cr_assert_eq(hist_init(&h), 0);
    hist_add(&h, -1);
}
