/* SPDX-License-Identifier: MIT */
/*
 * CFS whose slices bend to critical sections: a vCPU that would be switched out while its guest says
 * that it holds a lock (NEED_LOCK) goes on for `extension`, once between two switch-ins.
 *
 * The guest's row is read when the host has control: at entry, ticks and decisions. A guest that leaves
 * its section makes no exit, so the host would learn of it at the end of the extension, when the guest
 * may well be in the next section; therefore it looks every `look` while it extends, by a timer whose
 * exits are paid, and ends the extension at the first look that finds no need. Meanwhile a wake-up
 * preempts nothing, and a vCPU that yields or blocks gives the rest up.
 *
 * Always true: CFS charges an extension like any run, so it is paid back by later turns, unless those
 * who lost it sleep: CFS forgets what it owes to sleepers. So a vCPU earns `cap` of extensions by each
 * `period` that it runs, saves up no more than `cap`, and starts with nothing: whatever its guest says
 * and the others do, extensions are at most cap / period of its run time, and what was saved.
 * Ticks that stretch a slice would undo that: an extension that ends past a tick shifts the next turns
 * to where they are stretched most. So the slices of a vCPU that has been extended once are exact.
 * Sources: eCS (ATC'18): an extra slice for critical sections; pvsched (v3, 2026): that there is a cap.
 */
#include "host/fair_order.h"

struct extend_params {
    struct fair_conf fair; /* first: fair_order takes it from there */
    ns_t extension, look, cap, period;
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
    {.name = "look",
     .type = PARAM_NS,
     .offset = offsetof(struct extend_params, look),
     .def = "10us",
     .min = 0,
     .max = 10 * NS_SEC,
     .help = "how often the host looks during an extension; 0 = only at ticks and at its end",
     .source = "assumed"},
    {.name = "cap",
     .type = PARAM_NS,
     .offset = offsetof(struct extend_params, cap),
     .def = "5ms",
     .min = 0,
     .max = 100 * NS_MS,
     .help = "extensions that a vCPU earns by running for a period, and can save up",
     .source = "assumed; pvsched caps a boost at 1 s, then throttles for 1 s"},
    {.name = "period",
     .type = PARAM_NS,
     .offset = offsetof(struct extend_params, period),
     .def = "100ms",
     .min = NS_MS,
     .max = 10 * NS_SEC,
     .help = "run time of a vCPU by which it earns the cap",
     .source = "assumed"},
    PARAM_END};

struct extend_unit {
    struct fair_order_unit fair; /* first */
    bool need;                   /* what its guest said last */
    bool extends;                /* the extension is under way */
    bool voluntary;              /* it stops by its own wish */
    ns_t had_in;                 /* the switch-in that has had its extension, -1 */
    ns_t ends, paid;             /* of the extension; up to here it has left the budget */
    ns_t budget, earned;         /* what it may use; its run time that has been turned into that */
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
    u->budget -= hyp_now(h) - u->paid;
    u->paid = hyp_now(h);
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

/* A period earns all that can be saved. */
static void earn(struct hyp *h, struct extend_unit *u)
{
    const struct extend_params *c = h->params;
    const ns_t ran = u->fair.entity.sum_exec - u->earned;

    u->earned += ran;
    u->budget += (ran < c->period ? ran : c->period) * c->cap / c->period;
    if (u->budget > c->cap)
        u->budget = c->cap;
}

/* Is v, which would be switched out, to begin its extension? */
static bool begins(struct hyp *h, struct vcpu *v)
{
    const struct extend_params *c = h->params;
    struct extend_unit *u = hyp_vcpu(v);

    if (!u->need || u->voluntary || c->extension == 0 || u->had_in == v->run_start)
        return false;
    earn(h, u);
    if (u->budget < c->extension) {
        hyp_count(h, "extend_capped");
        return false;
    }
    hyp_count(h, "extend_given");
    u->had_in = v->run_start;
    u->paid = hyp_now(h);
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

static bool was_extended(const struct vcpu *v)
{
    const struct extend_unit *u = v ? hyp_vcpu(v) : NULL;

    return u && u->had_in >= 0;
}

/* To the next look. */
static ns_t rest(struct hyp *h, const struct vcpu *v)
{
    const struct extend_params *c = h->params;
    const struct extend_unit *u = hyp_vcpu(v);
    const ns_t left = u->ends - hyp_now(h);

    return c->look > 0 && c->look < left ? c->look : left;
}

static struct host_pick extend_pick(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    struct host_pick k;

    if (extends(prev))
        return (struct host_pick){.vcpu = prev, .slice = rest(h, prev), .exact = true};
    k = fair_order_pick(h, p, prev);
    k.exact = was_extended(k.vcpu);
    return k;
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
