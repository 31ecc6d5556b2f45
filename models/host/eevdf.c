/* SPDX-License-Identifier: MIT */
/*
 * Earliest eligible virtual deadline first, as host kernels from 6.6 on do it. The rules are
 * sim/fair's (mechanisms: Linux 6.12). A vCPU that blocks with a debt may stay in the queue as
 * delayed; it is BLOCKED for everybody else. When it wakes meanwhile it goes back to that queue, if
 * it may.
 */
#include "host/fair_order.h"

static int eevdf_init(struct hyp *h)
{
    return fair_order_init(h, FAIR_EEVDF);
}

static int eevdf_select(struct hyp *h, struct vcpu *v, int prev, enum wake_why why)
{
    const struct fair_order_unit *u = hyp_vcpu(v);

    (void)why;
    if (u->entity.delayed && cpumask_test(v->allowed, u->on->id))
        return u->on->id;
    return hyp_select_default(h, v, prev);
}

const struct host_ops host_policy_eevdf = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "eevdf",
            .summary = "earliest eligible virtual deadline first, Linux 6.6 and later",
            .params = fair_eevdf_params,
            .params_size = sizeof(struct fair_conf),
            .scale = fair_order_scale,
            .cpu_size = sizeof(struct fair_order_cpu),
            .unit_size = sizeof(struct fair_order_unit),
        },
    .init = eevdf_init,
    .fini = fair_order_fini,
    .vcpu_init = fair_order_vcpu_init,
    .select = eevdf_select,
    .enqueue = fair_order_enqueue,
    .dequeue = fair_order_dequeue,
    .pick = fair_order_pick,
    .slice = fair_order_slice,
    .tick = fair_order_tick,
    .preempts = fair_order_preempts,
    .stopping = fair_order_stopping,
    .yield = fair_order_yield,
    .boost = fair_order_boost,
};
