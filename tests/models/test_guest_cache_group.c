/* SPDX-License-Identifier: MIT */
/*
 * Where cache-group, cps and llc-gather put the tasks of a communication group. Whole runs:
 * test_guest_gather_run.c.
 */
#include "models/guest/gather.h"
#include "tests/models/guest_bench.h"

#define WAKE(b, task, prev, want)                                                                  \
    do {                                                                                           \
        const int woken = bench_wake(b, task, prev);                                               \
        cr_expect_eq(woken, want, "line %d: task %d on vcpu %d, expected %d", __LINE__, task,      \
                     woken, want);                                                                 \
    } while (0)

/* Six members, then two tasks without a group. Eight vCPUs in two cache groups, all of them known. */
static struct bench *eight(const char *policy, const char *map)
{
    struct bench *b =
        bench_new((struct bench_setting){policy, 8, 4, true, 1, {6, 2}, {1, 0}, 4, 0});

    bench_map(b, map);
    bench_interrupt(b, 0);
    bench_interrupt(b, 4);
    return b;
}

/* Something foreign runs on each of these. */
static struct bench *hogs(struct bench *b, const char *cpus)
{
    for (; *cpus; cpus++)
        bench_hog(b, *cpus - '0', 1);
    return b;
}

static void expect_gathered(const char *policy)
{
    struct bench *b = eight(policy, "00001111");

    /* The first stays where it was; the others come from both groups. */
    WAKE(b, 0, 4, 4);
    WAKE(b, 1, 0, 5);
    WAKE(b, 2, 6, 6);
    WAKE(b, 3, 1, 7);
    /* No room: the next cache group gets the rest. */
    WAKE(b, 4, 7, 0);
    WAKE(b, 5, 2, 2);
    /* Split: each keeps to its part, though there is an idle vCPU in the home. */
    bench_block(b, 5);
    bench_block(b, 0);
    WAKE(b, 5, 2, 2);
    WAKE(b, 0, 4, 4);
    /* Two sleep, but room is for all who were named. */
    bench_block(b, 5);
    bench_block(b, 0);
    bench_block(b, 4);
    WAKE(b, 4, 0, 0);
    /* Is it for those who run, the home has room for the four others. */
    gather_self(b->k)->room = GATHER_RUNNABLE;
    bench_block(b, 4);
    WAKE(b, 4, 0, 4);
    bench_free(b);
}

/* Five members and groups of four: the fifth takes nobody's place when he sleeps. */
Test(guest_gather, a_member_that_sleeps_keeps_its_place)
{
    struct bench *b = eight("cache-group", "00001111");

    WAKE(b, 0, 4, 4);
    WAKE(b, 1, 5, 5);
    WAKE(b, 2, 6, 6);
    WAKE(b, 3, 7, 7);
    WAKE(b, 4, 0, 0);
    bench_block(b, 2);
    bench_block(b, 4);
    WAKE(b, 4, 0, 0);
    WAKE(b, 2, 6, 6);
    bench_free(b);
}

Test(guest_gather, gathers_when_there_is_room_and_splits_when_not)
{
    expect_gathered("cache-group");
    expect_gathered("cps");
    expect_gathered("llc-gather");
}

Test(guest_gather, the_rest_is_gathered_too)
{
    /* Three groups of two for six members, which come from the first. */
    struct bench *b = eight("cache-group", "00112233");

    bench_hog(b, 6, 1);
    bench_hog(b, 7, 1);
    WAKE(b, 0, 0, 0);
    WAKE(b, 1, 0, 1);
    WAKE(b, 2, 0, 2);
    /* Was alone at 4: goes where others of the rest are. */
    WAKE(b, 3, 4, 3);
    WAKE(b, 4, 0, 4);
    WAKE(b, 5, 3, 5);
    bench_free(b);
}

Test(guest_gather, never_stacks_while_a_vcpu_is_idle)
{
    struct bench *b = hogs(eight("cache-group", "00111111"), "3456"), *bare;

    /* The larger group has more room, but two idle vCPUs. */
    WAKE(b, 0, 7, 7);
    WAKE(b, 1, 7, 2);
    WAKE(b, 2, 7, 0);
    WAKE(b, 3, 7, 1);
    /* Nobody is idle: as bare. */
    bare = hogs(eight("bare", ""), "01234567");
    for (int t = 4; t < 6; t++)
        WAKE(b, t, t, bench_wake(bare, t, t));
    bench_free(bare);
    bench_free(b);
    /* One of which nothing is known is idle, too. Stock Linux looks no further than 3. */
    b = hogs(eight("cache-group", "00......"), "23456");
    WAKE(b, 0, 0, 0);
    WAKE(b, 1, 0, 1);
    WAKE(b, 2, 0, 7);
    bench_free(b);
    /* And one that is not where it was believed, but in a group that was searched before. */
    b = hogs(eight("cache-group", "00112233"), "1234567");
    WAKE(b, 0, 0, 0);
    bench_hog(b, 6, -1);
    bench_map(b, "......1");
    WAKE(b, 1, 0, 6);
    bench_free(b);
}

Test(guest_gather, a_read_corrects_what_was_believed)
{
    struct bench *b = eight("cache-group", "00001111");

    WAKE(b, 0, 0, 0);
    /* vCPU 1 is elsewhere meanwhile. */
    bench_map(b, "01");
    WAKE(b, 1, 0, 2);
    /* 5 has come; an interrupt there reads it. 3 is busy. */
    bench_hog(b, 3, 1);
    bench_map(b, "0...10");
    bench_interrupt(b, 5);
    WAKE(b, 2, 0, 5);
    bench_free(b);
    /* Without the interrupt it is not known. */
    b = eight("cache-group", "00001111");
    WAKE(b, 0, 0, 0);
    WAKE(b, 1, 1, 1);
    bench_hog(b, 2, 1);
    bench_hog(b, 3, 1);
    bench_map(b, ".....0");
    WAKE(b, 2, 0, 4);
    bench_free(b);
}

Test(guest_gather, a_vcpu_takes_its_members_along)
{
    struct bench *b = eight("cache-group", "00001111");

    WAKE(b, 0, 0, 0);
    WAKE(b, 1, 1, 1);
    /* The host moves both; the interrupt on 0 reads 0, and then 0 .. 3 are next in rotation. */
    bench_map(b, "22");
    bench_interrupt(b, 0);
    /* Two vCPUs in group 2 have no room for three, group 1 has. */
    WAKE(b, 2, 5, 5);
    /* A third one comes there: most members are there, and room for four is not anywhere. */
    bench_hog(b, 4, 1);
    bench_map(b, "222");
    bench_interrupt(b, 2);
    bench_block(b, 2);
    bench_wake(b, 2, 5);
    cr_expect_eq(b->k->task[2].cpu, 2);
    bench_free(b);
}

Test(guest_gather, communication_groups_do_not_share_a_home)
{
    struct bench *b =
        bench_new((struct bench_setting){"cache-group", 8, 2, true, 1, {4, 4}, {1, 2}, 0, 0});

    bench_map(b, "00001111");
    bench_interrupt(b, 0);
    bench_interrupt(b, 4);
    for (int t = 0; t < 4; t++)
        WAKE(b, t, 0, t);
    for (int t = 0; t < 4; t++)
        bench_block(b, t);
    /* Those of 1 sleep, the vCPUs are idle; still the other cache group has more of them free. */
    for (int t = 4; t < 8; t++)
        WAKE(b, t, 0, t);
    for (int t = 0; t < 4; t++)
        WAKE(b, t, 7, t);
    bench_free(b);
    /* A vCPU is idle where the other member is, but three that sleep there leave no room for two. */
    b = bench_new((struct bench_setting){"cache-group", 8, 2, true, 1, {3, 2}, {1, 2}, 0, 0});
    bench_map(b, "00001111");
    bench_interrupt(b, 0);
    bench_interrupt(b, 4);
    for (int t = 0; t < 3; t++)
        WAKE(b, t, 0, t);
    bench_move(b, 3, 3);
    for (int t = 0; t < 3; t++)
        bench_block(b, t);
    WAKE(b, 4, 0, 4);
    bench_free(b);
}

Test(guest_gather, members_count_where_they_run_and_until_they_end)
{
    struct bench *b = eight("cache-group", "00001111");

    WAKE(b, 0, 0, 0);
    WAKE(b, 1, 1, 1);
    WAKE(b, 2, 2, 2);
    /* Balancing moves two, and the third comes to them. */
    bench_move(b, 0, 4);
    bench_move(b, 1, 5);
    bench_block(b, 2);
    WAKE(b, 2, 2, 6);
    cr_expect_eq(gather_group(b->k, gather_cpu(b->k, 4)->group)->members[1], 3);
    cr_expect_eq(gather_group(b->k, gather_cpu(b->k, 0)->group)->members[1], 0);
    for (int t = 0; t < 3; t++) {
        bench_block(b, t);
        b->k->ops->task_fini(b->k, &b->k->task[t]);
    }
    cr_expect_eq(gather_group(b->k, gather_cpu(b->k, 4)->group)->members[1], 0);
    cr_expect_eq(gather_self(b->k)->tag[1].runnable, 0);
    bench_free(b);
}

Test(guest_gather, cps_wants_low_pcpus)
{
    struct bench *b = eight("cps", "00001111");

    WAKE(b, 0, 0, 0);
    channel_publish_pcpu(b->c, 0, 1, false);
    /* Low in the group before a lower number that is high. */
    channel_publish_pcpu(b->c, 1, 1, false);
    WAKE(b, 1, 7, 2);
    channel_publish_pcpu(b->c, 2, 1, false);
    /* Low outside before high inside. */
    channel_publish_pcpu(b->c, 3, 1, false);
    WAKE(b, 2, 0, 4);
    channel_publish_pcpu(b->c, 4, 1, false);
    /* None: by cps-load, on the low one with the fewest tasks rather than on an idle high one. */
    for (int c = 5; c < 8; c++)
        channel_publish_pcpu(b->c, c, c != 6, false);
    bench_hog(b, 6, 1);
    WAKE(b, 3, 0, 6);
    /* The interrupted vCPU runs: that makes the load. */
    cr_expect_eq(bench_wake_by(b, 4, 3, 3, SELECT_IRQ), 3);
    bench_free(b);
    /* In cache-group the load is no matter. */
    b = eight("cache-group", "00001111");
    WAKE(b, 0, 0, 0);
    WAKE(b, 1, 7, 1);
    bench_free(b);
}

/* Rows x 10000, degrees x 100, queues. */
static void expect_price(struct bench *b, int task, int prev, int cpu, ns_t want, int line)
{
    const int woken = bench_wake(b, task, prev);
    const ns_t price = bench_price(b);

    cr_expect(woken == cpu && price == want, "line %d: vcpu %d for %lld, expected %d for %lld",
              line, woken, (long long)price, cpu, (long long)want);
    bench_free(b);
}
#define PRICE(b, task, prev, cpu, want) expect_price(b, task, prev, cpu, want, __LINE__)

Test(guest_gather, a_selection_costs_the_rows_it_reads)
{
    PRICE(eight("cache-group", "00001111"), 0, 0, 0, 4 * 10000 + 1);
    PRICE(hogs(eight("cache-group", "00001111"), "0"), 0, 0, 1, 4 * 10000 + 2);
    /* One more row for each idle vCPU that was not read before: 5. */
    PRICE(hogs(eight("cache-group", "00001111"), "01234"), 0, 0, 5, 5 * 10000 + 6);
    PRICE(eight("cps", "00001111"), 0, 0, 0, 4 * 10000 + 1);
    PRICE(hogs(eight("cps", "00001111"), "0"), 0, 0, 1, 4 * 10000 + 100 + 2);
    /* Nothing to read. */
    PRICE(eight("llc-gather", "00001111"), 0, 0, 0, 1);
    /* Without a communication group: as bare, as cps-load. */
    PRICE(hogs(eight("cache-group", "00001111"), "0"), 6, 0, 1, 2);
    PRICE(hogs(eight("bare", "00001111"), "0"), 6, 0, 1, 2);
    PRICE(hogs(eight("cps", "00001111"), "0"), 6, 0, 1, 100 + 2);
    PRICE(hogs(eight("cps-load", "00001111"), "0"), 6, 0, 1, 100 + 2);
}

/* Two tasks' interrupts at once on vCPU 3. */
static void expect_irq(const char *policy, bool channel, ns_t want)
{
    struct bench *b = bench_new((struct bench_setting){policy, 8, 2, channel, 1, {2}, {1}, 0, 0});
    struct gcpu *g = &b->k->cpu[3];

    bench_map(b, "00001111");
    for (int i = 0; i < 2; i++) {
        b->k->task[i].irq_cpu = 3;
        task_irq(&b->k->task[i], IRQ_TIMER);
    }
    gcpu_take_irqs(g);
    cr_expect_eq(g->ovh, want, "%s: %lld ns, expected %lld", policy, (long long)g->ovh,
                 (long long)want);
    bench_free(b);
}

Test(guest_gather, an_interrupt_costs_the_rows_it_reads)
{
    const ns_t handlers = 2 * 100000000;

    /* And one look at what runs there, to move it home. */
    expect_irq("cache-group", true, handlers + 4 * 10000 + 1);
    expect_irq("cps", true, handlers + 4 * 10000 + 1);
    expect_irq("cache-group", false, handlers);
    /* Flat, for each, when the policy does not say what it reads. */
    expect_irq("cps-load", true, handlers + 2 * 1000000);
    expect_irq("cps-load", false, handlers);
    expect_irq("llc-gather", true, handlers);
}

/* -- walks: two benches are asked the same, at random -- */

#define WALK_TASKS 24
#define WALK_CPUS  16

struct walk {
    struct bench *b[2];
    struct rng r;
    bool awake[WALK_TASKS];
    bool rows; /* the host moves vCPUs, interrupts read rows */
    bool prices;
    int gathered; /* wake-ups that did not go to the previous vCPU */
};

static void walk_wake(struct walk *w, int i, int step)
{
    const int prev = w->b[0]->k->task[i].cpu, waker = (int)rng_below(&w->r, WALK_CPUS);
    const unsigned flags = rng_below(&w->r, 8) == 0 ? SELECT_FORK : 0;
    int cpu[2];
    ns_t price[2];

    for (int j = 0; j < 2; j++) {
        cpu[j] = bench_wake_by(w->b[j], i, prev, waker, flags);
        price[j] = bench_price(w->b[j]);
    }
    w->gathered += cpu[0] != prev;
    cr_assert_eq(cpu[0], cpu[1], "step %d: task %d on vcpu %d or %d", step, i, cpu[0], cpu[1]);
    cr_assert(!w->prices || price[0] == price[1], "step %d: %lld or %lld ns", step,
              (long long)price[0], (long long)price[1]);
}

static void walk(struct walk *w)
{
    rng_init(&w->r, 7, RNG_VM, 0, RNG_POLICY);
    for (int step = 0; step < 20000; step++) {
        const int i = (int)rng_below(&w->r, WALK_TASKS);
        const int c = (int)rng_below(&w->r, WALK_CPUS), group = (int)rng_below(&w->r, 4);

        for (int j = 0; w->rows && j < 2; j++) {
            if (step % 4 == 0)
                channel_map(w->b[j]->end, c, c, group);
            if (step % 5 == 0)
                bench_interrupt(w->b[j], c);
        }
        if (!w->awake[i])
            walk_wake(w, i, step);
        for (int j = 0; w->awake[i] && j < 2; j++)
            bench_block(w->b[j], i);
        w->awake[i] = !w->awake[i];
    }
    cr_expect_gt(w->gathered, 2000);
    for (int j = 0; j < 2; j++)
        bench_free(w->b[j]);
}

static struct bench *walker(const char *policy, bool channel, uint64_t seed, int llc, bool tags)
{
    return bench_new((struct bench_setting){policy,
                                            WALK_CPUS,
                                            4,
                                            channel,
                                            seed,
                                            {10, 6, 4, 4},
                                            {tags ? 1 : 0, tags ? 2 : 0, tags ? 3 : 0, 0},
                                            llc,
                                            0});
}

Test(guest_gather, is_stock_without_the_channel_or_a_tag)
{
    static const char *const like[][2] = {
        {"cache-group", "bare"}, {"cps", "cps-load"}, {"llc-gather", "bare"}};

    for (int i = 0; i < 3; i++) {
        struct walk off = {
            {walker(like[i][0], false, 1, 0, true), walker(like[i][1], false, 1, 0, true)},
            .prices = true};
        struct walk tagless = {
            .b = {walker(like[i][0], true, 1, 0, false), walker(like[i][1], true, 1, 0, false)},
            .prices = true};

        walk(&off);
        walk(&tagless);
    }
}

Test(guest_gather, ids_are_names_only)
{
    static const char *const policy[] = {"cache-group", "cps"};

    for (int i = 0; i < 2; i++) {
        struct walk w = {
            .b = {walker(policy[i], true, 1, 0, true), walker(policy[i], true, 2, 0, true)},
            .rows = true,
            .prices = true};
        bool same = true;

        for (int g = 0; g < 4; g++) {
            for (int j = 0; j < 2; j++)
                channel_map(w.b[j]->end, 0, 0, g);
            same = same && channel_group(w.b[0]->end, 0) == channel_group(w.b[1]->end, 0);
        }
        cr_assert(!same, "both seeds give the same ids");
        walk(&w);
    }
}

Test(guest_gather, llc_gather_is_cache_group_with_another_belief)
{
    struct walk w = {
        .b = {walker("llc-gather", true, 1, 4, true), walker("cache-group", true, 1, 4, true)}};

    bench_map(w.b[1], "0000111122223333");
    for (int c = 0; c < WALK_CPUS; c += 4)
        bench_interrupt(w.b[1], c);
    walk(&w);
}

/* Counts are sums over vCPUs, whatever has happened. */
Test(guest_gather, counts_add_up)
{
    struct bench *b = walker("cache-group", true, 3, 0, true);
    struct rng r;
    bool awake[WALK_TASKS] = {0};

    rng_init(&r, 8, RNG_VM, 0, RNG_POLICY);
    for (int step = 0; step < 5000; step++) {
        const int i = (int)rng_below(&r, WALK_TASKS), c = (int)rng_below(&r, WALK_CPUS);
        int members = 0, cpus = 0, known = 0, placed = 0, runnable = 0, woken = 0;

        channel_map(b->end, c, c, (int)rng_below(&r, 4));
        if (awake[i])
            bench_block(b, i);
        else
            bench_wake(b, i, c);
        awake[i] = !awake[i];
        for (int s = 0; s < gather_self(b->k)->ngroups; s++) {
            const struct gather_group *g = gather_group(b->k, s);

            for (int cpu = g->first, n = g->ncpus; n > 0; cpu = gather_cpu(b->k, cpu)->next, n--)
                cr_assert_eq(gather_cpu(b->k, cpu)->group, s);
            for (int t = 1; t <= 3; t++)
                members += g->ncpus ? g->members[t] : 0;
            placed += g->ncpus ? g->placed : 0;
            cpus += g->ncpus;
        }
        for (int cpu = 0; cpu < WALK_CPUS; cpu++) {
            known += gather_cpu(b->k, cpu)->group >= 0;
            for (struct task *t = gather_cpu(b->k, cpu)->members; t; t = gather_task(b->k, t)->next)
                members -= gather_cpu(b->k, cpu)->group >= 0;
        }
        for (int t = 1; t <= 3; t++)
            runnable += gather_self(b->k)->tag[t].runnable;
        for (int t = 0; t < 20; t++)
            woken += awake[t];
        cr_assert(members == 0 && cpus == known && placed <= 20 && runnable == woken,
                  "step %d: %d members too many, %d vCPUs of %d, %d placed, %d runnable of %d",
                  step, members, cpus, known, placed, runnable, woken);
    }
    bench_free(b);
}

Test(guest_gather, tags_above_the_bound_are_counted)
{
    struct bench *b = bench_new(
        (struct bench_setting){"cache-group", 8, 2, true, 1, {2 * GATHER_TAGS + 2}, {0}, 0, 2});
    const int last = 2 * GATHER_TAGS;

    cr_expect_eq(guest_ntags(b->k), GATHER_TAGS + 1);
    cr_expect_eq(guest_tag(&b->k->task[last - 1]), GATHER_TAGS);
    cr_expect_eq(guest_tag(&b->k->task[last]), GATHER_TAGS + 1);
    bench_map(b, "00001111");
    bench_interrupt(b, 0);
    bench_interrupt(b, 4);
    WAKE(b, last - 1, 0, 0);
    WAKE(b, last - 2, 4, 1);
    cr_expect_eq(b->counted, 0);
    /* As stock: they stay apart. */
    WAKE(b, last, 2, 2);
    WAKE(b, last + 1, 4, 4);
    cr_expect_eq(b->counted, 2);
    bench_free(b);
}
