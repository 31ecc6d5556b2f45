/* SPDX-License-Identifier: MIT */
/* Matching points and judging metrics. See compare.h. */
#include "study/compare_internal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "obs/text.h"
#include "parts.h"
#include "study/stats.h"

static const enum metric_id judged[] = {METRIC_THROUGHPUT,  METRIC_LATENCY_MEAN, METRIC_LATENCY_P50,
                                        METRIC_LATENCY_P95, METRIC_LATENCY_P99,  METRIC_WAKE_MEAN,
                                        METRIC_WAKE_P99,    METRIC_BARRIERS,     METRIC_JAIN};

const struct metric **compare_default_metrics(size_t *n)
{
    const struct metric **list = calloc(sizeof(judged) / sizeof(judged[0]) + 1, sizeof(*list));

    *n = 0;
    while (list && *n < sizeof(judged) / sizeof(judged[0])) {
        list[*n] = &metrics[judged[*n]];
        ++*n;
    }
    return list;
}

const char *verdict_name(enum verdict v)
{
    static const char *const name[] = {"identical", "same",      "better",
                                       "changed",   "undecided", "worse"};

    return name[v];
}

static void tell(char ***list, size_t *n, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void tell(char ***list, size_t *n, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    text_repair(text);
    *list = parts_grow(*list, *n, sizeof(**list));
    (*list)[(*n)++] = parts_copy(text);
}

static const struct data_run *partner(const struct data_point *p, const struct data_run *r)
{
    for (size_t i = 0; i < p->nruns; i++)
        if (p->run[i].seed == r->seed && p->run[i].replication == r->replication)
            return &p->run[i];
    return NULL;
}

/* How many runs of `a` have a partner in `b`. */
static size_t partners(const struct data_point *a, const struct data_point *b)
{
    size_t n = 0;

    for (size_t i = 0; i < a->nruns; i++)
        n += partner(b, &a->run[i]) != NULL;
    return n;
}

/* A baseline keeps some metrics only: what it does not have cannot differ. */
static bool same_values(const struct compare_point *p, const struct data_run *base,
                        const struct data_run *new)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        const double x = base->value[m], y = new->value[m];
        const bool unknown = (isnan(x) && p->base->partial) || (isnan(y) && p->new->partial);

        if (!unknown && isnan(x) != isnan(y))
            return false;
        if (!isnan(x) && !isnan(y) && x != y)
            return false;
    }
    return true;
}

/* The smaller side's runs are all on the other side, with the same events. */
static void check_identical(struct compare *c, struct compare_point *p)
{
    const struct data_point *few = p->base->nruns <= p->new->nruns ? p->base : p->new;
    const struct data_point *many = few == p->base ? p->new : p->base;
    bool same = few->nruns > 0, measured = true;

    for (size_t i = 0; same && i < few->nruns; i++) {
        const struct data_run *other = partner(many, &few->run[i]);

        same = other && *other->fingerprint &&
               strcmp(other->fingerprint, few->run[i].fingerprint) == 0;
        measured = measured && same &&
                   (few == p->base ? same_values(p, &few->run[i], other)
                                   : same_values(p, other, &few->run[i]));
    }
    p->identical = same && measured;
    if (same && !measured)
        tell(&c->note, &c->nnotes,
             "%s%sthe same events with other values: what changed is how something is measured",
             p->label, *p->label ? ": " : "");
}

/* ---- what is not a measurement ---- */

struct differing {
    struct compare *c;
    const char *label;
};

static bool is_meant(const struct compare_rules *r, const char *path)
{
    for (size_t i = 0; i < r->ndiffers; i++) {
        const size_t n = strlen(r->differs[i]);

        if (strncmp(path, r->differs[i], n) == 0 && (path[n] == '\0' || path[n] == '.'))
            return true;
    }
    return false;
}

static void warn_param(void *arg, const char *path, const char *base, const char *new)
{
    const struct differing *d = arg;

    /* Which sample is drawn is no parameter. */
    if (strcmp(path, "seed") == 0 || strcmp(path, "replications") == 0)
        return;
    if (!is_meant(&d->c->rules, path))
        tell(&d->c->warning, &d->c->nwarnings, "%s%s%s differs: %.80s in %s, %.80s in %s", d->label,
             *d->label ? ": " : "", path, *base ? base : "nothing", d->c->base_name,
             *new ? new : "nothing", d->c->new_name);
}

static void note_origin(struct compare *c, const struct compare_point *p)
{
    if (strcmp(p->base->version, p->new->version) != 0)
        tell(&c->note, &c->nnotes, "program version %s in %s, %s in %s", p->base->version,
             c->base_name, p->new->version, c->new_name);
    if (strcmp(p->base->policy, p->new->policy) != 0)
        tell(&c->note, &c->nnotes, "loaded policy %.12s in %s, %.12s in %s",
             *p->base->policy ? p->base->policy : "none", c->base_name,
             *p->new->policy ? p->new->policy : "none", c->new_name);
}

static bool told(char *const *list, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (strcmp(list[i], list[n - 1]) == 0)
            return true;
    return false;
}

/* A note about the program would come once per point. */
static void look_at_origins(struct compare *c)
{
    for (size_t i = 0; i < c->npoints; i++) {
        struct compare_point *p = &c->point[i];
        struct differing d = {c, p->label};

        if (!p->base || !p->new)
            continue;
        note_origin(c, p);
        while (told(c->note, c->nnotes))
            free(c->note[--c->nnotes]);
        if (strcmp(p->base->hash, p->new->hash) != 0)
            compare_params(p->base->echo, p->new->echo, warn_param, &d);
        check_identical(c, p);
    }
}

/* ---- metrics ---- */

/* Values of one metric on both sides; `paired`: value i of one belongs to value i of the other. */
struct columns {
    double *base, *new;
    size_t nbase, nnew;
    bool paired;
};

static void take_pairs(struct columns *v, const struct compare_point *p, int m)
{
    v->paired = true;
    for (size_t i = 0; i < p->base->nruns; i++) {
        const struct data_run *b = &p->base->run[i], *n = partner(p->new, b);

        if (!n || isnan(b->value[m]) || isnan(n->value[m]))
            continue;
        v->base[v->nbase++] = b->value[m];
        v->new[v->nnew++] = n->value[m];
    }
}

static size_t take_side(double *to, const struct data_point *p, int m)
{
    size_t n = 0;

    for (size_t i = 0; i < p->nruns; i++)
        if (!isnan(p->run[i].value[m]))
            to[n++] = p->run[i].value[m];
    return n;
}

static size_t values_of(const struct data_point *p, int m)
{
    size_t n = 0;

    for (size_t i = 0; i < p->nruns; i++)
        n += isnan(p->run[i].value[m]) ? 0 : 1;
    return n;
}

/* Fisher's exact test, one-sided: of all runs with a value, so few or fewer on the new side. */
static double p_of_loss(const struct compare_point *p, int m)
{
    const size_t b = values_of(p->base, m), n = values_of(p->new, m);
    const size_t without = p->base->nruns + p->new->nruns - b - n;

    if (n * p->base->nruns >= b * p->new->nruns)
        return 1;
    return gsl_cdf_hypergeometric_P((unsigned)n, (unsigned)(b + n), (unsigned)without,
                                    (unsigned)p->new->nruns);
}

static struct columns columns_of(const struct compare_point *p, int m)
{
    const size_t least = p->base->nruns < p->new->nruns ? p->base->nruns : p->new->nruns;
    struct columns v = {.base = parts_alloc(p->base->nruns + 1, sizeof(double)),
                        .new = parts_alloc(p->new->nruns + p->base->nruns + 1, sizeof(double))};

    if (partners(p->base, p->new) == least)
        take_pairs(&v, p, m);
    if (v.nbase == 0) { /* no partners, or one side has no value at all */
        v.paired = false;
        v.nbase = take_side(v.base, p->base, m);
        v.nnew = take_side(v.new, p->new, m);
    }
    return v;
}

static double mean_of(const double *v, size_t n)
{
    return summary_of(v, (int)n, 0.95).mean;
}

static bool all_equal(const struct columns *v)
{
    for (size_t i = 0; i < v->nbase; i++)
        if (v->base[i] != (v->paired ? v->new[i] : v->new[0]))
            return false;
    for (size_t i = 0; i < v->nnew; i++)
        if (v->new[i] != (v->paired ? v->base[i] : v->new[0]))
            return false;
    return v->nbase > 0 && v->nnew > 0;
}

static bool is_tail(const struct metric *m)
{
    return m->hist >= 0 && m->quantile >= 0.95 && m->quantile <= 1;
}

static struct stats_diff difference(const struct columns *v, const struct metric *m)
{
    struct stats_diff d;

    if (is_tail(m))
        d = v->paired ? stats_paired_tail(v->base, v->new, v->nbase)
                      : stats_welch_tail(v->base, v->nbase, v->new, v->nnew);
    else
        d = v->paired ? stats_paired(v->base, v->new, v->nbase)
                      : stats_welch(v->base, v->nbase, v->new, v->nnew);
    /* Means and the largest value are exact. */
    if (m->hist >= 0 && m->quantile < 1)
        stats_add_step(&d, fabs(mean_of(v->base, v->nbase)) / 64);
    return d;
}

/* Means, effect, interval, and p before they are corrected. */
static void measure(const struct compare *c, struct compare_row *r, const struct columns *v)
{
    struct stats_diff d = difference(v, r->metric);
    const double unit = r->relative ? fabs(r->base) : 1;

    stats_interval(&d, c->rules.confidence, &r->low, &r->high);
    r->effect = d.mean / unit;
    r->low /= unit;
    r->high /= unit;
    r->p_differs = stats_p_differs(&d);
    r->p_within = r->relative ? stats_p_within(&d, c->rules.margin * unit) : 1;
    if (isnan(r->low))
        r->note = "one replication says nothing about the others";
    stats_free(&d);
}

/* A row for a metric that a side has, at a point that both have. */
static void add_row(struct compare *c, size_t at, const struct metric *m)
{
    const struct compare_point *p = &c->point[at];
    struct columns v = columns_of(p, (int)(m - metrics));
    struct compare_row r = {.point = at,
                            .metric = m,
                            .paired = v.paired,
                            .tail = is_tail(m),
                            .nbase = (int)v.nbase,
                            .nnew = (int)v.nnew,
                            .base = mean_of(v.base, v.nbase),
                            .new = mean_of(v.new, v.nnew),
                            .effect = NAN,
                            .low = NAN,
                            .high = NAN,
                            .p_differs = NAN,
                            .p_within = NAN};

    r.relative = r.base != 0;
    r.p_lost = p_of_loss(p, (int)(m - metrics));
    r.equal = p->identical || (all_equal(&v) && r.p_lost == 1);
    if (v.nbase > 0 && v.nnew > 0) {
        if (r.equal) {
            r.effect = r.low = r.high = 0;
            r.verdict = p->identical ? VERDICT_IDENTICAL : VERDICT_SAME;
        } else {
            measure(c, &r, &v);
        }
    }
    if (v.nbase > 0 || v.nnew > 0) {
        c->row = parts_grow(c->row, c->nrows, sizeof(*c->row));
        c->row[c->nrows++] = r;
    }
    free(v.base);
    free(v.new);
}

static void add_whole(struct compare *c, size_t at, const char *note)
{
    c->row = parts_grow(c->row, c->nrows, sizeof(*c->row));
    c->row[c->nrows++] = (struct compare_row){.point = at,
                                              .verdict = VERDICT_WORSE,
                                              .note = note,
                                              .base = NAN,
                                              .new = NAN,
                                              .effect = NAN,
                                              .low = NAN,
                                              .high = NAN,
                                              .p_differs = NAN,
                                              .p_within = NAN,
                                              .p_lost = 1};
}

/* Runs of the point that a store has as failed only; several sweeps may have the point. */
static size_t failures_of(const struct dataset *d, const struct data_point *p)
{
    size_t n = 0;

    for (size_t i = 0; i < d->nfailures; i++)
        n += strcmp(d->failure[i].hash, p->hash) == 0 &&
             strcmp(d->failure[i].sweep, p->sweep) == 0 &&
             strcmp(d->failure[i].policy, p->policy) == 0 &&
             strcmp(d->failure[i].version, p->version) == 0;
    return n;
}

static void look_at_runs(struct compare *c, size_t at, const struct dataset *base,
                         const struct dataset *new)
{
    const struct compare_point *p = &c->point[at];
    const size_t before = failures_of(base, p->base), now = failures_of(new, p->new);

    if (now > before)
        add_whole(c, at, "some of its runs failed");
    else if (now > 0)
        tell(&c->warning, &c->nwarnings, "%s%s%zu runs failed in %s, %zu in %s", p->label,
             *p->label ? ": " : "", before, c->base_name, now, c->new_name);
    if (p->new->nruns < p->base->nruns)
        tell(&c->note, &c->nnotes, "%s%s%zu runs in %s, %zu in %s", p->label, *p->label ? ": " : "",
             p->base->nruns, c->base_name, p->new->nruns, c->new_name);
}

static void add_rows(struct compare *c, const struct dataset *base, const struct dataset *new)
{
    for (size_t i = 0; i < c->npoints; i++) {
        if (!c->point[i].new) {
            add_whole(c, i, "it has no runs of this point");
        } else if (!c->point[i].base) {
            tell(&c->note, &c->nnotes, "only %s has the point (%s)", c->new_name,
                 c->point[i].label);
        } else {
            look_at_runs(c, i, base, new);
            for (size_t k = 0; k < c->rules.nmetrics; k++)
                add_row(c, i, c->rules.metrics[k]);
        }
    }
}

static bool is_test(const struct compare_row *r)
{
    return r->metric && !r->equal && !isnan(r->low);
}

/* Each family of tests by itself: what is said to differ, and what is said to be the same. */
static void correct(struct compare *c)
{
    double *p = parts_alloc(2 * c->nrows + 1, sizeof(*p)), *q = p + c->nrows;
    size_t n = 0;

    for (size_t i = 0; i < c->nrows; i++)
        if (is_test(&c->row[i])) {
            p[n] = c->row[i].p_differs;
            q[n++] = c->row[i].p_within;
        }
    stats_holm(p, n);
    stats_holm(q, n);
    c->tests = n;
    n = 0;
    for (size_t i = 0; i < c->nrows; i++)
        if (is_test(&c->row[i])) {
            c->row[i].p_differs = p[n];
            c->row[i].p_within = q[n++];
        }
    free(p);
}

/* A row of which one side has no value at all, or the new one so few that it is no chance. False when
 * the values that there are have to be judged. */
static bool judge_loss(const struct compare *c, struct compare_row *r)
{
    const struct compare_point *p = &c->point[r->point];
    const bool all =
        r->nnew == 0 && values_of(p->base, (int)(r->metric - metrics)) == p->base->nruns;

    /* Half of the level: differences to the worse use the other half, one side of theirs. */
    if (all || 2 * r->p_lost * (double)c->nrows <= 1 - c->rules.confidence) {
        r->verdict = r->metric->better == BETTER_NONE ? VERDICT_CHANGED : VERDICT_WORSE;
        r->note = r->nnew == 0 ? "it has no value any more" : "fewer runs have a value than before";
    } else if (r->nbase == 0 && p->base->partial) {
        r->verdict = VERDICT_UNDECIDED;
        r->note = "the base does not keep it";
    } else if (r->nbase == 0) {
        r->verdict = VERDICT_CHANGED;
        r->note = "it had no value before";
    } else if (r->nnew == 0) {
        r->verdict = VERDICT_UNDECIDED;
        r->note = "fewer runs have a value than before";
    } else {
        return false;
    }
    return true;
}

/* How many replications would decide it at Bonferroni's level, which Holm's is never stricter than:
 * to show that it differs where it is beyond the margin, that it does not where it is within. */
static size_t needed(const struct compare *c, const struct compare_row *r)
{
    const struct columns v = columns_of(&c->point[r->point], (int)(r->metric - metrics));
    struct stats_diff d = difference(&v, r->metric);
    const double alpha = (1 - c->rules.confidence) / (double)(c->tests ? c->tests : 1);
    const double off = fabs(d.mean), margin = r->relative ? c->rules.margin * fabs(r->base) : 0;
    const bool beyond = off > margin;
    const size_t n = stats_needed(&d, beyond ? 1 - alpha : 1 - 2 * alpha,
                                  beyond ? off : margin - off, COMPARE_MOST_NEEDED);

    stats_free(&d);
    free(v.base);
    free(v.new);
    return n;
}

static void judge_values(const struct compare *c, struct compare_row *r)
{
    const double alpha = 1 - c->rules.confidence;
    const bool beyond = !r->relative || fabs(r->effect) > c->rules.margin;

    if (r->p_within <= alpha) {
        r->verdict = VERDICT_SAME;
    } else if (r->p_differs <= alpha && beyond) {
        const bool up = r->effect > 0;

        r->verdict = r->metric->better == BETTER_NONE             ? VERDICT_CHANGED
                     : up == (r->metric->better == BETTER_HIGHER) ? VERDICT_BETTER
                                                                  : VERDICT_WORSE;
    } else {
        r->verdict = VERDICT_UNDECIDED;
        r->needed = needed(c, r);
    }
}

static void judge(const struct compare *c, struct compare_row *r)
{
    if (judge_loss(c, r))
        return;
    judge_values(c, r);
    if (r->p_lost == 1 || r->verdict == VERDICT_WORSE)
        return;
    /* The values that are left say too little of those that are not. */
    r->verdict = VERDICT_UNDECIDED;
    r->note = "fewer runs have a value than before";
}

static void sum_up(struct compare *c)
{
    c->verdict = VERDICT_IDENTICAL;
    for (size_t i = 0; i < c->nrows; i++) {
        const enum verdict v = c->row[i].verdict;

        c->count[v]++;
        if (v > c->verdict)
            c->verdict = v;
    }
    c->failed = c->verdict == VERDICT_WORSE ||
                (c->rules.strict && (c->count[VERDICT_UNDECIDED] > 0 || c->nwarnings > 0));
}

/* Whether anything of the base could be held against the new side. */
static bool says_something(const struct compare *c)
{
    for (size_t i = 0; i < c->nrows; i++)
        if (c->row[i].verdict == VERDICT_WORSE || c->row[i].verdict == VERDICT_IDENTICAL ||
            c->row[i].nbase > 0)
            return true;
    return false;
}

int compare_make(struct compare *c, const struct dataset *base, const struct dataset *new,
                 const char *base_name, const char *new_name, const struct compare_rules *rules,
                 struct store_error *err)
{
    const struct metric **own = NULL;

    *c = (struct compare){.rules = *rules, .base_name = base_name, .new_name = new_name};
    if (compare_match(c, base, new, err) != 0) {
        compare_free(c);
        return -1;
    }
    if (!c->rules.metrics)
        c->rules.metrics = own = compare_default_metrics(&c->rules.nmetrics);
    look_at_origins(c);
    add_rows(c, base, new);
    correct(c);
    for (size_t i = 0; i < c->nrows; i++)
        if (c->row[i].metric && !c->row[i].equal)
            judge(c, &c->row[i]);
    sum_up(c);
    free(own);
    c->rules.metrics = NULL;
    if (says_something(c))
        return 0;
    err->status = 2;
    snprintf(err->text, sizeof(err->text), "%s and %s have none of these metrics in common",
             base_name, new_name);
    compare_free(c);
    return -1;
}

void compare_free(struct compare *c)
{
    for (size_t i = 0; i < c->npoints; i++)
        free(c->point[i].label);
    for (size_t i = 0; i < c->nwarnings; i++)
        free(c->warning[i]);
    for (size_t i = 0; i < c->nnotes; i++)
        free(c->note[i]);
    free(c->point);
    free(c->warning);
    free(c->note);
    free(c->row);
    *c = (struct compare){0};
}
