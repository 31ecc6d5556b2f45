/* SPDX-License-Identifier: MIT */
/*
 * Credit2, Xen's default scheduler. vCPUs share a run queue per socket, ordered by credit. Running
 * burns credit, the slower the larger the weight; whoever is picked with none left has everybody of
 * that queue given another round of credit. The picked one runs until its credit is used up or equals
 * the next waiter's, within bounds. Whoever comes is told to a pCPU (a "tickle"): an idle one, else
 * the running vCPU that it surpasses most, if any. A vCPU changes its pCPU only for a lead.
 *
 * The core's queues are per pCPU: a READY vCPU is queued on the pCPU that was tickled for it, its
 * place in the order is in the policy's shared list. A pCPU that picks looks there, and brings what
 * it takes over by host_migrate. So an idle pCPU and a waiting vCPU that may use it exist together
 * only until the end of the instant. The host's `scope` has no meaning here.
 *
 * Between run queues: a pCPU without work takes a waiter from the queue with the most runnable
 * vCPUs, a busy one does when that has at least two more. Xen compares decaying averages, with a
 * tolerance of 2^0 below and 2^-3 above full load; of whole counts both mean that a move improves.
 * Left out: soft affinity, caps, the preference for wholly idle cores, directed yields.
 *
 * Memory: a run queue is kept with the pCPU that has the number of its first core.
 */
#include "host/host_ops.h"
#include "host/runq.h"

#define BALANCE_EVERY (4 * NS_MS) /* of a run queue, assumed: once a tick of 250 Hz */

struct credit2_params {
    ns_t credit, min_slice, max_slice, ratelimit, resist;
    int64_t max_pcpus;
};

static const struct param credit2_params[] = {
    {"credit", PARAM_NS, offsetof(struct credit2_params, credit), "10ms", NS_US, 10 * NS_SEC, NULL,
     "what a reset gives, and the most a vCPU may have",
     "Xen common/sched/credit2.c; the upper limit is assumed"},
    {"min-slice", PARAM_NS, offsetof(struct credit2_params, min_slice), "500us", NS_US, 10 * NS_SEC,
     NULL, "shortest slice", "Xen common/sched/credit2.c"},
    {"max-slice", PARAM_NS, offsetof(struct credit2_params, max_slice), "10ms", NS_US, 10 * NS_SEC,
     NULL, "longest slice", "Xen common/sched/credit2.c"},
    {"ratelimit", PARAM_NS, offsetof(struct credit2_params, ratelimit), "1ms", 0, 10 * NS_SEC, NULL,
     "how long a vCPU runs before another may take its pCPU", "Xen common/sched/credit2.c"},
    {"migrate-resist", PARAM_NS, offsetof(struct credit2_params, resist), "500us", 0, 10 * NS_SEC,
     NULL, "lead in credit with which a vCPU changes its pCPU", "Xen common/sched/credit2.c"},
    {"max-pcpus", PARAM_INT, offsetof(struct credit2_params, max_pcpus), "16", 1, 1 << 20, NULL,
     "larger sockets have several run queues of at most this many pCPUs, in whole cores",
     "Xen credit2 has such a cap; the value is assumed"},
    PARAM_END};

struct credit2_queue {
    struct runq waiting; /* most credit first, among equals who came first */
    struct runq members; /* all vCPUs that belong here, BLOCKED ones too */
    int lo, hi;          /* its cores */
    int nr_waiting, nr;  /* those of them that wait; that want to run */
    int nr_members, nr_heaviest;
    ns_t balanced;       /* when a busy pCPU of it looked at the others */
    uint32_t max_weight; /* of the members, nr_heaviest of which have it */
};

struct credit2_cpu {
    struct credit2_queue queue; /* the one that begins with the core of this number */
    int first;                  /* number of the pCPU's own queue */
};

struct credit2_unit {
    struct runq_node wait, member;
    struct vcpu *v;
    struct credit2_queue *queue; /* NULL before the first wake */
    int64_t credit;              /* ns at the largest weight of the queue */
    int64_t rest;                /* burnt, in 1/weight credits, and not yet subtracted */
    ns_t charged;                /* up to when, if it runs */
    bool running, yields;
};

static struct credit2_unit *unit_of(const struct vcpu *v)
{
    return hyp_vcpu(v);
}

static struct credit2_queue *queue_at(const struct hyp *h, int first)
{
    return &((struct credit2_cpu *)hyp_pcpu(&h->host->pcpu[first]))->queue;
}

static struct credit2_queue *queue_of(const struct hyp *h, const struct pcpu *p)
{
    return queue_at(h, ((const struct credit2_cpu *)hyp_pcpu(p))->first);
}

static const char *credit2_check(const void *params, int ncstates)
{
    const struct credit2_params *c = params;

    (void)ncstates;

    return c->min_slice > c->max_slice ? "min-slice is longer than max-slice" : NULL;
}

/* -- run queues and their members -- */

static int credit2_init(struct hyp *h)
{
    const struct credit2_params *params = h->params;
    const struct topology *t = h->host->topo;
    const int ncores = t->count[LEVEL_CORE], threads = h->host->npcpus / ncores;
    const int socket = t->cores_in[LEVEL_SOCKET];
    const int64_t cap = params->max_pcpus / threads;
    const int width = cap < 1 ? 1 : cap < socket ? (int)cap : socket;

    for (int p = 0; p < h->host->npcpus; p++) {
        struct credit2_cpu *c = hyp_pcpu(&h->host->pcpu[p]);
        const int core = p % ncores, begin = core / socket * socket;

        c->first = begin + (core - begin) / width * width;
        c->queue.lo = core;
        c->queue.hi = core + width < begin + socket ? core + width : begin + socket;
    }
    return 0;
}

static void credit2_vcpu_init(struct hyp *h, struct vcpu *v)
{
    const struct credit2_params *params = h->params;
    struct credit2_unit *u = unit_of(v);

    u->v = u->wait.vcpu = u->member.vcpu = v;
    u->credit = params->credit;
}

static void count_heaviest(struct credit2_queue *q, uint32_t weight)
{
    if (weight > q->max_weight) {
        q->max_weight = weight;
        q->nr_heaviest = 0;
    }
    q->nr_heaviest += weight == q->max_weight;
}

static void leave(struct credit2_queue *q, struct credit2_unit *u)
{
    runq_remove(&q->members, &u->member);
    q->nr_members--;
    if (u->v->weight < q->max_weight || --q->nr_heaviest > 0)
        return;
    q->max_weight = 0;
    for (const struct runq_node *n = q->members.first; n; n = n->next)
        count_heaviest(q, n->vcpu->weight);
}

static void belong(struct credit2_queue *q, struct credit2_unit *u)
{
    if (u->queue == q)
        return;
    if (u->queue)
        leave(u->queue, u);
    u->queue = q;
    runq_push_tail(&q->members, &u->member);
    q->nr_members++;
    count_heaviest(q, u->v->weight);
}

static void charge(const struct hyp *h, struct credit2_unit *u)
{
    const ns_t now = hyp_now(h);
    int64_t burnt;

    if (!u->running)
        return;
    burnt = (now - u->charged) * u->queue->max_weight + u->rest;
    u->credit -= burnt / u->v->weight;
    u->rest = burnt % u->v->weight;
    u->charged = now;
}

/* One round of credit for everybody, or as many as bring the picked one, who has `least`, above
 * nothing. Keeps the order of the waiting ones. */
static void reset(const struct hyp *h, struct credit2_queue *q, int64_t least)
{
    const struct credit2_params *params = h->params;
    const int64_t given = params->credit * (1 - least / params->credit);

    for (const struct runq_node *n = q->members.first; n; n = n->next) {
        struct credit2_unit *u = unit_of(n->vcpu);

        charge(h, u);
        u->credit += given;
        if (u->credit > params->credit)
            u->credit = params->credit;
    }
}

static ns_t run_time(const struct hyp *h, const struct credit2_unit *u, bool ran)
{
    const struct credit2_params *params = h->params;
    const struct vcpu *next = runq_first(&u->queue->waiting);
    ns_t least = params->ratelimit - (ran ? hyp_now(h) - u->v->run_start : 0);
    int64_t credit = u->credit;
    ns_t time;

    if (least < params->min_slice)
        least = params->min_slice;
    if (next && unit_of(next)->credit > 0)
        credit -= unit_of(next)->credit;
    time = credit > 0 ? credit * u->v->weight / u->queue->max_weight : 0;
    if (time < least)
        return least;
    return time < params->max_slice ? time : params->max_slice;
}

/* -- who is told -- */

/* Next pCPU of q that v may use, from `from` on: lane by lane. -1: no more. */
static int next_in(const struct hyp *h, const struct credit2_queue *q, const struct cpumask *mask,
                   const struct vcpu *v, int from)
{
    const int ncores = h->host->topo->count[LEVEL_CORE];

    while (from < h->host->npcpus) {
        const int base = from / ncores * ncores;
        const int lo = base + q->lo > from ? base + q->lo : from;
        const int p = cpumask_next_and(mask, v->allowed, lo, base + q->hi);

        if (p >= 0)
            return p;
        from = base + ncores;
    }
    return -1;
}

/* An idle pCPU that nobody has told yet: where v ran last, else the next one. */
static int idle_for(const struct hyp *h, const struct credit2_queue *q, const struct vcpu *v)
{
    const struct cpumask *idle = h->host->idle;
    const int last = v->last_pcpu;
    int first = -1;

    if (last >= 0 && queue_of(h, &h->host->pcpu[last]) == q && cpumask_test(v->allowed, last) &&
        cpumask_test(idle, last) && !h->host->pcpu[last].need_resched)
        return last;
    for (int p = next_in(h, q, idle, v, 0); p >= 0; p = next_in(h, q, idle, v, p + 1)) {
        if (h->host->pcpu[p].need_resched)
            continue;
        if (p > last)
            return p;
        first = first < 0 ? p : first;
    }
    return first;
}

static bool moves_to(const struct credit2_unit *u, const struct pcpu *p)
{
    return u->v->last_pcpu >= 0 && u->v->last_pcpu != p->id;
}

static int64_t lead(const struct hyp *h, const struct credit2_unit *u, const struct pcpu *p)
{
    const struct credit2_params *params = h->params;

    charge(h, unit_of(p->curr));
    return u->credit - unit_of(p->curr)->credit - (moves_to(u, p) ? params->resist : 0);
}

/* The pCPU whose running vCPU u surpasses most, or -1. */
static int surpassed_by(const struct hyp *h, const struct credit2_queue *q,
                        const struct credit2_unit *u)
{
    int best = -1;
    int64_t most = 0;

    if (!h->host->conf.wakeup_preemption)
        return -1;
    for (int i = next_in(h, q, u->v->allowed, u->v, 0); i >= 0;
         i = next_in(h, q, u->v->allowed, u->v, i + 1)) {
        const struct pcpu *p = &h->host->pcpu[i];
        int64_t by;

        if (!p->curr || p->curr == u->v || p->need_resched || p->deciding)
            continue;
        by = lead(h, u, p);
        if (by > most) {
            most = by;
            best = i;
        }
    }
    return best;
}

static int load_of(const struct pcpu *p)
{
    return (p->curr ? 1 : 0) + p->nr_ready;
}

static int shortest(const struct hyp *h, const struct credit2_queue *q, const struct vcpu *v)
{
    int best = -1;

    for (int p = next_in(h, q, v->allowed, v, 0); p >= 0; p = next_in(h, q, v->allowed, v, p + 1))
        if (best < 0 || load_of(&h->host->pcpu[p]) < load_of(&h->host->pcpu[best]))
            best = p;
    return best;
}

/* For a vCPU that belongs nowhere yet: fewest that want to run, then fewest members, per pCPU. */
static struct credit2_queue *least_loaded(const struct hyp *h, const struct vcpu *v)
{
    struct credit2_queue *best = NULL;

    for (int first = 0; first < h->host->topo->count[LEVEL_CORE];) {
        struct credit2_queue *q = queue_at(h, first);

        first = q->hi;
        if (next_in(h, q, v->allowed, v, 0) < 0)
            continue;
        if (best) {
            const int64_t mine = q->hi - q->lo, other = best->hi - best->lo;
            const int64_t nr = q->nr * other - best->nr * mine;

            if (nr > 0 || (nr == 0 && q->nr_members * other >= best->nr_members * mine))
                continue;
        }
        best = q;
    }
    return best;
}

static int credit2_select(struct hyp *h, struct vcpu *v, int prev, enum wake_why why)
{
    struct credit2_unit *u = unit_of(v);
    struct credit2_queue *q = u->queue;
    int to;

    (void)why;
    if (v->allowed->count == 1)
        return cpumask_next(v->allowed, 0);
    if (!q || next_in(h, q, v->allowed, v, 0) < 0)
        q = least_loaded(h, v);
    to = idle_for(h, q, v);
    if (to < 0)
        to = surpassed_by(h, q, u);
    if (to >= 0)
        return to;
    if (prev >= 0 && cpumask_test(v->allowed, prev) && queue_of(h, &h->host->pcpu[prev]) == q)
        return prev;
    return shortest(h, q, v);
}

/* -- the ordering -- */

/* Whoever ran has little credit as a rule, and whoever slept has much. */
static void insert(struct credit2_queue *q, struct credit2_unit *u, bool from_tail)
{
    struct runq_node *after = NULL, *n;

    if (from_tail)
        for (after = q->waiting.last; after && unit_of(after->vcpu)->credit < u->credit;)
            after = after->prev;
    else
        for (n = q->waiting.first; n && unit_of(n->vcpu)->credit >= u->credit; n = n->next)
            after = n;
    if (!after) {
        runq_push_head(&q->waiting, &u->wait);
    } else if (!after->next) {
        runq_push_tail(&q->waiting, &u->wait);
    } else {
        u->wait.prev = after;
        u->wait.next = after->next;
        after->next->prev = &u->wait;
        after->next = &u->wait;
    }
    q->nr_waiting++;
}

static void take_out(struct credit2_unit *u)
{
    runq_remove(&u->queue->waiting, &u->wait);
    u->queue->nr_waiting--;
}

static void credit2_enqueue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why)
{
    belong(queue_of(h, p), unit_of(v));
    unit_of(v)->queue->nr += why != ENQUEUE_REQUEUE;
    insert(unit_of(v)->queue, unit_of(v), why == ENQUEUE_REQUEUE);
}

static void credit2_dequeue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum stop_why why)
{
    (void)h, (void)p, (void)why;
    take_out(unit_of(v));
    unit_of(v)->queue->nr--;
}

/* It waits for an idle pCPU that has been told of it and is about to decide. */
static bool left_for_another(const struct hyp *h, const struct credit2_unit *u,
                             const struct pcpu *p)
{
    const struct pcpu *other = &h->host->pcpu[u->v->pcpu];

    return other != p && !other->curr && other->need_resched;
}

static struct credit2_unit *choose(const struct hyp *h, const struct pcpu *p,
                                   const struct vcpu *prev)
{
    const struct credit2_params *params = h->params;
    struct credit2_unit *base = prev ? unit_of(prev) : NULL;

    if (base && !base->yields && hyp_now(h) - prev->run_start < params->ratelimit)
        return base;
    for (const struct runq_node *n = queue_of(h, p)->waiting.first; n; n = n->next) {
        struct credit2_unit *u = unit_of(n->vcpu);

        if (u == base || !cpumask_test(u->v->allowed, p->id) || left_for_another(h, u, p))
            continue;
        if (base && moves_to(u, p) && base->credit + params->resist > u->credit)
            continue;
        if (!base || base->yields || u->credit > base->credit)
            return u;
        break;
    }
    return base;
}

/* Waiters that pCPU-bound others keep away from p may fit an idle pCPU. There is none as a rule. */
static void tell_idle(const struct hyp *h, const struct credit2_queue *q)
{
    const struct cpumask *idle = h->host->idle;
    const struct runq_node *n = q->waiting.first;
    const int ncores = h->host->topo->count[LEVEL_CORE];
    bool any = false;

    for (int base = 0; n && base < h->host->npcpus; base += ncores)
        any |= cpumask_next_and(idle, idle, base + q->lo, base + q->hi) >= 0;
    for (; any && n; n = n->next) {
        const int to = idle_for(h, q, n->vcpu);

        if (to >= 0)
            host_resched(h->host, &h->host->pcpu[to], STOP_PREEMPT);
    }
}

static struct host_pick credit2_pick(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    struct credit2_queue *q = queue_of(h, p);
    struct credit2_unit *u = choose(h, p, prev);
    int to;

    if (prev)
        unit_of(prev)->yields = false;
    if (!u)
        return (struct host_pick){.vcpu = NULL, .slice = NS_NEVER};
    if (u->v->pcpu != p->id)
        (void)host_migrate(h->host, u->v, p->id, ENQUEUE_MIGRATE);
    take_out(u);
    if (u->credit <= 0)
        reset(h, q, u->credit);
    tell_idle(h, q);
    to = prev && u->v != prev ? surpassed_by(h, q, unit_of(prev)) : -1;
    if (to >= 0)
        host_resched(h->host, &h->host->pcpu[to], STOP_PREEMPT);
    return (struct host_pick){.vcpu = u->v, .slice = run_time(h, u, u->v == prev)};
}

/* Slices end although nobody waits: that is when credit is reset. */
static ns_t credit2_slice(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    (void)p;
    return curr->slice_len - (hyp_now(h) - curr->slice_from);
}

static bool credit2_tick(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    (void)p;
    return hyp_now(h) >= curr->slice_end;
}

static bool credit2_preempts(struct hyp *h, struct pcpu *p, struct vcpu *curr, struct vcpu *woken)
{
    (void)curr;
    return lead(h, unit_of(woken), p) > 0;
}

static void credit2_running(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    (void)p;
    unit_of(v)->running = true;
    unit_of(v)->charged = hyp_now(h);
}

static void credit2_stopping(struct hyp *h, struct pcpu *p, struct vcpu *v, struct host_ran ran,
                             enum stop_why why)
{
    struct credit2_unit *u = unit_of(v);

    (void)p, (void)ran;
    charge(h, u);
    u->running = false;
    if (why == STOP_BLOCK || why == STOP_MIGRATE) {
        u->yields = false;
        u->queue->nr--;
    }
}

static bool credit2_yield(struct hyp *h, struct vcpu *from, struct vcpu *to)
{
    (void)h, (void)to;
    unit_of(from)->yields = true;
    return false;
}

/* -- between run queues -- */

/* The queue with the most that want to run, of those others with at least that many. */
static const struct credit2_queue *busiest(const struct hyp *h, const struct credit2_queue *mine,
                                           int least)
{
    const struct credit2_queue *most = NULL;

    for (int first = 0; first < h->host->topo->count[LEVEL_CORE];) {
        const struct credit2_queue *q = queue_at(h, first);

        first = q->hi;
        if (q != mine && q->nr_waiting > 0 && q->nr >= least && (!most || q->nr > most->nr))
            most = q;
    }
    return most;
}

static void credit2_balance(struct hyp *h, struct pcpu *p, enum balance_why why)
{
    struct credit2_queue *mine = queue_of(h, p);
    const struct credit2_queue *from;
    const bool busy = load_of(p) > 0;

    (void)why;
    if (busy && mine->balanced > hyp_now(h) - BALANCE_EVERY)
        return;
    if (busy)
        mine->balanced = hyp_now(h);
    from = busiest(h, mine, busy ? mine->nr + 2 : 0);
    for (const struct runq_node *n = from ? from->waiting.first : NULL; n; n = n->next) {
        struct vcpu *v = n->vcpu;

        if (v->state == VCPU_READY && cpumask_test(v->allowed, p->id)) {
            (void)host_migrate(h->host, v, p->id, ENQUEUE_MIGRATE);
            return;
        }
    }
}

const struct host_ops host_policy_credit2 = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "credit2",
            .summary = "Xen's default: shared run queues ordered by credit",
            .params = credit2_params,
            .params_size = sizeof(struct credit2_params),
            .check = credit2_check,
            .cpu_size = sizeof(struct credit2_cpu),
            .unit_size = sizeof(struct credit2_unit),
        },
    .init = credit2_init,
    .vcpu_init = credit2_vcpu_init,
    .select = credit2_select,
    .enqueue = credit2_enqueue,
    .dequeue = credit2_dequeue,
    .pick = credit2_pick,
    .slice = credit2_slice,
    .tick = credit2_tick,
    .preempts = credit2_preempts,
    .running = credit2_running,
    .stopping = credit2_stopping,
    .yield = credit2_yield,
    .balance = credit2_balance,
};
