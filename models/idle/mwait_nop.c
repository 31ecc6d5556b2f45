/* SPDX-License-Identifier: MIT */
/*
 * mwait as KVM emulates it unless told otherwise: it exits and does nothing, so the guest's idle
 * loop turns as fast as exits go. The pCPU is never given up, the host sees a busy vCPU.
 */
#include "channel/idle_ops.h"

static struct idle_plan mwait_nop_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_SPIN, .until = NS_NEVER, .traps = true};
}

const struct idle_ops idle_policy_mwait_nop = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "mwait-nop",
            .summary = "mwait exits and does nothing: the guest spins through exits",
        },
    .enter = mwait_nop_enter,
};
