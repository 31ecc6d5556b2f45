/* SPDX-License-Identifier: MIT */
/* From the accounts and counters of a finished run to its values. A ratio without a base is NAN. */
#include <math.h>

#include "cross/world.h"

struct totals {
    struct account acct;
    struct guest_stats st;
    uint64_t exits[EXIT_REASONS];
    uint64_t migrations, switches;
    ns_t wanted, published;
    struct wait_counts waits;
    uint64_t idle_ended, vm_wakes, vm_marks, gathers, undone, splits, refused, windows,
        windows_short, flips;
    ns_t mark_time, gathered;
    uint64_t exchanges[LEVEL_COUNT];
    ns_t exchange_time, lock_time[2];
    bool has_lock[2];
    struct channel_quality quality;
    double usable; /* of VMs whose policy keeps a set: time-weighted means, and how many they are */
    int usable_vms;
    int vcpus, vms;
    bool marks; /* some program counts operations */
};

static bool counts_operations(const struct workload *w)
{
    for (int i = 0; i < w->ntasks; i++)
        for (int j = 0; j < w->task[i].nops; j++)
            if (w->task[i].op[j].code == OP_MARK_OP)
                return true;
    return false;
}

static void add_waits(struct totals *t, const struct xvm *vm)
{
    const struct idle_stats *s = &vm->idle.st, *from = &vm->idle_from;

    for (int i = 0; i < vm->nvcpus; i++) {
        const struct xvcpu *x = &vm->vcpu[i];

        t->waits.looks += x->waits.looks;
        t->waits.looks_empty += x->waits.looks_empty;
        t->waits.scanned += x->waits.scanned;
        t->waits.missed += x->waits.missed;
        t->waits.wakes_empty += x->waits.wakes_empty;
        t->waits.short_idle += x->waits.short_idle;
        t->waits.long_idle += x->waits.long_idle;
        t->gathers += x->v->gathers;
        t->undone += x->v->undone;
        t->splits += x->v->splits;
        t->refused += x->v->refused;
        t->gathered += gather_time(x->v, vm->world->engine->now);
    }
    t->idle_ended += vm->idle_length.count;
    t->vm_wakes += vm->vm_wakes;
    t->vm_marks += vm->vm_marks;
    t->mark_time += vm->mark_time;
    t->windows += s->windows - from->windows;
    t->windows_short += s->windows_short - from->windows_short;
    t->flips += s->flips - from->flips;
}

static void add_lines(struct totals *t, const struct xvm *vm)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        t->exchanges[i] += vm->exchanges[i];
    t->exchange_time += vm->exchange_time;
    for (int i = 0; i < 2 && i < vm->guest->work->nlocks; i++) {
        t->lock_time[i] += vm->guest->lock[i].waited;
        t->has_lock[i] = true;
    }
}

static void add_quality(struct totals *t, const struct xvm *vm)
{
    const struct channel_quality q =
        vm->channel ? channel_quality(vm->channel) : (struct channel_quality){0};

    t->quality.reads += q.reads;
    t->quality.wrong += q.wrong;
}

static void add_vm(struct totals *t, const struct xvm *vm)
{
    const struct guest_stats *s = &vm->guest->st;

    for (int i = 0; i < vm->nvcpus; i++) {
        const struct xvcpu *x = &vm->vcpu[i];

        for (int j = 0; j < TERM_COUNT; j++)
            t->acct.term[j] += x->g->acct.term[j];
        for (int j = 0; j < EXIT_REASONS; j++)
            t->exits[j] += x->exits[j];
        t->wanted += x->wanted;
        t->published += x->steal_at_entry - x->steal_from;
        t->migrations += x->v->migrations;
        t->switches += x->v->switches;
    }
    add_waits(t, vm);
    t->vcpus += vm->nvcpus;
    t->vms++;
    t->marks = t->marks || counts_operations(vm->guest->work);
    t->st.ops += s->ops;
    t->st.barriers += s->barriers;
    t->st.barrier_waits += s->barrier_waits;
    t->st.barrier_wait += s->barrier_wait;
    t->st.lock_waits += s->lock_waits;
    t->st.lock_wait += s->lock_wait;
    t->st.holder_preempted += s->holder_preempted;
    t->st.switches += s->switches;
    t->st.migrations += s->migrations;
    t->st.wakes += s->wakes;
    t->st.ipis += s->ipis;
    t->st.spread_area += s->spread_area;
    t->st.spread_time += s->spread_time;
    t->st.stack_area += s->stack_area;
    t->st.run_area += s->run_area;
    t->st.refill += s->refill;
    if (s->usable_time > 0) {
        t->usable += (double)s->usable_area / (double)s->usable_time;
        t->usable_vms++;
    }
    add_lines(t, vm);
    add_quality(t, vm);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static void time_metrics(const struct totals *t, double elapsed, int npool, double *v)
{
    const ns_t *a = t->acct.term;
    const double n = (double)t->vcpus * elapsed;
    const double busy = (double)(a[TERM_WORK] + a[TERM_OVERHEAD] + a[TERM_LOCKSPIN] + a[TERM_HYP]);
    const double running = busy + (double)(a[TERM_IDLESPIN] + a[TERM_HELD]);
    const double ready = (double)a[TERM_STEAL];

    v[METRIC_STEAL_RATIO] = ratio(ready, ready + running);
    v[METRIC_STEAL_DEMAND] = ratio(ready, ready + busy);
    v[METRIC_STEAL_TIME] = ratio(ready, n);
    v[METRIC_STEAL_GOVERNOR] = ratio((double)t->published, n);
    v[METRIC_STEAL_WANTED] = ratio((double)t->wanted, n);
    v[METRIC_UNSEEN] = ratio((double)a[TERM_UNSEEN], n);
    v[METRIC_HELD] = ratio((double)a[TERM_HELD], n);
    v[METRIC_IDLESPIN] = ratio((double)a[TERM_IDLESPIN], n);
    v[METRIC_LOCKSPIN] = ratio((double)a[TERM_LOCKSPIN], n);
    v[METRIC_GUEST_CPU_VCPU] = ratio((double)a[TERM_WORK], n);
    v[METRIC_GUEST_CPU_PCPU] = ratio((double)a[TERM_WORK], elapsed * npool);
    v[METRIC_GUEST_OVERHEAD] = ratio((double)a[TERM_OVERHEAD], n);
}

static void rate_metrics(const struct totals *t, double seconds, double *v)
{
    static const enum metric_id by_reason[EXIT_REASONS] = {[EXIT_IDLE] = METRIC_EXITS_IDLE,
                                                           [EXIT_IPI] = METRIC_EXITS_IPI,
                                                           [EXIT_TIMER] = METRIC_EXITS_TIMER,
                                                           [EXIT_PAUSE] = METRIC_EXITS_PAUSE,
                                                           [EXIT_PREEMPT] = METRIC_EXITS_PREEMPT,
                                                           [EXIT_IRQ] = METRIC_EXITS_IRQ,
                                                           [EXIT_IO] = METRIC_EXITS_IO};
    uint64_t all = 0;

    for (int i = 0; i < EXIT_REASONS; i++) {
        v[by_reason[i]] = (double)t->exits[i] / seconds;
        all += t->exits[i];
    }
    v[METRIC_EXITS] = (double)all / seconds;
    v[METRIC_OPS] = t->marks ? (double)t->st.ops : NAN;
    v[METRIC_THROUGHPUT] = t->marks ? (double)t->st.ops / seconds : NAN;
    v[METRIC_IPIS] = (double)t->st.ipis / seconds;
    v[METRIC_VCPU_MIGRATIONS] = (double)t->migrations / seconds;
    v[METRIC_TASK_MIGRATIONS] = (double)t->st.migrations / seconds;
    v[METRIC_VCPU_SWITCHES] = (double)t->switches / seconds;
    v[METRIC_TASK_SWITCHES] = (double)t->st.switches / seconds;
    v[METRIC_BARRIERS] = t->st.barrier_waits ? (double)t->st.barriers / seconds : NAN;
}

static void wait_metrics(const struct totals *t, double elapsed, double *v)
{
    const struct guest_stats *s = &t->st;

    v[METRIC_BARRIER_WAIT] = ratio((double)s->barrier_wait / 1e3, (double)s->barrier_waits);
    v[METRIC_LOCK_WAIT] = ratio((double)s->lock_wait / 1e3, (double)s->lock_waits);
    v[METRIC_HOLDER_PREEMPTED] = (double)s->holder_preempted / elapsed;
    v[METRIC_PREFERRED] = ratio(t->usable, t->usable_vms);
    v[METRIC_SPREAD] = ratio((double)s->spread_area, (double)s->spread_time);
    v[METRIC_STACKED] = ratio((double)s->stack_area, (double)s->run_area);
}

static void distance_metrics(const struct totals *t, double elapsed, double *v)
{
    static const enum metric_id by_level[LEVEL_COUNT] = {[LEVEL_CORE] = METRIC_EXCHANGES_CORE,
                                                         [LEVEL_GROUP] = METRIC_EXCHANGES_GROUP,
                                                         [LEVEL_NODE] = METRIC_EXCHANGES_NODE,
                                                         [LEVEL_SOCKET] = METRIC_EXCHANGES_SOCKET,
                                                         [LEVEL_MACHINE] =
                                                             METRIC_EXCHANGES_MACHINE};
    static const enum metric_id of_lock[2] = {METRIC_LOCK_FIRST, METRIC_LOCK_SECOND};
    const double n = elapsed * t->vcpus;
    uint64_t all = 0;

    for (int i = LEVEL_CORE; i < LEVEL_COUNT; i++) {
        v[by_level[i]] = (double)t->exchanges[i] / (elapsed / 1e9);
        all += t->exchanges[i];
    }
    v[METRIC_CHANNEL_WRONG] = ratio((double)t->quality.wrong, (double)t->quality.reads);
    v[METRIC_EXCHANGES] = (double)all / (elapsed / 1e9);
    v[METRIC_EXCHANGE_TIME] = ratio((double)t->exchange_time, n);
    v[METRIC_REFILL] = ratio((double)t->st.refill, n);
    for (int i = 0; i < 2; i++)
        if (t->has_lock[i])
            v[of_lock[i]] = ratio((double)t->lock_time[i] / 1e3, (double)t->st.ops);
}

static void idle_metrics(const struct totals *t, const struct world *w, double seconds, double *v)
{
    const double ended = (double)t->idle_ended, windows = (double)t->windows;

    v[METRIC_IDLE_ENTRIES] = ended / seconds;
    v[METRIC_IDLE_SHORT] = ratio((double)t->waits.short_idle, ended);
    v[METRIC_IDLE_LONG] = ratio((double)t->waits.long_idle, ended);
    v[METRIC_LOOKS] = (double)t->waits.looks / seconds;
    v[METRIC_LOOKS_EMPTY] = ratio((double)t->waits.looks_empty, (double)t->waits.looks);
    v[METRIC_SCANNED] = (double)t->waits.scanned / seconds;
    v[METRIC_MISSED] = (double)t->waits.missed / seconds;
    v[METRIC_WAKES_EMPTY] = (double)t->waits.wakes_empty / seconds;
    v[METRIC_VM_WAKES] = (double)t->vm_wakes / seconds;
    v[METRIC_VM_MARK] = ratio((double)t->mark_time / 1e3, (double)t->vm_marks);
    v[METRIC_SLICE_SHORT] = ratio((double)t->windows_short, windows);
    v[METRIC_SLICE_FLIPS] = windows > 0 ? (double)t->flips / seconds / t->vms : NAN;
    if (!w->host->gather)
        return;
    v[METRIC_GATHERED] = (double)t->gathered / (seconds * 1e9 * t->vcpus);
    v[METRIC_GATHERS] = (double)t->gathers / seconds;
    v[METRIC_GATHERS_UNDONE] = ratio((double)t->undone, (double)t->gathers);
    v[METRIC_SPLITS] = (double)t->splits / seconds;
    v[METRIC_SPLITS_REFUSED] = (double)t->refused / seconds;
}

static void row(struct world *w, const struct totals *t, double *v)
{
    const double elapsed = (double)(w->engine->now - w->accounted_from);

    time_metrics(t, elapsed, w->npool, v);
    rate_metrics(t, elapsed / 1e9, v);
    wait_metrics(t, elapsed, v);
    distance_metrics(t, elapsed, v);
    idle_metrics(t, w, elapsed / 1e9, v);
}

/* In W x ns. Time in a C-state at its power, other empty time at the idle power. */
static double pcpu_energy(const struct world *w, const struct xpcpu *p, double elapsed)
{
    const double resting = (double)(p->acct.term[TERM_IDLE] + p->acct.term[TERM_HELD]);
    double in_cstates = 0, energy = 0;

    for (int c = 0; c < w->conf.ncstates; c++) {
        in_cstates += (double)p->cstate_time[c];
        energy += (double)p->cstate_time[c] * w->conf.cstate[c].power_w;
    }
    return energy + (resting - in_cstates) * w->conf.power_idle_w +
           (elapsed - resting) * w->conf.power_active_w;
}

/* Residencies in the pool; the fourth stands for all deeper ones. */
static void cstate_metrics(const struct world *w, double elapsed, double *v)
{
    static const enum metric_id by_depth[] = {METRIC_CSTATE_1, METRIC_CSTATE_2, METRIC_CSTATE_3,
                                              METRIC_CSTATE_4};
    double in[4] = {0};

    for (int i = 0; i < w->npool; i++)
        for (int c = 0; c < w->conf.ncstates; c++)
            in[c < 3 ? c : 3] += (double)w->pcpu[w->pool[i]].cstate_time[c];
    for (int c = 0; c < 4 && c < w->conf.ncstates; c++)
        v[by_depth[c]] = ratio(in[c], elapsed * w->npool);
}

/* What belongs to the whole machine stands in row 0 only. */
static void machine_metrics(struct world *w, double *v)
{
    const double elapsed = (double)(w->engine->now - w->accounted_from);
    double pool = 0, all = 0, hyp = 0, energy = 0, held = 0, pool_hyp = 0;

    for (int i = 0; i < w->host->npcpus; i++) {
        all += elapsed - (double)w->pcpu[i].acct.term[TERM_IDLE];
        hyp += (double)w->pcpu[i].acct.term[TERM_HYP];
    }
    for (int i = 0; i < w->npool; i++) {
        const struct xpcpu *p = &w->pcpu[w->pool[i]];

        pool += elapsed - (double)p->acct.term[TERM_IDLE];
        energy += pcpu_energy(w, p, elapsed);
        held += (double)p->acct.term[TERM_HELD];
        pool_hyp += (double)p->acct.term[TERM_HYP];
    }
    v[METRIC_HOST_CPU_POOL] = ratio(pool, elapsed * w->npool);
    v[METRIC_HOST_CPU_MACHINE] = ratio(all, elapsed * w->host->npcpus);
    v[METRIC_HOST_ACTIVE] = ratio(pool - held, elapsed * w->npool);
    v[METRIC_HYP_POOL] = ratio(pool_hyp, elapsed * w->npool);
    v[METRIC_HYP] = ratio(hyp, elapsed * w->host->npcpus);
    v[METRIC_ENERGY] = w->conf.power_active_w > 0 ? energy / 1e9 : NAN;
    v[METRIC_POWER] = v[METRIC_ENERGY] / (elapsed / 1e9);
    cstate_metrics(w, elapsed, v);
}

static void fairness(struct world *w, double *v)
{
    double sum = 0, squares = 0, least = -1;
    int n = 0;

    for (int i = 0; i < w->nvms; i++) {
        double got = 0;

        if (!w->vm[i].measured)
            continue;
        for (int j = 0; j < w->vm[i].nvcpus; j++)
            got += (double)w->vm[i].vcpu[j].g->acct.term[TERM_WORK] / w->vm[i].entitled;
        sum += got;
        squares += got * got;
        least = least < 0 || got < least ? got : least;
        n++;
    }
    if (n < 2 || squares <= 0)
        return;
    v[METRIC_JAIN] = sum * sum / (n * squares);
    v[METRIC_WORST_SHARE] = least * n / sum;
    v[METRIC_JAIN_WINDOW] = ratio(w->jain_sum, (double)w->windows);
    v[METRIC_WORST_SHARE_WINDOW] = ratio(w->worst_sum, (double)w->windows);
}

static void hists(const struct xvm *vm, struct hist *h)
{
    hist_merge(&h[HIST_LATENCY], &vm->guest->latency);
    hist_merge(&h[HIST_WAKE], &vm->guest->wake);
    hist_merge(&h[HIST_SELECTION], &vm->guest->selection);
    hist_merge(&h[HIST_AGE], &vm->age);
    hist_merge(&h[HIST_IDLE], &vm->idle_length);
    hist_merge(&h[HIST_UNSEEN], &vm->unseen);
    hist_merge(&h[HIST_VM_WAKE], &vm->vm_wake);
    hist_merge(&h[HIST_SPLIT], &vm->split);
    hist_merge(&h[HIST_REACTION], &vm->reaction);
}

/* A wait that nobody has noticed by the end of the run is as long as it has lasted. */
static void last_unseen(struct world *w)
{
    for (int i = 0; i < w->nvms; i++)
        for (int j = 0; j < w->vm[i].nvcpus; j++) {
            const struct xvcpu *x = &w->vm[i].vcpu[j];

            if (x->unseen_since >= 0)
                hist_add(&w->vm[i].unseen, w->engine->now - x->unseen_since);
        }
}

void world_collect(struct world *w, struct run_values *r)
{
    struct totals measured = {.vcpus = 0};

    last_unseen(w);
    watch_count_missed(w);

    for (int i = 0; i < w->nvms; i++) {
        struct totals one = {.vcpus = 0};

        add_vm(&one, &w->vm[i]);
        row(w, &one, run_value(r, i + 1, (enum metric_id)0));
        hists(&w->vm[i], &r->hist[(i + 1) * HIST_COUNT]);
        if (!w->vm[i].measured)
            continue;
        add_vm(&measured, &w->vm[i]);
        hists(&w->vm[i], r->hist);
    }
    row(w, &measured, run_value(r, 0, (enum metric_id)0));
    machine_metrics(w, run_value(r, 0, (enum metric_id)0));
    fairness(w, run_value(r, 0, (enum metric_id)0));
    for (int i = 0; i < w->ncounters; i++)
        run_count(r, w->counter[i].name, w->counter[i].n);
    if (channel_overruns(w->channel) > 0)
        run_count(r, "channel_overruns", channel_overruns(w->channel));
    r->fingerprint = w->engine->fingerprint;
    r->events = w->engine->events;
    r->simulated = w->engine->now;
}
