/* SPDX-License-Identifier: MIT */
/*
 * CFS whose slices bend to critical sections: a vCPU that would be switched out while its guest says
 * that it holds a lock (NEED_LOCK) goes on for `extension`, once between two switch-ins.
 *
 * The guest's row is read where the host has control anyway: at entry, at ticks and at decisions. So
 * the host learns that the section was left at the next tick or decision at the earliest, which ends
 * the extension; else it lasts to its end, which is exact with and without a host tick. Meanwhile a
 * wake-up preempts nothing, and a vCPU that yields or blocks gives the rest up.
 *
 * Always true: CFS charges an extension like any run, so it is paid back by later turns; a vCPU gets
 * no extension that could bring it above `cap` within a period, which begins with the first one after
 * the last period ended. A guest that lies thus gains no share, and delays others by at most the cap.
 * Sources: eCS (ATC'18): an extra slice for critical sections; pvsched (v3, 2026): the cap.
 */
#include "host/fair_order.h"

struct extend_params {
    struct fair_conf fair; /* first: fair_order takes it from there */
    ns_t extension, cap, period;
};

static const struct param extend_params[] = {
    FAIR_CFS_ROWS,
    {.name = "extension",
     .type = PARAM_NS,
     .offset = offsetof(struct extend_params, extension),
     .def = "100us",
     .min = 0,
     .max = 10 * NS_SEC,
     .help = "how long a vCPU in a critical section goes on after its slice; 0 = not at all",
     .source = "assumed"},
    {.name = "cap",
     .type = PARAM_NS,
     .offset = offsetof(struct extend_params, cap),
     .def = "5ms",
     .min = 0,
     .max = 10 * NS_SEC,
     .help = "most that a vCPU is extended by in a period",
     .source = "assumed; pvsched caps a boost at 1 s, then throttles for 1 s"},
    {.name = "period",
     .type = PARAM_NS,
     .offset = offsetof(struct extend_params, period),
     .def = "100ms",
     .min = NS_US,
     .max = 100 * NS_SEC,
     .help = "period of the cap",
     .source = "assumed"},
    PARAM_END};

struct extend_unit {
    struct fair_order_unit fair; /* first */
    bool need;                   /* what its guest said last */
    bool extends;                /* the extension is under way */
    bool voluntary;              /* it stops by its own wish */
    ns_t had_in;                 /* the switch-in that has had its extension, -1 */
    ns_t ends, charged;          /* of the extension; its time up to here is in `used` */
    ns_t from, used;             /* the period's start, and what was used in it */
};

static struct fair_queue *queue_of(const struct pcpu *p)
{
    struct fair_order_cpu *c = hyp_pcpu(p);

    return &c->queue;
}

static int extend_init(struct hyp *h)
{
    return fair_order_init(h, FAIR_CFS);
}

static void extend_vcpu_init(struct hyp *h, struct vcpu *v)
{
    struct extend_unit *u = hyp_vcpu(v);

    fair_order_vcpu_init(h, v);
    u->had_in = -1;
}

static void extend_channel_read(struct hyp *h, struct vcpu *v, const struct guest_row *row)
{
    struct extend_unit *u = hyp_vcpu(v);

    (void)h;
    u->need = row->need == NEED_LOCK;
}

static void use(struct hyp *h, struct extend_unit *u)
{
    if (!u->extends)
        return;
    u->used += hyp_now(h) - u->charged;
    u->charged = hyp_now(h);
}

static void extend_stopping(struct hyp *h, struct pcpu *p, struct vcpu *v, struct host_ran ran,
                            enum stop_why why)
{
    struct extend_unit *u = hyp_vcpu(v);

    use(h, u);
    u->voluntary = why != STOP_SLICE && why != STOP_PREEMPT;
    if (u->voluntary)
        u->extends = false;
    fair_order_stopping(h, p, v, ran, why);
}

/* Would another one run? The buddy of a wake-up, or who is not right of it. */
static bool loses(const struct pcpu *p, const struct vcpu *v)
{
    const struct extend_unit *u = hyp_vcpu(v);
    const struct fair_queue *q = queue_of(p);

    return q->leftmost && (q->next || q->leftmost->vruntime <= u->fair.entity.vruntime);
}

static bool within_cap(struct hyp *h, struct extend_unit *u)
{
    const struct extend_params *c = h->params;

    if (hyp_now(h) - u->from >= c->period) {
        u->from = hyp_now(h);
        u->used = 0;
    }
    return u->used + c->extension <= c->cap;
}

/* Is v, which would be switched out, to begin its extension? */
static bool begins(struct hyp *h, struct vcpu *v)
{
    const struct extend_params *c = h->params;
    struct extend_unit *u = hyp_vcpu(v);

    if (!u->need || u->voluntary || c->extension == 0 || u->had_in == v->run_start)
        return false;
    if (!within_cap(h, u)) {
        hyp_count(h, "extend_capped");
        return false;
    }
    hyp_count(h, "extend_given");
    u->had_in = v->run_start;
    u->charged = hyp_now(h);
    u->ends = hyp_now(h) + c->extension;
    return true;
}

/* Does an extension that is under way go on? */
static bool goes_on(struct hyp *h, const struct extend_unit *u)
{
    if (hyp_now(h) >= u->ends) {
        if (u->need)
            hyp_count(h, "extend_too_short");
        return false;
    }
    if (!u->need)
        hyp_count(h, "extend_ended_early");
    return u->need;
}

/* Whoever is extended stays the current one of its queue. */
static void extend_enqueue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why)
{
    struct extend_unit *u = hyp_vcpu(v);

    if (why == ENQUEUE_REQUEUE) {
        u->extends = u->extends ? goes_on(h, u) : loses(p, v) && begins(h, v);
        if (u->extends)
            return;
    }
    fair_order_enqueue(h, p, v, why);
}

static bool extends(const struct vcpu *v)
{
    const struct extend_unit *u = v ? hyp_vcpu(v) : NULL;

    return u && u->extends;
}

static ns_t rest(struct hyp *h, const struct vcpu *v)
{
    const struct extend_unit *u = hyp_vcpu(v);

    return u->ends - hyp_now(h);
}

static struct host_pick extend_pick(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    if (extends(prev))
        return (struct host_pick){.vcpu = prev, .slice = rest(h, prev), .exact = true};
    return fair_order_pick(h, p, prev);
}

static ns_t extend_slice(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    return extends(curr) ? rest(h, curr) : fair_order_slice(h, p, curr);
}

static bool extend_tick(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    const struct extend_unit *u = hyp_vcpu(curr);

    if (!u->extends)
        return fair_order_tick(h, p, curr);
    return !u->need || hyp_now(h) >= u->ends;
}

static bool extend_preempts(struct hyp *h, struct pcpu *p, struct vcpu *curr, struct vcpu *woken)
{
    return !extends(curr) && fair_order_preempts(h, p, curr, woken);
}

const struct host_ops host_policy_extend = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "extend",
            .summary = "CFS that lets a vCPU in a critical section finish it, within a cap",
            .params = extend_params,
            .params_size = sizeof(struct extend_params),
            .scale = fair_order_scale,
            .cpu_size = sizeof(struct fair_order_cpu),
            .unit_size = sizeof(struct extend_unit),
        },
    .init = extend_init,
    .vcpu_init = extend_vcpu_init,
    .enqueue = extend_enqueue,
    .dequeue = fair_order_dequeue,
    .pick = extend_pick,
    .slice = extend_slice,
    .tick = extend_tick,
    .preempts = extend_preempts,
    .stopping = extend_stopping,
    .yield = fair_order_yield,
    .boost = fair_order_boost,
    .channel_read = extend_channel_read,
};
