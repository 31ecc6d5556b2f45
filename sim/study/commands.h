/* SPDX-License-Identifier: MIT */
/* The commands of this folder. argv[0] is the name of the command; the result is the exit status.
 */
#ifndef SIM_STUDY_COMMANDS_H
#define SIM_STUDY_COMMANDS_H

#include <stdio.h>

int cmd_sweep(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_validate(int argc, char **argv);
/* For `tandem list figures`. */
void figures_list(FILE *out);

#endif
