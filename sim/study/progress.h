/* SPDX-License-Identifier: MIT */
/*
 * Progress of a long command: a bar on stderr, only when that is a terminal. Everywhere else
 * nothing is written, so logs hold no control characters.
 */
#ifndef SIM_STUDY_PROGRESS_H
#define SIM_STUDY_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool on, colour;
    int64_t total, before, done, failed;
    double begin, drawn; /* s, monotonic */
};

/* Off when `wanted` is false or stderr is no terminal. `before` was finished earlier: it counts as
 * done, but not for the speed. */
void progress_begin(struct progress *p, int64_t total, int64_t before, bool wanted);
void progress_step(struct progress *p, bool good);
/* Draws at most ten times a second. */
void progress_draw(struct progress *p);
/* Takes the bar away. */
void progress_end(struct progress *p);

/* The line itself, without control characters, for `now` seconds since the begin. */
void progress_line(const struct progress *p, double elapsed, char *out, int size);

#endif
