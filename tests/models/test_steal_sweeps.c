/* SPDX-License-Identifier: MIT */
/* The programs written in place in the sweeps of steal: a VM alone uses the share that its label
 * names, and a neighbour in turns computes half of the time. */
#include <stdlib.h>

#include "study/sweep.h"
#include "tests/support/run_text.h"

/* Work / (time x vCPUs) of the measured VMs in the point, changed by `set` pairs of path and value. */
static double use_of(const struct sweep *s, size_t point, const char *const (*set)[2], size_t nset)
{
    struct conf_errors e = {0};
    struct conf_tree *t = sweep_tree(s, point, &e);
    struct run_values *v = NULL;
    char error[256] = "";

    cr_assert(t && e.n == 0);
    for (size_t i = 0; i < nset; i++)
        cr_assert(scenario_set(t, set[i][0], set[i][1], &e), "%s: %s", set[i][0],
                  e.n ? e.list[0].text : "");
    struct scenario *one = scenario_from_tree(t, "configs/steal.yaml", &e);

    cr_assert(one, "%s", e.n ? e.list[0].text : "no scenario");
    cr_assert(run_replication(one, 1, 0, &v, error, sizeof(error)) == 0, "%s", error);
    const double use = metric_of(v, 0, METRIC_GUEST_CPU_VCPU);

    run_values_free(v);
    scenario_free(one);
    conf_free(t);
    conf_errors_free(&e);
    return use;
}

static struct sweep *sweep_of(const char *file)
{
    struct conf_errors e = {0};
    struct sweep *s = sweep_read(file, &e);

    cr_assert(s, "%s", e.n ? e.list[0].text : file);
    return s;
}

Test(steal_sweeps, a_vm_alone_uses_what_its_label_says)
{
    static const char *const ALONE[][2] = {
        {"oversubscription", "0.5"}, {"duration", "4s"}, {"warmup", "1s"}, {"host.start", "order"}};
    struct sweep *s = sweep_of("configs/steal-use.yaml");

    /* The policy is the last axis, the use the one before it. */
    for (size_t use = 0; use < 4; use++) {
        const double want = 0.25 * (double)(use + 1);
        const double got = use_of(s, use * 5, ALONE, 4);

        cr_expect(got > want - 0.02 && got < want + 0.02, "%s %%: %g", sweep_label(s, use * 5, 1),
                  got);
    }
    sweep_free(s);
}

Test(steal_sweeps, a_neighbour_in_turns_computes_half_of_the_time)
{
    static const char *const ALONE[][2] = {
        {"vms.test.role", "background"},
        {"vms.test.workload", "{tasks: [{name: nobody, program: [exit]}]}"},
        {"vms.neighbour.role", "measured"},
        {"warmup", "400ms"},
        {"duration", "2200ms"}};
    struct sweep *s = sweep_of("configs/steal-alternate.yaml");

    /* Turns of 100 and 300 ms: nine and three times both. */
    for (size_t turn = 0; turn < 2; turn++) {
        const double got = use_of(s, turn * 15, ALONE, 5);

        cr_expect(got > 0.47 && got < 0.54, "%s: %g", sweep_label(s, turn * 15, 0), got);
    }
    sweep_free(s);
}
