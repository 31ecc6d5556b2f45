/* SPDX-License-Identifier: MIT */
/*
 * CPS with both signals (ASPLOS'23): load degrees and cache groups.
 *
 * A woken task of a communication group goes where cache-group would send it, but to no idle vCPU on
 * a pCPU of high load: an idle low one in the home, then an idle low one elsewhere, in the order of
 * cache-group; when there is none, or no cache group is known, by the rule of cps-load, which may
 * stack it on a low vCPU. Tasks without a communication group: exactly cps-load.
 *
 * Assumed: that the home comes before the load. The paper measures its two halves apart.
 */
#include "cps_load.h"
#include "gather.h"

struct cps {
    struct cps_load load;
    struct gather_rows rows;
};

static const struct param cps_params[] = {CPS_LOAD_PARAMS,
                                          GATHER_PARAMS(offsetof(struct cps, rows)), PARAM_END};

static int cps_init(struct guest *k)
{
    gather_init(k, true, (enum gather_room)((const struct cps *)guest_policy_params(k))->rows.room);
    return 0;
}

/* The waker's vCPU runs, and is as good as low: see cps_load_place. */
static bool cps_good(struct guest *k, int cpu, int waker)
{
    return cpu == waker || guest_degree(k, cpu) == DEGREE_LOW;
}

static void cps_irq(struct guest *k, int cpu)
{
    const struct gather_rows *p = &((const struct cps *)guest_policy_params(k))->rows;

    gather_irq(k, cpu, p->irq);
    if (p->again)
        gather_again(k, cpu, cps_good);
}

static int cps_select(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    const struct cps *p = guest_policy_params(k);
    struct gather_look l = {.k = k, .t = t, .prev = prev, .waker = waker, .good = cps_good};
    int c = -1;

    if (!(flags & SELECT_FORK))
        c = gather_select(&l, p->rows.select);
    if (c < 0)
        c = cps_load_place(k, t, prev, waker, flags);
    return gather_place(k, t, c);
}

const struct guest_ops guest_policy_cps = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "cps",
            .summary =
                "CPS: idle vCPUs on low pCPUs, in the cache group of those it talks to first",
            .params = cps_params,
            .params_size = sizeof(struct cps),
            .self_size = sizeof(struct gather),
            .cpu_size = sizeof(struct gather_cpu),
            .unit_size = sizeof(struct gather_task),
        },
    .facts = FACT_DEGREE | FACT_GROUP,
    .threshold = cps_load_threshold,
    .init = cps_init,
    .task_fini = gather_task_fini,
    .irq = cps_irq,
    .select = cps_select,
    .running = gather_running,
    .stopping = gather_stopping,
};
