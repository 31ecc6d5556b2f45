/* SPDX-License-Identifier: MIT */
/* The machine's shape and sets of pCPUs. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "engine/rng.h"
#include "host/topology.h"

Test(topology, numbers_first_threads_first)
{
    /* 2 sockets of 2 nodes of 1 group of 3 cores of 2 threads. */
    const struct topology_conf c = {2, 2, 1, 3, 2};
    struct topology *t = topology_new(&c);

    cr_assert(t != NULL);
    cr_assert_eq(t->npcpus, 24);
    cr_assert_eq(t->count[LEVEL_CORE], 12);
    cr_assert_eq(t->count[LEVEL_GROUP], 4);
    cr_assert_eq(t->count[LEVEL_NODE], 4);
    cr_assert_eq(t->count[LEVEL_SOCKET], 2);
    cr_assert_eq(t->count[LEVEL_MACHINE], 1);
    cr_assert_eq(topology_distance(t, 5, 5), LEVEL_THREAD);
    cr_assert_eq(topology_distance(t, 0, 12), LEVEL_CORE);
    cr_assert_eq(topology_distance(t, 0, 1), LEVEL_GROUP);
    cr_assert_eq(topology_distance(t, 0, 14), LEVEL_GROUP);
    cr_assert_eq(topology_distance(t, 2, 3), LEVEL_SOCKET);
    cr_assert_eq(topology_distance(t, 5, 6), LEVEL_MACHINE);
    topology_free(t);
}

Test(topology, spans_agree_with_membership)
{
    const struct topology_conf c[] = {
        {1, 1, 1, 1, 1}, {2, 2, 8, 4, 1}, {2, 1, 1, 52, 2}, {1, 4, 5, 3, 2}, {2, 8, 8, 16, 2}};

    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
        struct topology *t = topology_new(&c[i]);

        cr_assert(t != NULL);
        for (int level = 0; level < LEVEL_COUNT; level++) {
            int members = 0;

            for (int u = 0; u < t->count[level]; u++) {
                const struct cpumask *m = t->span[level][u];

                members += m->count;
                cr_assert_eq(m->count, t->npcpus / t->count[level]);
                for (int p = cpumask_next(m, 0); p >= 0; p = cpumask_next(m, p + 1))
                    cr_assert_eq(t->of[level][p], u);
            }
            cr_assert_eq(members, t->npcpus);
        }
        topology_free(t);
    }
}

Test(topology, refuses_shapes_that_make_no_sense)
{
    const struct topology_conf c[] = {{0, 1, 1, 1, 1},
                                      {1, 1, 1, -4, 1},
                                      {1 << 20, 1 << 20, 1, 1, 1},
                                      {INT64_MAX, INT64_MAX, 2, 2, 2}};

    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
        cr_assert(topology_new(&c[i]) == NULL, "shape %zu", i);
}

Test(topology, masks_agree_with_arrays)
{
    static const int sizes[] = {1, 63, 64, 65, 200, 4096, 5000};
    struct rng r;

    rng_init(&r, 7, RNG_TEST, 0, RNG_IDS);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        const int n = sizes[k];
        struct cpumask *a = cpumask_new(n), *b = cpumask_new(n);
        bool *ina = calloc((size_t)n, sizeof(bool)), *inb = calloc((size_t)n, sizeof(bool));
        int count = 0;

        cr_assert(a && b && ina && inb);
        for (int round = 0; round < 2000; round++) {
            const int i = (int)rng_below(&r, (uint64_t)n), j = (int)rng_below(&r, (uint64_t)n);
            const int from = (int)rng_below(&r, (uint64_t)n + 1);
            const int end = (int)rng_below(&r, (uint64_t)n + 1);
            int want = from;

            ina[i] = rng_below(&r, 3) == 0;
            inb[j] = rng_below(&r, 3) > 0;
            (ina[i] ? cpumask_set : cpumask_clear)(a, i);
            (inb[j] ? cpumask_set : cpumask_clear)(b, j);
            while (want < end && !(ina[want] && inb[want]))
                want++;
            cr_assert_eq(cpumask_next_and(a, b, from, end), want < end ? want : -1);
            cr_assert_eq(cpumask_test(a, i), ina[i]);
        }
        for (int i = 0; i < n; i++)
            count += ina[i];
        cr_assert_eq(a->count, count);
        cpumask_free(a);
        cpumask_free(b);
        free(ina);
        free(inb);
    }
}

/* The pCPU that topology_find should give, by trying all in its order. */
static int find_slowly(const struct topology *t, enum level level, int unit,
                       const struct cpumask *a, const struct cpumask *b, int after)
{
    const int cores = t->count[LEVEL_CORE], lanes = t->npcpus / cores;
    const int lane = after < 0 ? 0 : after / cores, core = after < 0 ? 0 : after % cores + 1;

    for (int l = 0; l < lanes; l++) {
        for (int i = 0; i < cores; i++) {
            const int start =
                l == 0 && t->of[level][lane * cores + core % cores] == unit ? core : 0;
            const int p = (lane + l) % lanes * cores + (start + i) % cores;

            if (t->of[level][p] == unit && cpumask_test(a, p) && cpumask_test(b, p))
                return p;
        }
    }
    return -1;
}

Test(topology, find_stays_within_the_unit)
{
    const struct topology_conf c = {2, 2, 3, 5, 2};
    struct topology *t = topology_new(&c);
    struct cpumask *a = cpumask_new(t->npcpus), *b = cpumask_new(t->npcpus);
    struct rng r;

    rng_init(&r, 11, RNG_TEST, 0, RNG_IDS);
    for (int round = 0; round < 20000; round++) {
        const int p = (int)rng_below(&r, (uint64_t)t->npcpus);
        const enum level level = (enum level)rng_below(&r, LEVEL_COUNT);
        const int unit = t->of[level][p];
        const int after = rng_below(&r, 4) == 0 ? -1 : p;
        int have;

        (rng_below(&r, 4) == 0 ? cpumask_set : cpumask_clear)(a, p);
        cpumask_set(b, (int)rng_below(&r, (uint64_t)t->npcpus));
        cpumask_clear(b, (int)rng_below(&r, (uint64_t)t->npcpus));
        have = topology_find(t, level, unit, a, b, after);
        cr_assert_eq(have, find_slowly(t, level, unit, a, b, after), "level %d unit %d after %d",
                     (int)level, unit, after);
    }
    cpumask_free(a);
    cpumask_free(b);
    topology_free(t);
}
