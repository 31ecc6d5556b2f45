/* SPDX-License-Identifier: MIT */
/*
 * What the guest's tick does: it ends slices, it is late while the vCPU is off, it stops when nohz
 * says so, and it spreads load. Nothing but work takes time where nothing else is said.
 */
#include "tests/models/guest_decisions.h"

#define UNI                                                                                        \
    "machine: uni-zero\nduration: 24ms\nhost: {scheduler: \"null\"}\n"                             \
    "vms: [{name: vm, vcpus: 1, pin: \"0\", "

static void expect_hogs(const char *sched, int hz, int n, ns_t step, const char *want)
{
    struct seen *s = see(1,
                         UNI "guest: {policy: \"null\", scheduler: %s, hz: %d}, workload: {tasks: "
                             "[{name: t, count: %d, program: [{run: 1s}]}]}}]\n",
                         sched, hz, n);

    expect_tasks(s, 0, step, want);
    forget(s);
}

Test(guest_tick, fair_orders_alternate_at_the_tick)
{
    /* CFS on one CPU: latency 6 ms, so 3 ms each for two; a tick of 1 ms hits that exactly. */
    expect_hogs("cfs", 1000, 2, NS_MS, "AAABBBAAABBB");
    /* 3 ms end at the tick of 4 ms. */
    expect_hogs("cfs", 250, 2, NS_MS, "AAAABBBBAAAABBBB");
    /* EEVDF on one CPU: a request of 0.7 ms is used up at the next tick. */
    expect_hogs("eevdf", 1000, 3, NS_MS, "ABCABCABC");
    expect_hogs("eevdf", 250, 2, NS_MS, "AAAABBBBAAAABBBB");
    /* First come, first served whatever the tick; without a tick nobody takes the CPU away. */
    expect_hogs("fifo", 1000, 2, 4 * NS_MS, "AAAAAA");
    expect_hogs("eevdf", 0, 2, 4 * NS_MS, "AAAAAA");
}

/* When B, which comes at `start` for 1 ms, first runs beside A. Tick of 1 ms. */
static ns_t comer(const char *sched, const char *start, const char *preemption)
{
    struct seen *s =
        see(1,
            UNI "guest: {policy: \"null\", scheduler: %s, hz: 1000, wakeup-preemption: %s}, "
                "workload: {tasks: [{name: a, program: [{run: 20ms}]}, {name: b, start: %s, "
                "program: [{run: 1ms}]}]}}]\n",
            sched, preemption, start);
    const ns_t at = switched_in(s, 1, 0);

    forget(s);
    return at;
}

Test(guest_tick, a_comer_waits_for_the_tick_or_preempts)
{
    /* CFS: credit of half a latency, 3 ms, is a lead of more than 1 ms. */
    expect_ns(comer("cfs", "5500us", "on"), 5500 * NS_US);
    expect_ns(comer("cfs", "5500us", "off"), 6 * NS_MS);
    /* EEVDF: no lead, and A's deadline of 5.7 ms (renewed at 5) is before B's of 6.2; at the tick
     * at 6 A is beyond the average. */
    expect_ns(comer("eevdf", "5500us", "on"), 6 * NS_MS);
    /* At 5.8 ms A has used its request up. */
    expect_ns(comer("eevdf", "5800us", "on"), 5800 * NS_US);
    expect_ns(comer("eevdf", "5800us", "off"), 6 * NS_MS);
}

/* Ticks handled by a VM whose only task computes: they take 1 us each. */
static int64_t ticks(const char *nohz, int hz, const char *duration, const char *program,
                     const char *rival)
{
    struct seen *s =
        see(1,
            "machine: {base: uni-zero, costs: {guest_tick: 1us}}\nduration: %s\nhost: "
            "{scheduler: {rr: {slice: 10500us}}}\nvms: [{name: vm, vcpus: 1, pin: \"0\", "
            "guest: {policy: \"null\", hz: %d, nohz: %s}, workload: {tasks: [{name: h, "
            "program: [%s]}]}}%s]\n",
            duration, hz, nohz, program, rival);
    const ns_t spent_ns = spent(s, 1, METRIC_GUEST_OVERHEAD, 1);

    cr_expect_eq(spent_ns % NS_US, 0);
    forget(s);
    return spent_ns / NS_US;
}

Test(guest_tick, late_ticks_become_one)
{
    static const char rival[] =
        ", {name: rival, role: background, vcpus: 1, pin: \"0\", guest: {hz: 0}, "
        "workload: {tasks: [{name: h, program: [{run: 10s}]}]}}";

    cr_expect_eq(ticks("idle", 1000, "31500us", "{run: 10s}", ""), 31);
    /* On from 0 to 10.5 ms: 10. Off till 21: one for 11 to 21. On till 31.5: 22 to 31. */
    cr_expect_eq(ticks("idle", 1000, "31500us", "{run: 10s}", rival), 10 + 1 + 10);
}

/* Exits to halt within 95 ms, of which the first is for work; tick of 10 ms. */
static int64_t halts(const char *nohz)
{
    struct seen *s =
        see(1,
            "machine: uni-zero\nduration: 95ms\nhost: {scheduler: \"null\"}\nvms: [{name: vm, "
            "vcpus: 1, pin: \"0\", guest: {policy: \"null\", hz: 100, nohz: %s}, workload: "
            "{tasks: [{name: t, program: [{run: 1ms}]}]}}]\n",
            nohz);
    const int64_t n = counted(s, 1, METRIC_EXITS_IDLE);

    forget(s);
    return n;
}

Test(guest_tick, nohz_says_when_it_stops)
{
    /* Busy: at 10, 20 ... 90 ms. A full one does without, with one task. */
    cr_expect_eq(ticks("off", 100, "95ms", "{run: 1s}", ""), 9);
    cr_expect_eq(ticks("idle", 100, "95ms", "{run: 1s}", ""), 9);
    cr_expect_eq(ticks("full", 100, "95ms", "{run: 1s}", ""), 0);
    /* Idle after 1 ms: each tick enters and halts again. */
    cr_expect_eq(halts("off"), 1 + 9);
    cr_expect_eq(ticks("off", 100, "95ms", "{run: 1ms}", ""), 9);
    /* An idle spell just began to be measured as shorter than a tick: one tick more. */
    cr_expect(halts("idle") <= 2, "%lld halts", (long long)halts("idle"));
}

Test(guest_tick, a_second_task_brings_a_full_tick_back)
{
    /* B comes at 5.5 ms, when A's tick has long stopped; A has used up its slice at the tick at 6.
     */
    struct seen *s =
        see(1, UNI "guest: {policy: \"null\", scheduler: cfs, hz: 1000, nohz: full, "
                   "wakeup-preemption: off}, workload: {tasks: [{name: a, program: [{run: "
                   "20ms}]}, {name: b, start: 5500us, program: [{run: 1ms}]}]}}]\n");

    expect_ns(switched_in(s, 1, 0), 6 * NS_MS);
    forget(s);
}

Test(guest_tick, a_tick_has_an_idle_vcpu_pull)
{
    /* A and C are stacked on vCPU 0. vCPU 1 is idle from 0.1 ms on, when C is still too hot to be
     * taken; the tick of vCPU 0 at 1 ms sends for it. */
    struct seen *s =
        see(1, "machine: flat-8-zero\nduration: 10ms\nhost: {scheduler: \"null\"}\nvms: [{name: "
               "vm, vcpus: 2, pin: \"0-1\", guest: {policy: \"null\", scheduler: fifo, hz: 1000, "
               "migration-cost: 600us}, workload: {tasks: [{name: a, program: [{run: 5ms}]}, "
               "{name: b, program: [{run: 100us}]}, {name: c, program: [{run: 2ms}]}]}}]\n");

    expect_ns(switched_in(s, 2, 0), NS_MS);
    expect_tasks(s, 0, NS_MS, "AAAAA.....");
    expect_tasks(s, 1, NS_MS, ".CC.......");
    forget(s);
}

/* A alone on vCPU 0, whose pCPU a rival may share; vCPU 1 is idle. Moves of A, and where it ends.
 */
static int64_t moves(const char *rival, const char *balance, const char *want)
{
    struct seen *s =
        see(1,
            "machine: flat-8-zero\nduration: 100ms\nhost: {scheduler: {rr: {slice: 1ms}}}\n"
            "vms: [{name: vm, vcpus: 2, pin: \"0-1\", guest: {policy: \"null\", hz: 1000, "
            "balance: %s}, workload: {tasks: [{name: a, program: [{run: 1s}]}]}}%s]\n",
            balance, rival);
    const int64_t n = counted(s, 1, METRIC_TASK_MIGRATIONS);
    char *end = gantt_vcpu(&s->gantt, 1, 60 * NS_MS, 70 * NS_MS, NS_MS);

    cr_expect_str_eq(end, want, "%s, expected %s", end, want);
    free(end);
    forget(s);
    return n;
}

Test(guest_tick, a_lone_task_leaves_a_stolen_vcpu)
{
    static const char rival[] =
        ", {name: rival, role: background, vcpus: 1, pin: \"0\", guest: {hz: 0}, "
        "workload: {tasks: [{name: h, program: [{run: 10s}]}]}}";

    /* Half of vCPU 0 is stolen, more than 17 %: once, for good. */
    cr_expect_eq(moves(rival, "on", "AAAAAAAAAA"), 1);
    cr_expect_eq(moves("", "on", ".........."), 0);
    cr_expect_eq(moves(rival, "off", ".........."), 0);
}
