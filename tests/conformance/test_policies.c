/* SPDX-License-Identifier: MIT */
/*
 * Every registered policy, automatically: a finite workload that uses every kind of operation must
 * complete to the last one, twice with the same events, on an oversubscribed host with two VMs; the
 * times of every pCPU, vCPU and task add up (the run checks that itself, always).
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "registry.h"
#include "tests/support/run_text.h"

#define TASKS  6
#define ROUNDS 40

/* Every task marks ROUNDS operations and ends; pairs exchange messages, all meet at barriers. */
static const char workload[] =
    "{objects: {locks: {m: {kind: sleep, spin: 20us}, s: {kind: spin, kernel: on, fair: on},"
    " t: {kind: spin, kernel: on}, r: {kind: rwsem, spin: owner}}, lines: {x: {}}, barriers: {b: "
    "{parties: 6}, c: {parties: 6, spin: 30us, wake: "
    "chain}},"
    " queues: {q: {capacity: 2}}, devices: {d: {depth: 1, service: {exponential: 80us}}}}, tasks: ["
    "{name: worker, count: 6, group: 1, footprint: 128KB, program: [{loop: {count: 40, body: ["
    "{run: {exponential: 60us}}, {lock: m}, {run: 5us}, {unlock: m}, {lock: s}, {run: 2us}, "
    "{unlock: s},"
    " {lock: t}, {run: 1us}, {unlock: t}, {lock: {lock: r, mode: read}}, {run: 1us}, {unlock: r},"
    " {lock: r}, {share: {line: x, count: 3}}, {unlock: r}, {barrier: b}, {sleep: {uniform: [10us, "
    "90us]}}, yield,"
    " {spin: 3us}, {io: d}, {timer: 100us}, {barrier: c}, {mark: {op: round}}]}}, exit]},"
    "{name: source, program: [{loop: {count: 200, body: [{run: 3us}, {send: q}]}}, {fork: child}]},"
    "{name: sink, program: [{loop: {count: 200, body: [{recv: q}, {run: 10us}, {mark: {op: "
    "got}}]}}]},"
    "{name: child, on_demand: on, count: 1, program: [{run: 50us}, {mark: {op: born}}]}]}";

#define EXPECT_OPS (2 * (TASKS * ROUNDS + 200 + 1))

/* Where hypervisor entries are what wakes, there must be some. */
static const char busy_neighbour[] =
    "  - {name: b, role: background, vcpus: 3, workload: {tasks: [{name: busy, count: 3, "
    "program: [{loop: {count: forever, body: [{run: 1ms}]}}]}]}}\n";

static void complete_beside(const char *host, const char *guest, const char *idle,
                            const char *extra, const char *placement, const char *neighbour)
{
    char text[4096];
    struct run_values *a, *b;

    snprintf(text, sizeof(text),
             "machine: {base: flat-8, topology: {sockets: 1, nodes: 1, groups: 1, cores: 3, "
             "threads: 1}}\n"
             "duration: 4s\nallow_cold: true\n"
             "host: {scheduler: %s, placement: %s}\n"
             "vms:\n"
             "  - {name: a, count: 2, vcpus: 4, idle: %s, guest: {policy: %s%s}, workload: %s}\n"
             "%s",
             host, placement, idle, guest, extra, workload, neighbour);
    a = run_of_text(text, 11, NULL);
    b = run_of_text(text, 11, NULL);
    cr_expect(metric_of(a, 0, METRIC_OPS) == EXPECT_OPS,
              "host %s, guest %s%s, idle %s, %s: %g of %d operations", host, guest, extra, idle,
              placement, metric_of(a, 0, METRIC_OPS), EXPECT_OPS);
    cr_expect(a->fingerprint == b->fingerprint, "host %s, guest %s, idle %s: two runs differ", host,
              guest, idle);
    run_values_free(a);
    run_values_free(b);
}

static void complete(const char *host, const char *guest, const char *idle, const char *extra,
                     const char *placement)
{
    complete_beside(host, guest, idle, extra, placement, "");
}

static size_t *all(enum policy_kind kind, size_t max, size_t *n)
{
    static size_t index[3][64];

    *n = registry_count(kind) < max ? registry_count(kind) : max;
    for (size_t i = 0; i < *n; i++)
        index[kind][i] = i;
    return index[kind];
}

ParameterizedTestParameters(conformance, host_policy)
{
    size_t n;
    size_t *i = all(POLICY_HOST, 64, &n);

    return cr_make_param_array(size_t, i, n);
}

static void quoted(enum policy_kind kind, size_t i, char buf[64])
{
    snprintf(buf, 64, "\"%s\"", registry_head(kind, i)->name);
}

ParameterizedTest(size_t *i, conformance, host_policy)
{
    char name[64];

    quoted(POLICY_HOST, *i, name);
    complete(name, "bare", "hlt", "", "float");
    complete(name, "bare", "hlt", "", "pinned");
    complete(name, "\"null\"", "hlt", ", scheduler: cfs", "float");
    complete(name, "bare", "hlt", ", hints: honest", "float");
    complete(name, "cps-load", "halt-poll", ", hints: lie", "pinned");
    strcat(name, ", shuffle: 300us");
    complete(name, "preempted-bit", "hlt", "", "float");
}

/* Modes that are as good as policies of their own. */
Test(conformance, host_policy_modes)
{
    const char strict[] = "{gang: {mode: strict, slice: 1ms}}";

    complete(strict, "bare", "hlt", "", "float");
    complete(strict, "bare", "hlt", "", "pinned");
    complete("{gang: {mode: strict}}, tick: 250, gather: on", "bare", "mwait-sched", "", "float");
    complete("{gang: {mode: relaxed, skew: 200us}}, tick: 250", "bare", "hlt", "", "float");
    complete("{gang: {mode: relaxed, skew: 200us}}, gather: on", "bare", "mwait-sched", "",
             "float");
    complete("credit2, tick: 250, gather: on", "bare", "mwait-sched", "", "float");
    complete("balance, tick: 250, gather: on", "bare", "mwait-sched", "", "float");
    complete("cluster, gather: on", "bare", "mwait-sched", "", "float");
}

ParameterizedTestParameters(conformance, guest_policy)
{
    size_t n;
    size_t *i = all(POLICY_GUEST, 64, &n);

    return cr_make_param_array(size_t, i, n);
}

ParameterizedTest(size_t *i, conformance, guest_policy)
{
    char name[64];

    quoted(POLICY_GUEST, *i, name);
    complete("eevdf", name, "hlt", "", "float");
    complete("cfs", name, "hlt", ", channel: off", "float");
    complete("rr", name, "hlt", ", scheduler: fifo, nohz: off", "pinned");
}

ParameterizedTestParameters(conformance, idle_policy)
{
    size_t n;
    size_t *i = all(POLICY_IDLE, 64, &n);

    return cr_make_param_array(size_t, i, n);
}

ParameterizedTest(size_t *i, conformance, idle_policy)
{
    char name[64];

    quoted(POLICY_IDLE, *i, name);
    /* Scans alone wake nobody on a machine that is never entered. */
    if (!((const struct idle_ops *)registry_find(POLICY_IDLE, registry_head(POLICY_IDLE, *i)->name))
             ->scans) {
        complete("rr", "bare", name, "", "float");
        complete("cfs", "cps-load", name, "", "pinned");
    }
    complete_beside("rr, tick: 250", "bare", name, "", "float", busy_neighbour);
    complete_beside("cfs, tick: 250", "cps-load", name, "", "pinned", busy_neighbour);
    complete_beside("eevdf, tick: 250, gather: on", "bare", name, "", "float", busy_neighbour);
    complete_beside("eevdf, tick: 250, shuffle: 300us", "bare", name, "", "float", busy_neighbour);
}
