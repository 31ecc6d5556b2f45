/* SPDX-License-Identifier: MIT */
/*
 * The schedule as a string, one character per step, so that a test can state a decision sequence:
 * "AABBAABB". A sink that keeps who was on which CPU; made for tests on tiny machines.
 */
#ifndef SIM_OBS_GANTT_H
#define SIM_OBS_GANTT_H

#include <stdbool.h>

#include "obs/trace.h"

struct gantt {
    struct trace_sink sink; /* first: this is what the run gets */
    struct trace_record *record;
    size_t n, room;
    bool failed; /* out of memory: records are missing */
};

void gantt_init(struct gantt *g);
void gantt_free(struct gantt *g);

/* The vCPUs on a pCPU from `from` to `to`, a character per started `step`: 'A' to 'Z' for vCPUs 0
 * to 25, then 'a' to 'z', '0' to '9', '?' beyond; '.' for nobody. Of several in one step the one
 * with the most time, of equals the one that came first. malloc'ed; NULL without memory or with
 * records missing. */
char *gantt_pcpu(const struct gantt *g, int pcpu, ns_t from, ns_t to, ns_t step);
/* The same for the tasks that are current on a vCPU. That is the guest's view: a task stays current
 * while its vCPU is off the pCPU. */
char *gantt_vcpu(const struct gantt *g, int vcpu, ns_t from, ns_t to, ns_t step);

#endif
