/* SPDX-License-Identifier: MIT */
/*
 * A stock guest without paravirtual help: wake_affine and select_idle_sibling in their real order,
 * with plain idleness (Linux 6.12 fair.c). It takes a vCPU for a CPU: an idle one on a crowded pCPU
 * looks as good as any.
 */
#include "guest/guest_ops.h"

static int bare_select(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    return guest_select_sibling(k, t, prev, waker, flags, NULL);
}

const struct guest_ops guest_policy_bare = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "bare",
            .summary = "stock Linux: select_idle_sibling, blind to the host",
        },
    .select = bare_select,
};
