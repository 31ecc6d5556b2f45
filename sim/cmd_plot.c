/* SPDX-License-Identifier: MIT */
/* tandem plot: a figure from the inputs that are named, and from no others. */
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "parts.h"
#include "plot_command.h"
#include "study/commands.h"
#include "study/course.h"
#include "study/gantt.h"
#include "study/plot_axes.h"
#include "study/score_plot.h"

static const char *const sizes[] = {"one", "two", NULL};

static const struct option_spec option[] = {
    OPTION("output", 'o', "FILE",
           "the picture, .svg, .pdf, .png or .tex (with FILE-inc.pdf, for LaTeX)"),
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
    .usage = "FIGURE STORE.db[:SWEEP]|RESULT.json... -o FILE [OPTION]...\n"
             "scoreboard STORE.db[:SWEEP]... --facts NAME -o FILE [OPTION]...\n"
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

static bool read_figure(struct plot_command *c)
{
    const char *names[67];
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
    names[n++] = SCORE_FIGURE;
    names[n++] = GANTT_FIGURE;
    near = conf_nearest(c->opt.operand[0], names, n);
    options_error(&c->opt, "unknown figure '%s'%s%s%s", c->opt.operand[0],
                  near ? "; did you mean '" : "; 'tandem list figures' names them",
                  near ? near : "", near ? "'?" : "");
    return false;
}

static bool read_metric(struct plot_command *c)
{
    const char *list, *unknown = NULL;
    size_t len = 0;
    char *name, *text;

    c->request.metric = list = option_text(&c->opt, "metric", NULL);
    while (list && plot_metric_next(&list, &unknown, &len))
        continue;
    if (!list || !unknown)
        return true;
    name = parts_format("%.*s", (int)len, unknown);
    text = parts_unknown_metric(name);
    options_error(&c->opt, "%s", text);
    free(text);
    free(name);
    return false;
}

bool plot_read_filters(struct plot_command *c)
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
bool plot_read_common(struct plot_command *c)
{
    c->output = option_text(&c->opt, "output", NULL);
    if (!c->output) {
        options_error(&c->opt, "needs -o FILE.svg, FILE.pdf, FILE.png or FILE.tex");
        return false;
    }
    c->format = picture_format(c->output);
    if (c->format < 0) {
        options_error(&c->opt, "'%s' must end in .svg, .pdf, .png or .tex", c->output);
        return false;
    }
    if (c->format == PICTURE_TEX && !picture_tex_name(c->output)) {
        options_error(&c->opt,
                      "'%s': LaTeX can only include names of letters, digits, '-', '_' and '+'",
                      c->output);
        return false;
    }
    c->size = option_choice(&c->opt, "size", -2);
    return c->size != -1;
}

static bool read_options(struct plot_command *c)
{
    struct plot_request *r = &c->request;

    if (!read_figure(c) || !read_metric(c) || !plot_read_filters(c) || !plot_read_common(c))
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

static int csv_of_grid(FILE *out, const void *grid)
{
    return plot_grid_csv(out, grid);
}

static int put_grid(FILE *out, const struct plot_command *c, const void *grid, const char *folder)
{
    return plot_script(out, grid, &c->request, (enum picture_format)c->format, folder);
}

/* Filled shapes have a colour each and nothing else to tell them apart. */
static void note_colours(const struct plot_command *c)
{
    const enum figure_kind kind = c->request.figure->kind;
    const size_t n = c->grid.series.n;

    if (n > PLOT_FILLS && !option_flag(&c->opt, "quiet") &&
        (kind == FIGURE_BARS || kind == FIGURE_BOX || kind == FIGURE_STACK))
        fprintf(stderr,
                "tandem plot: note: %zu values of the series share %d colours; --filter, a facet, "
                "lines or a map would tell them apart\n",
                n, PLOT_FILLS);
}

static int draw(struct plot_command *c)
{
    const char *template = figure_template(c->request.figure);
    char buf[4096];
    const char *folder = plot_folder(template, buf, sizeof(buf));

    if (!folder)
        return plot_no_template(c, template);
    note_colours(c);
    return plot_draw(c, plot_script_of(c, &c->grid, folder, put_grid),
                     picture_origin(&c->grid, &c->request, &c->data));
}

/* What the options mean for this kind of figure, before anything is read. */
static bool suits_kind(struct plot_command *c)
{
    const struct plot_request *r = &c->request;
    struct store_error err = {0};
    const int keeps = plot_hist(r, &c->data.kept, &err);

    c->data.keeps = keeps == 1;
    if (keeps < 0)
        plot_failed(c, &err);
    else if (r->logy && (r->figure->kind == FIGURE_CDF || r->figure->kind == FIGURE_STACK))
        options_error(&c->opt, "'--logy' is for lines, bars, boxes and maps");
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
static bool chooses_policy(const struct plot_command *c, const char *path)
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
static void use_policies(struct plot_command *c)
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
int plot_use_facts(struct plot_command *c)
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

/* Panels, or more bars than can be told apart in one column. */
static bool needs_room(const struct plot_command *c)
{
    const enum figure_kind kind = c->request.figure->kind;
    const size_t bars =
        kind == FIGURE_BARS || kind == FIGURE_BOX ? c->grid.x.n * c->grid.series.n : 0;

    return c->grid.facet.n > 1 || bars > 36;
}

static int plot(struct plot_command *c)
{
    const char *data_file = option_text(&c->opt, "data", NULL);
    struct store_error err = {0};
    int status = 0;

    if (c->opt.noperands > 0 && strcmp(c->opt.operand[0], COURSE_FIGURE) == 0)
        return plot_course(c);
    if (c->opt.noperands > 0 && strcmp(c->opt.operand[0], SCORE_FIGURE) == 0)
        return plot_score(c);
    if (c->opt.noperands > 0 && strcmp(c->opt.operand[0], GANTT_FIGURE) == 0)
        return plot_gantt(c);
    if (!read_options(c) || !suits_kind(c))
        return 2;
    status = plot_inputs(c);
    if (!status)
        status = plot_use_facts(c);
    if (status)
        return status;
    if (plot_grid_make(&c->grid, &c->request, &c->data, &err) != 0)
        return plot_failed(c, &err);
    c->request.two_columns = c->size == 1 || (c->size < 0 && needs_room(c));
    if (c->request.logx && !c->grid.cdf && !positive_x(&c->grid.x))
        return options_error(&c->opt, "'--logx' needs numbers above 0 along %s", c->grid.x.path);
    if (data_file)
        status = plot_write(c, data_file, &c->grid, csv_of_grid);
    return status ? status : draw(c);
}

int cmd_plot(int argc, char **argv)
{
    struct plot_command c = {0};
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
