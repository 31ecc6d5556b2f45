/* SPDX-License-Identifier: MIT */
/*
 * What gang.c is made of: its state, and the strict mode. Only gang.c includes it.
 *
 * Always true: a seat is a pCPU for one vCPU, and a vCPU has at most one; nr_waiting counts the vCPUs
 * that want to run and have none; a VM of which a vCPU wants to run is in `turn` or in `seated`; the
 * end of the round is armed exactly when somebody waits.
 */
#ifndef MODELS_HOST_GANG_STRICT_H
#define MODELS_HOST_GANG_STRICT_H

#include "host/fair_order.h"
#include "host/heap.h"
#include "host/runq.h"

#define LOOK 32 /* VMs looked at when seats come free within a round: as many as the core's pulls */

enum gang_mode { STRICT, RELAXED };

struct gang_params {
    struct fair_conf fair; /* first: fair_order's; filled by init */
    int mode;
    ns_t skew, slice;
};

struct gang_self {
    struct runq turn;   /* strict: VMs that want to run and are not seated, next one first */
    struct runq seated; /* strict: those that are, first one first */
    int nr_free;        /* pCPUs without a seated vCPU */
    int nr_waiting;     /* vCPUs that want to run and have no seat */
    ns_t round, due;    /* start of the round, its end or NS_NEVER */
    struct heap stops;  /* relaxed: VMs by when a leader is to be stopped */
    ns_t stop_due;      /* as armed */
};

struct gang_cpu {
    struct fair_order_cpu fair;
    uint64_t free;
    struct vcpu *seated;
};

struct gang_unit;

struct gang_vm {
    struct gang_unit *first, *last; /* vCPUs by number */
    struct gang_unit *start;        /* strict: left out the last time */
    struct runq_node turn;          /* its vcpu: any of the VM */
    int nr_want, nr_seats;
    bool seated;
    ns_t seated_at;      /* when its last turn began */
    struct heap waiting; /* relaxed: READY ones, most steal first */
    struct heap running; /* least steal first: leaders */
    struct heap stopped; /* READY ones that are not to run, most steal first */
    struct heap_node stop;
};

struct gang_unit {
    struct fair_order_unit fair;
    struct gang_vm vm; /* the VM of this number */
    struct vcpu *v;
    struct gang_unit *next; /* of its VM */
    int seat;               /* pCPU or -1 */
    bool wants;
    struct heap_node node, stopped; /* in waiting or running; in stopped too */
};

static inline struct gang_cpu *cpu_at(const struct hyp *h, int pcpu)
{
    return hyp_pcpu(&h->host->pcpu[pcpu]);
}

static inline struct gang_unit *unit_of(const struct vcpu *v)
{
    return hyp_vcpu(v);
}

static inline struct gang_vm *vm_of(const struct hyp *h, const struct vcpu *v)
{
    return &unit_of(h->host->vcpu[v->vm])->vm;
}

/* -- strict: seats -- */

static inline void set_free(const struct hyp *h, int pcpu, bool is_free)
{
    struct gang_self *self = h->self;
    struct gang_cpu *word = cpu_at(h, pcpu >> 6);
    const uint64_t bit = (uint64_t)1 << (pcpu & 63);

    word->free = is_free ? word->free | bit : word->free & ~bit;
    self->nr_free += is_free ? 1 : -1;
}

static inline void sit(const struct hyp *h, struct gang_unit *u, int pcpu)
{
    struct gang_self *self = h->self;

    set_free(h, pcpu, false);
    cpu_at(h, pcpu)->seated = u->v;
    u->seat = pcpu;
    vm_of(h, u->v)->nr_seats++;
    self->nr_waiting -= u->wants;
}

static inline void stand(const struct hyp *h, struct gang_unit *u)
{
    struct gang_self *self = h->self;

    set_free(h, u->seat, true);
    cpu_at(h, u->seat)->seated = NULL;
    u->seat = -1;
    vm_of(h, u->v)->nr_seats--;
    self->nr_waiting += u->wants;
}

/* Where v is or was, else the next free one by number that it may use; -1: none. */
static inline int free_for(const struct hyp *h, const struct vcpu *v)
{
    const struct cpumask *may = v->allowed;
    const int words = (h->host->npcpus + 63) / 64;
    const int from = v->pcpu >= 0 ? v->pcpu : 0;

    for (int i = 0; i <= words; i++) {
        const int w = (from / 64 + i) % words;
        uint64_t bits = cpu_at(h, w)->free & may->word[w];

        if (i == 0)
            bits &= ~(uint64_t)0 << (from & 63);
        if (bits)
            return w * 64 + __builtin_ctzll(bits);
    }
    return -1;
}

static inline bool seat_one(const struct hyp *h, struct gang_unit *u)
{
    const int pcpu = free_for(h, u->v);

    if (pcpu >= 0)
        sit(h, u, pcpu);
    return pcpu >= 0;
}

static inline void stand_all(const struct hyp *h, struct gang_vm *vm)
{
    for (struct gang_unit *u = vm->first; u && vm->nr_seats > 0; u = u->next)
        if (u->seat >= 0)
            stand(h, u);
    vm->seated = false;
}

/* Those that sleep now and ran in the VM's last turn will wake in this one: seats that are left. */
static inline void seat_sleepers(const struct hyp *h, struct gang_vm *vm)
{
    const struct gang_self *self = h->self;

    for (struct gang_unit *u = vm->first; u && self->nr_free > 0; u = u->next)
        if (!u->wants && u->v->switches > 0 && u->v->last_ran >= vm->seated_at)
            (void)seat_one(h, u);
}

/* All of the VM that want to run, or none. The pinned ones choose first. */
static inline bool seat_whole(const struct hyp *h, struct gang_vm *vm)
{
    const struct gang_self *self = h->self;

    if (vm->nr_want > self->nr_free)
        return false;
    for (int pinned = 1; pinned >= 0; pinned--) {
        for (struct gang_unit *u = vm->first; u; u = u->next) {
            if (!u->wants || (u->v->allowed->count == 1) != pinned || seat_one(h, u))
                continue;
            stand_all(h, vm);
            return false;
        }
    }
    seat_sleepers(h, vm);
    return true;
}

/* As many as can, whoever was left out the last time first. */
static inline void seat_part(const struct hyp *h, struct gang_vm *vm)
{
    struct gang_unit *const begin = vm->start ? vm->start : vm->first;
    struct gang_unit *u = begin;

    vm->start = NULL;
    do {
        if (u->wants && u->seat < 0 && !seat_one(h, u) && !vm->start)
            vm->start = u;
        u = u->next ? u->next : vm->first;
    } while (u != begin);
}

/* Tells the pCPU of a seat that somebody else is to run there. */
static inline void call(const struct hyp *h, const struct gang_unit *u)
{
    struct pcpu *p = &h->host->pcpu[u->seat];

    if (p->curr != u->v)
        host_resched(h->host, p, STOP_PREEMPT);
}

static inline void call_seated(const struct hyp *h, const struct gang_vm *vm)
{
    for (const struct gang_unit *u = vm->first; u; u = u->next)
        if (u->seat >= 0)
            call(h, u);
}

/* -- strict: rounds -- */

/* The round ends when it is old enough and somebody waits. */
static inline void watch(struct hyp *h)
{
    struct gang_self *self = h->self;
    const struct gang_params *params = h->params;
    const ns_t now = hyp_now(h), end = self->round + params->slice;
    const ns_t due = self->nr_waiting == 0 ? NS_NEVER : end > now ? end : now;

    if (due == self->due)
        return;
    self->due = due;
    hyp_timer(h, 0, due, 0);
}

static inline void now_seated(const struct hyp *h, struct gang_vm *vm)
{
    struct gang_self *self = h->self;

    vm->seated = true;
    vm->seated_at = hyp_now(h);
    runq_remove(&self->turn, &vm->turn);
    runq_push_tail(&self->seated, &vm->turn);
}

static inline void seat_in_turn(struct hyp *h)
{
    struct gang_self *self = h->self;
    struct runq_node *next;
    bool first = true;

    for (struct runq_node *n = self->turn.first; n && self->nr_free > 0; n = next) {
        struct gang_vm *vm = vm_of(h, n->vcpu);

        next = n->next;
        if (!seat_whole(h, vm)) {
            if (!first)
                continue;
            seat_part(h, vm);
        }
        first = false;
        now_seated(h, vm);
    }
}

static inline void new_round(struct hyp *h)
{
    struct gang_self *self = h->self;
    const struct cpumask *usable = h->host->usable;
    struct runq_node *n;

    self->round = hyp_now(h);
    for (int p = cpumask_next(usable, 0); p >= 0; p = cpumask_next(usable, p + 1))
        if (cpu_at(h, p)->seated)
            stand(h, unit_of(cpu_at(h, p)->seated));
    while ((n = self->seated.first)) {
        vm_of(h, n->vcpu)->seated = false;
        runq_remove(&self->seated, n);
        runq_push_tail(&self->turn, n);
    }
    seat_in_turn(h);
    for (int p = cpumask_next(usable, 0); p >= 0; p = cpumask_next(usable, p + 1))
        if (h->host->pcpu[p].curr != cpu_at(h, p)->seated)
            host_resched(h->host, &h->host->pcpu[p], STOP_SLICE);
}

/* Seats came free within a round: for whole VMs, then for those that lack some. */
static inline void seat_more(struct hyp *h)
{
    const struct gang_self *self = h->self;
    struct runq_node *n = self->turn.first, *next;

    for (int i = 0; n && i < LOOK && self->nr_free > 0; i++, n = next) {
        struct gang_vm *vm = vm_of(h, n->vcpu);

        next = n->next;
        if (seat_whole(h, vm)) {
            now_seated(h, vm);
            call_seated(h, vm);
        }
    }
    n = self->seated.first;
    for (int i = 0; n && i < LOOK && self->nr_free > 0 && self->nr_waiting > 0; i++, n = n->next) {
        struct gang_vm *vm = vm_of(h, n->vcpu);

        seat_part(h, vm);
        call_seated(h, vm);
    }
}

static inline void wants(struct hyp *h, struct vcpu *v)
{
    struct gang_self *self = h->self;
    struct gang_unit *u = unit_of(v);
    struct gang_vm *vm = vm_of(h, v);

    u->wants = true;
    self->nr_waiting += u->seat < 0;
    if (vm->nr_want++ == 0)
        runq_push_tail(&self->turn, &vm->turn);
    if (!vm->seated && seat_whole(h, vm)) {
        now_seated(h, vm);
        call_seated(h, vm);
    } else if (u->seat >= 0 || (vm->seated && seat_one(h, u))) {
        call(h, u);
    } else if (vm->seated && !vm->start) {
        vm->start = u;
    }
    watch(h);
}

static inline void wants_no_more(struct hyp *h, struct vcpu *v)
{
    struct gang_self *self = h->self;
    struct gang_unit *u = unit_of(v);
    struct gang_vm *vm = vm_of(h, v);

    u->wants = false;
    self->nr_waiting -= u->seat < 0;
    if (--vm->nr_want == 0) {
        runq_remove(vm->seated ? &self->seated : &self->turn, &vm->turn);
        if (u->seat >= 0)
            stand(h, u);
        stand_all(h, vm);
        seat_more(h);
    }
    watch(h);
}

static inline struct host_pick strict_pick(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    const struct host_pick nobody = {.vcpu = NULL, .slice = NS_NEVER};
    struct vcpu *v = cpu_at(h, p->id)->seated;

    /* Its own pCPU had to wait until it is free to come. */
    if (prev && unit_of(prev)->seat >= 0 && unit_of(prev)->seat != p->id)
        host_resched(h->host, &h->host->pcpu[unit_of(prev)->seat], STOP_PREEMPT);
    if (!v || !unit_of(v)->wants)
        return nobody;
    if (v != prev && v->pcpu != p->id) {
        if (v->state == VCPU_RUNNING)
            return nobody;
        if (!host_migrate(h->host, v, p->id, ENQUEUE_MIGRATE)) {
            stand(h, unit_of(v)); /* it may no longer come here */
            watch(h);
            return nobody;
        }
    }
    return (struct host_pick){.vcpu = v, .slice = NS_NEVER};
}

/* A seat passes within a VM that has too few. */
static inline bool strict_yield(struct hyp *h, struct vcpu *from, struct vcpu *to)
{
    const int pcpu = unit_of(from)->seat;

    if (!to || to->vm != from->vm || pcpu < 0 || unit_of(to)->seat >= 0 ||
        !cpumask_test(to->allowed, pcpu))
        return false;
    stand(h, unit_of(from));
    sit(h, unit_of(to), pcpu);
    return true;
}

#endif
