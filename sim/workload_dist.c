/* SPDX-License-Identifier: MIT */
/*
 * Amounts of the workload format -> struct dist. One row of KINDS per distribution.
 *
 * Always true: an amount that was accepted is never negative, and what it holds was finite.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload_parts.h"

/* Longest time in a program, about 11 days: far above any run, far below an overflow when scaled.
 */
#define AMOUNT_MAX  1000000000000000
#define SCALE_MAX   1000000
#define VALUES_MAX  4000000
#define WEIGHT_UNIT 1000000
#define WEIGHT_MAX  1000000000
#define ITEMS_MAX   1000000

struct amount {
    const struct conf_node *node; /* the argument of the kind */
    const char *dir;
    struct dist *out;
    struct conf_errors *e;
};

static bool read_time(const struct conf_node *n, ns_t *out, struct conf_errors *e)
{
    if (!conf_ns(n, out, e))
        return false;
    if (*out >= 0 && *out <= AMOUNT_MAX)
        return true;
    conf_error(e, n, "time out of range (0 to 1000000 s)");
    return false;
}

static bool read_ns(const struct conf_node *n, double *out, struct conf_errors *e)
{
    ns_t t;

    if (!read_time(n, &t, e))
        return false;
    *out = (double)t;
    return true;
}

/* Argument `key` of a distribution given as a mapping. */
static const struct conf_node *argument(const struct amount *a, const char *key)
{
    const struct conf_node *n = conf_get(a->node, key);

    if (!n && a->node->kind == CONF_MAP)
        conf_error(a->e, a->node, "%s is missing its '%s'", a->node->key, key);
    return n;
}

static bool time_argument(const struct amount *a, const char *key, double *out)
{
    const struct conf_node *n = argument(a, key);

    return n && read_ns(n, out, a->e);
}

static bool real_argument(const struct amount *a, const char *key, double lo, double hi,
                          double *out)
{
    const struct conf_node *n = argument(a, key);

    return n && conf_real(n, lo, hi, out, a->e);
}

/* Exactly the two named arguments. */
static bool two_arguments(const struct amount *a, const char *first, const char *second)
{
    const char *const names[] = {first, second};
    size_t before = a->e->n;

    if (!parts_mapping(a->node, a->node->key, a->e))
        return false;
    conf_only_keys(a->node, names, 2, a->node->key, a->e);
    return parts_clean(a->e, before);
}

/* For a time that has a scale or a spread. */
static bool read_constant(struct amount *a)
{
    return read_ns(a->node, &a->out->a, a->e);
}

static bool read_exponential(struct amount *a)
{
    return read_ns(a->node, &a->out->a, a->e);
}

static bool read_gamma(struct amount *a)
{
    bool ok = two_arguments(a, "shape", "scale");

    /* Both are read even when the first is wrong, so that all faults come out. */
    ok = real_argument(a, "shape", 0.001, 1e6, &a->out->a) && ok;
    return time_argument(a, "scale", &a->out->b) && ok;
}

static bool read_lognormal(struct amount *a)
{
    const char *const names[] = {"mean", "median", "sigma"};
    const struct conf_node *mean = conf_get(a->node, "mean");
    const struct conf_node *median = conf_get(a->node, "median");
    size_t before = a->e->n;
    double middle = 0, sigma = 0;

    if (!parts_mapping(a->node, "lognormal", a->e))
        return false;
    conf_only_keys(a->node, names, 3, "lognormal", a->e);
    if (!mean == !median)
        conf_error(a->e, a->node, "lognormal takes either a mean or a median");
    else
        read_ns(mean ? mean : median, &middle, a->e);
    real_argument(a, "sigma", 0, 10, &sigma);
    if (!parts_clean(a->e, before))
        return false;
    if (middle < 1) {
        conf_error(a->e, mean ? mean : median, "lognormal needs a time above 0");
        return false;
    }
    a->out->a = log(middle) - (mean ? sigma * sigma / 2 : 0);
    a->out->b = sigma;
    return true;
}

static bool read_pareto(struct amount *a)
{
    bool ok = two_arguments(a, "min", "exponent");

    ok = real_argument(a, "exponent", 0.1, 1e3, &a->out->a) && ok;
    return time_argument(a, "min", &a->out->b) && ok;
}

static bool read_weibull(struct amount *a)
{
    bool ok = two_arguments(a, "scale", "exponent");

    ok = time_argument(a, "scale", &a->out->a) && ok;
    return real_argument(a, "exponent", 0.1, 1e3, &a->out->b) && ok;
}

static bool read_uniform(struct amount *a)
{
    const struct conf_node *n = a->node;

    if (n->kind != CONF_SEQ || n->n != 2) {
        conf_error(a->e, n, "uniform takes two times: [1ms, 2ms]");
        return false;
    }
    bool ok = read_ns(n->child[0], &a->out->a, a->e);

    if (!read_ns(n->child[1], &a->out->b, a->e) || !ok)
        return false;
    if (a->out->a <= a->out->b)
        return true;
    conf_error(a->e, n, "uniform: the first time must not exceed the second");
    return false;
}

/* A list with entries; room for their cumulated weights is made. */
static bool weighted_list(struct amount *a, const char *form)
{
    const struct conf_node *n = a->node;

    if (n->kind != CONF_SEQ || n->n == 0 || n->n > ITEMS_MAX) {
        conf_error(a->e, n, "%s takes a list: %s", n->key, form);
        return false;
    }
    a->out->cumulated = parts_alloc(n->n, sizeof(*a->out->cumulated));
    return true;
}

static bool some_weight(const struct amount *a, uint64_t total)
{
    if (total == 0)
        conf_error(a->e, a->node, "%s: all weights are 0", a->node->key);
    return total > 0;
}

static bool read_mixture(struct amount *a)
{
    const char *const names[] = {"weight", "amount"};
    const struct conf_node *n = a->node;
    size_t before = a->e->n;
    uint64_t total = 0;

    if (!weighted_list(a, "[{weight: 0.5, amount: 1ms}, ...]"))
        return false;
    a->out->parts = parts_alloc(n->n, sizeof(*a->out->parts));
    for (size_t i = 0; i < n->n; i++) {
        const struct conf_node *w = conf_get(n->child[i], "weight");
        const struct conf_node *v = conf_get(n->child[i], "amount");
        double weight = 0;

        if (!w || !v) {
            conf_error(a->e, n->child[i], "a part of a mixture is {weight: W, amount: A}");
            continue;
        }
        conf_only_keys(n->child[i], names, 2, "part of a mixture", a->e);
        if (conf_real(w, 0, WEIGHT_MAX, &weight, a->e))
            total += (uint64_t)llround(weight * WEIGHT_UNIT);
        a->out->cumulated[i] = total;
        if (amount_read(v, a->dir, &a->out->parts[a->out->n], a->e))
            a->out->n++;
    }
    return parts_clean(a->e, before) && some_weight(a, total);
}

static bool read_histogram(struct amount *a)
{
    const struct conf_node *n = a->node;
    size_t before = a->e->n;
    uint64_t total = 0;

    if (!weighted_list(a, "[[30ns, 5031], [42ns, 521], ...]"))
        return false;
    a->out->value = parts_alloc(n->n, sizeof(*a->out->value));
    a->out->n = n->n;
    for (size_t i = 0; i < n->n; i++) {
        const struct conf_node *pair = n->child[i];
        int64_t weight = 0;

        if (pair->kind != CONF_SEQ || pair->n != 2) {
            conf_error(a->e, pair, "a bucket of a histogram is [time, count]");
            continue;
        }
        read_time(pair->child[0], &a->out->value[i], a->e);
        if (conf_int(pair->child[1], 0, WEIGHT_MAX * (int64_t)WEIGHT_UNIT, &weight, a->e))
            total += (uint64_t)weight;
        a->out->cumulated[i] = total;
    }
    return parts_clean(a->e, before) && some_weight(a, total);
}

/* One line of a file of values: a whole number of ns, a comment, or nothing. -1: none of these. */
static int value_of_line(const char *line, ns_t *out)
{
    char *end;

    line += strspn(line, " \t");
    if (*line == '#' || line[strspn(line, "\r\n")] == '\0')
        return 0;
    errno = 0;
    long long v = strtoll(line, &end, 10);

    if (end == line || errno || v < 0 || v > AMOUNT_MAX || end[strspn(end, " \t\r\n")] != '\0')
        return -1;
    *out = v;
    return 1;
}

static bool read_values(struct amount *a, const char *path, FILE *in)
{
    struct dist *d = a->out;
    char line[128];
    int lineno = 0;

    while (fgets(line, sizeof(line), in)) {
        ns_t v = 0;
        int got = value_of_line(line, &v);

        lineno++;
        if (got < 0 || d->n >= VALUES_MAX) {
            char *where = parts_format("%s:%d:1", path, lineno);

            conf_error_file(a->e, where, "%s",
                            got < 0 ? "expected a whole number of nanoseconds"
                                    : "more values than Tandem reads (4 million)");
            free(where);
            return false;
        }
        if (got == 0)
            continue;
        d->value = parts_grow(d->value, d->n, sizeof(*d->value));
        d->value[d->n++] = v;
    }
    if (ferror(in) || d->n == 0) {
        conf_error(a->e, a->node, "'%s': %s", path, ferror(in) ? strerror(errno) : "no values");
        return false;
    }
    return true;
}

static bool read_file(struct amount *a)
{
    const char *name = conf_str(a->node, a->e);

    if (!name)
        return false;
    char *path = name[0] == '/' ? parts_copy(name) : parts_format("%s/%s", a->dir, name);
    FILE *in = fopen(path, "r");
    bool ok = false;

    if (in) {
        ok = read_values(a, path, in);
        fclose(in);
    } else {
        conf_error(a->e, a->node, "cannot read '%s': %s", path, strerror(errno));
    }
    free(path);
    return ok;
}

static const struct kind {
    const char *name;
    enum dist_kind kind;
    bool (*read)(struct amount *a);
} KINDS[] = {
    {"constant", DIST_CONST, read_constant},
    {"exponential", DIST_EXPONENTIAL, read_exponential},
    {"gamma", DIST_GAMMA, read_gamma},
    {"lognormal", DIST_LOGNORMAL, read_lognormal},
    {"pareto", DIST_PARETO, read_pareto},
    {"weibull", DIST_WEIBULL, read_weibull},
    {"uniform", DIST_UNIFORM, read_uniform},
    {"mixture", DIST_MIXTURE, read_mixture},
    {"histogram", DIST_HISTOGRAM, read_histogram},
    {"file", DIST_EMPIRICAL, read_file},
};

#define NKINDS (sizeof(KINDS) / sizeof(KINDS[0]))

/* "12", "3/4" or "1.5", kept as a fraction: the scale is applied to whole nanoseconds. */
static bool read_scale(const struct conf_node *n, struct dist *d, struct conf_errors *e)
{
    const char *text = conf_str(n, e);
    char *end;

    if (!text)
        return false;
    long long num = strtoll(text, &end, 10), den = 1;
    bool ok = end != text && text[0] != '-';

    if (ok && *end == '/') {
        const char *second = end + 1;

        den = strtoll(second, &end, 10);
        ok = end != second;
    } else if (ok && *end == '.') {
        for (end++; *end >= '0' && *end <= '9' && den < SCALE_MAX; end++) {
            num = num <= SCALE_MAX ? num * 10 + (*end - '0') : num;
            den *= 10;
        }
    }
    if (!ok || *end || num < 1 || den < 1 || num > SCALE_MAX || den > SCALE_MAX) {
        conf_error(e, n, "scale is a positive number or fraction: 12, 0.5, 3/4 (parts up to %d)",
                   SCALE_MAX);
        return false;
    }
    d->num = num;
    d->den = den;
    return true;
}

/* `spread`: whether this key may stand beside the distribution. */
static const struct kind *kind_of(const struct conf_node *n, bool spread,
                                  const struct conf_node **arg, struct conf_errors *e)
{
    const char *names[NKINDS + 2];
    const struct kind *k = NULL;
    size_t before = e->n;

    for (size_t i = 0; i < NKINDS; i++) {
        const struct conf_node *child = conf_get(n, KINDS[i].name);

        names[i] = KINDS[i].name;
        if (child && k)
            conf_error_key(e, child, "an amount has one distribution: '%s' or '%s'", k->name,
                           KINDS[i].name);
        if (child && !k) {
            k = &KINDS[i];
            *arg = child;
        }
    }
    names[NKINDS] = "scale";
    names[NKINDS + 1] = "spread";
    conf_only_keys(n, names, NKINDS + 2, "amount", e);
    if (!spread && conf_get(n, "spread"))
        conf_error_key(e, conf_get(n, "spread"),
                       "a part of an amount has no spread: write it beside the whole");
    if (!k && parts_clean(e, before))
        conf_error(e, n, "an amount needs a distribution, e.g. {exponential: 2ms}");
    return parts_clean(e, before) ? k : NULL;
}

static bool read_amount(const struct conf_node *n, bool spread, const char *dir, struct dist *out,
                        struct conf_errors *e)
{
    const struct conf_node *arg = NULL;

    *out = (struct dist){.kind = DIST_CONST, .num = 1, .den = 1};
    if (n->kind == CONF_SCALAR)
        return read_ns(n, &out->a, e);
    if (n->kind != CONF_MAP) {
        conf_error(e, n, "an amount is a time (2ms) or a distribution ({exponential: 2ms})");
        return false;
    }
    const struct kind *k = kind_of(n, spread, &arg, e);

    if (!k)
        return false;
    struct amount a = {.node = arg, .dir = dir, .out = out, .e = e};
    const struct conf_node *scale = conf_get(n, "scale");

    out->kind = k->kind;
    bool ok = k->read(&a);

    if (scale && !read_scale(scale, out, e))
        ok = false;
    if (!ok) {
        dist_free(out);
        *out = (struct dist){.kind = DIST_CONST, .num = 1, .den = 1};
    } else if (out->kind == DIST_CONST) {
        *out = dist_const(dist_scale((ns_t)out->a, out->num, out->den));
    }
    return ok;
}

bool amount_read(const struct conf_node *n, const char *dir, struct dist *out,
                 struct conf_errors *e)
{
    return read_amount(n, false, dir, out, e);
}

bool amount_read_spread(struct parser *p, const struct conf_node *n, struct dist *out, int *spread)
{
    const struct conf_node *name = conf_get(n, "spread");
    const int i = name ? object_find(p, name, OBJ_SPREAD) : -1;

    *spread = i + 1;
    if (read_amount(n, true, p->dir, out, p->e) && (!name || i >= 0))
        return true;
    dist_free(out);
    return false;
}
