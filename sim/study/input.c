/* SPDX-License-Identifier: MIT */
/* See input.h. */
#include "study/input.h"

#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "parts.h"
#include "run.h"
#include "study/baseline.h"
#include "study/figure.h"
#include "study/pool.h"
#include "study/repeat.h"

bool input_rules_read(const struct options *o, struct input_rules *r)
{
    return option_number(o, "reps", 1, 1000000, &r->reps) &&
           option_number(o, "seed", 0, INT64_MAX, &r->seed) &&
           option_number(o, "jobs", 1, POOL_MAX_WORKERS, &r->jobs);
}

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), k = strlen(end);

    return n > k && strcmp(text + n - k, end) == 0;
}

bool input_is_scenario(const char *path)
{
    return ends_in(path, ".yaml") || ends_in(path, ".yml");
}

struct scenario *input_scenario(const struct options *o, const char *path)
{
    struct conf_errors errors = {0};
    struct scenario *s;
    size_t n;
    const char **set = option_all(o, "set", &n);

    if (!set)
        return NULL;
    s = scenario_load(path, set, n, &errors);
    conf_errors_print(&errors, stderr);
    conf_errors_free(&errors);
    free(set);
    return s;
}

/* By way of the text of a result: what `tandem run` would have written. */
static int add_runs(const struct options *o, struct dataset *d, const char *path,
                    const struct scenario *s, struct run_values **runs, int64_t n)
{
    const struct manifest m = {.version = run_version(),
                               .git = run_git(),
                               .machine = s->machine.name,
                               .scenario_file = s->file,
                               .echo = s->echo,
                               .hash = s->hash,
                               .seed = s->seed,
                               .policy = policies_hash()};
    struct store_error err = {.status = 3, .text = "out of memory"};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int failed = out ? result_write_json(out, &m, runs, (int)n) : -1;

    if (out && fclose(out) != 0)
        failed = -1;
    if (!failed)
        failed = dataset_add_text(d, path, text, &err);
    free(text);
    if (!failed)
        return 0;
    options_error(o, "%s", err.text);
    return err.status;
}

static int run_scenario(const struct options *o, struct dataset *d, const char *path,
                        const struct input_rules *rules)
{
    struct scenario *s = input_scenario(o, path);
    char who[64];
    struct repeat r = {.scenario = s,
                       .workers = (int)rules->jobs,
                       .who = who,
                       .progress = !option_flag(o, "quiet")};
    struct run_values **runs;
    int status;

    if (!s)
        return STATUS_USAGE;
    snprintf(who, sizeof(who), "tandem %s", o->command->name);
    if (rules->seed >= 0)
        s->seed = (uint64_t)rules->seed;
    r.n = rules->reps ? rules->reps : s->replications;
    options_tell(o, "%s: %lld replications from seed %llu", path, (long long)r.n,
                 (unsigned long long)s->seed);
    runs = repeat_runs(&r, &status);
    if (runs)
        status = add_runs(o, d, path, s, runs, r.n);
    repeat_free(runs, r.n);
    scenario_free(s);
    return status;
}

/* Something to compare: points with runs of known scenarios. */
static int has_runs(const struct options *o, const struct dataset *d, const char *path)
{
    if (d->n == 0) {
        options_error(o, "%s: no finished run, %zu that failed", path, d->nfailures);
        return d->nfailures ? STATUS_FAILED : STATUS_USAGE;
    }
    for (size_t i = 0; i < d->n; i++)
        if (d->point[i].nruns == 0 || !*d->point[i].hash)
            return options_error(o, "%s: damaged: a point without %s", path,
                                 d->point[i].nruns ? "a hash" : "runs");
    return 0;
}

int input_add(const struct options *o, struct dataset *d, const char *path,
              const struct input_rules *r, bool *baseline)
{
    struct store_error err = {0};
    int is;

    if (baseline)
        *baseline = false;
    if (input_is_scenario(path))
        return options_readable(path) ? run_scenario(o, d, path, r) : STATUS_IO;
    is = baseline_is(path, &err);
    err.status = 0;
    if (is == 1) {
        if (baseline)
            *baseline = true;
        is = baseline_read(d, path, &err);
    } else {
        is = dataset_add(d, path, &err);
    }
    if (is == 0)
        return has_runs(o, d, path);
    options_error(o, "%s", err.text);
    return err.status;
}

static const struct metric **all_metrics(size_t *n)
{
    const struct metric **list = calloc(METRIC_COUNT + 1, sizeof(*list));

    for (int i = 0; list && i < METRIC_COUNT; i++)
        list[(*n)++] = &metrics[i];
    return list;
}

/* Once, however often it is named. */
static void add_metric(const struct metric **list, size_t *n, const struct metric *m)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i] == m)
            return;
    list[(*n)++] = m;
}

const struct metric **input_metrics(const struct options *o, size_t *n, bool *failed)
{
    const char *text = option_text(o, "metrics", NULL), *unknown = NULL;
    const struct metric **list;
    const struct metric *m;
    size_t len = 0;
    char *name, *message;

    *n = 0;
    *failed = false;
    if (!text)
        return NULL;
    if (strcmp(text, "all") == 0)
        return all_metrics(n);
    list = calloc(strlen(text) + 1, sizeof(*list));
    while (list && (m = plot_metric_next(&text, &unknown, &len)))
        add_metric(list, n, m);
    if (list && !unknown && *n > 0)
        return list;
    name = parts_format("%.*s", unknown ? (int)len : 0, unknown ? unknown : "");
    message = parts_unknown_metric(name);
    options_error(o, "%s", message);
    free(message);
    free(name);
    free(list);
    *failed = true;
    return NULL;
}
