/* SPDX-License-Identifier: MIT */
/*
 * The timeline export. Always true: the slices of one track do not overlap and come in order, so no viewer has to
 * guess how they nest; both ends of an arrow are written together, when the woken task has run and the slices
 * that begin at its ends have been written, so no arrow hangs. Times are microseconds with three decimals, made from integers.
 */
#include "obs/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "obs/json.h"
#include "obs/trace_busy.h"

#define NOBODY       (-1)
#define PID_PCPUS    1
#define PID_FIRST_VM 2

/* Of a VM; preferred -1: its policy keeps no such set. */
struct vm_counts {
    int first, busy, preferred; /* first: its first vCPU */
};

struct timeline {
    struct trace_sink sink;
    FILE *out;
    struct timeline_names names;
    struct spans *spans;
    int *pcpu; /* the vCPU there */
    int *pid;  /* by vCPU */
    struct vcpu_busy *vcpu;
    struct vm_counts *vm;
    int nvms;
    int idle; /* pCPUs, since idle_at */
    int idle_shown;
    ns_t idle_at;
    uint64_t arrows;
    bool counting; /* the window has begun */
    bool used;     /* an event has been written: the next one needs a comma */
};

static void put_time(FILE *out, const char *key, ns_t t)
{
    fprintf(out, ",\"%s\":%" PRId64 ".%03d", key, t / 1000, (int)(t % 1000));
}

/* The members that every event has. The caller adds its own and the closing brace. */
static void begin_event(struct timeline *t, const char *ph, int pid, int tid)
{
    fprintf(t->out, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", t->used ? ",\n" : "\n", ph, pid, tid);
    t->used = true;
}

static void put_name(FILE *out, const char *name)
{
    fputs(",\"name\":", out);
    json_quote(out, name ? name : "");
}

static void put_metadata(struct timeline *t, const char *what, int pid, int tid, const char *name)
{
    begin_event(t, "M", pid, tid);
    put_name(t->out, what);
    fputs(",\"args\":{\"name\":", t->out);
    json_quote(t->out, name ? name : "");
    fputs("}}", t->out);
}

/* Beginning and end as times, not beginning and length: viewers that add the two as floating-point numbers let a
 * slice end behind the beginning of the next one, and show that inside it. Both with the name: where one slice ends
 * as the next one begins, viewers match them by it. */
static void put_slice(struct timeline *t, int pid, int tid, ns_t from, ns_t to, const char *name)
{
    begin_event(t, "B", pid, tid);
    put_time(t->out, "ts", from);
    put_name(t->out, name);
    fputc('}', t->out);
    begin_event(t, "E", pid, tid);
    put_time(t->out, "ts", to);
    put_name(t->out, name);
    fputc('}', t->out);
}

static void put_pcpu(void *arg, int pcpu, int vcpu, ns_t from, ns_t to)
{
    struct timeline *t = arg;

    if (vcpu != NOBODY)
        put_slice(t, PID_PCPUS, pcpu, from, to, t->names.vcpu_name(t->names.arg, vcpu));
}

static void put_vcpu(void *arg, int vcpu, enum span_state s, int task, ns_t from, ns_t to)
{
    struct timeline *t = arg;

    if (s != SPAN_IDLE)
        put_slice(t, t->pid[vcpu], vcpu, from, to,
                  s == SPAN_TASK ? t->names.task_name(t->names.arg, task) : span_state_name(s));
}

static void put_arrow_end(struct timeline *t, const char *ph, int vcpu, ns_t at)
{
    begin_event(t, ph, t->pid[vcpu], vcpu);
    put_time(t->out, "ts", at);
    fprintf(t->out, ",\"id\":%" PRIu64 ",\"cat\":\"wake\",\"name\":\"wake\"%s}", t->arrows,
            *ph == 'f' ? ",\"bp\":\"e\"" : "");
}

static void put_arrow(void *arg, int task, int waker, ns_t at, int vcpu, ns_t runs)
{
    struct timeline *t = arg;

    (void)task;
    t->arrows++;
    put_arrow_end(t, "s", waker, at);
    put_arrow_end(t, "f", vcpu, runs);
}

/* -- counters: a track holds its value until the next one -- */

static void put_counter(struct timeline *t, int pid, ns_t at, const char *name, const char *what,
                        int value)
{
    if (!t->counting)
        return;
    begin_event(t, "C", pid, 0);
    put_time(t->out, "ts", at);
    put_name(t->out, name);
    fprintf(t->out, ",\"args\":{\"%s\":%d}}", what, value);
}

static void put_busy(struct timeline *t, int vm, ns_t at)
{
    put_counter(t, PID_FIRST_VM + vm, at, "busy vCPUs", "vCPUs", t->vm[vm].busy);
}

static void put_preferred(struct timeline *t, int vm, ns_t at)
{
    put_counter(t, PID_FIRST_VM + vm, at, "preferred vCPUs", "vCPUs", t->vm[vm].preferred);
}

/* Once its instant is over: most pCPUs that a vCPU leaves get another one at once. */
static void put_idle(struct timeline *t)
{
    if (t->idle == t->idle_shown)
        return;
    put_counter(t, PID_PCPUS, t->idle_at, "idle pCPUs", "pCPUs", t->idle);
    t->idle_shown = t->idle;
}

/* The window begins: what all of them are at its start. */
static void begin_counters(struct timeline *t)
{
    t->counting = true;
    t->idle_shown = t->idle;
    put_counter(t, PID_PCPUS, t->names.from, "idle pCPUs", "pCPUs", t->idle);
    for (int vm = 0; vm < t->nvms; vm++) {
        put_busy(t, vm, t->names.from);
        if (t->vm[vm].preferred >= 0)
            put_preferred(t, vm, t->names.from);
    }
}

static void pcpu_change(struct timeline *t, int pcpu, ns_t now, int vcpu)
{
    if ((vcpu == NOBODY) != (t->pcpu[pcpu] == NOBODY)) {
        t->idle += vcpu == NOBODY ? 1 : -1;
        t->idle_at = now;
    }
    t->pcpu[pcpu] = vcpu;
}

/* A record about the state or activity of a vCPU. */
static void vcpu_change(struct timeline *t, const struct trace_record *r)
{
    const int vm = t->pid[r->a] - PID_FIRST_VM;
    const bool was_busy = vcpu_is_busy(&t->vcpu[r->a]);

    vcpu_busy_take(&t->vcpu[r->a], r);
    if (vcpu_is_busy(&t->vcpu[r->a]) == was_busy)
        return;
    t->vm[vm].busy += was_busy ? -1 : 1;
    put_busy(t, vm, r->time);
}

static void count(struct timeline *t, const struct trace_record *r)
{
    if (r->time > t->idle_at)
        put_idle(t);
    if (!t->counting && r->time >= t->names.from)
        begin_counters(t);
    switch (r->kind) {
    case TRACE_VCPU_IN:
        pcpu_change(t, r->a, r->time, r->b);
        break;
    case TRACE_VCPU_OUT:
        if (t->pcpu[r->a] == r->b)
            pcpu_change(t, r->a, r->time, NOBODY);
        break;
    case TRACE_VCPU_STATE:
    case TRACE_ACTIVITY:
        vcpu_change(t, r);
        break;
    case TRACE_USABLE:
        t->vm[r->a].preferred = r->b;
        put_preferred(t, r->a, r->time);
        break;
    default:
        break;
    }
}

static void timeline_put(struct trace_sink *sink, const struct trace_record *r)
{
    struct timeline *t = (struct timeline *)(void *)sink;
    struct trace_sink *spans = spans_sink(t->spans);

    spans->put(spans, r);
    if (t->names.to == 0 || r->time < t->names.to)
        count(t, r);
}

static void put_tracks(struct timeline *t)
{
    const struct timeline_names *n = &t->names;
    char name[32];

    put_metadata(t, "process_name", PID_PCPUS, 0, "pCPUs");
    for (int p = 0; p < n->npcpus; p++) {
        snprintf(name, sizeof(name), "pcpu %d", p);
        put_metadata(t, "thread_name", PID_PCPUS, p, name);
    }
    for (int v = 0; v < n->nvcpus; v++) {
        const int vm = t->pid[v] - PID_FIRST_VM;

        if (v == t->vm[vm].first)
            put_metadata(t, "process_name", t->pid[v], v, n->vm_name(n->arg, vm));
        put_metadata(t, "thread_name", t->pid[v], v, n->vcpu_name(n->arg, v));
    }
}

static void timeline_free(struct timeline *t)
{
    spans_free(t->spans);
    free(t->pcpu);
    free(t->pid);
    free(t->vcpu);
    free(t->vm);
    free(t);
}

/* Who is where when the run begins: nobody anywhere. */
static void begin(struct timeline *t)
{
    const struct timeline_names *n = &t->names;

    t->idle = n->npcpus;
    for (int p = 0; p < n->npcpus; p++)
        t->pcpu[p] = NOBODY;
    for (int v = 0; v < n->nvcpus; v++) {
        const int vm = n->vm(n->arg, v);

        t->pid[v] = PID_FIRST_VM + vm;
        if (vm < t->nvms)
            continue;
        t->vm[vm] = (struct vm_counts){.first = v, .preferred = -1};
        t->nvms = vm + 1;
    }
}

struct timeline *timeline_open(FILE *out, const struct timeline_names *names)
{
    struct timeline *t = calloc(1, sizeof(*t));
    const struct spans_conf conf = {.npcpus = names->npcpus,
                                    .nvcpus = names->nvcpus,
                                    .from = names->from,
                                    .to = names->to,
                                    .probe = names->probe,
                                    .arg = t,
                                    .pcpu = put_pcpu,
                                    .vcpu = put_vcpu,
                                    .wake = put_arrow};

    if (!t)
        return NULL;
    *t = (struct timeline){.sink = {.put = timeline_put}, .out = out, .names = *names};
    t->spans = spans_new(&conf);
    t->pcpu = calloc((size_t)names->npcpus + 1, sizeof(*t->pcpu));
    t->pid = calloc((size_t)names->nvcpus + 1, sizeof(*t->pid));
    t->vcpu = calloc((size_t)names->nvcpus + 1, sizeof(*t->vcpu));
    t->vm = calloc((size_t)names->nvcpus + 1, sizeof(*t->vm)); /* no more VMs than vCPUs */
    if (!t->spans || !t->pcpu || !t->pid || !t->vcpu || !t->vm) {
        timeline_free(t);
        return NULL;
    }
    begin(t);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    put_tracks(t);
    if (names->from == 0)
        begin_counters(t);
    return t;
}

struct trace_sink *timeline_sink(struct timeline *t)
{
    return &t->sink;
}

int timeline_close(struct timeline *t, ns_t end)
{
    const bool missing = spans_end(t->spans, end) != 0;

    if (!t->counting)
        begin_counters(t);
    put_idle(t);
    fputs("\n]}\n", t->out);

    const bool bad = fflush(t->out) != 0 || ferror(t->out);
    const int why = missing ? ENOMEM : errno != 0 ? errno : EIO;

    timeline_free(t);
    if (bad || missing)
        errno = why;
    return bad || missing ? -1 : 0;
}
