/* SPDX-License-Identifier: MIT */
/* The command line: finds the command, runs it. */
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "conf/conf.h"
#include "engine/check.h"
#include "registry.h"
#include "run.h"
#include "study/commands.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"run", cmd_run, "run one scenario and print its result"},
    {"sweep", cmd_sweep, "run many scenarios into a store; resumes"},
    {"merge", cmd_merge, "put stores together"},
    {"export", cmd_export, "print what a store holds"},
    {"plot", cmd_plot, "draw a figure from stores or results"},
    {"validate", cmd_validate, "hold a sweep against published changes, with a scoreboard"},
    {"trace", cmd_trace, "read recorded traces: info, import"},
    {"check", cmd_check, "check scenarios, sweeps and workloads without running them"},
    {"list", cmd_list, "policies, workloads, machines, metrics, figures, programs"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *out)
{
    fputs(
        "tandem simulates two schedulers stacked on each other: a hypervisor that places vCPUs on\n"
        "pCPUs, and in each VM a guest that places tasks on vCPUs.\n\n"
        "usage: tandem COMMAND [ARGUMENT]...\n\n",
        out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs("\n'tandem COMMAND --help' tells more. Example:\n"
          "  tandem run configs/quickstart.yaml -s vms.barriers.guest.policy=cps-load\n\n"
          "exit status: 0 done, 1 a comparison regressed or a claim failed, 2 bad usage or input,\n"
          "3 cannot read or write, 4 a run failed, 70 a bug in Tandem or a policy, 130/143 "
          "interrupted\n",
          out);
}

static int unknown(const char *name)
{
    const char *names[COMMANDS];
    const char *near;

    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    near = conf_nearest(name, names, COMMANDS);
    fprintf(stderr, "tandem: unknown command '%s'%s%s%s\n", name, near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "; 'tandem --help' lists them");
    return STATUS_USAGE;
}

int main(int argc, char **argv)
{
    char why[200];
    const char *wrong;

    gsl_set_error_handler_off();
    crash_catch_faults();
    if (argc < 2) {
        usage(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        usage(stdout);
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
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return unknown(argv[1]);
}
