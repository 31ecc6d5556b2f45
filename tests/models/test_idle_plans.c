/* SPDX-License-Identifier: MIT */
/*
 * The four acts of an idle plan, each by a small policy of its own: what it costs, what ends it,
 * and that a workload completes under it. The plans are carried out by cross/idle.c.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "registry.h"
#include "tests/support/run_text.h"

static struct idle_plan hold_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_HOLD, .until = NS_NEVER};
}

static struct idle_plan watch_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    return (struct idle_plan){.act = IDLE_WATCH, .until = ctx->now + 100 * NS_US};
}

static enum idle_wake watch_wake(struct idle *i, int vcpu, enum idle_via via)
{
    (void)i;
    (void)vcpu;
    return via == VIA_LOOK ? WAKE_VM : WAKE_ONE;
}

static struct idle_plan scan_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_WATCH, .until = NS_NEVER};
}

static struct idle_plan trap_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_SPIN, .until = NS_NEVER, .turn = 500, .traps = true};
}

static struct idle_plan limit_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    return (struct idle_plan){.act = IDLE_SPIN, .until = ctx->now + 50 * NS_US};
}

#define HEAD(n)                                                                                    \
    {                                                                                              \
        .abi = TANDEM_POLICY_ABI, .name = n, .summary = "of a test",                               \
    }
static const struct idle_ops hold = {.head = HEAD("t-hold"), .enter = hold_enter};
static const struct idle_ops watch = {
    .head = HEAD("t-watch"), .enter = watch_enter, .wake = watch_wake};
static const struct idle_ops scan = {.head = HEAD("t-scan"), .enter = scan_enter, .scans = true};
static const struct idle_ops trap = {.head = HEAD("t-trap"), .enter = trap_enter};
static const struct idle_ops limit = {.head = HEAD("t-limit"), .enter = limit_enter};

static struct run_values *run(const struct idle_ops *ops, const char *idle, const char *tick,
                              const char *workload, const char *vcpus)
{
    char text[2048], why[200];

    if (ops)
        cr_assert(registry_add(POLICY_IDLE, ops, why) == NULL, "%s", why);
    snprintf(text, sizeof(text),
             "machine: uni\nduration: 1s\nwarmup: 100ms\nhost: {scheduler: rr, tick: %s, "
             "placement: pinned}\n"
             "vms: [{name: vm, vcpus: %s, pin: \"0\", idle: %s, guest: {policy: \"null\"}, "
             "workload: %s}]\n",
             tick, vcpus, idle, workload);
    return run_of_text(text, 3, NULL);
}

/* One task that sleeps 1 ms and works 100 us. */
static const char sleeper[] = "{tasks: [{name: t, vcpu: 0, program: [{loop: {count: forever, body: "
                              "[{sleep: 1ms}, {run: 100us},"
                              " {mark: {op: x}}]}}]}]}";

/* A task on CPU 0 wakes one on CPU 1 each millisecond. */
static const char pair[] = "{objects: {queues: {q: {capacity: 1000}}}, tasks: [{name: a, vcpu: 0, "
                           "program: [{loop: {count: forever,"
                           " body: [{run: 1ms}, {send: q}]}}]}, {name: b, vcpu: 1, program: "
                           "[{loop: {count: forever, body: ["
                           "{recv: q}, {mark: {open: r, inherit: on}}, {run: 1us}, {mark: {close: "
                           "r}}, {mark: {op: x}}]}}]}]}";

Test(idle_plans, block_gives_the_pcpu_up)
{
    struct run_values *v = run(NULL, "hlt", "0", sleeper, "1");

    cr_expect(metric_of(v, 0, METRIC_HELD) == 0);
    cr_expect(metric_of(v, 0, METRIC_IDLESPIN) == 0);
    cr_expect(metric_of(v, 0, METRIC_HOST_CPU_POOL) < 0.15);
    cr_expect(fabs(metric_of(v, 0, METRIC_EXITS_IDLE) - metric_of(v, 0, METRIC_THROUGHPUT)) < 300);
    run_values_free(v);
}

Test(idle_plans, hold_keeps_the_pcpu_without_exits)
{
    struct run_values *v = run(&hold, "t-hold", "0", sleeper, "1");

    cr_expect(metric_of(v, 0, METRIC_EXITS_IDLE) == 0);
    cr_expect(metric_of(v, 0, METRIC_HELD) > 0.85, "held %g", metric_of(v, 0, METRIC_HELD));
    cr_expect(metric_of(v, 0, METRIC_HOST_CPU_POOL) == 1);
    run_values_free(v);
}

Test(idle_plans, trapped_spin_exits_once_a_turn)
{
    struct run_values *v = run(&trap, "t-trap", "0", sleeper, "1");
    const double spin = metric_of(v, 0, METRIC_IDLESPIN);

    cr_expect(spin > 0.85);
    cr_expect(fabs(metric_of(v, 0, METRIC_EXITS_IDLE) / (spin * 1e9 / 500) - 1) < 0.01,
              "%g exits, %g of the time", metric_of(v, 0, METRIC_EXITS_IDLE), spin);
    run_values_free(v);
}

Test(idle_plans, spin_with_a_limit_then_blocks)
{
    struct run_values *v = run(&limit, "t-limit", "0", sleeper, "1");
    const double per_round =
        metric_of(v, 0, METRIC_IDLESPIN) * 1e6 / metric_of(v, 0, METRIC_THROUGHPUT);

    cr_expect(per_round > 45 && per_round < 110, "%g us of spinning per round", per_round);
    cr_expect(metric_of(v, 0, METRIC_HOST_CPU_POOL) < 0.3);
    run_values_free(v);
}

/* The store is seen at the next look, at most 100 us and the look's price later, and that wait is
 * no steal. The look goes on under the vCPU that runs on the shared pCPU. */
Test(idle_plans, watch_sees_a_store_at_the_next_look)
{
    struct run_values *v = run(&watch, "t-watch", "0", pair, "2");
    const double unseen =
        metric_of(v, 2 - 1, METRIC_UNSEEN) * 2 * 1e6 / metric_of(v, 0, METRIC_THROUGHPUT);

    cr_expect(metric_of(v, 0, METRIC_THROUGHPUT) > 400);
    cr_expect(unseen > 5 && unseen < 103, "%g us unseen per wake-up", unseen);
    run_values_free(v);
}

/* Only a host entry scans: the wait follows the host tick, and once the pCPU is empty nobody looks.
 */
Test(idle_plans, scan_sees_a_store_at_the_next_host_entry)
{
    struct run_values *slow = run(&scan, "t-scan", "100", pair, "2"), *fast;
    double at_100 = metric_of(slow, 0, METRIC_LATENCY_MEAN), at_1000;

    fast = run(NULL, "t-scan", "1000", pair, "2");
    at_1000 = metric_of(fast, 0, METRIC_LATENCY_MEAN);
    cr_expect(at_1000 > 300 && at_1000 < 2500, "mean latency %g us at 1000 Hz", at_1000);
    cr_expect(at_100 > 4 * at_1000, "mean latency %g us at 100 Hz, %g us at 1000 Hz", at_100,
              at_1000);
    run_values_free(slow);
    run_values_free(fast);
}

/* A C-state sibling does not slow a thread, a spinning one does. */
Test(idle_plans, held_idle_does_not_slow_the_sibling)
{
    static const char text[] =
        "machine: {base: flat-8, topology: {sockets: 1, nodes: 1, groups: 1, cores: 1, threads: 2},"
        " smt: {busy_sibling: 0.5}}\nduration: 1s\nwarmup: 100ms\nhost: {scheduler: rr}\n"
        "vms: [{name: w, vcpus: 1, pin: \"0\", workload: cpu-bound, idle: hlt},"
        " {name: i, vcpus: 1, pin: \"1\", role: background, workload: idle-guest, idle: %s}]\n";
    char why[200], buf[1024];
    struct run_values *held, *spun;

    cr_assert(registry_add(POLICY_IDLE, &hold, why) == NULL, "%s", why);
    snprintf(buf, sizeof(buf), text, "t-hold");
    held = run_of_text(buf, 3, NULL);
    snprintf(buf, sizeof(buf), text, "\"null\"");
    spun = run_of_text(buf, 3, NULL);
    cr_expect(metric_of(held, 0, METRIC_OPS) > 1.8 * metric_of(spun, 0, METRIC_OPS),
              "%g operations beside held idle, %g beside spinning", metric_of(held, 0, METRIC_OPS),
              metric_of(spun, 0, METRIC_OPS));
    run_values_free(held);
    run_values_free(spun);
}
