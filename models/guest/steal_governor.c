/* SPDX-License-Identifier: MIT */
/*
 * Linux' preferred CPUs with the steal governor (drivers/virt/steal_governor.c, v14 of September 2026, as
 * merged): a guest whose steal is high crowds onto fewer of its vCPUs, so that the host has fewer to
 * run in turn. It knows nothing of the host but the steal it is charged for.
 *
 * Always true: the first core is preferred. Affinity is never broken: a task that may run on no preferred
 * CPU stays where it is.
 *
 * Every `interval`, ratio = what the published steal of all vCPUs grew by / (time x vCPUs):
 *  governor     above `high` the last preferred core leaves, at or below `low` the first one that
 *               is not preferred comes back; one core per interval, no memory;
 *  floor-steal  the proof of concept of the smoke tests (stealmon.c): of the CPUs after CPU 0
 *               the first floor(growth / time) are avoided, all others are not; no memory;
 *  two-sample   powerpc (November 2025): as governor, but from `high` on, twice in a row for one step, never
 *               fewer than `entitled` cores;
 *  told         the host chooses: as many cores as it lets the VM use (host.quota), all if it does not
 *               say; the steal is not looked at. As vScale (EuroSys'16).
 * With `order: even` the cores leave evenly over the NUMA nodes, the last of the node that has most left,
 * and come back in the opposite order.
 *
 * The steal is what each vCPU saw at its last entry, so one that is off its pCPU for longer than
 * an interval reports late: a ratio above 100 % is possible, and acted upon like any other.
 *
 * Wake-ups are placed by stock Linux, which knows which vCPUs are marked preempted but not the set. If that
 * answers an avoided CPU, the task goes to the lowest preferred one it may use (select_fallback_rq), busy or
 * not, of the node of the CPU it was on if there is one. The tick of an avoided CPU has the stopper move the
 * task that runs there to the same, one per tick. Load balancing spans preferred CPUs only.
 *
 * Assumed: the governor's own work takes no time and waits for no vCPU; its first sample, from which
 * the second counts, lies at a random time within an interval, as VMs are not started together.
 */
#include <limits.h>

#include "available.h"

enum mode { GOVERNOR, FLOOR_STEAL, TWO_SAMPLE, TOLD };
enum direction { NEITHER, HIGH, LOW };

struct steal_governor_params {
    int mode, order;
    ns_t interval;
    int64_t high, low, threads, entitled, nodes;
};

struct steal_governor {
    bool sampled;
    enum direction before; /* of the last sample */
    ns_t at, steal;
};

struct governed {
    bool avoided;
};

enum order { ORDER_LAST, ORDER_EVEN };

static const char *const order_names[] = {"last", "even", NULL};
static const char *const mode_names[] = {"governor", "floor-steal", "two-sample", "told", NULL};

#define OFF(f) offsetof(struct steal_governor_params, f)
static const struct param steal_governor_params[] = {
    {"mode", PARAM_ENUM, OFF(mode), "governor", 0, 0, mode_names, "which version",
     "steal_governor.c v14; stealmon.c; powerpc patches of 2025-11; vScale"},
    {"interval", PARAM_NS, OFF(interval), "1s", NS_MS, 100 * NS_SEC, NULL,
     "between two samples of the steal, or of what the host says",
     "steal_governor.c v14, from 100ms; also stealmon.c and powerpc; vScale: 10ms"},
    {"high", PARAM_INT, OFF(high), "-1", -1, 100000, NULL,
     "steal, 1/100 %, above which a core leaves (two-sample: from which on); -1 = that of the mode",
     "steal_governor.c v14: 500; powerpc: 400"},
    {"low", PARAM_INT, OFF(low), "-1", -1, 100000, NULL,
     "steal, 1/100 %, up to which a core comes back; -1 = that of the mode",
     "steal_governor.c v14: 200; powerpc: 150"},
    {"threads-per-core", PARAM_INT, OFF(threads), "1", 1, 64, NULL,
     "vCPUs per core in the guest's topology, consecutive", "QEMU default topology"},
    {"entitled", PARAM_INT, OFF(entitled), "1", 1, 65536, NULL,
     "two-sample: cores that always stay", "assumed; powerpc: H_GET_PPP / 100"},
    {"order", PARAM_ENUM, OFF(order), "last", 0, 0, order_names,
     "which core leaves: the last, or the last of the NUMA node with most preferred cores left",
     "steal_governor.c v14: last; even: Tandem"},
    {"nodes", PARAM_INT, OFF(nodes), "1", 1, 64, NULL,
     "NUMA nodes in the guest's topology, blocks of consecutive cores", "QEMU default topology"},
    PARAM_END};
#undef OFF

/* What the host says may be looked at as often as it says it; steal may not. */
static const char *steal_governor_check(const void *params, int ncstates)
{
    const struct steal_governor_params *p = params;

    (void)ncstates;
    return p->mode != TOLD && p->interval < 100 * NS_MS
               ? "interval must be at least 100ms where steal is sampled"
               : NULL;
}

static bool avoided(const struct guest *k, int cpu)
{
    return ((const struct governed *)guest_cpu_mem(k, cpu))->avoided;
}

static void avoid(struct guest *k, int first, int n, bool yes)
{
    for (int c = first; c < first + n && c < guest_ncpus(k); c++)
        ((struct governed *)guest_cpu_mem(k, c))->avoided = yes;
}

static int core_of(const struct guest *k, int cpu)
{
    const struct steal_governor_params *p = guest_policy_params(k);

    return cpu / (int)p->threads;
}

static void avoid_core(struct guest *k, int core, bool yes)
{
    const struct steal_governor_params *p = guest_policy_params(k);

    avoid(k, core * (int)p->threads, (int)p->threads, yes);
}

static void report(struct guest *k)
{
    int n = 0;

    for (int c = 0; c < guest_ncpus(k); c++)
        n += !avoided(k, c);
    guest_report_usable(k, n);
}

static bool core_avoided(const struct guest *k, int core)
{
    const struct steal_governor_params *p = guest_policy_params(k);

    return avoided(k, core * (int)p->threads);
}

static int ncores(const struct guest *k)
{
    return core_of(k, guest_ncpus(k) - 1) + 1;
}

static int node_of(const struct guest *k, int core)
{
    const struct steal_governor_params *p = guest_policy_params(k);

    return (int)(core * p->nodes / ncores(k));
}

/* Preferred cores of the node of `core`; -1: of all. */
static int preferred_cores(const struct guest *k, int core)
{
    int n = 0;

    for (int c = 0; c < ncores(k); c++)
        n += !core_avoided(k, c) && (core < 0 || node_of(k, c) == node_of(k, core));
    return n;
}

/* Which core leaves first: the one with most preferred ones beside it. */
static int rank(const struct guest *k, int core)
{
    const struct steal_governor_params *p = guest_policy_params(k);

    return p->order == ORDER_EVEN ? preferred_cores(k, core) : 1;
}

/* A core leaves if at least `stay` are left, never the first one. */
static void drop_core(struct guest *k, int64_t stay)
{
    int most = 0, leaves = 0;

    if (preferred_cores(k, -1) <= stay)
        return;
    for (int c = ncores(k) - 1; c > 0; c--) {
        const int n = core_avoided(k, c) ? 0 : rank(k, c);

        leaves = n > most ? c : leaves;
        most = n > most ? n : most;
    }
    if (leaves == 0)
        return;
    avoid_core(k, leaves, true);
    guest_count(k, "governor_core_dropped");
}

/* The core that left last comes back. */
static void add_core(struct guest *k)
{
    int least = INT_MAX, back = -1;

    for (int c = 0; c < ncores(k); c++) {
        const int n = core_avoided(k, c) ? rank(k, c) : INT_MAX;

        back = n < least ? c : back;
        least = n < least ? n : least;
    }
    if (back < 0)
        return;
    avoid_core(k, back, false);
    guest_count(k, "governor_core_added");
}

static ns_t all_steal(struct guest *k)
{
    ns_t sum = 0;

    for (int c = 0; c < guest_ncpus(k); c++)
        sum += guest_steal(k, c);
    return sum;
}

static void govern(struct guest *k, const struct steal_governor_params *p, int64_t ratio)
{
    if (ratio > (p->high < 0 ? 500 : p->high))
        drop_core(k, 1);
    else if (ratio <= (p->low < 0 ? 200 : p->low))
        add_core(k);
}

static void govern_twice(struct guest *k, const struct steal_governor_params *p, int64_t ratio)
{
    struct steal_governor *s = guest_self(k);
    const enum direction before = s->before;

    s->before = ratio >= (p->high < 0 ? 400 : p->high) ? HIGH
                : ratio <= (p->low < 0 ? 150 : p->low) ? LOW
                                                       : NEITHER;
    if (s->before == HIGH && before == HIGH)
        drop_core(k, p->entitled);
    else if (s->before == LOW && before == LOW)
        add_core(k);
}

static void avoid_floor(struct guest *k, ns_t steal, ns_t time)
{
    const int most = guest_ncpus(k) - 1;
    const ns_t n = steal / time;

    avoid(k, 1, most, false);
    avoid(k, 1, n < most ? (int)n : most, true);
}

/* Up or down to as many cores as the host's word fills. */
static void obey(struct guest *k, const struct steal_governor_params *p)
{
    const int told = guest_quota(k), all = ncores(k);
    const int want = told > 0 ? (told + (int)p->threads - 1) / (int)p->threads : all;
    int n = preferred_cores(k, -1);

    for (; n > want; n--)
        drop_core(k, 1);
    for (; n < want && n < all; n++)
        add_core(k);
}

static void judge(struct guest *k, const struct steal_governor_params *p)
{
    struct steal_governor *s = guest_self(k);
    const ns_t now = guest_now(k), time = now - s->at, before = s->steal;

    s->steal = all_steal(k);
    s->at = now;
    if (s->sampled) {
        const ns_t steal = s->steal - before;
        const int64_t ratio = steal / (time * guest_ncpus(k) / 10000); /* no overflow like this */

        if (p->mode == GOVERNOR)
            govern(k, p, ratio);
        else if (p->mode == TWO_SAMPLE)
            govern_twice(k, p, ratio);
        else
            avoid_floor(k, steal, time);
    }
    s->sampled = true;
}

static void steal_governor_timer(struct guest *k, uint64_t cookie)
{
    const struct steal_governor_params *p = guest_policy_params(k);

    if (p->mode == TOLD)
        obey(k, p);
    else
        judge(k, p);
    report(k);
    guest_timer(k, 0, guest_now(k) + p->interval, cookie);
}

static int steal_governor_init(struct guest *k)
{
    const struct steal_governor_params *p = guest_policy_params(k);

    report(k);
    guest_timer(k, 0, guest_now(k) + (ns_t)rng_below(guest_rng(k), (uint64_t)p->interval), 0);
    return 0;
}

/* Where an avoided CPU sends t, which is or was on CPU `from`: the lowest preferred one of that node, else
 * of all; -1 = t may use none. */
static int fallback(const struct guest *k, const struct task *t, int from)
{
    int elsewhere = -1;

    for (int c = 0; c < guest_ncpus(k); c++) {
        if (avoided(k, c) || !guest_allowed(t, c))
            continue;
        if (node_of(k, core_of(k, c)) == node_of(k, core_of(k, from)))
            return c;
        if (elsewhere < 0)
            elsewhere = c;
    }
    return elsewhere;
}

static int steal_governor_select(struct guest *k, struct task *t, int prev, int waker,
                                 unsigned flags)
{
    const int c = guest_select_sibling(k, t, prev, waker, flags, available);
    const int other = avoided(k, c) ? fallback(k, t, prev) : -1;

    if (other < 0)
        return c;
    guest_count(k, "governor_wake_fallback");
    return other;
}

static bool steal_governor_usable(struct guest *k, int cpu)
{
    return !avoided(k, cpu);
}

static int steal_governor_evict(struct guest *k, int cpu, struct task *curr)
{
    return avoided(k, cpu) ? fallback(k, curr, cpu) : -1;
}

static void steal_governor_dump(struct guest *k, FILE *out)
{
    fputs("preferred: ", out);
    for (int c = 0; c < guest_ncpus(k); c++)
        fputc(avoided(k, c) ? '-' : '+', out);
    fputc('\n', out);
}

const struct guest_ops guest_policy_steal_governor = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "steal-governor",
            .alias = "paravirt-cpu",
            .summary = "Linux preferred CPUs: the more steal, the fewer vCPUs are used",
            .params = steal_governor_params,
            .params_size = sizeof(struct steal_governor_params),
            .check = steal_governor_check,
            .self_size = sizeof(struct steal_governor),
            .cpu_size = sizeof(struct governed),
        },
    .facts = FACT_STEAL | FACT_PREEMPTED | FACT_QUOTA,
    .init = steal_governor_init,
    .select = steal_governor_select,
    .timer = steal_governor_timer,
    .usable = steal_governor_usable,
    .evict = steal_governor_evict,
    .dump = steal_governor_dump,
};
