/* SPDX-License-Identifier: MIT */
/*
 * Pause-loop exits and the search for a vCPU to yield to (mechanisms.md 1.5): two passes over the VM's
 * vCPUs, round robin from the last boosted one, at most three failed tries; a vCPU that was
 * descheduled in user mode does not hold a kernel lock and is passed over; one that itself spins is
 * taken every other time.
 */
#include "cross/world.h"

static bool eligible(struct xvcpu *me, struct xvcpu *x)
{
    if (x == me || x->v->state != VCPU_READY)
        return false;
    if (!gcpu_in_kernel(x->g) && !x->pending_irq && !x->g->irq_head)
        return false;
    if (x->in_spin) {
        x->dy_eligible = !x->dy_eligible;
        return !x->dy_eligible;
    }
    return true;
}

static void directed_yield(struct xvcpu *me)
{
    struct xvm *vm = me->vm;
    int failed = 0;

    for (int i = 1; i <= 2 * vm->nvcpus && failed < 3; i++) {
        const int at = (vm->last_boosted + i) % vm->nvcpus;
        struct xvcpu *x = &vm->vcpu[at];
        int r;

        if (!eligible(me, x))
            continue;
        r = host_yield_to(me->world->host, me->v, x->v);
        if (r > 0) {
            vm->last_boosted = at;
            world_count(me->world, "directed_yields");
            return;
        }
        failed += r < 0;
    }
}

void pause_exit(struct xvcpu *x)
{
    count_exit(x, EXIT_PAUSE);
    gcpu_charge(x->g, x->world->costs->pause_exit, 0);
    host_entry(xpcpu_of(x));
    x->in_spin = true;
    directed_yield(x);
    x->in_spin = false;
}
