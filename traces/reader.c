/* SPDX-License-Identifier: MIT */
/*
 * From lines to events, and what is odd about them.
 *
 * Always true: one pass, nothing kept but the counts, one entry per CPU and one per TID. A line is
 * counted as an event as soon as its prefix is readable, whatever its payload.
 */
#include "traces/reader.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "traces/tidmap.h"
#include "traces/verdict.h"

/* The kernel's longest line of these events is below 200 bytes; grammars see no more than this. */
#define PAYLOAD_MAX 1024

struct cpu_state {
    bool seen, known;
    int current;
};

struct reader {
    struct line_source src;
    const struct trace_read_options *o;
    struct trace_counts *c;
    struct verdict v;
    event_fn_trace *fn;
    void *arg;
    const char *name;
    char *error; /* set: stop */
    bool nomem;
    struct cpu_state *cpu;
    size_t cpus;
    struct tidmap tasks; /* 0 = plain name so far, 1 = odd name counted */
    bool any_time;
    ns_t raw_time; /* of the line before, as printed */
    char joined[PAYLOAD_MAX];
};

char *trace_format(const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *s = n < 0 ? NULL : malloc((size_t)n + 1);
    if (s)
        vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

/* Counts an oddity. Returns false when the reading has to stop. */
static bool odd(struct reader *r, enum trace_oddity what, int64_t n, const struct line *l,
                size_t column)
{
    r->c->odd[what] += n;
    if (!r->o->strict)
        return true;
    r->error = trace_format("%s:%lld:%zu: %s: %s", r->name, (long long)l->number, column + 1,
                            trace_oddity_name(what), trace_oddity_text(what));
    r->nomem = r->error == NULL;
    return false;
}

static struct cpu_state *cpu_at(struct reader *r, int cpu)
{
    size_t i = (size_t)cpu;
    if (i >= r->cpus) {
        size_t n = r->cpus ? r->cpus : 8;
        while (n <= i)
            n *= 2;
        struct cpu_state *p = realloc(r->cpu, n * sizeof(*p));
        if (!p) {
            r->nomem = true;
            return NULL;
        }
        memset(p + r->cpus, 0, (n - r->cpus) * sizeof(*p));
        r->cpu = p;
        r->cpus = n;
    }
    return &r->cpu[i];
}

static bool valid_utf8(struct slice s)
{
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.p[i++];
        int more = c < 0x80                ? 0
                   : c >= 0xc2 && c < 0xe0 ? 1
                   : c >= 0xe0 && c < 0xf0 ? 2
                   : c >= 0xf0 && c < 0xf5 ? 3
                                           : -1;
        if (more < 0)
            return false;
        for (; more > 0; more--, i++)
            if (i >= s.n || ((unsigned char)s.p[i] & 0xc0) != 0x80)
                return false;
    }
    return true;
}

static bool odd_name(struct slice s)
{
    if (s.n == 0 || slice_trim(s).n != s.n || !valid_utf8(s))
        return true;
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return true;
    return slice_equals(s, "<...>") || slice_equals(s, "<idle>") || slice_has(s, "==>") ||
           slice_has(s, "pid=") || slice_has(s, "comm=") || slice_has(s, "[0");
}

static bool note_task(struct reader *r, int tid, struct slice comm, const struct line *l)
{
    if (tid == 0)
        return true;
    int *flag = tidmap_at(&r->tasks, tid);
    if (!flag) {
        r->nomem = true;
        return false;
    }
    if (*flag < 0) {
        *flag = 0;
        r->c->tasks++;
    }
    if (*flag == 0 && odd_name(comm)) {
        *flag = 1;
        return odd(r, ODD_TASK_NAME, 1, l, 0);
    }
    return true;
}

static void count_state(struct trace_counts *c, struct slice state)
{
    if (state.n >= TRACE_STATE_TEXT) {
        c->other_states++;
        return;
    }
    char text[TRACE_STATE_TEXT] = {0};
    memcpy(text, state.p, state.n);
    size_t i = 0;
    while (i < c->states && strcmp(c->state[i].text, text) < 0)
        i++;
    if (i == c->states || strcmp(c->state[i].text, text) != 0) {
        if (c->states == TRACE_STATES) {
            c->other_states++;
            return;
        }
        memmove(&c->state[i + 1], &c->state[i], (c->states - i) * sizeof(c->state[0]));
        c->states++;
        memcpy(c->state[i].text, text, sizeof(text));
        c->state[i].n = 0;
    }
    c->state[i].n++;
}

static bool parse_switch(struct slice s, struct trace_event *ev)
{
    return s.n <= PAYLOAD_MAX && (ftrace_switch(s, &ev->sw) || tracecmd_switch(s, &ev->sw));
}

static bool parse_wake(struct slice s, struct trace_event *ev)
{
    return s.n <= PAYLOAD_MAX && (ftrace_wake(s, &ev->wake) || tracecmd_wake(s, &ev->wake));
}

static bool parse_payload(struct slice s, struct trace_event *ev)
{
    return ev->kind == EV_SWITCH ? parse_switch(s, ev) : parse_wake(s, ev);
}

/* A newline in a task's name breaks the event into lines: tries it together with up to three lines
 * behind it. Returns how many it took, 0 = none fits. */
static size_t parse_joined(struct reader *r, struct slice payload, struct trace_event *ev)
{
    struct prefix p;
    size_t n = payload.n;
    if (n > PAYLOAD_MAX)
        return 0;
    memcpy(r->joined, payload.p, n);
    for (size_t k = 1; k < LINE_AHEAD; k++) {
        const struct line *l = line_peek(&r->src, k);
        if (!l || n + 1 + l->len > PAYLOAD_MAX || prefix_parse(l->buf, l->len, &p))
            return 0;
        r->joined[n++] = '\n';
        memcpy(r->joined + n, l->buf, l->len);
        n += l->len;
        if (parse_payload((struct slice){r->joined, n}, ev))
            return k;
    }
    return 0;
}

static bool on_switch(struct reader *r, const struct line *l, const struct prefix *p,
                      const struct trace_event *ev)
{
    const struct switch_payload *sw = &ev->sw;
    r->c->switches++;
    count_state(r->c, sw->state);
    struct cpu_state *cpu = &r->cpu[ev->cpu];
    bool broken = cpu->known && cpu->current != sw->prev_tid;
    cpu->known = true;
    cpu->current = sw->next_tid;
    struct slice comm = slice_trim(p->comm), prev = slice_trim(sw->prev_comm);
    bool differs = !slice_equals(comm, "<idle>") && !slice_equals(comm, "<...>") &&
                   (comm.n != prev.n || memcmp(comm.p, prev.p, comm.n) != 0);
    return (!broken || odd(r, ODD_CONTINUITY, 1, l, (size_t)(p->payload.p - l->buf))) &&
           (!differs || odd(r, ODD_PREFIX_COMM, 1, l, 0)) &&
           note_task(r, sw->prev_tid, sw->prev_comm, l) &&
           note_task(r, sw->next_tid, sw->next_comm, l);
}

static bool on_wake(struct reader *r, const struct line *l, struct trace_event *ev)
{
    if (ev->kind == EV_WAKING)
        r->c->wakings++;
    else if (ev->kind == EV_WAKEUP)
        r->c->wakeups++;
    else
        r->c->wakeups_new++;
    if (!note_task(r, ev->wake.tid, ev->wake.comm, l))
        return false;
    if (!ev->wake.success)
        ev->kind = EV_OTHER;
    return true;
}

static enum event_kind kind_of(struct slice event)
{
    return slice_equals(event, "sched_switch")       ? EV_SWITCH
           : slice_equals(event, "sched_waking")     ? EV_WAKING
           : slice_equals(event, "sched_wakeup")     ? EV_WAKEUP
           : slice_equals(event, "sched_wakeup_new") ? EV_WAKEUP_NEW
                                                     : EV_OTHER;
}

/* Reads the payload of a scheduler event; the line and what belongs to it is skipped by the caller.
 */
static bool on_payload(struct reader *r, const struct line *l, const struct prefix *p,
                       struct trace_event *ev, size_t *taken)
{
    if (!parse_payload(p->payload, ev))
        *taken = parse_joined(r, p->payload, ev);
    if (!*taken && !parse_payload(p->payload, ev)) {
        enum trace_oddity what = ODD_WAKE_UNPARSED;
        if (ev->kind == EV_SWITCH) {
            what = ODD_SWITCH_UNPARSED;
            if (ftrace_is_fields(p->payload))
                verdict_form(&r->v, FORM_FIELDS, l->number);
        }
        ev->kind = EV_OTHER;
        return odd(r, what, 1, l, (size_t)(p->payload.p - l->buf));
    }
    if (*taken && !odd(r, ODD_JOINED_LINES, (int64_t)*taken, l, (size_t)(p->payload.p - l->buf)))
        return false;
    if (ev->kind == EV_SWITCH && !slice_starts(p->payload, "prev_comm="))
        r->v.tracecmd = true;
    return ev->kind == EV_SWITCH ? on_switch(r, l, p, ev) : on_wake(r, l, ev);
}

/* Ticks become ns when the rate is known; the product fits because hz <= 10^10 and ticks % hz < hz.
 */
static ns_t to_ns(const struct reader *r, const struct prefix *p)
{
    int64_t hz = r->o->clock_hz;
    if (p->seconds || hz <= 0)
        return p->time;
    int64_t whole = p->time / hz;
    if (whole > 9000000000)
        return 9000000000 * NS_SEC;
    return whole * NS_SEC + (int64_t)((uint64_t)(p->time % hz) * 1000000000u / (uint64_t)hz);
}

/* Times handed on never go back: a line that is early is taken at the latest time seen. */
static bool on_time(struct reader *r, const struct line *l, const struct prefix *p,
                    struct trace_event *ev)
{
    struct trace_counts *c = r->c;
    ev->time = to_ns(r, p);
    if (!r->any_time) {
        r->any_time = true;
        c->first = c->last = ev->time;
        c->seconds = p->seconds;
        c->digits = p->digits;
        r->raw_time = r->v.first = r->v.last = p->time;
        return true;
    }
    ns_t before = r->raw_time;
    r->raw_time = p->time;
    r->v.last = p->time;
    if (p->digits > c->digits)
        c->digits = p->digits;
    if (p->time == before)
        c->equal_times++;
    if (ev->time < c->last)
        ev->time = c->last;
    c->last = ev->time;
    return p->time >= before || odd(r, ODD_TIME_BACK, 1, l, p->time_at);
}

/* An interrupt letter stands in the third column or, on kernels with lazy preemption, behind it. */
static bool in_interrupt(struct slice flags)
{
    for (size_t i = 2; i < flags.n; i++)
        if (strchr("hHsZz", flags.p[i]) && flags.p[i])
            return true;
    return false;
}

static bool on_event(struct reader *r, const struct line *l, const struct prefix *p, size_t *taken)
{
    struct trace_event ev = {.kind = kind_of(p->event), .cpu = p->cpu, .tid = p->pid};
    r->c->events++;
    r->v.perf += p->perf ? 1 : 0;
    ev.interrupt = in_interrupt(p->flags);
    struct cpu_state *cpu = cpu_at(r, p->cpu);
    if (!cpu)
        return false;
    r->c->cpus += cpu->seen ? 0 : 1;
    cpu->seen = true;
    if (!on_time(r, l, p, &ev))
        return false;
    if (slice_has(p->payload, "[FAILED TO PARSE]") &&
        !odd(r, ODD_FAILED_TO_PARSE, 1, l, (size_t)(p->payload.p - l->buf)))
        return false;
    if (ev.kind != EV_OTHER && !on_payload(r, l, p, &ev, taken))
        return false;
    if (r->fn && !r->fn(r->arg, &ev)) {
        r->nomem = true;
        return false;
    }
    return true;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether an event that matters here is named, with a colon behind it. */
static bool names_event(struct slice s, size_t *at)
{
    static const char *const names[] = {"sched_switch:",     "sched_waking:", "sched_wakeup:",
                                        "sched_wakeup_new:", "kvm_entry:",    "kvm_exit:"};
    for (size_t i = 0; i < s.n; i++) {
        if ((s.p[i] != 's' && s.p[i] != 'k') || (i && is_word(s.p[i - 1])))
            continue;
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            *at = i;
            if (slice_word(s, at, names[k])) {
                *at = i;
                return true;
            }
        }
    }
    return false;
}

static bool on_lost(struct reader *r, const struct line *l, int cpu, int events)
{
    r->c->lost_events += events;
    if ((size_t)cpu < r->cpus)
        r->cpu[cpu].known = false;
    struct trace_event ev = {.kind = EV_LOST, .time = r->c->last, .cpu = cpu};
    if (r->fn && !r->fn(r->arg, &ev)) {
        r->nomem = true;
        return false;
    }
    return odd(r, ODD_LOST, 1, l, 0);
}

/* A line that is no event: header, comment, prose, HTML, or something that cannot be used. */
static bool on_other(struct reader *r, const struct line *l)
{
    struct slice s = {l->buf, l->len};
    int cpu, events;
    int64_t overwritten;
    size_t at;
    if (ftrace_lost(s, &cpu, &events) || tracecmd_lost(s, &cpu, &events))
        return on_lost(r, l, cpu, events);
    if (ftrace_overwritten(s, &overwritten)) {
        r->c->overwritten_events += overwritten;
        return overwritten == 0 || odd(r, ODD_OVERWRITTEN, 1, l, 0);
    }
    if (slice_starts(s, "cpus=") || slice_starts(s, "version = "))
        r->v.tracecmd = true;
    enum unusable_form form = ftrace_unusable(s);
    if (form != FORM_OTHER)
        verdict_form(&r->v, form, l->number);
    return !names_event(s, &at) || odd(r, ODD_NOT_MATCHED, 1, l, at);
}

static bool on_line(struct reader *r, const struct line *l)
{
    struct prefix p;
    size_t taken = 0;
    bool more = true;
    if (l->overlong)
        more = odd(r, ODD_LONG_LINE, 1, l, LINE_MAX_BYTES);
    if (more && !l->ended && l->len && l->buf[0] != '<')
        more = odd(r, ODD_CUT_LAST_LINE, 1, l, l->len);
    if (more)
        more = prefix_parse(l->buf, l->len, &p) ? on_event(r, l, &p, &taken) : on_other(r, l);
    for (size_t i = 0; i <= taken; i++)
        line_skip(&r->src);
    return more;
}

static enum trace_status finish(struct reader *r, char **error)
{
    r->c->lines = r->src.lines;
    r->c->form = verdict_form_name(&r->v, r->c);
    if (r->nomem || r->src.nomem) {
        *error = trace_format("%s: out of memory", r->name);
        return TRACE_UNREADABLE;
    }
    if (r->src.failed) {
        *error = trace_format("%s: cannot be read", r->name);
        return TRACE_UNREADABLE;
    }
    *error = r->error ? r->error : verdict_of(&r->v, r->c, r->o, r->name);
    return *error ? TRACE_REFUSED : TRACE_OK;
}

enum trace_status reader_run(FILE *in, const char *name, const struct trace_read_options *o,
                             struct trace_counts *c, event_fn_trace *fn, void *arg, char **error)
{
    memset(c, 0, sizeof(*c));
    *error = NULL;
    c->form = "unknown";
    struct reader *r = calloc(1, sizeof(*r));
    if (!r) {
        *error = trace_format("%s: out of memory", name);
        return TRACE_UNREADABLE;
    }
    r->o = o;
    r->c = c;
    r->fn = fn;
    r->arg = arg;
    r->name = name;
    line_init(&r->src, in);
    r->error = verdict_of_bytes(r->src.block, r->src.have, r->src.failed, name);
    const struct line *l;
    while (!r->error && (l = line_peek(&r->src, 0)) != NULL && on_line(r, l))
        ;
    enum trace_status status = finish(r, error);
    line_fini(&r->src);
    tidmap_free(&r->tasks);
    free(r->cpu);
    free(r);
    return status;
}
