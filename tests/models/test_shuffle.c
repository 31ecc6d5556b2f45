/* SPDX-License-Identifier: MIT */
/*
 * host.shuffle on machines without costs: vCPUs move as often as asked and each place is as likely as the
 * next; load stays where it is, and so do pinned vCPUs. That no policy loses anything by it is tested in
 * tests/conformance.
 */
#include <criterion/criterion.h>

#include "obs/trace.h"
#include "tests/support/run_text.h"

/* Four groups of four cores, two nodes: pCPU 0 to 15. */
#define MACHINE                                                                                    \
    "machine: {topology: {sockets: 1, nodes: 2, groups: 2, cores: 4, threads: 1}, mhz: 1000, "     \
    "smt: "                                                                                        \
    "{busy_sibling: 1.0}, power: {active: 1, idle: 0}, cstates: [], costs: {all_zero: on}}\n"      \
    "duration: 1s\nallow_cold: true\n"

#define BUSY                                                                                       \
    "{tasks: [{count: vcpus, vcpu: spread, program: [{loop: {count: forever, body: [{run: "        \
    "1ms}]}}]}]}"

static struct run_values *run_on(const char *shuffle, const char *pool, const char *vms,
                                 struct trace_sink *trace)
{
    char text[4096];

    snprintf(
        text, sizeof(text),
        MACHINE
        "pool: \"%s\"\nhost: {scheduler: rr, placement: {float: {wake: previous, balance: off}}, "
        "shuffle: %s}\nvms:\n%s",
        pool, shuffle, vms);
    return run_of_text(text, 5, trace);
}

static double busy_of(struct run_values *v, int row, int vcpus)
{
    return metric_of(v, row, METRIC_GUEST_CPU_VCPU) * vcpus;
}

/* 16 vCPUs on 16 pCPUs, each has a turn in 10 ms and swaps with another: 2 moves a turn, 1600 turns. */
Test(shuffle, moves_as_often_as_asked)
{
    static const char vms[] =
        "  - {name: vm, vcpus: 16, idle: hlt, guest: {hz: 0}, workload: " BUSY "}\n";
    static const struct {
        const char *shuffle;
        double moves;
    } CASES[] = {
        {"0", 0},
        {"10ms", 3200},
        {"100ms", 320},
        {"10ms, shuffle-scope: group", 3200},
        {"10ms, shuffle-scope: node", 3200},
        {"10ms, shuffle-scope: machine", 3200},
        {"10ms, shuffle-scope: previous", 0}, /* cores with one thread: no other place */
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct run_values *v = run_on(CASES[i].shuffle, "0-15", vms, NULL);

        cr_expect_float_eq(metric_of(v, 1, METRIC_VCPU_MIGRATIONS), CASES[i].moves, 2, "%s: %g",
                           CASES[i].shuffle, metric_of(v, 1, METRIC_VCPU_MIGRATIONS));
        cr_expect_float_eq(metric_of(v, 1, METRIC_GUEST_CPU_PCPU), 1, 1e-9,
                           "%s: every pCPU works all the time", CASES[i].shuffle);
        run_values_free(v);
    }
}

/* Twice as many as pCPUs: two each, before and after. */
Test(shuffle, load_stays_where_it_is)
{
    struct run_values *v =
        run_on("1ms", "0-3",
               "  - {name: vm, vcpus: 8, idle: hlt, guest: {hz: 0}, workload: " BUSY "}\n", NULL);

    cr_expect_float_eq(metric_of(v, 1, METRIC_GUEST_CPU_PCPU), 1, 1e-9);
    cr_expect_gt(metric_of(v, 1, METRIC_VCPU_MIGRATIONS), 1000);
    run_values_free(v);
}

/* Two pinned vCPUs, two floating ones beside them: neither stays without a pCPU, the pinned do not move,
 * the others change places. */
Test(shuffle, nobody_goes_where_nobody_can_give_way)
{
    struct run_values *v = run_on(
        "1ms", "0-3",
        "  - {name: fixed, vcpus: 2, pin: \"0,1\", idle: hlt, guest: {hz: 0}, workload: " BUSY "}\n"
        "  - {name: vm, vcpus: 2, idle: hlt, guest: {hz: 0}, workload: " BUSY "}\n",
        NULL);

    cr_expect_float_eq(busy_of(v, 1, 2), 2, 1e-9, "fixed %g", busy_of(v, 1, 2));
    cr_expect_float_eq(busy_of(v, 2, 2), 2, 1e-9, "floating %g", busy_of(v, 2, 2));
    cr_expect_float_eq(metric_of(v, 1, METRIC_VCPU_MIGRATIONS), 0, 0);
    cr_expect_float_eq(metric_of(v, 2, METRIC_VCPU_MIGRATIONS), 4000, 4);
    run_values_free(v);
}

/* Three that run and one that sleeps, but for 10 us each ms: when it changes places, none of the others
 * comes to wait behind another for long: only when it runs or waits itself, until a next turn. */
Test(shuffle, a_sleeping_vcpu_moves_no_load)
{
    struct run_values *v =
        run_on("1ms", "0-3",
               "  - {name: vm, vcpus: 3, idle: hlt, guest: {hz: 0}, workload: " BUSY "}\n"
               "  - {name: sleeper, vcpus: 1, idle: hlt, guest: {hz: 0}, workload: {tasks: "
               "[{program: [{loop: "
               "{count: forever, body: [{run: 10us}, {sleep: 1ms}]}}]}]}}\n",
               NULL);

    cr_expect_geq(busy_of(v, 1, 3), 2.9, "%g", busy_of(v, 1, 3));
    cr_expect_geq(metric_of(v, 1, METRIC_VCPU_MIGRATIONS), 1000);
    run_values_free(v);
}

/* Each vCPU of its own home only: there is no other place. */
Test(shuffle, gathered_vcpus_stay)
{
    struct run_values *v =
        run_on("1ms, gather: on", "0-3",
               "  - {name: vm, vcpus: 8, idle: hlt, guest: {hz: 0}, workload: " BUSY "}\n", NULL);

    cr_expect_float_eq(metric_of(v, 1, METRIC_VCPU_MIGRATIONS), 0, 0);
    run_values_free(v);
}

/* Entries of each pCPU. */
static int seen[16];

static void note(struct trace_sink *s, const struct trace_record *r)
{
    (void)s;
    if (r->kind == TRACE_VCPU_IN)
        seen[r->a]++;
}

/* A lone vCPU, 10000 moves: to each of the other three with the same chance. Four standard errors of the
 * count of one of four: 4 sqrt(10000 x 1/4 x 3/4). */
Test(shuffle, each_place_has_the_same_chance)
{
    static const char *const scopes[] = {"100us", "100us, shuffle-scope: group"};
    static const char vms[] =
        "  - {name: vm, vcpus: 1, idle: hlt, guest: {hz: 0}, workload: " BUSY "}\n";

    for (int k = 0; k < 2; k++) {
        struct trace_sink sink = {.put = note};

        memset(seen, 0, sizeof(seen));
        run_values_free(run_on(scopes[k], "4-7", vms, &sink));
        for (int i = 0; i < 16; i++)
            cr_expect_float_eq(seen[i], i >= 4 && i < 8 ? 2500 : 0, i >= 4 && i < 8 ? 174 : 0,
                               "%s: pcpu %d %d times", scopes[k], i, seen[i]);
    }
}

Test(shuffle, same_seed_same_moves)
{
    static const char vms[] = "  - {name: vm, vcpus: 12, idle: hlt, guest: {hz: 250}, workload: "
                              "{tasks: [{count: vcpus, program: "
                              "[{loop: {count: forever, body: [{run: {exponential: 1ms}}, {sleep: "
                              "{exponential: 1ms}}]}}]}]}}\n";
    struct run_values *a = run_on("200us", "0-7", vms, NULL),
                      *b = run_on("200us", "0-7", vms, NULL);
    struct run_values *c = run_on("0", "0-7", vms, NULL);

    cr_expect(a->fingerprint == b->fingerprint);
    cr_expect(a->fingerprint != c->fingerprint);
    run_values_free(a);
    run_values_free(b);
    run_values_free(c);
}
