/* SPDX-License-Identifier: MIT */
/*
 * Why a file is no usable trace, in one line with a hint how to get one.
 *
 * Always true: a file with at least one readable sched_switch and a clock that is time is usable.
 */
#ifndef TRACES_VERDICT_H
#define TRACES_VERDICT_H

#include "traces/payload.h"
#include "traces/trace.h"

/* What was seen on the way. */
struct verdict {
    int64_t form[FORM_COUNT]; /* lines of each unusable form */
    int64_t line[FORM_COUNT]; /* the first of them */
    int64_t first, last;      /* times as printed */
    int64_t perf;             /* lines with perf's prefix */
    bool tracecmd;            /* a header or payload that only trace-cmd prints */
};

void verdict_form(struct verdict *v, enum unusable_form form, int64_t line);
const char *verdict_form_name(const struct verdict *v, const struct trace_counts *c);
/* Looks at the first bytes of the file: empty, compressed, binary. NULL = text. */
char *verdict_of_bytes(const char *p, size_t n, bool failed, const char *name);
/* After the last line. NULL = usable. */
char *verdict_of(const struct verdict *v, const struct trace_counts *c,
                 const struct trace_read_options *o, const char *name);

#endif
