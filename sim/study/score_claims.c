/* SPDX-License-Identifier: MIT */
/* Claims: what is said, and whether the simulated cells bear it out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/quantity.h"
#include "study/score.h"

/* What rounds to 0 has no sign. */
static double tidy(double v)
{
    return fabs(v) < 0.005 ? 0 : v;
}

static const char *where(const struct facts *f, const struct facts_claim *c, char out[120])
{
    static const char *const sides[] = {" up to ", " above ", " at any "};
    char split[48];

    quantity_exact(f->split, split);
    snprintf(out, 120, "%.60s%sratio%s%s", c->group < f->ngroups ? f->group[c->group] : "all",
             sides[c->side], c->side == SIDE_ALL ? "" : " ", c->side == SIDE_ALL ? "" : split);
    return out;
}

void score_claim_text(const struct facts *f, const struct facts_claim *c, char out[], size_t size)
{
    char part[120], limit[48];

    quantity_exact(c->kind == CLAIM_TREND ? 100 * c->limit : c->limit, limit);
    where(f, c, part);
    if (c->kind == CLAIM_SMALL)
        snprintf(out, size, "%s: every change within %s %%", part, limit);
    else if (c->kind == CLAIM_RANK)
        snprintf(out, size, "%s: rank correlation at least %s", part, limit);
    else if (c->kind == CLAIM_TREND)
        snprintf(out, size, "%s: at equal ratio %s with %s, %s %% of pairs", part,
                 c->down ? "falls" : "grows", f->column[c->along], limit);
    else if (c->kind == CLAIM_MEAN)
        snprintf(out, size, "%s: mean within %sx of the published one", part, limit);
    else
        snprintf(out, size, "%s: no gain outside its interval", part);
}

static const char *cell_name(const struct facts *f, size_t row, char out[100])
{
    out[0] = '\0';
    for (size_t a = 0; a < f->naxes; a++)
        snprintf(out + strlen(out), 100 - strlen(out), "%s%.30s", a ? " " : "",
                 f->row[row].text[f->axis[a].column]);
    return out;
}

/* A claim about every cell: it fails with one cell, and holds with all of them only. */
static void judge_each(const struct scoreboard *b, const struct facts_claim *c,
                       struct score_verdict *v)
{
    const struct facts *f = b->facts;
    size_t cells = 0, good = 0, bad = 0, worst = f->nrows;
    double most = -INFINITY;
    char name[100];

    for (size_t i = 0; i < f->nrows; i++) {
        const struct summary *s = &b->cell[i].simulated;
        const double size = c->kind == CLAIM_SMALL ? fabs(s->mean) : s->mean;
        bool ok;

        if (!score_in(f, i, c->group, c->side))
            continue;
        cells++;
        if (!isfinite(s->mean))
            continue;
        if (size > most) {
            most = size;
            worst = i;
        }
        ok = c->kind == CLAIM_SMALL ? size < c->limit : size <= 0 || size - s->ci95 <= 0;
        good += ok;
        /* A gain without an interval is not known to be outside of it. */
        bad += !ok && (c->kind == CLAIM_SMALL || isfinite(s->ci95));
    }
    v->verdict = bad ? CLAIM_FAILED : good == cells && cells ? CLAIM_HELD : CLAIM_INCOMPLETE;
    snprintf(v->found, sizeof(v->found), "%zu of %zu cells", good, cells);
    if (worst < f->nrows)
        snprintf(v->found + strlen(v->found), sizeof(v->found) - strlen(v->found),
                 "; largest %+.2f %% (%s)", tidy(b->cell[worst].simulated.mean),
                 cell_name(f, worst, name));
}

static double along(const struct facts *f, const struct facts_claim *c, size_t row)
{
    return quantity_parse(f->row[row].text[c->along]).value;
}

static bool one_pair(const struct facts *f, const struct facts_claim *c, size_t i, size_t k)
{
    return score_in(f, i, c->group, c->side) && score_in(f, k, c->group, c->side) &&
           f->row[i].group == f->row[k].group &&
           fabs(f->row[i].ratio - f->row[k].ratio) <= 1e-9 * f->row[i].ratio &&
           along(f, c, i) < along(f, c, k);
}

static void judge_trend(const struct scoreboard *b, const struct facts_claim *c,
                        struct score_verdict *v)
{
    const struct facts *f = b->facts;
    const double way = c->down ? -1 : 1;
    size_t pairs = 0, there = 0, good = 0, published = 0;

    for (size_t i = 0; i < f->nrows; i++)
        for (size_t k = 0; k < f->nrows; k++) {
            const double more = b->cell[k].simulated.mean - b->cell[i].simulated.mean;

            if (!one_pair(f, c, i, k))
                continue;
            pairs++;
            if (isfinite(more)) {
                there++;
                good += way * more > 0;
            }
            published += way * (f->row[k].change - f->row[i].change) > 0;
        }
    if (there < pairs || pairs == 0)
        v->verdict = CLAIM_INCOMPLETE;
    else
        v->verdict = (double)good >= c->limit * (double)pairs ? CLAIM_HELD : CLAIM_FAILED;
    snprintf(v->found, sizeof(v->found), "%zu of %zu pairs%s; published %zu of %zu", good, there,
             there < pairs ? ", others missing" : "", published, pairs);
}

/* A claim about the group as a whole: nothing is known before all of it is there. */
static void judge_group(const struct scoreboard *b, const struct facts_claim *c,
                        struct score_verdict *v)
{
    const struct facts *f = b->facts;
    double *published = calloc(2 * f->nrows + 1, sizeof(*published)), *by = published + f->nrows;
    struct score s;
    size_t n = 0;
    bool held;

    for (size_t i = 0; published && i < f->nrows; i++)
        if (score_in(f, i, c->group, c->side)) {
            published[n] = f->row[i].change;
            by[n++] = b->cell[i].simulated.mean;
        }
    s = score_of(published, by, n);
    free(published);
    if (c->kind == CLAIM_RANK) {
        held = s.rank >= c->limit;
        snprintf(v->found, sizeof(v->found), isfinite(s.rank) ? "%.2f over %zu cells" : "n/a",
                 s.rank, s.n);
    } else {
        held = s.factor >= 1 / c->limit && s.factor <= c->limit;
        snprintf(v->found, sizeof(v->found), s.n ? "%+.2f %%, published %+.2f %%" : "n/a",
                 tidy(s.mean), tidy(s.published));
    }
    v->verdict = s.n < n || n == 0 ? CLAIM_INCOMPLETE : held ? CLAIM_HELD : CLAIM_FAILED;
    if (s.n < n)
        snprintf(v->found + strlen(v->found), sizeof(v->found) - strlen(v->found),
                 "; %zu of %zu cells missing", n - s.n, n);
}

void score_claim_judge(const struct scoreboard *b, const struct facts_claim *c,
                       struct score_verdict *v)
{
    if (c->kind == CLAIM_SMALL || c->kind == CLAIM_NO_GAIN)
        judge_each(b, c, v);
    else if (c->kind == CLAIM_TREND)
        judge_trend(b, c, v);
    else
        judge_group(b, c, v);
}
