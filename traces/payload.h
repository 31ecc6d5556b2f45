/* SPDX-License-Identifier: MIT */
/*
 * The payload grammars, one per text format. The prefix is the same for all (line.h).
 *
 * Always true: a grammar looks at bytes only and keeps nothing; the slices it returns point into
 * the payload. A task's name is the longest match, because a name may imitate any single field.
 */
#ifndef TRACES_PAYLOAD_H
#define TRACES_PAYLOAD_H

#include "traces/line.h"

struct switch_payload {
    struct slice prev_comm, next_comm;
    struct slice state; /* as printed: a letter, letters with +, or a number */
    int prev_tid, next_tid;
};

struct wake_payload {
    struct slice comm;
    int tid;
    bool success; /* old kernels print success=0 when the task was awake already */
};

/* Forms of text that cannot be used, recognised to say why. */
enum unusable_form {
    FORM_OTHER,
    FORM_LATENCY,    /* options/latency-format, or trace-cmd report -l */
    FORM_HEX,        /* options/hex */
    FORM_RAW,        /* options/raw */
    FORM_NO_CONTEXT, /* options/context-info off: neither CPU nor time */
    FORM_FIELDS,     /* options/fields */
    FORM_COUNT
};

/* ftrace_text.c: key=value pairs as the kernel prints them, also in `trace-cmd report -R`. */
bool ftrace_switch(struct slice payload, struct switch_payload *out);
bool ftrace_wake(struct slice payload, struct wake_payload *out);
/* What an unmatched line looks like. */
enum unusable_form ftrace_unusable(struct slice line);
/* The payload of a sched_switch written with options/fields. */
bool ftrace_is_fields(struct slice payload);
/* `CPU:0 [LOST 75 EVENTS]`; the number is 0 when it is not told. */
bool ftrace_lost(struct slice line, int *cpu, int *events);
/* `# entries-in-buffer/entries-written: N/M`: M - N were overwritten. */
bool ftrace_overwritten(struct slice line, int64_t *events);

/* tracecmd_text.c: what the plugins of `trace-cmd report` make of it. */
bool tracecmd_switch(struct slice payload, struct switch_payload *out);
bool tracecmd_wake(struct slice payload, struct wake_payload *out);
bool tracecmd_lost(struct slice line, int *cpu, int *events);

#endif
