/* SPDX-License-Identifier: MIT */
/* The workload format: shared lines, locks with readers, working sets, communication groups, threads. */
#include "tests/unit/small_guest.h"

static const char SHARED[] =
    "objects:\n"
    "  lines: {x: {}, y: {}}\n"
    "  locks: {r: {kind: rwsem, spin: owner}, q: {kind: rwsem, spin: 20us, kernel: on}, m: {spin: "
    "owner}, w: {kind: rwsem}}\n"
    "  queues: {k: {capacity: 1}}\n"
    "tasks:\n"
    "  - footprint: 256KB\n"
    "    program:\n"
    "      - share: y\n"
    "      - share: {line: x, count: 3}\n"
    "      - share: {line: x}\n"
    "      - lock: {lock: r, mode: read}\n"
    "      - unlock: r\n"
    "      - lock: {lock: r, mode: write}\n"
    "      - unlock: r\n"
    "      - lock: {lock: q}\n"
    "      - unlock: q\n"
    "      - lock: m\n"
    "      - unlock: m\n";

Test(workload_shared, lines_and_locks_with_readers)
{
    char hash[33];
    struct workload *w = parse(SHARED, hash);
    const struct op *op = w->task[0].op;
    struct small_world *s;

    cr_expect(w->nlines == 2 && strcmp(w->line[0].name, "x") == 0);
    cr_expect(op[0].code == OP_SHARE && op[0].obj == 1 && op[0].count == 1);
    cr_expect(op[1].code == OP_SHARE && op[1].obj == 0 && op[1].count == 3);
    cr_expect(op[2].code == OP_SHARE && op[2].obj == 0 && op[2].count == 1);
    cr_expect(op[3].code == OP_LOCK && op[3].obj == 0 && op[3].read);
    cr_expect(op[5].code == OP_LOCK && op[5].obj == 0 && !op[5].read);
    cr_expect(op[7].code == OP_LOCK && op[7].obj == 1 && !op[7].read);
    cr_expect(op[9].code == OP_LOCK && op[9].obj == 2 && !op[9].read);
    cr_expect(w->lock[0].kind == LOCK_RW && w->lock[0].optimistic && w->lock[0].spin_limit == 0);
    cr_expect(w->lock[1].kind == LOCK_RW && !w->lock[1].optimistic && w->lock[1].kernel);
    cr_expect_eq(w->lock[1].spin_limit, 20 * NS_US);
    cr_expect(w->lock[2].kind == LOCK_SLEEP && w->lock[2].optimistic);
    cr_expect(w->lock[3].kind == LOCK_RW && !w->lock[3].optimistic && w->lock[3].spin_limit == 0);
    workload_free(w);
    /* Each lock and queue has a line of its own, behind those of the workload. */
    s = small_world(
        "objects: {lines: {x: {}}, locks: {a: {}, b: {kind: rwsem}}, queues: {q: {capacity: 1}}}\n"
        "tasks: [{program: [{share: {line: x, count: 100}}, {lock: a}, {unlock: a}, {send: q}, "
        "{recv: q}, {mark: done}]}]",
        0, 1, 1, &DEAF);
    cr_expect(s->guest->nlines == 4 && s->guest->lock[0].line == 1 && s->guest->lock[1].line == 2 &&
              s->guest->queue[0].line == 3);
    small_run(s, NS_MS); /* and without a machine, that is, without the hook */
    cr_expect_eq(s->guest->st.ops, 1);
    small_free(s);
}

Test(workload_shared, footprints)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } CASES[] = {{"0B", 0},
                 {"1B", 1},
                 {"64KB", 65536},
                 {"3 KB", 3072},
                 {"2MB", 2097152},
                 {"65536MB", (int64_t)1 << 36},
                 {"68719476736B", (int64_t)1 << 36}};
    char text[128], hash[33];
    struct workload *w = parse("tasks: [{program: [{run: 1ms}]}]", hash);

    cr_expect_eq(w->task[0].footprint, -1, "as the machine says");
    workload_free(w);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        snprintf(text, sizeof(text), "tasks: [{footprint: %s, program: [{run: 1ms}]}]",
                 CASES[i].text);
        w = parse(text, hash);
        cr_expect_eq(w->task[0].footprint, CASES[i].bytes, "%s: %lld", CASES[i].text,
                     (long long)w->task[0].footprint);
        workload_free(w);
    }
}

static void expect_tags(const char *text, int ncpus, const uint32_t *tags, int n, int ntags)
{
    struct small_world *w = small_world(text, 0, ncpus, 1, &DEAF);

    cr_assert_eq(w->guest->ntasks, n, "%d tasks", w->guest->ntasks);
    cr_expect_eq(w->guest->ntags, ntags, "%d groups", w->guest->ntags);
    for (int i = 0; i < n; i++)
        cr_expect_eq(w->guest->task[i].tag, tags[i], "task %d is in group %u", i,
                     w->guest->task[i].tag);
    small_free(w);
}

Test(workload_shared, groups_are_numbered_in_order_of_the_tasks)
{
    /* The same number is the same group wherever it stands; without one: none. */
    static const uint32_t same[] = {1, 1, 0, 2, 1};
    /* Each four in a row; the last group is smaller; the next template begins one of its own. */
    static const uint32_t of[] = {1, 1, 1, 1, 2, 2, 3, 3, 3, 4, 5};

    expect_tags(
        "tasks: [{count: 2, group: 70, program: [{run: 1ms}]}, {program: [{run: 1ms}]}, {group: 5, "
        "program: [{run: 1ms}]}, {group: 70, program: [{run: 1ms}]}]",
        2, same, 5, 2);
    expect_tags(
        "tasks: [{count: 6, group: {of: 4}, program: [{run: 1ms}]}, {count: vcpus, group: {of: 4}, "
        "program: [{run: 1ms}]}, {count: 2, group: {of: 1}, program: [{run: 1ms}]}]",
        3, of, 11, 5);
}

/* `guest.threads` stands for the vCPUs wherever a count does. */
Test(workload_shared, threads_are_counted_apart_from_vcpus)
{
    static const struct {
        int64_t threads;
        int want[4];
    } CASES[] = {{0, {4, 8, 1, 3}}, {6, {6, 12, 1, 3}}, {17, {17, 34, 4, 3}}};
    static const char text[] =
        "tasks: [{count: vcpus, vcpu: spread, program: [{run: 1ms}]}, {count: vcpus*2, program: "
        "[{run: "
        "1ms}]}, {count: vcpus/4, program: [{run: 1ms}]}, {count: 3, program: [{run: 1ms}]}]";
    const struct guest_ops *bare = registry_find(POLICY_GUEST, "bare");
    const struct guest_place place = {.ncpus = 4};
    static const struct costs FREE;

    for (int i = 0; i < 3; i++) {
        struct engine *e = engine_new();
        struct guest_conf conf;
        char hash[33], why[160];
        struct workload *w = parse(text, hash);
        int n[4] = {0};
        struct guest *k;

        params_default(guest_params, &conf);
        conf.threads = CASES[i].threads;
        k = guest_new(e, &FREE, w, &conf, bare, NULL, &place, 1, &DEAF, NULL, why);
        cr_assert(k, "%s", why);
        for (int t = 0; t < k->ntasks; t++) {
            n[k->task[t].spec - w->task]++;
            cr_expect(k->task[t].spec->spread == (k->task[t].pin >= 0) && k->task[t].pin < 4);
        }
        for (int t = 0; t < 4; t++)
            cr_expect_eq(n[t], CASES[i].want[t], "threads %d, template %d: %d",
                         (int)CASES[i].threads, t, n[t]);
        guest_free(k);
        workload_free(w);
        engine_free(e);
    }
}

Test(workload_shared, more_tasks_than_there_can_be)
{
    struct engine *e = engine_new();
    const struct guest_place place = {.vm = 3, .ncpus = 4};
    static const struct costs FREE;
    struct guest_conf conf;
    char hash[33], why[160];
    struct workload *w = parse(
        "tasks: [{count: vcpus*100000, program: [{run: 1ms}]}, {program: [{run: 1ms}]}]", hash);

    params_default(guest_params, &conf);
    conf.threads = 100000;
    cr_expect_null(guest_new(e, &FREE, w, &conf, registry_find(POLICY_GUEST, "bare"), NULL, &place,
                             1, &DEAF, NULL, why));
    cr_expect_str_eq(why, "vm3 has 10000000001 tasks, at most 1000000 are possible", "%s", why);
    workload_free(w);
    engine_free(e);
}
