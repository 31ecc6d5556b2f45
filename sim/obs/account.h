/* SPDX-License-Identifier: MIT */
/*
 * Where every nanosecond goes. Each pCPU, vCPU and task has an account; its terms add up to the
 * elapsed time, checked to the nanosecond at the end of every run.
 */
#ifndef SIM_OBS_ACCOUNT_H
#define SIM_OBS_ACCOUNT_H

#include "engine/engine.h"

/* Terms of a pCPU and of a vCPU. STEAL, BLOCKED and UNSEEN belong to vCPUs, IDLE to pCPUs. */
enum term {
    TERM_WORK,     /* a task's own instructions */
    TERM_OVERHEAD, /* guest kernel: selection, switch, IPI send, tick, interrupt, table read */
    TERM_LOCKSPIN, /* guest BUSY without progress: waiting actively for a lock or barrier */
    TERM_IDLESPIN, /* guest IDLE, burning: polling */
    TERM_HELD,     /* guest IDLE, pCPU kept in a C-state */
    TERM_HYP,      /* hypervisor: exits, entries, host switches, host ticks, looks, C-state exits */
    TERM_STEAL,    /* READY */
    TERM_BLOCKED,  /* BLOCKED, guest IDLE */
    TERM_UNSEEN,   /* BLOCKED, guest BUSY: the store happened, the host has not looked */
    TERM_IDLE,     /* no vCPU on the pCPU */
    TERM_COUNT
};

struct account {
    ns_t term[TERM_COUNT];
};

/* Terms of a task. */
enum task_term {
    TASK_RUN,
    TASK_OVERHEAD, /* current, guest kernel or hypervisor work on its vCPU */
    TASK_SPIN,
    TASK_STOLEN,  /* current, vCPU off the pCPU */
    TASK_WAITING, /* runnable, not current */
    TASK_SLEEPING,
    TASK_TERM_COUNT
};

struct task_account {
    ns_t term[TASK_TERM_COUNT];
};

#endif
