/* SPDX-License-Identifier: MIT */
/*
 * Level 2: a guest kernel that places tasks on guest CPUs. One `struct guest` per VM.
 *
 * Always true:
 *  - guest code names no pCPU. A guest CPU executes (`on`) or does not, at some speed; cross/ says
 * when;
 *  - a guest CPU's time is spent in this order: hypervisor debt, guest overhead debt, then its
 * activity. Debts are nanoseconds already owed for something that happened on this CPU. gcpu_settle
 * moves elapsed time into the accounts, gcpu_arm computes when the activity ends;
 *  - a wake-up is an activity of the waker's CPU: first the choice (selection time), then the
 * effect. If the waker's vCPU is descheduled in between, the wake-up waits with it;
 *  - a task is in at most one list: a wait list, a waker's list or a run queue;
 *  - nothing is allocated after guest_start.
 */
#ifndef SIM_GUEST_GUEST_H
#define SIM_GUEST_GUEST_H

#include "channel/channel.h"
#include "conf/costs.h"
#include "engine/engine.h"
#include "engine/rng.h"
#include "fair/fair.h"
#include "fair/pelt.h"
#include "guest/guest_conf.h"
#include "guest/program.h"
#include "obs/account.h"
#include "obs/hist.h"
#include "obs/trace.h"

struct guest;
struct guest_ops;
struct gcpu;

enum task_state {
    TASK_UNBORN, /* not started, or waiting to be forked */
    TASK_QUEUED, /* runnable, on a run queue */
    TASK_CURRENT,
    TASK_BLOCKED,
    TASK_WAKING, /* in a waker's list: woken, not yet on a run queue */
    TASK_DEAD
};

/* What a task's CPU time goes to next. */
enum task_act {
    ACT_NEXT,      /* interpret the program */
    ACT_RUN,       /* `left` ns of work */
    ACT_BURN,      /* `left` ns of wall time on a pCPU (OP_SPIN) */
    ACT_SPIN_LOCK, /* spinning for a lock, `left` until it blocks */
    ACT_SPIN_BARRIER
};

/* Singly linked FIFO of tasks, through task.link. */
struct task_list {
    struct task *head;
    struct task **tail;
};

/* `line`: the cache line it lies in, as a number of this guest: see struct guest. */
struct lock {
    const struct lock_spec *spec;
    struct task *owner; /* NULL also while readers have it */
    int readers;
    int line;
    ns_t waited; /* by its takers, the way of its cache line included */
    struct task_list spinners, waiters;
    struct lock *per_cpu; /* [ncpus], these are taken instead; else NULL */
    struct lock *element; /* [spec->count], or NULL */
};

struct barrier {
    const struct barrier_spec *spec;
    int64_t parties, arrived;
    struct task_list waiting;
};

struct msgq {
    const struct queue_spec *spec;
    ns_t *stamp; /* ring of the messages' stamps */
    int64_t head, n;
    int line;
    struct msgq *element; /* [spec->count], or NULL */
    struct task_list senders, receivers;
};

struct cond {
    struct task_list waiting;
};

/* A factor of this VM. */
struct spread {
    const struct spread_spec *spec;
    uint64_t seed;
    int64_t number; /* of the factor drawn last, from 0; -1 none yet */
    int64_t factor; /* in 1/1024, above 0 */
};

struct device {
    const struct device_spec *spec;
    int64_t busy;
    struct task_list pending;
    struct rng rng;
};

/* Fields stand in the order of how often a run touches them, hot ones in the first cache lines. */
struct task {
    _Alignas(64) struct guest *guest;
    const struct task_spec *spec;
    enum task_state state;
    enum task_act act;
    int cpu; /* where it is, or was last */
    int pin; /* guest CPU it may use, -1 = all */
    int pc, loop_top;
    ns_t left;
    ns_t state_since;                   /* not current: start of this waiting or sleeping */
    ns_t woken_at;                      /* wake-up call not yet followed by a run; -1 none */
    ns_t ran_since_in, stolen_since_in; /* up to the last flush */
    ns_t last_ran;                      /* when it last stopped running */
    ns_t stolen_from;           /* current, its CPU off: time since then is not accounted yet */
    struct task *link;          /* task_list */
    struct task_list *on;       /* the list it is in */
    struct task *qnext, *qprev; /* queued tasks of its CPU, in order of arrival */
    struct task_account acct;
    struct fair_entity fair;
    struct pelt util;
    unsigned wake_flags;
    int locks_held, kernel_locks, kernel_spins; /* held; of the kernel; of those, of kind spin */
    ns_t cold;           /* time that it will lose while its working set comes in */
    bool refill;         /* moved since it last ran: its caches are cold */
    bool reads;          /* waits for `lock` to read */
    bool passes;         /* may take `lock`, a paravirt spinlock, while nobody heads its line */
    bool heads;          /* first in line there, and spins for it: nobody passes */
    bool retries;        /* was first in line at an rwsem when it was woken to try again */
    uint32_t tag;        /* communication group, 1 to ntags of its guest; 0 none */
    int64_t turn;        /* over the elements of arrays */
    int64_t share_left;  /* exchanges of the operation under way */
    struct lock *relock; /* to be taken again after a wait on a condition */
    struct lock *lock;   /* spinning or waiting for */
    struct barrier *barrier;
    struct task *chain; /* barrier wake: chain */
    ns_t wait_since;    /* at a lock or barrier */
    int id, instance;   /* in its guest, among those of its template */
    int recent;         /* CPU used before (recent_used_cpu) */
    uint32_t wakee_flips;
    int irq_cpu; /* whose interrupt ends its sleep or I/O */
    ns_t flip_decay;
    struct task *last_wakee;
    int64_t peers; /* tasks of its template */
    struct {
        int pc;
        int64_t left;
    } loop[PROGRAM_LOOPS];
    struct rng rng, shared;
    ns_t *open;    /* [nmarks], -1 = closed */
    ns_t stamp;    /* of the last message received (its open time) or interrupt; -1 none */
    ns_t release;  /* periodic timer */
    int last_open; /* mark opened last: its time travels with messages, -1 none */
    struct event timer;
    struct device *device;
    ns_t pending_amount; /* service time drawn for a device */
    struct task *irq_link;
    void *priv; /* policy */
};

enum gcpu_act {
    GCPU_IDLE,  /* nothing to do; time goes to idle_term */
    GCPU_DRAIN, /* nothing to do, but debts are burnt before the idle plan takes effect */
    GCPU_WAKE,  /* choosing a CPU for the head of `wakes` */
    GCPU_TASK
};

/* Hot fields first, as in struct task. */
struct gcpu {
    _Alignas(64) struct guest *guest;
    int id;
    bool on;      /* executes on a pCPU */
    bool in_step; /* gcpu_step is active: others only mark */
    bool need_resched;
    bool busy; /* as reported to cross: runnable task, wake-up or interrupt pending */
    bool tick_stopped, tick_late, nohz_kick;
    bool halting; /* waits for a paravirt spinlock and will halt when its debts are burnt */
    bool halted;  /* its vCPU halts for that */
    bool evicts;  /* push_to: whatever runs there, and whatever the task holds */
    enum gcpu_act act;
    enum term idle_term; /* GCPU_IDLE: IDLESPIN or HELD */
    int push_to;         /* the current task is to move there, by the stopper; -1 none pending */
    int nr_running;      /* queued and current */
    int target;          /* GCPU_WAKE: the chosen CPU */
    ns_t settled;        /* accounts are right up to here (on) / it was paused then (off) */
    ns_t hyp, ovh;       /* debts */
    ns_t left;           /* GCPU_WAKE: rest of the selection */
    int64_t speed;       /* 1024 = nominal */
    struct task *curr;
    ns_t uncharged;            /* run of curr since the last fair_charge */
    ns_t spent[TASK_SPIN + 1]; /* time of curr since it was last flushed into its account */
    struct account acct;       /* of the vCPU; its terms while off are cross's to fill */
    ns_t flushed[TERM_STEAL]; /* acct as it was when the pCPU's account was last brought up to it */
    struct account *pcpu_acct; /* of the pCPU it is on; set by cross */
    void *owner;               /* cross */
    struct event end;
    struct task_list wakes;
    struct task *irq_head;
    struct task **irq_tail;
    struct task *queued, *queued_last;
    struct fair_queue fq;
    struct pelt util, load;
    ns_t idle_since, avg_idle;
    ns_t ple_left, ple_window;
    int64_t steps; /* at this instant, against endless loops */
    ns_t steps_at;
    struct pelt steal;
    struct event tick;
    ns_t tick_period, tick_phase, next_tick;
    ns_t next_balance, balance_interval;
    struct guest_row said; /* guest.hints: its row of the channel before a policy's changes */
    int failed;            /* balancing passes in a row that found nothing movable */
    void *priv;            /* policy */
};

enum irq_kind { IRQ_TIMER, IRQ_DEVICE, IRQ_TICK };

/* Called by the guest, implemented by cross/. */
struct guest_hooks {
    /* Interrupt pending for g (its irq list is filled): have it taken now or at its next entry. */
    void (*irq)(void *arg, struct gcpu *g, enum irq_kind kind);
    /* `from` (NULL: nobody's CPU) put work on `to`'s run queue, or wants it to reschedule. */
    void (*notify)(void *arg, struct gcpu *from, struct gcpu *to);
    /* g has nothing to run. May add debts (exit). The plan takes effect in idle_commit, once they
     * are burnt. */
    void (*idle)(void *arg, struct gcpu *g);
    void (*idle_commit)(void *arg, struct gcpu *g);
    /* g left its idle plan: it has work, or was made to look for some. */
    void (*idle_end)(void *arg, struct gcpu *g);
    /* The idle spell is over: g has something to do. */
    void (*work_begins)(void *arg, struct gcpu *g);
    /* busy flipped. */
    void (*busy)(void *arg, struct gcpu *g);
    /* Kernel spinning lasted for the pause-loop window: an exit. */
    void (*spin_exit)(void *arg, struct gcpu *g);
    /* The guest programmed its timer, or rang a doorbell for an operation that takes `service`. */
    void (*timer_exit)(void *arg, struct gcpu *g);
    void (*io_exit)(void *arg, struct gcpu *g, ns_t service);
    /* A task on `from` stores to the word that `to`'s idle loop watches, without work for it. */
    void (*poke)(void *arg, struct gcpu *from, struct gcpu *to, enum poke_kind kind, ns_t length);
    void (*count)(void *arg, const char *name);
    /* g, which waits for a paravirt spinlock, goes to halt: the exit. Then its debts are burnt, then
     * it gives up its pCPU until a kick or an interrupt. */
    void (*halt_exit)(void *arg, struct gcpu *g);
    void (*halt)(void *arg, struct gcpu *g);
    /* The task on `from` has released a lock for which `to` halts. */
    void (*kick)(void *arg, struct gcpu *from, struct gcpu *to);
    /* The task on g writes cache line `line` of its guest, `queue`: after those who asked before; so
     * many times in a row others had it. The time that takes; 0 when it is there already. */
    ns_t (*touch)(void *arg, struct gcpu *g, int line, bool queue, int64_t times);
    /* t begins to run on g: the time it will lose while its working set comes in. */
    ns_t (*refill)(void *arg, struct gcpu *g, struct task *t);
};

#define GUEST_TIMERS 8

struct guest_timer {
    struct event event;
    struct guest *guest;
    uint64_t cookie;
};

/* Where a guest stands in the world. */
struct guest_place {
    int vm, ncpus;
    int vcpu_base, task_base;
};

struct guest_stats {
    uint64_t ops, barriers, barrier_waits, lock_waits, switches, migrations, wakes, ipis;
    ns_t barrier_wait, lock_wait, holder_preempted;
    ns_t refill;                                          /* time lost while working sets came in */
    __extension__ unsigned __int128 stack_area, run_area; /* the sums above x time */
    __extension__ unsigned __int128 spread_area;          /* CPUs with a runnable task x time */
    ns_t spread_time;                                     /* time with any runnable task */
    ns_t usable_area, usable_time; /* CPUs that the policy uses x time; time with such a set */
};

struct guest {
    struct engine *engine;
    const struct costs *costs;
    const struct workload *work;
    struct guest_conf conf;
    const struct guest_ops *ops;
    void *params, *self;
    char *cpu_mem, *task_mem;
    int vm;
    int ncpus, ntasks, llc;
    int vcpu_base, task_base; /* global numbers, for trace records */
    struct gcpu *cpu;
    struct task *task;
    struct lock *lock;
    struct barrier *barrier;
    struct msgq *queue;
    struct cond *cond;
    struct device *device;
    struct spread *spread;
    /* Cache lines: those of the workload, then one of each lock, then one of each queue. */
    int nlines;
    int nqueues; /* elements of arrays included */
    int ntags;   /* communication groups */
    struct fair_conf fair;
    struct channel_end *channel; /* NULL: off */
    const struct guest_hooks *hooks;
    void *hook_arg;
    struct trace_sink *trace;
    struct rng policy_rng;
    uint64_t *overloaded; /* bitmap of CPUs with a queued task behind the current one */
    int nr_overloaded;
    int nr_busy_cpus; /* with a runnable task */
    ns_t spread_since;
    int usable; /* CPUs that the policy uses, as it reported; 0 = it keeps no such set */
    ns_t usable_since;
    int examined;           /* run queues looked at in this selection */
    ns_t next_nohz;         /* no idle CPU is kicked for balancing before */
    int run_sum, stack_sum; /* runnable tasks; of these, behind another task of their CPU */
    int *scan; /* [ncpus / llc] scan limit of an idle search, as of the last periodic balance */
    struct guest_timer policy_timer[GUEST_TIMERS];
    uint64_t io_ops;     /* submitted to devices since the start: never goes back */
    ns_t start;          /* when its tasks start */
    ns_t accounted_from; /* accounts cover the time since then */
    ns_t *open;          /* memory of the tasks' open marks */
    int phase_mark;      /* the mark called `phase`: the VM changes what it does; -1 none */
    ns_t phase_at;       /* last time, until somebody has reacted; -1 */
    bool begun;
    struct hist latency, wake, selection;
    struct guest_stats st;
};

/* NULL + message in *why. `params` is copied. Streams are keyed by `vm`. */
struct guest *guest_new(struct engine *e, const struct costs *costs, const struct workload *w,
                        const struct guest_conf *conf, const struct guest_ops *ops,
                        const void *params, const struct guest_place *place, uint64_t seed,
                        const struct guest_hooks *hooks, void *hook_arg, char why[160]);
void guest_free(struct guest *k);
int guest_begin(struct guest *k, ns_t start, char why[160]);
/* The factor of the workload's i-th spread (from 0) that holds now, in 1/1024. */
int64_t spread_factor(struct guest *k, int i);
/* Brings every account up to now. Then guest_reset forgets (end of warm-up). */
void guest_settle(struct guest *k);
void guest_reset(struct guest *k);
/* Sum over terms of each task's account equals its lifetime; crashes otherwise. */
void guest_check(struct guest *k);

/* -- the machine's side (cross) -- */
/* g starts executing: `stolen` of the time since it paused was READY. */
void gcpu_resume(struct gcpu *g, int64_t speed, ns_t stolen);
void gcpu_pause(struct gcpu *g);
void gcpu_set_speed(struct gcpu *g, int64_t speed);
/* Accounts of the vCPU are right afterwards; those of its pCPU and of the current task after
 * gcpu_flush, which includes it. */
void gcpu_settle(struct gcpu *g);
void gcpu_flush(struct gcpu *g);
/* Adds debts (g on or off) and re-arms. */
void gcpu_charge(struct gcpu *g, ns_t hyp, ns_t ovh);
/* Has g look at its interrupts and run queue now; g must be on. */
void gcpu_kick(struct gcpu *g);
/* The halt of g for a lock ends: from now on it waits for a pCPU. */
void gcpu_unhalt(struct gcpu *g);
/* Has g something to do: runnable task, wake-up or interrupt pending? */
bool gcpu_has_work(const struct gcpu *g);
/* Has the word that an idle g watches been written: work, or a kick to balance? Interrupts leave it
 * alone. */
bool gcpu_word_set(const struct gcpu *g);
/* Is g's current task spinning in the kernel? */
bool gcpu_spins(const struct gcpu *g);
/* Must it choose a task anew, now? */
bool gcpu_resched(const struct gcpu *g);
/* Is it in its kernel: waking somebody, spinning, holding a kernel lock, or with a task whose work is
 * there? */
bool gcpu_in_kernel(const struct gcpu *g);
/* g is idle and its plan changed into one that leaves it: burn the debts, then commit again. */
void gcpu_idle_again(struct gcpu *g);
/* g is idle, was woken and has nothing to do: its idle loop turns once, a new plan is made. */
void gcpu_look_round(struct gcpu *g);
/* What an interrupt costs a guest that looks at the channel in it, beyond what its policy reads. */
ns_t guest_reread(const struct guest *k);
ns_t gcpu_next_timer(const struct gcpu *g);

#endif
