/* SPDX-License-Identifier: MIT */
/*
 * Where a woken task goes (Linux 6.12 fair.c: target, previous, recent, then a scan from the target
 * on). Four vCPUs, each on a pCPU of its own: the waker W (task 0) on vCPU 0 forks T (task 1),
 * which goes to vCPU 1 as the first empty one, and goes to sleep there at time 0.
 */
#include "tests/models/guest_decisions.h"

#define WAIT "{lock: l}, {wait: {cond: c, lock: l}}, {unlock: l}, {mark: {op: x}}"
#define HOG(n, vcpu, start)                                                                        \
    ", {name: h" #n ", vcpu: " #vcpu ", start: " start ", program: [{run: 1s}]}"
/* Was there once, and its vCPU is halted since. */
#define VISIT(n, vcpu) ", {name: v" #n ", vcpu: " #vcpu ", program: [{run: 10us}]}"
/* The host knows of all vCPUs: one that never ran counts as placed on an empty pCPU. */
#define IDLE VISIT(2, 2) VISIT(3, 3)
#define RIVAL(n, pcpu)                                                                             \
    ", {name: r" #n ", role: background, vcpus: 1, pin: \"" #pcpu                                  \
    "\", workload: {tasks: [{name: h, program: [{run: 1s}]}]}}"

struct setting {
    const char *machine, *preempted, *delay; /* defaults: flat-8-zero, runnable-only, 0 */
    const char *guest;                       /* policy and more */
    const char *idle;
    const char *waker, *wakee; /* programs; default: W signals at 5 ms */
    const char *others, *rivals;
};

static struct seen *set(struct setting c)
{
    return see(
        3,
        "machine: %s\nduration: 20ms\nhost: {scheduler: {rr: {slice: 1ms}}, preempted: %s}\n"
        "channel: {delay: %s}\n"
        "vms: [{name: vm, vcpus: 4, pin: \"0-3\", idle: %s, guest: {hz: 0, scheduler: fifo, "
        "policy: %s}, workload: {objects: {locks: {l: {kind: sleep}}, queues: {q: {capacity: "
        "10}}}, tasks: [{name: w, vcpu: 0, program: [{fork: t}, %s]}, {name: t, on_demand: on, "
        "program: [%s]}%s]}}%s]\n",
        c.machine ? c.machine : "flat-8-zero", c.preempted ? c.preempted : "runnable-only",
        c.delay ? c.delay : "0us", c.idle ? c.idle : "hlt", c.guest,
        c.waker ? c.waker : "{run: 5ms}, {signal: c}, {run: 1s}",
        c.wakee ? c.wakee : WAIT ", {run: 1us}", c.others ? c.others : "",
        c.rivals ? c.rivals : "");
}

/* The k-th wake-up of T after its start. */
static void expect_place(struct setting c, int k, int want, int line)
{
    struct seen *s = set(c);

    cr_expect_eq(woken_on(s, 1, 0), 1, "line %d: T starts on vcpu %d", line, woken_on(s, 1, 0));
    cr_expect_eq(woken_on(s, 1, k), want, "line %d: woken on vcpu %d, expected %d", line,
                 woken_on(s, 1, k), want);
    forget(s);
}
#define EXPECT(k, want, ...) expect_place((struct setting){__VA_ARGS__}, k, want, __LINE__)

Test(guest_place, bare_takes_target_previous_recent_then_scans)
{
    EXPECT(1, 1, .guest = "bare");
    /* Not signalled but sent to: the waker is about to sleep, but an idle previous vCPU is better.
     */
    EXPECT(1, 1, .guest = "bare", .waker = "{run: 5ms}, {send: q}, {run: 1s}",
           .wakee = "{recv: q}");
    /* The previous one is busy, and has less load than the waker's: from there on upwards. */
    EXPECT(1, 2, .guest = "bare", .others = HOG(1, 1, "2ms"));
    EXPECT(1, 3, .guest = "bare", .others = HOG(1, 1, "2ms") HOG(2, 2, "2ms"));
    EXPECT(1, 1, .guest = "bare", .others = HOG(1, 1, "2ms") HOG(2, 2, "2ms") HOG(3, 3, "2ms"));
    /* At 3 ms from 1 to 2; at 7 ms 2 is busy, 1 free again and remembered. */
    EXPECT(2, 1, .guest = "bare", .wakee = WAIT ", " WAIT,
           .waker = "{run: 3ms}, {signal: c}, {run: 4ms}, {signal: c}, {run: 1s}",
           .others = ", {name: h1, vcpu: 1, start: 2ms, program: [{run: 2ms}]}" HOG(2, 2, "6ms"));
    /* The same, but 1 is busy again. */
    EXPECT(2, 3, .guest = "bare", .wakee = WAIT ", " WAIT,
           .waker = "{run: 3ms}, {signal: c}, {run: 4ms}, {signal: c}, {run: 1s}",
           .others = HOG(1, 1, "2ms") HOG(2, 2, "6ms"));
    /* Only within the LLC of the target. */
    EXPECT(1, 1, .guest = "bare, llc: 2", .others = HOG(1, 1, "2ms"));
}

Test(guest_place, bare_weighs_the_waker_against_the_previous)
{
    static const char all[] = HOG(1, 1, "1ms") HOG(2, 2, "1ms") HOG(3, 3, "1ms");

    /* Everybody is busy. W has run for 5 ms, the hog on 1 for 4: less load there. */
    EXPECT(1, 1, .guest = "bare", .others = all);
    /* W has slept till now. */
    EXPECT(1, 0, .guest = "bare", .waker = "{sleep: 5ms}, {signal: c}, {run: 1s}", .others = all);
    /* A sender is taken to be about to sleep, and is alone on its vCPU. */
    EXPECT(1, 0, .guest = "bare", .waker = "{run: 5ms}, {send: q}, {run: 1s}", .wakee = "{recv: q}",
           .others = all);
}

Test(guest_place, an_interrupt_wakes_where_its_task_was)
{
    EXPECT(1, 1, .guest = "bare", .wakee = "{sleep: 5ms}");
    EXPECT(1, 2, .guest = "bare", .wakee = "{sleep: 5ms}", .others = HOG(1, 1, "2ms"));
    EXPECT(1, 1, .guest = "\"null\"", .wakee = "{sleep: 5ms}", .others = HOG(1, 1, "2ms"));
    /* Under any-deschedule the interrupted vCPU is the only idle one that is on its pCPU. */
    EXPECT(1, 1, .guest = "preempted-bit", .preempted = "any-deschedule", .wakee = "{sleep: 5ms}",
           .others = VISIT(2, 2) VISIT(3, 3));
}

Test(guest_place, preempted_bit_by_its_two_rules)
{
    static const char halted[] = IDLE HOG(1, 1, "2ms");
    static const char send[] = "{run: 5ms}, {send: q}, {run: 1s}";

    /* Halted vCPUs are off their pCPUs: one rule takes them for preempted, the other for idle. */
    EXPECT(1, 2, .guest = "preempted-bit", .others = halted);
    EXPECT(1, 1, .guest = "preempted-bit", .others = halted, .preempted = "any-deschedule");
    /* Even the idle previous vCPU: a sender keeps T to itself. */
    EXPECT(1, 1, .guest = "preempted-bit", .waker = send, .wakee = "{recv: q}", .others = IDLE);
    EXPECT(1, 0, .guest = "preempted-bit", .waker = send, .wakee = "{recv: q}", .others = IDLE,
           .preempted = "any-deschedule");
    /* An idle vCPU that polls is on its pCPU. */
    EXPECT(1, 2, .guest = "preempted-bit", .others = halted, .preempted = "any-deschedule",
           .idle = "\"null\"");
    /* Without the channel nothing is preempted. */
    EXPECT(1, 2, .guest = "preempted-bit, channel: off", .others = halted,
           .preempted = "any-deschedule");
}

Test(guest_place, a_polling_vcpu_off_its_pcpu_is_preempted)
{
    static const char others[] = IDLE HOG(1, 1, "2ms");
    static const char waker[] = "{run: 5500us}, {signal: c}, {run: 1s}";

    /* The pCPU of vCPU 2 alternates with a rival each ms: from 5 to 6 ms it is the rival's. */
    EXPECT(1, 3, .guest = "preempted-bit", .idle = "\"null\"", .waker = waker, .others = others,
           .rivals = RIVAL(1, 2));
    EXPECT(1, 2, .guest = "bare", .idle = "\"null\"", .waker = waker, .others = others,
           .rivals = RIVAL(1, 2));
    /* From 4 to 5 ms it was its own. */
    EXPECT(1, 2, .guest = "preempted-bit", .idle = "\"null\"",
           .waker = "{run: 4500us}, {signal: c}, {run: 1s}", .others = others,
           .rivals = RIVAL(1, 2));
}

Test(guest_place, idle_bit_wants_an_idle_pcpu)
{
    EXPECT(1, 1, .guest = "idle-bit");
    EXPECT(1, 2, .guest = "idle-bit", .rivals = RIVAL(1, 1));
    EXPECT(1, 3, .guest = "idle-bit", .others = IDLE, .rivals = RIVAL(1, 1) RIVAL(2, 2));
    /* None: as bare. */
    EXPECT(1, 1, .guest = "idle-bit", .others = IDLE,
           .rivals = RIVAL(1, 1) RIVAL(2, 2) RIVAL(3, 3));
    EXPECT(1, 1, .guest = "bare", .rivals = RIVAL(1, 1));
}

Test(guest_place, cps_load_by_the_load_of_the_pcpu)
{
    static const char spinner[] =
        ", {name: s, role: background, vcpus: 1, pin: \"1\", idle: \"null\", "
        "workload: {tasks: [{name: h, program: [{run: 10us}]}]}}";

    EXPECT(1, 1, .guest = "cps-load");
    EXPECT(1, 2, .guest = "cps-load", .rivals = RIVAL(1, 1));
    EXPECT(1, 3, .guest = "cps-load", .others = IDLE, .rivals = RIVAL(1, 1) RIVAL(2, 2));
    /* A vCPU whose guest is idle is no load, but its pCPU is not idle. */
    EXPECT(1, 1, .guest = "cps-load", .rivals = spinner);
    EXPECT(1, 2, .guest = "idle-bit", .rivals = spinner);
    /* Nobody low and idle: stay, or as bare. */
    EXPECT(1, 1, .guest = "cps-load", .others = IDLE HOG(1, 1, "2ms"),
           .rivals = RIVAL(1, 1) RIVAL(2, 2) RIVAL(3, 3));
    EXPECT(1, 2, .guest = "{cps-load: {fallback: bare}}", .others = IDLE HOG(1, 1, "2ms"),
           .rivals = RIVAL(1, 1) RIVAL(2, 2) RIVAL(3, 3));
    /* Below 2 counts as low: of 2 (two tasks) and 3 (one) the latter; 0 and 1 have a rival each. */
    EXPECT(1, 3, .guest = "{cps-load: {threshold: 2}}",
           .others = HOG(1, 1, "1ms") HOG(2, 2, "1ms") HOG(3, 2, "1ms") HOG(4, 3, "1ms"),
           .rivals = RIVAL(1, 0) RIVAL(2, 1));
    /* Without the channel everything is low. */
    EXPECT(1, 1, .guest = "cps-load, channel: off", .rivals = RIVAL(1, 1));
}

Test(guest_place, what_is_published_late_is_seen_late)
{
    static const char late[] = ", {name: r, role: background, vcpus: 1, pin: \"1\", start: 4900us, "
                               "workload: {tasks: [{name: h, program: [{run: 1s}]}]}}";

    EXPECT(1, 2, .guest = "cps-load", .rivals = late);
    EXPECT(1, 2, .guest = "cps-load", .rivals = late, .delay = "100us");
    EXPECT(1, 1, .guest = "cps-load", .rivals = late, .delay = "101us");
    EXPECT(1, 1, .guest = "idle-bit", .rivals = late, .delay = "101us");
}

/* Time from the signal to T's first operation, and to W's next: who wakes pays. */
static void expect_price(struct setting c, ns_t want, int line)
{
    struct seen *s;

    c.machine = "{base: flat-8-zero, costs: {select_base: 1us, select_examine: 100ns, "
                "select_preempted: 30ns, select_load: 7ns}}";
    c.waker = "{run: 5ms}, {mark: {op: y}}, {signal: c}, {mark: {op: y}}, {run: 1s}";
    s = set(c);
    cr_expect_eq(marked(s, 1, 0) - marked(s, 0, 0), want, "line %d: %lld ns, expected %lld", line,
                 (long long)(marked(s, 1, 0) - marked(s, 0, 0)), (long long)want);
    cr_expect_eq(marked(s, 0, 1), marked(s, 1, 0), "line %d: the waker goes on at %lld", line,
                 (long long)marked(s, 0, 1));
    forget(s);
}
#define PRICE(want, ...) expect_price((struct setting){__VA_ARGS__}, want, __LINE__)

Test(guest_place, a_selection_costs_what_it_looks_at)
{
    /* Run queues of waker, previous and (the same) target. */
    PRICE(1000 + 3 * 100, .guest = "bare");
    /* And of 2 and 3. */
    PRICE(1000 + 5 * 100, .guest = "bare", .others = HOG(1, 1, "2ms") HOG(2, 2, "2ms"));
    /* A flag for each that has no task: previous and target. */
    PRICE(1000 + 3 * 100 + 2 * 30, .guest = "preempted-bit");
    /* Previous: its queue and its degree. */
    PRICE(1000 + 100 + 7, .guest = "cps-load");
    /* Previous (high), 0 (busy), 2 (low). */
    PRICE(1000 + 3 * 100 + 2 * 7, .guest = "cps-load", .rivals = RIVAL(1, 1));
    /* No look at anything: no choice, and a flat price. */
    PRICE(1000, .guest = "\"null\"");
    PRICE(103, .guest = "cps-load, equal-selection: on");
}
