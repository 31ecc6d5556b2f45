/* SPDX-License-Identifier: MIT */
/*
 * Runs of tiny machines under an idle policy whose plans a test states, with a log of what happened
 * to the nanosecond: states of vCPUs, exits, marks, and each call of the policy. Always true: a line
 * is "TIME WHAT"; what is not shown is only left out of the log.
 */
#ifndef TESTS_MODELS_IDLE_LOG_H
#define TESTS_MODELS_IDLE_LOG_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "cross/world.h"
#include "registry.h"
#include "tests/support/run_text.h"

enum show { SHOW_STATE = 1, SHOW_EXIT = 2, SHOW_CALL = 4, SHOW_MARK = 8, SHOW_ALL = 15 };

static struct idle_log {
    struct trace_sink sink; /* first */
    char have[32768], want[32768];
    size_t nhave, nwant;
    ns_t from, to;            /* what is logged, both included */
    unsigned vcpus;           /* bit per vCPU, global numbers; the policy's VM comes first */
    unsigned shows;           /* enum show */
    struct idle_plan plan[4]; /* of each vCPU; `until` is relative */
    struct idle_plan
        then[4]; /* what `expire` returns, if the test gives the policy that operation */
    enum idle_wake whom;
    bool stable[4]; /* what `reflect` answers */
    /* What differs from the machine and VM described below; NULL or 0 = nothing. */
    int nodes, npcpus;
    const char *host, *waker, *tasks, *guest;
} il = {.to = NS_NEVER, .vcpus = ~0u, .shows = SHOW_ALL};

__attribute__((format(printf, 3, 0))) static inline void il_line(char *to, size_t *n,
                                                                 const char *format, va_list args)
{
    const size_t room = sizeof(il.have) - *n;
    const int len = vsnprintf(to + *n, room, format, args);

    cr_assert(len >= 0 && (size_t)len + 2 < room, "the log is full");
    *n += (size_t)len;
    to[(*n)++] = '\n';
    to[*n] = '\0';
}

__attribute__((format(printf, 4, 5))) static inline void il_have(ns_t now, int vcpu, unsigned kind,
                                                                 const char *format, ...)
{
    char time[24];
    va_list args;

    if (now < il.from || now > il.to || !(il.vcpus >> vcpu & 1) || !(il.shows & kind))
        return;
    il.nhave += (size_t)snprintf(time, sizeof(time), "%" PRId64 " ", now);
    cr_assert(il.nhave + sizeof(time) < sizeof(il.have), "the log is full");
    strcpy(il.have + il.nhave - strlen(time), time);
    va_start(args, format);
    il_line(il.have, &il.nhave, format, args);
    va_end(args);
}

/* The next line of what must happen. */
__attribute__((format(printf, 1, 2))) static inline void want(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    il_line(il.want, &il.nwant, format, args);
    va_end(args);
}

/* Compares, and forgets both. */
static inline void want_that(const char *what)
{
    const char *h = il.have, *w = il.want;

    while (*h && *w && *h == *w)
        h++, w++;
    cr_expect(!*h && !*w, "%s: have\n%s\nwant\n%s\nthey part at '%.40s'", what, il.have, il.want,
              h);
    il.nhave = il.nwant = 0;
    il.have[0] = il.want[0] = '\0';
}

/* Time of the first line with `what` at or after `from`, -1 without. */
static inline ns_t time_of(const char *what, ns_t from)
{
    for (const char *at = il.have; *at; at = strchr(at, '\n') + 1) {
        const char *end = strchr(at, '\n'), *found = strstr(at, what);
        const ns_t time = strtoll(at, NULL, 10);

        if (time >= from && found && found < end)
            return time;
    }
    return -1;
}

/* What happened so far is of no interest. */
static inline void forget_log(void)
{
    il.nhave = 0;
    il.have[0] = '\0';
}

static inline void il_put(struct trace_sink *s, const struct trace_record *r)
{
    static const char *const reason[EXIT_REASONS] = {
        [EXIT_IDLE] = "idle",   [EXIT_IPI] = "ipi",         [EXIT_TIMER] = "timer",
        [EXIT_PAUSE] = "pause", [EXIT_PREEMPT] = "preempt", [EXIT_IRQ] = "irq",
        [EXIT_IO] = "io"};
    (void)s;
    if (r->kind == TRACE_VCPU_IN)
        il_have(r->time, r->b, SHOW_STATE, "v%d on p%d", r->b, r->a);
    else if (r->kind == TRACE_VCPU_STATE && r->b == VCPU_BLOCKED)
        il_have(r->time, r->a, SHOW_STATE, "v%d BLOCKED", r->a);
    else if (r->kind == TRACE_VCPU_STATE && r->b == VCPU_READY)
        il_have(r->time, r->a, SHOW_STATE, "v%d READY", r->a);
    else if (r->kind == TRACE_EXIT)
        il_have(r->time, r->a, SHOW_EXIT, "v%d exits: %s", r->a, reason[r->b]);
    else if (r->kind == TRACE_MARK)
        il_have(r->time, r->a, SHOW_MARK, "v%d mark", r->a);
}

/* -- the policy -- */

static inline ns_t il_now(const struct idle *i)
{
    const struct xvm *vm =
        (const struct xvm *)(const void *)((const char *)i - offsetof(struct xvm, idle));

    return vm->world->engine->now;
}

static inline struct idle_plan il_plan(struct idle_plan plan, ns_t now)
{
    if (plan.until != NS_NEVER)
        plan.until += now;
    return plan;
}

static inline struct idle_plan il_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    il_have(ctx->now, vcpu, SHOW_CALL, "enter v%d since %" PRId64 " rivals %d", vcpu, ctx->since,
            ctx->rivals);
    return il_plan(il.plan[vcpu], ctx->now);
}

static inline struct idle_plan il_expire(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    il_have(ctx->now, vcpu, SHOW_CALL, "expire v%d since %" PRId64, vcpu, ctx->since);
    return il_plan(il.then[vcpu], ctx->now);
}

static const char *const il_via[] = {[VIA_STORE] = "store",
                                     [VIA_IRQ] = "irq",
                                     [VIA_TIMER] = "timer",
                                     [VIA_LOOK] = "look",
                                     [VIA_SCAN] = "scan"};

static inline enum idle_wake il_wake(struct idle *i, int vcpu, enum idle_via via)
{
    il_have(il_now(i), vcpu, SHOW_CALL, "wake v%d by %s", vcpu, il_via[via]);
    return il.whom;
}

static inline bool il_reflect(struct idle *i, int vcpu, ns_t episode, enum idle_via via)
{
    il_have(il_now(i), vcpu, SHOW_CALL, "reflect v%d after %" PRId64 " by %s", vcpu, episode,
            il_via[via]);
    return il.stable[vcpu];
}

/* "by-hand": what the plans do without `expire` and `rival` is the core's default. */
static struct idle_ops by_hand = {
    .head = {.abi = TANDEM_POLICY_ABI, .name = "by-hand", .summary = "of a test"},
    .enter = il_enter,
    .wake = il_wake,
    .reflect = il_reflect};

static const struct idle_plan il_block = {.act = IDLE_BLOCK, .until = NS_NEVER};

static inline struct idle_plan il_watch(ns_t slice)
{
    return (struct idle_plan){.act = IDLE_WATCH, .until = slice};
}

/* -- runs -- */

/* A machine of `npcpus` where everything is free but `costs`; C1 takes 101 ns to leave. `host` and
 * `vms` are YAML, `more` are further keys of the scenario. */
static inline struct run_values *il_run(int npcpus, const char *costs, const char *host,
                                        const char *vms, const char *more)
{
    static bool registered;
    char text[8192], why[200];

    il.sink.put = il_put;
    if (!registered)
        cr_assert(registry_add(POLICY_IDLE, &by_hand, why) == NULL, "%s", why);
    registered = true;
    cr_assert(snprintf(text, sizeof(text),
                       "machine: {base: flat-8, topology: {sockets: 1, nodes: %d, groups: 1, "
                       "cores: %d, threads: 1}, cstates: [{name: C1, exit: 101ns, residency: 1ns, "
                       "power: 1}], costs: {all_zero: on, %s}}\nallow_cold: on\nhost: {%s}\n"
                       "vms:\n%s\n%s\n",
                       il.nodes > 0 ? il.nodes : 1, npcpus, costs, host, vms,
                       more) < (int)sizeof(text));
    return run_of_text(text, 3, &il.sink);
}

/* A VM with tasks that need no more overhead than what `costs` names. */
#define IL_GUEST "guest: {policy: \"null\", hz: 0, batch: 0, balance: off, wakeup-preemption: off}"

/*
 * Prices are primes, so that a sum tells what it is made of. Into a vCPU: host_switch 13, entry 11,
 * C-state 101 when the pCPU was empty, inject 17 when an interrupt waits. Out of one: exit 7. What
 * is not named is free: guest kernels take no time but for stores to polled words.
 */
#define IL_PRICES                                                                                  \
    "host_switch: 13ns, exit: 7ns, entry: 11ns, inject: 17ns, look: 23ns, store: 59ns, "           \
    "scan_element: 3ns, wake_mark: 5ns, timer_floor: 500ns, mwait_toggle: 19ns, host_tick: 41ns, " \
    "ple_window: 29ns, ple_max: 1s"

/* v2 never stops working on p1. */
#define IL_HOG                                                                                     \
    "  - {name: hog, role: background, vcpus: 1, pin: \"1\", idle: hlt, " IL_GUEST                 \
    ", workload: {tasks: [{name: h, program: [{run: 1s}]}]}}\n"

/* v0 begins to work on p0 at 142, for 9.5 us (or as `il.waker` says), and then wakes a task on v1,
 * which waits on p1. Logged are all but v0 and the first instant. Round robin; `others` are VMs,
 * `il.tasks` further tasks of this one. */
static inline struct run_values *il_run_pair(const char *slice, const char *others,
                                             const char *duration)
{
    static const char pair[] =
        "  - {name: vm, vcpus: 2, pin: \"0-1\", idle: by-hand, %s, workload: {objects: {queues: "
        "{q: "
        "{capacity: 9}}}, tasks: [{name: a, vcpu: 0, program: [%s]}, {name: b, vcpu: 1, program: "
        "[{loop: {count: forever, body: [{recv: q}, {mark: {op: x}}]}}]}%s]}}\n%s";
    char host[300], vms[4096], more[100];

    snprintf(host, sizeof(host), "scheduler: {rr: {slice: %s}}, placement: pinned, %s", slice,
             il.host ? il.host : "tick: 0");
    snprintf(vms, sizeof(vms), pair, il.guest ? il.guest : IL_GUEST,
             il.waker ? il.waker : "{run: 9500ns}, {send: q}", il.tasks ? il.tasks : "", others);
    snprintf(more, sizeof(more), "duration: %s", duration);
    il.plan[0] = il_block;
    il.from = 1;
    if (il.vcpus == ~0u)
        il.vcpus = ~1u;
    return il_run(il.npcpus > 0 ? il.npcpus : 2, IL_PRICES, host, vms, more);
}

/* A share of `base` ns in ns. */
static inline ns_t il_ns(struct run_values *v, int row, enum metric_id m, ns_t base)
{
    return (ns_t)llround(metric_of(v, row, m) * (double)base);
}

/* A rate per second as a count. */
static inline ns_t il_count(struct run_values *v, int row, enum metric_id m)
{
    return (ns_t)llround(metric_of(v, row, m) * (double)v->simulated / 1e9);
}

/* A value in us, in ns. */
static inline ns_t il_us(struct run_values *v, int row, enum metric_id m)
{
    return (ns_t)llround(metric_of(v, row, m) * 1e3);
}

#define EXPECT_NS(have, should)                                                                    \
    do {                                                                                           \
        const ns_t have_ = (have), want_ = (should);                                               \
        cr_expect(have_ == want_, "%s is %" PRId64 ", should be %" PRId64, #have, have_, want_);   \
    } while (0)

#endif
