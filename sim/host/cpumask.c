/* SPDX-License-Identifier: MIT */
/*
 * Sets of pCPUs. Always true: summary bit w is set exactly when word[w] is not zero, and `count` is
 * the number of members. One allocation per mask.
 */
#include <stdlib.h>

#include "host/topology.h"

static int words(int n)
{
    return (n + 63) / 64;
}

struct cpumask *cpumask_new(int n)
{
    const size_t w = (size_t)words(n), s = (size_t)words((int)w);
    struct cpumask *m = calloc(1, sizeof(*m) + (w + s) * sizeof(uint64_t));

    if (!m)
        return NULL;
    m->n = n;
    m->word = (uint64_t *)(void *)(m + 1);
    m->summary = m->word + w;
    return m;
}

void cpumask_free(struct cpumask *m)
{
    free(m);
}

void cpumask_set(struct cpumask *m, int i)
{
    const uint64_t bit = (uint64_t)1 << (i & 63);
    const int w = i >> 6;

    if (m->word[w] & bit)
        return;
    m->word[w] |= bit;
    m->summary[w >> 6] |= (uint64_t)1 << (w & 63);
    m->count++;
}

void cpumask_clear(struct cpumask *m, int i)
{
    const uint64_t bit = (uint64_t)1 << (i & 63);
    const int w = i >> 6;

    if (!(m->word[w] & bit))
        return;
    m->word[w] &= ~bit;
    if (!m->word[w])
        m->summary[w >> 6] &= ~((uint64_t)1 << (w & 63));
    m->count--;
}

/* First word >= w in which both masks have members, or -1. */
static int next_word(const struct cpumask *a, const struct cpumask *b, int w)
{
    const int n = words(words(a->n));
    int s = w >> 6;
    uint64_t bits;

    if (s >= n)
        return -1;
    bits = a->summary[s] & b->summary[s] & (~(uint64_t)0 << (w & 63));
    while (!bits) {
        if (++s >= n)
            return -1;
        bits = a->summary[s] & b->summary[s];
    }
    return s * 64 + __builtin_ctzll(bits);
}

int cpumask_next_and(const struct cpumask *a, const struct cpumask *b, int from, int end)
{
    int w;

    if (from < 0)
        from = 0;
    if (end > a->n)
        end = a->n;
    if (from >= end)
        return -1;
    for (w = next_word(a, b, from >> 6); w >= 0 && w * 64 < end; w = next_word(a, b, w + 1)) {
        uint64_t bits = a->word[w] & b->word[w];

        if (w == from >> 6)
            bits &= ~(uint64_t)0 << (from & 63);
        if (bits) {
            const int i = w * 64 + __builtin_ctzll(bits);

            return i < end ? i : -1;
        }
    }
    return -1;
}

int cpumask_next(const struct cpumask *m, int from)
{
    return cpumask_next_and(m, m, from, m->n);
}
