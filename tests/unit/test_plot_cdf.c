/* SPDX-License-Identifier: MIT */
/* Distributions: every step is exact, there are few of them, and leaving some out hides nothing. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "study/plot_cdf.h"

/* How many samples the histogram has up to here, and their share. */
static double share_up_to(const struct hist *h, ns_t end)
{
    uint64_t n = 0;

    for (int b = 0; b < HIST_BUCKETS && hist_bucket_low(b) <= end; b++)
        n += h->bucket[b];
    return 100.0 * (double)n / (double)h->count;
}

Test(plot_cdf, steps_are_exact_and_few)
{
    struct plot_cdf c;
    struct hist h;

    cr_assert(hist_init(&h) == 0);
    cr_assert(cdf_steps(&c, &h, 1) && c.n == 0);
    hist_add_n(&h, 0, 1);
    hist_add_n(&h, 5, 2);
    hist_add_n(&h, 1000, 1);
    cr_assert(cdf_steps(&c, &h, 1) && c.n == 4);
    cr_expect(c.x[0] == 0 && c.x[1] == 0 && c.x[2] == 5 && c.x[3] == 1000);
    cr_expect(c.y[0] == 0 && c.y[1] == 25 && c.y[2] == 75 && c.y[3] == 100);
    free(c.x);
    free(c.y);
    /* Every bucket up to 10^12 ns, thin and thick ones. */
    hist_reset(&h);
    for (double v = 1; v < 1e12; v *= 1.003)
        hist_add_n(&h, (ns_t)v, v < 1e6 ? 1 : 10 + (uint64_t)v % 7);
    cr_assert(cdf_steps(&c, &h, 1));
    cr_expect(c.n > 100 && c.n <= CDF_POINTS, "%zu", c.n);
    cr_expect(c.y[0] == 0 && c.y[c.n - 1] == 100 && c.x[c.n - 1] == (double)h.max);
    for (size_t i = 1; i < c.n; i++) {
        cr_expect(c.x[i] > c.x[i - 1] && c.y[i] > c.y[i - 1]);
        cr_expect_float_eq(c.y[i], share_up_to(&h, (ns_t)c.x[i]), 1e-9);
        /* What was left out on the way is at most half a per cent. */
        const ns_t before = hist_bucket_low(hist_bucket((ns_t)c.x[i])) - 1;

        cr_expect(share_up_to(&h, before) - c.y[i - 1] <= 0.5 + 1e-9);
    }
    free(c.x);
    free(c.y);
    hist_free(&h);
}
