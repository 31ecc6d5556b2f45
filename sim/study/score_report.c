/* SPDX-License-Identifier: MIT */
/* The scoreboard as a table, JSON or CSV. Numbers are rounded for people only. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obs/json.h"
#include "obs/text.h"
#include "study/quantity.h"
#include "study/score.h"
#include "study/text_grid.h"

static const char *const predictors[] = {"simulated", "null", "oracle"};
static const char *const verdicts[] = {"held", "FAILED", "incomplete"};

static const char *group_of(const struct facts *f, size_t group)
{
    return group < f->ngroups ? f->group[group] : "all";
}

static void side_text(const struct facts *f, enum facts_side side, char out[64])
{
    static const char *const signs[] = {"<= ", "> ", "any"};

    strcpy(out, signs[side]);
    if (side != SIDE_ALL)
        quantity_exact(f->split, out + strlen(out));
}

/* Without its folder: the same report wherever the program is. */
static const char *table_name(const struct facts *f)
{
    const char *slash = strrchr(f->table, '/');

    return slash ? slash + 1 : f->table;
}

static void put(struct text_grid *g, size_t line, size_t col, const char *format, double v)
{
    char text[48];

    /* What rounds to 0 has no sign. */
    snprintf(text, sizeof(text), format, v);
    if (strspn(text, "+-0.") == strlen(text))
        snprintf(text, sizeof(text), format, 0.0);
    text_grid_set(g, line, col, isfinite(v) ? text : "n/a");
}

static void put_names(struct text_grid *g, const char *const *names)
{
    for (size_t i = 0; i < g->cols; i++)
        text_grid_set(g, 0, i, names[i]);
}

static void put_score(struct text_grid *g, size_t line, const struct facts *f,
                      const struct score_line *l, int by)
{
    const struct score *s = &l->by[by];
    char side[64], cells[64], signs[64];

    side_text(f, l->side, side);
    snprintf(cells, sizeof(cells), "%zu/%zu", s->n, l->cells);
    snprintf(signs, sizeof(signs), "%zu/%zu", s->signs, s->n);
    text_grid_set(g, line, 0, by == 0 ? side : "");
    text_grid_set(g, line, 1, by == 0 ? group_of(f, l->group) : "");
    text_grid_set(g, line, 2, by == 0 ? cells : "");
    text_grid_set(g, line, 3, predictors[by]);
    if (by == 0)
        put(g, line, 4, "%+.1f", s->published);
    else
        text_grid_set(g, line, 4, "");
    put(g, line, 5, "%+.1f", s->mean);
    put(g, line, 6, "%.2f", s->factor);
    text_grid_set(g, line, 7, s->n ? signs : "n/a");
    put(g, line, 8, "%.2f", s->rank);
    put(g, line, 9, "%.1f", s->error);
}

static int table_scores(FILE *out, const struct scoreboard *b)
{
    static const char *const names[] = {"ratio",  "group",  "cells", "by",   "published %",
                                        "mean %", "factor", "signs", "rank", "error"};
    struct text_grid g;

    if (!text_grid_new(&g, 10, 1 + PREDICTORS * b->nlines, 4))
        return -1;
    put_names(&g, names);
    for (size_t i = 0; i < PREDICTORS * b->nlines; i++)
        put_score(&g, i + 1, b->facts, &b->line[i / PREDICTORS], (int)(i % PREDICTORS));
    return text_grid_put(&g, out);
}

static int table_cells(FILE *out, const struct scoreboard *b)
{
    static const char *const names[] = {"ratio", "published %", "simulated %", "+-95 %", "n"};
    const struct facts *f = b->facts;
    struct text_grid g;

    if (!text_grid_new(&g, f->naxes + 5, f->nrows + 1, f->naxes))
        return -1;
    for (size_t a = 0; a < f->naxes; a++)
        text_grid_set(&g, 0, a, f->column[f->axis[a].column]);
    for (size_t i = 0; i < 5; i++)
        text_grid_set(&g, 0, f->naxes + i, names[i]);
    for (size_t i = 0; i < f->nrows; i++) {
        const struct summary *s = &b->cell[i].simulated;
        char count[24];

        for (size_t a = 0; a < f->naxes; a++)
            text_grid_set(&g, i + 1, a, f->row[i].text[f->axis[a].column]);
        snprintf(count, sizeof(count), "%d", s->n);
        put(&g, i + 1, f->naxes, "%g", f->row[i].ratio);
        put(&g, i + 1, f->naxes + 1, "%+.2f", f->row[i].change);
        put(&g, i + 1, f->naxes + 2, "%+.2f", s->mean);
        put(&g, i + 1, f->naxes + 3, "%.2f", s->ci95);
        text_grid_set(&g, i + 1, f->naxes + 4, count);
    }
    return text_grid_put(&g, out) != 0 || fputc('\n', out) == EOF ? -1 : 0;
}

static int table_claims(FILE *out, const struct scoreboard *b)
{
    static const char *const names[] = {"verdict", "basis", "claim", "found"};
    const struct facts *f = b->facts;
    struct text_grid g;

    if (!text_grid_new(&g, 4, f->nclaims + 1, 4))
        return -1;
    put_names(&g, names);
    for (size_t i = 0; i < f->nclaims; i++) {
        char text[240];

        score_claim_text(f, &f->claim[i], text, sizeof(text));
        text_grid_set(&g, i + 1, 0, verdicts[b->verdict[i].verdict]);
        text_grid_set(&g, i + 1, 1, f->claim[i].calibrated ? "calibrated" : "predicted");
        text_grid_set(&g, i + 1, 2, text);
        text_grid_set(&g, i + 1, 3, b->verdict[i].found);
    }
    return text_grid_put(&g, out);
}

static size_t count(const struct scoreboard *b, enum verdict v)
{
    size_t n = 0;

    for (size_t i = 0; i < b->facts->nclaims; i++)
        n += b->verdict[i].verdict == v;
    return n;
}

static void put_line(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%-9s  ", name);
    text_put(out, text);
}

static int table(FILE *out, const struct scoreboard *b, bool cells, const char *store)
{
    const struct facts *f = b->facts;

    put_line(out, "published", f->source);
    fprintf(out, ", %zu cells of ", f->nrows);
    text_put(out, table_name(f));
    put_line(out, "\nsimulated", store);
    fprintf(out, ", %zu cells: change of %s, ", b->nthere, f->metric->key);
    text_put(out, f->new);
    fputs(" over ", out);
    text_put(out, f->base);
    if (b->nthere > 0 && b->least_n == b->most_n)
        fprintf(out, ", %d paired run%s each", b->most_n, b->most_n == 1 ? "" : "s");
    else if (b->nthere > 0)
        fprintf(out, ", %d to %d paired runs each", b->least_n, b->most_n);
    if (b->nalike > 0)
        fprintf(out, "\n           in %zu cells all runs are alike: no interval", b->nalike);
    fputs("\n\n", out);
    if ((cells && table_cells(out, b) != 0) || table_scores(out, b) != 0)
        return -1;
    fputs("\nfactor: mean over published mean. signs: cells with the published sign. rank: "
          "Spearman.\nerror: mean distance in percentage points. null knows signs only, oracle "
          "the mean of each group.\n\n",
          out);
    if (table_claims(out, b) != 0)
        return -1;
    fprintf(out, "\n%zu held, %zu failed, %zu incomplete\n", count(b, CLAIM_HELD),
            count(b, CLAIM_FAILED), count(b, CLAIM_INCOMPLETE));
    return 0;
}

static void csv_number(FILE *out, double v)
{
    char text[48] = "";

    if (isfinite(v))
        quantity_exact(v, text);
    fprintf(out, ",%s", text);
}

static void csv_cells(FILE *out, const struct scoreboard *b)
{
    const struct facts *f = b->facts;

    for (size_t a = 0; a < f->naxes; a++) {
        text_put_csv(out, f->column[f->axis[a].column]);
        fputc(',', out);
    }
    fputs("ratio,published_percent,simulated_percent,ci95,n\n", out);
    for (size_t i = 0; i < f->nrows; i++) {
        const struct summary *s = &b->cell[i].simulated;
        char ratio[48];

        for (size_t a = 0; a < f->naxes; a++) {
            text_put_csv(out, f->row[i].text[f->axis[a].column]);
            fputc(',', out);
        }
        quantity_exact(f->row[i].ratio, ratio);
        fputs(ratio, out);
        csv_number(out, f->row[i].change);
        csv_number(out, s->mean);
        csv_number(out, s->ci95);
        fprintf(out, ",%d\n", s->n);
    }
}

static void csv_scores(FILE *out, const struct scoreboard *b)
{
    fputs("ratio,group,by,cells,n,published_percent,mean_percent,factor,signs,rank,error\n", out);
    for (size_t i = 0; i < PREDICTORS * b->nlines; i++) {
        const struct score_line *l = &b->line[i / PREDICTORS];
        const struct score *s = &l->by[i % PREDICTORS];
        char side[64];

        side_text(b->facts, l->side, side);
        fprintf(out, "%s,", side);
        text_put_csv(out, group_of(b->facts, l->group));
        fprintf(out, ",%s,%zu,%zu", predictors[i % PREDICTORS], l->cells, s->n);
        csv_number(out, s->published);
        csv_number(out, s->mean);
        csv_number(out, s->factor);
        fprintf(out, ",%zu", s->signs);
        csv_number(out, s->rank);
        csv_number(out, s->error);
        fputc('\n', out);
    }
}

static void json_cells(struct json *j, const struct scoreboard *b)
{
    const struct facts *f = b->facts;

    json_array(j, "cells", false);
    for (size_t i = 0; i < f->nrows; i++) {
        const struct summary *s = &b->cell[i].simulated;

        json_object(j, NULL, true);
        for (size_t a = 0; a < f->naxes; a++)
            json_string(j, f->column[f->axis[a].column], f->row[i].text[f->axis[a].column]);
        json_number(j, "ratio", f->row[i].ratio);
        json_number(j, "published_percent", f->row[i].change);
        json_number(j, "simulated_percent", s->mean);
        json_number(j, "ci95", s->ci95);
        json_count(j, "n", (uint64_t)s->n);
        json_close(j);
    }
    json_close(j);
}

static void json_scores(struct json *j, const struct scoreboard *b)
{
    json_array(j, "scores", false);
    for (size_t i = 0; i < PREDICTORS * b->nlines; i++) {
        const struct score_line *l = &b->line[i / PREDICTORS];
        const struct score *s = &l->by[i % PREDICTORS];
        char side[64];

        side_text(b->facts, l->side, side);
        json_object(j, NULL, true);
        json_string(j, "ratio", side);
        json_string(j, "group", group_of(b->facts, l->group));
        json_string(j, "by", predictors[i % PREDICTORS]);
        json_count(j, "cells", l->cells);
        json_count(j, "n", s->n);
        json_number(j, "published_percent", s->published);
        json_number(j, "mean_percent", s->mean);
        json_number(j, "factor", s->factor);
        json_count(j, "signs", s->signs);
        json_number(j, "rank", s->rank);
        json_number(j, "error", s->error);
        json_close(j);
    }
    json_close(j);
}

static void json_claims(struct json *j, const struct scoreboard *b)
{
    static const char *const words[] = {"held", "failed", "incomplete"};
    const struct facts *f = b->facts;

    json_array(j, "claims", false);
    for (size_t i = 0; i < f->nclaims; i++) {
        char text[240];

        score_claim_text(f, &f->claim[i], text, sizeof(text));
        json_object(j, NULL, true);
        json_string(j, "verdict", words[b->verdict[i].verdict]);
        json_string(j, "basis", f->claim[i].calibrated ? "calibrated" : "predicted");
        json_string(j, "claim", text);
        json_string(j, "found", b->verdict[i].found);
        json_close(j);
    }
    json_close(j);
}

static void write_json(FILE *out, const struct scoreboard *b, const char *store)
{
    const struct facts *f = b->facts;
    struct json j;

    json_init(&j, out, false);
    json_object(&j, NULL, false);
    json_string(&j, "schema", "tandem.scoreboard/1");
    json_string(&j, "source", f->source);
    json_string(&j, "facts", table_name(f));
    json_string(&j, "store", store);
    json_string(&j, "metric", f->metric->key);
    json_string(&j, "base", f->base);
    json_string(&j, "new", f->new);
    json_scores(&j, b);
    json_claims(&j, b);
    json_cells(&j, b);
    json_close(&j);
    fputc('\n', out);
}

int report_write(FILE *out, const struct scoreboard *b, enum report_format format, bool cells,
                 const char *store)
{
    struct c_numbers numbers;
    int failed = 0;

    if (c_numbers_begin(&numbers) != 0)
        return -1;
    if (format == REPORT_TABLE)
        failed = table(out, b, cells, store);
    else if (format == REPORT_JSON)
        write_json(out, b, store);
    else if (cells)
        csv_cells(out, b);
    else
        csv_scores(out, b);
    c_numbers_end(&numbers);
    return failed || fflush(out) != 0 || ferror(out) ? -1 : 0;
}
