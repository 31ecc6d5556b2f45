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

#define MAX_SPECS 32

int options_error(const struct options *o, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "tandem %s: ", o->command);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return 2;
}

/* The tables of getopt_long, made from the specification. Long options return LONG_BASE + index. */
#define LONG_BASE 256

struct tables {
    struct option longs[MAX_SPECS + 1];
    char shorts[2 * MAX_SPECS + 2];
};

static void make_tables(const struct option_spec *spec, struct tables *t)
{
    size_t n = 0;
    char *at = t->shorts;

    *at++ = ':'; /* a missing value is told apart from an unknown option */
    for (; spec[n].name && n < MAX_SPECS; n++) {
        t->longs[n] = (struct option){.name = spec[n].name,
                                      .has_arg = spec[n].value ? required_argument : no_argument,
                                      .val = LONG_BASE + (int)n};
        if (!spec[n].letter)
            continue;
        *at++ = spec[n].letter;
        if (spec[n].value)
            *at++ = ':';
    }
    *at = '\0';
    t->longs[n] = (struct option){.name = NULL};
}

static const struct option_spec *spec_of(const struct option_spec *spec, int opt)
{
    if (opt >= LONG_BASE)
        return &spec[opt - LONG_BASE];
    while (spec->name && spec->letter != opt)
        spec++;
    return spec->name ? spec : NULL;
}

/* Refuses what getopt_long could not make sense of; `arg` is the argument as written. */
static void refuse(const struct options *o, const char *arg, int opt)
{
    const char *names[MAX_SPECS];
    const struct option_spec *s = optopt ? spec_of(o->spec, optopt) : NULL;
    const char *near = NULL;
    char name[64];
    size_t n = 0;

    if (opt == ':') {
        options_error(o, "option '%s' needs a value", arg);
        return;
    }
    if (s && strchr(arg, '=')) {
        options_error(o, "option '--%s' takes no value", s->name);
        return;
    }
    for (s = o->spec; s->name && n < MAX_SPECS; s++)
        names[n++] = s->name;
    if (strncmp(arg, "--", 2) == 0) {
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
        near = conf_nearest(name, names, n);
    }
    options_error(o, "unknown option '%s'%s%s%s", arg, near ? "; did you mean '--" : "",
                  near ? near : "", near ? "'?" : "");
}

bool options_read(struct options *o, const struct option_spec *spec, int argc, char **argv)
{
    struct tables t;
    int opt, at;

    *o = (struct options){.command = argv[0], .spec = spec};
    o->given = calloc((size_t)argc + 1, sizeof(*o->given));
    o->operand = calloc((size_t)argc + 1, sizeof(*o->operand));
    if (!o->given || !o->operand) {
        options_error(o, "out of memory");
        options_free(o);
        return false;
    }
    make_tables(spec, &t);
    opterr = 0;
    optind = 0; /* GNU: start anew, for the second call in one process */
    for (;;) {
        at = optind ? optind : 1;
        opt = getopt_long(argc, argv, t.shorts, t.longs, NULL);
        if (opt == -1)
            break;
        if (opt == '?' || opt == ':') {
            refuse(o, argv[optind > at ? optind - 1 : at], opt);
            options_free(o);
            return false;
        }
        o->given[o->ngiven++] = (struct option_given){spec_of(spec, opt), optarg ? optarg : ""};
    }
    while (optind < argc)
        o->operand[o->noperands++] = argv[optind++];
    return true;
}

void options_free(struct options *o)
{
    free(o->given);
    free(o->operand);
    *o = (struct options){0};
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

int option_choice(const struct options *o, const char *name, const char *const *choices,
                  int otherwise)
{
    const char *text = option_text(o, name, NULL);
    char list[200] = "";

    if (!text)
        return otherwise;
    for (int i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0)
            return i;
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
                 choices[i]);
    }
    options_error(o, "'--%s' is '%s', expected one of: %s", name, text, list);
    return -1;
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
