/* SPDX-License-Identifier: MIT */
/*
 * Host policies that use what guests say: extended slices and communication groups, as strings on
 * machines small enough to follow by hand, and a guest that lies among those that do not.
 */
#include "fair/fair.h"
#include "tests/models/host_world.h"
#include "tests/support/run_text.h"

extern const struct host_ops host_policy_extend, host_policy_comm_group;

static const struct topology_conf two_groups = {1, 1, 2, 2, 1};
static uint64_t given, capped, early;

static void note(void *arg, const char *name)
{
    world_count(arg, name);
    given += strcmp(name, "extend_given") == 0;
    capped += strcmp(name, "extend_capped") == 0;
    early += strcmp(name, "extend_ended_early") == 0;
}

/* What the guest of script 0 says when the host looks before a decision. */
static enum need said_later;

static void look(void *arg, struct pcpu *p, struct vcpu *v)
{
    const struct guest_row row = {.need = said_later};
    struct world *w = arg;

    cr_assert(p->curr == v || v->state != VCPU_RUNNING);
    if (v == w->script[0].v)
        host_channel_read(w->h, v, &row);
}

static struct host_hooks hooks;

static void say(struct world *w, int i, enum need need, uint32_t tag)
{
    const struct guest_row row = {.need = need, .tag = tag};

    host_channel_read(w->h, w->script[i].v, &row);
}

static ns_t *time_param(void *params, const char *name)
{
    return (ns_t *)(void *)((char *)params +
                            param_find(host_policy_extend.head.params, name)->offset);
}

/* Two vCPUs share a pCPU by turns of half a latency. */
static struct world *extending(int64_t hz, ns_t latency, ns_t extension, ns_t cap)
{
    static _Alignas(16) char params[256];
    struct world *w;

    cr_assert_leq(host_policy_extend.head.params_size, sizeof(params));
    params_default(host_policy_extend.head.params, params);
    *time_param(params, "latency") = latency;
    *time_param(params, "min-granularity") = 100 * NS_US;
    *time_param(params, "wakeup-granularity") = 100 * NS_US;
    *time_param(params, "extension") = extension;
    *time_param(params, "look") = 0;
    *time_param(params, "cap") = cap;
    given = capped = early = 0;
    w = world_new(uni, world_conf(hz), &host_policy_extend, params);
    hooks = world_hooks;
    hooks.count = note;
    w->h->hooks = &hooks;
    return w;
}

static struct world *extending_hogs(int64_t hz, ns_t latency, ns_t extension, ns_t cap)
{
    struct world *w = extending(hz, latency, extension, cap);

    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, 0, hog, 1);
    world_start(w);
    return w;
}

Test(host_hints, without_a_need_extend_is_cfs)
{
    for (int hz = 0; hz <= 250; hz += 250) {
        struct fair_conf c;
        struct world *a = extending_hogs(hz, 16 * NS_MS, 200 * NS_US, 100 * NS_MS), *b;
        char *one, *other;

        fair_conf_scaled(&c, 8);
        c.latency = 16 * NS_MS;
        c.min_granularity = c.wakeup_granularity = 100 * NS_US;
        b = world_new(uni, world_conf(hz), &host_policy_cfs, &c);
        world_add(b, NULL, 0, hog, 1);
        world_add(b, NULL, 0, hog, 1);
        world_start(b);
        world_run(a, NS_SEC);
        world_run(b, NS_SEC);
        one = gantt_pcpu(&a->gantt, 0, 0, NS_SEC, 100 * NS_US);
        other = gantt_pcpu(&b->gantt, 0, 0, NS_SEC, 100 * NS_US);
        cr_assert_str_eq(one, other);
        cr_assert_eq(given, 0);
        free(one);
        free(other);
        world_free(a);
        world_free(b);
    }
}

Test(host_hints, a_section_is_extended_once_and_paid_back)
{
    /* Turns of 1 ms and an extension of 200 us: B then runs until it has caught up. */
    struct world *w = extending_hogs(0, 2 * NS_MS, 200 * NS_US, 100 * NS_MS);

    say(w, 0, NEED_LOCK, 0);
    world_run(w, 20 * NS_MS);
    expect_gantt(w, 0, 0, 9600 * NS_US, 200 * NS_US,
                 "BBBBBAAAAAABBBBBBAAAAAABBBBBBAAAAAABBBBBBAAAAAAB");
    cr_assert_eq(given, 8, "%lu", (unsigned long)given);
    world_free(w);

    /* The tick does not stretch it: 4 ms to the tick and 1 ms more. From then on no turn of B is. */
    w = extending_hogs(250, 8 * NS_MS, NS_MS, 100 * NS_MS);
    say(w, 1, NEED_LOCK, 0);
    world_run(w, 100 * NS_MS);
    expect_gantt(w, 0, 0, 34 * NS_MS, NS_MS, "BBBBBAAAAAAABBBBBBBAAAAABBBBBAAAAA");
    world_free(w);
}

Test(host_hints, whoever_left_the_section_goes_at_the_next_look)
{
    struct world *w = extending_hogs(250, 16 * NS_MS, 6 * NS_MS, 100 * NS_MS);

    /* At a tick: extended from 8 to 14 ms, out of the section before 12 ms. */
    say(w, 1, NEED_LOCK, 0);
    world_run(w, 9 * NS_MS);
    say(w, 1, NEED_NONE, 0);
    world_run(w, 16 * NS_MS);
    expect_gantt(w, 0, 0, 16 * NS_MS, NS_MS, "BBBBBBBBBBBBAAAA");
    cr_assert(given == 1 && early == 1);
    world_free(w);

    /* The same with looks every 10 us. */
    w = extending_hogs(250, 16 * NS_MS, 6 * NS_MS, 100 * NS_MS);
    *time_param(w->h->policy->params, "look") = 10 * NS_US;
    say(w, 1, NEED_LOCK, 0);
    world_run(w, 9 * NS_MS + 3 * NS_US);
    say(w, 1, NEED_NONE, 0);
    world_run(w, 10 * NS_MS);
    cr_assert(given == 1 && early == 1);
    cr_assert_eq(w->script[1].work, 9010 * NS_US);
    world_free(w);

    /* Before a decision: what the guest says then counts, not what it said at the last tick. */
    said_later = NEED_LOCK;
    hooks = world_hooks;
    w = extending_hogs(0, 2 * NS_MS, 200 * NS_US, 100 * NS_MS);
    hooks.deciding = look;
    world_run(w, 2200 * NS_US);
    expect_gantt(w, 0, 0, 2200 * NS_US, 200 * NS_US, "BBBBBAAAAAA");
    said_later = NEED_NONE;
    world_run(w, 20 * NS_MS);
    cr_assert_eq(given, 1);
    world_free(w);
}

/* B wakes beside A, which runs for ever and says that it is in a critical section. */
Test(host_hints, a_wakeup_waits_for_the_extension)
{
    static const struct step naps[] = {{NS_MS, 9 * NS_MS}};
    struct world *w = extending(0, 2 * NS_MS, 300 * NS_US, 100 * NS_MS);

    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, 10 * NS_MS, naps, 1);
    world_start(w);
    say(w, 0, NEED_LOCK, 0);
    world_run(w, 100 * NS_MS);
    expect_gantt(w, 0, 31600 * NS_US, 33100 * NS_US, 100 * NS_US, "AAABBBBBBBBBBAA");
    cr_assert_eq(w->script[1].v->steal, NS_MS + (ns_t)given * 300 * NS_US); /* a newcomer's debit */
    world_free(w);
}

Test(host_hints, extensions_are_earned_by_running)
{
    /* 1 ms by 100 ms: 200 us by 20 ms, which take A 40 ms. */
    struct world *w = extending_hogs(0, 2 * NS_MS, 200 * NS_US, NS_MS);

    say(w, 0, NEED_LOCK, 0);
    world_run(w, 39 * NS_MS);
    cr_assert(given == 0 && capped == 19);
    expect_gantt(w, 0, 30 * NS_MS, 34 * NS_MS, 200 * NS_US, "BBBBBAAAAABBBBBAAAAA");
    world_run(w, 410 * NS_MS);
    cr_assert_eq(given, 10, "%lu", (unsigned long)given);
    world_free(w);

    /* No more than the cap is saved: after a second without a need, five in a row. */
    w = extending_hogs(0, 2 * NS_MS, 200 * NS_US, NS_MS);
    world_run(w, NS_SEC);
    say(w, 0, NEED_LOCK, 0);
    world_run(w, NS_SEC + 13 * NS_MS);
    cr_assert_eq(given, 5);
    world_run(w, NS_SEC + 25 * NS_MS);
    cr_assert_eq(given, 5, "%lu", (unsigned long)given);
    world_free(w);
}

/* Work of script 0 within a second beside one that naps, saying what it likes. */
static ns_t work_of_hostile(enum need need, ns_t run, ns_t sleep, int64_t hz)
{
    const struct step naps[] = {{run, sleep}};
    struct world *w = extending(hz, 24 * NS_MS, 100 * NS_US, 5 * NS_MS);
    ns_t work;

    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, 0, naps, 1);
    world_start(w);
    say(w, 0, need, 0);
    world_run(w, NS_SEC);
    work = vcpu_time_in(w->script[0].v, VCPU_RUNNING, NS_SEC);
    cr_assert_eq(given > 0, need == NEED_LOCK);
    world_free(w);
    return work;
}

/* Beside one that never sleeps, and beside sleepers, to whom CFS forgets what it owes. */
Test(host_hints, a_liar_takes_at_most_a_twentieth_more_within_a_second)
{
    static const ns_t us[] = {20, 50, 100, 300, 500, 700, 1000, 4000};
    enum { N = sizeof(us) / sizeof(us[0]) };

    for (int hz = 0; hz <= 250; hz += 250) {
        const ns_t most = work_of_hostile(NEED_LOCK, NS_NEVER, 0, hz);

        cr_expect_leq(most * 100, NS_SEC / 2 * 105, "HZ %d: %ld us", hz, (long)most / 1000);
        for (int i = 0; i < N * N; i++) {
            const ns_t run = us[i / N] * NS_US, sleep = us[i % N] * NS_US;
            const ns_t honest = work_of_hostile(NEED_NONE, run, sleep, hz);
            const ns_t liar = work_of_hostile(NEED_LOCK, run, sleep, hz);

            cr_expect_leq(liar * 100, honest * 105, "run %ld, sleep %ld, HZ %d: %ld of %ld us",
                          (long)run, (long)sleep, hz, (long)liar / 1000, (long)honest / 1000);
        }
    }
}

/* -- communication groups -- */

static char group_digit(const struct world *w, int i)
{
    return (char)('0' + w->topo->of[LEVEL_GROUP][w->script[i].v->last_pcpu]);
}

static void expect_groups(const struct world *w, const char *want, const char *what)
{
    char have[VCPUS_MAX + 1];

    for (int i = 0; i < w->n; i++)
        have[i] = group_digit(w, i);
    have[w->n] = '\0';
    cr_expect_str_eq(have, want, "%s: groups %s, not %s", what, have, want);
}

/* Four vCPUs of one VM, one on each pCPU of two cache groups, which run and sleep. */
static struct world *talkers(const struct host_ops *ops, int64_t hz, int n, const uint32_t *tags)
{
    static const struct step naps[] = {{400 * NS_US, 600 * NS_US}};
    struct fair_conf c;
    struct world *w;

    fair_conf_scaled(&c, 8);
    w = world_new(two_groups, world_conf(hz), ops, &c);
    for (int i = 0; i < n; i++)
        world_add(w, NULL, 100 * NS_US * i, naps, 1);
    world_start(w);
    world_run(w, 350 * NS_US);
    for (int i = 0; i < n; i++)
        if (ops->channel_read)
            say(w, i, NEED_NONE, tags[i]);
    return w;
}

Test(host_hints, members_of_a_tag_meet_in_a_cache_group)
{
    static const uint32_t tags[] = {1, 2, 1, 2}, none[4] = {0}, three[] = {1, 1, 1, 0},
                          all[] = {7, 7, 7, 7};

    for (int hz = 0; hz <= 250; hz += 250) {
        struct world *w = talkers(&host_policy_cfs, hz, 4, none);

        world_run(w, 50 * NS_MS);
        expect_groups(w, "0011", "cfs leaves them");
        world_free(w);
        w = talkers(&host_policy_comm_group, hz, 4, none);
        world_run(w, 50 * NS_MS);
        expect_groups(w, "0011", "no tag, no home");
        world_free(w);
        w = talkers(&host_policy_comm_group, hz, 4, tags);
        world_run(w, 50 * NS_MS);
        cr_expect(group_digit(w, 0) == group_digit(w, 2), "tag 1");
        cr_expect(group_digit(w, 1) == group_digit(w, 3), "tag 2");
        world_free(w);
        /* Two pCPUs hold two members: the third keeps away, and nobody goes to and fro. */
        w = talkers(&host_policy_comm_group, hz, 4, three);
        world_run(w, 20 * NS_MS);
        expect_groups(w, "0011", "full");
        cr_expect_eq(w->moved, 0);
        world_free(w);
        w = talkers(&host_policy_comm_group, hz, 4, all);
        world_run(w, 20 * NS_MS);
        expect_groups(w, "0011", "split");
        cr_expect_eq(w->moved, 0);
        world_free(w);
    }
}

/* The same tag in two VMs is two groups: the first four vCPUs are one VM, the next ones another. */
Test(host_hints, a_tag_is_its_vms_own)
{
    static const uint32_t tags[] = {1, 0, 0, 0, 0, 0, 0, 1}, none[8] = {0};
    struct world *w = talkers(&host_policy_comm_group, 0, 8, tags);
    struct world *u = talkers(&host_policy_comm_group, 0, 8, none);

    world_run(w, 100 * NS_MS);
    world_run(u, 100 * NS_MS);
    for (int p = 0; p < 4; p++) {
        char *one = gantt_pcpu(&w->gantt, p, 0, 100 * NS_MS, 50 * NS_US);
        char *other = gantt_pcpu(&u->gantt, p, 0, 100 * NS_MS, 50 * NS_US);

        cr_expect_str_eq(one, other, "pcpu %d", p);
        free(one);
        free(other);
    }
    world_free(w);
    world_free(u);
}

/* -- whole runs -- */

/* Three VMs of two vCPUs each on two pCPUs, of which the first says `hints`, the second is honest and
 * the third says nothing. They want more than there is. */
static struct run_values *liar_among(const char *hints, const char *work, int hz,
                                     const char *scheduler)
{
    char text[2048];

    snprintf(text, sizeof(text),
             "machine: {base: flat-8, topology: {sockets: 1, nodes: 1, groups: 1, cores: 2, "
             "threads: 1}}\nduration: 1100ms\nwarmup: 100ms\n"
             "host: {scheduler: %s, placement: pinned, tick: %d}\nvms:\n"
             "  - {name: first, vcpus: 2, pin: \"0-1\", guest: {hints: %s}, workload: %s}\n"
             "  - {name: second, vcpus: 2, pin: \"0-1\", guest: {hints: honest}, workload: %s}\n"
             "  - {name: third, vcpus: 2, pin: \"0-1\", workload: %s}\n",
             scheduler, hz, hints, work, work, work);
    return run_of_text(text, 5, NULL);
}

/* Of a VM whose vCPUs never block. */
static double share(struct run_values *v, int row)
{
    return 1 - metric_of(v, row, METRIC_STEAL_TIME);
}

static uint64_t counter_of(const struct run_values *v, const char *name)
{
    for (int i = 0; i < v->ncounters; i++)
        if (strcmp(v->counter[i].name, name) == 0)
            return v->counter[i].n;
    return 0;
}

/* A third of the time in a section; a lock that goes to whoever executes. */
static const char sections[] =
    "{objects: {locks: {m: {kind: spin, fair: off}}}, tasks: [{name: t, count: vcpus, vcpu: "
    "spread, "
    "program: [{loop: {count: forever, body: [{run: 60us}, {lock: m}, {run: 30us}, {unlock: m}, "
    "{mark: {op: turn}}]}}]}]}";

Test(host_hints, a_lying_guest_among_others_gets_its_share)
{
    for (int hz = 0; hz <= 250; hz += 250) {
        struct run_values *v = liar_among("lie", "cpu-bound", hz, "extend"), *off;

        cr_expect_gt(counter_of(v, "extend_given"), 20);
        cr_expect_leq(share(v, 1), 1.05 / 3, "HZ %d: %g of a third", hz, 3 * share(v, 1));
        cr_expect_geq(share(v, 2), 0.95 / 3, "HZ %d: %g", hz, 3 * share(v, 2));
        cr_expect_geq(share(v, 3), 0.95 / 3, "HZ %d: %g", hz, 3 * share(v, 3));
        run_values_free(v);
        v = liar_among("lie", sections, hz, "extend");
        off = liar_among("off", sections, hz, "extend");
        cr_expect_leq(share(v, 1), 1.05 * share(off, 1), "HZ %d: %g after %g", hz, share(v, 1),
                      share(off, 1));
        run_values_free(v);
        run_values_free(off);
    }
}

Test(host_hints, no_hints_no_difference)
{
    struct run_values *a = liar_among("off", "cpu-bound", 250, "cfs");
    struct run_values *b = liar_among("lie", "cpu-bound", 250, "cfs");

    /* A host that does not care: only the price of the stores is left. */
    cr_expect_eq(counter_of(b, "extend_given"), 0);
    cr_expect_float_eq(share(a, 1), share(b, 1), 1e-3);
    run_values_free(a);
    run_values_free(b);
}

/* The lock's holder is preempted less often when the host knows of it. */
Test(host_hints, honest_hints_spare_lock_holders)
{
    double preempted[2];

    for (int i = 0; i < 2; i++) {
        struct run_values *v = liar_among(i ? "honest" : "off", sections, 250, "extend");

        preempted[i] = metric_of(v, 1, METRIC_HOLDER_PREEMPTED);
        run_values_free(v);
    }
    cr_expect_gt(preempted[0], 0.1);
    cr_expect_lt(preempted[1], 0.1 * preempted[0], "%g without, %g with hints", preempted[0],
                 preempted[1]);
}

/* Which vCPUs of a run were on the pCPUs of a cache group in its last 100 ms, as bits. */
static unsigned seen_in_group(struct gantt *g, int group)
{
    unsigned seen = 0;

    for (int p = 2 * group; p < 2 * group + 2; p++) {
        char *text = gantt_pcpu(g, p, 400 * NS_MS, 500 * NS_MS, 10 * NS_US);

        for (const char *c = text; *c; c++)
            if (*c != '.')
                seen |= 1u << (*c - 'A');
        free(text);
    }
    return seen;
}

/* Tasks of vCPUs 0 and 2 talk to each other, and those of 1 and 3. What the guest calls a group comes
 * to the host by its rows. */
Test(host_hints, tasks_that_talk_bring_their_vcpus_together)
{
    static const char *const hints[] = {"off", "honest", "lie"};

    for (int i = 0; i < 3; i++) {
        char text[2048];
        struct gantt g;
        unsigned seen[2];

        gantt_init(&g);
        snprintf(text, sizeof(text),
                 "machine: {base: flat-8, topology: {sockets: 1, nodes: 1, groups: 2, cores: 2, "
                 "threads: 1}}\nduration: 500ms\nallow_cold: true\n"
                 "host: {scheduler: comm-group, placement: float}\nvms:\n"
                 "  - {name: vm, vcpus: 4, guest: {hints: %s}, workload: {objects: {queues: {"
                 "q: {capacity: 1}, r: {capacity: 1}}}, tasks: ["
                 "{name: a, vcpu: 0, group: 1, program: [{loop: {count: forever, body: [{run: "
                 "{exponential: 40us}}, {send: q}, {sleep: 50us}]}}]},"
                 "{name: b, vcpu: 1, group: 2, program: [{loop: {count: forever, body: [{run: "
                 "{exponential: 40us}}, {send: r}, {sleep: 50us}]}}]},"
                 "{name: c, vcpu: 2, group: 1, program: [{loop: {count: forever, body: [{recv: q}, "
                 "{run: 20us}]}}]},"
                 "{name: d, vcpu: 3, group: 2, program: [{loop: {count: forever, body: [{recv: r}, "
                 "{run: 20us}]}}]}]}}\n",
                 hints[i]);
        run_values_free(run_of_text(text, 2, &g.sink));
        seen[0] = seen_in_group(&g, 0);
        seen[1] = seen_in_group(&g, 1);
        cr_expect_eq(seen[0] | seen[1], 15);
        if (i == 1)
            cr_expect((seen[0] == 5 && seen[1] == 10) || (seen[0] == 10 && seen[1] == 5),
                      "honest: %x and %x", seen[0], seen[1]);
        else
            cr_expect(seen[0] != 5 && seen[0] != 10, "%s: %x and %x", hints[i], seen[0], seen[1]);
        gantt_free(&g);
    }
}

/* Share of the exchanges of four tasks that never block which stay within a cache group. */
static double within_group(const char *scheduler, const char *hints)
{
    char text[1024];
    struct run_values *v;
    double share;

    snprintf(text, sizeof(text),
             "machine: kunpeng920-128\nduration: 300ms\nwarmup: 100ms\n"
             "host: {scheduler: %s, placement: float, start: random, tick: 250}\n"
             "vms: [{name: vm, vcpus: 128, guest: {hints: %s}, workload: {objects: {lines: {l: "
             "{}}}, tasks: [{name: t, count: 4, group: 1, program: [{loop: {count: forever, body: "
             "[{share: l}, {run: 3us}, {mark: {op: turn}}]}}]}]}}]\n",
             scheduler, hints);
    v = run_of_text(text, 5, NULL);
    share = metric_of(v, 0, METRIC_EXCHANGES_GROUP) / metric_of(v, 0, METRIC_EXCHANGES);
    run_values_free(v);
    return share;
}

Test(host_hints, comm_group_moves_members_that_never_wait)
{
    cr_expect_lt(within_group("cfs", "honest"), 0.5);
    cr_expect_lt(within_group("comm-group", "off"), 0.5);
    cr_expect_gt(within_group("comm-group", "honest"), 0.999);
}
