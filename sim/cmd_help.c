/* SPDX-License-Identifier: MIT */
/* tandem help: what --help prints, the man page, and what shells complete. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "run.h"

static const char *const shells[] = {"bash", "zsh", NULL};

static const struct option_spec option[] = {
    OPTION("man", 0, NULL, "the man page (roff)"),
    OPTION_OF("completion", 0, "SHELL", "a script that completes commands, options and files",
              shells),
    OPTION_END,
};

const struct command_spec command_help = {
    .name = "help",
    .summary = "help, the man page, completions for bash and zsh",
    .usage = "[COMMAND]\n--man\n--completion bash|zsh",
    .about =
        "Prints the help of a command, or of all. The man page and the completions are made from "
        "the same tables that read the command line; 'make install' puts them into place.",
    .option = option,
    .example =
        "help run\nhelp --man | man -l -\nhelp --completion bash > /etc/bash_completion.d/tandem",
};

static int help_of(const struct options *o)
{
    const struct command_entry *c;
    int words, status;

    if (o->noperands == 0) {
        commands_usage(stdout);
        return STATUS_OK;
    }
    if (o->noperands == 1 && commands_group(stdout, o->operand[0]))
        return STATUS_OK;
    c = command_find((int)o->noperands, (char **)o->operand, &words, &status);
    if (c)
        options_help(stdout, c->spec);
    return c ? STATUS_OK : status;
}

int cmd_help(int argc, char **argv)
{
    struct options o;
    int status = STATUS_OK, shell;

    if (!options_read(&o, &command_help, argc, argv))
        return o.status;
    shell = option_choice(&o, "completion", 2);
    if (shell < 0)
        status = STATUS_USAGE;
    else if (option_flag(&o, "man"))
        manual_write(stdout);
    else if (shell == 0)
        complete_bash(stdout);
    else if (shell == 1)
        complete_zsh(stdout);
    else
        status = help_of(&o);
    options_free(&o);
    return fflush(stdout) == 0 ? status : STATUS_IO;
}
