/* SPDX-License-Identifier: MIT */
/*
 * How long will this vCPU stay idle, and which C-state does that allow: the rule of Linux's `menu`
 * governor (drivers/cpuidle/governors/menu.c, 6.12), for policies whose guest picks a C-state.
 *
 * The prediction is the smaller of two: the typical length of the last 8 episodes, if they resemble
 * each other, and the distance of the next timer, scaled by how early the guest used to wake before
 * such timers. Integer arithmetic only; no state but what the caller keeps.
 */
#ifndef SIM_CHANNEL_IDLE_PREDICT_H
#define SIM_CHANNEL_IDLE_PREDICT_H

#include "channel/idle_ops.h"

#define IDLE_PREDICT_KEPT    8           /* menu.c INTERVALS */
#define IDLE_PREDICT_LEAST   6           /* menu.c: three quarters of them must agree */
#define IDLE_PREDICT_LONGEST (1LL << 30) /* us, keeps the sum of 8 squares within 64 bits */
#define IDLE_PREDICT_TIMERS  6           /* menu.c BUCKETS: < 10us, 100us, 1ms, 10ms, 100ms, more */
#define IDLE_PREDICT_RATIO   1024        /* menu.c RESOLUTION: wakes just when the timer expires */
#define IDLE_PREDICT_DECAY   8           /* menu.c DECAY */
#define IDLE_PREDICT_LONG    (50 * NS_MS) /* menu.c MAX_INTERESTING: as if till the timer */

/* Memory per vCPU. All zero is right at the start. */
struct idle_predict {
    int64_t kept[IDLE_PREDICT_KEPT]; /* us, a ring */
    int n, next;                     /* how many are valid; where the next one goes */
    ns_t since;                      /* start of the episode that `timer` belongs to */
    ns_t timer;                      /* distance of the next timer when that episode began */
    ns_t far;                        /* no timer is further away; 0 = the timer is taken as it is */
    int early[IDLE_PREDICT_TIMERS];  /* lacking to a ratio of 1, in 1 / (1024 * 8), by distance */
};

static inline int idle_predict_bucket(ns_t timer)
{
    ns_t above = 10 * NS_US;
    int bucket = 0;

    for (; bucket < IDLE_PREDICT_TIMERS - 1 && timer >= above; bucket++)
        above *= 10;
    return bucket;
}

/* To be called by `enter` if wakes before the timer are to be learned; without it the prediction
 * takes the timer as it is. `far` stands for "no timer", and for all that are further away. */
static inline void idle_predict_begin(struct idle_predict *p, const struct idle_ctx *ctx, ns_t far)
{
    if (p->far > 0 && p->since == ctx->since && ctx->now > ctx->since)
        return; /* went on after a wake-up that found nothing */
    p->since = ctx->since;
    p->far = far;
    p->timer = far;
    if (ctx->next_timer != NS_NEVER && ctx->next_timer - ctx->now < far)
        p->timer = ctx->next_timer > ctx->now ? ctx->next_timer - ctx->now : 0;
}

/* To be called by `reflect`. */
static inline void idle_predict_add(struct idle_predict *p, ns_t episode)
{
    const int64_t us = episode / NS_US;

    p->kept[p->next] = us < IDLE_PREDICT_LONGEST ? us : IDLE_PREDICT_LONGEST;
    p->next = (p->next + 1) % IDLE_PREDICT_KEPT;
    if (p->n < IDLE_PREDICT_KEPT)
        p->n++;
    if (p->far > 0) {
        const ns_t slept = episode < p->timer ? episode : p->timer;
        int *early = &p->early[idle_predict_bucket(p->timer)];
        int factor = IDLE_PREDICT_RATIO * IDLE_PREDICT_DECAY - *early;

        factor -= factor / IDLE_PREDICT_DECAY;
        if (p->timer > 0 && slept < IDLE_PREDICT_LONG)
            factor += (int)(IDLE_PREDICT_RATIO * slept / p->timer);
        else
            factor += IDLE_PREDICT_RATIO;
        *early = IDLE_PREDICT_RATIO * IDLE_PREDICT_DECAY - factor;
    }
}

struct idle_predict_stats {
    int n;
    int64_t mean, max; /* us */
    uint64_t variance; /* us^2 */
};

/* Over the lengths up to `limit`. */
static inline struct idle_predict_stats idle_predict_over(const struct idle_predict *p,
                                                          int64_t limit)
{
    struct idle_predict_stats s = {0};
    int64_t sum = 0;

    for (int k = 0; k < p->n; k++) {
        if (p->kept[k] > limit)
            continue;
        s.n++;
        sum += p->kept[k];
        s.max = p->kept[k] > s.max ? p->kept[k] : s.max;
    }
    if (s.n == 0)
        return s;
    s.mean = sum / s.n;
    for (int k = 0; k < p->n; k++) {
        if (p->kept[k] <= limit)
            s.variance += (uint64_t)((p->kept[k] - s.mean) * (p->kept[k] - s.mean));
    }
    s.variance /= (uint64_t)s.n;
    return s;
}

/*
 * Mean of the last 8 episodes, NS_NEVER if they do not agree. They agree when the standard
 * deviation is at most 20 us, or under a sixth of the mean of at least 6. Otherwise the longest is
 * left out and the rest is tried, down to 6. Fewer than 8 known: no opinion.
 */
static inline ns_t idle_predict_typical(const struct idle_predict *p)
{
    int64_t limit = INT64_MAX;

    if (p->n < IDLE_PREDICT_KEPT)
        return NS_NEVER;
    for (;;) {
        const struct idle_predict_stats s = idle_predict_over(p, limit);
        const uint64_t square = (uint64_t)s.mean * (uint64_t)s.mean;

        if (s.max == 0)
            return NS_NEVER;
        if (s.variance <= 400 || (s.n >= IDLE_PREDICT_LEAST && s.variance <= UINT64_MAX / 36 &&
                                  square > 36 * s.variance))
            return s.mean * NS_US;
        if (s.n <= IDLE_PREDICT_LEAST)
            return NS_NEVER;
        limit = s.max - 1;
    }
}

/* NS_NEVER: nothing is known that would end it. */
static inline ns_t idle_predict_length(const struct idle_predict *p, const struct idle_ctx *ctx)
{
    const ns_t typical = idle_predict_typical(p);
    ns_t timer = NS_NEVER;

    if (ctx->next_timer != NS_NEVER)
        timer = ctx->next_timer > ctx->now ? ctx->next_timer - ctx->now : 0;
    if (p->far > 0) {
        const int64_t unity = IDLE_PREDICT_RATIO * IDLE_PREDICT_DECAY;

        timer = timer < p->far ? timer : p->far;
        timer = timer * (unity - p->early[idle_predict_bucket(timer)]) / unity;
    }
    return typical < timer ? typical : timer;
}

/* The deepest C-state that pays within `length` and wakes within `latency_limit` (0 = any); the
 * lightest if none does. The tables go from light to deep: the first that fails ends the search. */
static inline int idle_predict_cstate(const struct idle_ctx *ctx, ns_t length, ns_t latency_limit)
{
    int deepest = 0;

    for (int k = 0; k < ctx->ncstates; k++) {
        if (ctx->residency[k] > length ||
            (latency_limit > 0 && ctx->exit_latency[k] > latency_limit))
            break;
        deepest = k;
    }
    return deepest;
}

/* What a guest that owns its pCPU does with mwait: the parameters, and the plan. */
struct idle_hold {
    int64_t cstate;
    ns_t latency_limit, far_timer;
    bool correction;
};

/* Part of a policy's `check`. Without C-states mwait waits in C0, whatever they are called. */
static inline const char *idle_hold_check(const struct idle_hold *h, int ncstates)
{
    if (ncstates > 0 && h->cstate >= ncstates)
        return "cstate is the number of a C-state that the machine does not have (0 is the "
               "lightest)";
    return NULL;
}

/* Rows of a parameter table over `type`, whose `member` is a struct idle_hold. */
#define IDLE_HOLD_PARAMS(type, member)                                                             \
    {"cstate",                                                                                     \
     PARAM_INT,                                                                                    \
     offsetof(type, member.cstate),                                                                \
     "-1",                                                                                         \
     -1,                                                                                           \
     7,                                                                                            \
     NULL,                                                                                         \
     "number of the C-state to wait in, 0 = the lightest; -1 = by the predicted length",           \
     "Linux's default is a governor (menu)"},                                                      \
        {"latency-limit",                                                                          \
         PARAM_NS,                                                                                 \
         offsetof(type, member.latency_limit),                                                     \
         "0",                                                                                      \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "longest exit latency of a C-state chosen by prediction, 0 = any",                        \
         "Linux sets no limit unless asked (PM QoS)"},                                             \
        {"correction",                                                                             \
         PARAM_BOOL,                                                                               \
         offsetof(type, member.correction),                                                        \
         "on",                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "learns how early the guest wakes before its next timer",                                 \
         "drivers/cpuidle/governors/menu.c"},                                                      \
    {                                                                                              \
        "far-timer", PARAM_NS, offsetof(type, member.far_timer), "1s", NS_US, 1000 * NS_SEC, NULL, \
            "distance of the timer that a guest without any is taken to have", "assumed"           \
    }

static inline struct idle_plan idle_hold_plan(const struct idle_hold *h, struct idle_predict *p,
                                              const struct idle_ctx *ctx)
{
    int cstate = (int)h->cstate;

    if (ctx->ncstates == 0) /* mwait then waits in C0 */
        return (struct idle_plan){.act = IDLE_SPIN, .until = NS_NEVER};
    if (h->correction)
        idle_predict_begin(p, ctx, h->far_timer);
    if (cstate < 0)
        cstate = idle_predict_cstate(ctx, idle_predict_length(p, ctx), h->latency_limit);
    return (struct idle_plan){.act = IDLE_HOLD, .until = NS_NEVER, .cstate = cstate};
}

#endif
