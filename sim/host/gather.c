/* SPDX-License-Identifier: MIT */
/*
 * Gathering: vCPUs that their idle policy calls stable are packed on few pCPUs, the others get a
 * pCPU of their own while there are free ones. This is what the core does with idle_class when the
 * host policy leaves it to the core and `host.gather` is on (OSDI'26: mwait-sched).
 *
 * Always true: each vCPU has one home, and may use no other pCPU; at[p].homes counts the vCPUs at
 * home on p, at[p].gathered those of them that are stable; `free` has exactly the usable pCPUs that
 * are nobody's home; active vCPUs that share a home wait for a pCPU of their own, in order of their
 * requests (at the start: of their numbers). A home changes at once; a vCPU that runs elsewhere moves with the next decision of its pCPU.
 */
#include <stdlib.h>

#include "host/internal.h"
#include "host/ops.h"

struct gather {
    struct gather_pcpu {
        int homes, gathered;
    } * at;
    struct cpumask **single; /* [npcpus] */
    struct cpumask *free;
    struct vcpu *first, *last; /* who waits for a pCPU of its own */
};

void gather_free(struct host *h)
{
    struct gather *g = h->gather;

    if (!g)
        return;
    for (int i = 0; g->single && i < h->npcpus; i++)
        cpumask_free(g->single[i]);
    free(g->single);
    free(g->at);
    cpumask_free(g->free);
    free(g);
    h->gather = NULL;
}

/* Where v starts: the pCPU it may use that is home to the fewest, the next one after the last
 * vCPU's among equals. */
static int first_home(const struct gather *g, const struct vcpu *v, int after)
{
    int p = cpumask_next(v->allowed, after + 1), best;

    p = p >= 0 ? p : cpumask_next(v->allowed, 0);
    best = p;
    for (int i = 0; i < v->allowed->count; i++) {
        if (g->at[p].homes < g->at[best].homes)
            best = p;
        p = cpumask_next(v->allowed, p + 1);
        p = p >= 0 ? p : cpumask_next(v->allowed, 0);
    }
    return best;
}

static void wait_for_own(struct gather *g, struct vcpu *v)
{
    v->waits_own = true;
    if (g->last)
        g->last->next_waiting = v;
    else
        g->first = v;
    g->last = v;
}

bool gather_start(struct host *h)
{
    struct gather *g = calloc(1, sizeof(*g));
    int home = -1;

    h->gather = g;
    if (!g)
        return false;
    g->at = calloc((size_t)h->npcpus, sizeof(*g->at));
    g->single = calloc((size_t)h->npcpus, sizeof(struct cpumask *));
    g->free = cpumask_new(h->npcpus);
    if (!g->at || !g->single || !g->free)
        return false;
    for (int p = cpumask_next(h->usable, 0); p >= 0; p = cpumask_next(h->usable, p + 1)) {
        g->single[p] = cpumask_new(h->npcpus);
        if (!g->single[p])
            return false;
        cpumask_set(g->single[p], p);
        cpumask_set(g->free, p);
    }
    for (int i = 0; i < h->nvcpus; i++) {
        struct vcpu *v = h->vcpu[i];

        home = first_home(g, v, home);
        g->at[home].homes++;
        cpumask_clear(g->free, home);
        v->home = home;
        v->may = v->allowed;
        v->allowed = g->single[home];
    }
    for (int i = 0; i < h->nvcpus; i++)
        if (g->at[h->vcpu[i]->home].homes > 1)
            wait_for_own(g, h->vcpu[i]);
    return true;
}

int gather_homes(const struct host *h, int pcpu)
{
    return h->gather->at[pcpu].homes;
}

/* v follows its home: now when it does not run, else when its pCPU decides. */
static void follow(struct host *h, struct vcpu *v)
{
    if (v->pcpu == v->home || v->pcpu < 0)
        return;
    if (v->state == VCPU_READY) {
        host_migrate(h, v, v->home, ENQUEUE_MIGRATE);
    } else if (v->state == VCPU_RUNNING) {
        host_resched(h, &h->pcpu[v->pcpu], STOP_MIGRATE);
    } else {
        v->pcpu = v->home;
        HOOK(h, rehomed, v);
    }
}

static void rehome(struct host *h, struct vcpu *v, int to)
{
    struct gather *g = h->gather;
    const int from = v->home;

    if (from == to)
        return;
    g->at[from].homes--;
    g->at[from].gathered -= v->gathered;
    if (g->at[from].homes == 0)
        cpumask_set(g->free, from);
    g->at[to].homes++;
    g->at[to].gathered += v->gathered;
    cpumask_clear(g->free, to);
    v->home = to;
    v->allowed = g->single[to];
    follow(h, v);
}

static void stop_waiting(struct gather *g, struct vcpu *v)
{
    struct vcpu **at = &g->first, *before = NULL;

    v->asked = false;
    if (!v->waits_own)
        return;
    while (*at != v) {
        before = *at;
        at = &(*at)->next_waiting;
    }
    *at = v->next_waiting;
    if (g->last == v)
        g->last = before;
    v->next_waiting = NULL;
    v->waits_own = false;
}

/* The free pCPU nearest to v's home, -1 without. */
static int free_pcpu(const struct host *h, const struct vcpu *v)
{
    const struct gather *g = h->gather;

    for (int level = LEVEL_CORE; level <= LEVEL_MACHINE; level++) {
        const int unit = h->topo->of[level][v->home];
        const int to = topology_find(h->topo, (enum level)level, unit, g->free, v->may, v->home);

        if (to >= 0)
            return to;
    }
    return -1;
}

static void split_off(struct host *h, struct vcpu *v, int to)
{
    v->splits += v->asked;
    stop_waiting(h->gather, v);
    rehome(h, v, to);
}

/* pCPUs that became free go to those who wait for one, first come, first served; who has been left
 * alone has one. */
static void serve_waiting(struct host *h)
{
    struct gather *g = h->gather;
    struct vcpu *next;

    for (struct vcpu *v = g->first; v; v = next) {
        int to = v->home;

        next = v->next_waiting;
        if (g->at[v->home].homes > 1)
            to = free_pcpu(h, v);
        if (to >= 0)
            split_off(h, v, to);
    }
}

/* Where to pack v: its own home when only stable ones are there; else the fullest pCPU below the limit
 * that has stable vCPUs only; else, when it is not alone, a free pCPU. */
static int gather_to(const struct host *h, const struct vcpu *v)
{
    const struct gather *g = h->gather;
    const struct gather_pcpu *own = &g->at[v->home];
    int best = -1;

    if (own->homes > 1 && own->gathered == own->homes - 1 && own->homes <= h->conf.gather_limit)
        return v->home;
    for (int p = cpumask_next(v->may, 0); p >= 0; p = cpumask_next(v->may, p + 1)) {
        const struct gather_pcpu *at = &g->at[p];

        if (p == v->home || at->gathered == 0 || at->gathered < at->homes ||
            at->homes >= h->conf.gather_limit)
            continue;
        if (best < 0 || at->homes > g->at[best].homes)
            best = p;
    }
    if (best >= 0)
        return best;
    best = own->homes > 1 ? free_pcpu(h, v) : -1;
    return best >= 0 ? best : v->home;
}

static void gather(struct host *h, struct vcpu *v)
{
    const int to = gather_to(h, v);

    stop_waiting(h->gather, v);
    v->gathered = true;
    v->gathered_since = v->gathered_at = h->engine->now;
    v->gathers++;
    h->gather->at[v->home].gathered++;
    rehome(h, v, to);
    serve_waiting(h);
}

static void split(struct host *h, struct vcpu *v)
{
    struct gather *g = h->gather;
    const ns_t now = h->engine->now;
    int to;

    if (now - v->gathered_at < h->conf.gather_undone)
        v->undone++;
    v->gathered_time += now - v->gathered_since;
    v->gathered = false;
    g->at[v->home].gathered--;
    if (g->at[v->home].homes < 2)
        return;
    v->asked = true;
    to = free_pcpu(h, v);
    if (to >= 0) {
        split_off(h, v, to);
        return;
    }
    v->refused++;
    HOOK(h, count, "host_split_refused");
    wait_for_own(g, v);
}

void gather_class(struct host *h, struct vcpu *v, bool stable)
{
    if (stable == v->gathered)
        return;
    if (stable)
        gather(h, v);
    else
        split(h, v);
}

ns_t gather_time(const struct vcpu *v, ns_t now)
{
    return v->gathered_time + (v->gathered ? now - v->gathered_since : 0);
}

void gather_reset(struct vcpu *v, ns_t now)
{
    v->gathered_since = now;
    v->gathered_time = 0;
    v->gathers = v->splits = v->refused = v->undone = 0;
}
