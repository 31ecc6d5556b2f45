/* SPDX-License-Identifier: MIT */
/*
 * Tells vCPUs that idle long and evenly (stable: may be packed on a shared pCPU) from all others
 * (active), by the idle episodes that the host has seen.
 *
 * Active becomes stable when the last `window` episodes are long on average and vary little, or when
 * one episode that is not over yet is as long as a window of long ones: a guest that never wakes ends
 * no episode. Stable becomes active at the first short episode, or at the first wake with work; it
 * then starts with an empty window.
 *
 * Always true: an episode takes one place in the window, also while it goes on; one of which the
 * host missed a part counts only when what it saw is long already, because its length is not known
 * else. A split waits for nothing; a gathering comes no sooner than `dwell` after the split.
 */
#ifndef SIM_CHANNEL_IDLE_CLASSIFY_H
#define SIM_CHANNEL_IDLE_CLASSIFY_H

#include "engine/engine.h"

#define IDLE_CLASSIFY_WINDOW_MAX 64
/* Longer episodes count as this long (18 minutes), so that the sums below stay exact. */
#define IDLE_CLASSIFY_LENGTH_MAX ((ns_t)1 << 40)
#define IDLE_CLASSIFY_SPREAD_MAX 1000

enum idle_split { IDLE_SPLIT_TRANSIENT, IDLE_SPLIT_ACTIVITY };

struct idle_classify_rule {
    int64_t window; /* episodes, 1 .. IDLE_CLASSIFY_WINDOW_MAX */
    ns_t long_mean; /* mean from which a window is long */
    ns_t short_end; /* an episode below this is a transient */
    int64_t spread; /* largest coefficient of variation, in percent */
    ns_t dwell;
    int split_on; /* enum idle_split */
};

/* All zero at the start: active, nothing seen. */
struct idle_classify {
    ns_t length[IDLE_CLASSIFY_WINDOW_MAX]; /* a ring; the newest is at `newest` */
    ns_t sum;
    int64_t n, newest;
    bool running; /* the newest is not over yet */
    bool stable;
    bool has_split;
    ns_t split_at;
};

__extension__ typedef unsigned __int128 idle_classify_wide;

/* Mean and variance are compared multiplied by n and n squared: exact, without a division. */
static inline bool idle_classify_window_stable(const struct idle_classify *c,
                                               const struct idle_classify_rule *r)
{
    const idle_classify_wide n = (idle_classify_wide)c->n;
    const idle_classify_wide square = (idle_classify_wide)c->sum * (idle_classify_wide)c->sum;
    const idle_classify_wide spread = (idle_classify_wide)r->spread;
    idle_classify_wide squares = 0;

    if (c->n < r->window || c->sum < r->long_mean * r->window)
        return false;
    for (int64_t i = 0; i < c->n; i++)
        squares += (idle_classify_wide)c->length[i] * (idle_classify_wide)c->length[i];
    return (n * squares - square) * 100 * 100 <= spread * spread * square;
}

static inline void idle_classify_add(struct idle_classify *c, const struct idle_classify_rule *r,
                                     ns_t length)
{
    if (length > IDLE_CLASSIFY_LENGTH_MAX)
        length = IDLE_CLASSIFY_LENGTH_MAX;
    if (!c->running) {
        c->newest = (c->newest + 1) % r->window;
        if (c->n < r->window)
            c->n++;
        else
            c->sum -= c->length[c->newest];
        c->running = true;
    } else {
        c->sum -= c->length[c->newest];
    }
    c->length[c->newest] = length;
    c->sum += length;
}

/* `suffices`: the newest episode makes it stable whatever else is in the window. */
static inline void idle_classify_gather(struct idle_classify *c, const struct idle_classify_rule *r,
                                        ns_t now, bool suffices)
{
    if (c->stable || (c->has_split && now - c->split_at < r->dwell))
        return;
    c->stable = suffices || idle_classify_window_stable(c, r);
}

static inline void idle_classify_split(struct idle_classify *c, ns_t now)
{
    *c = (struct idle_classify){.has_split = true, .split_at = now};
}

/* The vCPU is idle and the host has seen it so for `seen`, 0 = just now. */
static inline void idle_classify_idle(struct idle_classify *c, const struct idle_classify_rule *r,
                                      ns_t seen, ns_t now)
{
    if (seen >= r->long_mean)
        idle_classify_add(c, r, seen);
    idle_classify_gather(c, r, now, seen >= r->long_mean * r->window);
}

/* The host sees the vCPU no longer, though it may go on idling. */
static inline void idle_classify_lost(struct idle_classify *c)
{
    c->running = false;
}

/* A wake gave the vCPU work at `now`. `whole`: the host saw the episode from its start. */
static inline void idle_classify_wake(struct idle_classify *c, const struct idle_classify_rule *r,
                                      ns_t seen, bool whole, ns_t now)
{
    const bool activity = r->split_on == IDLE_SPLIT_ACTIVITY;

    if (whole || seen >= r->long_mean)
        idle_classify_add(c, r, seen);
    c->running = false;
    if (c->stable && (activity || (whole && seen < r->short_end)))
        idle_classify_split(c, now);
    else if (!activity) /* under `activity` nobody is gathered at the moment of a wake */
        idle_classify_gather(c, r, now, seen >= r->long_mean * r->window);
}

#endif
