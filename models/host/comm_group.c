/* SPDX-License-Identifier: MIT */
/*
 * CFS that keeps those together who talk to each other: the vCPUs whose guest gives them the same tag
 * (its word for a communication group; 0 = none) are its members, and have one cache group as their
 * home. A tag means nothing outside its VM.
 *
 * A member that wakes gets an idle pCPU of its home; without one it goes where the core places it.
 * The home of a member is the cache group with most members that has room for it: fewer others than
 * pCPUs that it may use; among equals the first from a number that VM and tag give, so that the
 * members agree. Those who are too many for one cache group split into full ones and a rest. Balancing may
 * not pull a member out of its home while a pCPU is idle there; at a host tick the vCPU that has waited
 * longest goes home if a pCPU is idle there. What runs without ever waiting is not moved.
 *
 * Always true: every member counts where it runs, waits or ran last. A choice costs a walk over the
 * vCPUs of one VM and the cache groups.
 * Source: CPS (ASPLOS'23) places tasks by cache group; here the host does, told by tags. Assumed.
 */
#include "host/fair_order.h"

struct comm_cpu {
    struct fair_order_cpu fair; /* first */
    int members;                /* of the i-th cache group, while a choice is made */
};

struct comm_unit {
    struct fair_order_unit fair; /* first */
    uint32_t tag;
};

static int comm_init(struct hyp *h)
{
    return fair_order_init(h, FAIR_CFS);
}

static void comm_channel_read(struct hyp *h, struct vcpu *v, const struct guest_row *row)
{
    struct comm_unit *u = hyp_vcpu(v);

    (void)h;
    u->tag = row->tag;
}

static uint32_t tag_of(const struct vcpu *v)
{
    const struct comm_unit *u = hyp_vcpu(v);

    return u->tag;
}

/* There are no more cache groups than pCPUs. */
static int *members(const struct hyp *h, int group)
{
    struct comm_cpu *c = hyp_pcpu(&h->host->pcpu[group]);

    return &c->members;
}

static int group_of(const struct hyp *h, int pcpu)
{
    return h->host->topo->of[LEVEL_GROUP][pcpu];
}

/* Members with v's tag, and v, add `by` to the count of the group where they are. The vCPUs of a VM
 * have consecutive numbers. */
static void count_members(const struct hyp *h, const struct vcpu *v, int by)
{
    const struct host *host = h->host;

    for (int i = v->id - v->index; i < host->nvcpus && host->vcpu[i]->vm == v->vm; i++) {
        const struct vcpu *o = host->vcpu[i];

        if (o->pcpu >= 0 && tag_of(o) == tag_of(v))
            *members(h, group_of(h, o->pcpu)) += by;
    }
}

/* More pCPUs in the group than `n` that v may use? */
static bool room(const struct hyp *h, const struct vcpu *v, int group, int n)
{
    const struct cpumask *span = h->host->topo->span[LEVEL_GROUP][group];

    for (int p = cpumask_next(span, 0); p >= 0; p = cpumask_next(span, p + 1))
        if (cpumask_test(v->allowed, p) && n-- == 0)
            return true;
    return false;
}

/* -1: v has no tag, or no group has room. */
static int home_of(const struct hyp *h, const struct vcpu *v)
{
    const int n = h->host->topo->count[LEVEL_GROUP];
    const int own = v->pcpu >= 0 ? group_of(h, v->pcpu) : -1;
    int first, best = -1;

    if (tag_of(v) == 0)
        return -1;
    first = (int)((tag_of(v) + (uint32_t)v->vm) % (uint32_t)n);
    count_members(h, v, 1);
    for (int i = 0; i < n; i++) {
        const int g = (first + i) % n;

        if ((best < 0 || *members(h, g) > *members(h, best)) &&
            room(h, v, g, *members(h, g) - (g == own)))
            best = g;
    }
    count_members(h, v, -1);
    return best;
}

/* An idle pCPU there: `prev` if it is one, else the next one after it. -1: none. */
static int idle_in(const struct hyp *h, const struct vcpu *v, int group, int prev)
{
    const struct host *host = h->host;
    const bool here = prev >= 0 && group_of(h, prev) == group;

    if (here && cpumask_test(host->idle, prev) && cpumask_test(v->allowed, prev))
        return prev;
    return topology_find(host->topo, LEVEL_GROUP, group, host->idle, v->allowed, here ? prev : -1);
}

static int comm_select(struct hyp *h, struct vcpu *v, int prev, enum wake_why why)
{
    const int home = home_of(h, v);
    const int to = home >= 0 ? idle_in(h, v, home, prev) : -1;

    (void)why;
    return to >= 0 ? to : hyp_select_default(h, v, prev);
}

static bool comm_admits(struct hyp *h, struct pcpu *to, struct vcpu *v)
{
    const int here = group_of(h, v->pcpu);

    if (tag_of(v) == 0 || group_of(h, to->id) == here || home_of(h, v) != here)
        return true;
    return idle_in(h, v, here, -1) < 0;
}

/* An idle pCPU in v's home, -1 when it is there or none is idle. */
static int way_home(const struct hyp *h, const struct vcpu *v)
{
    const int home = home_of(h, v);

    return home < 0 || home == group_of(h, v->pcpu) ? -1 : idle_in(h, v, home, -1);
}

static bool comm_tick(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    struct vcpu *first = p->ready.first ? p->ready.first->vcpu : NULL;
    const int to = first ? way_home(h, first) : way_home(h, curr);

    if (to >= 0 && first)
        host_migrate(h->host, first, to, ENQUEUE_MIGRATE);
    else if (to >= 0)
        hyp_push(h, curr, to);
    return fair_order_tick(h, p, curr);
}

const struct host_ops host_policy_comm_group = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "comm-group",
            .summary = "CFS that keeps vCPUs of one communication group in one cache group",
            .params = fair_cfs_params,
            .params_size = sizeof(struct fair_conf),
            .scale = fair_order_scale,
            .cpu_size = sizeof(struct comm_cpu),
            .unit_size = sizeof(struct comm_unit),
        },
    .init = comm_init,
    .fini = fair_order_fini,
    .vcpu_init = fair_order_vcpu_init,
    .select = comm_select,
    .enqueue = fair_order_enqueue,
    .dequeue = fair_order_dequeue,
    .pick = fair_order_pick,
    .slice = fair_order_slice,
    .tick = comm_tick,
    .preempts = fair_order_preempts,
    .stopping = fair_order_stopping,
    .yield = fair_order_yield,
    .boost = fair_order_boost,
    .admits = comm_admits,
    .channel_read = comm_channel_read,
};
