/* SPDX-License-Identifier: MIT */
/*
 * The null idle policy, and the skeleton: an idle guest spins on its pCPU and never leaves the
 * guest (idle=poll). It wakes fastest and costs its neighbours most.
 */
#include "channel/idle_ops.h"

static struct idle_plan null_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_SPIN, .until = NS_NEVER};
}

const struct idle_ops idle_policy_null = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "null",
            .summary = "polls in the guest for ever (idle=poll)",
        },
    .enter = null_enter,
};
