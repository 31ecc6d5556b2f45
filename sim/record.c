/* SPDX-License-Identifier: MIT */
/* Names for timeline and series come from the world that runs. */
#include "record.h"

#include <stdio.h>

#include "cross/world.h"
#include "obs/series.h"
#include "obs/timeline.h"

static int vm_of(void *arg, int vcpu)
{
    const struct record *r = arg;

    return r->world->host->vcpu[vcpu]->vm;
}

static const char *vm_name(void *arg, int vm)
{
    const struct record *r = arg;

    return r->world->vm[vm].name;
}

static const char *vcpu_name(void *arg, int vcpu)
{
    struct record *r = arg;
    const struct vcpu *v = r->world->host->vcpu[vcpu];

    snprintf(r->name, sizeof(r->name), "%.90s vcpu %d", r->world->vm[v->vm].name, v->index);
    return r->name;
}

static const char *task_name(void *arg, int task)
{
    struct record *r = arg;
    const struct guest *k = NULL;
    const struct task *t;

    for (int i = 0; i < r->world->nvms && r->world->vm[i].guest->task_base <= task; i++)
        k = r->world->vm[i].guest;
    t = &k->task[task - k->task_base];
    if (t->peers > 1)
        snprintf(r->name, sizeof(r->name), "%.90s %d", t->spec->name, t->instance);
    else
        snprintf(r->name, sizeof(r->name), "%.90s", t->spec->name);
    return r->name;
}

static void put_both(struct trace_sink *sink, const struct trace_record *record)
{
    struct record *r = container_of(sink, struct record, both);
    struct trace_sink *t = timeline_sink(r->t), *s = series_sink(r->s);

    t->put(t, record);
    s->put(s, record);
}

static struct trace_sink *begin(void *arg, const struct world *w)
{
    struct record *r = arg;
    const struct timeline_names names = {.npcpus = w->host->npcpus,
                                         .nvcpus = w->nvcpus,
                                         .arg = r,
                                         .vm = vm_of,
                                         .vm_name = vm_name,
                                         .vcpu_name = vcpu_name,
                                         .task_name = task_name};
    const struct series_conf conf = {.step = r->step,
                                     .npcpus = w->host->npcpus,
                                     .nvcpus = w->nvcpus,
                                     .nvms = w->nvms,
                                     .pool = w->pool,
                                     .npool = w->npool,
                                     .arg = r,
                                     .vm = vm_of,
                                     .vm_name = vm_name};

    r->world = w;
    r->t = r->timeline ? timeline_open(r->timeline_out.file, &names) : NULL;
    r->s = r->series ? series_open(r->series_out.file, &conf) : NULL;
    if ((r->timeline && !r->t) || (r->series && !r->s))
        return NULL;
    r->both = (struct trace_sink){.put = put_both};
    return r->t && r->s ? &r->both : r->t ? timeline_sink(r->t) : series_sink(r->s);
}

static int end(void *arg, ns_t now)
{
    struct record *r = arg;
    const bool bad_timeline = r->t && timeline_close(r->t, now) != 0;
    const bool bad_series = r->s && series_close(r->s, now) != 0;

    r->t = NULL;
    r->s = NULL;
    return bad_timeline || bad_series ? STATUS_IO : STATUS_OK;
}

struct run_watch record_watch(struct record *r)
{
    return (struct run_watch){.begin = begin, .end = end, .arg = r};
}

int record_open(struct record *r, const char **which)
{
    *which = r->timeline;
    if (r->timeline && outfile_open(&r->timeline_out, r->timeline))
        return -1;
    *which = r->series;
    if (!r->series || outfile_open(&r->series_out, r->series) == 0)
        return 0;
    if (r->timeline)
        outfile_close(&r->timeline_out, 1);
    return -1;
}

int record_close(struct record *r, int failed, const char **which)
{
    int bad = 0;

    *which = r->timeline;
    if (r->timeline)
        bad = outfile_close(&r->timeline_out, failed);
    if (!r->series)
        return bad;
    if (outfile_close(&r->series_out, failed || bad) && !bad) {
        *which = r->series;
        return -1;
    }
    return bad;
}
