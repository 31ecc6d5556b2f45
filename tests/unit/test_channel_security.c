/* SPDX-License-Identifier: MIT */
/*
 * What a guest can learn from the channel about the machine and other VMs, fact by fact: one bit of
 * load, a disguised group, and itself. The limits are those that design and contracts state.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channel/channel.h"
#include "engine/check.h"
#include "guest/guest_ops.h"
#include "registry.h"
#include "tests/support/run_text.h"

/* All that a shipped policy may declare. */
#define LEGAL_FACTS                                                                                \
    (FACT_PREEMPTED | FACT_DEGREE | FACT_PCPU_IDLE | FACT_GROUP | FACT_STEAL | FACT_HINT |         \
     FACT_QUOTA)

static struct engine engine;

static struct channel_end *attach(struct channel *c, unsigned facts, int nvcpus, int threshold)
{
    struct channel_end *e =
        channel_attach(c, "test", facts, nvcpus, threshold, PREEMPTED_RUNNABLE, NULL);

    cr_assert_not_null(e);
    return e;
}

/* Everything that a guest with these facts sees of one of its vCPUs. */
struct view {
    bool preempted, idle;
    enum degree degree;
    int group, hint, quota;
    ns_t steal;
};

static struct view look(struct channel_end *e, int vcpu)
{
    return (struct view){
        .preempted = channel_preempted(e, vcpu),
        .idle = channel_pcpu_idle(e, vcpu),
        .degree = channel_degree(e, vcpu),
        .group = channel_group(e, vcpu),
        .hint = channel_hint(e, vcpu),
        .quota = channel_quota(e),
        .steal = channel_steal(e, vcpu),
    };
}

static void expect_same(struct view a, struct view b, const char *what, int i)
{
    cr_expect(a.preempted == b.preempted && a.idle == b.idle && a.degree == b.degree &&
                  a.group == b.group && a.hint == b.hint && a.quota == b.quota &&
                  a.steal == b.steal,
              "%s (%d)", what, i);
}

Test(channel_security, load_is_one_bit)
{
    for (int threshold = 1; threshold <= 6; threshold++) {
        struct channel *c = channel_new(&engine, 2, 0, 1);
        struct channel_end *e = attach(c, LEGAL_FACTS, 1, threshold);
        struct view low, high;

        channel_map(e, 0, 1, 0);
        channel_publish_pcpu(c, 1, 0, false);
        low = look(e, 0);
        channel_publish_pcpu(c, 1, threshold, false);
        high = look(e, 0);
        cr_assert(low.degree == DEGREE_LOW && high.degree == DEGREE_HIGH);
        for (int load = 0; load <= 300; load++) {
            channel_publish_pcpu(c, 1, load, false);
            expect_same(look(e, 0), load < threshold ? low : high, "load", load);
        }
        /* Nor does the price tell: as many rows are read whatever the load is. */
        channel_take_reads(e);
        channel_publish_pcpu(c, 1, 5, false);
        look(e, 0);
        const struct channel_reads five = channel_take_reads(e);
        channel_publish_pcpu(c, 1, 50, false);
        look(e, 0);
        const struct channel_reads fifty = channel_take_reads(e);
        cr_assert(five.load == fifty.load && five.preempted == fifty.preempted &&
                  five.group == fifty.group && five.other == fifty.other);
        channel_free(c);
    }
}

/* A permutation that differs from VM to VM and from boot to boot; each physical group has each
 * virtual id about equally often, whatever else is known: the id of another group of the same VM, or
 * of the same group in another VM. */
Test(channel_security, a_group_id_does_not_give_the_physical_one_away)
{
    enum { G = 8, SEEDS = 8000 };
    static int seen[2][G][G], pair[G][G], across[G][G];
    int same_vms = 0, same_boots = 0, before[G] = {0};
    const double mean = (double)SEEDS / G;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct channel *c = channel_new(&engine, G, 0, seed);
        int id[2][G];

        channel_set_groups(c, G);
        for (int vm = 0; vm < 2; vm++) {
            struct channel_end *e = attach(c, FACT_GROUP, G, 1);
            unsigned taken = 0;

            for (int g = 0; g < G; g++) {
                channel_map(e, g, g, g);
                id[vm][g] = channel_group(e, g);
                cr_assert(id[vm][g] >= 0 && id[vm][g] < G && !(taken >> id[vm][g] & 1));
                taken |= 1u << id[vm][g];
                seen[vm][g][id[vm][g]]++;
            }
        }
        pair[id[0][0]][id[0][1]]++;
        across[id[0][3]][id[1][3]]++;
        same_vms += memcmp(id[0], id[1], sizeof(id[0])) == 0;
        same_boots += seed > 0 && memcmp(id[0], before, sizeof(before)) == 0;
        memcpy(before, id[0], sizeof(before));
        channel_free(c);
    }
    /* 1 in 8! each. */
    cr_expect_leq(same_vms, 4);
    cr_expect_leq(same_boots, 4);
    /* Six standard deviations of a binomial count. */
    for (int i = 0; i < G; i++)
        for (int j = 0; j < G; j++) {
            for (int vm = 0; vm < 2; vm++)
                cr_expect_float_eq(seen[vm][i][j], mean, 180, "vm %d: group %d is %d %d times", vm,
                                   i, j, seen[vm][i][j]);
            cr_expect_float_eq(across[i][j], mean / G, 67, "%d and %d in two VMs: %d", i, j,
                               across[i][j]);
            if (i == j)
                cr_expect_eq(pair[i][j], 0);
            else
                cr_expect_float_eq(pair[i][j], mean / (G - 1), 72, "%d beside %d: %d", i, j,
                                   pair[i][j]);
        }
}

/* Whatever the host writes for another VM, on the same pCPUs, changes nothing here. */
Test(channel_security, rows_of_other_vms_do_not_show)
{
    for (ns_t delay = 0; delay <= 1000; delay += 1000) {
        struct channel *c = channel_new(&engine, 4, delay, 7);
        struct channel_end *mine = attach(c, LEGAL_FACTS, 4, 1), *other = attach(c, 0, 64, 1);
        const struct guest_row row = {.nr_runnable = 9, .need = NEED_LOCK, .tag = 5};
        struct view before[4];

        engine.now = 10000;
        for (int i = 0; i < 4; i++) {
            channel_map(mine, i, i, i);
            channel_publish_vcpu(mine, i, i % 2, true);
            channel_publish_steal(mine, i, 100 * i);
            channel_publish_hint(mine, i, i);
            channel_publish_pcpu(c, i, i, false);
        }
        engine.now += 5000;
        for (int i = 0; i < 4; i++)
            before[i] = look(mine, i);
        for (int i = 0; i < 64; i++, engine.now += 300) {
            channel_map(other, i, i % 4, i % 4);
            channel_publish_vcpu(other, i, i % 3 == 0, i % 5 == 0);
            channel_publish_steal(other, i, 77777 * i);
            channel_publish_hint(other, i, 42);
            channel_write_guest(other, i, &row);
            channel_publish_quota(other, i + 1);
            for (int j = 0; j < 4; j++)
                expect_same(look(mine, j), before[j], "another VM's rows", i);
        }
        for (int i = 0; i < 4; i++) {
            const struct guest_row own = channel_read_guest(mine, i);

            cr_expect(own.nr_runnable == 0 && own.need == NEED_NONE && own.tag == 0);
            cr_expect_eq(channel_own_steal(mine, i), 100 * i);
        }
        channel_free(c);
    }
}

static void read_one(struct channel_end *e, unsigned fact, int vcpu)
{
    switch (fact) {
    case FACT_PREEMPTED:
        channel_preempted(e, vcpu);
        return;
    case FACT_DEGREE:
        channel_degree(e, vcpu);
        return;
    case FACT_PCPU_IDLE:
        channel_pcpu_idle(e, vcpu);
        return;
    case FACT_GROUP:
        channel_group(e, vcpu);
        return;
    case FACT_STEAL:
        channel_steal(e, vcpu);
        return;
    case FACT_HINT:
        channel_hint(e, vcpu);
        return;
    case FACT_QUOTA:
        channel_quota(e);
        return;
    default:
        channel_oracle(e, vcpu);
    }
}

/* Exit status of a process that reads `fact` of a vCPU beside a larger VM, having declared `facts`. */
static int status_of(unsigned facts, unsigned fact, int vcpu)
{
    int status = -1;
    const pid_t child = fork();

    cr_assert_geq(child, 0);
    if (child == 0) {
        struct channel *c = channel_new(&engine, 4, 0, 1);
        struct channel_end *e;

        attach(c, LEGAL_FACTS | FACT_ORACLE, 8, 1);
        e = attach(c, facts, 2, 1);
        attach(c, LEGAL_FACTS | FACT_ORACLE, 8, 1);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        read_one(e, fact, vcpu);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(channel_security, reads_beyond_the_own_rows_or_the_declared_facts_end_the_run)
{
    static const int outside[] = {-1, 2, 3, 8, 1 << 20};

    cr_expect_eq(status_of(FACT_QUOTA, FACT_QUOTA, 0), 0);
    cr_expect_eq(status_of(~(unsigned)FACT_QUOTA, FACT_QUOTA, 0), EXIT_BUG);
    for (unsigned fact = FACT_PREEMPTED; fact <= FACT_ORACLE; fact <<= 1) {
        cr_expect_eq(status_of(fact, fact, 1), 0, "fact %u", fact);
        cr_expect_eq(status_of(~fact, fact, 1), EXIT_BUG, "fact %u was not declared", fact);
        for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
            cr_expect_eq(status_of(~0u, fact, outside[i]), EXIT_BUG, "fact %u of vCPU %d", fact,
                         outside[i]);
    }
}

Test(channel_security, no_shipped_policy_declares_the_oracle)
{
    cr_assert_gt(registry_nguest, 3);
    for (size_t i = 0; i < registry_nguest; i++)
        cr_expect_eq(registry_guest[i]->facts & ~(unsigned)LEGAL_FACTS, 0, "%s",
                     registry_guest[i]->head.name);
}

/* -- in a whole run -- */

static struct sight {
    ns_t at;
    struct view view[2];
} log_of[3][2000];
static int run, nlog[3];

/* Each ms on vCPU 0: all that the guest can see, of both its vCPUs. */
static bool spy_tick(struct guest *k, int cpu, struct task *curr)
{
    struct sight *s = &log_of[run][nlog[run]];

    (void)curr;
    if (cpu != 0 || nlog[run] == 2000)
        return false;
    memset(s, 0, sizeof(*s)); /* padding is compared too */
    s->at = guest_now(k);
    for (int i = 0; i < 2; i++) {
        s->view[i].preempted = guest_preempted(k, i);
        s->view[i].idle = guest_pcpu_idle(k, i);
        s->view[i].degree = guest_degree(k, i);
        s->view[i].group = guest_group(k, i);
        s->view[i].hint = guest_hint(k, i);
        s->view[i].steal = guest_steal(k, i);
    }
    nlog[run]++;
    return false;
}

static const struct guest_ops spy = {
    .head = {.abi = TANDEM_POLICY_ABI, .name = "t-spy", .summary = "of a test"},
    .facts = LEGAL_FACTS,
    .tick = spy_tick};

/* vCPU 1 of the spy lies idle on pCPU 1, which `rivals` vCPUs of another VM want from 20 ms on. */
static void spy_on(int number, int rivals, const char *host)
{
    char text[1024];

    run = number;
    nlog[run] = 0;
    snprintf(text, sizeof(text),
             "machine: {base: flat-8, topology: {sockets: 1, nodes: 1, groups: 2, cores: 1, "
             "threads: 1}}\nduration: 1s\nallow_cold: true\nhost: {scheduler: %s, tick: 250}\n"
             "vms:\n  - {name: spy, vcpus: 2, pin: \"0-1\", guest: {policy: t-spy, hz: 1000}, "
             "workload: {tasks: [{name: once, vcpu: 1, program: [{run: 100us}]}, "
             "{name: t, vcpu: 0, program: [{loop: {count: forever, body: [{run: 1ms}]}}]}]}}\n"
             "  - {name: rival, role: background, vcpus: %d, pin: \"1\", start: 20ms, "
             "workload: cpu-bound}\n",
             host, rivals);
    run_values_free(run_of_text(text, 3, NULL));
    cr_assert_gt(nlog[run], 900);
}

Test(channel_security, three_rivals_look_like_thirty)
{
    static const char *const hosts[] = {"cfs", "eevdf", "extend", "comm-group"};
    char why[200];

    cr_assert(registry_add(POLICY_GUEST, &spy, why) == NULL, "%s", why);
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        const struct sight *last;
        size_t size;

        spy_on(0, 3, hosts[i]);
        spy_on(1, 30, hosts[i]);
        spy_on(2, 1, hosts[i]);
        size = sizeof(log_of[0][0]) * (size_t)nlog[0];
        cr_assert_eq(nlog[0], nlog[1]);
        cr_expect_eq(memcmp(log_of[0], log_of[1], size), 0, "%s: 3 and 30 rivals differ", hosts[i]);
        /* The bit itself is seen: before they come and after. */
        last = &log_of[0][nlog[0] - 1];
        cr_expect(log_of[0][5].view[1].degree == DEGREE_LOW && last->view[1].degree == DEGREE_HIGH);
        cr_expect(log_of[0][5].view[1].idle && !last->view[1].idle);
        cr_expect_eq(memcmp(log_of[0], log_of[2], size), 0, "%s: one is as many", hosts[i]);
    }
}
