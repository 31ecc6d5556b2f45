/* SPDX-License-Identifier: MIT */
/* The script of the figure steal-timeline: panels above each other that share the time axis. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obs/json.h"
#include "obs/result.h"
#include "study/course.h"
#include "study/plot_label.h"

#define EM_PER_CHAR 0.62
#define PANELS      4
#define PANEL       9.5 /* lengths in em */
#define GAP         1.3
#define LEFT        6.2
#define RIGHT       1.2
#define FOOT        3.8

static const struct {
    enum course_value value;
    const char *metric, *label;
} panels[PANELS] = {
    {COURSE_PREFERRED, "preferred_vcpus", "preferred vCPUs"},
    {COURSE_STEAL, "steal", "steal (vCPUs)"},
    {COURSE_THROUGHPUT, "throughput", "operations per s"},
    {COURSE_IDLE, "idle_pcpus", "idle pCPUs"},
};

struct sheet {
    double width, height, title, legend;
    size_t key_cols;
};

static struct sheet lay(const struct course *c, const char *title, bool two_columns)
{
    struct sheet l = {.width = two_columns ? 68 : 34, .title = title ? 2.2 : 0.6};
    size_t widest = 1, rows;

    for (size_t i = 0; i < c->nvms; i++)
        widest = label_width(c->vm[i]) > widest ? label_width(c->vm[i]) : widest;
    l.key_cols = (size_t)((l.width - 2) / ((double)(widest < 32 ? widest : 32) * EM_PER_CHAR + 5));
    l.key_cols = l.key_cols < 1 ? 1 : l.key_cols > c->nvms ? c->nvms : l.key_cols;
    if (l.key_cols > 0) {
        rows = (c->nvms + l.key_cols - 1) / l.key_cols;
        l.legend = 1.5 * (double)rows + 0.5;
    }
    l.height = l.title + l.legend + PANELS * (PANEL + GAP) + FOOT;
    return l;
}

/* Largest value of a panel, and in *there how many there are. */
static double largest(const struct course *c, enum course_value v, size_t *there)
{
    double most = 0;

    *there = 0;
    for (size_t i = 0; i < c->n; i++) {
        *there += isfinite(c->row[i].value[v]) ? 1 : 0;
        if (c->row[i].value[v] > most)
            most = c->row[i].value[v];
    }
    return most;
}

static void put_panels(FILE *out, const struct course *c, const struct sheet *l)
{
    fprintf(out,
            "NFACET = %d; array FACET[NFACET]; array METRIC[NFACET]; array YLABEL[NFACET]\n"
            "array LEFT[NFACET]; array RIGHT[NFACET]; array TOP[NFACET]; array BOTTOM[NFACET]\n"
            "array YMAX[NFACET]; array YMIN[NFACET]; array SCALE[NFACET]; array CELLS[NFACET]\n",
            PANELS);
    for (int f = 0; f < PANELS; f++) {
        size_t there;
        const double most = largest(c, panels[f].value, &there);
        const bool in_k = panels[f].value == COURSE_THROUGHPUT && most >= 10000;
        const double scale = in_k ? 1000 : 1;
        const double top = l->height - l->title - l->legend - f * (PANEL + GAP) - GAP / 2;

        fprintf(out, "FACET[%d] = ''; METRIC[%d] = '%s'; YLABEL[%d] = '%s%s'\n", f + 1, f + 1,
                panels[f].metric, f + 1, panels[f].label, in_k ? " (k)" : "");
        fprintf(out, "LEFT[%d] = %.5f; RIGHT[%d] = %.5f; TOP[%d] = %.5f; BOTTOM[%d] = %.5f\n",
                f + 1, LEFT / l->width, f + 1, 1 - RIGHT / l->width, f + 1, top / l->height, f + 1,
                (top - PANEL) / l->height);
        fprintf(out, "YMAX[%d] = %.9g; YMIN[%d] = 0; SCALE[%d] = %g; CELLS[%d] = %zu\n", f + 1,
                most > 0 ? most / scale * 1.06 : 1, f + 1, f + 1, scale, f + 1, there);
    }
}

static void put_value(FILE *out, double v)
{
    if (isfinite(v))
        fprintf(out, " %.9g", v);
    else
        fputs(" NaN", out);
}

/* A block per VM, then that of the machine: time and all values, the first of them from 0 on. */
static void put_data(FILE *out, const struct course *c)
{
    fputs("$data << END_OF_DATA\n", out);
    for (size_t vm = 0; vm <= c->nvms; vm++) {
        bool first = true;

        for (size_t i = 0; i < c->n; i++) {
            const struct course_row *r = &c->row[i];

            for (int twice = r->vm == vm && first; r->vm == vm && twice >= 0; twice--) {
                fprintf(out, "%.9g", twice ? 0 : r->time);
                for (int v = 0; v < COURSE_VALUES; v++)
                    put_value(out, r->value[v]);
                fputc('\n', out);
                first = false;
            }
        }
        fputs(first ? "NaN NaN NaN NaN NaN NaN\n\n\n" : "\n\n", out);
    }
    fputs("END_OF_DATA\n", out);
}

/* All of a file; NULL when it cannot be read. */
static char *contents(const char *file, size_t *size)
{
    char *text = NULL, part[4096];
    FILE *in = fopen(file, "r"), *out = in ? open_memstream(&text, size) : NULL;
    size_t n;

    while (out && (n = fread(part, 1, sizeof(part), in)) > 0)
        fwrite(part, 1, n, out);
    if (in)
        fclose(in);
    if (out && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *course_origin(const char *file, const char *version)
{
    const char *slash = strrchr(file, '/');
    char hash[33], *text = NULL;
    size_t size;
    char *series = contents(file, &size);
    FILE *out = series ? open_memstream(&text, &size) : NULL;
    struct json j;

    if (series)
        hash_hex(series, strlen(series), hash);
    free(series);
    if (!out)
        return NULL;
    json_init(&j, out, true);
    json_object(&j, NULL, true);
    json_string(&j, "schema", "tandem.figure/1");
    json_string(&j, "figure", COURSE_FIGURE);
    json_array(&j, "sources", true);
    json_string(&j, NULL, slash ? slash + 1 : file);
    json_close(&j);
    json_string(&j, "data", hash);
    json_string(&j, "drawn-by", version);
    json_close(&j);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    picture_make_ascii(text);
    return text;
}

int course_script(FILE *out, const struct course *c, const char *title, bool two_columns,
                  enum picture_format format, const char *folder)
{
    const struct sheet l = lay(c, title, two_columns);
    char name[LABEL_SIZE];

    fputs("set encoding utf8\n", out);
    plot_put_terminal(out, l.width, l.height, format);
    plot_put_variable(out, "TITLE", title ? title : "");
    fprintf(out, "NOTE = ''; MARK_KEY = ''; BAND_KEY = ''; TIME = 'time (s)'\n");
    fprintf(out, "NSERIES = %zu; NKEYS = %zu; array SERIES[NSERIES + 1]\n", c->nvms, c->nvms);
    for (size_t i = 0; i < c->nvms; i++) {
        label_shorten(c->vm[i], 32, name);
        fprintf(out, "SERIES[%zu] = ", i + 1);
        plot_put_text(out, name);
        fputc('\n', out);
    }
    fprintf(out, "XMIN = 0; XMAX = %.9g; RELATIVE = 0; LOGX = 0; LOGY = 0; ROTATE = 0\n",
            c->row[c->n - 1].time);
    fprintf(out, "OWN_TICS = 0; CATEGORIES = 0; ZERO_APART = 0; COLS = 1; METRICS = %d\n", PANELS);
    put_panels(out, c, &l);
    fprintf(out, "EM = %.6f; EMX = %.6f; YLABEL_AT = %.5f\n", 1 / l.height, 1 / l.width,
            (LEFT - 1.1) / l.width);
    fprintf(out, "TITLE_Y = %.5f; KEY_TOP = %.5f; KEY_BOTTOM = %.5f; KEY_COLS = %zu\n",
            1 - 1.2 / l.height, 1 - l.title / l.height, 1 - (l.title + l.legend) / l.height,
            l.key_cols);
    for (int f = 0; f < PANELS; f++)
        fprintf(out, "%s[%d] = %d", f ? "; COLUMN" : "array COLUMN[NFACET]; COLUMN", f + 1,
                panels[f].value + 2);
    fputc('\n', out);
    put_data(out, c);
    plot_put_variable(out, "FOLDER", folder);
    fputs("load FOLDER.'/style.gp'\nload FOLDER.'/" COURSE_TEMPLATE "'\n", out);
    return ferror(out) ? -1 : 0;
}
