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
 *               fewer than `entitled` cores.
 *
 * The steal is what each vCPU saw at its last entry, so one that is off its pCPU for longer than
 * an interval reports late: a ratio above 100 % is possible, and acted upon like any other.
 *
 * Wake-ups are placed by stock Linux, which does not know the set. If that answers an avoided CPU, the task
 * goes to the lowest preferred one it may use (select_fallback_rq), busy or not. The tick of an avoided CPU
 * has the stopper move the task that runs there to the same, one per tick. Load balancing spans preferred
 * CPUs only.
 *
 * Assumed: the governor's own work takes no time and waits for no vCPU; its first sample, from which
 * the second counts, lies at a random time within an interval, as VMs are not started together.
 */
#include "guest/guest_ops.h"

enum mode { GOVERNOR, FLOOR_STEAL, TWO_SAMPLE };
enum direction { NEITHER, HIGH, LOW };

struct steal_governor_params {
    int mode;
    ns_t interval;
    int64_t high, low, threads, entitled;
};

struct steal_governor {
    bool sampled;
    enum direction before; /* of the last sample */
    ns_t at, steal;
};

struct governed {
    bool avoided;
};

static const char *const mode_names[] = {"governor", "floor-steal", "two-sample", NULL};

#define OFF(f) offsetof(struct steal_governor_params, f)
static const struct param steal_governor_params[] = {
    {"mode", PARAM_ENUM, OFF(mode), "governor", 0, 0, mode_names, "which version",
     "steal_governor.c v14; stealmon.c; powerpc patches of 2025-11"},
    {"interval", PARAM_NS, OFF(interval), "1s", 100 * NS_MS, 100 * NS_SEC, NULL,
     "between two samples of the steal", "steal_governor.c v14; also stealmon.c and powerpc"},
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
    PARAM_END};
#undef OFF

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

/* The last preferred core leaves, if more than `stay` would be left. */
static void drop_core(struct guest *k, int64_t stay)
{
    int c = guest_ncpus(k) - 1;

    while (c > 0 && avoided(k, c))
        c--;
    if (core_of(k, c) < stay)
        return;
    avoid_core(k, core_of(k, c), true);
    guest_count(k, "governor_core_dropped");
}

/* The first core that is not preferred comes back. */
static void add_core(struct guest *k)
{
    int c = 0;

    while (c < guest_ncpus(k) && !avoided(k, c))
        c++;
    if (c == guest_ncpus(k))
        return;
    avoid_core(k, core_of(k, c), false);
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

static void steal_governor_timer(struct guest *k, uint64_t cookie)
{
    const struct steal_governor_params *p = guest_policy_params(k);
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
    guest_timer(k, 0, now + p->interval, cookie);
}

static int steal_governor_init(struct guest *k)
{
    const struct steal_governor_params *p = guest_policy_params(k);

    guest_timer(k, 0, guest_now(k) + (ns_t)rng_below(guest_rng(k), (uint64_t)p->interval), 0);
    return 0;
}

/* Where an avoided CPU sends t: the lowest preferred one, -1 = t may use none. */
static int fallback(const struct guest *k, const struct task *t)
{
    for (int c = 0; c < guest_ncpus(k); c++)
        if (!avoided(k, c) && guest_allowed(t, c))
            return c;
    return -1;
}

static int steal_governor_select(struct guest *k, struct task *t, int prev, int waker,
                                 unsigned flags)
{
    const int c = guest_select_sibling(k, t, prev, waker, flags, NULL);
    const int other = avoided(k, c) ? fallback(k, t) : -1;

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
    return avoided(k, cpu) ? fallback(k, curr) : -1;
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
            .self_size = sizeof(struct steal_governor),
            .cpu_size = sizeof(struct governed),
        },
    .facts = FACT_STEAL,
    .init = steal_governor_init,
    .select = steal_governor_select,
    .timer = steal_governor_timer,
    .usable = steal_governor_usable,
    .evict = steal_governor_evict,
    .dump = steal_governor_dump,
};
