/* SPDX-License-Identifier: MIT */
/* Settings of a guest kernel: the keys below `guest:` other than `policy`. */
#ifndef SIM_GUEST_GUEST_CONF_H
#define SIM_GUEST_GUEST_CONF_H

#include "conf/param.h"

enum guest_sched { GUEST_SCHED_EEVDF, GUEST_SCHED_CFS, GUEST_SCHED_FIFO };
/* What a guest tells its host about itself: nothing but at its ticks, the truth, or what pays. */
enum guest_hints { HINTS_OFF, HINTS_HONEST, HINTS_LIE };
enum guest_nohz { NOHZ_IDLE, NOHZ_OFF, NOHZ_FULL };
/* How the guest kernel's queued spinlocks wait: in a queue that nobody passes; in one that is passed while
 * nobody spins at its head, with waiters that halt; by test-and-set. */
enum guest_spinlock { SPINLOCK_NATIVE, SPINLOCK_PARAVIRT, SPINLOCK_UNFAIR };

/* What a waker leaves in the word that an idle CPU watches: a flag that this CPU alone clears (Linux'
 * need_resched), or a pulse that is gone after wake_pulse. */
enum guest_word { WORD_FLAG, WORD_PULSE };

struct guest_conf {
    int scheduler;   /* enum guest_sched */
    int64_t hz;      /* guest tick */
    int nohz;        /* enum guest_nohz */
    int spinlock;    /* enum guest_spinlock */
    int64_t threads; /* what `vcpus` in the count of a task stands for, 0 = the vCPUs */
    int64_t llc;     /* vCPUs per last-level cache as the guest sees it, 0 = one LLC */
    bool balance;    /* periodic, new-idle and nohz balancing */
    bool wakeup_preemption;
    bool channel;         /* false: the channel is off for this VM */
    bool equal_selection; /* every selection costs what `selection_cost` says, whatever it looks at
                           */
    ns_t selection_cost;
    ns_t batch;    /* an operation may take effect while at most this much overhead is still owed */
    int wake_word; /* enum guest_word */
    ns_t wake_pulse;     /* WORD_PULSE: how long it stands */
    int hints;           /* enum guest_hints */
    ns_t migration_cost; /* a task that ran more recently is cache hot for balancing */
};

extern const struct param guest_params[];

#endif
