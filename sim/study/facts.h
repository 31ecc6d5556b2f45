/* SPDX-License-Identifier: MIT */
/*
 * Published changes of a metric, and what is claimed about them: a description (YAML) that names a
 * table (CSV), says which column is which axis of a sweep, how values are called there, and how a
 * simulation of the same cells is judged.
 *
 * Always true: every name of a benchmark, an axis or a policy comes from these files; all faults of
 * both are reported at once, with their positions.
 */
#ifndef SIM_STUDY_FACTS_H
#define SIM_STUDY_FACTS_H

#include "conf/conf.h"
#include "study/dataset.h"

/* Where a cell is: at most `split` vCPUs sold per pCPU, or more. */
enum facts_side { SIDE_BELOW, SIDE_ABOVE, SIDE_ALL };

enum claim_kind {
    CLAIM_SMALL,   /* each change is below `limit` per cent, either way */
    CLAIM_RANK,    /* rank correlation with the published changes is at least `limit` */
    CLAIM_TREND,   /* of two cells of equal ratio the one with more in column `along` changes more:
                    * at least this share of the pairs */
    CLAIM_MEAN,    /* mean within this factor of the published one */
    CLAIM_NO_GAIN, /* no change is positive outside its interval */
};

struct facts_claim {
    enum claim_kind kind;
    enum facts_side side;
    size_t group; /* `ngroups`: all cells of the side */
    double limit;
    size_t along; /* CLAIM_TREND: a column */
    bool down;    /* CLAIM_TREND: "more" means further down */
    bool calibrated;
};

/* The axes that points get from the facts. */
#define FACTS_RATIO     "ratio"
#define FACTS_PUBLISHED "published"

struct facts_row {
    char **text;          /* per column, as published */
    double change, ratio; /* per cent; vCPUs sold per pCPU */
    size_t group;
    int line;
};

struct facts {
    char *file, *table, *source; /* of the description, of the table; where it was published */
    char **column;
    size_t ncolumns;
    struct facts_row *row;
    size_t nrows;
    struct facts_axis {
        char *path; /* of the sweep */
        size_t column;
    } * axis;
    size_t naxes;
    struct facts_rename {
        size_t column;
        char *from, *to; /* as published, as in the sweep */
    } * rename;
    size_t nrenames;
    char *policy, *base, *new; /* axis, and its two values */
    const struct metric *metric;
    size_t change, group_column, of; /* columns */
    size_t *sold, nsold;             /* columns whose product is the number of vCPUs sold */
    double split;
    char **group; /* in the order of the table */
    size_t ngroups;
    double *null[2]; /* the null predictor's changes, per side below SIDE_ALL and group */
    struct facts_claim *claim;
    size_t nclaims;
};

/* By a path or by a name (configs/published/NAME.yaml), found as machines are. NULL with at least one
 * error and *status: 2, or 3 when there is no such file; else 0. */
struct facts *facts_open(const char *name, struct conf_errors *e, int *status);
/* NULL with at least one error. */
struct facts *facts_read(const char *path, struct conf_errors *e);
void facts_free(struct facts *f);
/* What the sweep calls this value of a row. */
const char *facts_value(const struct facts *f, size_t row, size_t column);
enum facts_side facts_side_of(const struct facts *f, size_t row);
/* The row whose cell the point is, whatever its policy; `nrows` when there is none. */
size_t facts_row_of(const struct facts *f, const struct data_point *p);
/* Gives each point that is a published cell these axes. False without memory. */
bool facts_label(const struct facts *f, struct dataset *d);

#endif
