/* SPDX-License-Identifier: MIT */
/* Words and units around the numbers of a picture. UTF-8. */
#include <stdio.h>
#include <string.h>

#include "study/plot_label.h"

#define SUPER3 "\xc2\xb3"

/* What a unit of the register becomes once its values are divided. */
static const struct scaled {
    const char *unit, *suffix; /* the suffix that the key ends in */
    double least;              /* of the largest value */
    double divisor;
    const char *text;
} scales[] = {
    {"1/s", "_per_s", 1e7, 1e6, "10\xe2\x81\xb6/s"},
    {"1/s", "_per_s", 1e4, 1e3, "10" SUPER3 "/s"},
    {"1/s", "_per_s", 0, 1, "1/s"},
    {"us", "_us", 1e7, 1e6, "s"},
    {"us", "_us", 1e4, 1e3, "ms"},
    {"us", "_us", 0, 1, MICRO "s"},
    {"ns", "_ns", 1e7, 1e6, "ms"},
    {"ns", "_ns", 1e4, 1e3, MICRO "s"},
    {"ns", "_ns", 0, 1, "ns"},
    {"J", "_j", 1e4, 1e3, "kJ"},
    {"J", "_j", 0, 1, "J"},
    {"W", "_w", 0, 1, "W"},
};
#define NSCALES (sizeof(scales) / sizeof(scales[0]))

/* latency_p99_9_us -> "latency p99.9". */
static void words_of(const char *key, const char *suffix, char out[LABEL_SIZE])
{
    size_t n = strlen(key);
    const size_t m = strlen(suffix);
    char *nines;

    if (n > m && strcmp(key + n - m, suffix) == 0)
        n -= m;
    snprintf(out, LABEL_SIZE, "%.*s", (int)n, key);
    nines = strstr(out, "p99_9");
    if (nines)
        nines[3] = '.';
    for (char *p = out; *p; p++)
        if (*p == '_')
            *p = ' ';
}

/* What the figure calls its own metric; NULL when the user chose another, or other ratios. */
static const char *own_words(const struct plot_request *r, size_t facet, size_t *len)
{
    if (!r->figure->ylabel || r->metric || r->relative_to || r->relative_to_x)
        return NULL;
    return plot_part(r->figure->ylabel, facet, len);
}

double label_metric(const struct plot_grid *g, const struct plot_request *r, size_t facet,
                    double largest, char out[LABEL_SIZE])
{
    const struct metric *m = plot_metric(g, facet);
    const struct scaled *scale = NULL;
    char words[LABEL_SIZE], base[LABEL_SIZE] = "";
    size_t len = 0;
    const char *own = own_words(r, plot_by_metric(g) ? facet : 0, &len);

    for (size_t i = 0; i < NSCALES && !scale; i++)
        if (strcmp(scales[i].unit, m->unit) == 0 && largest >= scales[i].least)
            scale = &scales[i];
    words_of(m->key, scale ? scale->suffix : "", words);
    if (own)
        snprintf(words, sizeof(words), "%.*s", (int)(len < 200 ? len : 200), own);
    if (g->relative) {
        if (g->relative_axis)
            label_value(g->relative_axis, g->relative_at, base);
        else
            label_shorten(g->relative_text, 32, base);
        if (own)
            snprintf(out, LABEL_SIZE, "%.200s", words);
        else
            snprintf(out, LABEL_SIZE, "%.100s / %.120s", words, base);
        return 1;
    }
    if (scale)
        snprintf(out, LABEL_SIZE, "%.200s (%s)", words, scale->text);
    else
        snprintf(out, LABEL_SIZE, "%.200s", words);
    return scale ? scale->divisor : 1;
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && dot[1] ? dot + 1 : path;
}

void label_axis(const struct plot_axis *a, bool with_unit, char out[LABEL_SIZE])
{
    const char *unit = strcmp(a->unit, "us") == 0 ? MICRO "s" : a->unit;
    size_t n = 0;

    out[0] = '\0';
    for (const char *p = a->path; p; p = strchr(p, ',')) {
        char part[LABEL_SIZE];

        p += *p == ',';
        snprintf(part, sizeof(part), "%.*s", (int)strcspn(p, ","), p);
        n += (size_t)snprintf(out + n, LABEL_SIZE - n, "%s%.60s", n ? ", " : "", last_part(part));
        if (n > LABEL_SIZE / 2)
            break;
    }
    if (with_unit && a->path && a->numeric && *unit)
        snprintf(out + n, LABEL_SIZE - n, " (%s)", unit);
}

bool label_is_bare(const char *text)
{
    return quantity_parse(text).kind != QUANTITY_NONE || strcmp(text, "on") == 0 ||
           strcmp(text, "off") == 0;
}

void label_value(const struct plot_axis *a, size_t i, char out[LABEL_SIZE])
{
    char text[LABEL_SIZE];

    label_shorten(a->text[i], 32, text);
    if (a->path && label_is_bare(a->text[i]))
        snprintf(out, LABEL_SIZE, "%.60s = %.150s", last_part(a->path), text);
    else
        snprintf(out, LABEL_SIZE, "%s", text);
}

/* The figures of programs say 'alone', or '128 threads', for what their sweeps call a workload. */
static void strip_axis(char title[LABEL_SIZE])
{
    const char *value = strncmp(title, "workload", 8) == 0 ? strstr(title, ": ") : NULL;
    const bool threads = strstr(title, "threads:") != NULL;

    if (value) {
        memmove(title, value + 2, strlen(value + 2) + 1);
        if (threads)
            strncat(title, " threads", LABEL_SIZE - strlen(title) - 1);
    }
}

void label_facet(const struct plot_grid *g, const struct plot_request *r, size_t f,
                 char out[LABEL_SIZE])
{
    char axis[LABEL_SIZE], value[LABEL_SIZE];

    out[0] = '\0';
    if (!g->facet.path || plot_by_metric(g))
        return;
    label_axis(&g->facet, false, axis);
    label_value(&g->facet, f, value);
    if (label_is_bare(g->facet.text[f]))
        snprintf(out, LABEL_SIZE, "%s", value);
    else
        snprintf(out, LABEL_SIZE, "%.80s: %.160s", axis, value);
    if (r->figure->plain_facets)
        strip_axis(out);
}

/* The bytes that a line takes, without the space at which it ends. */
static size_t line_bytes(const char *text, size_t most)
{
    size_t n = 0, chars = 0, space = 0;

    for (; text[n]; n++) {
        chars += ((unsigned char)text[n] & 0xc0) != 0x80;
        if (chars > most)
            return text[n] == ' ' || space == 0 ? n : space;
        if (text[n] == ' ')
            space = n;
    }
    return n;
}

size_t label_fold(const char *text, size_t most, size_t lines, char out[LABEL_SIZE])
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t line = 1; *text; line++) {
        char rest[LABEL_SIZE];
        const size_t bytes = line_bytes(text, most);

        if (line == lines || n + bytes + 2 > LABEL_SIZE / 2) {
            label_shorten(text, most, rest);
            snprintf(out + n, LABEL_SIZE - n, "%s", rest);
            return line;
        }
        n += (size_t)snprintf(out + n, LABEL_SIZE - n, "%.*s", (int)bytes, text);
        text += bytes + (text[bytes] == ' ');
        if (*text == '\0')
            return line;
        out[n++] = '\n';
    }
    return 1;
}

void label_note(const struct plot_grid *g, bool means, char out[LABEL_SIZE])
{
    const char *what = g->box        ? g->relative ? "paired ratios: median, quartiles, whiskers"
                                                   : "median, quartiles, whiskers"
                       : g->cdf      ? "all runs together"
                       : g->relative ? "mean of paired ratios"
                                     : "mean";
    const bool plain = means || g->cdf || g->box;

    if (g->with_data == 0)
        out[0] = '\0';
    else if (g->most_n < 2)
        snprintf(out, LABEL_SIZE, "single runs%s", plain ? "" : ", no intervals");
    else if (g->least_n == g->most_n)
        snprintf(out, LABEL_SIZE, "%s%s, n = %d", what, plain ? "" : " and 95 % interval",
                 g->most_n);
    else
        snprintf(out, LABEL_SIZE, "%s%s, n = %d to %d", what, plain ? "" : " and 95 % interval",
                 g->least_n, g->most_n);
}

size_t label_width(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

void label_shorten(const char *text, size_t most, char out[LABEL_SIZE])
{
    const bool cut = label_width(text) > most;
    size_t chars = 0, n = 0;

    for (; *text && n < LABEL_SIZE - 8; text++) {
        const bool starts = ((unsigned char)*text & 0xc0) != 0x80;

        if (starts && cut && chars == most - 1)
            break;
        chars += starts;
        out[n++] = (unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text;
    }
    strcpy(out + n, cut ? "\xe2\x80\xa6" : "");
}
