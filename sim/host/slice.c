/* SPDX-License-Identifier: MIT */
/*
 * When a running vCPU is looked at again: exact slice ends without a host tick, else ticks.
 *
 * Always true: a slice is exact without a tick, or when pick asked for it; then the slice event of a
 * pCPU is armed exactly when slice_end of its curr is finite. The ticks of a pCPU lie on a fixed grid
 * (multiples of 1/HZ, shifted by a fraction of it from pCPU to pCPU), whatever runs; a tick that finds
 * the pCPU idle does nothing and the grid rests until something runs, so idle pCPUs cost nothing.
 */
#include "host/internal.h"
#include "host/ops.h"

static ns_t tick_period(const struct host *h)
{
    return NS_SEC / h->conf.tick_hz;
}

ns_t slice_tick_after(const struct host *h, const struct pcpu *p, ns_t t)
{
    const ns_t period = h->conf.tick_hz > 0 ? tick_period(h) : 4 * NS_MS;
    const ns_t offset = period * p->id / h->npcpus;

    if (t < offset)
        return offset;
    return t + period - (t - offset) % period;
}

ns_t slice_left(const struct pcpu *p, const struct vcpu *curr)
{
    if (p->nr_ready == 0 || curr->slice_len == NS_NEVER)
        return NS_NEVER;
    /* Slices that ended while nobody waited were renewed. */
    return curr->slice_len - (p->host->engine->now - curr->slice_from) % curr->slice_len;
}

bool slice_over(const struct pcpu *p, struct vcpu *curr)
{
    const ns_t now = p->host->engine->now;

    if (now < curr->slice_end)
        return false;
    if (p->nr_ready > 0)
        return true;
    curr->slice_from += (now - curr->slice_from) / curr->slice_len * curr->slice_len;
    curr->slice_end = curr->slice_from + curr->slice_len;
    return false;
}

static void set_end(struct host *h, struct pcpu *p, ns_t left)
{
    const ns_t now = h->engine->now;
    const ns_t end = left >= NS_NEVER - now ? NS_NEVER : now + (left > 0 ? left : 0);

    p->curr->slice_end = end;
    if (!p->exact || (event_armed(&p->slice) && p->slice.time == end))
        return;
    engine_arm(h->engine, &p->slice, end);
}

void slice_start(struct host *h, struct pcpu *p, struct host_pick k)
{
    struct vcpu *v = p->curr;

    p->exact = k.exact || h->conf.tick_hz == 0;
    v->slice_len = k.slice;
    v->slice_from = h->engine->now;
    if (h->conf.tick_hz > 0 && !event_armed(&p->tick))
        engine_arm(h->engine, &p->tick, slice_tick_after(h, p, h->engine->now));
    if (!p->exact)
        slice_stop(h, p);
    /* The policy's word on somebody alone is its slice operation. */
    set_end(h, p, !p->exact || p->nr_ready > 0 ? k.slice : ops_slice(h->policy, p, v));
}

void slice_refresh(struct host *h, struct pcpu *p)
{
    /* A slice that ends now is about to be noticed; it is not prolonged by those who come now. */
    if (!p->exact || p->need_resched || p->curr->slice_end <= h->engine->now)
        return;
    set_end(h, p, ops_slice(h->policy, p, p->curr));
}

void slice_stop(struct host *h, struct pcpu *p)
{
    engine_cancel(h->engine, &p->slice);
}

static void on_slice(struct engine *e, struct event *ev)
{
    struct pcpu *p = container_of(ev, struct pcpu, slice);

    (void)e;
    host_resched(p->host, p, STOP_SLICE);
}

static void on_tick(struct engine *e, struct event *ev)
{
    struct pcpu *p = container_of(ev, struct pcpu, tick);
    struct host *h = p->host;
    struct vcpu *v = p->curr;

    if (!v)
        return;
    engine_arm(e, ev, slice_tick_after(h, p, h->engine->now));
    h->ticks++;
    p->ticks++;
    HOOK(h, tick, p, v);
    if (p->curr == v && ops_tick(h->policy, p, v))
        host_resched(h, p, STOP_SLICE);
    if (h->lb && p->curr)
        lb_kick(h, p);
}

void slice_init(struct pcpu *p)
{
    event_init(&p->slice, PHASE_TIMER, host_tag(TAG_SLICE, p->id), on_slice);
    event_init(&p->tick, PHASE_TIMER, host_tag(TAG_TICK, p->id), on_tick);
}
