/* SPDX-License-Identifier: MIT */
/*
 * The strawman of the CPS paper: one boolean per pCPU, "nothing runs there". A waking task goes to
 * a vCPU whose pCPU is idle: its previous one, else the first; else as in stock Linux. With many
 * VMs whoever looks first takes the idle pCPU, and one bit cannot tell a little load from much.
 */
#include "guest/guest_ops.h"

static bool free_here(struct guest *k, const struct task *t, int cpu)
{
    return guest_allowed(t, cpu) && guest_idle_cpu(k, cpu) && guest_pcpu_idle(k, cpu);
}

static int idle_bit_select(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    const int n = guest_ncpus(k);

    if (flags & SELECT_FORK)
        return guest_select_sibling(k, t, prev, waker, flags, NULL);
    /* An interrupted idle vCPU occupies its pCPU itself. */
    if (free_here(k, t, prev) ||
        (prev == waker && guest_allowed(t, prev) && guest_idle_cpu(k, prev)))
        return prev;
    for (int c = 0; c < n; c++)
        if (c != prev && free_here(k, t, c))
            return c;
    return guest_select_sibling(k, t, prev, waker, flags, NULL);
}

const struct guest_ops guest_policy_idle_bit = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "idle-bit",
            .summary = "one idle bit per pCPU: the strawman of CPS",
        },
    .facts = FACT_PCPU_IDLE,
    .select = idle_bit_select,
};
