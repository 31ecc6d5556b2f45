/* SPDX-License-Identifier: MIT */
/*
 * Default wake placement: the pCPU used last when it is idle, else an idle pCPU as near to it as
 * the scope allows. Searches are intersections of masks and cost words, not pCPUs; only a vCPU that
 * never ran and finds nothing idle looks at every pCPU it may use.
 */
#include "host/domain.h"

/* Down the tree of domains, each time into the least loaded child, the next one among equals. For a
 * vCPU that may go anywhere. */
static int least_loaded_anywhere(const struct host *h)
{
    const struct lb_tree *t = h->lb;
    int unit = 0;

    for (int depth = t->depths; depth > 0; depth--) {
        const struct lb_level *l = &t->at[depth];
        const struct lb_unit *units = t->at[depth - 1].unit;
        const int first = lb_child(l, unit, 0);
        const int at = (lb_unit_of(h, depth - 1, h->next_new) - first) / l->stride;
        int best = -1;

        for (int i = 0; i < l->fan; i++) {
            const int from = at >= 0 && at < l->fan ? at : 0;
            const int c = lb_child(l, unit, (from + i) % l->fan);

            if (units[c].cap > 0 && (best < 0 || (int64_t)units[c].nr * units[best].cap <
                                                     (int64_t)units[best].nr * units[c].cap))
                best = c;
        }
        if (best < 0)
            return -1;
        unit = best;
    }
    return unit;
}

static int least_loaded(struct host *h, const struct vcpu *v)
{
    const int start = cpumask_next(v->allowed, h->next_new);
    int best = start >= 0 ? start : cpumask_next(v->allowed, 0);
    int p = best;

    for (int i = 0; i < v->allowed->count; i++) {
        if (pcpu_load(&h->pcpu[p]) < pcpu_load(&h->pcpu[best]))
            best = p;
        p = cpumask_next(v->allowed, p + 1);
        if (p < 0)
            p = cpumask_next(v->allowed, 0);
    }
    return best;
}

/* For a vCPU without a usable previous pCPU: spread in order of number, idle ones first. */
static int place_new(struct host *h, const struct vcpu *v)
{
    int to = cpumask_next_and(h->idle, v->allowed, h->next_new, h->npcpus);

    if (to < 0)
        to = cpumask_next_and(h->idle, v->allowed, 0, h->npcpus);
    if (to < 0 && h->lb && h->lb->depths > 0 && v->allowed->count == h->npcpus)
        to = least_loaded_anywhere(h);
    if (to < 0)
        to = least_loaded(h, v);
    h->next_new = (to + 1) % h->npcpus;
    return to;
}

int hyp_select_default(struct hyp *hyp, struct vcpu *v, int prev)
{
    static const enum level furthest[] = {
        [SCOPE_PREVIOUS] = LEVEL_THREAD,
        [SCOPE_GROUP] = LEVEL_GROUP,
        [SCOPE_NODE] = LEVEL_NODE,
        [SCOPE_MACHINE] = LEVEL_MACHINE,
    };
    struct host *h = hyp->host;

    if (v->allowed->count == 1)
        return cpumask_next(v->allowed, 0);
    if (!vcpu_may_use(v, prev))
        return place_new(h, v);
    if (cpumask_test(h->idle, prev))
        return prev;
    for (int level = LEVEL_CORE; level <= (int)furthest[h->conf.scope]; level++) {
        const int unit = h->topo->of[level][prev];
        const int to = topology_find(h->topo, (enum level)level, unit, h->idle, v->allowed, prev);

        if (to >= 0)
            return to;
    }
    return prev;
}
