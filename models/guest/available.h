/* SPDX-License-Identifier: MIT */
/* What stock Linux takes for an idle CPU when it places a waking task, for policies that place as it does. */
#ifndef MODELS_GUEST_AVAILABLE_H
#define MODELS_GUEST_AVAILABLE_H

#include "guest/guest_ops.h"

/* available_idle_cpu() of Linux: its vCPU is not marked preempted either (FACT_PREEMPTED). */
static inline bool available(struct guest *k, int cpu)
{
    return guest_idle_cpu(k, cpu) && !guest_preempted(k, cpu);
}

#endif
