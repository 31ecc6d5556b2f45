/* SPDX-License-Identifier: MIT */
/*
 * Distance: how long a cache line takes from one pCPU to another, and a working set to come in after a
 * move.
 *
 * Always true: a line is where it was written last. Those who ask for it in turn are served in order
 * of asking, one transfer at a time; so two pCPUs that both write all the time get one exchange done
 * per transfer, and what each of them waits grows with their number. Who does not execute does not ask.
 * A request that lies in the future of the one at hand (its CPU owes overhead first) does not delay it.
 * Source: CPS (ASPLOS'23), shared counter: 7.08, 4.76, 4.45, 2.97 million exchanges per second.
 */
#include <stdlib.h>

#include "cross/world.h"

struct xline {
    int at;           /* pCPU that wrote it last, -1 nobody yet */
    ns_t from, until; /* of the transfers asked for without a pause */
};

int distance_init(struct xvm *vm)
{
    const int n = vm->guest->nlines;

    vm->line = calloc((size_t)n + 1, sizeof(*vm->line));
    vm->seat = calloc((size_t)vm->guest->ntasks + 1, sizeof(*vm->seat));
    if (!vm->line || !vm->seat)
        return -1;
    for (int i = 0; i < n; i++)
        vm->line[i].at = -1;
    for (int i = 0; i < vm->guest->ntasks; i++)
        vm->seat[i] = -1;
    return 0;
}

void distance_free(struct xvm *vm)
{
    free(vm->line);
    free(vm->seat);
}

static ns_t transfer(const struct costs *c, enum level distance)
{
    switch (distance) {
    case LEVEL_THREAD:
        return 0;
    case LEVEL_CORE:
        return c->exchange_core;
    case LEVEL_GROUP:
        return c->exchange_group;
    case LEVEL_NODE:
        return c->exchange_node;
    case LEVEL_SOCKET:
        return c->exchange_socket;
    case LEVEL_MACHINE:
    case LEVEL_COUNT:
        break;
    }
    return c->exchange_machine;
}

/* When the line is free for a request made at `at`. */
static ns_t wait_turn(struct xline *l, ns_t at, ns_t takes)
{
    if (at < l->from)
        return 0;
    if (at > l->until)
        l->from = l->until = at;
    l->until += takes;
    return l->until - takes - at;
}

ns_t distance_touch(struct xvcpu *x, int line, bool queue, int64_t times)
{
    struct xvm *vm = x->vm;
    struct xline *l = &vm->line[line];
    const int at = x->v->pcpu;
    const enum level d = l->at < 0 ? LEVEL_THREAD : topology_distance(x->world->topo, l->at, at);
    const ns_t takes = transfer(x->world->costs, d) * times;
    ns_t waits = 0;

    if (queue)
        waits = wait_turn(l, x->world->engine->now + x->g->hyp + x->g->ovh, takes);
    l->at = at;
    vm->exchanges[d] += (uint64_t)times;
    vm->exchange_time += waits + takes;
    return waits + takes;
}

/* The rate at which a working set comes from this far; the nearest one that the machine names. A move
 * within a core leaves no cache behind. */
static int64_t fill_rate(const struct costs *c, enum level distance)
{
    const int64_t rate[LEVEL_COUNT] = {
        [LEVEL_GROUP] = c->fill_group,
        [LEVEL_NODE] = c->fill_node,
        [LEVEL_SOCKET] = c->fill_socket,
        [LEVEL_MACHINE] = c->fill_machine,
    };
    int level = (int)distance;

    while (level > LEVEL_GROUP && rate[level] == 0)
        level--;
    return rate[level];
}

/* The largest cache that the move leaves behind. */
static int64_t cache_lost_kb(const struct costs *c, enum level distance)
{
    const int64_t kb[LEVEL_COUNT] = {
        [LEVEL_CORE] = c->cache_core_kb,
        [LEVEL_GROUP] = c->cache_group_kb,
        [LEVEL_NODE] = c->cache_node_kb,
        [LEVEL_SOCKET] = c->cache_socket_kb,
    };
    int64_t most = 0;

    for (int level = LEVEL_CORE; level < (int)distance; level++)
        most = kb[level] > most ? kb[level] : most;
    return most;
}

/* Bytes over MB/s are us. */
static ns_t refill_time(const struct costs *c, const struct task *t, enum level distance)
{
    const int64_t rate = fill_rate(c, distance), lost = cache_lost_kb(c, distance) * 1024;
    const int64_t set = t->spec->footprint >= 0 ? t->spec->footprint : c->footprint_kb * 1024;

    return rate > 0 ? (set < lost ? set : lost) * 1000 / rate : 0;
}

ns_t distance_refill(struct xvcpu *x, const struct task *t)
{
    int *seat = &x->vm->seat[t->id];
    const int from = *seat, to = x->v->pcpu;

    *seat = to;
    if (from < 0 || from == to)
        return 0;
    return refill_time(x->world->costs, t, topology_distance(x->world->topo, from, to));
}
