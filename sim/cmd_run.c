/* SPDX-License-Identifier: MIT */
/* tandem run: replications of one scenario, on several processes if asked, and their result. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "load.h"
#include "record.h"
#include "run.h"
#include "study/input.h"
#include "study/options.h"
#include "study/outfile.h"
#include "study/pool.h"
#include "study/repeat.h"

static const char *const formats[] = {"table", "json", "csv", NULL};

static const struct option_spec option[] = {
    OPTION("set", 's', "KEY=VALUE",
           "override a key: vms.web.idle=hlt, host.slice=2ms; may be repeated"),
    OPTION("seed", 0, "N", "seed instead of the scenario's"),
    OPTION("reps", 0, "N", "replications instead of the scenario's"),
    OPTION("jobs", 'j', "N", "processes (default 1); the result does not depend on it"),
    OPTION("output", 'o', "FILE", "write there instead of to stdout"),
    OPTION_OF("format", 'f', "F",
              "how the result is written (default table; json: schema tandem.result/1)", formats),
    OPTION("timeline", 0, "FILE",
           "the first replication for ui.perfetto.dev or chrome://tracing (JSON)"),
    OPTION("series", 0, "FILE",
           "the first replication in steps (CSV): preferred and busy vCPUs, steal and throughput "
           "of each VM, idle pCPUs; 'tandem plot steal-timeline' draws it"),
    OPTION("series-step", 0, "T", "length of a step (default 100ms)"),
    OPTION("gantt", 0, "FILE",
           "the first replication as spans of pCPUs and vCPUs (CSV); 'tandem plot gantt' draws it"),
    OPTION("window", 0, "FROM:TO",
           "this part of the run only in timeline and Gantt: 1.5s:1520ms, 2s:, :10ms"),
    OPTION_POLICY,
    OPTION_END,
};

const struct command_spec command_run = {
    .name = "run",
    .summary = "run one scenario and print its result",
    .usage = "SCENARIO [OPTION]...",
    .about = "Runs the replications of a scenario and prints their result.",
    .option = option,
    .example = "run configs/quickstart.yaml --reps 5 -j 2 --format json -o result.json",
};

struct job {
    const struct options *o;
    const struct scenario *s;
    struct record *record; /* of the first replication */
    int64_t n;
    struct run_values **runs;
};

static void tell(void *arg, int64_t replication, int64_t wall_ms, const struct run_values *v)
{
    const struct job *j = arg;

    options_tell(j->o, "replication %lld of %lld: %.2f s, %llu events, fingerprint %016llx",
                 (long long)replication + 1, (long long)j->n, (double)wall_ms / 1e3,
                 (unsigned long long)v->events, (unsigned long long)v->fingerprint);
}

static int run_all(struct job *j, int64_t workers)
{
    const struct run_watch watch = record_watch(j->record);
    const struct repeat r = {.scenario = j->s,
                             .n = j->n,
                             .workers = (int)workers,
                             .who = "tandem run",
                             .watch = record_wanted(j->record) ? &watch : NULL,
                             .done = tell,
                             .arg = j,
                             .progress =
                                 !option_flag(j->o, "quiet") && !option_flag(j->o, "verbose")};
    int status;

    j->runs = repeat_runs(&r, &status);
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
                               .seed = j->s->seed,
                               .policy = policies_hash()};
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
    r->name[RECORD_TIMELINE] = option_text(o, "timeline", NULL);
    r->name[RECORD_SERIES] = option_text(o, "series", NULL);
    r->name[RECORD_GANTT] = option_text(o, "gantt", NULL);
    r->step = 100 * NS_MS;
    return option_ns(o, "series-step", NS_US, &r->step) && read_window(o, r);
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
    struct job j = {.o = o, .record = &record};
    int64_t seed;
    int status = STATUS_USAGE;

    if (!read_record(o, &record))
        return STATUS_USAGE;
    if (!options_readable(o->operand[0]))
        return STATUS_IO;
    s = input_scenario(o, o->operand[0]);
    if (!s)
        return status;
    options_tell(o, "%s: %lld VMs with %lld vCPUs on %s, hash %s", o->operand[0],
                 (long long)scenario_total_vms(s), (long long)scenario_total_vcpus(s),
                 s->machine.name, s->hash);
    j.s = record.scenario = s;
    j.n = s->replications;
    seed = (int64_t)s->seed;
    if (window_fits(o, &record) && option_number(o, "reps", 1, 1000000, &j.n) &&
        option_number(o, "seed", 0, INT64_MAX, &seed)) {
        s->seed = (uint64_t)seed;
        status = run_and_write(o, &j, format, workers);
        repeat_free(j.runs, j.n);
    }
    scenario_free(s);
    return status;
}

int cmd_run(int argc, char **argv)
{
    struct options o;
    int64_t workers = 1;
    int status = STATUS_USAGE, format;

    if (!options_read_policies(&o, &command_run, argc, argv))
        return o.status;
    format = option_choice(&o, "format", 0);
    if (o.noperands != 1)
        options_error(&o, "one scenario file is wanted, %zu given", o.noperands);
    else if (format >= 0 && option_number(&o, "jobs", 1, POOL_MAX_WORKERS, &workers))
        status = run_scenario(&o, format, workers);
    options_free(&o);
    return status;
}
