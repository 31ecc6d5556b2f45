/* SPDX-License-Identifier: MIT */
/*
 * Queueing theory on machines without costs: M/M/1, M/M/c, M/D/1, and round robin with fine slices
 * against processor sharing. Seeds were fixed before the first run. Each mean time in system must
 * lie within the stated relative bound and inside the 99 % interval of its own batches (30 runs
 * with streams of their own; Student).
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/run_text.h"

#define BATCHES 30

static double batch_time; /* simulated seconds of a batch */

static const char form[] = "machine: %s\n"
                           "duration: %.0fms\n"
                           "warmup: %.0fms\n"
                           "replications: 1\n"
                           "host: {scheduler: %s, placement: pinned}\n"
                           "vms:\n"
                           "  - {name: q, vcpus: %d, %s, workload: %s, idle: hlt,\n"
                           "     guest: {policy: \"null\", scheduler: %s, hz: %d}}\n";

struct queueing {
    const char *name, *machine, *host, *workload, *sched, *pin;
    int vcpus, hz;
    double arrivals;  /* per second */
    double expect_us; /* mean time in system */
    double bound;     /* relative */
    double jobs;
};

/* Erlang C: mean time in system of M/M/c. */
static double mmc_us(int c, double rho, double service_us)
{
    const double a = rho * c;
    double sum = 0, term = 1;

    for (int k = 0; k < c; k++) {
        sum += term;
        term *= a / (k + 1);
    }
    term /= 1 - rho;
    return service_us * (1 + term / (sum + term) / (c * (1 - rho)));
}

static void compare(const struct queueing *q)
{
    char text[2048];
    double mean[BATCHES], sum = 0, ss = 0, m, half;
    struct scenario *s;

    batch_time = q->jobs / q->arrivals / BATCHES;
    snprintf(text, sizeof(text), form, q->machine, ceil(batch_time * 1050), ceil(batch_time * 50),
             q->host, q->vcpus, q->pin, q->workload, q->sched, q->hz);
    s = scenario_of_text(text);
    for (int i = 0; i < BATCHES; i++) {
        struct run_values *v = NULL;
        char error[256] = "";

        cr_assert(run_replication(s, 20240501, i, &v, error, sizeof(error)) == 0, "%s", error);
        mean[i] = metric_of(v, 0, METRIC_LATENCY_MEAN);
        sum += mean[i];
        run_values_free(v);
    }
    scenario_free(s);
    m = sum / BATCHES;
    for (int i = 0; i < BATCHES; i++)
        ss += (mean[i] - m) * (mean[i] - m);
    half = gsl_cdf_tdist_Pinv(0.995, BATCHES - 1) * sqrt(ss / (BATCHES - 1) / BATCHES);
    printf("theory %-12s expected %10.3f us, measured %10.3f us (%+.2f %%), 99 %% half-width %.3f "
           "us\n",
           q->name, q->expect_us, m, 100 * (m / q->expect_us - 1), half);
    fflush(stdout);
    cr_assert(fabs(m / q->expect_us - 1) < q->bound, "%s: %f us, expected %f us", q->name, m,
              q->expect_us);
    cr_assert(fabs(m - q->expect_us) < half, "%s: %f us +- %f us does not hold %f us", q->name, m,
              half, q->expect_us);
}

static void check(const struct queueing *q)
{
    if (q->jobs >= 1e7 && getenv("TANDEM_SHORT"))
        cr_skip_test("10^7 jobs: left out by SHORT=1");
    compare(q);
}

Test(theory, mm1_load_50)
{
    check(&(struct queueing){.name = "M/M/1 0.5",
                             .machine = "duo-zero",
                             .host = "\"null\"",
                             .workload = "mm1-50",
                             .sched = "fifo",
                             .pin = "pin: \"0-1\"",
                             .vcpus = 2,
                             .arrivals = 5000,
                             .expect_us = 200,
                             .bound = 0.01,
                             .jobs = 1e6});
}

Test(theory, mm1_load_80)
{
    check(&(struct queueing){.name = "M/M/1 0.8",
                             .machine = "duo-zero",
                             .host = "\"null\"",
                             .workload = "mm1-80",
                             .sched = "fifo",
                             .pin = "pin: \"0-1\"",
                             .vcpus = 2,
                             .arrivals = 8000,
                             .expect_us = 500,
                             .bound = 0.015,
                             .jobs = 1e7});
}

Test(theory, md1_load_80)
{
    check(&(struct queueing){.name = "M/D/1 0.8",
                             .machine = "duo-zero",
                             .host = "\"null\"",
                             .workload = "md1-80",
                             .sched = "fifo",
                             .pin = "pin: \"0-1\"",
                             .vcpus = 2,
                             .arrivals = 8000,
                             .expect_us = 300,
                             .bound = 0.015,
                             .jobs = 1e7});
}

Test(theory, mmc_load_80)
{
    check(&(struct queueing){.name = "M/M/4 0.8",
                             .machine = "flat-8-zero",
                             .host = "\"null\"",
                             .workload = "mmc-80",
                             .sched = "fifo",
                             .pin = "pin: \"0-4\"",
                             .vcpus = 5,
                             .arrivals = 32000,
                             .expect_us = mmc_us(4, 0.8, 100),
                             .bound = 0.015,
                             .jobs = 1e7});
}

/* Each request has a vCPU of its own, all on one pCPU: the host's round robin shares it among those
 * that have work. The mean does not depend on the shape of the service time (here C^2 = 2). */
Test(theory, round_robin_is_processor_sharing)
{
    static const char workload[] =
        "{objects: {queues: {arrivals: {capacity: 100000}}}, tasks: ["
        "{name: server, count: 40, vcpu: spread, program: [{loop: {count: forever, body: ["
        "{recv: arrivals}, {mark: {open: r, inherit: on}}, {run: {gamma: {shape: 0.5, scale: "
        "2ms}}}, "
        "{mark: {close: r}}, {mark: {op: r}}]}}]},"
        "{name: source, vcpu: 40, program: [{loop: {count: forever, body: ["
        "{timer: {exponential: 2ms}}, {send: arrivals}]}}]}]}";

    check(&(struct queueing){.name = "RR as PS 0.5",
                             .machine = "uni-zero",
                             .host = "{rr: {slice: 5us}}",
                             .workload = workload,
                             .sched = "fifo",
                             .pin = "pin: \"0\"",
                             .vcpus = 41,
                             .arrivals = 500,
                             .expect_us = 2000,
                             .bound = 0.01,
                             .jobs = 1e6});
}
