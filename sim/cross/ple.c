/* SPDX-License-Identifier: MIT */
/*
 * Pause-loop exits and the search for a vCPU to yield to (Linux 6.12 kvm_main.c): two passes over the
 * VM's vCPUs, round robin from the last boosted one, at most three failed tries; a vCPU that was
 * descheduled in user mode does not hold a kernel lock and is passed over; one that itself spins is
 * taken every other time.
 */
#include "cross/world.h"

static bool eligible(void *arg, const struct vcpu *v)
{
    struct xvcpu *x = v->owner;

    (void)arg;
    if (!gcpu_in_kernel(x->g) && !x->pending_irq && !x->g->irq_head)
        return false;
    if (x->in_spin) {
        x->dy_eligible = !x->dy_eligible;
        return !x->dy_eligible;
    }
    return true;
}

void pause_exit(struct xvcpu *x)
{
    struct host *h = x->world->host;

    count_exit(x, EXIT_PAUSE);
    gcpu_charge(x->g, x->world->costs->pause_exit, 0);
    x->in_spin = true;
    x->dy_eligible = false;
    if (host_spin_yield(h, x->v, &h->vcpu[x->vm->guest->vcpu_base], x->vm->nvcpus,
                        &x->vm->last_boosted, eligible, NULL) >= 0)
        world_count(x->world, "directed_yields"); /* spins on until it is entered again */
    else
        x->in_spin = false;
}
