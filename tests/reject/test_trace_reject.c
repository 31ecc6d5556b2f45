/* SPDX-License-Identifier: MIT */
/*
 * Traces that cannot be used, each with its message, and the command's exit statuses.
 */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "traces/trace.h"

#define SWITCH                                                                                     \
    "sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 "  \
    "next_prio=120\n"
#define HINT                                                                                       \
    "record sched_switch, sched_waking, sched_wakeup and sched_wakeup_new and copy the file "      \
    "trace of tracefs"

struct refusal {
    const char *text;
    size_t len; /* 0 = strlen */
    const char *message;
};

#define STR(s) s, 0

static const struct refusal refusals[] = {
    {STR(""), "f: the file is empty; " HINT},
    {STR("\x1f\x8b\x08 rest"), "f: compressed with gzip; unpack it first (gzip -d)"},
    {STR("TRACE:\nx\x9c rest"), "f: compressed by atrace -z; record without -z"},
    {STR("\x78\x9c rest"), "f: compressed with zlib; unpack it first"},
    {"\x28\xb5\x2f\xfd rest", 9, "f: compressed with zstd; unpack it first (zstd -d)"},
    {STR("\x17\x08\x44tracing6"), "f: a binary trace.dat; make text of it (trace-cmd report)"},
    {STR("PERFILE2h"), "f: a binary perf.data; make text of it (perf script)"},
    {"ab\0cd", 5, "f: binary data, no trace text; " HINT},
    {STR("hello\nworld\n"),
     "f: no event of ftrace, trace-cmd report or perf script in 3 lines; " HINT},
    {STR("a-1 [000] 1.000000: cpu_idle: state=1 cpu_id=0\n"),
     "f: no scheduler event: none of 1 events is a sched_switch or a wake-up; " HINT},
    {STR("a-1 [000] 1.000000: sched_wakeup: comm=b pid=2 prio=120 target_cpu=000\n"),
     "f: wake-ups but no readable sched_switch; " HINT},
    {STR("a-1 [000] d..2.            1: " SWITCH "a-2 [000] d..2.            2: cpu_idle: x\n"),
     "f: the times are event numbers (trace_clock=counter); record with trace_clock=mono"},
    {STR("a-1 [000] d..2. 179505897923: " SWITCH "a-2 [000] d..2. 179505999999: cpu_idle: x\n"),
     "f: the times are clock ticks; give their rate with --clock-hz, or record with "
     "trace_clock=mono"},
    {STR("# tracer: nop\nhackbenc-15114     1d.s3. 20929us : sched_waking: comm=a pid=1 prio=1\n"),
     "f:2:1: latency format: names are cut and times are relative; record with "
     "options/latency-format off, or trace-cmd report without -l"},
    {STR("cpus=2\nx:    <...>-16081   0d.h2.  1955.379348: sched_waking:  comm=o pid=2 prio=120\n"),
     "f:2:1: latency format: names are cut and times are relative; record with "
     "options/latency-format off, or trace-cmd report without -l"},
    {STR("#\n00003b1c 00000001 000001bd3e2219f6 type: 375\n"),
     "f:2:1: records in hex, without names; record with options/hex off"},
    {STR("15141 1 1912380366782 type: 366\n"),
     "f:1:1: raw records, without names; record with options/raw off"},
    {STR("#\n#\n" SWITCH),
     "f:3:1: events without task, CPU and time; record with options/context-info on"},
    {STR("a-1 [000] 1.000000: sched_switch: prev_comm=a prev_pid=0x3b13 (15123) prev_prio=0x78 "
         "(120) prev_state=0x0 (0) next_comm=b next_pid=0x3b14 (15124) next_prio=0x78 (120)\n"),
     "f:1:1: events with their fields in hex; record with options/fields off"},
};

Test(trace_reject, messages)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *w = &refusals[i];
        size_t n = w->len ? w->len : strlen(w->text);
        char copy[1024], *error = NULL, *text = NULL;
        struct trace_read_options o = {0};
        struct trace_import_options io;
        struct trace_counts c;
        memcpy(copy, w->text, n);
        FILE *in = n ? fmemopen(copy, n, "r") : fopen("/dev/null", "r");
        cr_expect_eq(trace_info_stream(in, "f", &o, &c, &error), TRACE_REFUSED, "%s", w->message);
        cr_expect_str_eq(error ? error : "", w->message);
        free(error);
        rewind(in);
        trace_import_defaults(&io);
        cr_expect_eq(trace_import_stream(in, "f", &io, &text, NULL, NULL, &error), TRACE_REFUSED);
        cr_expect_str_eq(error ? error : "", w->message);
        cr_expect_null(text);
        free(error);
        fclose(in);
    }
}

/* Prefix of the lines below; `strict` stops at the first oddity. */
#define A "            a-1     [000] d..2.   "
#define B "            b-2     [000] d..2.   "

static const struct refusal oddities[] = {
    {STR(A "1.000002: " SWITCH B "1.000001: cpu_idle: x\n"),
     "f:2:35: time_goes_back: time before that of the line above, taken as equal"},
    {STR(A "1.000001: " SWITCH A "1.000001: " SWITCH),
     "f:2:59: cpu_continuity_breaks: the task switched out is not the one switched in before: the "
     "timeline of the CPU is incomplete"},
    {STR(B "1.000001: " SWITCH), "f:1:1: prefix_comm_differs_from_prev_comm: the line names its "
                                 "task otherwise than the event does"},
    {STR(A "1.000001: sched_switch: prev_comm=a prev_pid=1\n"),
     "f:1:59: switch_unparsed: sched_switch whose fields cannot be read"},
    {STR(A "1.000001: sched_waking: comm=b\n"),
     "f:1:59: wake_unparsed: wake-up whose fields cannot be read"},
    {STR(A "1.000001: sched_waking: comm=b\nc pid=2 prio=120 target_cpu=000\n"),
     "f:1:59: joined_lines: line that continues an event: a newline in a name"},
    {STR(A "1.000001: sched_waking: comm= b pid=2 prio=120 target_cpu=000\n"),
     "f:1:1: odd_task_names: task with a name that is empty, unprintable or imitates a trace"},
    {STR("  sched_switch: what\n"),
     "f:1:3: sched_or_kvm_lines_not_matched: scheduler or KVM event without readable task, CPU and "
     "time"},
    {STR("#\nCPU:0 [LOST 75 EVENTS]\n"), "f:2:1: lost_lines: events were lost while recording"},
    {STR("CPU:3 [EVENTS DROPPED]\n"), "f:1:1: lost_lines: events were lost while recording"},
    {STR("# entries-in-buffer/entries-written: 7/9   #P:2\n"),
     "f:1:1: overwritten_headers: the ring buffer was overwritten"},
    {STR("#\nabc"), "f:2:4: cut_last_line: the last line does not end with a newline"},
    {STR(A "1.000001: sched_waking: [FAILED TO PARSE] comm=b\n"),
     "f:1:59: failed_to_parse: event that trace-cmd could not read"},
};

Test(trace_reject, strict)
{
    for (size_t i = 0; i < sizeof(oddities) / sizeof(oddities[0]); i++) {
        char copy[1024], *error = NULL;
        struct trace_read_options o = {.strict = true};
        struct trace_counts c;
        memcpy(copy, oddities[i].text, strlen(oddities[i].text));
        FILE *in = fmemopen(copy, strlen(oddities[i].text), "r");
        cr_expect_eq(trace_info_stream(in, "f", &o, &c, &error), TRACE_REFUSED);
        cr_expect_str_eq(error ? error : "", oddities[i].message);
        free(error);
        fclose(in);
    }
}

/* The same oddities without strict are counted, and lost events with their number. */
Test(trace_reject, counted)
{
    char copy[] = A "1.000002: " SWITCH "CPU:0 [LOST 75 EVENTS]\n" A "1.000001: " SWITCH
                    "CPU:99999999 [LOST 1 EVENTS]\n";
    struct trace_read_options o = {0};
    struct trace_counts c;
    char *error;
    FILE *in = fmemopen(copy, sizeof(copy) - 1, "r");
    cr_expect_eq(trace_info_stream(in, "f", &o, &c, &error), TRACE_OK, "%s", error);
    cr_expect_eq(c.odd[ODD_TIME_BACK], 1);
    cr_expect_eq(c.odd[ODD_LOST], 1);
    cr_expect_eq(c.lost_events, 75);
    cr_expect_eq(c.odd[ODD_CONTINUITY], 0, "nothing can be said across lost events");
    cr_expect_eq(c.last - c.first, 0);
    fclose(in);
}

Test(trace_reject, ticks_with_a_rate)
{
    char copy[] = A "179505897920: " SWITCH B "200505897920: cpu_idle: x\n";
    struct trace_read_options o = {.clock_hz = 2100000000};
    struct trace_counts c;
    char *error;
    FILE *in = fmemopen(copy, sizeof(copy) - 1, "r");
    cr_expect_eq(trace_info_stream(in, "f", &o, &c, &error), TRACE_OK, "%s", error);
    cr_expect_eq(c.last - c.first, 10 * NS_SEC);
    fclose(in);
}

Test(trace_reject, too_long)
{
    char copy[] = A "1.000001: " SWITCH A "400002.000001: " SWITCH;
    struct trace_import_options o;
    char *error, *text;
    FILE *in = fmemopen(copy, sizeof(copy) - 1, "r");
    trace_import_defaults(&o);
    cr_expect_eq(trace_import_stream(in, "f", &o, &text, NULL, NULL, &error), TRACE_REFUSED);
    cr_expect_str_eq(error ? error : "",
                     "f: the recording spans 400001 s, more than the 400000 s of "
                     "a program; is the clock rate right?");
    free(error);
    fclose(in);
}

/* Runs the command with its output in files that are gone afterwards. */
static int run(const char *args, char *out, char *err, size_t cap)
{
    char line[512], *argv[16];
    int argc = 0, words = 0, status = 0;
    FILE *f[2] = {tmpfile(), tmpfile()};
    int saved[2] = {dup(1), dup(2)};
    char *text[2] = {out, err};
    snprintf(line, sizeof(line), "%s", args);
    for (char *p = strtok(line, " "); p && argc < 15; p = strtok(NULL, " "))
        argv[argc++] = p;
    argv[argc] = NULL;
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++)
        dup2(fileno(f[i]), i + 1);
    const struct command_entry *command = command_find(argc, argv, &words, &status);

    if (command)
        status = command->run(argc - words + 1, argv + words - 1);
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], i + 1);
        close(saved[i]);
        rewind(f[i]);
        text[i][fread(text[i], 1, cap - 1, f[i])] = '\0';
        fclose(f[i]);
    }
    return status;
}

#define DATA "tests/reject/data/trace_pingpong.txt"

static const struct {
    const char *args;
    int status;
    const char *out, *err; /* must be contained */
} cases[] = {
    {"trace", 2, "", "usage: tandem trace info"},
    {"trace --help", 0, "usage: tandem trace info", ""},
    {"trace info --help", 0, "example: tandem trace info", ""},
    {"trace import --help", 0, "example: tandem trace import", ""},
    {"trace foo x", 2, "", "unknown command 'foo': expected info, import"},
    {"trace export x", 2, "", "unknown command 'export'; did you mean 'import'?"},
    {"trace info", 2, "", "needs a trace"},
    {"trace info tests/reject/data/none.txt", 3, "",
     "tests/reject/data/none.txt: cannot open: No such file or directory\n"},
    {"trace info tests/reject/data", 3, "", "tests/reject/data: cannot be read\n"},
    {"trace info tests/reject/data/trace_pingpong.yaml", 2, "lines", "no event of ftrace"},
    {"trace info " DATA, 0, "switches                             12\n", ""},
    {"trace info --format json " DATA, 0, "\"switches\":12,", ""},
    {"trace info --format csv " DATA, 0, "file,name,value\n" DATA ",form,", ""},
    {"trace info -f csv " DATA " " DATA, 0, "usable,yes\n" DATA ",form,", ""},
    {"trace import -q " DATA, 0, "third_one-30", ""},
    {"trace info --format json " DATA, 0, "\"prev_states\":{\"R\":6,\"S\":5,\"Z\":1}", ""},
    {"trace info --format xml " DATA, 2, "",
     "'--format' is 'xml', expected one of: table, json, csv"},
    {"trace info --clock-hz 0 " DATA, 2, "", "'--clock-hz' is '0', expected a whole number from 1"},
    {"trace import " DATA, 0, "  - name: third_one-30\n", "note: 2 wake-ups kept as messages"},
    {"trace import " DATA " --min-run 1ms", 2, "", "no task left to import: 3 seen"},
    {"trace import " DATA " --min-run 1x", 2, "", "'--min-run' is '1x', expected a time"},
    {"trace import " DATA " --max-ops 0", 2, "",
     "'--max-ops' is '0', expected a whole number from 1"},
    {"trace import " DATA " --max-tasks 1", 0, "pong-20", "2 tasks not selected"},
    {"trace import " DATA " --mode half", 2, "",
     "'--mode' is 'half', expected one of: closed, open"},
    {"trace import " DATA " --mode open --loop", 2, "", "cannot repeat"},
    {"trace import " DATA " --mode open", 0, "timer: {at: 1ms}", ""},
    {"trace import " DATA " --no-loop", 0, "      - recv: {queue: q20_10}", ""},
    {"trace import " DATA " -o /dev/full", 3, "", "/dev/full: cannot write"},
    {"trace import " DATA " " DATA, 2, "", "takes one trace"},
    {"trace import tests/reject/data/none.txt", 3, "", "cannot open"},
};

Test(trace_reject, command)
{
    static char out[65536], err[65536];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = run(cases[i].args, out, err, sizeof(out));
        cr_expect_eq(status, cases[i].status, "%s: %d\n%s", cases[i].args, status, err);
        cr_expect(strstr(out, cases[i].out), "%s: %s", cases[i].args, out);
        cr_expect(strstr(err, cases[i].err), "%s: %s", cases[i].args, err);
        cr_expect(!*out || status == 0 || cases[i].out[0], "%s: %s", cases[i].args, out);
    }
}
