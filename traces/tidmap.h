/* SPDX-License-Identifier: MIT */
/*
 * A map from TID to a small index.
 *
 * Always true: grows with the number of different TIDs and with nothing else.
 */
#ifndef TRACES_TIDMAP_H
#define TRACES_TIDMAP_H

#include <stdbool.h>
#include <stddef.h>

struct tidmap {
    struct tidmap_slot {
        int tid; /* -1 = free */
        int value;
    } * slot;
    size_t size, used; /* size is a power of two, or 0 */
};

void tidmap_free(struct tidmap *m);
/* The place of the value of `tid`; a new one holds -1. NULL without memory. Valid until the next
 * call. */
int *tidmap_at(struct tidmap *m, int tid);

#endif
