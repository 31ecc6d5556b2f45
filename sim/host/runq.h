/* SPDX-License-Identifier: MIT */
/*
 * A list of vCPUs: what the core keeps its READY vCPUs in and what a policy may use as its
 * ordering. All-zero memory is an empty list. A node is in at most one list; its owner sets `vcpu`
 * once.
 */
#ifndef SIM_HOST_RUNQ_H
#define SIM_HOST_RUNQ_H

#include <stddef.h>

struct vcpu;

struct runq_node {
    struct runq_node *next, *prev;
    struct vcpu *vcpu;
};

struct runq {
    struct runq_node *first, *last;
};

static inline struct vcpu *runq_first(const struct runq *q)
{
    return q->first ? q->first->vcpu : NULL;
}

static inline void runq_push_tail(struct runq *q, struct runq_node *n)
{
    n->next = NULL;
    n->prev = q->last;
    if (q->last)
        q->last->next = n;
    else
        q->first = n;
    q->last = n;
}

static inline void runq_push_head(struct runq *q, struct runq_node *n)
{
    n->prev = NULL;
    n->next = q->first;
    if (q->first)
        q->first->prev = n;
    else
        q->last = n;
    q->first = n;
}

static inline void runq_remove(struct runq *q, struct runq_node *n)
{
    if (n->prev)
        n->prev->next = n->next;
    else
        q->first = n->next;
    if (n->next)
        n->next->prev = n->prev;
    else
        q->last = n->prev;
    n->next = n->prev = NULL;
}

#endif
