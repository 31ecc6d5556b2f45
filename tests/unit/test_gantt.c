/* SPDX-License-Identifier: MIT */
/* What the trace sinks make of a sequence of records: the ASCII Gantt chart and the timeline. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "obs/account.h"
#include "obs/gantt.h"
#include "obs/timeline.h"

static void assert_drawn(char *got, const char *want)
{
    cr_assert(got != NULL);
    cr_assert_str_eq(got, want);
    free(got);
}

Test(gantt, one_character_per_step)
{
    struct gantt g;

    gantt_init(&g);
    for (int i = 0; i < 4; i++) {
        trace_put(&g.sink, i * 20, TRACE_VCPU_IN, 0, i % 2, 0);
        trace_put(&g.sink, i * 20 + 5, TRACE_VCPU_IN, 1, 7, 0); /* another pCPU */
        trace_put(&g.sink, i * 20 + 9, TRACE_VCPU_OUT, 1, 7, 0);
        trace_put(&g.sink, i * 20 + 20, TRACE_VCPU_OUT, 0, i % 2, 0);
    }
    assert_drawn(gantt_pcpu(&g, 0, 0, 80, 10), "AABBAABB");
    assert_drawn(gantt_pcpu(&g, 0, 0, 100, 10), "AABBAABB..");
    assert_drawn(gantt_pcpu(&g, 0, 20, 60, 10), "BBAA");
    assert_drawn(gantt_pcpu(&g, 0, 10, 75, 20), "ABAB"); /* ties go to who came first */
    assert_drawn(gantt_pcpu(&g, 1, 0, 20, 1), ".....HHHH...........");
    assert_drawn(gantt_pcpu(&g, 2, 0, 30, 10), "...");
    assert_drawn(gantt_pcpu(&g, 0, 30, 30, 10), "");
    gantt_free(&g);
}

Test(gantt, the_larger_part_of_a_step_counts)
{
    struct gantt g;

    gantt_init(&g);
    trace_put(&g.sink, 0, TRACE_VCPU_IN, 0, 0, 0);
    trace_put(&g.sink, 3, TRACE_VCPU_OUT, 0, 0, 0);
    trace_put(&g.sink, 3, TRACE_VCPU_IN, 0, 1, 0);
    trace_put(&g.sink, 7, TRACE_VCPU_OUT, 0, 1, 0);
    trace_put(&g.sink, 7, TRACE_VCPU_IN, 0, 0, 0);
    trace_put(&g.sink, 10, TRACE_VCPU_OUT, 0, 0, 0);
    trace_put(&g.sink, 14, TRACE_VCPU_IN, 0, 2, 0);  /* and it stays */
    assert_drawn(gantt_pcpu(&g, 0, 0, 10, 10), "A"); /* 3 + 3 against 4 */
    assert_drawn(gantt_pcpu(&g, 0, 0, 35, 10), "ACCC");
    assert_drawn(gantt_pcpu(&g, 0, 8, 16, 5), ".C");
    gantt_free(&g);
}

Test(gantt, tasks_of_a_vcpu_and_letters)
{
    static const int32_t task[] = {0, 25, 26, 51, 52, 61, 62};
    const ns_t n = sizeof(task) / sizeof(task[0]);
    struct gantt g;

    gantt_init(&g);
    trace_put(&g.sink, 0, TRACE_VCPU_IN, 3, 5, 0);
    for (int i = 0; i < (int)n; i++) {
        trace_put(&g.sink, i, TRACE_TASK_IN, 3, task[i], 0);
        trace_put(&g.sink, i + 1, TRACE_TASK_OUT, 3, task[i], 0);
    }
    assert_drawn(gantt_vcpu(&g, 3, 0, n, 1), "AZaz09?");
    assert_drawn(gantt_pcpu(&g, 3, 0, n, 1), "FFFFFFF");
    for (int i = 0; i < 5000; i++) { /* beyond the first buffer */
        trace_put(&g.sink, 100 + i, TRACE_TASK_IN, 0, i % 2, 0);
        trace_put(&g.sink, 101 + i, TRACE_TASK_OUT, 0, i % 2, 0);
    }
    assert_drawn(gantt_vcpu(&g, 0, 5096, 5104, 1), "ABAB....");
    gantt_free(&g);
}

static int vm_of(void *arg, int vcpu)
{
    (void)arg;
    return vcpu / 2;
}

static const char *vm_name(void *arg, int vm)
{
    (void)arg;
    return vm == 0 ? "web \"1\"" : "db\\\t2";
}

static const char *numbered(char *buffer, const char *what, int n)
{
    sprintf(buffer, "%s %d", what, n);
    return buffer;
}

static const char *vcpu_name(void *arg, int vcpu)
{
    return numbered(arg, "vcpu", vcpu);
}

static const char *task_name(void *arg, int task)
{
    return numbered(arg, "task", task);
}

static char name_buffer[32];
static const struct timeline_names names = {.npcpus = 2,
                                            .nvcpus = 4,
                                            .arg = name_buffer,
                                            .vm = vm_of,
                                            .vm_name = vm_name,
                                            .vcpu_name = vcpu_name,
                                            .task_name = task_name};

/* A short life of vCPU 2: woken, runs a task that spins, is preempted, idles in HOLD, is watched.
 */
static void play(struct trace_sink *s)
{
    enum { BLOCKED, READY, RUNNING };

    trace_put(s, 0, TRACE_VCPU_IN, 0, 0, 0);
    trace_put(s, 0, TRACE_VCPU_STATE, 0, RUNNING, 0);
    trace_put(s, 0, TRACE_ACTIVITY, 0, TERM_WORK, 0);
    trace_put(s, 0, TRACE_TASK_IN, 0, 0, 0);
    trace_put(s, 500, TRACE_TASK_WAKE, 2, 100, 0);
    trace_put(s, 500, TRACE_VCPU_STATE, 2, READY, 0);
    trace_put(s, 500, TRACE_ACTIVITY, 2, TERM_STEAL, 0);
    trace_put(s, 1500, TRACE_VCPU_IN, 1, 2, 0);
    trace_put(s, 1500, TRACE_VCPU_STATE, 2, RUNNING, 0);
    trace_put(s, 1500, TRACE_ACTIVITY, 2, TERM_HYP, 0);
    trace_put(s, 1600, TRACE_ACTIVITY, 2, TERM_OVERHEAD, 0);
    trace_put(s, 1700, TRACE_TASK_IN, 2, 100, 0);
    trace_put(s, 1800, TRACE_ACTIVITY, 2, TERM_WORK, 0);
    trace_put(s, 2800, TRACE_ACTIVITY, 2, TERM_LOCKSPIN, 0);
    trace_put(s, 3001, TRACE_VCPU_OUT, 1, 2, 1);
    trace_put(s, 3001, TRACE_VCPU_STATE, 2, READY, 0);
    trace_put(s, 3001, TRACE_ACTIVITY, 2, TERM_STEAL, 0);
    trace_put(s, 4000, TRACE_VCPU_IN, 1, 2, 0);
    trace_put(s, 4000, TRACE_VCPU_STATE, 2, RUNNING, 0);
    trace_put(s, 4000, TRACE_ACTIVITY, 2, TERM_WORK, 0);
    trace_put(s, 4500, TRACE_EXIT, 2, 0, 0);
    trace_put(s, 4600, TRACE_USABLE, 1, 1, 0);
    trace_put(s, 4600, TRACE_TASK_OUT, 2, 100, 0);
    trace_put(s, 4700, TRACE_TASK_IN, 2, 100, 0); /* without a wake-up: no second arrow */
    trace_put(s, 5000, TRACE_MARK, 2, 100, 0);
    trace_put(s, 5000, TRACE_TASK_OUT, 2, 100, 0);
    trace_put(s, 5000, TRACE_ACTIVITY, 2, TERM_HELD, 0);
    trace_put(s, 6000, TRACE_ACTIVITY, 2, TERM_IDLESPIN, 0);
    trace_put(s, 6500, TRACE_VCPU_OUT, 1, 2, 2);
    trace_put(s, 6500, TRACE_VCPU_STATE, 2, BLOCKED, 0);
    trace_put(s, 6500, TRACE_ACTIVITY, 2, TERM_BLOCKED, 0);
    trace_put(s, 7000, TRACE_TASK_WAKE, 2, 101, -1); /* by a device: no arrow */
    trace_put(s, 7000, TRACE_TASK_WAKE, 2, 102, 0);  /* never runs: no arrow either */
    trace_put(s, 7000, TRACE_ACTIVITY, 2, TERM_UNSEEN, 0);
    trace_put(s, 9000, TRACE_VCPU_STATE, 2, READY, 0);
    trace_put(s, 9000, TRACE_VCPU_IN, 1, 2, 0);
    trace_put(s, 9000, TRACE_VCPU_STATE, 2, RUNNING, 0);
    trace_put(s, 9000, TRACE_ACTIVITY, 2, TERM_WORK, 0);
    trace_put(s, 9000, TRACE_TASK_IN, 2, 101, 0);
}

static char *written_window(const struct timeline_names *n, ns_t end)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    struct timeline *t = timeline_open(out, n);

    cr_assert(t != NULL);
    play(timeline_sink(t));
    cr_assert_eq(timeline_close(t, end), 0);
    cr_assert_eq(fclose(out), 0);
    return text;
}

static char *written_timeline(ns_t end)
{
    return written_window(&names, end);
}

static const char *text_in(const cJSON *event, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, key);

    return cJSON_IsString(item) ? item->valuestring : "";
}

static ns_t ns_in(const cJSON *event, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, key);

    cr_assert(cJSON_IsNumber(item), "no number %s", key);
    return (ns_t)(item->valuedouble * 1000 + 0.5);
}

static int int_in(const cJSON *event, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, key);

    return cJSON_IsNumber(item) ? item->valueint : -1;
}

/* The slices of a track as "name from-to|...": in order and, checked, without overlap. */
static char *track(const cJSON *events, int pid, int tid)
{
    static char text[1000];
    const cJSON *e;
    ns_t last = 0;
    bool open = false;

    text[0] = '\0';
    cJSON_ArrayForEach(e, events)
    {
        const char *ph = text_in(e, "ph");

        if ((*ph != 'B' && *ph != 'E') || int_in(e, "pid") != pid || int_in(e, "tid") != tid)
            continue;
        cr_assert(open == (*ph == 'E') && ns_in(e, "ts") >= last + open, "overlap after %s", text);
        last = ns_in(e, "ts");
        open = !open;
        if (open)
            sprintf(text + strlen(text), "%s %d-", text_in(e, "name"), (int)last);
        else
            sprintf(text + strlen(text), "%d|", (int)last);
    }
    cr_assert(!open);
    return text;
}

Test(timeline, tracks_show_where_the_time_went)
{
    char *text = written_timeline(10000);
    cJSON *root = cJSON_ParseWithOpts(text, NULL, true);
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(root, "traceEvents");

    cr_assert(cJSON_IsArray(events), "no list of events in %s", text);
    cr_assert_str_eq(track(events, 1, 0), "vcpu 0 0-10000|");
    cr_assert_str_eq(track(events, 1, 1), "vcpu 2 1500-3001|vcpu 2 4000-6500|vcpu 2 9000-10000|");
    cr_assert_str_eq(track(events, 2, 0), "task 0 0-10000|");
    cr_assert_str_eq(track(events, 2, 1), "");
    cr_assert_str_eq(
        track(events, 3, 2),
        "steal 500-1500|kernel 1500-1700|task 100 1700-2800|lock spin 2800-3001|steal 3001-4000|"
        "task 100 4000-4600|kernel 4600-4700|task 100 4700-5000|held idle 5000-6000|idle spin "
        "6000-6500|"
        "unseen wait 7000-9000|task 101 9000-10000|");
    cr_assert(strstr(text, "\"ts\":3.001,\"name\":\"steal\"}"), "times are not whole nanoseconds");
    cJSON_Delete(root);
    free(text);
}

/* The values of a counter as "3@500 2@1500 ". */
static char *counter(const cJSON *events, int pid, const char *name)
{
    static char text[1000];
    const cJSON *e;

    text[0] = '\0';
    cJSON_ArrayForEach(e, events) if (strcmp(text_in(e, "ph"), "C") == 0 &&
                                      int_in(e, "pid") == pid &&
                                      strcmp(text_in(e, "name"), name) == 0)
        sprintf(text + strlen(text), "%d@%d ",
                cJSON_GetObjectItemCaseSensitive(e, "args")->child->valueint, (int)ns_in(e, "ts"));
    return text;
}

Test(timeline, counters_follow_vms_and_machine)
{
    char *text = written_timeline(10000);
    cJSON *root = cJSON_ParseWithOpts(text, NULL, true);
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(root, "traceEvents");

    /* vCPU 2 holds and polls from 5000 to 6500. */
    cr_expect_str_eq(counter(events, 3, "busy vCPUs"), "0@0 1@500 0@5000 1@9000 ");
    cr_expect_str_eq(counter(events, 2, "busy vCPUs"), "0@0 1@0 ");
    cr_expect_str_eq(counter(events, 1, "idle pCPUs"),
                     "2@0 1@0 0@1500 1@3001 0@4000 1@6500 0@9000 ");
    cr_expect_str_eq(counter(events, 3, "preferred vCPUs"), "1@4600 ");
    cr_expect_str_eq(counter(events, 2, "preferred vCPUs"), "");
    cJSON_Delete(root);
    free(text);
}

/* Slices are cut at its ends, counters begin with what they are, arrows are in it with both ends. */
Test(timeline, a_window_is_cut_out)
{
    static const struct {
        ns_t from, to;
        const char *vcpu, *idle, *busy, *preferred;
        int arrows;
    } want[] = {
        {1600, 4650,
         "kernel 1600-1700|task 100 1700-2800|lock spin 2800-3001|steal 3001-4000|"
         "task 100 4000-4600|kernel 4600-4650|",
         "0@1600 1@3001 0@4000 ", "1@1600 ", "1@4600 ", 0},
        {500, 1701, "steal 500-1500|kernel 1500-1700|task 100 1700-1701|", "1@500 0@1500 ",
         "0@500 1@500 ", "", 2},
        {500, 1700, "steal 500-1500|kernel 1500-1700|", "1@500 0@1500 ", "0@500 1@500 ", "", 0},
        {501, 1701, "steal 501-1500|kernel 1500-1700|task 100 1700-1701|", "1@501 0@1500 ",
         "1@501 ", "", 0},
        {6600, 6900, "", "1@6600 ", "0@6600 ", "1@6600 ", 0},
        {9000, 0, "task 101 9000-10000|", "1@9000 0@9000 ", "0@9000 1@9000 ", "1@9000 ", 0},
        {9500, 9600, "task 101 9500-9600|", "0@9500 ", "1@9500 ", "1@9500 ", 0},
    };

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct timeline_names n = names;
        cJSON *root;
        const cJSON *events, *e;
        char *text;
        int arrows = 0;

        n.from = want[i].from;
        n.to = want[i].to;
        text = written_window(&n, 10000);
        root = cJSON_ParseWithOpts(text, NULL, true);
        events = cJSON_GetObjectItemCaseSensitive(root, "traceEvents");
        cJSON_ArrayForEach(e, events) arrows += strchr("sf", *text_in(e, "ph")) != NULL;
        cr_expect_str_eq(track(events, 3, 2), want[i].vcpu);
        cr_expect_str_eq(counter(events, 1, "idle pCPUs"), want[i].idle);
        cr_expect_str_eq(counter(events, 3, "busy vCPUs"), want[i].busy);
        cr_expect_str_eq(counter(events, 3, "preferred vCPUs"), want[i].preferred);
        cr_expect_eq(arrows, want[i].arrows, "window %zu: %d ends of arrows", i, arrows);
        cJSON_Delete(root);
        free(text);
    }
}

/* The accounts of vCPU 2 of a machine where only time is spent that is said here. */
struct books {
    ns_t spent, owed, unseen_since, since;
};

static ns_t books_began(void *arg)
{
    (void)arg;
    return 0;
}

static ns_t books_spent(void *arg, int vcpu, enum term term)
{
    const struct books *b = arg;

    return vcpu == 2 && term == TERM_HELD ? b->spent : 0;
}

static ns_t books_owed(void *arg, int vcpu)
{
    (void)vcpu;
    return ((const struct books *)arg)->owed;
}

static bool books_unseen(void *arg, int vcpu, ns_t *since)
{
    const struct books *b = arg;

    *since = vcpu == 2 && b->unseen_since >= 0 ? b->unseen_since : b->since;
    return vcpu == 2 && b->unseen_since >= 0;
}

Test(timeline, accounts_say_what_records_do_not)
{
    struct books b = {.spent = 70, .owed = 30, .unseen_since = -1};
    const struct spans_probe probe = {.arg = &b,
                                      .began = books_began,
                                      .spent = books_spent,
                                      .owed = books_owed,
                                      .unseen = books_unseen};
    struct timeline_names n = names;
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    struct trace_sink *s;
    struct timeline *t;
    cJSON *root;

    n.probe = &probe;
    t = timeline_open(out, &n);
    s = timeline_sink(t);
    trace_put(s, 100, TRACE_VCPU_STATE, 2, 2, 0);
    trace_put(s, 100, TRACE_ACTIVITY, 2, TERM_HELD, 0); /* 30 ns before it begins */
    b.spent += 900; /* 70 ns of the 1000 were something else's, 30 of them before */
    trace_put(s, 1100, TRACE_ACTIVITY, 2, TERM_OVERHEAD, 0);
    trace_put(s, 1200, TRACE_VCPU_STATE, 2, 0, 0);
    b.unseen_since = 1500;
    trace_put(s, 1700, TRACE_EXIT, 0, 0, 0); /* any record */
    b.unseen_since = -1;
    b.since = 1800; /* another vCPU has taken the task */
    trace_put(s, 1900, TRACE_EXIT, 0, 0, 0);
    b.unseen_since = 2000;
    trace_put(s, 2500, TRACE_VCPU_STATE, 2, 1, 0);
    b.unseen_since = -1;
    cr_assert_eq(timeline_close(t, 3000), 0);
    fclose(out);
    root = cJSON_ParseWithOpts(text, NULL, true);
    cr_expect_str_eq(track(cJSON_GetObjectItemCaseSensitive(root, "traceEvents"), 3, 2),
                     "kernel 100-130|held idle 130-1030|kernel 1030-1200|unseen wait 1500-1800|"
                     "unseen wait 2000-2500|steal 2500-3000|");
    cJSON_Delete(root);
    free(text);
}

/* Where the waker stops in the instant of the wake-up, or begins in it, or shows nothing. */
Test(timeline, arrows_begin_in_the_waker)
{
    static const struct {
        ns_t in, out; /* of the waker */
        ns_t begins;  /* -1: no arrow */
    } want[] = {{100, 500, 400}, {100, 400, 399}, {400, 500, 400}, {400, 400, -1}};

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        char *text = NULL;
        size_t len;
        FILE *out = open_memstream(&text, &len);
        struct timeline *t = timeline_open(out, &names);
        struct trace_sink *s = timeline_sink(t);
        const cJSON *e;
        cJSON *root;
        ns_t begins = -1;

        trace_put(s, want[i].in, TRACE_VCPU_STATE, 2, 2, 0);
        trace_put(s, want[i].in, TRACE_TASK_IN, 2, 0, 0);
        trace_put(s, 400, TRACE_TASK_WAKE, 3, 1, 2);
        trace_put(s, want[i].out, TRACE_TASK_OUT, 2, 0, 0);
        trace_put(s, want[i].out, TRACE_VCPU_STATE, 2, 0, 0);
        trace_put(s, 600, TRACE_VCPU_STATE, 3, 2, 0);
        trace_put(s, 700, TRACE_TASK_IN, 3, 1, 0);
        timeline_close(t, 800);
        fclose(out);
        root = cJSON_ParseWithOpts(text, NULL, true);
        cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(root, "traceEvents"))
        {
            if (strcmp(text_in(e, "ph"), "s") == 0)
                begins = ns_in(e, "ts");
            if (strcmp(text_in(e, "ph"), "f") == 0)
                cr_expect_eq(ns_in(e, "ts"), 700);
        }
        cr_expect_eq(begins, want[i].begins, "%zu: at %d", i, (int)begins);
        cJSON_Delete(root);
        free(text);
    }
}

/* A pCPU that a vCPU leaves for another one was not idle. */
Test(timeline, a_switch_is_no_idle_instant)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    struct timeline *t = timeline_open(out, &names);
    struct trace_sink *s = timeline_sink(t);
    cJSON *root;

    trace_put(s, 100, TRACE_VCPU_IN, 0, 0, 0);
    trace_put(s, 200, TRACE_VCPU_OUT, 0, 0, 0);
    trace_put(s, 200, TRACE_VCPU_IN, 0, 1, 0);
    trace_put(s, 300, TRACE_VCPU_OUT, 0, 1, 0);
    timeline_close(t, 400);
    fclose(out);
    root = cJSON_ParseWithOpts(text, NULL, true);
    cr_expect_str_eq(
        counter(cJSON_GetObjectItemCaseSensitive(root, "traceEvents"), 1, "idle pCPUs"),
        "2@0 1@100 2@300 ");
    cJSON_Delete(root);
    free(text);
}

Test(timeline, arrows_come_in_pairs_and_names_are_escaped)
{
    char *text = written_timeline(10000);
    cJSON *root = cJSON_ParseWithOpts(text, NULL, true);
    const cJSON *e, *start = NULL, *finish = NULL;
    int arrows = 0, processes = 0, threads = 0;

    cJSON_ArrayForEach(e, cJSON_GetObjectItemCaseSensitive(root, "traceEvents"))
    {
        const char *ph = text_in(e, "ph");
        const cJSON *args = cJSON_GetObjectItemCaseSensitive(e, "args");

        if (*ph == 's' || *ph == 'f') {
            arrows++;
            *(*ph == 's' ? &start : &finish) = e;
        }
        processes += strcmp(text_in(e, "name"), "process_name") == 0;
        threads += strcmp(text_in(e, "name"), "thread_name") == 0;
        if (strcmp(text_in(e, "name"), "process_name") == 0 && int_in(e, "pid") > 1)
            cr_assert_str_eq(text_in(args, "name"), vm_name(NULL, int_in(e, "pid") - 2));
    }
    cr_assert_eq(processes, 3);
    cr_assert_eq(threads, 2 + 4);
    cr_assert(arrows == 2 && start && finish, "%d ends of arrows", arrows);
    cr_assert_eq(int_in(start, "id"), int_in(finish, "id"));
    cr_assert(int_in(start, "pid") == 2 && int_in(start, "tid") == 0);
    cr_assert(int_in(finish, "pid") == 3 && int_in(finish, "tid") == 2);
    cr_assert(ns_in(start, "ts") == 500 && ns_in(finish, "ts") == 1700);
    cr_assert_str_eq(text_in(finish, "bp"), "e");
    cJSON_Delete(root);
    free(text);
}

Test(timeline, an_empty_run_is_valid_and_a_full_disk_is_reported)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    struct timeline *t = timeline_open(out, &names);

    cr_assert_eq(timeline_close(t, 0), 0);
    fclose(out);
    cJSON *root = cJSON_ParseWithOpts(text, NULL, true);
    cr_assert(cJSON_IsObject(root), "not JSON: %s", text);
    cJSON_Delete(root);
    free(text);

    out = fopen("/dev/full", "w");
    if (!out)
        cr_skip_test("no /dev/full");
    t = timeline_open(out, &names);
    play(timeline_sink(t));
    cr_assert_eq(timeline_close(t, 10000), -1);
    cr_assert_eq(errno, ENOSPC);
    fclose(out);
}
