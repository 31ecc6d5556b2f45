/* SPDX-License-Identifier: MIT */
/*
 * Log-linear histogram. Bucket b < 128 holds the value b alone. Above, 64 buckets of width 2^s
 * share the values [2^(s+6), 2^(s+7)), so a bucket is found by one count of leading zeros and one
 * shift.
 *
 * Always true: count is the sum of the buckets, and unless it is 0 the buckets of min and max are
 * the first and the last in use. An empty histogram has min = NS_NEVER and max = 0.
 */
#include "obs/hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/check.h"

#define SUB_BITS 6

int hist_init(struct hist *h)
{
    *h = (struct hist){.min = NS_NEVER, .bucket = calloc(HIST_BUCKETS, sizeof(*h->bucket))};
    return h->bucket ? 0 : -1;
}

void hist_free(struct hist *h)
{
    free(h->bucket);
    *h = (struct hist){.min = NS_NEVER};
}

void hist_reset(struct hist *h)
{
    if (h->count > 0) {
        const int first = hist_bucket(h->min);
        const int n = hist_bucket(h->max) - first + 1;

        memset(h->bucket + first, 0, (size_t)n * sizeof(*h->bucket));
    }
    h->count = 0;
    h->sum = 0;
    h->min = NS_NEVER;
    h->max = 0;
}

int hist_bucket(ns_t v)
{
    const int shift = 63 - SUB_BITS - __builtin_clzll((unsigned long long)v | HIST_SUB);

    return (shift << SUB_BITS) + (int)(v >> shift);
}

/* 2^shift is the width of bucket b. */
static int bucket_shift(int b)
{
    return b < 2 * HIST_SUB ? 0 : (b >> SUB_BITS) - 1;
}

ns_t hist_bucket_low(int b)
{
    const int shift = bucket_shift(b);

    return (ns_t)(b - (shift << SUB_BITS)) << shift;
}

ns_t hist_bucket_high(int b)
{
    return hist_bucket_low(b) + (((ns_t)1 << bucket_shift(b)) - 1);
}

static double bucket_middle(int b)
{
    return (double)hist_bucket_low(b) + (double)(((ns_t)1 << bucket_shift(b)) - 1) / 2;
}

void hist_add_n(struct hist *h, ns_t v, uint64_t n)
{
    CHECK_PRE(v >= 0, "negative value %lld for a histogram", (long long)v);
    if (n == 0)
        return;
    h->bucket[hist_bucket(v)] += n;
    h->count += n;
    h->sum += (hist_sum_t)v * n;
    if (v < h->min)
        h->min = v;
    if (v > h->max)
        h->max = v;
}

void hist_add(struct hist *h, ns_t v)
{
    CHECK_PRE(v >= 0, "negative value %lld for a histogram", (long long)v);
    h->bucket[hist_bucket(v)]++;
    h->count++;
    h->sum += (uint64_t)v;
    if (v < h->min)
        h->min = v;
    if (v > h->max)
        h->max = v;
}

void hist_merge(struct hist *into, const struct hist *from)
{
    if (from->count == 0)
        return;
    for (int b = hist_bucket(from->min), last = hist_bucket(from->max); b <= last; b++)
        into->bucket[b] += from->bucket[b];
    into->count += from->count;
    into->sum += from->sum;
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
}

/* ceil(q * count), where a product that misses a whole number by rounding alone counts as that
 * number: 0.07 * 100 is 7, although the doubles give 7.000000000000001. */
static uint64_t rank_of(double q, uint64_t count)
{
    const double r = q * (double)count;
    const double whole = nearbyint(r);
    const double rank = fabs(r - whole) <= r * 1e-15 ? whole : ceil(r);

    if (rank < 1)
        return 1;
    return rank >= (double)count ? count : (uint64_t)rank;
}

/* What is the same for one histogram and for a merged one: everything but the buckets. */
static struct hist merged_totals(const struct hist_set *s)
{
    struct hist t = {.min = NS_NEVER};

    for (int i = 0; i < s->n; i++) {
        const struct hist *h = s->at(s->arg, i);

        t.count += h->count;
        t.sum += h->sum;
        t.min = h->min < t.min ? h->min : t.min;
        t.max = h->max > t.max ? h->max : t.max;
    }
    return t;
}

static double clamped(double v, const struct hist *t)
{
    if (v < (double)t->min)
        return (double)t->min;
    return v > (double)t->max ? (double)t->max : v;
}

double hist_set_quantile(const struct hist_set *s, double q)
{
    const struct hist t = merged_totals(s);
    uint64_t seen = 0;

    if (t.count == 0)
        return NAN;
    if (q >= 1)
        return (double)t.max;
    const uint64_t rank = rank_of(q, t.count);
    int b = hist_bucket(t.min);

    for (const int last = hist_bucket(t.max); b <= last; b++) {
        for (int i = 0; i < s->n; i++)
            seen += s->at(s->arg, i)->bucket[b];
        if (seen >= rank)
            break;
    }
    return clamped(bucket_middle(b), &t);
}

double hist_set_mean(const struct hist_set *s)
{
    const struct hist t = merged_totals(s);

    return t.count > 0 ? (double)t.sum / (double)t.count : NAN;
}

static const struct hist *itself(const void *arg, int i)
{
    (void)i;
    return arg;
}

double hist_quantile(const struct hist *h, double q)
{
    return hist_set_quantile(&(struct hist_set){.at = itself, .arg = h, .n = 1}, q);
}

double hist_mean(const struct hist *h)
{
    return hist_set_mean(&(struct hist_set){.at = itself, .arg = h, .n = 1});
}
