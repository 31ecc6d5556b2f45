/* SPDX-License-Identifier: MIT */
/* tandem sweep: all points of a sweep file, into a result store. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "run.h"
#include "study/commands.h"
#include "study/options.h"
#include "study/pool.h"
#include "study/progress.h"
#include "study/summary.h"

static const char *const formats[] = {"table", "json", "csv", NULL};

static const struct option_spec option[] = {
    OPTION("jobs", 'j', "N", "worker processes (default 1)"),
    OPTION("output", 'o', "FILE",
           "the store (default: the sweep's name with .db, in the working directory)"),
    OPTION("shard", 0, "K/N", "only the K-th of N parts; 'tandem merge' puts the stores together"),
    OPTION("filter", 0, "PATH=VALUE",
           "only points with this value; several of one path are alternatives"),
    OPTION("replications", 0, "N",
           "instead of the number in the sweep and of 'until'; results are kept"),
    OPTION("seed", 0, "N", "instead of the seed in the sweep or its base"),
    OPTION("dry-run", 0, NULL,
           "print the points, what is missing and how long it takes; keep nothing"),
    OPTION_OF("format", 'f', "F",
              "how the closing table, or with --dry-run the plan, is written (default table)",
              formats),
    OPTION("quiet", 'q', NULL, "no progress and no table"),
    OPTION_POLICY,
    OPTION_END,
};

const struct command_spec command_sweep = {
    .name = "sweep",
    .summary = "run many scenarios into a store; resumes",
    .usage = "SWEEP [OPTION]...",
    .about = "Runs every point of a sweep file and keeps the results in a store. What the store "
             "has already is not run again: the same command carries on after an interruption.",
    .option = option,
    .status = "0 done, 2 bad input, 3 cannot read or write, 4 some runs failed (the others are "
              "done), 130 or 143 interrupted (finished runs are kept)",
    .example = "sweep configs/demo.yaml -j 2 -o demo.db",
};

struct command {
    struct options opt;
    enum grid_format format;
    struct study_options study;
    struct sweep *sweep;
    struct study *points;
    struct store *store;
    char *store_name;
};

static bool read_shard(const struct options *o, struct study_options *s)
{
    const char *text = option_text(o, "shard", "1/1");
    char *end;

    s->shard = strtoll(text, &end, 10);
    if (*end == '/' && end != text) {
        const char *of = end + 1;

        s->shards = strtoll(of, &end, 10);
        if (*of && !*end && s->shards >= 1 && s->shards <= 1000000 && s->shard >= 1 &&
            s->shard <= s->shards)
            return true;
    }
    options_error(o, "'--shard' is '%s', expected K/N with K from 1 to N", text);
    return false;
}

static bool read_options(struct command *c)
{
    int64_t jobs = 1;
    int format;

    if (!option_number(&c->opt, "jobs", 1, POOL_MAX_WORKERS, &jobs) ||
        !option_number(&c->opt, "replications", 1, 1000000, &c->study.replications) ||
        !read_shard(&c->opt, &c->study))
        return false;
    format = option_choice(&c->opt, "format", GRID_TABLE);
    if (format < 0)
        return false;
    c->format = (enum grid_format)format;
    c->study.workers = (int)jobs;
    c->study.progress = !option_flag(&c->opt, "quiet");
    if (c->opt.noperands == 1)
        return true;
    options_error(&c->opt, c->opt.noperands ? "takes one sweep file" : "needs a sweep file");
    return false;
}

static bool use_seed(struct command *c)
{
    int64_t seed;
    char *copy;

    if (!option_text(&c->opt, "seed", NULL))
        return true;
    if (!option_number(&c->opt, "seed", 0, INT64_MAX, &seed))
        return false;
    copy = strdup(option_text(&c->opt, "seed", NULL));
    if (!copy)
        return false;
    free(c->sweep->seed);
    c->sweep->seed = copy;
    c->sweep->has_seed = true;
    return true;
}

/* A point in which nothing varies would be the same scenario as the point without variation. */
static void name_left_out(const struct sweep *s)
{
    for (size_t i = 0; i < s->naxes; i++)
        for (size_t k = 0; k < s->axis[i].n; k++) {
            const struct sweep_value *v = &s->axis[i].value[k];

            if (v->nleft > 0)
                fprintf(stderr,
                        "tandem sweep: %zu point%s left out where nothing would change (%s=%s)\n",
                        v->nleft, v->nleft == 1 ? "" : "s", s->axis[i].path, v->label);
        }
}

static bool make_points(struct command *c)
{
    struct conf_errors e = {0};

    c->sweep = sweep_read(c->opt.operand[0], &e);
    if (c->sweep && !use_seed(c))
        return false;
    if (c->sweep)
        c->points = study_new(c->sweep, run_version(), policies_hash(), &e);
    conf_errors_print(&e, stderr);
    conf_errors_free(&e);
    if (c->points)
        name_left_out(c->sweep);
    return c->points != NULL;
}

/* 0, or the exit status after a message. */
static int filter_points(struct command *c)
{
    struct store_error err = {.status = 3, .text = "out of memory"};
    size_t n;
    const char **filter = option_all(&c->opt, "filter", &n);
    int failed = filter ? 0 : -1;

    if (filter && n > 0)
        failed = study_filter(c->points, c->sweep, filter, n, &err);
    free(filter);
    if (failed)
        options_error(&c->opt, "%s", err.text);
    return failed ? err.status : 0;
}

static char *store_name(const struct command *c)
{
    const char *given = option_text(&c->opt, "output", NULL);
    const size_t size = strlen(c->sweep->name) + 4;
    char *name = given ? strdup(given) : malloc(size);

    if (name && !given)
        snprintf(name, size, "%s.db", c->sweep->name);
    return name;
}

/* STORE.db:SWEEP, as the commands that read stores take it: nobody wants a store of that name beside. */
static bool names_a_sweep(const struct command *c)
{
    char *colon = access(c->store_name, F_OK) != 0 ? strrchr(c->store_name, ':') : NULL;
    bool there;

    if (!colon || colon == c->store_name)
        return false;
    *colon = '\0';
    there = access(c->store_name, F_OK) == 0;
    if (there)
        fprintf(stderr,
                "tandem sweep: %s:%s: a sweep within %s; name the store alone, each is called like "
                "its file\n",
                c->store_name, colon + 1, c->store_name);
    *colon = ':';
    return there;
}

static int complain(const struct store_error *err, int status)
{
    if (err->text[0])
        fprintf(stderr, "tandem sweep: %s\n", err->text);
    return status;
}

static void print_time(const struct command *c, const struct study_counts *n,
                       const struct study_estimate *e)
{
    const int64_t missing = n->planned - n->before;
    const int64_t workers = missing < c->study.workers ? missing : c->study.workers;
    char text[32];

    if (missing == 0)
        return;
    if (e->runs == 0) {
        puts("estimated time: unknown, as no point could be tried");
        return;
    }
    progress_duration(e->seconds / (double)workers, text, sizeof(text));
    if (e->trial > 0) {
        printf("estimated time: %s with %" PRId64 " worker%s, from trials of at most %" PRId64
               " ms at %" PRId64 " of the points\n",
               text, workers, workers == 1 ? "" : "s", e->trial / NS_MS, e->points);
        return;
    }
    printf("estimated time: %s with %" PRId64 " worker%s, from the wall times of %" PRId64
           " runs at %" PRId64 " of the points in %s\n",
           text, workers, workers == 1 ? "" : "s", e->runs, e->points, c->store_name);
}

/* What there is to do: points, runs, time. */
static int print_plan(struct command *c, int64_t *missing)
{
    struct store_error err = {0};
    struct study_counts n;
    struct study_estimate e;
    size_t points = 0;

    if (study_plan(c->points, c->store, &c->study, &n, missing, &err) != 0 ||
        study_estimate(c->points, c->store, missing, &e, &err) != 0)
        return complain(&err, err.status);
    if (e.runs == 0 && n.planned > n.before)
        study_try(c->points, missing, run_replication, &e);
    for (size_t i = 0; i < c->points->npoints; i++)
        points += !c->points->point[i].left_out;
    if (summary_write_points(stdout, c->sweep, c->points, missing, c->format) != 0)
        return 3;
    if (c->format != GRID_TABLE)
        return 0; /* what is said of the whole would be in the way of a program */
    printf("%zu point%s, %" PRId64 " run%s, %" PRId64 " of them in %s, %" PRId64 " missing\n",
           points, points == 1 ? "" : "s", n.planned, n.planned == 1 ? "" : "s", n.before,
           c->store_name, n.planned - n.before);
    if (n.most > n.planned)
        printf("until the interval of %s is within %g %%: at most %" PRId64 " runs\n",
               c->sweep->until.metric->key, 100 * c->sweep->until.half_width, n.most);
    print_time(c, &n, &e);
    return fflush(stdout) == 0 ? 0 : 3;
}

static int dry_run(struct command *c)
{
    struct store_error err = {0};
    FILE *there = fopen(c->store_name, "rb");
    int64_t *missing;
    int status;

    if (there) {
        fclose(there);
        c->store = store_open(c->store_name, STORE_READ, &err);
        if (!c->store)
            return complain(&err, err.status);
    }
    missing = calloc(c->points->npoints + 1, sizeof(*missing));
    status = missing ? print_plan(c, missing) : 3;
    free(missing);
    return status;
}

static void report_failures(const struct command *c)
{
    size_t more = 0;

    for (size_t i = 0; i < c->points->npoints; i++) {
        const struct study_point *p = &c->points->point[i];
        char *where;

        if (p->nfailed == 0)
            continue;
        if (!p->first_failure) {
            more++;
            continue;
        }
        where = sweep_where(c->sweep, i);
        fprintf(stderr, "tandem sweep: %" PRId64 " failed run%s at point %zu (%s):\n", p->nfailed,
                p->nfailed == 1 ? "" : "s", i, where ? where : "?");
        free(where);
        const size_t n = strlen(p->first_failure);

        fprintf(stderr, "%s%s", p->first_failure,
                n > 0 && p->first_failure[n - 1] == '\n' ? "" : "\n");
    }
    if (more > 0)
        fprintf(stderr,
                "tandem sweep: failed runs at %zu more points; 'tandem export %s' shows them\n",
                more, c->store_name);
}

/* Points that `until` could not satisfy. */
static void report_until(const struct command *c, const struct study_counts *n)
{
    const struct sweep_until *u = &c->sweep->until;

    if (n->wide > 0)
        fprintf(stderr,
                "tandem sweep: the interval of %s is wider than %g %% after %" PRId64
                " runs at %" PRId64 " point%s\n",
                u->metric->key, 100 * u->half_width, u->max, n->wide, n->wide == 1 ? "" : "s");
    if (n->valueless > 0)
        fprintf(stderr,
                "tandem sweep: %" PRId64
                " point%s no value of %s: no more runs than the least were "
                "made there\n",
                n->valueless, n->valueless == 1 ? " has" : "s have", u->metric->key);
}

static int put_table(struct command *c)
{
    struct store_error err = {0};
    struct summary_table t = {0};
    int failed = summary_read(&t, c->sweep, c->points, c->store, &err);

    /* The store is at rest before anything is printed: a reader that goes away (| head) ends us. */
    store_close(c->store);
    c->store = NULL;
    if (failed)
        complain(&err, err.status);
    else if (summary_write(stdout, &t, c->sweep, c->points, c->format) != 0) {
        perror("tandem sweep: cannot write the table");
        failed = -1;
    }
    summary_free(&t);
    return failed ? 3 : 0;
}

static int run(struct command *c)
{
    struct store_error err = {0};
    struct study_counts n = {0};
    int status, table = 0;

    c->store = store_open(c->store_name, STORE_CREATE, &err);
    if (!c->store)
        return complain(&err, err.status);
    status = study_run(c->points, c->store, &c->study, run_replication, &n, &err);
    report_failures(c);
    report_until(c, &n);
    complain(&err, status);
    if (status > 128)
        fprintf(stderr,
                "tandem sweep: interrupted; %" PRId64 " of %" PRId64
                " runs are kept in %s, the same command carries on\n",
                n.before + n.done, n.planned, c->store_name);
    else if ((status == 0 || status == 4) && !option_flag(&c->opt, "quiet"))
        table = put_table(c);
    return status ? status : table;
}

static int sweep(struct command *c)
{
    int status;

    if (!read_options(c))
        return 2;
    if (!options_readable(c->opt.operand[0]))
        return 3;
    if (!make_points(c))
        return 2;
    status = filter_points(c);
    if (status)
        return status;
    options_tell(&c->opt, "%s: %zu points, program %s%s%s", c->opt.operand[0], c->points->npoints,
                 run_version(), *policies_hash() ? ", loaded policies " : "", policies_hash());
    c->store_name = store_name(c);
    if (!c->store_name)
        return 3;
    if (names_a_sweep(c))
        return 2;
    return option_flag(&c->opt, "dry-run") ? dry_run(c) : run(c);
}

int cmd_sweep(int argc, char **argv)
{
    struct command c = {0};
    int status;

    if (!options_read_policies(&c.opt, &command_sweep, argc, argv))
        return c.opt.status;
    status = sweep(&c);
    store_close(c.store);
    study_free(c.points);
    sweep_free(c.sweep);
    free(c.store_name);
    options_free(&c.opt);
    return status;
}
