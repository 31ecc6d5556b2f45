/* SPDX-License-Identifier: MIT */
/*
 * The strawman of the CPS paper: one boolean per pCPU, "nothing runs there". A waking task goes to
 * a vCPU whose pCPU is idle: its previous one, else the first. When there is none, by `fallback`:
 * `available`: stock placement that asks the bit wherever Linux asks whether a CPU is available
 * (available_idle_cpu), so that it finds none either and leaves the task at its target; `bare`: stock
 * placement by plain idleness. With many VMs whoever looks first takes the idle pCPUs, the others pile
 * their tasks up, and one bit cannot tell a little load from much.
 */
#include "guest/guest_ops.h"

enum fallback { FALLBACK_AVAILABLE, FALLBACK_BARE };

struct idle_bit {
    int fallback;
};

static const char *const fallbacks[] = {"available", "bare", NULL};

static const struct param idle_bit_params[] = {
    {"fallback", PARAM_ENUM, offsetof(struct idle_bit, fallback), "available", 0, 0, fallbacks,
     "when no vCPU sits on an idle pCPU", "assumed: the bit stands where vcpu_is_preempted does"},
    PARAM_END};

static bool available(struct guest *k, int cpu)
{
    return guest_idle_cpu(k, cpu) && guest_pcpu_idle(k, cpu);
}

static int idle_bit_select(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    const struct idle_bit *p = guest_policy_params(k);
    const int n = guest_ncpus(k);

    if (flags & SELECT_FORK)
        return guest_select_sibling(k, t, prev, waker, flags, NULL);
    /* An interrupted idle vCPU occupies its pCPU itself. */
    if (guest_allowed(t, prev) &&
        (available(k, prev) || (prev == waker && guest_idle_cpu(k, prev))))
        return prev;
    for (int c = 0; c < n; c++)
        if (c != prev && guest_allowed(t, c) && available(k, c))
            return c;
    return guest_select_sibling(k, t, prev, waker, flags,
                                p->fallback == FALLBACK_BARE ? NULL : available);
}

const struct guest_ops guest_policy_idle_bit = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "idle-bit",
            .summary = "one idle bit per pCPU: the strawman of CPS",
            .params = idle_bit_params,
            .params_size = sizeof(struct idle_bit),
        },
    .facts = FACT_PCPU_IDLE,
    .select = idle_bit_select,
};
