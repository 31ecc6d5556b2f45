/* SPDX-License-Identifier: MIT */
/*
 * Guest and idle policies that break their contract end the run with status 70 and a report that
 * names the policy, the operation, who was concerned, the time, the seed and the scenario's hash. A
 * table that cannot work is refused before any run.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/check.h"
#include "registry.h"
#include "tests/support/run_text.h"

#define HEAD(n)                                                                                    \
    {                                                                                              \
        .abi = TANDEM_POLICY_ABI, .name = n, .summary = "of a test"                                \
    }

/* Two sleepers and a computing task on two vCPUs that share a pCPU with a rival. */
static struct scenario *scenario_with(const char *guest, const char *idle)
{
    char text[2048];

    snprintf(
        text, sizeof(text),
        "machine: flat-8\nduration: 50ms\nhost: {scheduler: rr}\nvms:\n"
        "  - {name: vm, vcpus: 2, pin: \"0-1\", idle: %s, guest: {policy: %s}, workload: {tasks: "
        "[\n"
        "      {name: s, count: 2, program: [{loop: {count: forever, body: [{sleep: 1ms}, {run: "
        "100us}]}}]},\n"
        "      {name: h, vcpu: 0, start: 5ms, program: [{run: 1s}]}]}}\n"
        "  - {name: rival, vcpus: 1, pin: \"1\", role: background, workload: cpu-bound}\n",
        idle, guest);
    return scenario_of_text(text);
}

/* Standard error of a run in a child, which must end as a bug. */
static void crashed(const char *guest, const char *idle, char *text, size_t size, char hash[33])
{
    struct scenario *s = scenario_with(guest, idle);
    int pipes[2], status = 0;
    size_t n = 0;
    ssize_t got;
    pid_t child;

    snprintf(hash, 33, "%s", s->hash);
    cr_assert_eq(pipe(pipes), 0);
    fflush(NULL);
    child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        struct run_values *v = NULL;
        char error[256] = "";

        alarm(20);
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        run_replication(s, 4711, 2, &v, error, sizeof(error));
        _exit(0);
    }
    close(pipes[1]);
    while (n < size - 1 && (got = read(pipes[0], text + n, size - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(pipes[0]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BUG, "%s, %s: status %#x: %s", guest,
              idle, (unsigned)status, text);
    scenario_free(s);
}

/* The report must hold all the words, and what every report holds. */
static void must_crash(enum policy_kind kind, const void *ops, const char *const *words)
{
    static const char *const always[] = {"broke its contract", "entity",         "time ",
                                         "seed         4711",  "replication  2", NULL};
    const char *name = ((const struct policy_head *)ops)->name;
    char text[8192], hash[33], why[200];

    cr_assert(registry_add(kind, ops, why) == NULL, "%s", why);
    crashed(kind == POLICY_GUEST ? name : "bare", kind == POLICY_IDLE ? name : "hlt", text,
            sizeof(text), hash);
    cr_expect(strstr(text, name), "%s: not named in: %s", name, text);
    cr_expect(strstr(text, hash), "%s: no hash %s in: %s", name, hash, text);
    cr_expect(strlen(text) < 8 || strcmp(text + strlen(text) - 8, "  state\n") != 0,
              "%s: a heading without anything below it: %s", name, text);
    for (const char *const *w = always; *w; w++)
        cr_expect(strstr(text, *w), "%s: no \"%s\" in: %s", name, *w, text);
    for (; *words; words++)
        cr_expect(strstr(text, *words), "%s: no \"%s\" in: %s", name, *words, text);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* -- guest -- */

static int select_beyond(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    (void)t;
    (void)prev;
    (void)waker;
    (void)flags;
    return guest_ncpus(k);
}

static int select_negative(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    (void)k;
    (void)t;
    (void)prev;
    (void)waker;
    (void)flags;
    return -1;
}

static int select_spies(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    (void)t;
    (void)waker;
    (void)flags;
    return guest_degree(k, prev) == DEGREE_LOW ? prev : 0;
}

static int select_far(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    (void)t;
    (void)waker;
    (void)flags;
    return guest_preempted(k, 1000) ? 0 : prev;
}

Test(policy_crash, a_choice_that_does_not_exist)
{
    static const struct guest_ops beyond = {.head = HEAD("t-beyond"), .select = select_beyond};
    static const struct guest_ops negative = {.head = HEAD("t-negative"),
                                              .select = select_negative};

    must_crash(POLICY_GUEST, &beyond, WORDS("select", "task", "CPU 2 does not exist"));
    must_crash(POLICY_GUEST, &negative, WORDS("select", "CPU -1 does not exist"));
}

Test(policy_crash, a_read_that_was_not_declared)
{
    static const struct guest_ops spies = {
        .head = HEAD("t-spies"), .facts = FACT_PREEMPTED, .select = select_spies};
    static const struct guest_ops far = {
        .head = HEAD("t-far"), .facts = FACT_PREEMPTED, .select = select_far};

    must_crash(POLICY_GUEST, &spies, WORDS("channel read", "was not declared", "vcpu"));
    must_crash(POLICY_GUEST, &far, WORDS("channel read", "no such vCPU"));
}

/* An ordering that remembers the last task it was given, whatever becomes of it. */
static struct task *last;

static void remember(struct guest *k, int cpu, struct task *t, enum guest_enqueue_why why)
{
    (void)k;
    (void)cpu;
    (void)why;
    last = t;
}

static void keep(struct guest *k, int cpu, struct task *t)
{
    (void)k;
    (void)cpu;
    (void)t;
}

static struct task *pick_nothing(struct guest *k, int cpu)
{
    (void)k;
    (void)cpu;
    return NULL;
}

static struct task *pick_last(struct guest *k, int cpu)
{
    (void)k;
    (void)cpu;
    return last;
}

Test(policy_crash, a_pick_that_is_not_there)
{
    static const struct guest_ops nothing = {
        .head = HEAD("t-nothing"), .enqueue = remember, .dequeue = keep, .pick = pick_nothing};
    static const struct guest_ops stale = {
        .head = HEAD("t-stale"), .enqueue = remember, .dequeue = keep, .pick = pick_last};

    must_crash(POLICY_GUEST, &nothing, WORDS("pick", "cpu 0", "runnable tasks, none was picked"));
    must_crash(POLICY_GUEST, &stale, WORDS("pick", "task", "is not queued here"));
}

/* -- idle -- */

static struct idle_plan enter_deep(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    return (struct idle_plan){.act = IDLE_HOLD, .until = NS_NEVER, .cstate = ctx->ncstates};
}

static struct idle_plan enter_negative(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_HOLD, .until = NS_NEVER, .cstate = -1};
}

static struct idle_plan enter_past(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    return (struct idle_plan){.act = IDLE_SPIN, .until = ctx->now - 1};
}

static struct idle_plan enter_now(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    return (struct idle_plan){.act = IDLE_SPIN, .until = ctx->now};
}

static struct idle_plan enter_yields(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_SPIN, .until = NS_NEVER, .yields = true};
}

static struct idle_plan enter_looks(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_WATCH, .until = NS_NEVER, .self_look = true};
}

static struct idle_plan enter_watch(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    return (struct idle_plan){.act = IDLE_WATCH, .until = ctx->now + 100 * NS_US};
}

static struct idle_plan enter_short(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    return (struct idle_plan){.act = IDLE_SPIN, .until = ctx->now + 10 * NS_US};
}

static struct idle_plan rival_past(struct idle *i, int vcpu, const struct idle_ctx *ctx,
                                   struct idle_plan now)
{
    (void)now;
    return enter_past(i, vcpu, ctx);
}

static struct idle_plan enter_spin(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_SPIN, .until = NS_NEVER};
}

Test(policy_crash, a_plan_that_cannot_be_carried_out)
{
    static const struct idle_ops deep = {.head = HEAD("t-deep"), .enter = enter_deep};
    static const struct idle_ops negative = {.head = HEAD("t-below"), .enter = enter_negative};
    static const struct idle_ops past = {.head = HEAD("t-past"), .enter = enter_past};
    static const struct idle_ops now = {.head = HEAD("t-now"), .enter = enter_now};
    static const struct idle_ops yields = {.head = HEAD("t-yields"), .enter = enter_yields};
    static const struct idle_ops looks = {.head = HEAD("t-looks"), .enter = enter_looks};

    must_crash(POLICY_IDLE, &deep, WORDS("enter", "vm vcpu", "C-state"));
    must_crash(POLICY_IDLE, &negative, WORDS("enter", "C-state"));
    must_crash(POLICY_IDLE, &past, WORDS("enter", "vm vcpu", "limit in the past"));
    must_crash(POLICY_IDLE, &now, WORDS("enter", "limit at once"));
    must_crash(POLICY_IDLE, &yields, WORDS("enter", "yield without an exit"));
    must_crash(POLICY_IDLE, &looks, WORDS("enter", "look of its own without a time"));
}

Test(policy_crash, a_second_plan_that_cannot_be_carried_out)
{
    static const struct idle_ops watches = {
        .head = HEAD("t-watches"), .enter = enter_watch, .expire = enter_past};
    static const struct idle_ops expires = {
        .head = HEAD("t-expires"), .enter = enter_short, .expire = enter_deep};
    static const struct idle_ops rival = {
        .head = HEAD("t-rival"), .enter = enter_spin, .rival = rival_past};

    must_crash(POLICY_IDLE, &watches, WORDS("expire", "limit in the past"));
    must_crash(POLICY_IDLE, &expires, WORDS("expire", "C-state"));
    must_crash(POLICY_IDLE, &rival, WORDS("rival", "limit in the past"));
}

/* -- tables -- */

static void refused(enum policy_kind kind, const void *ops, const char *words)
{
    char why[200] = "";
    const char *text = registry_add(kind, ops, why);

    cr_expect(text && strstr(text, words), "\"%s\", expected \"%s\"", text ? text : "accepted",
              words);
}

Test(policy_crash, a_table_that_cannot_work_is_refused)
{
    static const struct guest_ops half = {
        .head = HEAD("t-half"), .enqueue = remember, .dequeue = keep};
    static const struct guest_ops old = {
        .head = {.abi = TANDEM_POLICY_ABI + 1, .name = "t-old", .summary = "of a test"}};
    static const struct guest_ops taken = {.head = HEAD("bare")};
    static const struct guest_ops odd = {.head = HEAD("Odd Name")};
    static const struct guest_ops silent = {.head = {.abi = TANDEM_POLICY_ABI, .name = "t-silent"}};
    static const struct idle_ops empty = {.head = HEAD("t-empty")};

    refused(POLICY_GUEST, &half,
            "enqueue, dequeue and pick come all "
            "three or none; pick is missing");
    refused(POLICY_GUEST, &old, "guest policy 't-old': built for contract version");
    refused(POLICY_GUEST, &taken, "guest policy 'bare': another policy has this name");
    refused(POLICY_GUEST, &odd, "only a-z, 0-9 and '-' may stand in its name");
    refused(POLICY_GUEST, &silent, "it has no summary");
    refused(POLICY_IDLE, &empty, "the required operation 'enter' is missing");
}
