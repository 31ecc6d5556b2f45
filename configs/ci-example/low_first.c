/* SPDX-License-Identifier: MIT */
/*
 * A guest policy that lives outside of Tandem: a waking task goes to an idle vCPU whose pCPU has little
 * load, its previous one first; else to the vCPU with the fewest tasks among those. Built as low_first.so
 * it is called `low-first` in scenarios.
 */
#include "guest/guest_ops.h"

struct low_first {
    int64_t threshold;
};

static const struct param low_first_params[] = {
    {"threshold", PARAM_INT, offsetof(struct low_first, threshold), "1", 1, 1000, NULL,
     "a pCPU is low below this many wanting vCPUs", "assumed"},
    PARAM_END};

static int low_first_threshold(const void *params)
{
    return (int)((const struct low_first *)params)->threshold;
}

static bool is_low(struct guest *k, const struct task *t, int cpu)
{
    return guest_allowed(t, cpu) && guest_degree(k, cpu) == DEGREE_LOW;
}

static int low_first_select(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    int best = prev, least = -1;

    (void)waker;
    (void)flags;
    if (guest_idle_cpu(k, prev) && is_low(k, t, prev))
        return prev;
    for (int c = 0; c < guest_ncpus(k); c++)
        if (guest_idle_cpu(k, c) && is_low(k, t, c))
            return c;
    for (int c = 0; c < guest_ncpus(k); c++) {
        const int tasks = is_low(k, t, c) ? guest_nr_running(k, c) : -1;

        if (tasks >= 0 && (least < 0 || tasks < least)) {
            best = c;
            least = tasks;
        }
    }
    return best;
}

const struct guest_ops guest_policy_low_first = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "low-first",
            .summary = "idle vCPUs on pCPUs of low load first, kept outside of Tandem",
            .params = low_first_params,
            .params_size = sizeof(struct low_first),
        },
    .facts = FACT_DEGREE,
    .threshold = low_first_threshold,
    .select = low_first_select,
};
