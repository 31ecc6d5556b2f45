/* SPDX-License-Identifier: MIT */
/*
 * Movement at a chosen rate (`host.shuffle`): every floating vCPU changes places with another once in
 * that time, and is changed for about as often. No real host does this; it is the axis along which a guest's knowledge of where
 * its vCPUs are grows old.
 *
 * Always true: load stays where it is, because the two vCPUs swap their pCPUs; a pCPU without a
 * floating vCPU is a place like any other. One event serves all vCPUs in turn; the other place is drawn
 * from the host's own stream.
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

/* One of the pCPUs v may use, in the unit of `shuffle-scope` around the one it has. */
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
    int start = (int)rng_below(&h->rng, (uint64_t)h->npcpus);
    int to = cpumask_next_and(unit, v->allowed, start, h->npcpus);

    return to >= 0 ? to : cpumask_next_and(unit, v->allowed, 0, h->npcpus);
}

static void put(struct host *h, struct vcpu *v, struct pcpu *to)
{
    if (!vcpu_may_use(v, to->id) || v->pcpu == to->id)
        return;
    if (v->state == VCPU_RUNNING) {
        vcpu_push(h, &h->pcpu[v->pcpu], to);
    } else if (v->state == VCPU_READY) {
        host_migrate(h, v, to->id, ENQUEUE_MIGRATE);
    } else {
        v->pcpu = to->id;
        HOOK(h, rehomed, v);
    }
}

static void swap(struct host *h, struct vcpu *v, struct pcpu *to)
{
    struct pcpu *from = &h->pcpu[v->pcpu];
    struct vcpu *other = to->curr;

    if (from == to || from->deciding || to->deciding)
        return;
    put(h, v, to);
    if (other && other != v && other->allowed->count > 1)
        put(h, other, from);
    h->shuffles++;
}

static void on_shuffle(struct engine *e, struct event *ev)
{
    struct host *h = container_of(ev, struct host, shuffle);
    struct vcpu *v = next_floating(h);

    if (!v)
        return;
    if (v->pcpu >= 0)
        swap(h, v, &h->pcpu[draw_place(h, v)]);
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
