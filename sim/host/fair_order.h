/* SPDX-License-Identifier: MIT */
/*
 * Operations of a host policy that orders the vCPUs of each pCPU with sim/fair. A policy names them
 * in its table with these sizes, and struct fair_conf as its parameters. Both kinds of fair
 * queueing share them; what differs is the queue.
 *
 * With `vm-groups` each VM has a queue of its own on each pCPU, and these queues wait in the pCPU's by
 * weight: that of a VM is its own (`weight`), however many vCPUs it has, and is spread over the
 * pCPUs as its runnable vCPUs are (Linux: a cgroup per VM, calc_group_shares; there by load averages,
 * here by counts, assumed), which a group learns when its own vCPUs come and go and at ticks, without ticks at
 * each turn. A yield concerns the VM's own queue only: alone there, a vCPU goes on.
 *
 * Always true: the entity of a pCPU's curr is the current one of its queue and has been charged up
 * to the last operation; the entity of a READY vCPU waits in its pCPU's queue; that of a BLOCKED
 * vCPU is in no queue or delayed in the queue of the pCPU it ran on last. A group waits in the pCPU's
 * queue, or is the current one there, while it has a runnable vCPU on that pCPU.
 */
#ifndef SIM_HOST_FAIR_ORDER_H
#define SIM_HOST_FAIR_ORDER_H

#include "fair/fair.h"
#include "host/host_ops.h"

/* The vCPUs of a VM on a pCPU. */
struct fair_order_group {
    struct fair_queue queue;
    struct fair_entity entity; /* in the pCPU's queue */
    int runnable;              /* of pCPU 0 only: runnable vCPUs of the VM, wherever they are */
};

struct fair_order_cpu {
    struct fair_queue queue;        /* of vCPUs, or of groups */
    struct fair_order_group *group; /* by VM; NULL: no groups */
    ns_t charged;                   /* when the current entity was charged last */
};

struct fair_order_unit {
    struct fair_entity entity;
    struct pcpu *on; /* whose queue it is or was in */
};

/* For init: queues of this kind; takes the host's tick into the parameters. 0 or -1. */
int fair_order_init(struct hyp *h, enum fair_kind kind);
void fair_order_fini(struct hyp *h);
void fair_order_vcpu_init(struct hyp *h, struct vcpu *v);
void fair_order_enqueue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why);
void fair_order_dequeue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum stop_why why);
struct host_pick fair_order_pick(struct hyp *h, struct pcpu *p, struct vcpu *prev);
ns_t fair_order_slice(struct hyp *h, struct pcpu *p, struct vcpu *curr);
bool fair_order_tick(struct hyp *h, struct pcpu *p, struct vcpu *curr);
bool fair_order_preempts(struct hyp *h, struct pcpu *p, struct vcpu *curr, struct vcpu *woken);
void fair_order_stopping(struct hyp *h, struct pcpu *p, struct vcpu *v, struct host_ran ran,
                         enum stop_why why);
bool fair_order_yield(struct hyp *h, struct vcpu *from, struct vcpu *to);
/* Linux derives the constants from the number of CPUs. */
void fair_order_scale(void *params, int npcpus);
bool fair_order_boost(struct hyp *h, struct pcpu *p, struct vcpu *v);

#endif
