/* SPDX-License-Identifier: MIT */
/*
 * The queue of pending events, private to the engine: a hierarchical timing wheel.
 *
 * Level l has 64 slots, each 64^l ns wide, so eleven levels cover the whole of ns_t. An event waits
 * at the level of the highest digit (base 64) in which its time differs from `pos`, in the slot of
 * that digit. The slots hold unordered lists; only the events of the *current window*, which starts
 * at or before `now`, are kept in order.
 *
 * Always true between calls:
 *  - pos <= now, and no pending event is due before now;
 *  - events with (time ^ pos) <= window are in `current`, all others in the wheel, and those at
 *    levels whose slots are no narrower than the window. Slots of a level are in order of time, and
 *    everything at a level is due before anything at a higher one;
 *  - a window wider than one ns keeps its events in current[0], sorted by (time, key); a window of
 * one ns keeps one list per phase, first in first out;
 *  - events of the same time are in the same list, in the order in which they were armed;
 *  - a set bit in `used` or `levels` says that something *may* be there. Cancelling leaves them
 * alone and is therefore two stores; a stale bit is dropped when it is met, once per bit set.
 */
#ifndef SIM_ENGINE_QUEUE_H
#define SIM_ENGINE_QUEUE_H

#include "engine/engine.h"

#define QUEUE_BITS   6
#define QUEUE_SLOTS  (1u << QUEUE_BITS)
#define QUEUE_LEVELS 11

struct event_queue {
    uint64_t pos;    /* start of the current window */
    uint64_t window; /* its width less one: 64^l - 1 */
    uint32_t levels;
    uint64_t used[QUEUE_LEVELS];
    struct event_link current[PHASE_COUNT];
    struct event_link slot[QUEUE_LEVELS][QUEUE_SLOTS];
};

void queue_init(struct event_queue *q);
/* The parts of queue_add and queue_first that are seldom needed. */
void queue_add_current(struct event_queue *q, struct event *ev);
struct event *queue_advance(struct event_queue *q, ns_t limit);

static inline struct event *queue_event(struct event_link *l)
{
    return container_of(l, struct event, link);
}

static inline bool queue_list_empty(const struct event_link *head)
{
    return head->next == head;
}

static inline void queue_insert_after(struct event_link *pos, struct event_link *l)
{
    l->next = pos->next;
    l->prev = pos;
    pos->next->prev = l;
    pos->next = l;
}

static inline void queue_append(struct event_link *head, struct event_link *l)
{
    struct event_link *tail = head->prev;

    l->next = head;
    l->prev = tail;
    tail->next = l;
    head->prev = l;
}

static inline void queue_append_slot(struct event_queue *q, struct event *ev, unsigned level)
{
    unsigned i = (unsigned)((uint64_t)ev->time >> (level * QUEUE_BITS)) & (QUEUE_SLOTS - 1);

    queue_append(&q->slot[level][i], &ev->link);
    q->used[level] |= (uint64_t)1 << i;
    q->levels |= 1u << level;
}

/* Puts an event, whose time and key are set, into its list. */
static inline void queue_add(struct event_queue *q, struct event *ev)
{
    uint64_t differing = (uint64_t)ev->time ^ q->pos;

    if (differing <= q->window) {
        queue_add_current(q, ev);
        return;
    }
    /* x * 43 / 256 is x / 6 for every x below 64. */
    unsigned bit = 63u - (unsigned)__builtin_clzll(differing);
    queue_append_slot(q, ev, bit * 43 >> 8);
}

static inline void queue_remove(struct event *ev)
{
    ev->link.prev->next = ev->link.next;
    ev->link.next->prev = ev->link.prev;
    ev->link.next = NULL;
}

/* The first pending event if it is due at or before `limit`, else NULL. A caller that may still add
 * events before some time t must not pass a limit later than t. */
static inline struct event *queue_first(struct event_queue *q, ns_t limit)
{
    struct event_link *l = q->current[0].next;

    if (l == &q->current[0])
        return queue_advance(q, limit);
    return queue_event(l)->time <= limit ? queue_event(l) : NULL;
}

#endif
