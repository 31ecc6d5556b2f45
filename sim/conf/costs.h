/* SPDX-License-Identifier: MIT */
/*
 * The price list: every nanosecond that is not a program's own work comes from here. Values and
 * sources stand in the machine file; the table in costs.c has defaults (all "assumed") and help.
 * Core code reads it; policies never see it.
 */
#ifndef SIM_CONF_COSTS_H
#define SIM_CONF_COSTS_H

#include "conf/param.h"

#define CSTATES_MAX 8

struct cstate {
    char name[8];
    ns_t exit_latency;
    ns_t residency; /* target residency */
    double power_w; /* per hardware thread while in it */
};

struct costs {
    /* host and boundary: hypervisor time on the pCPU where they happen */
    ns_t host_switch; /* from one vCPU thread to another, or from idle */
    ns_t exit;        /* VM exit with handling of a simple reason */
    ns_t entry;       /* VM entry */
    ns_t inject;      /* interrupt injection at entry */
    ns_t ipi_send;    /* trapped ICR write on the sender, exit and entry included */
    ns_t ipi_latency; /* from the end of the send to the arrival at the target */
    ns_t timer_exit;  /* guest programs its timer: exit and entry included */
    ns_t timer_irq;   /* guest timer expires while it runs: exit and entry included */
    ns_t host_tick;   /* host tick under a running vCPU: exit and entry included */
    ns_t io_submit;   /* doorbell: exit and entry included */
    ns_t pause_exit;  /* pause-loop exit with the directed-yield scan */
    ns_t publish; /* writing the host rows at a context switch or tick, when a channel is used */
    ns_t remap;   /* remapping load pages when a vCPU moved, when a channel is used */
    ns_t steal_write;  /* KVM's own steal-time write at entry */
    ns_t look;         /* looking at one watched word from the host */
    ns_t scan_element; /* one element of a watch list */
    ns_t wake_mark;    /* marking one vCPU of a VM-wide wake */
    ns_t timer_floor;  /* shortest re-arm of a host timer */
    ns_t nop_turn;     /* one turn of a guest's idle loop whose mwait is trapped and does nothing */
    ns_t mwait_toggle; /* switching a vCPU's mwait exits on or off, beside an exit and an entry */
    /* guest: overhead on the vCPU */
    ns_t guest_switch; /* from one task to another */
    ns_t guest_tick;
    ns_t guest_irq;        /* interrupt handler */
    ns_t wake;             /* enqueue and preemption check of one wake-up, selection apart */
    ns_t store;            /* store to a polled flag; also until a spinner on another CPU sees it */
    ns_t syscall;          /* a blocking or waking operation enters the guest kernel */
    ns_t reread;           /* re-reading the table in a guest interrupt, when a channel is used */
    ns_t hint_write;       /* the guest writes its own row of the table (guest.hints) */
    ns_t select_base;      /* choosing a vCPU: fixed part */
    ns_t select_examine;   /* per vCPU whose run queue is looked at */
    ns_t select_preempted; /* per preempted flag read */
    ns_t select_load;      /* per load degree read */
    ns_t select_group;     /* per virtual cache group read */
    ns_t guest_balance;    /* one balancing pass, per CPU looked at */
    ns_t pause;            /* one turn of a spinning loop with its pause instruction */
    ns_t lock_handover;    /* contended lock passes to a spinning waiter */
    ns_t task_refill;      /* task moved to another vCPU: cache refill, as guest overhead */
    ns_t poll_turn;        /* one turn of a polling loop without an exit */
    /* moves of a vCPU: cache refill charged as overhead after entry, by distance */
    ns_t refill_core, refill_group, refill_node, refill_socket, refill_machine;
    /* One cache line passes to another pCPU, by the distance; own: again from one's own cache. All 0
     * but own: the machine has no distances, locks and queues cost the same everywhere. */
    ns_t exchange_own;
    ns_t exchange_core, exchange_group, exchange_node, exchange_socket, exchange_machine;
    /* Caches: with a fill rate, a task that moved has its working set refilled, and the flat prices
     * `task_refill` and `refill_*` are not used. Sizes in KB of 1024 bytes, rates in MB/s of 10^6. */
    int64_t cache_core_kb, cache_group_kb, cache_node_kb, cache_socket_kb;
    int64_t fill_group, fill_node, fill_socket, fill_machine;
    int64_t footprint_kb; /* working set of a task that does not say */
    int64_t cold_stall;   /* per cent of a task's time lost while its working set comes in */
    /* pause-loop exiting */
    ns_t ple_window;  /* spinning time before the first exit, after each entry; 0 = no PLE */
    int64_t ple_grow; /* factor per exit */
    ns_t ple_max;
};

extern const struct param costs_params[];

#endif
