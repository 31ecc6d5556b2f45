/* SPDX-License-Identifier: MIT */
/* tandem validate: published changes beside the simulated ones of a store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "study/commands.h"
#include "study/options.h"
#include "study/plot_axes.h"
#include "study/score.h"

static const char *const formats[] = {"table", "json", "csv", NULL};

static const struct option_spec option[] = {
    OPTION("facts", 0, "NAME|FILE",
           "a description of published facts (configs/published/NAME.yaml)"),
    OPTION_OF("format", 'f', "F", "how the scoreboard is written (default table)", formats),
    OPTION("cells", 0, NULL, "each cell, too; in CSV the cells instead of the scores"),
    OPTION("filter", 0, "PATH=VALUE", "only points with this value; may be given more than once"),
    OPTION_END,
};

const struct command_spec command_validate = {
    .name = "validate",
    .summary = "hold a sweep against published changes, with a scoreboard",
    .usage = "--facts NAME|FILE STORE.db[:SWEEP]... [OPTION]...",
    .about =
        "Holds the changes that a sweep simulated against published ones, cell by cell, and prints "
        "a scoreboard: by group and overcommitment the means, the signs, the rank correlation and "
        "the error, beside a predictor that knows signs only (null) and one that knows the mean of "
        "each group (oracle), and the claims with what was found. Changes are paired by seed.",
    .option = option,
    .status = "0 all claims held, 1 a claim failed or its cells are not complete, 2 bad input, 3 "
              "cannot read or write",
    .example = "validate --facts smoke-x86 smoke-x86.db",
};

static int fail(const struct options *o, const struct store_error *err)
{
    options_error(o, "%s", err->text);
    return err->status;
}

/* Points that pass all filters; false after a message. */
static bool filter(const struct options *o, const struct dataset *d, bool *used, int *status)
{
    size_t naxes;
    const char **axes = dataset_axes(d, &naxes);

    *status = axes ? 2 : 3;
    for (size_t i = 0; i < d->n; i++)
        used[i] = true;
    for (size_t k = 0; axes && k < o->ngiven; k++) {
        const char *text = o->given[k].value, *equals = text ? strchr(text, '=') : NULL;
        size_t left = 0;
        char *name;

        if (strcmp(o->given[k].spec->name, "filter") != 0)
            continue;
        name = equals ? strndup(text, (size_t)(equals - text)) : NULL;
        for (size_t i = 0; name && i < d->n; i++) {
            char *value = data_value(&d->point[i], axis_resolve(axes, naxes, name));

            used[i] = used[i] && value && strcmp(value, equals + 1) == 0;
            left += used[i];
            free(value);
        }
        free(name);
        if (left > 0)
            continue;
        if (equals)
            options_error(o, "no point has %s", text);
        else
            options_error(o, "'--filter' is '%s', expected PATH=VALUE", text);
        free(axes);
        return false;
    }
    free(axes);
    return axes != NULL;
}

static int judge(const struct options *o, const struct facts *f, const struct dataset *d,
                 enum report_format format)
{
    bool *used = calloc(d->n + 1, sizeof(*used));
    struct store_error err = {0};
    struct scoreboard b = {0};
    int status = 3;

    if (used && filter(o, d, used, &status)) {
        if (scoreboard_make(&b, f, d, used, &err) != 0) {
            status = fail(o, &err);
        } else if (report_write(stdout, &b, format, option_flag(o, "cells"), o->operand[0]) != 0) {
            perror("tandem validate: cannot write");
            status = 3;
        } else {
            status = scoreboard_status(&b);
        }
    }
    scoreboard_free(&b);
    free(used);
    return status;
}

/* A name as `tandem list` knows such things, or a path. NULL after a message. */
static struct facts *read_facts(const struct options *o, int *status)
{
    const char *name = option_text(o, "facts", NULL);
    struct conf_errors e = {0};
    struct facts *f = facts_open(name, &e, status);

    conf_errors_print(&e, stderr);
    conf_errors_free(&e);
    return f;
}

static int validate(const struct options *o)
{
    const int format = option_choice(o, "format", REPORT_TABLE);
    struct store_error err = {0};
    struct dataset d = {0};
    struct facts *f;
    int status = 0;

    if (format < 0)
        return 2;
    if (!option_text(o, "facts", NULL))
        return options_error(o, "needs --facts NAME, as in --facts smoke-x86");
    if (o->noperands < 1)
        return options_error(o, "needs a store");
    f = read_facts(o, &status);
    if (!f)
        return status;
    for (size_t i = 0; !status && i < o->noperands; i++)
        if (dataset_add(&d, o->operand[i], &err) != 0)
            status = fail(o, &err);
    if (!status)
        status = judge(o, f, &d, (enum report_format)format);
    dataset_free(&d);
    facts_free(f);
    return status;
}

int cmd_validate(int argc, char **argv)
{
    struct options o;
    int status;

    if (!options_read(&o, &command_validate, argc, argv))
        return o.status;
    status = validate(&o);
    options_free(&o);
    return status;
}
