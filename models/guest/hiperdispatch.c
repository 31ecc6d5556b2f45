/* SPDX-License-Identifier: MIT */
/*
 * s390 HiperDispatch (Linux 6.12 arch/s390/kernel/hiperdispatch.c): while steal is high, the CPUs
 * that the host does not grant the VM count for little, and are used last. They are never excluded.
 *
 * Every `interval`, first after `first`: steal / (time x CPUs) of the CPUs that are not entitled (and
 * of the last `medium` of the entitled ones), from it the moving average of 15 parts old and 1 part new.
 * Below `threshold` all CPUs have full capacity, else those that are not entitled have `low` of 1024.
 *
 * The capacity reaches wake_affine, load balancing (a lone task that needs more than such a CPU has moves
 * to an idle one that has more), and, with `asym`, the search for an idle CPU, in which one that is too
 * small for the task comes last. An idle CPU whose vCPU is marked preempted is none for any wake-up, as in
 * stock Linux. No task is moved away from a CPU only because it is not entitled.
 *
 * Assumed: the entitled CPUs are those with the lowest numbers; the average starts at 0 and is kept in
 * 1/100 %; full capacity until the first sample; the change itself costs nothing (Linux rebuilds its
 * scheduling domains); a waking task is taken for what its utilisation has decayed to in its sleep.
 */
#include "available.h"

struct hiperdispatch_params {
    ns_t first, interval;
    int64_t threshold, entitled, medium, low;
    bool asym;
};

struct hiperdispatch {
    ns_t at, steal;
    int64_t average; /* 1/100 % */
    bool high;       /* steal is: capacity is taken away */
    int64_t util;    /* of the task for which an idle CPU is searched */
};

#define OFF(f) offsetof(struct hiperdispatch_params, f)
static const struct param hiperdispatch_params[] = {
    {"first", PARAM_NS, OFF(first), "1s", NS_MS, 100 * NS_SEC, NULL, "until the first sample",
     "Linux 6.12 hiperdispatch.c"},
    {"interval", PARAM_NS, OFF(interval), "250ms", NS_MS, 100 * NS_SEC, NULL,
     "between samples of the steal", "Linux 6.12 hiperdispatch.c"},
    {"threshold", PARAM_INT, OFF(threshold), "30", 0, 1000, NULL,
     "average steal, %, from which on capacity is taken away",
     "Linux 6.12 hiperdispatch.c; 10 in trees of 2026"},
    {"entitled", PARAM_INT, OFF(entitled), "0", 0, 65536, NULL,
     "vCPUs that the host grants, of the lowest numbers; 0 = half of them", "assumed"},
    {"medium", PARAM_INT, OFF(medium), "0", 0, 65536, NULL,
     "of these, granted in part only: their steal counts, too", "assumed"},
    {"low", PARAM_INT, OFF(low), "128", 1, 1024, NULL,
     "capacity of a CPU that is not entitled while steal is high, of 1024",
     "Linux 6.12 hiperdispatch.c"},
    {"asym", PARAM_BOOL, OFF(asym), "on", 0, 0, NULL, "a wake-up searches idle CPUs by capacity",
     "assumed: Linux, domains of unequal capacity"},
    PARAM_END};
#undef OFF

static int entitled(const struct guest *k)
{
    const struct hiperdispatch_params *p = guest_policy_params(k);
    const int n = guest_ncpus(k), few = p->entitled > 0 ? (int)p->entitled : (n + 1) / 2;

    return few < n ? few : n;
}

/* The first CPU whose steal counts. */
static int counted_from(const struct guest *k)
{
    const struct hiperdispatch_params *p = guest_policy_params(k);
    const int e = entitled(k);

    return p->medium < e ? e - (int)p->medium : 0;
}

static ns_t counted_steal(struct guest *k)
{
    ns_t sum = 0;

    for (int c = counted_from(k); c < guest_ncpus(k); c++)
        sum += guest_steal(k, c);
    return sum;
}

static void hiperdispatch_timer(struct guest *k, uint64_t cookie)
{
    const struct hiperdispatch_params *p = guest_policy_params(k);
    struct hiperdispatch *h = guest_self(k);
    const ns_t now = guest_now(k), time = now - h->at, before = h->steal;
    const int n = guest_ncpus(k) - counted_from(k);
    bool high;

    h->at = now;
    h->steal = counted_steal(k);
    if (n > 0)
        h->average = (h->average * 15 + (h->steal - before) * 100 / (time * n / 100)) / 16;
    high = n > 0 && h->average >= p->threshold * 100;
    if (high != h->high)
        guest_count(k, high ? "hiperdispatch_low" : "hiperdispatch_full");
    h->high = high;
    guest_timer(k, 0, now + p->interval, cookie);
}

static int hiperdispatch_init(struct guest *k)
{
    const struct hiperdispatch_params *p = guest_policy_params(k);
    struct hiperdispatch *h = guest_self(k);

    h->at = guest_now(k);
    guest_timer(k, 0, h->at + p->first, 0);
    return 0;
}

static int hiperdispatch_capacity(struct guest *k, int cpu)
{
    const struct hiperdispatch_params *p = guest_policy_params(k);
    const struct hiperdispatch *h = guest_self(k);

    return h->high && cpu >= entitled(k) ? (int)p->low : 1024;
}

/* Available, and the task needs at most 80 % of what is left of it. */
static bool idle_and_fits(struct guest *k, int cpu)
{
    const struct hiperdispatch *h = guest_self(k);

    return h->util * 1280 <= (int64_t)guest_capacity(k, cpu) * 1024 && available(k, cpu);
}

/* The available CPU with most capacity, the first from `from` on; -1 without one. */
static int largest_idle(struct guest *k, const struct task *t, int from)
{
    int best = -1;

    for (int i = 0; i < guest_ncpus(k); i++) {
        const int c = (from + i) % guest_ncpus(k);

        if (guest_allowed(t, c) && (best < 0 || guest_capacity(k, c) > guest_capacity(k, best)) &&
            available(k, c))
            best = c;
    }
    return best;
}

static int hiperdispatch_select(struct guest *k, struct task *t, int prev, int waker,
                                unsigned flags)
{
    const struct hiperdispatch_params *p = guest_policy_params(k);
    struct hiperdispatch *h = guest_self(k);
    int c, idle;

    if (!p->asym || !h->high || (flags & SELECT_FORK))
        return guest_select_sibling(k, t, prev, waker, flags, available);
    h->util = guest_task_util(t);
    c = guest_select_sibling(k, t, prev, waker, flags, idle_and_fits);
    if (idle_and_fits(k, c))
        return c;
    idle = largest_idle(k, t, prev);
    return idle < 0 ? c : idle;
}

const struct guest_ops guest_policy_hiperdispatch = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "hiperdispatch",
            .summary = "s390: under steal, vCPUs that are not entitled count for little",
            .params = hiperdispatch_params,
            .params_size = sizeof(struct hiperdispatch_params),
            .self_size = sizeof(struct hiperdispatch),
        },
    .facts = FACT_STEAL | FACT_PREEMPTED,
    .init = hiperdispatch_init,
    .select = hiperdispatch_select,
    .timer = hiperdispatch_timer,
    .capacity = hiperdispatch_capacity,
};
