/* SPDX-License-Identifier: MIT */
/* The workload format: what programs compile to, amounts, spreads, stores to watched words, hashes, and
 * every workload that is shipped. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/small_guest.h"

Test(workload, all_shipped_ones_load_and_name_their_source)
{
    DIR *d = opendir("workloads");
    struct dirent *entry;
    int n = 0;

    cr_assert_not_null(d, "run from the top folder of the source");
    while ((entry = readdir(d))) {
        struct conf_errors e = {0};
        char path[512], hash[33];

        if (!strstr(entry->d_name, ".yaml"))
            continue;
        snprintf(path, sizeof(path), "workloads/%s", entry->d_name);
        struct workload *w = workload_load(path, hash, &e);

        cr_expect(w && e.n == 0, "%s: %s", path, e.n ? e.list[0].text : "no message");
        if (w) {
            cr_expect(w->summary && w->summary[0], "%s has no summary", path);
            cr_expect(w->source && strlen(w->source) > 10, "%s does not name its source", path);
        }
        conf_errors_free(&e);
        workload_free(w);
        n++;
    }
    closedir(d);
    cr_expect_geq(n, 15);
}

static const char PROGRAM[] = "objects:\n"
                              "  locks: {m: {spin: 20us, kernel: on}, s: {kind: spin, fair: off}}\n"
                              "  barriers: {b: {parties: 3, spin: forever, wake: chain}}\n"
                              "  queues: {q: {capacity: 7}}\n"
                              "  devices: {disk: {depth: 4, service: 1ms}}\n"
                              "tasks:\n"
                              "  - name: a\n"
                              "    count: 3\n"
                              "    program:\n"
                              "      - loop:\n"
                              "          count: 2\n"
                              "          body:\n"
                              "            - run: {amount: 5us, shared: on, divide: on}\n"
                              "            - loop: {count: forever, body: [{barrier: b}]}\n"
                              "  - name: b\n"
                              "    program:\n"
                              "      - lock: m\n"
                              "      - wait: {cond: c, lock: m}\n"
                              "      - unlock: {lock: m}\n"
                              "      - recv: {queue: q}\n"
                              "      - mark: {open: r, inherit: on}\n"
                              "      - io: disk\n"
                              "      - io: {device: disk, service: 3ms}\n"
                              "      - mark: {close: r}\n"
                              "      - mark: done\n"
                              "      - exit\n"
                              "  - name: c\n"
                              "    program:\n"
                              "      - timer: 1ms\n"
                              "      - timer: {at: 9ms}\n"
                              "      - signal: c\n"
                              "      - broadcast: c\n"
                              "      - send: q\n"
                              "      - spin: 4us\n"
                              "      - yield\n"
                              "      - fork: d\n"
                              "      - poke: {vcpu: next, as: pulse, for: 3us}\n"
                              "      - poke: {vcpu: 3, as: flag}\n"
                              "      - poke: {vcpu: 0, as: pulse}\n"
                              "  - {name: d, on_demand: on, program: [{sleep: 2ms}]}\n";

static void expect_codes(const struct task_spec *t, const enum op_code *codes, int n)
{
    cr_assert_eq(t->nops, n, "task %s has %d operations", t->name, t->nops);
    for (int i = 0; i < n; i++)
        cr_expect_eq(t->op[i].code, codes[i], "task %s operation %d", t->name, i);
}

Test(workload, operations_and_objects)
{
    static const enum op_code A[] = {OP_LOOP, OP_RUN, OP_LOOP, OP_BARRIER, OP_NEXT, OP_NEXT};
    static const enum op_code B[] = {OP_LOCK, OP_WAIT, OP_UNLOCK,     OP_RECV,    OP_MARK_OPEN,
                                     OP_IO,   OP_IO,   OP_MARK_CLOSE, OP_MARK_OP, OP_EXIT};
    static const enum op_code C[] = {OP_TIMER, OP_TIMER, OP_SIGNAL, OP_BROADCAST, OP_SEND, OP_SPIN,
                                     OP_YIELD, OP_FORK,  OP_POKE,   OP_POKE,      OP_POKE};
    char hash[33];
    struct workload *w = parse(PROGRAM, hash);
    const struct op *a = w->task[0].op, *b = w->task[1].op, *c = w->task[2].op;

    expect_codes(&w->task[0], A, 6);
    expect_codes(&w->task[1], B, 10);
    expect_codes(&w->task[2], C, 11);
    cr_expect_eq(w->loop_depth, 2);
    cr_expect(a[0].count == 2 && a[0].jump == 5 && a[5].jump == 0);
    cr_expect(a[2].count == 0 && a[2].jump == 4 && a[4].jump == 2);
    cr_expect(a[1].shared && a[1].divide && a[1].amount.a == 5000 && a[1].line == 13);
    cr_expect(b[1].obj == 0 && b[1].obj2 == 0 && strcmp(w->cond[0], "c") == 0);
    cr_expect(b[4].inherit && b[4].obj == b[7].obj && b[4].obj != b[8].obj);
    cr_expect(!b[5].has_amount && b[6].has_amount && b[6].amount.a == 3e6);
    cr_expect(c[0].periodic && !c[0].absolute && c[1].absolute && !c[1].periodic);
    cr_expect_eq(c[7].obj, 3);
    cr_expect(c[8].obj == -1 && c[8].poke == POKE_PULSE && c[8].amount.a == 3000);
    cr_expect(c[9].obj == 3 && c[9].poke == POKE_FLAG);
    cr_expect(c[10].obj == 0 && c[10].poke == POKE_PULSE && c[10].amount.a == 1000);
    cr_expect(w->lock[0].kind == LOCK_SLEEP && w->lock[0].spin_limit == 20000 && w->lock[0].kernel);
    cr_expect(w->lock[1].kind == LOCK_SPIN && !w->lock[1].fair && !w->lock[1].kernel);
    cr_expect(w->barrier[0].parties == 3 && w->barrier[0].chain);
    cr_expect_eq(w->barrier[0].spin_limit, NS_NEVER);
    cr_expect_eq(w->queue[0].capacity, 7);
    cr_expect(w->device[0].depth == 4 && w->device[0].service.a == 1e6);
    workload_free(w);
}

Test(workload, keys_of_tasks)
{
    char hash[33];
    struct workload *w =
        parse("tasks:\n"
              "  - {program: [{run: 1ms}]}\n"
              "  - {count: vcpus, vcpu: spread, program: [{run: 1ms}]}\n"
              "  - {count: vcpus*3/2, nice: -5, program: [{run: 1ms}]}\n"
              "  - {count: vcpus/4, weight: 77, vcpu: 2, program: [{run: 1ms}]}\n"
              "  - {count: {vcpus: 1/8}, start: 5ms, group: 9, program: [{run: 1ms}]}\n"
              "  - {count: 12, start: {uniform: [1ms, 3ms]}, kernel: on, program: [{run: 1ms}]}\n",
              hash);
    const struct task_spec *t = w->task;

    cr_expect(t[0].count == 1 && t[0].weight == 1024 && t[0].vcpu == -1 && !t[0].spread);
    cr_expect(strcmp(t[0].name, "task0") == 0);
    cr_expect(t[1].count == 0 && t[1].count_mul == 0 && t[1].spread);
    cr_expect(t[2].count_mul == 3 && t[2].count_div == 2 && t[2].weight == 3121);
    cr_expect(t[3].count_mul == 1 && t[3].count_div == 4 && t[3].weight == 77 && t[3].vcpu == 2);
    cr_expect(t[4].count_mul == 1 && t[4].count_div == 8 && t[4].tag == 9);
    cr_expect(t[4].start == 5000000 && t[4].start_dist.a == 0 &&
              t[4].start_dist.kind == DIST_CONST);
    cr_expect(t[5].count == 12 && t[5].start == 0 && t[5].kernel);
    cr_expect(t[5].start_dist.kind == DIST_UNIFORM && dist_mean(&t[5].start_dist) == 2e6);
    workload_free(w);
}

/* Mean of `text` as an amount, which must be accepted. */
static double mean_of(const char *text, struct dist *d)
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("text", text, strlen(text), &e);

    cr_assert(t && amount_read(conf_root(t), ".", d, &e), "%s: %s", text,
              e.n ? e.list[0].text : "");
    conf_free(t);
    return dist_mean(d);
}

Test(workload, amounts)
{
    static const struct {
        const char *text;
        enum dist_kind kind;
        double mean;
    } CASES[] = {
        {"2ms", DIST_CONST, 2e6},
        {"1.5us", DIST_CONST, 1500},
        {"{exponential: 2ms}", DIST_EXPONENTIAL, 2e6},
        {"{exponential: 2ms, scale: 3/4}", DIST_EXPONENTIAL, 1.5e6},
        {"{gamma: {shape: 5, scale: 22us}}", DIST_GAMMA, 110e3},
        {"{lognormal: {mean: 1ms, sigma: 0.5}}", DIST_LOGNORMAL, 1e6},
        {"{lognormal: {median: 1ms, sigma: 2}}", DIST_LOGNORMAL, 7389056.098930650},
        {"{pareto: {min: 1ms, exponent: 3}}", DIST_PARETO, 1.5e6},
        {"{weibull: {scale: 1ms, exponent: 1}}", DIST_WEIBULL, 1e6},
        {"{uniform: [1ms, 3ms]}", DIST_UNIFORM, 2e6},
        {"{mixture: [{weight: 0.25, amount: 4ms}, {weight: 0.75, amount: {exponential: 8ms}}]}",
         DIST_MIXTURE, 7e6},
        {"{histogram: [[10us, 1], [20us, 2], [40us, 1]]}", DIST_HISTOGRAM, 22.5e3},
        {"{histogram: [[10us, 3]], scale: 12}", DIST_HISTOGRAM, 120e3},
        {"{histogram: [[10us, 3]], scale: 0.25}", DIST_HISTOGRAM, 2.5e3},
        {"{constant: 10us}", DIST_CONST, 10e3},
        {"{constant: 10us, scale: 3/4}", DIST_CONST, 7.5e3},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct dist d;
        double mean = mean_of(CASES[i].text, &d);

        cr_expect_eq(d.kind, CASES[i].kind, "%s", CASES[i].text);
        cr_expect(fabs(mean - CASES[i].mean) < 1e-6 * CASES[i].mean, "%s: mean %g", CASES[i].text,
                  mean);
        dist_free(&d);
    }
}

static void write_values(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    cr_assert_not_null(out);
    fputs(text, out);
    fclose(out);
}

Test(workload, file_of_values_is_part_of_the_hash)
{
    char dir[] = "/tmp/tandem-values-XXXXXX", values[64], program[64], hash[3][33];
    struct conf_errors e = {0};
    struct workload *w = NULL;

    cr_assert_not_null(mkdtemp(dir));
    snprintf(values, sizeof(values), "%s/v.txt", dir);
    snprintf(program, sizeof(program), "%s/p.yaml", dir);
    write_values(program, "tasks: [{program: [{run: {file: v.txt}}]}]\n");
    for (int i = 0; i < 3; i++) {
        write_values(values, i == 1 ? "# ns\n100\n\n 301\n" : "100\n300\n");
        workload_free(w);
        w = workload_load(program, hash[i], &e);
        cr_assert(w, "%s", e.n ? e.list[0].text : "");
        cr_expect_eq(w->task[0].op[0].amount.n, 2);
        cr_expect_eq(w->task[0].op[0].amount.value[1], i == 1 ? 301 : 300);
    }
    cr_expect_str_eq(w->name, "p");
    cr_expect_str_eq(hash[0], hash[2]);
    cr_expect_str_neq(hash[0], hash[1]);
    write_values(values, "100\nhundred\n");
    cr_expect_null(workload_load(program, hash[0], &e));
    cr_expect(strstr(e.list[0].text, "v.txt:2:1: expected a whole number"), "%s", e.list[0].text);
    conf_errors_free(&e);
    workload_free(w);
    unlink(values);
    unlink(program);
    rmdir(dir);
}

Test(workload, hash_ignores_what_changes_nothing)
{
    char hash[4][33];

    workload_free(parse("tasks: [{program: [{run: 1ms}]}]", hash[0]));
    workload_free(
        parse("summary: x\nsource: y\ntasks:\n  - program:\n      - run: 1ms\n", hash[1]));
    workload_free(parse("tasks: [{program: [{run: 2ms}]}]", hash[2]));
    cr_expect_str_eq(hash[0], hash[1]);
    cr_expect_str_neq(hash[0], hash[2]);
}

static const char POKES[] = "tasks:\n"
                            "  - vcpu: 1\n"
                            "    program:\n"
                            "      - poke: {vcpu: next, as: pulse}\n"
                            "      - run: 10us\n"
                            "      - poke: {vcpu: 2, as: pulse, for: 7us}\n"
                            "      - poke: {vcpu: 1, as: flag}\n"
                            "      - poke: {vcpu: 0, as: same}\n"
                            "      - run: 5us\n"
                            "      - poke: {vcpu: 2, as: flag}\n"
                            "      - mark: done\n"
                            "  - vcpu: 2\n"
                            "    start: 1ms\n"
                            "    program: [{poke: {vcpu: next, as: flag}}]\n";

Test(workload, pokes_reach_the_other_vcpu_when_they_stand)
{
    /* A store to one's own word is none; after the last vCPU comes the first. */
    static const struct poked WANT[] = {{0, 1000, 1, 2, POKE_PULSE},
                                        {10000, 7000, 1, 2, POKE_PULSE},
                                        {10000, 0, 1, 0, POKE_SAME},
                                        {15000, 0, 1, 2, POKE_FLAG},
                                        {NS_MS, 0, 2, 0, POKE_FLAG}};
    struct small_world *w = small_world(POKES, 0, 3, 1, &NOTING);

    small_run(w, 2 * NS_MS);
    cr_assert_eq(w->npoked, 5, "%d pokes", w->npoked);
    for (int i = 0; i < 5; i++) {
        const struct poked *got = &w->poked[i], *want = &WANT[i];

        cr_expect(got->at == want->at && got->length == want->length && got->from == want->from &&
                      got->to == want->to && got->kind == want->kind,
                  "poke %d: %d -> %d at %lld for %lld, kind %d", i, got->from, got->to,
                  (long long)got->at, (long long)got->length, (int)got->kind);
    }
    small_free(w);
    /* Nobody listens: the program goes on all the same. */
    w = small_world(POKES, 0, 3, 1, &DEAF);
    small_run(w, 2 * NS_MS);
    cr_expect(w->npoked == 0 && w->guest->st.ops == 1);
    small_free(w);
    /* A lone vCPU is its own next. */
    w = small_world("tasks: [{program: [{poke: {vcpu: next, as: flag}}, {mark: done}]}]", 0, 1, 1,
                    &NOTING);
    small_run(w, NS_MS);
    cr_expect(w->npoked == 0 && w->guest->st.ops == 1);
    small_free(w);
}

#define SPREADS                                                                                    \
    "objects:\n"                                                                                   \
    "  spreads: {none: {sigma: 0}, fixed: {sigma: 0.66}, fresh: {sigma: 0.66, again: 100ms}}\n"    \
    "  devices: {disk: {service: {constant: 1024us, spread: fixed}}}\n"

static const char SPREAD[] = SPREADS
    "tasks:\n"
    "  - vcpu: 0\n"
    "    start: {constant: 1024us, spread: fixed}\n"
    "    program:\n"
    "      - poke: {vcpu: 1, as: same}\n"
    "      - run: {constant: 1024us, spread: fixed}\n"
    "      - poke: {vcpu: 1, as: same}\n"
    "      - io: disk\n"
    "      - poke: {vcpu: 1, as: same}\n"
    "      - run: {constant: 1024us, spread: none}\n"
    "      - poke: {vcpu: 1, as: same}\n"
    "      - loop: {count: 3, body: [{sleep: {constant: 1024us, scale: 1/2, spread: fixed}}]}\n"
    "      - poke: {vcpu: 1, as: same}\n"
    "      - loop: {count: 100, body: [{run: {constant: 1ns, spread: fixed}}]}\n"
    "      - poke: {vcpu: 1, as: same}\n";

Test(workload, a_spread_multiplies_every_amount_that_names_it)
{
    bool above = false, below = false;

    for (int vm = 0; vm < 32; vm++) {
        struct small_world *w = small_world(SPREAD, vm, 2, 7, &NOTING);
        /* 1024 us times f / 1024, and 512 us. */
        const ns_t f = spread_factor(w->guest, 1), unit = f * 1000, half = f * 500;

        cr_expect_eq(spread_factor(w->guest, 0), 1024);
        small_run(w, NS_SEC);
        cr_assert_eq(w->npoked, 6);
        for (int i = 0; i < 3; i++)
            cr_expect_eq(w->poked[i].at, (i + 1) * unit, "VM %d poke %d", vm, i);
        cr_expect_eq(w->poked[3].at, 3 * unit + 1024 * NS_US);
        cr_expect_eq(w->poked[4].at, 3 * unit + 1024 * NS_US + 3 * half);
        /* However small the factor, what takes time goes on doing so. */
        cr_expect_eq(w->poked[5].at - w->poked[4].at, 100 * (f < 1536 ? 1 : (f + 512) / 1024));
        above = above || f > 1024;
        below = below || f < 512;
        small_free(w);
    }
    cr_expect(above && below, "32 VMs, none above the median or none below half of it");
}

static int64_t factor_at(struct small_world *w, int spread, ns_t now)
{
    w->engine->now = now;
    return spread_factor(w->guest, spread);
}

Test(workload, factors_depend_on_seed_vm_object_and_number_alone)
{
    struct small_world *a = small_world(SPREAD, 3, 1, 11, &DEAF);
    struct small_world *b = small_world(SPREAD, 3, 1, 11, &DEAF);
    struct small_world *vm = small_world(SPREAD, 4, 1, 11, &DEAF);
    struct small_world *seed = small_world(SPREAD, 3, 1, 12, &DEAF);
    const int64_t fixed = spread_factor(a->guest, 1), first = spread_factor(a->guest, 2);

    cr_expect_eq(spread_factor(b->guest, 1), fixed);
    cr_expect_neq(spread_factor(vm->guest, 1), fixed);
    cr_expect_neq(spread_factor(seed->guest, 1), fixed);
    cr_expect_neq(first, fixed, "two spreads of one VM are one");
    /* Without `again` the factor stays; with it, it changes at the boundary and not before. */
    cr_expect_eq(factor_at(a, 2, 100 * NS_MS - 1), first);
    const int64_t second = factor_at(a, 2, 100 * NS_MS);

    cr_expect_neq(second, first);
    cr_expect_eq(factor_at(a, 2, 200 * NS_MS - 1), second);
    cr_expect_neq(factor_at(a, 2, 200 * NS_MS), second);
    cr_expect_eq(factor_at(a, 1, 200 * NS_MS), fixed);
    /* The same factors for one who asked for none in between. */
    cr_expect_eq(factor_at(b, 2, 10 * NS_SEC + 1), factor_at(a, 2, 10 * NS_SEC + 99 * NS_MS));
    small_free(a);
    small_free(b);
    small_free(vm);
    small_free(seed);
}

Test(workload, factors_are_lognormal_around_one)
{
    enum { N = 20000 };
    struct small_world *w = small_world(SPREAD, 0, 1, 1, &DEAF);
    double sum = 0, squares = 0;
    int above = 0;

    for (int i = 0; i < N; i++) {
        const int64_t f = factor_at(w, 2, i * 100 * NS_MS);
        const double x = log((double)f / 1024);

        sum += x;
        squares += x * x;
        above += f > 1024;
    }
    /* Four standard errors: 0.66 / sqrt(N), 0.66 / sqrt(2 N), 0.5 sqrt(N). */
    cr_expect(fabs(sum / N) < 0.0187, "mean of the logarithm %g", sum / N);
    cr_expect(fabs(sqrt(squares / N) - 0.66) < 0.0132, "sigma %g", sqrt(squares / N));
    cr_expect(abs(above - N / 2) < 283, "%d of %d are above 1", above, N);
    small_free(w);
}
