/* SPDX-License-Identifier: MIT */
/*
 * Movement at a chosen rate (`host.shuffle`): every floating vCPU that wants a pCPU changes places with
 * another once in that time, and is changed for about as often. No real host does this; it is the axis
 * along which a guest's knowledge of where its vCPUs are grows old.
 *
 * Always true: a blocked vCPU stays where it ran, as under any balancer; one that wants a pCPU swaps with
 * one that does too, or goes to an empty pCPU, but not where only vCPUs are that cannot give way: no pCPU
 * gets more load than it had, unless it had none. One event serves all vCPUs in turn; the other place is
 * drawn from the host's own stream, each with the same chance. Who has no other place to go to stays.
 * Under `gather`, where each vCPU may use its home only, nothing moves.
 */
#include "host/internal.h"

static struct vcpu *next_floating(struct host *h)
{
    for (int i = 0; i < h->nvcpus; i++) {
        struct vcpu *v = h->vcpu[h->shuffle_next];

        h->shuffle_next = (h->shuffle_next + 1) % h->nvcpus;
        if (v->allowed->count > 1)
            return v;
    }
    return NULL;
}

/* Who gives way to v on p: one in the same state if there is one that may, the longest waiting first. */
static struct vcpu *partner(const struct vcpu *v, const struct pcpu *p)
{
    struct vcpu *curr = p->curr && vcpu_may_use(p->curr, v->pcpu) ? p->curr : NULL;

    if (curr && v->state != VCPU_READY)
        return curr;
    for (const struct runq_node *n = p->ready.first; n; n = n->next)
        if (vcpu_may_use(n->vcpu, v->pcpu))
            return n->vcpu;
    return curr;
}

static bool is_open(const struct vcpu *v, const struct pcpu *to)
{
    if (to->id == v->pcpu)
        return false;
    return pcpu_load(to) == 0 || partner(v, to);
}

/* One of the other pCPUs v may use, in the unit of `shuffle-scope` around the one it has; the next one
 * when v cannot go there. -1: none. */
static int draw_place(struct host *h, const struct vcpu *v)
{
    static const enum level furthest[] = {
        [SCOPE_PREVIOUS] = LEVEL_CORE,
        [SCOPE_GROUP] = LEVEL_GROUP,
        [SCOPE_NODE] = LEVEL_NODE,
        [SCOPE_MACHINE] = LEVEL_MACHINE,
    };
    const enum level level = furthest[h->conf.shuffle_scope];
    const struct cpumask *unit = h->topo->span[level][h->topo->of[level][v->pcpu]];
    int n = -1, to = -1;

    while ((to = cpumask_next_and(unit, v->allowed, to + 1, h->npcpus)) >= 0)
        n++;
    if (n < 1)
        return -1;
    to = v->pcpu; /* the k-th one after it */
    for (int k = (int)rng_below(&h->rng, (uint64_t)n), tries = 0; tries < n; tries++) {
        do {
            to = cpumask_next_and(unit, v->allowed, to + 1, h->npcpus);
            to = to >= 0 ? to : cpumask_next_and(unit, v->allowed, 0, h->npcpus);
        } while (to == v->pcpu || k-- > 0);
        if (is_open(v, &h->pcpu[to]))
            return to;
    }
    return -1;
}

static void put(struct host *h, struct vcpu *v, struct pcpu *to)
{
    if (v->state == VCPU_RUNNING)
        vcpu_push(h, &h->pcpu[v->pcpu], to);
    else
        host_migrate(h, v, to->id, ENQUEUE_MIGRATE);
}

static void swap(struct host *h, struct vcpu *v, struct pcpu *to)
{
    struct pcpu *from = &h->pcpu[v->pcpu];
    struct vcpu *other = partner(v, to);

    put(h, v, to);
    if (other)
        put(h, other, from);
    h->shuffles++;
}

static void on_shuffle(struct engine *e, struct event *ev)
{
    struct host *h = container_of(ev, struct host, shuffle);
    struct vcpu *v = next_floating(h);
    int to;

    if (!v)
        return;
    to = v->state != VCPU_BLOCKED ? draw_place(h, v) : -1;
    if (to >= 0)
        swap(h, v, &h->pcpu[to]);
    engine_arm(e, ev, ev->time + h->shuffle_every);
}

void shuffle_start(struct host *h)
{
    int floating = 0;

    event_init(&h->shuffle, PHASE_BALANCE, host_tag(TAG_SHUFFLE, 0), on_shuffle);
    for (int i = 0; i < h->nvcpus; i++)
        floating += h->vcpu[i]->allowed->count > 1;
    if (h->conf.shuffle == 0 || floating == 0)
        return;
    h->shuffle_every = h->conf.shuffle / floating;
    if (h->shuffle_every < 1)
        h->shuffle_every = 1;
    engine_arm(h->engine, &h->shuffle, h->engine->now + h->shuffle_every);
}
