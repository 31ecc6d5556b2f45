/* SPDX-License-Identifier: MIT */
/* The table of commands, and finding one in it. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "run.h"
#include "study/commands.h"

const struct command_entry commands[] = {
    {&command_run, cmd_run},
    {&command_sweep, cmd_sweep},
    {&command_merge, cmd_merge},
    {&command_export, cmd_export},
    {&command_compare, cmd_compare},
    {&command_baseline_write, cmd_baseline_write},
    {&command_plot, cmd_plot},
    {&command_validate, cmd_validate},
    {&command_trace_info, cmd_trace_info},
    {&command_trace_import, cmd_trace_import},
    {&command_check, cmd_check},
    {&command_list, cmd_list},
    {&command_help, cmd_help},
};
const size_t ncommands = sizeof(commands) / sizeof(commands[0]);

#define NAMES_MAX (sizeof(commands) / sizeof(commands[0]))

void commands_usage(FILE *out)
{
    fputs(
        "tandem simulates two schedulers stacked on each other: a hypervisor that places vCPUs on\n"
        "pCPUs, and in each VM a guest that places tasks on vCPUs.\n\n"
        "usage: tandem COMMAND [ARGUMENT]...\n\n",
        out);
    for (size_t i = 0; i < ncommands; i++)
        fprintf(out, "  %-14s %s\n", commands[i].spec->name, commands[i].spec->summary);
    fputs("\n'tandem COMMAND --help' tells more. Example:\n"
          "  tandem run configs/quickstart.yaml -s vms.barriers.guest.policy=cps-load\n\n"
          "exit status: 0 done, 1 a comparison regressed or a claim failed, 2 bad usage or input,\n"
          "3 cannot read or write, 4 a run failed, 70 a bug in Tandem or a policy, 130/143 "
          "interrupted\n",
          out);
}

/* The n-th word of a command's name, of *len bytes; NULL when it has fewer. */
static const char *word_of(const struct command_entry *c, int n, size_t *len)
{
    const char *p = c->spec->name;

    while (n-- > 0) {
        p = strchr(p, ' ');
        if (!p)
            return NULL;
        p++;
    }
    *len = strcspn(p, " ");
    return p;
}

static bool is_word(const struct command_entry *c, int n, const char *text)
{
    size_t len;
    const char *word = word_of(c, n, &len);

    return word && text && strlen(text) == len && strncmp(text, word, len) == 0;
}

/* Words that may stand at place n behind the first one, each once; they live in `room`. */
static size_t words_at(const char *first, int n, const char **names, char room[][32])
{
    size_t found = 0;

    for (size_t i = 0; i < ncommands; i++) {
        size_t len;
        const char *word = word_of(&commands[i], n, &len);

        if (!word || (first && !is_word(&commands[i], 0, first)))
            continue;
        snprintf(room[found], 32, "%.*s", (int)len, word);
        names[found] = room[found];
        if (found == 0 || strcmp(names[found], names[found - 1]) != 0)
            found++;
    }
    return found;
}

static void unknown(const char *first, const char *text)
{
    char room[NAMES_MAX][32];
    const char *names[NAMES_MAX], *near;
    const size_t n = words_at(first, first ? 1 : 0, names, room);

    near = conf_nearest(text, names, n);
    fprintf(stderr, "tandem%s%s: unknown command '%s'", first ? " " : "", first ? first : "", text);
    if (near)
        fprintf(stderr, "; did you mean '%s'?\n", near);
    else if (!first)
        fputs("; 'tandem --help' lists them\n", stderr);
    else
        for (size_t i = 0; i < n; i++)
            fprintf(stderr, "%s%s%s", i ? ", " : ": expected ", names[i], i + 1 < n ? "" : "\n");
}

/* The help of several commands with the same first word. */
static void group_usage(FILE *out, const char *first)
{
    const char *lead = "usage: ";

    for (size_t i = 0; i < ncommands; i++)
        if (is_word(&commands[i], 0, first)) {
            const struct command_spec *c = commands[i].spec;

            fprintf(out, "%standem %s %.*s\n         %s\n", lead, c->name,
                    (int)strcspn(c->usage, "\n"), c->usage, c->summary);
            lead = "       ";
        }
    for (size_t i = 0; i < ncommands; i++)
        if (is_word(&commands[i], 0, first)) {
            fprintf(out, "\n'tandem %s --help' tells more.\n\nexample: tandem %.*s\n",
                    commands[i].spec->name, (int)strcspn(commands[i].spec->example, "\n"),
                    commands[i].spec->example);
            break;
        }
}

bool commands_group(FILE *out, const char *first)
{
    size_t len;

    for (size_t i = 0; i < ncommands; i++)
        if (is_word(&commands[i], 0, first) && word_of(&commands[i], 1, &len)) {
            group_usage(out, first);
            return true;
        }
    return false;
}

static bool is_help(const char *text)
{
    return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0;
}

const struct command_entry *command_find(int argc, char **argv, int *words, int *status)
{
    bool group = false;

    *status = STATUS_USAGE;
    for (size_t i = 0; i < ncommands; i++) {
        size_t len;

        if (!is_word(&commands[i], 0, argv[0]))
            continue;
        *words = word_of(&commands[i], 1, &len) ? 2 : 1;
        if (*words == 1 || (argc > 1 && is_word(&commands[i], 1, argv[1])))
            return &commands[i];
        group = true;
    }
    if (!group) {
        unknown(NULL, argv[0]);
    } else if (argc > 1 && !is_help(argv[1])) {
        unknown(argv[0], argv[1]);
    } else {
        if (argc > 1)
            *status = STATUS_OK;
        group_usage(argc > 1 ? stdout : stderr, argv[0]);
    }
    return NULL;
}
