/* SPDX-License-Identifier: MIT */
/*
 * CPS by load degree (ASPLOS'23): the host shows, per pCPU, whether its load is low or
 * high. A waking task goes to its previous vCPU if that is idle and its pCPU low; else to the first
 * idle vCPU on a low pCPU; else, by `fallback`: `stack` on the low vCPU with the fewest tasks (prev
 * if none is low), or as in stock Linux (`bare`). It sees the degree and nothing else.
 */
#include "guest/guest_ops.h"

enum fallback { FALLBACK_STACK, FALLBACK_BARE };

struct cps_load {
    int64_t threshold;
    int fallback;
};

static const char *const fallbacks[] = {"stack", "bare", NULL};

static const struct param cps_load_params[] = {
    {"threshold", PARAM_INT, offsetof(struct cps_load, threshold), "1", 1, 100000, NULL,
     "a pCPU is low below this many wanting vCPUs",
     "assumed; the artifact uses 8 and 1000, unit unknown"},
    {"fallback", PARAM_ENUM, offsetof(struct cps_load, fallback), "stack", 0, 0, fallbacks,
     "when no idle vCPU sits on a low pCPU", "assumed"},
    PARAM_END};

static int threshold(const void *params)
{
    return (int)((const struct cps_load *)params)->threshold;
}

static bool low(struct guest *k, const struct task *t, int cpu)
{
    return guest_allowed(t, cpu) && guest_degree(k, cpu) == DEGREE_LOW;
}

static int stack(struct guest *k, const struct task *t, int prev)
{
    int best = prev, best_nr = -1;

    for (int c = 0; c < guest_ncpus(k); c++) {
        int nr;

        if (!low(k, t, c))
            continue;
        nr = guest_nr_running(k, c);
        if (best_nr < 0 || nr < best_nr) {
            best = c;
            best_nr = nr;
        }
    }
    return best;
}

static int cps_load_select(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    const struct cps_load *p = guest_policy_params(k);

    if (flags & SELECT_FORK)
        return guest_select_sibling(k, t, prev, waker, flags, NULL);
    /* In an interrupt on an idle vCPU that vCPU itself is the load of its pCPU: it runs, so it is as
     * good as low. */
    if (guest_idle_cpu(k, prev) && guest_allowed(t, prev) && (prev == waker || low(k, t, prev)))
        return prev;
    for (int c = 0; c < guest_ncpus(k); c++)
        if (c != prev && guest_idle_cpu(k, c) && low(k, t, c))
            return c;
    if (p->fallback == FALLBACK_BARE)
        return guest_select_sibling(k, t, prev, waker, flags, NULL);
    return stack(k, t, prev);
}

const struct guest_ops guest_policy_cps_load = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "cps-load",
            .summary = "CPS: idle vCPUs on pCPUs of low load first",
            .params = cps_load_params,
            .params_size = sizeof(struct cps_load),
        },
    .facts = FACT_DEGREE,
    .threshold = threshold,
    .select = cps_load_select,
};
