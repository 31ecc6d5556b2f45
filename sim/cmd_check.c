/* SPDX-License-Identifier: MIT */
/* tandem check: reads scenarios, sweeps, workloads and machines and reports every fault, runs
 * nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "load.h"
#include "run.h"
#include "study/facts.h"
#include "study/options.h"
#include "study/rows.h"
#include "study/study.h"
#include "workload.h"

static const char *const formats[] = {"table", "json", "csv", NULL};

static const struct option_spec option[] = {
    OPTION_OF("format", 'f', "F", "how the verdicts are written (default table, a line per file)",
              formats),
    OPTION_POLICY,
    OPTION_END,
};

const struct command_spec command_check = {
    .name = "check",
    .summary = "check scenarios, sweeps and workloads without running them",
    .usage = "FILE... [OPTION]...",
    .about = "Reads scenarios (key vms), sweeps (key base), workloads (key tasks), published facts "
             "(key facts) and machines (a topology, or a base with costs, cstates, power, smt or "
             "mhz) and reports every fault of each file on stderr. Of a sweep all points are "
             "checked. Runs nothing.",
    .option = option,
    .status = "0 all files are sound, 2 at least one is not, 3 one cannot be read",
    .example = "check configs/*.yaml workloads/*.yaml",
};

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

static void check_tree(const struct conf_tree *t, const char *file, struct conf_errors *e,
                       char what[80])
{
    const struct conf_node *root = conf_root(t);

    if (conf_get(root, "tasks"))
        check_workload(file, e, what);
    else if (is_machine(root))
        check_machine(file, e, what);
    else if (conf_get(root, "facts"))
        check_facts(file, e, what);
    else if (conf_get(root, "base"))
        check_sweep(file, e, what);
    else
        check_scenario(t, file, e, what);
}

/* How verdicts come out: as lines for people while `rows` is not begun. */
struct verdicts {
    bool quiet, as_rows;
    struct rows rows;
};

static void put_verdict(struct verdicts *v, const char *file, const char *what, size_t faults)
{
    char n[24];

    snprintf(n, sizeof(n), "%zu", faults);
    if (v->as_rows)
        rows_put(&v->rows, (const char *[]){file, faults ? NULL : what, n});
    else if (!faults && !v->quiet)
        printf("%s: %s\n", file, what);
}

static bool check_file(const char *file, struct verdicts *v)
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_file(file, &e);
    char what[80] = "";
    bool good;

    if (t)
        check_tree(t, file, &e, what);
    conf_free(t);
    good = e.n == 0;
    conf_errors_print(&e, stderr);
    put_verdict(v, file, what, e.n);
    conf_errors_free(&e);
    return good;
}

static int check_all(const struct options *o, struct verdicts *v)
{
    int status = STATUS_OK;

    for (size_t i = 0; i < o->noperands; i++) {
        if (!options_readable(o->operand[i]))
            status = STATUS_IO;
        else if (!check_file(o->operand[i], v) && status == STATUS_OK)
            status = STATUS_USAGE;
    }
    return status;
}

int cmd_check(int argc, char **argv)
{
    static const char *const columns[] = {"file", "what", "faults", NULL};
    struct verdicts v = {0};
    struct options o;
    int status = STATUS_USAGE, format;

    if (!options_read_policies(&o, &command_check, argc, argv))
        return o.status;
    format = option_choice(&o, "format", 0);
    v.quiet = option_flag(&o, "quiet");
    v.as_rows = format > 0;
    if (o.noperands == 0) {
        options_error(&o, "no file given");
    } else if (format >= 0) {
        if (v.as_rows)
            rows_begin(&v.rows, stdout, format == 1, columns);
        status = check_all(&o, &v);
        if (v.as_rows)
            rows_end(&v.rows);
    }
    options_free(&o);
    return status;
}
