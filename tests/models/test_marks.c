/* SPDX-License-Identifier: MIT */
/*
 * From when a latency counts, and where interrupts go, on a machine without costs: inherit takes the
 * time at which an interrupt was due, io may have its interrupt on another vCPU, and a mark called
 * `phase` starts the clock of a classifier's reaction.
 */
#include <criterion/criterion.h>

#include "tests/support/run_text.h"

static double value(const char *vms, const char *duration, enum metric_id m)
{
    char text[4096];
    struct run_values *v;
    double x;

    snprintf(text, sizeof(text),
             "machine: duo-zero\nduration: %s\nallow_cold: true\n"
             "host: {scheduler: rr, placement: pinned}\nvms:\n%s",
             duration, vms);
    v = run_of_text(text, 1, NULL);
    x = metric_of(v, 1, m);
    run_values_free(v);
    return x;
}

/* The interrupt is due at 100 us; `hog` has the CPU until 1000; the request is done at 1010. */
Test(marks, inherit_takes_the_time_of_the_interrupt)
{
    static const char *const waits[] = {"io: disk", "sleep: 100us", "timer: 100us"};
    char vms[1000];

    for (int i = 0; i < 3; i++) {
        for (int inherit = 0; inherit < 2; inherit++) {
            snprintf(
                vms, sizeof(vms),
                "  - {name: vm, vcpus: 1, idle: hlt, guest: {scheduler: fifo, hz: 0}, workload: "
                "{objects: {devices: {disk: {depth: 1, service: 100us}}}, tasks: ["
                "{name: a, program: [%s, {mark: {open: r%s}}, {run: 10us}, {mark: {close: r}}, "
                "{sleep: 1s}]}, {name: hog, program: [{run: 1ms}]}]}}\n",
                waits[i][0] == 'i'   ? "{io: disk}"
                : waits[i][0] == 's' ? "{sleep: 100us}"
                                     : "{timer: 100us}",
                inherit ? ", inherit: on" : "");
            cr_expect_float_eq(value(vms, "2ms", METRIC_LATENCY_MAX), inherit ? 910 : 10, 0.01,
                               "%s, inherit %d", waits[i], inherit);
        }
    }
}

/* A timer that has passed when it is asked for did not block: the time it was due counts. */
Test(marks, inherit_takes_the_time_a_late_timer_was_due)
{
    /* Releases at 100, 200, 300 us; runs of 150 us end at 250, 400, 550. */
    cr_expect_float_eq(
        value("  - {name: vm, vcpus: 1, idle: hlt, guest: {hz: 0}, workload: {tasks: [{name: a, "
              "program: [{loop: {count: 3, body: [{timer: 100us}, {mark: {open: r, inherit: on}}, "
              "{run: 150us}, {mark: {close: r}}]}}, {sleep: 1s}]}]}}\n",
              "2ms", METRIC_LATENCY_MAX),
        250, 0.01);
}

/* vCPU 1, busy until 1 ms with one task, takes the interrupt of 100 us; the waiting task is bound to
 * vCPU 0, whose own interrupt would have found it idle. */
Test(marks, an_interrupt_may_go_to_another_vcpu)
{
    static const char vms[] =
        "  - {name: vm, vcpus: 2, idle: hlt, guest: {scheduler: fifo, hz: 0}, workload: {objects: "
        "{devices: {disk: {depth: 1, service: 100us}}}, tasks: [{name: a, vcpu: 0, program: ["
        "{mark: {open: r}}, {io: {device: disk%s}}, {mark: {close: r}}, {sleep: 1s}]}, {name: hog, "
        "vcpu: 1, program: [{run: 1ms}]}]}}\n";
    char text[1000];

    for (int other = 0; other < 2; other++) {
        snprintf(text, sizeof(text), vms, other ? ", irq: 1" : "");
        cr_expect_float_eq(value(text, "2ms", METRIC_LATENCY_MAX), 100, 0.01);
        cr_expect_float_eq(value(text, "2ms", METRIC_IPIS), other ? 1 / 0.002 : 0, 0.01,
                           "vCPU 1 tells vCPU 0");
    }
}

/* Marked at 30 ms: from then on 100 us of work, 100 us of I/O. Windows of 10 ms begin at the first idle
 * entry, at 0.5 ms. That from 20.5 to 30.5 ms has 5 ms of use and 3 operations (30.1, 30.3, 30.5 ms):
 * 600 per second, the first verdict for short slices, 500 us after the mark. */
Test(marks, a_phase_starts_the_clock_of_a_reaction)
{
    static const char vms[] =
        "  - {name: vm, vcpus: 1, idle: {mwait-sched: {classify-slice: on, slice-window: 10ms, "
        "hold: "
        "off}}, guest: {hz: 0}, workload: {objects: {devices: {disk: {depth: 1, service: 100us}}}, "
        "tasks: [{name: a, program: [{loop: {count: 30, body: [{run: 500us}, {sleep: 500us}]}}, "
        "{mark: {op: phase}}, {loop: {count: 1000, body: [{run: 100us}, {io: disk}]}}]}]}}\n";

    cr_expect_float_eq(value(vms, "60ms", METRIC_SLICE_FLIPS), 1 / 0.06, 0.01);
    cr_expect_float_eq(value(vms, "60ms", METRIC_REACTION_MEAN), 500, 0.01);
}
