/* SPDX-License-Identifier: MIT */
/*
 * The host's writes into the channel: at each context switch and tick (load, idle), at entry
 * (steal, preempted, mapping). A pCPU nobody looks at costs nothing; KVM's own steal-time write is
 * always paid.
 */
#include "cross/world.h"

void publish_pcpu(struct xpcpu *p)
{
    struct world *w = p->world;

    if (w->channel_used)
        channel_publish_pcpu(w->channel, p->p->id, p->wanting,
                             p->p->curr == NULL && p->p->nr_ready == 0);
}

void publish_places(struct world *w)
{
    for (int i = 0; i < w->nvms; i++)
        for (int j = 0; j < w->vm[i].nvcpus && w->vm[i].channel; j++) {
            const int p = w->vm[i].vcpu[j].v->pcpu;

            if (p >= 0)
                channel_map(w->vm[i].channel, j, p, w->topo->of[LEVEL_GROUP][p]);
        }
}

void publish_entry(struct xvcpu *x, bool moved)
{
    const int p = x->v->pcpu;

    if (!x->vm->channel)
        return;
    if (moved)
        channel_map(x->vm->channel, x->g->id, p, x->world->topo->of[LEVEL_GROUP][p]);
    channel_publish_vcpu(x->vm->channel, x->g->id, true, true);
    channel_publish_steal(x->vm->channel, x->g->id, x->v->steal);
}
