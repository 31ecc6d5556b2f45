/* SPDX-License-Identifier: MIT */
/*
 * A host's life: made, filled with vCPUs, started, freed. All memory is taken here, none later.
 */
#include "host/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/internal.h"
#include "host/ops.h"

static const char *const starts[] = {"order", "random", NULL};
static const char *const scopes[] = {"previous", "group", "node", "machine", NULL};

static const char *const quota_pers[] = {"vcpu", "vm", NULL};

const struct param host_params[] = {
    {.name = "tick",
     .type = PARAM_INT,
     .offset = offsetof(struct host_conf, tick_hz),
     .def = "0",
     .min = 0,
     .max = 10000,
     .help = "host tick in Hz, at which slice ends are noticed; 0 = none, slices end exactly",
     .source = "assumed; Linux servers: 250"},
    {.name = "scope",
     .type = PARAM_ENUM,
     .offset = offsetof(struct host_conf, scope),
     .def = "machine",
     .values = scopes,
     .help = "how far from its last pCPU a waking vCPU looks for an idle one",
     .source = "assumed"},
    {.name = "start",
     .type = PARAM_ENUM,
     .offset = offsetof(struct host_conf, start),
     .def = "order",
     .values = starts,
     .help =
         "where floating vCPUs run first: on idle pCPUs in order of number, or on random ones, as "
         "after a long time",
     .source = "assumed"},
    {.name = "balance",
     .type = PARAM_BOOL,
     .offset = offsetof(struct host_conf, balance),
     .def = "on",
     .help = "periodic, new-idle and nohz-idle balancing along the domains",
     .source = "Linux 6.12 kernel/sched/fair.c"},
    {.name = "wakeup-preemption",
     .type = PARAM_BOOL,
     .offset = offsetof(struct host_conf, wakeup_preemption),
     .def = "on",
     .help = "a waking vCPU may preempt a running one, if the scheduler says so",
     .source = "Linux 6.12 kernel/sched/features.h"},
    {.name = "migration-cost",
     .type = PARAM_NS,
     .offset = offsetof(struct host_conf, migration_cost),
     .def = "0.5ms",
     .min = 0,
     .max = NS_SEC,
     .help = "a vCPU that ran less than this ago is cache hot: balancing is reluctant to move it",
     .source = "Linux 6.12 kernel/sched/fair.c"},
    {.name = "newidle-min-idle",
     .type = PARAM_NS,
     .offset = offsetof(struct host_conf, newidle_min_idle),
     .def = "0",
     .min = 0,
     .max = NS_SEC,
     .help = "no new-idle balancing on a pCPU whose average idle time is shorter",
     .source = "assumed; Linux compares with the measured cost of balancing"},
    {.name = "quota",
     .type = PARAM_NS,
     .offset = offsetof(struct host_conf, quota),
     .def = "0",
     .min = 0,
     .max = 1000 * NS_SEC,
     .help =
         "every so often each VM is told through the channel how many vCPUs it may use; 0 = never",
     .source = "vScale (EuroSys'16): 10 ms"},
    {.name = "quota-per",
     .type = PARAM_ENUM,
     .offset = offsetof(struct host_conf, quota_per),
     .def = "vcpu",
     .values = quota_pers,
     .help = "a VM's share in that: by its vCPUs, or the same for each VM, as with vm-groups",
     .source = "Tandem"},
    {.name = "shuffle",
     .type = PARAM_NS,
     .offset = offsetof(struct host_conf, shuffle),
     .def = "0",
     .min = 0,
     .max = 1000 * NS_SEC,
     .help = "every floating vCPU that wants a pCPU changes places once in this time; 0 = never",
     .source = "Tandem: an axis for experiments"},
    {.name = "shuffle-scope",
     .type = PARAM_ENUM,
     .offset = offsetof(struct host_conf, shuffle_scope),
     .def = "machine",
     .values = scopes,
     .help = "how far away that other place may be (previous: within the core)",
     .source = "Tandem: an axis for experiments"},
    {.name = "gather",
     .type = PARAM_BOOL,
     .offset = offsetof(struct host_conf, gather),
     .def = "off",
     .help =
         "pack vCPUs whose idle policy calls them stable; the others get free pCPUs of their own",
     .source = "OSDI'26 (mwait): mwait-sched"},
    {.name = "gather-limit",
     .type = PARAM_INT,
     .offset = offsetof(struct host_conf, gather_limit),
     .def = "2",
     .min = 2,
     .max = 1024,
     .help = "how many stable vCPUs are packed on one pCPU",
     .source = "OSDI'26 (mwait): 1:2 with mwait-sched, 1:4 to 1:6 with mwait-proxy"},
    {.name = "gather-undone",
     .type = PARAM_NS,
     .offset = offsetof(struct host_conf, gather_undone),
     .def = "100ms",
     .min = 0,
     .max = 1000 * NS_SEC,
     .help = "a request to leave within this time counts a gathering as undone",
     .source = "assumed"},
    PARAM_END};

static struct hyp *hyp_new(struct host *h, const struct host_ops *ops, const void *params)
{
    const struct policy_head *d = &ops->head;
    struct hyp *y = calloc(1, sizeof(*y));

    if (!y)
        return NULL;
    h->policy = y;
    y->ops = ops;
    y->host = h;
    snprintf(y->label, sizeof(y->label), "host %s", d->name);
    y->self = calloc(1, d->self_size + 1);
    y->params = calloc(1, d->params_size + 1);
    if (!y->self || !y->params)
        return NULL;
    if (params && d->params_size > 0)
        memcpy(y->params, params, d->params_size);
    else if (d->params)
        params_default(d->params, y->params);
    return y;
}

/* Private memory of one pCPU or vCPU, padded so that each is aligned for anything. */
static size_t padded(size_t size)
{
    const size_t align = _Alignof(max_align_t);

    return (size + align - 1) / align * align;
}

static bool host_build(struct host *h, const struct host_ops *ops, const void *params,
                       uint64_t seed)
{
    const size_t n = (size_t)h->npcpus, cpu = padded(ops->head.cpu_size);

    h->pcpu = calloc(n, sizeof(*h->pcpu));
    h->idle = cpumask_new(h->npcpus);
    h->overloaded = cpumask_new(h->npcpus);
    h->usable = cpumask_new(h->npcpus);
    if (!h->pcpu || !h->idle || !h->overloaded || !h->usable || !hyp_new(h, ops, params) ||
        !timers_init(h))
        return false;
    h->policy->cpu = calloc(n, cpu > 0 ? cpu : 1);
    if (!h->policy->cpu)
        return false;
    for (int i = 0; i < h->npcpus; i++) {
        pcpu_init(h, &h->pcpu[i], i);
        h->pcpu[i].priv = h->policy->cpu + (size_t)i * cpu;
    }
    rng_init(&h->rng, seed, RNG_HOST, 0, RNG_POLICY);
    return true;
}

struct host *host_new(struct engine *e, const struct topology *t, const struct costs *costs,
                      const struct host_conf *conf, const struct host_ops *ops, const void *params,
                      uint64_t seed, const struct host_hooks *hooks, void *hook_arg, char why[160])
{
    static const struct host_hooks none = {0};
    const char *fault = host_ops_check(ops, why);
    struct host *h;

    if (fault) {
        if (fault != why)
            snprintf(why, 160, "%s", fault);
        return NULL;
    }
    h = calloc(1, sizeof(*h));
    if (h) {
        h->engine = e;
        h->topo = t;
        h->costs = costs;
        h->conf = *conf;
        h->npcpus = t->npcpus;
        h->hooks = hooks ? hooks : &none;
        h->hook_arg = hook_arg;
        if (host_build(h, ops, params, seed))
            return h;
        host_free(h);
    }
    snprintf(why, 160, "out of memory");
    return NULL;
}

static void free_policy(struct host *h)
{
    struct hyp *y = h->policy;

    if (!y)
        return;
    if (h->started) {
        for (int i = 0; i < h->nvcpus; i++)
            ops_vcpu_fini(y, h->vcpu[i]);
        ops_fini(y);
    }
    timers_free(h);
    free(y->self);
    free(y->params);
    free(y->cpu);
    free(y->unit);
    free(y);
}

static void cancel_events(struct host *h)
{
    for (int i = 0; i < h->npcpus; i++) {
        engine_cancel(h->engine, &h->pcpu[i].slice);
        engine_cancel(h->engine, &h->pcpu[i].tick);
        engine_cancel(h->engine, &h->pcpu[i].balance);
    }
}

void host_free(struct host *h)
{
    if (!h)
        return;
    free_policy(h);
    if (h->pcpu)
        cancel_events(h);
    lb_free(h);
    gather_free(h);
    for (int i = 0; i < h->nvcpus; i++)
        free(h->vcpu[i]);
    free(h->vcpu);
    free(h->pcpu);
    cpumask_free(h->idle);
    cpumask_free(h->overloaded);
    cpumask_free(h->usable);
    free(h);
}

struct vcpu *host_add_vcpu(struct host *h, int vm, int index, const struct cpumask *allowed,
                           uint32_t weight, void *owner)
{
    struct vcpu *v;

    CHECK_PRE(!h->started, "a vCPU is added to a host that has started");
    CHECK_PRE(allowed->count > 0 && weight > 0, "vm%d vcpu %d has no pCPU or no weight", vm, index);
    /* Room doubles at each power of two. */
    if ((h->nvcpus & (h->nvcpus - 1)) == 0) {
        const size_t room = h->nvcpus > 0 ? 2 * (size_t)h->nvcpus : 1;
        struct vcpu **list = realloc(h->vcpu, room * sizeof(*list));

        if (!list)
            return NULL;
        h->vcpu = list;
    }
    v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    *v = (struct vcpu){.id = h->nvcpus,
                       .vm = vm,
                       .index = index,
                       .state = VCPU_BLOCKED,
                       .pcpu = -1,
                       .last_pcpu = -1,
                       .home = -1,
                       .push_to = -1,
                       .allowed = allowed,
                       .weight = weight,
                       .state_since = h->engine->now,
                       .slice_end = NS_NEVER,
                       .slice_len = NS_NEVER,
                       .owner = owner};
    v->ready.vcpu = v;
    h->vcpu[h->nvcpus++] = v;
    return v;
}

/* The pCPUs that somebody may use. Masks are shared by many vCPUs, mostly in a row. */
static void find_usable(struct host *h)
{
    const struct cpumask *last = NULL;

    for (int i = 0; i < h->nvcpus; i++) {
        const struct cpumask *m = h->vcpu[i]->allowed;

        if (m == last)
            continue;
        last = m;
        for (int p = cpumask_next(m, 0); p >= 0; p = cpumask_next(m, p + 1))
            cpumask_set(h->usable, p);
    }
}

/* Floating vCPUs have been somewhere before the run: the turns of each pCPU are equally many, and each
 * vCPU draws among those left that it may use, or any it may use. */
static void place_at_random(struct host *h, struct cpumask *left)
{
    for (int i = 0; i < h->nvcpus; i++) {
        struct vcpu *v = h->vcpu[i];
        const int from = (int)rng_below(&h->rng, (uint64_t)h->npcpus);

        if (v->allowed->count == 1)
            continue;
        if (left->count == 0)
            for (int p = 0; p < h->npcpus; p++)
                cpumask_set(left, p);
        v->pcpu = cpumask_next_and(left, v->allowed, from, h->npcpus);
        if (v->pcpu < 0)
            v->pcpu = cpumask_next_and(left, v->allowed, 0, h->npcpus);
        if (v->pcpu < 0)
            v->pcpu = cpumask_next(v->allowed, from);
        if (v->pcpu < 0)
            v->pcpu = cpumask_next(v->allowed, 0);
        if (cpumask_test(left, v->pcpu))
            cpumask_clear(left, v->pcpu);
    }
}

static bool start_places(struct host *h)
{
    struct cpumask *left;

    if (h->conf.start != START_RANDOM)
        return true;
    left = cpumask_new(h->npcpus);
    if (left)
        place_at_random(h, left);
    cpumask_free(left);
    return left != NULL;
}

int host_start(struct host *h, char why[160])
{
    const size_t unit = padded(h->policy->ops->head.unit_size);

    find_usable(h);
    if (h->conf.gather && !gather_start(h)) {
        snprintf(why, 160, "out of memory");
        return -1;
    }
    h->policy->unit = calloc((size_t)h->nvcpus + 1, unit > 0 ? unit : 1);
    if (!h->policy->unit || (h->conf.balance && !lb_init(h)) || !start_places(h)) {
        snprintf(why, 160, "out of memory");
        return -1;
    }
    for (int i = 0; i < h->nvcpus; i++)
        h->vcpu[i]->priv = h->policy->unit + (size_t)i * unit;
    if (ops_init(h->policy) != 0) {
        snprintf(why, 160, "%s: refused to start", h->policy->ops->head.name);
        return -1;
    }
    for (int i = 0; i < h->nvcpus; i++)
        ops_vcpu_init(h->policy, h->vcpu[i]);
    h->started = true;
    shuffle_start(h);
    return 0;
}
