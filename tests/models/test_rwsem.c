/* SPDX-License-Identifier: MIT */
/*
 * rwsem and optimistic spinning by hand, on a machine without costs: who has the lock when, who spins
 * and who blocks, the hand-over after 4 ms; and that no wake-up is lost, whatever tasks do.
 */
#include <criterion/criterion.h>

#include "engine/rng.h"
#include "tests/support/run_text.h"

#define MACHINE                                                                                    \
    "machine: {topology: {sockets: 1, nodes: 1, groups: 1, cores: 8, threads: 1}, mhz: 1000, "     \
    "smt: "                                                                                        \
    "{busy_sibling: 1.0}, power: {active: 1, idle: 0}, cstates: [], costs: {all_zero: on%s}}\n"    \
    "allow_cold: true\n"

#define RWSEM "objects: {locks: {r: {kind: rwsem%s}}}, "

/* One task per vCPU, each on a pCPU of its own; `rest` stands behind: more VMs. */
static struct run_values *run_priced(const char *costs, const char *spin, const char *tasks,
                                     const char *guest, const char *host, const char *rest)
{
    char text[8192];

    snprintf(text, sizeof(text),
             MACHINE
             "duration: 100ms\nhost: {%s}\nvms:\n  - {name: vm, vcpus: 6, pin: 0-5, idle: hlt, "
             "guest: {hz: 0%s}, workload: {" RWSEM "tasks: [%s]}}\n%s",
             costs, host, guest, spin, tasks, rest);
    return run_of_text(text, 1, NULL);
}

static struct run_values *run_tasks(const char *spin, const char *tasks, const char *guest,
                                    const char *host, const char *rest)
{
    return run_priced("", spin, tasks, guest, host, rest);
}

static double metric(const char *spin, const char *tasks, enum metric_id m)
{
    struct run_values *v = run_tasks(spin, tasks, "", "scheduler: rr, placement: pinned", "");
    const double x = metric_of(v, 1, m);

    run_values_free(v);
    return x;
}

/* The only sample of a run, in us. */
#define SAMPLE(spin, tasks) metric(spin, tasks, METRIC_LATENCY_MAX)

#define READ        "{lock: {lock: r, mode: read}}"
#define OPEN        "{mark: {open: s}}"
#define CLOSE       "{mark: {close: s}}"
#define TASK(n, at) "{vcpu: " #n ", start: " #at "us, program: ["
#define END         "]}"

Test(rwsem, readers_share)
{
    /* Three readers of 100 us, 10 us after one another: the last waits for none of them. */
    cr_expect_float_eq(SAMPLE("", TASK(0, 0) READ ", {run: 100us}, {unlock: r}" END ", " TASK(1, 10)
                                      READ ", {run: 100us}, {unlock: r}" END ", " TASK(2, 20) OPEN
                              ", " READ ", {run: 100us}, "
                              "{unlock: r}, " CLOSE END),
                       100, 0.01);
}

Test(rwsem, a_writer_waits_for_the_last_reader_and_excludes)
{
    static const char two[] = TASK(0, 0) READ ", {run: 100us}, {unlock: r}" END ", " TASK(1, 0) READ
        ", {run: 300us}, {unlock: r}" END ", ";
    char tasks[2048];

    /* Readers until 300; it blocks at 10. */
    snprintf(tasks, sizeof(tasks),
             "%s" TASK(2, 10) OPEN ", {lock: r}, " CLOSE ", {run: 50us}, {unlock: r}" END, two);
    cr_expect_float_eq(SAMPLE("", tasks), 290, 0.01);
    /* A writer has it until 350, and a reader and a writer wait for that. */
    for (int read = 0; read < 2; read++) {
        snprintf(tasks, sizeof(tasks),
                 "%s" TASK(2, 10) "{lock: r}, {run: 50us}, {unlock: r}" END ", " TASK(3, 310) OPEN
                 ", %s, " CLOSE ", {unlock: r}" END,
                 two, read ? READ : "{lock: r}");
        cr_expect_float_eq(SAMPLE("", tasks), 40, 0.01, "read %d", read);
    }
}

/* A reader that comes at 20 does not overtake the writer that waits since 10: 100 + 50 - 20. */
Test(rwsem, a_reader_queues_behind_a_waiting_writer)
{
    cr_expect_float_eq(SAMPLE("",
                              TASK(0, 0) READ ", {run: 100us}, {unlock: r}" END ", " TASK(
                                  1, 10) "{lock: r}, {run: 50us}, {unlock: r}" END ", " TASK(2, 20)
                                  OPEN ", " READ ", " CLOSE ", {unlock: r}" END),
                       130, 0.01);
}

/* Behind a writer wait: reader, writer, reader, reader. All readers have it at 100, also those behind the
 * second writer, which gets it when they are done, at 200. */
Test(rwsem, all_readers_that_wait_are_woken_together)
{
    static const char readers[] =
        TASK(0, 0) "{lock: r}, {run: 100us}, {unlock: r}" END ", " TASK(1, 10) READ
        ", {run: 100us}, {unlock: r}" END ", ";
    char tasks[2048];

    snprintf(tasks, sizeof(tasks),
             "%s" TASK(2, 20) "{lock: r}, {run: 1us}, {unlock: r}" END ", " TASK(3, 30) READ
             ", {run: 50us}, {unlock: r}" END ", " TASK(4, 40) OPEN
             ", " READ ", " CLOSE ", {run: 60us}, {unlock: r}" END,
             readers);
    cr_expect_float_eq(SAMPLE("", tasks), 60, 0.01);
    snprintf(tasks, sizeof(tasks),
             "%s" TASK(2, 20) OPEN ", {lock: r}, " CLOSE ", {unlock: r}" END ", " TASK(3, 30) READ
             ", {run: 50us}, {unlock: r}" END,
             readers);
    cr_expect_float_eq(SAMPLE("", tasks), 180, 0.01);
}

/* -- spinning: spent time in units of 100 ms x 6 vCPUs -- */

static double spun_us(const char *spin, const char *tasks)
{
    return metric(spin, tasks, METRIC_LOCKSPIN) * 100e3 * 6;
}

#define OWNER ", spin: owner"

Test(rwsem, a_writer_spins_while_the_owner_executes)
{
    static const char held[] =
        TASK(0, 0) "{lock: r}, {run: 500us}, {unlock: r}" END ", " TASK(1, 10) OPEN
        ", {lock: r}, " CLOSE ", {unlock: r}" END;

    cr_expect_float_eq(spun_us(OWNER, held), 490, 0.01);
    cr_expect_float_eq(SAMPLE(OWNER, held), 490, 0.01);
    cr_expect_float_eq(spun_us("", held), 0, 0.01, "without it, it blocks");
    cr_expect_float_eq(spun_us(", spin: 30us", held), 30, 0.01, "it has a limit");
    cr_expect_float_eq(SAMPLE(", spin: 30us", held), 490, 0.01);
}

/* The owner sleeps from 100 on: seen at the next look, each 10 us from 13 on. */
Test(rwsem, a_writer_leaves_when_the_owner_sleeps)
{
    static const char sleeps[] =
        TASK(0, 0) "{lock: r}, {run: 100us}, {sleep: 400us}, {unlock: r}" END ", " TASK(1, 13) OPEN
        ", {lock: r}, " CLOSE ", {unlock: r}" END;

    cr_expect_float_eq(spun_us(OWNER, sleeps), 90, 0.01);
    cr_expect_float_eq(SAMPLE(OWNER, sleeps), 487, 0.01);
}

/* The second in the queue watches the first, and the owner through it. */
Test(rwsem, spinners_leave_one_after_the_other)
{
    cr_expect_float_eq(
        spun_us(OWNER, TASK(0, 0) "{lock: r}, {run: 100us}, {sleep: 400us}, {unlock: r}" END
                                  ", " TASK(1, 15) "{lock: r}, {unlock: r}" END
                                                   ", " TASK(2, 15) "{lock: r}, {unlock: r}" END),
        2 * 90, 0.01);
}

/* 10 us and half a us per reader. */
Test(rwsem, a_writer_spins_shortly_behind_readers)
{
    cr_expect_float_eq(spun_us(OWNER, TASK(0, 0) READ ", {run: 500us}, {unlock: r}" END ", " TASK(
                                          1, 10) "{lock: r}, {unlock: r}" END),
                       10.5, 0.01);
    cr_expect_float_eq(
        spun_us(OWNER, TASK(0, 0) READ ", {run: 500us}, {unlock: r}" END ", " TASK(2, 0) READ
                ", {run: 500us}, {unlock: r}" END ", " TASK(3, 0) READ
                ", {run: 500us}, {unlock: r}" END ", " TASK(1, 10) "{lock: r}, {unlock: r}" END),
        11.5, 0.01);
    /* Readers leave within that time: it has the lock. */
    cr_expect_float_eq(SAMPLE(OWNER, TASK(0, 0) READ ", {run: 15us}, {unlock: r}" END ", " TASK(
                                         1, 10) OPEN ", {lock: r}, " CLOSE ", {unlock: r}" END),
                       5, 0.01);
    /* More than 30 count as 30: threads that all sleep on vCPU 0 with the lock held. */
    cr_expect_float_eq(
        spun_us(OWNER, "{count: 40, vcpu: 0, program: [" READ
                       ", {sleep: 5ms}, {unlock: r}]}, " TASK(1, 10) "{lock: r}, {unlock: r}" END),
        25, 0.01);
}

/* The owner's vCPU shares its pCPU with another VM's: it is off from 1 to 2 ms. The writer, from 0.5 ms on,
 * sees that only with the preempted flag, which the host sets at once under `any-deschedule`. */
Test(rwsem, a_spinner_sees_a_preempted_owner_by_the_flag_only)
{
    static const char tasks[] =
        TASK(0, 0) "{lock: r}, {run: 1500us}, {unlock: r}" END ", " TASK(1, 500) OPEN
        ", {lock: r}, " CLOSE ", {unlock: r}" END;
    static const char hog[] =
        "  - {name: hog, vcpus: 1, pin: \"0\", idle: hlt, guest: {hz: 0}, workload: {tasks: "
        "[{program: [{loop: {count: forever, body: [{run: 1ms}]}}]}]}}\n";
    static const struct {
        const char *guest;
        double spun;
    } CASES[] = {{", policy: preempted-bit", 500}, {", policy: bare", 2000}};

    for (int i = 0; i < 2; i++) {
        struct run_values *v = run_tasks(
            OWNER, tasks, CASES[i].guest,
            "scheduler: {rr: {slice: 1ms}}, placement: pinned, preempted: any-deschedule", hog);

        cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX), 2000, 0.01, "%s: %g",
                           CASES[i].guest, metric_of(v, 1, METRIC_LATENCY_MAX));
        cr_expect_float_eq(metric_of(v, 1, METRIC_LOCKSPIN) * 600e3, CASES[i].spun, 10.01, "%s: %g",
                           CASES[i].guest, metric_of(v, 1, METRIC_LOCKSPIN) * 600e3);
        run_values_free(v);
    }
}

/* -- overtaking -- */

#define FOREVER(n, body) "{vcpu: " #n ", program: [{loop: {count: forever, body: [" body "]}}]}"
#define HOG(n)           FOREVER(n, "{lock: r}, {run: 100us}, {unlock: r}")

/* Two writers spin in turn and pass the lock on every 100 us. The reader of 10 us blocks; the first release
 * after 4010 us, that of 4100, gives it the lock. */
Test(rwsem, a_waiter_gets_the_lock_after_4_ms)
{
    cr_expect_float_eq(SAMPLE(OWNER, HOG(0) ", " HOG(1) ", " TASK(2, 10) OPEN ", " READ ", " CLOSE
                                                                              ", {unlock: r}" END),
                       4090, 0.01);
    /* The writer has spun for as long as those before it did not get the lock: it never blocks. */
    cr_expect_float_eq(
        SAMPLE(OWNER, HOG(0) ", " TASK(2, 10) OPEN ", {lock: r}, " CLOSE ", {unlock: r}" END), 90,
        0.01);
}

/* Nobody spins and a wake-up takes 5 us: the writer that gives the lock back takes it again 1 us later, each
 * time, from 5 us on. One waits since 15 us, is woken at 104, 204, ... and finds the lock taken. At 4104 it is
 * given to it, although another has come meanwhile: who was woken in vain keeps its place. */
Test(rwsem, who_was_woken_in_vain_keeps_its_place)
{
    struct run_values *v = run_priced(
        ", entry: 5us", "",
        FOREVER(0, "{lock: r}, {run: 99us}, {unlock: r}, {run: 1us}") ", " TASK(1, 10) OPEN
        ", {lock: r}, " CLOSE ", {unlock: r}" END ", " TASK(2, 3950) "{lock: r}, {unlock: r}" END,
        "", "scheduler: rr, placement: pinned", "");

    cr_expect_float_eq(metric_of(v, 1, METRIC_LATENCY_MAX), 4109 - 15, 0.01, "%g",
                       metric_of(v, 1, METRIC_LATENCY_MAX));
    run_values_free(v);
}

/* -- no wake-up is lost -- */

struct text {
    char *to, *end;
    struct rng rng;
};

static int draw(struct text *t, int n)
{
    return (int)rng_below(&t->rng, (uint64_t)n);
}

static void put(struct text *t, const char *words)
{
    const int n = snprintf(t->to, (size_t)(t->end - t->to), "%s", words);

    t->to += n;
    cr_assert_lt(t->to, t->end);
}

static void put_time(struct text *t)
{
    static const char *const TIMES[] = {
        "{run: {exponential: 20us}}, ",
        "{sleep: {exponential: 30us}}, ",
        "{run: 3us}, ",
        "yield, ",
        "{share: {line: x, count: 3}}, ",
        "{io: disk}, ",
        "{spin: 2us}, ",
        "",
    };

    put(t, TIMES[draw(t, 8)]);
}

/* Locks are taken in one order, r, q, m, s, each or not. */
static void put_section(struct text *t, int lock)
{
    static const char *const TAKE[][2] = {
        {"{lock: {lock: r, mode: read}}, ", "{lock: r}, "},
        {"{lock: {lock: q, mode: read}}, ", "{lock: q}, "},
        {"{lock: m}, ", "{lock: m}, "},
        {"{lock: s}, ", "{lock: s}, "},
    };
    static const char *const GIVE[] = {"{unlock: r}, ", "{unlock: q}, ", "{unlock: m}, ",
                                       "{unlock: s}, "};
    const bool take = lock < 4 && draw(t, 3) > 0;

    if (lock == 4)
        return;
    if (take)
        put(t, TAKE[lock][draw(t, 3) == 0]);
    if (lock < 3) /* a spinner for s never blocks: its holder must not either */
        put_time(t);
    put_section(t, lock + 1);
    if (lock < 3)
        put_time(t);
    if (take)
        put(t, GIVE[lock]);
}

#define ROUNDS 60
#define TYPES  5

/* Whatever it takes: each of its tasks marks each of its rounds. */
static void random_scenario(uint64_t seed, char *to, size_t size)
{
    static const char *const HOSTS[] = {"cfs", "eevdf", "{rr: {slice: 300us}}",
                                        "eevdf, shuffle: 500us"};
    static const char *const GUESTS[] = {"bare", "preempted-bit", "cps-load", "idle-bit"};
    static const char *const SPIN[] = {"", ", spin: owner", ", spin: 20us"};
    static const char *const IDLE[] = {"hlt", "mwait-sched", "guest-poll"};
    static const char *const MACHINES[] = {
        "kunpeng920-128, topology: {sockets: 2, nodes: 1, groups: 1, cores: 2, threads: 1}",
        "epyc-rome-128, topology: {sockets: 1, nodes: 1, groups: 2, cores: 1, threads: 2}"};
    struct text t = {.to = to, .end = to + size};
    char head[1024];
    int k[8];

    rng_init(&t.rng, seed, RNG_TEST, 0, RNG_PROGRAM);
    for (int i = 0; i < 8; i++)
        k[i] = draw(&t, 12);
    snprintf(head, sizeof(head),
             "machine: {base: %s}\nduration: 20s\nallow_cold: true\nhost: {scheduler: %s, "
             "placement: float, "
             "preempted: any-deschedule}\nvms:\n  - {name: vm, count: 2, vcpus: 3, idle: %s, "
             "guest: {policy: "
             "%s}, workload: {objects: {lines: {x: {}}, devices: {disk: {depth: 1, service: "
             "10us}}, locks: {r: "
             "{kind: rwsem%s}, q: {kind: rwsem%s}, m: {kind: sleep%s}, s: {kind: spin, kernel: on, "
             "fair: "
             "%s}}}, tasks: [",
             MACHINES[k[0] % 2], HOSTS[k[1] % 4], IDLE[k[2] % 3], GUESTS[k[3] % 4], SPIN[k[4] % 3],
             SPIN[k[5] % 3], SPIN[k[6] % 3], k[7] % 2 ? "on" : "off");
    put(&t, head);
    for (int i = 0; i < TYPES; i++) {
        put(&t, "{count: 2, footprint: 64KB, program: [{loop: {count: 60, body: [{run: "
                "{exponential: 10us}}, ");
        put_section(&t, 0);
        put(&t, "{mark: {op: round}}]}}]}, ");
    }
    put(&t, "]}}\n");
}

Test(rwsem, no_wake_up_is_lost)
{
    static char text[16384];

    for (uint64_t seed = 1; seed <= 25; seed++) {
        struct run_values *v;

        random_scenario(seed, text, sizeof(text));
        v = run_of_text(text, seed, NULL);
        cr_expect_float_eq(metric_of(v, 0, METRIC_OPS), 2 * TYPES * 2 * ROUNDS, 0,
                           "seed %d: %g rounds\n%s", (int)seed, metric_of(v, 0, METRIC_OPS), text);
        run_values_free(v);
    }
}
