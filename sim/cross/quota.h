/* SPDX-License-Identifier: MIT */
/*
 * How many vCPUs each VM may use, from what all of them used: a host that chooses, instead of guests that
 * guess from their steal.
 *
 * Always true: integers only, and the result does not depend on the order of the VMs; each VM may use at
 * least its share by weight, rounded up, and at least one vCPU.
 */
#ifndef SIM_CROSS_QUOTA_H
#define SIM_CROSS_QUOTA_H

#include <stdbool.h>

#include "engine/engine.h"

struct quota {
    int64_t weight;
    int nvcpus;
    ns_t used;    /* vCPU time that the VM wanted in the interval: running or waiting for a pCPU */
    int may;      /* vCPUs it may use; read as what it might so far, then written */
    ns_t part;    /* written: pCPU time of an interval */
    bool settled; /* used within */
};

/* Fills `may` of n VMs that share `npcpus`. */
void quota_divide(struct quota *vm, int n, int npcpus, ns_t interval);

#endif
