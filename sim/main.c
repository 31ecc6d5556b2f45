/* SPDX-License-Identifier: MIT */
/* The command line: finds the command, runs it. */
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "engine/check.h"
#include "registry.h"
#include "run.h"

int main(int argc, char **argv)
{
    const struct command_entry *command;
    const char *wrong;
    char why[200];
    int words, status;

    gsl_set_error_handler_off();
    crash_catch_faults();
    if (argc < 2) {
        commands_usage(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        commands_usage(stdout);
        return STATUS_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tandem %s (%s)\n", run_version(), run_git());
        return STATUS_OK;
    }
    wrong = registry_check(why);
    if (wrong) {
        fprintf(stderr, "tandem: %s\n", wrong);
        return STATUS_BUG;
    }
    command = command_find(argc - 1, argv + 1, &words, &status);
    return command ? command->run(argc - words, argv + words) : status;
}
