/* SPDX-License-Identifier: MIT */
/* What the tests of figures share: stores made by hand, and the command with its messages. */
#ifndef TESTS_UNIT_PLOT_FAKE_H
#define TESTS_UNIT_PLOT_FAKE_H

#include "study/commands.h"
#include "study/figure.h"
#include "study_fake.h"

static inline bool have_gnuplot(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

static inline void need_gnuplot(void)
{
    if (!have_gnuplot())
        cr_skip_test("gnuplot is not installed");
}

static inline struct run_values *new_run(int k)
{
    struct run_values *v = run_values_new(1);

    v->seed = 3;
    v->replication = (uint64_t)k;
    return v;
}

/* Stores the run and frees it. */
static inline void store_run(struct store *s, const char *hash, struct run_values *v)
{
    const int k = (int)v->replication;
    struct store_error err;
    char key[33];
    char *text = run_values_write(v);

    store_key(hash, 3, k, "1.0", "", key);
    struct store_run run = {.key = key,
                            .point = (char *)hash,
                            .seed = 3,
                            .replication = k,
                            .version = "1.0",
                            .policy = "",
                            .fingerprint = "0",
                            .values = text};

    cr_assert(store_put_run(s, &run, &err) == 0, "%s", err.text);
    free(text);
    run_values_free(v);
}

static inline void put_point(struct store *s, cJSON *labels, int position, char hash[33])
{
    char *text = cJSON_PrintUnformatted(labels);
    struct store_error err = {0};

    hash_hex(text, strlen(text), hash);
    struct store_point point = {.hash = hash,
                                .labels = text,
                                .echo = "{\"vms\":[{\"name\":\"web\",\"idle\":\"hlt\"}]}",
                                .machine = "m",
                                .position = position};

    cr_assert(store_put_point(s, &point, &err) == 0, "%s", err.text);
    free(text);
    cJSON_Delete(labels);
}

#define PLOT(...)                                                                                  \
    plot_command((const char *[]){"plot", __VA_ARGS__},                                            \
                 (int)(sizeof((const char *[]){"plot", __VA_ARGS__}) / sizeof(char *)))

/* The command itself, its messages into the file `messages`. */
static inline int plot_command(const char **args, int n)
{
    char *argv[40];
    int status, saved = dup(2), fd = open(fake_path("messages"), O_CREAT | O_TRUNC | O_RDWR, 0600);

    for (int i = 0; i < n; i++)
        argv[i] = (char *)args[i];
    argv[n] = NULL;
    fflush(stderr);
    dup2(fd, 2);
    status = cmd_plot(n, argv);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    close(fd);
    return status;
}

static inline void expect_text(const char *file, const char *part, bool there)
{
    size_t size;
    char *text = fake_read(file, &size);

    cr_expect((strstr(text, part) != NULL) == there, "%s: '%s' is%s there", file, part,
              there ? " not" : "");
    free(text);
}

static inline void expect_refused(int status, const char *part, int got)
{
    cr_expect(got == status, "%d, not %d, for: %s", got, status, part);
    expect_text(fake_path("messages"), part, true);
}

#endif
