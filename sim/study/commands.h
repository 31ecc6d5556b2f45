/* SPDX-License-Identifier: MIT */
/* The commands of many runs, see commands.h. */
#ifndef SIM_STUDY_COMMANDS_H
#define SIM_STUDY_COMMANDS_H

#include "study/options.h"

int cmd_sweep(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_baseline_write(int argc, char **argv);
int cmd_validate(int argc, char **argv);
extern const struct command_spec command_sweep, command_export, command_merge, command_plot,
    command_compare, command_baseline_write, command_validate;
/* For `tandem list figures`. */
void figures_list(FILE *out);
typedef void figures_fn(void *arg, const char *name, const char *kind, const char *summary,
                        const char *needs);
void figures_each(figures_fn *each, void *arg);

#endif
