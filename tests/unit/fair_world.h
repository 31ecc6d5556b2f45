/* SPDX-License-Identifier: MIT */
/*
 * One CPU with its entities, for the tests of fair queueing.
 */
#ifndef TESTS_UNIT_FAIR_WORLD_H
#define TESTS_UNIT_FAIR_WORLD_H

#include <string.h>

#include "fair/fair.h"

#define TICK (4 * NS_MS)
#define MAX  64

/* One CPU. Plain data without pointers out of it, so that a copy put back undoes what was tried. */
struct world {
    struct fair_conf conf;
    struct fair_queue q, other; /* `other`: a second CPU on which nothing runs */
    struct fair_entity e[MAX];
    int n;
};

static struct world w;
static uint64_t random_state;

static inline uint64_t below(uint64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

static inline void begin(enum fair_kind kind)
{
    memset(&w, 0, sizeof w);
    fair_conf_scaled(&w.conf, 8);
    fair_queue_init(&w.q, kind, &w.conf);
    fair_queue_init(&w.other, kind, &w.conf);
}

static inline struct fair_entity *add(uint32_t weight, enum fair_enqueue_why why)
{
    struct fair_entity *e = &w.e[w.n++];

    fair_entity_init(e, weight, NULL);
    fair_enqueue(&w.q, e, why);
    return e;
}

static inline void repick(void)
{
    if (w.q.curr)
        fair_put(&w.q);
    fair_pick(&w.q);
}

#endif
