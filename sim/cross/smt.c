/* SPDX-License-Identifier: MIT */
/*
 * SMT: a hardware thread is slower while a sibling of its core executes. A thread that executes or
 * spins counts, one in a C-state does not.
 */
#include "cross/world.h"

int64_t xpcpu_speed(const struct xpcpu *p)
{
    const struct world *w = p->world;
    const int others = w->core_hot[w->topo->of[LEVEL_CORE][p->p->id]] - (p->hot ? 1 : 0);

    return others > 0 ? w->conf.smt_speed : 1024;
}

void xpcpu_set_hot(struct xpcpu *p, bool hot)
{
    struct world *w = p->world;
    const int core = w->topo->of[LEVEL_CORE][p->p->id];
    const struct cpumask *span = w->topo->span[LEVEL_CORE][core];

    if (p->hot == hot)
        return;
    p->hot = hot;
    w->core_hot[core] += hot ? 1 : -1;
    if (span->count < 2)
        return;
    for (int i = cpumask_next(span, 0); i >= 0; i = cpumask_next(span, i + 1)) {
        struct vcpu *v = w->pcpu[i].p->curr;

        if (i != p->p->id && v)
            gcpu_set_speed(((struct xvcpu *)v->owner)->g, xpcpu_speed(&w->pcpu[i]));
    }
}
