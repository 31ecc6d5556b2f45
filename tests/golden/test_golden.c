/* SPDX-License-Identifier: MIT */
/*
 * Small scenarios whose whole result is pinned, fingerprint of all events included: each NAME.yaml
 * beside NAME.json, which is the result file without the program's version and revision. After a
 * change that is meant to change results, TANDEM_UPDATE_GOLDEN=1 writes them anew; the difference
 * then belongs into the review of that change.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define FOLDER   "tests/golden"
#define FILES    32
#define SHOWN    8 /* differing lines that are shown */
#define MAX_RUNS 4

struct name {
    char text[64];
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* Names in the folder with this ending, without it, sorted. */
static size_t names(const char *ending, struct name list[FILES])
{
    DIR *d = opendir(FOLDER);
    struct dirent *entry;
    size_t n = 0;

    while (d && (entry = readdir(d)) && n < FILES) {
        const size_t len = strlen(entry->d_name), end = strlen(ending);

        if (len <= end || len - end >= sizeof(list->text) ||
            strcmp(entry->d_name + len - end, ending) != 0)
            continue;
        snprintf(list[n++].text, sizeof(list->text), "%.*s", (int)(len - end), entry->d_name);
    }
    if (d)
        closedir(d);
    qsort(list, n, sizeof(*list), by_text);
    return n;
}

static struct scenario *scenario_of(const char *path)
{
    struct conf_errors e = {0};
    struct scenario *s = scenario_load(path, NULL, 0, &e);

    cr_assert(s, "%s", e.n ? e.list[0].text : path);
    conf_errors_free(&e);
    return s;
}

/* The result file of the scenario's replications. malloc'ed. */
static char *result_of(const char *path)
{
    struct scenario *s = scenario_of(path);
    const struct manifest m = {.version = "-",
                               .git = "-",
                               .machine = s->machine.name,
                               .scenario_file = s->file,
                               .echo = s->echo,
                               .hash = s->hash,
                               .seed = s->seed};
    struct run_values *runs[MAX_RUNS];
    char *text = NULL, error[256] = "";
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    const int n = (int)s->replications;

    cr_assert(out && n <= MAX_RUNS, "%s: at most %d replications", path, MAX_RUNS);
    for (int i = 0; i < n; i++)
        cr_assert(run_replication(s, s->seed, i, &runs[i], error, sizeof(error)) == 0, "%s: %s",
                  path, error);
    cr_assert(result_write_json(out, &m, runs, n) == 0);
    fclose(out);
    for (int i = 0; i < n; i++)
        run_values_free(runs[i]);
    scenario_free(s);
    return text;
}

static char *read_all(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = NULL, piece[4096];
    size_t len = 0, got;
    FILE *out;

    if (!in)
        return NULL;
    out = open_memstream(&text, &len);
    while (out && (got = fread(piece, 1, sizeof(piece), in)) > 0)
        fwrite(piece, 1, got, out);
    fclose(in);
    if (out)
        fclose(out);
    return text;
}

static int length_of_line(const char *text)
{
    const int n = (int)strcspn(text, "\n");

    return n < 160 ? n : 160;
}

/* The lines that differ, the first few of them. malloc'ed. */
static char *difference(const char *want, const char *got)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    int line = 1, differ = 0;

    cr_assert(out);
    for (; *want || *got; line++) {
        const size_t a = strcspn(want, "\n"), b = strcspn(got, "\n");

        if ((a != b || memcmp(want, got, a) != 0) && differ++ < SHOWN)
            fprintf(out, "\n  line %d\n    pinned %.*s\n    now    %.*s", line,
                    length_of_line(want), want, length_of_line(got), got);
        want += a + (want[a] == '\n');
        got += b + (got[b] == '\n');
    }
    fprintf(out, "\n  %d of %d lines differ", differ, line - 1);
    fclose(out);
    return text;
}

static void update(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    cr_assert(out && fputs(text, out) >= 0 && fclose(out) == 0, "%s cannot be written", path);
}

ParameterizedTestParameters(golden, result)
{
    static struct name list[FILES];
    const size_t n = names(".yaml", list);

    return cr_make_param_array(struct name, list, n);
}

ParameterizedTest(struct name *name, golden, result)
{
    char yaml[128], json[128], *got, *want;

    snprintf(yaml, sizeof(yaml), FOLDER "/%s.yaml", name->text);
    snprintf(json, sizeof(json), FOLDER "/%s.json", name->text);
    got = result_of(yaml);
    if (getenv("TANDEM_UPDATE_GOLDEN"))
        update(json, got);
    want = read_all(json);
    cr_assert(want, "%s is missing; TANDEM_UPDATE_GOLDEN=1 makes it", json);
    if (strcmp(want, got) != 0) {
        char *lines = difference(want, got);

        cr_expect(false,
                  "the result of %s is not the pinned one%s\n  if that is meant: "
                  "TANDEM_UPDATE_GOLDEN=1 writes %s anew",
                  yaml, lines, json);
        free(lines);
    }
    free(want);
    free(got);
}

Test(golden, every_result_has_a_scenario)
{
    static struct name yaml[FILES], json[FILES];
    const size_t n = names(".yaml", yaml), m = names(".json", json);

    cr_assert(n >= 6, "%zu scenarios; run from the top folder of the source", n);
    for (size_t i = 0; i < m; i++)
        cr_expect(bsearch(&json[i], yaml, n, sizeof(*yaml), by_text), "%s.json has no scenario",
                  json[i].text);
}
