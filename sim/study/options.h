/* SPDX-License-Identifier: MIT */
/* Command-line options of the study commands: --name VALUE, --name=VALUE, -j4, flags, operands, --.
 */
#ifndef SIM_STUDY_OPTIONS_H
#define SIM_STUDY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_spec {
    const char *name; /* without dashes; NULL ends the table */
    char letter;      /* 0: none */
    bool value;       /* takes one */
};

struct options {
    const char *command;
    const struct option_spec *spec;
    size_t ngiven, noperands;
    struct option_given {
        const struct option_spec *spec;
        const char *value;
    } * given; /* in the order of the command line */
    const char **operand;
};

/* False after a message on stderr (exit status 2). */
bool options_read(struct options *o, const struct option_spec *spec, int argc, char **argv);
void options_free(struct options *o);
bool option_flag(const struct options *o, const char *name);
/* The last one given, or `otherwise`. */
const char *option_text(const struct options *o, const char *name, const char *otherwise);
/* A whole number in lo..hi; false after a message. *out is left alone when the option is not given.
 */
bool option_number(const struct options *o, const char *name, int64_t lo, int64_t hi, int64_t *out);
/* One of the NULL-terminated choices: its index, `otherwise` when not given, -1 after a message. */
int option_choice(const struct options *o, const char *name, const char *const *choices,
                  int otherwise);
/* Whether an input file can be opened; false after a message (exit status 3). */
bool options_readable(const char *path);
/* "tandem COMMAND: message" on stderr; always 2. */
int options_error(const struct options *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
