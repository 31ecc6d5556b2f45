/* SPDX-License-Identifier: MIT */
/*
 * The timing wheel: how the current window moves on. See queue.h for what is always true.
 *
 * When the current window is used up, the first occupied slot of the lowest occupied level is the
 * next. A slot with few events becomes the window itself and its events are sorted; one with many
 * is dealt out to the slots one level below; a slot of one ns becomes a window whatever it holds,
 * for then the order is that of the phases. An event thus goes down a level or stays, so it is
 * touched at most once per level however many share its time.
 */
#include "engine/queue.h"

/* Sorting a longer slot costs more than dealing it out. */
#define SORT_MAX 6
/* Steps to find a place in a sorted window before the window is dealt out instead. */
#define WALK_MAX 32

static void list_init(struct event_link *head)
{
    head->next = head->prev = head;
}

void queue_init(struct event_queue *q)
{
    q->pos = 0;
    q->window = 0;
    q->levels = 0;
    for (unsigned p = 0; p < PHASE_COUNT; p++)
        list_init(&q->current[p]);
    for (unsigned l = 0; l < QUEUE_LEVELS; l++) {
        q->used[l] = 0;
        for (unsigned i = 0; i < QUEUE_SLOTS; i++)
            list_init(&q->slot[l][i]);
    }
}

static bool before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time == b->time && a->key < b->key);
}

/* The levels below the window are empty, so they can take its events; from then on only the first
 * ns of the window is current. */
static void window_deal_out(struct event_queue *q)
{
    struct event_link *head = &q->current[0];
    struct event_link *l = head->next;

    list_init(head);
    q->window = 0;
    while (l != head) {
        struct event *ev = queue_event(l);
        l = l->next;
        queue_add(q, ev);
    }
}

void queue_add_current(struct event_queue *q, struct event *ev)
{
    struct event_link *head = &q->current[0];
    struct event_link *at = head->prev;

    if (q->window == 0) {
        queue_append(&q->current[ev->phase], &ev->link);
        return;
    }
    for (unsigned steps = 0; at != head && before(ev, queue_event(at)); at = at->prev) {
        if (++steps > WALK_MAX) {
            window_deal_out(q);
            queue_add(q, ev);
            return;
        }
    }
    queue_insert_after(at, &ev->link);
}

static bool is_short(const struct event_link *head)
{
    const struct event_link *l = head->next;

    for (unsigned n = 0; n < SORT_MAX; n++) {
        l = l->next;
        if (l == head)
            return true;
    }
    return false;
}

static void sort_into_window(struct event_queue *q, struct event_link *slot)
{
    struct event_link *head = &q->current[0];
    struct event_link *l = slot->next;

    while (l != slot) {
        struct event_link *next = l->next;
        struct event_link *at = head->prev;

        while (at != head && before(queue_event(l), queue_event(at)))
            at = at->prev;
        queue_insert_after(at, l);
        l = next;
    }
    list_init(slot);
}

/* One ns wide: what waits there differs in phase only, and is in order of sequence. */
static void sort_by_phase(struct event_queue *q, struct event_link *slot)
{
    struct event_link *l = slot->next;

    while (l != slot) {
        struct event *ev = queue_event(l);
        l = l->next;
        queue_append(&q->current[ev->phase], &ev->link);
    }
    list_init(slot);
}

static void slot_deal_out(struct event_queue *q, struct event_link *slot, unsigned level)
{
    struct event_link *l = slot->next;

    while (l != slot) {
        struct event *ev = queue_event(l);
        l = l->next;
        queue_append_slot(q, ev, level - 1);
    }
    list_init(slot);
}

/* Makes `slot` the current window, or one of the slots it is dealt out to a candidate. */
static void slot_enter(struct event_queue *q, unsigned level, struct event_link *slot)
{
    q->window = 0;
    if (level == 0) {
        sort_by_phase(q, slot);
    } else if (is_short(slot)) {
        q->window = ((uint64_t)1 << (level * QUEUE_BITS)) - 1;
        sort_into_window(q, slot);
    } else {
        slot_deal_out(q, slot, level);
    }
}

/* First event of the window; the lists of later phases are in use only when it is one ns wide. */
static struct event *window_first(struct event_queue *q)
{
    unsigned lists = q->window ? 1 : PHASE_COUNT;

    for (unsigned p = 0; p < lists; p++) {
        if (!queue_list_empty(&q->current[p]))
            return queue_event(q->current[p].next);
    }
    return NULL;
}

struct event *queue_advance(struct event_queue *q, ns_t limit)
{
    struct event *ev = window_first(q);

    while (!ev && q->levels) {
        unsigned level = (unsigned)__builtin_ctz(q->levels);

        if (!q->used[level]) {
            q->levels &= q->levels - 1;
            continue;
        }
        unsigned i = (unsigned)__builtin_ctzll(q->used[level]);
        struct event_link *slot = &q->slot[level][i];
        if (!queue_list_empty(slot)) {
            unsigned shift = level * QUEUE_BITS;
            uint64_t start = ((q->pos >> shift & ~(uint64_t)(QUEUE_SLOTS - 1)) | i) << shift;

            if (start > (uint64_t)limit)
                return NULL;
            q->pos = start;
            slot_enter(q, level, slot);
            ev = window_first(q);
        }
        q->used[level] &= ~((uint64_t)1 << i);
    }
    return ev && ev->time <= limit ? ev : NULL;
}
