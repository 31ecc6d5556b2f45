/* SPDX-License-Identifier: MIT */
/*
 * The line splitter shared by all text readers: lines from a stream, with a short look ahead, and
 * the prefix of an event line.
 *
 * Always true: at most LINE_AHEAD lines of at most LINE_MAX_BYTES each are in memory, whatever the
 * size of the file; the rest of a longer line is dropped and the line is marked. A line may hold
 * any byte, also NUL: it is a pointer and a length. Byte order mark, carriage return and the
 * literal
 * `\n\` of a trace kept in a JavaScript string are taken off.
 */
#ifndef TRACES_LINE_H
#define TRACES_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LINE_AHEAD     4
#define LINE_MAX_BYTES 65536
#define CPU_MAX        65535

/* Bytes of somebody else's buffer. */
struct slice {
    const char *p;
    size_t n;
};

struct line {
    char *buf;
    size_t len, cap;
    int64_t number; /* from 1 */
    bool ended;     /* by a newline */
    bool overlong;  /* bytes were dropped */
};

struct line_source {
    FILE *in;
    struct line ahead[LINE_AHEAD]; /* a ring: `count` lines from `first` */
    size_t first, count;
    int64_t lines; /* read so far; at the end newlines + 1 */
    bool eof, failed, nomem;
    size_t at, have;
    char block[65536];
};

/* Reads the first block: its `have` bytes are the beginning of the file until the first line is
 * asked for. The source is large: have it allocated. Does not own `in`. */
void line_init(struct line_source *s, FILE *in);
void line_fini(struct line_source *s);
/* The line `k` ahead (0 = current), NULL when there is none or after `failed` or `nomem`. Valid
 * until it is skipped. */
const struct line *line_peek(struct line_source *s, size_t k);
void line_skip(struct line_source *s);

/* Where the parts of an event line are. `comm` is as printed, blanks included. */
struct prefix {
    struct slice comm, flags, event, payload;
    int pid, cpu;
    bool perf;    /* `comm tid [cpu]` instead of `comm-tid [cpu]` */
    bool seconds; /* the time has a decimal point: `time` is ns; else clock ticks */
    int digits;   /* after the point */
    int64_t time;
    size_t time_at; /* offsets, for messages */
};

/* The leftmost place where `-<pid> ... [cpu] ... ts: event:` (or perf's `<tid> [cpu] ts: event:`)
 * fits. The widths which the kernel prints are required (three digits of CPU, six or nine after the
 * point, twelve columns of ticks): a task's name of 15 bytes cannot imitate them. */
bool prefix_parse(const char *text, size_t len, struct prefix *p);

/* Small helpers of the payload grammars. All work on bytes, none needs a terminator. */
bool slice_starts(struct slice s, const char *word);
bool slice_equals(struct slice s, const char *word);
struct slice slice_trim(struct slice s);
/* Reads an integer at *at, moves *at behind it. False without digits or beyond int. */
bool slice_int(struct slice s, size_t *at, int *out);
/* Moves *at behind `word` when it stands there. */
bool slice_word(struct slice s, size_t *at, const char *word);
/* Start of the last `word` that begins before `before`; false when there is none. */
bool slice_last(struct slice s, size_t before, const char *word, size_t *at);
bool slice_has(struct slice s, const char *word);

#endif
