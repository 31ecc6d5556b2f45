/* SPDX-License-Identifier: MIT */
/* The progress bar. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "study/progress.h"

#define BAR        24
#define LINE_S     30.0 /* a log is silent for so long at most */
#define LINE_GAP_S 1.0  /* and at least */

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
    p->on = wanted && total > before;
    p->bar = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    p->colour = !no_color || !*no_color;
    p->tenth = total > 0 ? 10 * before / total : 0;
    p->begin = seconds();
}

void progress_duration(double s, char *out, size_t size)
{
    const int64_t t = (int64_t)(s + 0.5);

    if (t >= 3600)
        snprintf(out, size, "%" PRId64 ":%02d:%02d", t / 3600, (int)(t / 60 % 60), (int)(t % 60));
    else
        snprintf(out, size, "%d:%02d", (int)(t / 60), (int)(t % 60));
}

/* "50/100  3.0 runs/s  ETA 0:17  1 failed" */
static void state_text(const struct progress *p, double elapsed, char *out, size_t size)
{
    const int64_t now = p->done + p->failed;
    const int64_t all = p->before + now;
    const double rate = elapsed > 0 ? (double)now / elapsed : 0;
    char eta[32] = "?", failed[40] = "";

    if (rate > 0)
        progress_duration((double)(p->total - all) / rate, eta, sizeof(eta));
    if (p->failed > 0)
        snprintf(failed, sizeof(failed), "  %" PRId64 " failed", p->failed);
    snprintf(out, size, "%" PRId64 "/%" PRId64 "  %.*f runs/s  ETA %s%s", all, p->total,
             rate < 10 ? 1 : 0, rate, eta, failed);
}

void progress_line(const struct progress *p, double elapsed, char *out, int size)
{
    const int64_t all = p->before + p->done + p->failed;
    const int filled = p->total > 0 ? (int)(all * BAR / p->total) : BAR;
    char bar[BAR + 1], state[120];

    for (int i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '-';
    bar[BAR] = '\0';
    state_text(p, elapsed, state, sizeof(state));
    snprintf(out, (size_t)size, "[%s] %s", bar, state);
}

void progress_log_line(const struct progress *p, double elapsed, char *out, int size)
{
    const int64_t all = p->before + p->done + p->failed;
    char state[120];

    state_text(p, elapsed, state, sizeof(state));
    snprintf(out, (size_t)size, "%3" PRId64 " %%  %s", p->total > 0 ? 100 * all / p->total : 100,
             state);
}

void progress_step(struct progress *p, bool good)
{
    if (good)
        p->done++;
    else
        p->failed++;
    progress_draw(p);
}

void progress_skip(struct progress *p)
{
    p->before++;
    progress_draw(p);
}

void progress_grow(struct progress *p, int64_t by)
{
    p->total += by;
}

bool progress_line_due(struct progress *p, double now)
{
    const int64_t tenth = p->total > 0 ? 10 * (p->before + p->done + p->failed) / p->total : 10;

    if (now - p->drawn < (tenth > p->tenth && tenth < 10 ? LINE_GAP_S : LINE_S))
        return false;
    p->tenth = tenth;
    p->drawn = now;
    return true;
}

/* A line that does not fit would stay where it is and be followed by the next one. */
static void cut_to_width(char *line)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 &&
        strlen(line) >= size.ws_col)
        line[size.ws_col - 1] = '\0';
}

/* A line for logs: the state in words. */
static void put_log_line(const struct progress *p, double elapsed)
{
    char line[160];

    progress_log_line(p, elapsed, line, sizeof(line));
    fprintf(stderr, "%s\n", line);
    fflush(stderr);
}

void progress_draw(struct progress *p)
{
    const double now = seconds();
    char line[160];

    if (!p->on)
        return;
    if (!p->bar) {
        if (progress_line_due(p, now - p->begin))
            put_log_line(p, now - p->begin);
        return;
    }
    if (now - p->drawn < 0.1)
        return;
    p->drawn = now;
    progress_line(p, now - p->begin, line, sizeof(line));
    cut_to_width(line);
    if (p->colour && p->failed > 0)
        fprintf(stderr, "\r\033[K\033[31m%s\033[0m", line);
    else
        fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->on && p->bar && p->drawn > 0)
        fputs("\r\033[K", stderr);
    p->on = false;
}
