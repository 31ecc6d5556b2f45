/* SPDX-License-Identifier: MIT */
/*
 * Pinned fill: which pCPU each vCPU gets when the host pins and the VM names no list. vCPUs are
 * dealt lap by lap over the pool, each lap in an order drawn from the seed; under `order: cores` the
 * first goes core by core instead, so that the first VMs sit on whole cores.
 *
 * Always true: each lap is a permutation of the pool; two vCPUs of a VM that is no larger than the
 * pool never share a pCPU, also when the VM straddles two laps. Among the orders that allow this
 * each is equally likely, where an order is drawn.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/rng.h"
#include "scenario_parts.h"

struct dealer {
    const struct scenario *s;
    int npool;
    int *order;  /* of the current lap: indices into the pool */
    bool *taken; /* indices that the straddling VM has from the lap before */
};

static void shuffle(int *list, int n, struct rng *rng)
{
    for (int i = n - 1; i > 0; i--) {
        int k = (int)rng_below(rng, (uint64_t)i + 1);
        int swap = list[i];

        list[i] = list[k];
        list[k] = swap;
    }
}

/* Draws the order of a lap whose first `rest` places must avoid the taken ones. */
static void deal_lap(struct dealer *d, uint64_t seed, uint64_t lap, int rest)
{
    struct rng rng;
    int nfree = 0, end = d->npool;

    rng_init(&rng, seed, RNG_HOST, lap, RNG_PLACEMENT);
    for (int i = 0; i < d->npool; i++) {
        if (d->taken[i])
            d->order[--end] = i;
        else
            d->order[nfree++] = i;
    }
    shuffle(d->order, nfree, &rng);
    shuffle(d->order + rest, d->npool - rest, &rng);
    memset(d->taken, 0, (size_t)d->npool * sizeof(*d->taken));
}

/* The whole pool, core by core in the order in which the cores first appear in it. */
static void deal_cores(struct dealer *d)
{
    const struct topology_conf *c = &d->s->machine.topo;
    const int ncores =
        (int)(c->sockets * c->nodes_per_socket * c->groups_per_node * c->cores_per_group);
    int *place = parts_alloc((size_t)(ncores * c->threads_per_core), sizeof(*place));
    int n = 0;

    for (int i = 0; i < d->npool; i++)
        place[d->s->pool[i]] = i + 1; /* 0: not in the pool */
    for (int i = 0; i < d->npool; i++) {
        for (int pcpu = d->s->pool[i] % ncores; pcpu < machine_npcpus(&d->s->machine);
             pcpu += ncores) {
            if (place[pcpu] > 0)
                d->order[n++] = place[pcpu] - 1;
            place[pcpu] = 0;
        }
    }
    free(place);
}

/* vCPUs of the VM that vCPU g belongs to which come after g - 1, and those which come before g. */
struct split {
    int64_t rest, before, size;
};

static bool is_dealt(const struct vm_spec *vm)
{
    return !vm->pin;
}

static struct split split_at(const struct scenario *s, int64_t g)
{
    for (int i = 0; i < s->nvms; i++) {
        const struct vm_spec *vm = &s->vm[i];
        int64_t all = vm->count * vm->vcpus;

        if (!is_dealt(vm))
            continue;
        if (g < all)
            return (struct split){vm->vcpus - g % vm->vcpus, g % vm->vcpus, vm->vcpus};
        g -= all;
    }
    return (struct split){0, 0, 0};
}

static int64_t dealt_vcpus(const struct scenario *s)
{
    int64_t n = 0;

    for (int i = 0; i < s->nvms; i++)
        if (is_dealt(&s->vm[i]))
            n += s->vm[i].count * s->vm[i].vcpus;
    return n;
}

/* Fills out[0..n). */
static void deal(const struct scenario *s, uint64_t seed, int64_t n, int *out)
{
    struct dealer d = {.s = s, .npool = (int)s->npool};

    d.order = parts_alloc(s->npool, sizeof(*d.order));
    d.taken = parts_alloc(s->npool, sizeof(*d.taken));
    for (int64_t g = 0; g < n; g++) {
        int place = (int)(g % d.npool);

        if (place == 0) {
            struct split at = split_at(s, g);
            bool straddles = at.before > 0 && at.size <= d.npool;

            for (int64_t k = 1; straddles && k <= at.before; k++)
                d.taken[d.order[d.npool - k]] = true;
            if (g == 0 && s->pinned_order == PINNED_CORES)
                deal_cores(&d);
            else
                deal_lap(&d, seed, (uint64_t)(g / d.npool), straddles ? (int)at.rest : 0);
        }
        out[g] = s->pool[d.order[place]];
    }
    free(d.order);
    free(d.taken);
}

int *scenario_pinned_all(const struct scenario *s, uint64_t seed, int64_t *n)
{
    *n = dealt_vcpus(s);
    int *out = parts_alloc((size_t)*n, sizeof(*out));

    deal(s, seed, *n, out);
    return out;
}

int scenario_pinned_pcpu(const struct scenario *s, uint64_t seed, int64_t g)
{
    int *out = parts_alloc((size_t)g + 1, sizeof(*out));

    deal(s, seed, g + 1, out);
    int pcpu = out[g];

    free(out);
    return pcpu;
}
