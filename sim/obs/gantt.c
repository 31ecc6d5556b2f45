/* SPDX-License-Identifier: MIT */
/*
 * The ASCII Gantt chart. The records of one CPU are turned into a line of spans that follow each
 * other without a gap (an idle time is a span of nobody), and each step takes the name of the one
 * with the most time in it.
 */
#include "obs/gantt.h"

#include <stdlib.h>

#define NOBODY (-1)

struct span {
    ns_t from, to;
    int32_t who;
};

struct line {
    struct span *span;
    size_t n;
};

static void gantt_put(struct trace_sink *sink, const struct trace_record *r)
{
    struct gantt *g = (struct gantt *)(void *)sink;

    switch (r->kind) {
    case TRACE_VCPU_IN:
    case TRACE_VCPU_OUT:
    case TRACE_TASK_IN:
    case TRACE_TASK_OUT:
        break;
    default:
        return;
    }
    if (g->n == g->room) {
        const size_t room = g->room ? 2 * g->room : 256;
        struct trace_record *more = realloc(g->record, room * sizeof(*more));

        if (!more) {
            g->failed = true;
            return;
        }
        g->record = more;
        g->room = room;
    }
    g->record[g->n++] = *r;
}

void gantt_init(struct gantt *g)
{
    *g = (struct gantt){.sink = {.put = gantt_put}};
}

void gantt_free(struct gantt *g)
{
    free(g->record);
    gantt_init(g);
}

/* Ends the last span at `at` and lets `who` begin there. */
static void line_change(struct line *l, ns_t at, int32_t who)
{
    struct span *last = &l->span[l->n - 1];

    last->to = at;
    if (last->from == at)
        last->who = who; /* took no time: overwritten */
    else
        l->span[l->n++] = (struct span){.from = at, .to = at, .who = who};
}

static bool line_of(const struct gantt *g, enum trace_kind in, int cpu, ns_t from, ns_t to,
                    struct line *l)
{
    const enum trace_kind out = in == TRACE_VCPU_IN ? TRACE_VCPU_OUT : TRACE_TASK_OUT;

    l->span = malloc((g->n + 1) * sizeof(*l->span));
    if (!l->span)
        return false;
    l->span[0] = (struct span){.from = from, .to = from, .who = NOBODY};
    l->n = 1;
    for (size_t i = 0; i < g->n && g->record[i].time < to; i++) {
        const struct trace_record *r = &g->record[i];
        const ns_t at = r->time > from ? r->time : from;

        if (r->a != cpu)
            continue;
        if (r->kind == in)
            line_change(l, at, r->b);
        else if (r->kind == out && l->span[l->n - 1].who == r->b)
            line_change(l, at, NOBODY);
    }
    l->span[l->n - 1].to = to;
    return true;
}

static ns_t overlap(const struct span *s, ns_t from, ns_t to)
{
    const ns_t a = s->from > from ? s->from : from;
    const ns_t b = s->to < to ? s->to : to;

    return b > a ? b - a : 0;
}

static int32_t owner_of(const struct line *l, size_t first, ns_t from, ns_t to)
{
    int32_t owner = NOBODY;
    ns_t most = 0;

    for (size_t i = first; i < l->n && l->span[i].from < to; i++) {
        ns_t time = 0;

        for (size_t k = first; k < l->n && l->span[k].from < to; k++)
            if (l->span[k].who == l->span[i].who)
                time += overlap(&l->span[k], from, to);
        if (time > most) {
            most = time;
            owner = l->span[i].who;
        }
    }
    return owner;
}

static char letter(int32_t who)
{
    static const char name[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

    if (who == NOBODY)
        return '.';
    return who >= 0 && who < (int32_t)sizeof(name) - 1 ? name[who] : '?';
}

static char *render(const struct gantt *g, enum trace_kind in, int cpu, ns_t from, ns_t to,
                    ns_t step)
{
    const size_t steps = to > from ? (size_t)((to - from + step - 1) / step) : 0;
    size_t first = 0;
    struct line l;

    if (g->failed || !line_of(g, in, cpu, from, to, &l))
        return NULL;
    char *text = malloc(steps + 1);

    for (size_t i = 0; text && i < steps; i++) {
        const ns_t start = from + (ns_t)i * step;
        const ns_t end = to - start > step ? start + step : to;

        while (l.span[first].to <= start)
            first++;
        text[i] = letter(owner_of(&l, first, start, end));
    }
    if (text)
        text[steps] = '\0';
    free(l.span);
    return text;
}

char *gantt_pcpu(const struct gantt *g, int pcpu, ns_t from, ns_t to, ns_t step)
{
    return render(g, TRACE_VCPU_IN, pcpu, from, to, step);
}

char *gantt_vcpu(const struct gantt *g, int vcpu, ns_t from, ns_t to, ns_t step)
{
    return render(g, TRACE_TASK_IN, vcpu, from, to, step);
}
