/* SPDX-License-Identifier: MIT */
/* VMs with NUMA nodes: a vCPU stays in the host's node of its block. */
#include "tests/support/run_text.h"

/* Two VMs that compute on their first, or their last vCPU only, on two nodes of one pCPU. */
static double share(const char *numa, int vcpu)
{
    char text[2048];
    struct run_values *v;
    double s;

    snprintf(text, sizeof(text),
             "machine: {topology: {sockets: 1, nodes: 2, groups: 1, cores: 1, threads: 1}, mhz: "
             "1000, smt: {busy_sibling: 1.0}, power: {active: 1, idle: 0}, cstates: [], costs: "
             "{all_zero: on}}\nallow_cold: true\nduration: 1s\nhost: {scheduler: eevdf, placement: "
             "float}\nvms:\n  - {name: vm, count: 2, vcpus: 2, %sguest: {hz: 0}, workload: {tasks: "
             "[{vcpu: %d, program: [{loop: {count: forever, body: [{run: 1ms}, {mark: {op: "
             "x}}]}}]}]}}\n",
             numa, vcpu);
    v = run_of_text(text, 1, NULL);
    s = metric_of(v, 0, METRIC_THROUGHPUT) / 1000;
    run_values_free(v);
    return s;
}

Test(numa, a_vcpu_stays_in_the_node_of_its_block)
{
    for (int vcpu = 0; vcpu < 2; vcpu++) {
        cr_expect_float_eq(share("", vcpu), 2, 0.01);
        cr_expect_float_eq(share("numa: 2, ", vcpu), 1, 0.01);
    }
    cr_expect_float_eq(share("numa: 1, ", 0), 2, 0.01);
    cr_expect_float_eq(share("numa: 1, pin: \"1\", ", 0), 1, 0.01);
}
