/* SPDX-License-Identifier: MIT */
/*
 * Progress of a long command on stderr: a bar when that is a terminal; else, for logs, a line now and
 * then, without control characters: after every tenth of the whole, but not within a second of the
 * line before, and after every half minute.
 */
#ifndef SIM_STUDY_PROGRESS_H
#define SIM_STUDY_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool on, bar, colour;
    int64_t total, before, done, failed;
    double begin, drawn; /* s, monotonic */
    int64_t tenth;       /* of the last line */
};

/* Off when `wanted` is false or there is nothing to do. `before` was finished earlier: it counts as
 * done, but not for the speed. */
void progress_begin(struct progress *p, int64_t total, int64_t before, bool wanted);
void progress_step(struct progress *p, bool good);
/* One was finished by somebody else. */
void progress_skip(struct progress *p);
/* The whole turned out to be larger, or smaller. */
void progress_grow(struct progress *p, int64_t by);
/* Draws at most ten times a second. */
void progress_draw(struct progress *p);
/* Takes the bar away. */
void progress_end(struct progress *p);

/* Whether a log gets a line, `now` seconds after the begin; notes that it has. */
bool progress_line_due(struct progress *p, double now);
/* The line itself, without control characters, for `now` seconds since the begin. */
void progress_line(const struct progress *p, double elapsed, char *out, int size);
/* The same for logs: percent instead of a bar. */
void progress_log_line(const struct progress *p, double elapsed, char *out, int size);

/* "0:17", "1:02:03". */
void progress_duration(double seconds, char *out, size_t size);

#endif
