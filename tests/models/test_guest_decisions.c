/* SPDX-License-Identifier: MIT */
/*
 * What a guest decides about its tasks, on machines where nothing but work takes time: order on one
 * vCPU, wake-up preemption, locks, barriers, queues, devices, new-idle balancing.
 */
#include "tests/models/guest_decisions.h"

#define UNI                                                                                        \
    "machine: uni-zero\nduration: 24ms\nhost: {scheduler: \"null\"}\n"                             \
    "vms: [{name: vm, vcpus: 1, pin: \"0\", "

Test(guest_decisions, fifo_runs_to_the_end_or_to_a_yield)
{
    struct seen *s = see(1, UNI "guest: {policy: \"null\", scheduler: fifo, hz: 1000}, workload: "
                                "{tasks: [{name: a, program: [{run: 3ms}]}, {name: b, program: "
                                "[{run: 2ms}]}]}}]\n");

    expect_tasks(s, 0, NS_MS, "AAABB...");
    forget(s);
    /* Each yield sends the task behind the others. */
    s = see(1,
            UNI "guest: {policy: \"null\", scheduler: fifo, hz: 0}, workload: {tasks: [{name: t, "
                "count: 3, program: [{loop: {count: 2, body: [{run: 1ms}, yield]}}]}]}}]\n");
    expect_tasks(s, 0, NS_MS, "ABCABC..");
    forget(s);
}

/* A computes for 8 ms; B comes at `start` and computes for 1 ms. */
static struct seen *comer(const char *sched, const char *start, int hz, const char *preemption)
{
    return see(1,
               UNI
               "guest: {policy: \"null\", scheduler: %s, hz: %d, wakeup-preemption: %s}, workload: "
               "{tasks: [{name: a, program: [{run: 8ms}]}, {name: b, start: %s, program: "
               "[{run: 1ms}]}]}}]\n",
               sched, hz, preemption, start);
}

static void expect_comer(const char *sched, const char *start, int hz, const char *preemption,
                         const char *want)
{
    struct seen *s = comer(sched, start, hz, preemption);

    expect_tasks(s, 0, NS_MS / 2, want);
    forget(s);
}

Test(guest_decisions, a_woken_task_preempts_by_its_lead)
{
    /* CFS on one CPU: a lead of more than 1 ms is needed; at 0.5 ms B leads by 0.5, at 1.5 by 1.5.
     */
    expect_comer("cfs", "500us", 0, "on", "AAAAAAAAAAAAAAAABB..");
    expect_comer("cfs", "1500us", 0, "on", "AAABBAAAAAAAAAAAAA..");
    expect_comer("cfs", "1500us", 0, "off", "AAAAAAAAAAAAAAAABB..");
    /* EEVDF: within its request of 0.7 ms A is protected, beyond it is not. */
    expect_comer("eevdf", "500us", 0, "on", "AAAAAAAAAAAAAAAABB..");
    expect_comer("eevdf", "1500us", 0, "on", "AAABBAAAAAAAAAAAAA..");
    expect_comer("eevdf", "1500us", 0, "off", "AAAAAAAAAAAAAAAABB..");
    expect_comer("fifo", "1500us", 0, "on", "AAAAAAAAAAAAAAAABB..");
}

/* A holds lock l from 0 to 1 ms; B and C want it from 0.1 and 0.2 ms on, for 0.2 ms each. */
#define CONTEND(spec)                                                                              \
    "machine: flat-8-zero\nduration: 10ms\nhost: {scheduler: \"null\"}\nvms: [{name: vm, vcpus: "  \
    "3, "                                                                                          \
    "pin: \"0-2\", guest: {policy: \"null\", hz: 0}, workload: {objects: {locks: {l: " spec        \
    "}}, tasks: [{name: a, vcpu: 0, program: [{lock: l}, {run: 1ms}, {unlock: l}, {mark: {op: "    \
    "x}}]}, "                                                                                      \
    "{name: b, vcpu: 1, start: 100us, program: [{lock: l}, {run: 200us}, {unlock: l}, {mark: "     \
    "{op: "                                                                                        \
    "x}}]}, {name: c, vcpu: 2, start: 200us, program: [{lock: l}, {run: 200us}, {unlock: l}, "     \
    "{mark: "                                                                                      \
    "{op: x}}]}]}}]\n"

Test(guest_decisions, locks_spin_then_block)
{
    struct seen *s = see(1, CONTEND("{kind: sleep, spin: 20us}"));

    /* Each spins for 20 us, blocks, and gets the lock in order of arrival. */
    expect_ns(marked(s, 0, 0), 1000 * NS_US);
    expect_ns(marked(s, 1, 0), 1200 * NS_US);
    expect_ns(marked(s, 2, 0), 1400 * NS_US);
    expect_ns(spent(s, 0, METRIC_LOCKSPIN, 3), 2 * 20 * NS_US);
    /* Waits of 0.9 and 1.0 ms, and C's for B. */
    expect_ns(llround(metric_of(s->values, 0, METRIC_LOCK_WAIT) * 2000),
              900 * NS_US + 1000 * NS_US);
    forget(s);
    /* Long enough, both spin all the time: 0.9 and 1.0 ms. */
    s = see(1, CONTEND("{kind: spin}"));
    expect_ns(marked(s, 2, 0), 1400 * NS_US);
    expect_ns(spent(s, 0, METRIC_LOCKSPIN, 3), 900 * NS_US + 1000 * NS_US);
    forget(s);
    s = see(1, CONTEND("{kind: sleep, spin: 0us}"));
    expect_ns(marked(s, 2, 0), 1400 * NS_US);
    expect_ns(spent(s, 0, METRIC_LOCKSPIN, 3), 0);
    forget(s);
}

/* Four tasks with vCPUs of their own; a wake-up takes 100 us of the waker's vCPU. The last comes at
 * 1 ms. */
#define BARRIER                                                                                    \
    "machine: {base: flat-8-zero, costs: {wake: 100us}}\nduration: 10ms\nhost: {scheduler: "       \
    "\"null\"}\n"                                                                                  \
    "vms: [{name: vm, vcpus: 4, pin: \"0-3\", guest: {policy: \"null\", hz: 0}, workload: "        \
    "{objects: "                                                                                   \
    "{barriers: {b: {parties: 4, %s}}}, tasks: [{name: t, count: 3, vcpu: spread, program: "       \
    "[{barrier: "                                                                                  \
    "b}, {mark: {op: x}}]}, {name: last, vcpu: 3, start: 900us, program: [{barrier: b}, {mark: "   \
    "{op: "                                                                                        \
    "x}}]}]}}]\n"

Test(guest_decisions, a_barrier_wakes_all_or_in_a_chain)
{
    /* The start of `last` is a wake-up too: it arrives at 0.9 + 0.1 ms. */
    struct seen *s = see(1, BARRIER, "wake: all");

    /* One vCPU wakes all: each 100 us later, and its own task goes on after that. */
    expect_ns(marked(s, 0, 0), 1100 * NS_US);
    expect_ns(marked(s, 1, 0), 1200 * NS_US);
    expect_ns(marked(s, 2, 0), 1300 * NS_US);
    expect_ns(marked(s, 3, 0), 1300 * NS_US);
    /* They arrived at 0.1 ms: waits of 0.9 ms, and none for the last. */
    expect_ns(llround(metric_of(s->values, 0, METRIC_BARRIER_WAIT) * 1000 * 4), 3 * 900 * NS_US);
    forget(s);
    /* Each woken one wakes the next before it goes on. */
    s = see(1, BARRIER, "wake: chain");
    expect_ns(marked(s, 3, 0), 1100 * NS_US);
    expect_ns(marked(s, 0, 0), 1200 * NS_US);
    expect_ns(marked(s, 1, 0), 1300 * NS_US);
    expect_ns(marked(s, 2, 0), 1300 * NS_US);
    forget(s);
    /* Spinners need no wake-up. */
    s = see(1, BARRIER, "spin: 10ms");
    for (int t = 0; t < 4; t++)
        expect_ns(marked(s, t, 0), NS_MS);
    expect_ns(spent(s, 0, METRIC_LOCKSPIN, 4), 3 * 900 * NS_US);
    forget(s);
}

Test(guest_decisions, a_bounded_queue_blocks_its_sender)
{
    /* Of five messages two wait in the queue and one is being worked on, 1 ms each: the fourth goes
     * in when the second is taken, at 1 ms. */
    struct seen *s = see(
        1,
        "machine: flat-8-zero\nduration: 10ms\nhost: {scheduler: \"null\"}\nvms: [{name: vm, "
        "vcpus: 2, "
        "pin: \"0-1\", guest: {policy: \"null\", hz: 0}, workload: {objects: {queues: {q: "
        "{capacity: "
        "2}}}, tasks: [{name: in, vcpu: 0, program: [{loop: {count: 5, body: [{send: q}, {mark: "
        "{op: "
        "x}}]}}]}, {name: out, vcpu: 1, program: [{loop: {count: 5, body: [{recv: q}, {run: 1ms}, "
        "{mark: {op: y}}]}}]}]}}]\n");

    for (int k = 0; k < 5; k++) {
        expect_ns(marked(s, 0, k), k < 3 ? 0 : (k - 2) * NS_MS);
        expect_ns(marked(s, 1, k), (k + 1) * NS_MS);
    }
    forget(s);
}

static void expect_device(int depth, const ns_t want[3])
{
    struct seen *s = see(
        1,
        "machine: flat-8-zero\nduration: 10ms\nhost: {scheduler: \"null\"}\nvms: [{name: vm, "
        "vcpus: 3, "
        "pin: \"0-2\", guest: {policy: bare, hz: 0}, workload: {objects: {devices: {d: {depth: %d, "
        "service: 1ms}}}, tasks: [{name: t, count: 3, program: [{io: d}, {mark: {op: x}}]}]}}]\n",
        depth);

    for (int t = 0; t < 3; t++) {
        const struct trace_record *r = nth(s, TRACE_TASK_WAKE, t, 1);

        cr_assert(r);
        /* The interrupt comes to the vCPU that submitted, which wakes the task there. */
        cr_expect_eq(r->c, t, "depth %d: task %d woken by vcpu %d", depth, t, r->c);
        cr_expect_eq(r->a, t, "depth %d: task %d woken on vcpu %d", depth, t, r->a);
        expect_ns(marked(s, t, 0), want[t]);
    }
    forget(s);
}

Test(guest_decisions, a_device_serves_its_depth_at_once)
{
    expect_device(1, (const ns_t[]){NS_MS, 2 * NS_MS, 3 * NS_MS});
    expect_device(2, (const ns_t[]){NS_MS, NS_MS, 2 * NS_MS});
    expect_device(3, (const ns_t[]){NS_MS, NS_MS, NS_MS});
}

/* A and C are stacked on vCPU 0; B on vCPU 1 ends at 1 ms. */
static struct seen *dry(const char *balance, const char *cost)
{
    return see(
        1,
        "machine: flat-8-zero\nduration: 10ms\nhost: {scheduler: \"null\"}\nvms: [{name: vm, "
        "vcpus: 2, pin: \"0-1\", guest: {policy: \"null\", scheduler: fifo, hz: 0, balance: %s, "
        "migration-cost: %s}, workload: {tasks: [{name: a, program: [{run: 5ms}]}, {name: b, "
        "program: [{run: 1ms}]}, {name: c, program: [{run: 2ms}]}]}}]\n",
        balance, cost);
}

Test(guest_decisions, a_vcpu_that_runs_dry_pulls)
{
    struct seen *s = dry("on", "500us");

    expect_tasks(s, 0, NS_MS, "AAAAA...");
    expect_tasks(s, 1, NS_MS, "BCC.....");
    forget(s);
    s = dry("off", "500us");
    expect_tasks(s, 0, NS_MS, "AAAAACC.");
    expect_tasks(s, 1, NS_MS, "B.......");
    forget(s);
    /* Too hot to be moved: it counts as having run at time 0. */
    s = dry("on", "2ms");
    expect_tasks(s, 0, NS_MS, "AAAAACC.");
    forget(s);
}

Test(guest_decisions, a_forked_task_goes_to_the_idlest_vcpu)
{
    /* From vCPU 1 on: 1 runs the parent, 2 a hog; 3 is empty, then everybody has one: the parent's
     * first. */
    struct seen *s = see(
        1, "machine: flat-8-zero\nduration: 10ms\nhost: {scheduler: \"null\"}\nvms: [{name: vm, "
           "vcpus: 4, "
           "pin: \"0-3\", guest: {policy: bare, scheduler: fifo, hz: 0}, workload: {tasks: [{name: "
           "hog, "
           "vcpu: 0, program: [{run: 9ms}]}, {name: parent, vcpu: 1, program: [{run: 1ms}, {fork: "
           "child}, {run: 1ms}, {fork: child}, {run: 1ms}]}, {name: hog2, vcpu: 2, program: [{run: "
           "9ms}]}, {name: child, count: 2, on_demand: on, program: [{run: 3ms}]}]}}]\n");

    cr_expect_eq(woken_on(s, 3, 0), 3);
    cr_expect_eq(woken_on(s, 4, 0), 1);
    expect_tasks(s, 3, NS_MS, ".DDD.....");
    expect_tasks(s, 1, NS_MS, "BBBEEE...");
    forget(s);
}

Test(guest_decisions, a_task_that_ended_is_forked_again)
{
    /* Its time between two lives counts as sleep: the run checks that it adds up. */
    struct seen *s =
        see(1, UNI "guest: {policy: \"null\", scheduler: fifo, hz: 0}, workload: {tasks: [{name: "
                   "parent, program: [{run: 1ms}, {fork: child}, {sleep: 3ms}, {fork: child}]}, "
                   "{name: child, on_demand: on, program: [{run: 1ms}, {mark: {op: x}}]}]}}]\n");

    expect_tasks(s, 0, NS_MS, "AB..B...");
    expect_ns(marked(s, 1, 0), 2 * NS_MS);
    expect_ns(marked(s, 1, 1), 5 * NS_MS);
    forget(s);
}
