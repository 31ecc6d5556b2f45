/* SPDX-License-Identifier: MIT */
/*
 * Programs: what tasks do. A workload is a set of task templates, each with a compiled program (a
 * flat array of operations) and the objects they share. It is immutable once built; several VMs use
 * one.
 *
 * Work is in ns at nominal speed. Every operation that may block or wake somebody enters the guest
 * kernel (priced by the machine).
 */
#ifndef SIM_GUEST_PROGRAM_H
#define SIM_GUEST_PROGRAM_H

#include "engine/dist.h"

/* Of an array of locks or queues: the task's own number, or that of its turn within the block of its
 * group: tasks of group g of N take turns over elements gN to gN + N - 1. */
enum element_at { AT_NONE, AT_SELF, AT_TURN };

enum op_code {
    OP_RUN,   /* amount of work */
    OP_SLEEP, /* block for amount (a guest timer) */
    OP_TIMER, /* block until: `periodic` last release + amount (rt-app timer), or at absolute amount
               * after the start of the run (`absolute`); a time that has passed does not block */
    OP_BARRIER, /* obj = barrier */
    OP_LOCK,    /* obj = lock */
    OP_UNLOCK,
    OP_WAIT, /* obj = condition, obj2 = lock that is released meanwhile */
    OP_SIGNAL,
    OP_BROADCAST,
    OP_SEND, /* obj = queue; blocks while full */
    OP_RECV, /* blocks while empty */
    OP_IO,   /* obj = device; amount overrides the service time when `has_amount`; obj2 = guest CPU
              * that takes the interrupt, -1 = the one that asked */
    OP_SPIN, /* burn amount of wall time while running on a pCPU (a busy wait), not work */
    OP_YIELD,
    OP_FORK,      /* obj = task template, started now */
    OP_LOOP,      /* count times (0 = for ever) up to the matching OP_NEXT at `jump` */
    OP_NEXT,      /* jump = its OP_LOOP */
    OP_MARK_OP,   /* counts one operation; obj = mark */
    OP_MARK_OPEN, /* opens latency sample obj: now, or when `inherit` the time of the message's own
                   * open mark (after a recv) or of the interrupt that ended an io, sleep or timer */
    OP_MARK_CLOSE,
    OP_SHARE, /* obj = line: `count` exchanges of it with whoever had it last */
    OP_TURN,  /* the task's turn moves on to the next element */
    OP_POKE,  /* store to the word watched by the idle loop of guest CPU `obj` (-1 = the next one);
              * `poke` says what it does to the value, amount how long a pulse lasts */
    OP_EXIT
};

/* What a store does to a watched word that stands for no work: nothing, there and back, or it stays
 * until the CPU that watches takes it. */
enum poke_kind { POKE_SAME, POKE_PULSE, POKE_FLAG };

struct op {
    enum op_code code;
    uint8_t has_amount, periodic, absolute, inherit;
    uint8_t poke; /* enum poke_kind */
    uint8_t read; /* lock: shared with other readers */
    uint8_t at;   /* enum element_at: which element of an array obj is */
    int obj, obj2;
    int jump;
    int64_t count;
    int line; /* in the workload file, for messages */
    struct dist amount;
    int spread; /* the amount is multiplied by the factor of this spread; 1 = the first, 0 = none */
    /* Amount drawn from a stream shared by all tasks of the template in one VM: their k-th draws
     * are equal (a phase common to all threads). */
    uint8_t shared;
    /* Amount is divided by the number of tasks of the template (serial work split over threads). */
    uint8_t divide;
};

/* SLEEP: spin up to spin_limit, then block; SPIN: spins for ever; RW: readers share it, a writer has
 * it alone; writers spin as SLEEP does, readers block. */
enum lock_kind { LOCK_SLEEP, LOCK_SPIN, LOCK_RW };

struct lock_spec {
    char *name;
    enum lock_kind kind;
    ns_t spin_limit; /* SLEEP, RW: 0 = block at once */
    bool optimistic; /* SLEEP, RW: instead, spin while the owner executes, as the guest sees it */
    bool kernel;     /* spinning raises pause-loop exits (user-space spinning does not) */
    bool fair;       /* SPIN: FIFO hand-over (queued spinlock); else test-and-set */
    int64_t count;   /* above 0: an array of that many */
    bool per_cpu;    /* SPIN: one for each guest CPU; a task takes that of the CPU it is on */
};

struct barrier_spec {
    char *name;
    int64_t parties; /* 0 = all tasks of the templates that use it */
    ns_t spin_limit; /* 0 = block at once; NS_NEVER = spin for ever */
    bool chain;      /* wake: chain (each woken one wakes the next) instead of all */
};

struct queue_spec {
    char *name;
    int64_t capacity;
    int64_t
        low; /* who found it full is woken, all together, when so many are left; -1: one by one */
    int64_t count; /* above 0: an array of that many */
};

/* A cache line that tasks write. */
struct line_spec {
    char *name;
};

struct device_spec {
    char *name;
    int64_t depth; /* served at once */
    struct dist service;
    int spread; /* as in struct op */
};

/* How VMs with the same program differ: each has a factor of its own, drawn once, or anew every
 * `again` of the run. */
struct spread_spec {
    char *name;
    struct dist factor; /* in 1/1024, median 1024 */
    ns_t again;         /* 0 = never */
};

struct task_spec {
    char *name;
    int64_t count;                /* 0 = as many as the VM has vCPUs */
    int64_t count_mul, count_div; /* count in vCPUs: vcpus * mul / div (at least 1); 0 = not used */
    bool on_demand;               /* started by fork only */
    int64_t vcpu; /* pinned to this guest CPU, -1 = free; with `spread` task k on CPU k */
    bool spread;
    uint32_t weight;        /* 1024 = nice 0 */
    uint32_t tag;           /* communication group, 0 = none */
    int64_t tag_of;         /* instead: each `tag_of` tasks in a row are a group; 0 = not used */
    int64_t footprint;      /* working set in bytes, -1 = the machine's default */
    bool kernel;            /* its work is done in the kernel: a directed yield may choose it */
    ns_t start;             /* offset of the first wake-up */
    struct dist start_dist; /* added to start when kind != CONST or a > 0 */
    int start_spread;       /* of start_dist, as in struct op */
    struct op *op;
    int nops;
};

struct workload {
    char *name, *summary, *source, *file;
    struct task_spec *task;
    int ntasks;
    struct lock_spec *lock;
    int nlocks;
    struct barrier_spec *barrier;
    int nbarriers;
    struct queue_spec *queue;
    int nqueues;
    char **cond;
    int nconds;
    struct device_spec *device;
    int ndevices;
    struct spread_spec *spread;
    int nspreads;
    struct line_spec *line;
    int nlines;
    char **mark; /* names of operations and latency samples */
    int nmarks;
    int loop_depth; /* deepest nesting of loops, <= PROGRAM_LOOPS */
};

#define PROGRAM_LOOPS 8

void workload_free(struct workload *w);

#endif
