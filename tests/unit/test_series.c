/* SPDX-License-Identifier: MIT */
/* What --series makes of a sequence of records, to the digit. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obs/account.h"
#include "obs/series.h"

enum { BLOCKED, READY, RUNNING };

static int vm_of(void *arg, int vcpu)
{
    (void)arg;
    return vcpu / 2;
}

static const char *vm_name(void *arg, int vm)
{
    (void)arg;
    return vm == 0 ? "web" : "db, \"2\"";
}

static const int pool[] = {1, 2};
static const struct series_conf conf = {.step = 1000,
                                        .npcpus = 3,
                                        .nvcpus = 4,
                                        .nvms = 2,
                                        .pool = pool,
                                        .npool = 2,
                                        .vm = vm_of,
                                        .vm_name = vm_name};

static char *written(void (*play)(struct trace_sink *s), ns_t end)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    struct series *s = series_open(out, &conf);

    cr_assert(s != NULL);
    if (play)
        play(series_sink(s));
    cr_assert_eq(series_close(s, end), 0);
    fclose(out);
    return text;
}

#define HEAD "time_s,vm,preferred_vcpus,busy_vcpus,steal_vcpus,throughput_per_s,idle_pcpus\n"

static void play(struct trace_sink *s)
{
    trace_put(s, 0, TRACE_USABLE, 1, 4, 0);
    /* vCPU 0 waits from 200 and runs from 600 to 1500; then it polls, until 1700. */
    trace_put(s, 200, TRACE_VCPU_STATE, 0, READY, 0);
    trace_put(s, 600, TRACE_VCPU_STATE, 0, RUNNING, 0);
    trace_put(s, 600, TRACE_VCPU_IN, 1, 0, 0);
    trace_put(s, 600, TRACE_ACTIVITY, 0, TERM_WORK, 0);
    trace_put(s, 700, TRACE_MARK, 0, 0, 0);
    trace_put(s, 999, TRACE_MARK, 1, 0, 0);
    trace_put(s, 1000, TRACE_MARK, 0, 0, 0); /* of the second step */
    /* A pCPU outside of the pool is not counted. */
    trace_put(s, 1000, TRACE_VCPU_IN, 0, 1, 0);
    trace_put(s, 1250, TRACE_USABLE, 1, 2, 0);
    trace_put(s, 1500, TRACE_ACTIVITY, 0, TERM_IDLESPIN, 0);
    trace_put(s, 1700, TRACE_VCPU_OUT, 1, 0, 0);
    trace_put(s, 1700, TRACE_VCPU_STATE, 0, BLOCKED, 0);
    trace_put(s, 1700, TRACE_ACTIVITY, 0, TERM_BLOCKED, 0);
    /* Both of the second VM wait, the one for 3 steps. */
    trace_put(s, 1900, TRACE_VCPU_STATE, 3, READY, 0);
    trace_put(s, 1900, TRACE_VCPU_STATE, 2, READY, 0);
    trace_put(s, 2000, TRACE_VCPU_STATE, 2, BLOCKED, 0);
}

Test(series, areas_and_counts_of_each_step)
{
    char *text = written(play, 4500);

    cr_expect_str_eq(text, HEAD "0.000001000,web,,0.800,0.400,2000000.000,\n"
                                "0.000001000,\"db, \"\"2\"\"\",4.000,0.000,0.000,0.000,\n"
                                "0.000001000,,,,,,1.600\n"
                                "0.000002000,web,,0.500,0.000,1000000.000,\n"
                                "0.000002000,\"db, \"\"2\"\"\",2.500,0.200,0.200,0.000,\n"
                                "0.000002000,,,,,,1.300\n"
                                "0.000003000,web,,0.000,0.000,0.000,\n"
                                "0.000003000,\"db, \"\"2\"\"\",2.000,1.000,1.000,0.000,\n"
                                "0.000003000,,,,,,2.000\n"
                                "0.000004000,web,,0.000,0.000,0.000,\n"
                                "0.000004000,\"db, \"\"2\"\"\",2.000,1.000,1.000,0.000,\n"
                                "0.000004000,,,,,,2.000\n"
                                "0.000004500,web,,0.000,0.000,0.000,\n"
                                "0.000004500,\"db, \"\"2\"\"\",2.000,1.000,1.000,0.000,\n"
                                "0.000004500,,,,,,2.000\n");
    free(text);
}

/* A guest that was polling when it was preempted does not want its pCPU; one that wakes up does. */
static void play_polls(struct trace_sink *s)
{
    trace_put(s, 0, TRACE_VCPU_STATE, 0, READY, 0);
    trace_put(s, 0, TRACE_VCPU_STATE, 0, RUNNING, 0);
    trace_put(s, 100, TRACE_ACTIVITY, 0, TERM_HELD, 0);
    trace_put(s, 300, TRACE_VCPU_STATE, 0, READY, 0);
    trace_put(s, 400, TRACE_VCPU_STATE, 0, RUNNING, 0);
    trace_put(s, 500, TRACE_VCPU_STATE, 0, BLOCKED, 0);
    trace_put(s, 600, TRACE_VCPU_STATE, 0, READY, 0);
}

Test(series, waiting_is_not_always_wanting)
{
    char *text = written(play_polls, 1000);

    cr_expect(strstr(text, "0.000001000,web,,0.500,0.500,0.000,\n"), "%s", text);
    free(text);
}

Test(series, an_empty_run_and_a_full_disk)
{
    char *text = written(NULL, 0);
    FILE *out = fopen("/dev/full", "w");
    struct series *s;

    cr_expect_str_eq(text, HEAD);
    free(text);
    if (!out)
        cr_skip_test("no /dev/full");
    s = series_open(out, &conf);
    cr_assert_eq(series_close(s, 5000), -1);
    cr_assert_eq(errno, ENOSPC);
    fclose(out);
}
