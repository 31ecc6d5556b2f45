/* SPDX-License-Identifier: MIT */
/*
 * How near a simulation comes to published changes, beside what two predictors would score that
 * simulate nothing: one that knows signs, one that knows the published mean of each group.
 *
 * Always true: all changes are in per cent; a change is paired by seed and replication; predictors
 * are scored over the cells that are simulated, and no others; a claim about cells that are not
 * there never holds; a number that does not exist is NAN and printed as such, by name.
 */
#ifndef SIM_STUDY_SCORE_H
#define SIM_STUDY_SCORE_H

#include "study/facts.h"

enum predictor { PREDICTOR_SIMULATED, PREDICTOR_NULL, PREDICTOR_ORACLE, PREDICTORS };

struct score {
    size_t n;
    double published, mean; /* means over the same cells */
    double factor;          /* mean / published */
    size_t signs;           /* cells with the published sign; a 0 has that of a 0 only */
    double rank;            /* Spearman; needs three cells and two different values on each side */
    double error;           /* mean of |predicted - published|, percentage points */
};

/* Over the pairs of which both values exist. */
struct score score_of(const double *published, const double *predicted, size_t n);
/* Spearman's rank correlation, equal values sharing their ranks' mean. NAN where there is none. */
double score_rank(const double *x, const double *y, size_t n);

struct score_cell {
    struct summary simulated; /* mean NAN: not in the store */
    double by[PREDICTORS];
};

struct score_line {
    size_t group; /* `ngroups`: all of them */
    enum facts_side side;
    size_t cells; /* published */
    struct score by[PREDICTORS];
};

struct score_verdict {
    enum verdict { CLAIM_HELD, CLAIM_FAILED, CLAIM_INCOMPLETE } verdict;
    char found[160]; /* what was found, in words */
};

struct scoreboard {
    const struct facts *facts;
    struct score_cell *cell; /* per row of the facts */
    size_t nthere, nalike;   /* cells; those of several runs without any spread, hence interval */
    int least_n, most_n;     /* pairs behind a cell */
    struct score_line *line;
    size_t nlines;
    struct score_verdict *verdict; /* per claim */
};

/* From the points that are `used`. 0, or -1 with *err (status 2: the data does not fit). */
int scoreboard_make(struct scoreboard *b, const struct facts *f, const struct dataset *d,
                    const bool *used, struct store_error *err);
void scoreboard_free(struct scoreboard *b);
/* The same from cells that have their simulated changes: lines and verdicts. False without memory. */
bool scoreboard_judge(struct scoreboard *b);
/* 0 when all claims hold, else 1. */
int scoreboard_status(const struct scoreboard *b);

bool score_in(const struct facts *f, size_t row, size_t group, enum facts_side side);
/* "|change| < 2 % in every cell of hackbench" and the like. */
void score_claim_text(const struct facts *f, const struct facts_claim *c, char *out, size_t size);
void score_claim_judge(const struct scoreboard *b, const struct facts_claim *c,
                       struct score_verdict *v);

enum report_format { REPORT_TABLE, REPORT_JSON, REPORT_CSV };

/* The scoreboard; with `cells` the cells too, in CSV instead of it. `store` names the input. The
 * same input gives the same bytes in every locale. 0, or -1 (errno). */
int report_write(FILE *out, const struct scoreboard *b, enum report_format format, bool cells,
                 const char *store);

#endif
