/* SPDX-License-Identifier: MIT */
/* Reading command lines. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "study/options.h"

#define HELP_WIDTH 96
#define HELP_AT    24 /* where help texts of options begin */

static const struct option_spec common[] = {
    OPTION("help", 'h', NULL, "this text"),
    OPTION("quiet", 'q', NULL, "no progress and no notes: only results and errors"),
    OPTION("verbose", 'v', NULL, "tell what is done, on stderr"),
    OPTION_END,
};

static const struct option_spec *find_in(const struct option_spec *spec, const char *name)
{
    for (; spec && spec->name; spec++)
        if (strcmp(spec->name, name) == 0)
            return spec;
    return NULL;
}

const struct option_spec *options_nth(const struct command_spec *c, size_t n)
{
    for (const struct option_spec *s = c->option; s && s->name; s++)
        if (n-- == 0)
            return s;
    for (const struct option_spec *s = common; s->name; s++)
        if (!find_in(c->option, s->name) && n-- == 0)
            return s;
    return NULL;
}

static void put_message(const struct options *o, const char *fmt, va_list ap)
{
    fprintf(stderr, "tandem %s: ", o->command->name);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
}

int options_error(const struct options *o, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    put_message(o, fmt, ap);
    va_end(ap);
    return 2;
}

void options_tell(const struct options *o, const char *fmt, ...)
{
    va_list ap;

    if (!option_flag(o, "verbose"))
        return;
    va_start(ap, fmt);
    put_message(o, fmt, ap);
    va_end(ap);
}

/* The tables of getopt_long. Long options return LONG_BASE + index. */
#define LONG_BASE 256

struct tables {
    struct option longs[OPTIONS_MAX + 1];
    char shorts[2 * OPTIONS_MAX + 2];
};

static void make_tables(const struct options *o, struct tables *t)
{
    char *at = t->shorts;

    *at++ = ':'; /* a missing value is told apart from an unknown option */
    for (size_t n = 0; n < o->nspec; n++) {
        const struct option_spec *s = o->spec[n];

        t->longs[n] = (struct option){.name = s->name,
                                      .has_arg = s->arg ? required_argument : no_argument,
                                      .val = LONG_BASE + (int)n};
        if (!s->letter)
            continue;
        *at++ = s->letter;
        if (s->arg)
            *at++ = ':';
    }
    *at = '\0';
    t->longs[o->nspec] = (struct option){.name = NULL};
}

static const struct option_spec *spec_of(const struct options *o, int opt)
{
    if (opt >= LONG_BASE)
        return o->spec[opt - LONG_BASE];
    for (size_t i = 0; i < o->nspec; i++)
        if (o->spec[i]->letter && o->spec[i]->letter == opt)
            return o->spec[i];
    return NULL;
}

/* Refuses what getopt_long could not make sense of; `arg` is the argument as written. */
static void refuse(const struct options *o, const char *arg, int opt)
{
    const char *names[OPTIONS_MAX];
    const struct option_spec *s = optopt ? spec_of(o, optopt) : NULL;
    const char *near = NULL;
    char name[64];

    if (opt == ':') {
        options_error(o, "option '%s' needs a value", arg);
        return;
    }
    if (s && strchr(arg, '=')) {
        options_error(o, "option '--%s' takes no value", s->name);
        return;
    }
    for (size_t i = 0; i < o->nspec; i++)
        names[i] = o->spec[i]->name;
    if (strncmp(arg, "--", 2) == 0) {
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
        near = conf_nearest(name, names, o->nspec);
    }
    options_error(o, "unknown option '%s'%s%s%s", arg, near ? "; did you mean '--" : "",
                  near ? near : "", near ? "'?" : "");
}

static bool read_arguments(struct options *o, int argc, char **argv)
{
    struct tables t;
    int opt, at;

    make_tables(o, &t);
    opterr = 0;
    optind = 0; /* GNU: start anew, for the second call in one process */
    for (;;) {
        at = optind ? optind : 1;
        opt = getopt_long(argc, argv, t.shorts, t.longs, NULL);
        if (opt == -1)
            break;
        if (opt == '?' || opt == ':') {
            refuse(o, argv[optind > at ? optind - 1 : at], opt);
            return false;
        }
        o->given[o->ngiven++] = (struct option_given){spec_of(o, opt), optarg ? optarg : ""};
    }
    while (optind < argc)
        o->operand[o->noperands++] = argv[optind++];
    return true;
}

/* Each letter of a word may be an option: "-qv". */
static size_t most_options(int argc, char **argv)
{
    size_t n = 1;

    for (int i = 1; i < argc; i++)
        n += strlen(argv[i]) + 1;
    return n;
}

bool options_read(struct options *o, const struct command_spec *command, int argc, char **argv)
{
    const struct option_spec *s;

    *o = (struct options){.command = command, .status = 2};
    while (o->nspec < OPTIONS_MAX && (s = options_nth(command, o->nspec)))
        o->spec[o->nspec++] = s;
    o->given = calloc(most_options(argc, argv), sizeof(*o->given));
    o->operand = calloc((size_t)argc + 1, sizeof(*o->operand));
    if (!o->given || !o->operand) {
        options_error(o, "out of memory");
        options_free(o);
        return false;
    }
    if (!read_arguments(o, argc, argv)) {
        options_free(o);
        return false;
    }
    if (!option_flag(o, "help"))
        return true;
    options_help(stdout, command);
    o->status = fflush(stdout) == 0 ? 0 : 3;
    options_free(o);
    return false;
}

void options_free(struct options *o)
{
    free(o->given);
    free(o->operand);
    o->given = NULL;
    o->operand = NULL;
    o->ngiven = o->noperands = 0;
}

bool option_flag(const struct options *o, const char *name)
{
    return option_text(o, name, NULL) != NULL;
}

const char *option_text(const struct options *o, const char *name, const char *otherwise)
{
    for (size_t i = o->ngiven; i-- > 0;)
        if (strcmp(o->given[i].spec->name, name) == 0)
            return o->given[i].value;
    return otherwise;
}

bool option_number(const struct options *o, const char *name, int64_t lo, int64_t hi, int64_t *out)
{
    const char *text = option_text(o, name, NULL);
    char *end;
    long long v;

    if (!text)
        return true;
    errno = 0;
    v = strtoll(text, &end, 10);
    if (!*text || *end || errno || v < lo || v > hi) {
        options_error(o, "'--%s' is '%s', expected a whole number from %" PRId64 " to %" PRId64,
                      name, text, lo, hi);
        return false;
    }
    *out = v;
    return true;
}

const char **option_all(const struct options *o, const char *name, size_t *n)
{
    const char **list = calloc(o->ngiven + 1, sizeof(*list));

    *n = 0;
    for (size_t i = 0; list && i < o->ngiven; i++)
        if (strcmp(o->given[i].spec->name, name) == 0)
            list[(*n)++] = o->given[i].value;
    return list;
}

int option_choice(const struct options *o, const char *name, int otherwise)
{
    const char *text = option_text(o, name, NULL);
    const char *const *choices = NULL;
    char list[200] = "";

    if (!text)
        return otherwise;
    for (size_t i = 0; i < o->nspec; i++)
        if (strcmp(o->spec[i]->name, name) == 0)
            choices = o->spec[i]->choices;
    for (int i = 0; choices && choices[i]; i++) {
        if (strcmp(choices[i], text) == 0)
            return i;
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
                 choices[i]);
    }
    options_error(o, "'--%s' is '%s', expected one of: %s", name, text, list);
    return -1;
}

bool option_ns(const struct options *o, const char *name, int64_t least, int64_t *out)
{
    const char *text = option_text(o, name, NULL);
    struct conf_errors errors = {0};
    struct conf_tree *t;
    int64_t v = -1;

    if (!text)
        return true;
    t = conf_read_text(name, text, strlen(text), &errors);
    if (!t || !conf_ns(conf_root(t), &v, &errors))
        v = -1;
    conf_free(t);
    conf_errors_free(&errors);
    if (v < least) {
        options_error(o, "'--%s' is '%s', expected a time of at least %" PRId64 " ns, like 100ms",
                      name, text, least);
        return false;
    }
    *out = v;
    return true;
}

bool options_readable(const char *path)
{
    FILE *f = fopen(path, "r");
    struct stat st;

    if (!f) {
        fprintf(stderr, "%s: cannot be opened: %s\n", path, strerror(errno));
        return false;
    }
    if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
        fprintf(stderr, "%s: is a directory, expected a YAML file\n", path);
        fclose(f);
        return false;
    }
    fclose(f);
    return true;
}

void options_wrap(FILE *out, const char *text, int at, int indent, int width)
{
    while (*text) {
        const int word = (int)strcspn(text, " \n");

        if (at > indent && at + 1 + word > width) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        }
        if (at > indent) {
            fputc(' ', out);
            at++;
        }
        fwrite(text, 1, (size_t)word, out);
        at += word;
        text += word;
        if (*text == '\n') {
            fprintf(out, "\n%*s", text[1] ? indent : 0, "");
            at = indent;
        }
        text += *text != '\0';
    }
}

static void put_option(FILE *out, const struct option_spec *s)
{
    int at = fprintf(out, "  %c%c%c --%s%s%s", s->letter ? '-' : ' ', s->letter ? s->letter : ' ',
                     s->letter ? ',' : ' ', s->name, s->arg ? " " : "", s->arg ? s->arg : "");

    if (at > HELP_AT - 2)
        fprintf(out, "\n%*s", HELP_AT, "");
    else
        fprintf(out, "%*s", HELP_AT - at, "");
    options_wrap(out, s->help, HELP_AT, HELP_AT, HELP_WIDTH);
    if (s->choices) {
        fprintf(out, "\n%*s", HELP_AT, "");
        for (size_t i = 0; s->choices[i]; i++)
            fprintf(out, "%s%s", i ? ", " : "", s->choices[i]);
    }
    fputc('\n', out);
}

/* Each line of `text` behind `lead`; lines after the first behind `more`. */
static void put_lines(FILE *out, const char *lead, const char *more, const char *name,
                      const char *text)
{
    while (text && *text) {
        const size_t n = strcspn(text, "\n");

        fprintf(out, "%s%s%s%.*s\n", lead, name, *name ? " " : "", (int)n, text);
        text += n + (text[n] != '\0');
        lead = more;
    }
}

void options_help(FILE *out, const struct command_spec *c)
{
    const struct option_spec *s;

    put_lines(out, "usage: tandem ", "       tandem ", c->name, c->usage);
    fputc('\n', out);
    options_wrap(out, c->about, 0, 0, HELP_WIDTH);
    fputs("\n\n", out);
    for (size_t i = 0; (s = options_nth(c, i)); i++)
        put_option(out, s);
    if (c->status) {
        fputs("\nexit status:", out);
        options_wrap(out, c->status, 12, 0, HELP_WIDTH);
        fputc('\n', out);
    }
    fputc('\n', out);
    put_lines(out, "example: tandem ", "         tandem ", "", c->example);
}
