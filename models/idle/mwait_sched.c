/* SPDX-License-Identifier: MIT */
/*
 * mwait-sched (OSDI'26, "What Are You (M)Waiting For"): a guest's mwait gives a shared pCPU up, and the host looks at the
 * monitored word once per slice; alone on its pCPU the vCPU waits in a C-state without any exit. The
 * four parts of the paper are
 *   - the slice, fixed or chosen for the VM by its I/O operations per second of use;
 *   - the VM-wide wake: one satisfied wait makes the VM's waiting vCPUs runnable, since the one that
 *     holds a lock or comes next in a barrier may be among them;
 *   - the idle classifier (channel/idle_classify.h), which asks the host to pack vCPUs that idle long
 *     and evenly, and to give the others a pCPU of their own;
 *   - passthrough for a vCPU that has its pCPU alone.
 *
 * Always true: the host learns of an episode only by mwait exits. On a pCPU of its own a vCPU exits
 * in sampling windows only, a fixed share of the time, and what happens outside is not classified.
 * With gathering off nobody is sampled and nothing is classified.
 */
#include "channel/idle_classify.h"
#include "channel/idle_predict.h"

enum slice0 { SLICE0_REARM, SLICE0_NOP, SLICE0_YIELD };
enum looker { LOOK_HOST, LOOK_VCPU };

struct mwait_sched {
    ns_t slice, slice_short, slice_long, slice_window;
    int64_t threshold;
    int look;   /* enum looker */
    int slice0; /* enum slice0 */
    bool classify_slice, irq_wakes, vm_wake, irq_wakes_vm, boost, gather, passthrough;
    struct idle_classify_rule rule;
    ns_t sample_len, sample_period;
    struct idle_hold hold;
};

/* Of a VM: the slice classifier. */
struct vm_use {
    bool begun, judged, io_bound;
    ns_t used; /* both at the start of the window */
    uint64_t io_ops;
};

/* Of a vCPU. */
struct waiter {
    struct idle_predict predict;
    struct idle_classify seen;
    bool idle;      /* between `enter` and `reflect` */
    bool wakes_vm;  /* by its plan: it gave its pCPU up */
    ns_t since;     /* start of the episode */
    ns_t seen_from; /* since when the host sees it, NS_NEVER = it does not */
};

static const char *const slice0_values[] = {"rearm", "nop", "yield", NULL};
static const char *const look_values[] = {"host", "vcpu", NULL};
static const char *const split_values[] = {"transient", "activity", NULL};

#define FIELD(member) offsetof(struct mwait_sched, member)
static const struct param mwait_sched_params[] = {
    {"slice", PARAM_NS, FIELD(slice), "50us", 0, 0, NULL,
     "time between two looks; with classify-slice, until the first verdict",
     "OSDI'26 (mwait): 20-50us is best for I/O and synchronisation"},
    {"look", PARAM_ENUM, FIELD(look), "host", 0, 0, look_values,
     "who looks: the host, or the vCPU, which is switched in for it", "assumed"},
    {"slice0", PARAM_ENUM, FIELD(slice0), "rearm", 0, 0, slice0_values,
     "slice 0: look again at once, or mwait does nothing, or each mwait yields", "assumed"},
    {"classify-slice", PARAM_BOOL, FIELD(classify_slice), "off", 0, 0, NULL,
     "slice-short or slice-long by what the VM does", "assumed: sweeps fix the slice"},
    {"slice-short", PARAM_NS, FIELD(slice_short), "20us", 0, 0, NULL, "slice of an I/O-bound VM",
     "OSDI'26 (mwait): 20-50us"},
    {"slice-long", PARAM_NS, FIELD(slice_long), "400us", 0, 0, NULL, "slice of a CPU-bound VM",
     "assumed; OSDI'26 (mwait): longer is better, host use is 8-10 % at 400us"},
    {"slice-window", PARAM_NS, FIELD(slice_window), "100ms", NS_US, 1000 * NS_SEC, NULL,
     "least time between two verdicts", "assumed"},
    {"threshold", PARAM_INT, FIELD(threshold), "100", 0, 1000000, NULL,
     "I/O operations per second of vCPU use, above = I/O-bound",
     "OSDI'26 (mwait): 100; its unit is assumed: IOPS over the share of one vCPU"},
    {"irq-wakes", PARAM_BOOL, FIELD(irq_wakes), "on", 0, 0, NULL,
     "an interrupt wakes at once and does not wait for a look", "assumed"},
    {"vm-wake", PARAM_BOOL, FIELD(vm_wake), "on", 0, 0, NULL,
     "one satisfied wait makes all waiting vCPUs of the VM runnable", "OSDI'26 (mwait)"},
    {"irq-wakes-vm", PARAM_BOOL, FIELD(irq_wakes_vm), "off", 0, 0, NULL,
     "an interrupt wakes the VM, too; off: only a look that finds its condition met does",
     "assumed; OSDI'26 (mwait): an fsync waits up to one slice longer, so off"},
    {"boost", PARAM_BOOL, FIELD(boost), "on", 0, 0, NULL,
     "a VM-wide wake moves queued vCPUs to the head of their queues", "assumed"},
    {"gather", PARAM_BOOL, FIELD(gather), "off", 0, 0, NULL,
     "vCPUs that idle long and evenly ask to be packed; off = the placement says who shares",
     "assumed: slice sweeps run with gathering fixed"},
    {"idle-window", PARAM_INT, FIELD(rule.window), "16", 1, IDLE_CLASSIFY_WINDOW_MAX, NULL,
     "idle episodes in the window of the idle classifier", "assumed"},
    {"long", PARAM_NS, FIELD(rule.long_mean), "1ms", NS_US, 10 * NS_SEC, NULL,
     "mean episode from which a window is long", "OSDI'26 (mwait): the upper end of 0.2-1ms"},
    {"short", PARAM_NS, FIELD(rule.short_end), "200us", 0, 0, NULL,
     "an episode below this is a transient", "OSDI'26 (mwait): the lower end of 0.2-1ms"},
    {"spread", PARAM_INT, FIELD(rule.spread), "100", 0, IDLE_CLASSIFY_SPREAD_MAX, NULL,
     "largest coefficient of variation of low variance, percent",
     "assumed: that of an exponential distribution"},
    {"dwell", PARAM_NS, FIELD(rule.dwell), "100ms", 0, 0, NULL,
     "least time from a split to the next gathering", "assumed"},
    {"split-on", PARAM_ENUM, FIELD(rule.split_on), "transient", 0, 0, split_values,
     "a packed vCPU is taken out at a transient, or at any wake with work",
     "OSDI'26 (mwait): at brief activity; the reading is assumed"},
    {"sample-len", PARAM_NS, FIELD(sample_len), "10ms", 0, 0, NULL,
     "length of a sampling window of a vCPU alone on its pCPU, 0 = none", "assumed"},
    {"sample-period", PARAM_NS, FIELD(sample_period), "100ms", NS_US, 1000 * NS_SEC, NULL,
     "from one sampling window to the next", "assumed"},
    {"hold", PARAM_BOOL, FIELD(passthrough), "on", 0, 0, NULL,
     "a vCPU alone on its pCPU waits in a C-state, without exits", "OSDI'26 (mwait)"},
    IDLE_HOLD_PARAMS(struct mwait_sched, hold),
    PARAM_END};

static const char *mwait_sched_check(const void *params, int ncstates)
{
    const struct mwait_sched *p = params;

    if (p->rule.short_end > p->rule.long_mean)
        return "short is above long: an episode would be both";
    if (p->sample_len > p->sample_period)
        return "sample-len is above sample-period";
    return idle_hold_check(&p->hold, ncstates);
}

/* -- the slice -- */

static void mwait_sched_use(struct idle *i, const struct idle_use *u)
{
    const struct mwait_sched *p = i->params;
    struct vm_use *vm = i->self;
    const ns_t used = u->used - vm->used;
    const idle_classify_wide ops = (idle_classify_wide)(u->io_ops - vm->io_ops);

    i->use_at = p->classify_slice ? u->now + p->slice_window : NS_NEVER;
    if (vm->begun && used > 0) {
        /* The threshold is per second, `used` in ns. */
        const bool io_bound =
            ops * NS_SEC > (idle_classify_wide)p->threshold * (idle_classify_wide)used;

        i->st.windows++;
        i->st.windows_short += io_bound;
        i->st.flips += vm->judged && io_bound != vm->io_bound;
        vm->io_bound = io_bound;
        vm->judged = true;
    }
    vm->begun = true;
    vm->used = u->used;
    vm->io_ops = u->io_ops;
}

static ns_t slice_now(const struct idle *i)
{
    const struct mwait_sched *p = i->params;
    const struct vm_use *vm = i->self;

    if (!vm->judged)
        return p->slice;
    return vm->io_bound ? p->slice_short : p->slice_long;
}

/* -- sampling windows: one per period, spread evenly over the VM's vCPUs -- */

/* How far into its own period a vCPU is. */
static ns_t sample_phase(const struct idle *i, int vcpu, ns_t now)
{
    const struct mwait_sched *p = i->params;
    const ns_t offset = p->sample_period / i->nvcpus * vcpu;

    return (now + p->sample_period - offset) % p->sample_period;
}

static bool sampled(const struct idle *i, int vcpu, ns_t now)
{
    const struct mwait_sched *p = i->params;

    return p->gather && sample_phase(i, vcpu, now) < p->sample_len;
}

static ns_t next_sample(const struct idle *i, int vcpu, ns_t now)
{
    const struct mwait_sched *p = i->params;

    if (!p->gather || p->sample_len == 0)
        return NS_NEVER;
    return now + p->sample_period - sample_phase(i, vcpu, now);
}

/* -- the plan -- */

static bool has_company(const struct idle_ctx *ctx)
{
    return ctx->shared || ctx->gathered || ctx->rivals > 0;
}

/* Does the vCPU's mwait exit? */
static bool exits_on(const struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    const struct mwait_sched *p = i->params;

    return has_company(ctx) || !p->passthrough || ctx->ncstates == 0 || sampled(i, vcpu, ctx->now);
}

/* Tells the classifier what the host has seen of the episode up to now. */
static void observe(struct waiter *w, const struct idle_classify_rule *rule,
                    const struct idle_ctx *ctx, bool visible)
{
    if (!w->idle || w->since != ctx->since) {
        w->idle = true;
        w->since = ctx->since;
        w->seen_from = visible ? ctx->since : NS_NEVER;
    }
    if (w->seen_from == NS_NEVER && visible)
        w->seen_from = ctx->now;
    idle_classify_idle(&w->seen, rule, w->seen_from == NS_NEVER ? 0 : ctx->now - w->seen_from,
                       ctx->now);
    if (!visible) {
        w->seen_from = NS_NEVER;
        idle_classify_lost(&w->seen);
    }
}

/* A spin has no looks: with gathering it stops now and then to be classified, and where it samples
 * not after the window. */
static ns_t spin_limit(const struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    const struct mwait_sched *p = i->params;
    const ns_t left = p->sample_len - sample_phase(i, vcpu, ctx->now);

    if (!p->gather)
        return NS_NEVER;
    if (!has_company(ctx) && left > 0 && left < p->rule.long_mean)
        return ctx->now + left;
    return ctx->now + p->rule.long_mean;
}

static struct idle_plan exiting_plan(const struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    const struct mwait_sched *p = i->params;
    const ns_t slice = slice_now(i);

    if (slice == 0 && p->slice0 != SLICE0_REARM)
        return (struct idle_plan){.act = IDLE_SPIN,
                                  .until = spin_limit(i, vcpu, ctx),
                                  .traps = true,
                                  .yields = p->slice0 == SLICE0_YIELD};
    return (struct idle_plan){.act = IDLE_WATCH,
                              .until = ctx->now + slice,
                              .self_look = p->look == LOOK_VCPU,
                              .irq_waits = !p->irq_wakes};
}

static struct idle_plan plan_now(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    const struct mwait_sched *p = i->params;
    struct waiter *w = idle_unit(i, vcpu);
    const bool visible = exits_on(i, vcpu, ctx);
    struct idle_plan plan;

    if (p->gather)
        observe(w, &p->rule, ctx, visible);
    if (visible) {
        plan = exiting_plan(i, vcpu, ctx);
    } else {
        plan = idle_hold_plan(&p->hold, &w->predict, ctx);
        plan.until = next_sample(i, vcpu, ctx->now);
    }
    if (p->gather)
        plan.view = w->seen.stable ? IDLE_VIEW_STABLE : IDLE_VIEW_ACTIVE;
    w->wakes_vm = plan.act == IDLE_WATCH;
    return plan;
}

static struct idle_plan mwait_sched_enter(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    const struct mwait_sched *p = i->params;
    struct waiter *w = idle_unit(i, vcpu);

    /* The guest's own governor runs at each idle entry, whatever becomes of its mwait. */
    if (p->hold.correction)
        idle_predict_begin(&w->predict, ctx, p->hold.far_timer);
    return plan_now(i, vcpu, ctx);
}

static struct idle_plan mwait_sched_rival(struct idle *i, int vcpu, const struct idle_ctx *ctx,
                                          struct idle_plan now)
{
    /* A spin goes on, as slice0 asks for it. */
    return now.act == IDLE_HOLD ? plan_now(i, vcpu, ctx) : now;
}

static enum idle_wake mwait_sched_wake(struct idle *i, int vcpu, enum idle_via via)
{
    const struct mwait_sched *p = i->params;
    const struct waiter *w = idle_unit(i, vcpu);

    if (!p->vm_wake || !w->wakes_vm || (via != VIA_LOOK && !p->irq_wakes_vm))
        return WAKE_ONE;
    return p->boost ? WAKE_VM : WAKE_VM_MARK;
}

static bool mwait_sched_reflect(struct idle *i, int vcpu, ns_t episode, enum idle_via via)
{
    const struct mwait_sched *p = i->params;
    struct waiter *w = idle_unit(i, vcpu);
    const ns_t end = w->since + episode;

    (void)via;
    idle_predict_add(&w->predict, episode);
    if (p->gather && w->idle && w->seen_from <= end)
        idle_classify_wake(&w->seen, &p->rule, end - w->seen_from, w->seen_from == w->since, end);
    w->idle = false;
    return w->seen.stable;
}

const struct idle_ops idle_policy_mwait_sched = {
    .head =
        {
            .abi = TANDEM_POLICY_ABI,
            .name = "mwait-sched",
            .summary =
                "mwait gives a shared pCPU up, the host looks once per slice; alone: a C-state",
            .params = mwait_sched_params,
            .params_size = sizeof(struct mwait_sched),
            .check = mwait_sched_check,
            .self_size = sizeof(struct vm_use),
            .unit_size = sizeof(struct waiter),
        },
    .enter = mwait_sched_enter,
    .expire = mwait_sched_enter,
    .rival = mwait_sched_rival,
    .wake = mwait_sched_wake,
    .reflect = mwait_sched_reflect,
    .use = mwait_sched_use,
    .wants_timer = true,
};
