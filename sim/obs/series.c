/* SPDX-License-Identifier: MIT */
/*
 * Always true: the areas of the step under way hold all time up to `at` of their VM or of the machine;
 * rows of a step are written when the first record after its end arrives, or at the end of the run.
 */
#include "obs/series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "obs/text.h"
#include "obs/trace_busy.h"

/* Something counted, and its sum over the time of this step. */
struct level {
    int n;
    ns_t area, at;
};

struct vm_levels {
    struct level preferred, busy, ready;
    int64_t operations;
};

struct series {
    struct trace_sink sink;
    FILE *out;
    struct series_conf conf;
    ns_t from; /* of the step under way */
    struct vm_levels *vm;
    struct vcpu_busy *vcpu;
    bool *pooled; /* pCPUs */
    struct level idle;
};

static void level_reach(struct level *l, ns_t now)
{
    l->area += l->n * (now - l->at);
    l->at = now;
}

static void level_add(struct level *l, ns_t now, int more)
{
    if (more == 0)
        return;
    level_reach(l, now);
    l->n += more;
}

/* num / den with three decimals, and a comma before it. */
static void put_ratio(FILE *out, int64_t num, int64_t den)
{
    const int64_t milli = (int64_t)(((__int128)num * 1000 + den / 2) / den);

    fprintf(out, ",%" PRId64 ".%03d", milli / 1000, (int)(milli % 1000));
}

static void put_time(FILE *out, ns_t t)
{
    fprintf(out, "%" PRId64 ".%09d", t / NS_SEC, (int)(t % NS_SEC));
}

static void put_vm(struct series *s, int i, ns_t end)
{
    struct vm_levels *v = &s->vm[i];
    const ns_t length = end - s->from;
    FILE *out = s->out;

    level_reach(&v->preferred, end);
    level_reach(&v->busy, end);
    level_reach(&v->ready, end);
    put_time(out, end);
    fputc(',', out);
    text_put_csv(out, s->conf.vm_name(s->conf.arg, i));
    if (v->preferred.n > 0)
        put_ratio(out, v->preferred.area, length);
    else
        fputc(',', out);
    put_ratio(out, v->busy.area, length);
    put_ratio(out, v->ready.area, length);
    put_ratio(out, v->operations * NS_SEC, length);
    fputs(",\n", out);
    v->preferred.area = v->busy.area = v->ready.area = 0;
    v->operations = 0;
}

static void put_step(struct series *s, ns_t end)
{
    for (int i = 0; i < s->conf.nvms; i++)
        put_vm(s, i, end);
    level_reach(&s->idle, end);
    put_time(s->out, end);
    fputs(",,,,,", s->out);
    put_ratio(s->out, s->idle.area, end - s->from);
    fputc('\n', s->out);
    s->idle.area = 0;
    s->from = end;
}

static void vcpu_change(struct series *s, const struct trace_record *r)
{
    struct vcpu_busy *b = &s->vcpu[r->a];
    struct vm_levels *v = &s->vm[s->conf.vm(s->conf.arg, r->a)];
    const int was_busy = vcpu_is_busy(b), was_ready = b->state == STATE_READY;

    vcpu_busy_take(b, r);
    level_add(&v->busy, r->time, vcpu_is_busy(b) - was_busy);
    level_add(&v->ready, r->time, (b->state == STATE_READY) - was_ready);
}

static void series_put(struct trace_sink *sink, const struct trace_record *r)
{
    struct series *s = (struct series *)(void *)sink;
    struct level *preferred;

    while (r->time >= s->from + s->conf.step)
        put_step(s, s->from + s->conf.step);
    switch (r->kind) {
    case TRACE_VCPU_IN:
    case TRACE_VCPU_OUT:
        if (s->pooled[r->a])
            level_add(&s->idle, r->time, r->kind == TRACE_VCPU_OUT ? 1 : -1);
        break;
    case TRACE_VCPU_STATE:
    case TRACE_ACTIVITY:
        vcpu_change(s, r);
        break;
    case TRACE_MARK:
        s->vm[s->conf.vm(s->conf.arg, r->a)].operations++;
        break;
    case TRACE_USABLE:
        preferred = &s->vm[r->a].preferred;
        level_add(preferred, r->time, r->b - preferred->n);
        break;
    case TRACE_TASK_IN:
    case TRACE_TASK_OUT:
    case TRACE_TASK_WAKE:
    case TRACE_EXIT:
        break;
    }
}

static void series_free(struct series *s)
{
    free(s->vm);
    free(s->vcpu);
    free(s->pooled);
    free(s);
}

struct series *series_open(FILE *out, const struct series_conf *conf)
{
    struct series *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    *s = (struct series){.sink = {.put = series_put}, .out = out, .conf = *conf};
    s->vm = calloc((size_t)conf->nvms + 1, sizeof(*s->vm));
    s->vcpu = calloc((size_t)conf->nvcpus + 1, sizeof(*s->vcpu));
    s->pooled = calloc((size_t)conf->npcpus + 1, sizeof(*s->pooled));
    if (!s->vm || !s->vcpu || !s->pooled) {
        series_free(s);
        return NULL;
    }
    for (int i = 0; i < conf->npool; i++)
        s->pooled[conf->pool[i]] = true;
    s->idle.n = conf->npool;
    fputs("time_s,vm,preferred_vcpus,busy_vcpus,steal_vcpus,throughput_per_s,idle_pcpus\n", out);
    return s;
}

struct trace_sink *series_sink(struct series *s)
{
    return &s->sink;
}

int series_close(struct series *s, ns_t end)
{
    bool bad;

    while (end >= s->from + s->conf.step)
        put_step(s, s->from + s->conf.step);
    if (end > s->from)
        put_step(s, end);
    bad = fflush(s->out) != 0 || ferror(s->out);
    series_free(s);
    if (bad && errno == 0)
        errno = EIO;
    return bad ? -1 : 0;
}
