/* SPDX-License-Identifier: MIT */
/*
 * HLT under KVM's adaptive halt polling (virt/kvm/kvm_main.c, 6.12): after the exit the host polls
 * for a while before it gives the pCPU up, and never while another vCPU wants the pCPU. The length
 * is the vCPU's own: a wait that ended within it leaves it alone, a somewhat longer one makes it
 * grow, one beyond `max` makes it shrink.
 *
 * Always true: each HLT is judged once and on its own, from when the guest asked for it, polling
 * included. A guest that wakes, finds nothing and halts again began a new HLT; the first is then
 * judged when the second begins, which adds the few microseconds in between to its length.
 */
#include "channel/idle_ops.h"

struct halt_poll {
    ns_t max, grow_start;
    int64_t grow, shrink;
    bool invalid;
};

struct halt_poll_unit {
    ns_t poll;          /* the next HLT polls this long; `max` is applied when it begins */
    ns_t since, halted; /* start of the idle episode, and of its latest HLT */
    bool waits;         /* that HLT has not been judged */
};

#define AT(member) offsetof(struct halt_poll, member)
static const struct param halt_poll_params[] = {
    {"max", PARAM_NS, AT(max), "200us", 0, NS_SEC, NULL, "longest polling, 0 = none",
     "KVM halt_poll_ns: x86 200us, arm64 500us, s390 50us, powerpc 10us"},
    {"grow", PARAM_INT, AT(grow), "2", 0, 1000, NULL, "factor of a longer poll, 0 = never longer",
     "KVM halt_poll_ns_grow"},
    {"grow-start", PARAM_NS, AT(grow_start), "10us", 0, NS_SEC, NULL,
     "growing begins here; a poll that shrinks below it becomes 0", "KVM halt_poll_ns_grow_start"},
    {"shrink", PARAM_INT, AT(shrink), "2", 0, 1000, NULL,
     "divisor of a shorter poll, 0 = to nothing at once", "KVM halt_poll_ns_shrink"},
    {"invalid", PARAM_BOOL, AT(invalid), "off", 0, 0, NULL,
     "a wake-up that gives the guest nothing to do shrinks the poll, however long the wait",
     "KVM: s390 only, elsewhere every wake-up is valid"},
    PARAM_END};

static void shrink(const struct halt_poll *p, struct halt_poll_unit *u)
{
    u->poll = p->shrink ? u->poll / p->shrink : 0;
    if (u->poll < p->grow_start)
        u->poll = 0;
}

static void grow(const struct halt_poll *p, struct halt_poll_unit *u)
{
    if (p->grow == 0)
        return;
    u->poll *= p->grow;
    if (u->poll < p->grow_start)
        u->poll = p->grow_start;
}

/* An HLT of this length is over. */
static void judge(const struct halt_poll *p, struct halt_poll_unit *u, ns_t halt, bool found_work)
{
    u->waits = false;
    if (!found_work && p->invalid)
        shrink(p, u);
    else if (p->max == 0)
        u->poll = 0;
    else if (halt <= u->poll)
        return;
    else if (u->poll > 0 && halt > p->max)
        shrink(p, u);
    else if (u->poll < p->max && halt < p->max)
        grow(p, u);
}

static struct idle_plan halt_poll_stop(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_BLOCK, .until = NS_NEVER};
}

static struct idle_plan halt_poll_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    const struct halt_poll *p = i->params;
    struct halt_poll_unit *u = idle_unit(i, vcpu);

    if (u->waits)
        judge(p, u, ctx->now - u->halted, false);
    if (u->poll > p->max)
        u->poll = p->max;
    u->since = ctx->since;
    u->halted = ctx->now;
    u->waits = true;
    if (u->poll == 0 || ctx->rivals > 0)
        return halt_poll_stop(i, vcpu, ctx);
    return (struct idle_plan){.act = IDLE_SPIN, .until = ctx->now + u->poll, .in_host = true};
}

static struct idle_plan halt_poll_rival(struct idle *i, int vcpu, const struct idle_ctx *ctx,
                                        struct idle_plan now)
{
    (void)now;
    return halt_poll_stop(i, vcpu, ctx);
}

static bool halt_poll_reflect(struct idle *i, int vcpu, ns_t episode, enum idle_via via)
{
    struct halt_poll_unit *u = idle_unit(i, vcpu);

    (void)via;
    if (u->waits)
        judge(i->params, u, u->since + episode - u->halted, true);
    return false;
}

const struct idle_ops idle_policy_halt_poll = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "halt-poll",
            .summary = "HLT; the host polls first, for a length that adapts (KVM's default)",
            .params = halt_poll_params,
            .params_size = sizeof(struct halt_poll),
            .unit_size = sizeof(struct halt_poll_unit),
        },
    .enter = halt_poll_enter,
    .expire = halt_poll_stop,
    .rival = halt_poll_rival,
    .reflect = halt_poll_reflect,
};
