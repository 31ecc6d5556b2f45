/* SPDX-License-Identifier: MIT */
/*
 * The table of all commands. A command is a function that gets its own arguments, argv[0] being the last
 * word of its name, and returns the exit status; what it takes says its command_spec.
 */
#ifndef SIM_COMMANDS_H
#define SIM_COMMANDS_H

#include "study/options.h"

struct command_entry {
    const struct command_spec *spec;
    int (*run)(int argc, char **argv);
};

/* In the order of the help; commands with the same first word stand together. */
extern const struct command_entry commands[];
extern const size_t ncommands;

int cmd_run(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_trace_info(int argc, char **argv);
int cmd_trace_import(int argc, char **argv);
int cmd_help(int argc, char **argv);
extern const struct command_spec command_run, command_check, command_list, command_trace_info,
    command_trace_import, command_help;

/* The help that names all commands. */
void commands_usage(FILE *out);
/* The help of several commands that begin with the same word; false when none do. */
bool commands_group(FILE *out, const char *first);
/* Which command argv[0..] begins with, and in *words how many words its name has. NULL after a
 * message or help; then *status says what to exit with. */
const struct command_entry *command_find(int argc, char **argv, int *words, int *status);

/* Pages made from the table (sim/manual.c, sim/complete.c): roff with man(7) macros, bash, zsh. */
void manual_write(FILE *out);
void complete_bash(FILE *out);
void complete_zsh(FILE *out);

#endif
