/* SPDX-License-Identifier: MIT */
/* The table of figures. A new one is one row here; what is special about its drawing is in a template
 * of its own. */
#include <stdio.h>
#include <string.h>

#include "study/commands.h"
#include "study/figure.h"

static const char *const templates[] = {
    [FIGURE_LINES] = "lines.gp",
    [FIGURE_BARS] = "bars.gp",
    [FIGURE_MAP] = "map.gp",
    [FIGURE_CDF] = "cdf.gp",
};

const char *figure_template(const struct figure *f)
{
    return f->template ? f->template : templates[f->kind];
}

const struct figure *figure_find(const char *name)
{
    for (size_t i = 0; i < nfigures; i++)
        if (strcmp(figures[i].name, name) == 0)
            return &figures[i];
    return NULL;
}

void figures_list(FILE *out)
{
    for (size_t i = 0; i < nfigures; i++)
        fprintf(out, "%-17s %s\n", figures[i].name, figures[i].summary);
}

const struct figure figures[] = {
    {
        .name = "lines",
        .summary = "a metric along an axis, one line per value of another, 95 % intervals",
        .kind = FIGURE_LINES,
    },
    {
        .name = "bars",
        .summary = "grouped bars with 95 % intervals",
        .kind = FIGURE_BARS,
    },
    {
        .name = "map",
        .summary = "a heat map of a metric over two axes, with the values in the cells",
        .kind = FIGURE_MAP,
    },
    {
        .name = "oversubscription",
        .summary = "throughput against oversubscription, one line per guest policy, a panel per "
                   "workload",
        .kind = FIGURE_LINES,
        .x = "oversubscription",
        .needs_x = true,
        .series = "guest.policy|guest|policy|idle",
        .facet = "workload",
        .metric = "throughput_per_s",
        .xlabel = "oversubscription (vCPUs per pCPU)",
    },
    {
        .name = "cdf",
        .summary = "the distribution behind a metric, one line per value of an axis",
        .kind = FIGURE_CDF,
        .metric = "latency_p99_us",
    },
    {
        .name = "idle-exits",
        .summary = "exits because guests go idle, by idle mechanism, beside the published ones",
        .kind = FIGURE_BARS,
        .template = "idle-exits.gp",
        .x = "idle",
        .needs_x = true,
        .series = "workload",
        .logy = true,
        .metric = "idle_exits_per_s",
        .xlabel = "idle mechanism",
        .ylabel = "idle exits",
        .mark_key = "published",
    },
    {
        .name = "idle-neighbour",
        .summary = "a VM's tail latency beside an idle VM, relative to one that idles by hlt",
        .kind = FIGURE_BARS,
        .template = "idle-neighbour.gp",
        .x = "neighbour.idle|neighbor.idle|idle",
        .needs_x = true,
        .series = "victim.idle|idle",
        .facet = "workload|scheduler",
        .joins_facet = true,
        .metric = "latency_p99_us",
        .relative_to_x = "hlt",
        .xlabel = "how the neighbour idles",
        .ylabel = "P99 / P99 beside hlt",
    },
    {
        .name = "idle-slice",
        .summary = "tail latency against the slice of mwait-sched, a panel per workload",
        .kind = FIGURE_LINES,
        .template = "idle-slice.gp",
        .x = "slice",
        .needs_x = true,
        .series = "look",
        .facet = "workload",
        .logx = true,
        .metric = "latency_p99_us",
        .ylabel = "P99 latency",
        .band_key = "published optimum",
    },
    {
        .name = "idle-slice-cpu",
        .summary = "host and guest CPU use against the slice of mwait-sched, in four shares",
        .kind = FIGURE_LINES,
        .template = "idle-slice-cpu.gp",
        .x = "slice",
        .needs_x = true,
        .series = "workload|look",
        .logx = true,
        .metric = "host_cpu_pool_ratio|host_cpu_machine_ratio|guest_cpu_pcpu_ratio|"
                  "guest_cpu_vcpu_ratio",
        .ylabel =
            "host CPU use, pool|host CPU use, machine|guest work per pCPU|guest work per vCPU",
        .band_key = "published range",
    },
    {
        .name = "idle-ratio",
        .summary = "tail latency and steal against oversubscription, one line per idle mechanism",
        .kind = FIGURE_LINES,
        .template = "idle-ratio.gp",
        .x = "oversubscription",
        .needs_x = true,
        .series = "idle",
        .metric = "latency_p99_us|steal_of_demand_ratio",
        .xlabel = "oversubscription (vCPUs per pCPU)",
        .ylabel = "P99 latency|steal of demand",
    },
    {
        .name = "idle-proxy",
        .summary = "P99 relative to 1:1 against oversubscription, one line per workload",
        .kind = FIGURE_LINES,
        .template = "idle-proxy.gp",
        .x = "oversubscription",
        .needs_x = true,
        .series = "workload",
        .metric = "latency_p99_us",
        .relative_to_x = "1",
        .xlabel = "oversubscription (vCPUs per pCPU)",
        .ylabel = "P99 / P99 at 1:1",
        .mark_key = "published",
    },
    {
        .name = "idle-lengths",
        .summary = "how long idle episodes last: their distribution by workload and idle mechanism",
        .kind = FIGURE_CDF,
        .template = "idle-lengths.gp",
        .series = "workload",
        .facet = "idle",
        .metric = "idle_length_mean_us",
        .xlabel = "length of the idle episode",
        .band_key = "published gap",
    },
    {
        .name = "idle-gather",
        .summary =
            "gatherings undone, delay and refusals of splits against the classifier's window",
        .kind = FIGURE_LINES,
        .template = "idle-gather.gp",
        .x = "idle-window|window|long|threshold",
        .series = "threshold|spread|split-on|long",
        .metric = "gathers_undone_ratio|split_delay_p99_us|splits_refused_per_s",
        .ylabel = "gatherings undone within 100 ms|P99 delay of splits|splits refused",
    },
    {
        .name = "idle-stampede",
        .summary = "VM-wide wake-ups of many VMs at once: until all vCPUs have run",
        .kind = FIGURE_LINES,
        .template = "idle-stampede.gp",
        .x = "count",
        .xlabel = "VMs",
        .series = "boost|idle",
        .metric = "vm_wake_all_mean_us",
        .ylabel = "until all vCPUs have run",
    },
    {
        .name = "idle-hostile",
        .summary =
            "tail latency beside a guest that keeps out of the hypervisor, or pulses its line",
        .kind = FIGURE_BARS,
        .template = "idle-hostile.gp",
        .x = "hostile.workload|hostile|workload",
        .series = "idle|tick",
        .xlabel = "what the neighbour does",
        .metric = "latency_p99_us",
        .ylabel = "P99 latency",
    },
    {
        .name = "idle-energy",
        .summary = "power, host CPU use and throughput against oversubscription",
        .kind = FIGURE_LINES,
        .template = "idle-energy.gp",
        .x = "oversubscription",
        .series = "idle",
        .metric = "power_w|host_cpu_pool_ratio|throughput_per_s",
        .xlabel = "oversubscription (vCPUs per pCPU)",
        .ylabel = "power|host CPU use, pool|throughput",
    },
    {
        .name = "idle-timing",
        .summary = "what a VM can tell of its neighbour from its own delays",
        .kind = FIGURE_BARS,
        .template = "idle-timing.gp",
        .logy = true,
        .x = "neighbour.workload|neighbour|workload",
        .series = "idle",
        .metric = "latency_p50_us|latency_p99_us",
        .xlabel = "what the neighbour does",
        .ylabel = "median latency|P99 latency",
    },
    {
        .name = "idle-vm-wake",
        .summary = "the VM-wide wake-up: time to mark all vCPUs, and until all have run",
        .kind = FIGURE_LINES,
        .template = "idle-vm-wake.gp",
        .x = "pool",
        .needs_x = true,
        .series = "workload",
        .metric = "vm_wake_mark_mean_us|vm_wake_all_mean_us",
        .xlabel = "vCPUs per pCPU",
        .ylabel = "time to mark all|until all have run",
        .mark_key = "published",
    },
    {
        .name = "idle-fsync",
        .summary = "what a slice adds to an fsync",
        .kind = FIGURE_BARS,
        .template = "idle-fsync.gp",
        .x = "idle",
        .metric = "latency_mean_us|unseen_wait_max_us",
        .xlabel = "idle mechanism, or slice of mwait-sched",
        .ylabel = "mean latency of an fsync|longest unseen wait",
    },
    {
        .name = "idle-phases",
        .summary = "the slice classifier on VMs that change phase: reaction and flips",
        .kind = FIGURE_LINES,
        .template = "idle-phases.gp",
        .x = "slice-window",
        .series = "threshold",
        .logx = true,
        .metric = "slice_reaction_mean_us|slice_flips_per_s",
        .ylabel = "mean reaction|changes of verdict per VM",
    },
    {
        .name = "idle-classifier",
        .summary = "share of windows that the slice classifier judges I/O-bound, by kind of VM",
        .kind = FIGURE_BARS,
        .template = "idle-classifier.gp",
        .x = "threshold",
        .series = "workload",
        .metric = "slice_short_ratio",
        .xlabel = "threshold (I/O operations per second of use)",
        .ylabel = "windows judged I/O-bound",
    },
    {
        .name = "idle-fairness",
        .summary = "the share of the worst served VM beside one that never idles",
        .kind = FIGURE_BARS,
        .template = "idle-fairness.gp",
        .x = "idle",
        .series = "scheduler",
        .metric = "worst_vm_share_window_ratio",
        .xlabel = "how the others idle",
        .ylabel = "worst VM's share, 100 ms windows",
    },
    {
        .name = "idle-wake-word",
        .summary =
            "guests whose wakers only pulse the watched word: throughput and longest unseen wait",
        .kind = FIGURE_BARS,
        .template = "idle-wake-word.gp",
        .x = "idle",
        .series = "wake-word",
        .metric = "throughput_per_s|unseen_wait_max_us",
        .xlabel = "idle mechanism",
        .ylabel = "throughput|longest unseen wait",
    },
    {
        .name = "idle-cstates",
        .summary = "latency and power of a passed-through guest by processor generation",
        .kind = FIGURE_BARS,
        .template = "idle-cstates.gp",
        .x = "cstates",
        .series = "idle",
        .metric = "latency_mean_us|power_w",
        .xlabel = "processor generation",
        .ylabel = "mean latency|power",
    },
};
const size_t nfigures = sizeof(figures) / sizeof(figures[0]);
