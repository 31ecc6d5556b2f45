/* SPDX-License-Identifier: MIT */
/*
 * A guest whose vCPUs always execute, and whose steal is what the test publishes: what a policy that
 * samples steal does with a number can be stated exactly.
 */
#ifndef TESTS_MODELS_GOVERNOR_WORLD_H
#define TESTS_MODELS_GOVERNOR_WORLD_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "guest/core.h"
#include "tests/support/guest_hooks.h"
#include "workload.h"

extern const struct guest_ops guest_policy_hiperdispatch, guest_policy_steal_governor;

#define IDLE_TASK "{tasks: [{name: t, count: 1, program: [exit]}]}"

struct governed_world {
    struct engine *e;
    struct channel *c;
    struct channel_end *end;
    struct guest *k;
    struct workload *work;
    struct costs costs;
    struct account pcpu;
    ns_t steal[16];
    int evicted, fallbacks;
};

static inline void note_count(void *arg, const char *name)
{
    struct governed_world *w = arg;

    w->evicted += strcmp(name, "guest_evicted") == 0;
    w->fallbacks += strcmp(name, "governor_wake_fallback") == 0;
}

static const struct guest_hooks GOVERNED = {.irq = take_irq,
                                            .notify = take_notice,
                                            .idle = ignore,
                                            .idle_commit = ignore,
                                            .idle_end = ignore,
                                            .work_begins = ignore,
                                            .busy = ignore,
                                            .spin_exit = ignore,
                                            .timer_exit = ignore,
                                            .count = note_count};

struct governed_setting {
    const struct guest_ops *policy;
    const char *params, *workload; /* NULL: "{}", and a task that exits */
    int ncpus, vm;
    ns_t guest_switch;
};

static inline void governed_params(const struct guest_ops *ops, const char *text, void *dst)
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("params", text, strlen(text), &e);

    cr_assert(t && params_read(ops->head.params, dst, conf_root(t), "params", &e), "%s",
              e.n ? e.list[0].text : "no text");
    conf_free(t);
}

static inline struct workload *governed_workload(const char *text)
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("text", text, strlen(text), &e);
    char hash[33];
    struct workload *w = t ? workload_from_node(conf_root(t), "text", "text", ".", hash, &e) : NULL;

    cr_assert(w && e.n == 0, "%s", e.n ? e.list[0].text : "no text");
    conf_free(t);
    return w;
}

static inline struct governed_world *governed_seeded(struct governed_setting s, uint64_t seed)
{
    struct governed_world *w = calloc(1, sizeof(*w));
    const struct guest_place place = {.vm = s.vm, .ncpus = s.ncpus};
    const struct guest_ops *ops = s.policy;
    struct guest_conf conf;
    char why[160], params[256] = "";

    cr_assert(w && ops && ops->head.params_size <= sizeof(params));
    params_default(guest_params, &conf);
    conf.hz = 100;
    if (ops->head.params)
        governed_params(ops, s.params ? s.params : "{}", params);
    w->costs.guest_switch = s.guest_switch;
    w->work = governed_workload(s.workload ? s.workload : IDLE_TASK);
    w->e = engine_new();
    w->k = guest_new(w->e, &w->costs, w->work, &conf, ops, params, &place, seed, &GOVERNED, w, why);
    cr_assert(w->k, "%s", why);
    w->c = channel_new(w->e, s.ncpus, 0, 1);
    cr_assert(w->c);
    w->end = channel_attach(w->c, ops->head.name, ops->facts, s.ncpus, 1, PREEMPTED_ANY, NULL);
    cr_assert(w->end);
    w->k->channel = w->end;
    for (int i = 0; i < s.ncpus; i++) {
        w->k->cpu[i].pcpu_acct = &w->pcpu;
        gcpu_resume(&w->k->cpu[i], 1024, 0);
    }
    cr_assert(guest_begin(w->k, 0, why) == 0, "%s", why);
    return w;
}

static inline struct governed_world *governed_new(struct governed_setting s)
{
    return governed_seeded(s, 1);
}

static inline void governed_free(struct governed_world *w)
{
    guest_free(w->k);
    channel_free(w->c);
    engine_free(w->e);
    workload_free(w->work);
    free(w);
}

/* The vCPU enters, and sees this much more steal. */
static inline void publish(struct governed_world *w, int cpu, ns_t more)
{
    w->steal[cpu] += more;
    channel_publish_steal(w->end, cpu, w->steal[cpu]);
}

static inline ns_t next_sample(const struct governed_world *w)
{
    return w->k->policy_timer[0].event.time;
}

/* Up to the next sample and through it. */
static inline void sample(struct governed_world *w)
{
    engine_run(w->e, next_sample(w) + 1);
}

/* The same, with this much steal since the last one, of all vCPUs together: half each on the first
 * and on the last. */
static inline void sample_with(struct governed_world *w, ns_t steal)
{
    publish(w, 0, steal / 2);
    publish(w, w->k->ncpus - 1, steal - steal / 2);
    sample(w);
}

/* + preferred, - not. */
static inline const char *preferred(struct governed_world *w)
{
    static char set[32];

    for (int i = 0; i < w->k->ncpus; i++)
        set[i] = op_usable(w->k, i) ? '+' : '-';
    set[w->k->ncpus] = 0;
    return set;
}

#define expect_set(w, want)                                                                        \
    cr_expect_str_eq(preferred(w), want, "line %d: %s, expected %s", __LINE__, preferred(w), want)

/* The CPUs of the runnable tasks, in their order; '.' for those that are not. */
static inline const char *places(const struct governed_world *w)
{
    static char at[32];

    for (int i = 0; i < w->k->ntasks; i++) {
        const struct task *t = &w->k->task[i];

        at[i] = (char)(t->state == TASK_CURRENT || t->state == TASK_QUEUED ? '0' + t->cpu : '.');
    }
    at[w->k->ntasks] = 0;
    return at;
}

#define expect_places(w, want)                                                                     \
    cr_expect_str_eq(places(w), want, "line %d: %s, expected %s", __LINE__, places(w), want)

#endif
