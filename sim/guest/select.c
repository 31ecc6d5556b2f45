/* SPDX-License-Identifier: MIT */
/*
 * Wake-up placement as stock Linux does it (6.12 fair.c): wake_affine, then the order of
 * select_idle_sibling. What counts as an idle CPU is the caller's: that is where `bare` and
 * `preempted-bit` differ.
 */
#include "guest/core.h"

typedef bool avail_fn(struct guest *k, int cpu);

void guest_llc(const struct guest *k, int cpu, int *first, int *end)
{
    *first = cpu / k->llc * k->llc;
    *end = *first + k->llc < k->ncpus ? *first + k->llc : k->ncpus;
}

static bool share_cache(const struct guest *k, int a, int b)
{
    return a / k->llc == b / k->llc;
}

/* Many different wakees on either side: do not pull them together. */
static bool wake_wide(const struct guest *k, const struct task *waker, const struct task *t)
{
    uint32_t master = waker->wakee_flips, slave = t->wakee_flips;

    if (master < slave) {
        const uint32_t swap = master;

        master = slave;
        slave = swap;
    }
    return slave >= (uint32_t)k->llc && master >= slave * (uint32_t)k->llc;
}

static int affine_weight(struct guest *k, struct task *t, int prev, int waker, unsigned flags)
{
    int64_t here = guest_load(k, waker), there;
    const int64_t load = pelt_value(&t->util);

    if ((flags & SELECT_SYNC) && k->cpu[waker].curr) {
        const int64_t curr = pelt_peek(&k->cpu[waker].curr->util, know(k), 1024);

        if (curr > here)
            return waker;
        here -= curr;
    }
    here = (here + load) * 100 * guest_capacity(k, prev);
    there = guest_load(k, prev) - load;
    there = (there > 0 ? there : 0) * (100 + (117 - 100) / 2) * guest_capacity(k, waker);
    return here < there ? waker : prev;
}

static int wake_affine(struct guest *k, struct task *t, int prev, int waker, unsigned flags,
                       avail_fn *avail)
{
    if (avail(k, waker) && share_cache(k, waker, prev))
        return avail(k, prev) ? prev : waker;
    if ((flags & SELECT_SYNC) && k->cpu[waker].nr_running == 1)
        return waker;
    if (avail(k, prev))
        return prev;
    return affine_weight(k, t, prev, waker, flags);
}

static int scan_idle(struct guest *k, const struct task *t, int target, avail_fn *avail)
{
    int first, end, nr = guest_scan_limit(k, target);

    if (nr == 0)
        return -1;
    guest_llc(k, target, &first, &end);
    for (int i = 1; i < end - first && nr >= 0; i++, nr--) {
        const int c = first + (target - first + i) % (end - first);

        if (guest_allowed(t, c) && avail(k, c))
            return c;
    }
    return -1;
}

/* The CPU with the fewest runnable tasks, the nearest after prev among equals. */
static int idlest(struct guest *k, const struct task *t, int prev)
{
    int best = -1, best_nr = 0;

    for (int i = 0; i < k->ncpus; i++) {
        const int c = (prev + i) % k->ncpus;
        int nr;

        if (!guest_allowed(t, c))
            continue;
        nr = guest_nr_running(k, c);
        if (best < 0 || nr < best_nr) {
            best = c;
            best_nr = nr;
        }
        if (nr == 0)
            break;
    }
    return best;
}

int guest_select_sibling(struct guest *k, struct task *t, int prev, int waker, unsigned flags,
                         avail_fn *avail)
{
    const struct task *w = k->cpu[waker].curr;
    int target = prev, c;

    if (!avail)
        avail = guest_idle_cpu;
    if (flags & SELECT_FORK)
        return idlest(k, t, prev);
    if (waker != prev && guest_allowed(t, waker) &&
        ((flags & SELECT_IRQ) || !w || !wake_wide(k, w, t)))
        target = wake_affine(k, t, prev, waker, flags, avail);
    if (avail(k, target))
        return target;
    if (prev != target && share_cache(k, prev, target) && avail(k, prev))
        return prev;
    c = t->recent;
    t->recent = prev;
    if (c >= 0 && c != prev && c != target && share_cache(k, c, target) && guest_allowed(t, c) &&
        avail(k, c))
        return c;
    c = scan_idle(k, t, target, avail);
    return c >= 0 ? c : target;
}
