/* SPDX-License-Identifier: MIT */
/*
 * What a command is called and which options it takes: one table, from which its command line is
 * read and its help, the man page and the completions are written.
 */
#ifndef SIM_STUDY_OPTIONS_H
#define SIM_STUDY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct option_spec {
    const char *name;           /* without dashes; NULL ends the table */
    char letter;                /* 0: none */
    const char *arg;            /* what its value is called; NULL: it takes none */
    const char *help;           /* lines are broken where it is printed */
    const char *const *choices; /* the values it may have, NULL-terminated; NULL: any */
};

/* `arg` named FILE or beginning so: completions offer files. */
#define OPTION(name, letter, arg, help)                                                            \
    {                                                                                              \
        name, letter, arg, help, NULL                                                              \
    }
#define OPTION_OF(name, letter, arg, help, choices)                                                \
    {                                                                                              \
        name, letter, arg, help, choices                                                           \
    }
#define OPTION_END                                                                                 \
    {                                                                                              \
        NULL, 0, NULL, NULL, NULL                                                                  \
    }

struct command_spec {
    const char *name;                 /* "run", "trace info" */
    const char *summary;              /* a few words */
    const char *usage;                /* what stands behind the name; several forms, a line each */
    const char *about;                /* paragraphs split by '\n' */
    const struct option_spec *option; /* every command has --help, --quiet and --verbose besides */
    const char *const *operands;      /* what the first operand may be, NULL: files */
    const char *status;               /* exit status */
    const char *example;              /* a line each, without "tandem" */
};

#define OPTIONS_MAX 40

struct options {
    const struct command_spec *command;
    const struct option_spec *spec[OPTIONS_MAX + 1]; /* the command's own and the common ones */
    size_t nspec, ngiven, noperands;
    struct option_given {
        const struct option_spec *spec;
        const char *value;
    } * given; /* in the order of the command line */
    const char **operand;
    int status; /* when there is nothing to do: the exit status */
};

/* False when there is nothing to do: help was printed, or a message on stderr; o->status is the
 * exit status then. */
bool options_read(struct options *o, const struct command_spec *command, int argc, char **argv);
void options_free(struct options *o);
bool option_flag(const struct options *o, const char *name);
/* The last one given, or `otherwise`. */
const char *option_text(const struct options *o, const char *name, const char *otherwise);
/* All values given for a repeated option, in order; *n of them. malloc'ed array of borrowed texts,
 * NULL without memory. */
const char **option_all(const struct options *o, const char *name, size_t *n);
/* A whole number in lo..hi; false after a message. *out is left alone when the option is not given.
 */
bool option_number(const struct options *o, const char *name, int64_t lo, int64_t hi, int64_t *out);
/* Which of its choices: the index, `otherwise` when not given, -1 after a message. */
int option_choice(const struct options *o, const char *name, int otherwise);
/* A time of at least `least` ns, as in scenarios; false after a message. */
bool option_ns(const struct options *o, const char *name, int64_t least, int64_t *out);
/* Whether an input file can be opened; false after a message (exit status 3). */
bool options_readable(const char *path);
/* "tandem COMMAND: message" on stderr; always 2. */
int options_error(const struct options *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same only with --verbose. */
void options_tell(const struct options *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The n-th option of a command, its own first, then the common ones; NULL behind the last. */
const struct option_spec *options_nth(const struct command_spec *c, size_t n);
/* The help of one command. */
void options_help(FILE *out, const struct command_spec *c);
/* `text` broken into lines of `width` characters; all but the first begin with `indent` blanks, and
 * the first begins at column `at`. A '\n' ends a line. */
void options_wrap(FILE *out, const char *text, int at, int indent, int width);

#endif
