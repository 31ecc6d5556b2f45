/* SPDX-License-Identifier: MIT */
/*
 * The kernel's queued spinlocks by hand, native and paravirt, on a machine without costs: who spins for
 * how long and halts, who is kicked, who passes whom; and that no
 * waiter is forgotten, whatever interrupts and preempts it.
 */
#include <criterion/criterion.h>

#include "tests/support/run_text.h"

#define MACHINE                                                                                    \
    "machine: {topology: {sockets: 1, nodes: 1, groups: 1, cores: 4, threads: 1}, mhz: 1000, "     \
    "smt: "                                                                                        \
    "{busy_sibling: 1.0}, power: {active: 1, idle: 0}, cstates: [], costs: {all_zero: on, pause: " \
    "%s%s}}\nallow_cold: true\nduration: %s\n"                                                     \
    "host: {scheduler: {rr: {slice: 1ms}}, placement: float}\n"

#define LOCKS "objects: {locks: {s: {kind: spin, kernel: on}}}, "
#define LOCK  "{lock: s}, "
#define OPEN  "{mark: {open: s}}, "
#define CLOSE "{mark: {close: s}}, "

/* vCPU i of the first VM on pCPU i, and a VM that computes on pCPU 1 from the start on. */
static struct run_values *run_locks(const char *kind, const char *pause, const char *duration,
                                    const char *more, const char *tasks)
{
    char text[8192];

    snprintf(text, sizeof(text),
             MACHINE "vms:\n"
                     "  - {name: vm, vcpus: 4, pin: 0-3, idle: hlt, guest: {hz: 0, spinlock: %s}, "
                     "workload: {" LOCKS "tasks: [%s]}}\n%s",
             pause, "", duration, kind, tasks, more);
    return run_of_text(text, 1, NULL);
}

#define HOG                                                                                        \
    "  - {name: hog, role: background, vcpus: 1, pin: 1, workload: {tasks: [{program: [{loop: "    \
    "{count: forever, body: [{run: 10ms}]}}]}]}}\n"

static double sample(struct run_values *v)
{
    const double us = metric_of(v, 1, METRIC_LATENCY_MAX);

    run_values_free(v);
    return us;
}

static uint64_t counter(const struct run_values *v, const char *name)
{
    for (int i = 0; i < v->ncounters; i++)
        if (strcmp(v->counter[i].name, name) == 0)
            return v->counter[i].n;
    return 0;
}

/* The holder has it from 0 to 100 us, the other one asks at 10: 32768 turns of 1 ns, then it halts. */
static const char two[] = "{vcpu: 0, program: [" LOCK "{run: 100us}, {unlock: s}]}, "
                          "{vcpu: 1, start: 10us, program: [" OPEN LOCK CLOSE "{unlock: s}]}";

Test(spinlock, a_paravirt_waiter_halts_after_its_turns_and_is_kicked)
{
    struct run_values *v = run_locks("paravirt", "1ns", "1ms", "", two);

    cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX), 90, 1e-6);
    cr_expect_float_eq(metric_of(v, 1, METRIC_LOCKSPIN) * 4 * 1000, 32.768, 1e-6);
    cr_expect_eq(counter(v, "spinlock_halts"), 1);
    cr_expect_eq(counter(v, "spinlock_kicks"), 1);
    run_values_free(v);
}

Test(spinlock, other_kinds_spin_on)
{
    const char *const kinds[] = {"native", "unfair"};

    for (int i = 0; i < 2; i++) {
        struct run_values *v = run_locks(kinds[i], "1ns", "1ms", "", two);

        cr_expect_float_eq(metric_of(v, 1, METRIC_LOCKSPIN) * 4 * 1000, 90, 1e-6, "%s", kinds[i]);
        cr_expect_eq(counter(v, "spinlock_halts"), 0, "%s", kinds[i]);
        run_values_free(v);
    }
}

/* Locks that are not the kernel's know nothing of the host. */
Test(spinlock, user_space_does_not_halt)
{
    char text[4096];
    struct run_values *v;

    snprintf(text, sizeof(text),
             MACHINE "vms:\n  - {name: vm, vcpus: 2, pin: 0-1, idle: hlt, guest: {hz: 0, spinlock: "
                     "paravirt}, workload: {objects: {locks: {s: {kind: spin}}}, tasks: [%s]}}\n",
             "1ns", "", "1ms", two);
    v = run_of_text(text, 1, NULL);
    cr_expect_float_eq(metric_of(v, 1, METRIC_LOCKSPIN) * 2 * 1000, 90, 1e-6);
    cr_expect_eq(counter(v, "spinlock_halts"), 0);
    run_values_free(v);
}

/* The lock is held until 60 ms; the first waiter halts at 32.768, and has it for 1 ms; another comes at `start`,
 * and has it after `us`. All spin for `spun` us together. */
static void expect_third(const char *start, double us, double spun, uint64_t halts)
{
    char tasks[1024];
    struct run_values *v;

    snprintf(tasks, sizeof(tasks),
             "{vcpu: 0, program: [" LOCK "{run: 60ms}, {unlock: s}]}, "
             "{vcpu: 2, program: [{run: 1ns}, " LOCK "{run: 1ms}, {unlock: s}]}, "
             "{vcpu: 3, start: %s, program: [" OPEN LOCK CLOSE "{unlock: s}]}",
             start);
    v = run_locks("paravirt", "1us", "100ms", "", tasks);
    cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX), us, 1e-6, "%s", start);
    cr_expect_float_eq(metric_of(v, 1, METRIC_LOCKSPIN) * 4 * 100000, spun, 0.1, "%s", start);
    cr_expect_eq(counter(v, "spinlock_halts"), halts, "%s", start);
    cr_expect_eq(counter(v, "spinlock_kicks"), halts, "%s", start);
    run_values_free(v);
}

/* In line since 20 ms it sees within 256 turns that the first halts. */
Test(spinlock, who_stands_behind_one_that_halts_gives_up_early)
{
    expect_third("20ms", 41000, 32768 + 12768 + 256, 2);
}

/* Who comes while the head halts does not stand behind it: it spins beside the line, and has the lock at 60 ms,
 * when the head is kicked. */
Test(spinlock, a_head_that_halts_is_passed)
{
    expect_third("40ms", 20000, 32768 + 20000, 1);
}

/* The same, but an interrupt at 45 ms lets the head spin again: the second stands in line from then on. */
Test(spinlock, a_head_that_spins_again_stops_who_would_pass)
{
    struct run_values *v =
        run_locks("paravirt", "1us", "100ms", "",
                  "{vcpu: 0, program: [" LOCK "{run: 60ms}, {unlock: s}]}, "
                  "{vcpu: 2, start: 10us, program: [" LOCK "{run: 1ms}, {unlock: s}]}, "
                  "{vcpu: 2, start: 1us, program: [{sleep: 44999us}, {mark: {op: woken}}]}, "
                  "{vcpu: 3, start: 40ms, program: [" OPEN LOCK CLOSE "{unlock: s}]}");

    cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX), 21000, 2);
    cr_expect_eq(counter(v, "spinlock_halts"), 1);
    cr_expect_eq(counter(v, "spinlock_kicks"), 0);
    run_values_free(v);
}

/* vCPU 1 shares its pCPU with a VM that computes: it runs from 1 to 2 ms, and again from 3 on. */
static double passing(const char *kind, const char *others, const char *start)
{
    char tasks[1024];

    snprintf(tasks, sizeof(tasks),
             "%s, {vcpu: 1, start: 200us, program: [" LOCK "{run: 100us}, {unlock: s}]}, "
             "{vcpu: 2, start: %s, program: [" OPEN LOCK CLOSE "{unlock: s}]}",
             others, start);
    return sample(run_locks(kind, "1us", "10ms", HOG, tasks));
}

/* vCPU 1 is first in line from 1 ms on; the lock is free at 2.5, when it is off. It has spun as the first: nobody
 * passes it, not even in a paravirt guest. It has the lock from 3 to 3.1. */
Test(spinlock, a_head_that_was_preempted_is_waited_for)
{
    static const char holder[] = "{vcpu: 0, program: [" LOCK "{run: 2500us}, {unlock: s}]}";
    static const struct {
        const char *start;
        double in_line, unfair;
    } when[] = {{"1500us", 1600, 1000}, {"2200us", 900, 300}, {"2600us", 500, 0}};

    for (int i = 0; i < 3; i++) {
        cr_expect_float_eq(passing("native", holder, when[i].start), when[i].in_line, 0.01);
        cr_expect_float_eq(passing("paravirt", holder, when[i].start), when[i].in_line, 0.01);
        cr_expect_float_eq(passing("unfair", holder, when[i].start), when[i].unfair, 0.01);
    }
}

/* vCPU 3 is first in line, vCPU 1 second. At 2.2 ms vCPU 3 has the lock, and vCPU 1, off its pCPU, becomes the
 * first; the lock is free at 2.5. */
Test(spinlock, a_head_that_has_not_run_since_is_passed)
{
    static const char before[] =
        "{vcpu: 0, program: [" LOCK "{run: 2200us}, {unlock: s}]}, "
        "{vcpu: 3, start: 500us, program: [" LOCK "{run: 300us}, {unlock: s}]}";

    /* Who comes when it is free, and who came since 2.2; who stood in line before. */
    cr_expect_float_eq(passing("native", before, "2600us"), 500, 0.01);
    cr_expect_float_eq(passing("paravirt", before, "2600us"), 0, 0.01);
    cr_expect_float_eq(passing("native", before, "2300us"), 800, 0.01);
    cr_expect_float_eq(passing("paravirt", before, "2300us"), 200, 0.01);
    cr_expect_float_eq(passing("native", before, "1500us"), 1600, 0.01);
    cr_expect_float_eq(passing("paravirt", before, "1500us"), 1600, 0.01);
}

/* Without a price of a turn a waiter halts at once: it still waits for a spinlock. */
Test(spinlock, turns_may_be_free)
{
    struct run_values *v = run_locks("paravirt", "0ns", "1ms", "", two);

    cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX), 90, 0.01);
    cr_expect_eq(counter(v, "spinlock_halts"), 1);
    cr_expect_eq(counter(v, "spinlock_kicks"), 1);
    run_values_free(v);
}

/* A task that sleeps on the CPU that halts: its timer ends the halt at 50 ms, the waiter spins anew, until
 * 82.768, and is kicked at 90. */
Test(spinlock, an_interrupt_ends_a_halt_for_another_spell)
{
    struct run_values *v =
        run_locks("paravirt", "1us", "100ms", "",
                  "{vcpu: 0, program: [" LOCK "{run: 90ms}, {unlock: s}]}, "
                  "{vcpu: 2, start: 1us, program: [{sleep: 49999us}, {mark: {op: woken}}]}, "
                  "{vcpu: 2, start: 10us, program: [" OPEN LOCK CLOSE "{unlock: s}]}");

    cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX), 89990, 0.01);
    cr_expect_float_eq(metric_of(v, 1, METRIC_LOCKSPIN) * 4 * 100000, 2 * 32768, 0.1);
    cr_expect_eq(counter(v, "spinlock_halts"), 2);
    cr_expect_eq(counter(v, "spinlock_kicks"), 1);
    cr_expect_float_eq(metric_of(v, 1, METRIC_OPS), 1, 0);
    run_values_free(v);
}

/* Eight vCPUs on three pCPUs, with all prices: every task gets the lock as often as it asks. */
Test(spinlock, no_waiter_is_forgotten)
{
    static const char *const kinds[] = {"native", "paravirt", "unfair"};
    char text[4096];

    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct run_values *v;

        snprintf(text, sizeof(text),
                 "machine: {base: flat-8, costs: {pause: {value: %dns, source: test}}}\n"
                 "duration: 3s\nallow_cold: true\nhost: {scheduler: %s, tick: 250, balance: on}\n"
                 "vms:\n  - {name: vm, vcpus: 8, pin: \"0-2\", idle: %s, guest: {policy: "
                 "preempted-bit, spinlock: %s}, workload: {" LOCKS
                 "tasks: [{name: t, count: 12, start: {uniform: [0, 1ms]}, program: [{loop: "
                 "{count: 150, body: [{run: {exponential: 60us}}, " LOCK
                 "{run: {exponential: 20us}}, {unlock: s}, {sleep: {exponential: 30us}}, "
                 "{mark: {op: turn}}]}}]}]}}\n",
                 seed % 2 ? 1 : 56, seed % 3 ? "eevdf" : "cfs", seed % 5 ? "halt-poll" : "hlt",
                 kinds[seed / 2 % 3]);
        v = run_of_text(text, seed, NULL);
        cr_expect_float_eq(metric_of(v, 1, METRIC_OPS), 12 * 150, 0, "seed %d", (int)seed);
        if (seed % 2 && seed / 2 % 3 == 1)
            cr_expect_gt(counter(v, "spinlock_halts"), 0, "seed %d", (int)seed);
        run_values_free(v);
    }
}

/* -- who is worth a directed yield -- */

/* vCPU 0 spins for the lock of a task that sleeps, and shares its pCPU with vCPU 1, which computes. */
static uint64_t yields(const char *work)
{
    char text[4096];
    struct run_values *v;
    uint64_t n;

    snprintf(text, sizeof(text),
             "machine: flat-8\nduration: 20ms\nallow_cold: true\n"
             "host: {scheduler: {rr: {slice: 1ms}}, placement: float}\nvms:\n"
             "  - {name: vm, vcpus: 3, pin: \"0\", idle: hlt, guest: {hz: 0}, workload: {" LOCKS
             "tasks: [{vcpu: 2, program: [" LOCK "{sleep: 30ms}, {unlock: s}]}, "
             "{vcpu: 0, start: 10us, program: [" LOCK "{unlock: s}]}, "
             "{vcpu: 1, %sprogram: [{run: 30ms}]}]}}\n",
             work);
    v = run_of_text(text, 1, NULL);
    n = counter(v, "directed_yields");
    run_values_free(v);
    return n;
}

Test(spinlock, work_in_the_kernel_may_hold_what_others_wait_for)
{
    cr_expect_eq(yields(""), 0);
    cr_expect_gt(yields("kernel: on, "), 3);
}

/* -- queues that wake their senders together -- */

/* Room for 8; who finds it full waits until 2 are left, or until the next is taken, at 1 ms. */
Test(spinlock, senders_wake_when_a_queue_is_nearly_empty)
{
    const char *const low[] = {"", ", low: 2"};
    const double first[] = {1000, 6000}, second[] = {2000, 6000};

    for (int i = 0; i < 2; i++) {
        char text[4096];
        struct run_values *v;

        snprintf(text, sizeof(text),
                 MACHINE
                 "vms:\n  - {name: vm, vcpus: 3, pin: 0-2, idle: hlt, guest: {hz: 0}, workload: "
                 "{objects: {queues: {q: {capacity: 8%s}}}, tasks: ["
                 "{vcpu: 0, program: [{loop: {count: 8, body: [{send: q}]}}, " OPEN
                 "{send: q}, " CLOSE "{run: 1us}]}, "
                 "{vcpu: 1, program: [{run: 100us}, " OPEN "{send: q}, " CLOSE "{run: 1us}]}, "
                 "{vcpu: 2, program: [{loop: {count: 10, body: [{run: 1ms}, {recv: q}]}}]}]}}\n",
                 "1ns", "", "20ms", low[i]);
        v = run_of_text(text, 1, NULL);
        cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX),
                           second[i] - (second[i] > first[i] ? 100 : 0), 5, "%d", i);
        cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MEAN), (first[i] + second[i] - 100) / 2,
                           5, "%d", i);
        run_values_free(v);
    }
}
