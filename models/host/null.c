/* SPDX-License-Identifier: MIT */
/*
 * The smallest hypervisor policy, and the skeleton of every other: a name. Everything else is the
 * core's default: first come, first served on each pCPU, and a vCPU runs until it blocks.
 *
 * To make your own, copy this file to models/host/NAME.c and:
 *  1. call the table host_policy_NAME (dashes of the YAML name become underscores);
 *  2. state private memory as sizes (self_size, cpu_size, unit_size): the core allocates and zeroes
 * it, hyp_pcpu(p) and hyp_vcpu(v) return it;
 *  3. state parameters as a table over a struct (see rr.c);
 *  4. add the operations you need. enqueue, dequeue and pick come together: then you own the
 * ordering, and every vCPU you were given by enqueue must come out of pick (or dequeue) once. The
 * life of a vCPU, with every operation in its place, is at the top of host/host_ops.h.
 */
#include "host/host_ops.h"

const struct host_ops host_policy_null = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "null",
            .summary = "first come, first served; a vCPU runs until it blocks",
        },
};
