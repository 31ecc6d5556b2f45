/* SPDX-License-Identifier: MIT */
/*
 * Scans of watched words at hypervisor entries, and stores that a comparison of values does not see,
 * worked out by hand on machines of one to three pCPUs. Prices are in idle_log.h.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/models/idle_log.h"

static void scanned_by(enum idle_set set)
{
    il.plan[1] = il_watch(NS_NEVER);
    il.plan[1].set = set;
    by_hand.scans = true;
    il.shows = SHOW_STATE;
    il.vcpus = 2;
}

/* The work of 9642 waits for an entry into the hypervisor of p1. An empty pCPU has none, with or
 * without a host tick. */
Test(idle_scan, nobody_scans_on_an_empty_pcpu)
{
    struct run_values *v;

    scanned_by(IDLE_SET_PCPU);
    for (int tick = 0; tick < 2; tick++) {
        il.host = tick ? "tick: 10000" : "tick: 0";
        v = il_run_pair("5us", "", "200us");
        want("149 v1 BLOCKED");
        want_that("asleep");
        EXPECT_NS(il_count(v, 0, METRIC_SCANNED), 0);
        EXPECT_NS(il_us(v, 0, METRIC_UNSEEN_MAX), 200000 - 9642);
        EXPECT_NS(il_ns(v, 0, METRIC_UNSEEN, 400000), 200000 - 9642);
        run_values_free(v);
    }
}

#define ANOTHER(n, tasks, objects)                                                                 \
    "  - {name: other, role: background, vcpus: " n ", pin: \"1-2\", idle: hlt, " IL_GUEST         \
    ", workload: {objects: {" objects "}, tasks: [" tasks "]}}\n"

/* v1 waits on p1 for a scan and has work since 9642; v2, on p1 too, enters the hypervisor once after
 * that. This is when v1 is seen. */
static const struct entering {
    const char *what, *host, *others, *line;
} entering[] = {
    {"a timer is programmed", NULL,
     ANOTHER("1", "{vcpu: 0, program: [{run: 10us}, {sleep: 1ms}]}", ""), "v2 exits: timer"},
    {"an operation is submitted", NULL,
     ANOTHER("1", "{vcpu: 0, program: [{run: 10us}, {io: d}]}",
             "devices: {d: {depth: 1, service: 1ms}}"),
     "v2 exits: io"},
    {"a timer of the running vCPU", NULL,
     ANOTHER("1", "{vcpu: 0, program: [{run: 1s}]}, {vcpu: 0, start: 10us, program: [{run: 1us}]}",
             ""),
     "v2 exits: timer"},
    {"a device of the running vCPU", NULL,
     ANOTHER("1", "{vcpu: 0, program: [{io: d}]}, {vcpu: 0, start: 1us, program: [{run: 1s}]}",
             "devices: {d: {depth: 1, service: 10us}}"),
     "v2 exits: irq"},
    {"a pause exit", NULL,
     ANOTHER(
         "2",
         "{vcpu: 0, program: [{run: 10us}, {lock: s}, {unlock: s}]}, {vcpu: 1, program: [{lock: "
         "s}, {run: 1s}, {unlock: s}]}",
         "locks: {s: {kind: spin, kernel: on}}"),
     "v2 exits: pause"},
    {"an IPI", NULL,
     ANOTHER("2", "{vcpu: 0, program: [{run: 10us}, {send: q}]}, {vcpu: 1, program: [{recv: q}]}",
             "queues: {q: {capacity: 1}}"),
     "v2 exits: ipi"},
    {"it goes idle", NULL, ANOTHER("1", "{vcpu: 0, program: [{run: 10us}]}", ""), "v2 exits: idle"},
    {"preemption", NULL, IL_HOG ANOTHER("1", "{program: [{run: 1s}]}", ""), "v3 exits: preempt"},
    {"the host tick", "tick: 10000", IL_HOG, "v2 exits: preempt"},
    {"a timer of a blocked vCPU", NULL, ANOTHER("1", "{vcpu: 0, program: [{sleep: 10us}]}", ""),
     "v2 READY"},
    {"a device of a blocked vCPU", NULL,
     ANOTHER("1", "{vcpu: 0, program: [{io: d}]}", "devices: {d: {depth: 1, service: 10us}}"),
     "v2 READY"},
};

Test(idle_scan, entries_that_scan)
{
    scanned_by(IDLE_SET_PCPU);
    il.npcpus = 3;
    il.vcpus = 2 | 4 | 8;
    il.shows = SHOW_STATE | SHOW_EXIT;
    for (size_t i = 0; i < sizeof(entering) / sizeof(entering[0]); i++) {
        const struct entering *way = &entering[i];
        struct run_values *v;
        ns_t entry, seen;

        il.host = way->host;
        v = il_run_pair("9us", way->others, "60us");
        entry = time_of(way->line, 9642);
        seen = time_of("v1 READY", 9642);
        cr_expect(entry > 9642 && entry == seen, "%s: entry at %d, seen at %d", way->what,
                  (int)entry, (int)seen);
        cr_expect(time_of("v1 on p1", 9642) >= seen);
        il.nhave = 0, il.have[0] = '\0';
        run_values_free(v);
    }
}

/*
 * The host tick of p1, at 50 us, finds the work; v2's slice is over, and the tick has paid its exit.
 *  50000  v1 READY and in: what the tick leaves, 41 and 3 for one element, 13 + 11
 *  50068  mark
 */
Test(idle_scan, price_of_a_scan_at_the_tick)
{
    struct run_values *v;

    scanned_by(IDLE_SET_PCPU);
    il.shows = SHOW_STATE | SHOW_MARK;
    il.host = "tick: 10000";
    v = il_run_pair("5us", IL_HOG, "60us");
    want("149 v1 BLOCKED");
    want("50000 v1 READY");
    want("50000 v1 on p1");
    want("50068 v1 mark");
    want("50075 v1 BLOCKED");
    want_that("tick");
    run_values_free(v);
}

/*
 * An interrupt for v2, which is blocked on p1, wakes p1: C-state 101. One element is compared, 3: v1
 * is READY, and in before v2, 13 + 11.
 */
Test(idle_scan, price_of_a_scan_of_an_empty_pcpu)
{
    struct run_values *v;

    scanned_by(IDLE_SET_PCPU);
    il.npcpus = 3;
    il.vcpus = 2 | 4;
    il.shows = SHOW_STATE | SHOW_MARK;
    v = il_run_pair("5us", ANOTHER("1", "{vcpu: 0, program: [{sleep: 10us}]}", ""), "12us");
    EXPECT_NS(time_of("v1 READY", 9642), time_of("v2 READY", 9642));
    EXPECT_NS(time_of("v1 on p1", 9642), time_of("v2 READY", 9642));
    EXPECT_NS(time_of("v1 mark", 9642), time_of("v2 READY", 9642) + 101 + 3 + 13 + 11);
    run_values_free(v);
}

/*
 * v0 exits on p0 when it goes idle, at 9701. That is an entry for those who wait in the same set: of
 * two nodes with a pCPU each, or of one with two.
 */
Test(idle_scan, sets_of_pcpus)
{
    static const struct {
        enum idle_set set;
        int nodes;
        bool seen;
    } row[] = {{IDLE_SET_PCPU, 1, false},   {IDLE_SET_CORE, 1, false},  {IDLE_SET_GROUP, 1, true},
               {IDLE_SET_GROUP, 2, false},  {IDLE_SET_NODE, 1, true},   {IDLE_SET_NODE, 2, false},
               {IDLE_SET_MACHINE, 1, true}, {IDLE_SET_MACHINE, 2, true}};

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct run_values *v;

        scanned_by(row[i].set);
        il.nodes = row[i].nodes;
        il.npcpus = il.nodes == 1 ? 2 : 1; /* per node */
        v = il_run_pair("5us", "", "12us");
        EXPECT_NS(time_of("v1 READY", 200), row[i].seen ? 9701 : -1);
        EXPECT_NS(il_count(v, 0, METRIC_SCANNED), row[i].seen ? 1 : 0);
        il.nhave = 0, il.have[0] = '\0';
        run_values_free(v);
    }
}

/*
 * One visit of the hypervisor is one scan. v0, v1 and v2 wait on p1 for ever, one after the other, v3
 * works there.
 *      0  v0 in, 142; exit 7
 *    149  v1 in, 13 + 11 + 17; exit at 190: one element, 3, and 7
 *    200  v2 in, 41; exit at 241: two elements, 6, and 7
 *    254  v3 in, 41
 *    295  it works; interrupts at 5000 and 6000: three elements each
 */
Test(idle_scan, one_scan_per_visit)
{
    static const char vms[] =
        "  - {name: vm, vcpus: 3, pin: \"1\", idle: by-hand, " IL_GUEST
        ", workload: {objects: {queues: {q: {capacity: 9}}}, tasks: [{count: 3, name: b, program: "
        "[{recv: q}]}, {name: a, vcpu: 0, start: 1s, program: [{send: q}]}]}}\n"
        "  - {name: hog, role: background, vcpus: 1, pin: \"1\", idle: hlt, " IL_GUEST
        ", workload: {tasks: [{name: h, program: [{run: 1s}]}, {name: t, start: 5us, program: "
        "[{run: "
        "1s}]}, {name: u, start: 6us, program: [{run: 1s}]}]}}\n";
    struct run_values *v;

    scanned_by(IDLE_SET_PCPU);
    il.plan[0] = il.plan[2] = il.plan[1];
    il.from = 1;
    il.vcpus = 15;
    v = il_run(2, IL_PRICES, "scheduler: {rr: {slice: 50us}}, placement: pinned", vms,
               "duration: 10us");
    want("149 v0 BLOCKED");
    want("149 v1 on p1");
    want("200 v1 BLOCKED");
    want("200 v2 on p1");
    want("254 v2 BLOCKED");
    want("254 v3 on p1");
    want_that("scans");
    EXPECT_NS(il_count(v, 1, METRIC_SCANNED), 1 + 2 + 3 + 3);
    EXPECT_NS(il_ns(v, 2, METRIC_GUEST_CPU_VCPU, 10000), 10000 - 295 - 9 - 9);
    run_values_free(v);
}

/* -- stores that stand for no work -- */

/* v0 works until 3000 and then stores to v1's word: the store is done at 3059. A short pulse lasts
 * until 3159, a long one until 3659. */
static const struct poke_case {
    const char *what, *waker;
    int seen_by_value; /* 1: whoever compares later sees it. 2: only while it lasts */
} poke_case[] = {
    {"same", "{run: 2858ns}, {poke: {vcpu: 1, as: same}}, {run: 1s}, {send: q}", 0},
    {"short pulse",
     "{run: 2858ns}, {poke: {vcpu: next, as: pulse, for: 100ns}}, {run: 1s}, {send: q}", 0},
    {"long pulse", "{run: 2858ns}, {poke: {vcpu: 1, as: pulse, for: 600ns}}, {run: 1s}, {send: q}",
     1},
    {"flag", "{run: 2858ns}, {poke: {vcpu: 1, as: flag}}, {run: 1s}, {send: q}", 1},
};
#define POKES (sizeof(poke_case) / sizeof(poke_case[0]))

/* Second plan of v1 at `again` (-1: none) in the same episode, counted as a wake for nothing. */
static void expect_poke(struct run_values *v, const char *what, ns_t again, int missed)
{
    const ns_t first = time_of("enter v1 since 142 ", 0);
    const ns_t second = time_of("enter v1 since 142 ", first + 1);

    cr_expect(first == 142 && second == again, "%s: plans at %d and %d", what, (int)first,
              (int)second);
    cr_expect(il_count(v, 1, METRIC_WAKES_EMPTY) == (again >= 0), "%s: %g empty wakes", what,
              metric_of(v, 1, METRIC_WAKES_EMPTY));
    cr_expect(il_count(v, 1, METRIC_MISSED) == missed, "%s: %d missed, not %d", what,
              (int)il_count(v, 1, METRIC_MISSED), missed);
    cr_expect(il_count(v, 1, METRIC_IDLE_ENTRIES) <= 2, "%s: an episode ended", what);
    forget_log();
    run_values_free(v);
}

/* Hardware sees every store to the line, and needs the C-state's 101. */
Test(idle_scan, pokes_under_hold)
{
    for (size_t i = 0; i < POKES; i++) {
        il.plan[1] = (struct idle_plan){.act = IDLE_HOLD, .until = NS_NEVER};
        il.waker = poke_case[i].waker;
        expect_poke(il_run_pair("5us", "", "4us"), poke_case[i].what, 3160, 0);
    }
}

/* Hardware tells the host: v1 is woken at once, C-state 101, 13 + 11, exit 7. */
Test(idle_scan, pokes_under_a_monitored_watch)
{
    for (size_t i = 0; i < POKES; i++) {
        struct run_values *v;

        il.plan[1] = il_watch(NS_NEVER);
        il.plan[1].monitored = true;
        il.waker = poke_case[i].waker;
        v = il_run_pair("5us", "", "4us");
        EXPECT_NS(time_of("wake v1 by store", 200), 3059);
        EXPECT_NS(time_of("v1 on p1", 200), 3059);
        EXPECT_NS(time_of("v1 BLOCKED", 200), 3059 + 101 + 24 + 7);
        EXPECT_NS(il_count(v, 1, METRIC_LOOKS), 0);
        expect_poke(v, poke_case[i].what, 3059, 0);
    }
}

/* Looks at 1149, 2273 and 3397. What is over by then, or was never a change, is missed. The look that
 * sees something is followed by one 1000 after v1 has gone: 3397 + 124 + 24 + 7 + 1000. */
Test(idle_scan, pokes_under_looks)
{
    for (size_t i = 0; i < POKES; i++) {
        const bool seen = poke_case[i].seen_by_value;
        struct run_values *v;

        il.plan[1] = il.then[1] = il_watch(1000);
        by_hand.expire = il_expire;
        il.waker = poke_case[i].waker;
        v = il_run_pair("5us", "", "5us");
        EXPECT_NS(time_of("expire v1 since 142", 3398), seen ? 4552 : 4521);
        EXPECT_NS(il_count(v, 1, METRIC_LOOKS), 4);
        EXPECT_NS(il_ns(v, 1, METRIC_LOOKS_EMPTY, 4), seen ? 3 : 4);
        expect_poke(v, poke_case[i].what, seen ? 3397 : -1, !seen);
    }
}

/* An interrupt for v2, which is blocked on p1, at 3400: C-state 101, one element, 3; or none. */
Test(idle_scan, pokes_under_scans)
{
    for (size_t i = 0; i < POKES; i++) {
        const bool seen = poke_case[i].seen_by_value;
        struct run_values *v;

        scanned_by(IDLE_SET_PCPU);
        il.shows = SHOW_ALL;
        il.waker = poke_case[i].waker;
        v = il_run_pair(
            "5us",
            "  - {name: other, role: background, vcpus: 1, pin: \"1\", idle: hlt, " IL_GUEST
            ", workload: {tasks: [{program: [{timer: {at: 3400ns}}, {run: 1us}]}]}}\n",
            "4us");
        EXPECT_NS(time_of("wake v1 by scan", 200), seen ? 3400 : -1);
        EXPECT_NS(time_of("v1 on p1", 200), seen ? 3400 : -1);
        expect_poke(v, poke_case[i].what, seen ? 3400 : -1, !seen);
    }
}

/*
 * A guest whose wakers only pulse the word. The work of 9642 is written at 9701; the look of 10141
 * sees it if the pulse lasts 600, not if it lasts 100. Hardware sees both, at once. What was missed
 * sleeps until an interrupt: a timer of v1 at 15000.
 */
Test(idle_scan, a_word_that_is_only_pulsed)
{
    static const char guest[] = "guest: {policy: \"null\", hz: 0, batch: 0, balance: off, "
                                "wakeup-preemption: off, wake-word: pulse, wake-pulse: %dns}";
    static const struct {
        int pulse;
        bool hold;
        const char *tasks;
        int ran, missed;
    } row[] = {
        {600, false, NULL, 10289, 0},
        {100, false, NULL, -1, 1},
        {100, true, NULL, 9802, 0},
        {600, true, NULL, 9802, 0},
        {100, false, ", {name: c, vcpu: 1, start: 15us, program: [{run: 100ns}]}", 15000, 1}};
    char text[300];

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct run_values *v;

        il.plan[1] = il.then[1] =
            row[i].hold ? (struct idle_plan){.act = IDLE_HOLD, .until = NS_NEVER} : il_watch(1000);
        by_hand.expire = il_expire;
        snprintf(text, sizeof(text), guest, row[i].pulse);
        il.guest = text;
        il.tasks = row[i].tasks;
        v = il_run_pair("5us", "", "20us");
        if (row[i].tasks) {
            EXPECT_NS(time_of("wake v1 by timer", 200), 15000);
            EXPECT_NS(il_us(v, 1, METRIC_UNSEEN_MAX), 15000 - 9642);
            cr_expect(time_of("v1 mark", 200) > 15000);
        } else {
            EXPECT_NS(time_of("v1 mark", 200), row[i].ran);
        }
        if (row[i].ran < 0)
            EXPECT_NS(il_us(v, 1, METRIC_UNSEEN_MAX), 20000 - 9642);
        cr_expect(il_count(v, 1, METRIC_MISSED) == row[i].missed, "row %d: %d missed", (int)i,
                  (int)il_count(v, 1, METRIC_MISSED));
        forget_log();
        run_values_free(v);
    }
}
