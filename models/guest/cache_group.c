/* SPDX-License-Identifier: MIT */
/*
 * CPS by cache group (ASPLOS'23): tasks opt in by naming their communication group; those that
 * communicate are gathered in one cache group of the host when there is room, and split when there
 * is not. The host shows, per vCPU, a virtual id of the cache group it is mapped to.
 *
 * The rule for a woken task of a communication group:
 *  1. Rows are read, `rows` of them: that of the previous vCPU, then those of the vCPUs believed in
 *     the home, then others in rotation. What is read replaces what was believed.
 *  2. The home is the cache group that has room for all members (`room`), if there is one;
 *     among these the one with most members, then the one it was, then the one with most vCPUs free
 *     of members of any group, then that of the previous vCPU. Room: vCPUs in it less members of
 *     other communication groups.
 *  3. There is room in the home: an idle vCPU there, the previous one first, then the lowest. There
 *     is not: first an idle vCPU in the group where the task was, if other members are there, too
 *     (the group is split, and each keeps to its part); then in the home, unless as many members are
 *     there as it has space for.
 *  4. None is idle there: the next cache group gets the rest, the one with most members, then that
 *     of the previous vCPU, then the one with most vCPUs free of members; and so on. Groups that are
 *     full of members, of which some sleep, come last: nobody's place is taken while others are free.
 *  5. Then an idle vCPU of which no cache group is known. Members are never stacked on a vCPU while
 *     an idle one is seen anywhere.
 *  6. Nobody is idle, or no cache group is known: as stock Linux.
 * A vCPU is taken only if its row was read in this selection. Tasks without a communication group
 * are placed as in stock Linux, and new ones, which have named none yet.
 *
 * In interrupts `irq-rows` rows are read, that of the interrupted vCPU first. With `again` a member
 * that runs there, outside the home, moves to an idle vCPU in it, if there is room for all.
 *
 * What CPS leaves open and is assumed here: how a home is chosen and left, the order of the search,
 * the rows that are read. That is one rule for all, so that llc-gather differs in its belief only.
 */
#include "gather.h"

static const struct param cache_group_params[] = {GATHER_PARAMS(0), PARAM_END};

static int cache_group_init(struct guest *k)
{
    gather_init(k, true,
                (enum gather_room)((const struct gather_rows *)guest_policy_params(k))->room);
    return 0;
}

static void cache_group_irq(struct guest *k, int cpu)
{
    const struct gather_rows *p = guest_policy_params(k);

    gather_irq(k, cpu, p->irq);
    if (p->again)
        gather_again(k, cpu, NULL);
}

static int cache_group_select(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    const struct gather_rows *p = guest_policy_params(k);
    struct gather_look l = {.k = k, .t = t, .prev = prev, .waker = waker};
    int c = -1;

    if (!(flags & SELECT_FORK))
        c = gather_select(&l, p->select);
    if (c < 0)
        c = guest_select_sibling(k, t, prev, waker, flags, NULL);
    return gather_place(k, t, c);
}

const struct guest_ops guest_policy_cache_group = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "cache-group",
            .summary = "CPS: tasks that communicate gathered in one cache group of the host",
            .params = cache_group_params,
            .params_size = sizeof(struct gather_rows),
            .self_size = sizeof(struct gather),
            .cpu_size = sizeof(struct gather_cpu),
            .unit_size = sizeof(struct gather_task),
        },
    .facts = FACT_GROUP,
    .init = cache_group_init,
    .task_fini = gather_task_fini,
    .irq = cache_group_irq,
    .select = cache_group_select,
    .running = gather_running,
    .stopping = gather_stopping,
};
