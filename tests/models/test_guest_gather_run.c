/* SPDX-License-Identifier: MIT */
/* Whole runs under the guest policies that gather communication groups. */
#include "tests/models/guest_decisions.h"
#include "tests/support/run_text.h"

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

/* Share of the time, in percent, at which three tasks that hand messages on ran last in one cache
 * group, on a host that moves each of 128 vCPUs every 20 ms; between them tasks without a group. */
#define BETWEEN                                                                                    \
    "program: [{loop: {count: forever, body: [{run: 200us}, {sleep: {exponential: 1ms}}]}}]}"

static int together(const char *policy)
{
    static const int member[] = {0, 61, 92};
    struct seen *s = see(
        1,
        "machine: kunpeng920-128\nduration: 100ms\nhost: {scheduler: eevdf, placement: float, "
        "shuffle: 20ms}\n"
        "vms: [{name: vm, vcpus: 128, guest: {policy: %s, llc: 4}, workload: {objects: {queues: "
        "{q: {capacity: 4}, r: {capacity: 4}, z: {capacity: 4}}}, tasks: ["
        "{name: a, group: 1, program: [{loop: {count: forever, body: [{run: 20us}, {send: q}, "
        "{recv: z}]}}]},"
        "{name: x, count: 60, " BETWEEN ","
        "{name: b, group: 1, program: [{loop: {count: forever, body: [{recv: q}, {run: 15us}, "
        "{send: r}]}}]},"
        "{name: y, count: 30, " BETWEEN ","
        "{name: c, group: 1, program: [{loop: {count: forever, body: [{recv: r}, {run: 10us}, "
        "{send: z}]}}]}"
        "]}}]\n",
        policy);
    int pcpu[128] = {0}, vcpu[3] = {0};
    ns_t together = 0, last = NS_MS * 20;

    for (size_t i = 0; i < s->n; i++) {
        const struct trace_record *r = &s->record[i];
        const int home = pcpu[vcpu[0]] / 4;

        if (r->time > last) {
            if (pcpu[vcpu[1]] / 4 == home && pcpu[vcpu[2]] / 4 == home)
                together += r->time - last;
            last = r->time;
        }
        if (r->kind == TRACE_VCPU_IN)
            pcpu[r->b] = r->a;
        for (int j = 0; r->kind == TRACE_TASK_IN && j < 3; j++)
            if (r->b == member[j])
                vcpu[j] = r->a;
    }
    forget(s);
    return (int)(together * 100 / (80 * NS_MS));
}

Test(guest_gather, a_floating_host_makes_fiction_of_the_guests_llcs)
{
    cr_expect_geq(together("cache-group"), 90);
    cr_expect_geq(together("cps"), 80);
    cr_expect_leq(together("llc-gather"), 20);
}

/* Exchanges per second within the cache group and in all, of four tasks that never block. */
static void never_blocking(const char *policy, const char *shuffle, double *group, double *all)
{
    char text[1024];
    struct run_values *r;

    snprintf(
        text, sizeof(text),
        "machine: kunpeng920-128\nduration: 600ms\nwarmup: 200ms\n"
        "host: {scheduler: cfs, placement: float, start: random, shuffle: %s}\n"
        "vms: [{name: vm, vcpus: 128, guest: {policy: %s}, workload: {objects: {lines: {l: {}}}, "
        "tasks: [{name: t, count: 4, group: 1, program: [{loop: {count: forever, body: "
        "[{share: l}, {run: 3us}, {mark: {op: turn}}]}}]}]}}]\n",
        shuffle, policy);
    r = run_of_text(text, 3, NULL);
    *group = metric_of(r, 0, METRIC_EXCHANGES_GROUP);
    *all = metric_of(r, 0, METRIC_EXCHANGES);
    run_values_free(r);
}

Test(guest_gather, tasks_that_never_block_are_gathered_in_interrupts)
{
    double group, all;

    never_blocking("bare", "0s", &group, &all);
    cr_expect(group < 0.5 * all, "bare: %g of %g", group, all);
    never_blocking("cache-group", "0s", &group, &all);
    cr_expect(group > 0.999 * all, "cache-group: %g of %g", group, all);
    never_blocking("{cache-group: {again: off}}", "100ms", &group, &all);
    cr_expect(group < 0.9 * all, "without again, vCPUs move: %g of %g", group, all);
    never_blocking("cache-group", "100ms", &group, &all);
    cr_expect(group > 0.8 * all, "vCPUs move: %g of %g", group, all);
}
