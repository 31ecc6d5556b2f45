/* SPDX-License-Identifier: MIT */
/* Host policies that break their contract are caught, and the message says who did what. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/models/host_world.h"

static const ns_t slice_1ms = NS_MS;

/* Runs three hogs of which the first sleeps now and then under `ops`, on two pCPUs. */
static void run_policy(const struct host_ops *ops)
{
    static const struct step nap[] = {{NS_MS, 5 * NS_MS}};
    static const struct topology_conf two = {1, 1, 1, 2, 1};
    struct host_conf conf = world_conf(0);
    struct world *w;

    conf.balance = false;
    w = world_new(two, conf, ops, &slice_1ms);
    world_add(w, NULL, 0, nap, 1);
    world_add(w, NULL, 0, hog, 1);
    world_add(w, NULL, 0, nap, 1);
    world_start(w);
    world_run(w, 100 * NS_MS);
    world_free(w);
}

/* The same in a child, which must end as a bug whose report holds all the words. */
static void must_fail(const struct host_ops *ops, const char *const *words)
{
    char text[8192];
    size_t n = 0;
    ssize_t got;
    int pipes[2], status = 0;
    pid_t child;

    cr_assert_eq(pipe(pipes), 0);
    fflush(NULL);
    child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        alarm(20);
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        run_policy(ops);
        _exit(0);
    }
    close(pipes[1]);
    while (n < sizeof(text) - 1 && (got = read(pipes[0], text + n, sizeof(text) - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(pipes[0]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BUG, "status %#x: %s",
              (unsigned)status, text);
    for (; *words; words++)
        cr_assert(strstr(text, *words) != NULL, "no \"%s\" in: %s", *words, text);
}

/* -- rr, spoiled in one operation each -- */

static struct vcpu *victim;

static void forget_wakes(struct hyp *h, struct pcpu *p, struct vcpu *v, enum enqueue_why why)
{
    if (why != ENQUEUE_WAKE)
        host_policy_rr.enqueue(h, p, v, why);
}

static struct host_pick pick_victim(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    struct host_pick k = host_policy_rr.pick(h, p, prev);

    if (!victim)
        victim = k.vcpu;
    else if (victim->state == VCPU_BLOCKED && p->id == 0)
        k = (struct host_pick){.vcpu = victim, .slice = NS_MS};
    return k;
}

static struct host_pick pick_twice(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    struct host_pick k = host_policy_rr.pick(h, p, prev);

    if (!victim)
        victim = k.vcpu;
    else if (victim->state == VCPU_RUNNING && victim->pcpu != p->id)
        k.vcpu = victim;
    return k;
}

static struct host_pick pick_foreign(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    struct host *host = h->host;
    struct pcpu *other = &host->pcpu[!p->id];

    if (other->nr_ready > 0)
        return (struct host_pick){.vcpu = other->ready.first->vcpu, .slice = NS_MS};
    return host_policy_rr.pick(h, p, prev);
}

static struct host_pick pick_stranger(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    static struct vcpu stranger;

    (void)h;
    (void)p;
    (void)prev;
    return (struct host_pick){.vcpu = &stranger, .slice = NS_MS};
}

static struct host_pick pick_no_time(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    struct host_pick k = host_policy_rr.pick(h, p, prev);

    k.slice = 0;
    return k;
}

static struct host_pick pick_rests(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    /* Lets every second chance go by. */
    static int n;

    if (++n % 2 == 0)
        return (struct host_pick){.vcpu = NULL, .slice = NS_NEVER};
    return host_policy_rr.pick(h, p, prev);
}

Test(host_policy, broken_pick_is_caught)
{
    static const char *const blocked[] = {"host spoiled", "pick", "pcpu 0",
                                          "is blocked",   "vm0",  NULL};
    static const char *const twice[] = {"host spoiled", "pick", "is running", "vm0 vcpu 0", NULL};
    static const char *const foreign[] = {"host spoiled", "pick", "queued on another pCPU", NULL};
    static const char *const stranger[] = {"host spoiled", "pick", "no vCPU of this host", NULL};
    static const char *const no_time[] = {"host spoiled", "pick", "slice of 0 ns", NULL};
    static const char *const rests[] = {"host spoiled", "pick", "picked nothing", NULL};
    const struct {
        struct host_pick (*pick)(struct hyp *h, struct pcpu *p, struct vcpu *prev);
        const char *const *words;
    } cases[] = {{pick_victim, blocked},    {pick_twice, twice},     {pick_foreign, foreign},
                 {pick_stranger, stranger}, {pick_no_time, no_time}, {pick_rests, rests}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct host_ops ops = host_policy_rr;

        ops.head.name = "spoiled";
        ops.pick = cases[i].pick;
        victim = NULL;
        must_fail(&ops, cases[i].words);
    }
}

Test(host_policy, a_forgotten_vcpu_is_missed)
{
    static const char *const words[] = {"host forgetful", "pick", "forgotten", NULL};
    struct host_ops ops = host_policy_rr;

    ops.head.name = "forgetful";
    ops.enqueue = forget_wakes;
    must_fail(&ops, words);
}

static struct host_pick pick_second_chance(struct hyp *h, struct pcpu *p, struct vcpu *prev)
{
    struct host_pick k = {.vcpu = NULL, .slice = NS_NEVER};
    static int n;

    /* Idle for a while, then go on. */
    if (p->id == 0 && n++ == 0) {
        hyp_timer(h, 0, hyp_now(h) + 3 * NS_MS, 0);
        return k;
    }
    return host_policy_rr.pick(h, p, prev);
}

static void go_on(struct hyp *h, uint64_t cookie)
{
    (void)cookie;
    host_resched(h->host, &h->host->pcpu[0], STOP_PREEMPT);
}

Test(host_policy, a_policy_that_says_so_may_idle)
{
    struct host_ops ops = host_policy_rr;
    struct world *w;

    ops.head.name = "lazy";
    ops.idles = true;
    ops.pick = pick_second_chance;
    ops.timer = go_on;
    w = world_new(uni, world_conf(0), &ops, &slice_1ms);
    world_add(w, NULL, 0, hog, 1);
    world_start(w);
    world_run(w, 5 * NS_MS);
    expect_gantt(w, 0, 0, 5 * NS_MS, NS_MS, "...AA");
    cr_assert_eq(w->idle_while_ready, 1);
    cr_assert_eq(w->h->idle_while_ready, 1);
    cr_assert_eq(vcpu_steal(w->script[0].v, w->e->now), 3 * NS_MS);
    world_free(w);
}

static int select_anywhere(struct hyp *h, struct vcpu *v, int prev, enum wake_why why)
{
    static const int places[] = {1, -1, 99, INT32_MAX, INT32_MIN};
    static int n;

    (void)h;
    (void)v;
    (void)prev;
    (void)why;
    return places[n++ % 5];
}

Test(host_policy, forbidden_places_are_refused_and_counted)
{
    static const struct step nap[] = {{NS_MS, NS_MS}};
    static const struct topology_conf two = {1, 1, 1, 2, 1};
    struct host_ops ops = host_policy_rr;
    struct cpumask *first = cpumask_new(2);
    struct world *w;
    struct vcpu *v;

    cpumask_set(first, 0);
    ops.select = select_anywhere;
    w = world_new(two, world_conf(0), &ops, &slice_1ms);
    v = world_add(w, first, 0, nap, 1);
    world_add(w, first, 0, hog, 1);
    world_start(w);
    world_run(w, 100 * NS_MS);
    expect_gantt(w, 1, 0, 100 * NS_MS, 50 * NS_MS, "..");
    cr_assert(w->rejected > 10);
    cr_assert_eq(w->rejected, w->h->rejected_picks);
    while (v->state != VCPU_READY)
        world_run(w, w->e->now + 100 * NS_US);
    cr_assert(!host_migrate(w->h, v, 1, ENQUEUE_MIGRATE));
    cr_assert(!host_migrate(w->h, v, -1, ENQUEUE_MIGRATE));
    cr_assert(!host_migrate(w->h, w->h->pcpu[0].curr, 0, ENQUEUE_MIGRATE));
    cr_assert_eq(w->refused, 3);
    world_free(w);
    cpumask_free(first);
}

Test(host_policy, tables_are_checked)
{
    static const struct param none[] = {PARAM_END};
    struct host_ops ops[8];
    static const char *const words[] = {"without a name",
                                        "broken: enqueue without dequeue",
                                        "broken: enqueue without pick",
                                        "broken: pick without enqueue",
                                        "broken: idles without pick",
                                        "version 7",
                                        "broken: params without params_size",
                                        "broken: params_size without params"};
    char buf[160];

    for (size_t i = 0; i < 8; i++) {
        ops[i] = host_policy_rr;
        ops[i].head.name = "broken";
    }
    ops[0].head.name = NULL;
    ops[1].dequeue = NULL;
    ops[2].pick = NULL;
    ops[3].enqueue = NULL;
    ops[3].dequeue = NULL;
    ops[4] = host_policy_null;
    ops[4].head.name = "broken";
    ops[4].idles = true;
    ops[5].head.abi = 7;
    ops[6].head.params = none;
    ops[6].head.params_size = 0;
    ops[7].head.params = NULL;
    for (size_t i = 0; i < 8; i++) {
        struct engine *e = engine_new();
        struct topology *t = topology_new(&uni);
        const struct host_conf conf = world_conf(0);
        const char *fault = host_ops_check(&ops[i], buf);
        char why[160] = "";

        cr_assert(fault && strstr(fault, words[i]), "%zu: %s", i, fault ? fault : "accepted");
        cr_assert(host_new(e, t, NULL, &conf, &ops[i], NULL, 1, NULL, NULL, why) == NULL);
        cr_assert_str_eq(why, fault);
        topology_free(t);
        engine_free(e);
    }
    cr_assert(host_ops_check(&host_policy_null, buf) == NULL);
    cr_assert(host_ops_check(&host_policy_rr, buf) == NULL);
    cr_assert(host_ops_check(&host_policy_cfs, buf) == NULL);
    cr_assert(host_ops_check(&host_policy_eevdf, buf) == NULL);
}
