/* SPDX-License-Identifier: MIT */
/*
 * One guest with a policy and an end of a channel, whose vCPUs run nothing: a test says which vCPU is
 * busy and where the host has mapped it, and asks the policy.
 */
#ifndef TESTS_MODELS_GUEST_BENCH_H
#define TESTS_MODELS_GUEST_BENCH_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "guest/core.h"

#define BENCH_TEMPLATES 4

extern const struct guest_ops guest_policy_bare, guest_policy_cache_group, guest_policy_cps,
    guest_policy_cps_load, guest_policy_llc_gather;

/* registry.h would bring in the host. */
static inline const struct guest_ops *bench_policy(const char *name)
{
    static const struct guest_ops *const all[] = {&guest_policy_bare, &guest_policy_cache_group,
                                                  &guest_policy_cps, &guest_policy_cps_load,
                                                  &guest_policy_llc_gather};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(all[i]->head.name, name) == 0)
            return all[i];
    return NULL;
}

struct bench {
    struct engine *e;
    struct channel *c;
    struct channel_end *end; /* NULL: off */
    struct guest *k;
    struct workload work;
    struct task_spec spec[BENCH_TEMPLATES];
    struct guest_conf conf;
    struct costs costs;
    int counted; /* guest_count calls */
};

struct bench_setting {
    const char *policy;
    int ncpus, ngroups;
    bool channel;
    uint64_t seed;              /* of the virtual ids */
    int count[BENCH_TEMPLATES]; /* tasks; in order */
    uint32_t tag[BENCH_TEMPLATES];
    int llc;
    int of; /* > 0: so many tasks in a row have a communication group of their own */
};

static inline void bench_irq(void *arg, struct gcpu *g, enum irq_kind kind)
{
    (void)arg;
    (void)g;
    (void)kind;
}

static inline void bench_busy(void *arg, struct gcpu *g)
{
    (void)arg;
    (void)g;
}

static inline void bench_count(void *arg, const char *name)
{
    ((struct bench *)arg)->counted += strcmp(name, "guest_tag_fallback") == 0;
}

static const struct guest_hooks bench_hooks = {
    .irq = bench_irq, .busy = bench_busy, .count = bench_count};

static inline void bench_attach(struct bench *b, const struct guest_ops *ops, const void *params,
                                const struct bench_setting *s)
{
    b->c = channel_new(b->e, s->ncpus, 0, s->seed);
    cr_assert(b->c);
    channel_set_groups(b->c, s->ngroups);
    if (!s->channel || !ops->facts)
        return;
    b->end = channel_attach(b->c, s->policy, ops->facts, s->ncpus,
                            ops->threshold ? ops->threshold(params) : 1, PREEMPTED_ANY, NULL);
    cr_assert(b->end);
    b->k->channel = b->end;
}

/* Row prices: a queue 1, a degree 100, a group 10000. */
static inline struct bench *bench_new(struct bench_setting s)
{
    const struct guest_ops *ops = bench_policy(s.policy);
    struct bench *b = calloc(1, sizeof(*b));
    const struct guest_place place = {.ncpus = s.ncpus};
    char params[256] = "", why[160];

    cr_assert(b && ops && ops->head.params_size <= sizeof(params));
    if (ops->head.params)
        params_default(ops->head.params, params);
    b->conf = (struct guest_conf){.scheduler = GUEST_SCHED_FIFO, .llc = s.llc};
    b->costs = (struct costs){.select_examine = 1,
                              .select_load = 100,
                              .select_group = 10000,
                              .reread = 1000000,
                              .guest_irq = 100000000};
    for (int i = 0; i < BENCH_TEMPLATES && s.count[i] > 0; i++, b->work.ntasks++)
        b->spec[i] = (struct task_spec){.count = s.count[i],
                                        .tag = s.tag[i],
                                        .tag_of = s.of,
                                        .vcpu = -1,
                                        .start_dist = dist_const(0)};
    b->work.task = b->spec;
    b->e = engine_new();
    b->k = guest_new(b->e, &b->costs, &b->work, &b->conf, ops, params, &place, 1, &bench_hooks, b,
                     why);
    cr_assert(b->k, "%s", why);
    bench_attach(b, ops, params, &s);
    cr_assert(guest_begin(b->k, 0, why) == 0, "%s", why);
    return b;
}

static inline void bench_free(struct bench *b)
{
    guest_free(b->k);
    channel_free(b->c);
    engine_free(b->e);
    free(b);
}

/* The host maps vCPU i to a pCPU in group[i] (a digit each; '.' = not mapped yet), pCPU i. */
static inline void bench_map(struct bench *b, const char *group)
{
    for (int i = 0; b->end && group[i]; i++)
        if (group[i] != '.')
            channel_map(b->end, i, i, group[i] - '0');
}

/* `cpu` takes an interrupt. */
static inline void bench_interrupt(struct bench *b, int cpu)
{
    if (b->k->ops->irq)
        op_irq(b->k, cpu);
}

/* Something foreign to the test's tasks runs there, or no longer. */
static inline void bench_hog(struct bench *b, int cpu, int delta)
{
    b->k->cpu[cpu].nr_running += delta;
}

/* Task i wakes up, was on `prev`, and runs where the policy puts it. */
static inline int bench_wake_by(struct bench *b, int i, int prev, int waker, unsigned flags)
{
    struct guest *k = b->k;
    struct task *t = &k->task[i];

    k->examined = 0;
    if (k->channel)
        channel_take_reads(k->channel);
    t->cpu = op_select(k, t, prev, waker, flags);
    k->cpu[t->cpu].nr_running++;
    if (k->ops->running)
        k->ops->running(k, t->cpu, t);
    return t->cpu;
}

static inline int bench_wake(struct bench *b, int i, int prev)
{
    return bench_wake_by(b, i, prev, prev, 0);
}

/* It blocks; its previous vCPU stays in task->cpu. */
static inline void bench_block(struct bench *b, int i)
{
    struct task *t = &b->k->task[i];

    if (b->k->ops->stopping)
        b->k->ops->stopping(b->k, t->cpu, t, (struct guest_ran){0}, GUEST_STOP_BLOCK);
    b->k->cpu[t->cpu].nr_running--;
}

/* It moves without a wake-up, and runs there. */
static inline void bench_move(struct bench *b, int i, int cpu)
{
    struct task *t = &b->k->task[i];

    b->k->cpu[t->cpu].nr_running--;
    t->cpu = cpu;
    b->k->cpu[cpu].nr_running++;
    if (b->k->ops->running)
        b->k->ops->running(b->k, cpu, t);
}

/* What the last wake-up would cost: rows read. */
static inline ns_t bench_price(struct bench *b)
{
    struct channel_reads r = {0};

    if (b->k->channel)
        r = channel_take_reads(b->k->channel);
    return b->k->examined * b->costs.select_examine + r.load * b->costs.select_load +
           r.group * b->costs.select_group;
}

#endif
