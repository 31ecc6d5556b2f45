/* SPDX-License-Identifier: MIT */
/*
 * Gathering without the host's help, after Linux cache-aware scheduling (T. Chen, v2, December
 * 2025): tasks of a communication group are gathered in one LLC of the topology that the guest
 * believes in (`guest.llc` vCPUs each, in their order). Nothing tells it where the host runs them:
 * with a floating host its LLCs are fiction.
 *
 * The rule is that of cache-group, see there, with an LLC for a cache group and nothing to read: the
 * two differ in what they know. With one LLC for all there is nothing to gather: as stock Linux.
 *
 * Assumed: that it is done at wake-ups and ticks, with the rule of cache-group. Linux gathers the
 * threads of a process, and has the load balancer move them.
 */
#include "gather.h"

static int llc_gather_init(struct guest *k)
{
    int first, end;

    gather_init(k, false, GATHER_MEMBERS);
    for (int c = 0; c < guest_ncpus(k); c++) {
        guest_llc(k, c, &first, &end);
        gather_believe(k, c, first);
    }
    return 0;
}

/* What Linux leaves to the load balancer. */
static void llc_gather_irq(struct guest *k, int cpu)
{
    if (gather_self(k)->ngroups > 1)
        gather_again(k, cpu, NULL);
}

static int llc_gather_select(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    struct gather_look l = {.k = k, .t = t, .prev = prev, .waker = waker};
    int c = -1;

    if (!(flags & SELECT_FORK) && gather_self(k)->ngroups > 1)
        c = gather_select(&l, 0);
    if (c < 0)
        c = guest_select_sibling(k, t, prev, waker, flags, NULL);
    return gather_place(k, t, c);
}

const struct guest_ops guest_policy_llc_gather = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "llc-gather",
            .summary = "tasks that communicate gathered in an LLC that the guest believes in",
            .self_size = sizeof(struct gather),
            .cpu_size = sizeof(struct gather_cpu),
            .unit_size = sizeof(struct gather_task),
        },
    .init = llc_gather_init,
    .task_fini = gather_task_fini,
    .irq = llc_gather_irq,
    .select = llc_gather_select,
    .running = gather_running,
    .stopping = gather_stopping,
};
