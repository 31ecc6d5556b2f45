/* SPDX-License-Identifier: MIT */
/*
 * Linux with the preempted flag of KVM's steal-time record: a CPU counts as idle only if its vCPU
 * is not marked preempted (available_idle_cpu). Which vCPUs are marked is the host's rule
 * (`host.preempted`): under any-deschedule a halted vCPU counts as preempted, under runnable-only
 * it does not (KVM commit 54aa83c90198), under never none is (mainline arm64). Balancing keeps to plain
 * idleness, as in Linux.
 */
#include "available.h"

static int preempted_bit_select(struct guest *k, struct task *t, int prev, int waker,
                                unsigned flags)
{
    return guest_select_sibling(k, t, prev, waker, flags, available);
}

const struct guest_ops guest_policy_preempted_bit = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "preempted-bit",
            .summary = "stock Linux with KVM's preempted flag (vcpu_is_preempted)",
        },
    .facts = FACT_PREEMPTED,
    .select = preempted_bit_select,
};
