/* SPDX-License-Identifier: MIT */
/* Whole runs under the guest policies that gather communication groups. */
#include "tests/models/guest_decisions.h"

/* Members A (task 0, vCPU 0) and E (task 4, vCPU 4) start apart; between them B to D without a
 * group. Cache groups of two: 0-1, 2-3, 4-5. */
/* The cache group in which E wakes up for the fifth time. */
static int gathered_on(const char *policy, const char *group)
{
    struct seen *s = see(
        1,
        "machine: {base: flat-8-zero, topology: {sockets: 1, nodes: 1, groups: 4, cores: 2, "
        "threads: 1}}\nduration: 20ms\nhost: {scheduler: rr, placement: pinned}\nvms: [{name: vm, "
        "vcpus: 6, pin: \"0-5\", guest: {policy: %s, llc: 2, hz: 0}, workload: {tasks: [{name: a, "
        "%sprogram: [{loop: {count: forever, body: [{run: 1ms}, {sleep: 10us}]}}]}, {name: b, "
        "count: 3, program: [{run: 10us}]}, {name: e, %sprogram: [{loop: {count: forever, body: "
        "[{run: 300us}, {sleep: 700us}]}}]}]}}]\n",
        policy, group, group);
    const int cpu = woken_on(s, 4, 5);

    /* B keeps vCPU 1 busy when E starts. */
    cr_expect_eq(woken_on(s, 4, 0), 4, "%s: started on %d", policy, woken_on(s, 4, 0));
    forget(s);
    return cpu / 2;
}

Test(guest_gather, a_run_gathers)
{
    static const char *const policy[] = {"cache-group", "cps", "llc-gather"};

    for (int i = 0; i < 3; i++) {
        cr_expect_eq(gathered_on(policy[i], "group: 1, "), 0, "%s", policy[i]);
        cr_expect_eq(gathered_on(policy[i], ""), 2, "%s", policy[i]);
    }
    cr_expect_eq(gathered_on("cache-group, channel: off", "group: 1, "), 2);
    cr_expect_eq(gathered_on("bare", "group: 1, "), 2);
}
