/* SPDX-License-Identifier: MIT */
/*
 * Steal as a whole run makes it, against what the trace says: run-queue wait to the nanosecond, and what the
 * guest sees of it, when.
 */
#include "cross/world.h"
#include "registry.h"
#include "tests/support/run_text.h"

#define VCPUS 16
#define SEEN  20000

/* Made of trace records alone: a vCPU waits from READY to RUNNING. */
static struct watcher {
    struct trace_sink sink;
    const struct world *world;
    int state[VCPUS];
    ns_t since[VCPUS];
    ns_t wait[VCPUS];     /* finished */
    ns_t at_entry[VCPUS]; /* as of its last switch-in */
    struct {
        ns_t steal, at;
    } last[VCPUS];
    uint64_t behind, read; /* reads of a value that the host was ahead of; all */
    struct {
        ns_t at, published; /* of all vCPUs of the first VM */
    } entry[SEEN];
    int nentries;
    struct {
        ns_t at;
        int n;
    } usable[100];
    int nusable;
} w;

static ns_t waited(int v, ns_t now)
{
    return w.wait[v] + (w.state[v] == VCPU_READY ? now - w.since[v] : 0);
}

/* The host's own account, between two looks at it: no more than the time that has passed. */
static void check_window(int v, ns_t now)
{
    const ns_t steal = vcpu_steal(w.world->host->vcpu[v], now);

    cr_assert(steal >= w.last[v].steal && steal - w.last[v].steal <= now - w.last[v].at,
              "vCPU %d: %lld ns of steal within %lld", v, (long long)(steal - w.last[v].steal),
              (long long)(now - w.last[v].at));
    w.last[v].steal = steal;
    w.last[v].at = now;
}

static void log_entry(ns_t now)
{
    ns_t sum = 0;

    for (int v = 0; v < w.world->vm[0].nvcpus; v++)
        sum += w.at_entry[v];
    if (w.nentries < SEEN) {
        w.entry[w.nentries].at = now;
        w.entry[w.nentries++].published = sum;
    }
}

static void watch_put(struct trace_sink *sink, const struct trace_record *r)
{
    (void)sink;
    if (r->kind == TRACE_USABLE && r->a == 0 && w.nusable < 100) {
        w.usable[w.nusable].at = r->time;
        w.usable[w.nusable++].n = r->b;
    }
    if (r->kind != TRACE_VCPU_STATE)
        return;
    if (w.state[r->a] == VCPU_READY)
        w.wait[r->a] += r->time - w.since[r->a];
    w.state[r->a] = r->b;
    w.since[r->a] = r->time;
    check_window(r->a, r->time);
    if (r->b == VCPU_RUNNING) {
        w.at_entry[r->a] = w.wait[r->a];
        log_entry(r->time);
    }
}

static struct trace_sink *watch_begin(void *arg, const struct world *world)
{
    (void)arg;
    w = (struct watcher){.sink = {.put = watch_put}, .world = world};
    return &w.sink;
}

static int watch_end(void *arg, ns_t now)
{
    ns_t *sum = arg;

    *sum = 0;
    for (int v = 0; v < w.world->nvcpus; v++) {
        cr_expect_eq(vcpu_steal(w.world->host->vcpu[v], now), waited(v, now), "vCPU %d", v);
        *sum += waited(v, now);
    }
    return 0;
}

/* The steal of all vCPUs together. */
static ns_t watched(const char *text)
{
    struct scenario *s = scenario_of_text(text);
    struct run_values *v = NULL;
    char error[256] = "";
    ns_t steal;
    const struct run_watch watch = {.begin = watch_begin, .end = watch_end, .arg = &steal};

    cr_assert(run_watched(s, 3, 0, &watch, &v, error, sizeof(error)) == 0, "%s", error);
    run_values_free(v);
    scenario_free(s);
    return steal;
}

#define MACHINE                                                                                    \
    "machine: {base: flat-8, topology: {sockets: 1, nodes: 1, groups: 1, cores: 4, threads: 1}}\n"
#define BURSTS                                                                                     \
    "workload: {tasks: [{name: t, count: 6, program: [{loop: {count: forever, body: [{run: "       \
    "{exponential: 700us}}, {sleep: {exponential: 300us}}]}}]}]}"

Test(steal, is_the_wait_on_run_queues)
{
    static const char *const hosts[] = {"{scheduler: cfs, tick: 250}", "{scheduler: eevdf}",
                                        "{scheduler: rr, placement: pinned}",
                                        "{scheduler: credit2, tick: 250}"};
    char text[1024];

    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        snprintf(text, sizeof(text),
                 MACHINE "duration: 300ms\nwarmup: 100ms\nhost: %s\n"
                         "vms: [{name: a, count: 2, vcpus: 4, idle: halt-poll, " BURSTS "}]\n",
                 hosts[i]);
        cr_expect_gt(watched(text), 100 * NS_MS, "%s", hosts[i]);
    }
}

Test(steal, is_nothing_at_one_to_one)
{
    cr_expect_eq(watched(MACHINE "duration: 300ms\nwarmup: 100ms\n"
                                 "host: {scheduler: eevdf, placement: pinned, tick: 250}\n"
                                 "vms: [{name: a, vcpus: 4, " BURSTS "}]\n"),
                 0);
}

/* Each ms the guest reads the steal of all its vCPUs, those included that are off their pCPU. */
static void read_timer(struct guest *k, uint64_t cookie)
{
    static ns_t before[VCPUS];

    for (int c = 0; c < guest_ncpus(k); c++) {
        const ns_t seen = guest_steal(k, c);
        const ns_t host = vcpu_steal(w.world->host->vcpu[c], guest_now(k));

        cr_expect_eq(seen, w.at_entry[c], "vCPU %d", c);
        cr_expect(seen <= host && seen >= before[c], "vCPU %d", c);
        before[c] = seen;
        w.read++;
        w.behind += seen < host;
    }
    guest_timer(k, 0, guest_now(k) + NS_MS, cookie);
}

static int read_init(struct guest *k)
{
    guest_timer(k, 0, NS_MS, 0);
    return 0;
}

static const struct guest_ops reader = {
    .head = {.abi = TANDEM_POLICY_ABI, .name = "t-reader", .summary = "of a test"},
    .facts = FACT_STEAL,
    .init = read_init,
    .timer = read_timer};

Test(steal, a_guest_sees_that_of_its_last_entry)
{
    char why[200];

    cr_assert_null(registry_add(POLICY_GUEST, &reader, why));
    watched(MACHINE "duration: 400ms\nwarmup: 100ms\nhost: {scheduler: eevdf, tick: 250}\n"
                    "vms: [{name: a, vcpus: 4, guest: {policy: t-reader}, " BURSTS "}, "
                    "{name: b, vcpus: 4, " BURSTS "}]\n");
    /* Not up to date as a rule: that is why it may not be compared with the host's. */
    cr_expect(w.read > 1500 && w.behind > 100 && w.behind < w.read, "%d of %d", (int)w.behind,
              (int)w.read);
}

static ns_t published_at(ns_t at)
{
    ns_t published = 0;

    for (int i = 0; i < w.nentries && w.entry[i].at <= at; i++)
        published = w.entry[i].published;
    return published;
}

/* With slices of 450 ms a vCPU is off for longer than an interval, and reports all of that at once. */
Test(steal, a_late_report_exceeds_all_time_and_is_acted_upon)
{
    const ns_t interval = 100 * NS_MS;
    int64_t most = 0;

    watched("machine: {base: flat-8, topology: {sockets: 1, nodes: 1, groups: 1, cores: 2, "
            "threads: 1}}\nduration: 5s\nallow_cold: true\n"
            "host: {scheduler: {rr: {slice: 450ms}}, placement: pinned}\n"
            "vms: [{name: a, vcpus: 2, guest: {policy: {steal-governor: {interval: 100ms}}}, "
            "workload: cpu-bound}, {name: b, vcpus: 2, workload: cpu-bound}]\n");
    for (int i = 1; i < w.nusable; i++) {
        const ns_t at = w.usable[i].at;
        const ns_t grown = published_at(at) - published_at(at - interval);

        if (w.usable[i].n < w.usable[i - 1].n && grown / (interval * 2 / 10000) > most)
            most = grown / (interval * 2 / 10000);
    }
    /* What it uses at first is told, too. */
    cr_expect(w.usable[0].at == 0 && w.usable[0].n == 2);
    cr_expect(w.nusable > 2 && most > 10000, "%d steps, a core was dropped at %lld / 100 %%",
              w.nusable, (long long)most);
}
