/* SPDX-License-Identifier: MIT */
/*
 * Payloads as the kernel prints them: `prev_comm=.. prev_pid=N prev_prio=N prev_state=X ==>
 * next_comm=.. next_pid=N next_prio=N` and `comm=.. pid=N prio=N ...`. `trace-cmd report -R` and
 * perf script print the same keys, the former without the arrow.
 *
 * Always true: a name ends at the last place where the keys behind it fit. A name of 15 bytes
 * cannot hold ` prev_pid=1 prev_prio=`, so the last place is the right one.
 */
#include "traces/payload.h"

/* ` KEYpid=N KEYprio=N` at `at`; a word ends behind it. */
static bool pid_and_prio(struct slice s, size_t *at, const char *pid_key, const char *prio_key,
                         int *tid)
{
    int prio;
    return slice_word(s, at, pid_key) && slice_int(s, at, tid) && *tid >= 0 &&
           slice_word(s, at, prio_key) && slice_int(s, at, &prio);
}

static bool at_word_end(struct slice s, size_t at)
{
    return at == s.n || s.p[at] == ' ' || s.p[at] == '\t';
}

/* `next_comm=NAME next_pid=N next_prio=N`, from `from` on. */
static bool switch_next(struct slice s, size_t from, struct switch_payload *out)
{
    size_t start = from;
    if (!slice_word(s, &start, "next_comm="))
        return false;
    size_t before = s.n, at;
    while (slice_last(s, before, " next_pid=", &at) && at >= start) {
        size_t end = at;
        if (pid_and_prio(s, &end, " next_pid=", " next_prio=", &out->next_tid) &&
            at_word_end(s, end)) {
            out->next_comm = (struct slice){s.p + start, at - start};
            return true;
        }
        before = at;
    }
    return false;
}

bool ftrace_switch(struct slice s, struct switch_payload *out)
{
    size_t start = 0;
    if (!slice_word(s, &start, "prev_comm="))
        return false;
    size_t before = s.n, at;
    while (slice_last(s, before, " prev_pid=", &at) && at >= start) {
        size_t i = at;
        before = at;
        if (!pid_and_prio(s, &i, " prev_pid=", " prev_prio=", &out->prev_tid) ||
            !slice_word(s, &i, " prev_state="))
            continue;
        size_t state = i;
        while (i < s.n && !at_word_end(s, i))
            i++;
        out->state = (struct slice){s.p + state, i - state};
        if (i == state || i >= s.n)
            continue;
        i++;
        slice_word(s, &i, "==> ");
        if (switch_next(s, i, out)) {
            out->prev_comm = (struct slice){s.p + start, at - start};
            return true;
        }
    }
    return false;
}

bool ftrace_wake(struct slice s, struct wake_payload *out)
{
    size_t start = 0;
    if (!slice_word(s, &start, "comm="))
        return false;
    size_t before = s.n, at;
    while (slice_last(s, before, " pid=", &at) && at >= start) {
        size_t i = at;
        before = at;
        if (!pid_and_prio(s, &i, " pid=", " prio=", &out->tid) || !at_word_end(s, i))
            continue;
        out->comm = (struct slice){s.p + start, at - start};
        out->success = !slice_word(s, &i, " success=0");
        return true;
    }
    return false;
}

static size_t run_of(struct slice s, size_t at, const char *allowed)
{
    size_t i = at;
    while (i < s.n && s.p[i] != '\0') {
        const char *a = allowed;
        while (*a && *a != s.p[i])
            a++;
        if (!*a)
            break;
        i++;
    }
    return i - at;
}

static const char hex_digits[] = "0123456789abcdef";
static const char digits[] = "0123456789";

/* `3b1c 1 1bd3e2219f6 type: 375` with fixed widths in hex, or decimal without. */
static enum unusable_form typed_record(struct slice s)
{
    size_t tid = run_of(s, 0, hex_digits), i = tid;
    if (!tid || !slice_word(s, &i, " "))
        return FORM_OTHER;
    size_t cpu = run_of(s, i, hex_digits);
    i += cpu;
    if (!cpu || !slice_word(s, &i, " "))
        return FORM_OTHER;
    size_t time = run_of(s, i, hex_digits);
    i += time;
    if (!time || !slice_word(s, &i, " type: "))
        return FORM_OTHER;
    if (tid == 8 && cpu == 8 && time == 16)
        return FORM_HEX;
    return run_of(s, 0, digits) == tid ? FORM_RAW : FORM_OTHER;
}

/* ` 0d.h2. 20929us : `: CPU and flags in one word behind the tid. */
static bool latency_line(struct slice s, size_t dash)
{
    size_t i = dash + 1, n = run_of(s, i, digits);
    i += n;
    size_t blanks = run_of(s, i, " ");
    i += blanks;
    size_t cpu = run_of(s, i, digits);
    i += cpu;
    size_t flags = run_of(s, i, ".dDbBXNnplLhHsZz0123456789abcdef");
    return n && blanks && cpu && cpu < 6 && flags >= 3 && i + flags < s.n &&
           s.p[i + flags] == ' ' && run_of(s, i, digits) == 0;
}

enum unusable_form ftrace_unusable(struct slice s)
{
    if (slice_starts(s, "sched_switch: prev_comm=") || slice_starts(s, "sched_waking: comm=") ||
        slice_starts(s, "sched_wakeup: comm=") || slice_starts(s, "sched_wakeup_new: comm="))
        return FORM_NO_CONTEXT;
    enum unusable_form form = typed_record(s);
    if (form != FORM_OTHER || !slice_has(s, " sched_"))
        return form;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '-' && latency_line(s, i))
            return FORM_LATENCY;
    return FORM_OTHER;
}

bool ftrace_is_fields(struct slice s)
{
    return slice_starts(s, "prev_comm=") && slice_has(s, " prev_pid=0x");
}

bool ftrace_lost(struct slice s, int *cpu, int *events)
{
    size_t i = 0;
    *events = 0;
    if (!slice_word(s, &i, "CPU:") || !slice_int(s, &i, cpu) || *cpu < 0 || *cpu > CPU_MAX)
        return false;
    if (!slice_word(s, &i, " [LOST "))
        return false;
    return slice_word(s, &i, "EVENTS]") ||
           (slice_int(s, &i, events) && slice_word(s, &i, " EVENTS]"));
}

bool ftrace_overwritten(struct slice s, int64_t *events)
{
    size_t i = 0;
    int kept, written;
    if (!slice_word(s, &i, "# entries-in-buffer/entries-written: ") || !slice_int(s, &i, &kept) ||
        !slice_word(s, &i, "/") || !slice_int(s, &i, &written) || kept < 0 || written < kept)
        return false;
    *events = (int64_t)written - kept;
    return true;
}
