/* SPDX-License-Identifier: MIT */
/*
 * Payloads as the plugins of `trace-cmd report` print them: `NAME:TID [PRIO] S ==> NAME:TID [PRIO]`
 * and `NAME:TID [PRIO] CPU:000`. What the plugins leave alone keeps the kernel's form, as
 * everything does with -R; the reader tries that first.
 *
 * Always true: as in ftrace_text.c a name is the longest match.
 */
#include "traces/payload.h"

/* `:TID [PRIO]` at `at`. */
static bool tid_and_prio(struct slice s, size_t *at, int *tid)
{
    int prio;
    return slice_word(s, at, ":") && slice_int(s, at, tid) && *tid >= 0 &&
           slice_word(s, at, " [") && slice_int(s, at, &prio) && slice_word(s, at, "]");
}

/* NAME:TID [PRIO] that starts at `from`, behind it the end of a word. */
static bool last_task(struct slice s, size_t from, struct slice *comm, int *tid, size_t *end)
{
    size_t before = s.n, at;
    while (slice_last(s, before, ":", &at) && at >= from) {
        size_t i = at;
        before = at;
        if (tid_and_prio(s, &i, tid) && (i == s.n || s.p[i] == ' ')) {
            *comm = (struct slice){s.p + from, at - from};
            *end = i;
            return true;
        }
    }
    return false;
}

bool tracecmd_switch(struct slice s, struct switch_payload *out)
{
    size_t before = s.n, at, end;
    while (slice_last(s, before, ":", &at)) {
        size_t i = at;
        before = at;
        if (!tid_and_prio(s, &i, &out->prev_tid) || !slice_word(s, &i, " "))
            continue;
        size_t state = i;
        while (i < s.n && s.p[i] != ' ')
            i++;
        out->state = (struct slice){s.p + state, i - state};
        if (i == state || !slice_word(s, &i, " ==> "))
            continue;
        if (last_task(s, i, &out->next_comm, &out->next_tid, &end)) {
            out->prev_comm = (struct slice){s.p, at};
            return true;
        }
    }
    return false;
}

bool tracecmd_wake(struct slice s, struct wake_payload *out)
{
    size_t end;
    if (!last_task(s, 0, &out->comm, &out->tid, &end))
        return false;
    struct slice rest = {s.p + end, s.n - end};
    out->success = !slice_has(rest, " success=0") && !slice_has(rest, " Success=0");
    return true;
}

bool tracecmd_lost(struct slice s, int *cpu, int *events)
{
    size_t i = 0;
    *events = 0;
    if (!slice_word(s, &i, "CPU:") || !slice_int(s, &i, cpu) || *cpu < 0 || *cpu > CPU_MAX)
        return false;
    if (!slice_word(s, &i, " ["))
        return false;
    return slice_word(s, &i, "EVENTS DROPPED]") ||
           (slice_int(s, &i, events) && slice_word(s, &i, " EVENTS DROPPED]"));
}
