/* SPDX-License-Identifier: MIT */
/*
 * Traces as programs: an example by hand, and what must hold for every trace: messages are
 * balanced, the program never dead-locks, times are kept.
 */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/trace.h"

#define PINGPONG "tests/reject/data/trace_pingpong.txt"

static char *import(const char *path, const struct trace_import_options *o,
                    struct trace_import_counts *n)
{
    char *text, *error;
    enum trace_status s = trace_import(path, o, &text, n, NULL, &error);
    cr_assert_eq(s, TRACE_OK, "%s", error ? error : path);
    return text;
}

static char *read_text(const char *path)
{
    static char buf[65536];
    FILE *in = fopen(path, "r");
    cr_assert(in, "%s", path);
    buf[fread(buf, 1, sizeof(buf) - 1, in)] = '\0';
    fclose(in);
    return buf;
}

/* A switch-out with S is a preemption when no wake-up follows, one with R a block when one does;
 * the second wake-up of a pair is not counted twice; a wake-up from an interrupt is a sleep. */
Test(trace_import, by_hand)
{
    struct trace_import_options o;
    struct trace_import_counts n;
    trace_import_defaults(&o);
    char *text = import(PINGPONG, &o, &n);
    cr_expect_str_eq(text, read_text("tests/reject/data/trace_pingpong.yaml"));
    cr_expect_eq(n.messages, 2);
    cr_expect_eq(n.sleeps_irq, 1);
    cr_expect_eq(n.length, 1200000);
    free(text);
}

/* Without the waker in the program its messages become sleeps of the recorded length. */
Test(trace_import, one_task)
{
    struct trace_import_options o;
    struct trace_import_counts n;
    trace_import_defaults(&o);
    o.tasks = "nobody,10";
    char *text = import(PINGPONG, &o, &n);
    cr_expect(
        strstr(text, "- sleep: 200us\n            - mark: {open: r}\n            - run: 290us"),
        "%s", text);
    cr_expect(!strstr(text, "queue"), "%s", text);
    cr_expect_eq(n.sleeps_outside, 1);
    cr_expect_eq(n.not_selected, 2);
    free(text);
}

Test(trace_import, open_mode)
{
    struct trace_import_options o;
    struct trace_import_counts n;
    trace_import_defaults(&o);
    o.mode = TRACE_OPEN; /* loop is still set: recorded times cannot repeat, so it has no effect */
    o.comm = "p";
    char *text = import(PINGPONG, &o, &n);
    cr_expect(strstr(text, "timer: {at: 500us}") && strstr(text, "timer: {at: 1ms}") &&
                  strstr(text, "timer: {at: 100us}") && strstr(text, "timer: {at: 700us}"),
              "%s", text);
    cr_expect(!strstr(text, "queue") && !strstr(text, "loop") && !strstr(text, "third"), "%s",
              text);
    free(text);
}

/* -- the text as a program, run with time left out: only the order of messages matters -- */

#define TASKS_MAX  64
#define QUEUES_MAX 1024

enum step_kind { SEND, RECV, WORK };

struct step {
    enum step_kind kind;
    int queue;
};

struct replay {
    int tasks, queues;
    struct step *step[TASKS_MAX];
    int n[TASKS_MAX], at[TASKS_MAX], lap[TASKS_MAX];
    char name[QUEUES_MAX][32];
    int capacity[QUEUES_MAX], level[QUEUES_MAX], sends[QUEUES_MAX], recvs[QUEUES_MAX];
};

static int queue_index(struct replay *r, const char *name, size_t n)
{
    for (int i = 0; i < r->queues; i++)
        if (strlen(r->name[i]) == n && memcmp(r->name[i], name, n) == 0)
            return i;
    cr_assert(r->queues < QUEUES_MAX && n < 32);
    memcpy(r->name[r->queues], name, n);
    return r->queues++;
}

static void add_step(struct replay *r, enum step_kind kind, int queue)
{
    int t = r->tasks - 1;
    r->step[t] = realloc(r->step[t], (size_t)(r->n[t] + 1) * sizeof(struct step));
    cr_assert(r->step[t]);
    r->step[t][r->n[t]++] = (struct step){kind, queue};
}

static void parse_line(struct replay *r, const char *p)
{
    p += strspn(p, " -");
    const char *colon = strchr(p, ':');
    if (*p == 'q' && colon && strncmp(colon, ": {capacity: ", 13) == 0) {
        int q = queue_index(r, p, (size_t)(colon - p));
        r->capacity[q] = atoi(colon + 13);
    } else if (strncmp(p, "name: ", 6) == 0) {
        cr_assert(r->tasks < TASKS_MAX);
        r->tasks++;
    } else if (strncmp(p, "send: {queue: ", 14) == 0 || strncmp(p, "recv: {queue: ", 14) == 0) {
        int q = queue_index(r, p + 14, strcspn(p + 14, "}"));
        ++*(p[0] == 's' ? &r->sends[q] : &r->recvs[q]);
        add_step(r, p[0] == 's' ? SEND : RECV, q);
    } else if (strncmp(p, "run: ", 5) == 0 || strncmp(p, "sleep: ", 7) == 0) {
        int64_t v = strtoll(strchr(p, ' ') + 1, NULL, 10);
        cr_expect(v > 0, "%.60s", p);
        add_step(r, WORK, 0);
    }
}

static bool advance(struct replay *r, int t)
{
    const struct step *s = &r->step[t][r->at[t]];
    if (s->kind == RECV && r->level[s->queue] == 0)
        return false;
    if (s->kind == SEND && r->level[s->queue] == r->capacity[s->queue])
        return false;
    r->level[s->queue] += s->kind == SEND ? 1 : s->kind == RECV ? -1 : 0;
    if (++r->at[t] == r->n[t]) {
        r->at[t] = 0;
        r->lap[t]++;
    }
    return true;
}

/* Task `first` runs as far ahead as it can before the others move: the worst order for queues. */
static void run_laps(struct replay *r, int first, const char *what)
{
    bool moved = true;
    memset(r->at, 0, sizeof(r->at));
    memset(r->lap, 0, sizeof(r->lap));
    memset(r->level, 0, sizeof(r->level));
    while (moved) {
        moved = false;
        for (int k = 0; k < r->tasks; k++) {
            int t = (first + k) % r->tasks;
            for (int i = 0; i < 100000 && r->lap[t] < 7 && advance(r, t); i++)
                moved = true;
        }
    }
    for (int t = 0; t < r->tasks; t++)
        cr_expect_eq(r->lap[t], 7, "%s: task %d of %d stuck in lap %d at %d of %d", what, t,
                     r->tasks, r->lap[t], r->at[t], r->n[t]);
}

static void check_program(const char *text, const char *what)
{
    struct replay *r = calloc(1, sizeof(*r));
    cr_assert(r);
    for (const char *p = text; *p; p = strchr(p, '\n') + 1)
        parse_line(r, p);
    cr_expect(r->tasks > 0, "%s", what);
    for (int q = 0; q < r->queues; q++) {
        cr_expect(r->sends[q] > 0 && r->sends[q] == r->recvs[q], "%s: %s: %d sends, %d receives",
                  what, r->name[q], r->sends[q], r->recvs[q]);
        cr_expect(r->capacity[q] >= 64 && r->capacity[q] >= 4 * r->sends[q], "%s: %s", what,
                  r->name[q]);
    }
    for (int t = 0; t < r->tasks && t < 8; t++)
        run_laps(r, t, what);
    for (int t = 0; t < r->tasks; t++)
        free(r->step[t]);
    free(r);
}

static const char *const samples[] = {"traces/samples/rtapp_pipeline.txt",
                                      "traces/samples/hackbench.txt", PINGPONG};

Test(trace_import, samples_never_dead_lock)
{
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        for (int max_ops = 2000; max_ops > 0; max_ops /= 5) {
            struct trace_import_options o;
            struct trace_import_counts n;
            trace_import_defaults(&o);
            o.max_ops = max_ops;
            char *text = import(samples[i], &o, &n);
            check_program(text, samples[i]);
            cr_expect((n.ops_cut > 0) || max_ops >= 5, "%s: %d", samples[i], max_ops);
            free(text);
        }
    }
}

Test(trace_import, shared_traces_never_dead_lock)
{
    static const char *const files[] = {"catapult_android_systrace_cut.html",
                                        "catapult_atrace_data_raw.txt",
                                        "local_perf_sched_script_hackbench.txt",
                                        "local_perf_script_hackbench.txt",
                                        "local_raw_evil_comm.txt",
                                        "local_raw_hackbench_fullcpu.txt",
                                        "local_raw_rtapp.txt",
                                        "local_tracecmd_report_R_t_raw.txt",
                                        "local_tracecmd_report_hackbench.txt",
                                        "local_tracepipe_lost_events.txt",
                                        "local_raw_rt_dl_idle_prio.txt"};
    const char *dir = getenv("TANDEM_SHARED");
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/traces/%s", dir ? dir : "../shared", files[i]);
        FILE *in = fopen(path, "r");
        if (!in)
            cr_skip_test("../shared/traces is not here");
        fclose(in);
        struct trace_import_options o;
        struct trace_import_counts n;
        trace_import_defaults(&o);
        for (int k = 0; k < 3; k++) {
            o.max_ops = k == 0 ? 2000 : k == 1 ? 40 : 7;
            o.max_tasks = k == 2 ? 5 : 32;
            char *text = import(path, &o, &n);
            check_program(text, files[i]);
            cr_expect(n.tasks_written <= o.max_tasks, "%s", files[i]);
            cr_expect_eq(n.tasks_seen >= n.tasks_written + n.never_ran + n.not_selected, 1, "%s",
                         files[i]);
            free(text);
        }
    }
}

/* Run time and length of the recording come out as they were recorded. */
static int64_t total_of(const char *text, const char *verb)
{
    int64_t sum = 0;
    for (const char *p = text; (p = strstr(p, verb)) != NULL;) {
        char *unit;
        p += strlen(verb);
        int64_t v = strtoll(p, &unit, 10);
        sum += v * (*unit == 'n' ? 1 : *unit == 'u' ? 1000 : 1000000);
    }
    return sum;
}

Test(trace_import, modes_agree_on_run_time)
{
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        struct trace_import_options o;
        struct trace_import_counts closed, open;
        trace_import_defaults(&o);
        char *a = import(samples[i], &o, &closed);
        o.mode = TRACE_OPEN;
        o.loop = false;
        char *b = import(samples[i], &o, &open);
        cr_expect_eq(total_of(a, "- run: "), total_of(b, "- run: "), "%s", samples[i]);
        cr_expect(total_of(a, "- run: ") > 0, "%s", samples[i]);
        cr_expect_eq(closed.length, open.length, "%s", samples[i]);
        cr_expect_eq(closed.bursts, open.bursts, "%s", samples[i]);
        free(a);
        free(b);
    }
}

/* The sample of the demo: a handful of tasks with messages and timers. */
Test(trace_import, demo_sample)
{
    struct trace_import_options o;
    struct trace_import_counts n;
    trace_import_defaults(&o);
    char *text = import("traces/samples/rtapp_pipeline.txt", &o, &n);
    cr_expect(n.tasks_written >= 4 && n.tasks_written <= 10, "%" PRId64 " tasks", n.tasks_written);
    cr_expect(n.messages >= 50 && n.sleeps_irq >= 50);
    cr_expect(strlen(text) < TRACE_MAX_TEXT);
    free(text);
    char *error;
    text = trace_import_text("traces/samples/rtapp_pipeline.txt", NULL, &error);
    cr_expect(text && !error);
    free(text);
}
