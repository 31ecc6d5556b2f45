/* SPDX-License-Identifier: MIT */
/*
 * What the files of this folder share. Nobody outside includes it.
 */
#ifndef SIM_HOST_INTERNAL_H
#define SIM_HOST_INTERNAL_H

#include "host/host_ops.h"

/* Kinds of events of this level, top byte of their tags. */
enum host_tag { TAG_SLICE = 0x21, TAG_TICK, TAG_BALANCE, TAG_POLICY, TAG_SHUFFLE };

static inline uint32_t host_tag(enum host_tag kind, int id)
{
    return (uint32_t)kind << 24 | (uint32_t)id;
}

/* vCPUs that want p: running and READY. */
static inline int pcpu_load(const struct pcpu *p)
{
    return (p->curr ? 1 : 0) + p->nr_ready;
}

static inline bool vcpu_may_use(const struct vcpu *v, int pcpu)
{
    return pcpu >= 0 && pcpu < v->allowed->n && cpumask_test(v->allowed, pcpu);
}

#define HOOK(h, hook, ...)                                                                         \
    do {                                                                                           \
        if ((h)->hooks->hook)                                                                      \
            (h)->hooks->hook((h)->hook_arg, __VA_ARGS__);                                          \
    } while (0)

/* "vm0 vcpu 3", "pcpu 7": in a static buffer per kind. */
const char *vcpu_name(const struct vcpu *v);
const char *pcpu_name(const struct pcpu *p);

/* -- vcpu.c: states -- */
/* RUNNING -> READY or BLOCKED with its hooks; p is left without curr. The caller marks p for a
 * decision, holds p->deciding, has told the policy, and queues a READY v afterwards where it
 * belongs (`requeue`: on p itself, before `left` is called). */
void vcpu_switch_out(struct host *h, struct pcpu *p, enum vcpu_state to, enum stop_why why,
                     bool requeue);
/* READY and queued on p -> p's curr. */
void vcpu_switch_in(struct host *h, struct pcpu *p, struct vcpu *v);
/* Puts v into p's list and into the policy's ordering, and asks for preemption. Its state is READY
 * from then on. */
void vcpu_arrive(struct host *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why);
/* Takes READY v out of its list and ordering; vcpu_arrive follows. */
void vcpu_depart(struct host *h, struct vcpu *v);
/* stopping(): what ran since the policy was last told. */
void vcpu_tell_stopping(struct host *h, struct pcpu *p, struct vcpu *v, enum stop_why why);
/* Takes p's curr away and queues it on `to`. */
void vcpu_push(struct host *h, struct pcpu *p, struct pcpu *to);

/* -- pcpu.c: masks and sums follow curr and nr_ready -- */
void pcpu_init(struct host *h, struct pcpu *p, int id);
void pcpu_changed(struct host *h, struct pcpu *p);

/* -- dispatch.c -- */
void dispatch_init(struct pcpu *p);
/* End of p->deciding: whoever arrived meanwhile is seen. */
void dispatch_done(struct host *h, struct pcpu *p);

/* -- slice.c -- */
void slice_init(struct pcpu *p);
/* curr was picked like this. */
void slice_start(struct host *h, struct pcpu *p, struct host_pick k);
/* p's queue changed. */
void slice_refresh(struct host *h, struct pcpu *p);
void slice_stop(struct host *h, struct pcpu *p);
ns_t slice_left(const struct pcpu *p, const struct vcpu *curr);
bool slice_over(const struct pcpu *p, struct vcpu *curr);
/* First point of p's tick grid after t (every 4 ms when there is no tick). */
ns_t slice_tick_after(const struct host *h, const struct pcpu *p, ns_t t);

/* -- fifo.c: the default ordering is p->ready -- */
struct host_pick fifo_pick(const struct pcpu *p, struct vcpu *prev);
bool fifo_boost(struct pcpu *p, struct vcpu *v);

/* -- domain.c, balance.c -- */
bool lb_init(struct host *h);
void lb_free(struct host *h);
/* p's load or what could be pulled from it changed. */
void lb_changed(struct host *h, struct pcpu *p);
/* p is busy: its periodic balancing goes on. */
void lb_busy(struct host *h, struct pcpu *p);
/* The core's balancing. */
void lb_balance(struct host *h, struct pcpu *p, enum balance_why why);
/* Is it worth trying to pull something before p goes idle? */
bool lb_newidle_worth(const struct host *h, const struct pcpu *p);
/* p has too much: lets the nearest idle pCPU balance. */
void lb_kick(struct host *h, struct pcpu *p);
void lb_check(const struct host *h);
void lb_event_init(struct pcpu *p);
/* p has something to pull from now on. */
void lb_pullable(struct host *h, struct pcpu *p);

/* -- gather.c: the core's answer to idle_class -- */
bool gather_start(struct host *h);
void gather_free(struct host *h);
/* v's idle policy calls it stable, or no longer. Without effect when it is so already. */
void gather_class(struct host *h, struct vcpu *v, bool stable);
void gather_reset(struct vcpu *v, ns_t now);

/* -- shuffle.c -- */
void shuffle_start(struct host *h);

/* -- ops.c -- */
bool timers_init(struct host *h);
void timers_free(struct host *h);

#endif
