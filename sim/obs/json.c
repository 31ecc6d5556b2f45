/* SPDX-License-Identifier: MIT */
/* The JSON writer: commas, indentation, escapes. See json.h. */
#include "obs/json.h"

#include <inttypes.h>
#include <math.h>

#include "engine/check.h"

void json_init(struct json *j, FILE *out, bool compact)
{
    *j = (struct json){.out = out, .compact = compact};
}

static bool flat_now(const struct json *j)
{
    return j->compact || (j->depth > 0 && j->level[j->depth - 1].flat);
}

static void new_line(struct json *j)
{
    putc_unlocked('\n', j->out);
    for (int i = 0; i < j->depth; i++)
        fputs("  ", j->out);
}

/* Everything that stands before a value: comma, line break, key. */
static void lead_in(struct json *j, const char *key)
{
    if (j->depth > 0) {
        struct json_level *l = &j->level[j->depth - 1];

        if (l->used)
            putc_unlocked(',', j->out);
        if (!flat_now(j))
            new_line(j);
        else if (l->used && !j->compact)
            putc_unlocked(' ', j->out);
        l->used = true;
    }
    if (key) {
        json_quote(j->out, key);
        fputs(j->compact ? ":" : ": ", j->out);
    }
}

static void open_level(struct json *j, const char *key, const char *brackets, bool flat)
{
    lead_in(j, key);
    CHECK(j->depth < JSON_DEPTH, "result nested deeper than %d", JSON_DEPTH);
    putc_unlocked(brackets[0], j->out);
    flat = flat || flat_now(j);
    j->level[j->depth++] = (struct json_level){.close = brackets[1], .flat = flat};
}

void json_object(struct json *j, const char *key, bool flat)
{
    open_level(j, key, "{}", flat);
}

void json_array(struct json *j, const char *key, bool flat)
{
    open_level(j, key, "[]", flat);
}

void json_close(struct json *j)
{
    CHECK(j->depth > 0, "a JSON value was closed that is not open");
    const struct json_level l = j->level[--j->depth];

    if (l.used && !l.flat)
        new_line(j);
    putc_unlocked(l.close, j->out);
}

void json_string(struct json *j, const char *key, const char *text)
{
    if (!text) {
        json_raw(j, key, NULL);
        return;
    }
    lead_in(j, key);
    json_quote(j->out, text);
}

void json_number(struct json *j, const char *key, double v)
{
    lead_in(j, key);
    if (isfinite(v))
        fprintf(j->out, "%.17g", v);
    else
        fputs("null", j->out);
}

void json_count(struct json *j, const char *key, uint64_t v)
{
    lead_in(j, key);
    fprintf(j->out, "%" PRIu64, v);
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
    lead_in(j, key);
    fprintf(j->out, "\"%" PRIu64 "\"", v);
}

void json_hex64(struct json *j, const char *key, uint64_t v)
{
    lead_in(j, key);
    fprintf(j->out, "\"%016" PRIx64 "\"", v);
}

void json_raw(struct json *j, const char *key, const char *text)
{
    lead_in(j, key);
    fputs(text ? text : "null", j->out);
}

void json_quote(FILE *out, const char *text)
{
    putc_unlocked('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(out, "\\u%04x", *p);
        else
            putc_unlocked(*p, out);
    }
    putc_unlocked('"', out);
}

int c_numbers_begin(struct c_numbers *n)
{
    n->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (n->c == (locale_t)0)
        return -1;
    n->before = uselocale(n->c);
    return 0;
}

void c_numbers_end(struct c_numbers *n)
{
    uselocale(n->before);
    freelocale(n->c);
}
