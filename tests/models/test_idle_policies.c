/* SPDX-License-Identifier: MIT */
/*
 * What the idle policies decide, without a machine: their operations are called with contexts made
 * here, and the plans are compared with what the rules of Linux give when worked out by hand.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "channel/idle_predict.h"

#define US NS_US

extern const struct idle_ops idle_policy_hlt, idle_policy_halt_poll, idle_policy_guest_poll,
    idle_policy_mwait_nop, idle_policy_mwait_passthrough, idle_policy_mwait_proxy,
    idle_policy_mwait_vmonitor;

/* Skylake server: C1, C1E, C6. */
static const ns_t residency[] = {2 * US, 20 * US, 600 * US};
static const ns_t exit_latency[] = {2 * US, 10 * US, 133 * US};

/* One policy with two vCPUs and the time that the test has reached. */
struct rig {
    struct idle idle;
    struct idle_ctx ctx;
    _Alignas(max_align_t) char params[256], unit[1024];
};

static void rig_init(struct rig *r, const struct idle_ops *ops)
{
    memset(r, 0, sizeof(*r));
    cr_assert(ops->head.params_size <= sizeof(r->params));
    cr_assert(2 * ops->head.unit_size <= sizeof(r->unit));
    params_default(ops->head.params, r->params);
    r->idle = (struct idle){.ops = ops, .params = r->params, .unit = r->unit, .nvcpus = 2};
    r->ctx = (struct idle_ctx){.next_timer = NS_NEVER,
                               .ncstates = 3,
                               .residency = residency,
                               .exit_latency = exit_latency};
}

static void set(struct rig *r, const char *name, int64_t value)
{
    const struct param *p = param_find(r->idle.ops->head.params, name);
    const bool on = value != 0;
    const int choice = (int)value;

    cr_assert(p, "%s has no %s", r->idle.ops->head.name, name);
    if (p->type == PARAM_BOOL)
        memcpy(r->params + p->offset, &on, sizeof(on));
    else if (p->type == PARAM_ENUM)
        memcpy(r->params + p->offset, &choice, sizeof(choice));
    else
        memcpy(r->params + p->offset, &value, sizeof(value));
}

/* The guest went idle 100 us after its last episode. */
static struct idle_plan begin(struct rig *r)
{
    r->ctx.now += 100 * US;
    r->ctx.since = r->ctx.now;
    return r->idle.ops->enter(&r->idle, 0, &r->ctx);
}

/* A wake-up after `time` gave the guest nothing. */
static struct idle_plan again(struct rig *r, ns_t time)
{
    r->ctx.now += time;
    return r->idle.ops->enter(&r->idle, 0, &r->ctx);
}

static struct idle_plan expire(struct rig *r, ns_t time)
{
    r->ctx.now += time;
    return r->idle.ops->expire(&r->idle, 0, &r->ctx);
}

/* Work came `time` later. */
static void end(struct rig *r, ns_t time)
{
    r->ctx.now += time;
    if (r->idle.ops->reflect)
        r->idle.ops->reflect(&r->idle, 0, r->ctx.now - r->ctx.since, VIA_IRQ);
}

static void expect_block(struct idle_plan p, const char *what)
{
    cr_expect(p.act == IDLE_BLOCK && p.until == NS_NEVER, "%s: act %d", what, (int)p.act);
}

/* An episode: the poll that it begins with, 0 = none. */
static void expect_poll(struct rig *r, struct idle_plan p, ns_t poll, bool in_host,
                        const char *what)
{
    if (poll == 0) {
        expect_block(p, what);
        return;
    }
    cr_expect(p.act == IDLE_SPIN, "%s: act %d", what, (int)p.act);
    cr_expect(p.until == r->ctx.now + poll, "%s: polls %lld ns, not %lld", what,
              (long long)(p.until - r->ctx.now), (long long)poll);
    cr_expect(p.in_host == in_host && !p.traps && p.turn == 0, "%s", what);
}

struct step {
    ns_t poll, episode; /* expected at its begin; how long it is */
};

static void steps_of_halt_poll(struct rig *r, const struct step *s, int n, const char *what)
{
    char at[80];

    for (int k = 0; k < n; k++) {
        snprintf(at, sizeof(at), "%s, step %d", what, k);
        expect_poll(r, begin(r), s[k].poll, true, at);
        if (s[k].poll > 0 && s[k].episode > s[k].poll) {
            expect_block(expire(r, s[k].poll), at);
            end(r, s[k].episode - s[k].poll);
        } else {
            end(r, s[k].episode);
        }
    }
}

#define STEPS(r, s, what) steps_of_halt_poll(r, s, (int)(sizeof(s) / sizeof(s[0])), what)

Test(idle_policies, hlt_blocks_or_polls_a_fixed_time)
{
    struct rig r;

    rig_init(&r, &idle_policy_hlt);
    expect_block(begin(&r), "default");
    set(&r, "poll", 70 * US);
    expect_poll(&r, begin(&r), 70 * US, true, "poll");
    end(&r, 90 * US);
    expect_poll(&r, begin(&r), 70 * US, true, "the same again");
    expect_block(expire(&r, 70 * US), "expire");
    r.ctx.rivals = 1;
    expect_block(begin(&r), "a rival waits");
    expect_block(r.idle.ops->rival(&r.idle, 0, &r.ctx, (struct idle_plan){.act = IDLE_SPIN}),
                 "a rival comes");
}

Test(idle_policies, halt_poll_grows_and_shrinks_as_kvm)
{
    /* 50 us are too long for 0, 10, 20 and 40 us, not for 80. 320 us is cut when it begins. */
    static const struct step up[] = {
        {0, 50 * US},         {10 * US, 50 * US},   {20 * US, 50 * US},     {40 * US, 50 * US},
        {80 * US, 50 * US},   {80 * US, 80 * US},   {80 * US, 80 * US + 1}, {160 * US, 180 * US},
        {200 * US, 150 * US}, {200 * US, 200 * US}, {200 * US, 50 * US},
    };
    /* Longer than the maximum: halved, and nothing below 10 us. The maximum itself: neither. */
    static const struct step down[] = {
        {200 * US, 200 * US + 1}, {100 * US, 200 * US}, {100 * US, NS_MS}, {50 * US, NS_MS},
        {25 * US, NS_MS},         {12500, NS_MS},       {0, NS_MS},        {0, 200 * US},
        {0, 200 * US - 1},        {10 * US, 5 * US},    {10 * US, NS_MS},  {0, NS_MS},
    };
    /* One vCPU's length is not another's. */
    struct idle_plan other;
    struct rig r;

    rig_init(&r, &idle_policy_halt_poll);
    STEPS(&r, up, "up");
    other = r.idle.ops->enter(&r.idle, 1, &r.ctx);
    expect_block(other, "the other vCPU");
    STEPS(&r, down, "down");
}

Test(idle_policies, halt_poll_parameters)
{
    static const struct step tripled[] = {
        {0, 90 * US}, {20 * US, 90 * US}, {60 * US, 90 * US}, {100 * US, 101 * US}, {0, NS_MS}};
    static const struct step never[] = {{0, 50 * US}, {0, 50 * US}, {0, NS_MS}, {0, 5 * US}};
    struct rig r;

    rig_init(&r, &idle_policy_halt_poll);
    set(&r, "max", 100 * US);
    set(&r, "grow", 3);
    set(&r, "grow-start", 20 * US);
    set(&r, "shrink", 0);
    STEPS(&r, tripled, "tripled");
    rig_init(&r, &idle_policy_halt_poll);
    set(&r, "grow", 0);
    STEPS(&r, never, "grow 0");
    rig_init(&r, &idle_policy_halt_poll);
    set(&r, "max", 0);
    STEPS(&r, never, "max 0");
}

Test(idle_policies, halt_poll_yields_to_rivals_but_still_adapts)
{
    struct rig r;

    rig_init(&r, &idle_policy_halt_poll);
    r.ctx.rivals = 1;
    for (int k = 0; k < 3; k++) {
        expect_block(begin(&r), "a rival waits");
        end(&r, 90 * US);
    }
    r.ctx.rivals = 0;
    expect_poll(&r, begin(&r), 40 * US, true, "alone again");
    r.ctx.now += 5 * US;
    r.ctx.rivals = 1;
    expect_block(r.idle.ops->rival(&r.idle, 0, &r.ctx, (struct idle_plan){.act = IDLE_SPIN}),
                 "a rival comes");
    /* The wait lasted longer than the poll would have. */
    end(&r, 60 * US);
    r.ctx.rivals = 0;
    expect_poll(&r, begin(&r), 80 * US, true, "after the rival");
}

Test(idle_policies, halt_poll_judges_each_hlt_of_an_episode)
{
    struct rig r;

    rig_init(&r, &idle_policy_halt_poll);
    expect_block(begin(&r), "first");
    expect_poll(&r, again(&r, 30 * US), 10 * US, true, "30 us for nothing");
    expect_poll(&r, again(&r, 8 * US), 10 * US, true, "8 us are within the poll");
    expect_poll(&r, again(&r, 30 * US), 20 * US, true, "30 us are not");
    /* 268 us since the guest went idle, 200 since its last HLT: not too long. */
    end(&r, 200 * US);
    expect_poll(&r, begin(&r), 20 * US, true, "by the last HLT alone");
    end(&r, 201 * US);
    expect_poll(&r, begin(&r), 10 * US, true, "too long");

    rig_init(&r, &idle_policy_halt_poll);
    set(&r, "invalid", 1);
    for (int k = 0; k < 3; k++) {
        begin(&r);
        end(&r, 90 * US);
    }
    expect_poll(&r, begin(&r), 40 * US, true, "three have grown it");
    expect_poll(&r, again(&r, 30 * US), 20 * US, true, "invalid");
    expect_poll(&r, again(&r, 30 * US), 10 * US, true, "invalid");
    expect_block(again(&r, 30 * US), "invalid");
    end(&r, 30 * US);
    expect_poll(&r, begin(&r), 10 * US, true, "a wake-up with work is valid");
}

/* An episode of guest-poll with an HLT of `halt`, 0 = the poll is enough. */
static void guest_episode(struct rig *r, ns_t poll, ns_t halt, const char *what)
{
    expect_poll(r, begin(r), poll, false, what);
    if (poll > 0 && halt > 0)
        expect_block(expire(r, poll), what);
    end(r, halt > 0 ? halt : poll / 2);
}

Test(idle_policies, guest_poll_follows_the_haltpoll_governor)
{
    struct rig r;

    rig_init(&r, &idle_policy_guest_poll);
    cr_expect(r.idle.ops->rival == NULL, "a guest does not see rivals");
    guest_episode(&r, 0, 100 * US, "0");
    guest_episode(&r, 50 * US, 0, "the poll is enough");
    guest_episode(&r, 50 * US, 40 * US, "HLT shorter than the poll, the two longer");
    guest_episode(&r, 50 * US, 50 * US, "as long as the poll");
    guest_episode(&r, 50 * US, 50 * US + 1, "longer");
    guest_episode(&r, 100 * US, 150 * US, "longer");
    guest_episode(&r, 200 * US, 200 * US, "the maximum");
    guest_episode(&r, 200 * US, 200 * US + 1, "above it");
    guest_episode(&r, 100 * US, NS_MS, "above");
    guest_episode(&r, 50 * US, NS_MS, "above: 25 us are below the start");
    guest_episode(&r, 0, NS_MS, "none");
    guest_episode(&r, 0, 200 * US, "none");
    guest_episode(&r, 50 * US, 0, "grown by an HLT of just the maximum");
}

Test(idle_policies, guest_poll_parameters_and_empty_wakes)
{
    struct rig r;

    rig_init(&r, &idle_policy_guest_poll);
    set(&r, "max", 150 * US);
    set(&r, "allow-shrink", 0);
    guest_episode(&r, 0, 120 * US, "0");
    guest_episode(&r, 50 * US, 120 * US, "50");
    guest_episode(&r, 100 * US, 120 * US, "100");
    guest_episode(&r, 150 * US, NS_MS, "cut at the maximum");
    guest_episode(&r, 150 * US, 0, "did not shrink");

    expect_poll(&r, begin(&r), 150 * US, false, "polls");
    expect_poll(&r, again(&r, 20 * US), 150 * US, false, "woken for nothing: polls anew");
    expect_block(expire(&r, 150 * US), "in vain");
    set(&r, "allow-shrink", 1);
    expect_poll(&r, again(&r, 160 * US), 75 * US, false, "a long HLT for nothing");
    end(&r, 10 * US);
    guest_episode(&r, 75 * US, 0, "judged once");

    rig_init(&r, &idle_policy_guest_poll);
    set(&r, "shrink", 0);
    guest_episode(&r, 0, 100 * US, "0");
    guest_episode(&r, 50 * US, 100 * US, "50");
    guest_episode(&r, 100 * US, NS_MS, "100");
    guest_episode(&r, 0, NS_MS, "to nothing at once");
}

Test(idle_predict, cstate_at_the_borders)
{
    static const struct {
        ns_t length, limit;
        int cstate;
    } c[] = {{0, 0, 0},
             {2 * US, 0, 0},
             {20 * US - 1, 0, 0},
             {20 * US, 0, 1},
             {600 * US - 1, 0, 1},
             {600 * US, 0, 2},
             {NS_NEVER, 0, 2},
             {NS_NEVER, 133 * US, 2},
             {NS_NEVER, 133 * US - 1, 1},
             {NS_NEVER, 10 * US - 1, 0},
             {NS_NEVER, 1, 0}};
    struct rig r;

    rig_init(&r, &idle_policy_mwait_passthrough);
    for (size_t k = 0; k < sizeof(c) / sizeof(c[0]); k++)
        cr_expect(idle_predict_cstate(&r.ctx, c[k].length, c[k].limit) == c[k].cstate, "case %zu",
                  k);
    r.ctx.ncstates = 1;
    cr_expect(idle_predict_cstate(&r.ctx, NS_NEVER, 0) == 0);
}

#define MOST INT32_MAX /* us, about 36 minutes */

/* The prediction after episodes of these microseconds, without a timer. */
static ns_t after(const int *us, int n)
{
    const struct idle_ctx ctx = {.next_timer = NS_NEVER};
    struct idle_predict p = {0};

    for (int k = 0; k < n; k++)
        idle_predict_add(&p, us[k] * US);
    return idle_predict_length(&p, &ctx);
}

Test(idle_predict, typical_length)
{
    static const struct {
        const char *what;
        int n, us[12];
        ns_t length;
    } c[] = {
        {"too few", 7, {1000, 1000, 1000, 1000, 1000, 1000, 1000}, NS_NEVER},
        {"periodic", 8, {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}, NS_MS},
        {"an outlier", 8, {1000, 1000, 50000, 1000, 1000, 1000, 1000, 1000}, NS_MS},
        {"two", 8, {60000, 1000, 50000, 1000, 1000, 1000, 1000, 1000}, NS_MS},
        {"three", 8, {60000, 1000, 50000, 1000, 70000, 1000, 1000, 1000}, NS_NEVER},
        {"a short one", 8, {1000, 1001, 1, 1002, 1003, 1004, 1005, 1006}, NS_NEVER},
        /* equal lengths are left out together, as in the kernel */
        {"a short one among equals", 8, {1000, 1000, 1, 1000, 1000, 1000, 1000, 1000}, US},
        {"noise", 8, {100, 7000, 300, 700, 1500, 11000, 2500, 4000}, NS_NEVER},
        /* agree without 1500, which leaves 1499 in; four that agree are too few */
        {"one is enough", 8, {1000, 1499, 1000, 1000, 1500, 1000, 1000, 1000}, 1071 * US},
        {"half", 8, {1000, 5000, 1100, 5000, 1000, 5000, 1100, 5000}, NS_NEVER},
        /* standard deviation 20 us, then 20.5: the four of 10 us are left, and agree */
        {"short", 8, {10, 50, 10, 50, 10, 50, 10, 50}, 30 * US},
        {"not short enough", 8, {10, 51, 10, 51, 10, 51, 10, 51}, 10 * US},
        /* a sixth of the mean is 200 us: with 199 all count, with 200 the longest are left out */
        {"within a sixth", 8, {1001, 1399, 1001, 1399, 1001, 1399, 1001, 1399}, 1200 * US},
        {"a sixth", 8, {1000, 1400, 1000, 1400, 1000, 1400, 1000, 1400}, 1000 * US},
        {"the last 8", 12, {9, 900, 70, 7, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}, NS_MS},
        {"all within a microsecond", 8, {0, 0, 0, 0, 0, 0, 0, 0}, NS_NEVER},
        {"beyond 2^30 us", 8, {MOST, MOST, MOST, MOST, MOST, MOST, MOST, MOST}, (1 << 30) * US},
        {"extremes", 8, {MOST, 0, MOST, 0, MOST, 0, MOST, 0}, NS_NEVER},
    };

    for (size_t k = 0; k < sizeof(c) / sizeof(c[0]); k++) {
        const ns_t got = after(c[k].us, c[k].n);

        cr_expect(got == c[k].length, "%s: %lld ns", c[k].what, (long long)got);
    }
}

Test(idle_predict, the_timer_bounds_it)
{
    struct idle_ctx ctx = {.now = NS_MS, .next_timer = NS_MS + 300 * US};
    struct idle_predict p = {0};

    cr_expect(idle_predict_length(&p, &ctx) == 300 * US, "nothing else is known");
    for (int k = 0; k < 8; k++)
        idle_predict_add(&p, NS_MS);
    cr_expect(idle_predict_length(&p, &ctx) == 300 * US, "the timer comes first");
    ctx.next_timer = 6 * NS_MS;
    cr_expect(idle_predict_length(&p, &ctx) == NS_MS, "the usual wake-up comes first");
    ctx.next_timer = NS_MS - 1;
    cr_expect(idle_predict_length(&p, &ctx) == 0, "overdue");
}

/* An episode whose timer is `timer` away and that ends after `slept`. */
static void corrected(struct idle_predict *p, struct idle_ctx *ctx, ns_t timer, ns_t slept)
{
    ctx->since = ctx->now;
    ctx->next_timer = timer == NS_NEVER ? NS_NEVER : ctx->now + timer;
    idle_predict_begin(p, ctx, NS_SEC);
    idle_predict_add(p, slept);
    ctx->now += slept + 10 * US;
}

static ns_t predicted(const struct idle_predict *p, struct idle_ctx *ctx, ns_t timer)
{
    ctx->next_timer = timer == NS_NEVER ? NS_NEVER : ctx->now + timer;
    return idle_predict_length(p, ctx);
}

Test(idle_predict, learns_how_early_it_wakes)
{
    struct idle_ctx ctx = {.now = 5};
    struct idle_predict p = {0};

    /* 8192 - 1024 + 1024 * 5 / 10 = 7680 of 8192, for all timers of 10 to 100 ms */
    corrected(&p, &ctx, 10 * NS_MS, 5 * NS_MS);
    cr_expect(predicted(&p, &ctx, 10 * NS_MS) == 9375 * US);
    cr_expect(predicted(&p, &ctx, 10 * NS_MS - 1) == 10 * NS_MS - 1);
    cr_expect(predicted(&p, &ctx, 200 * US) == 200 * US);
    /* 7680 - 960 + 1024 = 7744: beyond 50 ms it slept as long as it could */
    corrected(&p, &ctx, 80 * NS_MS, 60 * NS_MS);
    cr_expect(predicted(&p, &ctx, 10 * NS_MS) == 9453125);
    /* 7744 - 968 + 1024 = 7800: later than the timer is no better than in time */
    corrected(&p, &ctx, 20 * NS_MS, 30 * NS_MS);
    cr_expect(predicted(&p, &ctx, 10 * NS_MS) == 10 * NS_MS * 7800 / 8192);
    /* no timer is one a second away, and learned as such: 8192 - 1024 + 0 */
    cr_expect(predicted(&p, &ctx, NS_NEVER) == NS_SEC);
    corrected(&p, &ctx, NS_NEVER, 100 * US);
    cr_expect(predicted(&p, &ctx, NS_NEVER) == NS_SEC * 7168 / 8192);
    /* shares below 1/1024 are lost, and the rest stays at 7 of 8192, as in the kernel */
    for (int k = 0; k < 200; k++)
        corrected(&p, &ctx, NS_NEVER, (k % 2 ? 100 : 900) * US);
    p.n = 0;
    cr_expect(predicted(&p, &ctx, NS_NEVER) == NS_SEC * 7 / 8192);
}

Test(idle_predict, an_empty_wake_does_not_begin_an_episode)
{
    struct idle_ctx ctx = {.now = 100, .since = 100, .next_timer = 100 + 10 * NS_MS};
    struct idle_predict p = {0};

    idle_predict_begin(&p, &ctx, NS_SEC);
    ctx.now += 4 * NS_MS;
    idle_predict_begin(&p, &ctx, NS_SEC);
    cr_expect(p.timer == 10 * NS_MS);
    idle_predict_add(&p, 5 * NS_MS);
    cr_expect(predicted(&p, &ctx, 10 * NS_MS) == 9375 * US);
}

static void expect_hold(struct idle_plan p, int cstate, const char *what)
{
    cr_expect(p.act == IDLE_HOLD && p.until == NS_NEVER && p.cstate == cstate,
              "%s: act %d, C-state %d", what, (int)p.act, p.cstate);
}

Test(idle_policies, mwait_nop_spins_through_exits)
{
    struct rig r;
    struct idle_plan p;

    rig_init(&r, &idle_policy_mwait_nop);
    r.ctx.rivals = 1;
    r.ctx.shared = true;
    p = begin(&r);
    cr_expect(p.act == IDLE_SPIN && p.traps && p.until == NS_NEVER && p.turn == 0);
    cr_expect(!p.yields && !p.in_host);
    cr_expect(r.idle.ops->rival == NULL);
}

Test(idle_policies, mwait_passthrough_holds_in_the_predicted_cstate)
{
    struct rig r;

    rig_init(&r, &idle_policy_mwait_passthrough);
    cr_expect(r.idle.ops->wants_timer && r.idle.ops->rival == NULL);
    r.ctx.shared = true;
    r.ctx.rivals = 3;
    expect_hold(begin(&r), 2, "nothing known");
    end(&r, 100 * US);
    for (int k = 0; k < 7; k++) {
        begin(&r);
        end(&r, 100 * US);
    }
    expect_hold(begin(&r), 1, "100 us as a rule");
    cr_expect(r.idle.ops->enter(&r.idle, 1, &r.ctx).cstate == 2, "the other vCPU");
    r.ctx.next_timer = r.ctx.now + 15 * US;
    expect_hold(again(&r, 0), 0, "the timer comes earlier");
    r.ctx.next_timer = NS_NEVER;
    for (int k = 0; k < 8; k++) {
        end(&r, NS_MS);
        begin(&r);
    }
    expect_hold(again(&r, 0), 2, "1 ms as a rule");
    set(&r, "latency-limit", 50 * US);
    expect_hold(again(&r, 0), 1, "latency limit");
    set(&r, "cstate", 0);
    expect_hold(again(&r, 0), 0, "fixed");
    r.ctx.ncstates = 0;
    cr_expect(again(&r, 0).act == IDLE_SPIN, "a machine without C-states");
}

/* Noise before a timer 1 ms away: 0.5 ms or less, from C6 to C1E. */
Test(idle_policies, mwait_passthrough_learns_early_wakes_when_asked)
{
    static const int us[] = {20, 500, 90, 310, 40, 180, 260, 130};

    for (int correction = 0; correction < 2; correction++) {
        struct rig r;

        rig_init(&r, &idle_policy_mwait_passthrough);
        set(&r, "correction", correction);
        for (int k = 0; k < 40; k++) {
            r.ctx.next_timer = r.ctx.now + 100 * US + NS_MS;
            begin(&r);
            end(&r, us[k % 8] * US);
        }
        r.ctx.next_timer = r.ctx.now + 100 * US + NS_MS;
        expect_hold(begin(&r), correction ? 1 : 2, correction ? "learned" : "by the timer");
    }
}

static void expect_watch(struct idle_plan p, enum idle_set set, bool irq_waits, bool monitored,
                         const char *what)
{
    cr_expect(p.act == IDLE_WATCH && p.until == NS_NEVER, "%s: act %d", what, (int)p.act);
    cr_expect(p.set == set && p.irq_waits == irq_waits && p.monitored == monitored, "%s", what);
    cr_expect(!p.self_look && p.view == IDLE_VIEW_KEEP, "%s", what);
}

/* Holds while alone, watches once the pCPU is shared. */
static void hold_then_watch(struct rig *r, bool monitored)
{
    struct idle_plan held, p;

    cr_expect(r->idle.ops->wants_timer && r->idle.ops->wake == NULL);
    held = begin(r);
    expect_hold(held, 2, "alone");
    p = r->idle.ops->rival(&r->idle, 0, &r->ctx, held);
    expect_hold(p, 2, "a passing rival");
    r->ctx.shared = true;
    expect_watch(r->idle.ops->rival(&r->idle, 0, &r->ctx, held), IDLE_SET_PCPU, false, monitored,
                 "the pCPU is shared now");
    for (int k = 0; k < 8; k++) {
        expect_watch(begin(r), IDLE_SET_PCPU, false, monitored, "shared");
        end(r, 100 * US);
    }
    r->ctx.shared = false;
    expect_hold(begin(r), 1, "what it learned while shared");
}

Test(idle_policies, mwait_proxy_and_vmonitor)
{
    struct rig r;

    rig_init(&r, &idle_policy_mwait_proxy);
    cr_expect(r.idle.ops->scans);
    hold_then_watch(&r, false);
    set(&r, "irq-wakes", 0);
    set(&r, "hold", 0);
    for (int s = IDLE_SET_PCPU; s <= IDLE_SET_MACHINE; s++) {
        set(&r, "set", s);
        expect_watch(begin(&r), (enum idle_set)s, true, false, "alone, but not to hold");
    }
    cr_expect(strcmp(param_find(r.idle.ops->head.params, "set")->values[IDLE_SET_GROUP], "group") ==
              0);

    rig_init(&r, &idle_policy_mwait_vmonitor);
    cr_expect(!r.idle.ops->scans);
    hold_then_watch(&r, true);
}
