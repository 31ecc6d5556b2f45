/* SPDX-License-Identifier: MIT */
/*
 * The event engine: an integer clock and a queue of pending events.
 *
 * Always true:
 *  - time is ns_t, whole nanoseconds since the start of the run, and never goes back;
 *  - events run in the total order (time, phase, sequence). The sequence number is given when an
 *    event is armed, so among equals the one armed first runs first. A moved event counts as armed
 *    anew;
 *  - events are embedded in their owners: arming, moving, cancelling and running allocate nothing.
 *
 * An instant (all events of one time) runs in this order: the events, phase by phase; then the
 * deferred calls, first in first out; then, should these have armed events for the same instant,
 * these events and their deferred calls again. Run-queue decisions are deferred calls: a pCPU
 * decides once it has seen everything that happened at that nanosecond.
 */
#ifndef SIM_ENGINE_ENGINE_H
#define SIM_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t ns_t;
#define NS_NEVER INT64_MAX
#define NS_US    ((ns_t)1000)
#define NS_MS    ((ns_t)1000000)
#define NS_SEC   ((ns_t)1000000000)

/* Order within one nanosecond. Work that ends is seen before what wakes up, and both before timers
 * that would take a CPU away; samples see the state after all of them. */
enum phase {
    PHASE_FINISH,  /* a run, an overhead or a service ends */
    PHASE_WAKE,    /* an interrupt, IPI, device completion or message arrives */
    PHASE_TIMER,   /* ticks, slice ends, program timers, polling limits */
    PHASE_BALANCE, /* periodic load balancing */
    PHASE_SAMPLE,  /* warm-up end, windows, governors: they read what the others wrote */
    PHASE_COUNT
};

struct engine;
struct event;
typedef void event_fn(struct engine *e, struct event *ev);

/* Links of the queue's circular lists; next == NULL in an event that is not armed. */
struct event_link {
    struct event_link *next, *prev;
};

/* Owned by the entity that embeds it; it must stay where it is while armed. The fields are the
 * queue's: users call the functions below. All zero bytes is an event that is not armed. */
struct event {
    struct event_link link;
    ns_t time;    /* when armed: due time */
    uint64_t key; /* when armed: phase in the top bits, sequence below */
    event_fn *fn;
    uint32_t tag; /* owner's label (kind and id), goes into the fingerprint */
    enum phase phase;
};

/* A call to be made at the end of the current instant; queued at most once at a time. */
struct deferred {
    void (*fn)(struct engine *e, struct deferred *d);
    struct deferred *next;
    bool queued;
};

struct event_queue;

struct engine {
    ns_t now;
    uint64_t events;      /* events run so far */
    uint64_t fingerprint; /* hash over (time, phase, tag) of every event run, in order */
    uint64_t seq;
    uint64_t instant_max; /* more events or deferred calls than this in one instant are a bug */
    uint64_t instant_end; /* value of `events` at which the current instant reaches that */
    bool stop; /* set by an event or deferred call; stays set until the caller clears it */
    struct event_queue *queue;
    struct deferred *defer_head;
    struct deferred **defer_tail;
    void *owner; /* the world this engine drives; set by the world */
};

/* Returns NULL without memory. */
struct engine *engine_new(void);
void engine_free(struct engine *e);

static inline ns_t engine_now(const struct engine *e)
{
    return e->now;
}

/* For an event that is not armed. */
void event_init(struct event *ev, enum phase phase, uint32_t tag, event_fn *fn);

static inline bool event_armed(const struct event *ev)
{
    return ev->link.next != NULL;
}

/* Arms `ev` for `at` (>= now), or moves it there if it is armed already. NS_NEVER cancels. */
void engine_arm(struct engine *e, struct event *ev, ns_t at);
/* Does nothing to an event that is not armed. */
void engine_cancel(struct engine *e, struct event *ev);
void engine_defer(struct engine *e, struct deferred *d);
/* Runs every event due up to and including `until`, then sets now = until; NS_NEVER means until
 * nothing is pending, and now stays at the last event. Returns early, with now at the last event,
 * once an event or a deferred call has set stop; what is still queued then runs in the next call.
 * Deferred calls queued outside run first. An instant that does not end is reported as a bug. Not
 * to be called from an event. */
void engine_run(struct engine *e, ns_t until);

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif
