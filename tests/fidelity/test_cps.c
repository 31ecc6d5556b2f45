/* SPDX-License-Identifier: MIT */
/*
 * CPS (ASPLOS'23) on its machine: what was calibrated is within 5 %, orderings that it reports hold, and
 * it makes no difference where its authors say so. Few replications of short runs: the sweeps in
 * configs/ measure.
 */
#include <stdlib.h>

#include "tests/support/run_text.h"

static double measure(enum metric_id m, const char *text)
{
    struct run_values *v = run_of_text(text, 1, NULL);
    const double x = metric_of(v, 0, m);

    run_values_free(v);
    return x;
}

static bool is_short(void)
{
    return getenv("TANDEM_SHORT") != NULL;
}

Test(cps, exchanges_at_four_distances)
{
    static const struct {
        const char *pin;
        double published;
    } pair[] = {{"0,1", 7.08e6}, {"0,4", 4.76e6}, {"0,32", 4.45e6}, {"0,64", 2.97e6}};
    char text[512];

    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof(text),
                 "machine: kunpeng920-128\nduration: 30ms\nwarmup: 10ms\nallow_cold: on\n"
                 "host: {scheduler: cfs, placement: float, tick: 0}\n"
                 "vms: [{name: test, vcpus: 2, pin: \"%s\", workload: shared-counter, guest: "
                 "{policy: bare, scheduler: cfs, nohz: full}}]\n",
                 pair[i].pin);
        const double x = measure(METRIC_THROUGHPUT, text);

        cr_expect(x > 0.95 * pair[i].published && x < 1.05 * pair[i].published,
                  "pCPUs %s: %g, published %g", pair[i].pin, x, pair[i].published);
    }
}

/* The setting of figure 7, overcommitted. */
#define BESIDE_STRESS                                                                              \
    "machine: kunpeng920-128\nduration: 1500ms\nwarmup: 500ms\n"                                   \
    "host: {scheduler: cfs, placement: float, tick: 250, preempted: any-deschedule}\n"             \
    "vms:\n"                                                                                       \
    "  - {name: test, vcpus: 32, pin: \"0-31\", workload: %s, idle: hlt, guest: {policy: %s, "     \
    "scheduler: cfs}}\n"                                                                           \
    "  - {name: stress, role: background, count: 4, vcpus: 32, workload: stress, idle: hlt, "      \
    "guest: {policy: bare, scheduler: cfs}}\n"

/* The setting of figure 12. */
#define ANYWHERE                                                                                   \
    "machine: %s\nduration: 400ms\nwarmup: 200ms\n"                                                \
    "host: {scheduler: cfs, placement: float, start: random, tick: 250, preempted: "               \
    "any-deschedule}\n"                                                                            \
    "vms:\n"                                                                                       \
    "  - {name: test, vcpus: 128, workload: %s, idle: hlt, guest: {policy: %s, scheduler: cfs, "   \
    "threads: %d}}\n"                                                                              \
    "  - {name: stress, role: background, vcpus: 64, workload: stress-iomix, idle: hlt, guest: "   \
    "{policy: bare, scheduler: cfs}}\n"

static double beside_stress(enum metric_id m, const char *workload, const char *policy)
{
    char text[1024];

    snprintf(text, sizeof(text), BESIDE_STRESS, workload, policy);
    return measure(m, text);
}

static double anywhere(enum metric_id m, const char *machine, const char *workload,
                       const char *policy, int threads)
{
    char text[1024];

    snprintf(text, sizeof(text), ANYWHERE, machine, workload, policy, threads);
    return measure(m, text);
}

static void near(const char *what, double x, double published)
{
    cr_expect(x > 0.95 * published && x < 1.05 * published, "%s: %g, published %g", what, x,
              published);
}

Test(cps, selection_times)
{
    if (is_short())
        cr_skip_test("whole seconds of 160 vCPUs");
    near("bare", beside_stress(METRIC_SELECTION, "streamcluster-native", "bare"), 103);
    near("preempted-bit", beside_stress(METRIC_SELECTION, "streamcluster-native", "preempted-bit"),
         1835);
    near("cps-load", beside_stress(METRIC_SELECTION, "streamcluster-native", "cps-load"), 707);
    near("cache-group", anywhere(METRIC_SELECTION, "kunpeng920-128", "mrdm-bg", "cache-group", 128),
         1090);
}

Test(cps, barriers_gain_beside_stress)
{
    double bare, load;

    if (is_short())
        cr_skip_test("whole seconds of 160 vCPUs");
    bare = beside_stress(METRIC_BARRIERS, "ocean-cp", "bare");
    load = beside_stress(METRIC_BARRIERS, "ocean-cp", "cps-load");
    cr_expect(load > 1.5 * bare, "cps-load %g, bare %g barriers per s", load, bare);
}

Test(cps, a_group_gains_on_a_machine_with_distances_only)
{
    double bare = anywhere(METRIC_THROUGHPUT, "kunpeng920-128", "dwom", "bare", 4);
    double group = anywhere(METRIC_THROUGHPUT, "kunpeng920-128", "dwom", "cache-group", 4);

    cr_expect(group > 1.1 * bare, "cache-group %g, bare %g", group, bare);
    bare = anywhere(METRIC_THROUGHPUT, "flat-128", "dwom", "bare", 4);
    group = anywhere(METRIC_THROUGHPUT, "flat-128", "dwom", "cache-group", 4);
    cr_expect(group > 0.98 * bare && group < 1.02 * bare, "flat: cache-group %g, bare %g", group,
              bare);
}

/* One thread, programs that never meet: pinned 1:1 without a neighbour. */
Test(cps, makes_no_difference_where_nothing_is_to_be_gained)
{
    static const char *const workload[] = {"single-thread", "blackscholes", "swaptions"};
    static const char *const policy[] = {"cps-load", "cache-group", "cps"};
    char text[512];

    for (int w = 0; w < 3; w++) {
        double bare = 0;

        for (int p = -1; p < 3; p++) {
            snprintf(text, sizeof(text),
                     "machine: kunpeng920-128\nduration: 700ms\nwarmup: 200ms\n"
                     "host: {scheduler: cfs, placement: float, tick: 250}\n"
                     "vms: [{name: test, vcpus: 32, pin: \"0-31\", workload: %s, idle: hlt, guest: "
                     "{policy: %s, scheduler: cfs}}]\n",
                     workload[w], p < 0 ? "bare" : policy[p]);
            const double x = measure(METRIC_THROUGHPUT, text);

            if (p < 0)
                bare = x;
            else
                cr_expect(x > 0.98 * bare && x < 1.02 * bare, "%s under %s: %g, bare %g",
                          workload[w], policy[p], x, bare);
        }
    }
}
