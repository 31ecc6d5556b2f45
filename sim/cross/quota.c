/* SPDX-License-Identifier: MIT */
/*
 * host.quota: every interval the host tells each VM how many vCPUs it may use.
 *
 * The pCPUs of the pool are divided max-min fairly by weight (of a VM: the sum of its vCPUs', which is how
 * the schedulers weigh them; or the same for each VM, as with vm-groups) over what the VMs wanted in the
 * interval before. A VM that used nearly all that it might is taken to want all its vCPUs: it was held back,
 * and what it wants cannot be seen. One that used less leaves the rest to the others, but it may always use
 * its share: it can grow, and the others shrink an interval later.
 *
 * Assumed: from 7/8 of what it might use on a VM counts as held back; the computation and its writes take no
 * pCPU time; pins within the pool are not looked at. Rounded up, as a VM needs whole vCPUs for its part.
 * Source: vScale (EuroSys'16), CPU extendability.
 */
#include "cross/quota.h"
#include "cross/world.h"

__extension__ typedef __int128 wide;

static ns_t demand(const struct quota *v, ns_t interval)
{
    const bool held_back = (wide)v->used * 8 >= (wide)interval * v->may * 7;

    return held_back ? interval * v->nvcpus : v->used;
}

/* Those that want no more than their part of the rest get it, and raise the parts of the others. */
static void fill(struct quota *vm, int n, ns_t rest, int64_t weights, ns_t interval)
{
    bool again = true;

    while (again) {
        again = false;
        for (int i = 0; i < n; i++) {
            const ns_t d = demand(&vm[i], interval);

            if (vm[i].settled || (wide)d * weights > (wide)rest * vm[i].weight)
                continue;
            vm[i].settled = again = true;
            vm[i].part = d;
            rest -= d;
            weights -= vm[i].weight;
        }
    }
    for (int i = 0; i < n; i++)
        if (!vm[i].settled)
            vm[i].part = (ns_t)((wide)rest * vm[i].weight / weights);
}

void quota_divide(struct quota *vm, int n, int npcpus, ns_t interval)
{
    const ns_t all = interval * npcpus;
    int64_t weights = 0;

    for (int i = 0; i < n; i++) {
        weights += vm[i].weight;
        vm[i].settled = false;
    }
    fill(vm, n, all, weights, interval);
    for (int i = 0; i < n; i++) {
        const ns_t share = (ns_t)((wide)all * vm[i].weight / weights);
        const ns_t part = vm[i].part > share ? vm[i].part : share;
        const ns_t may = (part + interval - 1) / interval;

        vm[i].may = may < 1 ? 1 : may > vm[i].nvcpus ? vm[i].nvcpus : (int)may;
    }
}

void xvm_wants(struct xvm *vm, int more)
{
    const ns_t now = vm->world->engine->now;

    vm->wanted += vm->wanting * (now - vm->wanting_at);
    vm->wanting_at = now;
    vm->wanting += more;
}

static void quota_due(struct engine *e, struct event *ev)
{
    struct world *w = e->owner;
    const ns_t interval = w->host->conf.quota;
    const bool per_vm = w->host->conf.quota_per == QUOTA_PER_VM;

    for (int i = 0; i < w->nvms; i++) {
        struct xvm *vm = &w->vm[i];

        xvm_wants(vm, 0);
        w->quotas[i] = (struct quota){.weight = per_vm ? 1024 : vm->weight,
                                      .nvcpus = vm->nvcpus,
                                      .used = vm->wanted - vm->wanted_q,
                                      .may = vm->quota};
        vm->wanted_q = vm->wanted;
    }
    quota_divide(w->quotas, w->nvms, w->npool, interval);
    for (int i = 0; i < w->nvms; i++) {
        w->vm[i].quota = w->quotas[i].may;
        if (w->vm[i].channel)
            channel_publish_quota(w->vm[i].channel, w->vm[i].quota);
    }
    engine_arm(e, ev, ev->time + interval);
}

void quota_begin(struct world *w)
{
    event_init(&w->quota, PHASE_SAMPLE, 9u << 24, quota_due);
    if (w->host->conf.quota > 0)
        engine_arm(w->engine, &w->quota, w->engine->now + w->host->conf.quota);
}
