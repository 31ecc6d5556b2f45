/* SPDX-License-Identifier: MIT */
/*
 * Reading recorded scheduler traces: what is in one, and making a program file of one.
 *
 * Always true: a file is read once, from front to end, with memory bounded per task and per CPU.
 * Nothing exits or prints. What is odd in a file is counted; what cannot be used is refused with
 * one line that says why and how to record a usable trace.
 *
 * Read here: ftrace text (`cat trace`, trace_pipe, atrace), `trace-cmd report` (plain and -R), perf
 * script with CPU, time and tid, and the two systrace HTML forms as far as one event is one line.
 */
#ifndef TRACES_TRACE_H
#define TRACES_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/engine.h"

enum trace_status {
    TRACE_OK,
    TRACE_REFUSED,    /* exit 2: the file is no usable trace */
    TRACE_UNREADABLE, /* exit 3: it cannot be opened or read, or memory is out */
};

struct trace_read_options {
    bool strict;      /* the first oddity is an error */
    int64_t clock_hz; /* of a trace whose times are clock ticks; 0 = not told */
};

/* An oddity is counted under its name and, with `strict`, ends the reading. */
enum trace_oddity {
    ODD_SWITCH_UNPARSED, /* a sched_switch whose payload no grammar reads */
    ODD_WAKE_UNPARSED,   /* the same for a wake-up */
    ODD_NOT_MATCHED,     /* a scheduler or KVM event without readable prefix */
    ODD_TIME_BACK,       /* earlier than the line before; taken as not earlier */
    ODD_CONTINUITY,      /* the task switched out is not the one switched in before */
    ODD_PREFIX_COMM,     /* the line names another task than its payload */
    ODD_LOST,            /* lines saying that events were lost */
    ODD_OVERWRITTEN,     /* the header tells of events that were overwritten */
    ODD_CUT_LAST_LINE,   /* the file does not end with a newline */
    ODD_TASK_NAME,       /* tasks with a name that is empty, unprintable or imitates a trace */
    ODD_JOINED_LINES,    /* continuation lines joined to their event: a newline in a name */
    ODD_LONG_LINE,       /* lines of more than 64 KiB, cut there */
    ODD_FAILED_TO_PARSE, /* lines on which trace-cmd itself gave up */
    ODD_COUNT
};

/* The counter's name as printed, such as "cpu_continuity_breaks", and one line of what it means. */
const char *trace_oddity_name(enum trace_oddity o);
const char *trace_oddity_text(enum trace_oddity o);

#define TRACE_STATES     64
#define TRACE_STATE_TEXT 16

struct trace_counts {
    int64_t lines;  /* newlines + 1 */
    int64_t events; /* lines with a readable prefix, whatever the event */
    int64_t switches, wakings, wakeups, wakeups_new;
    int64_t equal_times; /* as the line before: normal at microsecond resolution */
    int64_t cpus, tasks; /* seen in prefixes; named by switches and wake-ups, idle not counted */
    int64_t lost_events, overwritten_events; /* as far as told */
    int64_t odd[ODD_COUNT];
    /* prev_state as printed, ascending by bytes; what does not fit is in other_states. */
    struct trace_state_count {
        char text[TRACE_STATE_TEXT];
        int64_t n;
    } state[TRACE_STATES];
    size_t states;
    int64_t other_states;
    ns_t first, last; /* ns, or ticks when !seconds and no clock_hz */
    bool seconds;     /* times have a decimal point */
    int digits;       /* after it */
    const char *form; /* "ftrace", "trace-cmd report", "perf script" or "unknown" */
};

/* Counts one file. TRACE_REFUSED for a text file fills *c as far as it goes, so that the counts can
 * be shown beside the reason. *error is one malloc'ed line without newline, or NULL. `name` is the
 * file's name in messages. */
enum trace_status trace_info(const char *path, const struct trace_read_options *o,
                             struct trace_counts *c, char **error);
enum trace_status trace_info_stream(FILE *in, const char *name, const struct trace_read_options *o,
                                    struct trace_counts *c, char **error);

enum trace_mode {
    TRACE_CLOSED, /* who woke whom is kept: send and recv; think times are kept */
    TRACE_OPEN,   /* every wake-up comes at its recorded time */
};

struct trace_import_options {
    struct trace_read_options read;
    enum trace_mode mode;
    bool loop;         /* closed only: repeat the recording for ever */
    ns_t min_run;      /* tasks that ran less in all are left out */
    int max_tasks;     /* the ones that ran most are kept */
    int max_ops;       /* per task; the recording is cut for all where one reaches it */
    const char *comm;  /* prefix of the names to take, NULL = all */
    const char *tasks; /* "hackbench,15123": names or TIDs to take, NULL = all */
};

#define TRACE_MAX_TASKS 32
#define TRACE_MAX_OPS   2000
#define TRACE_MAX_TEXT  3900000 /* bytes of the text made, below what a program file may have */

/* closed, looping, the limits above. */
void trace_import_defaults(struct trace_import_options *o);

struct trace_import_counts {
    int64_t tasks_seen, tasks_written;
    int64_t never_ran;          /* tasks seen but never on a CPU */
    int64_t not_selected;       /* by tasks, comm, min_run or max_tasks */
    int64_t bursts;             /* runs up to a block */
    int64_t messages;           /* wake-ups kept as send and recv, per lap */
    int64_t sleeps_irq;         /* blocks ended by an interrupt, a timer or idle */
    int64_t sleeps_outside;     /* blocks ended by a task that is not in the program */
    int64_t wakes_of_awake;     /* wake-ups of a task that did not sleep */
    int64_t runs_without_start; /* switched in unseen: measured from the last event known */
    int64_t ended_blocked, ended_runnable, ended_exited; /* by the state letter, never seen again */
    int64_t ops_cut; /* operations dropped by max_ops or by the size of the file */
    ns_t length;     /* of the recording as written: one lap */
};

/* Makes the text of a program file. *text is malloc'ed; NULL unless TRACE_OK. `c` and `n` may be
 * NULL. */
enum trace_status trace_import(const char *path, const struct trace_import_options *o, char **text,
                               struct trace_import_counts *n, struct trace_counts *c, char **error);
enum trace_status trace_import_stream(FILE *in, const char *name,
                                      const struct trace_import_options *o, char **text,
                                      struct trace_import_counts *n, struct trace_counts *c,
                                      char **error);
/* For the scenario reader: the text, or NULL with one line in *error. `o` NULL = defaults. */
char *trace_import_text(const char *path, const struct trace_import_options *o, char **error);

/* Whether the file begins like a trace that can be read here (looks at its first 64 KiB). */
bool trace_recognise(const char *path);

#endif
