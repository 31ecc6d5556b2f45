/* SPDX-License-Identifier: MIT */
/* The man page, from the table of commands. */
#include <string.h>

#include "commands.h"
#include "run.h"

/* Text of a line: what roff would take for a request or an escape is escaped; "-" is a minus, so that
 * options can be searched for and copied. A '\n' of the text begins a new paragraph. */
static void put_text(FILE *out, const char *text, size_t n)
{
    bool first = true;

    for (size_t i = 0; i < n; i++) {
        if (first && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", out);
        first = false;
        switch (text[i]) {
        case '\\':
            fputs("\\e", out);
            break;
        case '-':
            fputs("\\-", out);
            break;
        case '\n':
            fputs("\n.PP\n", out);
            first = true;
            break;
        default:
            fputc(text[i], out);
        }
    }
}

static void put(FILE *out, const char *text)
{
    put_text(out, text, strlen(text));
}

/* Each line of `text` behind "tandem " and `name`. */
static void put_lines(FILE *out, const char *name, const char *text)
{
    fputs(".nf\n", out);
    while (text && *text) {
        const size_t n = strcspn(text, "\n");

        fputs("\\fBtandem", out);
        if (*name) {
            fputc(' ', out);
            put(out, name);
        }
        fputs("\\fR ", out);
        put_text(out, text, n);
        fputc('\n', out);
        text += n + (text[n] != '\0');
    }
    fputs(".fi\n", out);
}

static void put_option(FILE *out, const struct option_spec *s)
{
    fputs(".TP\n", out);
    if (s->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", s->letter);
    fputs("\\fB\\-\\-", out);
    put(out, s->name);
    fputs("\\fR", out);
    if (s->arg) {
        fputs(" \\fI", out);
        put(out, s->arg);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put(out, s->help);
    if (s->choices) {
        fputs(": ", out);
        for (size_t i = 0; s->choices[i]; i++) {
            fputs(i ? ", " : "", out);
            put(out, s->choices[i]);
        }
    }
    fputc('\n', out);
}

static void put_command(FILE *out, const struct command_spec *c)
{
    const struct option_spec *s;

    fputs(".SS tandem ", out);
    put(out, c->name);
    fputc('\n', out);
    put_lines(out, c->name, c->usage);
    fputs(".PP\n", out);
    put(out, c->about);
    fputc('\n', out);
    for (size_t i = 0; (s = options_nth(c, i)); i++)
        put_option(out, s);
    if (c->status) {
        fputs(".PP\nExit status: ", out);
        put(out, c->status);
        fputs(".\n", out);
    }
    fputs(".PP\nExample:\n.RS\n", out);
    put_lines(out, "", c->example);
    fputs(".RE\n", out);
}

void manual_write(FILE *out)
{
    fprintf(
        out,
        ".TH TANDEM 1 \"\" \"tandem %s\" \"User Commands\"\n"
        ".SH NAME\ntandem \\- simulate a hypervisor's scheduler and its guests' schedulers "
        "together\n"
        ".SH SYNOPSIS\n\\fBtandem\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n.br\n"
        "\\fBtandem\\fR \\fB\\-\\-version\\fR\n"
        ".SH DESCRIPTION\n"
        "Tandem simulates two schedulers stacked on each other: a hypervisor that places vCPUs on "
        "pCPUs,\nand in each VM a guest that places tasks on vCPUs.\n"
        "A scenario says what runs where, a sweep runs many of them into a store, and figures,\n"
        "comparisons and scoreboards are made from stores and results.\n"
        ".SH COMMANDS\n",
        run_version());
    for (size_t i = 0; i < ncommands; i++)
        put_command(out, commands[i].spec);
    fputs(".SH EXIT STATUS\n"
          ".TP\n0\ndone\n.TP\n1\na comparison regressed, or a claim failed\n"
          ".TP\n2\nbad usage or input; nothing was written\n"
          ".TP\n3\nsomething could not be read or written\n"
          ".TP\n4\na run failed; the others are kept\n"
          ".TP\n70\na bug in Tandem or in a policy, with a report\n"
          ".TP\n130, 143\ninterrupted; all finished runs are kept\n"
          ".SH ENVIRONMENT\n"
          ".TP\n\\fBTANDEM_HOME\\fR\nwhere machines, workloads and templates of figures are looked "
          "for, before the place of the installation\n"
          ".TP\n\\fBNO_COLOR\\fR\nset and not empty: no colours on a terminal\n",
          out);
}
