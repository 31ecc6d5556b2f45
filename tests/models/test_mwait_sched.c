/* SPDX-License-Identifier: MIT */
/*
 * mwait-sched by hand: its operations called with made-up contexts, the plans they return compared
 * with what the rules of the file and of channel/idle_classify.h say.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "channel/idle_classify.h"
#include "channel/idle_ops.h"

extern const struct idle_ops idle_policy_mwait_sched;

static const ns_t residency[] = {2 * NS_US, 20 * NS_US, 600 * NS_US};
static const ns_t exit_latency[] = {2 * NS_US, 10 * NS_US, 133 * NS_US};

/* One VM of 4 vCPUs. `params` is YAML. */
static struct idle *vm_new(const char *params)
{
    const struct policy_head *h = &idle_policy_mwait_sched.head;
    struct idle *i = calloc(1, sizeof(*i));
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("t.yaml", params, strlen(params), &e);
    void *memory = calloc(1, h->params_size);

    cr_assert(t && i && memory);
    params_default(h->params, memory);
    cr_assert(params_read(h->params, memory, conf_root(t), "mwait-sched", &e), "%s: %s", params,
              e.n > 0 ? e.list[0].text : "");
    conf_free(t);
    *i = (struct idle){.ops = &idle_policy_mwait_sched,
                       .self = calloc(1, h->self_size),
                       .params = memory,
                       .unit = calloc(4, h->unit_size),
                       .nvcpus = 4};
    return i;
}

static void vm_free(struct idle *i)
{
    free(i->self);
    free(i->unit);
    free((void *)(uintptr_t)i->params);
    free(i);
}

static struct idle_ctx at(ns_t now, ns_t since, bool shared)
{
    return (struct idle_ctx){.now = now,
                             .next_timer = NS_NEVER,
                             .since = since,
                             .shared = shared,
                             .ncstates = 3,
                             .residency = residency,
                             .exit_latency = exit_latency};
}

static struct idle_plan enter(struct idle *i, int v, ns_t now, ns_t since, bool shared)
{
    const struct idle_ctx ctx = at(now, since, shared);

    return i->ops->enter(i, v, &ctx);
}

static struct idle_plan expire(struct idle *i, int v, ns_t now, ns_t since, bool shared)
{
    const struct idle_ctx ctx = at(now, since, shared);

    return i->ops->expire(i, v, &ctx);
}

/* A whole episode of vCPU 0 on a shared pCPU that starts at *now, which moves to its end; the guest
 * is then busy for 10 us. */
static bool episode(struct idle *i, ns_t *now, ns_t length)
{
    bool stable;

    enter(i, 0, *now, *now, true);
    stable = i->ops->reflect(i, 0, length, VIA_LOOK);
    *now += length + 10 * NS_US;
    return stable;
}

static bool episodes(struct idle *i, ns_t *now, ns_t length, int n)
{
    bool stable = false;

    for (int k = 0; k < n; k++)
        stable = episode(i, now, length);
    return stable;
}

/* -- the slice and the look -- */

Test(mwait_sched, tables_are_in_order)
{
    struct conf_errors e = {0};

    cr_expect(params_check(idle_policy_mwait_sched.head.params, "mwait-sched", &e), "%s",
              e.n > 0 ? e.list[0].text : "");
}

Test(mwait_sched, a_shared_pcpu_is_given_up_for_a_slice)
{
    static const struct {
        const char *params;
        ns_t slice;
        bool self_look, irq_waits;
    } cases[] = {
        {"{}", 50 * NS_US, false, false},
        {"{slice: 3ms}", 3 * NS_MS, false, false},
        {"{slice: 20us, look: vcpu}", 20 * NS_US, true, false},
        {"{slice: 20us, irq-wakes: off}", 20 * NS_US, false, true},
        {"{slice: 0}", 0, false, false},
        {"{slice: 0, look: vcpu}", 0, true, false},
        /* slice0 matters at 0 only; before the first verdict the slice is the fixed one. */
        {"{slice: 1us, slice0: nop}", NS_US, false, false},
        {"{slice: 70us, classify-slice: on}", 70 * NS_US, false, false},
    };

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct idle *i = vm_new(cases[k].params);
        struct idle_plan p = enter(i, 1, 5000, 5000, true);

        for (int round = 0; round < 2; round++) {
            const ns_t now = 5000 + round * 100 * NS_US;

            cr_expect(p.act == IDLE_WATCH && p.until == now + cases[k].slice, "%s, round %d: %ld",
                      cases[k].params, round, (long)p.until);
            cr_expect(p.self_look == cases[k].self_look && p.irq_waits == cases[k].irq_waits, "%s",
                      cases[k].params);
            cr_expect(p.view == IDLE_VIEW_KEEP && !p.monitored);
            p = expire(i, 1, 5000 + 100 * NS_US, 5000, true);
        }
        vm_free(i);
    }
}

Test(mwait_sched, slice_zero_spins_with_exits_if_told_so)
{
    static const char *const params[] = {"{slice: 0, slice0: nop}", "{slice: 0, slice0: yield}"};

    for (int yields = 0; yields < 2; yields++) {
        struct idle *i = vm_new(params[yields]);
        struct idle_plan p = enter(i, 0, 100, 100, true);
        const struct idle_ctx ctx = at(200, 100, true);

        cr_expect(p.act == IDLE_SPIN && p.traps && p.until == NS_NEVER && p.turn == 0);
        cr_expect(p.yields == (yields == 1) && !p.in_host);
        p = i->ops->rival(i, 0, &ctx, p);
        cr_expect(p.act == IDLE_SPIN && p.until == NS_NEVER, "a rival changes nothing");
        cr_expect(i->ops->wake(i, 0, VIA_STORE) == WAKE_ONE);
        vm_free(i);
    }
}

Test(mwait_sched, alone_it_holds_the_pcpu)
{
    struct idle *i = vm_new("{}");
    struct idle_plan p = enter(i, 2, 100, 100, false);
    struct idle_ctx ctx = at(300, 100, false);

    cr_expect(p.act == IDLE_HOLD && p.until == NS_NEVER && p.cstate == 2, "nothing is known");
    cr_expect(p.view == IDLE_VIEW_KEEP);
    cr_expect(i->ops->wake(i, 2, VIA_STORE) == WAKE_ONE);
    ctx.rivals = 1;
    p = i->ops->rival(i, 2, &ctx, p);
    cr_expect(p.act == IDLE_WATCH && p.until == 300 + 50 * NS_US, "a rival ends it");
    cr_expect(i->ops->wake(i, 2, VIA_LOOK) == WAKE_VM);

    ctx = at(500, 500, false);
    ctx.ncstates = 0;
    p = i->ops->enter(i, 2, &ctx);
    cr_expect(p.act == IDLE_WATCH, "there is no C-state to hold it in");
    cr_expect(i->ops->wake(i, 2, VIA_LOOK) == WAKE_VM, "any wait that was watched");
    cr_expect(expire(i, 2, 900, 500, false).act == IDLE_HOLD, "the others have left");

    /* The C-state follows the guest's own episodes, though the host sees none of them. */
    for (int k = 0; k < 8; k++) {
        enter(i, 2, 1000 * (k + 1) * NS_US, 1000 * (k + 1) * NS_US, false);
        i->ops->reflect(i, 2, 100 * NS_US, VIA_STORE);
    }
    p = enter(i, 2, NS_SEC, NS_SEC, false);
    cr_expect(p.act == IDLE_HOLD && p.cstate == 1, "C-state %d after 100 us episodes", p.cstate);
    vm_free(i);

    i = vm_new("{hold: off}");
    p = enter(i, 2, 100, 100, false);
    cr_expect(p.act == IDLE_WATCH && i->ops->wake(i, 2, VIA_LOOK) == WAKE_VM);
    vm_free(i);
}

Test(mwait_sched, a_satisfied_wait_wakes_the_vm)
{
    static const struct {
        const char *params;
        enum idle_wake who, by_irq;
    } cases[] = {{"{}", WAKE_VM, WAKE_ONE},
                 {"{irq-wakes-vm: on}", WAKE_VM, WAKE_VM},
                 {"{boost: off}", WAKE_VM_MARK, WAKE_ONE},
                 {"{boost: off, irq-wakes-vm: on}", WAKE_VM_MARK, WAKE_VM_MARK},
                 {"{vm-wake: off}", WAKE_ONE, WAKE_ONE},
                 {"{vm-wake: off, irq-wakes-vm: on}", WAKE_ONE, WAKE_ONE}};

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct idle *i = vm_new(cases[k].params);

        enter(i, 3, 100, 100, true);
        cr_expect(i->ops->wake(i, 3, VIA_LOOK) == cases[k].who, "%s", cases[k].params);
        cr_expect(i->ops->wake(i, 3, VIA_IRQ) == cases[k].by_irq, "%s", cases[k].params);
        vm_free(i);
    }
}

/* -- the slice classifier -- */

static ns_t slice_after(struct idle *i, ns_t now, ns_t used, uint64_t io_ops)
{
    const struct idle_use u = {.now = now, .used = used, .io_ops = io_ops};

    i->ops->use(i, &u);
    return enter(i, 0, now, now, true).until - now;
}

Test(mwait_sched, io_per_use_chooses_the_slice)
{
    struct idle *i = vm_new("{classify-slice: on}");

    /* 50 ms of use per window: 5 operations are 100 per second of use. */
    cr_expect(slice_after(i, 7 * NS_MS, NS_SEC, 1000) == 50 * NS_US,
              "the first call sets the base");
    cr_expect(i->use_at == 107 * NS_MS && i->st.windows == 0);
    cr_expect(slice_after(i, 110 * NS_MS, NS_SEC + 50 * NS_MS, 1005) == 400 * NS_US, "at 100");
    cr_expect(i->use_at == 210 * NS_MS, "the next window starts where this one was judged");
    cr_expect(slice_after(i, 210 * NS_MS, NS_SEC + 100 * NS_MS, 1011) == 20 * NS_US, "120");
    cr_expect(i->st.windows == 2 && i->st.windows_short == 1 && i->st.flips == 1);
    cr_expect(slice_after(i, 310 * NS_MS, NS_SEC + 100 * NS_MS, 1011) == 20 * NS_US, "no use");
    cr_expect(i->st.windows == 2 && i->use_at == 410 * NS_MS);
    /* One ns of use less than 6 operations at 100 per second, and one more. */
    cr_expect(slice_after(i, 410 * NS_MS, NS_SEC + 160 * NS_MS - 1, 1017) == 20 * NS_US);
    cr_expect(slice_after(i, 510 * NS_MS, NS_SEC + 220 * NS_MS, 1023) == 400 * NS_US);
    cr_expect(i->st.windows == 4 && i->st.windows_short == 2 && i->st.flips == 2);
    vm_free(i);

    i = vm_new("{}");
    cr_expect(slice_after(i, NS_MS, NS_MS, 1000) == 50 * NS_US);
    cr_expect(i->use_at == NS_NEVER, "a fixed slice asks for no windows");
    vm_free(i);

    i = vm_new("{classify-slice: on, threshold: 0, slice-short: 0, slice0: yield}");
    slice_after(i, 0, 0, 0);
    slice_after(i, 100 * NS_MS, NS_MS, 1);
    cr_expect(enter(i, 0, NS_SEC, NS_SEC, true).yields, "slice-short may be 0");
    cr_expect(i->st.windows_short == 1 && i->st.flips == 0, "the first verdict is no change");
    vm_free(i);
}

/* -- the idle classifier -- */

static const char gathers[] = "{gather: on, idle-window: 4, dwell: 20ms}";

Test(mwait_sched, a_full_window_of_long_episodes_gathers)
{
    struct idle *i = vm_new("{}");
    ns_t now = 0;

    cr_expect_not(episodes(i, &now, 5 * NS_MS, 70), "gathering is off");
    cr_expect(enter(i, 0, now, now, true).view == IDLE_VIEW_KEEP);
    vm_free(i);

    i = vm_new("{gather: on}");
    now = 0;
    cr_expect_not(episodes(i, &now, 5 * NS_MS, 15));
    cr_expect(enter(i, 0, now, now, true).view == IDLE_VIEW_ACTIVE);
    cr_expect(episode(i, &now, 5 * NS_MS), "the 16th");
    cr_expect(enter(i, 0, now, now, true).view == IDLE_VIEW_STABLE);
    cr_expect(enter(i, 1, now, now, true).view == IDLE_VIEW_ACTIVE, "each vCPU by itself");
    vm_free(i);

    /* The mean at the border, and one ns below it: the window slides on until it is long. */
    i = vm_new(gathers);
    now = 0;
    cr_expect_not(episode(i, &now, NS_MS - 1));
    cr_expect_not(episodes(i, &now, NS_MS, 3));
    cr_expect(episode(i, &now, NS_MS), "the short one has left the window");
    vm_free(i);
}

/* For two values a and b, two of each, mean (a + b) / 2 and deviation (a - b) / 2. */
Test(mwait_sched, variance_is_compared_exactly)
{
    static const struct {
        int spread;
        ns_t a, b;
        bool stable;
    } cases[] = {
        {50, 3 * NS_MS, NS_MS, true},      {50, 3 * NS_MS + 1, NS_MS, false},
        {50, 3 * NS_MS, NS_MS - 1, false}, {50, 3 * NS_MS, NS_MS + 1, true},
        {0, 2 * NS_MS, 2 * NS_MS, true},   {0, 2 * NS_MS, 2 * NS_MS + 1, false},
        {100, 3 * NS_MS, 0, true}, /* the most that two values can differ */
        {99, 3 * NS_MS, 0, false},
    };

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const struct idle_classify_rule r = {
            .window = 4, .long_mean = NS_MS, .spread = cases[k].spread};
        struct idle_classify c = {0};

        for (int j = 0; j < 4; j++)
            idle_classify_wake(&c, &r, j % 2 ? cases[k].a : cases[k].b, true, j);
        cr_expect(c.stable == cases[k].stable, "case %zu", k);
    }
}

/* What a look has not told, the wake does. */
Test(mwait_sched, a_wake_gives_the_last_word_on_length)
{
    const struct idle_classify_rule r = {.window = 2, .long_mean = 2 * NS_MS, .spread = 50};
    struct idle_classify c = {0};

    idle_classify_idle(&c, &r, 2 * NS_MS, 0);
    idle_classify_wake(&c, &r, 3 * NS_MS, true, 0);
    cr_expect_not(c.stable, "one episode");
    idle_classify_wake(&c, &r, NS_MS, true, 0);
    cr_expect(c.stable, "3 and 1 ms");

    for (int k = 0; k < 2; k++) {
        c = (struct idle_classify){0};
        idle_classify_wake(&c, &r, 2 * NS_MS, false, 0);
        idle_classify_wake(&c, &r, 2 * NS_MS - k, false, 0);
        cr_expect(c.stable == (k == 0), "parts count from `long` on");
    }
}

/* The largest window, lengths and spread, with a value that the sums would lose in 64 bits. */
Test(mwait_sched, the_sums_do_not_overflow)
{
    const struct idle_classify_rule r = {.window = IDLE_CLASSIFY_WINDOW_MAX,
                                         .long_mean = 10 * NS_SEC,
                                         .spread = IDLE_CLASSIFY_SPREAD_MAX};
    struct idle_classify c = {0};

    for (int j = 0; j < IDLE_CLASSIFY_WINDOW_MAX - 1; j++)
        idle_classify_wake(&c, &r, 0, true, 0);
    cr_expect_not(c.stable);
    /* One in 64 values has a variation of sqrt(63) = 794 %. */
    idle_classify_wake(&c, &r, IDLE_CLASSIFY_LENGTH_MAX, true, 0);
    cr_expect(c.stable);
    c.stable = false;
    cr_expect(idle_classify_window_stable(
        &c, &(struct idle_classify_rule){
                .window = IDLE_CLASSIFY_WINDOW_MAX, .long_mean = NS_SEC, .spread = 794}));
    cr_expect_not(idle_classify_window_stable(
        &c, &(struct idle_classify_rule){
                .window = IDLE_CLASSIFY_WINDOW_MAX, .long_mean = NS_SEC, .spread = 793}));
}

Test(mwait_sched, a_transient_splits_and_dwell_delays_the_return)
{
    struct idle *i = vm_new(gathers);
    ns_t now = 0, split;

    cr_expect(episodes(i, &now, 2 * NS_MS, 4));
    cr_expect(episode(i, &now, 200 * NS_US), "not below `short`: stays");
    cr_expect_not(episode(i, &now, 200 * NS_US - 1), "below: out at once");
    split = now - 10 * NS_US;
    cr_expect(enter(i, 0, now, now, true).view == IDLE_VIEW_ACTIVE);
    /* The window fills anew within 8 ms; the class waits for 20 ms after the split. */
    cr_expect_not(episodes(i, &now, 2 * NS_MS, 9));
    cr_expect(now < split + 20 * NS_MS);
    cr_expect(enter(i, 0, now, now, true).view == IDLE_VIEW_ACTIVE);
    cr_expect(expire(i, 0, split + 20 * NS_MS - 1, now, true).view == IDLE_VIEW_ACTIVE);
    cr_expect(expire(i, 0, split + 20 * NS_MS, now, true).view == IDLE_VIEW_STABLE);
    vm_free(i);

    /* After the dwell it is the window that is waited for. */
    i = vm_new("{gather: on, idle-window: 4, dwell: 0}");
    now = 0;
    cr_expect(episodes(i, &now, 2 * NS_MS, 4));
    cr_expect_not(episode(i, &now, 0));
    cr_expect_not(episodes(i, &now, 2 * NS_MS, 3), "the window was emptied");
    cr_expect(episode(i, &now, 2 * NS_MS));
    vm_free(i);
}

Test(mwait_sched, activity_splits_at_any_wake_with_work)
{
    struct idle *i = vm_new("{gather: on, idle-window: 4, dwell: 0, split-on: activity}");
    ns_t now = 0;

    cr_expect_not(episodes(i, &now, 2 * NS_MS, 4), "nobody is gathered while it has work");
    cr_expect(enter(i, 0, now, now, true).view == IDLE_VIEW_STABLE, "but at the next idle entry");
    cr_expect_not(i->ops->reflect(i, 0, 3 * NS_MS, VIA_LOOK), "however long it slept");
    now += 4 * NS_MS;
    cr_expect_not(episodes(i, &now, 2 * NS_MS, 3));
    cr_expect(enter(i, 0, now, now, true).view == IDLE_VIEW_ACTIVE);
    cr_expect_not(i->ops->reflect(i, 0, 2 * NS_MS, VIA_LOOK));
    now += 2 * NS_MS;
    cr_expect(enter(i, 0, now, now, true).view == IDLE_VIEW_STABLE, "a full window again");
    vm_free(i);
}

/* An episode that goes on takes one place in the window, however often it is looked at. */
Test(mwait_sched, a_running_episode_counts_once)
{
    struct idle *i = vm_new(gathers);
    ns_t now = 0, start;

    episodes(i, &now, 2 * NS_MS, 3);
    start = now;
    cr_expect(enter(i, 0, now, start, true).view == IDLE_VIEW_ACTIVE);
    cr_expect(expire(i, 0, start + NS_MS - 1, start, true).view == IDLE_VIEW_ACTIVE);
    cr_expect(expire(i, 0, start + NS_MS, start, true).view == IDLE_VIEW_STABLE);
    vm_free(i);

    i = vm_new(gathers);
    now = 0;
    episodes(i, &now, 2 * NS_MS, 2);
    start = now;
    enter(i, 0, now, start, true);
    for (now = start; now < start + 4 * NS_MS - 1; now += 50 * NS_US)
        cr_expect(expire(i, 0, now, start, true).view == IDLE_VIEW_ACTIVE);
    /* A wake that finds nothing begins no new one. */
    cr_expect(enter(i, 0, start + 4 * NS_MS - 1, start, true).view == IDLE_VIEW_ACTIVE);
    cr_expect_not(i->ops->reflect(i, 0, 4 * NS_MS - 1, VIA_LOOK));
    now = start + 5 * NS_MS;
    cr_expect(episode(i, &now, 2 * NS_MS), "2 + the long one + this");
    vm_free(i);

    /* A guest that never wakes. */
    i = vm_new("{gather: on}");
    enter(i, 0, 100, 100, true);
    cr_expect(expire(i, 0, 100 + 16 * NS_MS - 1, 100, true).view == IDLE_VIEW_ACTIVE);
    cr_expect(expire(i, 0, 100 + 16 * NS_MS, 100, true).view == IDLE_VIEW_STABLE);
    vm_free(i);
}

/* -- sampling -- */

/* Windows of 10 ms each 100 ms; those of vCPU v start 25 ms * v later. */
Test(mwait_sched, alone_it_exits_in_sampling_windows_only)
{
    static const struct {
        int vcpu;
        ns_t now;
        enum idle_act act;
        ns_t until;
    } cases[] = {
        {0, 0, IDLE_WATCH, 50 * NS_US},
        {0, 10 * NS_MS - 1, IDLE_WATCH, 10 * NS_MS - 1 + 50 * NS_US},
        {0, 10 * NS_MS, IDLE_HOLD, 100 * NS_MS},
        {0, 100 * NS_MS - 1, IDLE_HOLD, 100 * NS_MS},
        {0, 100 * NS_MS, IDLE_WATCH, 100 * NS_MS + 50 * NS_US},
        {1, 0, IDLE_HOLD, 25 * NS_MS},
        {1, 25 * NS_MS, IDLE_WATCH, 25 * NS_MS + 50 * NS_US},
        {1, 35 * NS_MS, IDLE_HOLD, 125 * NS_MS},
        {3, 74 * NS_MS, IDLE_HOLD, 75 * NS_MS},
        {3, 480 * NS_MS, IDLE_WATCH, 480 * NS_MS + 50 * NS_US},
    };
    struct idle *i = vm_new("{gather: on}");
    struct idle_ctx ctx = at(50 * NS_MS, 50 * NS_MS, false);

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const ns_t now = cases[k].now;
        const struct idle_plan a = enter(i, cases[k].vcpu, now, now, false);
        const struct idle_plan b = expire(i, cases[k].vcpu, now, now, false);

        cr_expect(a.act == cases[k].act && a.until == cases[k].until, "case %zu: %d %ld", k, a.act,
                  (long)a.until);
        cr_expect(b.act == cases[k].act && b.until == cases[k].until, "case %zu, expire", k);
        cr_expect(i->ops->wake(i, cases[k].vcpu, VIA_LOOK) ==
                  (a.act == IDLE_WATCH ? WAKE_VM : WAKE_ONE));
        i->ops->reflect(i, cases[k].vcpu, 0, VIA_LOOK);
    }
    ctx.gathered = true;
    cr_expect(i->ops->enter(i, 0, &ctx).act == IDLE_WATCH, "who is packed is always seen");
    vm_free(i);

    i = vm_new("{gather: on, sample-len: 0}");
    cr_expect(enter(i, 0, 0, 0, false).until == NS_NEVER);
    vm_free(i);
    i = vm_new("{gather: on, sample-len: 1s}");
    cr_expect(enter(i, 2, 0, 0, false).act == IDLE_WATCH, "always");
    vm_free(i);
    i = vm_new("{gather: on, slice: 0, slice0: nop}");
    cr_expect(enter(i, 0, 0, 0, false).until == NS_MS, "it is classified now and then");
    cr_expect(enter(i, 0, 10 * NS_MS - 100, 0, false).until == 10 * NS_MS, "the window's end");
    cr_expect(enter(i, 0, 10 * NS_MS - 100, 0, true).until == 11 * NS_MS - 100);
    vm_free(i);
}

/* vCPU 0 alone on its pCPU: idle from `start`, its plan renewed when it says so, until `end`. */
static enum idle_view alone(struct idle *i, ns_t start, ns_t end)
{
    struct idle_plan p = enter(i, 0, start, start, false);

    while (p.until < end)
        p = expire(i, 0, p.until, start, false);
    return i->ops->reflect(i, 0, end - start, VIA_STORE) ? IDLE_VIEW_STABLE : IDLE_VIEW_ACTIVE;
}

Test(mwait_sched, what_happens_under_hold_is_not_classified)
{
    struct idle *i = vm_new(gathers);
    ns_t now = 20 * NS_MS;

    for (; now < 90 * NS_MS; now += 3 * NS_MS)
        cr_expect(alone(i, now, now + 2 * NS_MS) == IDLE_VIEW_ACTIVE, "outside the windows");
    now = 100 * NS_MS;
    cr_expect(alone(i, now, now + 2 * NS_MS) == IDLE_VIEW_ACTIVE);
    cr_expect(alone(i, now + 3 * NS_MS, now + 5 * NS_MS) == IDLE_VIEW_ACTIVE);
    cr_expect(alone(i, now + 6 * NS_MS, now + 7 * NS_MS) == IDLE_VIEW_ACTIVE);
    cr_expect(alone(i, now + 8 * NS_MS, now + 9 * NS_MS) == IDLE_VIEW_STABLE, "the 4th seen");
    cr_expect(alone(i, 150 * NS_MS, 150 * NS_MS + 1) == IDLE_VIEW_STABLE, "an unseen transient");
    cr_expect(alone(i, 201 * NS_MS, 201 * NS_MS + 1) == IDLE_VIEW_ACTIVE, "a seen one");
    vm_free(i);
}

/* Of an episode longer than a window the host sees a part, which says something only if it is long. */
Test(mwait_sched, parts_of_episodes_count_when_they_are_long)
{
    struct idle *i = vm_new(gathers);

    /* Seen for 1 ms or more at either side: three parts that are known to be long. */
    alone(i, 108 * NS_MS, 150 * NS_MS);
    alone(i, 190 * NS_MS, 203 * NS_MS);
    alone(i, 208 * NS_MS, 250 * NS_MS);
    /* The first or last half millisecond: these may have been of any length. */
    cr_expect(alone(i, 309500 * NS_US, 350 * NS_MS) == IDLE_VIEW_ACTIVE);
    cr_expect(alone(i, 390 * NS_MS, 400500 * NS_US) == IDLE_VIEW_ACTIVE);
    cr_expect(alone(i, 501 * NS_MS, 503 * NS_MS) == IDLE_VIEW_STABLE, "a whole one is the fourth");
    /* A part below `short` is no transient. */
    cr_expect(alone(i, 590 * NS_MS, 600 * NS_MS + 1) == IDLE_VIEW_STABLE);
    vm_free(i);

    /* A guest that never wakes: each window is an observation of its own. */
    i = vm_new("{gather: on}");
    enter(i, 0, 10 * NS_MS, 10 * NS_MS, false);
    for (int k = 1; k <= 15; k++) {
        struct idle_plan p = expire(i, 0, k * 100 * NS_MS, 10 * NS_MS, false);

        while (p.act == IDLE_WATCH) {
            cr_expect(p.view == IDLE_VIEW_ACTIVE, "window %d", k);
            p = expire(i, 0, p.until, 10 * NS_MS, false);
        }
    }
    cr_expect(expire(i, 0, 1600 * NS_MS, 10 * NS_MS, false).view == IDLE_VIEW_ACTIVE);
    cr_expect(expire(i, 0, 1601 * NS_MS, 10 * NS_MS, false).view == IDLE_VIEW_STABLE, "the 16th");
    vm_free(i);
}

/* The plan turns from HOLD to WATCH in the middle of an episode: the host sees the rest. */
Test(mwait_sched, a_rival_makes_the_rest_visible)
{
    struct idle *i = vm_new("{gather: on, idle-window: 1}");
    struct idle_ctx ctx = at(50 * NS_MS, 20 * NS_MS, false);
    struct idle_plan p = enter(i, 0, 20 * NS_MS, 20 * NS_MS, false);

    cr_expect(p.act == IDLE_HOLD && p.until == 100 * NS_MS);
    ctx.rivals = 1;
    p = i->ops->rival(i, 0, &ctx, p);
    cr_expect(p.act == IDLE_WATCH && p.view == IDLE_VIEW_ACTIVE, "30 ms were not seen");
    cr_expect(expire(i, 0, 51 * NS_MS - 1, 20 * NS_MS, true).view == IDLE_VIEW_ACTIVE);
    cr_expect(expire(i, 0, 51 * NS_MS, 20 * NS_MS, true).view == IDLE_VIEW_STABLE);
    vm_free(i);
}
