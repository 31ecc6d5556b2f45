/* SPDX-License-Identifier: MIT */
/* See stats.h. */
#include "study/stats.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "engine/rng.h"

#define LEAST_FOR_RESAMPLES 10
#define STATS_POWER         0.8
#define RESAMPLE_SEED       UINT64_C(0x7461696c)

/* Probabilities are rounded to 2^-40: the last bits may depend on which variant of log and exp the C
 * library chose for this CPU, and reports must not. */
static double rounded(double p)
{
    return nearbyint(p * 0x1p40) * 0x1p-40;
}

static double quantile_t(double p, double df)
{
    const double t = gsl_cdf_tdist_Pinv(p, df);

    return nearbyint(t * 0x1p24) * 0x1p-24;
}

/* Mean and squared standard error of n values. */
struct side {
    double mean, se2;
};

static struct side side_of(const double *v, size_t n)
{
    struct side s = {.mean = n > 0 ? gsl_stats_mean(v, 1, n) : NAN, .se2 = NAN};

    if (n >= 2)
        s.se2 = gsl_stats_variance_m(v, 1, n, s.mean) / (double)n;
    return s;
}

static struct stats_diff paired(const double *d, size_t n)
{
    const struct side s = side_of(d, n);

    return (struct stats_diff){.mean = s.mean, .se = sqrt(s.se2), .df = (double)n - 1, .n = n};
}

static double *differences(const double *base, const double *new, size_t n)
{
    double *d = malloc((n + 1) * sizeof(*d));

    for (size_t i = 0; d && i < n; i++)
        d[i] = new[i] - base[i];
    return d;
}

static const struct stats_diff nothing = {.mean = NAN, .se = NAN};

struct stats_diff stats_paired(const double *base, const double *new, size_t n)
{
    double *d = differences(base, new, n);
    const struct stats_diff r = d ? paired(d, n) : nothing;

    free(d);
    return r;
}

static struct stats_diff welch(struct side b, size_t nb, struct side w, size_t nw)
{
    struct stats_diff r = {.mean = w.mean - b.mean, .n = nb < nw ? nb : nw};
    const double se2 = b.se2 + w.se2;

    r.se = sqrt(se2);
    r.df = se2 > 0
               ? se2 * se2 / (b.se2 * b.se2 / ((double)nb - 1) + w.se2 * w.se2 / ((double)nw - 1))
               : (double)(nb + nw) - 2;
    return r;
}

struct stats_diff stats_welch(const double *base, size_t nbase, const double *new, size_t nnew)
{
    return welch(side_of(base, nbase), nbase, side_of(new, nnew), nnew);
}

static void resample(struct rng *r, const double *from, double *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[rng_below(r, n)];
}

/* A resample of equal values has no standard error: its ratio is infinite, on the side where its mean
 * is. */
static double ratio(double distance, double se)
{
    return se > 0 ? distance / se : distance == 0 ? 0 : copysign(INFINITY, distance);
}

struct stats_diff stats_paired_tail(const double *base, const double *new, size_t n)
{
    double *d = differences(base, new, n), *x = calloc(n + 1, sizeof(*x));
    struct stats_diff r = d ? paired(d, n) : nothing;
    struct rng rng;

    if (d && x && n >= LEAST_FOR_RESAMPLES && r.se > 0)
        r.sorted = malloc(STATS_RESAMPLES * sizeof(*r.sorted));
    rng_init(&rng, RESAMPLE_SEED, RNG_TEST, 0, RNG_IDS);
    for (size_t k = 0; r.sorted && k < STATS_RESAMPLES; k++) {
        struct side s;

        resample(&rng, d, x, n);
        s = side_of(x, n);
        r.sorted[k] = ratio(s.mean - r.mean, sqrt(s.se2));
    }
    if (r.sorted)
        gsl_sort(r.sorted, 1, STATS_RESAMPLES);
    free(d);
    free(x);
    return r;
}

struct stats_diff stats_welch_tail(const double *base, size_t nbase, const double *new, size_t nnew)
{
    struct stats_diff r = stats_welch(base, nbase, new, nnew);
    double *b = calloc(nbase + 1, sizeof(*b)), *w = calloc(nnew + 1, sizeof(*w));
    struct rng rng;

    if (b && w && nbase >= LEAST_FOR_RESAMPLES && nnew >= LEAST_FOR_RESAMPLES && r.se > 0)
        r.sorted = malloc(STATS_RESAMPLES * sizeof(*r.sorted));
    rng_init(&rng, RESAMPLE_SEED, RNG_TEST, 1, RNG_IDS);
    for (size_t k = 0; r.sorted && k < STATS_RESAMPLES; k++) {
        struct stats_diff s;

        resample(&rng, base, b, nbase);
        resample(&rng, new, w, nnew);
        s = stats_welch(b, nbase, w, nnew);
        r.sorted[k] = ratio(s.mean - r.mean, s.se);
    }
    if (r.sorted)
        gsl_sort(r.sorted, 1, STATS_RESAMPLES);
    free(b);
    free(w);
    return r;
}

void stats_free(struct stats_diff *d)
{
    free(d->sorted);
    d->sorted = NULL;
}

void stats_add_step(struct stats_diff *d, double step)
{
    if (d->n >= 2)
        d->se = sqrt(d->se * d->se + 2 * step * step / 12 / (double)d->n);
}

/* Quantile of (mean* - mean) / se*. */
static double quantile(const struct stats_diff *d, double p)
{
    if (!d->sorted)
        return quantile_t(p, d->df);
    return gsl_stats_quantile_from_sorted_data(d->sorted, 1, STATS_RESAMPLES, p);
}

static bool has_interval(const struct stats_diff *d)
{
    return isfinite(d->mean) && isfinite(d->se) && d->df > 0;
}

void stats_interval(const struct stats_diff *d, double confidence, double *low, double *high)
{
    *low = *high = NAN;
    if (!has_interval(d))
        return;
    if (d->se == 0) {
        *low = *high = d->mean;
        return;
    }
    /* The upper quantile of the ratio bounds the mean from below, and the other way round. */
    *low = d->mean - quantile(d, 0.5 + confidence / 2) * d->se;
    *high = d->mean - quantile(d, 0.5 - confidence / 2) * d->se;
}

/* Share of resamples with a ratio of at least t; counted so that it is never 0. */
static double share_from(const double *sorted, double t)
{
    size_t lo = 0, hi = STATS_RESAMPLES;

    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;

        if (sorted[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (double)(STATS_RESAMPLES - lo + 1) / (STATS_RESAMPLES + 1);
}

static double share_to(const double *sorted, double t)
{
    size_t lo = 0, hi = STATS_RESAMPLES;

    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;

        if (sorted[mid] <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (double)(lo + 1) / (STATS_RESAMPLES + 1);
}

/* Beyond all resamples a share says "fewer than one of 10000" whatever the distance is, which no correction
 * for hundreds of tests leaves significant: from the last ratio on the tail is Student's. */
static double beyond(double t, double last, double df)
{
    return gsl_cdf_tdist_Q(t, df) / fmax(gsl_cdf_tdist_Q(last, df), DBL_MIN) /
           (STATS_RESAMPLES + 1);
}

static double p_from(const struct stats_diff *d, double t)
{
    const double last = d->sorted ? d->sorted[STATS_RESAMPLES - 1] : INFINITY;

    if (!d->sorted)
        return gsl_cdf_tdist_Q(t, d->df);
    return t > last ? beyond(t, last, d->df) : share_from(d->sorted, t);
}

static double p_to(const struct stats_diff *d, double t)
{
    const double first = d->sorted ? d->sorted[0] : -INFINITY;

    if (!d->sorted)
        return gsl_cdf_tdist_P(t, d->df);
    return t < first ? beyond(-t, -first, d->df) : share_to(d->sorted, t);
}

double stats_p_above(const struct stats_diff *d, double bound)
{
    if (!has_interval(d))
        return 1;
    if (d->se == 0)
        return d->mean > bound ? 0 : 1;
    const double t = (d->mean - bound) / d->se;

    return rounded(p_from(d, t));
}

double stats_p_below(const struct stats_diff *d, double bound)
{
    if (!has_interval(d))
        return 1;
    if (d->se == 0)
        return d->mean < bound ? 0 : 1;
    const double t = (d->mean - bound) / d->se;

    return rounded(p_to(d, t));
}

double stats_p_differs(const struct stats_diff *d)
{
    const double p = 2 * fmin(stats_p_above(d, 0), stats_p_below(d, 0));

    return p < 1 ? p : 1;
}

double stats_p_within(const struct stats_diff *d, double bound)
{
    return fmax(stats_p_above(d, -bound), stats_p_below(d, bound));
}

struct ranked {
    double p;
    size_t at;
};

static int by_p(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return x->p != y->p ? (x->p < y->p ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

void stats_holm(double *p, size_t n)
{
    struct ranked *list = malloc((n + 1) * sizeof(*list));
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        if (!list) { /* Bonferroni's needs no order, and is never smaller */
            p[i] = fmin(1, p[i] * (double)n);
            continue;
        }
        list[i] = (struct ranked){p[i], i};
    }
    if (!list)
        return;
    qsort(list, n, sizeof(*list), by_p);
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, list[i].p * (double)(n - i));
        p[list[i].at] = fmin(1, most);
    }
    free(list);
}

size_t stats_needed(const struct stats_diff *d, double confidence, double distance, size_t most)
{
    double sd;
    size_t lo = 2, hi = most;

    if (!has_interval(d) || !(distance > 0) || !(d->se > 0))
        return 0;
    sd = d->se * sqrt((double)d->n);
    while (lo < hi) {
        const size_t n = (lo + hi) / 2;
        const double df = d->df * ((double)n - 1) / ((double)d->n - 1);

        const double t = quantile_t(0.5 + confidence / 2, df) + quantile_t(STATS_POWER, df);

        if (t * sd / sqrt((double)n) <= distance)
            hi = n;
        else
            lo = n + 1;
    }
    return lo;
}
