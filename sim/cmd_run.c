/* SPDX-License-Identifier: MIT */
/* tandem run: replications of one scenario, on several processes if asked, and their result. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "record.h"
#include "run.h"
#include "study/options.h"
#include "study/outfile.h"
#include "study/pool.h"

static const char help[] =
    "usage: tandem run SCENARIO [-s KEY=VALUE]... [--seed N] [--reps N] [-j N] [-o FILE]\n"
    "                  [--format table|json|csv] [--timeline FILE] [--series FILE.csv]\n"
    "                  [--gantt FILE.csv] [--window FROM:TO]\n"
    "\n"
    "Runs the replications of a scenario and prints their result.\n"
    "\n"
    "  -s, --set KEY=VALUE  override a key: vms.web.idle=hlt, host.slice=2ms; may be repeated\n"
    "      --seed N         seed instead of the scenario's\n"
    "      --reps N         replications instead of the scenario's\n"
    "  -j, --jobs N         processes (default 1); the result does not depend on it\n"
    "  -o, --output FILE    write there instead of to stdout\n"
    "  -f, --format F       table (default), json (schema tandem.result/1) or csv\n"
    "      --timeline FILE  the first replication for ui.perfetto.dev or chrome://tracing (JSON)\n"
    "      --series FILE    the first replication in steps (CSV): preferred and busy vCPUs, steal "
    "and\n"
    "                       throughput of each VM, idle pCPUs; 'tandem plot steal-timeline' draws "
    "it\n"
    "      --series-step T  length of a step (default 100ms)\n"
    "      --gantt FILE     the first replication as spans of pCPUs and vCPUs (CSV); 'tandem plot "
    "gantt'\n"
    "                       draws it\n"
    "      --window FROM:TO this part of the run only in timeline and Gantt: 1.5s:1520ms, 2s:, "
    ":10ms\n"
    "\n"
    "example: tandem run configs/quickstart.yaml --reps 5 -j 2 --format json -o result.json\n";

static const struct option_spec spec[] = {
    {"set", 's', true},       {"seed", 0, true},     {"reps", 0, true},     {"jobs", 'j', true},
    {"output", 'o', true},    {"format", 'f', true}, {"timeline", 0, true}, {"series", 0, true},
    {"series-step", 0, true}, {"gantt", 0, true},    {"window", 0, true},   {"help", 'h', false},
    {NULL, 0, false}};

static const char *const formats[] = {"table", "json", "csv", NULL};

struct job {
    const struct scenario *s;
    struct record *record; /* of the first replication */
    int64_t n, next;
    struct run_values **runs;
};

static struct scenario *load(const struct options *o)
{
    const char **set = calloc(o->ngiven + 1, sizeof(*set));
    struct conf_errors errors = {0};
    struct scenario *s = NULL;
    size_t n = 0;

    if (!set)
        return NULL;
    for (size_t i = 0; i < o->ngiven; i++)
        if (strcmp(o->given[i].spec->name, "set") == 0)
            set[n++] = o->given[i].value;
    s = scenario_load(o->operand[0], set, n, &errors);
    conf_errors_print(&errors, stderr);
    conf_errors_free(&errors);
    free(set);
    return s;
}

static int replicate(const struct job *j, int64_t replication, struct run_values **v, char *error,
                     size_t size)
{
    const struct run_watch watch = record_watch(j->record);
    const bool records = replication == 0 && record_wanted(j->record);

    return run_watched(j->s, j->s->seed, replication, records ? &watch : NULL, v, error, size);
}

static int pool_job_run(void *arg, struct pool_job job, char **text, char *error, size_t size)
{
    const struct job *j = arg;
    struct run_values *v;
    const int status = replicate(j, job.replication, &v, error, size);

    if (status)
        return status;
    *text = run_values_write(v);
    run_values_free(v);
    if (*text)
        return 0;
    snprintf(error, size, "out of memory");
    return STATUS_FAILED;
}

static bool pool_job_next(void *arg, struct pool_job *job)
{
    struct job *j = arg;

    if (j->next == j->n)
        return false;
    *job = (struct pool_job){.replication = j->next++};
    return true;
}

static int pool_job_done(void *arg, struct pool_job job, const char *text, int64_t wall_ms)
{
    struct job *j = arg;

    (void)wall_ms;
    j->runs[job.replication] = run_values_parse(text);
    return j->runs[job.replication] ? 0 : STATUS_BUG;
}

static int pool_job_failed(void *arg, struct pool_job job, int status, const char *report)
{
    (void)arg;
    fprintf(stderr, "tandem run: replication %lld: %s\n", (long long)job.replication, report);
    return status == STATUS_BUG ? STATUS_BUG : STATUS_FAILED;
}

static const struct pool_ops pool_ops = {
    .run = pool_job_run,
    .next = pool_job_next,
    .done = pool_job_done,
    .failed = pool_job_failed,
};

static int run_all(struct job *j, int64_t workers)
{
    char error[256] = "";
    int status = 0;

    if (workers > 1) {
        status = pool_run(&pool_ops, j, (int)workers, error, sizeof(error));
        if (status && *error)
            fprintf(stderr, "tandem run: %s\n", error);
        return status;
    }
    for (int64_t i = 0; i < j->n && !status; i++) {
        status = replicate(j, i, &j->runs[i], error, sizeof(error));
        if (status)
            fprintf(stderr, "tandem run: replication %lld: %s\n", (long long)i, error);
    }
    return status;
}

static int write_result(const struct job *j, int format, struct outfile *out)
{
    const struct manifest m = {.version = run_version(),
                               .git = run_git(),
                               .machine = j->s->machine.name,
                               .scenario_file = j->s->file,
                               .echo = j->s->echo,
                               .hash = j->s->hash,
                               .seed = j->s->seed};
    int bad;

    errno = 0;
    bad = format == 1   ? result_write_json(out->file, &m, j->runs, (int)j->n)
          : format == 2 ? result_write_csv(out->file, &m, j->runs, (int)j->n)
                        : result_write_table(out->file, &m, j->runs, (int)j->n);
    return bad;
}

static int io_error(const char *name)
{
    fprintf(stderr, "tandem run: %s: %s\n", name ? name : "stdout", strerror(errno ? errno : EIO));
    return STATUS_IO;
}

/* The outputs are opened first: nobody waits for a result that cannot be written. */
static int run_and_write(const struct options *o, struct job *j, int format, int64_t workers)
{
    const char *name = option_text(o, "output", NULL), *which;
    struct outfile out;
    int status;

    if (outfile_open(&out, name))
        return io_error(name);
    if (record_open(j->record, &which)) {
        status = io_error(which);
        outfile_close(&out, 1);
        return status;
    }
    status = run_all(j, workers);
    if (record_close(j->record, status, &which) && !status)
        status = io_error(which);
    if (status) {
        outfile_close(&out, 1);
        return status;
    }
    return outfile_close(&out, write_result(j, format, &out)) ? io_error(name) : STATUS_OK;
}

/* The time that `text` stands for, of `len` bytes; -1 when it is none. */
static ns_t time_of(const char *text, size_t len)
{
    struct conf_errors errors = {0};
    struct conf_tree *t = conf_read_text("time", text, len, &errors);
    ns_t v = -1;

    if (!t || !conf_ns(conf_root(t), &v, &errors))
        v = -1;
    conf_free(t);
    conf_errors_free(&errors);
    return v;
}

/* FROM:TO, either of which may be left out. */
static bool read_window(const struct options *o, struct record *r)
{
    const char *text = option_text(o, "window", NULL), *colon = text ? strchr(text, ':') : NULL;

    if (!text)
        return true;
    if (!r->name[RECORD_TIMELINE] && !r->name[RECORD_GANTT]) {
        options_error(o, "'--window' is for --timeline and --gantt, and neither is given");
        return false;
    }
    if (colon) {
        r->from = colon == text ? 0 : time_of(text, (size_t)(colon - text));
        r->to = colon[1] == '\0' ? 0 : time_of(colon + 1, strlen(colon + 1));
    }
    if (colon && r->from >= 0 && (colon[1] == '\0' || r->to > r->from))
        return true;
    options_error(o, "'--window' is '%s', expected FROM:TO, two times like 1.5s:1520ms", text);
    return false;
}

/* Steps shorter than a microsecond would say nothing and fill the disk. */
static bool read_record(const struct options *o, struct record *r)
{
    const char *step = option_text(o, "series-step", NULL);

    r->name[RECORD_TIMELINE] = option_text(o, "timeline", NULL);
    r->name[RECORD_SERIES] = option_text(o, "series", NULL);
    r->name[RECORD_GANTT] = option_text(o, "gantt", NULL);
    r->step = step ? time_of(step, strlen(step)) : 100 * NS_MS;
    if (r->step >= NS_US)
        return read_window(o, r);
    options_error(o, "'--series-step' is '%s', expected a time of at least 1us, like 100ms", step);
    return false;
}

/* Is the window one of this run? */
static bool window_fits(const struct options *o, const struct record *r)
{
    char end[32];

    if (r->from < r->scenario->duration && r->to <= r->scenario->duration)
        return true;
    conf_ns_text(r->scenario->duration, end);
    options_error(o, "'--window' is '%s', but the run ends at %s", option_text(o, "window", NULL),
                  end);
    return false;
}

static int run_scenario(const struct options *o, int format, int64_t workers)
{
    struct scenario *s;
    struct record record = {.step = 0};
    struct job j = {.record = &record};
    int64_t seed;
    int status = STATUS_USAGE;

    if (!read_record(o, &record))
        return STATUS_USAGE;
    if (!options_readable(o->operand[0]))
        return STATUS_IO;
    s = load(o);
    if (!s)
        return status;
    j.s = record.scenario = s;
    j.n = s->replications;
    seed = (int64_t)s->seed;
    if (window_fits(o, &record) && option_number(o, "reps", 1, 1000000, &j.n) &&
        option_number(o, "seed", 0, INT64_MAX, &seed)) {
        s->seed = (uint64_t)seed;
        j.runs = calloc((size_t)j.n, sizeof(struct run_values *));
        status = j.runs ? run_and_write(o, &j, format, workers) : STATUS_FAILED;
        for (int64_t i = 0; j.runs && i < j.n; i++)
            run_values_free(j.runs[i]);
        free(j.runs);
    }
    scenario_free(s);
    return status;
}

int cmd_run(int argc, char **argv)
{
    struct options o;
    int64_t workers = 1;
    int status = STATUS_USAGE, format;

    if (!options_read(&o, spec, argc, argv))
        return STATUS_USAGE;
    format = option_choice(&o, "format", formats, 0);
    if (option_flag(&o, "help")) {
        fputs(help, stdout);
        status = STATUS_OK;
    } else if (o.noperands != 1) {
        options_error(&o, "one scenario file is wanted, %zu given", o.noperands);
    } else if (format >= 0 && option_number(&o, "jobs", 1, POOL_MAX_WORKERS, &workers)) {
        status = run_scenario(&o, format, workers);
    }
    options_free(&o);
    return status;
}
