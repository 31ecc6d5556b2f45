/* SPDX-License-Identifier: MIT */
/*
 * C-states by processor generation, as Linux' intel_idle driver knows them (6.12,
 * drivers/idle/intel_idle.c): exit latency and target residency. What a hardware thread draws in them
 * is assumed: the same by name in all generations.
 */
#include <string.h>

#include "scenario_parts.h"

#define C1(exit_us, residency_us)                                                                  \
    {                                                                                              \
        "C1", (exit_us)*NS_US, (residency_us)*NS_US, 1.0                                           \
    }
#define C1E(exit_us, residency_us)                                                                 \
    {                                                                                              \
        "C1E", (exit_us)*NS_US, (residency_us)*NS_US, 0.7                                          \
    }
#define C3(exit_us, residency_us)                                                                  \
    {                                                                                              \
        "C3", (exit_us)*NS_US, (residency_us)*NS_US, 0.4                                           \
    }
#define C6(exit_us, residency_us)                                                                  \
    {                                                                                              \
        "C6", (exit_us)*NS_US, (residency_us)*NS_US, 0.1                                           \
    }

static const struct generation {
    const char *name;
    int n;
    struct cstate state[4];
} generations[] = {
    {"snb", 4, {C1(2, 2), C1E(10, 20), C3(80, 211), C6(104, 345)}},
    {"ivt", 4, {C1(1, 1), C1E(10, 80), C3(59, 156), C6(82, 300)}},
    {"hsw", 4, {C1(2, 2), C1E(10, 20), C3(33, 100), C6(133, 400)}},
    {"bdw", 4, {C1(2, 2), C1E(10, 20), C3(40, 100), C6(133, 400)}},
    {"skx", 3, {C1(2, 2), C1E(10, 20), C6(133, 600)}},
    {"icx", 3, {C1(1, 1), C1E(4, 4), C6(170, 600)}},
    {"spr", 3, {C1(1, 1), C1E(2, 4), C6(290, 800)}},
};

#define NGENERATIONS (sizeof(generations) / sizeof(generations[0]))

bool cstates_by_name(struct machine *m, const struct conf_node *n, struct conf_errors *e)
{
    const char *names[NGENERATIONS];

    for (size_t i = 0; i < NGENERATIONS; i++) {
        const struct generation *g = &generations[i];

        names[i] = g->name;
        if (strcmp(g->name, n->text) != 0)
            continue;
        memset(m->cstate, 0, sizeof(m->cstate));
        memcpy(m->cstate, g->state, (size_t)g->n * sizeof(g->state[0]));
        m->ncstates = g->n;
        return true;
    }
    parts_unknown(e, n, "table of C-states", n->text, names, NGENERATIONS);
    return false;
}
