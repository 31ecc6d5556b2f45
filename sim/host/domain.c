/* SPDX-License-Identifier: MIT */
/*
 * Making the tree of domains, and keeping its sums at every change of a pCPU's load: one addition
 * per level, whatever the size of the machine.
 */
#include "host/domain.h"

#include <stdlib.h>

#include "engine/check.h"

/* Balance interval in ms is the number of pCPUs spanned, at most a tenth of a second per pCPU. */
static void set_numbers(const struct host *h, struct lb_level *l, const struct lb_level *below)
{
    const int weight = h->npcpus / h->topo->count[l->level];
    const int node = h->npcpus / h->topo->count[LEVEL_NODE];
    const int below_weight = h->npcpus / h->topo->count[below->level];
    const ns_t limit = 100 * NS_MS * h->npcpus;

    l->imbalance_pct = l->level == LEVEL_CORE ? 110 : 117;
    l->cache_nice_tries = l->level == LEVEL_CORE ? 0 : weight > node ? 2 : 1;
    /* Linux: below a domain there is one whose siblings are preferred, up to the first NUMA level.
     */
    l->prefer_sibling = below->level != LEVEL_THREAD && below_weight <= node;
    l->min_interval = weight * NS_MS;
    l->max_interval = 2 * weight * NS_MS < limit ? 2 * weight * NS_MS : limit;
}

static void add_level(struct host *h, struct lb_tree *t, enum level level)
{
    struct lb_level *below = &t->at[t->depths], *l = below + 1;

    if (h->topo->count[level] == h->topo->count[below->level])
        return;
    t->depths++;
    l->level = level;
    l->fan = h->topo->count[below->level] / h->topo->count[level];
    l->stride = level == LEVEL_CORE ? h->topo->count[LEVEL_CORE] : 1;
    set_numbers(h, l, below);
}

static bool allocate(struct host *h, struct lb_tree *t)
{
    size_t n = 0;

    for (int d = 0; d <= t->depths; d++)
        n += (size_t)h->topo->count[t->at[d].level];
    t->units = calloc(n, sizeof(*t->units));
    t->state = calloc((size_t)h->npcpus * (size_t)t->depths, sizeof(*t->state));
    if (!t->units || !t->state)
        return false;
    n = 0;
    for (int d = 0; d <= t->depths; d++) {
        t->at[d].unit = t->units + n;
        n += (size_t)h->topo->count[t->at[d].level];
    }
    return true;
}

static void fill(struct host *h, struct lb_tree *t)
{
    for (int p = 0; p < h->npcpus; p++) {
        struct host_lb *state = t->state + (size_t)p * (size_t)t->depths;

        h->pcpu[p].lb = state;
        for (int d = 1; d <= t->depths; d++)
            state[d - 1] =
                (struct host_lb){.last = h->engine->now, .interval = t->at[d].min_interval};
    }
    for (int p = cpumask_next(h->usable, 0); p >= 0; p = cpumask_next(h->usable, p + 1)) {
        for (int d = 0; d <= t->depths; d++) {
            t->at[d].unit[lb_unit_of(h, d, p)].cap++;
            t->at[d].unit[lb_unit_of(h, d, p)].idle++;
        }
    }
}

static struct lb_unit leaf_now(const struct pcpu *p)
{
    const int load = pcpu_load(p);

    return (struct lb_unit){
        .nr = load, .cap = 1, .idle = load == 0, .pull = load >= 2 && p->nr_movable > 0};
}

void lb_changed(struct host *h, struct pcpu *p)
{
    struct lb_tree *t = h->lb;
    const struct lb_unit was = t->at[0].unit[p->id], is = leaf_now(p);

    if (was.nr == is.nr && was.pull == is.pull)
        return;
    for (int d = 0; d <= t->depths; d++) {
        struct lb_unit *u = &t->at[d].unit[lb_unit_of(h, d, p->id)];

        u->nr += is.nr - was.nr;
        u->idle += is.idle - was.idle;
        u->pull += is.pull - was.pull;
    }
    if (is.pull > was.pull)
        lb_pullable(h, p);
}

void lb_check(const struct host *h)
{
    const struct lb_tree *t = h->lb;

    for (int d = 0; d <= t->depths; d++) {
        for (int u = 0; u < h->topo->count[t->at[d].level]; u++) {
            const struct cpumask *span = h->topo->span[t->at[d].level][u];
            struct lb_unit sum = {0};
            const struct lb_unit *have = &t->at[d].unit[u];

            for (int p = cpumask_next_and(span, h->usable, 0, h->npcpus); p >= 0;
                 p = cpumask_next_and(span, h->usable, p + 1, h->npcpus)) {
                const struct lb_unit leaf = leaf_now(&h->pcpu[p]);

                sum.nr += leaf.nr;
                sum.cap += leaf.cap;
                sum.idle += leaf.idle;
                sum.pull += leaf.pull;
            }
            CHECK(sum.nr == have->nr && sum.cap == have->cap && sum.idle == have->idle &&
                      sum.pull == have->pull,
                  "sums of unit %d at depth %d are wrong", u, d);
        }
    }
}

bool lb_init(struct host *h)
{
    struct lb_tree *t = calloc(1, sizeof(*t));

    if (!t)
        return false;
    t->at[0] = (struct lb_level){.level = LEVEL_THREAD};
    for (int level = LEVEL_CORE; level < LEVEL_COUNT; level++)
        add_level(h, t, (enum level)level);
    if (t->depths == 0 || h->usable->count < 2) {
        free(t);
        return true;
    }
    h->lb = t;
    if (!allocate(h, t))
        return false;
    fill(h, t);
    for (int p = 0; p < h->npcpus; p++)
        lb_event_init(&h->pcpu[p]);
    return true;
}

void lb_free(struct host *h)
{
    if (!h->lb)
        return;
    free(h->lb->units);
    free(h->lb->state);
    free(h->lb);
}
