/* SPDX-License-Identifier: MIT */
/*
 * The scheduling domains as a tree of sums: pCPUs at depth 0, then the levels of the machine that
 * group something new. Private to domain.c and balance.c.
 *
 * Always true: a unit's numbers are the sums over its pCPUs, so that the busiest of a domain is
 * found by going down the tree. pCPUs that no vCPU may use are outside: their capacity is 0.
 */
#ifndef SIM_HOST_DOMAIN_H
#define SIM_HOST_DOMAIN_H

#include "host/internal.h"

struct lb_unit {
    int nr;   /* running and READY vCPUs */
    int cap;  /* usable pCPUs */
    int idle; /* usable pCPUs without any vCPU */
    int pull; /* pCPUs with two vCPUs or more of which a READY one may go elsewhere */
};

struct lb_level {
    enum level level;
    int fan, stride; /* children of unit u: first + i * stride, i < fan */
    struct lb_unit *unit;
    int imbalance_pct, cache_nice_tries;
    bool prefer_sibling; /* its groups should have equally many, not only idle pCPUs */
    ns_t min_interval, max_interval;
};

struct lb_tree {
    int depths; /* domains of a pCPU, at[1] to at[depths] */
    struct lb_level at[LEVEL_COUNT];
    struct lb_unit *units;
    struct host_lb *state;
};

/* A pCPU's view of one of its domains. */
struct host_lb {
    ns_t last, interval;
    int failed; /* attempts that found an imbalance and moved nothing */
};

static inline int lb_unit_of(const struct host *h, int depth, int pcpu)
{
    return h->topo->of[h->lb->at[depth].level][pcpu];
}

static inline int lb_child(const struct lb_level *l, int unit, int i)
{
    return l->stride == 1 ? unit * l->fan + i : unit + i * l->stride;
}

#endif
