/* SPDX-License-Identifier: MIT */
/*
 * Making, starting, checking and freeing a guest. All memory of a guest is allocated here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/core.h"

static const char *const sched_names[] = {"eevdf", "cfs", "fifo", NULL};
static const char *const nohz_names[] = {"idle", "off", "full", NULL};
static const char *const spinlock_names[] = {"native", "paravirt", "unfair", NULL};
static const char *const hints_names[] = {"off", "honest", "lie", NULL};
static const char *const word_names[] = {"flag", "pulse", NULL};

#define OFF(f) offsetof(struct guest_conf, f)
const struct param guest_params[] = {
    {"scheduler", PARAM_ENUM, OFF(scheduler), "eevdf", 0, 0, sched_names,
     "order of tasks on a guest CPU", "Linux 6.6+: eevdf; 5.10 (CPS, mwait): cfs"},
    {"hz", PARAM_INT, OFF(hz), "250", 0, 10000, NULL, "guest tick, Hz; 0 = none",
     "kernel/Kconfig.hz default"},
    {"nohz", PARAM_ENUM, OFF(nohz), "idle", 0, 0, nohz_names, "when the guest tick stops",
     "Linux default"},
    {"spinlock", PARAM_ENUM, OFF(spinlock), "native", 0, 0, spinlock_names,
     "how queued spinlocks of the kernel wait: native: in order of arrival; paravirt: others may "
     "take a lock while the first in line halts or does not know yet that it is the first, and "
     "who waits for long halts until it is kicked; unfair: test-and-set, whatever the workload "
     "says",
     "Linux 6.12: qspinlock.c; qspinlock_paravirt.h (KVM with PV_UNHALT); virt_spin_lock"},
    {"llc", PARAM_INT, OFF(llc), "0", 0, 65536, NULL,
     "vCPUs per last-level cache as the guest sees it; 0 = one for all", "QEMU default topology"},
    {"threads", PARAM_INT, OFF(threads), "0", 0, 100000, NULL,
     "what `vcpus` in the count of a task stands for; 0 = the VM's vCPUs", "Tandem"},
    {"balance", PARAM_BOOL, OFF(balance), "on", 0, 0, NULL,
     "periodic, new-idle and nohz balancing in the guest", "Linux default"},
    {"wakeup-preemption", PARAM_BOOL, OFF(wakeup_preemption), "on", 0, 0, NULL,
     "a woken task may preempt the current one", "Linux default"},
    {"channel", PARAM_BOOL, OFF(channel), "on", 0, 0, NULL,
     "off: the guest's policy works without the shared table", "Tandem"},
    {"equal-selection", PARAM_BOOL, OFF(equal_selection), "off", 0, 0, NULL,
     "every choice of a vCPU costs selection-cost, whatever it looks at", "Tandem"},
    {"selection-cost", PARAM_NS, OFF(selection_cost), "103ns", 0, 0, NULL,
     "price of a selection under equal-selection", "CPS, bare VM"},
    {"batch", PARAM_NS, OFF(batch), "2us", 0, 0, NULL,
     "an operation may take effect while at most this much overhead is still owed", "assumed"},
    {"wake-word", PARAM_ENUM, OFF(wake_word), "flag", 0, 0, word_names,
     "what a waker leaves in the word that an idle CPU watches: a flag that this CPU alone clears, "
     "or "
     "a pulse",
     "Linux need_resched: flag; pulse: assumed, a guest whose idle loop is not Linux's"},
    {"wake-pulse", PARAM_NS, OFF(wake_pulse), "1us", 1, NS_SEC, NULL,
     "wake-word: pulse: how long it stands", "assumed"},
    {"hints", PARAM_ENUM, OFF(hints), "off", 0, 0, hints_names,
     "tell the host of critical sections, interrupts, communication groups and idleness; lie: "
     "claim "
     "a critical section all the time, and one group for all vCPUs. Needs channel: on",
     "eCS (ATC'18): critical sections; off: Tandem"},
    {"migration-cost", PARAM_NS, OFF(migration_cost), "500us", 0, 0, NULL,
     "a task that ran more recently is cache hot for balancing", "Linux sched_migration_cost"},
    PARAM_END};
#undef OFF

static int64_t peers_of(const struct guest *k, const struct task_spec *s)
{
    const int64_t threads = k->conf.threads > 0 ? k->conf.threads : k->ncpus;
    int64_t n = s->count;

    if (s->count_mul > 0) {
        n = threads * s->count_mul / (s->count_div > 0 ? s->count_div : 1);
        n = n > 0 ? n : 1;
    }
    return n > 0 ? n : threads;
}

static void policy_timer(struct engine *e, struct event *ev)
{
    struct guest_timer *t = container_of(ev, struct guest_timer, event);
    struct guest *k = t->guest;

    (void)e;
    if (!k->ops->timer)
        return;
    crash_enter(k->ops->head.name, "timer");
    k->ops->timer(k, t->cookie);
    crash_leave();
}

/* Whole cache lines: `size` is a multiple of 64. */
static void *aligned_zero(size_t n, size_t size)
{
    void *p = aligned_alloc(64, n * size);

    return p ? memset(p, 0, n * size) : NULL;
}

#define TASKS_MAX 1000000 /* of a VM; assumed, a GB of memory */

static int alloc_tasks(struct guest *k, char why[160])
{
    int64_t total = 0;
    const size_t unit = k->ops->head.unit_size;
    ns_t *open;

    for (int i = 0; i < k->work->ntasks; i++)
        total += peers_of(k, &k->work->task[i]);
    if (total > TASKS_MAX) {
        snprintf(why, 160, "vm%d has %" PRId64 " tasks, at most %d are possible", k->vm, total,
                 TASKS_MAX);
        return -1;
    }
    k->ntasks = (int)total;
    k->task = aligned_zero((size_t)total + 1, sizeof(*k->task));
    k->task_mem = calloc((size_t)total + 1, unit + 1);
    open = calloc((size_t)total * (size_t)(k->work->nmarks + 1) + 1, sizeof(*open));
    k->open = open;
    return k->task && k->task_mem && open ? 0 : -1;
}

static void init_task(struct guest *k, struct task *t, const struct task_spec *s, int instance,
                      uint64_t seed, int first)
{
    const uint64_t vm = (uint64_t)k->vm << 32;

    t->guest = k;
    t->spec = s;
    t->id = (int)(t - k->task);
    t->instance = instance;
    t->peers = peers_of(k, s);
    t->pin = s->spread ? instance % k->ncpus : s->vcpu >= 0 ? (int)(s->vcpu % k->ncpus) : -1;
    t->cpu = t->pin >= 0 ? t->pin : t->id % k->ncpus;
    t->recent = -1;
    t->state = TASK_UNBORN;
    t->woken_at = -1;
    t->irq_cpu = t->cpu;
    t->priv = k->task_mem + (size_t)t->id * k->ops->head.unit_size;
    t->open = k->open + (size_t)t->id * (size_t)k->work->nmarks;
    rng_init(&t->rng, seed, RNG_TASK, vm | (uint64_t)t->id, RNG_PROGRAM);
    rng_init(&t->shared, seed, RNG_VM, vm | (uint64_t)first, RNG_PHASE);
    event_init(&t->timer, PHASE_WAKE, (uint32_t)(3 << 24 | (k->task_base + t->id)), task_timer);
    fair_entity_init(&t->fair, s->weight ? s->weight : FAIR_NICE0, t);
    pelt_init(&t->util, 0, 0);
    task_start_program(t);
}

/* Numbers of communication groups, from 1: templates that say the same group share one. The tasks of a
 * template stand in a row. */
static void init_tags(struct guest *k)
{
    for (int i = 0; i < k->ntasks; i++) {
        struct task *t = &k->task[i];
        const struct task_spec *s = t->spec;

        for (int j = 0; j < i && t->instance == 0 && s->tag > 0 && t->tag == 0; j++)
            if (k->task[j].spec->tag == s->tag)
                t->tag = k->task[j].tag;
        if (t->instance > 0 && (s->tag > 0 || (s->tag_of > 0 && t->instance % s->tag_of != 0)))
            t->tag = k->task[i - 1].tag;
        else if (t->tag == 0 && (s->tag > 0 || s->tag_of > 0))
            t->tag = (uint32_t)++k->ntags;
    }
}

static int init_tasks(struct guest *k, uint64_t seed, char why[160])
{
    int n = 0;

    if (alloc_tasks(k, why))
        return -1;
    for (int i = 0; i < k->work->ntasks; i++) {
        const int first = n;

        for (int64_t j = 0; j < peers_of(k, &k->work->task[i]); j++, n++)
            init_task(k, &k->task[n], &k->work->task[i], (int)j, seed, first);
    }
    init_tags(k);
    return 0;
}

/* Tasks of the templates that meet at barrier b. */
static int64_t barrier_parties(const struct guest *k, int b)
{
    int64_t n = 0;

    if (k->work->barrier[b].parties > 0)
        return k->work->barrier[b].parties;
    for (int i = 0; i < k->work->ntasks; i++) {
        const struct task_spec *s = &k->work->task[i];
        bool uses = false;

        for (int j = 0; j < s->nops; j++)
            uses = uses || (s->op[j].code == OP_BARRIER && s->op[j].obj == b);
        n += uses ? peers_of(k, s) : 0;
    }
    return n;
}

static void init_lock(struct guest *k, struct lock *l, const struct lock_spec *spec)
{
    l->spec = spec;
    l->line = k->nlines++;
    list_init(&l->spinners);
    list_init(&l->waiters);
}

/* Those of single CPUs lie behind all that have a name. */
static int init_locks(struct guest *k)
{
    const struct workload *w = k->work;
    const size_t ncpus = (size_t)k->ncpus;
    size_t n = (size_t)w->nlocks;
    struct lock *next;

    for (int i = 0; i < w->nlocks; i++)
        n += (w->lock[i].per_cpu ? ncpus : 0) + (size_t)w->lock[i].count;
    k->lock = calloc(n + 1, sizeof(*k->lock));
    if (!k->lock)
        return -1;
    next = k->lock + w->nlocks;
    for (int i = 0; i < w->nlocks; i++) {
        init_lock(k, &k->lock[i], &w->lock[i]);
        if (w->lock[i].per_cpu)
            k->lock[i].per_cpu = next;
        else if (w->lock[i].count > 0)
            k->lock[i].element = next;
        for (size_t c = 0; c < (w->lock[i].per_cpu ? ncpus : (size_t)w->lock[i].count); c++)
            init_lock(k, next++, &w->lock[i]);
    }
    return 0;
}

static int init_queue(struct guest *k, struct msgq *q, const struct queue_spec *spec)
{
    q->spec = spec;
    q->line = k->nlines++;
    list_init(&q->senders);
    list_init(&q->receivers);
    q->stamp = calloc((size_t)spec->capacity, sizeof(ns_t));
    return q->stamp ? 0 : -1;
}

/* Elements of arrays lie behind all that have a name, as with locks. */
static int init_queues(struct guest *k)
{
    const struct workload *w = k->work;
    struct msgq *next;

    k->nqueues = w->nqueues;
    for (int i = 0; i < w->nqueues; i++)
        k->nqueues += (int)w->queue[i].count;
    k->queue = calloc((size_t)k->nqueues + 1, sizeof(*k->queue));
    if (!k->queue)
        return -1;
    next = k->queue + w->nqueues;
    for (int i = 0; i < w->nqueues; i++) {
        if (init_queue(k, &k->queue[i], &w->queue[i]))
            return -1;
        k->queue[i].element = w->queue[i].count > 0 ? next : NULL;
        for (int64_t c = 0; c < w->queue[i].count; c++)
            if (init_queue(k, next++, &w->queue[i]))
                return -1;
    }
    return 0;
}

static int init_objects(struct guest *k, uint64_t seed)
{
    const struct workload *w = k->work;

    k->barrier = calloc((size_t)w->nbarriers + 1, sizeof(*k->barrier));
    k->cond = calloc((size_t)w->nconds + 1, sizeof(*k->cond));
    k->device = calloc((size_t)w->ndevices + 1, sizeof(*k->device));
    k->nlines = w->nlines;
    if (!k->barrier || !k->cond || !k->device || init_locks(k) != 0 || init_queues(k) != 0)
        return -1;
    for (int i = 0; i < w->nbarriers; i++) {
        k->barrier[i].spec = &w->barrier[i];
        k->barrier[i].parties = barrier_parties(k, i);
        list_init(&k->barrier[i].waiting);
    }
    for (int i = 0; i < w->nconds; i++)
        list_init(&k->cond[i].waiting);
    for (int i = 0; i < w->ndevices; i++) {
        k->device[i].spec = &w->device[i];
        list_init(&k->device[i].pending);
        rng_init(&k->device[i].rng, seed, RNG_DEVICE, (uint64_t)k->vm << 32 | (uint64_t)i,
                 RNG_SERVICE);
    }
    return 0;
}

static int init_cpus(struct guest *k)
{
    const size_t each = k->ops->head.cpu_size;

    k->llc = k->conf.llc > 0 && k->conf.llc < k->ncpus ? (int)k->conf.llc : k->ncpus;
    k->cpu = aligned_zero((size_t)k->ncpus, sizeof(*k->cpu));
    k->cpu_mem = calloc((size_t)k->ncpus, each + 1);
    k->overloaded = calloc((size_t)k->ncpus / 64 + 1, sizeof(uint64_t));
    k->scan = calloc((size_t)k->ncpus, sizeof(*k->scan));
    k->self = calloc(1, k->ops->head.self_size + 1);
    k->params = calloc(1, k->ops->head.params_size + 1);
    if (!k->cpu || !k->cpu_mem || !k->overloaded || !k->scan || !k->self || !k->params)
        return -1;
    for (int i = 0; i < k->ncpus; i++) {
        gcpu_init(&k->cpu[i], k, i);
        k->cpu[i].priv = k->cpu_mem + (size_t)i * each;
        k->scan[i] = k->llc;
    }
    return 0;
}

static int init_hists(struct guest *k)
{
    return hist_init(&k->latency) || hist_init(&k->wake) || hist_init(&k->selection) ? -1 : 0;
}

static int mark_number(const struct workload *w, const char *name)
{
    for (int i = 0; i < w->nmarks; i++)
        if (strcmp(w->mark[i], name) == 0)
            return i;
    return -1;
}

struct guest *guest_new(struct engine *e, const struct costs *costs, const struct workload *w,
                        const struct guest_conf *conf, const struct guest_ops *ops,
                        const void *params, const struct guest_place *place, uint64_t seed,
                        const struct guest_hooks *hooks, void *hook_arg, char why[160])
{
    struct guest *k = calloc(1, sizeof(*k));

    snprintf(why, 160, "out of memory");
    if (!k)
        return NULL;
    k->engine = e;
    k->costs = costs;
    k->work = w;
    k->conf = *conf;
    k->ops = ops;
    k->vm = place->vm;
    k->ncpus = place->ncpus;
    k->vcpu_base = place->vcpu_base;
    k->task_base = place->task_base;
    k->hooks = hooks;
    k->hook_arg = hook_arg;
    k->phase_at = -1;
    k->phase_mark = mark_number(w, "phase");
    fair_conf_scaled(&k->fair, k->ncpus);
    k->fair.tick = conf->hz ? NS_SEC / conf->hz : 0;
    rng_init(&k->policy_rng, seed, RNG_VM, (uint64_t)k->vm, RNG_POLICY);
    if (init_cpus(k) || init_tasks(k, seed, why) || init_objects(k, seed) || spread_init(k, seed) ||
        init_hists(k)) {
        guest_free(k);
        return NULL;
    }
    if (params)
        memcpy(k->params, params, ops->head.params_size);
    return k;
}

void guest_free(struct guest *k)
{
    if (!k)
        return;
    for (int i = 0; k->begun && i < k->ntasks; i++)
        if (k->task[i].state != TASK_UNBORN && k->task[i].state != TASK_DEAD)
            task_end(&k->task[i]);
    if (k->begun && k->ops->fini)
        k->ops->fini(k);
    for (int i = 0; k->queue && i < k->nqueues; i++)
        free(k->queue[i].stamp);
    hist_free(&k->latency);
    hist_free(&k->wake);
    hist_free(&k->selection);
    free(k->lock);
    free(k->barrier);
    free(k->queue);
    free(k->cond);
    free(k->device);
    free(k->spread);
    free(k->open);
    free(k->task);
    free(k->task_mem);
    free(k->cpu);
    free(k->cpu_mem);
    free(k->overloaded);
    free(k->scan);
    free(k->self);
    free(k->params);
    free(k);
}

static bool policy_begins(struct guest *k)
{
    bool good = true;

    if (k->ops->init) {
        crash_enter(k->ops->head.name, "init");
        good = k->ops->init(k) == 0;
        crash_leave();
    }
    return good;
}

int guest_begin(struct guest *k, ns_t start, char why[160])
{
    k->start = start;
    k->spread_since = 0;
    for (int i = 0; i < GUEST_TIMERS; i++) {
        k->policy_timer[i].guest = k;
        event_init(&k->policy_timer[i].event, PHASE_SAMPLE, (uint32_t)(4 << 24 | k->vm),
                   policy_timer);
    }
    if (!policy_begins(k)) {
        snprintf(why, 160, "guest policy %s refused to start", k->ops->head.name);
        return -1;
    }
    k->begun = true;
    for (int i = 0; i < k->ntasks; i++) {
        struct task *t = &k->task[i];
        const ns_t at = start + t->spec->start +
                        spread_draw(k, &t->spec->start_dist, t->spec->start_spread, &t->rng);

        if (!t->spec->on_demand)
            engine_arm(k->engine, &t->timer, at);
    }
    return 0;
}

/* Time of a task that is not current goes to its state. */
static void settle_task(struct task *t)
{
    const struct gcpu *g = task_gcpu(t);

    switch (t->state) {
    case TASK_QUEUED:
    case TASK_WAKING:
        task_state_time(t, TASK_WAITING);
        break;
    case TASK_CURRENT:
        if (!g->on)
            task_stolen(t);
        break;
    case TASK_UNBORN:
    case TASK_BLOCKED:
    case TASK_DEAD:
        task_state_time(t, TASK_SLEEPING);
        break;
    }
}

void guest_settle(struct guest *k)
{
    guest_areas(k);
    guest_usable_area(k);
    for (int i = 0; i < k->ncpus; i++)
        gcpu_flush(&k->cpu[i]);
    for (int i = 0; i < k->ntasks; i++)
        settle_task(&k->task[i]);
}

void guest_reset(struct guest *k)
{
    memset(&k->st, 0, sizeof(k->st));
    hist_reset(&k->latency);
    hist_reset(&k->wake);
    hist_reset(&k->selection);
    k->accounted_from = know(k);
    for (int i = 0; i < k->work->nlocks; i++)
        k->lock[i].waited = 0;
    for (int i = 0; i < k->ntasks; i++) {
        struct task *t = &k->task[i];

        memset(&t->acct, 0, sizeof(t->acct));
        if (t->wait_since >= 0)
            t->wait_since = know(k); /* what it waited before does not count */
    }
}

void guest_check(struct guest *k)
{
    const ns_t elapsed = know(k) - k->accounted_from;

    for (int i = 0; i < k->ntasks; i++) {
        ns_t sum = 0;

        for (int j = 0; j < TASK_TERM_COUNT; j++)
            sum += k->task[i].acct.term[j];
        CHECK(sum == elapsed, "vm%d task %d: its time adds up to %lld of %lld ns", k->vm, i,
              (long long)sum, (long long)elapsed);
    }
}
