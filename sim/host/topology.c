/* SPDX-License-Identifier: MIT */
/*
 * The machine's shape. Always true: a unit of a level above the thread holds consecutive cores, so
 * in each "lane" (all first threads, all second threads, ...) its pCPUs are one range of numbers.
 */
#include "host/topology.h"

#include <limits.h>
#include <stdlib.h>

#define PCPUS_MAX (1 << 20)

/* Number of pCPUs, or 0 when the shape makes no sense. */
static int shape(const struct topology_conf *c, int count[LEVEL_COUNT])
{
    const int64_t fan[] = {1,
                           c->sockets,
                           c->nodes_per_socket,
                           c->groups_per_node,
                           c->cores_per_group,
                           c->threads_per_core};
    int64_t n = 1;
    int level = LEVEL_MACHINE;

    for (size_t i = 0; i < sizeof(fan) / sizeof(fan[0]); i++, level--) {
        if (fan[i] < 1 || fan[i] > PCPUS_MAX || n * fan[i] > PCPUS_MAX)
            return 0;
        n *= fan[i];
        count[level] = (int)n;
    }
    return (int)n;
}

static bool build_level(struct topology *t, int level)
{
    const int ncores = t->count[LEVEL_CORE], n = t->count[level];

    t->of[level] = malloc((size_t)t->npcpus * sizeof(int));
    t->span[level] = calloc((size_t)n, sizeof(struct cpumask *));
    if (!t->of[level] || !t->span[level])
        return false;
    for (int u = 0; u < n; u++)
        if (!(t->span[level][u] = cpumask_new(t->npcpus)))
            return false;
    for (int p = 0; p < t->npcpus; p++) {
        const int u = level == LEVEL_THREAD ? p : p % ncores / t->cores_in[level];

        t->of[level][p] = u;
        cpumask_set(t->span[level][u], p);
    }
    return true;
}

struct topology *topology_new(const struct topology_conf *c)
{
    struct topology *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->conf = *c;
    t->npcpus = shape(c, t->count);
    if (!t->npcpus) {
        free(t);
        return NULL;
    }
    for (int level = LEVEL_CORE; level < LEVEL_COUNT; level++)
        t->cores_in[level] = t->count[LEVEL_CORE] / t->count[level];
    for (int level = 0; level < LEVEL_COUNT; level++) {
        if (!build_level(t, level)) {
            topology_free(t);
            return NULL;
        }
    }
    return t;
}

void topology_free(struct topology *t)
{
    if (!t)
        return;
    for (int level = 0; level < LEVEL_COUNT; level++) {
        for (int u = 0; t->span[level] && u < t->count[level]; u++)
            cpumask_free(t->span[level][u]);
        free(t->span[level]);
        free(t->of[level]);
    }
    free(t);
}

enum level topology_distance(const struct topology *t, int a, int b)
{
    int level = LEVEL_THREAD;

    while (level < LEVEL_MACHINE && t->of[level][a] != t->of[level][b])
        level++;
    return (enum level)level;
}

int topology_find(const struct topology *t, enum level level, int unit, const struct cpumask *a,
                  const struct cpumask *b, int after)
{
    const int ncores = t->count[LEVEL_CORE], lanes = t->npcpus / ncores;
    const int width = level == LEVEL_THREAD ? 1 : t->cores_in[level];
    const int first = level == LEVEL_THREAD ? unit : unit * width;
    int lane = 0, found;

    if (level == LEVEL_THREAD)
        return cpumask_next_and(a, b, unit, unit + 1);
    if (after >= 0)
        lane = after / ncores;
    for (int i = 0; i < lanes; i++, lane = (lane + 1) % lanes) {
        const int lo = lane * ncores + first, hi = lo + width;
        const int from = after >= lo && after < hi ? after + 1 : lo;

        found = cpumask_next_and(a, b, from, hi);
        if (found < 0 && from > lo)
            found = cpumask_next_and(a, b, lo, from);
        if (found >= 0)
            return found;
    }
    return -1;
}
