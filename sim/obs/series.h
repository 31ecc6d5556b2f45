/* SPDX-License-Identifier: MIT */
/*
 * The course of a run in equal steps, as CSV: a trace sink.
 *
 * One row per step and VM, and one of the machine, whose `vm` is empty. Averages over the step, made of
 * whole nanoseconds; the last step may be shorter. A column that does not apply to the row is empty:
 *
 *   time_s            end of the step, since the start of the run (warm-up included)
 *   preferred_vcpus   vCPUs that the guest policy prefers; empty when it keeps no such set
 *   busy_vcpus        vCPUs that run or wait for a pCPU and whose guest does not idle
 *   steal_vcpus       vCPUs that wait for a pCPU: steal per time
 *   throughput_per_s  operations marked
 *   idle_pcpus        of the machine: pCPUs of the pool that no vCPU is on
 */
#ifndef SIM_OBS_SERIES_H
#define SIM_OBS_SERIES_H

#include <stdio.h>

#include "obs/trace.h"

struct series_conf {
    ns_t step;
    int npcpus, nvcpus, nvms; /* of the machine; vCPUs of all VMs */
    const int *pool;
    int npool;
    void *arg;
    int (*vm)(void *arg, int vcpu); /* number of its VM, from 0 */
    const char *(*vm_name)(void *arg, int vm);
};

struct series;

/* Writes the head. `out` stays the caller's, `pool` need not stay. NULL without memory. */
struct series *series_open(FILE *out, const struct series_conf *conf);
struct trace_sink *series_sink(struct series *s);
/* Writes the rest up to `end`, flushes and frees. 0, or -1 (errno). */
int series_close(struct series *s, ns_t end);

#endif
