/* SPDX-License-Identifier: MIT */
/* A comparison for people: words, table, Markdown. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obs/json.h"
#include "obs/text.h"
#include "parts.h"
#include "study/compare.h"
#include "study/text_grid.h"

static const char *unit_of(const struct compare_row *r)
{
    return strcmp(r->metric->unit, "1") == 0 ? "" : r->metric->unit;
}

/* Two digits behind the point; three figures of what is large. */
static void percent(double share, bool sign, char out[20])
{
    const double p = 100 * share, size = fabs(p);
    const int digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;

    snprintf(out, 20, sign ? "%+.*f" : "%.*f", digits, p == 0 ? 0 : p);
}

void compare_effect_text(const struct compare_row *r, char out[48])
{
    char text[20];

    if (isnan(r->effect)) {
        snprintf(out, 48, "-");
    } else if (r->relative) {
        percent(r->effect, true, text);
        snprintf(out, 48, "%s %%", text);
    } else {
        snprintf(out, 48, "%+.4g %s", r->effect, unit_of(r));
    }
}

void compare_interval_text(const struct compare_row *r, char out[48])
{
    char low[20], high[20];

    if (isnan(r->low) || isnan(r->high)) {
        snprintf(out, 48, "-");
    } else if (r->relative) {
        percent(r->low, true, low);
        percent(r->high, true, high);
        snprintf(out, 48, "%s to %s %%", low, high);
    } else {
        snprintf(out, 48, "%+.4g to %+.4g %s", r->low, r->high, unit_of(r));
    }
}

/* "3.88 %": how far, whatever the direction. */
static void size_text(const struct compare_row *r, char out[48])
{
    char text[20];

    if (r->relative) {
        percent(fabs(r->effect), false, text);
        snprintf(out, 48, "%s %%", text);
    } else {
        snprintf(out, 48, "%.4g %s", fabs(r->effect), unit_of(r));
    }
}

static char *undecided_words(const struct compare_row *r)
{
    char interval[48];
    const int now = r->nbase < r->nnew ? r->nbase : r->nnew;

    if (r->note)
        return parts_format("undecided: %s", r->note);
    compare_interval_text(r, interval);
    if (r->needed == 0)
        return parts_format("undecided: %s", interval);
    if (r->needed <= (size_t)now)
        return parts_format("undecided: %s, at the edge of what %d replications tell", interval,
                            now);
    return parts_format("undecided: %s; %s%zu replications instead of %d would tell", interval,
                        r->needed == COMPARE_MOST_NEEDED ? "more than " : "about ", r->needed, now);
}

char *compare_words(const struct compare *c, const struct compare_row *r)
{
    char size[48];

    if (r->verdict == VERDICT_UNDECIDED)
        return undecided_words(r);
    if (r->note)
        return parts_format("%s: %s", verdict_name(r->verdict), r->note);
    if (r->equal)
        return parts_format("%s", r->verdict == VERDICT_IDENTICAL ? "identical" : "same: equal");
    if (r->verdict == VERDICT_SAME)
        return parts_format("same within %g %%", 100 * c->rules.margin);
    size_text(r, size);
    return parts_format("%s by %s", verdict_name(r->verdict), size);
}

char *compare_summary(const struct compare *c)
{
    char *text = parts_format("%s:", verdict_name(c->verdict));
    const char *between = " ";

    for (int v = VERDICT_WORSE; v >= VERDICT_IDENTICAL; v--) {
        char *more;

        if (c->count[v] == 0)
            continue;
        more =
            parts_format("%s%s%zu %s", text, between, c->count[v], verdict_name((enum verdict)v));
        free(text);
        text = more;
        between = ", ";
    }
    if (c->nwarnings > 0) {
        char *more =
            parts_format("%s; %zu warning%s%s", text, c->nwarnings, c->nwarnings == 1 ? "" : "s",
                         c->rules.strict ? ", which fails (--strict)" : "");

        free(text);
        text = more;
    }
    return text;
}

static void put_mean(double v, char out[32])
{
    if (isnan(v))
        snprintf(out, 32, "-");
    else
        snprintf(out, 32, "%.6g", v);
}

static void put_p(double p, char out[32])
{
    if (isnan(p))
        snprintf(out, 32, "-");
    else if (p < 0.0001)
        snprintf(out, 32, "< 0.0001");
    else
        snprintf(out, 32, "%.4f", p);
}

/* What a table shows of a row. */
struct cells {
    const char *label, *metric;
    char base[32], new[32], effect[48], interval[48], p[32];
    char *words;
};

static struct cells cells_of(const struct compare *c, const struct compare_row *r)
{
    struct cells x = {.label = c->point[r->point].label,
                      .metric = r->metric ? r->metric->key : "(all)",
                      .words = compare_words(c, r)};

    put_mean(r->base, x.base);
    put_mean(r->new, x.new);
    put_p(r->p_differs, x.p);
    snprintf(x.effect, sizeof(x.effect), "-");
    snprintf(x.interval, sizeof(x.interval), "-");
    if (r->metric) {
        compare_effect_text(r, x.effect);
        compare_interval_text(r, x.interval);
    }
    return x;
}

static void put_head(FILE *out, const struct compare *c)
{
    fputs("base  ", out);
    text_put(out, c->base_name);
    fputs("\nnew   ", out);
    text_put(out, c->new_name);
    fputc('\n', out);
    for (size_t i = 0; i < c->nnotes; i++) {
        fputs("note: ", out);
        text_put(out, c->note[i]);
        fputc('\n', out);
    }
    for (size_t i = 0; i < c->nwarnings; i++) {
        fputs("warning: ", out);
        text_put(out, c->warning[i]);
        fputc('\n', out);
    }
    fputc('\n', out);
}

static bool has_labels(const struct compare *c)
{
    return c->npoints > 1 || (c->npoints == 1 && c->point[0].label[0]);
}

static int put_rows(FILE *out, const struct compare *c)
{
    static const char *const head[] = {"point",  "metric",   "base", "new",
                                       "effect", "interval", "p",    "verdict"};
    const size_t first = has_labels(c) ? 0 : 1, cols = 8 - first;
    struct text_grid g;

    if (!text_grid_new(&g, cols, c->nrows + 1, 2 - first))
        return -1;
    g.left_last = true;
    for (size_t i = 0; i < cols; i++)
        text_grid_set(&g, 0, i, head[first + i]);
    for (size_t k = 0; k < c->nrows; k++) {
        struct cells x = cells_of(c, &c->row[k]);
        const char *text[] = {x.label, x.metric, x.base, x.new, x.effect, x.interval, x.p, x.words};

        for (size_t i = 0; i < cols; i++)
            text_grid_set(&g, k + 1, i, text[first + i]);
        free(x.words);
    }
    return text_grid_put(&g, out);
}

static void put_tail(FILE *out, const struct compare *c)
{
    char *summary = compare_summary(c);

    if (c->tests > 0)
        fprintf(out,
                "\nintervals at %g %%, each by itself; p that it differs, of %zu tests together "
                "(Holm); margin %g %%\n",
                100 * c->rules.confidence, c->tests, 100 * c->rules.margin);
    fprintf(out, "%s%s\n", c->tests > 0 ? "" : "\n", summary);
    free(summary);
}

int compare_write_table(FILE *out, const struct compare *c)
{
    struct c_numbers numbers;
    int failed;

    if (c_numbers_begin(&numbers) != 0)
        return -1;
    put_head(out, c);
    failed = put_rows(out, c);
    put_tail(out, c);
    c_numbers_end(&numbers);
    return failed || ferror(out) ? -1 : 0;
}

/* On a line of Markdown: no bar, no tag and no end of a line comes through. */
static void put_literal(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|\\`*_<>&[]", *text))
            fputc('\\', out);
        fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
    }
}

static void put_cell(FILE *out, const char *text)
{
    fputs("| ", out);
    put_literal(out, text);
    fputc(' ', out);
}

static void put_items(FILE *out, const char *lead, char *const *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fputs(lead, out);
        put_literal(out, text[i]);
        fputc('\n', out);
    }
}

static void put_markdown_rows(FILE *out, const struct compare *c)
{
    const bool labels = has_labels(c);

    fputs(labels ? "| point | metric | base | new | effect | interval | verdict |\n"
                   "|---|---|--:|--:|--:|--:|---|\n"
                 : "| metric | base | new | effect | interval | verdict |\n"
                   "|---|--:|--:|--:|--:|---|\n",
          out);
    for (size_t k = 0; k < c->nrows; k++) {
        struct cells x = cells_of(c, &c->row[k]);
        const bool fails = compare_fails(c, &c->row[k]);

        if (labels)
            put_cell(out, x.label);
        put_cell(out, x.metric);
        put_cell(out, x.base);
        put_cell(out, x.new);
        put_cell(out, x.effect);
        put_cell(out, x.interval);
        fputs(fails ? "| **" : "| ", out);
        fputs(x.words, out);
        fputs(fails ? "** |\n" : " |\n", out);
        free(x.words);
    }
}

int compare_write_markdown(FILE *out, const struct compare *c)
{
    struct c_numbers numbers;
    char *summary = compare_summary(c);

    if (c_numbers_begin(&numbers) != 0) {
        free(summary);
        return -1;
    }
    fprintf(out, "### tandem compare: %s\n\n%s\n\n", c->failed ? "failed" : "passed", summary);
    put_items(out, "- warning: ", c->warning, c->nwarnings);
    put_items(out, "- ", c->note, c->nnotes);
    if (c->nwarnings + c->nnotes > 0)
        fputc('\n', out);
    put_markdown_rows(out, c);
    fprintf(out, "\nIntervals at %g %%, verdicts after Holm over %zu tests, margin %g %%.\n",
            100 * c->rules.confidence, c->tests, 100 * c->rules.margin);
    free(summary);
    c_numbers_end(&numbers);
    return ferror(out) ? -1 : 0;
}
