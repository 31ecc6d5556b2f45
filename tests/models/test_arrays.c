/* SPDX-License-Identifier: MIT */
/* Arrays of queues and locks: which element a task takes. */
#include "tests/support/run_text.h"

static double operations(const char *objects, const char *tasks)
{
    char text[2048];
    struct run_values *v;
    double ops;

    snprintf(text, sizeof(text),
             "machine: flat-8\nduration: 500ms\nallow_cold: on\nhost: {scheduler: cfs}\n"
             "vms: [{name: vm, vcpus: 4, workload: {objects: {%s}, tasks: [%s]}}]\n",
             objects, tasks);
    v = run_of_text(text, 1, NULL);
    ops = metric_of(v, 0, METRIC_OPS);
    run_values_free(v);
    return ops;
}

/* Two groups of two senders; each receiver waits for exactly the messages that its group's senders
 * have for it: five of each. */
Test(arrays, turns_stay_in_the_block_of_the_group)
{
    static const char queues[] = "queues: {q: {count: 4, capacity: 2}}";
    static const char receivers[] =
        "{name: r, count: 4, program: [{loop: {count: 10, body: [{recv: {queue: q, at: self}}, "
        "{mark: {op: got}}]}}]}";
    char tasks[1024];

    snprintf(tasks, sizeof(tasks),
             "{name: s, count: 4, group: {of: 2}, program: [{loop: {count: 10, body: [{run: 1us}, "
             "{send: {queue: q, at: turn}}, turn]}}]}, %s",
             receivers);
    cr_expect_eq(operations(queues, tasks), 40);
    /* Without groups all four are one block: a sender's ten messages go to all, two or three each. */
    snprintf(
        tasks, sizeof(tasks),
        "{name: s, count: 4, program: [{loop: {count: 12, body: [{run: 1us}, "
        "{send: {queue: q, at: turn}}, turn]}}]}, "
        "{name: r, count: 4, program: [{loop: {count: 12, body: [{recv: {queue: q, at: self}}, "
        "{mark: {op: got}}]}}]}");
    cr_expect_eq(operations(queues, tasks), 48);
    /* A sender that does not move on feeds one receiver only, which takes ten of them. */
    snprintf(
        tasks, sizeof(tasks),
        "{name: s, count: 1, program: [{loop: {count: 10, body: [{run: 1us}, {send: {queue: q, "
        "at: turn}}]}}]}, %s",
        receivers);
    cr_expect_eq(operations(queues, tasks), 10);
}

/* Tasks that hold elements of their own do not wait for one another; those of one element do. */
Test(arrays, locks_are_apart)
{
    static const char *const at[] = {"self", "turn"};
    double ops[2];

    for (int i = 0; i < 2; i++) {
        char tasks[512];

        snprintf(
            tasks, sizeof(tasks),
            "{name: t, count: 4, program: [{loop: {count: forever, body: [{lock: {lock: l, at: "
            "%s}}, {run: 1ms}, {unlock: {lock: l, at: %s}}, {mark: {op: turn}}]}}]}",
            at[i], at[i]);
        ops[i] = operations("locks: {l: {count: 4}}", tasks);
    }
    cr_expect(ops[0] > 3.5 * ops[1], "%g apart, %g together", ops[0], ops[1]);
}

/* An element is a lock like one of its own: writers release it at the same instants. */
Test(arrays, an_element_is_as_exact_as_a_lock)
{
    static const char tasks[] =
        "{name: t, count: 4, program: [{loop: {count: forever, body: [{lock: {lock: l%s}}, {run: "
        "300ns}, {send: q}, {recv: q}, {unlock: {lock: l%s}}, {mark: {op: write}}, {run: "
        "200ns}]}}]}";
    char text[512];
    double single, element;

    snprintf(text, sizeof(text), tasks, "", "");
    single = operations("locks: {l: {kind: rwsem}}, queues: {q: {capacity: 8}}", text);
    snprintf(text, sizeof(text), tasks, ", at: turn", ", at: turn");
    element = operations("locks: {l: {kind: rwsem, count: 4}}, queues: {q: {capacity: 8}}", text);
    cr_expect_eq(element, single, "%g of an element, %g of a lock", element, single);
    cr_expect(single > 1000);
}
