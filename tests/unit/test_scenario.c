/* SPDX-License-Identifier: MIT */
/* Scenarios: defaults, machines, fill, pinned placement, key paths, echo and hash, the registry. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "registry.h"
#include "scenario.h"
#include "tests/support/run_text.h"

static struct scenario *parse_at(const char *file, const char *text)
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text(file, text, strlen(text), &e);
    struct scenario *s = t ? scenario_from_tree(t, file, &e) : NULL;

    if (e.n)
        conf_errors_print(&e, stderr);
    cr_assert(s && e.n == 0, "refused:\n%s", text);
    conf_free(t);
    return s;
}

static struct scenario *parse(const char *text)
{
    return parse_at("scenario.yaml", text);
}

static struct scenario *load(const char *const *set, size_t nset)
{
    struct conf_errors e = {0};
    struct scenario *s = scenario_load("configs/quickstart.yaml", set, nset, &e);

    cr_assert(s && e.n == 0, "%s", e.n ? e.list[0].text : "run from the top folder of the source");
    return s;
}

Test(scenario, quickstart_and_its_defaults)
{
    struct scenario *s = load(NULL, 0);

    cr_expect_str_eq(s->machine.name, "flat-8");
    cr_expect(s->duration == 2 * NS_SEC && s->warmup == 200 * NS_MS);
    cr_expect(s->seed == 1 && s->replications == 5 && s->npool == 8 && s->nvms == 2);
    cr_expect(s->placement == PLACE_FLOAT && s->host.tick_hz == 250);
    cr_expect(s->preempted_rule == PREEMPTED_RUNNABLE && s->channel_delay == 0);
    cr_expect(s->host_cstates && s->host_ncstates == 1 && s->io_cpu == 0);
    cr_expect_eq(s->scheduler.ops, registry_find(POLICY_HOST, "eevdf"));
    cr_expect_eq(s->vm[0].guest.ops, registry_find(POLICY_GUEST, "bare"));
    cr_expect_eq(s->vm[0].idle.ops, registry_find(POLICY_IDLE, "hlt"));
    cr_expect(s->vm[0].count == 1 && s->vm[0].vcpus == 8 && !s->vm[0].pin);
    cr_expect(s->vm[0].role == ROLE_MEASURED && s->vm[1].role == ROLE_BACKGROUND);
    cr_expect(s->vm[0].guest_conf.wake_word == WORD_FLAG);
    cr_expect_eq(s->vm[0].guest_conf.wake_pulse, 1000);
    cr_expect(s->vm[0].weight == 1024 && s->vm[0].workload[0]->nbarriers == 1);
    cr_expect(scenario_total_vcpus(s) == 16 && scenario_total_vms(s) == 2);
    scenario_free(s);
}

/* Numbers in `n` must stand beside a source, in a mapping that has one or in one that says `base`.
 */
static void expect_sources(const char *file, const struct conf_node *n, bool covered)
{
    covered = covered || conf_get(n, "source");
    if (n->kind == CONF_SCALAR) {
        bool number = n->text[0] >= '0' && n->text[0] <= '9';

        cr_expect(!number || covered, "%s:%d: '%s' does not say where it comes from", file, n->line,
                  n->text);
    }
    for (size_t i = 0; i < n->n; i++)
        if (!n->child[i]->key || strcmp(n->child[i]->key, "source") != 0)
            expect_sources(file, n->child[i], covered);
}

Test(scenario, shipped_machines_load_and_name_their_sources)
{
    DIR *d = opendir("configs/machines");
    struct dirent *entry;
    int n = 0;

    cr_assert_not_null(d, "run from the top folder of the source");
    while ((entry = readdir(d))) {
        struct conf_errors e = {0};
        struct machine m;
        char path[512];

        if (!strstr(entry->d_name, ".yaml"))
            continue;
        snprintf(path, sizeof(path), "configs/machines/%s", entry->d_name);
        cr_expect(machine_load(&m, path, &e), "%s: %s", path, e.n ? e.list[0].text : "");
        cr_expect(m.summary && m.speed_1024 > 0 && m.speed_1024 <= 1024, "%s", path);
        machine_free(&m);
        struct conf_tree *t = conf_read_file(path, &e);

        for (size_t i = 0; i < conf_root(t)->n; i++)
            if (strcmp(conf_root(t)->child[i]->key, "summary") != 0)
                expect_sources(path, conf_root(t)->child[i], false);
        conf_free(t);
        conf_errors_free(&e);
        n++;
    }
    closedir(d);
    cr_expect_geq(n, 12);
}

Test(scenario, machines_derive_and_change)
{
    static const char TEXT[] = "machine:\n"
                               "  base: x86-32\n"
                               "  topology: {cores: 2}\n"
                               "  costs: {all_zero: on, exit: 5us}\n"
                               "duration: 1s\n"
                               "vms: [{vcpus: 1, workload: cpu-bound}]\n";
    struct scenario *s = parse(TEXT);

    cr_expect_str_eq(s->machine.name, "x86-32 (changed)");
    cr_expect(s->machine.topo.cores_per_group == 2 && s->machine.topo.threads_per_core == 2);
    cr_expect(s->npool == 4 && s->machine.speed_1024 == 614);
    cr_expect(s->machine.costs.exit == 5000 && s->machine.costs.entry == 0);
    cr_expect(s->machine.costs.ple_window == 0 && s->machine.costs.select_base == 0);
    cr_expect_eq(s->machine.ncstates, 3);
    scenario_free(s);
}

static void expect_slice(const char *machine, const char *scheduler, const char *want)
{
    char text[256];

    snprintf(text, sizeof(text),
             "machine: %s\nduration: 1s\nhost: {scheduler: %s}\n"
             "vms: [{vcpus: 1, workload: cpu-bound}]\n",
             machine, scheduler);
    struct scenario *s = parse(text);
    const struct policy_head *h = s->scheduler.ops;
    char *slice = param_text(param_find(h->params, "slice"), s->scheduler.params);

    cr_expect_str_eq(slice, want, "%s on %s: %s", scheduler, machine, slice);
    free(slice);
    scenario_free(s);
}

/* Linux: 0.7 ms for one CPU and as much again for each doubling up to eight. */
Test(scenario, the_hosts_slice_follows_the_number_of_pcpus)
{
    expect_slice("uni", "eevdf", "700us");
    expect_slice("duo-zero", "eevdf", "1400us");
    expect_slice("flat-8", "eevdf", "2800us");
    expect_slice("x86-32", "eevdf", "2800us");
    expect_slice("uni", "{eevdf: {slice: 5ms}}", "5ms");
    expect_slice("uni", "{eevdf: {run-to-parity: off}}", "700us");
}

Test(scenario, fill_reaches_the_ratio)
{
    static const char FORM[] = "machine: x86-32\n"
                               "duration: 1s\n"
                               "oversubscription: %s\n"
                               "pool: \"%s\"\n"
                               "vms:\n"
                               "  - {name: base, count: 2, vcpus: 4, workload: cpu-bound}\n"
                               "  - {name: rest, vcpus: 3, fill: true, workload: cpu-bound}\n";
    static const struct {
        const char *ratio, *pool;
        int64_t count;
    } CASES[] = {{"1", "0-31", 8},  {"1.4375", "0-15", 5}, {"1.66666666666667", "0-11", 4},
                 {"4", "0-31", 40}, {"1.375", "0-7", 1},   {"1.538461538", "0-12", 4}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        char text[512];

        snprintf(text, sizeof(text), FORM, CASES[i].ratio, CASES[i].pool);
        struct scenario *s = parse(text);

        cr_expect_eq(s->vm[1].count, CASES[i].count, "ratio %s of %s: %d", CASES[i].ratio,
                     CASES[i].pool, (int)s->vm[1].count);
        scenario_free(s);
    }
}

Test(scenario, pins)
{
    struct scenario *s = parse("machine: flat-8\n"
                               "duration: 1s\n"
                               "vms:\n"
                               "  - {name: a, vcpus: 4, pin: \"0-1,6-7\", workload: cpu-bound}\n"
                               "  - {name: b, vcpus: 4, pin: [5, 3], workload: cpu-bound}\n");

    cr_expect(s->vm[0].npin == 4 && s->vm[0].pin[2] == 6 && s->vm[0].pin_one);
    cr_expect(s->vm[1].npin == 2 && s->vm[1].pin[0] == 3 && !s->vm[1].pin_one);
    scenario_free(s);
    s = parse("machine: flat-8\n"
              "duration: 1s\n"
              "host: {placement: pinned}\n"
              "vms: [{name: b, vcpus: 4, pin: \"3,5\", workload: cpu-bound}]\n");
    cr_expect(s->vm[0].pin_one && s->placement == PLACE_PINNED);
    scenario_free(s);
}

/* No pCPU twice within a lap, no sibling together. */
static void expect_dealt(const struct scenario *s, uint64_t seed)
{
    int64_t n;
    int *pcpu = scenario_pinned_all(s, seed, &n);
    int64_t g = 0, npool = (int64_t)s->npool;

    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i - i % npool; k < i; k++)
            cr_expect_neq(pcpu[i], pcpu[k], "seed %d: twice in a lap", (int)seed);
    for (int v = 0; v < s->nvms; v++) {
        for (int64_t c = 0; c < s->vm[v].count && !s->vm[v].pin; c++, g += s->vm[v].vcpus)
            for (int64_t i = g; i < g + s->vm[v].vcpus; i++)
                for (int64_t k = g; k < i; k++)
                    cr_expect_neq(pcpu[i], pcpu[k], "seed %d: siblings together", (int)seed);
    }
    cr_expect_eq(g, n);
    cr_expect_eq(scenario_pinned_pcpu(s, seed, n - 1), pcpu[n - 1]);
    free(pcpu);
}

Test(scenario, pinned_fill_deals_whole_laps_and_keeps_siblings_apart)
{
    struct scenario *s = parse("machine: flat-8\n"
                               "duration: 1s\n"
                               "pool: \"1-7\"\n"
                               "host: {placement: pinned}\n"
                               "vms:\n"
                               "  - {name: a, vcpus: 3, count: 4, workload: cpu-bound}\n"
                               "  - {name: p, vcpus: 2, pin: \"0,1\", workload: cpu-bound}\n"
                               "  - {name: b, vcpus: 7, count: 3, workload: cpu-bound}\n"
                               "  - {name: c, vcpus: 5, count: 5, workload: cpu-bound}\n");
    int64_t n;
    int *one = scenario_pinned_all(s, 1, &n), *two = scenario_pinned_all(s, 2, &n);
    int first[8] = {0};

    cr_expect_eq(n, 12 + 21 + 25);
    cr_expect(memcmp(one, two, (size_t)n * sizeof(*one)) != 0, "the seed changes nothing");
    for (uint64_t seed = 0; seed < 200; seed++) {
        expect_dealt(s, seed);
        first[scenario_pinned_pcpu(s, seed, 8)]++;
    }
    /* Each of the pool's 7 is expected 28.6 times; 8 to 60 holds for any fair dealing. */
    for (int i = 1; i < 8; i++)
        cr_expect(first[i] >= 8 && first[i] <= 60, "pCPU %d was dealt %d times", i, first[i]);
    cr_expect_eq(first[0], 0);
    free(one);
    free(two);
    scenario_free(s);
}

Test(scenario, pinned_by_cores_gives_whole_cores_first)
{
    static const char FORM[] = "machine: xeon-8269cy-104\n"
                               "duration: 1s\n"
                               "pool: \"0-25,52-77\"\n"
                               "host: {placement: %s}\n"
                               "vms:\n"
                               "  - {name: a, vcpus: 4, workload: cpu-bound}\n"
                               "  - {name: b, vcpus: 6, count: 16, workload: cpu-bound}\n";
    struct scenario *s[3];
    int *pcpu[3];
    char text[512];
    int64_t n = 0;

    for (int i = 0; i < 3; i++) {
        static const char *const PLACEMENT[] = {"{pinned: {order: cores}}", "pinned",
                                                "{pinned: {order: shuffled}}"};

        snprintf(text, sizeof(text), FORM, PLACEMENT[i]);
        s[i] = parse(text);
        pcpu[i] = scenario_pinned_all(s[i], 5, &n);
        cr_expect_eq(n, 100);
    }
    /* 52 threads, the siblings 52 apart: 0 52 1 53 2 54 ... */
    for (int g = 0; g < 52; g++)
        cr_expect_eq(pcpu[0][g], g / 2 + g % 2 * 52, "vCPU %d on %d", g, pcpu[0][g]);
    for (uint64_t seed = 0; seed < 100; seed++)
        expect_dealt(s[0], seed);
    /* Later laps are shuffled, and the seed says how. */
    int *other = scenario_pinned_all(s[0], 6, &n);

    cr_expect_arr_eq(other, pcpu[0], 52 * sizeof(*other));
    cr_expect_arr_neq(other + 52, pcpu[0] + 52, 48 * sizeof(*other));
    cr_expect_arr_eq(pcpu[1], pcpu[2], 100 * sizeof(int));
    cr_expect_arr_neq(pcpu[1], pcpu[0], 52 * sizeof(int));
    cr_expect_str_eq(s[1]->hash, s[2]->hash);
    cr_expect_str_neq(s[1]->hash, s[0]->hash);
    cr_expect(strstr(s[0]->echo, "\"placement\":{\"pinned\":{\"order\":\"cores\"}}"));
    cr_expect(strstr(s[1]->echo, "\"placement\":\"pinned\""));
    struct scenario *again = parse(s[0]->echo);

    cr_expect_str_eq(again->hash, s[0]->hash);
    scenario_free(again);
    free(other);
    for (int i = 0; i < 3; i++) {
        free(pcpu[i]);
        scenario_free(s[i]);
    }
}

Test(scenario, pinned_by_cores_takes_what_the_pool_has_of_a_core)
{
    /* 16 cores, siblings 16 apart: cores 1, 3 and 5 are there whole, core 2 with its second thread. */
    static const int WANT[] = {1, 17, 3, 19, 5, 21, 18};
    struct scenario *s = parse("machine: x86-32\n"
                               "duration: 1s\n"
                               "pool: \"1,3,5,17-19,21\"\n"
                               "host: {placement: {pinned: {order: cores}}}\n"
                               "vms: [{vcpus: 7, workload: cpu-bound}]\n");
    int64_t n;
    int *pcpu = scenario_pinned_all(s, 1, &n);

    cr_expect_eq(n, 7);
    cr_expect_arr_eq(pcpu, WANT, sizeof(WANT));
    free(pcpu);
    scenario_free(s);
}

static const char MIX[] =
    "machine: flat-8\n"
    "duration: 1s\n"
    "warmup: 100ms\n"
    "vms:\n"
    "  - {name: a, vcpus: 2, count: 5, mix: [cpu-bound, idle-guest, busy-service]}\n"
    "  - {name: b, vcpus: 2, role: background, mix: [{name: phase-1ms}]}\n"
    "  - {name: c, vcpus: 2, workload: cpu-bound}\n";

Test(scenario, mix_deals_its_entries_in_order)
{
    static const char *const SET[] = {"vms.0.mix.0=phase-1ms", "vms.a.mix.2=cpu-bound"};
    static const char *const WANT[] = {"cpu-bound", "idle-guest", "busy-service"};
    struct scenario *s = parse(MIX);
    char file[] = "/tmp/tandem-mix-XXXXXX";
    struct conf_errors e = {0};

    cr_assert_eq(s->vm[0].nworkloads, 3);
    for (int i = 0; i < 3; i++)
        cr_expect_str_eq(s->vm[0].workload[i]->name, WANT[i]);
    cr_expect(s->vm[1].nworkloads == 1 && s->vm[1].mix);
    cr_expect(s->vm[2].nworkloads == 1 && !s->vm[2].mix);
    cr_expect(strstr(s->echo, "\"mix\":[{\"name\":\"cpu-bound\",\"hash\":"), "%s", s->echo);
    cr_expect(strstr(s->echo, "\"workload\":{\"name\":\"cpu-bound\",\"hash\":"), "%s", s->echo);
    struct scenario *again = parse(s->echo);

    cr_expect_str_eq(again->echo, s->echo);
    cr_expect_str_eq(again->hash, s->hash);
    scenario_free(again);
    int fd = mkstemp(file);

    cr_assert(fd >= 0 && write(fd, MIX, strlen(MIX)) == (ssize_t)strlen(MIX));
    close(fd);
    again = scenario_load(file, SET, 2, &e);
    cr_assert(again, "%s", e.n ? e.list[0].text : "");
    cr_expect_str_eq(again->vm[0].workload[0]->name, "phase-1ms");
    cr_expect_str_eq(again->vm[0].workload[1]->name, "idle-guest");
    cr_expect_str_eq(again->vm[0].workload[2]->name, "cpu-bound");
    cr_expect_str_neq(again->hash, s->hash);
    unlink(file);
    scenario_free(again);
    scenario_free(s);
}

/* Entry j marks j + 1 operations: VM k must have marked k mod 3 + 1. */
Test(scenario, each_vm_of_a_mix_runs_its_entry)
{
    struct run_values *v = run_of_text(
        "machine: flat-8-zero\n"
        "duration: 10ms\n"
        "vms:\n"
        "  - name: a\n"
        "    vcpus: 1\n"
        "    count: 8\n"
        "    mix:\n"
        "      - {tasks: [{program: [{mark: x}]}]}\n"
        "      - {tasks: [{program: [{mark: x}, {mark: x}]}]}\n"
        "      - {tasks: [{program: [{loop: {count: 3, body: [{mark: x}, {run: 1us}]}}]}]}\n",
        1, NULL);

    for (int k = 0; k < 8; k++)
        cr_expect_eq(metric_of(v, k + 1, METRIC_OPS), k % 3 + 1, "VM %d marked %g", k,
                     metric_of(v, k + 1, METRIC_OPS));
    run_values_free(v);
}

Test(scenario, paths_and_overrides)
{
    static const char *const SET[] = {"host.scheduler=rr",
                                      "host.slice=7ms",
                                      "vms.barriers.vcpus=4",
                                      "vms.1.guest.policy=cps-load",
                                      "vms.neighbour.guest.policy.cps-load.threshold=3",
                                      "vms.neighbour.guest.wake-word=pulse",
                                      "vms.neighbour.guest.wake-pulse=3us",
                                      "machine.costs.exit=9us",
                                      "host.placement={float: {wake: node, balance: off}}",
                                      "seed=18446744073709551615"};
    struct scenario *s = load(SET, sizeof(SET) / sizeof(SET[0]));

    cr_expect_eq(s->scheduler.ops, registry_find(POLICY_HOST, "rr"));
    cr_expect(strstr(s->echo, "\"scheduler\":{\"rr\":{\"slice\":\"7ms\""), "%s", s->echo);
    cr_expect(strstr(s->echo, "\"policy\":{\"cps-load\":{\"threshold\":3"), "%s", s->echo);
    cr_expect(s->vm[0].vcpus == 4 && s->machine.costs.exit == 9000);
    cr_expect(s->vm[0].guest_conf.wake_word == WORD_FLAG);
    cr_expect(s->vm[1].guest_conf.wake_word == WORD_PULSE);
    cr_expect_eq(s->vm[1].guest_conf.wake_pulse, 3000);
    cr_expect(s->host.scope == SCOPE_NODE && !s->host.balance);
    cr_expect_eq(s->seed, UINT64_MAX);
    scenario_free(s);

    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("t", "host: {scheduler: {rr: {slice: 1ms}}}", 37, &e);
    static const char *const PATHS[][2] = {{"host.slice", "host.scheduler.rr.slice"},
                                           {"host.tick", "host.tick"},
                                           {"host.slime", "host.slime"},
                                           {"vms.web.idle", "vms.web.idle"},
                                           {"vms.0.guest.policy", "vms.0.guest.policy"}};

    for (size_t i = 0; i < sizeof(PATHS) / sizeof(PATHS[0]); i++) {
        char *path = scenario_path(t, PATHS[i][0]);

        cr_expect_str_eq(path, PATHS[i][1]);
        free(path);
    }
    conf_free(t);
}

Test(scenario, echo_and_hash)
{
    static const char *const SAMPLE[] = {"seed=7", "replications=3"};
    static const char *const WARM[] = {"warmup=300ms"};
    static const char TEXT[] =
        "machine: x86-32\n"
        "duration: 1s\n"
        "warmup: 100ms\n"
        "oversubscription: 2\n"
        "host: {scheduler: {rr: {slice: 3ms}}, placement: pinned, io_cpu: 0.1}\n"
        "vms:\n"
        "  - {name: a, vcpus: 8, fill: true, pin: \"0-3,8\", idle: hlt,\n"
        "     workload: busy-service}\n";
    struct scenario *a = load(NULL, 0), *b = load(SAMPLE, 2), *c = load(WARM, 1);

    cr_expect_str_eq(a->hash, b->hash);
    cr_expect_str_neq(a->echo, b->echo);
    cr_expect_str_neq(a->hash, c->hash);
    cr_expect_eq(strlen(a->hash), 32);
    scenario_free(b);
    scenario_free(c);
    /* The echo is a scenario, and the same one. */
    b = parse(a->echo);
    cr_expect_str_eq(a->echo, b->echo);
    cr_expect_str_eq(a->hash, b->hash);
    scenario_free(a);
    scenario_free(b);

    char dir[256];

    cr_assert_not_null(getcwd(dir, sizeof(dir)));
    a = parse_at("configs/some.yaml", TEXT);
    cr_expect(!strstr(a->echo, dir) && !strstr(a->echo, "configs"), "%s", a->echo);
    b = parse_at("other.yaml", a->echo);
    cr_expect_str_eq(a->hash, b->hash);
    cr_expect(b->vm[0].count == 8 && strstr(b->echo, "\"pin\":\"0-3,8\""), "%s", b->echo);
    scenario_free(a);
    scenario_free(b);
}

Test(scenario, found_from_anywhere)
{
    char home[256];
    struct conf_errors e = {0};
    struct machine m;

    cr_assert_not_null(getcwd(home, sizeof(home)));
    cr_assert_eq(setenv("TANDEM_HOME", home, 1), 0);
    cr_assert_eq(chdir("/tmp"), 0);
    cr_expect(machine_load(&m, "kunpeng920-128", &e), "%s", e.n ? e.list[0].text : "");
    cr_expect_str_eq(m.name, "kunpeng920-128");
    cr_expect(m.topo.groups_per_node == 8 && m.costs.exit == 1250);
    machine_free(&m);
}

Test(registry, tables_are_sound_and_names_resolve)
{
    static const enum policy_kind KINDS[] = {POLICY_HOST, POLICY_GUEST, POLICY_IDLE};
    char buf[200];
    const char *wrong = registry_check(buf);

    cr_expect_null(wrong, "%s", wrong ? wrong : "");
    for (size_t k = 0; k < 3; k++) {
        cr_expect_gt(registry_count(KINDS[k]), 0);
        for (size_t i = 0; i < registry_count(KINDS[k]); i++) {
            const struct policy_head *h = registry_head(KINDS[k], i);

            cr_expect_eq(registry_find(KINDS[k], h->name), (const void *)h, "%s", h->name);
            cr_expect(!h->alias || registry_find(KINDS[k], h->alias) == h, "%s", h->name);
        }
        cr_expect_null(registry_find(KINDS[k], "no-such-policy"));
    }
}

static struct idle_plan block(struct idle *i, int vcpu, const struct idle_ctx *ctx)
{
    (void)i;
    (void)vcpu;
    (void)ctx;
    return (struct idle_plan){.act = IDLE_BLOCK, .until = NS_NEVER};
}

Test(registry, loaded_policies_are_checked)
{
    static const struct idle_ops OLD = {
        .head = {.abi = TANDEM_POLICY_ABI + 1, .name = "old", .summary = "x"}, .enter = block};
    static const struct idle_ops HOLLOW = {
        .head = {.abi = TANDEM_POLICY_ABI, .name = "hollow", .summary = "x"}};
    static const struct idle_ops TAKEN = {
        .head = {.abi = TANDEM_POLICY_ABI, .name = "hlt", .summary = "x"}, .enter = block};
    static const struct idle_ops UGLY = {
        .head = {.abi = TANDEM_POLICY_ABI, .name = "My_Policy", .summary = "x"}, .enter = block};
    static const struct idle_ops GOOD = {
        .head = {.abi = TANDEM_POLICY_ABI, .name = "mine", .alias = "my-own", .summary = "x"},
        .enter = block};
    static const struct {
        const struct idle_ops *ops;
        const char *want;
    } CASES[] = {
        {&OLD, "idle policy 'old': built for contract version 4, this is version 3"},
        {&HOLLOW, "idle policy 'hollow': the required operation 'enter' is missing"},
        {&TAKEN, "idle policy 'hlt': another policy has this name"},
        {&UGLY, "idle policy 'My_Policy': only a-z, 0-9 and '-' may stand in its name"},
    };
    char buf[200];

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        const char *wrong = registry_add(POLICY_IDLE, CASES[i].ops, buf);

        cr_assert_not_null(wrong);
        cr_expect_str_eq(wrong, CASES[i].want);
    }
    cr_expect_null(registry_add(POLICY_IDLE, &GOOD, buf));
    cr_expect_eq(registry_find(POLICY_IDLE, "my-own"), (const void *)&GOOD);
    cr_expect_not_null(registry_add(POLICY_IDLE, &GOOD, buf));
}
