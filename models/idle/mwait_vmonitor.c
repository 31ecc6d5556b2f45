/* SPDX-License-Identifier: MIT */
/*
 * The bound of mwait-sched and mwait-proxy: hardware that watches any number of lines for the
 * hypervisor. On a shared pCPU a guest's mwait exits and gives the pCPU up, and a store is known at
 * once; nobody looks, nobody scans. No such hardware exists. Alone on its pCPU the guest holds it
 * as under mwait-passthrough.
 */
#include "channel/idle_predict.h"

struct mwait_vmonitor {
    struct idle_hold when_alone;
};

static const struct param mwait_vmonitor_params[] = {
    IDLE_HOLD_PARAMS(struct mwait_vmonitor, when_alone), PARAM_END};

static const char *mwait_vmonitor_check(const void *params, int ncstates)
{
    const struct mwait_vmonitor *p = params;

    return idle_hold_check(&p->when_alone, ncstates);
}

static struct idle_plan mwait_vmonitor_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    const struct mwait_vmonitor *p = i->params;

    if (!ctx->shared)
        return idle_hold_plan(&p->when_alone, idle_unit(i, vcpu), ctx);
    return (struct idle_plan){.act = IDLE_WATCH, .until = NS_NEVER, .monitored = true};
}

/* The pCPU has become shared while the vCPU held it: the host turns mwait exits on. */
static struct idle_plan mwait_vmonitor_rival(struct idle *i, int vcpu, const struct idle_ctx *ctx,
                                             struct idle_plan now)
{
    return now.act == IDLE_HOLD && ctx->shared ? mwait_vmonitor_enter(i, vcpu, ctx) : now;
}

static bool mwait_vmonitor_reflect(struct idle *i, int vcpu, ns_t episode, enum idle_via via)
{
    (void)via;
    idle_predict_add(idle_unit(i, vcpu), episode);
    return false;
}

const struct idle_ops idle_policy_mwait_vmonitor = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "mwait-vmonitor",
            .summary = "mwait gives a shared pCPU up; ideal hardware reports stores at once",
            .params = mwait_vmonitor_params,
            .params_size = sizeof(struct mwait_vmonitor),
            .check = mwait_vmonitor_check,
            .unit_size = sizeof(struct idle_predict),
        },
    .enter = mwait_vmonitor_enter,
    .rival = mwait_vmonitor_rival,
    .reflect = mwait_vmonitor_reflect,
    .wants_timer = true,
};
