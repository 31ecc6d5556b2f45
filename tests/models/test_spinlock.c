/* SPDX-License-Identifier: MIT */
/*
 * The kernel's queued spinlocks by hand, native and paravirt, on a machine without costs: who spins for
 * how long and halts, who is kicked, who passes a line that nobody heads; and that no
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

/* The first waiter halts at 32.768 ms; the second stands behind it since 20, and looks within 256 turns. */
Test(spinlock, who_stands_behind_one_that_halts_gives_up_early)
{
    struct run_values *v =
        run_locks("paravirt", "1us", "100ms", "",
                  "{vcpu: 0, program: [" LOCK "{run: 60ms}, {unlock: s}]}, "
                  "{vcpu: 2, program: [{run: 1ns}, " LOCK "{run: 1ms}, {unlock: s}]}, "
                  "{vcpu: 3, start: 20ms, program: [" OPEN LOCK CLOSE "{unlock: s}]}");

    cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX), 41000, 1e-6);
    cr_expect_float_eq(metric_of(v, 1, METRIC_LOCKSPIN) * 4 * 100000, 32768 + 13024, 0.1);
    cr_expect_eq(counter(v, "spinlock_halts"), 2);
    cr_expect_eq(counter(v, "spinlock_kicks"), 2);
    run_values_free(v);
}

/* The first waiter halts at 32.768 ms; the second comes at 40, when nobody heads the line, and spins until it
 * may pass. */
Test(spinlock, a_head_that_halts_is_passed)
{
    struct run_values *v =
        run_locks("paravirt", "1us", "100ms", "",
                  "{vcpu: 0, program: [" LOCK "{run: 60ms}, {unlock: s}]}, "
                  "{vcpu: 2, program: [{run: 1ns}, " LOCK "{run: 1ms}, {unlock: s}]}, "
                  "{vcpu: 3, start: 40ms, program: [" OPEN LOCK CLOSE "{unlock: s}]}");

    cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX), 20000, 1e-6);
    cr_expect_float_eq(metric_of(v, 1, METRIC_LOCKSPIN) * 4 * 100000, 32768 + 20000, 0.1);
    cr_expect_eq(counter(v, "spinlock_halts"), 1);
    cr_expect_eq(counter(v, "spinlock_kicks"), 1);
    run_values_free(v);
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

/* The head of the line spins on pCPU 1 from 1 to 2 ms and is off it until 3; the lock is free at 2.5. It is the
 * head's, and others have it after 3.1; by test-and-set, whoever spins has it. */
static double passing(const char *kind, const char *start)
{
    char tasks[1024];

    snprintf(tasks, sizeof(tasks),
             "{vcpu: 0, program: [" LOCK "{run: 2500us}, {unlock: s}]}, "
             "{vcpu: 1, start: 200us, program: [" LOCK "{run: 100us}, {unlock: s}]}, "
             "{vcpu: 2, start: %s, program: [" OPEN LOCK CLOSE "{unlock: s}]}",
             start);
    return sample(run_locks(kind, "1us", "10ms", HOG, tasks));
}

Test(spinlock, a_head_that_spins_is_not_passed_while_it_is_off_its_pcpu)
{
    static const char *const kinds[] = {"native", "paravirt"};

    for (int i = 0; i < 2; i++) {
        cr_expect_float_eq(passing(kinds[i], "2600us"), 500, 0.01, "%s", kinds[i]);
        cr_expect_float_eq(passing(kinds[i], "2200us"), 900, 0.01, "%s", kinds[i]);
        cr_expect_float_eq(passing(kinds[i], "1500us"), 1600, 0.01, "%s", kinds[i]);
    }
    cr_expect_float_eq(passing("unfair", "2600us"), 0, 0.01);
    cr_expect_float_eq(passing("unfair", "1500us"), 1000, 0.01);
}

/* The second in line is off pCPU 1 from 2 to 3 ms and first at 2.3; who comes at 2.35 passes it at 2.4. */
Test(spinlock, one_that_has_not_seen_that_it_is_first_is_passed)
{
    static const char tasks[] =
        "{vcpu: 0, program: [" LOCK "{run: 2300us}, {unlock: s}]}, "
        "{vcpu: 2, start: 100us, program: [" LOCK "{run: 100us}, {unlock: s}]}, "
        "{vcpu: 1, start: 200us, program: [" LOCK "{run: 100us}, {unlock: s}]}, "
        "{vcpu: 3, start: 2350us, program: [" OPEN LOCK CLOSE "{unlock: s}]}";

    cr_expect_float_eq(sample(run_locks("native", "1us", "10ms", HOG, tasks)), 750, 0.01);
    cr_expect_float_eq(sample(run_locks("paravirt", "1us", "10ms", HOG, tasks)), 50, 0.01);
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
