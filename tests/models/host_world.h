/* SPDX-License-Identifier: MIT */
/*
 * A host under test with a machine that does nothing but time: each vCPU follows a script of runs
 * and sleeps, an engine event ends each. It stands where cross/ stands and uses the same calls.
 */
#ifndef TESTS_MODELS_HOST_WORLD_H
#define TESTS_MODELS_HOST_WORLD_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "engine/check.h"
#include "engine/engine.h"
#include "host/host_ops.h"
#include "obs/gantt.h"

#define VCPUS_MAX 256

extern const struct host_ops host_policy_null, host_policy_rr, host_policy_cfs, host_policy_eevdf;

/* Runs, then sleeps. run NS_NEVER: for ever; sleep NS_NEVER: that was the last one. */
struct step {
    ns_t run, sleep;
};

struct world;

struct script {
    struct world *w;
    struct vcpu *v;
    struct event finish, wake;
    const struct step *step; /* repeats */
    int nsteps, at;
    ns_t left, entered, work;
    ns_t slept_from, slept; /* finished sleeps */
    uint64_t done;
};

struct world {
    struct engine *e;
    struct topology *topo;
    struct host *h;
    struct gantt gantt;
    struct script script[VCPUS_MAX];
    int n;
    uint64_t entered, left, idle, queued, ticks, moved;
    uint64_t rejected, refused, idle_while_ready;
    bool (*busy_hook)(struct world *w, struct script *s); /* at a switch-in; true: it blocked */
};

static inline struct script *script_of(const struct vcpu *v)
{
    return v->owner;
}

static inline void world_entered(void *arg, struct pcpu *p, struct vcpu *v, bool moved, int from)
{
    struct world *w = arg;
    struct script *s = script_of(v);

    cr_assert(p->curr == v && v->state == VCPU_RUNNING && v->pcpu == p->id);
    cr_assert(moved == (from >= 0 && from != p->id));
    w->entered++;
    w->moved += moved;
    s->entered = w->e->now;
    if (s->left != NS_NEVER)
        engine_arm(w->e, &s->finish, w->e->now + s->left);
    if (w->busy_hook)
        w->busy_hook(w, s);
}

static inline void world_leaving(void *arg, struct pcpu *p, struct vcpu *v, enum stop_why why)
{
    struct world *w = arg;
    struct script *s = script_of(v);
    const ns_t ran = w->e->now - s->entered;

    (void)why;
    cr_assert(p->curr == v && v->state == VCPU_RUNNING);
    s->work += ran;
    if (s->left != NS_NEVER)
        s->left -= ran;
    engine_cancel(w->e, &s->finish);
}

static inline void world_left(void *arg, struct pcpu *p, struct vcpu *v)
{
    struct world *w = arg;

    cr_assert(p->curr == NULL && v->state != VCPU_RUNNING);
    w->left++;
}

static inline void world_idle(void *arg, struct pcpu *p)
{
    cr_assert(p->curr == NULL);
    ((struct world *)arg)->idle++;
}

static inline void world_tick(void *arg, struct pcpu *p, struct vcpu *v)
{
    cr_assert(p->curr == v);
    ((struct world *)arg)->ticks++;
}

static inline void world_queued(void *arg, struct pcpu *p, struct vcpu *v)
{
    cr_assert(v->state == VCPU_READY && v->pcpu == p->id && p->nr_ready > 0);
    ((struct world *)arg)->queued++;
}

static inline ns_t world_guest_time(void *arg, const struct vcpu *v)
{
    return ((struct world *)arg)->e->now - v->run_start;
}

static inline void world_count(void *arg, const char *name)
{
    struct world *w = arg;

    w->rejected += strcmp(name, "host_select_rejected") == 0;
    w->refused += strcmp(name, "host_migrate_refused") == 0;
    w->idle_while_ready += strcmp(name, "host_idle_while_ready") == 0;
}

static const struct host_hooks world_hooks = {
    .entered = world_entered,
    .leaving = world_leaving,
    .left = world_left,
    .idle = world_idle,
    .tick = world_tick,
    .queued = world_queued,
    .guest_time = world_guest_time,
    .count = world_count,
};

static inline void world_sleep(struct script *s)
{
    const ns_t sleep = s->step[s->at].sleep;

    s->slept_from = s->w->e->now;
    s->at = (s->at + 1) % s->nsteps;
    s->left = s->step[s->at].run;
    if (sleep != NS_NEVER)
        engine_arm(s->w->e, &s->wake, s->w->e->now + sleep);
}

static inline void world_on_finish(struct engine *e, struct event *ev)
{
    struct script *s = container_of(ev, struct script, finish);

    (void)e;
    s->done++;
    host_block(s->w->h, s->v);
    cr_assert(s->left == 0);
    world_sleep(s);
}

static inline void world_on_wake(struct engine *e, struct event *ev)
{
    struct script *s = container_of(ev, struct script, wake);

    s->slept += e->now - s->slept_from;
    host_wake(s->w->h, s->v, WAKE_IRQ);
}

static inline struct host_conf world_conf(int64_t tick_hz)
{
    return (struct host_conf){.tick_hz = tick_hz,
                              .scope = SCOPE_MACHINE,
                              .balance = true,
                              .wakeup_preemption = true,
                              .migration_cost = 500 * NS_US};
}

static inline struct world *world_new(struct topology_conf shape, struct host_conf conf,
                                      const struct host_ops *ops, const void *params)
{
    struct world *w = calloc(1, sizeof(*w));
    char why[160] = "";

    cr_assert(w != NULL);
    w->e = engine_new();
    w->topo = topology_new(&shape);
    cr_assert(w->e != NULL && w->topo != NULL);
    w->h = host_new(w->e, w->topo, NULL, &conf, ops, params, 1, &world_hooks, w, why);
    cr_assert(w->h != NULL, "%s", why);
    gantt_init(&w->gantt);
    w->h->trace = &w->gantt.sink;
    return w;
}

static inline void world_free(struct world *w)
{
    host_free(w->h);
    gantt_free(&w->gantt);
    topology_free(w->topo);
    engine_free(w->e);
    free(w);
}

/* A vCPU that wakes first at `start` (NS_NEVER: when told). `allowed` NULL: the whole machine. */
static inline struct vcpu *world_add(struct world *w, const struct cpumask *allowed, ns_t start,
                                     const struct step *step, int nsteps)
{
    struct script *s = &w->script[w->n];

    cr_assert(w->n < VCPUS_MAX);
    s->w = w;
    s->step = step;
    s->nsteps = nsteps;
    s->left = step[0].run;
    event_init(&s->finish, PHASE_FINISH, (uint32_t)w->n, world_on_finish);
    event_init(&s->wake, PHASE_WAKE, (uint32_t)w->n, world_on_wake);
    if (!allowed)
        allowed = w->topo->span[LEVEL_MACHINE][0];
    s->v = host_add_vcpu(w->h, w->n / 4, w->n % 4, allowed, 1024, s);
    cr_assert(s->v != NULL);
    if (start != NS_NEVER)
        engine_arm(w->e, &s->wake, start);
    w->n++;
    return s->v;
}

static inline void world_start(struct world *w)
{
    char why[160] = "";

    cr_assert_eq(host_start(w->h, why), 0, "%s", why);
}

/* Everything that must hold between two instants, whatever the policy. */
static inline void world_check(const struct world *w)
{
    const ns_t now = w->e->now;

    host_check(w->h);
    for (int i = 0; i < w->n; i++) {
        const struct script *s = &w->script[i];
        const ns_t sum = vcpu_time_in(s->v, VCPU_BLOCKED, now) +
                         vcpu_time_in(s->v, VCPU_READY, now) +
                         vcpu_time_in(s->v, VCPU_RUNNING, now);
        const ns_t running = s->v->state == VCPU_RUNNING ? now - s->entered : 0;

        cr_assert_eq(sum, now, "vcpu %d: states add up to %ld of %ld", i, (long)sum, (long)now);
        cr_assert_eq(vcpu_time_in(s->v, VCPU_RUNNING, now), s->work + running);
        cr_assert_eq(vcpu_steal(s->v, now), vcpu_time_in(s->v, VCPU_READY, now));
    }
}

static inline void world_run(struct world *w, ns_t until)
{
    engine_run(w->e, until);
    world_check(w);
}

static inline void expect_gantt(const struct world *w, int pcpu, ns_t from, ns_t to, ns_t step,
                                const char *want)
{
    char *have = gantt_pcpu(&w->gantt, pcpu, from, to, step);

    cr_assert(have != NULL);
    cr_assert_str_eq(have, want, "pcpu %d from %ld: have %s, want %s", pcpu, (long)from, have,
                     want);
    free(have);
}

static const struct topology_conf uni = {1, 1, 1, 1, 1};
static const struct step hog[] = {{NS_NEVER, NS_NEVER}};

#endif
