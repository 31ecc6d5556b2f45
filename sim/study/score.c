/* SPDX-License-Identifier: MIT */
/* Scores over cells, and the lines of a scoreboard. */
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "study/score.h"

static bool is_constant(const double *x, size_t n)
{
    size_t i = 1;

    while (i < n && x[i] <= x[0] && x[i] >= x[0])
        i++;
    return i >= n;
}

double score_rank(const double *x, const double *y, size_t n)
{
    double *work, rank;

    if (n < 3 || is_constant(x, n) || is_constant(y, n))
        return NAN;
    work = calloc(2 * n, sizeof(*work));
    rank = work ? gsl_stats_spearman(x, 1, y, 1, n, work) : NAN;
    free(work);
    return rank;
}

static int sign(double v)
{
    return (v > 0) - (v < 0);
}

struct score score_of(const double *published, const double *predicted, size_t n)
{
    struct score s = {.published = NAN, .mean = NAN, .factor = NAN, .rank = NAN, .error = NAN};
    double *x = calloc(2 * n + 1, sizeof(*x)), *y = x ? x + n : NULL;
    double sum_x = 0, sum_y = 0, error = 0;

    for (size_t i = 0; x && i < n; i++) {
        if (!isfinite(published[i]) || !isfinite(predicted[i]))
            continue;
        x[s.n] = published[i];
        y[s.n++] = predicted[i];
        sum_x += published[i];
        sum_y += predicted[i];
        error += fabs(predicted[i] - published[i]);
        s.signs += sign(published[i]) == sign(predicted[i]);
    }
    if (s.n > 0) {
        s.published = sum_x / (double)s.n;
        s.mean = sum_y / (double)s.n;
        s.error = error / (double)s.n;
        s.rank = score_rank(x, y, s.n);
    }
    if (s.n > 0 && fabs(s.published) > 0)
        s.factor = s.mean / s.published;
    free(x);
    return s;
}

bool score_in(const struct facts *f, size_t row, size_t group, enum facts_side side)
{
    return (group == f->ngroups || f->row[row].group == group) &&
           (side == SIDE_ALL || facts_side_of(f, row) == side);
}

/* The published mean of the cell's group and side: what the oracle knows, simulated or not. */
static double group_mean(const struct facts *f, size_t row)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < f->nrows; i++)
        if (score_in(f, i, f->row[row].group, facts_side_of(f, row))) {
            sum += f->row[i].change;
            n++;
        }
    return sum / (double)n;
}

static void predict(struct scoreboard *b)
{
    const struct facts *f = b->facts;

    for (size_t i = 0; i < f->nrows; i++) {
        struct score_cell *c = &b->cell[i];
        const bool there = isfinite(c->simulated.mean);

        c->by[PREDICTOR_SIMULATED] = there ? c->simulated.mean : NAN;
        c->by[PREDICTOR_NULL] = there ? f->null[facts_side_of(f, i)][f->row[i].group] : NAN;
        c->by[PREDICTOR_ORACLE] = there ? group_mean(f, i) : NAN;
        b->nthere += there;
        b->nalike += there && c->simulated.n > 1 && !isfinite(c->simulated.ci95);
        if (there && (b->nthere == 1 || c->simulated.n < b->least_n))
            b->least_n = c->simulated.n;
        if (there && c->simulated.n > b->most_n)
            b->most_n = c->simulated.n;
    }
}

/* False without memory. A part without a published cell has no line. */
static bool add_line(struct scoreboard *b, size_t group, enum facts_side side)
{
    const struct facts *f = b->facts;
    struct score_line *l = &b->line[b->nlines];
    double *published = calloc(f->nrows, sizeof(*published));
    double *by = calloc(f->nrows, sizeof(*by));

    *l = (struct score_line){.group = group, .side = side};
    for (int p = 0; published && by && p < PREDICTORS; p++) {
        size_t n = 0;

        for (size_t i = 0; i < f->nrows; i++)
            if (score_in(f, i, group, side)) {
                published[n] = f->row[i].change;
                by[n++] = b->cell[i].by[p];
            }
        l->cells = n;
        l->by[p] = score_of(published, by, n);
    }
    b->nlines += l->cells > 0;
    const bool ok = published && by;

    free(published);
    free(by);
    return ok;
}

bool scoreboard_judge(struct scoreboard *b)
{
    const struct facts *f = b->facts;
    bool ok;

    b->line = calloc(2 * f->ngroups + 3, sizeof(*b->line));
    b->verdict = calloc(f->nclaims + 1, sizeof(*b->verdict));
    ok = b->line && b->verdict;
    if (!ok)
        return false;
    predict(b);
    for (int side = SIDE_ABOVE; side >= SIDE_BELOW; side--)
        for (size_t g = 0; ok && g <= f->ngroups; g++)
            ok = add_line(b, g, (enum facts_side)side);
    ok = ok && add_line(b, f->ngroups, SIDE_ALL);
    for (size_t i = 0; ok && i < f->nclaims; i++)
        score_claim_judge(b, &f->claim[i], &b->verdict[i]);
    return ok;
}

int scoreboard_status(const struct scoreboard *b)
{
    for (size_t i = 0; i < b->facts->nclaims; i++)
        if (b->verdict[i].verdict != CLAIM_HELD)
            return 1;
    return 0;
}

void scoreboard_free(struct scoreboard *b)
{
    free(b->cell);
    free(b->line);
    free(b->verdict);
}
