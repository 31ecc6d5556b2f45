/* SPDX-License-Identifier: MIT */
/* A workload from a text, and one guest without a machine: its CPUs always execute, at no cost. */
#ifndef TESTS_UNIT_SMALL_GUEST_H
#define TESTS_UNIT_SMALL_GUEST_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "guest/guest.h"
#include "guest/guest_ops.h"
#include "registry.h"
#include "tests/support/guest_hooks.h"
#include "workload.h"

static inline struct workload *parse(const char *text, char hash[33])
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("text", text, strlen(text), &e);
    struct workload *w = t ? workload_from_node(conf_root(t), "text", "text", ".", hash, &e) : NULL;

    if (e.n)
        conf_errors_print(&e, stderr);
    cr_assert_eq(e.n, 0);
    cr_assert_not_null(w);
    conf_free(t);
    return w;
}

/* What pokes came. */
struct poked {
    ns_t at, length;
    int from, to;
    enum poke_kind kind;
};

struct small_world {
    struct engine *engine;
    struct guest *guest;
    struct workload *work;
    struct account pcpu;
    struct poked poked[32];
    int npoked;
};

static inline void ignore_io(void *arg, struct gcpu *g, ns_t service)
{
    (void)arg;
    (void)g;
    (void)service;
}

static inline void ignore_count(void *arg, const char *name)
{
    (void)arg;
    (void)name;
}

static inline void note_poke(void *arg, struct gcpu *from, struct gcpu *to, enum poke_kind kind,
                             ns_t length)
{
    struct small_world *w = arg;

    cr_assert_lt(w->npoked, 32);
    w->poked[w->npoked++] = (struct poked){w->engine->now, length, from->id, to->id, kind};
}

#define QUIET_HOOKS                                                                                \
    .irq = take_irq, .notify = take_notice, .idle = ignore, .idle_commit = ignore,                 \
    .idle_end = ignore, .work_begins = ignore, .busy = ignore, .spin_exit = ignore,                \
    .timer_exit = ignore, .io_exit = ignore_io, .count = ignore_count

static const struct guest_hooks NOTING = {QUIET_HOOKS, .poke = note_poke};
static const struct guest_hooks DEAF = {QUIET_HOOKS};

static inline struct small_world *small_world(const char *text, int vm, int ncpus, uint64_t seed,
                                              const struct guest_hooks *hooks)
{
    static const struct costs FREE;
    struct small_world *w = calloc(1, sizeof(*w));
    const struct guest_place place = {.vm = vm, .ncpus = ncpus};
    const struct guest_ops *bare = registry_find(POLICY_GUEST, "bare");
    struct guest_conf conf;
    char hash[33], why[160];

    cr_assert(w && bare);
    params_default(guest_params, &conf);
    conf.hz = 0;
    w->work = parse(text, hash);
    w->engine = engine_new();
    w->guest = guest_new(w->engine, &FREE, w->work, &conf, bare, NULL, &place, seed, hooks, w, why);
    cr_assert(w->guest, "%s", why);
    return w;
}

/* Runs the guest's tasks until `until`. */
static inline void small_run(struct small_world *w, ns_t until)
{
    char why[160];

    for (int i = 0; i < w->guest->ncpus; i++) {
        w->guest->cpu[i].pcpu_acct = &w->pcpu;
        gcpu_resume(&w->guest->cpu[i], 1024, 0);
    }
    cr_assert(guest_begin(w->guest, 0, why) == 0, "%s", why);
    engine_run(w->engine, until);
}

static inline void small_free(struct small_world *w)
{
    guest_free(w->guest);
    engine_free(w->engine);
    workload_free(w->work);
    free(w);
}

#endif
