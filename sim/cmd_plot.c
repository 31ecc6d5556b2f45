/* SPDX-License-Identifier: MIT */
/* tandem plot: a figure from the inputs that are named, and from no others. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "study/commands.h"
#include "study/course.h"
#include "study/facts.h"
#include "study/gantt.h"
#include "study/options.h"
#include "study/plot.h"
#include "study/plot_axes.h"

static const char *const sizes[] = {"one", "two", NULL};

static const struct option_spec option[] = {
    OPTION("output", 'o', "FILE", "the picture, .svg, .pdf or .png"),
    OPTION("x", 0, "PATH", "the horizontal axis"),
    OPTION("series", 0, "PATH", "one line, one bar of a group; in a map the vertical axis"),
    OPTION("facet", 0, "PATH", "one panel per value"),
    OPTION("metric", 'm', "NAME,...",
           "what is drawn ('tandem list metrics'); several: a panel each"),
    OPTION("relative-to", 0, "VALUE",
           "ratio to this value of the series axis, run by run; PATH=VALUE: of any axis, to the "
           "points that differ in it only, which are not drawn"),
    OPTION("relative-to-x", 0, "VALUE", "the same for a value of the horizontal axis"),
    OPTION("filter", 0, "PATH=VALUE", "only points with this value; may be given more than once"),
    OPTION("facts", 0, "NAME|FILE",
           "published changes ('tandem validate'): the axes 'ratio', 'published'"),
    OPTION("title", 0, "TEXT", "of the picture"),
    OPTION("xlabel", 0, "TEXT", "of the horizontal axis"),
    OPTION("ylabel", 0, "TEXT", "of the vertical axis"),
    OPTION("logx", 0, NULL, "logarithmic horizontal axis; a 0 is shown apart"),
    OPTION("logy", 0, NULL, "logarithmic vertical axis; a 0 is shown apart"),
    OPTION_OF("size", 0, "COLUMNS", "width of one column of text or two (default: two with panels)",
              sizes),
    OPTION("data", 0, "FILE", "the numbers of the picture (CSV)"),
    OPTION("script", 0, "FILE", "the gnuplot script of the picture"),
    OPTION_END,
};

const struct command_spec command_plot = {
    .name = "plot",
    .summary = "draw a figure from stores or results",
    .usage = "FIGURE STORE.db|RESULT.json... -o FILE [OPTION]...\n"
             "steal-timeline SERIES.csv -o FILE [OPTION]...\n"
             "gantt SPANS.csv [SPANS.csv] -o FILE [OPTION]...",
    .about = "Draws a figure ('tandem list figures' names them). Axes are named by the paths of "
             "the sweep, or their ends, or any key of the scenario, or 'file'; left out, they are "
             "taken in the order of the sweep. PATH,PATH makes one axis of two. steal-timeline "
             "draws what 'tandem run --series' wrote, gantt what 'tandem run --gantt' wrote, "
             "with --filter vm=NAME and --filter pcpu=0-7 for some of its lanes.",
    .option = option,
    .status = "0 done, 2 bad input, 3 cannot read or write, or gnuplot is missing",
    .example = "plot oversubscription demo.db -o oversubscription.svg",
};

struct command {
    struct options opt;
    struct plot_request request;
    struct plot_filter *filter;
    struct facts *facts;
    char *base, *new; /* POLICY=VALUE of the facts */
    struct dataset data;
    struct plot_grid grid;
    const char *output;
    int format;
    int size; /* -1: the command did not say */
};

static bool read_figure(struct command *c)
{
    const char *names[66];
    const char *near;
    size_t n = 0;

    if (c->opt.noperands < 2) {
        options_error(&c->opt, "needs a figure and one or more stores or result files");
        return false;
    }
    c->request.figure = figure_find(c->opt.operand[0]);
    if (c->request.figure)
        return true;
    while (n < nfigures && n < 64) {
        names[n] = figures[n].name;
        n++;
    }
    names[n++] = COURSE_FIGURE;
    names[n++] = GANTT_FIGURE;
    near = conf_nearest(c->opt.operand[0], names, n);
    options_error(&c->opt, "unknown figure '%s'%s%s%s", c->opt.operand[0],
                  near ? "; did you mean '" : "; 'tandem list figures' names them",
                  near ? near : "", near ? "'?" : "");
    return false;
}

static bool read_metric(struct command *c)
{
    const char *names[2 * METRIC_COUNT];
    const char *near, *list, *unknown = NULL;
    size_t n = 0, len = 0;
    char name[64];

    c->request.metric = list = option_text(&c->opt, "metric", NULL);
    while (list && plot_metric_next(&list, &unknown, &len))
        continue;
    if (!list || !unknown)
        return true;
    snprintf(name, sizeof(name), "%.*s", (int)len, unknown);
    for (int m = 0; m < METRIC_COUNT; m++) {
        names[n++] = metrics[m].key;
        if (metrics[m].alias)
            names[n++] = metrics[m].alias;
    }
    near = conf_nearest(name, names, n);
    options_error(&c->opt, "unknown metric '%s'%s%s%s", name,
                  near ? "; did you mean '" : "; 'tandem list metrics' names them",
                  near ? near : "", near ? "'?" : "");
    return false;
}

static bool read_filters(struct command *c)
{
    c->filter = calloc(c->opt.ngiven + 2, sizeof(*c->filter));
    for (size_t i = 0; c->filter && i < c->opt.ngiven; i++) {
        const struct option_given *given = &c->opt.given[i];
        const char *equals = strchr(given->value, '=');

        if (strcmp(given->spec->name, "filter") != 0)
            continue;
        if (!equals || equals == given->value) {
            options_error(&c->opt, "'--filter' is '%s', expected PATH=VALUE", given->value);
            return false;
        }
        c->filter[c->request.nfilters++] =
            (struct plot_filter){given->value, equals + 1, (size_t)(equals - given->value)};
    }
    c->request.filter = c->filter;
    return c->filter != NULL;
}

/* Those of every figure. */
static bool read_common(struct command *c)
{
    c->output = option_text(&c->opt, "output", NULL);
    if (!c->output) {
        options_error(&c->opt, "needs -o FILE.svg, FILE.pdf or FILE.png");
        return false;
    }
    c->format = picture_format(c->output);
    if (c->format < 0) {
        options_error(&c->opt, "'%s' must end in .svg, .pdf or .png", c->output);
        return false;
    }
    c->size = option_choice(&c->opt, "size", -2);
    return c->size != -1;
}

static bool read_options(struct command *c)
{
    struct plot_request *r = &c->request;

    if (!read_figure(c) || !read_metric(c) || !read_filters(c) || !read_common(c))
        return false;
    r->x = option_text(&c->opt, "x", NULL);
    r->series = option_text(&c->opt, "series", NULL);
    r->facet = option_text(&c->opt, "facet", NULL);
    r->relative_to = option_text(&c->opt, "relative-to", NULL);
    r->relative_to_x = option_text(&c->opt, "relative-to-x", NULL);
    r->title = option_text(&c->opt, "title", NULL);
    r->xlabel = option_text(&c->opt, "xlabel", NULL);
    r->ylabel = option_text(&c->opt, "ylabel", NULL);
    r->logx = option_flag(&c->opt, "logx");
    r->logy = option_flag(&c->opt, "logy");
    return true;
}

static int fail(const struct command *c, const struct store_error *err)
{
    options_error(&c->opt, "%s", err->text);
    return err->status;
}

static int io_error(const struct command *c, const char *file)
{
    options_error(&c->opt, "%s: %s", file, strerror(errno ? errno : EIO));
    return 3;
}

static int write_data(const struct command *c, const char *file)
{
    FILE *out = fopen(file, "w");
    int failed;

    if (!out)
        return io_error(c, file);
    failed = plot_grid_csv(out, &c->grid);
    if (fclose(out) != 0 || failed)
        return io_error(c, file);
    return 0;
}

static int write_script(const struct command *c, const char *file, const char *script)
{
    FILE *out = fopen(file, "w");

    if (!out)
        return io_error(c, file);
    fputs(script, out);
    return fclose(out) != 0 ? io_error(c, file) : 0;
}

/* What `put` writes, NULL without memory. */
static char *script_of(const struct command *c, const void *what, const char *folder,
                       int (*put)(FILE *, const struct command *, const void *, const char *))
{
    char *script = NULL;
    size_t size;
    FILE *out = open_memstream(&script, &size);
    int failed;

    if (!out)
        return NULL;
    failed = put(out, c, what, folder);
    if (fclose(out) == 0 && !failed)
        return script;
    free(script);
    return NULL;
}

static int put_grid(FILE *out, const struct command *c, const void *grid, const char *folder)
{
    return plot_script(out, grid, &c->request, (enum picture_format)c->format, folder);
}

static int no_template(const struct command *c, const char *name)
{
    options_error(&c->opt, "no template plots/%s: set TANDEM_HOME to the folder that has it", name);
    return 3;
}

/* Draws the script, which is freed, as is the origin. Both may be NULL: no memory. */
static int draw_script(struct command *c, char *script, char *origin)
{
    const char *script_file = option_text(&c->opt, "script", NULL);
    struct store_error err = {0};
    char *picture = NULL;
    size_t size = 0;
    int status = 3;

    if (!script || !origin)
        options_error(&c->opt, "out of memory");
    else if (script_file && write_script(c, script_file, script) != 0)
        status = 3;
    else if (!(picture = gnuplot_run(script, &size, &err)))
        status = fail(c, &err);
    else if (picture_write(c->output, (enum picture_format)c->format, picture, size, origin) != 0)
        status = io_error(c, c->output);
    else
        status = 0;
    free(picture);
    free(origin);
    free(script);
    return status;
}

static int draw(struct command *c)
{
    const char *template = figure_template(c->request.figure);
    char buf[4096];
    const char *folder = plot_folder(template, buf, sizeof(buf));

    if (!folder)
        return no_template(c, template);
    return draw_script(c, script_of(c, &c->grid, folder, put_grid),
                       picture_origin(&c->grid, &c->request, &c->data));
}

/* What the options mean for this kind of figure, before anything is read. */
static bool suits_kind(struct command *c)
{
    const struct plot_request *r = &c->request;
    struct store_error err = {0};
    const int keeps = plot_hist(r, &c->data.kept, &err);

    c->data.keeps = keeps == 1;
    if (keeps < 0)
        fail(c, &err);
    else if (r->logy && r->figure->kind != FIGURE_LINES && r->figure->kind != FIGURE_BARS)
        options_error(&c->opt, "'--logy' is for lines and bars");
    else
        return true;
    return false;
}

static char *assign(const char *path, const char *value)
{
    const size_t n = strlen(path) + strlen(value) + 2;
    char *text = malloc(n);

    if (text)
        snprintf(text, n, "%s=%s", path, value);
    return text;
}

/* Does the command say which policies are drawn? */
static bool chooses_policy(const struct command *c, const char *path)
{
    const struct plot_request *r = &c->request;

    for (size_t i = 0; i < r->nfilters; i++) {
        const size_t n = r->filter[i].path_len, all = strlen(path);

        if (n <= all && strncmp(path + all - n, r->filter[i].path, n) == 0)
            return true;
    }
    return r->x || r->series || r->facet;
}

/* A figure about published facts compares the policies that these compare. */
static void use_policies(struct command *c)
{
    const struct facts *f = c->facts;
    struct plot_request *r = &c->request;

    if (!r->relative_to && !r->relative_to_x)
        r->relative_to = c->base;
    if (!chooses_policy(c, f->policy))
        c->filter[r->nfilters++] =
            (struct plot_filter){c->new, c->new + strlen(f->policy) + 1, strlen(f->policy)};
}

/* Gives the points what the published facts say of them. */
static int use_facts(struct command *c)
{
    const char *name = option_text(&c->opt, "facts", c->request.figure->facts);
    struct conf_errors e = {0};
    int status = 0;

    if (!name)
        return 0;
    c->facts = facts_open(name, &e, &status);
    conf_errors_print(&e, stderr);
    conf_errors_free(&e);
    if (!c->facts)
        return status;
    c->base = assign(c->facts->policy, c->facts->base);
    c->new = assign(c->facts->policy, c->facts->new);
    if (!c->base || !c->new || !facts_label(c->facts, &c->data)) {
        options_error(&c->opt, "out of memory");
        return 3;
    }
    if (c->request.figure->facts)
        use_policies(c);
    return 0;
}

static bool positive_x(const struct plot_axis *x)
{
    return x->numeric && x->number[0] >= 0 && x->number[x->n - 1] > 0;
}

/* -- steal-timeline, which has no grid -- */

static bool course_options(struct command *c)
{
    static const char *const known[] = {"output", "filter", "title", "size", "script"};
    size_t k;

    for (size_t i = 0; i < c->opt.ngiven; i++) {
        const char *name = c->opt.given[i].spec->name;

        for (k = 0; k < 5 && strcmp(known[k], name) != 0; k++)
            continue;
        if (k == 5) {
            options_error(&c->opt, "'--%s' is not for %s", name, COURSE_FIGURE);
            return false;
        }
        if (strcmp(name, "filter") == 0 && strncmp(c->opt.given[i].value, "vm=", 3) != 0) {
            options_error(&c->opt, "'--filter' is '%s', %s knows vm=NAME only",
                          c->opt.given[i].value, COURSE_FIGURE);
            return false;
        }
    }
    if (c->opt.noperands == 2)
        return read_common(c);
    options_error(&c->opt, "%s needs one file of 'tandem run --series'", COURSE_FIGURE);
    return false;
}

static int course_filter(const struct command *c, struct course *course, struct store_error *err)
{
    const char **vm = calloc(c->opt.ngiven + 1, sizeof(*vm));
    size_t n = 0;
    int bad;

    if (!vm)
        return plot_fail(err, 4, "out of memory");
    for (size_t i = 0; i < c->opt.ngiven; i++)
        if (strcmp(c->opt.given[i].spec->name, "filter") == 0)
            vm[n++] = c->opt.given[i].value + strlen("vm=");
    bad = n > 0 ? course_keep(course, vm, n, err) : 0;
    free(vm);
    if (!bad && course->nvms > COURSE_VMS)
        return plot_fail(err, 2,
                         "%zu VMs are too many for one figure: choose up to %d by --filter vm=NAME",
                         course->nvms, COURSE_VMS);
    return bad;
}

static int put_course(FILE *out, const struct command *c, const void *course, const char *folder)
{
    return course_script(out, course, option_text(&c->opt, "title", NULL), c->size != 0,
                         (enum picture_format)c->format, folder);
}

static int plot_course(struct command *c)
{
    struct course course = {0};
    struct store_error err = {0};
    char buf[4096];
    const char *folder = plot_folder(COURSE_TEMPLATE, buf, sizeof(buf));
    int status;

    if (!course_options(c))
        return 2;
    if (!folder)
        return no_template(c, COURSE_TEMPLATE);
    if (course_read(&course, c->opt.operand[1], &err) || course_filter(c, &course, &err))
        status = fail(c, &err);
    else
        status = draw_script(
            c, script_of(c, &course, folder, put_course),
            strdup("{\"schema\":\"tandem.figure/1\",\"figure\":\"" COURSE_FIGURE "\"}"));
    course_free(&course);
    return status;
}

/* -- gantt, likewise -- */

static bool gantt_options(struct command *c, struct gantt_filter *f, const char **vm)
{
    static const char *const known[] = {"output", "filter", "title", "size", "script", "data"};
    size_t k;

    for (size_t i = 0; i < c->opt.ngiven; i++) {
        const char *name = c->opt.given[i].spec->name, *value = c->opt.given[i].value;

        for (k = 0; k < 6 && strcmp(known[k], name) != 0; k++)
            continue;
        if (k == 6) {
            options_error(&c->opt, "'--%s' is not for %s", name, GANTT_FIGURE);
            return false;
        }
        if (strcmp(name, "filter") != 0)
            continue;
        if (strncmp(value, "vm=", 3) == 0) {
            vm[f->nvms++] = value + 3;
        } else if (strncmp(value, "pcpu=", 5) == 0) {
            f->pcpus = value + 5;
        } else {
            options_error(&c->opt, "'--filter' is '%s', %s knows vm=NAME and pcpu=LIST only", value,
                          GANTT_FIGURE);
            return false;
        }
    }
    if (c->opt.noperands == 2 || c->opt.noperands == 3)
        return read_common(c);
    options_error(&c->opt, "%s needs one or two files of 'tandem run --gantt'", GANTT_FIGURE);
    return false;
}

static int put_gantt(FILE *out, const struct command *c, const void *gantt, const char *folder)
{
    const struct gantt_chart *g = gantt;
    const bool two = c->size == 1 || (c->size < 0 && g->n > 1);

    return gantt_script(out, g, option_text(&c->opt, "title", NULL), two,
                        (enum picture_format)c->format, folder);
}

static int gantt_data(const struct command *c, const struct gantt_chart *g, const char *file)
{
    FILE *out = fopen(file, "w");
    int failed;

    if (!out)
        return io_error(c, file);
    failed = gantt_csv(out, g);
    return fclose(out) != 0 || failed ? io_error(c, file) : 0;
}

static int draw_gantt(struct command *c, struct gantt_chart *g, const struct gantt_filter *f)
{
    const char *data = option_text(&c->opt, "data", NULL);
    struct store_error err = {0};
    char buf[4096];
    const char *folder = plot_folder(GANTT_TEMPLATE, buf, sizeof(buf));

    if (!folder)
        return no_template(c, GANTT_TEMPLATE);
    for (size_t i = 1; i < c->opt.noperands; i++)
        if (gantt_add(g, c->opt.operand[i], f, &err))
            return fail(c, &err);
    gantt_titles(g);
    if (data && gantt_data(c, g, data))
        return 3;
    return draw_script(c, script_of(c, g, folder, put_gantt), gantt_origin(g));
}

static int plot_gantt(struct command *c)
{
    const char **vm = calloc(c->opt.ngiven + 1, sizeof(*vm));
    struct gantt_filter f = {.vm = vm};
    struct gantt_chart g = {.n = 0};
    int status = 2;

    if (!vm)
        status = 4;
    else if (gantt_options(c, &f, vm))
        status = draw_gantt(c, &g, &f);
    gantt_chart_free(&g);
    free(vm);
    return status;
}

static int plot(struct command *c)
{
    const char *data_file = option_text(&c->opt, "data", NULL);
    struct store_error err = {0};
    int status = 0;

    if (c->opt.noperands > 0 && strcmp(c->opt.operand[0], COURSE_FIGURE) == 0)
        return plot_course(c);
    if (c->opt.noperands > 0 && strcmp(c->opt.operand[0], GANTT_FIGURE) == 0)
        return plot_gantt(c);
    if (!read_options(c) || !suits_kind(c))
        return 2;
    for (size_t i = 1; i < c->opt.noperands; i++)
        if (dataset_add(&c->data, c->opt.operand[i], &err) != 0)
            return fail(c, &err);
    status = use_facts(c);
    if (status)
        return status;
    if (plot_grid_make(&c->grid, &c->request, &c->data, &err) != 0)
        return fail(c, &err);
    c->request.two_columns = c->size == 1 || (c->size < 0 && c->grid.facet.n > 1);
    if (c->request.logx && !c->grid.cdf && !positive_x(&c->grid.x))
        return options_error(&c->opt, "'--logx' needs numbers above 0 along %s", c->grid.x.path);
    if (data_file)
        status = write_data(c, data_file);
    return status ? status : draw(c);
}

int cmd_plot(int argc, char **argv)
{
    struct command c = {0};
    int status;

    if (!options_read(&c.opt, &command_plot, argc, argv))
        return c.opt.status;
    status = plot(&c);
    plot_grid_free(&c.grid);
    dataset_free(&c.data);
    facts_free(c.facts);
    free(c.base);
    free(c.new);
    free(c.filter);
    options_free(&c.opt);
    return status;
}
