/* SPDX-License-Identifier: MIT */
/*
 * CPS by load degree (ASPLOS'23): the host shows, per pCPU, whether its load is low or
 * high. A waking task goes to its previous vCPU if that is idle and its pCPU low; else to the first
 * idle vCPU on a low pCPU; else, by `fallback`: `stack` on the low vCPU with the fewest tasks (prev
 * if none is low), or as in stock Linux (`bare`). It sees the degree and nothing else.
 */
#include "cps_load.h"

static const struct param cps_load_params[] = {CPS_LOAD_PARAMS, PARAM_END};

const struct guest_ops guest_policy_cps_load = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "cps-load",
            .summary = "CPS: idle vCPUs on pCPUs of low load first",
            .params = cps_load_params,
            .params_size = sizeof(struct cps_load),
        },
    .facts = FACT_DEGREE,
    .threshold = cps_load_threshold,
    .select = cps_load_place,
};
