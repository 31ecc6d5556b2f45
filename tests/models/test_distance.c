/* SPDX-License-Identifier: MIT */
/*
 * Cache lines and working sets, by hand: a machine with every distance, on which nothing costs anything
 * but an exchange (own 10, core 20, group 50, node 100, socket 200, machine 400 ns) and a refill. Every run
 * checks besides that times add up.
 *
 * pCPU 0 has 16 as its sibling, 1 in its group, 2 and 3 in its node, 4 to 7 in its socket, 8 to 15 in the
 * other one.
 */
#include <criterion/criterion.h>

#include "tests/support/run_text.h"

#define MACHINE                                                                                    \
    "machine: {topology: {sockets: 2, nodes: 2, groups: 2, cores: 2, threads: 2}, mhz: 1000, "     \
    "smt: {busy_sibling: 1.0}, power: {active: 1, idle: 0}, cstates: [], costs: {all_zero: on, "   \
    "exchange_own: 10ns, exchange_core: 20ns, exchange_group: 50ns, exchange_node: 100ns, "        \
    "exchange_socket: 200ns, exchange_machine: 400ns%s}}\nallow_cold: true\n"

/* A pCPU at each distance from 0, and what an exchange with it takes. */
static const struct {
    const char *name;
    int pcpu, price;
    enum metric_id exchanges;
} FAR[] = {{"core", 16, 20, METRIC_EXCHANGES_CORE},
           {"group", 1, 50, METRIC_EXCHANGES_GROUP},
           {"node", 2, 100, METRIC_EXCHANGES_NODE},
           {"socket", 4, 200, METRIC_EXCHANGES_SOCKET},
           {"machine", 8, 400, METRIC_EXCHANGES_MACHINE}};

#define NFAR ((int)(sizeof(FAR) / sizeof(FAR[0])))

static struct run_values *run_on(const char *costs, const char *duration, const char *host,
                                 const char *rest)
{
    char text[4096];

    snprintf(text, sizeof(text), MACHINE "duration: %s\nhost: {%s}\n%s", costs, duration, host,
             rest);
    return run_of_text(text, 1, NULL);
}

/* -- shared lines -- */

/* Everybody writes line x all the time, one task on each of `n` vCPUs on `pin`, for 10 ms. */
static struct run_values *share(int n, const char *pin)
{
    char vms[1024];

    snprintf(
        vms, sizeof(vms),
        "vms:\n  - {name: vm, vcpus: %d, pin: \"%s\", idle: hlt, guest: {hz: 0}, workload: "
        "{objects: "
        "{lines: {x: {}}}, tasks: [{name: t, count: vcpus, vcpu: spread, program: [{loop: {count: "
        "forever, body: [{share: x}, {mark: {op: done}}]}}]}]}}\n",
        n, pin);
    return run_on("", "10ms", "scheduler: rr, placement: pinned", vms);
}

/* The first write finds the line nowhere, then each exchange takes the price: within 10 ms one more or
 * less for what is under way at the beginning and at the end. */
Test(distance, two_tasks_exchange_as_often_as_the_price_allows)
{
    for (int i = 0; i < NFAR; i++) {
        char pin[16];
        struct run_values *v;
        const double want = 1e9 / FAR[i].price;

        snprintf(pin, sizeof(pin), "0,%d", FAR[i].pcpu);
        v = share(2, pin);
        cr_expect_float_eq(metric_of(v, 1, METRIC_EXCHANGES), want, 3 / 0.01, "%s: %g", FAR[i].name,
                           metric_of(v, 1, METRIC_EXCHANGES));
        cr_expect_float_eq(metric_of(v, 1, FAR[i].exchanges), want, 3 / 0.01, "%s", FAR[i].name);
        cr_expect_float_eq(metric_of(v, 1, METRIC_OPS), want * 0.01, 4, "%s: %g operations",
                           FAR[i].name, metric_of(v, 1, METRIC_OPS));
        /* Both wait all the time but for the first 10 ns. */
        cr_expect_float_eq(metric_of(v, 1, METRIC_EXCHANGE_TIME), 1, 1e-4, "%s", FAR[i].name);
        run_values_free(v);
    }
}

/* In turn: the line goes round. The whole gets one exchange per transfer, in the mean of the ways between
 * neighbours in that turn, and from one vCPU to the next is one n-th of them. */
Test(distance, contenders_take_turns)
{
    static const struct {
        int n;
        const char *pin;
        double round; /* ns for once round all */
    } CASES[] = {
        {3, "0,2,8", 100 + 400 + 400},
        {3, "0,1,2", 50 + 100 + 100},
        {4, "0,1,16,17", 50 + 50 + 50 + 50},
        {8, "0-7", 50 + 100 + 50 + 200 + 50 + 100 + 50 + 200},
    };

    for (int i = 0; i < 4; i++) {
        struct run_values *v = share(CASES[i].n, CASES[i].pin);
        const double want = CASES[i].n * 1e9 / CASES[i].round;

        cr_expect_float_eq(metric_of(v, 1, METRIC_EXCHANGES), want, CASES[i].n * 2 / 0.01,
                           "%s: %g instead of %g", CASES[i].pin, metric_of(v, 1, METRIC_EXCHANGES),
                           want);
        run_values_free(v);
    }
}

/* 2500 turns of 800 ns are 2 ms for each: who got more than its share would be done before. */
Test(distance, shares_of_contenders_are_equal)
{
    struct run_values *v = run_on(
        "", "4ms", "scheduler: rr, placement: pinned",
        "vms:\n  - {name: vm, vcpus: 8, pin: 0-7, idle: hlt, guest: {hz: 0}, workload: {objects: "
        "{lines: {x: {}}}, tasks: [{name: t, count: vcpus, vcpu: spread, program: [{mark: {open: "
        "r}}, {share: {line: x, count: 2500}}, {mark: {close: r}}, {sleep: 1s}]}]}}\n");

    cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX), 2000, 1);
    cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MEAN), 2000, 1);
    run_values_free(v);
}

/* Alone, each write takes the own price and is no exchange. */
Test(distance, alone_it_costs_the_own_price)
{
    struct run_values *v = share(1, "0");

    cr_expect_float_eq(metric_of(v, 1, METRIC_OPS), 10e6 / 10, 1);
    cr_expect_float_eq(metric_of(v, 1, METRIC_EXCHANGES), 0, 0);
    run_values_free(v);
}

/* vCPU 1 shares its pCPU with another VM: half of the time the first has the line for itself. Slices of
 * 1 ms; at each of ten switches 100 ns, in which one would write 10 times, may be lost. */
Test(distance, who_does_not_execute_does_not_ask)
{
    static const char vms[] =
        "vms:\n  - {name: vm, vcpus: 2, pin: \"0,2\", idle: hlt, guest: {hz: 0}, workload: "
        "{objects: {lines: {x: {}}}, tasks: [{name: t, count: vcpus, vcpu: spread, program: "
        "[{loop: {count: forever, body: [{share: x}, {mark: {op: done}}]}}]}]}}\n"
        "  - {name: hog, vcpus: 1, pin: \"2\", idle: hlt, guest: {hz: 0}, workload: {tasks: "
        "[{program: [{loop: {count: forever, body: [{run: 1ms}]}}]}]}}\n";
    struct run_values *v =
        run_on("", "10ms", "scheduler: {rr: {slice: 1ms}}, placement: pinned", vms);

    cr_expect_float_eq(metric_of(v, 1, METRIC_EXCHANGES), 0.5 * 1e9 / 100, 20 / 0.01);
    cr_expect_float_eq(metric_of(v, 1, METRIC_OPS), 5e6 / 100 + 5e6 / 10, 10 * 10);
    run_values_free(v);
}

/* -- locks and queues -- */

/* A latency in ns: `b` runs on vCPU `vcpu`, which is pinned to `pcpu`; `a` on vCPU 0, pinned to 0. */
static double sample(int vcpu, int pcpu, const char *objects, const char *a, const char *b)
{
    char vms[2048];
    struct run_values *v;
    double ns;

    snprintf(vms, sizeof(vms),
             "vms:\n  - {name: vm, vcpus: 2, pin: \"0,%d\", idle: hlt, guest: {hz: 0}, workload: "
             "{objects: {%s}, tasks: [{name: a, vcpu: 0, program: [%s]}, {name: b, vcpu: %d, "
             "start: 1ms, "
             "program: [{mark: {open: r}}, %s, {mark: {close: r}}%s]}]}}\n",
             pcpu, objects, a, vcpu, b, strstr(b, "lock: m") ? ", {unlock: m}" : "");
    v = run_on("", "5ms", "scheduler: rr, placement: pinned", vms);
    ns = metric_of(v, 1, METRIC_LATENCY_MAX) * 1000;
    run_values_free(v);
    return ns;
}

static const char *const LOCKS[] = {"locks: {m: {}}", "locks: {m: {kind: spin}}",
                                    "locks: {m: {kind: spin, fair: on}}",
                                    "locks: {m: {kind: rwsem, spin: owner}}"};

Test(distance, a_free_lock_costs_the_way_of_its_line)
{
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < NFAR; i++)
            cr_expect_float_eq(
                sample(1, FAR[i].pcpu, LOCKS[k], "{lock: m}, {run: 1us}, {unlock: m}", "{lock: m}"),
                FAR[i].price, 0.01, "%s, %s", LOCKS[k], FAR[i].name);
        cr_expect_float_eq(
            sample(0, 1, LOCKS[k], "{lock: m}, {run: 1us}, {unlock: m}", "{lock: m}"), 0, 0.01,
            "%s: it is here already", LOCKS[k]);
        cr_expect_float_eq(sample(1, 8, LOCKS[k], "{run: 1us}", "{lock: m}"), 0, 0.01,
                           "%s: nobody has had it", LOCKS[k]);
    }
}

Test(distance, a_message_costs_the_way_of_its_queue)
{
    for (int i = 0; i < NFAR; i++)
        cr_expect_float_eq(
            sample(1, FAR[i].pcpu, "queues: {q: {capacity: 2}}", "{send: q}", "{recv: q}"),
            FAR[i].price, 0.01, "%s", FAR[i].name);
    cr_expect_float_eq(sample(0, 1, "queues: {q: {capacity: 2}}", "{send: q}", "{recv: q}"), 0,
                       0.01);
}

/* `a` gives the lock back at 1.5 ms, `b` spins from 1 ms on. */
Test(distance, a_spinner_gets_the_lock_after_the_way_of_its_line)
{
    for (int k = 1; k < 4; k++)
        for (int i = 0; i < NFAR; i++)
            cr_expect_float_eq(sample(1, FAR[i].pcpu, LOCKS[k],
                                      "{lock: m}, {run: 1500us}, {unlock: m}", "{lock: m}"),
                               500e3 + FAR[i].price, 0.6, "%s, %s", LOCKS[k], FAR[i].name);
}

/* Spinners of a queued lock have lines of their own; those of a test-and-set lock all ask for the one. */
Test(distance, each_spinner_of_a_test_and_set_lock_takes_an_exchange)
{
    for (int fair = 0; fair < 2; fair++) {
        for (int others = 0; others < 4; others++) {
            char vms[2048];
            struct run_values *v;
            const int askers = fair ? 1 : 1 + others;

            snprintf(
                vms, sizeof(vms),
                "vms:\n  - {name: vm, vcpus: 8, pin: \"0,2,3,4-8\", idle: hlt, guest: {hz: 0}, "
                "workload: {objects: {locks: {m: {kind: spin, fair: %s}}}, tasks: ["
                "{name: a, vcpu: 0, program: [{lock: m}, {run: 500us}, {unlock: m}]}, "
                "{name: b, vcpu: 1, start: 100us, program: [{mark: {open: r}}, {lock: m}, {mark: "
                "{close: r}}, {unlock: m}]}%s%s%s]}}\n",
                fair ? "on" : "off",
                others > 0 ? ", {vcpu: 2, start: 200us, program: [{lock: m}, {unlock: m}]}" : "",
                others > 1 ? ", {vcpu: 3, start: 200us, program: [{lock: m}, {unlock: m}]}" : "",
                others > 2 ? ", {vcpu: 7, start: 200us, program: [{lock: m}, {unlock: m}]}" : "");
            v = run_on("", "5ms", "scheduler: rr, placement: pinned", vms);
            cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX) * 1000, 400e3 + 100 * askers,
                               0.6, "fair %d, %d others: %g", fair, others,
                               metric_of(v, 1, METRIC_LATENCY_MAX) * 1000);
            /* All of them are exchanges and wait for lines: b's, and 50 ns of vCPU 2, which comes last. */
            if (others < 2) {
                cr_expect_float_eq(metric_of(v, 1, METRIC_EXCHANGES) * 0.005, askers + others,
                                   0.01);
                cr_expect_float_eq(metric_of(v, 1, METRIC_EXCHANGE_TIME) * 5e6 * 8,
                                   100 * askers + 50 * others, 0.6);
            }
            run_values_free(v);
        }
    }
}

/* -- working sets -- */

/* 1000 MB/s is 1 byte per ns. */
#define CACHES                                                                                     \
    ", cache_core_kb: 64, cache_group_kb: 256, cache_node_kb: 1024, fill_group: 1000, fill_node: " \
    "500, fill_machine: 250, footprint_kb: 2048, cold_stall: 50"

/* A task that is woken on vCPU 1 because vCPU 0, where it slept, is busy by then: a sample of `run` us of
 * work there. `pin`: of the two vCPUs. `set`: its footprint. */
static double woken_elsewhere(const char *pin, const char *set, int run, bool busy)
{
    char vms[2048];
    struct run_values *v;
    double ns;

    snprintf(
        vms, sizeof(vms),
        "vms:\n  - {name: vm, vcpus: 2, pin: \"%s\", idle: hlt, guest: {hz: 0, balance: off}, "
        "workload: {tasks: [{name: a, %s program: [{run: 1ms}, {sleep: 1ms}, {mark: {open: r}}, "
        "{run: %dus}, {mark: {close: r}}, {sleep: 1s}]}%s]}}\n",
        pin, set, run, busy ? ", {name: hog, vcpu: 0, start: 1500us, program: [{run: 1s}]}" : "");
    v = run_on(CACHES, "50ms", "scheduler: rr, placement: pinned", vms);
    ns = metric_of(v, 1, METRIC_LATENCY_MAX) * 1000;
    run_values_free(v);
    return ns;
}

/* Latencies come from a histogram with bounded relative error, the largest exactly. */
Test(distance, a_moved_task_loses_the_time_of_its_refill)
{
    static const struct {
        const char *pin, *set;
        double bytes, rate;
    } CASES[] = {
        {"0,1", "", 64 * 1024, 1},                     /* leaves the core's cache */
        {"0,1", "footprint: 10KB,", 10 * 1024, 1},     /* the set is smaller */
        {"0,1", "footprint: 0B,", 0, 1},               /* nothing to bring along */
        {"0,2", "", 256 * 1024, 0.5},                  /* and that of the group */
        {"0,2", "footprint: 100KB,", 100 * 1024, 0.5}, /**/
        {"0,4", "", 1024 * 1024, 0.5},                 /* no rate of its own: as a node */
        {"0,8", "footprint: 1MB,", 1024 * 1024, 0.25}, /* no cache of the socket: as the node's */
        {"0,8", "footprint: 4MB,", 1024 * 1024, 0.25}, /**/
        {"0,16", "", 0, 1},                            /* the sibling has the same caches */
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        const double lost = CASES[i].bytes / CASES[i].rate;
        const double got = woken_elsewhere(CASES[i].pin, CASES[i].set, 10000, true);

        cr_expect_float_eq(got, 10e6 + lost, 1, "%s %s: %g lost instead of %g", CASES[i].pin,
                           CASES[i].set, got - 10e6, lost);
    }
    cr_expect_float_eq(woken_elsewhere("0,8", "", 10000, false), 10e6, 1, "it stays");
}

/* 65536 ns are lost at half speed: for the first 131072 ns it gets on half as fast. */
Test(distance, a_cold_task_runs_at_a_part_of_its_speed)
{
    cr_expect_float_eq(woken_elsewhere("0,1", "", 10, true), 20e3, 1);
    cr_expect_float_eq(woken_elsewhere("0,1", "", 65, true), 130e3, 1);
    cr_expect_float_eq(woken_elsewhere("0,1", "", 66, true), 66e3 + 65536, 1);
}

/* One vCPU that the host moves to and fro between two pCPUs, every `every`: its task comes along. */
static struct run_values *carried(const char *every, int pcpu, const char *set)
{
    char host[256], vms[1024];

    snprintf(host, sizeof(host), "scheduler: rr, placement: float, shuffle: %s", every);
    snprintf(vms, sizeof(vms),
             "pool: \"0,%d\"\nvms:\n  - {name: vm, vcpus: 1, idle: hlt, guest: {hz: 0}, workload: "
             "{tasks: [{%s program: "
             "[{loop: {count: forever, body: [{run: 10us}, {mark: {op: done}}]}}]}]}}\n",
             pcpu, set);
    return run_on(CACHES, "100ms", host, vms);
}

/* Moves at 10, 20, ... 90 ms, 65536 ns each, and one at the very end. */
Test(distance, a_task_comes_along_with_its_vcpu)
{
    struct run_values *v = carried("10ms", 1, "");

    cr_expect_float_eq(metric_of(v, 1, METRIC_VCPU_MIGRATIONS), 10 / 0.1, 0.01);
    cr_expect_float_eq(metric_of(v, 1, METRIC_REFILL), 9 * 65536 / 100e6, 1e-9);
    cr_expect_float_eq(metric_of(v, 1, METRIC_OPS), (100e6 - 9 * 65536) / 10e3, 1);
    run_values_free(v);
    v = carried("0", 1, "");
    cr_expect_float_eq(metric_of(v, 1, METRIC_REFILL), 0, 0, "it stays");
    cr_expect_float_eq(metric_of(v, 1, METRIC_OPS), 10000, 1);
    run_values_free(v);
}

/* Half of each 100 us is lost, less than the 131 us that a refill takes at this speed. */
Test(distance, a_task_that_moves_all_the_time_is_never_warm)
{
    struct run_values *v = carried("100us", 1, "");

    /* All but the first 100 us; each settlement may round half a ns up. */
    cr_expect_float_eq(metric_of(v, 1, METRIC_REFILL), 0.5 * 99.9 / 100, 1e-5);
    cr_expect_float_eq(metric_of(v, 1, METRIC_OPS), (100e6 + 100e3) / 2 / 10e3, 2);
    run_values_free(v);
    v = carried("100us", 1, "footprint: 8KB,");
    cr_expect_float_eq(metric_of(v, 1, METRIC_REFILL), 999 * 8192 / 100e6, 1e-5, "warm in between");
    run_values_free(v);
}
