/* SPDX-License-Identifier: MIT */
/* The workload format: what programs compile to, amounts, hashes, and every workload that is
 * shipped. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workload.h"

static struct workload *parse(const char *text, char hash[33])
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("text", text, strlen(text), &e);
    struct workload *w = t ? workload_from_node(conf_root(t), "text", "text", ".", hash, &e) : NULL;

    if (e.n)
        conf_errors_print(&e, stderr);
    cr_assert_eq(e.n, 0);
    cr_assert_not_null(w);
    conf_free(t);
    return w;
}

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
    static const enum op_code C[] = {OP_TIMER, OP_TIMER, OP_SIGNAL, OP_BROADCAST,
                                     OP_SEND,  OP_SPIN,  OP_YIELD,  OP_FORK};
    char hash[33];
    struct workload *w = parse(PROGRAM, hash);
    const struct op *a = w->task[0].op, *b = w->task[1].op, *c = w->task[2].op;

    expect_codes(&w->task[0], A, 6);
    expect_codes(&w->task[1], B, 10);
    expect_codes(&w->task[2], C, 8);
    cr_expect_eq(w->loop_depth, 2);
    cr_expect(a[0].count == 2 && a[0].jump == 5 && a[5].jump == 0);
    cr_expect(a[2].count == 0 && a[2].jump == 4 && a[4].jump == 2);
    cr_expect(a[1].shared && a[1].divide && a[1].amount.a == 5000 && a[1].line == 13);
    cr_expect(b[1].obj == 0 && b[1].obj2 == 0 && strcmp(w->cond[0], "c") == 0);
    cr_expect(b[4].inherit && b[4].obj == b[7].obj && b[4].obj != b[8].obj);
    cr_expect(!b[5].has_amount && b[6].has_amount && b[6].amount.a == 3e6);
    cr_expect(c[0].periodic && !c[0].absolute && c[1].absolute && !c[1].periodic);
    cr_expect_eq(c[7].obj, 3);
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
