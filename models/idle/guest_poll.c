/* SPDX-License-Identifier: MIT */
/*
 * The haltpoll governor of a Linux guest (drivers/cpuidle/governors/haltpoll.c, 6.12): the guest
 * polls without an exit, and halts when a whole poll has passed in vain. It turns the host's
 * polling off.
 *
 * Always true: the limit moves only with the length of an HLT; a poll that is enough leaves it
 * alone. A guest does not know that others want its pCPU and polls on (no `rival`).
 */
#include "channel/idle_ops.h"

struct guest_poll {
    ns_t max, grow_start;
    int64_t grow, shrink;
    bool allow_shrink;
};

struct guest_poll_unit {
    ns_t limit;         /* of a poll */
    ns_t since, halted; /* start of the idle episode, and of its latest HLT */
    bool halts;         /* that HLT has not been judged */
};

#define AT(member) offsetof(struct guest_poll, member)
static const struct param guest_poll_params[] = {
    {"max", PARAM_NS, AT(max), "200us", 0, NS_SEC, NULL, "longest polling, 0 = none",
     "Linux guest_halt_poll_ns"},
    {"grow", PARAM_INT, AT(grow), "2", 0, 1000, NULL, "factor of a longer poll",
     "Linux guest_halt_poll_grow"},
    {"grow-start", PARAM_NS, AT(grow_start), "50us", 0, NS_SEC, NULL,
     "growing begins here; a poll that shrinks below it becomes 0",
     "Linux guest_halt_poll_grow_start"},
    {"shrink", PARAM_INT, AT(shrink), "2", 0, 1000, NULL,
     "divisor of a shorter poll, 0 = to nothing at once", "Linux guest_halt_poll_shrink"},
    {"allow-shrink", PARAM_BOOL, AT(allow_shrink), "on", 0, 0, NULL,
     "a long wait makes the poll shorter", "Linux guest_halt_poll_allow_shrink"},
    PARAM_END};

/* An HLT of this length is over; polling before it does not count. */
static void judge(const struct guest_poll *p, struct guest_poll_unit *u, ns_t halt)
{
    u->halts = false;
    if (halt > p->max && p->allow_shrink) {
        u->limit = p->shrink ? u->limit / p->shrink : 0;
        if (u->limit < p->grow_start)
            u->limit = 0;
    } else if (halt > u->limit && halt <= p->max) {
        u->limit *= p->grow;
        if (u->limit < p->grow_start)
            u->limit = p->grow_start;
        if (u->limit > p->max)
            u->limit = p->max;
    }
}

static struct idle_plan guest_poll_halt(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    struct guest_poll_unit *u = idle_unit(i, vcpu);

    u->halted = ctx->now;
    u->halts = true;
    return (struct idle_plan){.act = IDLE_BLOCK, .until = NS_NEVER};
}

static struct idle_plan guest_poll_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    struct guest_poll_unit *u = idle_unit(i, vcpu);

    if (u->halts)
        judge(i->params, u, ctx->now - u->halted);
    u->since = ctx->since;
    if (u->limit == 0)
        return guest_poll_halt(i, vcpu, ctx);
    return (struct idle_plan){.act = IDLE_SPIN, .until = ctx->now + u->limit};
}

static bool guest_poll_reflect(struct idle *i, int vcpu, ns_t episode, enum idle_via via)
{
    struct guest_poll_unit *u = idle_unit(i, vcpu);

    (void)via;
    if (u->halts)
        judge(i->params, u, u->since + episode - u->halted);
    return false;
}

const struct idle_ops idle_policy_guest_poll = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "guest-poll",
            .summary = "the guest polls before HLT, for a length that adapts (haltpoll governor)",
            .params = guest_poll_params,
            .params_size = sizeof(struct guest_poll),
            .unit_size = sizeof(struct guest_poll_unit),
        },
    .enter = guest_poll_enter,
    .expire = guest_poll_halt,
    .reflect = guest_poll_reflect,
};
