/* SPDX-License-Identifier: MIT */
/*
 * Why a file is no usable trace.
 */
#include "traces/verdict.h"

#include <inttypes.h>
#include <string.h>

#include "traces/reader.h"

#define HINT_RECORD                                                                                \
    "record sched_switch, sched_waking, sched_wakeup and sched_wakeup_new and copy the file "      \
    "trace of tracefs"

void verdict_form(struct verdict *v, enum unusable_form form, int64_t line)
{
    if (v->form[form]++ == 0)
        v->line[form] = line;
}

const char *verdict_form_name(const struct verdict *v, const struct trace_counts *c)
{
    if (c->events == 0)
        return "unknown";
    if (v->perf * 2 > c->events)
        return "perf script";
    return v->tracecmd ? "trace-cmd report" : "ftrace";
}

struct magic {
    const char *bytes;
    size_t n;
    const char *text;
};

static const struct magic magics[] = {
    {"\x1f\x8b", 2, "compressed with gzip; unpack it first (gzip -d)"},
    {"TRACE:", 6, "compressed by atrace -z; record without -z"},
    {"\x78\x01", 2, "compressed with zlib; unpack it first"},
    {"\x78\x5e", 2, "compressed with zlib; unpack it first"},
    {"\x78\x9c", 2, "compressed with zlib; unpack it first"},
    {"\x78\xda", 2, "compressed with zlib; unpack it first"},
    {"\x28\xb5\x2f\xfd", 4, "compressed with zstd; unpack it first (zstd -d)"},
    {"\x17\x08\x44tracing", 10, "a binary trace.dat; make text of it (trace-cmd report)"},
    {"PERFILE2", 8, "a binary perf.data; make text of it (perf script)"},
};

/* A name may hold any byte but NUL, so a few odd bytes are no reason yet. */
static bool is_binary(const char *p, size_t n)
{
    size_t odd = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c == 0)
            return true;
        if (c < 0x20 && c != '\n' && c != '\t' && c != '\r')
            odd++;
    }
    return odd * 10 > n;
}

char *verdict_of_bytes(const char *p, size_t n, bool failed, const char *name)
{
    if (failed)
        return NULL;
    if (n == 0)
        return trace_format("%s: the file is empty; " HINT_RECORD, name);
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
        if (n >= magics[i].n && memcmp(p, magics[i].bytes, magics[i].n) == 0)
            return trace_format("%s: %s", name, magics[i].text);
    if (is_binary(p, n < 4096 ? n : 4096))
        return trace_format("%s: binary data, no trace text; " HINT_RECORD, name);
    return NULL;
}

static const char *const form_text[FORM_COUNT] = {
    [FORM_LATENCY] = "latency format: names are cut and times are relative; record with "
                     "options/latency-format off, or trace-cmd report without -l",
    [FORM_HEX] = "records in hex, without names; record with options/hex off",
    [FORM_RAW] = "raw records, without names; record with options/raw off",
    [FORM_NO_CONTEXT] = "events without task, CPU and time; record with options/context-info on",
    [FORM_FIELDS] = "events with their fields in hex; record with options/fields off",
};

static char *no_switch(const struct verdict *v, const struct trace_counts *c, const char *name)
{
    for (int f = FORM_OTHER + 1; f < FORM_COUNT; f++)
        if (v->form[f])
            return trace_format("%s:%" PRId64 ":1: %s", name, v->line[f], form_text[f]);
    if (c->events == 0)
        return trace_format("%s: no event of ftrace, trace-cmd report or perf script in %" PRId64
                            " lines; " HINT_RECORD,
                            name, c->lines);
    if (c->wakings + c->wakeups + c->wakeups_new == 0)
        return trace_format("%s: no scheduler event: none of %" PRId64
                            " events is a sched_switch or a wake-up; " HINT_RECORD,
                            name, c->events);
    return trace_format("%s: wake-ups but no readable sched_switch; " HINT_RECORD, name);
}

/* Numbers of events step by little and never repeat; no clock does that. */
static bool is_counter(const struct verdict *v, const struct trace_counts *c)
{
    return c->equal_times == 0 && c->events > 1 && v->last - v->first < 100 * c->events;
}

char *verdict_of(const struct verdict *v, const struct trace_counts *c,
                 const struct trace_read_options *o, const char *name)
{
    if (c->switches == 0)
        return no_switch(v, c, name);
    if (c->seconds || (o->clock_hz > 0 && !is_counter(v, c)))
        return NULL;
    if (is_counter(v, c))
        return trace_format("%s: the times are event numbers (trace_clock=counter); record with "
                            "trace_clock=mono",
                            name);
    return trace_format("%s: the times are clock ticks; give their rate with --clock-hz, or record "
                        "with trace_clock=mono",
                        name);
}
