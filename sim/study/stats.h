/* SPDX-License-Identifier: MIT */
/*
 * The statistics of comparisons: differences of two means with their intervals and tests, and the
 * correction for many tests. Distributions are GSL's; everything is deterministic, the bootstrap has a
 * fixed seed.
 *
 * A difference is new - base. Its tests are all made from its standard error and degrees of freedom:
 *  - paired: of n differences d, d's mean, sd(d) / sqrt(n), n - 1;
 *  - Welch: sqrt(s1^2/n1 + s2^2/n2), Satterthwaite's (s1^2/n1 + s2^2/n2)^2 /
 *    ((s1^2/n1)^2/(n1-1) + (s2^2/n2)^2/(n2-1));
 *  - bootstrap-t (Efron and Tibshirani, 1993, section 12.5): the quantiles of (mean* - mean) / se* over
 *    resamples stand in for Student's, which goes on beyond the last of them. For tails, whose replications are skewed.
 */
#ifndef SIM_STUDY_STATS_H
#define SIM_STUDY_STATS_H

#include <stdbool.h>
#include <stddef.h>

#define STATS_RESAMPLES 9999

struct stats_diff {
    double mean; /* NAN: nothing to compare */
    double se;   /* NAN with fewer than two values on a side, or two pairs */
    double df;
    size_t n;       /* pairs, or values of the smaller side */
    double *sorted; /* bootstrap: the ratios of STATS_RESAMPLES resamples, ascending; else NULL */
};

/* Pairs (base[i], new[i]). */
struct stats_diff stats_paired(const double *base, const double *new, size_t n);
struct stats_diff stats_welch(const double *base, size_t nbase, const double *new, size_t nnew);
/* The same with the distribution of resamples; without memory, and for fewer than ten values on a
 * side, of which there are too few different resamples, as above. */
struct stats_diff stats_paired_tail(const double *base, const double *new, size_t n);
struct stats_diff stats_welch_tail(const double *base, size_t nbase, const double *new,
                                   size_t nnew);
void stats_free(struct stats_diff *d);
/* Values are known to +-half of a step only: adds the variance of two uniform errors to the
 * standard error. With equal values on both sides there is otherwise no doubt at all. */
void stats_add_step(struct stats_diff *d, double step);

/* Two-sided interval; NAN where there is none. */
void stats_interval(const struct stats_diff *d, double confidence, double *low, double *high);
/* Probability of a mean at least so far above (below) if the true one were `bound`. 1 when that
 * cannot be told. */
double stats_p_above(const struct stats_diff *d, double bound);
double stats_p_below(const struct stats_diff *d, double bound);
/* Two-sided test against 0. */
double stats_p_differs(const struct stats_diff *d);
/* Two one-sided tests (TOST) that the true difference lies within -bound..bound: the larger p. */
double stats_p_within(const struct stats_diff *d, double bound);

/* Holm's step-down correction: p[i] is replaced by the smallest level at which all tests together
 * would reject it. Values above 1 become 1. */
void stats_holm(double *p, size_t n);

/* How many values or pairs are needed so that a test at this (two-sided) confidence sees a true
 * difference of `distance` in four of five samples, from the spread that n of them showed: the least
 * with (t(confidence) + t(0.8)) sd / sqrt(n) <= distance. 0 when that cannot be told, at most `most`. */
size_t stats_needed(const struct stats_diff *d, double confidence, double distance, size_t most);

#endif
