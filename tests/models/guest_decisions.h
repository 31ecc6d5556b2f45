/* SPDX-License-Identifier: MIT */
/*
 * Runs a small scenario and keeps what happened, so that a test can state who ran where (as a
 * string) and when something was done (to the nanosecond). Tasks and vCPUs bear global numbers, in
 * the order of the scenario; in strings they are letters from A on.
 */
#ifndef TESTS_MODELS_GUEST_DECISIONS_H
#define TESTS_MODELS_GUEST_DECISIONS_H

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "obs/gantt.h"
#include "tests/support/run_text.h"

struct seen {
    struct trace_sink sink; /* first: this is what the run gets */
    struct gantt gantt;
    struct trace_record *record;
    size_t n, room;
    struct run_values *values;
    ns_t elapsed; /* of accounting: duration less warm-up */
};

static inline void seen_put(struct trace_sink *sink, const struct trace_record *r)
{
    struct seen *s = (struct seen *)(void *)sink;

    s->gantt.sink.put(&s->gantt.sink, r);
    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 1024;
        s->record = realloc(s->record, s->room * sizeof(*s->record));
        cr_assert(s->record);
    }
    s->record[s->n++] = *r;
}

/* Runs the scenario that the format makes; its times are measured from 0. */
static inline __attribute__((format(printf, 2, 3))) struct seen *see(uint64_t seed, const char *fmt,
                                                                     ...)
{
    struct seen *s = calloc(1, sizeof(*s));
    struct scenario *scenario;
    char text[8192], error[256] = "";
    va_list args;
    int n;

    cr_assert(s);
    va_start(args, fmt);
    n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    cr_assert(n > 0 && n < (int)sizeof(text));
    scenario = scenario_of_text(text);
    s->sink.put = seen_put;
    gantt_init(&s->gantt);
    s->elapsed = scenario->duration - scenario->warmup;
    cr_assert(run_traced(scenario, seed, 0, &s->sink, &s->values, error, sizeof(error)) == 0, "%s",
              error);
    scenario_free(scenario);
    return s;
}

static inline void forget(struct seen *s)
{
    gantt_free(&s->gantt);
    run_values_free(s->values);
    free(s->record);
    free(s);
}

/* A step per letter, from time 0 on. */
static inline void expect_string(const struct seen *s, bool tasks, int cpu, ns_t step,
                                 const char *want, int line)
{
    const ns_t to = step * (ns_t)strlen(want);
    char *got =
        tasks ? gantt_vcpu(&s->gantt, cpu, 0, to, step) : gantt_pcpu(&s->gantt, cpu, 0, to, step);

    cr_expect_str_eq(got, want, "line %d, %s %d: %s, expected %s", line, tasks ? "vcpu" : "pcpu",
                     cpu, got, want);
    free(got);
}
/* Tasks on a vCPU, as its guest sees it; vCPUs on a pCPU. */
#define expect_tasks(s, vcpu, step, want) expect_string(s, true, vcpu, step, want, __LINE__)
#define expect_vcpus(s, pcpu, step, want) expect_string(s, false, pcpu, step, want, __LINE__)

/* The k-th record (from 0) of a kind about `b`, NULL without one. */
static inline const struct trace_record *nth(const struct seen *s, enum trace_kind kind, int b,
                                             int k)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->record[i].kind == kind && s->record[i].b == b && k-- == 0)
            return &s->record[i];
    return NULL;
}

/* When the task marked for the k-th time, -1 never. */
static inline ns_t marked(const struct seen *s, int task, int k)
{
    const struct trace_record *r = nth(s, TRACE_MARK, task, k);

    return r ? r->time : -1;
}

/* The vCPU that the task's k-th wake-up chose, and when it took effect; -1 without one. */
static inline int woken_on(const struct seen *s, int task, int k)
{
    const struct trace_record *r = nth(s, TRACE_TASK_WAKE, task, k);

    return r ? r->a : -1;
}

static inline ns_t woken_at(const struct seen *s, int task, int k)
{
    const struct trace_record *r = nth(s, TRACE_TASK_WAKE, task, k);

    return r ? r->time : -1;
}

/* When the task was switched in for the k-th time, -1 never. */
static inline ns_t switched_in(const struct seen *s, int task, int k)
{
    const struct trace_record *r = nth(s, TRACE_TASK_IN, task, k);

    return r ? r->time : -1;
}

/* Time in state READY from 0 to `to`, added up from the trace. */
static inline ns_t ready_time(const struct seen *s, int vcpu, ns_t to)
{
    ns_t sum = 0, since = 0;
    bool ready = false;

    for (size_t i = 0; i < s->n && s->record[i].time <= to; i++) {
        const struct trace_record *r = &s->record[i];

        if (r->kind != TRACE_VCPU_STATE || r->a != vcpu)
            continue;
        if (ready)
            sum += r->time - since;
        ready = r->b == 1;
        since = r->time;
    }
    return ready ? sum + to - since : sum;
}

/* A metric that is a share of `n` CPUs' time, as ns. Row 0: the measured VMs, from 1 the single
 * ones. */
static inline ns_t spent(struct seen *s, int row, enum metric_id m, int n)
{
    return llround(metric_of(s->values, row, m) * (double)s->elapsed * n);
}

/* A metric per second, as a count. */
static inline int64_t counted(struct seen *s, int row, enum metric_id m)
{
    return llround(metric_of(s->values, row, m) * (double)s->elapsed / 1e9);
}

#define expect_ns(got, want)                                                                       \
    do {                                                                                           \
        const ns_t got_ns = (got), want_ns = (want);                                               \
        cr_expect(got_ns == want_ns, "%s: %lld ns, expected %lld", #got, (long long)got_ns,        \
                  (long long)want_ns);                                                             \
    } while (0)

#endif
