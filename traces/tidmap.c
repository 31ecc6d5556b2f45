/* SPDX-License-Identifier: MIT */
/*
 * Open addressing with linear probing, at most half full.
 */
#include "traces/tidmap.h"

#include <stdint.h>
#include <stdlib.h>

void tidmap_free(struct tidmap *m)
{
    free(m->slot);
    *m = (struct tidmap){0};
}

static struct tidmap_slot *find(struct tidmap_slot *slot, size_t size, int tid)
{
    size_t i = (size_t)((uint32_t)tid * 2654435769u) & (size - 1);
    while (slot[i].tid != tid && slot[i].tid != -1)
        i = (i + 1) & (size - 1);
    return &slot[i];
}

static bool grow(struct tidmap *m)
{
    size_t size = m->size ? m->size * 2 : 64;
    struct tidmap_slot *slot = malloc(size * sizeof(*slot));
    if (!slot)
        return false;
    for (size_t i = 0; i < size; i++)
        slot[i] = (struct tidmap_slot){-1, -1};
    for (size_t i = 0; i < m->size; i++)
        if (m->slot[i].tid != -1)
            *find(slot, size, m->slot[i].tid) = m->slot[i];
    free(m->slot);
    m->slot = slot;
    m->size = size;
    return true;
}

int *tidmap_at(struct tidmap *m, int tid)
{
    if (m->used * 2 >= m->size && !grow(m))
        return NULL;
    struct tidmap_slot *s = find(m->slot, m->size, tid);
    if (s->tid == -1) {
        s->tid = tid;
        m->used++;
    }
    return &s->value;
}
