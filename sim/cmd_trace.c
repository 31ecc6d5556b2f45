/* SPDX-License-Identifier: MIT */
/*
 * tandem trace info | import: looks into recorded traces and makes programs of them.
 *
 * Always true: results go to stdout, notes and errors to stderr. argv[0] is the word "trace".
 */
#include "commands.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/program.h"
#include "traces/trace.h"

enum { EXIT_DONE = 0, EXIT_INPUT = 2, EXIT_ACCESS = 3 };

static const char usage_trace[] =
    "usage: tandem trace info FILE... [--format table|json] [--strict] [--clock-hz N]\n"
    "       tandem trace import FILE [-o OUT.yaml] [options]\n"
    "Reads recorded scheduler traces: ftrace text, trace-cmd report, perf script.\n"
    "tandem trace info --help and tandem trace import --help tell more.\n"
    "Example: tandem trace info traces/samples/hackbench.txt\n";

static const char usage_info[] =
    "usage: tandem trace info FILE... [options]\n"
    "Counts what is in each trace, and what is odd about it.\n"
    "  --format table|json  json: one object per file and line (default table)\n"
    "  --strict             the first oddity is an error\n"
    "  --clock-hz N         rate of a trace whose times are clock ticks\n"
    "  --help               this text\n"
    "Example: tandem trace info traces/samples/rtapp_pipeline.txt\n";

static const char usage_import[] =
    "usage: tandem trace import FILE [options]\n"
    "Makes a workload program of a trace: who ran how long, slept how long, woke whom.\n"
    "  -o, --output FILE    where to write (default: standard output)\n"
    "  --mode closed|open   closed: wake-ups between tasks become messages, other gaps think\n"
    "                       times; open: every wake-up at its recorded time (default closed)\n"
    "  --loop, --no-loop    repeat the recording for ever (default in closed mode), or once\n"
    "  --tasks LIST         only these names or TIDs, such as audio,7805\n"
    "  --comm PREFIX        only tasks whose name begins so\n"
    "  --min-run TIME       only tasks that ran so long in all, such as 2ms\n"
    "  --max-tasks N        only the N that ran most (default 32)\n"
    "  --max-ops N          cut the recording where a task reaches N operations (default 2000)\n"
    "  --strict             the first oddity of the trace is an error\n"
    "  --clock-hz N         rate of a trace whose times are clock ticks\n"
    "  --help               this text\n"
    "Example: tandem trace import traces/samples/rtapp_pipeline.txt --comm stage -o stages.yaml\n";

enum {
    OPT_FORMAT = 256,
    OPT_STRICT,
    OPT_CLOCK,
    OPT_HELP,
    OPT_MODE,
    OPT_LOOP,
    OPT_NO_LOOP,
    OPT_TASKS,
    OPT_COMM,
    OPT_MIN_RUN,
    OPT_MAX_TASKS,
    OPT_MAX_OPS
};

static int usage_error(const char *what, const char *value, const char *expected)
{
    fprintf(stderr, "tandem trace: %s '%s': expected %s\n", what, value, expected);
    return EXIT_INPUT;
}

static bool parse_number(const char *text, int64_t lo, int64_t hi, int64_t *out, char **rest)
{
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    long long v = strtoll(text, rest, 10);
    if (errno || v < lo || v > hi)
        return false;
    *out = v;
    return true;
}

static bool parse_whole(const char *text, int64_t lo, int64_t hi, int64_t *out)
{
    char *rest;
    return parse_number(text, lo, hi, out, &rest) && *rest == '\0';
}

static bool parse_time(const char *text, ns_t *out)
{
    static const struct {
        const char *unit;
        ns_t ns;
    } units[] = {{"ns", 1}, {"us", NS_US}, {"ms", NS_MS}, {"s", NS_SEC}};
    char *rest;
    int64_t v;
    if (!parse_number(text, 0, 1000000000, &v, &rest))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(rest, units[i].unit) == 0) {
            *out = v * units[i].ns;
            return true;
        }
    *out = 0;
    return v == 0 && *rest == '\0';
}

/* Options that both commands have. -1 = not one of them, else 0 or an exit status. */
static int common_option(int opt, struct trace_read_options *o)
{
    if (opt == OPT_STRICT) {
        o->strict = true;
        return 0;
    }
    if (opt == OPT_CLOCK) {
        if (parse_whole(optarg, 1, 10000000000, &o->clock_hz))
            return 0;
        return usage_error("--clock-hz", optarg, "ticks per second, 1 to 10000000000");
    }
    return -1;
}

static void put_notes(const char *file, const struct trace_counts *c)
{
    for (int i = 0; i < ODD_COUNT; i++)
        if (c->odd[i])
            fprintf(stderr, "%s: note: %" PRId64 " %s: %s\n", file, c->odd[i],
                    trace_oddity_name((enum trace_oddity)i),
                    trace_oddity_text((enum trace_oddity)i));
    if (c->lost_events || c->overwritten_events)
        fprintf(stderr, "%s: note: %" PRId64 " events lost, %" PRId64 " overwritten\n", file,
                c->lost_events, c->overwritten_events);
}

/* The plain counters of `info`, in the order in which they are shown. */
struct row {
    const char *name;
    int64_t n;
};

#define ROWS 10

static size_t rows_of(const struct trace_counts *c, struct row *row)
{
    const struct row head[] = {
        {"lines", c->lines},     {"events", c->events},   {"switches", c->switches},
        {"wakings", c->wakings}, {"wakeups", c->wakeups}, {"wakeups_new", c->wakeups_new},
        {"cpus", c->cpus},       {"tasks", c->tasks},     {"equal_times", c->equal_times}};
    size_t n = sizeof(head) / sizeof(head[0]);
    memcpy(row, head, sizeof(head));
    for (int i = 0; i < ODD_COUNT; i++)
        row[n++] = (struct row){trace_oddity_name((enum trace_oddity)i), c->odd[i]};
    row[n++] = (struct row){"lost_events", c->lost_events};
    row[n++] = (struct row){"overwritten_events", c->overwritten_events};
    return n;
}

/* States come from the file: anything unprintable becomes a question mark. */
static const char *printable(char buf[TRACE_STATE_TEXT], const char *text)
{
    size_t i = 0;
    for (; text[i] && i + 1 < TRACE_STATE_TEXT; i++)
        buf[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
    buf[i] = '\0';
    return buf;
}

static const char *clock_of(const struct trace_counts *c)
{
    return c->events == 0 ? "none" : c->seconds ? c->digits == 9 ? "ns" : "us" : "ticks";
}

static void print_table(const char *file, const struct trace_counts *c, const char *reason)
{
    struct row row[ROWS + ODD_COUNT + 2];
    char buf[TRACE_STATE_TEXT];
    size_t n = rows_of(c, row);
    printf("%s\n  %-36s %s\n  %-36s %s\n  %-36s %" PRId64 ".%03d ms\n", file, "form", c->form,
           "clock", clock_of(c), "span", (c->last - c->first) / NS_MS,
           (int)((c->last - c->first) % NS_MS / NS_US));
    for (size_t i = 0; i < n; i++)
        printf("  %-36s %" PRId64 "\n", row[i].name, row[i].n);
    printf("  %-36s", "prev_states");
    for (size_t i = 0; i < c->states; i++)
        printf(" %s=%" PRId64, printable(buf, c->state[i].text), c->state[i].n);
    if (c->other_states)
        printf(" other=%" PRId64, c->other_states);
    printf("\n  %-36s %s\n", "usable", reason ? "no" : "yes");
}

static void add_count(cJSON *o, const char *name, int64_t n)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, n);
    cJSON_AddRawToObject(o, name, text);
}

static bool print_json(const char *file, const struct trace_counts *c, const char *reason)
{
    struct row row[ROWS + ODD_COUNT + 2];
    char text[32];
    size_t n = rows_of(c, row);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "file", file);
    cJSON_AddStringToObject(o, "form", c->form);
    cJSON_AddStringToObject(o, "clock", clock_of(c));
    snprintf(text, sizeof(text), "%" PRId64, c->last - c->first);
    cJSON_AddStringToObject(o, "span_ns", text);
    for (size_t i = 0; i < n; i++)
        add_count(o, row[i].name, row[i].n);
    cJSON *states = cJSON_AddObjectToObject(o, "prev_states");
    for (size_t i = 0; i < c->states; i++)
        add_count(states, printable(text, c->state[i].text), c->state[i].n);
    if (c->other_states)
        add_count(states, "other", c->other_states);
    cJSON_AddBoolToObject(o, "usable", reason == NULL);
    if (reason)
        cJSON_AddStringToObject(o, "reason", reason);
    else
        cJSON_AddNullToObject(o, "reason");
    char *line = cJSON_PrintUnformatted(o);
    if (line)
        printf("%s\n", line);
    cJSON_free(line);
    cJSON_Delete(o);
    return line != NULL;
}

static int exit_of(enum trace_status s)
{
    return s == TRACE_OK ? EXIT_DONE : s == TRACE_REFUSED ? EXIT_INPUT : EXIT_ACCESS;
}

static int flush_stdout(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "tandem trace: cannot write to standard output\n");
    return EXIT_ACCESS;
}

/* Counts are shown of every text file, also of one that is refused: they are half of the reason. */
static int info_file(const char *file, const struct trace_read_options *o, bool json)
{
    struct trace_counts c;
    char *error = NULL;
    enum trace_status s = trace_info(file, o, &c, &error);
    int status = exit_of(s);
    if (s != TRACE_UNREADABLE && c.lines > 0) {
        if (json && !print_json(file, &c, error))
            status = EXIT_ACCESS;
        if (!json)
            print_table(file, &c, error);
    }
    if (!o->strict)
        put_notes(file, &c);
    if (error)
        fprintf(stderr, "%s\n", error);
    free(error);
    return status;
}

static int cmd_info(int argc, char **argv)
{
    static const struct option options[] = {{"format", required_argument, NULL, OPT_FORMAT},
                                            {"strict", no_argument, NULL, OPT_STRICT},
                                            {"clock-hz", required_argument, NULL, OPT_CLOCK},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    struct trace_read_options o = {0};
    bool json = false;
    int opt, status = 0;
    while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        int done = common_option(opt, &o);
        if (done > 0)
            return done;
        if (done == 0)
            continue;
        if (opt == OPT_HELP || opt == 'h')
            return fputs(usage_info, stdout) < 0 ? EXIT_ACCESS : flush_stdout(EXIT_DONE);
        if (opt != OPT_FORMAT)
            return EXIT_INPUT;
        json = strcmp(optarg, "json") == 0;
        if (!json && strcmp(optarg, "table") != 0)
            return usage_error("--format", optarg, "table or json");
    }
    if (optind == argc) {
        fputs(usage_info, stderr);
        return EXIT_INPUT;
    }
    for (; optind < argc; optind++) {
        int s = info_file(argv[optind], &o, json);
        status = s > status ? s : status;
    }
    return flush_stdout(status);
}

struct import {
    struct trace_import_options o;
    const char *output;
    bool loop_told;
};

static int mode_option(struct import *im)
{
    if (strcmp(optarg, "open") == 0)
        im->o.mode = TRACE_OPEN;
    else if (strcmp(optarg, "closed") == 0)
        im->o.mode = TRACE_CLOSED;
    else
        return usage_error("--mode", optarg, "closed or open");
    return 0;
}

static int number_option(const char *name, int64_t hi, int *out)
{
    char expected[64];
    int64_t v;
    if (!parse_whole(optarg, 1, hi, &v)) {
        snprintf(expected, sizeof(expected), "a whole number from 1 to %" PRId64, hi);
        return usage_error(name, optarg, expected);
    }
    *out = (int)v;
    return 0;
}

/* 0, or an exit status; -1 = help was asked for. */
static int import_option(int opt, struct import *im)
{
    int done = common_option(opt, &im->o.read);
    if (done >= 0)
        return done;
    switch (opt) {
    case 'o':
        im->output = optarg;
        return 0;
    case OPT_MODE:
        return mode_option(im);
    case OPT_LOOP:
    case OPT_NO_LOOP:
        im->o.loop = opt == OPT_LOOP;
        im->loop_told = true;
        return 0;
    case OPT_TASKS:
        im->o.tasks = optarg;
        return 0;
    case OPT_COMM:
        im->o.comm = optarg;
        return 0;
    case OPT_MIN_RUN:
        return parse_time(optarg, &im->o.min_run)
                   ? 0
                   : usage_error("--min-run", optarg, "a time such as 500us or 2ms");
    case OPT_MAX_TASKS:
        return number_option("--max-tasks", PROGRAM_MAX_TASKS, &im->o.max_tasks);
    case OPT_MAX_OPS:
        return number_option("--max-ops", 1000000, &im->o.max_ops);
    case OPT_HELP:
    case 'h':
        return -1;
    default:
        return EXIT_INPUT;
    }
}

static void put_import_notes(const char *file, const struct trace_import_counts *n)
{
    const struct row rows[] = {
        {"tasks seen", n->tasks_seen},
        {"tasks written", n->tasks_written},
        {"tasks that never ran, dropped", n->never_ran},
        {"tasks not selected", n->not_selected},
        {"bursts", n->bursts},
        {"wake-ups kept as messages", n->messages},
        {"blocks ended by an interrupt, a timer or idle: now sleeps", n->sleeps_irq},
        {"blocks ended by a task outside the selection: now sleeps", n->sleeps_outside},
        {"wake-ups of a task that was awake, ignored", n->wakes_of_awake},
        {"runs whose beginning was not recorded", n->runs_without_start},
        {"tasks that blocked and were never seen again", n->ended_blocked},
        {"tasks that were preempted and never seen again", n->ended_runnable},
        {"tasks that exited", n->ended_exited},
        {"operations cut off to keep the program small", n->ops_cut},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].n)
            fprintf(stderr, "%s: note: %" PRId64 " %s\n", file, rows[i].n, rows[i].name);
}

static int write_output(const char *path, const char *text)
{
    if (!path) {
        fputs(text, stdout);
        return flush_stdout(EXIT_DONE);
    }
    FILE *out = fopen(path, "w");
    bool fine = out != NULL && fputs(text, out) >= 0;
    int why = errno;
    if (out && fclose(out) != 0) {
        fine = false;
        why = errno;
    }
    if (fine)
        return EXIT_DONE;
    fprintf(stderr, "%s: cannot write: %s\n", path, strerror(why));
    return EXIT_ACCESS;
}

static int import_file(const char *file, const struct import *im)
{
    struct trace_import_counts n;
    struct trace_counts c;
    char *text = NULL, *error = NULL;
    memset(&c, 0, sizeof(c));
    int status = exit_of(trace_import(file, &im->o, &text, &n, &c, &error));
    if (!im->o.read.strict)
        put_notes(file, &c);
    if (text) {
        put_import_notes(file, &n);
        status = write_output(im->output, text);
    } else {
        fprintf(stderr, "%s\n", error ? error : "out of memory");
    }
    free(text);
    free(error);
    return status;
}

static int cmd_import(int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"mode", required_argument, NULL, OPT_MODE},
                                            {"loop", no_argument, NULL, OPT_LOOP},
                                            {"no-loop", no_argument, NULL, OPT_NO_LOOP},
                                            {"tasks", required_argument, NULL, OPT_TASKS},
                                            {"comm", required_argument, NULL, OPT_COMM},
                                            {"min-run", required_argument, NULL, OPT_MIN_RUN},
                                            {"max-tasks", required_argument, NULL, OPT_MAX_TASKS},
                                            {"max-ops", required_argument, NULL, OPT_MAX_OPS},
                                            {"strict", no_argument, NULL, OPT_STRICT},
                                            {"clock-hz", required_argument, NULL, OPT_CLOCK},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    struct import im = {0};
    int opt;
    trace_import_defaults(&im.o);
    while ((opt = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
        int status = import_option(opt, &im);
        if (status < 0)
            return fputs(usage_import, stdout) < 0 ? EXIT_ACCESS : flush_stdout(EXIT_DONE);
        if (status)
            return status;
    }
    if (argc - optind != 1) {
        fputs(usage_import, stderr);
        return EXIT_INPUT;
    }
    if (im.o.mode == TRACE_OPEN && im.loop_told && im.o.loop) {
        fprintf(stderr, "tandem trace: --loop: wake-ups at recorded times (--mode open) cannot "
                        "repeat; use --mode closed\n");
        return EXIT_INPUT;
    }
    if (im.o.mode == TRACE_OPEN)
        im.o.loop = false;
    return import_file(argv[optind], &im);
}

int cmd_trace(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    optind = 1;
    if (strcmp(what, "info") == 0)
        return cmd_info(argc - 1, argv + 1);
    if (strcmp(what, "import") == 0)
        return cmd_import(argc - 1, argv + 1);
    if (strcmp(what, "--help") == 0 || strcmp(what, "-h") == 0)
        return fputs(usage_trace, stdout) < 0 ? EXIT_ACCESS : flush_stdout(EXIT_DONE);
    if (*what)
        fprintf(stderr, "tandem trace: unknown command '%s': expected info or import\n", what);
    else
        fputs(usage_trace, stderr);
    return EXIT_INPUT;
}
