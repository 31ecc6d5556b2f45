/* SPDX-License-Identifier: MIT */
/*
 * What happens to a guest's work when the host takes the pCPU away, and what crosses the boundary.
 * Where nothing else is said, pCPU 0 or 1 alternates each ms between the VM and a rival that
 * computes: the VM has it from 0 to 1 ms, from 2 to 3 ms and so on.
 */
#include "registry.h"
#include "tests/models/guest_decisions.h"

#define RR "host: {scheduler: {rr: {slice: 1ms}}}\n"
#define RIVAL(pcpu)                                                                                \
    "{name: rival, role: background, vcpus: 1, pin: \"" #pcpu                                      \
    "\", guest: {hz: 0}, workload: {tasks: [{name: h, program: [{run: 10s}]}]}}"

Test(guest_levels, a_task_stays_current_while_its_vcpu_is_off)
{
    struct seen *s = see(
        1,
        "machine: uni-zero\nduration: 10ms\n" RR
        "vms: [{name: vm, vcpus: 1, pin: \"0\", guest: {policy: \"null\", scheduler: fifo, hz: 0}, "
        "workload: {tasks: [{name: a, program: [{run: 2ms}]}, {name: b, program: [{run: "
        "1500us}]}]}}, " RIVAL(0) "]\n");

    /* A needs 0 to 1 and 2 to 3; B 4 to 5 and half a ms from 6 on. Then the rival is alone. */
    expect_vcpus(s, 0, NS_MS / 2, "AABBAABBAABBABBBBBBB");
    expect_tasks(s, 0, NS_MS / 2, "AAAAAABBBBBBB.......");
    forget(s);
}

/* W wakes four waiters, each on a vCPU and pCPU of its own, from 0.5 ms on; 0.3 ms for each choice.
 */
Test(guest_levels, a_waker_off_its_pcpu_stalls_the_rest_of_its_list)
{
    static const char text[] =
        "machine: flat-8-zero\nduration: 10ms\n" RR
        "vms: [{name: vm, vcpus: 5, pin: \"0-4\", guest: {policy: bare, hz: 0, equal-selection: "
        "on, "
        "selection-cost: 300us}, workload: {objects: {locks: {l: {kind: sleep}}}, tasks: [{name: "
        "w, "
        "vcpu: 0, program: [{run: 500us}, {broadcast: c}, {mark: {op: x}}]}, {name: t, count: 4, "
        "program: [{lock: l}, {wait: {cond: c, lock: l}}, {unlock: l}, {mark: {op: x}}]}]}}%s]\n";
    /* Alone: 0.8, 1.1, 1.4, 1.7 ms. */
    struct seen *s = see(1, text, "");

    for (int t = 1; t <= 4; t++)
        expect_ns(marked(s, t, 0), 500 * NS_US + t * 300 * NS_US);
    expect_ns(marked(s, 0, 0), 1700 * NS_US);
    forget(s);
    /* The second choice has 0.2 of its 0.3 ms when the rival comes, and all that follow wait for
     * it. */
    s = see(1, text, ", " RIVAL(0));
    expect_ns(marked(s, 1, 0), 800 * NS_US);
    expect_ns(marked(s, 2, 0), 2100 * NS_US);
    expect_ns(marked(s, 3, 0), 2400 * NS_US);
    expect_ns(marked(s, 4, 0), 2700 * NS_US);
    expect_ns(marked(s, 0, 0), 2700 * NS_US);
    forget(s);
}

Test(guest_levels, interrupts_of_a_ready_vcpu_wait_for_its_entry)
{
    static const char text[] =
        "machine: {base: uni-zero, costs: {inject: %s, entry: %s}}\nduration: 10ms\n" RR
        "vms: [{name: vm, vcpus: 1, pin: \"0\", guest: {policy: \"null\", scheduler: cfs, hz: 0}, "
        "workload: {objects: {devices: {d: {depth: 1, service: 1700us}}}, tasks: [{name: s, "
        "program: "
        "[{sleep: 1500us}]}, {name: d, program: [{io: d}]}, {name: h, program: [{run: "
        "9ms}]}]}}, " RIVAL(0) "]\n";
    /* Due at 1.5 and 1.7 ms, taken at 2 ms. */
    struct seen *s = see(1, text, "0us", "0us");

    expect_ns(woken_at(s, 0, 1), 2 * NS_MS);
    expect_ns(woken_at(s, 1, 1), 2 * NS_MS);
    forget(s);
    /* One injection for both, after the entry. */
    s = see(1, text, "10us", "5us");
    expect_ns(woken_at(s, 0, 1), 2015 * NS_US);
    expect_ns(woken_at(s, 1, 1), 2015 * NS_US);
    forget(s);
}

/* A holds the lock till 1.5 ms. B, first in line, is off its pCPU from 1 to 2 ms; C is the second.
 */
static struct seen *waiters(const char *fair)
{
    return see(1,
               "machine: flat-8-zero\nduration: 10ms\n" RR
               "vms: [{name: vm, vcpus: 3, pin: \"0-2\", guest: {policy: \"null\", hz: 0}, "
               "workload: {objects: "
               "{locks: {s: {kind: spin, kernel: on, fair: %s}}}, tasks: [{name: a, vcpu: 0, "
               "program: [{lock: "
               "s}, {run: 1500us}, {unlock: s}]}, {name: b, vcpu: 1, program: [{run: 100us}, "
               "{lock: s}, {run: "
               "100us}, {unlock: s}, {mark: {op: x}}]}, {name: c, vcpu: 2, program: [{run: 200us}, "
               "{lock: s}, "
               "{run: 100us}, {unlock: s}, {mark: {op: x}}]}]}}, " RIVAL(1) "]\n",
               fair);
}

Test(guest_levels, a_fair_lock_is_handed_to_a_waiter_that_is_off)
{
    struct seen *s = waiters("on");

    /* B has it from 1.5 ms on, but works from 2.0 to 2.1. */
    expect_ns(marked(s, 1, 0), 2100 * NS_US);
    expect_ns(marked(s, 2, 0), 2200 * NS_US);
    forget(s);
    s = waiters("off");
    /* Who executes takes it. */
    expect_ns(marked(s, 2, 0), 1600 * NS_US);
    expect_ns(marked(s, 1, 0), 2100 * NS_US);
    forget(s);
}

Test(guest_levels, a_lock_holder_off_its_pcpu_stalls_the_others)
{
    struct seen *s = see(
        1, "machine: flat-8-zero\nduration: 4ms\n" RR
           "vms: [{name: vm, vcpus: 2, pin: \"0-1\", guest: {policy: \"null\", hz: 0}, workload: "
           "{objects: {locks: {s: {kind: spin, kernel: on}}}, tasks: [{name: a, vcpu: 0, program: "
           "[{run: "
           "950us}, {lock: s}, {unlock: s}, {mark: {op: x}}]}, {name: b, vcpu: 1, program: [{run: "
           "900us}, "
           "{lock: s}, {run: 300us}, {unlock: s}]}]}}, " RIVAL(1) "]\n");

    /* B holds it for 0.1 ms, is off for 1 ms, holds it for 0.2 ms more. */
    expect_ns(marked(s, 0, 0), 2200 * NS_US);
    expect_ns(spent(s, 0, METRIC_LOCKSPIN, 2), 1250 * NS_US);
    expect_ns(spent(s, 0, METRIC_HOLDER_PREEMPTED, 1), NS_MS);
    forget(s);
}

/* A holds the lock for 20 ms on vCPU 0, C spins for it on vCPU 1; B and D compute there for 5 ms. */
static struct seen *sections(const char *kernel)
{
    return see(
        1,
        "machine: flat-8-zero\nduration: 60ms\nvms: [{name: vm, vcpus: 2, pin: \"0-1\", guest: "
        "{policy: \"null\", scheduler: eevdf, hz: 1000}, workload: {objects: {locks: {s: {kind: "
        "spin, kernel: %s}}}, tasks: [{name: a, vcpu: 0, program: [{lock: s}, {run: 20ms}, "
        "{mark: {op: x}}, {unlock: s}]}, {name: b, vcpu: 0, start: 10us, program: [{run: 5ms}, "
        "{mark: {op: x}}]}, {name: c, vcpu: 1, start: 10us, program: [{lock: s}, {mark: {op: x}}, "
        "{unlock: s}]}, {name: d, vcpu: 1, start: 20us, program: [{run: 5ms}, {mark: {op: "
        "x}}]}]}}]\n",
        kernel);
}

Test(guest_levels, a_spinning_lock_of_the_kernel_turns_preemption_off)
{
    struct seen *s = sections("on");

    expect_ns(marked(s, 0, 0), 20 * NS_MS);
    expect_ns(marked(s, 1, 0), 25 * NS_MS);
    expect_ns(marked(s, 2, 0), 20 * NS_MS);
    expect_ns(marked(s, 3, 0), 25 * NS_MS);
    forget(s);
    /* User code is preempted, whatever it holds or waits for. */
    s = sections("off");
    expect_ns(marked(s, 0, 0), 25 * NS_MS);
    cr_expect_lt(marked(s, 1, 0), 20 * NS_MS);
    cr_expect_lt(marked(s, 3, 0), 20 * NS_MS);
    forget(s);
}

/* C comes to vCPU 1 while B holds the lock there. */
Test(guest_levels, a_lock_per_vcpu_is_met_on_the_same_vcpu_only)
{
    struct seen *s = see(
        1,
        "machine: flat-8-zero\nduration: 60ms\nvms: [{name: vm, vcpus: 2, pin: \"0-1\", guest: "
        "{policy: \"null\", scheduler: eevdf, hz: 1000}, workload: {objects: {locks: {s: {kind: "
        "spin, fair: off, per: vcpu}}}, tasks: [{name: a, vcpu: 0, program: [{lock: s}, {run: "
        "20ms}, {unlock: s}, {mark: {op: x}}]}, {name: b, vcpu: 1, program: [{lock: s}, {run: "
        "20ms}, {unlock: s}, {mark: {op: x}}]}, {name: c, vcpu: 1, start: 10us, program: [{lock: "
        "s}, {unlock: s}, {mark: {op: x}}]}]}}]\n");
    const ns_t b = marked(s, 1, 0);

    expect_ns(marked(s, 0, 0), 20 * NS_MS);
    /* Whatever C spins, B does later; all that is in its way is C. */
    cr_expect_gt(b, 30 * NS_MS);
    expect_ns(b, 20 * NS_MS + spent(s, 0, METRIC_LOCKSPIN, 2));
    cr_expect_geq(marked(s, 2, 0), b);
    forget(s);
}

/* A takes the lock of vCPU 0, sleeps, and wakes up on vCPU 1, since B spins on vCPU 0. */
Test(guest_levels, a_lock_per_vcpu_stays_with_who_was_moved)
{
    struct seen *s = see(
        1,
        "machine: flat-8-zero\nduration: 10ms\nvms: [{name: vm, vcpus: 2, pin: \"0-1\", guest: "
        "{policy: bare, equal-selection: on, selection-cost: 0us, hz: 0}, workload: {objects: "
        "{locks: {s: {kind: spin, fair: off, per: vcpu}}}, tasks: [{name: a, program: [{lock: s}, "
        "{sleep: 1ms}, {run: 1ms}, {mark: {op: x}}, {unlock: s}]}, {name: b, vcpu: 0, start: "
        "100us, program: [{lock: s}, {mark: {op: x}}, {unlock: s}]}, {name: c, vcpu: 1, start: "
        "100us, program: [{lock: s}, {mark: {op: x}}, {unlock: s}]}]}}]\n");

    expect_ns(marked(s, 0, 0), 2 * NS_MS);
    expect_ns(marked(s, 1, 0), 2 * NS_MS);
    expect_ns(marked(s, 2, 0), 100 * NS_US);
    forget(s);
}

/* B spins for 0.9 ms and a bit. */
static int64_t pause_exits(const char *kernel, int grow)
{
    struct seen *s = see(1,
                         "machine: {base: flat-8-zero, costs: {ple_window: 10us, ple_max: 1s, "
                         "ple_grow: %d}}\nduration: "
                         "4ms\nhost: {scheduler: \"null\"}\nvms: [{name: vm, vcpus: 2, pin: "
                         "\"0-1\", guest: {policy: "
                         "\"null\", hz: 0}, workload: {objects: {locks: {s: {kind: spin, kernel: "
                         "%s}}}, tasks: [{name: a, "
                         "vcpu: 0, program: [{lock: s}, {run: 1005us}, {unlock: s}]}, {name: b, "
                         "vcpu: 1, program: [{run: "
                         "100us}, {lock: s}, {unlock: s}]}]}}]\n",
                         grow, kernel);
    const int64_t n = counted(s, 0, METRIC_EXITS_PAUSE);

    forget(s);
    return n;
}

Test(guest_levels, kernel_spinning_exits_by_a_growing_window)
{
    /* 905 / 10; then after 10, 20, 40, 80, 160, 320 us each: 630 in all, the next would be at 1270.
     */
    cr_expect_eq(pause_exits("on", 1), 90);
    cr_expect_eq(pause_exits("on", 2), 6);
    /* User code is not watched. */
    cr_expect_eq(pause_exits("off", 1), 0);
}

static struct idle_plan hold_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_HOLD, .until = NS_NEVER};
}

/* As a polling loop each of whose turns is an exit (mwait emulated as no-op). */
static struct idle_plan trap_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_SPIN, .until = NS_NEVER, .turn = 1000, .traps = true};
}

static const struct idle_ops hold = {
    .head = {.abi = TANDEM_POLICY_ABI, .name = "t-hold", .summary = "of a test"},
    .enter = hold_enter};
static const struct idle_ops trap = {
    .head = {.abi = TANDEM_POLICY_ABI, .name = "t-trap", .summary = "of a test"},
    .enter = trap_enter};

/* W signals T at 1 ms; T's vCPU is idle. Returns the IPIs; *t, *w: when T and W go on after that.
 */
static int64_t signal_to(const char *idle, ns_t *t, ns_t *w)
{
    struct seen *s = see(
        1,
        "machine: {base: flat-8, costs: {all_zero: on, ipi_send: 500ns, ipi_latency: 40ns, store: "
        "7ns}}\nduration: 4ms\nhost: {scheduler: \"null\"}\nvms: [{name: vm, vcpus: 2, pin: "
        "\"0-1\", "
        "idle: %s, guest: {policy: \"null\", hz: 0, batch: 0us}, workload: {objects: {locks: {l: "
        "{kind: "
        "sleep}}}, tasks: [{name: w, vcpu: 0, program: [{run: 1ms}, {signal: c}, {run: 1us}, "
        "{mark: {op: x}}, "
        "{run: 1s}]}, {name: t, vcpu: 1, program: [{lock: l}, {wait: {cond: c, lock: l}}, {unlock: "
        "l}, "
        "{mark: {op: x}}]}]}}]\n",
        idle);
    /* Each starts 2 us late: its pCPU leaves C1. */
    const ns_t signal = 1002 * NS_US;
    const int64_t n = counted(s, 0, METRIC_IPIS);

    *t = marked(s, 1, 0) - signal;
    *w = marked(s, 0, 0) - signal - NS_US;
    forget(s);
    return n;
}

Test(guest_levels, only_a_blocked_vcpu_is_sent_an_ipi)
{
    char why[200];
    ns_t t, w;

    cr_assert(registry_add(POLICY_IDLE, &hold, why) == NULL, "%s", why);
    /* The waker pays the send; the target's pCPU leaves C1 in 2 us. */
    cr_expect_eq(signal_to("hlt", &t, &w), 1);
    expect_ns(w, 500);
    expect_ns(t, 500 + 40 + 2 * NS_US);
    /* A store, and as long until the poller sees it. */
    cr_expect_eq(signal_to("\"null\"", &t, &w), 0);
    expect_ns(w, 7);
    expect_ns(t, 7);
    /* The same, and the guest's own C-state. */
    cr_expect_eq(signal_to("t-hold", &t, &w), 0);
    expect_ns(w, 7);
    expect_ns(t, 7 + 2 * NS_US);
    /* Polled by the host, the flag is not: an IPI, but no C-state. */
    cr_expect_eq(signal_to("{hlt: {poll: 3ms}}", &t, &w), 1);
    expect_ns(t, 500 + 40);
}

Test(guest_levels, an_interrupt_leaves_the_c_state_too)
{
    char why[200];
    struct seen *s;

    cr_assert(registry_add(POLICY_IDLE, &hold, why) == NULL, "%s", why);
    s = see(
        1,
        "machine: {base: flat-8, costs: {all_zero: on}}\nduration: 5ms\nhost: {scheduler: rr}\n"
        "vms: [{name: vm, vcpus: 1, pin: \"0\", idle: t-hold, guest: {policy: \"null\", hz: 0, "
        "batch: 0us}, workload: {tasks: [{name: t, program: [{sleep: 1ms}, {run: 1us}, {mark: {op: "
        "x}}]}]}}]\n");
    /* C1 takes 2 us to leave: the host's at the start, the guest's after the timer. */
    expect_ns(marked(s, 0, 0), (2 + 1000 + 2 + 1) * NS_US);
    forget(s);
}

/* Turns of 1 us by a guest that works from 0 to 1 ms, idles and may work again; and its idle spin.
 */
static void expect_turns(const char *warmup, const char *then, const char *rival, ns_t spin)
{
    struct seen *s =
        see(1,
            "machine: flat-8-zero\nduration: 10ms\nwarmup: %s\n" RR
            "vms: [{name: vm, vcpus: 1, pin: \"0\", idle: t-trap, guest: {policy: \"null\", "
            "hz: 0}, workload: {tasks: [{name: t, program: [{run: 1ms}%s]}]}}%s]\n",
            warmup, then, rival);

    expect_ns(spent(s, 1, METRIC_IDLESPIN, 1), spin);
    cr_expect_eq(counted(s, 1, METRIC_EXITS_IDLE), spin / NS_US, "%lld exits, expected %lld",
                 (long long)counted(s, 1, METRIC_EXITS_IDLE), (long long)(spin / NS_US));
    forget(s);
}

Test(guest_levels, trapped_turns_are_counted_by_the_time_spun)
{
    char why[200];

    cr_assert(registry_add(POLICY_IDLE, &trap, why) == NULL, "%s", why);
    expect_turns("0s", ", {sleep: 7ms}, {run: 10ms}", "", 7 * NS_MS);
    /* Still spinning at the end, and at the end of warm-up. */
    expect_turns("0s", "", "", 9 * NS_MS);
    expect_turns("5ms", ", {sleep: 4ms}, {run: 3ms}, {sleep: 5ms}", "", 2 * NS_MS);
    expect_turns("5ms", "", "", 5 * NS_MS);
    /* Only 2 to 3, 4 to 5 ... ms are its own. */
    expect_turns("0s", "", ", " RIVAL(0), 4 * NS_MS);
}

Test(guest_levels, halt_polling_ends_for_a_rival)
{
    static const char text[] =
        "machine: uni-zero\nduration: 10ms\n" RR "vms: [{name: vm, vcpus: 1, pin: \"0\", idle: "
        "{hlt: {poll: 500us}}, guest: {hz: 0}, workload: "
        "{tasks: [{name: a, program: [{run: 1ms}%s]}]}}%s]\n";
    static const char rival[] =
        ", {name: rival, role: background, vcpus: 1, pin: \"0\", start: 1200us, "
        "guest: {hz: 0}, workload: {tasks: [{name: b, program: [{run: 1ms}]}]}}";
    struct seen *s = see(1, text, "", "");

    expect_vcpus(s, 0, 100 * NS_US, "AAAAAAAAAAAAAAA..........");
    expect_ns(spent(s, 1, METRIC_IDLESPIN, 1), 500 * NS_US);
    forget(s);
    s = see(1, text, "", rival);
    expect_vcpus(s, 0, 100 * NS_US, "AAAAAAAAAAAABBBBBBBBBB...");
    expect_ns(spent(s, 1, METRIC_IDLESPIN, 1), 200 * NS_US);
    forget(s);
    /* An event within the window: the pCPU is never left, one exit per halt. */
    s = see(1, text, ", {sleep: 300us}, {run: 1ms}", "");
    expect_vcpus(s, 0, 100 * NS_US, "AAAAAAAAAAAAAAAAAAAAAAAAAAAA.");
    expect_ns(spent(s, 1, METRIC_IDLESPIN, 1), 800 * NS_US);
    cr_expect_eq(counted(s, 1, METRIC_EXITS_IDLE), 2);
    cr_expect_eq(counted(s, 1, METRIC_VCPU_SWITCHES), 1);
    forget(s);
}

Test(guest_levels, steal_is_the_wait_in_the_run_queue)
{
    /* Alternating each ms: half the time each. */
    struct seen *s =
        see(1, "machine: uni-zero\nduration: 10ms\n" RR "vms: [{name: vm, count: 2, vcpus: 1, "
               "pin: \"0\", guest: {hz: 0}, workload: {tasks: [{name: h, program: [{run: "
               "10s}]}]}}]\n");

    for (int vm = 1; vm <= 2; vm++) {
        expect_ns(spent(s, vm, METRIC_STEAL_TIME, 1), 5 * NS_MS);
        expect_ns(spent(s, vm, METRIC_STEAL_WANTED, 1), 5 * NS_MS);
        expect_ns(ready_time(s, vm - 1, 10 * NS_MS), 5 * NS_MS);
    }
    cr_expect_eq(metric_of(s->values, 0, METRIC_STEAL_RATIO), 0.5);
    forget(s);
    /* One to one there is none. */
    s = see(
        1,
        "machine: flat-8-zero\nduration: 10ms\n" RR
        "vms: [{name: vm, count: 2, vcpus: 4, guest: {hz: 0}, workload: {tasks: [{name: h, count: "
        "vcpus, program: [{loop: {count: forever, body: [{run: 300us}, {sleep: 100us}]}}]}]}}]\n");
    expect_ns(spent(s, 0, METRIC_STEAL_TIME, 8), 0);
    expect_ns(spent(s, 0, METRIC_STEAL_GOVERNOR, 8), 0);
    forget(s);
    /* From the end of warm-up on: A has 0 to 4 and 8 to 10 ms; of B's wait 1.5 to 4 and 8 to 10
     * count. */
    s = see(
        1,
        "machine: uni-zero\nduration: 10ms\nwarmup: 1500us\nhost: {scheduler: {rr: {slice: 4ms}}}\n"
        "vms: [{name: vm, count: 2, vcpus: 1, pin: \"0\", guest: {hz: 0}, workload: {tasks: "
        "[{name: "
        "h, program: [{run: 10s}]}]}}]\n");
    expect_ns(spent(s, 1, METRIC_STEAL_TIME, 1), 4 * NS_MS);
    expect_ns(spent(s, 2, METRIC_STEAL_TIME, 1), 4500 * NS_US);
    cr_expect(metric_of(s->values, 2, METRIC_STEAL_TIME) < 1);
    forget(s);
}

/* What a guest read of its steal, and when. */
static struct {
    ns_t at, steal;
} read_at[1000];
static int nread;

static int reading_select(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    (void)t;
    (void)waker;
    (void)flags;
    if (nread < 1000) {
        read_at[nread].at = guest_now(k);
        read_at[nread++].steal = guest_steal(k, 0);
    }
    return prev;
}

static const struct guest_ops reader = {
    .head = {.abi = TANDEM_POLICY_ABI, .name = "t-reader", .summary = "of a test"},
    .facts = FACT_STEAL,
    .select = reading_select};

/* When the vCPU entered last, at `at` or before. */
static ns_t last_entry(const struct seen *s, int vcpu, ns_t at)
{
    ns_t entry = 0;

    for (size_t i = 0; i < s->n && s->record[i].time <= at; i++)
        if (s->record[i].kind == TRACE_VCPU_IN && s->record[i].b == vcpu)
            entry = s->record[i].time;
    return entry;
}

Test(guest_levels, published_steal_is_that_of_the_last_entry)
{
    char why[200];
    struct seen *s;
    ns_t before = 0;

    cr_assert(registry_add(POLICY_GUEST, &reader, why) == NULL, "%s", why);
    /* vCPU 0 is contended; a task on vCPU 1 wakes one there now and then, also while vCPU 0 is off.
     */
    s = see(
        5,
        "machine: flat-8\nduration: 100ms\n" RR
        "vms: [{name: vm, vcpus: 2, pin: \"0-1\", guest: {policy: t-reader, hz: 0}, workload: "
        "{objects: {queues: {q: {capacity: 1000}}}, tasks: [{name: t, program: [{loop: {count: "
        "forever, body: [{recv: q}, {run: 50us}]}}]}, {name: w, vcpu: 1, program: [{loop: {count: "
        "forever, body: [{sleep: {exponential: 300us}}, {send: q}]}}]}, {name: h, vcpu: 0, "
        "program: "
        "[{run: 10s}]}]}}, " RIVAL(0) "]\n");
    cr_expect(nread > 50, "%d reads", nread);
    for (int i = 0; i < nread; i++) {
        const ns_t entry = last_entry(s, 0, read_at[i].at);

        cr_expect(read_at[i].steal >= before, "at %lld ns: steal went back",
                  (long long)read_at[i].at);
        cr_expect(read_at[i].steal == ready_time(s, 0, entry),
                  "at %lld ns, entered at %lld: %lld ns of steal, expected %lld",
                  (long long)read_at[i].at, (long long)entry, (long long)read_at[i].steal,
                  (long long)ready_time(s, 0, entry));
        before = read_at[i].steal;
    }
    cr_expect(before > 40 * NS_MS, "%lld ns of steal at the end", (long long)before);
    forget(s);
}

/* W works for 1 ms beside a sibling thread that executes the given program. */
static ns_t beside(const char *sibling, const char *idle)
{
    struct seen *s = see(1,
                         "machine: {base: flat-8-zero, topology: {sockets: 1, nodes: 1, groups: 1, "
                         "cores: 1, threads: 2}, "
                         "smt: {busy_sibling: 0.5}}\nduration: 10ms\nhost: {scheduler: "
                         "\"null\"}\nvms: [{name: vm, vcpus: "
                         "1, pin: \"0\", guest: {hz: 0}, workload: {tasks: [{name: w, program: "
                         "[{run: 1ms}, {mark: {op: "
                         "x}}]}]}}, {name: sibling, role: background, vcpus: 1, pin: \"1\", idle: "
                         "%s, guest: {hz: 0}, "
                         "workload: {tasks: [{name: s, program: [%s]}]}}]\n",
                         idle, sibling);
    const ns_t at = marked(s, 0, 0);

    forget(s);
    return at;
}

Test(guest_levels, a_busy_sibling_halves_the_speed)
{
    expect_ns(beside("{run: 1s}", "hlt"), 2 * NS_MS);
    /* A quarter of the work in the first half ms, the rest at full speed. */
    expect_ns(beside("{spin: 500us}", "hlt"), 1250 * NS_US);
    /* Polling counts as executing. */
    expect_ns(beside("{spin: 500us}", "\"null\""), 2 * NS_MS);
    expect_ns(beside("{sleep: 5ms}", "hlt"), NS_MS);
    /* From 0.4 ms on: 0.4, then the remaining 0.6 at half speed. */
    expect_ns(beside("{sleep: 400us}, {run: 1s}", "hlt"), 1600 * NS_US);
}
