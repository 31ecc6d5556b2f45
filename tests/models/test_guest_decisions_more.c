/* SPDX-License-Identifier: MIT */
/* Wake-ups, spins and idle plans in corners that once went wrong. Every expectation is derived by hand. */
#include "tests/models/guest_decisions.h"

#define RR "host: {scheduler: {rr: {slice: 1ms}}}\n"

Test(guest_corners, a_polling_vcpu_off_its_pcpu_is_only_stored_to)
{
    /* T's vCPU polls, but a rival has its pCPU from 1 to 2 ms: the waker cannot know and only stores. */
    struct seen *s =
        see(1, "machine: flat-8-zero\nduration: 5ms\n" RR
               "vms: [{name: vm, vcpus: 2, pin: \"0-1\", idle: \"null\", guest: {policy: \"null\", "
               "hz: 0}, "
               "workload: {objects: {locks: {l: {kind: sleep}}}, tasks: [{name: w, vcpu: 0, "
               "program: [{run: "
               "1500us}, {signal: c}, {run: 1s}]}, {name: t, vcpu: 1, program: [{lock: l}, {wait: "
               "{cond: c, "
               "lock: l}}, {unlock: l}, {mark: {op: x}}]}]}}, {name: rival, role: background, "
               "vcpus: 1, pin: "
               "\"1\", guest: {hz: 0}, workload: {tasks: [{name: h, program: [{run: 10s}]}]}}]\n");

    cr_expect_eq(counted(s, 1, METRIC_IPIS), 0);
    expect_ns(marked(s, 1, 0), 2 * NS_MS);
    forget(s);
}

Test(guest_corners, a_lone_sleeper_stays_under_cps_load)
{
    /* An otherwise empty machine: its previous vCPU is idle and its pCPU serves nobody else. */
    struct seen *s =
        see(1, "machine: flat-8\nduration: 100ms\nhost: {scheduler: eevdf}\n"
               "vms: [{name: vm, vcpus: 4, pin: \"0-3\", guest: {policy: cps-load}, workload: "
               "{tasks: [{name: t, program: [{loop: {count: forever, body: [{sleep: 1ms}, {run: "
               "50us}]}}]}]}}]\n");

    cr_expect_eq(counted(s, 1, METRIC_TASK_MIGRATIONS), 0, "%lld moves",
                 (long long)counted(s, 1, METRIC_TASK_MIGRATIONS));
    forget(s);
}
