/* SPDX-License-Identifier: MIT */
/*
 * Per-entity load tracking: a geometric average with half-life 32 ms in integer arithmetic,
 * evaluated lazily: the state between two updates is constant, so one update covers any length of
 * time, and how an interval of constant level is cut into updates does not matter (to 1e-6 of a
 * unit each). Source: Linux kernel/sched/pelt.c (period 1024 us, y^32 = 1/2).
 */
#ifndef SIM_FAIR_PELT_H
#define SIM_FAIR_PELT_H

#include "engine/engine.h"

struct pelt {
    ns_t updated;
    int64_t value; /* fixed point, 32 bits after the point; levels up to 2^30 */
};

void pelt_init(struct pelt *p, ns_t now, int initial /* 0..1024 */);
/* The signal was `level` (0 = off, 1024 = fully on; larger for weighted load) since the last
 * update. */
void pelt_update(struct pelt *p, ns_t now, int64_t level);
/* Value in 0..1024 units as of the last update. */
int64_t pelt_value(const struct pelt *p);
/* Value at `now` if the signal was `level` since the last update, without changing the state. */
int64_t pelt_peek(const struct pelt *p, ns_t now, int64_t level);

#endif
