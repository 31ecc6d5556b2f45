/* SPDX-License-Identifier: MIT */
/*
 * What the parts of `tandem plot` share: the command, its options and its output. Figures that have no
 * grid of points are in plot_other.c.
 *
 * Always true: every function that fails has told why on stderr; what returns an int returns an exit
 * status.
 */
#ifndef SIM_PLOT_COMMAND_H
#define SIM_PLOT_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "study/facts.h"
#include "study/options.h"
#include "study/plot.h"

struct plot_command {
    struct options opt;
    struct plot_request request;
    struct plot_filter *filter;
    struct facts *facts;
    char *base, *new; /* POLICY=VALUE of the facts */
    struct dataset data;
    struct plot_grid grid;
    const char *output;
    int format;
    int size; /* -1: the command did not say */
};

/* -- options -- */

/* Those of every figure: output, size. */
bool plot_read_common(struct plot_command *c);
bool plot_read_filters(struct plot_command *c);
/* Are all options that were given among these (ends in NULL)? */
bool plot_only_options(const struct plot_command *c, const char *figure, const char *const *known);

/* -- input -- */

/* The named inputs, and no others. */
int plot_inputs(struct plot_command *c);
/* Gives the points what the published facts say of them, if any are asked for. */
int plot_use_facts(struct plot_command *c);

/* -- output -- */

int plot_failed(const struct plot_command *c, const struct store_error *err);
/* errno about this file. */
int plot_io_error(const struct plot_command *c, const char *file);
int plot_no_template(const struct plot_command *c, const char *name);
/* What `put` writes, whole or not at all. */
int plot_write(const struct plot_command *c, const char *file, const void *what,
               int (*put)(FILE *out, const void *what));
/* The script that `put` writes, NULL without memory. */
char *plot_script_of(const struct plot_command *c, const void *what, const char *folder,
                     int (*put)(FILE *, const struct plot_command *, const void *, const char *));
/* Draws the script and writes the picture; both texts are freed, and may be NULL: no memory. */
int plot_draw(struct plot_command *c, char *script, char *origin);

/* -- figures without a grid of points -- */

int plot_course(struct plot_command *c);
int plot_score(struct plot_command *c);
int plot_gantt(struct plot_command *c);

#endif
