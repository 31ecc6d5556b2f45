/* SPDX-License-Identifier: MIT */
/* steal-governor and hiperdispatch in whole runs, where the steal is real. */
#include <math.h>

#include "registry.h"
#include "tests/support/run_text.h"

Test(steal_governor, has_two_names)
{
    cr_expect_not_null(registry_find(POLICY_GUEST, "steal-governor"));
    cr_expect_eq(registry_find(POLICY_GUEST, "paravirt-cpu"),
                 registry_find(POLICY_GUEST, "steal-governor"));
}

/* Whole runs: real steal of two VMs on half the pCPUs each, in every mode, up to the last operation. */
static double ops_with(const char *policy, const char *extra)
{
    char text[2048];
    struct run_values *v;
    double ops;

    snprintf(
        text, sizeof(text),
        "machine: {base: flat-8, topology: {sockets: 1, nodes: 1, groups: 1, cores: 2, "
        "threads: 1}}\nduration: 3s\nallow_cold: true\nhost: {scheduler: eevdf, quota: 20ms}\n"
        "vms: [{name: a, count: 2, vcpus: 4, guest: {policy: %s%s}, workload: {objects: {queues: "
        "{q: {capacity: 1}}, locks: {l: {kind: spin, kernel: on}}, barriers: {b: {parties: 4}}}, "
        "tasks: [{name: t, count: 4, program: [{loop: {count: 500, body: [{run: {exponential: "
        "800us}}, {lock: l}, {run: 5us}, {unlock: l}, {sleep: 50us}, {barrier: b}, {mark: {op: "
        "r}}]}}]}]}}]\n",
        policy, extra);
    v = run_of_text(text, 3, NULL);
    ops = metric_of(v, 0, METRIC_OPS);
    run_values_free(v);
    return ops;
}

Test(steal_governor, real_steal_in_every_mode)
{
    cr_expect_eq(ops_with("{steal-governor: {interval: 100ms}}", ""), 4000);
    cr_expect_eq(ops_with("{steal-governor: {interval: 100ms, mode: floor-steal}}", ""), 4000);
    cr_expect_eq(ops_with("{steal-governor: {interval: 100ms, mode: two-sample}}", ""), 4000);
    cr_expect_eq(ops_with("{steal-governor: {interval: 100ms, mode: told}}", ""), 4000);
    cr_expect_eq(ops_with("{steal-governor: {interval: 100ms, order: even, nodes: 2}}", ""), 4000);
    cr_expect_eq(ops_with("{steal-governor: {interval: 100ms, threads-per-core: 2}}",
                          ", scheduler: cfs, nohz: full"),
                 4000);
    cr_expect_eq(ops_with("{hiperdispatch: {first: 10ms, interval: 10ms, threshold: 10}}", ""),
                 4000);
}

/* The stopper waits until the kernel's spinning lock is released: a holder that is moved behind one who
 * spins for that lock, with preemption off, would never run again. */
Test(steal_governor, evicts_nobody_from_a_spinning_lock)
{
    static const char *const policy[] = {"bare", "{steal-governor: {mode: floor-steal}}",
                                         "steal-governor"};
    double ops[3];
    char text[1024];

    for (int i = 0; i < 3; i++) {
        struct run_values *v;

        snprintf(
            text, sizeof(text),
            "machine: flat-8\nduration: 4s\nwarmup: 1s\npool: \"0-3\"\n"
            "host: {scheduler: eevdf, placement: float, tick: 250}\n"
            "vms: [{name: vm, count: 3, vcpus: 4, guest: {policy: %s}, workload: {objects: "
            "{locks: {l: {kind: spin, kernel: on}}}, tasks: [{name: t, count: 8, program: "
            "[{loop: {count: forever, body: [{run: 20us}, {lock: l}, {run: 20us}, {unlock: l}, "
            "{mark: {op: turn}}]}}]}]}}]\n",
            policy[i]);
        v = run_of_text(text, 1, NULL);
        ops[i] = metric_of(v, 0, METRIC_OPS);
        run_values_free(v);
    }
    cr_expect(ops[1] > ops[0] && ops[2] > ops[0], "bare %g, floor-steal %g, governor %g", ops[0],
              ops[1], ops[2]);
}

/* The time-weighted size of the set, per VM that has one. 4 of 4 vCPUs, then 2. */
Test(steal_governor, preferred_vcpus_are_averaged)
{
    static const char *const policy[] = {"bare", "{steal-governor: {mode: told, interval: 1ms}}"};
    struct run_values *v;
    char text[1024];

    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof(text),
                 "machine: {base: flat-8, topology: {sockets: 1, nodes: 1, groups: 1, cores: 4, "
                 "threads: 1}}\nduration: 1100ms\nwarmup: 100ms\n"
                 "host: {scheduler: eevdf, quota: 10ms}\n"
                 "vms: [{name: a, vcpus: 4, guest: {policy: %s}, workload: cpu-bound}, "
                 "{name: b, vcpus: 4, start: 600ms, workload: cpu-bound}]\n",
                 policy[i]);
        v = run_of_text(text, 1, NULL);
        if (i == 0) {
            cr_expect(isnan(metric_of(v, 0, METRIC_PREFERRED)));
            cr_expect(isnan(metric_of(v, 1, METRIC_PREFERRED)));
        } else {
            cr_expect_float_eq(metric_of(v, 1, METRIC_PREFERRED), 3, 0.05);
            cr_expect(isnan(metric_of(v, 2, METRIC_PREFERRED)), "bare keeps no set");
            cr_expect_eq(metric_of(v, 0, METRIC_PREFERRED), metric_of(v, 1, METRIC_PREFERRED));
        }
        run_values_free(v);
    }
}
