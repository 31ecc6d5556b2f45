/* SPDX-License-Identifier: MIT */
/* The rule of cps-load, which cps follows where there is no group to gather. */
#ifndef MODELS_GUEST_CPS_LOAD_H
#define MODELS_GUEST_CPS_LOAD_H

#include "guest/guest_ops.h"

enum cps_fallback { CPS_FALLBACK_STACK, CPS_FALLBACK_BARE };

/* First in the policy's parameters. */
struct cps_load {
    int64_t threshold;
    int fallback;
};

static const char *const cps_fallbacks[] = {"stack", "bare", NULL};

#define CPS_LOAD_PARAMS                                                                            \
    {"threshold",                                                                                  \
     PARAM_INT,                                                                                    \
     offsetof(struct cps_load, threshold),                                                         \
     "1",                                                                                          \
     1,                                                                                            \
     100000,                                                                                       \
     NULL,                                                                                         \
     "a pCPU is low below this many wanting vCPUs",                                                \
     "assumed; the artifact uses 8 and 1000, unit unknown"},                                       \
    {                                                                                              \
        "fallback", PARAM_ENUM, offsetof(struct cps_load, fallback), "stack", 0, 0, cps_fallbacks, \
            "when no idle vCPU sits on a low pCPU", "assumed"                                      \
    }

static inline int cps_load_threshold(const void *params)
{
    return (int)((const struct cps_load *)params)->threshold;
}

static inline bool cps_load_low(struct guest *k, const struct task *t, int cpu)
{
    return guest_allowed(t, cpu) && guest_degree(k, cpu) == DEGREE_LOW;
}

static inline int cps_load_stack(struct guest *k, const struct task *t, int prev)
{
    int best = prev, best_nr = -1;

    for (int c = 0; c < guest_ncpus(k); c++) {
        int nr;

        if (!cps_load_low(k, t, c))
            continue;
        nr = guest_nr_running(k, c);
        if (best_nr < 0 || nr < best_nr) {
            best = c;
            best_nr = nr;
        }
    }
    return best;
}

static inline int cps_load_place(struct guest *k, struct task *t, int prev, int waker,
                                 unsigned flags)
{
    const struct cps_load *p = guest_policy_params(k);

    if (flags & SELECT_FORK)
        return guest_select_sibling(k, t, prev, waker, flags, NULL);
    /* In an interrupt on an idle vCPU that vCPU itself is the load of its pCPU: it runs, so it is as
     * good as low. */
    if (guest_idle_cpu(k, prev) && guest_allowed(t, prev) &&
        (prev == waker || cps_load_low(k, t, prev)))
        return prev;
    for (int c = 0; c < guest_ncpus(k); c++)
        if (c != prev && guest_idle_cpu(k, c) && cps_load_low(k, t, c))
            return c;
    if (p->fallback == CPS_FALLBACK_BARE)
        return guest_select_sibling(k, t, prev, waker, flags, NULL);
    return cps_load_stack(k, t, prev);
}

#endif
