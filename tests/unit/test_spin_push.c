/* SPDX-License-Identifier: MIT */
/* Who spins for a spinning lock of the kernel stays on its CPU, whoever asks in an interrupt that it moves. */
#include "tests/unit/small_guest.h"

static void push_away(struct guest *k, int cpu)
{
    guest_push(k, cpu, cpu == 0);
}

Test(spin_push, a_spinner_stays_while_an_interrupt_is_handled)
{
    static const char text[] =
        "{objects: {locks: {s: {kind: spin, kernel: on}}}, tasks: ["
        "{name: spinner, start: 1us, program: [{lock: s}, {run: 10us}, {unlock: s}]}, "
        "{vcpu: 2, program: [{lock: s}, {run: 500us}, {unlock: s}]}, "
        "{vcpu: 0, program: [{sleep: 50us}]}, {vcpu: 1, program: [{sleep: 120us}]}]}";
    static const struct costs slow = {.wake = 20 * NS_US};
    const struct guest_ops *bare = registry_find(POLICY_GUEST, "bare");
    const struct guest_place place = {.ncpus = 3};
    struct guest_ops pushing = *bare;
    struct small_world *w = calloc(1, sizeof(*w));
    struct guest_conf conf;
    char hash[33], why[160];
    const struct task *t;
    int cpu;

    pushing.irq = push_away;
    params_default(guest_params, &conf);
    conf.hz = 0;
    w->work = parse(text, hash);
    w->engine = engine_new();
    w->guest =
        guest_new(w->engine, &slow, w->work, &conf, &pushing, NULL, &place, 1, &DEAF, w, why);
    cr_assert(w->guest, "%s", why);
    small_run(w, 45 * NS_US);
    t = &w->guest->task[0];
    cr_assert(t->state == TASK_CURRENT && t->act == ACT_SPIN_LOCK && t->cpu < 2);
    cpu = t->cpu;
    for (ns_t at = 50 * NS_US; at < 500 * NS_US; at += 5 * NS_US) {
        engine_run(w->engine, at);
        cr_assert(w->guest->cpu[cpu].curr == t && t->act == ACT_SPIN_LOCK, "at %ld", (long)at);
    }
    engine_run(w->engine, NS_MS);
    cr_expect_eq(t->state, TASK_DEAD);
    small_free(w);
}
