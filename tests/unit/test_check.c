/* SPDX-License-Identifier: MIT */
/* The crash report: its text, its exit status, and that nothing else is written. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/check.h"
#include "engine/dist.h"
#include "engine/engine.h"

struct outcome {
    char text[16384]; /* of standard error */
    size_t n;
    int status;
};

/* Runs `body` in a child process. */
static void run_child(struct outcome *o, void (*body)(void))
{
    int fd[2];

    cr_assert_eq(pipe(fd), 0);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        dup2(fd[1], STDERR_FILENO);
        close(fd[0]);
        close(fd[1]);
        body();
        _exit(0);
    }
    close(fd[1]);
    o->n = 0;
    for (;;) {
        ssize_t n = read(fd[0], o->text + o->n, sizeof(o->text) - 1 - o->n);
        if (n <= 0)
            break;
        o->n += (size_t)n;
    }
    close(fd[0]);
    o->text[o->n] = '\0';
    cr_assert_eq(waitpid(pid, &o->status, 0), pid);
}

static void assert_report(struct outcome *o, void (*body)(void), const char *expected)
{
    run_child(o, body);
    cr_assert(WIFEXITED(o->status) && WEXITSTATUS(o->status) == EXIT_BUG,
              "status %#x instead of '%s': %s", (unsigned)o->status, expected, o->text);
    cr_assert(strstr(o->text, expected), "no '%s' in:\n%s", expected, o->text);
}

static void dump_state(void *arg, FILE *out)
{
    fprintf(out, "    queue of %s: 1 2 3\n", (const char *)arg);
}

static char dump_name[] = "pcpu 3";

static void set_context(struct engine *e)
{
    crash_set_context(&(struct crash_context){.engine = e,
                                              .seed = UINT64_MAX,
                                              .replication = 4,
                                              .scenario = "web.yaml",
                                              .hash = "00c0ffee",
                                              .dump = dump_state,
                                              .arg = dump_name});
}

static void in_event(struct engine *e, struct event *ev)
{
    (void)ev;
    set_context(e);
    crash_enter("host eevdf", "pick");
    crash_enter("guest cps-load", "select");
    crash_leave();
    crash_enter("idle hlt", "wake");
    CHECK(e->now < 5, "pcpu %d lost a vcpu", 3);
}

static void check_in_run(void)
{
    struct engine *e = engine_new();
    struct event ev;

    event_init(&ev, PHASE_WAKE, 1, in_event);
    engine_arm(e, &ev, 2 * NS_SEC + 45);
    engine_run(e, 9 * NS_SEC);
}

Test(check, report_names_what_is_needed_to_repeat_the_run)
{
    static struct outcome o;
    static const char *const lines[] = {
        "tandem: bug: pcpu 3 lost a vcpu\n",
        "  condition    e->now < 5 (",
        "test_check.c:",
        "  time         2.000000045 s (2000000045 ns), after 1 events\n",
        "  during       idle hlt, wake\n  within       host eevdf, pick\n",
        "  seed         18446744073709551615\n",
        "  replication  4\n",
        "  scenario     web.yaml\n",
        "  hash         00c0ffee\n",
        "  state\n    queue of pcpu 3: 1 2 3\n",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        assert_report(&o, check_in_run, lines[i]);
    cr_assert(!strstr(o.text, "cps-load"), "an operation that has returned is named");
}

static void policy_breaks(void)
{
    crash_policy("mine", "pick", "vm0 vcpu 1", "picked a vcpu that is %s", "blocked");
}

static void long_message(void)
{
    static char text[10000];

    memset(text, 'x', sizeof(text) - 1);
    CHECK(text[0] == 'y', "%s", text);
}

static void leave_too_often(void)
{
    crash_leave();
}

static void deep_calls(void)
{
    for (unsigned i = 0; i < 100; i++)
        crash_enter("host deep", "yield");
    for (unsigned i = 0; i < 99; i++)
        crash_leave();
    CHECK(false, "deep");
}

Test(check, reports_outside_a_run_and_odd_cases)
{
    static struct outcome o;

    assert_report(&o, policy_breaks,
                  "tandem: policy mine broke its contract in pick: picked a vcpu that is blocked\n"
                  "  entity       vm0 vcpu 1\n  time         outside a run\n");
    assert_report(&o, long_message, "tandem: bug: xxxx");
    cr_assert_eq(o.text[o.n - 1], '\n');
    assert_report(&o, leave_too_often, "crash_leave without crash_enter");
    assert_report(&o, deep_calls, "  during       host deep, yield\n");
}

static void dump_fails(void *arg, FILE *out)
{
    (void)arg;
    (void)out;
    CHECK(false, "within the dump");
}

static void fault_in_dump(void)
{
    crash_set_context(&(struct crash_context){.dump = dump_fails});
    CHECK(false, "the first");
}

static void buffered_output(void)
{
    printf("half a result");
    CHECK(false, "stop");
}

static void invalid_access(void)
{
    static _Alignas(4096) volatile char page[4096];

    mprotect((void *)page, sizeof(page), PROT_NONE);
    crash_catch_faults();
    set_context(NULL);
    crash_enter("guest mine.so", "tick");
    page[0] = 1;
}

/* Each call needs its own copy of the array, so none can be optimised away. */
static int recurse(const volatile char *below, int depth)
{
    volatile char here[256];

    here[0] = below[0];
    return depth > 0 ? recurse(here, depth - 1) + here[0] : 0;
}

static void stack_overflow(void)
{
    crash_catch_faults();
    crash_enter("guest mine.so", "select");
    recurse("", 1 << 30);
}

static void aborts(void)
{
    crash_catch_faults();
    abort();
}

Test(check, faults_end_in_a_report_too)
{
    static struct outcome o;

    assert_report(&o, fault_in_dump, "tandem: bug: the first\n");
    cr_assert(strstr(o.text, "tandem: another fault while reporting the first\n"));
    assert_report(&o, buffered_output, "tandem: bug: stop\n");
    cr_assert(!strstr(o.text, "half"));
    assert_report(&o, invalid_access, "tandem: bug: invalid memory access\n");
    cr_assert(strstr(o.text, "  during       guest mine.so, tick\n"), "%s", o.text);
    cr_assert(!strstr(o.text, "state"));
    assert_report(&o, stack_overflow, "  during       guest mine.so, select\n");
    assert_report(&o, aborts, "tandem: bug: abort\n");
}

static struct event forever;

static void again(struct engine *e, struct event *ev)
{
    engine_arm(e, ev, e->now);
}

static void call_again(struct engine *e, struct deferred *d)
{
    engine_defer(e, d);
}

static void endless_events(void)
{
    struct engine *e = engine_new();

    e->instant_max = 1000;
    event_init(&forever, PHASE_TIMER, 1, again);
    engine_arm(e, &forever, 10);
    engine_run(e, 20);
}

static void endless_calls(void)
{
    struct engine *e = engine_new();
    struct deferred d = {.fn = call_again};

    e->instant_max = 1000;
    engine_defer(e, &d);
    engine_run(e, 20);
}

static void arm_in_the_past(void)
{
    struct engine *e = engine_new();

    engine_run(e, 20);
    event_init(&forever, PHASE_TIMER, 0x51, again);
    engine_arm(e, &forever, 19);
}

static void run_backwards(void)
{
    struct engine *e = engine_new();

    engine_run(e, 20);
    engine_run(e, 19);
}

static void draw_nan(void)
{
    struct rng r;
    struct dist d = {.kind = DIST_EXPONENTIAL, .a = 0.0 / 0.0, .num = 1, .den = 1};

    rng_init(&r, 1, RNG_TEST, 0, RNG_SERVICE);
    dist_draw(&d, &r);
}

Test(check, misuse_of_the_engine_is_reported)
{
    static struct outcome o;

    assert_report(&o, endless_events, "an instant with 1000 events does not end");
    assert_report(&o, endless_calls, "an instant with 1000 deferred calls does not end");
    assert_report(&o, arm_in_the_past, "event 0x51 armed for 19 ns, which is past");
    assert_report(&o, run_backwards, "run until 19 ns, which is past");
    assert_report(&o, draw_nan, "a draw is not a number");
}

static void all_is_well(void)
{
    CHECK(2 > 1, "arithmetic");
    CHECK_PRE(2 > 1, "arithmetic");
    CHECK_INV(2 > 1, "arithmetic");
}

Test(check, a_true_condition_says_nothing)
{
    static struct outcome o;

    run_child(&o, all_is_well);
    cr_assert(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0);
    cr_assert_eq(o.n, 0);
}
