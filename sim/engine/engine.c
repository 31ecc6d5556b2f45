/* SPDX-License-Identifier: MIT */
/*
 * The clock and the order of an instant; the pending events themselves are kept by the queue.
 *
 * Always true: now never goes back, no pending event is due before now, and while deferred calls
 * wait, the queue is not asked for anything later than now, for they may still arm events for now.
 */
#include "engine/engine.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/check.h"
#include "engine/queue.h"

#define PHASE_SHIFT     56
#define INSTANT_MAX     100000000u
#define FINGERPRINT_NEW 0x6a09e667f3bcc908u

struct engine *engine_new(void)
{
    struct engine *e = calloc(1, sizeof(*e));
    struct event_queue *q = malloc(sizeof(*q));

    if (!e || !q) {
        free(e);
        free(q);
        return NULL;
    }
    queue_init(q);
    e->queue = q;
    e->defer_tail = &e->defer_head;
    e->fingerprint = FINGERPRINT_NEW;
    e->instant_max = INSTANT_MAX;
    e->instant_end = INSTANT_MAX;
    return e;
}

void engine_free(struct engine *e)
{
    if (e)
        free(e->queue);
    free(e);
}

void event_init(struct event *ev, enum phase phase, uint32_t tag, event_fn *fn)
{
    *ev = (struct event){.phase = phase, .tag = tag, .fn = fn};
}

void engine_arm(struct engine *e, struct event *ev, ns_t at)
{
    CHECK_PRE(at >= e->now, "event %#" PRIx32 " armed for %" PRId64 " ns, which is past", ev->tag,
              at);
    if (event_armed(ev))
        queue_remove(ev);
    if (at == NS_NEVER)
        return;
    ev->time = at;
    ev->key = (uint64_t)ev->phase << PHASE_SHIFT | e->seq++;
    queue_add(e->queue, ev);
}

void engine_cancel(struct engine *e, struct event *ev)
{
    (void)e;
    if (event_armed(ev))
        queue_remove(ev);
}

void engine_defer(struct engine *e, struct deferred *d)
{
    if (d->queued)
        return;
    d->queued = true;
    d->next = NULL;
    *e->defer_tail = d;
    e->defer_tail = &d->next;
}

static void run_deferred(struct engine *e)
{
    for (uint64_t calls = 0; e->defer_head && !e->stop; calls++) {
        struct deferred *d = e->defer_head;

        CHECK(calls < e->instant_max, "an instant with %" PRIu64 " deferred calls does not end",
              calls);
        e->defer_head = d->next;
        if (!e->defer_head)
            e->defer_tail = &e->defer_head;
        d->queued = false;
        d->fn(e, d);
    }
}

/* The multiplications spread time and label over the word, the last shift brings the high bits back
 * to where the next multiplication needs them. */
static uint64_t fingerprint(uint64_t h, const struct event *ev)
{
    uint64_t label = (uint64_t)ev->tag << 8 | (uint64_t)ev->phase;

    h ^= (uint64_t)ev->time * 0x9e3779b97f4a7c15u + label * 0xd6e8feb86659fd93u;
    h *= 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

static void run_event(struct engine *e, struct event *ev)
{
    if (ev->time != e->now) {
        e->now = ev->time;
        e->instant_end = e->events + e->instant_max;
    }
    CHECK(e->events < e->instant_end, "an instant with %" PRIu64 " events does not end",
          e->instant_max);
    queue_remove(ev);
    e->events++;
    e->fingerprint = fingerprint(e->fingerprint, ev);
    ev->fn(e, ev);
}

void engine_run(struct engine *e, ns_t until)
{
    CHECK_PRE(until >= e->now, "run until %" PRId64 " ns, which is past", until);
    run_deferred(e);
    while (!e->stop) {
        bool deferred = e->defer_head != NULL;
        struct event *ev = queue_first(e->queue, deferred ? e->now : until);

        if (ev) {
            run_event(e, ev);
        } else if (deferred) {
            run_deferred(e);
        } else {
            if (until != NS_NEVER)
                e->now = until;
            return;
        }
    }
}
