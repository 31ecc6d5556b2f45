/* SPDX-License-Identifier: MIT */
/*
 * From events to what each task did: run so long, wake this one, block until then.
 *
 * Always true:
 *  - tasks are keyed by TID; a TID that is new again after it ran is another task (incarnation).
 * TID 0 is idle and no task;
 *  - a run is time on a CPU, merged over preemptions. A task switched out is blocked if and only if
 * a wake-up for it comes before it is switched in again; the state letter decides nothing but what
 *    is said of tasks never seen again;
 *  - a MODEL_WAKE of one task and the MODEL_BLOCK of another come in pairs, with the same wake
 * time;
 *  - the operations of a task are in order of time, and every one that ends before its `full_at` is
 *    there.
 */
#ifndef TRACES_MODEL_H
#define TRACES_MODEL_H

#include "traces/reader.h"
#include "traces/tidmap.h"

#define MODEL_NAME 16 /* bytes of a name kept */

enum model_op_kind { MODEL_RUN, MODEL_BLOCK, MODEL_WAKE };

struct model_op {
    enum model_op_kind kind;
    int peer;   /* BLOCK: who woke it, -1 = interrupt, timer or idle; WAKE: who is woken */
    ns_t start; /* BLOCK: switched out */
    ns_t end;   /* BLOCK and WAKE: the wake-up */
    ns_t run;   /* RUN: time on a CPU between start and end */
};

enum model_state {
    MODEL_ASLEEP, /* blocked, or not started */
    MODEL_WOKEN,  /* woken, not on a CPU yet */
    MODEL_RUNNING,
    MODEL_OFF, /* switched out: blocked or preempted, the future tells */
};

/* What the state letter said at the last switch-out: for tasks never seen again. */
enum model_last { MODEL_LAST_RUNNABLE, MODEL_LAST_BLOCKED, MODEL_LAST_EXITED };

struct model_task {
    int tid, incarnation; /* from 1 */
    char comm[MODEL_NAME];
    size_t comm_len;
    enum model_state state;
    int cpu;
    bool ran, started;
    enum model_last last; /* hint of the last switch out */
    ns_t start;           /* first wake-up or first time on a CPU */
    ns_t since;           /* state entered, or run accounted up to here */
    ns_t run_start;       /* of the run that is not an operation yet; valid when run > 0 */
    ns_t run;
    ns_t run_total;
    struct model_op *op;
    size_t ops, cap;
    int64_t dropped; /* operations beyond max_ops */
    ns_t full_at;    /* end of the first one dropped, NS_NEVER = none */
};

struct model {
    struct model_task *task;
    size_t tasks, cap;
    struct tidmap by_tid; /* the latest incarnation */
    struct model_cpu {
        bool seen, known;
        int tid;
        ns_t last; /* of the last event on this CPU */
    } * cpu;
    size_t cpus;
    size_t max_ops;
    bool any;
    ns_t first, last;
    int64_t wakes_of_awake, runs_without_start;
};

void model_init(struct model *m, size_t max_ops);
void model_free(struct model *m);
/* An event_fn_trace; arg is the model. */
bool model_event(void *arg, const struct trace_event *ev);
/* Closes what is still running. */
bool model_finish(struct model *m);

#endif
