/* SPDX-License-Identifier: MIT */
/*
 * The crash report.
 *
 * Always true: the report is composed in static memory and written at once, so that the reports of
 * several workers do not mix and a broken heap does not matter; the process then ends with status
 * 70 without running anything else, so no half-written result leaves a buffer. A second fault while
 * the policies' state is dumped ends the process there.
 */
#define _XOPEN_SOURCE 700 /* sigaltstack */

#include "engine/check.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "engine/engine.h"

#define REPORT_SIZE 4096
#define DEPTH_MAX   8
#define FAULT_STACK (64 * 1024)

struct call {
    const char *policy, *op;
};

static struct crash_context context;
static struct call calls[DEPTH_MAX];
static unsigned depth;

static char report[REPORT_SIZE];
static size_t length;
static volatile sig_atomic_t crashing;

void crash_set_context(const struct crash_context *c)
{
    context = c ? *c : (struct crash_context){0};
}

void crash_enter(const char *policy, const char *op)
{
    if (depth < DEPTH_MAX)
        calls[depth] = (struct call){policy, op};
    depth++;
}

void crash_leave(void)
{
    CHECK(depth > 0, "crash_leave without crash_enter");
    depth--;
}

static void add_list(const char *fmt, va_list args)
{
    int n = vsnprintf(report + length, REPORT_SIZE - length, fmt, args);

    if (n > 0)
        length += (size_t)n;
    if (length > REPORT_SIZE - 1)
        length = REPORT_SIZE - 1;
}

__attribute__((format(printf, 1, 2))) static void add(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add_list(fmt, args);
    va_end(args);
}

static void write_out(const char *text, size_t n)
{
    while (n > 0) {
        ssize_t done = write(STDERR_FILENO, text, n);

        if (done <= 0)
            return;
        text += done;
        n -= (size_t)done;
    }
}

static void report_start(void)
{
    static const char again[] = "tandem: another fault while reporting the first\n";

    if (crashing) {
        write_out(again, sizeof(again) - 1);
        _Exit(EXIT_BUG);
    }
    crashing = 1;
    length = 0;
}

static void add_time(void)
{
    const struct engine *e = context.engine;

    if (!e) {
        add("  time         outside a run\n");
        return;
    }
    add("  time         %" PRId64 ".%09" PRId64 " s (%" PRId64 " ns), after %" PRIu64 " events\n",
        e->now / NS_SEC, e->now % NS_SEC, e->now, e->events);
}

static void add_calls(void)
{
    for (unsigned i = depth < DEPTH_MAX ? depth : DEPTH_MAX; i-- > 0;)
        add("  %s       %s, %s\n", i + 1 == depth ? "during" : "within", calls[i].policy,
            calls[i].op);
}

static void add_context(void)
{
    add_time();
    add_calls();
    if (!context.engine && !context.scenario)
        return;
    add("  seed         %" PRIu64 "\n  replication  %" PRIu64 "\n", context.seed,
        context.replication);
    add("  scenario     %s\n  hash         %s\n", context.scenario ? context.scenario : "unknown",
        context.hash ? context.hash : "unknown");
}

static _Noreturn void report_end(bool dump)
{
    if (length == REPORT_SIZE - 1)
        report[length - 1] = '\n';
    write_out(report, length);
    if (dump && context.dump) {
        fputs("  state\n", stderr);
        context.dump(context.arg, stderr);
        fflush(stderr);
    }
    _Exit(EXIT_BUG);
}

_Noreturn void crash_bug(const char *file, int line, const char *cond, const char *fmt, ...)
{
    va_list args;

    report_start();
    fflush(stderr);
    add("tandem: bug: ");
    va_start(args, fmt);
    add_list(fmt, args);
    va_end(args);
    add("\n  condition    %s (%s:%d)\n", cond, file, line);
    add_context();
    report_end(true);
}

_Noreturn void crash_policy(const char *policy, const char *op, const char *entity, const char *fmt,
                            ...)
{
    va_list args;

    report_start();
    fflush(stderr);
    add("tandem: policy %s broke its contract in %s: ", policy, op);
    va_start(args, fmt);
    add_list(fmt, args);
    va_end(args);
    add("\n  entity       %s\n", entity);
    add_context();
    report_end(true);
}

static const char *fault_name(int sig)
{
    switch (sig) {
    case SIGSEGV:
        return "invalid memory access";
    case SIGBUS:
        return "bus error";
    case SIGFPE:
        return "arithmetic fault";
    case SIGILL:
        return "illegal instruction";
    default:
        return "abort";
    }
}

/* No dump: it would call into what has just failed, from a signal handler. */
static void on_fault(int sig)
{
    report_start();
    add("tandem: bug: %s\n", fault_name(sig));
    add_context();
    report_end(false);
}

void crash_catch_faults(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[FAULT_STACK];
    stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = on_fault};

    if (sigaltstack(&ss, NULL) == 0)
        action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        sigaction(faults[i], &action, NULL);
}
