/* SPDX-License-Identifier: MIT */
/*
 * HLT as KVM runs it with halt polling off: an exit, the pCPU is given up, an interrupt wakes. If
 * nobody else wants the pCPU, the host idles on it and picks the C-state (host.cstates).
 *
 * With `poll` the host polls that long before it gives the pCPU up, ended by any other vCPU that
 * wants the pCPU. The length is fixed; halt-poll adapts it as KVM does.
 */
#include "channel/idle_ops.h"

struct hlt {
    ns_t poll;
};

static const struct param hlt_params[] = {
    {"poll", PARAM_NS, offsetof(struct hlt, poll), "0", 0, 0, NULL,
     "host polls this long before it gives the pCPU up",
     "KVM with halt_poll_ns=0; its default maximum: x86 200us, arm64 500us"},
    PARAM_END};

static struct idle_plan hlt_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    const struct hlt *p = i->params;

    (void)vcpu;
    if (p->poll == 0 || ctx->rivals > 0)
        return (struct idle_plan){.act = IDLE_BLOCK, .until = NS_NEVER};
    return (struct idle_plan){.act = IDLE_SPIN, .until = ctx->now + p->poll, .in_host = true};
}

static struct idle_plan hlt_stop(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_BLOCK, .until = NS_NEVER};
}

static struct idle_plan hlt_rival(struct idle *i, int vcpu, const struct idle_ctx *ctx,
                                  struct idle_plan now)
{
    (void)now;
    return hlt_stop(i, vcpu, ctx);
}

const struct idle_ops idle_policy_hlt = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "hlt",
            .summary = "HLT: exit and give the pCPU up, an interrupt wakes",
            .params = hlt_params,
            .params_size = sizeof(struct hlt),
        },
    .enter = hlt_enter,
    .expire = hlt_stop,
    .rival = hlt_rival,
};
