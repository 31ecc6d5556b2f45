/* SPDX-License-Identifier: MIT */
/*
 * How much moves, and what: the busiest group of a domain, the imbalance towards it, the busiest
 * pCPU in it and its vCPUs, as Linux does it (6.12 fair.c). Loads are counts of vCPUs per
 * usable pCPU: weights do not count here, and a vCPU that wants its pCPU is taken to want all of
 * it.
 */
#include "host/pull.h"

#include "host/domain.h"
#include "host/ops.h"

#define ONE          1024 /* a vCPU in the unit of loads and imbalances */
#define SCAN_MAX     32   /* vCPUs looked at on one pCPU */
#define TRIES_MAX    4    /* pCPUs tried when vCPUs there may not come */
#define PINNED_LIMIT (512 * NS_MS)

enum group_type { HAS_SPARE, FULLY_BUSY, OVERLOADED };

struct pass {
    struct host *h;
    struct pcpu *dst;
    int depth;
    enum lb_kind kind;
    const struct lb_level *domain, *groups;
    const struct lb_unit *local, *busiest, *all;
    int busiest_unit;
    struct host_lb *state;
    int64_t imbalance;
    int tried[TRIES_MAX], ntried;
    bool all_pinned;
};

static enum group_type type_of(const struct lb_unit *u, int pct)
{
    const int busy = u->cap - u->idle;

    if (u->nr > u->cap && busy * pct > u->cap * 100)
        return OVERLOADED;
    if (u->nr < u->cap || busy * pct < u->cap * 100)
        return HAS_SPARE;
    return FULLY_BUSY;
}

static bool busier(const struct lb_unit *a, const struct lb_unit *b, int pct)
{
    const enum group_type ta = type_of(a, pct), tb = type_of(b, pct);

    if (ta != tb)
        return ta > tb;
    if (ta == HAS_SPARE)
        return a->idle < b->idle || (a->idle == b->idle && a->nr > b->nr);
    return (int64_t)a->nr * b->cap > (int64_t)b->nr * a->cap;
}

static int64_t load_of(const struct lb_unit *u)
{
    return (int64_t)u->nr * ONE / u->cap;
}

/* Among equals the next one after the local group, so that pulls spread. */
static bool find_busiest(struct pass *x)
{
    const int unit = lb_unit_of(x->h, x->depth, x->dst->id);
    const int local = lb_unit_of(x->h, x->depth - 1, x->dst->id);
    const int first = lb_child(x->domain, unit, 0);
    const int at = (local - first) / x->domain->stride;

    x->all = &x->domain->unit[unit];
    x->local = &x->groups->unit[local];
    if (x->kind == LB_NEWIDLE && x->all->pull == x->local->pull)
        return false; /* nothing outside the local group may be pulled */
    for (int i = 1; i < x->domain->fan; i++) {
        const int c = lb_child(x->domain, unit, (at + i) % x->domain->fan);
        const struct lb_unit *u = &x->groups->unit[c];

        if (u->cap == 0 || u->nr == 0 || (x->kind == LB_NEWIDLE && u->pull == 0))
            continue;
        if (!x->busiest || busier(u, x->busiest, x->domain->imbalance_pct)) {
            x->busiest = u;
            x->busiest_unit = c;
        }
    }
    return x->busiest != NULL;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Both sides are full: bring both nearer to the mean. */
static int64_t toward_mean(const struct pass *x, enum group_type local)
{
    const int64_t busiest = load_of(x->busiest), mine = load_of(x->local), mean = load_of(x->all);

    if (mine >= busiest || mine >= mean)
        return 0;
    if (local == OVERLOADED && 100 * busiest <= x->domain->imbalance_pct * mine)
        return 0;
    return min64((busiest - mean) * x->busiest->cap, (mean - mine) * x->local->cap);
}

/* In 1/1024 vCPUs; 0 = balanced. */
static int64_t imbalance(const struct pass *x)
{
    const struct lb_unit *l = x->local, *b = x->busiest;
    const enum group_type tl = type_of(l, x->domain->imbalance_pct);
    const enum group_type tb = type_of(b, x->domain->imbalance_pct);
    const bool spread = x->domain->prefer_sibling && tl == HAS_SPARE && b->nr > l->nr + 1;

    if (tl > tb)
        return 0;
    if (tb == OVERLOADED) {
        int64_t room;

        if (tl != HAS_SPARE)
            return toward_mean(x, tl);
        room = min64(b->nr - b->cap, l->cap - l->nr);
        return ONE * (room > 1 ? room : 1);
    }
    if (tl != HAS_SPARE)
        return 0;
    if (!spread && (x->kind == LB_BUSY || b->nr == 1 || (b->cap > 1 && l->idle <= b->idle + 1)))
        return 0;
    if (b->cap == 1 || x->domain->prefer_sibling)
        return (int64_t)(b->nr - l->nr) / 2 * ONE;
    return (int64_t)(l->idle - b->idle) / 2 * ONE;
}

static bool was_tried(const struct pass *x, int pcpu)
{
    for (int i = 0; i < x->ntried; i++)
        if (x->tried[i] == pcpu)
            return true;
    return false;
}

/* The busiest pCPU of the busiest group, going down the tree; prefers those with something to pull.
 */
static int busiest_pcpu(const struct pass *x)
{
    int unit = x->busiest_unit;

    for (int depth = x->depth - 1; depth > 0; depth--) {
        const struct lb_level *l = &x->h->lb->at[depth];
        const struct lb_unit *units = x->h->lb->at[depth - 1].unit;
        int best = -1;

        for (int i = 0; i < l->fan; i++) {
            const int c = lb_child(l, unit, i);
            const struct lb_unit *u = &units[c];

            if (u->nr == 0 || (depth == 1 && was_tried(x, c)))
                continue;
            if (best < 0 || (u->pull > 0) > (units[best].pull > 0) ||
                ((u->pull > 0) == (units[best].pull > 0) &&
                 (int64_t)u->nr * units[best].cap > (int64_t)units[best].nr * u->cap))
                best = c;
        }
        if (best < 0)
            return -1;
        unit = best;
    }
    return was_tried(x, unit) ? -1 : unit;
}

static bool cache_hot(const struct pass *x, const struct vcpu *v)
{
    /* Threads of a core share everything. */
    return x->domain->level != LEVEL_CORE && v->last_pcpu >= 0 &&
           x->h->engine->now - v->last_ran < x->h->conf.migration_cost &&
           x->state->failed <= x->domain->cache_nice_tries;
}

/* By its mask, and as far as the policy is concerned. */
static bool may_come(const struct pass *x, struct vcpu *v)
{
    return vcpu_may_use(v, x->dst->id) && ops_admits(x->h->policy, x->dst, v);
}

static int pull_from(struct pass *x, struct pcpu *src)
{
    const int tolerance = x->state->failed < 10 ? x->state->failed : 10;
    struct runq_node *next;
    int moved = 0, seen = 0;

    if (src->curr && may_come(x, src->curr))
        x->all_pinned = false;
    for (struct runq_node *n = src->ready.first; n && seen < SCAN_MAX; n = next, seen++) {
        struct vcpu *v = n->vcpu;

        next = n->next;
        if (x->imbalance < ONE >> tolerance || x->imbalance <= 0 || pcpu_load(src) < 2)
            break;
        if (!may_come(x, v))
            continue;
        x->all_pinned = false;
        if (cache_hot(x, v))
            continue;
        if (host_migrate(x->h, v, x->dst->id, ENQUEUE_MIGRATE)) {
            moved++;
            x->imbalance -= ONE;
        }
        if (x->kind == LB_NEWIDLE)
            break;
    }
    return moved;
}

static void longer_interval(struct pass *x, ns_t limit)
{
    if (x->kind != LB_NEWIDLE && x->state->interval < limit)
        x->state->interval = 2 * x->state->interval < limit ? 2 * x->state->interval : limit;
}

/* Nothing READY came, time and again: take what runs there. */
static void push_running(struct pass *x, struct pcpu *src)
{
    if (pcpu_load(x->dst) > 0 || !src->curr || src->deciding || !may_come(x, src->curr))
        return;
    x->state->failed = 0;
    x->h->active_pulls++;
    vcpu_push(x->h, src, x->dst);
}

static void pulled_nothing(struct pass *x)
{
    if (x->kind == LB_NEWIDLE)
        return;
    if (x->all_pinned) {
        x->state->failed = 0;
        longer_interval(x, PINNED_LIMIT);
        return;
    }
    x->state->interval = x->domain->min_interval;
    x->state->failed++;
    if (x->state->failed > x->domain->cache_nice_tries + 2 && x->ntried > 0)
        push_running(x, &x->h->pcpu[x->tried[0]]);
}

int lb_pull(struct host *h, struct pcpu *dst, int depth, enum lb_kind kind)
{
    struct pass x = {.h = h,
                     .dst = dst,
                     .depth = depth,
                     .kind = kind,
                     .domain = &h->lb->at[depth],
                     .groups = &h->lb->at[depth - 1],
                     .state = &dst->lb[depth - 1],
                     .all_pinned = true};
    int moved = 0;

    if (!find_busiest(&x) || (x.imbalance = imbalance(&x)) <= 0) {
        if (kind != LB_NEWIDLE)
            x.state->failed = 0;
        longer_interval(&x, x.domain->max_interval);
        return 0;
    }
    while (moved == 0 && x.all_pinned && x.ntried < TRIES_MAX) {
        const int src = busiest_pcpu(&x);

        if (src < 0)
            break;
        x.tried[x.ntried++] = src;
        moved = pull_from(&x, &h->pcpu[src]);
    }
    if (moved == 0) {
        pulled_nothing(&x);
    } else {
        x.state->failed = 0;
        x.state->interval = x.domain->min_interval;
    }
    return moved;
}
