/* SPDX-License-Identifier: MIT */
/* Results made up for the tests of comparisons, and what is compared of them. */
#ifndef TESTS_UNIT_COMPARE_FAKE_H
#define TESTS_UNIT_COMPARE_FAKE_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/compare.h"

/* A result file of `n` runs from `seed`: text of the metrics of run i is made by `values`. */
struct fake {
    const char *scenario;
    int seed, n;
    const char *fingerprint; /* begins them */
    void (*values)(FILE *out, int i);
};

static inline void add(struct dataset *d, const struct fake *f)
{
    struct store_error err;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fprintf(out,
            "{\"schema\": \"tandem.result/1\", \"manifest\": {\"version\": \"1\", \"machine\": "
            "\"m\", \"hash\": \"%zu\", \"scenario\": %s}, \"metrics\": {}, \"replications\": [",
            strlen(f->scenario), f->scenario);
    for (int i = 0; i < f->n; i++) {
        fprintf(out,
                "%s{\"seed\": \"%d\", \"replication\": %d, \"fingerprint\": \"%s%d\", "
                "\"metrics\": {",
                i ? "," : "", f->seed, i, f->fingerprint, i);
        f->values(out, i);
        fputs("}}", out);
    }
    fputs("]}", out);
    fclose(out);
    cr_assert(dataset_add_text(d, "fake", text, &err) == 0, "%s\n%s", err.text, text);
    free(text);
}

/* Noise without randomness: -1, 0 or 1, with mean 0 over 12. */
static inline double noise(int i)
{
    static const double v[] = {0, 1, -1, 1, 0, -1, -1, 0, 1, 0, 1, -1};

    return v[i % 12];
}

static inline void base_values(FILE *out, int i)
{
    fprintf(out,
            "\"throughput_per_s\": %g, \"latency_mean_us\": %g, \"latency_p99_us\": %g, "
            "\"wake_latency_mean_us\": %g, \"barriers_per_s\": %g, \"operations\": %g",
            1000 + noise(i), 50 + noise(i), 200 + noise(i), 10 + noise(i), 70 + noise(i), 5.0);
}

/* Throughput worse by 10 %, mean latency the same, p99 better by a quarter, wake-ups by noise alone,
 * barriers gone. */
static inline void new_values(FILE *out, int i)
{
    fprintf(out,
            "\"throughput_per_s\": %g, \"latency_mean_us\": %g, \"latency_p99_us\": %g, "
            "\"wake_latency_mean_us\": %g, \"operations\": %g",
            900 + noise(i + 1), 50.01 + noise(i) * 1.01, 150 + noise(i + 2), 10 + 9 * noise(i + 3),
            5.0);
}

static const struct fake base = {"{\"a\": 1}", 1, 12, "f", base_values};
static const struct fake new = {"{\"a\": 1}", 1, 12, "g", new_values};

struct pair {
    struct dataset base, new;
    struct compare c;
};

static inline void compare_fakes(struct pair *p, const struct fake *a, const struct fake *b,
                                 struct compare_rules rules)
{
    struct store_error err = {0};

    *p = (struct pair){0};
    add(&p->base, a);
    add(&p->new, b);
    if (rules.margin == 0)
        rules.margin = 0.02;
    if (rules.confidence == 0)
        rules.confidence = 0.95;
    cr_assert(compare_make(&p->c, &p->base, &p->new, "BASE", "NEW", &rules, &err) == 0, "%s",
              err.text);
}

static inline void release(struct pair *p)
{
    compare_free(&p->c);
    dataset_free(&p->base);
    dataset_free(&p->new);
}

static inline const struct compare_row *row_of(const struct compare *c, const char *metric)
{
    for (size_t i = 0; i < c->nrows; i++)
        if (strcmp(c->row[i].metric->key, metric) == 0)
            return &c->row[i];
    cr_assert(false, "no row of %s", metric);
    return NULL;
}

static inline void expect(const struct compare *c, const char *metric, enum verdict v)
{
    const struct compare_row *r = row_of(c, metric);

    cr_expect_eq(r->verdict, v, "%s: %s, expected %s", metric, verdict_name(r->verdict),
                 verdict_name(v));
}

#endif
