/* SPDX-License-Identifier: MIT */
/*
 * The channel: what a reader sees, when it sees it, and what it can never see.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channel/channel.h"
#include "engine/check.h"

#define ALL_FACTS                                                                                  \
    (FACT_PREEMPTED | FACT_DEGREE | FACT_PCPU_IDLE | FACT_GROUP | FACT_STEAL | FACT_HINT)

static struct engine engine;
static struct channel *channel;

static struct channel_end *begin(ns_t delay, unsigned facts, enum preempted_rule rule,
                                 struct hist *age)
{
    struct channel_end *e;

    engine.now = 0;
    channel = channel_new(&engine, 4, delay, 42);
    cr_assert_not_null(channel);
    e = channel_attach(channel, "test", facts, 4, 1, rule, age);
    cr_assert_not_null(e);
    return e;
}

Test(channel, degree_and_idle_follow_the_map)
{
    struct channel_end *e = begin(0, ALL_FACTS, PREEMPTED_ANY, NULL);
    struct channel_end *picky =
        channel_attach(channel, "picky", ALL_FACTS, 1, 3, PREEMPTED_ANY, NULL);
    struct channel_reads reads;

    cr_expect_eq(channel_degree(e, 0), DEGREE_LOW, "not placed yet");
    cr_expect(channel_pcpu_idle(e, 0));
    cr_expect_eq(channel_group(e, 0), -1);
    channel_publish_pcpu(channel, 2, 2, false);
    channel_map(e, 0, 2, 0);
    channel_map(picky, 0, 2, 0);
    cr_expect_eq(channel_degree(e, 0), DEGREE_HIGH);
    cr_expect_eq(channel_degree(picky, 0), DEGREE_LOW, "2 is below its threshold");
    cr_expect_not(channel_pcpu_idle(e, 0));
    channel_publish_pcpu(channel, 2, 1, false);
    cr_expect_eq(channel_degree(e, 0), DEGREE_HIGH, "at the threshold is not below it");
    /* A pCPU on which only an idle guest runs is low, yet not idle. */
    channel_publish_pcpu(channel, 2, 0, false);
    cr_expect_eq(channel_degree(e, 0), DEGREE_LOW);
    cr_expect_not(channel_pcpu_idle(e, 0));
    channel_publish_pcpu(channel, 3, 3, false);
    channel_map(e, 0, 3, 0);
    cr_expect_eq(channel_degree(e, 0), DEGREE_HIGH);
    channel_publish_hint(e, 1, 7);
    cr_expect_eq(channel_hint(e, 1), 7);
    cr_expect_eq(channel_hint(e, 0), 0);
    channel_publish_steal(e, 1, 1234);
    cr_expect_eq(channel_steal(e, 1), 1234);
    channel_preempted(e, 1);

    reads = channel_take_reads(e);
    cr_expect(reads.preempted == 1 && reads.load == 8 && reads.group == 1 && reads.other == 3);
    reads = channel_take_reads(e);
    cr_expect(reads.preempted == 0 && reads.load == 0 && reads.group == 0 && reads.other == 0);
    channel_free(channel);
}

Test(channel, preempted_by_each_rule)
{
    for (int rule = PREEMPTED_ANY; rule <= PREEMPTED_NEVER; rule++) {
        struct channel_end *e = begin(0, FACT_PREEMPTED, (enum preempted_rule)rule, NULL);
        const bool ever = rule != PREEMPTED_NEVER;

        cr_expect_not(channel_preempted(e, 0), "never ran");
        channel_publish_vcpu(e, 0, true, true);
        cr_expect_not(channel_preempted(e, 0));
        channel_publish_vcpu(e, 0, false, true);
        cr_expect_eq(channel_preempted(e, 0), ever);
        channel_publish_vcpu(e, 0, true, true);
        cr_expect_not(channel_preempted(e, 0));
        channel_publish_vcpu(e, 0, false, false);
        cr_expect_eq(channel_preempted(e, 0), rule == PREEMPTED_ANY, "it has blocked");
        cr_expect_not(channel_preempted(e, 1), "another vCPU");
        cr_expect_eq(channel_take_reads(e).preempted, ever ? 6 : 0, "a constant is no row");
        channel_free(channel);
    }
}

Test(channel, a_delayed_reader_sees_the_past)
{
    struct channel_end *e = begin(100, ALL_FACTS, PREEMPTED_ANY, NULL);

    channel_map(e, 0, 0, 0);
    engine.now = 1000;
    channel_publish_pcpu(channel, 0, 5, false);
    engine.now = 1050;
    channel_publish_pcpu(channel, 0, 6, true);
    channel_publish_pcpu(channel, 0, 0, false); /* the same instant: the last word counts */
    engine.now = 1099;
    cr_expect_eq(channel_degree(e, 0), DEGREE_LOW);
    cr_expect(channel_pcpu_idle(e, 0));
    engine.now = 1100;
    cr_expect_eq(channel_degree(e, 0), DEGREE_HIGH);
    cr_expect_not(channel_pcpu_idle(e, 0));
    engine.now = 1149;
    cr_expect_eq(channel_degree(e, 0), DEGREE_HIGH);
    engine.now = 1150;
    cr_expect_eq(channel_degree(e, 0), DEGREE_LOW);
    cr_expect_not(channel_pcpu_idle(e, 0));

    /* The map is delayed as well: for 100 ns the reader looks at the pCPU that v has left. */
    channel_publish_pcpu(channel, 1, 9, false);
    engine.now = 2000;
    channel_map(e, 0, 1, 0);
    engine.now = 2099;
    cr_expect_eq(channel_degree(e, 0), DEGREE_LOW);
    engine.now = 2100;
    cr_expect_eq(channel_degree(e, 0), DEGREE_HIGH);

    /* A guest knows its own steal as of its last entry; through the channel it comes late. */
    channel_publish_steal(e, 0, 77);
    cr_expect_eq(channel_own_steal(e, 0), 77);
    cr_expect_eq(channel_steal(e, 0), 0);
    engine.now = 2200;
    cr_expect_eq(channel_steal(e, 0), 77);
    cr_expect_eq(channel_overruns(channel), 0);
    channel_free(channel);
}

Test(channel, writes_faster_than_the_memory_are_counted)
{
    struct channel_end *e = begin(1000, ALL_FACTS, PREEMPTED_ANY, NULL);

    engine.now = 1;
    for (int i = 1; i <= 7; i++, engine.now++)
        channel_publish_hint(e, 0, i);
    cr_expect_eq(channel_hint(e, 0), 0, "the first value is still there");
    cr_expect_eq(channel_overruns(channel), 0);
    for (int i = 8; i <= 20; i++, engine.now++)
        channel_publish_hint(e, 0, i);
    cr_expect_eq(channel_hint(e, 0), 13, "the oldest of eight");
    cr_expect_eq(channel_overruns(channel), 1);
    engine.now = 1013;
    cr_expect_eq(channel_hint(e, 0), 13);
    engine.now = 1020;
    cr_expect_eq(channel_hint(e, 0), 20);
    cr_expect_eq(channel_overruns(channel), 1);
    /* Any number of writes in one instant takes one place. */
    engine.now = 5000;
    for (int i = 0; i < 100; i++)
        channel_publish_hint(e, 0, i);
    engine.now = 5001;
    cr_expect_eq(channel_hint(e, 0), 20);
    cr_expect_eq(channel_overruns(channel), 1);
    channel_free(channel);
}

Test(channel, age_is_the_time_since_the_value_was_written)
{
    struct hist age;
    struct channel_end *e;

    cr_assert_eq(hist_init(&age), 0);
    e = begin(0, ALL_FACTS, PREEMPTED_ANY, &age);
    channel_map(e, 0, 1, 0);
    engine.now = 100;
    channel_publish_pcpu(channel, 1, 1, false);
    engine.now = 130;
    channel_degree(e, 0);
    cr_expect(age.count == 1 && age.max == 30);
    /* The same value again is news all the same. */
    channel_publish_pcpu(channel, 1, 1, false);
    engine.now = 135;
    channel_pcpu_idle(e, 0);
    cr_expect(age.count == 2 && age.min == 5);
    channel_own_steal(e, 0);
    cr_expect_eq(age.count, 2, "its own account is not a read of the channel");
    channel_free(channel);

    hist_reset(&age);
    e = begin(50, ALL_FACTS, PREEMPTED_ANY, &age);
    for (engine.now = 10; engine.now <= 200; engine.now += 40)
        channel_publish_hint(e, 0, 1); /* 10, 50, 90, 130, 170 */
    engine.now = 201;
    channel_hint(e, 0);
    cr_expect_eq(age.max, 201 - 130);
    channel_free(channel);
    hist_free(&age);
}

Test(channel, groups_are_disguised)
{
    enum { N = 32, VMS = 8 };
    struct channel_end *end[VMS];
    int seen[VMS][N], same_as_raw = 0, same_as_other = 0;

    engine.now = 0;
    for (int boot = 0; boot < 2; boot++) {
        channel = channel_new(&engine, 4 * N, 0, 42);
        channel_set_groups(channel, N);
        for (int vm = 0; vm < VMS; vm++) {
            bool taken[N] = {false};
            end[vm] = channel_attach(channel, "test", FACT_GROUP, N, 1, PREEMPTED_ANY, NULL);
            for (int i = 0; i < N; i++) {
                int id;
                channel_map(end[vm], i, 4 * i, i);
                id = channel_group(end[vm], i);
                cr_assert(id >= 0 && id < N && !taken[id]);
                taken[id] = true;
                if (boot > 0)
                    cr_expect_eq(id, seen[vm][i], "the same seed gives the same ids");
                seen[vm][i] = id;
                same_as_raw += id == i;
                same_as_other += vm > 0 && id == seen[vm - 1][i];
            }
            /* Stable: two vCPUs of one group agree, and so does one that comes back. */
            channel_map(end[vm], 0, 5, 1);
            cr_expect_eq(channel_group(end[vm], 0), channel_group(end[vm], 1));
            channel_map(end[vm], 0, 0, 0);
            cr_expect_eq(channel_group(end[vm], 0), seen[vm][0]);
        }
        channel_free(channel);
    }
    /* A random permutation has one fixed point on average. */
    cr_expect_lt(same_as_raw, 2 * VMS * 4, "%d of %d ids are the raw ones", same_as_raw,
                 2 * VMS * N);
    cr_expect_lt(same_as_other, 2 * VMS * 4);

    channel = channel_new(&engine, N, 0, 43);
    end[0] = channel_attach(channel, "test", FACT_GROUP, N, 1, PREEMPTED_ANY, NULL);
    same_as_other = 0;
    for (int i = 0; i < N; i++) {
        channel_map(end[0], i, i, i);
        same_as_other += channel_group(end[0], i) == seen[0][i];
    }
    cr_expect_lt(same_as_other, 8, "another boot, other ids");
    channel_free(channel);
}

Test(channel, guest_rows_arrive_after_the_delay)
{
    struct channel_end *e = begin(100, 0, PREEMPTED_ANY, NULL);
    struct guest_row row = {
        .stamp = 5, .nr_runnable = 3, .need = NEED_LOCK, .idle = false, .tag = 9};
    struct guest_row got;

    engine.now = 1000;
    channel_write_guest(e, 1, &row);
    row.nr_runnable = 4;
    engine.now = 1010;
    channel_write_guest(e, 1, &row);
    engine.now = 1099;
    got = channel_read_guest(e, 1);
    cr_expect(got.stamp == 0 && got.nr_runnable == 0 && got.need == NEED_NONE && got.tag == 0);
    engine.now = 1100;
    got = channel_read_guest(e, 1);
    cr_expect(got.stamp == 1000 && got.nr_runnable == 3 && got.need == NEED_LOCK && got.tag == 9);
    engine.now = 1110;
    cr_expect_eq(channel_read_guest(e, 1).nr_runnable, 4);
    cr_expect_eq(channel_read_guest(e, 0).nr_runnable, 0);
    channel_free(channel);
}

Test(channel, used_is_what_any_end_declared)
{
    struct channel_end *e = begin(0, FACT_DEGREE, PREEMPTED_ANY, NULL);

    cr_expect_not_null(e);
    cr_expect(channel_used(channel, FACT_DEGREE | FACT_GROUP));
    cr_expect_not(channel_used(channel, FACT_GROUP));
    channel_attach(channel, "other", FACT_GROUP, 1, 1, PREEMPTED_ANY, NULL);
    cr_expect(channel_used(channel, FACT_GROUP));
    cr_expect_not(channel_used(channel, FACT_ORACLE));
    channel_free(channel);
}

Test(channel, the_oracle_tells_the_raw_truth_to_those_who_declare_it)
{
    struct channel_end *e = begin(100, FACT_ORACLE, PREEMPTED_ANY, NULL);
    struct channel_truth t = channel_oracle(e, 2);

    cr_expect(t.pcpu == -1 && t.group == -1 && t.load == 0 && t.idle);
    engine.now = 5;
    channel_map(e, 2, 3, 1);
    channel_publish_pcpu(channel, 3, 4, false);
    t = channel_oracle(e, 2);
    cr_expect(t.pcpu == 3 && t.group == 1 && t.load == 4 && !t.idle);
    cr_expect_eq(channel_take_reads(e).other, 2);
    channel_free(channel);
}

static void read_fact(struct channel_end *e, unsigned fact, int vcpu)
{
    switch (fact) {
    case FACT_PREEMPTED:
        channel_preempted(e, vcpu);
        break;
    case FACT_DEGREE:
        channel_degree(e, vcpu);
        break;
    case FACT_PCPU_IDLE:
        channel_pcpu_idle(e, vcpu);
        break;
    case FACT_GROUP:
        channel_group(e, vcpu);
        break;
    case FACT_STEAL:
        channel_steal(e, vcpu);
        break;
    case FACT_HINT:
        channel_hint(e, vcpu);
        break;
    default:
        channel_oracle(e, vcpu);
    }
}

/* How a child ends that reads `fact`, having declared `facts`: its exit status, 0 if all is well.
 */
static int status_of_read(unsigned facts, unsigned fact, int vcpu)
{
    int status = -1;
    pid_t child = fork();

    cr_assert_geq(child, 0);
    if (child == 0) {
        struct channel_end *e = begin(0, facts, PREEMPTED_ANY, NULL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        read_fact(e, fact, vcpu);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(channel, a_quota_belongs_to_the_vm)
{
    struct channel_end *e = begin(0, FACT_QUOTA, PREEMPTED_ANY, NULL);
    struct channel_end *other =
        channel_attach(channel, "other", FACT_QUOTA, 2, 1, PREEMPTED_ANY, NULL);

    cr_expect_eq(channel_quota(e), 0, "not said");
    channel_publish_quota(e, 3);
    cr_expect_eq(channel_quota(e), 3);
    cr_expect_eq(channel_quota(other), 0);
    channel_publish_quota(other, 2);
    channel_publish_quota(e, 4);
    cr_expect(channel_quota(e) == 4 && channel_quota(other) == 2);
    cr_expect_eq(channel_take_reads(e).other, 3, "each read is a row");
    channel_free(channel);
    e = begin(100, FACT_QUOTA, PREEMPTED_ANY, NULL);
    engine.now = 1000;
    channel_publish_quota(e, 2);
    engine.now = 1099;
    cr_expect_eq(channel_quota(e), 0);
    engine.now = 1100;
    cr_expect_eq(channel_quota(e), 2);
    channel_free(channel);
}

Test(channel, what_was_not_declared_is_refused)
{
    for (unsigned fact = FACT_PREEMPTED; fact <= FACT_ORACLE; fact <<= 1) {
        cr_expect_eq(status_of_read(fact, fact, 0), 0, "fact %u declared", fact);
        cr_expect_eq(status_of_read((ALL_FACTS | FACT_ORACLE) & ~fact, fact, 0), EXIT_BUG,
                     "fact %u not declared", fact);
    }
    cr_expect_eq(status_of_read(FACT_PREEMPTED, FACT_PREEMPTED, -1), EXIT_BUG, "no such vCPU");
    cr_expect_eq(status_of_read(FACT_PREEMPTED, FACT_PREEMPTED, 4), EXIT_BUG, "no such vCPU");
    /* Own steal needs no declaration. */
    cr_expect_eq(channel_own_steal(begin(0, 0, PREEMPTED_ANY, NULL), 0), 0);
    channel_free(channel);
}

static struct channel_now here = {0, 0};

static struct channel_now say_here(void *arg, int vcpu)
{
    (void)arg;
    (void)vcpu;
    return here;
}

Test(channel, wrong_reads_are_those_that_tell_what_is_no_longer_so)
{
    struct channel_end *e = begin(0, ALL_FACTS, PREEMPTED_ANY, NULL);

    channel_compare(e, say_here, NULL);
    channel_map(e, 0, 1, 2);
    channel_publish_pcpu(channel, 1, 3, false);
    here = (struct channel_now){.load = 5, .group = 2};
    channel_degree(e, 0); /* 3 or 5: high either way */
    channel_group(e, 0);
    cr_expect(channel_quality(e).reads == 2 && channel_quality(e).wrong == 0);
    here = (struct channel_now){.load = 0, .group = 1};
    channel_degree(e, 0);
    channel_group(e, 0);
    channel_preempted(e, 0); /* not compared */
    cr_expect(channel_quality(e).reads == 4 && channel_quality(e).wrong == 2);
    channel_group(e, 1); /* nobody knows it, and it is somewhere */
    cr_expect_eq(channel_quality(e).wrong, 3);
    here.group = -1;
    channel_group(e, 1);
    cr_expect_eq(channel_quality(e).wrong, 3);
    channel_quality_reset(e);
    cr_expect(channel_quality(e).reads == 0 && channel_quality(e).wrong == 0);
    channel_free(channel);
}

/* Among hundreds of values: the one that was there `delay` ago. */
Test(channel, a_long_delay_finds_its_value)
{
    struct channel_end *e = begin(NS_MS, ALL_FACTS, PREEMPTED_ANY, NULL);

    for (int i = 0; i < 5000; i++) {
        engine.now = i * 10 * NS_US;
        channel_publish_hint(e, 0, i);
        if (i > 100)
            cr_assert_eq(channel_hint(e, 0), i - 100, "%d at %d", channel_hint(e, 0), i);
    }
    cr_expect_eq(channel_overruns(channel), 0);
    channel_free(channel);
}
