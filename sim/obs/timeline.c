/* SPDX-License-Identifier: MIT */
/*
 * The timeline export. Always true: the slices of one track do not overlap, so no viewer has to
 * guess how they nest; both ends of an arrow are written together, when the woken task runs, so no
 * arrow hangs. Times are microseconds with three decimals, made from integers.
 */
#include "obs/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "obs/account.h"
#include "obs/json.h"
#include "obs/trace_busy.h"

#define NOBODY       (-1)
#define PID_PCPUS    1
#define PID_FIRST_VM 2

enum label {
    SHOW_NOTHING,
    SHOW_TASK,
    SHOW_LOCK_SPIN,
    SHOW_IDLE_SPIN,
    SHOW_HELD,
    SHOW_STEAL,
    SHOW_UNSEEN
};

struct pcpu_track {
    int vcpu; /* NOBODY: idle */
    ns_t since;
};

struct vcpu_track {
    int state, activity, task;
    enum label label; /* what the open slice shows, and which task was current when it began */
    int label_task;
    ns_t since;
    int pid;
    struct vcpu_busy busy;
};

/* A wake-up whose task has not run yet. */
struct wake {
    bool pending;
    int waker; /* vCPU */
    ns_t at;
};

struct timeline {
    struct trace_sink sink;
    FILE *out;
    struct timeline_names names;
    struct pcpu_track *pcpu;
    struct vcpu_track *vcpu;
    int *busy; /* by VM: busy vCPUs */
    int idle;  /* pCPUs, since idle_at */
    int idle_shown;
    ns_t idle_at;
    struct wake *wake; /* by task */
    int nwakes;
    uint64_t arrows;
    bool used;   /* an event has been written: the next one needs a comma */
    bool failed; /* out of memory */
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

static void put_slice(struct timeline *t, int pid, int tid, ns_t from, ns_t to, const char *name)
{
    begin_event(t, "X", pid, tid);
    put_time(t->out, "ts", from);
    put_time(t->out, "dur", to - from);
    put_name(t->out, name);
    fputc('}', t->out);
}

/* A counter track holds its value until the next one. */
static void put_counter(struct timeline *t, int pid, ns_t at, const char *name, const char *what,
                        int value)
{
    begin_event(t, "C", pid, 0);
    put_time(t->out, "ts", at);
    put_name(t->out, name);
    fprintf(t->out, ",\"args\":{\"%s\":%d}}", what, value);
}

/* Once its instant is over: most pCPUs that a vCPU leaves get another one at once. */
static void put_idle(struct timeline *t)
{
    if (t->idle == t->idle_shown)
        return;
    put_counter(t, PID_PCPUS, t->idle_at, "idle pCPUs", "pCPUs", t->idle);
    t->idle_shown = t->idle;
}

static void put_arrow_end(struct timeline *t, const char *ph, int vcpu, ns_t at)
{
    begin_event(t, ph, t->vcpu[vcpu].pid, vcpu);
    put_time(t->out, "ts", at);
    fprintf(t->out, ",\"id\":%" PRIu64 ",\"cat\":\"wake\",\"name\":\"wake\"%s}", t->arrows,
            *ph == 'f' ? ",\"bp\":\"e\"" : "");
}

static void pcpu_close_slice(struct timeline *t, int pcpu, ns_t now)
{
    const struct pcpu_track *p = &t->pcpu[pcpu];

    if (p->vcpu != NOBODY && now > p->since)
        put_slice(t, PID_PCPUS, pcpu, p->since, now, t->names.vcpu_name(t->names.arg, p->vcpu));
}

static void pcpu_change(struct timeline *t, int pcpu, ns_t now, int vcpu)
{
    struct pcpu_track *p = &t->pcpu[pcpu];

    pcpu_close_slice(t, pcpu, now);
    if ((vcpu == NOBODY) != (p->vcpu == NOBODY)) {
        t->idle += vcpu == NOBODY ? 1 : -1;
        t->idle_at = now;
    }
    *p = (struct pcpu_track){.vcpu = vcpu, .since = now};
}

static enum label label_of(const struct vcpu_track *v)
{
    if (v->state == STATE_READY)
        return SHOW_STEAL;
    if (v->state == STATE_BLOCKED)
        return v->activity == TERM_UNSEEN ? SHOW_UNSEEN : SHOW_NOTHING;
    switch (v->activity) {
    case TERM_LOCKSPIN:
        return SHOW_LOCK_SPIN;
    case TERM_IDLESPIN:
        return SHOW_IDLE_SPIN;
    case TERM_HELD:
        return SHOW_HELD;
    default: /* an exit or an interrupt within a task's time does not cut its slice */
        return v->task == NOBODY ? SHOW_NOTHING : SHOW_TASK;
    }
}

static const char *label_text(const struct timeline *t, const struct vcpu_track *v)
{
    static const char *const text[] = {[SHOW_LOCK_SPIN] = "lock spin",
                                       [SHOW_IDLE_SPIN] = "idle spin",
                                       [SHOW_HELD] = "held idle",
                                       [SHOW_STEAL] = "steal",
                                       [SHOW_UNSEEN] = "unseen wait"};

    return v->label == SHOW_TASK ? t->names.task_name(t->names.arg, v->label_task) : text[v->label];
}

static void vcpu_close_slice(struct timeline *t, int vcpu, ns_t now)
{
    const struct vcpu_track *v = &t->vcpu[vcpu];

    if (v->label != SHOW_NOTHING && now > v->since)
        put_slice(t, v->pid, vcpu, v->since, now, label_text(t, v));
}

/* Called after every change of state, activity or task. */
static void vcpu_update(struct timeline *t, int vcpu, ns_t now)
{
    struct vcpu_track *v = &t->vcpu[vcpu];
    const enum label label = label_of(v);

    if (label == v->label && (label != SHOW_TASK || v->task == v->label_task))
        return;
    vcpu_close_slice(t, vcpu, now);
    v->label = label;
    v->label_task = v->task;
    v->since = now;
}

/* A record about the state or activity of a vCPU. */
static void vcpu_change(struct timeline *t, const struct trace_record *r)
{
    struct vcpu_track *v = &t->vcpu[r->a];
    const bool was_busy = vcpu_is_busy(&v->busy);
    int *n = &t->busy[v->pid - PID_FIRST_VM];

    *(r->kind == TRACE_ACTIVITY ? &v->activity : &v->state) = r->b;
    vcpu_busy_take(&v->busy, r);
    vcpu_update(t, r->a, r->time);
    if (vcpu_is_busy(&v->busy) == was_busy)
        return;
    *n += was_busy ? -1 : 1;
    put_counter(t, v->pid, r->time, "busy vCPUs", "vCPUs", *n);
}

static void wake_begin(struct timeline *t, int task, int waker, ns_t now)
{
    if (task >= t->nwakes) {
        const int n = task >= 32 ? 2 * task : 64;
        struct wake *more = realloc(t->wake, (size_t)n * sizeof(*more));

        if (!more) {
            t->failed = true;
            return;
        }
        memset(more + t->nwakes, 0, (size_t)(n - t->nwakes) * sizeof(*more));
        t->wake = more;
        t->nwakes = n;
    }
    t->wake[task] = (struct wake){.pending = waker >= 0, .waker = waker, .at = now};
}

static void wake_end(struct timeline *t, int task, int vcpu, ns_t now)
{
    if (task >= t->nwakes || !t->wake[task].pending)
        return;
    t->wake[task].pending = false;
    t->arrows++;
    put_arrow_end(t, "s", t->wake[task].waker, t->wake[task].at);
    put_arrow_end(t, "f", vcpu, now);
}

static void task_change(struct timeline *t, const struct trace_record *r)
{
    if (r->kind == TRACE_TASK_IN)
        t->vcpu[r->a].task = r->b;
    else if (t->vcpu[r->a].task == r->b)
        t->vcpu[r->a].task = NOBODY;
    vcpu_update(t, r->a, r->time);
    if (r->kind == TRACE_TASK_IN)
        wake_end(t, r->b, r->a, r->time);
}

static void timeline_put(struct trace_sink *sink, const struct trace_record *r)
{
    struct timeline *t = (struct timeline *)(void *)sink;

    if (r->time > t->idle_at)
        put_idle(t);
    switch (r->kind) {
    case TRACE_VCPU_IN:
        pcpu_change(t, r->a, r->time, r->b);
        break;
    case TRACE_VCPU_OUT:
        if (t->pcpu[r->a].vcpu == r->b)
            pcpu_change(t, r->a, r->time, NOBODY);
        break;
    case TRACE_VCPU_STATE:
    case TRACE_ACTIVITY:
        vcpu_change(t, r);
        break;
    case TRACE_USABLE:
        put_counter(t, PID_FIRST_VM + r->a, r->time, "preferred vCPUs", "vCPUs", r->b);
        break;
    case TRACE_TASK_IN:
    case TRACE_TASK_OUT:
        task_change(t, r);
        break;
    case TRACE_TASK_WAKE:
        wake_begin(t, r->b, r->c, r->time);
        break;
    case TRACE_EXIT:
    case TRACE_MARK:
        break;
    }
}

static void put_tracks(struct timeline *t)
{
    const struct timeline_names *n = &t->names;
    char name[32];
    int last = -1;

    put_metadata(t, "process_name", PID_PCPUS, 0, "pCPUs");
    put_counter(t, PID_PCPUS, 0, "idle pCPUs", "pCPUs", n->npcpus);
    for (int p = 0; p < n->npcpus; p++) {
        snprintf(name, sizeof(name), "pcpu %d", p);
        put_metadata(t, "thread_name", PID_PCPUS, p, name);
    }
    for (int v = 0; v < n->nvcpus; v++) {
        const int vm = n->vm(n->arg, v);

        t->vcpu[v].pid = PID_FIRST_VM + vm;
        if (vm != last) {
            put_metadata(t, "process_name", PID_FIRST_VM + vm, v, n->vm_name(n->arg, vm));
            put_counter(t, PID_FIRST_VM + vm, 0, "busy vCPUs", "vCPUs", 0);
        }
        last = vm;
        put_metadata(t, "thread_name", PID_FIRST_VM + vm, v, n->vcpu_name(n->arg, v));
    }
}

static void timeline_free(struct timeline *t)
{
    free(t->pcpu);
    free(t->vcpu);
    free(t->busy);
    free(t->wake);
    free(t);
}

struct timeline *timeline_open(FILE *out, const struct timeline_names *names)
{
    struct timeline *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    *t = (struct timeline){.sink = {.put = timeline_put}, .out = out, .names = *names};
    t->pcpu = calloc((size_t)names->npcpus + 1, sizeof(*t->pcpu));
    t->vcpu = calloc((size_t)names->nvcpus + 1, sizeof(*t->vcpu));
    t->busy = calloc((size_t)names->nvcpus + 1, sizeof(*t->busy)); /* no more VMs than vCPUs */
    t->idle = t->idle_shown = names->npcpus;
    if (!t->pcpu || !t->vcpu || !t->busy) {
        timeline_free(t);
        return NULL;
    }
    for (int p = 0; p < names->npcpus; p++)
        t->pcpu[p].vcpu = NOBODY;
    for (int v = 0; v < names->nvcpus; v++)
        t->vcpu[v] = (struct vcpu_track){
            .state = STATE_BLOCKED, .activity = TERM_BLOCKED, .task = NOBODY, .label_task = NOBODY};
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    put_tracks(t);
    return t;
}

struct trace_sink *timeline_sink(struct timeline *t)
{
    return &t->sink;
}

int timeline_close(struct timeline *t, ns_t end)
{
    put_idle(t);
    for (int p = 0; p < t->names.npcpus; p++)
        pcpu_close_slice(t, p, end);
    for (int v = 0; v < t->names.nvcpus; v++)
        vcpu_close_slice(t, v, end);
    fputs("\n]}\n", t->out);

    const bool bad = fflush(t->out) != 0 || ferror(t->out);
    const int why = t->failed ? ENOMEM : errno != 0 ? errno : EIO;
    const bool failed = bad || t->failed;

    timeline_free(t);
    if (failed)
        errno = why;
    return failed ? -1 : 0;
}
