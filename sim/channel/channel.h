/* SPDX-License-Identifier: MIT */
/*
 * The channel: the only data that the two levels may know of each other.
 *
 * Per vCPU one host row (written by the host, read by its guest) and one guest row (the other way).
 * The load degree is kept once per pCPU; all guests mapped to that pCPU read the same cell. The quota is
 * kept once per VM. One
 * writer per cell; readers get a copy, as it was `delay` before the read. A reader may read only
 * the facts that its policy declared: anything else is a fault of that policy and stops the run.
 * Raw pCPU, node, group and load exist only as FACT_ORACLE, which no shipped policy may declare.
 *
 * Units: ns. The channel allocates when it is made, never later.
 * Source: CPS Refer-Table (two levels, per-pCPU load page), kvm_steal_time (steal, preempted).
 */
#ifndef SIM_CHANNEL_CHANNEL_H
#define SIM_CHANNEL_CHANNEL_H

#include <stdbool.h>

#include "engine/engine.h"
#include "obs/hist.h"

/* What a guest policy may declare that it reads. */
enum fact {
    FACT_PREEMPTED = 1 << 0, /* vCPU is off its pCPU (which rule: scenario) */
    FACT_DEGREE = 1 << 1,    /* load degree of the pCPU that the vCPU is mapped to */
    FACT_PCPU_IDLE = 1 << 2, /* nothing runs on that pCPU (idle-bit) */
    FACT_GROUP = 1 << 3,     /* virtual cache group */
    FACT_STEAL = 1 << 4,     /* own steal, as of the last entry */
    FACT_HINT = 1 << 5,      /* the host's enumerated hint */
    FACT_ORACLE = 1 << 6,
    FACT_QUOTA = 1 << 7 /* how many vCPUs the VM may use */
};

enum degree { DEGREE_LOW, DEGREE_HIGH };

/* When `preempted` is set (KVM on x86: any until 5.18, runnable only since). */
enum preempted_rule {
    PREEMPTED_ANY, /* off the pCPU for any reason, idle included: x86 before 5.19, openEuler arm64
                    */
    PREEMPTED_RUNNABLE, /* descheduled while still runnable: x86 from 5.19 */
    PREEMPTED_NEVER     /* no such flag, the guest's test is a constant: mainline arm64 */
};

enum need { NEED_NONE, NEED_LOCK, NEED_IRQ, NEED_LATENCY };

/* Guest -> host. */
struct guest_row {
    ns_t stamp;
    int nr_runnable;
    enum need need;
    bool idle;
    uint32_t tag; /* the guest's own word: communication group and other hints */
};

struct channel;

/* `delay`: publication delay, ns. `rng_seed` feeds the virtual ids. */
struct channel *channel_new(struct engine *e, int npcpus, ns_t delay, uint64_t rng_seed);
void channel_free(struct channel *c); /* and its ends */
/* Number of raw cache groups, before the first channel_attach; npcpus when not called. Virtual
 * group ids are a permutation of 0..ngroups-1. */
void channel_set_groups(struct channel *c, int ngroups);
/* Reads that found the value of `delay` ago overwritten already, and got the oldest one kept. */
uint64_t channel_overruns(const struct channel *c);

/* One guest's end of the channel, NULL without memory. `owner`: policy name for messages; `facts`:
 * what it declared; `threshold`: load below which a pCPU counts as low; nvcpus rows. Histogram
 * `age` may be NULL. */
struct channel_end;
struct channel_end *channel_attach(struct channel *c, const char *owner, unsigned facts, int nvcpus,
                                   int threshold, enum preempted_rule rule, struct hist *age);
/* Whether anybody declared a fact that must be published (for costs): any of `facts`. */
bool channel_used(const struct channel *c, unsigned facts);

/* What is true at the moment of a read: the load of the pCPU where the vCPU is, and its raw cache group
 * (-1: it was nowhere yet). Asked of `now` at each read of a degree or a group, to count those that tell
 * what is no longer so. */
struct channel_now {
    int load, group;
};
typedef struct channel_now channel_now_fn(void *arg, int vcpu);
void channel_compare(struct channel_end *e, channel_now_fn *now, void *arg);
/* Degrees and groups read since the last reset, and how many of them were wrong. */
struct channel_quality {
    uint64_t reads, wrong;
};
struct channel_quality channel_quality(const struct channel_end *e);
void channel_quality_reset(struct channel_end *e);

/* -- written by the host side (cross) -- */
/* Load and running state of a pCPU, at each context switch and tick. `load` counts queued or
 * running vCPUs whose guest is not idle; `idle` = nothing runs. */
void channel_publish_pcpu(struct channel *c, int pcpu, int load, bool idle);
/* The vCPU is mapped to this pCPU from now on; `group` is the raw cache group (disguised here), -1
 * for none. A vCPU that was never mapped reads like one on an empty pCPU in no group. */
void channel_map(struct channel_end *e, int vcpu, int pcpu, int group);
/* Running state of a vCPU. `runnable` = it left the pCPU still wanting it. */
void channel_publish_vcpu(struct channel_end *e, int vcpu, bool on_pcpu, bool runnable);
/* Steal so far, written when the vCPU enters the guest. */
void channel_publish_steal(struct channel_end *e, int vcpu, ns_t steal);
void channel_publish_hint(struct channel_end *e, int vcpu, int hint);
/* How many vCPUs the VM may use from now on; 0 = the host does not say. */
void channel_publish_quota(struct channel_end *e, int nvcpus);

/* -- read by the guest (each read counts as one row of its kind, for pricing) -- */
bool channel_preempted(struct channel_end *e, int vcpu); /* PREEMPTED_NEVER: reads no row */
enum degree channel_degree(struct channel_end *e, int vcpu);
bool channel_pcpu_idle(struct channel_end *e, int vcpu);
int channel_group(struct channel_end *e, int vcpu);
ns_t channel_steal(struct channel_end *e, int vcpu);
int channel_hint(struct channel_end *e, int vcpu);
int channel_quota(struct channel_end *e); /* 0 = not said */
/* A guest that reads its steal for its own accounting, as every kernel does: never refused, no row.
 */
ns_t channel_own_steal(const struct channel_end *e, int vcpu);
/* The truth, raw and without delay: for policies that study what better information would be worth.
 */
struct channel_truth {
    int pcpu; /* -1: not placed yet */
    int group, load;
    bool idle;
};
struct channel_truth channel_oracle(struct channel_end *e, int vcpu);

/* Rows read since the last call, by kind; for the price of a selection. Resets. */
struct channel_reads {
    int preempted, load, group, other;
};
struct channel_reads channel_take_reads(struct channel_end *e);

/* -- guest row -- */
/* The stamp is set here. */
void channel_write_guest(struct channel_end *e, int vcpu, const struct guest_row *row);
struct guest_row channel_read_guest(const struct channel_end *e, int vcpu); /* after the delay */

#endif
