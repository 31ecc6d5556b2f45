/* SPDX-License-Identifier: MIT */
/*
 * From trace records to spans: which vCPU a pCPU is given to, and what a vCPU does, from when to when. A
 * trace sink that hands each span to its owner when it is over.
 *
 * Always true: the spans of a pCPU follow each other without gap or overlap and fill the window, and so do
 * those of a vCPU; none is empty, and two that follow each other differ. Within a track they come in the order of time. A wake-up is handed over when
 * its task has run, after spans that begin at its ends, and only if both ends lie in spans that show something.
 */
#ifndef SIM_OBS_SPANS_H
#define SIM_OBS_SPANS_H

#include "obs/account.h"
#include "obs/trace.h"

enum span_state {
    SPAN_IDLE,      /* blocked without work for it: off every pCPU */
    SPAN_TASK,      /* a task is current; what interrupts it for less than a switch is part of it */
    SPAN_KERNEL,    /* on a pCPU without a task: interrupts, ways into and out of idleness */
    SPAN_LOCK_SPIN, /* the rest as in obs/account.h */
    SPAN_IDLE_SPIN,
    SPAN_HELD,
    SPAN_STEAL,
    SPAN_UNSEEN,
    SPAN_STATES
};

/* "steal", "held idle", ... */
const char *span_state_name(enum span_state s);

/*
 * What records do not tell, from the accounts of the run that is watched: when the debts are paid that come before
 * an activity, and when work for a vCPU arrives that is off its pCPU. With it the spans of the terms of obs/account.h
 * are as long as these, to the nanosecond. Time that something takes away in the middle of such a span (a
 * host tick under a held vCPU) is put at its end.
 */
struct spans_probe {
    void *arg;
    ns_t (*began)(void *arg); /* when the accounts began */
    ns_t (*spent)(void *arg, int vcpu, enum term term);
    ns_t (*owed)(void *arg, int vcpu); /* debts that it pays before anything else */
    /* Of a blocked vCPU: is there work for it, and since when is that so? */
    bool (*unseen)(void *arg, int vcpu, ns_t *since);
};

struct spans_conf {
    int npcpus, nvcpus;
    ns_t from, to;                   /* the window; to = 0: to the end of the run */
    const struct spans_probe *probe; /* copied; NULL: records are all there is */
    void *arg;
    void (*pcpu)(void *arg, int pcpu, int vcpu, ns_t from, ns_t to); /* vcpu -1: nobody */
    /* task: the current one, also of a vCPU that waits; -1: none */
    void (*vcpu)(void *arg, int vcpu, enum span_state s, int task, ns_t from, ns_t to);
    /* It begins at `at` on the vCPU of the waker, at the last nanosecond of that one's span where it ends then, and
     * leads to where the task first runs on `vcpu`. */
    void (*wake)(void *arg, int task, int waker, ns_t at, int vcpu, ns_t runs);
};

struct spans;

/* NULL without memory. */
struct spans *spans_new(const struct spans_conf *conf);
struct trace_sink *spans_sink(struct spans *s);
/* Hands over what is open, up to `end` or the end of the window. 0, or -1 when wake-ups are missing for want of
 * memory. */
int spans_end(struct spans *s, ns_t end);
void spans_free(struct spans *s); /* NULL is fine */

#endif
