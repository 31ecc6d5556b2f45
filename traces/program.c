/* SPDX-License-Identifier: MIT */
/*
 * From the model to the text of a program file.
 *
 * Always true: a latency sample goes from a wake-up (from the sending, when it is a message) to the
 * first message passed on, or to the block. So a message that is sent always carries its own time
 * of sending, and a chain of messages is measured hop by hop.
 */
#include "traces/program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "traces/select.h"

struct text {
    char *p;
    size_t n, cap;
    bool failed;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    va_start(ap, fmt);
    int len = vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    size_t n = len < 0 ? 0 : (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1;
    if (!t->failed && t->n + n + 1 > t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 4096;
        char *p = realloc(t->p, cap);
        t->failed = p == NULL;
        if (p) {
            t->p = p;
            t->cap = cap;
        }
    }
    if (t->failed)
        return;
    memcpy(t->p + t->n, line, n + 1);
    t->n += n;
}

struct writer {
    const struct model *m;
    const struct trace_import_options *o;
    struct selection sel;
    struct text out;
    struct trace_import_counts n;
    int64_t *sends; /* per pair of selected tasks, sender first */
    int *place;     /* model task -> place among the selected */
    bool loop;      /* the recording repeats; recorded times cannot */
    const char *indent;
    bool in_burst; /* false only before the first run of a task first seen as it blocked */
    bool open;     /* a latency sample, at the place where the writer is */
    ns_t run;      /* read but not written yet: runs with nothing between them are one */
};

/* The shortest exact form. */
static const char *duration(char buf[32], ns_t ns)
{
    if (ns % NS_MS == 0 && ns != 0)
        snprintf(buf, 32, "%" PRId64 "ms", ns / NS_MS);
    else if (ns % NS_US == 0 && ns != 0)
        snprintf(buf, 32, "%" PRId64 "us", ns / NS_US);
    else
        snprintf(buf, 32, "%" PRId64 "ns", ns);
    return buf;
}

static void put_task_name(struct text *t, const struct model_task *task)
{
    char name[MODEL_NAME + 1] = "task";
    for (size_t i = 0; i < task->comm_len; i++) {
        char c = task->comm[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (i && c == '-');
        name[i] = plain ? c : '_';
        name[i + 1] = '\0';
    }
    put(t, "%s-%d", name, task->tid);
    if (task->incarnation > 1)
        put(t, "i%d", task->incarnation);
}

static void put_queue_name(struct text *t, const struct model *m, int sender, int receiver)
{
    const int who[2] = {sender, receiver};
    for (int i = 0; i < 2; i++) {
        const struct model_task *task = &m->task[who[i]];
        put(t, "%c%d", i ? '_' : 'q', task->tid);
        if (task->incarnation > 1)
            put(t, "i%d", task->incarnation);
    }
}

static int64_t *pair_of(struct writer *w, int sender, int receiver)
{
    return &w->sends[(size_t)w->place[sender] * w->sel.n + (size_t)w->place[receiver]];
}

static bool is_message(const struct writer *w, int peer)
{
    return w->o->mode == TRACE_CLOSED && peer >= 0 && w->sel.in[peer];
}

static void put_run(struct writer *w)
{
    char buf[32];
    if (w->run > 0)
        put(&w->out, "%s- run: %s\n", w->indent, duration(buf, w->run));
    w->run = 0;
}

static void put_message(struct writer *w, const char *verb, int sender, int receiver)
{
    put(&w->out, "%s- %s: {queue: ", w->indent, verb);
    put_queue_name(&w->out, w->m, sender, receiver);
    put(&w->out, "}\n");
}

static void open_sample(struct writer *w, const char *from)
{
    put(&w->out, "%s- mark: {open: r%s}\n", w->indent, from);
    w->open = w->in_burst = true;
}

static void close_sample(struct writer *w)
{
    if (w->open)
        put(&w->out, "%s- mark: {close: r}\n", w->indent);
    w->open = false;
}

static void end_burst(struct writer *w)
{
    put_run(w);
    close_sample(w);
    if (!w->in_burst)
        return;
    w->in_burst = false;
    put(&w->out, "%s- mark: {op: burst}\n", w->indent);
    w->n.bursts++;
}

static void put_block(struct writer *w, int task, const struct model_op *op)
{
    char buf[32];
    end_burst(w);
    if (is_message(w, op->peer)) {
        put_message(w, "recv", op->peer, task);
        open_sample(w, ", inherit: true");
        w->n.messages++;
        return;
    }
    w->n.sleeps_irq += op->peer < 0;
    w->n.sleeps_outside += op->peer >= 0 && !w->sel.in[op->peer];
    if (w->o->mode == TRACE_OPEN)
        put(&w->out, "%s- timer: {at: %s}\n", w->indent, duration(buf, op->end - w->sel.start));
    else
        put(&w->out, "%s- sleep: %s\n", w->indent,
            duration(buf, op->end > op->start ? op->end - op->start : 1));
    open_sample(w, "");
}

/* How long a task that is through rests until its next lap: to the end of the recording, and then
 * as long as it started late. So a lap takes as long as the recording when nothing slows it down.
 */
static ns_t rest_of_lap(const struct writer *w, const struct model_task *t, ns_t last, bool ran)
{
    ns_t rest = last > w->sel.end ? 0 : w->sel.end - last;
    rest += t->start - w->sel.start;
    return rest == 0 && !ran ? 1 : rest;
}

static bool begins_with_block(const struct writer *w, const struct model_task *t)
{
    struct model_op op;
    for (size_t i = 0; i < t->ops; i++)
        if (select_op(&w->sel, &t->op[i], &op))
            return op.kind == MODEL_BLOCK;
    return false;
}

static void put_ops(struct writer *w, int task)
{
    const struct model_task *t = &w->m->task[task];
    char buf[32];
    ns_t last = t->start;
    bool ran = false;
    w->open = w->in_burst = false;
    if (!begins_with_block(w, t))
        open_sample(w, "");
    for (size_t i = 0; i < t->ops; i++) {
        struct model_op op;
        if (!select_op(&w->sel, &t->op[i], &op)) {
            w->n.ops_cut++;
            continue;
        }
        last = op.end;
        if (op.kind == MODEL_RUN) {
            w->run += op.run;
            ran = true;
        } else if (op.kind == MODEL_BLOCK) {
            put_block(w, task, &op);
        } else if (is_message(w, op.peer)) {
            put_run(w);
            close_sample(w);
            put_message(w, "send", task, op.peer);
        }
    }
    w->n.ops_cut += t->dropped;
    end_burst(w);
    ns_t rest = rest_of_lap(w, t, last, ran);
    if (w->loop && rest > 0)
        put(&w->out, "%s- sleep: %s\n", w->indent, duration(buf, rest));
}

static void put_task(struct writer *w, int task)
{
    const struct model_task *t = &w->m->task[task];
    char buf[32];
    put(&w->out, "  - name: ");
    put_task_name(&w->out, t);
    put(&w->out, "\n    count: 1\n    program:\n");
    if (t->start > w->sel.start)
        put(&w->out, "      - timer: {at: %s}\n", duration(buf, t->start - w->sel.start));
    w->indent = "      ";
    if (w->loop) {
        put(&w->out, "      - loop:\n          count: forever\n          body:\n");
        w->indent = "            ";
    }
    put_ops(w, task);
    w->n.tasks_written++;
    if (t->state == MODEL_OFF) {
        w->n.ended_blocked += t->last == MODEL_LAST_BLOCKED;
        w->n.ended_runnable += t->last == MODEL_LAST_RUNNABLE;
        w->n.ended_exited += t->last == MODEL_LAST_EXITED;
    }
}

static void put_queues(struct writer *w)
{
    bool head = false;
    memset(w->sends, 0, w->sel.n * w->sel.n * sizeof(*w->sends));
    for (size_t k = 0; k < w->sel.n; k++) {
        const struct model_task *t = &w->m->task[w->sel.index[k]];
        struct model_op op;
        for (size_t i = 0; i < t->ops; i++)
            if (t->op[i].kind == MODEL_WAKE && is_message(w, t->op[i].peer) &&
                select_op(&w->sel, &t->op[i], &op))
                ++*pair_of(w, w->sel.index[k], op.peer);
    }
    for (size_t a = 0; a < w->sel.n; a++) {
        for (size_t b = 0; b < w->sel.n; b++) {
            int64_t n = w->sends[a * w->sel.n + b];
            if (n == 0)
                continue;
            put(&w->out, "%s    ", head ? "" : "objects:\n  queues:\n");
            put_queue_name(&w->out, w->m, w->sel.index[a], w->sel.index[b]);
            put(&w->out, ": {capacity: %" PRId64 "}\n", 4 * n > 64 ? 4 * n : 64);
            head = true;
        }
    }
}

/* The file's name without its folders, harmless between quotes. */
static void put_file_name(struct text *t, const char *name)
{
    const char *base = strrchr(name, '/');
    char safe[256];
    size_t n = 0;
    for (const char *p = base ? base + 1 : name; *p && n + 1 < sizeof(safe); p++)
        safe[n++] = *p < 0x20 || *p == 0x7f || *p == '"' || *p == '\\' ? '_' : *p;
    safe[n] = '\0';
    put(t, "%s", safe);
}

static void put_file(struct writer *w, const char *name, const char *form)
{
    char buf[32];
    w->out.n = 0;
    w->n.length = w->sel.end - w->sel.start;
    size_t tasks = 0;
    for (size_t k = 0; k < w->sel.n; k++)
        tasks += w->m->task[w->sel.index[k]].start < w->sel.cut;
    put(&w->out, "summary: \"replay of ");
    put_file_name(&w->out, name);
    put(&w->out, ", %zu tasks, %s, %s\"\nsource: \"recorded with %s: ", tasks,
        duration(buf, w->n.length), w->o->mode == TRACE_OPEN ? "open" : "closed", form);
    put_file_name(&w->out, name);
    put(&w->out, "\"\n");
    put_queues(w);
    put(&w->out, "tasks:\n");
    for (size_t k = 0; k < w->sel.n; k++)
        if (w->m->task[w->sel.index[k]].start < w->sel.cut)
            put_task(w, w->sel.index[k]);
}

static bool prepare(struct writer *w)
{
    w->sends = calloc(w->sel.n * w->sel.n + 1, sizeof(*w->sends));
    w->place = calloc(w->m->tasks + 1, sizeof(*w->place));
    if (!w->sends || !w->place)
        return false;
    for (size_t k = 0; k < w->sel.n; k++)
        w->place[w->sel.index[k]] = (int)k;
    return true;
}

char *program_text(const struct model *m, const struct trace_import_options *o, const char *name,
                   const char *form, struct trace_import_counts *n)
{
    struct writer w = {.m = m, .o = o, .loop = o->loop && o->mode == TRACE_CLOSED};
    struct trace_import_counts before = {.wakes_of_awake = m->wakes_of_awake,
                                         .runs_without_start = m->runs_without_start};
    char *text = NULL;
    if (select_tasks(&w.sel, m, o, &before) && w.sel.n && prepare(&w)) {
        size_t max_ops = (size_t)o->max_ops;
        do {
            w.n = before;
            select_window(&w.sel, m, max_ops);
            put_file(&w, name, form);
            max_ops = max_ops * 3 / 4;
        } while (!w.out.failed && w.out.n > TRACE_MAX_TEXT && max_ops > 0);
        if (!w.out.failed)
            text = w.out.p;
        else
            free(w.out.p);
        before = w.n;
    }
    *n = before;
    select_free(&w.sel);
    free(w.sends);
    free(w.place);
    return text;
}
