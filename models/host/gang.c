/* SPDX-License-Identifier: MIT */
/*
 * Co-scheduling of the vCPUs of a VM.
 *
 * strict: those that want to run, run together or not at all. Time goes in rounds of `slice`. At the
 * start of a round the VMs that want to run are seated in turn, each whole: one pCPU per vCPU; those
 * of its vCPUs that sleep and ran in its last turn have seats too, if there are. A VM that does not fit
 * into what is left waits, and pCPUs may idle meanwhile. VMs that were seated come after those that
 * were not. Within a round a seat is kept when its vCPU blocks; seats come free when all of the VM
 * have blocked. Then, or on a wake, VMs that fit whole are seated too; a vCPU that wakes without a
 * seat while its VM is seated takes any free pCPU, or waits for the VM's next turn. Nobody waiting:
 * no rounds. Nobody starves: every VM becomes the first in turn, all pCPUs are free for the first,
 * and if it is still too wide (more vCPUs than pCPUs, or pinned upon each other) as many as can are
 * seated, beginning with the first vCPU that was left out the last time. Weights do not count.
 *
 * relaxed (VMware since ESX 3): vCPUs are scheduled one by one, proportional share with requests of
 * `slice` (sim/fair, EEVDF without delayed dequeue). The skew between two siblings is the difference
 * of their steal: running and being idle are progress, waiting is not. A leader is stopped when it
 * leads a waiting sibling by `skew`, and until no sibling that waits is that far behind. A pCPU that
 * has stopped vCPUs only goes to the sibling furthest behind if that may use it, or idles. Nobody
 * starves: of the waiting siblings the one furthest behind is never stopped and gets its share of its
 * pCPU, then the next one. No deadlock for the same reason. Who yields begins a new request and forfeits
 * nothing: a request is long, and a VM that spins for locks yields much more often. What the sources
 * leave open in either mode is assumed. A vCPU that is stopped, or has no seat, is READY: its time is steal.
 *
 * Memory: free seats are a bitmap, word i with pCPU i; a VM is kept with the vCPU of its number.
 */
#include "models/host/gang_strict.h"

static const char *const modes[] = {"strict", "relaxed", NULL};

static const struct param gang_params[] = {
    {.name = "mode",
     .type = PARAM_ENUM,
     .offset = offsetof(struct gang_params, mode),
     .def = "relaxed",
     .values = modes,
     .help = "strict: a VM's vCPUs run together or not at all; relaxed: only leaders are stopped",
     .source = "VMware since ESX 3: relaxed"},
    {.name = "skew",
     .type = PARAM_NS,
     .offset = offsetof(struct gang_params, skew),
     .def = "3ms",
     .min = NS_US,
     .max = 10 * NS_SEC,
     .help = "relaxed: lead over a waiting sibling at which a vCPU is stopped",
     .source = "assumed; often quoted for VMware, not public"},
    {.name = "slice",
     .type = PARAM_NS,
     .offset = offsetof(struct gang_params, slice),
     .def = "10ms",
     .min = NS_US,
     .max = 10 * NS_SEC,
     .help = "strict: length of a round; relaxed: request of a vCPU",
     .source = "assumed; secondary sources on VMware: 10 to 20 ms"},
    PARAM_END};

static bool is_strict(const struct hyp *h)
{
    return ((const struct gang_params *)h->params)->mode == STRICT;
}

/* -- relaxed: leaders -- */

/* Steal of v less the time, while it waits: all that wait grow alike. */
static int64_t behind(const struct hyp *h, const struct vcpu *v)
{
    return v->steal - (v->state == VCPU_READY ? v->state_since : hyp_now(h));
}

/* When the first running leader of the VM will lead too far. */
static void plan_stop(struct hyp *h, struct gang_vm *vm)
{
    struct gang_self *self = h->self;
    const struct gang_params *params = h->params;
    const ns_t now = hyp_now(h);
    ns_t due = NS_NEVER;

    heap_remove(&self->stops, &vm->stop);
    if (vm->waiting.top && vm->running.top) {
        due = params->skew + vm->running.top->key + vm->waiting.top->key;
        heap_push(&self->stops, &vm->stop, due > now ? due : now, vm);
    }
    due = self->stops.top ? self->stops.top->key : NS_NEVER;
    if (due == self->stop_due)
        return;
    self->stop_due = due;
    hyp_timer(h, 1, due > now ? due : now, 1);
}

static void stop_leaders(struct hyp *h)
{
    struct gang_self *self = h->self;

    self->stop_due = NS_NEVER;
    while (self->stops.top && self->stops.top->key <= hyp_now(h)) {
        struct gang_vm *vm = heap_top(&self->stops);
        const struct vcpu *leader = heap_top(&vm->running);

        heap_remove(&self->stops, &vm->stop); /* planned anew when the leader has stopped */
        host_resched(h->host, &h->host->pcpu[leader->pcpu], STOP_PREEMPT);
    }
    if (self->stops.top) {
        self->stop_due = self->stops.top->key;
        hyp_timer(h, 1, self->stop_due, 1);
    }
}

/* Keys of waiting ones are negative: how far behind. */
static bool leads(const struct hyp *h, const struct gang_vm *vm, const struct heap_node *n)
{
    const struct gang_params *params = h->params;

    return vm->waiting.top && n->key - vm->waiting.top->key >= params->skew;
}

/* May v, which is no longer stopped, take p? Not from who came in at this very moment: if that is the
 * one furthest behind in another VM, its siblings would have to stop, others would be released for that,
 * and so on without end. A pCPU within its decision, or in use, has a slice that ends. */
static bool takes(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    if (p->deciding || !p->curr)
        return !p->deciding;
    return p->curr->run_start < hyp_now(h) && fair_order_preempts(h, p, p->curr, v);
}

static void release(struct hyp *h, struct gang_vm *vm)
{
    struct vcpu *v;

    while ((v = heap_top(&vm->stopped)) && !leads(h, vm, vm->stopped.top)) {
        struct pcpu *p = &h->host->pcpu[v->pcpu];

        heap_remove(&vm->stopped, &unit_of(v)->stopped);
        fair_order_enqueue(h, p, v, ENQUEUE_MIGRATE);
        if (takes(h, p, v))
            host_resched(h->host, p, STOP_PREEMPT);
    }
}

/* The next one of p's that leads nobody too far; stops those that do. `of`: the VM of the last. */
static struct host_pick next_follower(struct hyp *h, struct pcpu *p, struct vcpu *prev,
                                      struct gang_vm **of)
{
    struct host_pick k = fair_order_pick(h, p, prev);

    while (k.vcpu && leads(h, vm_of(h, k.vcpu), &unit_of(k.vcpu)->node)) {
        struct gang_unit *u = unit_of(k.vcpu);

        *of = vm_of(h, k.vcpu);
        fair_order_stopping(h, p, k.vcpu, (struct host_ran){0}, STOP_MIGRATE);
        heap_push(&(*of)->stopped, &u->stopped, u->node.key, k.vcpu);
        k = fair_order_pick(h, p, prev);
    }
    return k;
}

/* A pCPU whose vCPUs are all stopped is given to the sibling that is furthest behind. */
static struct host_pick relaxed_pick(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    const struct gang_params *params = h->params;
    struct gang_vm *of = NULL;
    struct host_pick k = next_follower(h, p, prev, &of);

    if (!k.vcpu && of) {
        struct vcpu *last = heap_top(&of->waiting);

        if (last->state == VCPU_READY && cpumask_test(last->allowed, p->id) &&
            host_migrate(h->host, last, p->id, ENQUEUE_MIGRATE))
            k = next_follower(h, p, NULL, &of);
    }
    if (k.slice == NS_NEVER && p->nr_ready > 0)
        k.slice = params->slice; /* stopped ones may come back */
    return k;
}

static void relaxed_enqueue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why)
{
    struct gang_vm *vm = vm_of(h, v);

    heap_push(&vm->waiting, &unit_of(v)->node, -behind(h, v), v);
    fair_order_enqueue(h, p, v, why);
    plan_stop(h, vm);
}

static void relaxed_dequeue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum stop_why why)
{
    struct gang_vm *vm = vm_of(h, v);
    struct gang_unit *u = unit_of(v);

    if (u->stopped.from)
        heap_remove(&vm->stopped, &u->stopped);
    else
        fair_order_dequeue(h, p, v, why);
    heap_remove(&vm->waiting, &u->node); /* it is enqueued elsewhere before anybody looks */
}

/* -- both -- */

/* VM numbers must be dense, as a scenario's are. */
static int gang_init(struct hyp *h)
{
    struct gang_params *params = h->params;
    struct gang_self *self = h->self;

    for (int i = 0; i < h->host->nvcpus; i++)
        if (h->host->vcpu[i]->vm < 0 || h->host->vcpu[i]->vm >= h->host->nvcpus)
            return -1;
    fair_conf_scaled(&params->fair, h->host->npcpus);
    params->fair.slice = params->slice;
    params->fair.delay_dequeue = false;
    params->fair.free_yield = true;
    self->due = self->stop_due = NS_NEVER;
    for (int p = 0; p < h->host->npcpus; p++)
        set_free(h, p, true);
    return fair_order_init(h, FAIR_EEVDF);
}

static void gang_vcpu_init(struct hyp *h, struct vcpu *v)
{
    struct gang_unit *u = unit_of(v);
    struct gang_vm *vm = vm_of(h, v);

    u->v = v;
    u->seat = -1;
    vm->turn.vcpu = v;
    if (vm->last)
        vm->last->next = u;
    else
        vm->first = u;
    vm->last = u;
    fair_order_vcpu_init(h, v);
}

static int gang_select(struct hyp *h, struct vcpu *v, int prev, enum wake_why why)
{
    int to;

    (void)why;
    if (!is_strict(h))
        return hyp_select_default(h, v, prev);
    if (unit_of(v)->seat >= 0 && cpumask_test(v->allowed, unit_of(v)->seat))
        return unit_of(v)->seat;
    to = free_for(h, v);
    if (to >= 0)
        return to;
    return prev >= 0 && cpumask_test(v->allowed, prev) ? prev : cpumask_next(v->allowed, 0);
}

static void gang_enqueue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why)
{
    if (!is_strict(h))
        relaxed_enqueue(h, p, v, why);
    else if (why == ENQUEUE_NEW || why == ENQUEUE_WAKE)
        wants(h, v);
    else if (unit_of(v)->seat >= 0 && unit_of(v)->seat != p->id)
        host_resched(h->host, &h->host->pcpu[unit_of(v)->seat], STOP_PREEMPT);
}

static void gang_dequeue(struct hyp *h, struct pcpu *p, struct vcpu *v, enum stop_why why)
{
    if (!is_strict(h))
        relaxed_dequeue(h, p, v, why);
}

static struct host_pick gang_pick(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    return is_strict(h) ? strict_pick(h, p, prev) : relaxed_pick(h, p, prev);
}

static ns_t gang_slice(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    const struct gang_params *params = h->params;
    ns_t left;

    if (is_strict(h))
        return NS_NEVER;
    left = fair_order_slice(h, p, curr);
    return left == NS_NEVER && p->nr_ready > 0 ? params->slice : left;
}

static bool gang_tick(struct hyp *h, struct pcpu *p, struct vcpu *curr)
{
    return !is_strict(h) && fair_order_tick(h, p, curr);
}

static bool gang_preempts(struct hyp *h, struct pcpu *p, struct vcpu *curr, struct vcpu *woken)
{
    return is_strict(h) ? unit_of(woken)->seat == p->id : fair_order_preempts(h, p, curr, woken);
}

static void gang_running(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    struct gang_vm *vm = vm_of(h, v);

    (void)p;
    if (is_strict(h))
        return;
    heap_remove(&vm->waiting, &unit_of(v)->node);
    heap_push(&vm->running, &unit_of(v)->node, v->steal, v);
    release(h, vm);
    plan_stop(h, vm);
}

static void gang_stopping(struct hyp *h, struct pcpu *p, struct vcpu *v, struct host_ran ran,
                          enum stop_why why)
{
    struct gang_vm *vm = vm_of(h, v);

    if (is_strict(h)) {
        if (why == STOP_BLOCK)
            wants_no_more(h, v);
        return;
    }
    heap_remove(&vm->running, &unit_of(v)->node);
    fair_order_stopping(h, p, v, ran, why);
    plan_stop(h, vm);
}

static bool gang_yield(struct hyp *h, struct vcpu *from, struct vcpu *to)
{
    return is_strict(h) ? strict_yield(h, from, to) : fair_order_yield(h, from, to);
}

static bool gang_boost(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    struct gang_self *self = h->self;
    struct gang_vm *vm = vm_of(h, v);

    if (!is_strict(h))
        return fair_order_boost(h, p, v);
    if (!vm->seated) {
        runq_remove(&self->turn, &vm->turn);
        runq_push_head(&self->turn, &vm->turn);
    }
    return true;
}

/* Seats say where vCPUs are in strict mode. */
static void gang_balance(struct hyp *h, struct pcpu *p, enum balance_why why)
{
    if (!is_strict(h))
        hyp_balance_default(h, p, why);
}

static bool gang_admits(struct hyp *h, struct pcpu *p, struct vcpu *v)
{
    (void)h;
    (void)p;
    return !unit_of(v)->stopped.from;
}

static void gang_timer(struct hyp *h, uint64_t cookie)
{
    struct gang_self *self = h->self;

    if (cookie == 1) {
        stop_leaders(h);
        return;
    }
    self->due = NS_NEVER;
    new_round(h);
    watch(h);
}

const struct host_ops host_policy_gang = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "gang",
            .summary = "co-scheduling: strict, or relaxed with a limit on the skew",
            .params = gang_params,
            .params_size = sizeof(struct gang_params),
            .self_size = sizeof(struct gang_self),
            .cpu_size = sizeof(struct gang_cpu),
            .unit_size = sizeof(struct gang_unit),
        },
    .idles = true,
    .init = gang_init,
    .vcpu_init = gang_vcpu_init,
    .select = gang_select,
    .enqueue = gang_enqueue,
    .dequeue = gang_dequeue,
    .pick = gang_pick,
    .slice = gang_slice,
    .tick = gang_tick,
    .preempts = gang_preempts,
    .running = gang_running,
    .stopping = gang_stopping,
    .yield = gang_yield,
    .boost = gang_boost,
    .balance = gang_balance,
    .timer = gang_timer,
    .admits = gang_admits,
};
