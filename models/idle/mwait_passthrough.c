/* SPDX-License-Identifier: MIT */
/*
 * mwait without an exit (KVM_CAP_X86_DISABLE_EXITS, QEMU cpu-pm=on): the guest holds its pCPU in a
 * C-state that it chooses as on bare metal, by the predicted length. Any store to the line or
 * interrupt ends it.
 *
 * Always true: the pCPU is never given up. The host sees a busy vCPU and can only take the pCPU
 * away as from any other.
 */
#include "channel/idle_predict.h"

struct mwait_passthrough {
    struct idle_hold hold;
};

static const struct param mwait_passthrough_params[] = {
    IDLE_HOLD_PARAMS(struct mwait_passthrough, hold), PARAM_END};

static const char *mwait_passthrough_check(const void *params, int ncstates)
{
    const struct mwait_passthrough *p = params;

    return idle_hold_check(&p->hold, ncstates);
}

static struct idle_plan mwait_passthrough_enter(struct idle *i, int vcpu,
                                                const struct idle_ctx *ctx)
{
    const struct mwait_passthrough *p = i->params;

    return idle_hold_plan(&p->hold, idle_unit(i, vcpu), ctx);
}

static bool mwait_passthrough_reflect(struct idle *i, int vcpu, ns_t episode, enum idle_via via)
{
    (void)via;
    idle_predict_add(idle_unit(i, vcpu), episode);
    return false;
}

const struct idle_ops idle_policy_mwait_passthrough = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "mwait-passthrough",
            .summary = "mwait without exit: the pCPU is kept in a C-state the guest chooses",
            .params = mwait_passthrough_params,
            .params_size = sizeof(struct mwait_passthrough),
            .check = mwait_passthrough_check,
            .unit_size = sizeof(struct idle_predict),
        },
    .enter = mwait_passthrough_enter,
    .reflect = mwait_passthrough_reflect,
    .wants_timer = true,
};
