/* SPDX-License-Identifier: MIT */
/*
 * Spreads: how VMs that run one workload differ from each other.
 *
 * Always true: a factor is a whole number of 1/1024, above 0, turned into one where it is drawn;
 * factor number n of a VM depends on the seed, the VM, the spread and n, and on nothing that happens
 * in the run: it is the first draw of a stream of its own.
 */
#include <stdlib.h>

#include "guest/core.h"

#define FACTOR_MAX ((int64_t)1 << 30)

int spread_init(struct guest *k, uint64_t seed)
{
    k->spread = calloc((size_t)k->work->nspreads + 1, sizeof(*k->spread));
    if (!k->spread)
        return -1;
    for (int i = 0; i < k->work->nspreads; i++)
        k->spread[i] = (struct spread){
            .spec = &k->work->spread[i], .seed = seed, .number = -1, .factor = 1024};
    return 0;
}

static int64_t factor_draw(const struct guest *k, int i, int64_t number)
{
    const struct spread *s = &k->spread[i];
    struct rng r;

    rng_init(&r, rng_mix(s->seed, (uint64_t)number), RNG_VM, (uint64_t)k->vm << 32 | (uint64_t)i,
             RNG_SPREAD);
    const ns_t v = dist_draw(&s->spec->factor, &r);

    return v < 1 ? 1 : v > FACTOR_MAX ? FACTOR_MAX : v;
}

int64_t spread_factor(struct guest *k, int i)
{
    struct spread *s = &k->spread[i];
    const int64_t number = s->spec->again > 0 ? know(k) / s->spec->again : 0;

    if (number != s->number) {
        s->factor = factor_draw(k, i, number);
        s->number = number;
    }
    return s->factor;
}

ns_t spread_draw(struct guest *k, const struct dist *d, int spread, struct rng *r)
{
    const ns_t v = dist_draw(d, r);

    if (spread == 0 || v == 0)
        return v;
    /* A small factor makes no loop that takes time into one that takes none. */
    const ns_t scaled = dist_scale(v, spread_factor(k, spread - 1), 1024);

    return scaled > 0 ? scaled : 1;
}
