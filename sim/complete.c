/* SPDX-License-Identifier: MIT */
/* Completions for shells, from the table of commands. */
#include <string.h>

#include "commands.h"

static bool is_file(const struct option_spec *s)
{
    return s->arg && strstr(s->arg, "FILE") != NULL;
}

/* "run", "trace_info": a name for a shell's variables and cases. */
static void put_name(FILE *out, const char *name, char blank)
{
    for (; *name; name++)
        fputc(*name == ' ' ? blank : *name, out);
}

static void put_choices(FILE *out, const char *const *choice)
{
    for (size_t i = 0; choice && choice[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", choice[i]);
}

/* First words, each once; behind `first` the second words. */
static void put_words(FILE *out, const char *first)
{
    const char *last = "";
    size_t last_len = 0, n = 0;

    for (size_t i = 0; i < ncommands; i++) {
        const char *name = commands[i].spec->name;
        const size_t skip = first ? strlen(first) + 1 : 0;
        size_t len;

        if (first && (strncmp(name, first, skip - 1) != 0 || name[skip - 1] != ' '))
            continue;
        name += skip;
        len = strcspn(name, " ");
        if (len == last_len && strncmp(name, last, len) == 0)
            continue;
        fprintf(out, "%s%.*s", n++ ? " " : "", (int)len, name);
        last = name;
        last_len = len;
    }
}

/* First words that others follow: "case" lines that set the second words. */
static void put_groups(FILE *out, const char *line)
{
    const char *last = "";

    for (size_t i = 0; i < ncommands; i++) {
        const char *name = commands[i].spec->name, *blank = strchr(name, ' ');
        char first[32];

        if (!blank || strncmp(name, last, (size_t)(blank - name) + 1) == 0)
            continue;
        snprintf(first, sizeof(first), "%.*s", (int)(blank - name), name);
        fprintf(out, line, first);
        put_words(out, first);
        fputs("\" ;;\n", out);
        last = name;
    }
}

static void bash_command(FILE *out, const struct command_spec *c)
{
    const struct option_spec *s;

    fputs("    ", out);
    put_name(out, c->name, '_');
    fputs(")\n        case $prev in\n", out);
    for (size_t i = 0; (s = options_nth(c, i)); i++) {
        if (!s->arg)
            continue;
        fprintf(out, "        --%s", s->name);
        if (s->letter)
            fprintf(out, " | -%c", s->letter);
        if (s->choices) {
            fputs(") COMPREPLY=($(compgen -W \"", out);
            put_choices(out, s->choices);
            fputs("\" -- \"$cur\")); return ;;\n", out);
        } else if (is_file(s)) {
            fputs(") _tandem_files \"$cur\"; return ;;\n", out);
        } else {
            fputs(") return ;;\n", out);
        }
    }
    fputs("        esac\n        options=\"", out);
    for (size_t i = 0; (s = options_nth(c, i)); i++)
        fprintf(out, "%s--%s", i ? " " : "", s->name);
    fputs("\"\n        operands=\"", out);
    put_choices(out, c->operands);
    fputs("\"\n        ;;\n", out);
}

void complete_bash(FILE *out)
{
    fputs("# bash completion for tandem, made by 'tandem help --completion bash'\n"
          "_tandem_files() {\n"
          "    compopt -o filenames\n"
          "    mapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
          "}\n"
          "_tandem() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]} second= options= operands=\n"
          "    COMPREPLY=()\n"
          "    # --option=value comes as three words.\n"
          "    if [ \"$cur\" = = ]; then\n"
          "        cur=\n"
          "    elif [ \"$prev\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    fi\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          out);
    put_words(out, NULL);
    fputs(" --help --version\" -- \"$cur\"))\n        return\n    fi\n    case $command in\n", out);
    put_groups(out, "    %s) second=\"");
    fputs("    esac\n"
          "    if [ -n \"$second\" ]; then\n"
          "        if [ \"$COMP_CWORD\" = 2 ]; then\n"
          "            COMPREPLY=($(compgen -W \"$second --help\" -- \"$cur\"))\n"
          "            return\n"
          "        fi\n"
          "        command=${command}_${COMP_WORDS[2]}\n"
          "    fi\n"
          "    case $command in\n",
          out);
    for (size_t i = 0; i < ncommands; i++)
        bash_command(out, commands[i].spec);
    fputs("    esac\n"
          "    case $cur in\n"
          "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")); return ;;\n"
          "    esac\n"
          "    if [ -n \"$operands\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$operands\" -- \"$cur\"))\n"
          "        return\n"
          "    fi\n"
          "    _tandem_files \"$cur\"\n"
          "}\n"
          "complete -F _tandem tandem\n",
          out);
}

/* In single quotes inside of an _arguments specification: no quotes, brackets or colons. */
static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void zsh_option(FILE *out, const struct option_spec *s)
{
    fputs("            '*", out);
    fprintf(out, "--%s%s[", s->name, s->arg ? "=" : "");
    zsh_text(out, s->help);
    fputc(']', out);
    if (s->arg) {
        fputc(':', out);
        zsh_text(out, s->arg);
        fputc(':', out);
        if (s->choices) {
            fputc('(', out);
            put_choices(out, s->choices);
            fputc(')', out);
        } else if (is_file(s)) {
            fputs("_files", out);
        }
    }
    fputs("' \\\n", out);
    if (!s->letter)
        return;
    fprintf(out, "            '*-%c%s[", s->letter, s->arg ? "+" : "");
    zsh_text(out, s->help);
    fprintf(out, "]%s' \\\n", !s->arg ? "" : is_file(s) ? ":value:_files" : ":value:");
}

static void zsh_command(FILE *out, const struct command_spec *c)
{
    const struct option_spec *s;

    fputs("    ", out);
    put_name(out, c->name, '_');
    fputs(")\n        _arguments \\\n", out);
    for (size_t i = 0; (s = options_nth(c, i)); i++)
        zsh_option(out, s);
    if (c->operands) {
        fputs("            '1:what:(", out);
        put_choices(out, c->operands);
        fputs(")'\n", out);
    } else {
        fputs("            '*:file:_files'\n", out);
    }
    fputs("        ;;\n", out);
}

void complete_zsh(FILE *out)
{
    fputs("#compdef tandem\n"
          "# zsh completion for tandem, made by 'tandem help --completion zsh'\n"
          "_tandem() {\n"
          "    local command second=\n"
          "    if (( CURRENT == 2 )); then\n"
          "        compadd -- ",
          out);
    put_words(out, NULL);
    fputs(
        " --help --version\n        return\n    fi\n    command=$words[2]\n    case $command in\n",
        out);
    put_groups(out, "    %s) second=\"");
    fputs("    esac\n"
          "    if [[ -n $second ]]; then\n"
          "        if (( CURRENT == 3 )); then\n"
          "            compadd -- ${=second} --help\n"
          "            return\n"
          "        fi\n"
          "        command=${command}_$words[3]\n"
          "        shift words; (( CURRENT-- ))\n"
          "    fi\n"
          "    shift words; (( CURRENT-- ))\n"
          "    case $command in\n",
          out);
    for (size_t i = 0; i < ncommands; i++)
        zsh_command(out, commands[i].spec);
    fputs("    esac\n}\n_tandem \"$@\"\n", out);
}
