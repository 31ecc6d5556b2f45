/* SPDX-License-Identifier: MIT */
/*
 * Guest load balancing: new-idle, periodic, nohz idle balance and the active balance of a lone
 * task. Source: Linux 6.12 fair.c: plain idleness counts, never the
 * preempted bit; a task that ran less than migration_cost ago is cache hot; an idle CPU is kicked
 * by the tick of a CPU with two runnable tasks, or with one whose capacity shrank by more than 17
 * %, or is less than its only task needs (misfit). CPUs that the policy calls not usable are outside
 * of the span: nothing is pulled from there, and nothing to there.
 */
#include "guest/core.h"

#define IMBALANCE_PCT 117
#define NICE_TRIES    1 /* cache_nice_tries of the last-level cache domain */

/* CPUs that balancing looks at. */
static int span(struct guest *k)
{
    int n = 0;

    if (!k->ops->usable)
        return k->ncpus;
    for (int c = 0; c < k->ncpus; c++)
        n += op_usable(k, c);
    return n;
}

/* Cache heat is respected until balancing failed more often than cache_nice_tries. */
static bool may_move(const struct task *t, const struct gcpu *to)
{
    const struct guest *k = to->guest;

    if (t->pin >= 0 && t->pin != to->id)
        return false;
    return to->failed > NICE_TRIES || know(k) - t->last_ran >= k->conf.migration_cost;
}

static struct task *movable(const struct gcpu *from, const struct gcpu *to)
{
    for (struct task *t = from->queued; t; t = t->qnext)
        if (may_move(t, to))
            return t;
    return NULL;
}

/* The CPU with the most runnable tasks among those that have one to give, or NULL. */
static struct gcpu *busiest(struct guest *k, const struct gcpu *to)
{
    const int words = (k->ncpus + 63) / 64;
    struct gcpu *best = NULL;

    for (int w = 0; w < words; w++)
        for (uint64_t m = k->overloaded[w]; m; m &= m - 1) {
            struct gcpu *c = &k->cpu[w * 64 + __builtin_ctzll(m)];

            if (c != to && (!best || c->nr_running > best->nr_running) && op_usable(k, c->id))
                best = c;
        }
    return best;
}

static bool pull(struct gcpu *g, bool newidle)
{
    struct guest *k = g->guest;
    struct gcpu *from;
    struct task *t;

    gcpu_overhead(g, k->costs->guest_balance * span(k));
    from = busiest(k, g);
    if (!from || from->nr_running - g->nr_running < 2) {
        g->failed = newidle ? g->failed : 0;
        return false;
    }
    t = movable(from, g);
    if (t && guest_migrate(k, t, g->id)) {
        g->failed = 0;
        return true;
    }
    if (!newidle)
        g->failed++;
    return false;
}

static bool policy_balances(struct gcpu *g, bool newidle, bool *moved)
{
    struct guest *k = g->guest;

    if (!k->ops->balance)
        return false;
    crash_enter(k->ops->head.name, "balance");
    *moved = k->ops->balance(k, g->id, newidle);
    crash_leave();
    return true;
}

bool guest_newidle(struct gcpu *g)
{
    struct guest *k = g->guest;
    bool moved;

    if (!k->conf.balance || k->nr_overloaded == 0)
        return false;
    if (policy_balances(g, true, &moved))
        return moved;
    if (!op_usable(k, g->id) || g->avg_idle < k->costs->guest_balance * span(k))
        return false;
    return pull(g, true);
}

static bool shrunk(struct guest *k, int cpu)
{
    return guest_capacity(k, cpu) * IMBALANCE_PCT < op_capacity(k, cpu) * 100;
}

/* A CPU of low capacity whose only task needs more than 80 % of it. */
static bool misfit(struct guest *k, const struct gcpu *c)
{
    return c->curr && c->curr->pin < 0 && op_capacity(k, c->id) < 1024 &&
           pelt_peek(&c->curr->util, know(k), 1024) * 1280 >
               (int64_t)guest_capacity(k, c->id) * 1024;
}

/* An idle CPU, the first one after `g`, or NULL. */
static struct gcpu *idle_helper(struct gcpu *g)
{
    struct guest *k = g->guest;

    for (int i = 1; i < k->ncpus; i++) {
        struct gcpu *c = &k->cpu[(g->id + i) % k->ncpus];

        if (!gcpu_has_work(c) && !c->curr && op_usable(k, c->id))
            return c;
    }
    return NULL;
}

static void kick_helper(struct gcpu *g)
{
    struct guest *k = g->guest;
    struct gcpu *c;

    if (know(k) < k->next_nohz || k->run_sum >= 2 * k->ncpus)
        return;
    if (g->nr_running < 2 && !(g->nr_running == 1 && (shrunk(k, g->id) || misfit(k, g))))
        return;
    if (!op_usable(k, g->id))
        return;
    k->next_nohz = know(k) + g->tick_period;
    c = idle_helper(g);
    if (!c)
        return;
    c->nohz_kick = true;
    k->hooks->notify(k->hook_arg, g, c);
}

void guest_periodic(struct gcpu *g)
{
    struct guest *k = g->guest;
    bool moved;

    const bool due = know(k) >= g->next_balance;

    if (!k->conf.balance || k->ncpus == 1) {
        if (due)
            g->next_balance = know(k) + g->balance_interval * 16;
        return;
    }
    kick_helper(g);
    if (!due)
        return;
    if (!policy_balances(g, false, &moved))
        moved = k->nr_overloaded > 0 && op_usable(k, g->id) && pull(g, false);
    if (moved)
        g->balance_interval = (ns_t)k->ncpus * NS_MS;
    else if (g->balance_interval < 2 * (ns_t)k->ncpus * NS_MS)
        g->balance_interval *= 2;
    g->next_balance = know(k) + g->balance_interval * (g->curr ? 16 : 1);
}

/* A lone task on a CPU that lost capacity moves to an idle one that has clearly more. */
static void active_balance(struct gcpu *g)
{
    struct guest *k = g->guest;
    const int64_t mine = guest_capacity(k, g->id);

    for (int i = 1; i < k->ncpus; i++) {
        struct gcpu *c = &k->cpu[(g->id + i) % k->ncpus];

        if (c->nr_running != 1 || !c->curr || c->push_to >= 0 || c->curr->pin >= 0 ||
            !op_usable(k, c->id) || !(shrunk(k, c->id) || misfit(k, c)))
            continue;
        if (guest_capacity(k, c->id) * (int64_t)IMBALANCE_PCT >= mine * 100)
            continue;
        gcpu_push(c, g->id, false);
        k->hooks->notify(k->hook_arg, g, c);
        return;
    }
}

void guest_nohz_balance(struct gcpu *g)
{
    struct guest *k = g->guest;

    g->nohz_kick = false;
    if (g->nr_running == 0 && op_usable(k, g->id) && !pull(g, false))
        active_balance(g);
}

void guest_evict_tick(struct gcpu *g)
{
    struct guest *k = g->guest;
    int to;

    if (!k->ops->evict || g->push_to >= 0)
        return;
    to = op_evict(k, g->id, g->curr);
    if (to >= 0 && to != g->id && guest_allowed(g->curr, to))
        gcpu_push(g, to, true);
}

/* From the current task to the stopper and from it to the next or to idle. Where one is queued the
 * second switch is priced when that runs. */
static void evict(struct gcpu *g, int to)
{
    struct guest *k = g->guest;

    gcpu_overhead(g, k->costs->guest_switch * (g->nr_running > 1 ? 1 : 2));
    runq_push_current(g, to);
    guest_count(k, "guest_evicted");
}

/* The stopper's work. An active balance gives up when the CPU that asked is no longer idle, or the
 * task holds a lock. */
void guest_push_current(struct gcpu *g)
{
    struct guest *k = g->guest;
    const int to = g->push_to;
    struct task *t = g->curr;

    g->push_to = -1;
    if (t && g->evicts) {
        evict(g, to);
        return;
    }
    if (!t || g->nr_running != 1 || k->cpu[to].nr_running > 0 || t->locks_held)
        return;
    runq_push_current(g, to);
    guest_count(k, "guest_active_balance");
}

bool guest_migrate(struct guest *k, struct task *t, int to)
{
    struct gcpu *from = task_gcpu(t), *c = &k->cpu[to];

    if (t->state != TASK_QUEUED || !guest_allowed(t, to) || from == c)
        return false;
    runq_remove(from, t);
    k->st.migrations++;
    t->refill = true;
    runq_add(c, t, GUEST_MIGRATE);
    gcpu_update_busy(from);
    if (!c->curr || (c->tick_stopped && k->conf.hz > 0 && c->nr_running > 1)) {
        c->need_resched = c->need_resched || !c->curr;
        if (!c->in_step) {
            gcpu_update_busy(c);
            k->hooks->notify(k->hook_arg, from->in_step ? from : NULL, c);
        }
    }
    return true;
}
