/* SPDX-License-Identifier: MIT */
/* tandem baseline: what a comparison holds later runs against, as a small file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "run.h"
#include "study/baseline.h"
#include "study/commands.h"
#include "study/compare.h"
#include "study/input.h"
#include "study/outfile.h"

static const struct option_spec write_option[] = {
    OPTION("metrics", 'm', "NAME,...",
           "what is kept, or 'all' (default: what 'tandem compare' judges)"),
    INPUT_OPTIONS,
    OPTION_POLICY,
    OPTION_END,
};

const struct command_spec command_baseline_write = {
    .name = "baseline write",
    .summary = "keep results as a small file, for 'tandem compare'",
    .usage = "FILE SCENARIO.yaml|RESULT.json|STORE.db [OPTION]...",
    .about = "Writes a baseline, a file meant to be committed: the hash and the text of the "
             "scenario, and of each replication the seed, the fingerprint and the metrics that are "
             "judged. A scenario is run for it. An existing file is replaced.",
    .option = write_option,
    .status = "0 done, 2 bad input, 3 cannot read or write, 4 a run failed",
    .example = "baseline write baseline.json gate.yaml --policy ./mine.so",
};

static int io_error(const struct options *o, const char *name)
{
    options_error(o, "%s: %s", name, strerror(errno ? errno : EIO));
    return STATUS_IO;
}

/* What cannot be compared with itself, as one point by two versions of the program, is no baseline. */
static int check_points(const struct options *o, const struct dataset *d,
                        const struct metric **chosen, size_t n)
{
    const struct compare_rules rules = {.metrics = chosen, .nmetrics = n};
    const char *name = o->operand[1];
    struct store_error err = {0};
    struct compare c;

    if (compare_make(&c, d, d, name, name, &rules, &err) != 0) {
        options_error(o, "%s", err.text);
        return err.status;
    }
    compare_free(&c);
    if (d->nfailures > 0 && !option_flag(o, "quiet"))
        options_error(o, "note: %zu failed runs of %s are not in it", d->nfailures, name);
    return 0;
}

static int write_points(const struct options *o, const struct dataset *d,
                        const struct metric *const *chosen, size_t n)
{
    const char *name = o->operand[0];
    struct outfile out;
    size_t runs = 0;

    errno = 0;
    if (outfile_open(&out, name) != 0)
        return io_error(o, name);
    if (outfile_close(&out, baseline_write(out.file, d, chosen, n)) != 0)
        return io_error(o, name);
    for (size_t i = 0; i < d->n; i++)
        runs += d->point[i].nruns;
    if (!option_flag(o, "quiet"))
        printf("%s: %zu point%s, %zu runs\n", name, d->n, d->n == 1 ? "" : "s", runs);
    return fflush(stdout) == 0 ? 0 : STATUS_IO;
}

static int write_baseline(const struct options *o)
{
    struct input_rules rules = {.seed = -1, .jobs = 1};
    struct dataset d = {0};
    const struct metric **chosen;
    size_t n;
    bool failed;
    int status = STATUS_USAGE;

    if (o->noperands != 2)
        return options_error(o, "needs the file to write and a scenario, a result or a store");
    if (input_is_scenario(o->operand[0]))
        return options_error(o, "the baseline comes first: %s looks like a scenario",
                             o->operand[0]);
    chosen = input_metrics(o, &n, &failed);
    if (failed)
        return STATUS_USAGE;
    if (!chosen)
        chosen = compare_default_metrics(&n);
    if (chosen && input_rules_read(o, &rules))
        status = input_add(o, &d, o->operand[1], &rules, NULL);
    else if (!chosen)
        status = STATUS_FAILED;
    if (!status)
        status = check_points(o, &d, chosen, n);
    if (!status)
        status = write_points(o, &d, chosen, n);
    free(chosen);
    dataset_free(&d);
    return status;
}

int cmd_baseline_write(int argc, char **argv)
{
    struct options o;
    int status;

    if (!options_read_policies(&o, &command_baseline_write, argc, argv))
        return o.status;
    status = write_baseline(&o);
    options_free(&o);
    return status;
}
