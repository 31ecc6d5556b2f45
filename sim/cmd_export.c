/* SPDX-License-Identifier: MIT */
/* tandem export and tandem merge: what a result store holds, and stores put together. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/commands.h"
#include "study/dataset.h"
#include "study/options.h"
#include "study/outfile.h"

static const char *const formats[] = {"csv", "json", NULL};

static const struct option_spec export_option[] = {
    OPTION_OF("format", 'f', "F", "how the runs are written (default csv)", formats),
    OPTION("output", 'o', "FILE", "a file instead of stdout"),
    OPTION_END,
};

const struct command_spec command_export = {
    .name = "export",
    .summary = "print what a store holds",
    .usage = "STORE.db[:SWEEP] [OPTION]...",
    .about =
        "Prints all runs of a store, or of one of its sweeps, sorted by the labels of their points "
        "and the replication, with every metric that has a value; runs that failed with status and "
        "report. Two stores hold the same results when their exports are equal.",
    .option = export_option,
    .status = "0 done, 2 not a store, 3 cannot read or write",
    .example = "export demo.db --format json -o demo.json",
};

const struct command_spec command_merge = {
    .name = "merge",
    .summary = "put stores together",
    .usage = "OUT.db IN.db... [OPTION]...",
    .about =
        "Adds the results of the IN stores to OUT, which is made when there is none. Runs that are "
        "there already are left as they are; stores that disagree about a run are refused.",
    .status = "0 done, 2 not a store or a disagreement, 3 cannot read or write",
    .example = "merge all.db part1.db part2.db",
};

static int fail(const struct options *o, const struct store_error *err)
{
    options_error(o, "%s", err->text);
    return err->status;
}

static int write_export(const struct options *o, struct dataset *d, bool json)
{
    const char *name = option_text(o, "output", NULL);
    struct outfile out;

    if (outfile_open(&out, name)) {
        options_error(o, "%s: %s", name, strerror(errno));
        return 3;
    }
    errno = 0;
    if (!outfile_close(&out, json ? export_json(out.file, d) : export_csv(out.file, d)))
        return 0;
    options_error(o, "%s: %s", name ? name : "stdout", strerror(errno ? errno : EIO));
    return 3;
}

static int export_store(const struct options *o)
{
    const int format = option_choice(o, "format", 0);
    struct store_error err = {0};
    struct dataset d = {0};
    struct store *s;
    char *sweep;
    int status;

    if (format < 0)
        return 2;
    if (o->noperands != 1)
        return options_error(o, o->noperands ? "takes one store" : "needs a store");
    s = dataset_open_store(o->operand[0], &sweep, &err);
    if (!s)
        return fail(o, &err);
    status = dataset_add_sweep(&d, s, sweep, &err) != 0 ? fail(o, &err)
                                                        : write_export(o, &d, format == 1);
    dataset_free(&d);
    store_close(s);
    free(sweep);
    return status;
}

static int merge_stores(const struct options *o)
{
    struct store_error err = {0};
    struct store *into;
    int status = 0;

    if (o->noperands < 2)
        return options_error(o, "needs OUT.db and one or more IN.db");
    /* All inputs first: a wrong name must not leave an output behind. */
    for (size_t i = 1; i < o->noperands; i++) {
        struct store *from = store_open(o->operand[i], STORE_READ, &err);

        if (!from)
            return fail(o, &err);
        store_close(from);
    }
    into = store_open(o->operand[0], STORE_CREATE, &err);
    if (!into)
        return fail(o, &err);
    for (size_t i = 1; status == 0 && i < o->noperands; i++) {
        struct store *from = store_open(o->operand[i], STORE_READ, &err);

        if (!from || store_merge(into, from, &err) != 0)
            status = fail(o, &err);
        store_close(from);
    }
    store_close(into);
    return status;
}

static int command(int argc, char **argv, const struct command_spec *spec,
                   int (*act)(const struct options *o))
{
    struct options o;
    int status;

    if (!options_read(&o, spec, argc, argv))
        return o.status;
    status = act(&o);
    options_free(&o);
    return status;
}

int cmd_export(int argc, char **argv)
{
    return command(argc, argv, &command_export, export_store);
}

int cmd_merge(int argc, char **argv)
{
    return command(argc, argv, &command_merge, merge_stores);
}
