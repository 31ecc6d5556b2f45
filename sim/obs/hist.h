/* SPDX-License-Identifier: MIT */
/*
 * Log-linear histogram of non-negative ns values: exact below 128, then 64 linear buckets per power
 * of two. A reported value is the middle of its bucket: relative error <= 1/128 < 1 %. Fixed size,
 * no allocation; merging adds counts. count, sum, min and max are exact.
 */
#ifndef SIM_OBS_HIST_H
#define SIM_OBS_HIST_H

#include "engine/engine.h"

#define HIST_SUB     64
#define HIST_BUCKETS (2 * HIST_SUB + (63 - 7) * HIST_SUB)

/* A sum of 2^64 values of ns_t fits. */
__extension__ typedef unsigned __int128 hist_sum_t;

struct hist {
    uint64_t count;
    hist_sum_t sum;
    ns_t min, max;    /* NS_NEVER and 0 when empty */
    uint64_t *bucket; /* HIST_BUCKETS, allocated by hist_init */
};

int hist_init(struct hist *h); /* 0, or -1 without memory */
void hist_free(struct hist *h);
void hist_reset(struct hist *h);
void hist_add(struct hist *h, ns_t v);
void hist_add_n(struct hist *h, ns_t v, uint64_t n);
void hist_merge(struct hist *into, const struct hist *from);
/* Smallest recorded value v with at least ceil(q * count) values <= v, q in (0, 1]; q = 1 is max.
 * Never outside [min, max]. NAN when empty. */
double hist_quantile(const struct hist *h, double q);
double hist_mean(const struct hist *h); /* NAN when empty */

/* Several histograms read as if they were merged, without the memory of a merged one. */
struct hist_set {
    const struct hist *(*at)(const void *arg, int i);
    const void *arg;
    int n;
};
double hist_set_quantile(const struct hist_set *s, double q);
double hist_set_mean(const struct hist_set *s);

/* Bucket of a value, and the smallest and largest value of a bucket. */
int hist_bucket(ns_t v);
ns_t hist_bucket_low(int b);
ns_t hist_bucket_high(int b);

#endif
