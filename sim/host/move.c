/* SPDX-License-Identifier: MIT */
/*
 * Moves and preferences asked for from outside: migration, yields directed or not, boosts. None of
 * them decides; they change orderings and mark pCPUs.
 */
#include "host/internal.h"
#include "host/ops.h"

bool host_migrate(struct host *h, struct vcpu *v, int to, enum enqueue_why why)
{
    if (v->state != VCPU_READY || !vcpu_may_use(v, to)) {
        HOOK(h, count, "host_migrate_refused");
        return false;
    }
    if (v->pcpu == to)
        return true;
    vcpu_depart(h, v);
    vcpu_arrive(h, &h->pcpu[to], v, why);
    return true;
}

void host_yield(struct host *h, struct vcpu *v, enum stop_why why)
{
    CHECK_PRE(v->state == VCPU_RUNNING, "%s yields while it does not run", vcpu_name(v));
    (void)ops_yield(h->policy, v, NULL);
    host_resched(h, &h->pcpu[v->pcpu], why);
}

int host_yield_to(struct host *h, struct vcpu *from, struct vcpu *to)
{
    struct pcpu *p, *q;

    CHECK_PRE(from->state == VCPU_RUNNING, "%s yields while it does not run", vcpu_name(from));
    if (to->state != VCPU_READY)
        return 0;
    p = &h->pcpu[from->pcpu];
    q = &h->pcpu[to->pcpu];
    if (pcpu_load(p) == 1 && pcpu_load(q) == 1)
        return -1;
    if (ops_yield(h->policy, from, to) && q != p)
        host_resched(h, q, STOP_PREEMPT);
    host_resched(h, p, STOP_SPIN);
    return 1;
}

bool host_boost(struct host *h, struct vcpu *v)
{
    if (v->state != VCPU_READY)
        return false;
    return ops_boost(h->policy, &h->pcpu[v->pcpu], v);
}

int host_spin_yield(struct host *h, struct vcpu *me, struct vcpu *const *vm_vcpus, int n,
                    int *last_boosted, bool (*eligible)(void *arg, const struct vcpu *v), void *arg)
{
    const int start = *last_boosted;
    int refusals = 0;

    for (int i = 1; i <= 2 * n; i++) {
        const int at = ((start < 0 ? -1 : start) + i) % n;
        struct vcpu *v = vm_vcpus[at];
        int r;

        if (v == me || v->state != VCPU_READY || (eligible && !eligible(arg, v)))
            continue;
        r = host_yield_to(h, me, v);
        if (r > 0) {
            *last_boosted = at;
            return at;
        }
        if (r < 0 && ++refusals == 3)
            break;
    }
    return -1;
}
