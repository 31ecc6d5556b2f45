/* SPDX-License-Identifier: MIT */
/* tandem compare: has it become worse? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "obs/text.h"
#include "parts.h"
#include "run.h"
#include "study/baseline.h"
#include "study/commands.h"
#include "study/compare.h"
#include "study/input.h"
#include "study/outfile.h"
#include "study/plot_axes.h"

static const char *const formats[] = {"table", "json", "csv", NULL};

static const struct option_spec option[] = {
    OPTION("margin", 0, "P%", "a difference that does not matter, of the base's mean (default 2%)"),
    OPTION("confidence", 0, "C", "of intervals and of the whole (default 95%)"),
    OPTION("metrics", 'm', "NAME,...",
           "what is judged, or 'all' (default: throughput, latencies, wake-up latencies, barriers, "
           "fairness)"),
    OPTION("strict", 0, NULL, "undecided metrics and warnings fail, too"),
    OPTION("differs", 0, "PATH",
           "a parameter that is meant to differ, with all below it: no warning; may be repeated"),
    OPTION("by", 0, "PATH=A:B",
           "within one store or between two: the points of BASE that have A on this axis against "
           "those of NEW that have B"),
    OPTION_OF("format", 'f', "F", "how the comparison is written (default table)", formats),
    OPTION("output", 'o', "FILE", "write it there instead of to stdout"),
    OPTION("junit", 0, "FILE", "a test report in XML besides"),
    OPTION("markdown", 0, "FILE", "a table for a comment or a job's summary besides"),
    OPTION("annotate", 0, NULL,
           "lines that GitHub shows at the job: errors, warnings, and the verdict"),
    OPTION("quiet", 'q', NULL, "no table: the exit status, and what was asked for by name"),
    INPUT_OPTIONS,
    OPTION_POLICY,
    OPTION_END,
};

const struct command_spec command_compare = {
    .name = "compare",
    .summary = "has it become worse? statistics, and a verdict for CI",
    .usage = "BASE NEW [OPTION]...\nSTORE.db --by PATH=A:B [OPTION]...",
    .about =
        "Holds NEW against BASE. Each is a store (STORE.db or STORE.db:SWEEP), a result of 'tandem "
        "run --format json', a baseline, or a scenario (.yaml), which is run with the seed and the "
        "replications of BASE.\n"
        "What did not change is recognised by the fingerprints of the runs, exactly. Otherwise "
        "each "
        "metric is better, same (within the margin, shown by an equivalence test), worse, or "
        "undecided, with the replications that it would take. Runs are paired by seed where they "
        "can be. The page COMPARE.md tells how.",
    .option = option,
    .status = "0 not worse (undecided included), 1 worse, with --strict also undecided or a "
              "warning, 2 bad input, no baseline or one of another scenario, 3 cannot read or "
              "write, 4 a run failed",
    .example = "compare baseline.json gate.yaml --policy ./mine.so --junit gate.xml\n"
               "compare before.db after.db --margin 1% --metrics throughput,p99\n"
               "compare demo.db --by policy=bare:cps-load",
};

struct command {
    struct options opt;
    struct input_rules input;
    struct compare_rules rules;
    const char **differs;
    struct dataset base, new;
    struct compare result;
    char *axis; /* of --by */
    char *base_name, *new_name;
    int format;
};

/* "2%" or 0.02. A whole number without a sign is refused: 2 would be 200%, and is meant as 2%. */
static bool read_share(const struct options *o, const char *name, double lo, double hi, double *out)
{
    const char *text = option_text(o, name, NULL);
    bool bare = true;
    char *end;
    double v;

    if (!text)
        return true;
    v = strtod(text, &end);
    if (end > text && strcmp(end, "%") == 0) {
        v /= 100;
        end++;
        bare = false;
    }
    if (end == text || *end || !(v >= lo && v <= hi) || (bare && v >= 1)) {
        options_error(o, "'--%s' is '%s', expected a percentage from %g%% to %g%%, like 5%%", name,
                      text, 100 * lo, 100 * hi);
        return false;
    }
    *out = v;
    return true;
}

static bool read_options(struct command *c)
{
    bool failed;

    c->rules = (struct compare_rules){.margin = 0.02, .confidence = 0.95};
    c->input = (struct input_rules){.seed = -1, .jobs = 1};
    c->format = option_choice(&c->opt, "format", 0);
    c->rules.strict = option_flag(&c->opt, "strict");
    c->differs = option_all(&c->opt, "differs", &c->rules.ndiffers);
    c->rules.differs = c->differs;
    c->rules.metrics = input_metrics(&c->opt, &c->rules.nmetrics, &failed);
    if (c->format < 0 || failed || !c->differs ||
        !read_share(&c->opt, "margin", 0, 10, &c->rules.margin) ||
        !read_share(&c->opt, "confidence", 0.5, 0.9999, &c->rules.confidence) ||
        !input_rules_read(&c->opt, &c->input))
        return false;
    if (c->opt.noperands == 2 || (c->opt.noperands == 1 && option_text(&c->opt, "by", NULL)))
        return true;
    options_error(&c->opt, "needs BASE and NEW: stores, results, baselines or scenarios");
    return false;
}

static const char *new_operand(const struct command *c)
{
    return c->opt.operand[c->opt.noperands - 1];
}

/* A scenario is run as the base was: the same seeds can be paired. */
static void run_like_base(struct command *c)
{
    const struct data_point *p = &c->base.point[0];

    if (c->base.n == 0 || p->nruns == 0)
        return;
    if (c->input.seed < 0 && p->run[0].seed <= INT64_MAX)
        c->input.seed = (int64_t)p->run[0].seed;
    if (c->input.reps == 0)
        c->input.reps = (int64_t)p->nruns;
}

/* The three texts of PATH=A:B; false after a message. */
static bool read_by(struct command *c, char **a, char **b)
{
    const char *text = option_text(&c->opt, "by", NULL), *equals = strchr(text, '=');
    const char *colon = equals ? strchr(equals, ':') : NULL;
    const char **axes;
    size_t naxes;

    if (!colon || equals == text || colon == equals + 1 || !colon[1]) {
        options_error(&c->opt, "'--by' is '%s', expected PATH=A:B, like policy=bare:cps", text);
        return false;
    }
    axes = dataset_axes(&c->base, &naxes);
    *a = parts_format("%.*s", (int)(colon - equals) - 1, equals + 1);
    *b = parts_copy(colon + 1);
    c->axis = parts_format("%.*s", (int)(equals - text), text);
    if (axes) {
        char *full = parts_copy(axis_resolve(axes, naxes, c->axis));

        free(c->axis);
        c->axis = full;
    }
    free(axes);
    return true;
}

static char *side_name(const char *file, const char *axis, const char *value)
{
    const char *dot = strrchr(axis, '.');

    return parts_format("%s, %s=%s", file, dot ? dot + 1 : axis, value);
}

/* The sides of --by. 0, or 2 after a message. */
static int choose_sides(struct command *c)
{
    char *a = NULL, *b = NULL;
    bool found = false;

    if (read_by(c, &a, &b)) {
        const bool in_base = dataset_keep(&c->base, c->axis, a) > 0;

        found = in_base && dataset_keep(&c->new, c->axis, b) > 0;
        if (!found)
            options_error(&c->opt, "no point of %s has %s=%s",
                          in_base ? new_operand(c) : c->opt.operand[0], c->axis, in_base ? b : a);
    }
    if (found) {
        free(c->base_name);
        free(c->new_name);
        c->base_name = side_name(c->opt.operand[0], c->axis, a);
        c->new_name = side_name(new_operand(c), c->axis, b);
        c->differs[c->rules.ndiffers++] = c->axis;
    }
    free(a);
    free(b);
    return found ? 0 : STATUS_USAGE;
}

static void repair_names(struct command *c)
{
    text_repair(c->base_name);
    text_repair(c->new_name);
}

static int check_baseline(const struct command *c)
{
    const char *new = new_operand(c);
    struct store_error err = {0};
    char how[400];

    snprintf(how, sizeof(how), "tandem baseline write %.150s %.150s", c->opt.operand[0],
             input_is_scenario(new) ? new : "SCENARIO.yaml");
    if (baseline_fits(&c->base, &c->new, c->opt.operand[0], how, &err) == 0)
        return 0;
    options_error(&c->opt, "%s", err.text);
    return err.status;
}

static int read_inputs(struct command *c)
{
    const char *base = c->opt.operand[0], *new = new_operand(c);
    bool baseline;
    int status;

    if (access(base, F_OK) != 0 && errno == ENOENT && !strchr(base, ':'))
        return options_error(&c->opt,
                             "%s: there is no such base; 'tandem baseline write %s %s' makes one",
                             base, base, input_is_scenario(new) ? new : "SCENARIO.yaml");
    status = input_add(&c->opt, &c->base, base, &c->input, &baseline);
    if (status)
        return status;
    if (input_is_scenario(new)) {
        if (!options_readable(new))
            return STATUS_IO;
        run_like_base(c);
    }
    status = input_add(&c->opt, &c->new, new, &c->input, NULL);
    if (status)
        return status;
    if (option_text(&c->opt, "by", NULL))
        return choose_sides(c);
    return baseline ? check_baseline(c) : 0;
}

static int io_error(const struct command *c, const char *name)
{
    options_error(&c->opt, "%s: %s", name ? name : "stdout", strerror(errno ? errno : EIO));
    return STATUS_IO;
}

static int write_file(const struct command *c, const char *what,
                      int (*write)(FILE *, const struct compare *))
{
    const char *name = option_text(&c->opt, what, NULL);
    struct outfile out;

    if (!name)
        return 0;
    errno = 0;
    if (outfile_open(&out, name) != 0)
        return io_error(c, name);
    return outfile_close(&out, write(out.file, &c->result)) != 0 ? io_error(c, name) : 0;
}

static int write_main(const struct command *c)
{
    static int (*const writers[])(FILE *, const struct compare *) = {
        compare_write_table, compare_write_json, compare_write_csv};
    const char *name = option_text(&c->opt, "output", NULL);
    struct outfile out;

    if (option_flag(&c->opt, "quiet") && !name && !option_text(&c->opt, "format", NULL))
        return 0;
    errno = 0;
    if (outfile_open(&out, name) != 0)
        return io_error(c, name);
    return outfile_close(&out, writers[c->format](out.file, &c->result)) != 0 ? io_error(c, name)
                                                                              : 0;
}

/* Annotations go where they do not end up inside of a JSON or CSV text. */
static int annotate(const struct command *c)
{
    const bool mixes = c->format != 0 && !option_text(&c->opt, "output", NULL);
    FILE *out = mixes ? stderr : stdout;

    if (!option_flag(&c->opt, "annotate"))
        return 0;
    if (compare_write_annotations(out, &c->result) == 0 && fflush(out) == 0)
        return 0;
    return io_error(c, NULL);
}

static int compare(struct command *c)
{
    struct store_error err = {0};
    int status;

    if (!read_options(c))
        return STATUS_USAGE;
    c->base_name = parts_copy(c->opt.operand[0]);
    c->new_name = parts_copy(new_operand(c));
    status = read_inputs(c);
    if (status)
        return status;
    repair_names(c);
    if (compare_make(&c->result, &c->base, &c->new, c->base_name, c->new_name, &c->rules, &err) !=
        0) {
        options_error(&c->opt, "%s", err.text);
        return err.status;
    }
    status = write_file(c, "junit", compare_write_junit);
    if (!status)
        status = write_file(c, "markdown", compare_write_markdown);
    if (!status)
        status = write_main(c);
    if (!status)
        status = annotate(c);
    return status ? status : c->result.failed ? STATUS_REGRESSED : STATUS_OK;
}

int cmd_compare(int argc, char **argv)
{
    struct command c = {0};
    int status;

    if (!options_read_policies(&c.opt, &command_compare, argc, argv))
        return c.opt.status;
    status = compare(&c);
    compare_free(&c.result);
    dataset_free(&c.base);
    dataset_free(&c.new);
    free(c.rules.metrics);
    free(c.differs);
    free(c.axis);
    free(c.base_name);
    free(c.new_name);
    options_free(&c.opt);
    return status;
}
