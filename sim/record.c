/* SPDX-License-Identifier: MIT */
/*
 * Names for timeline, series and lanes come from the world that runs, and what trace records leave open from its
 * accounts. Nothing here changes the world: a run that is watched has the same result.
 */
#include "record.h"

#include <stdio.h>

#include "cross/world.h"
#include "obs/json.h"
#include "obs/lanes.h"
#include "obs/series.h"
#include "obs/timeline.h"

static const struct xvcpu *xvcpu_of(const struct record *r, int vcpu)
{
    return r->world->host->vcpu[vcpu]->owner;
}

/* -- names -- */

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

static const char *vm_name_of(void *arg, int vcpu)
{
    return vm_name(arg, vm_of(arg, vcpu));
}

static int vcpu_index(void *arg, int vcpu)
{
    const struct record *r = arg;

    return r->world->host->vcpu[vcpu]->index;
}

static const char *vcpu_name(void *arg, int vcpu)
{
    struct record *r = arg;

    snprintf(r->buf, sizeof(r->buf), "%.90s vcpu %d", vm_name_of(arg, vcpu), vcpu_index(arg, vcpu));
    return r->buf;
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
        snprintf(r->buf, sizeof(r->buf), "%.90s %d", t->spec->name, t->instance);
    else
        snprintf(r->buf, sizeof(r->buf), "%.90s", t->spec->name);
    return r->buf;
}

static void put_origin(void *arg, struct json *j)
{
    const struct scenario *s = ((const struct record *)arg)->scenario;

    json_string(j, "version", run_version());
    json_string(j, "scenario_file", s->file);
    json_string(j, "hash", s->hash);
    json_u64(j, "seed", s->seed);
    json_raw(j, "scenario", s->echo);
}

/* -- accounts -- */

static ns_t accounts_began(void *arg)
{
    const struct record *r = arg;

    return r->world->accounted_from;
}

static ns_t owed(void *arg, int vcpu)
{
    const struct gcpu *g = xvcpu_of(arg, vcpu)->g;

    return g->hyp + g->ovh;
}

/* Accounts are brought up to now whenever the activity of a vCPU changes, which is when this is asked, and when
 * the run ends. */
static ns_t spent(void *arg, int vcpu, enum term term)
{
    return xvcpu_of(arg, vcpu)->g->acct.term[term];
}

static bool unseen(void *arg, int vcpu, ns_t *since)
{
    const struct xvcpu *x = xvcpu_of(arg, vcpu);

    *since = x->unseen_since >= 0 ? x->unseen_since : x->off_since;
    return x->unseen_since >= 0;
}

/* -- the run -- */

static void put_all(struct trace_sink *sink, const struct trace_record *record)
{
    struct record *r = container_of(sink, struct record, all);
    struct trace_sink *const to[] = {r->timeline ? timeline_sink(r->timeline) : NULL,
                                     r->series ? series_sink(r->series) : NULL,
                                     r->lanes ? lanes_sink(r->lanes) : NULL};

    for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); i++)
        if (to[i])
            to[i]->put(to[i], record);
}

static struct timeline *begin_timeline(struct record *r, const struct spans_probe *probe)
{
    const struct timeline_names names = {.npcpus = r->world->host->npcpus,
                                         .nvcpus = r->world->nvcpus,
                                         .from = r->from,
                                         .to = r->to,
                                         .probe = probe,
                                         .arg = r,
                                         .vm = vm_of,
                                         .vm_name = vm_name,
                                         .vcpu_name = vcpu_name,
                                         .task_name = task_name};

    return timeline_open(r->out[RECORD_TIMELINE].file, &names);
}

static struct lanes *begin_lanes(struct record *r, const struct spans_probe *probe)
{
    const struct lanes_conf conf = {.npcpus = r->world->host->npcpus,
                                    .nvcpus = r->world->nvcpus,
                                    .from = r->from,
                                    .to = r->to > 0 ? r->to : r->scenario->duration,
                                    .probe = probe,
                                    .arg = r,
                                    .vm = vm_name_of,
                                    .index = vcpu_index,
                                    .task = task_name,
                                    .origin = put_origin};

    return lanes_open(r->out[RECORD_GANTT].file, &conf);
}

static struct series *begin_series(struct record *r)
{
    const struct series_conf conf = {.step = r->step,
                                     .npcpus = r->world->host->npcpus,
                                     .nvcpus = r->world->nvcpus,
                                     .nvms = r->world->nvms,
                                     .pool = r->world->pool,
                                     .npool = r->world->npool,
                                     .arg = r,
                                     .vm = vm_of,
                                     .vm_name = vm_name};

    return series_open(r->out[RECORD_SERIES].file, &conf);
}

static struct trace_sink *begin(void *arg, const struct world *w)
{
    struct record *r = arg;
    const struct spans_probe probe = {
        .arg = r, .began = accounts_began, .spent = spent, .owed = owed, .unseen = unseen};

    r->world = w;
    r->timeline = r->name[RECORD_TIMELINE] ? begin_timeline(r, &probe) : NULL;
    r->series = r->name[RECORD_SERIES] ? begin_series(r) : NULL;
    r->lanes = r->name[RECORD_GANTT] ? begin_lanes(r, &probe) : NULL;
    if ((r->name[RECORD_TIMELINE] && !r->timeline) || (r->name[RECORD_SERIES] && !r->series) ||
        (r->name[RECORD_GANTT] && !r->lanes))
        return NULL;
    r->all = (struct trace_sink){.put = put_all};
    return &r->all;
}

static int end(void *arg, ns_t now)
{
    struct record *r = arg;
    const bool bad_timeline = r->timeline && timeline_close(r->timeline, now) != 0;
    const bool bad_series = r->series && series_close(r->series, now) != 0;
    const bool bad_lanes = r->lanes && lanes_close(r->lanes, now) != 0;

    r->timeline = NULL;
    r->series = NULL;
    r->lanes = NULL;
    return bad_timeline || bad_series || bad_lanes ? STATUS_IO : STATUS_OK;
}

struct run_watch record_watch(struct record *r)
{
    return (struct run_watch){.begin = begin, .end = end, .arg = r};
}

int record_open(struct record *r, const char **which)
{
    for (int i = 0; i < RECORD_KINDS; i++) {
        *which = r->name[i];
        if (!r->name[i] || outfile_open(&r->out[i], r->name[i]) == 0)
            continue;
        while (--i >= 0)
            if (r->name[i])
                outfile_close(&r->out[i], 1);
        return -1;
    }
    return 0;
}

int record_close(struct record *r, int failed, const char **which)
{
    int bad = 0;

    *which = r->name[RECORD_TIMELINE];
    for (int i = 0; i < RECORD_KINDS; i++) {
        if (!r->name[i] || outfile_close(&r->out[i], failed || bad) == 0 || bad)
            continue;
        bad = -1;
        *which = r->name[i];
    }
    return bad;
}
