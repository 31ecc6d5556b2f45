/* SPDX-License-Identifier: MIT */
/*
 * tandem trace info | import: looks into recorded traces and makes programs of them.
 *
 * Always true: results go to stdout, notes and errors to stderr.
 */
#include "commands.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/options.h"
#include "study/rows.h"
#include "traces/program.h"
#include "traces/trace.h"

enum { EXIT_DONE = 0, EXIT_INPUT = 2, EXIT_ACCESS = 3 };

static const char *const formats[] = {"table", "json", "csv", NULL};
enum { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };
static const char *const modes[] = {"closed", "open", NULL};

#define OPTIONS_OF_READERS                                                                         \
    OPTION("strict", 0, NULL, "the first oddity of a trace is an error"),                          \
        OPTION("clock-hz", 0, "N", "rate of a trace whose times are clock ticks")

static const struct option_spec info_option[] = {
    OPTION_OF("format", 'f', "F",
              "how the counts are written (default table; json: one object per file and line)",
              formats),
    OPTIONS_OF_READERS,
    OPTION_END,
};

const struct command_spec command_trace_info = {
    .name = "trace info",
    .summary = "count what is in recorded traces, and what is odd",
    .usage = "FILE... [OPTION]...",
    .about = "Reads recorded scheduler traces (ftrace text, trace-cmd report, perf script) and "
             "counts what is in each, and what is odd about it.",
    .option = info_option,
    .example = "trace info traces/samples/rtapp_pipeline.txt",
};

static const struct option_spec import_option[] = {
    OPTION("output", 'o', "FILE", "where to write (default: standard output)"),
    OPTION_OF("mode", 0, "MODE",
              "closed: wake-ups between tasks become messages, other gaps think times; open: every "
              "wake-up at its recorded time (default closed)",
              modes),
    OPTION("loop", 0, NULL, "repeat the recording for ever (default in closed mode)"),
    OPTION("no-loop", 0, NULL, "play it once"),
    OPTION("tasks", 0, "LIST", "only these names or TIDs, such as audio,7805"),
    OPTION("comm", 0, "PREFIX", "only tasks whose name begins so"),
    OPTION("min-run", 0, "TIME", "only tasks that ran so long in all, such as 2ms"),
    OPTION("max-tasks", 0, "N", "only the N that ran most (default 32)"),
    OPTION("max-ops", 0, "N", "cut the recording where a task reaches N operations (default 2000)"),
    OPTIONS_OF_READERS,
    OPTION_END,
};

const struct command_spec command_trace_import = {
    .name = "trace import",
    .summary = "make a workload program of a recorded trace",
    .usage = "FILE [OPTION]...",
    .about = "Makes a workload program of a trace: who ran how long, slept how long, woke whom.",
    .option = import_option,
    .example = "trace import traces/samples/rtapp_pipeline.txt --comm stage -o stages.yaml",
};

/* Options that both commands have; false after a message. */
static bool reader_options(const struct options *o, struct trace_read_options *r)
{
    r->strict = option_flag(o, "strict");
    return option_number(o, "clock-hz", 1, 10000000000, &r->clock_hz);
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

static void print_csv(struct rows *out, const char *file, const struct trace_counts *c,
                      const char *reason)
{
    struct row row[ROWS + ODD_COUNT + 2];
    char text[32];
    const size_t n = rows_of(c, row);

    rows_put(out, (const char *[]){file, "form", c->form});
    rows_put(out, (const char *[]){file, "clock", clock_of(c)});
    snprintf(text, sizeof(text), "%" PRId64, c->last - c->first);
    rows_put(out, (const char *[]){file, "span_ns", text});
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%" PRId64, row[i].n);
        rows_put(out, (const char *[]){file, row[i].name, text});
    }
    for (size_t i = 0; i < c->states; i++) {
        char name[TRACE_STATE_TEXT], full[TRACE_STATE_TEXT + 16];

        snprintf(full, sizeof(full), "prev_state %s", printable(name, c->state[i].text));
        snprintf(text, sizeof(text), "%" PRId64, c->state[i].n);
        rows_put(out, (const char *[]){file, full, text});
    }
    rows_put(out, (const char *[]){file, "usable", reason ? "no" : "yes"});
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
static int info_file(const char *file, const struct trace_read_options *o, int format,
                     struct rows *rows)
{
    struct trace_counts c;
    char *error = NULL;
    enum trace_status s = trace_info(file, o, &c, &error);
    int status = exit_of(s);
    if (s != TRACE_UNREADABLE && c.lines > 0) {
        if (format == FORMAT_JSON && !print_json(file, &c, error))
            status = EXIT_ACCESS;
        if (format == FORMAT_CSV)
            print_csv(rows, file, &c, error);
        if (format == FORMAT_TABLE)
            print_table(file, &c, error);
    }
    if (!o->strict)
        put_notes(file, &c);
    if (error)
        fprintf(stderr, "%s\n", error);
    free(error);
    return status;
}

int cmd_trace_info(int argc, char **argv)
{
    static const char *const columns[] = {"file", "name", "value", NULL};
    struct trace_read_options r = {0};
    struct rows rows;
    struct options o;
    int status = EXIT_INPUT, format;

    if (!options_read(&o, &command_trace_info, argc, argv))
        return o.status;
    format = option_choice(&o, "format", FORMAT_TABLE);
    if (o.noperands == 0) {
        options_error(&o, "needs a trace");
    } else if (format >= 0 && reader_options(&o, &r)) {
        status = EXIT_DONE;
        if (format == FORMAT_CSV)
            rows_begin(&rows, stdout, false, columns);
        for (size_t i = 0; i < o.noperands; i++) {
            const int s = info_file(o.operand[i], &r, format, &rows);

            status = s > status ? s : status;
        }
        status = flush_stdout(status);
    }
    options_free(&o);
    return status;
}

struct import {
    struct trace_import_options o;
    const char *output;
    bool loop_told;
};

static bool import_numbers(const struct options *o, struct trace_import_options *t)
{
    int64_t tasks = t->max_tasks, ops = t->max_ops;

    if (!option_number(o, "max-tasks", 1, PROGRAM_MAX_TASKS, &tasks) ||
        !option_number(o, "max-ops", 1, 1000000, &ops))
        return false;
    t->max_tasks = (int)tasks;
    t->max_ops = (int)ops;
    return option_ns(o, "min-run", 0, &t->min_run);
}

/* --loop and --no-loop: the last one counts. */
static void read_loop(const struct options *o, struct import *im)
{
    for (size_t i = 0; i < o->ngiven; i++) {
        const char *name = o->given[i].spec->name;

        if (strcmp(name, "loop") != 0 && strcmp(name, "no-loop") != 0)
            continue;
        im->o.loop = name[0] == 'l';
        im->loop_told = true;
    }
}

/* False after a message. */
static bool import_options(const struct options *o, struct import *im)
{
    const int mode = option_choice(o, "mode", 0);

    trace_import_defaults(&im->o);
    im->output = option_text(o, "output", NULL);
    im->o.tasks = option_text(o, "tasks", NULL);
    im->o.comm = option_text(o, "comm", NULL);
    if (mode >= 0 && option_text(o, "mode", NULL))
        im->o.mode = mode == 1 ? TRACE_OPEN : TRACE_CLOSED;
    read_loop(o, im);
    if (mode < 0 || !reader_options(o, &im->o.read) || !import_numbers(o, &im->o))
        return false;
    if (im->o.mode != TRACE_OPEN)
        return true;
    if (im->loop_told && im->o.loop) {
        options_error(o, "--loop: wake-ups at recorded times (--mode open) cannot repeat; use "
                         "--mode closed");
        return false;
    }
    im->o.loop = false;
    return true;
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

static int import_file(const char *file, const struct import *im, bool quiet)
{
    struct trace_import_counts n;
    struct trace_counts c;
    char *text = NULL, *error = NULL;
    memset(&c, 0, sizeof(c));
    int status = exit_of(trace_import(file, &im->o, &text, &n, &c, &error));
    if (!im->o.read.strict && !quiet)
        put_notes(file, &c);
    if (text) {
        if (!quiet)
            put_import_notes(file, &n);
        status = write_output(im->output, text);
    } else {
        fprintf(stderr, "%s\n", error ? error : "out of memory");
    }
    free(text);
    free(error);
    return status;
}

int cmd_trace_import(int argc, char **argv)
{
    struct import im = {0};
    struct options o;
    int status = EXIT_INPUT;

    if (!options_read(&o, &command_trace_import, argc, argv))
        return o.status;
    if (o.noperands != 1)
        options_error(&o, o.noperands ? "takes one trace" : "needs a trace");
    else if (import_options(&o, &im))
        status = import_file(o.operand[0], &im, option_flag(&o, "quiet"));
    options_free(&o);
    return status;
}
