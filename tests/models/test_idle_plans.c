/* SPDX-License-Identifier: MIT */
/*
 * The four acts of an idle plan, each by a small policy of its own: what it costs, what ends it,
 * and that a workload completes under it. The plans are carried out by cross/idle.c. The second half
 * works tiny machines out by hand, to the nanosecond.
 */
#include <criterion/criterion.h>

#include "tests/models/idle_log.h"

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

/* v2 comes at 3333 and needs 1000. */
#define RIVAL                                                                                      \
    "  - {name: rival, role: background, vcpus: 1, pin: \"1\", start: 3333ns, idle: "              \
    "hlt, " IL_GUEST ", workload: {tasks: [{name: r, program: [{run: 1us}]}]}}\n"

static struct idle_plan trapped(ns_t turn, bool yields)
{
    return (struct idle_plan){
        .act = IDLE_SPIN, .until = NS_NEVER, .turn = turn, .traps = true, .yields = yields};
}

/*
 * A spin that yields at its exits: one when it begins, and one each 500.
 *    142  v1's task waits; exit 7
 *    149  turns begin
 *   3333  v2 comes
 *   3649  end of the seventh turn: v2 in, 13 + 11 + 17, works 1000, exit 7
 *   4697  v1 in, 13 + 11, finds nothing, exit 7
 *   4728  turns begin
 *   9642  work for v1; its word is written at 9701
 *   9728  end of the tenth turn: v1 sees it; goes idle again, exit 7
 *   9735  half a turn until the end, not counted
 */
Test(idle_plans, a_spin_that_yields_by_hand)
{
    struct run_values *v;

    il.plan[1] = trapped(500, true);
    v = il_run_pair("5us", RIVAL, "10us");
    want("142 enter v1 since 142 rivals 0");
    want("142 v1 exits: idle");
    want("3333 v2 READY");
    want("3649 v1 READY");
    want("3649 v2 on p1");
    want("4690 v2 exits: idle");
    want("4697 v2 BLOCKED");
    want("4697 v1 on p1");
    want("4697 enter v1 since 142 rivals 0");
    want("4697 v1 exits: idle");
    want("9728 reflect v1 after 9500 by store");
    want("9728 v1 mark");
    want("9728 enter v1 since 9728 rivals 0");
    want("9728 v1 exits: idle");
    want_that("yields");
    /* The last one is v0's, which blocks. */
    EXPECT_NS(il_count(v, 1, METRIC_EXITS_IDLE), 1 + 7 + 1 + 10 + 1 + 1);
    EXPECT_NS(il_ns(v, 1, METRIC_IDLESPIN, 20000), 3500 + 5000 + 265);
    EXPECT_NS(il_ns(v, 1, METRIC_STEAL_TIME, 20000), 4697 - 3649);
    EXPECT_NS(il_ns(v, 2, METRIC_STEAL_TIME, 10000), 3649 - 3333);
    EXPECT_NS(il_ns(v, 0, METRIC_HYP, 20000), 142 + 7 + 142 + 7 + 24 + 7 + 7 + 41 + 7);
    run_values_free(v);
}

/* A rival that is always there: each time v1 comes it pays its way in, 7 + 13 + 11, finds nothing,
 * exits, 7, and yields at once. The work of 9642 comes while it is READY. */
Test(idle_plans, a_spin_that_yields_to_one_who_always_waits)
{
    struct run_values *v;

    il.plan[1] = trapped(500, true);
    il.shows = SHOW_STATE | SHOW_EXIT | SHOW_MARK;
    v = il_run_pair("5us", IL_HOG, "10300ns");
    want("142 v1 exits: idle");
    want("149 v1 READY");
    want("149 v2 on p1");
    want("5149 v2 exits: preempt");
    want("5149 v2 READY");
    want("5149 v1 on p1");
    want("5149 v1 exits: idle");
    want("5187 v1 READY");
    want("5187 v2 on p1");
    want("10187 v2 exits: preempt");
    want("10187 v2 READY");
    want("10187 v1 on p1");
    want("10218 v1 mark");
    want("10218 v1 exits: idle");
    want("10225 v1 READY");
    want("10225 v2 on p1");
    want_that("yields");
    run_values_free(v);
}

/* What gave it work in the meantime was v0's store, not what woke it last. */
Test(idle_plans, work_that_comes_while_ready)
{
    struct run_values *v;

    il.plan[1] = trapped(500, true);
    il.shows = SHOW_CALL;
    v = il_run_pair("5us", IL_HOG, "10200ns");
    want("142 enter v1 since 142 rivals 1");
    want("5149 enter v1 since 142 rivals 1");
    want("10187 reflect v1 after 9500 by store");
    want_that("via");
    run_values_free(v);
}

/*
 * Without yielding v2 waits for the end of v1's slice.
 *    142  turns begin, no exit before the first ends
 *   5000  exit of v1 by preemption, 7; nine turns are over. v2 in: 7 + 13 + 11 + 17, works, exit 7
 *   6055  v1 in, 13 + 11
 *   6079  turns begin
 *  10079  end of the eighth turn: the store of 9701 is seen; a spin without exits would have seen it
 *         at 9701
 */
Test(idle_plans, trapped_spin_by_hand)
{
    struct run_values *v;

    il.plan[1] = trapped(500, false);
    il.shows = SHOW_STATE | SHOW_EXIT | SHOW_MARK;
    v = il_run_pair("5us", RIVAL, "10100ns");
    want("3333 v2 READY");
    want("5000 v1 exits: preempt");
    want("5000 v1 READY");
    want("5000 v2 on p1");
    want("6048 v2 exits: idle");
    want("6055 v2 BLOCKED");
    want("6055 v1 on p1");
    want("10079 v1 mark");
    want_that("traps");
    EXPECT_NS(il_count(v, 1, METRIC_EXITS_IDLE), 9 + 8 + 1);
    run_values_free(v);

    il.plan[1].traps = false;
    v = il_run_pair("5us", "", "10100ns");
    want("9701 v1 mark");
    want_that("no exits");
    EXPECT_NS(il_count(v, 1, METRIC_EXITS_IDLE), 1);
    run_values_free(v);
}

/* HOLD, then WATCH, and so on, 1000 each. */
static struct idle_plan other_one(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    static bool held;

    (void)i;
    (void)vcpu;
    held = !held;
    return held ? (struct idle_plan){.act = IDLE_WATCH, .until = ctx->now + 1000}
                : (struct idle_plan){.act = IDLE_HOLD, .until = ctx->now + 1000};
}

/*
 * Mwait exits are switched on and off, 19 each time but the first.
 *    142  HOLD, without an exit
 *   1142  WATCH: C-state 101, switch 19, exit 7
 *   1269  off; its look 1000 later
 *   2269  C-state 101, look 23: nothing; v1 is to hold, so it goes in, 13 + 11, and exits are
 *         switched off, 19
 *   2436  HOLD
 *   3436  WATCH: 127 again
 */
Test(idle_plans, hold_and_watch_in_turns)
{
    struct run_values *v;

    il.plan[1] = (struct idle_plan){.act = IDLE_HOLD, .until = 1000};
    by_hand.expire = other_one;
    v = il_run_pair("5us", "", "4us");
    want("142 enter v1 since 142 rivals 0");
    want("1142 v1 exits: idle");
    want("1269 v1 BLOCKED");
    want("2269 v1 READY");
    want("2269 v1 on p1");
    want("2269 enter v1 since 142 rivals 0");
    want("3436 v1 exits: idle");
    want("3563 v1 BLOCKED");
    want_that("in turns");
    EXPECT_NS(il_ns(v, 1, METRIC_HELD, 8000), 2000);
    EXPECT_NS(il_ns(v, 0, METRIC_HYP, 8000), 142 + 142 + 127 + 124 + 24 + 19 + 127);
    run_values_free(v);
}

static void log_use(struct idle *i, const struct idle_use *u)
{
    il_have(u->now, 1, SHOW_CALL, "used %" PRId64 ", %d operations", u->used, (int)u->io_ops);
    i->use_at = u->now + 2000;
}

/* v0 works from 142 to 9642. Looks as in idle_watch/looks_of_an_empty_pcpu: 1149 and every 1124; the
 * counters are due 2000 after the last time. The end of warm-up at 5000 is no business of theirs. */
Test(idle_plans, use_since_the_start)
{
    struct run_values *v;

    by_hand.use = log_use;
    by_hand.expire = il_expire;
    il.plan[1] = il.then[1] = il_watch(1000);
    il.vcpus = 2;
    for (int warm = 0; warm < 2; warm++) {
        il.shows = SHOW_CALL;
        v = il_run_pair("5us", "", warm ? "10us\nwarmup: 5us" : "10us");
        want("142 used 0, 0 operations");
        want("142 enter v1 since 142 rivals 0");
        for (int k = 0; k < 8; k++) {
            if (k % 2 == 1)
                want("%d used %d, 0 operations", 1149 + 1124 * k, 1149 + 1124 * k - 142);
            want("%d expire v1 since 142", 1149 + 1124 * k);
        }
        want_that(warm ? "warm" : "cold");
        run_values_free(v);
    }
}

/* The verdict that each look of a vCPU brings. v0 changes its mind twice after 7 ms. */
static struct idle_plan look_and_judge(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    static int changed;
    struct idle_plan p = il_watch(ctx->now + 100 * NS_US);

    (void)i;
    p.view =
        vcpu == 0 && ctx->now > 7 * NS_MS && changed++ == 0 ? IDLE_VIEW_ACTIVE : IDLE_VIEW_STABLE;
    return p;
}

/*
 * Three pCPUs for the four vCPUs of a VM, two on one at most. Homes: 0, 1, 2, 0. All wait, v3 after
 * v0; looks 100 us after their exits. v2 has work at 5 ms, for 10 ms.
 *   100149  v0 is stable: v3, on p0 too, is not, and no pCPU is free: stays. v1: alone on p1: stays.
 *           v2 joins v1: p2 is free, and v3, which shares p0, gets it without asking
 *   100197  v3 is stable, joins v0: 0, 1, 1, 0
 *  5000000  v2 in, on p1, and active: gets p2 at once
 *  7008705  v0's look (100149 + 69 * 100124): active; no pCPU is free: refused
 *  7108829  v0 is stable: all on p0 are, it stays
 *  8000000  end
 */
Test(idle_plans, gathering_in_numbers)
{
    static const char vms[] =
        "  - {name: vm, vcpus: 4, idle: by-hand, " IL_GUEST
        ", workload: {tasks: [{name: w, vcpu: 0, program: [{run: 0ns}]}, {name: x, vcpu: 1, "
        "program: "
        "[{run: 0ns}]}, {name: y, vcpu: 2, program: [{timer: {at: 5ms}}, {run: 10ms}]}, {name: z, "
        "vcpu: 3, program: [{run: 0ns}]}]}}\n";
    const double all = 4.0 * 8000000;
    struct run_values *v;

    for (int i = 0; i < 4; i++)
        il.plan[i] = il_watch(100 * NS_US);
    by_hand.expire = look_and_judge;
    il.from = 1000;
    il.shows = SHOW_STATE;
    v = il_run(3, IL_PRICES,
               "scheduler: {rr: {slice: 1ms}}, placement: float, gather: on, gather-limit: 2", vms,
               "duration: 8ms");
    want("5000000 v2 READY");
    want("5000000 v2 on p1");
    want("5000000 v2 READY");
    want("5000000 v2 on p2");
    want_that("v2");
    EXPECT_NS(il_count(v, 1, METRIC_GATHERS), 5);
    EXPECT_NS(il_ns(v, 1, METRIC_GATHERS_UNDONE, 5), 2);
    EXPECT_NS(il_count(v, 1, METRIC_SPLITS), 1);
    EXPECT_NS(il_count(v, 1, METRIC_SPLITS_REFUSED), 1);
    EXPECT_NS((ns_t)llround(metric_of(v, 1, METRIC_GATHERED) * all),
              6908556 + 891171 + 7899851 + 4899851 + 7899803);
    EXPECT_NS(il_us(v, 1, METRIC_SPLIT_P50), 0);
    run_values_free(v);
}

static struct idle_plan look_and_call_stable(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    struct idle_plan p = il_watch(ctx->now + 100 * NS_US);

    (void)i;
    (void)vcpu;
    p.view = IDLE_VIEW_STABLE;
    return p;
}

#define TWO                                                                                        \
    "  - {name: vm, vcpus: 2, idle: by-hand, " IL_GUEST                                            \
    ", workload: {objects: {queues: {q: {capacity: 9}}}, tasks: [{name: a, vcpu: 0, program: "     \
    "[{timer: {at: 300us}}, {run: 10us}, {send: q}]}, {name: b, vcpu: 1, program: [{recv: "        \
    "q}]}]}}\n"
#define GATHERING "scheduler: {rr: {slice: 1ms}}, placement: float, gather: on"

/* Looks at 100149 call v0 and v1 stable: v1 waits on p0 from then on, and is scanned for by the
 * entries there. v0 works from 300 us on, wakes v1 and exits: v1 is seen, long before its next look. */
Test(idle_plans, a_gathered_one_is_scanned_for_at_its_new_home)
{
    struct run_values *v;
    const char *exit;
    ns_t at;

    il.plan[0] = il.plan[1] = il_watch(100 * NS_US);
    il.stable[0] = il.stable[1] = true;
    by_hand.expire = look_and_call_stable;
    by_hand.scans = true;
    il.from = 300 * NS_US;
    il.shows = SHOW_STATE | SHOW_EXIT;
    v = il_run(2, IL_PRICES, GATHERING, TWO, "duration: 320us");
    exit = strstr(il.have, "v0 exits: idle");
    cr_assert(exit, "%s", il.have);
    while (exit > il.have && exit[-1] != '\n')
        exit--;
    at = strtoll(exit, NULL, 10);
    cr_expect(at > 310 * NS_US, "at %lld", (long long)at);
    cr_expect(strncmp(strchr(exit, '\n') + 1, exit, (size_t)(strchr(exit, ' ') + 1 - exit)) == 0);
    cr_expect(strncmp(strchr(strchr(exit, '\n') + 1, ' '), " v1 READY", 9) == 0, "%s", il.have);
    run_values_free(v);
}

/*
 * Called stable as it goes idle, at 142, v1 has exited already, 7, and gives its pCPU up at 149: it
 * waits at its new home, without going in there first.
 */
Test(idle_plans, gathered_as_it_goes_idle)
{
    struct run_values *v;

    il.plan[0] = il.plan[1] = il_watch(100 * NS_US);
    il.plan[0].view = il.plan[1].view = IDLE_VIEW_STABLE;
    il.from = 1;
    v = il_run(2, IL_PRICES, GATHERING, TWO, "duration: 90us");
    want("142 v0 exits: timer");
    want("142 enter v0 since 142 rivals 0");
    want("142 v0 exits: idle");
    want("142 enter v1 since 142 rivals 0");
    want("142 v1 exits: idle");
    want("149 v0 BLOCKED");
    want("149 v1 BLOCKED");
    want_that("states");
    EXPECT_NS(il_count(v, 1, METRIC_GATHERS), 2);
    EXPECT_NS(il_ns(v, 0, METRIC_HYP, 180000), 2 * (142 + 7));
    run_values_free(v);
}

/*
 * Nothing costs time but the way out of the C-state, 100 us. `holds` and `hog` take turns of 4 ms, each
 * ended by a tick. The tick that ends a turn of `holds` takes its pCPU out of the C-state once: what
 * the tick has begun delays `hog`, and is not begun again.
 */
Test(idle_plans, a_held_pcpu_leaves_its_cstate_once_per_turn)
{
    struct run_values *v = run_of_text(
        "machine: {base: uni-zero, cstates: [{name: C1, exit: 100us, residency: 100us, power: "
        "1}]}\n"
        "duration: 90ms\nwarmup: 10ms\nallow_cold: true\n"
        "host: {scheduler: {rr: {slice: 4ms}}, placement: pinned, tick: 250}\nvms:\n"
        "  - {name: holds, vcpus: 1, idle: mwait-passthrough, guest: {hz: 0}, workload: {tasks: "
        "[{name: once, program: [{run: 1us}]}]}}\n"
        "  - {name: hog, vcpus: 1, idle: hlt, guest: {hz: 0}, workload: {tasks: [{name: hog, "
        "program: "
        "[{run: 1s}]}]}}\n",
        1, NULL);

    EXPECT_NS((ns_t)llround(metric_of(v, 0, METRIC_HYP) * 80000000), 10 * 100 * NS_US);
    run_values_free(v);
}
