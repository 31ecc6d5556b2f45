/* SPDX-License-Identifier: MIT */
/*
 * mwait by proxy (OSDI'26, "What Are You (M)Waiting For"): on a shared pCPU a guest's mwait exits
 * and gives the pCPU up; its monitored word goes on a list that the hypervisor scans whenever it is
 * entered anyway. No timer of its own: a store waits for the next such entry, without a bound.
 * Alone on its pCPU the guest holds it as under mwait-passthrough.
 */
#include "channel/idle_predict.h"

struct mwait_proxy {
    struct idle_hold when_alone;
    bool hold, irq_wakes;
    int set;
};

static const char *const sets[] = {"pcpu", "core", "group", "node", "machine", NULL};

#define AT(member) offsetof(struct mwait_proxy, member)
static const struct param mwait_proxy_params[] = {
    {"set", PARAM_ENUM, AT(set), "pcpu", 0, 0, sets,
     "the pCPUs whose hypervisor entries scan: those that share this with the vCPU's own",
     "OSDI'26: one list per shared core"},
    {"irq-wakes", PARAM_BOOL, AT(irq_wakes), "on", 0, 0, NULL,
     "an interrupt wakes at once; off: it waits for the next scan like a store", "assumed"},
    {"hold", PARAM_BOOL, AT(hold), "on", 0, 0, NULL,
     "alone on its pCPU the guest keeps it, without exits; off: gives it up there, too",
     "OSDI'26: exclusive cores run mwait-passthrough"},
    IDLE_HOLD_PARAMS(struct mwait_proxy, when_alone),
    PARAM_END};

static const char *mwait_proxy_check(const void *params, int ncstates)
{
    const struct mwait_proxy *p = params;

    return idle_hold_check(&p->when_alone, ncstates);
}

static struct idle_plan mwait_proxy_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    const struct mwait_proxy *p = i->params;

    if (p->hold && !ctx->shared)
        return idle_hold_plan(&p->when_alone, idle_unit(i, vcpu), ctx);
    return (struct idle_plan){.act = IDLE_WATCH,
                              .until = NS_NEVER,
                              .irq_waits = !p->irq_wakes,
                              .set = (enum idle_set)p->set};
}

/* The pCPU has become shared while the vCPU held it: the host turns mwait exits on. */
static struct idle_plan mwait_proxy_rival(struct idle *i, int vcpu, const struct idle_ctx *ctx,
                                          struct idle_plan now)
{
    return now.act == IDLE_HOLD && ctx->shared ? mwait_proxy_enter(i, vcpu, ctx) : now;
}

static bool mwait_proxy_reflect(struct idle *i, int vcpu, ns_t episode, enum idle_via via)
{
    (void)via;
    idle_predict_add(idle_unit(i, vcpu), episode);
    return false;
}

const struct idle_ops idle_policy_mwait_proxy = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "mwait-proxy",
            .summary =
                "mwait gives a shared pCPU up; every hypervisor entry there looks for stores",
            .params = mwait_proxy_params,
            .params_size = sizeof(struct mwait_proxy),
            .check = mwait_proxy_check,
            .unit_size = sizeof(struct idle_predict),
        },
    .enter = mwait_proxy_enter,
    .rival = mwait_proxy_rival,
    .reflect = mwait_proxy_reflect,
    .wants_timer = true,
    .scans = true,
};
