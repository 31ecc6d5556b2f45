/* SPDX-License-Identifier: MIT */
/*
 * The machine's shape: threads within cores within cache groups within nodes within sockets, all of
 * equal size at each level. pCPU numbers: the first threads of all cores, core by core in order of
 * group, node and socket, then the second threads in the same order, as Linux numbers x86 servers.
 * Immutable after topology_new.
 */
#ifndef SIM_HOST_TOPOLOGY_H
#define SIM_HOST_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of pCPUs with a summary level, so that a search over thousands of pCPUs touches few words.
 */
struct cpumask {
    int n;             /* capacity in bits */
    int count;         /* set bits */
    uint64_t *word;    /* (n + 63) / 64 */
    uint64_t *summary; /* bit w set when word[w] != 0 */
};

struct cpumask *cpumask_new(int n); /* empty; NULL without memory */
void cpumask_free(struct cpumask *m);
void cpumask_set(struct cpumask *m, int i);
void cpumask_clear(struct cpumask *m, int i);
static inline bool cpumask_test(const struct cpumask *m, int i)
{
    return (m->word[i >> 6] >> (i & 63)) & 1;
}
/* First member >= from, or -1. */
int cpumask_next(const struct cpumask *m, int from);
/* First member of a AND b in [from, end), or -1. */
int cpumask_next_and(const struct cpumask *a, const struct cpumask *b, int from, int end);

enum level {
    LEVEL_THREAD,
    LEVEL_CORE,
    LEVEL_GROUP,
    LEVEL_NODE,
    LEVEL_SOCKET,
    LEVEL_MACHINE,
    LEVEL_COUNT
};

/* How many of the level below are in one of these. */
struct topology_conf {
    int64_t sockets, nodes_per_socket, groups_per_node, cores_per_group, threads_per_core;
};

struct topology {
    struct topology_conf conf;
    int npcpus;
    /* of[level][pcpu] = number of the core, group, node, socket it is in */
    int *of[LEVEL_COUNT];
    int count[LEVEL_COUNT];    /* how many cores, groups, ... there are */
    int cores_in[LEVEL_COUNT]; /* cores per unit; 0 for LEVEL_THREAD */
    /* span[level][i] = the pCPUs of the i-th unit of that level */
    struct cpumask **span[LEVEL_COUNT];
};

struct topology *topology_new(const struct topology_conf *c);
void topology_free(struct topology *t);
/* The smallest level that holds both: LEVEL_THREAD when equal. */
enum level topology_distance(const struct topology *t, int a, int b);
/* A member of a AND b within one unit of a level, or -1: the next one after pCPU `after` in its
 * lane (all first threads, all second threads...), then from the start of that lane, then the next
 * lanes. after = -1: the lowest number. Costs words, not pCPUs. */
int topology_find(const struct topology *t, enum level level, int unit, const struct cpumask *a,
                  const struct cpumask *b, int after);

#endif
