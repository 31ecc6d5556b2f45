/* SPDX-License-Identifier: MIT */
/* Building and running a world: host, guests and what joins them. */
#include "cross/world.h"

#include <stdlib.h>
#include <string.h>

#include "cross/quota.h"
#include "engine/check.h"
#include "host/host_ops.h"

void world_count(struct world *w, const char *name)
{
    for (int i = 0; i < w->ncounters; i++)
        if (strcmp(w->counter[i].name, name) == 0) {
            w->counter[i].n++;
            return;
        }
    CHECK(w->ncounters < WORLD_COUNTERS, "too many kinds of counters");
    w->counter[w->ncounters].name = name;
    w->counter[w->ncounters++].n = 1;
}

static int init_pcpus(struct world *w)
{
    const int n = w->topo->npcpus;

    w->pcpu = calloc((size_t)n, sizeof(*w->pcpu));
    w->core_hot = calloc((size_t)w->topo->count[LEVEL_CORE], sizeof(*w->core_hot));
    if (!w->pcpu || !w->core_hot || watch_init(w))
        return -1;
    for (int i = 0; i < n; i++) {
        w->pcpu[i].world = w;
        w->pcpu[i].p = &w->host->pcpu[i];
        w->pcpu[i].cstate = w->conf.host_ncstates > 0 ? 0 : -1;
        w->host->pcpu[i].owner = &w->pcpu[i];
    }
    return 0;
}

struct world *world_new(struct engine *e, const struct topology *t, const struct costs *costs,
                        const struct world_conf *conf, const struct host_conf *host,
                        const struct host_ops *ops, const void *params, ns_t channel_delay,
                        int nvms, char why[160])
{
    struct world *w = calloc(1, sizeof(*w));

    snprintf(why, 160, "out of memory");
    if (!w)
        return NULL;
    w->conf = *conf;
    for (int i = 0; i < conf->ncstates; i++) {
        w->conf.residency[i] = conf->cstate[i].residency;
        w->conf.exit_latency[i] = conf->cstate[i].exit_latency;
    }
    w->engine = e;
    w->topo = t;
    w->costs = costs;
    w->nvms = nvms;
    w->vm = calloc((size_t)nvms, sizeof(*w->vm));
    w->channel = channel_new(e, t->npcpus, channel_delay, rng_mix(conf->seed, RNG_IDS));
    if (w->channel)
        channel_set_groups(w->channel, t->count[LEVEL_GROUP]);
    w->quotas = calloc((size_t)nvms, sizeof(*w->quotas));
    if (w->vm && w->channel && w->quotas)
        w->host = host_new(e, t, costs, host, ops, params, conf->seed, &cross_host_hooks, w, why);
    if (!w->host || init_pcpus(w)) {
        world_free(w);
        return NULL;
    }
    return w;
}

void world_free(struct world *w)
{
    if (!w)
        return;
    host_free(w->host); /* first: its events are in lists with those of guests and vCPUs */
    for (int i = 0; w->vm && i < w->nvms; i++) {
        struct xvm *vm = &w->vm[i];

        guest_free(vm->guest);
        hist_free(&vm->age);
        hist_free(&vm->idle_length);
        hist_free(&vm->unseen);
        hist_free(&vm->vm_wake);
        hist_free(&vm->split);
        hist_free(&vm->reaction);
        distance_free(vm);
        free(vm->name);
        free(vm->vcpu);
        free(vm->idle.self);
        free(vm->idle.unit);
        free((void *)(uintptr_t)vm->idle.params);
    }
    channel_free(w->channel);
    free(w->vm);
    free(w->quotas);
    free(w->pcpu);
    free(w->core_hot);
    watch_free(w);
    free(w);
}

static int init_idle(struct xvm *vm, const struct world_vm *s)
{
    const struct policy_head *head = &s->idle->head;
    void *params = calloc(1, head->params_size + 1);

    vm->idle.ops = s->idle;
    vm->idle.nvcpus = s->ncpus;
    vm->idle.self = calloc(1, head->self_size + 1);
    vm->idle.unit = calloc((size_t)s->ncpus, head->unit_size + 1);
    vm->idle.params = params;
    if (params && s->idle_params)
        memcpy(params, s->idle_params, head->params_size);
    if (hist_init(&vm->idle_length) || hist_init(&vm->unseen) || hist_init(&vm->vm_wake) ||
        hist_init(&vm->split) || hist_init(&vm->reaction))
        return -1;
    return params && vm->idle.self && vm->idle.unit ? 0 : -1;
}

static int init_vcpu(struct world *w, struct xvm *vm, int i, const struct world_vm *s)
{
    struct xvcpu *x = &vm->vcpu[i];
    const struct cpumask *allowed = s->allowed[i];
    const uint32_t id = (uint32_t)(w->nvcpus + i);

    x->world = w;
    x->vm = vm;
    x->g = &vm->guest->cpu[i];
    x->g->owner = x;
    x->counted_at = -1;
    x->mwait_exits = -1;
    x->work_at = x->unseen_since = x->active_since = -1;
    x->off_term = TERM_BLOCKED;
    event_init(&x->ipi, PHASE_WAKE, 5u << 24 | id, vcpu_arrival);
    event_init(&x->until, PHASE_TIMER, 6u << 24 | id, idle_until);
    x->v = host_add_vcpu(w->host, vm->index, i, allowed, s->weight, x);
    if (!x->v)
        return -1;
    if (allowed->count == 1)
        w->pcpu[cpumask_next(allowed, 0)].pinned++;
    else
        w->floating++;
    return 0;
}

static struct channel_now channel_truth_of(void *arg, int vcpu)
{
    const struct xvm *vm = arg;
    const struct world *w = vm->world;
    const int p = vm->vcpu[vcpu].v->pcpu;

    if (p < 0)
        return (struct channel_now){.load = 0, .group = -1};
    return (struct channel_now){.load = w->pcpu[p].wanting, .group = w->topo->of[LEVEL_GROUP][p]};
}

static int init_channel(struct world *w, struct xvm *vm, const struct world_vm *s)
{
    const int threshold = s->ops->threshold ? s->ops->threshold(s->params) : 1;

    if (hist_init(&vm->age))
        return -1;
    if (!s->conf->channel || (!s->ops->facts && s->conf->hints == HINTS_OFF))
        return 0;
    vm->channel = channel_attach(w->channel, s->ops->head.name, s->ops->facts, s->ncpus, threshold,
                                 s->rule, &vm->age);
    if (vm->channel)
        channel_compare(vm->channel, channel_truth_of, vm);
    vm->guest->channel = vm->channel;
    w->channel_used = w->channel_used || channel_used(w->channel, ~0u);
    return vm->channel ? 0 : -1;
}

int world_add_vm(struct world *w, int i, const struct world_vm *s, char why[160])
{
    struct xvm *vm = &w->vm[i];
    struct guest_place place = {.vm = i, .ncpus = s->ncpus, .vcpu_base = w->nvcpus};

    for (int j = 0; j < i; j++)
        place.task_base += w->vm[j].guest->ntasks;
    snprintf(why, 160, "out of memory");
    vm->world = w;
    vm->index = i;
    vm->measured = s->measured;
    vm->nvcpus = s->ncpus;
    vm->entitled = (double)s->ncpus * s->weight / 1024;
    vm->weight = (int64_t)s->ncpus * s->weight;
    vm->quota = s->ncpus;
    event_init(&vm->mark, PHASE_WAKE, 8u << 24 | (uint32_t)i, watch_mark);
    vm->name = malloc(strlen(s->name) + 1);
    vm->vcpu = calloc((size_t)s->ncpus, sizeof(*vm->vcpu));
    vm->guest = guest_new(w->engine, w->costs, s->work, s->conf, s->ops, s->params, &place,
                          w->conf.seed, &cross_guest_hooks, w, why);
    if (!vm->name || !vm->vcpu || !vm->guest || init_idle(vm, s) || distance_init(vm))
        return -1;
    memcpy(vm->name, s->name, strlen(s->name) + 1);
    for (int j = 0; j < s->ncpus; j++)
        if (init_vcpu(w, vm, j, s))
            return -1;
    if (init_channel(w, vm, s))
        return -1;
    w->nvcpus += s->ncpus;
    return guest_begin(vm->guest, s->start, why);
}

static void window_end(struct engine *e, struct event *ev)
{
    struct world *w = e->owner;
    double sum = 0, squares = 0, least = -1;
    int n = 0;

    for (int i = 0; i < w->nvms; i++) {
        struct xvm *vm = &w->vm[i];
        ns_t work = 0;
        double got;

        if (!vm->measured)
            continue;
        for (int j = 0; j < vm->nvcpus; j++) {
            gcpu_settle(vm->vcpu[j].g);
            work += vm->vcpu[j].g->acct.term[TERM_WORK];
        }
        got = (double)(work - vm->window_work) / vm->entitled;
        vm->window_work = work;
        sum += got;
        squares += got * got;
        least = least < 0 || got < least ? got : least;
        n++;
    }
    if (n > 1 && squares > 0) {
        w->jain_sum += sum * sum / (n * squares);
        w->worst_sum += least * n / sum;
        w->windows++;
    }
    engine_arm(e, ev, ev->time + w->conf.fairness_window);
}

static void forget_waits(struct xvm *vm)
{
    hist_reset(&vm->age);
    if (vm->channel)
        channel_quality_reset(vm->channel);
    hist_reset(&vm->idle_length);
    hist_reset(&vm->unseen);
    hist_reset(&vm->vm_wake);
    hist_reset(&vm->split);
    hist_reset(&vm->reaction);
    vm->vm_wakes = vm->vm_marks = 0;
    vm->mark_time = 0;
    memset(vm->exchanges, 0, sizeof(vm->exchanges));
    vm->exchange_time = 0;
    vm->idle_from = vm->idle.st;
}

/* End of warm-up: checks, then forgets what happened so far. */
static void forget(struct world *w)
{
    world_settle(w);
    world_check(w);
    watch_count_missed(w);
    host_reset_times(w->host);
    for (int i = 0; i < w->host->npcpus; i++) {
        memset(&w->pcpu[i].acct, 0, sizeof(w->pcpu[i].acct));
        memset(w->pcpu[i].cstate_time, 0, sizeof(w->pcpu[i].cstate_time));
    }
    for (int i = 0; i < w->nvms; i++) {
        struct xvm *vm = &w->vm[i];

        guest_reset(vm->guest);
        forget_waits(vm);
        vm->window_work = 0;
        for (int j = 0; j < vm->nvcpus; j++) {
            struct xvcpu *x = &vm->vcpu[j];

            x->work_at_entry -= x->g->acct.term[TERM_WORK];
            x->used_before += x->g->acct.term[TERM_WORK] + x->g->acct.term[TERM_OVERHEAD] +
                              x->g->acct.term[TERM_LOCKSPIN];
            if (x->committed)
                x->kept_from -=
                    x->g->acct.term[x->plan.act == IDLE_HOLD ? TERM_HELD : TERM_IDLESPIN];
            memset(&x->waits, 0, sizeof(x->waits));
            x->split_seen = 0;
            x->active_since = -1;
            if (x->unseen_since >= 0)
                x->unseen_since = w->engine->now;
            memset(&x->g->acct, 0, sizeof(x->g->acct));
            memset(x->g->flushed, 0, sizeof(x->g->flushed));
            memset(x->exits, 0, sizeof(x->exits));
            x->wanted = 0;
            x->steal_from = x->steal_at_entry;
            x->v->switches = 0;
            x->v->migrations = 0;
        }
    }
    w->ncounters = 0;
    w->accounted_from = w->engine->now;
}

static void set_trace(struct world *w, struct trace_sink *trace)
{
    w->host->trace = trace;
    for (int i = 0; i < w->nvms; i++)
        w->vm[i].guest->trace = trace;
    /* What was reported before anybody listened. */
    for (int i = 0; i < w->nvms; i++)
        if (w->vm[i].guest->usable > 0)
            trace_put(trace, w->engine->now, TRACE_USABLE, i, w->vm[i].guest->usable, 0);
}

int world_run(struct world *w, struct trace_sink *trace, char why[160])
{
    struct engine *e = w->engine;

    e->owner = w;
    set_trace(w, trace);
    if (host_start(w->host, why))
        return -1;
    publish_places(w);
    quota_begin(w);
    if (w->conf.warmup > 0) {
        engine_run(e, w->conf.warmup);
        forget(w);
    }
    event_init(&w->window, PHASE_SAMPLE, 7u << 24, window_end);
    if (w->conf.fairness_window > 0)
        engine_arm(e, &w->window, e->now + w->conf.fairness_window);
    engine_run(e, w->conf.duration);
    world_settle(w);
    world_check(w);
    return 0;
}
