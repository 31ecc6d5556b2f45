/* SPDX-License-Identifier: MIT */
/*
 * The null guest policy: no operation at all. A waking task stays on the CPU where it last ran, a
 * new one goes to the idlest CPU, and each CPU is ordered as `guest.scheduler` says. Good for
 * testing the core, and as a skeleton: copy it, add operations of struct guest_ops one by one.
 */
#include "guest/guest_ops.h"

const struct guest_ops guest_policy_null = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "null",
            .summary = "a waking task stays where it was",
        },
};
