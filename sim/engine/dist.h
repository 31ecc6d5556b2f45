/* SPDX-License-Identifier: MIT */
/*
 * Amounts: a constant or a distribution, drawn with GSL and turned into whole nanoseconds where it
 * is drawn (nearest, never negative): no double decides a later event.
 */
#ifndef SIM_ENGINE_DIST_H
#define SIM_ENGINE_DIST_H

#include "engine/engine.h"
#include "engine/rng.h"

enum dist_kind {
    DIST_CONST,       /* a ns */
    DIST_EXPONENTIAL, /* mean a */
    DIST_GAMMA,       /* shape a, scale b */
    DIST_LOGNORMAL,   /* of the underlying normal: zeta a (log ns), sigma b */
    DIST_PARETO,      /* exponent a, minimum b */
    DIST_WEIBULL,     /* scale a, exponent b */
    DIST_UNIFORM,     /* [a, b) */
    DIST_MIXTURE,     /* parts[i] with weight[i] */
    DIST_HISTOGRAM,   /* value[i] with weight[i]: the means of the buckets, as measured */
    DIST_EMPIRICAL    /* value[] drawn with equal chance */
};

/* Owner: whoever built it; dist_free frees tables and parts. `num/den` scales every draw (integer
 * arithmetic after the draw), 1/1 by default. */
struct dist {
    enum dist_kind kind;
    double a, b;
    size_t n;
    ns_t *value;         /* HISTOGRAM, EMPIRICAL */
    uint64_t *cumulated; /* HISTOGRAM, MIXTURE: running sums of integer weights */
    struct dist *parts;  /* MIXTURE */
    int64_t num, den;
};

/* No draw is longer (31.7 years), whatever the tail of the distribution: now + draw cannot
 * overflow. */
#define DIST_MAX ((ns_t)1000000000 * NS_SEC)

/* A constant, scaled 1/1. */
struct dist dist_const(ns_t ns);
/* x * num / den in integers, to the nearest (halves up), at most DIST_MAX, never overflowing.
 * x >= 0, num >= 0, den > 0. */
ns_t dist_scale(ns_t x, int64_t num, int64_t den);
ns_t dist_draw(const struct dist *d, struct rng *r);
/* Mean in ns, analytic (of the distribution before rounding and before the limit DIST_MAX); NAN
 * where it does not exist (pareto with exponent <= 1). */
double dist_mean(const struct dist *d);
void dist_free(struct dist *d);

#endif
