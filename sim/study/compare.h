/* SPDX-License-Identifier: MIT */
/*
 * Two sets of results held against each other: BASE, that was good, and NEW.
 *
 * Points are matched by their labels; a single point on both sides is matched whatever it is. Where the
 * runs that both sides have (same seed and replication) have the same fingerprints and values, nothing
 * changed: that is exact, and no statistics are asked. Else, per metric:
 *
 *  - runs are paired where all of the smaller side have a partner, otherwise both are samples (Welch);
 *  - tails (p95 and beyond) have an interval from resamples, the others Student's (stats.h);
 *  - percentiles come from buckets, at most 1/64 of the value wide: that doubt is added;
 *  - differences are relative to the absolute value of the base's mean; the margin too;
 *  - two tests: that it differs at all, and that it is within the margin (TOST). The p of each are
 *    corrected by Holm over all metrics of all points that changed;
 *  - `same`: within the margin is shown. `better`, `worse`: it differs, and by more than the margin as
 *    measured. `changed`: that, of a metric that is neither good nor bad. `undecided`: none is shown.
 *
 * Runs without a value are counted: all gone is worse, significantly fewer too (Fisher's exact test).
 *
 * So the chance of one or more false `worse` among unchanged metrics is at most 1 - confidence: half of it for
 * differences, as their test has two sides, and half for values that vanished by chance.
 */
#ifndef SIM_STUDY_COMPARE_H
#define SIM_STUDY_COMPARE_H

#include "study/dataset.h"

/* In rising order of trouble. */
enum verdict {
    VERDICT_IDENTICAL,
    VERDICT_SAME,
    VERDICT_BETTER,
    VERDICT_CHANGED,
    VERDICT_UNDECIDED,
    VERDICT_WORSE
};
#define VERDICTS (VERDICT_WORSE + 1)
const char *verdict_name(enum verdict v);

struct compare_rules {
    double margin, confidence;     /* shares: 0.02, 0.95 */
    const struct metric **metrics; /* NULL: the default */
    size_t nmetrics;
    bool strict; /* undecided and warnings fail, too */
    const char *const
        *differs; /* paths of parameters that are meant to differ, or what begins them */
    size_t ndiffers;
};

struct compare_row {
    size_t point;
    const struct metric *metric; /* NULL: the point as a whole */
    enum verdict verdict;
    bool paired, tail;
    bool equal; /* all values are the same on both sides */
    int nbase, nnew;
    double base, new;         /* means; NAN = no value */
    double effect, low, high; /* of the base, or in the metric's unit where that is 0; NAN = none */
    bool relative;
    double p_differs, p_within; /* corrected */
    double
        p_lost; /* that so few of the new runs have a value by chance; 1: no smaller a share has one */
    size_t needed;    /* replications in all that would decide it; 0: cannot be told */
    const char *note; /* static text, or NULL */
};

#define COMPARE_MOST_NEEDED 10000 /* `needed` is at most this: so many or more */

struct compare_point {
    char *label; /* "a=1, b=x", axes by the ends of their paths; "" without labels */
    const struct data_point *base, *new; /* NULL: only the other side has it */
    bool identical;
};

struct compare {
    struct compare_rules rules;
    const char *base_name, *new_name; /* as the user named them */
    struct compare_point *point;
    size_t npoints;
    struct compare_row *row; /* by point, then metric */
    size_t nrows;
    size_t tests; /* rows whose p were corrected together */
    char **warning, **note;
    size_t nwarnings, nnotes;
    size_t count[VERDICTS]; /* rows */
    enum verdict verdict;   /* of all */
    bool failed;            /* exit status 1 */
};

/* The metrics that are judged when none are named: a malloc'ed list, NULL without memory. */
const struct metric **compare_default_metrics(size_t *n);

/* 0, or -1 with *err: nothing can be matched, or a side has a point twice. The datasets stay the
 * caller's and must outlive the result. */
int compare_make(struct compare *c, const struct dataset *base, const struct dataset *new,
                 const char *base_name, const char *new_name, const struct compare_rules *rules,
                 struct store_error *err);
void compare_free(struct compare *c);
/* A row's verdict in words: "worse by 3.9 %", with what is missing where it is undecided. malloc'ed. */
char *compare_words(const struct compare *c, const struct compare_row *r);
/* The same of the whole: "worse: 2 worse, 3 same of 5". malloc'ed. */
char *compare_summary(const struct compare *c);
/* Whether the row fails the comparison. */
static inline bool compare_fails(const struct compare *c, const struct compare_row *r)
{
    return r->verdict == VERDICT_WORSE || (c->rules.strict && r->verdict == VERDICT_UNDECIDED);
}

/* Parameters in which two scenarios differ: calls back with the path and both values as texts, ""
 * where there is none. */
void compare_params(const cJSON *base, const cJSON *new,
                    void (*each)(void *arg, const char *path, const char *base, const char *new),
                    void *arg);

/* Texts of a row for people, in buffers of 48 bytes: "-3.88 %", "-5.1 to -2.7 %"; "-" for none. */
void compare_effect_text(const struct compare_row *r, char out[48]);
void compare_interval_text(const struct compare_row *r, char out[48]);
/* One and the same verdict, written in different ways. 0, or -1 (errno). */
int compare_write_table(FILE *out, const struct compare *c);
int compare_write_csv(FILE *out, const struct compare *c);
int compare_write_json(FILE *out, const struct compare *c); /* schema tandem.compare/1 */
int compare_write_markdown(FILE *out, const struct compare *c);
int compare_write_junit(FILE *out, const struct compare *c);
int compare_write_annotations(FILE *out, const struct compare *c); /* of GitHub */

#endif
