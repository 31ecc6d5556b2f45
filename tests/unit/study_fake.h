/* SPDX-License-Identifier: MIT */
/*
 * What the tests of studies share: a folder that goes away, a study without scenarios, and a run
 * that gives numbers from its arguments alone.
 */
#ifndef TESTS_UNIT_STUDY_FAKE_H
#define TESTS_UNIT_STUDY_FAKE_H

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenario.h"
#include "study/dataset.h"
#include "study/study.h"

static char fake_dir[64];

static inline void fake_dir_make(void)
{
    strcpy(fake_dir, "/tmp/tandem-test-XXXXXX");
    cr_assert(mkdtemp(fake_dir));
}

static inline void fake_dir_remove(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", fake_dir);
    cr_expect(system(command) == 0);
}

/* Path of a file in the folder; static, good until the fourth call after. */
static inline const char *fake_path(const char *name)
{
    static char path[4][160];
    static int next;

    next = (next + 1) % 4;
    snprintf(path[next], sizeof(path[next]), "%s/%s", fake_dir, name);
    return path[next];
}

static inline const char *fake_file(const char *name, const char *text)
{
    const char *path = fake_path(name);
    FILE *out = fopen(path, "w");

    cr_assert(out);
    fputs(text, out);
    fclose(out);
    return path;
}

static inline char *fake_read(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    char *text = calloc(1, 1 << 22);

    cr_assert(in && text, "%s", path);
    *size = fread(text, 1, (1 << 22) - 1, in);
    fclose(in);
    return text;
}

/* A study of `n` points along the axes a and b (b has two values). Its scenarios have nothing but a
 * number, as the duration. */
static inline struct study *fake_study(size_t n, int64_t replications)
{
    struct study *st = calloc(1, sizeof(*st));

    cr_assert(st && (st->point = calloc(n, sizeof(*st->point))));
    st->version = "1.0";
    st->policy = "";
    st->npoints = n;
    for (size_t i = 0; i < n; i++) {
        struct study_point *p = &st->point[i];
        char labels[100];

        p->scenario = calloc(1, sizeof(*p->scenario));
        p->scenario->duration = (ns_t)i;
        p->seed = 7;
        p->replications = replications;
        snprintf(labels, sizeof(labels), "{\"a\":\"%zu\",\"b\":\"%s\"}", i / 2, i % 2 ? "y" : "x");
        p->row.labels = strdup(labels);
        p->row.hash = malloc(33);
        hash_hex(labels, strlen(labels), p->row.hash);
        p->row.echo = strdup("{\"machine\":\"m\",\"vms\":[{\"name\":\"web\",\"idle\":\"hlt\"}]}");
        p->row.machine = strdup("m");
        p->row.position = (int64_t)i;
    }
    return st;
}

static inline void fake_study_free(struct study *st)
{
    for (size_t i = 0; i < st->npoints; i++) {
        free(st->point[i].scenario);
        st->point[i].scenario = NULL;
    }
    study_free(st);
}

static inline int fake_run(const struct scenario *s, uint64_t seed, int64_t replication,
                           struct run_values **out, char *error, size_t error_size)
{
    struct run_values *v = run_values_new(1);

    (void)error;
    (void)error_size;
    cr_assert(v && run_values_name(v, 0, "web") == 0);
    v->seed = seed;
    v->replication = (uint64_t)replication;
    v->fingerprint = seed * 1000003 + (uint64_t)replication * 101 + (uint64_t)s->duration;
    *run_value(v, 0, METRIC_THROUGHPUT) =
        1000.0 / (double)(1 + s->duration) + (double)replication / 7;
    hist_add(&v->hist[HIST_LATENCY], 1000 * (s->duration + 1) + replication);
    *out = v;
    return 0;
}

/* Runs into the store at `path`; the exit status. */
static inline int fake_session(const char *path, struct study *st, const struct study_options *o,
                               study_run_fn *run, struct study_counts *c, struct store_error *err)
{
    struct store *s = store_open(path, STORE_CREATE, err);
    int status;

    if (!s)
        return err->status;
    status = study_run(st, s, o, run, c, err);
    store_close(s);
    return status;
}

static inline char *fake_export(const char *path)
{
    struct dataset d = {0};
    struct store_error err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    cr_assert(dataset_add(&d, path, &err) == 0, "%s", err.text);
    cr_assert(out && export_csv(out, &d) == 0 && fclose(out) == 0);
    dataset_free(&d);
    return text;
}

#endif
