/* SPDX-License-Identifier: MIT */
/* The commands that are not of a study. argv[0] is the command's name; the result the exit status.
 */
#ifndef SIM_COMMANDS_H
#define SIM_COMMANDS_H

int cmd_run(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_trace(int argc, char **argv);

#endif
