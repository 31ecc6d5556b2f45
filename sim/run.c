/* SPDX-License-Identifier: MIT */
/*
 * From a scenario to a world and back to values. The streams of replication r are keyed by
 * (seed, r), so raising the number of replications leaves the earlier ones as they were.
 */
#include "run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cross/world.h"
#include "engine/check.h"

#ifndef TANDEM_VERSION
#define TANDEM_VERSION "0.1.0"
#endif
#ifndef TANDEM_GIT
#define TANDEM_GIT "unknown"
#endif

#define FAIRNESS_WINDOW (100 * NS_MS)

const char *run_version(void)
{
    return TANDEM_VERSION;
}

const char *run_git(void)
{
    return TANDEM_GIT;
}

/* What one run owns. */
struct run {
    const struct scenario *s;
    struct engine *engine;
    struct topology *topo;
    struct world *world;
    /* [npcpus] single pCPUs, the pool, one per VM group, then [nodes] for each group. Those of single pCPUs
     * and of nodes when they are first asked for. */
    struct cpumask **mask;
    const struct cpumask **allowed;
    int nmasks;
    int *pinned; /* pCPU of each vCPU under pinned placement */
    int64_t next_pinned;
};

static void run_free(struct run *r)
{
    world_free(r->world);
    for (int i = 0; r->mask && i < r->nmasks; i++)
        cpumask_free(r->mask[i]);
    free(r->mask);
    free(r->allowed);
    free(r->pinned);
    topology_free(r->topo);
    engine_free(r->engine);
}

static int make_masks(struct run *r)
{
    const struct scenario *s = r->s;
    const int n = r->topo->npcpus;
    int64_t most = 0;

    const int eager = n + 1 + s->nvms;

    r->nmasks = eager + s->nvms * r->topo->count[LEVEL_NODE];
    r->mask = calloc((size_t)r->nmasks, sizeof(*r->mask));
    for (int i = 0; i < s->nvms; i++)
        most = s->vm[i].vcpus > most ? s->vm[i].vcpus : most;
    r->allowed = calloc((size_t)most + 1, sizeof(*r->allowed));
    if (!r->mask || !r->allowed)
        return -1;
    for (int i = n; i < eager; i++) {
        r->mask[i] = cpumask_new(n);
        if (!r->mask[i])
            return -1;
    }
    for (size_t i = 0; i < s->npool; i++)
        cpumask_set(r->mask[n], s->pool[i]);
    for (int i = 0; i < s->nvms; i++)
        for (size_t j = 0; j < s->vm[i].npin; j++)
            cpumask_set(r->mask[n + 1 + i], s->vm[i].pin[j]);
    return 0;
}

/* The mask of one pCPU, made when it is first asked for. NULL without memory. */
static const struct cpumask *single(struct run *r, int pcpu)
{
    if (!r->mask[pcpu]) {
        r->mask[pcpu] = cpumask_new(r->topo->npcpus);
        if (r->mask[pcpu])
            cpumask_set(r->mask[pcpu], pcpu);
    }
    return r->mask[pcpu];
}

/* The part of `all` in the node where this vCPU of a VM with NUMA nodes belongs. */
static const struct cpumask *in_node(struct run *r, int group, int vcpu, const struct cpumask *all)
{
    const struct vm_spec *v = &r->s->vm[group];
    const int nodes = r->topo->count[LEVEL_NODE], node = (int)(vcpu * v->numa / v->vcpus);
    struct cpumask **m = &r->mask[r->topo->npcpus + 1 + r->s->nvms + group * nodes + node];

    if (*m)
        return *m;
    *m = cpumask_new(r->topo->npcpus);
    for (int p = 0; *m && p < r->topo->npcpus; p++)
        if (r->topo->of[LEVEL_NODE][p] == node && cpumask_test(all, p))
            cpumask_set(*m, p);
    return *m;
}

static const struct cpumask *mask_of(struct run *r, int group, int vcpu)
{
    const struct scenario *s = r->s;
    const struct vm_spec *v = &s->vm[group];
    const int n = r->topo->npcpus;

    if (v->numa > 1)
        return in_node(r, group, vcpu, v->pin ? r->mask[n + 1 + group] : r->mask[n]);
    if (v->pin)
        return v->pin_one ? single(r, v->pin[(size_t)vcpu % v->npin]) : r->mask[n + 1 + group];
    if (s->placement == PLACE_PINNED)
        return single(r, r->pinned[r->next_pinned++]);
    return r->mask[n];
}

static void vm_name(const struct vm_spec *v, int64_t k, char buf[80])
{
    if (v->count > 1)
        snprintf(buf, 80, "%s-%lld", v->name, (long long)k);
    else
        snprintf(buf, 80, "%s", v->name);
}

static int add_vm(struct run *r, int index, int group, int64_t k, char why[160])
{
    const struct vm_spec *v = &r->s->vm[group];
    char name[80];
    struct world_vm spec = {
        .name = name,
        .measured = v->role == ROLE_MEASURED,
        .ncpus = (int)v->vcpus,
        .allowed = r->allowed,
        .weight = v->weight ? v->weight : 1024,
        .start = v->start + k * v->stagger,
        .work = v->workload[(size_t)k % v->nworkloads],
        .conf = &v->guest_conf,
        .ops = v->guest.ops,
        .params = v->guest.params,
        .idle = v->idle.ops,
        .idle_params = v->idle.params,
        .rule = (enum preempted_rule)r->s->preempted_rule,
    };

    vm_name(v, k, name);
    for (int i = 0; i < v->vcpus; i++) {
        r->allowed[i] = mask_of(r, group, i);
        if (!r->allowed[i])
            return -1;
    }
    return world_add_vm(r->world, index, &spec, why);
}

static int build(struct run *r, uint64_t seed, char why[160])
{
    const struct scenario *s = r->s;
    const struct world_conf conf = {
        .duration = s->duration,
        .warmup = s->warmup,
        .seed = seed,
        .smt_speed = s->machine.speed_1024,
        .cstate = s->machine.cstate,
        .ncstates = s->machine.ncstates,
        .host_ncstates = s->host_ncstates,
        .power_active_w = s->machine.power_active_w,
        .power_idle_w = s->machine.power_idle_w,
        .fairness_window = FAIRNESS_WINDOW,
        .io_cpu_1024 = (int64_t)(s->io_cpu * 1024 + 0.5),
    };
    int64_t n;
    int index = 0;

    snprintf(why, 160, "out of memory");
    r->engine = engine_new();
    r->topo = topology_new(&s->machine.topo);
    if (!r->engine || !r->topo || make_masks(r))
        return -1;
    if (s->placement == PLACE_PINNED) {
        r->pinned = scenario_pinned_all(s, seed, &n);
        if (!r->pinned)
            return -1;
    }
    r->world = world_new(r->engine, r->topo, &s->machine.costs, &conf, &s->host, s->scheduler.ops,
                         s->scheduler.params, s->channel_delay, (int)scenario_total_vms(s), why);
    if (!r->world)
        return -1;
    r->world->pool = s->pool;
    r->world->npool = (int)s->npool;
    for (int g = 0; g < s->nvms; g++)
        for (int64_t k = 0; k < s->vm[g].count; k++)
            if (add_vm(r, index++, g, k, why))
                return -1;
    return 0;
}

static struct run_values *collect(const struct run *r, uint64_t seed, int64_t replication)
{
    struct run_values *v = run_values_new(r->world->nvms);

    if (!v)
        return NULL;
    v->seed = seed;
    v->replication = (uint64_t)replication;
    for (int i = 0; i < r->world->nvms; i++) {
        v->vm[i] = malloc(strlen(r->world->vm[i].name) + 1);
        if (!v->vm[i]) {
            run_values_free(v);
            return NULL;
        }
        strcpy(v->vm[i], r->world->vm[i].name);
    }
    world_collect(r->world, v);
    return v;
}

static void dump_policies(void *arg, FILE *out)
{
    const struct world *w = arg;

    if (w->host->policy && w->host->policy->ops->dump)
        w->host->policy->ops->dump(w->host->policy, out);
    for (int i = 0; i < w->nvms; i++)
        if (w->vm[i].guest && w->vm[i].guest->ops->dump)
            w->vm[i].guest->ops->dump(w->vm[i].guest, out);
}

static bool have_dump(const struct world *w)
{
    bool any = w->host->policy && w->host->policy->ops->dump;

    for (int i = 0; i < w->nvms; i++)
        any = any || (w->vm[i].guest && w->vm[i].guest->ops->dump);
    return any;
}

static int out_of_memory(char *error, size_t size)
{
    snprintf(error, size, "out of memory");
    return STATUS_FAILED;
}

/* A built world, from its start to its values. */
static int live(struct run *r, uint64_t seed, int64_t replication, const struct run_watch *watch,
                struct run_values **out, char *error, size_t error_size)
{
    struct trace_sink *trace = watch ? watch->begin(watch->arg, r->world) : NULL;
    char why[160];
    int status = STATUS_OK, watched = STATUS_OK;

    if (watch && !trace)
        return out_of_memory(error, error_size);
    if (world_run(r->world, trace, why)) {
        snprintf(error, error_size, "%s", why);
        status = STATUS_FAILED;
    }
    if (watch)
        watched = watch->end(watch->arg, r->engine->now);
    if (status || watched) {
        if (!status)
            snprintf(error, error_size, "cannot write what was recorded: %s", strerror(errno));
        return status ? status : watched;
    }
    *out = collect(r, seed, replication);
    return *out ? STATUS_OK : out_of_memory(error, error_size);
}

int run_watched(const struct scenario *s, uint64_t seed, int64_t replication,
                const struct run_watch *watch, struct run_values **out, char *error,
                size_t error_size)
{
    struct run r = {.s = s};
    struct crash_context crash = {
        .seed = seed, .replication = (uint64_t)replication, .scenario = s->file, .hash = s->hash};
    char why[160];
    int status;

    *out = NULL;
    if (build(&r, rng_mix(seed, (uint64_t)replication), why)) {
        snprintf(error, error_size, "%s", why);
        status = STATUS_FAILED;
    } else {
        crash.engine = r.engine;
        crash.dump = have_dump(r.world) ? dump_policies : NULL;
        crash.arg = r.world;
        crash_set_context(&crash);
        status = live(&r, seed, replication, watch, out, error, error_size);
        crash_set_context(NULL);
    }
    run_free(&r);
    return status;
}

static struct trace_sink *give(void *arg, const struct world *w)
{
    (void)w;
    return arg;
}

static int forget(void *arg, ns_t now)
{
    (void)arg;
    (void)now;
    return STATUS_OK;
}

int run_traced(const struct scenario *s, uint64_t seed, int64_t replication,
               struct trace_sink *trace, struct run_values **out, char *error, size_t error_size)
{
    const struct run_watch watch = {.begin = give, .end = forget, .arg = trace};

    return run_watched(s, seed, replication, trace ? &watch : NULL, out, error, error_size);
}

int run_replication(const struct scenario *s, uint64_t seed, int64_t replication,
                    struct run_values **out, char *error, size_t error_size)
{
    return run_traced(s, seed, replication, NULL, out, error, error_size);
}

const char *run_vcpu_name(const struct scenario *s, int vcpu, char buf[64])
{
    int base = 0;

    for (int g = 0; g < s->nvms; g++)
        for (int64_t k = 0; k < s->vm[g].count; k++) {
            if (vcpu < base + s->vm[g].vcpus) {
                char name[80];

                vm_name(&s->vm[g], k, name);
                snprintf(buf, 64, "%.40s vcpu %d", name, vcpu - base);
                return buf;
            }
            base += (int)s->vm[g].vcpus;
        }
    snprintf(buf, 64, "vcpu %d", vcpu);
    return buf;
}
