/* SPDX-License-Identifier: MIT */
/*
 * From one replication's numbers to a result: the register of metrics, the values of a run, their
 * aggregation over replications, and the file formats (tandem.result/1).
 */
#ifndef SIM_OBS_RESULT_H
#define SIM_OBS_RESULT_H

#include <stdio.h>

#include "obs/hist.h"

enum better { BETTER_HIGHER, BETTER_LOWER, BETTER_NONE };

/* Histograms that a run fills, per VM. */
enum run_hist {
    HIST_LATENCY,
    HIST_WAKE,
    HIST_SELECTION,
    HIST_AGE,
    HIST_IDLE,     /* idle episodes of guest CPUs */
    HIST_UNSEEN,   /* work there, the host has not looked */
    HIST_VM_WAKE,  /* VM-wide wake-ups, until all have run */
    HIST_SPLIT,    /* from activity to a pCPU of its own */
    HIST_REACTION, /* from a change of what the VM does to another slice */
    HIST_COUNT
};

/* The register: metrics.def holds the rows, M(id, "key", "unit", better, "alias" or NULL, "help")
 * for plain values, Q(id, "key", "unit", better, alias, "help", hist, quantile) for percentiles. */
enum metric_id {
#define M(id, ...) METRIC_##id,
#define Q(id, ...) METRIC_##id,
#include "obs/metrics.def"
#undef M
#undef Q
    METRIC_COUNT
};

struct metric {
    const char *key; /* ends in its unit: throughput_per_s */
    const char *unit;
    enum better better;
    const char *alias;
    const char *help;
    int hist;        /* -1, or the histogram that it is a quantile of */
    double quantile; /* 2 = mean */
};

extern const struct metric metrics[METRIC_COUNT];
/* By key or alias, NULL when unknown. */
const struct metric *metric_find(const char *name);
const char *better_name(enum better b); /* "higher", "lower", "none" */
/* The register for people: key, unit, better, alias, meaning, aligned. */
void metrics_list(FILE *out);

#define RUN_COUNTERS 64

/* One replication. Row 0 is the scenario's measured VMs together, rows 1..nvms the single VMs. */
struct run_values {
    uint64_t seed, replication;
    int nvms;
    char **vm;         /* nvms names */
    double *value;     /* (nvms + 1) * METRIC_COUNT; NAN = no value */
    struct hist *hist; /* (nvms + 1) * HIST_COUNT */
    int ncounters;     /* named counters of fallbacks, sorted by name */
    struct run_counter {
        char name[48];
        uint64_t n;
    } counter[RUN_COUNTERS];
    uint64_t fingerprint, events;
    ns_t simulated;
};

/* All values NAN, histograms and counters empty, names NULL. NULL without memory. */
struct run_values *run_values_new(int nvms);
/* Names the VM of row `vm` + 1 (a copy). 0, or -1 without memory. */
int run_values_name(struct run_values *r, int vm, const char *name);
void run_values_free(struct run_values *r);
static inline double *run_value(struct run_values *r, int row, enum metric_id m)
{
    return &r->value[(size_t)row * METRIC_COUNT + (size_t)m];
}
/* Value of a metric in one replication, percentiles from the row's histogram, in the unit of the
 * register. NAN = no value. */
double run_metric(const struct run_values *r, int row, enum metric_id m);
/* Adds n to a named counter; with n = 0 the counter exists and shows that nothing happened. Names
 * are 1 to 47 bytes. */
void run_count(struct run_values *r, const char *name, uint64_t n);
/* Text form of one replication, for the store and between processes: JSON on one line, same bytes
 * for same values. malloc'ed, no newline at the end; NULL without memory. The text carries a
 * checksum. Parsing accepts one newline at the end and returns NULL on damage. */
char *run_values_write(const struct run_values *r);
struct run_values *run_values_parse(const char *text);

/* What stands in the manifest of a result. All strings borrowed. */
struct manifest {
    const char *version, *git, *machine, *scenario_file;
    const char *echo; /* scenario with every default, one JSON object */
    const char *hash; /* of the echo, hex */
    uint64_t seed;
    const char *policy; /* hash of the loaded policies; NULL or "": none, then it is not told */
};

/* Mean and half-width (Student, n-1) over the values that exist, n of them; ci NAN for n < 2. The
 * half-width is at 95 % unless the caller of summary_of asks for another confidence (0 to 1). */
struct summary {
    double mean, ci95;
    int n;
};
struct summary summary_of(const double *v, int n, double confidence);
/* Metric of a row over replications: plain values summarised; quantiles from the merged histogram,
 * with the interval over the replications' own quantiles. */
struct summary run_summary(struct run_values *const *runs, int n, int row, enum metric_id m);

/* Result file (JSON, schema tandem.result/1), table for people, CSV. 0 or -1 (errno) on write
 * errors; EINVAL when the replications have different VMs or the echo is no JSON object. The same
 * input gives the same bytes in every locale. In the CSV the rows of the measured VMs together have
 * no vm. */
int result_write_json(FILE *out, const struct manifest *m, struct run_values *const *runs, int n);
int result_write_table(FILE *out, const struct manifest *m, struct run_values *const *runs, int n);
int result_write_csv(FILE *out, const struct manifest *m, struct run_values *const *runs, int n);
/* 64-bit FNV-1a, twice with different bases: 32 hex digits + NUL. */
void hash_hex(const char *text, size_t len, char out[33]);

#endif
