/* SPDX-License-Identifier: MIT */
/*
 * Mean and confidence interval over replications.
 *
 * A value that is not finite does not exist: it enters neither the mean nor n. The mean is updated
 * value by value, so that equal values give exactly that value and a half-width of exactly 0.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "obs/result.h"

struct moments {
    int n;
    double mean, squares; /* squares: sum of squared distances from the mean */
};

static void moments_add(struct moments *m, double v)
{
    if (!isfinite(v))
        return;
    const double d = v - m->mean;

    m->n++;
    m->mean += d / m->n;
    m->squares += d * (v - m->mean);
}

/* Rounded to 2^-24: the last bits may depend on which variant of log and exp the C library chose
 * for this CPU, and result files must not. */
static double student(double confidence, int df)
{
    const double t = gsl_cdf_tdist_Pinv(0.5 + confidence / 2, df);

    return nearbyint(t * 0x1p24) * 0x1p-24;
}

static struct summary moments_summary(const struct moments *m, double confidence)
{
    struct summary s = {.mean = m->n > 0 ? m->mean : NAN, .ci95 = NAN, .n = m->n};

    if (m->n >= 2)
        s.ci95 = student(confidence, m->n - 1) * sqrt(m->squares / (m->n - 1) / m->n);
    return s;
}

struct summary summary_of(const double *v, int n, double confidence)
{
    struct moments m = {0};

    for (int i = 0; i < n; i++)
        moments_add(&m, v[i]);
    return moments_summary(&m, confidence);
}

/* Histograms hold ns; the register says in what a metric is reported. */
static double in_unit(const struct metric *m, double ns)
{
    return strcmp(m->unit, "us") == 0 ? ns / 1000 : ns;
}

static double set_value(const struct hist_set *s, const struct metric *m)
{
    return in_unit(m, m->quantile > 1 ? hist_set_mean(s) : hist_set_quantile(s, m->quantile));
}

/* The same histogram of the same row in every replication. */
struct column {
    struct run_values *const *runs;
    int slot;
};

static const struct hist *column_at(const void *arg, int i)
{
    const struct column *c = arg;

    return &c->runs[i]->hist[c->slot];
}

double run_metric(const struct run_values *r, int row, enum metric_id id)
{
    const struct metric *m = &metrics[id];

    if (m->hist < 0)
        return r->value[(size_t)row * METRIC_COUNT + (size_t)id];
    const struct hist *h = &r->hist[row * HIST_COUNT + m->hist];

    return in_unit(m, m->quantile > 1 ? hist_mean(h) : hist_quantile(h, m->quantile));
}

struct summary run_summary(struct run_values *const *runs, int n, int row, enum metric_id id)
{
    const struct metric *m = &metrics[id];
    struct moments own = {0};

    for (int i = 0; i < n; i++)
        moments_add(&own, run_metric(runs[i], row, id));
    struct summary s = moments_summary(&own, 0.95);

    if (m->hist >= 0) {
        const struct column c = {.runs = runs, .slot = row * HIST_COUNT + m->hist};

        s.mean = set_value(&(struct hist_set){.at = column_at, .arg = &c, .n = n}, m);
    }
    return s;
}
