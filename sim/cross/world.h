/* SPDX-License-Identifier: MIT */
/*
 * The machine acting on both levels: it joins each host vCPU with a guest CPU, carries entries,
 * exits, kicks and idle plans across, and prices them.
 *
 * Always true:
 *  - every nanosecond of a pCPU goes into its account, of a vCPU into its own: while a vCPU is RUNNING
 *    its guest CPU fills both (gcpu_settle), while it is off `off_term` collects, and an empty pCPU
 *    collects IDLE;
 *  - costs become debts of the guest CPU on whose pCPU they arise, or of the empty pCPU;
 *  - conservation is checked when warm-up ends and at the end of every run.
 */
#ifndef SIM_CROSS_WORLD_H
#define SIM_CROSS_WORLD_H

#include "channel/channel.h"
#include "channel/idle_ops.h"
#include "guest/guest.h"
#include "guest/guest_ops.h"
#include "host/host.h"
#include "obs/result.h"

enum exit_reason {
    EXIT_IDLE,
    EXIT_IPI,
    EXIT_TIMER,
    EXIT_PAUSE,
    EXIT_PREEMPT,
    EXIT_IRQ,
    EXIT_IO,
    EXIT_REASONS
};

struct world;
struct xvm;
struct xline;
struct quota;

/* A vCPU seen from both sides. */
struct xvcpu {
    struct world *world;
    struct xvm *vm;
    struct vcpu *v;
    struct gcpu *g;     /* holds the vCPU's account */
    enum term off_term; /* while off: STEAL, BLOCKED or UNSEEN */
    int counted_at;     /* pCPU whose load counts this vCPU, -1 */
    ns_t off_since;
    ns_t wanted; /* READY while the guest is BUSY */
    ns_t work_at_entry;
    ns_t steal_at_entry;  /* published: what the guest sees */
    ns_t held_busy_start; /* start of this idle episode, -1 = busy */
    ns_t work_at;         /* when work came that ends it, -1 */
    ns_t busy_since;
    bool pending_irq;  /* an interrupt waits for the next entry */
    bool ipi_is_store; /* what `ipi` stands for */
    bool ipi_scans;    /* an entry that no event stands for scans then (spinner with exits) */
    bool planned;      /* plan is in force (from the guest's idle entry to its end) */
    bool committed;
    bool stable;        /* idle policy's view */
    bool woken;         /* something ended the wait; not yet known whether there is work */
    bool self_looks;    /* switched in to look at its own word */
    bool to_mark;       /* the VM-wide wake-up under way has not come to it yet */
    bool in_group;      /* marked by a VM-wide wake-up, has not run since */
    int8_t mwait_exits; /* its mwait exits: on, off, -1 = not yet set */
    bool in_spin, dy_eligible;
    bool rival_pending;
    struct idle_plan plan;
    ns_t planned_at, committed_at;
    ns_t ticked_at;     /* last host tick under it */
    enum idle_via via;  /* what ended the wait */
    struct event ipi;   /* an IPI or a store arrives */
    struct event until; /* limit of the idle plan, or next look */
    struct xvcpu *watch_next, **watch_link;
    struct watch_list *watch_in; /* scanned there, NULL */
    struct xvcpu *look_next,
        **look_link; /* others that are looked at on this pCPU; NULL: not looked at */
    int scan_pcpu;   /* ipi_scans: where the entry is */
    bool flag;       /* its word was set by a store that stands for no work */
    bool pulse_open; /* its word changed, and will change back or has */
    ns_t pulse_until;
    ns_t unseen_since; /* work there, not noticed; -1 */
    ns_t active_since; /* first work after a long idle episode, while gathered; -1 */
    uint64_t split_seen;
    ns_t kept_from;   /* HELD or IDLESPIN time that has been accounted for by C-state or turns */
    ns_t used_before; /* executed while not idle, before accounting began */
    ns_t steal_from;  /* published when accounting began */
    struct guest_row row_seen; /* the guest's row as the host policy saw it last */
    uint64_t exits[EXIT_REASONS];
    struct wait_counts {
        uint64_t looks, looks_empty, scanned, missed, wakes_empty, short_idle, long_idle;
    } waits;
};

/* vCPUs that wait for a scan by the entries of some pCPUs. */
struct watch_list {
    struct xvcpu *first;
    int n;
};
#define IDLE_SETS (IDLE_SET_MACHINE + 1)

struct xpcpu {
    struct world *world;
    struct pcpu *p;
    struct account acct;
    ns_t idle_since; /* empty since; -1 = a vCPU is on it */
    ns_t avg_idle;
    ns_t owed;                     /* hypervisor work that nobody on it has paid yet */
    ns_t cstate_time[CSTATES_MAX]; /* empty, or held by an idle guest */
    int cstate;
    struct xvcpu *looked; /* vCPUs whose looks are due here */
    int wanting;          /* vCPUs here whose guest is busy */
    bool hot;             /* executes, not in a C-state: slows its siblings */
    int pinned;           /* vCPUs that may run nowhere else */
};

struct xvm {
    struct world *world;
    struct guest *guest;
    struct idle idle;
    char *name;
    bool measured;
    int index, nvcpus;
    double entitled; /* vCPUs x weight: what fairness between VMs is measured against */
    int64_t weight;  /* the sum of its vCPUs' */
    int wanting;     /* vCPUs that run or wait for a pCPU with work for their guest */
    ns_t wanting_at;
    ns_t wanted;   /* the sum of these over time, up to wanting_at */
    ns_t wanted_q; /* the same when the quota was computed last */
    int quota;     /* vCPUs it was told that it may use */
    struct xvcpu *vcpu;
    struct channel_end *channel;
    struct hist age;
    int last_boosted;
    ns_t window_work; /* at the start of the fairness window */
    struct hist idle_length, unseen, vm_wake, split, reaction;
    uint64_t vm_wakes;
    ns_t mark_since;   /* when the marking under way began */
    ns_t mark_time;    /* of VM-wide wake-ups */
    struct event mark; /* a VM-wide wake-up goes from vCPU to vCPU */
    int mark_next, mark_left;
    struct xvcpu *mark_by;
    uint64_t vm_marks; /* VM-wide wake-ups that marked anybody */
    bool mark_boost;
    int group_left; /* vCPUs marked and not yet run */
    ns_t group_since, group_end;
    struct idle_stats idle_from; /* when accounting began */
    struct xline *line;          /* [guest->nlines] */
    int *seat;                   /* pCPU on which each task ran last, -1 */
    uint64_t exchanges[LEVEL_COUNT];
    ns_t exchange_time;
};

#define WORLD_COUNTERS 48

struct world_conf {
    ns_t duration, warmup;
    uint64_t seed;
    int64_t smt_speed; /* 1024 = no slowdown */
    const struct cstate *cstate;
    int ncstates, host_ncstates;
    double power_active_w, power_idle_w;
    ns_t fairness_window;
    ns_t residency[CSTATES_MAX], exit_latency[CSTATES_MAX]; /* of cstate, for idle policies */
    int64_t io_cpu_1024; /* pCPU time of an I/O per 1024 ns of service */
};

struct world {
    struct world_conf conf;
    struct engine *engine;
    struct host *host;
    const struct topology *topo;
    const struct costs *costs;
    struct channel *channel;
    bool channel_used;
    struct xpcpu *pcpu;
    int *core_hot;                       /* hot threads of each core */
    struct watch_list *watch[IDLE_SETS]; /* per unit of the set */
    int nwatching;
    int ntrapping; /* vCPUs that spin with exits now */
    bool scanning;
    struct xvm *vm;
    int nvms, nvcpus, floating;
    const int *pool;
    int npool;
    ns_t accounted_from;
    struct event window;
    struct event quota;
    struct quota *quotas; /* [nvms] */
    double jain_sum, worst_sum;
    uint64_t windows;
    struct {
        const char *name;
        uint64_t n;
    } counter[WORLD_COUNTERS];
    int ncounters;
};

/* -- world.c -- */
struct world_vm {
    const char *name;
    bool measured;
    int ncpus;
    const struct cpumask *const *allowed; /* [ncpus] */
    uint32_t weight;
    ns_t start;
    const struct workload *work;
    const struct guest_conf *conf;
    const struct guest_ops *ops;
    const void *params;
    const struct idle_ops *idle;
    const void *idle_params;
    enum preempted_rule rule;
};

/* Engine, topology, costs are borrowed. NULL + message in *why. */
struct world *world_new(struct engine *e, const struct topology *t, const struct costs *costs,
                        const struct world_conf *conf, const struct host_conf *host,
                        const struct host_ops *ops, const void *params, ns_t channel_delay,
                        int nvms, char why[160]);
void world_free(struct world *w);
/* The i-th VM; all of them before world_run. 0 or -1. */
int world_add_vm(struct world *w, int i, const struct world_vm *spec, char why[160]);
/* Runs to the end, checks conservation. 0 or -1 + message. */
int world_run(struct world *w, struct trace_sink *trace, char why[160]);
/* Fills a fresh run_values with one row per VM. */
void world_collect(struct world *w, struct run_values *r);
void world_count(struct world *w, const char *name);

/* -- shared by the files of cross/ -- */
extern const struct host_hooks cross_host_hooks;
extern const struct guest_hooks cross_guest_hooks;
/* Brings off-time, empty-pCPU time and guests up to now. */
void world_settle(struct world *w);
void world_check(struct world *w);
/* account.c */
void xvcpu_flush(struct xvcpu *x);
void xvcpu_off_term(struct xvcpu *x);
void xpcpu_flush(struct xpcpu *p);
void xvcpu_recount(struct xvcpu *x);
/* quota.c */
void xvm_wants(struct xvm *vm, int more);
void quota_begin(struct world *w);
/* smt.c */
void xpcpu_set_hot(struct xpcpu *p, bool hot);
int64_t xpcpu_speed(const struct xpcpu *p);
/* publish.c */
void publish_pcpu(struct xpcpu *p);
void publish_entry(struct xvcpu *x, bool moved);
/* Before the run: where vCPUs are that were somewhere already. */
void publish_places(struct world *w);
/* idle.c */
void idle_begin(struct xvcpu *x);
void idle_commit(struct xvcpu *x);
void idle_finish(struct xvcpu *x);
void idle_rival(struct xvcpu *x);
/* The guest has work again after an idle spell. */
void idle_reflect(struct xvcpu *x);
/* x, off its pCPU and idle, is to run again: by an interrupt, a look or a scan. */
void idle_wake(struct xvcpu *x, enum idle_via via);
/* Accounts for the part of a committed SPIN or HOLD that has passed. */
void idle_keep_flush(struct xvcpu *x);
/* ... and it ends, by preemption. */
void idle_keep_ends(struct xvcpu *x);
void idle_until(struct engine *e, struct event *ev);
struct idle_ctx idle_context(const struct xvcpu *x);
/* The policy's next plan after `until` passed; checks it. */
struct idle_plan idle_expired(struct xvcpu *x);
/* Tells the host when the idle policy changed its view of x. */
void idle_view(struct xvcpu *x, enum idle_view view);
/* When x, spinning under `plan`, looks next at or after `at`: at the end of a turn that exits. */
ns_t idle_turn_end(const struct xvcpu *x, ns_t at);
/* Switches its mwait exits on or off, for a price. */
void idle_trap(struct xvcpu *x);
/* The vCPU's counters are shown to its policy, if that is due. */
void idle_tell_use(struct xvcpu *x);
void plan_check(const struct xvcpu *x, const struct idle_plan *plan, const char *op);
/* watch.c: words that the host watches */
int watch_init(struct world *w);
void watch_free(struct world *w);
void watch_add(struct xvcpu *x);
void watch_remove(struct xvcpu *x);
/* x's next look: no sooner than the floor of timers after `from`. */
void watch_arm(struct xvcpu *x, ns_t from);
/* The limit of x's WATCH passed. */
void watch_look(struct xvcpu *x);
/* x is on a pCPU again, or its word was taken: what stood there is gone. */
void watch_clear(struct xvcpu *x);
/* Pulses that are over and unseen, of all vCPUs. */
void watch_count_missed(struct world *w);
/* A store has changed x's word for `length` only. */
void watch_pulse(struct xvcpu *x, ns_t at, ns_t length);
/* x was switched in to look at its word itself and has work. */
void watch_self_found(struct xvcpu *x);
/* The next vCPU of a VM-wide wake-up is marked. */
void watch_mark(struct engine *e, struct event *ev);
/* x runs: the VM-wide wake-up that marked it may be complete. */
void watch_group_ran(struct xvcpu *x);
/* Work of a hypervisor that was entered already: when it will be done, with all that waits there. */
ns_t xpcpu_work(struct xpcpu *p, ns_t cost);
/* The same, and the way in and out: an exit of who runs there, or out of the C-state. */
ns_t xpcpu_visit(struct xpcpu *p, ns_t cost);
/* What it costs to leave the C-state that x holds now: nothing while its pCPU works for the host. */
ns_t idle_hold_exit(struct xvcpu *x);
/* Is x polled for by the host, which no visit has to interrupt? */
static inline bool idle_in_host(const struct xvcpu *x)
{
    return x->planned && x->committed && x->plan.in_host && x->plan.act == IDLE_SPIN;
}
/* The vCPU that spins with exits on p, NULL. */
const struct xvcpu *watch_trapping(const struct xpcpu *p);
/* x, BLOCKED, waits on another pCPU now. */
void watch_moved(struct xvcpu *x);
/* Does a comparison of values decide whether x is woken? */
bool watch_compares(const struct xvcpu *x);
/* A store to x's word is done at `at`: spinners with exits scan at the end of their turn. */
void watch_spinners(struct xvcpu *x, ns_t at);
/* x begins to spin with exits: what is to be seen already is seen at its first turn's end. */
void watch_spinner_begins(struct xvcpu *x);
/* The C-state for the next idle spell of an empty pCPU, into p->cstate. */
void xpcpu_choose_cstate(struct xpcpu *p);
/* A hypervisor entry on this pCPU: the watch lists of its sets are scanned. */
void watch_scan(struct xpcpu *p);
static inline void host_entry(struct xpcpu *p)
{
    if (p->world->nwatching > 0)
        watch_scan(p);
}
/* guesthooks.c */
void vcpu_arrival(struct engine *e, struct event *ev);
/* `exit_cost` < 0: it arrives without an exit. */
void vcpu_interrupt(struct xvcpu *x, ns_t exit_cost, enum exit_reason why, enum idle_via via);
/* distance.c */
int distance_init(struct xvm *vm); /* once its guest exists; 0 or -1 */
void distance_free(struct xvm *vm);
/* x writes a cache line of its guest; `queue`: in turn with others; it takes so many exchanges of this
 * distance. The time until it has it. */
ns_t distance_touch(struct xvcpu *x, int line, bool queue, int64_t times);
/* t runs on x from now on: the time that it loses while its working set comes in. */
ns_t distance_refill(struct xvcpu *x, const struct task *t);
static inline bool distance_caches(const struct costs *c)
{
    return c->fill_group > 0;
}
/* ple.c */
void pause_exit(struct xvcpu *x);

static inline struct xpcpu *xpcpu_of(const struct xvcpu *x)
{
    return &x->world->pcpu[x->v->pcpu];
}
/* Each exit is an entry into the hypervisor. */
static inline void count_exit(struct xvcpu *x, enum exit_reason r)
{
    x->exits[r]++;
    trace_put(x->world->host->trace, x->world->engine->now, TRACE_EXIT, x->v->id, (int32_t)r, 0);
    host_entry(xpcpu_of(x));
}

#endif
