/* SPDX-License-Identifier: MIT */
/* The scoreboard as a figure: means and errors per group, and each claim with its verdict. */
#ifndef SIM_STUDY_SCORE_PLOT_H
#define SIM_STUDY_SCORE_PLOT_H

#include "study/plot.h"
#include "study/score.h"

#define SCORE_FIGURE   "scoreboard"
#define SCORE_TEMPLATE "scoreboard.gp"
#define SCORE_SUMMARY                                                                              \
    "simulated beside published changes per group, errors of predictors, and claims with verdicts"

struct score_plot {
    struct scoreboard board;
    const char *title;
    bool two_columns;
};

/* The script, complete. 0 or -1. */
int score_script(FILE *out, const struct score_plot *p, enum picture_format format,
                 const char *folder);
/* What is drawn: lines `kind,ratio,group,by,value,verdict,found`. 0 or -1. */
int score_plot_csv(FILE *out, const struct scoreboard *b);

#endif
