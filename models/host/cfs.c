/* SPDX-License-Identifier: MIT */
/*
 * Completely fair scheduling as the host kernels of 4.9 to 6.5 do it. The rules are sim/fair's
 * (mechanisms: Linux 6.1); this table says which of them a vCPU thread meets. Waking vCPUs preempt
 * by virtual time, so sleepers are treated kindly.
 */
#include "host/fair_order.h"

static int cfs_init(struct hyp *h)
{
    return fair_order_init(h, FAIR_CFS);
}

const struct host_ops host_policy_cfs = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "cfs",
            .summary = "completely fair scheduler, Linux 4.9 to 6.5",
            .params = fair_cfs_params,
            .params_size = sizeof(struct fair_conf),
            .scale = fair_order_scale,
            .cpu_size = sizeof(struct fair_order_cpu),
            .unit_size = sizeof(struct fair_order_unit),
        },
    .init = cfs_init,
    .fini = fair_order_fini,
    .vcpu_init = fair_order_vcpu_init,
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
