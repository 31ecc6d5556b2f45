/* SPDX-License-Identifier: MIT */
/*
 * The rows of the price list: one per number of struct costs. Values are for an x86 server at 2.5
 * GHz (cycles / 2.5 = ns); machine files override them. Always true: zero is a valid price
 * everywhere, so that a machine without costs can be described; a single cost is at most a second,
 * so that sums of costs stay far from the end of the clock.
 */
#include "conf/costs.h"

#define COST(field, default_value, help_text, source_text)                                         \
    {                                                                                              \
        .name = #field, .type = PARAM_NS, .offset = offsetof(struct costs, field),                 \
        .def = default_value, .min = 0, .max = NS_SEC, .help = help_text, .source = source_text    \
    }

#define COUNT(field, default_value, low, high, help_text, source_text)                             \
    {                                                                                              \
        .name = #field, .type = PARAM_INT, .offset = offsetof(struct costs, field),                \
        .def = default_value, .min = low, .max = high, .help = help_text, .source = source_text    \
    }

#define NO_DISTANCE  "assumed: none, a machine that measured none has no distances"
#define NO_CACHE     "assumed: none, flat refill prices instead"
#define KB_MAX       (16 * 1024 * 1024)
#define MB_PER_S_MAX 1000000

#define REFILL_SOURCE "assumed, doubles with distance"

const struct param costs_params[] = {
    COST(host_switch, "1500ns", "host: switch to another vCPU thread, or from idle",
         "context switch 1-2 us, secondary sources"),
    COST(exit, "300ns", "host: VM exit with handling of a simple reason",
         "with entry 1300 cycles: hypercall of the ISCA'16 table, not confirmed"),
    COST(entry, "220ns", "host: VM entry",
         "with exit 1300 cycles: hypercall of the ISCA'16 table, not confirmed"),
    COST(inject, "100ns", "host: interrupt injection at entry", "assumed"),
    COST(ipi_send, "1417ns", "sender: trapped ICR write, exit and entry included",
         "LKML 2020-04 (W. Li): ICR write fastpath 3543 cycles"),
    COST(ipi_latency, "675ns", "from the end of the send to the arrival at the target",
         "ISCA'16 virtual IPI 5230 cycles (not confirmed), less the send"),
    COST(timer_exit, "1000ns", "guest programs its timer, exit and entry included",
         "LKML 2020-04-28 (W. Li): TSC-deadline exit 2500-3000 cycles"),
    COST(timer_irq, "1000ns", "guest timer expires while it runs, exit and entry included",
         "assumed, as timer_exit"),
    COST(host_tick, "1500ns", "host tick under a running vCPU, exit and entry included", "assumed"),
    COST(io_submit, "1500ns", "doorbell of a device, exit and entry included", "assumed"),
    COST(pause_exit, "1000ns", "pause-loop exit with the scan for whom to yield to", "assumed"),
    COST(publish, "60ns", "host: writing the rows of the channel at a switch or tick", "assumed"),
    COST(remap, "200ns", "host: remapping load pages after a move of a vCPU", "assumed"),
    COST(steal_write, "20ns", "host: steal-time write at entry", "assumed"),
    COST(look, "500ns", "host: looking at one watched word", "assumed"),
    COST(scan_element, "20ns", "host: one element of a watch list", "assumed"),
    COST(wake_mark, "417ns", "host: marking one vCPU of a VM-wide wake",
         "OSDI'26 (mwait): 48 vCPUs marked in 20 us"),
    COST(timer_floor, "1us", "host: shortest re-arm of a timer", "assumed"),
    COST(nop_turn, "2179ns", "guest: a turn of an idle loop whose mwait exits and does nothing",
         "calibrated: OSDI'26 (mwait) table 1, 4 vCPUs make 1,826,602 exits per second"),
    COST(mwait_toggle, "100ns", "host: switching a vCPU's mwait exits on or off", "assumed"),
    COST(guest_switch, "1000ns", "guest: switch from one task to another",
         "context switch 1-2 us, secondary sources"),
    COST(guest_tick, "1000ns", "guest: handler of the tick", "assumed"),
    COST(guest_irq, "600ns", "guest: interrupt handler", "assumed"),
    COST(wake, "300ns", "guest: enqueue and preemption check of a wake-up, selection apart",
         "assumed"),
    COST(store, "60ns", "guest: store to a polled flag, and until a spinner elsewhere sees it",
         "assumed"),
    COST(syscall, "150ns", "guest: a blocking or waking operation enters the kernel", "assumed"),
    COST(reread, "60ns", "guest: re-reading the channel in an interrupt", "assumed"),
    COST(hint_write, "20ns", "guest: writing its row of the channel, without an exit", "assumed"),
    COST(select_base, "43ns", "guest: choosing a vCPU, fixed part",
         "calibrated: CPS selection times, as on kunpeng920-128"),
    COST(select_examine, "20ns", "guest: choosing, per vCPU whose run queue is looked at",
         "calibrated: CPS selection times, as on kunpeng920-128"),
    COST(select_preempted, "49ns", "guest: choosing, per preempted flag read",
         "calibrated: CPS selection times, as on kunpeng920-128"),
    COST(select_load, "228ns", "guest: choosing, per load degree read",
         "calibrated: CPS selection times, as on kunpeng920-128"),
    COST(select_group, "240ns", "guest: choosing, per virtual cache group read",
         "calibrated: CPS selection times, as on kunpeng920-128"),
    COST(guest_balance, "30ns", "guest: one balancing pass, per CPU looked at", "assumed"),
    COST(pause, "56ns", "guest: a turn of a spinning loop, for paravirt spinlocks that count them",
         "assumed: 140 cycles, Skylake and later; AMD about 65"),
    COST(lock_handover, "100ns", "guest: a contended lock passes to a spinning waiter", "assumed"),
    COST(task_refill, "2us", "guest: cache refill of a task moved to another vCPU", "assumed"),
    COST(poll_turn, "20ns", "guest: one turn of a polling loop without an exit", "assumed"),
    COST(refill_core, "0", "cache refill of a vCPU moved within its core", REFILL_SOURCE),
    COST(refill_group, "1us", "the same, within its cache group", REFILL_SOURCE),
    COST(refill_node, "4us", "the same, within its NUMA node", REFILL_SOURCE),
    COST(refill_socket, "8us", "the same, within its socket", REFILL_SOURCE),
    COST(refill_machine, "16us", "the same, to another socket", REFILL_SOURCE),
    COST(exchange_own, "0", "exchange of a cache line that is in one's own cache already",
         NO_DISTANCE),
    COST(exchange_core, "0", "exchange of a cache line with the other thread of the core",
         NO_DISTANCE),
    COST(exchange_group, "0", "the same, within the cache group", NO_DISTANCE),
    COST(exchange_node, "0", "the same, within the NUMA node", NO_DISTANCE),
    COST(exchange_socket, "0", "the same, within the socket", NO_DISTANCE),
    COST(exchange_machine, "0", "the same, with another socket", NO_DISTANCE),
    COUNT(cache_core_kb, "0", 0, KB_MAX, "cache of a core, KB", NO_CACHE),
    COUNT(cache_group_kb, "0", 0, KB_MAX, "cache of a cache group, KB", NO_CACHE),
    COUNT(cache_node_kb, "0", 0, KB_MAX, "cache of a NUMA node, KB", NO_CACHE),
    COUNT(cache_socket_kb, "0", 0, KB_MAX, "cache of a socket, KB", NO_CACHE),
    COUNT(fill_group, "0", 0, MB_PER_S_MAX, "the same, within the cache group; 0 = no caches",
          NO_CACHE),
    COUNT(fill_node, "0", 0, MB_PER_S_MAX, "the same, within the NUMA node; 0 = as fill_group",
          NO_CACHE),
    COUNT(fill_socket, "0", 0, MB_PER_S_MAX, "the same, within the socket; 0 = as fill_node",
          NO_CACHE),
    COUNT(fill_machine, "0", 0, MB_PER_S_MAX, "the same, to another socket; 0 = as fill_socket",
          NO_CACHE),
    COUNT(footprint_kb, "0", 0, KB_MAX, "working set of a task that does not say, KB", NO_CACHE),
    COUNT(cold_stall, "0", 0, 99, "per cent of its time a task loses while its caches refill",
          NO_CACHE),
    COST(ple_window, "1638ns", "pause-loop exits: spinning time before the first; 0 = none",
         "Linux 6.12 x86.h: 4096 cycles"),
    {.name = "ple_grow",
     .type = PARAM_INT,
     .offset = offsetof(struct costs, ple_grow),
     .def = "2",
     .min = 0,
     .max = 1000,
     .help = "factor on the window per pause-loop exit; 0 or 1 = it stays",
     .source = "Linux 6.12 x86.h"},
    {.name = "ple_max",
     .type = PARAM_NS,
     .offset = offsetof(struct costs, ple_max),
     .def = "1s",
     .min = 0,
     .max = 60 * NS_SEC,
     .help = "longest window",
     .source = "assumed; without bound in KVM"},
    PARAM_END,
};
