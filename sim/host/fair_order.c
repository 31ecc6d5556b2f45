/* SPDX-License-Identifier: MIT */
/*
 * Between the contract of host policies and sim/fair: who is charged when, and which entity is
 * where.
 */
#include "host/fair_order.h"

static struct fair_order_cpu *cpu_of(const struct pcpu *p)
{
    return hyp_pcpu(p);
}

static struct fair_order_unit *unit_of(const struct vcpu *v)
{
    return hyp_vcpu(v);
}

int fair_order_init(struct hyp *h, enum fair_kind kind)
{
    struct fair_conf *conf = h->params;
    const int64_t hz = h->host->conf.tick_hz;

    conf->tick = hz > 0 ? NS_SEC / hz : 0;
    for (int i = 0; i < h->host->npcpus; i++)
        fair_queue_init(&cpu_of(&h->host->pcpu[i])->queue, kind, conf);
    return 0;
}

void fair_order_vcpu_init(struct hyp *h, struct vcpu *v)
{
    (void)h;
    fair_entity_init(&unit_of(v)->entity, v->weight, v);
}

static struct fair_queue *charge(struct hyp *h, struct pcpu *p)
{
    struct fair_order_cpu *c = cpu_of(p);
    const ns_t now = hyp_now(h);

    if (c->queue.curr && now > c->charged)
        fair_charge(&c->queue, now - c->charged);
    c->charged = now;
    return &c->queue;
}

void fair_order_enqueue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why)
{
    static const enum fair_enqueue_why fair_why[] = {
        [ENQUEUE_NEW] = FAIR_NEW,
        [ENQUEUE_WAKE] = FAIR_WAKE,
        [ENQUEUE_MIGRATE] = FAIR_MIGRATE,
    };
    struct fair_order_unit *u = unit_of(v);
    struct fair_queue *q = charge(h, p);

    if (why == ENQUEUE_REQUEUE) {
        fair_put(q);
        return;
    }
    /* Delayed on the pCPU it left, and wanted here: it really leaves there first. */
    if (u->entity.delayed && u->on != p)
        (void)fair_dequeue(charge(h, u->on), &u->entity, true);
    fair_enqueue(q, &u->entity, fair_why[why]);
    u->on = p;
}

void fair_order_dequeue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum stop_why why)
{
    (void)why;
    (void)fair_dequeue(charge(h, p), &unit_of(v)->entity, false);
}

struct host_pick fair_order_pick(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    struct fair_queue *q = charge(h, p);
    struct fair_entity *e = fair_pick(q);
    ns_t slice;

    (void)prev;
    if (!e)
        return (struct host_pick){.vcpu = NULL, .slice = NS_NEVER};
    /* Nothing left (an unfair turn granted by a buddy) still means to run: until the next look. */
    slice = fair_slice_left(q);
    return (struct host_pick){.vcpu = e->owner, .slice = slice > 0 ? slice : 1};
}

ns_t fair_order_slice(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    (void)curr;
    return fair_slice_left(charge(h, p));
}

bool fair_order_tick(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    (void)curr;
    return fair_tick(charge(h, p));
}

bool fair_order_preempts(struct hyp *h, struct pcpu *p, struct vcpu *curr, struct vcpu *woken)
{
    (void)curr;
    return fair_preempts(charge(h, p), &unit_of(woken)->entity);
}

void fair_order_stopping(struct hyp *h, struct pcpu *p, struct vcpu *v, struct host_ran ran,
                         enum stop_why why)
{
    struct fair_queue *q = charge(h, p);

    (void)ran;
    if (why == STOP_BLOCK || why == STOP_MIGRATE)
        (void)fair_dequeue(q, &unit_of(v)->entity, why == STOP_BLOCK);
}

bool fair_order_yield(struct hyp *h, struct vcpu *from, struct vcpu *to)
{
    struct fair_queue *q = charge(h, unit_of(from)->on);
    bool preferred = true;

    if (to)
        preferred = fair_prefer(&cpu_of(unit_of(to)->on)->queue, &unit_of(to)->entity);
    fair_yield(q);
    return preferred;
}

bool fair_order_boost(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    (void)h;
    return fair_prefer(&cpu_of(p)->queue, &unit_of(v)->entity);
}

void fair_order_scale(void *params, int npcpus)
{
    fair_conf_scaled(params, npcpus);
}
