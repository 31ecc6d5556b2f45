/* SPDX-License-Identifier: MIT */
/* The progress bar. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "study/progress.h"

#define BAR 24

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_begin(struct progress *p, int64_t total, int64_t before, bool wanted)
{
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");

    *p = (struct progress){.total = total, .before = before};
    p->on = wanted && total > before && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    p->colour = !no_color || !*no_color;
    p->begin = seconds();
}

static void duration_text(double s, char *out, size_t size)
{
    const int64_t t = (int64_t)(s + 0.5);

    if (t >= 3600)
        snprintf(out, size, "%" PRId64 ":%02d:%02d", t / 3600, (int)(t / 60 % 60), (int)(t % 60));
    else
        snprintf(out, size, "%d:%02d", (int)(t / 60), (int)(t % 60));
}

void progress_line(const struct progress *p, double elapsed, char *out, int size)
{
    const int64_t now = p->done + p->failed;
    const int64_t all = p->before + now;
    const int filled = p->total > 0 ? (int)(all * BAR / p->total) : BAR;
    const double rate = elapsed > 0 ? (double)now / elapsed : 0;
    char bar[BAR + 1], eta[32] = "?", failed[40] = "";

    for (int i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '-';
    bar[BAR] = '\0';
    if (now > 0)
        duration_text((double)(p->total - all) / rate, eta, sizeof(eta));
    if (p->failed > 0)
        snprintf(failed, sizeof(failed), "  %" PRId64 " failed", p->failed);
    snprintf(out, (size_t)size, "[%s] %" PRId64 "/%" PRId64 "  %.*f runs/s  ETA %s%s", bar, all,
             p->total, rate < 10 ? 1 : 0, rate, eta, failed);
}

void progress_step(struct progress *p, bool good)
{
    if (good)
        p->done++;
    else
        p->failed++;
    progress_draw(p);
}

void progress_draw(struct progress *p)
{
    const double now = seconds();
    char line[160];

    if (!p->on || now - p->drawn < 0.1)
        return;
    p->drawn = now;
    progress_line(p, now - p->begin, line, sizeof(line));
    if (p->colour && p->failed > 0)
        fprintf(stderr, "\r\033[K\033[31m%s\033[0m", line);
    else
        fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->on && p->drawn > 0)
        fputs("\r\033[K", stderr);
    p->on = false;
}
