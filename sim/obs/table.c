/* SPDX-License-Identifier: MIT */
/*
 * The result as a table for people. Metrics without a value are left out, and so are counters that
 * are 0. Text from users is printed without control characters: it goes to a terminal.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obs/resultfile.h"
#include "obs/text.h"

#define NUMBER   32
#define MAX_COLS 5

/* Columns of a VM section; it is printed when a person can still compare the rows by eye. */
static const enum metric_id vm_metrics[] = {METRIC_THROUGHPUT, METRIC_LATENCY_P50,
                                            METRIC_LATENCY_P99, METRIC_STEAL_RATIO};
#define VM_METRICS ((int)(sizeof(vm_metrics) / sizeof(vm_metrics[0])))
#define VMS_MIN    2
#define VMS_MAX    8

/* Digits after the point that give `v` six significant digits; -1 where plain notation gets long.
 */
static int decimals_for(double v)
{
    double limit = 1e5;
    int d = 0;

    v = fabs(v);
    if (v == 0 || v >= 1e12 || v < 1e-4)
        return v == 0 ? 0 : -1;
    while (v < limit && d < 9) {
        limit /= 10;
        d++;
    }
    return d;
}

static void format_number(char *s, double v, int decimals)
{
    if (!isfinite(v))
        snprintf(s, NUMBER, "-");
    else if (decimals < 0)
        snprintf(s, NUMBER, "%.5e", v);
    else
        snprintf(s, NUMBER, "%.*f", decimals, v);
}

/* Mean and half-width of a line have the same number of digits after the point. */
static void format_summary(const struct summary *s, char *mean, char *ci)
{
    const int decimals = decimals_for(s->mean);

    format_number(mean, s->mean, decimals);
    format_number(ci, s->ci95, s->ci95 > 0 && s->ci95 < 1e-4 ? -1 : decimals);
}

/* One table: `cols` texts per line, the first line is the head. */
struct grid {
    int cols, lines, room;
    bool left[MAX_COLS]; /* else right */
    struct cells {
        char *text[MAX_COLS];
    } * line;
    bool failed;
};

static void grid_add(struct grid *g, const char *const *text)
{
    if (g->lines == g->room) {
        const int room = g->room ? 2 * g->room : 16;
        void *line = realloc(g->line, (size_t)room * sizeof(*g->line));

        if (!line) {
            g->failed = true;
            return;
        }
        g->line = line;
        g->room = room;
    }
    for (int c = 0; c < g->cols; c++) {
        g->line[g->lines].text[c] = strdup(text[c]);
        g->failed = g->failed || !g->line[g->lines].text[c];
    }
    g->lines++;
}

static void grid_put_line(const struct grid *g, FILE *out, int l, const int *width)
{
    for (int c = 0; c < g->cols; c++) {
        const char *text = g->line[l].text[c];
        const int pad = width[c] - text_width(text);

        if (c > 0)
            fputs("  ", out);
        if (!g->left[c])
            fprintf(out, "%*s", pad, "");
        text_put(out, text);
        if (g->left[c] && c < g->cols - 1)
            fprintf(out, "%*s", pad, "");
    }
    fputc('\n', out);
}

/* Prints and frees. 0, or -1 when memory ran out on the way. */
static int grid_put(struct grid *g, FILE *out)
{
    int width[MAX_COLS] = {0};

    for (int l = 0; !g->failed && l < g->lines; l++)
        for (int c = 0; c < g->cols; c++)
            if (text_width(g->line[l].text[c]) > width[c])
                width[c] = text_width(g->line[l].text[c]);
    for (int l = 0; !g->failed && l < g->lines; l++)
        grid_put_line(g, out, l, width);
    for (int l = 0; l < g->lines; l++)
        for (int c = 0; c < g->cols; c++)
            free(g->line[l].text[c]);
    free(g->line);
    return g->failed ? -1 : 0;
}

static void put_heading(FILE *out, const struct manifest *m, int n)
{
    if (m->scenario_file) {
        text_put(out, m->scenario_file);
        fputs(": ", out);
    }
    if (m->machine) {
        fputs("machine ", out);
        text_put(out, m->machine);
        fputs(", ", out);
    }
    fprintf(out, "seed %" PRIu64 ", %d replication%s\n\n", m->seed, n, n == 1 ? "" : "s");
}

static int put_metrics(FILE *out, struct run_values *const *runs, int n)
{
    struct grid g = {.cols = 5, .left = {[0] = true, [4] = true}};

    grid_add(&g, (const char *const[]){"metric", "mean", "+-95 %", "n", "unit"});
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct summary s = run_summary(runs, n, 0, (enum metric_id)i);
        char mean[NUMBER], ci[NUMBER], count[NUMBER];

        if (!isfinite(s.mean))
            continue;
        format_summary(&s, mean, ci);
        snprintf(count, sizeof(count), "%d", s.n);
        grid_add(&g, (const char *const[]){metrics[i].key, mean, ci, count, metrics[i].unit});
    }
    return grid_put(&g, out);
}

static int put_vms(FILE *out, struct run_values *const *runs, int n)
{
    struct grid g = {.cols = 1 + VM_METRICS, .left = {[0] = true}};
    const char *text[MAX_COLS] = {"vm"};
    char number[VM_METRICS][NUMBER];

    for (int i = 0; i < VM_METRICS; i++)
        text[i + 1] = metrics[vm_metrics[i]].key;
    grid_add(&g, text);
    for (int v = 0; v < runs[0]->nvms; v++) {
        text[0] = result_vm(runs[0], v);
        for (int i = 0; i < VM_METRICS; i++) {
            const double mean = run_summary(runs, n, v + 1, vm_metrics[i]).mean;

            format_number(number[i], mean, decimals_for(mean));
            text[i + 1] = number[i];
        }
        grid_add(&g, text);
    }
    fputc('\n', out);
    return grid_put(&g, out);
}

static int put_counters(FILE *out, struct run_values *const *runs, int n)
{
    struct grid g = {.cols = 2, .left = {[0] = true}};
    struct run_counter *total;
    const int count = result_counters(runs, n, &total);

    if (count < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        char number[NUMBER];

        if (total[i].n == 0)
            continue;
        if (g.lines == 0) {
            fputc('\n', out);
            grid_add(&g, (const char *const[]){"counter", "total"});
        }
        snprintf(number, sizeof(number), "%" PRIu64, total[i].n);
        grid_add(&g, (const char *const[]){total[i].name, number});
    }
    free(total);
    return grid_put(&g, out);
}

int result_write_table(FILE *out, const struct manifest *m, struct run_values *const *runs, int n)
{
    struct c_numbers locale;
    int failed;

    if (result_begin(out, runs, n, &locale) != 0)
        return -1;
    put_heading(out, m, n);
    failed = put_metrics(out, runs, n);
    if (n > 0 && runs[0]->nvms >= VMS_MIN && runs[0]->nvms <= VMS_MAX)
        failed |= put_vms(out, runs, n);
    failed |= put_counters(out, runs, n);
    if (result_end(out, &locale) != 0)
        return -1;
    errno = failed ? ENOMEM : 0;
    return failed;
}
