/* SPDX-License-Identifier: MIT */
/*
 * A JSON writer: text goes straight to a stream, no tree is built, nothing is allocated.
 *
 * Why not a library's printer: numbers must keep all their digits and the order of bytes must be
 * the same everywhere. A number that does not exist (NaN, infinity) is written as null. Errors stay
 * in the stream: check ferror once at the end. Numbers come out right only between c_numbers_begin
 * and c_numbers_end.
 */
#ifndef SIM_OBS_JSON_H
#define SIM_OBS_JSON_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 16

struct json {
    FILE *out;
    bool compact; /* one line, no blanks */
    int depth;
    struct json_level {
        char close;
        bool flat; /* on one line, as is everything inside */
        bool used; /* has a member: the next one needs a comma */
    } level[JSON_DEPTH];
};

void json_init(struct json *j, FILE *out, bool compact);
/* `key` is NULL for the outermost value and inside lists. */
void json_object(struct json *j, const char *key, bool flat);
void json_array(struct json *j, const char *key, bool flat);
void json_close(struct json *j);
void json_string(struct json *j, const char *key, const char *text); /* NULL: null */
void json_number(struct json *j, const char *key, double v);
void json_count(struct json *j, const char *key, uint64_t v);
/* 64-bit values as strings: most readers would round them as numbers. */
void json_u64(struct json *j, const char *key, uint64_t v);
void json_hex64(struct json *j, const char *key, uint64_t v);
/* `text` is a JSON value already, taken as it is. NULL: null. */
void json_raw(struct json *j, const char *key, const char *text);

/* A quoted string with everything escaped that must be. */
void json_quote(FILE *out, const char *text);

/* "." as the decimal point for printf, strtod and what is built on them, whatever the program's
 * locale; for this thread, until the end. */
struct c_numbers {
    locale_t c, before;
};
int c_numbers_begin(struct c_numbers *n); /* 0, or -1 (errno) */
void c_numbers_end(struct c_numbers *n);

#endif
