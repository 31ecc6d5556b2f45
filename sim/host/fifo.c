/* SPDX-License-Identifier: MIT */
/*
 * The default ordering: the core's own list of READY vCPUs, first come, first served. The vCPU that
 * ran until now stands behind all of them.
 */
#include "host/internal.h"

struct host_pick fifo_pick(const struct pcpu *p, struct vcpu *prev)
{
    struct vcpu *first = runq_first(&p->ready);

    return (struct host_pick){.vcpu = first ? first : prev, .slice = NS_NEVER};
}

bool fifo_boost(struct pcpu *p, struct vcpu *v)
{
    runq_remove(&p->ready, &v->ready);
    runq_push_head(&p->ready, &v->ready);
    return true;
}
