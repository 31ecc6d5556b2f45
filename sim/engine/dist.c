/* SPDX-License-Identifier: MIT */
/*
 * Draws of amounts.
 *
 * Always true: a draw is a whole number of ns in 0 .. DIST_MAX; it takes its randomness from the
 * given stream only; tables (histogram, empirical, mixture) are drawn in integer arithmetic
 * throughout, the continuous kinds by GSL and then rounded once. What the parameters must satisfy
 * is checked by whoever reads them; here an impossible one is a bug.
 */
#include "engine/dist.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "engine/check.h"

/* Factors up to here are multiplied directly: the remainder times the factor stays below 2^62. */
#define SMALL_FACTOR ((uint64_t)1 << 31)

struct dist dist_const(ns_t ns)
{
    return (struct dist){.kind = DIST_CONST, .a = (double)ns, .num = 1, .den = 1};
}

void dist_free(struct dist *d)
{
    if (d->kind == DIST_MIXTURE) {
        for (size_t i = 0; i < d->n; i++)
            dist_free(&d->parts[i]);
    }
    free(d->parts);
    free(d->value);
    free(d->cumulated);
    d->parts = NULL;
    d->value = NULL;
    d->cumulated = NULL;
    d->n = 0;
}

static ns_t limited(uint64_t x)
{
    return x > (uint64_t)DIST_MAX ? DIST_MAX : (ns_t)x;
}

/* Quotient and remainder of r * num / den for r < den, one bit of num at a time: neither can reach
 * 2^64, because the quotient stays below num and the remainder below den, both below 2^63. */
static uint64_t multiply_divide(uint64_t r, uint64_t num, uint64_t den, uint64_t *rest)
{
    uint64_t quotient = 0;

    *rest = 0;
    for (unsigned bit = 63; bit-- > 0;) {
        quotient *= 2;
        *rest *= 2;
        if (*rest >= den) {
            *rest -= den;
            quotient++;
        }
        if (num >> bit & 1)
            *rest += r;
        if (*rest >= den) {
            *rest -= den;
            quotient++;
        }
    }
    return quotient;
}

/* x * num / den = (x / den) * num + (x % den) * num / den; the first term is compared with the
 * limit before it is computed. */
ns_t dist_scale(ns_t x, int64_t num, int64_t den)
{
    CHECK_PRE(x >= 0 && num >= 0 && den > 0, "amount scaled by a negative or undefined factor");
    uint64_t n = (uint64_t)num, d = (uint64_t)den;
    uint64_t whole = (uint64_t)x / d, rest = (uint64_t)x % d, part;

    if (n == d)
        return limited((uint64_t)x);
    if (n != 0 && whole > (uint64_t)DIST_MAX / n)
        return DIST_MAX;
    if (n <= SMALL_FACTOR && d <= SMALL_FACTOR) {
        part = rest * n / d;
        rest = rest * n % d;
    } else {
        part = multiply_divide(rest, n, d, &rest);
    }
    return limited(whole * n + part + (rest >= d - rest));
}

/* Index i with chance (cumulated[i] - cumulated[i - 1]) / total. */
static size_t draw_index(const struct dist *d, struct rng *r)
{
    size_t low = 0, high = d->n;

    CHECK_PRE(d->n > 0, "distribution without entries");
    uint64_t u = rng_below(r, d->cumulated[d->n - 1]);
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (d->cumulated[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static double draw_continuous(const struct dist *d, const gsl_rng *r)
{
    switch (d->kind) {
    case DIST_EXPONENTIAL:
        return gsl_ran_exponential(r, d->a);
    case DIST_GAMMA:
        return gsl_ran_gamma(r, d->a, d->b);
    case DIST_LOGNORMAL:
        return gsl_ran_lognormal(r, d->a, d->b);
    case DIST_PARETO:
        return gsl_ran_pareto(r, d->a, d->b);
    case DIST_WEIBULL:
        return gsl_ran_weibull(r, d->a, d->b);
    case DIST_UNIFORM:
        return gsl_ran_flat(r, d->a, d->b);
    default:
        return d->a;
    }
}

static ns_t round_ns(double x)
{
    CHECK(!isnan(x), "a draw is not a number");
    if (x <= 0)
        return 0;
    return x >= (double)DIST_MAX ? DIST_MAX : (ns_t)llround(x);
}

static ns_t draw_entry(ns_t x)
{
    return x <= 0 ? 0 : limited((uint64_t)x);
}

static ns_t draw_unscaled(const struct dist *d, struct rng *r)
{
    switch (d->kind) {
    case DIST_MIXTURE:
        return dist_draw(&d->parts[draw_index(d, r)], r);
    case DIST_HISTOGRAM:
        return draw_entry(d->value[draw_index(d, r)]);
    case DIST_EMPIRICAL:
        return draw_entry(d->value[rng_below(r, d->n)]);
    default:
        return round_ns(draw_continuous(d, &r->gsl));
    }
}

ns_t dist_draw(const struct dist *d, struct rng *r)
{
    return dist_scale(draw_unscaled(d, r), d->num, d->den);
}

static double table_mean(const struct dist *d)
{
    double sum = 0, total = d->kind == DIST_EMPIRICAL ? (double)d->n : 0;

    for (size_t i = 0; i < d->n && d->kind == DIST_EMPIRICAL; i++)
        sum += (double)d->value[i];
    for (size_t i = 0; i < d->n && d->kind != DIST_EMPIRICAL; i++) {
        uint64_t weight = d->cumulated[i] - (i > 0 ? d->cumulated[i - 1] : 0);

        if (weight == 0)
            continue;
        sum += (double)weight *
               (d->kind == DIST_MIXTURE ? dist_mean(&d->parts[i]) : (double)d->value[i]);
        total += (double)weight;
    }
    return sum / total;
}

static double mean_unscaled(const struct dist *d)
{
    switch (d->kind) {
    case DIST_GAMMA:
        return d->a * d->b;
    case DIST_LOGNORMAL:
        return exp(d->a + d->b * d->b / 2);
    case DIST_PARETO:
        return d->a > 1 ? d->a * d->b / (d->a - 1) : NAN;
    case DIST_WEIBULL:
        return d->a * tgamma(1 + 1 / d->b);
    case DIST_UNIFORM:
        return (d->a + d->b) / 2;
    case DIST_MIXTURE:
    case DIST_HISTOGRAM:
    case DIST_EMPIRICAL:
        return table_mean(d);
    default:
        return d->a;
    }
}

double dist_mean(const struct dist *d)
{
    return mean_unscaled(d) * ((double)d->num / (double)d->den);
}
