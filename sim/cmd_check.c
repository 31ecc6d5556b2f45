/* SPDX-License-Identifier: MIT */
/* tandem check: reads scenarios, sweeps, workloads and machines and reports every fault, runs
 * nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "run.h"
#include "study/facts.h"
#include "study/options.h"
#include "study/study.h"
#include "workload.h"

static const char help[] =
    "usage: tandem check FILE...\n"
    "\n"
    "Reads scenarios (key vms), sweeps (key base), workloads (key tasks), published facts (key\n"
    "facts) and machines (a topology, or a base with costs, cstates, power, smt or mhz)\n"
    "and reports every fault of each file. Of a sweep all points are checked. Runs nothing.\n"
    "\n"
    "exit status: 0 all files are sound, 2 at least one is not, 3 one cannot be read\n"
    "\n"
    "example: tandem check configs/*.yaml workloads/*.yaml\n";

static const struct option_spec spec[] = {
    {"quiet", 'q', false}, {"help", 'h', false}, {NULL, 0, false}};

static void check_sweep(const char *file, struct conf_errors *e, char what[80])
{
    struct sweep *s = sweep_read(file, e);

    if (!s)
        return;
    study_free(study_new(s, "", "", e));
    snprintf(what, 80, "sweep of %zu points", s->npoints);
    sweep_free(s);
}

static void check_facts(const char *file, struct conf_errors *e, char what[80])
{
    struct facts *f = facts_read(file, e);

    if (!f)
        return;
    snprintf(what, 80, "published facts: %zu cells, %zu claims", f->nrows, f->nclaims);
    facts_free(f);
}

static void check_workload(const char *file, struct conf_errors *e, char what[80])
{
    char hash[33];
    struct workload *w = workload_load(file, hash, e);

    if (!w)
        return;
    snprintf(what, 80, "workload with %d kinds of tasks", w->ntasks);
    workload_free(w);
}

static void check_scenario(const struct conf_tree *t, const char *file, struct conf_errors *e,
                           char what[80])
{
    struct scenario *s = scenario_from_tree(t, file, e);

    if (!s)
        return;
    snprintf(what, 80, "scenario of %lld VMs with %lld vCPUs", (long long)scenario_total_vms(s),
             (long long)scenario_total_vcpus(s));
    scenario_free(s);
}

/* A machine is checked by using it. */
static void check_machine(const char *file, struct conf_errors *e, char what[80])
{
    static const char text[] = "duration: 1ms\nvms: [{name: vm, vcpus: 1, workload: cpu-bound}]\n";
    struct conf_tree *t = conf_read_text("machine check", text, sizeof(text) - 1, e);

    if (t && conf_set(t, "machine", file, e)) {
        struct scenario *s = scenario_from_tree(t, ".", e);

        if (s)
            snprintf(what, 80, "machine");
        scenario_free(s);
    }
    conf_free(t);
}

static bool is_machine(const struct conf_node *root)
{
    static const char *const KEYS[] = {"topology", "costs", "cstates", "power", "smt", "mhz"};

    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++)
        if (conf_get(root, KEYS[i]))
            return true;
    return false;
}

static bool check_file(const char *file, bool quiet)
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_file(file, &e);
    char what[80] = "";
    bool good;

    if (t) {
        const struct conf_node *root = conf_root(t);

        if (conf_get(root, "tasks"))
            check_workload(file, &e, what);
        else if (is_machine(root))
            check_machine(file, &e, what);
        else if (conf_get(root, "facts"))
            check_facts(file, &e, what);
        else if (conf_get(root, "base"))
            check_sweep(file, &e, what);
        else
            check_scenario(t, file, &e, what);
        conf_free(t);
    }
    good = e.n == 0;
    conf_errors_print(&e, stderr);
    conf_errors_free(&e);
    if (good && !quiet)
        printf("%s: %s\n", file, what);
    return good;
}

int cmd_check(int argc, char **argv)
{
    struct options o;
    int status = STATUS_OK;

    if (!options_read(&o, spec, argc, argv))
        return STATUS_USAGE;
    if (option_flag(&o, "help")) {
        fputs(help, stdout);
    } else if (o.noperands == 0) {
        status = options_error(&o, "no file given");
    } else {
        for (size_t i = 0; i < o.noperands; i++) {
            if (!options_readable(o.operand[i]))
                status = STATUS_IO;
            else if (!check_file(o.operand[i], option_flag(&o, "quiet")) && status == STATUS_OK)
                status = STATUS_USAGE;
        }
    }
    options_free(&o);
    return status;
}
