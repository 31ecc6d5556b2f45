/* SPDX-License-Identifier: MIT */
/*
 * Between the contract of host policies and sim/fair: who is charged when, and which entity is
 * where.
 */
#include "host/fair_order.h"

#include <stdlib.h>

#define GROUP_SCALE 64 /* weight of a VM over that of a vCPU: parts of it stay fine enough */

static struct fair_order_cpu *cpu_of(const struct pcpu *p)
{
    return hyp_pcpu(p);
}

static struct fair_order_unit *unit_of(const struct vcpu *v)
{
    return hyp_vcpu(v);
}

/* NULL without groups. */
static struct fair_order_group *group_of(const struct pcpu *p, const struct vcpu *v)
{
    struct fair_order_cpu *c = cpu_of(p);

    return c->group ? &c->group[v->vm] : NULL;
}

static struct fair_queue *queue_of(const struct pcpu *p, const struct vcpu *v)
{
    struct fair_order_group *g = group_of(p, v);

    return g ? &g->queue : &cpu_of(p)->queue;
}

static int count_vms(const struct host *h)
{
    int n = 0;

    for (int i = 0; i < h->nvcpus; i++)
        n = h->vcpu[i]->vm >= n ? h->vcpu[i]->vm + 1 : n;
    return n;
}

static int make_groups(struct hyp *h, enum fair_kind kind)
{
    const struct host *host = h->host;
    const int n = count_vms(host);
    struct fair_order_group *all = calloc((size_t)n * (size_t)host->npcpus, sizeof(*all));

    if (!all)
        return -1;
    for (int i = 0; i < host->npcpus; i++) {
        cpu_of(&host->pcpu[i])->group = all + (size_t)i * (size_t)n;
        for (int vm = 0; vm < n; vm++) {
            struct fair_order_group *g = &all[(size_t)i * (size_t)n + (size_t)vm];

            fair_queue_init(&g->queue, kind, h->params);
            fair_entity_init(&g->entity, FAIR_NICE0, g);
        }
    }
    return 0;
}

int fair_order_init(struct hyp *h, enum fair_kind kind)
{
    struct fair_conf *conf = h->params;
    const int64_t hz = h->host->conf.tick_hz;

    conf->tick = hz > 0 ? NS_SEC / hz : 0;
    for (int i = 0; i < h->host->npcpus; i++)
        fair_queue_init(&cpu_of(&h->host->pcpu[i])->queue, kind, conf);
    return conf->groups ? make_groups(h, kind) : 0;
}

void fair_order_fini(struct hyp *h)
{
    if (h->host->npcpus > 0)
        free(cpu_of(&h->host->pcpu[0])->group);
}

void fair_order_vcpu_init(struct hyp *h, struct vcpu *v)
{
    (void)h;
    fair_entity_init(&unit_of(v)->entity, v->weight, v);
}

static struct fair_order_cpu *charge(struct hyp *h, struct pcpu *p)
{
    struct fair_order_cpu *c = cpu_of(p);
    const ns_t now = hyp_now(h);

    if (c->queue.curr && now > c->charged) {
        if (c->group)
            fair_charge(&((struct fair_order_group *)c->queue.curr->owner)->queue,
                        now - c->charged);
        fair_charge(&c->queue, now - c->charged);
    }
    c->charged = now;
    return c;
}

static int *runnable(struct hyp *h, int vm)
{
    return &cpu_of(&h->host->pcpu[0])->group[vm].runnable;
}

/* The part of its VM's weight, which is that of one vCPU, that the group has: by runnable vCPUs, of which at
 * least one is here. */
static void weigh(struct hyp *h, struct pcpu *p, const struct vcpu *v, struct fair_order_group *g)
{
    const int64_t all = *runnable(h, v->vm), here = g->queue.nr;
    const int64_t part = (int64_t)v->weight * GROUP_SCALE * here / (all > here ? all : here);

    fair_reweight(&cpu_of(p)->queue, &g->entity, part > 2 ? (uint32_t)part : 2);
}

/* A vCPU joined its VM's queue here. */
static void group_gained(struct hyp *h, struct pcpu *p, const struct vcpu *v,
                         struct fair_order_group *g)
{
    ++*runnable(h, v->vm);
    weigh(h, p, v, g);
    if (!g->entity.queued || g->entity.delayed)
        fair_enqueue(&cpu_of(p)->queue, &g->entity, FAIR_WAKE);
}

/* Nobody in the group is runnable any more. Those who are delayed leave it: nothing would ever look at them
 * (Linux: the group stays for them until it is picked, soon). */
static void group_empties(struct fair_queue *q, struct fair_order_group *g)
{
    (void)fair_pick(&g->queue);
    if (g->entity.queued && !g->entity.delayed)
        (void)fair_dequeue(q, &g->entity, true);
}

/* One left it that was not the current one. */
static void group_lost(struct hyp *h, struct pcpu *p, const struct vcpu *v,
                       struct fair_order_group *g)
{
    --*runnable(h, v->vm);
    if (g->queue.nr > 0)
        weigh(h, p, v, g);
    else
        group_empties(&cpu_of(p)->queue, g);
}

/* The current one left it. */
static void group_stopped(struct hyp *h, struct pcpu *p, const struct vcpu *v,
                          struct fair_order_group *g)
{
    struct fair_queue *q = &cpu_of(p)->queue;

    --*runnable(h, v->vm);
    if (g->queue.nr > 0) {
        fair_put(q);
        weigh(h, p, v, g);
    } else {
        group_empties(q, g);
    }
}

/* The current one goes back to where it waits. Without ticks this is when its group learns how the VM's
 * vCPUs are spread by now. */
static void requeue(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    struct fair_order_group *g = group_of(p, v);

    fair_put(queue_of(p, v));
    if (!g)
        return;
    fair_put(&cpu_of(p)->queue);
    if (h->host->conf.tick_hz == 0)
        weigh(h, p, v, g);
}

void fair_order_enqueue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why)
{
    static const enum fair_enqueue_why fair_why[] = {
        [ENQUEUE_NEW] = FAIR_NEW,
        [ENQUEUE_WAKE] = FAIR_WAKE,
        [ENQUEUE_MIGRATE] = FAIR_MIGRATE,
    };
    struct fair_order_unit *u = unit_of(v);
    struct fair_order_group *g = group_of(p, v);

    (void)charge(h, p);
    if (why == ENQUEUE_REQUEUE) {
        requeue(h, p, v);
        return;
    }
    /* Delayed on the pCPU it left, and wanted here: it really leaves there first. */
    if (u->entity.delayed && u->on != p) {
        (void)charge(h, u->on);
        (void)fair_dequeue(queue_of(u->on, v), &u->entity, true);
    }
    fair_enqueue(queue_of(p, v), &u->entity, fair_why[why]);
    u->on = p;
    if (g)
        group_gained(h, p, v, g);
}

void fair_order_dequeue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum stop_why why)
{
    struct fair_order_group *g = group_of(p, v);

    (void)why;
    (void)charge(h, p);
    (void)fair_dequeue(queue_of(p, v), &unit_of(v)->entity, false);
    if (g)
        group_lost(h, p, v, g);
}

static ns_t slice_left(const struct fair_order_cpu *c, const struct fair_order_group *g)
{
    const ns_t mine = fair_slice_left(&c->queue), inner = g ? fair_slice_left(&g->queue) : mine;

    return inner < mine ? inner : mine;
}

struct host_pick fair_order_pick(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    struct fair_order_cpu *c = charge(h, p);
    struct fair_entity *e = c->group ? fair_pick_protecting(&c->queue) : fair_pick(&c->queue);
    struct fair_order_group *g = NULL;
    ns_t slice;

    (void)prev;
    if (!e)
        return (struct host_pick){.vcpu = NULL, .slice = NS_NEVER};
    if (c->group) {
        g = e->owner;
        e = fair_pick(&g->queue);
    }
    /* Nothing left (an unfair turn granted by a buddy) still means to run: until the next look. */
    slice = slice_left(c, g);
    return (struct host_pick){.vcpu = e->owner, .slice = slice > 0 ? slice : 1};
}

ns_t fair_order_slice(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    return slice_left(charge(h, p), group_of(p, curr));
}

bool fair_order_tick(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    struct fair_order_cpu *c = charge(h, p);
    struct fair_order_group *g = group_of(p, curr);
    bool over;

    if (!g)
        return fair_tick(&c->queue);
    weigh(h, p, curr, g);
    over = fair_tick(&g->queue);
    return fair_tick(&c->queue) || over;
}

bool fair_order_preempts(struct hyp *h, struct pcpu *p, struct vcpu *curr, struct vcpu *woken)
{
    struct fair_order_cpu *c = charge(h, p);
    struct fair_order_group *g = group_of(p, woken);

    if (g && curr->vm != woken->vm)
        return fair_preempts(&c->queue, &g->entity);
    return fair_preempts(queue_of(p, woken), &unit_of(woken)->entity);
}

void fair_order_stopping(struct hyp *h, struct pcpu *p, struct vcpu *v, struct host_ran ran,
                         enum stop_why why)
{
    struct fair_order_group *g = group_of(p, v);

    (void)ran;
    (void)charge(h, p);
    if (why != STOP_BLOCK && why != STOP_MIGRATE)
        return;
    (void)fair_dequeue(queue_of(p, v), &unit_of(v)->entity, why == STOP_BLOCK);
    if (g)
        group_stopped(h, p, v, g);
}

static bool prefer(const struct pcpu *p, const struct vcpu *v)
{
    struct fair_order_group *g = group_of(p, v);
    const bool yes = fair_prefer(queue_of(p, v), &unit_of(v)->entity);

    if (yes && g)
        (void)fair_prefer(&cpu_of(p)->queue, &g->entity);
    return yes;
}

bool fair_order_yield(struct hyp *h, struct vcpu *from, struct vcpu *to)
{
    bool preferred = true;

    (void)charge(h, unit_of(from)->on);
    if (to)
        preferred = prefer(unit_of(to)->on, to);
    fair_yield(queue_of(unit_of(from)->on, from));
    return preferred;
}

bool fair_order_boost(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    (void)h;
    return prefer(p, v);
}

void fair_order_scale(void *params, int npcpus)
{
    fair_conf_scaled(params, npcpus);
}
