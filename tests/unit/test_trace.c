/* SPDX-License-Identifier: MIT */
/*
 * The trace reader: prefixes, counts of the collected traces, files cut anywhere.
 *
 * The collection of real traces lies in ../shared/traces (or $TANDEM_SHARED/traces) and is not part
 * of the project: without it those tests are skipped.
 */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/line.h"
#include "traces/trace.h"

static const char *shared_path(char buf[512], const char *file)
{
    const char *dir = getenv("TANDEM_SHARED");
    snprintf(buf, 512, "%s/traces/%s", dir ? dir : "../shared", file);
    return buf;
}

static char *read_whole(const char *path, size_t *len)
{
    FILE *in = fopen(path, "rb");
    char *p = NULL;
    *len = 0;
    if (!in)
        return NULL;
    for (size_t cap = 1 << 16, got = 1; got; cap *= 2) {
        char *q = realloc(p, cap + 1);
        cr_assert(q);
        p = q;
        got = fread(p + *len, 1, cap - *len, in);
        *len += got;
    }
    p[*len] = '\0';
    fclose(in);
    return p;
}

/* Calls `fn` with the name of each file in GOLDEN.csv and the rest of its row. */
static int each_golden(void (*fn)(const char *file, char *rest))
{
    char path[512];
    size_t len;
    char *csv = read_whole(shared_path(path, "GOLDEN.csv"), &len);
    int n = 0;
    if (!csv)
        return 0;
    for (char *line = strtok(csv, "\r\n"); (line = strtok(NULL, "\r\n")) != NULL; n++) {
        char row[1024];
        snprintf(row, sizeof(row), "%s", line);
        char *comma = strchr(row, ',');
        cr_assert(comma);
        *comma = '\0';
        fn(row, comma + 1);
    }
    free(csv);
    return n;
}

static void row_of_counts(const struct trace_counts *c, char *out, size_t cap)
{
    int n = snprintf(out, cap,
                     "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                     ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
                     c->lines, c->events, c->switches, c->odd[ODD_SWITCH_UNPARSED],
                     c->odd[ODD_NOT_MATCHED], c->cpus, c->odd[ODD_TIME_BACK], c->equal_times,
                     c->odd[ODD_CONTINUITY], c->odd[ODD_PREFIX_COMM], c->odd[ODD_LOST]);
    for (size_t i = 0; i < c->states; i++)
        n += snprintf(out + n, cap - (size_t)n, "%s%s=%" PRId64, i ? " " : "", c->state[i].text,
                      c->state[i].n);
}

static void check_golden(const char *file, char *rest)
{
    char path[512], row[1024];
    struct trace_counts c;
    char *error;
    struct trace_read_options o = {0};
    enum trace_status s = trace_info(shared_path(path, file), &o, &c, &error);
    cr_expect(s != TRACE_UNREADABLE, "%s: %s", file, error ? error : "");
    row_of_counts(&c, row, sizeof(row));
    cr_expect_str_eq(row, rest, "%s:\n got %s\n not %s", file, row, rest);
    cr_expect((s == TRACE_OK) == (error == NULL), "%s", file);
    cr_expect((s == TRACE_OK) <= (c.switches > 0), "%s: usable without a switch", file);
    free(error);
}

Test(trace, golden_counts)
{
    int n = each_golden(check_golden);
    if (n == 0)
        cr_skip_test("../shared/traces is not here");
    cr_expect(n >= 40, "only %d files", n);
}

/* Reads the first n bytes in both ways; the memory is exactly n bytes long. */
static void read_cut(const char *file, const char *p, size_t n)
{
    struct trace_read_options o = {.clock_hz = 2100000000};
    struct trace_import_options io;
    struct trace_counts c;
    char *error, *text;
    char *copy = malloc(n + 1);
    cr_assert(copy);
    memcpy(copy, p, n);
    FILE *in = n ? fmemopen(copy, n, "r") : fopen("/dev/null", "r");
    cr_assert(in);
    enum trace_status s = trace_info_stream(in, file, &o, &c, &error);
    cr_expect(s != TRACE_UNREADABLE && (s == TRACE_OK) == (error == NULL), "%s cut at %zu", file,
              n);
    cr_expect(c.switches <= c.events && c.events <= c.lines, "%s cut at %zu", file, n);
    free(error);
    rewind(in);
    trace_import_defaults(&io);
    s = trace_import_stream(in, file, &io, &text, NULL, NULL, &error);
    cr_expect((s == TRACE_OK) == (text != NULL) && (s == TRACE_OK) == (error == NULL),
              "%s cut at %zu", file, n);
    free(text);
    free(error);
    fclose(in);
    free(copy);
}

/* Every byte of small files; as many places as cost about one pass over 6 MB in large ones. */
static void cut_everywhere(const char *file, char *rest)
{
    char path[512];
    size_t len;
    char *p = read_whole(shared_path(path, file), &len);
    (void)rest;
    cr_assert(p, "%s", path);
    size_t step = len <= 1500 ? 1 : len * len / (2 * 6000000) + 1;
    for (size_t n = 0; n < len; n += step)
        read_cut(file, p, n);
    for (size_t n = len > 200 ? len - 200 : 0; n <= len && len < 70000; n += 7)
        read_cut(file, p, n);
    free(p);
}

Test(trace, cut_anywhere)
{
    if (each_golden(cut_everywhere) == 0)
        cr_skip_test("../shared/traces is not here");
}

Test(trace, own_samples_cut_anywhere)
{
    static const char *const files[] = {"tests/reject/data/trace_pingpong.txt",
                                        "traces/samples/rtapp_pipeline.txt"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        size_t len;
        char *p = read_whole(files[i], &len);
        cr_assert(p, "%s", files[i]);
        for (size_t n = 0; n < len; n += 1 + (len > 10000 ? len / 40 : 0))
            read_cut(files[i], p, n);
        free(p);
    }
}

struct prefix_case {
    const char *line, *comm, *event, *payload;
    int pid, cpu;
    int64_t time;
};

static const struct prefix_case prefixes[] = {
    {"          <idle>-0     [001] d..2  1234.000001: sched_switch: x", "          <idle>",
     "sched_switch", "x", 0, 1, 1234000001000},
    {"       CPU 0/KVM-16805   [000] d..2.  2011.057030: kvm_entry: vcpu 0", "       CPU 0/KVM",
     "kvm_entry", "vcpu 0", 16805, 0, 2011057030000},
    {"    x [001] 1.0:-16810   [000] d..2.  2011.074683: sched_switch: a",
     "    x [001] 1.0:", "sched_switch", "a", 16810, 0, 2011074683000},
    {"ksoftirqd/0-3 ( 3) [000] ...2  1212.465092: sched_switch: a", "ksoftirqd/0", "sched_switch",
     "a", 3, 0, 1212465092000},
    {"             a-1-16808   [001] (-----) 1.0: x-7 (-----) [003] ....    10.258854: e: f",
     "             a-1-16808   [001] (-----) 1.0: x", "e", "f", 7, 3, 10258854000},
    {"research:            <...>-16081 [000]  1955.379348421: sched_waking:          comm=o",
     "           <...>", "sched_waking", "comm=o", 16081, 0, 1955379348421},
    {"     hwc_eventmon-336   [000] 50260.929925: 0: C|124|VSYNC|1", "     hwc_eventmon", "0",
     "C|124|VSYNC|1", 336, 0, 50260929925000},
    {"  hackbench 16197/16198 [002]  1958.833832350: sched:sched_waking: comm=r", "  hackbench",
     "sched_waking", "comm=r", 16198, 2, 1958833832350},
    {"     migration/0    18 [000]  1957.481820:       sched:sched_waking: comm=perf",
     "     migration/0   ", "sched_waking", "comm=perf", 18, 0, 1957481820000},
    {"  hackbench-15078   [001] dNs3. 1795058979238203: sched_waking: a", "  hackbench",
     "sched_waking", "a", 15078, 1, 1795058979238203},
    {"  hackbench-15078   [001] dNs3.1795058979238203: sched_waking: a", "  hackbench",
     "sched_waking", "a", 15078, 1, 1795058979238203},
    {"  hackbench-15033   [000] d.h2.            3: sched_waking: a", "  hackbench", "sched_waking",
     "a", 15033, 0, 3},
};

Test(trace, prefixes)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const struct prefix_case *w = &prefixes[i];
        struct prefix p;
        cr_assert(prefix_parse(w->line, strlen(w->line), &p), "%s", w->line);
        cr_expect(slice_equals(p.comm, w->comm), "%s: comm '%.*s'", w->line, (int)p.comm.n,
                  p.comm.p);
        cr_expect(slice_equals(p.event, w->event), "%s: '%.*s'", w->line, (int)p.event.n,
                  p.event.p);
        cr_expect(slice_equals(p.payload, w->payload), "%s", w->line);
        cr_expect(p.pid == w->pid && p.cpu == w->cpu, "%s: pid %d cpu %d", w->line, p.pid, p.cpu);
        cr_expect(p.time == w->time, "%s: time %" PRId64, w->line, p.time);
    }
}

Test(trace, no_prefix)
{
    static const char *const lines[] = {"",
                                        "-",
                                        "-1",
                                        "# tracer: nop",
                                        "a-1 [0] 1.000000: e: f",
                                        "a-1 [000] 1.000: e: f",
                                        "a-1 [000] 3: e: f",
                                        "a-1 [000] 1.000000: e",
                                        "a-1 [000] 1.000000 e: f",
                                        "a-99999999999 [000] 1.000000: e: f",
                                        "a-1 [99999] 1.000000: e: f",
                                        "a-1 [000] 9999999999.000000: e: f",
                                        "hackbenc-15114     1d.s3. 20929us : e: f",
                                        "    [001]   770.850287: kvm:kvm_entry: vcpu 0",
                                        "CPU:0 [LOST 75 EVENTS]"};
    struct prefix p;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        cr_expect(!prefix_parse(lines[i], strlen(lines[i]), &p), "%s", lines[i]);
}

/* A line longer than the limit is cut, counted, and what follows is read. */
Test(trace, long_line)
{
    static const char event[] =
        "a-1 [000] 1.000000: sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=S ==> "
        "next_comm=b next_pid=2 next_prio=1\n";
    size_t n = 3 * LINE_MAX_BYTES;
    char *p = malloc(n + sizeof(event));
    cr_assert(p);
    memset(p, 'x', n);
    p[n - 1] = '\n';
    memcpy(p + n, event, sizeof(event));
    FILE *in = fmemopen(p, n + sizeof(event) - 1, "r");
    struct trace_read_options o = {0};
    struct trace_counts c;
    char *error;
    cr_assert_eq(trace_info_stream(in, "long", &o, &c, &error), TRACE_OK, "%s", error);
    cr_expect_eq(c.odd[ODD_LONG_LINE], 1);
    cr_expect_eq(c.switches, 1);
    cr_expect_eq(c.lines, 3);
    fclose(in);
    free(p);
}

Test(trace, recognise)
{
    cr_expect(trace_recognise("traces/samples/rtapp_pipeline.txt"));
    cr_expect(trace_recognise("tests/reject/data/trace_pingpong.txt"));
    cr_expect(!trace_recognise("tests/reject/data/trace_pingpong.yaml"));
    cr_expect(!trace_recognise("tests/reject/data/none"));
}
