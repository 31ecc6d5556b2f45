/* SPDX-License-Identifier: MIT */
/*
 * What a guest tells its host through its rows of the channel (guest.hints).
 *
 * Always true: a row is a store into a page that both share: no exit, `hint_write` as overhead of the
 * CPU that stores. Only a CPU that executes writes, and what it writes describes itself: a lock that
 * is handed to a waiter whose vCPU is off its pCPU shows once that vCPU runs again. Changes within one
 * step (no time between them) are one write.
 * Source: eCS (ATC'18), pvsched (v3, 2026): critical sections on a page per vCPU.
 */
#include "guest/core.h"

#define LIARS_TAG 1

static enum need need_of(const struct gcpu *g)
{
    const struct task *w = g->wakes.head;

    if (g->curr && g->curr->locks_held > 0)
        return NEED_LOCK;
    if (g->irq_head || (w && (w->wake_flags & SELECT_IRQ)))
        return NEED_IRQ;
    return NEED_NONE;
}

/* An idle CPU keeps the tag of the task it ran last. */
static struct guest_row describe(const struct gcpu *g)
{
    struct guest_row row = {.nr_runnable = g->nr_running,
                            .idle = g->nr_running == 0,
                            .need = need_of(g),
                            .tag = g->curr ? g->curr->tag : g->said.tag};

    if (g->guest->conf.hints == HINTS_LIE) {
        row.need = NEED_LOCK;
        row.tag = LIARS_TAG;
    }
    return row;
}

static bool same(const struct guest_row *a, const struct guest_row *b)
{
    return a->nr_runnable == b->nr_runnable && a->need == b->need && a->idle == b->idle &&
           a->tag == b->tag;
}

/* The policy may have the last word. */
static void write_row(struct gcpu *g, struct guest_row row)
{
    struct guest *k = g->guest;

    row.stamp = know(k);
    if (k->ops->channel_fill) {
        crash_enter(k->ops->head.name, "channel_fill");
        k->ops->channel_fill(k, g->id, &row);
        crash_leave();
    }
    channel_write_guest(k->channel, g->id, &row);
}

static void hint(struct gcpu *g, const struct guest_row *row)
{
    g->said = *row;
    write_row(g, *row);
    gcpu_overhead(g, g->guest->costs->hint_write);
}

void hints_update(struct gcpu *g)
{
    struct guest_row row;

    if (g->guest->conf.hints == HINTS_OFF || !g->guest->channel || !g->on)
        return;
    row = describe(g);
    if (!same(&row, &g->said))
        hint(g, &row);
}

void hints_tick(struct gcpu *g)
{
    const struct guest *k = g->guest;
    struct guest_row row = {.nr_runnable = g->nr_running, .idle = g->nr_running == 0};

    if (!k->channel)
        return;
    if (k->conf.hints == HINTS_OFF) {
        write_row(g, row); /* part of the tick's price */
    } else if (k->ops->channel_fill) {
        row = describe(g);
        hint(g, &row);
    }
}
