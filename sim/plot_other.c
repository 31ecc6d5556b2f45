/* SPDX-License-Identifier: MIT */
/* The figures of `tandem plot` that have no grid of points. */
#include <stdlib.h>
#include <string.h>

#include "plot_command.h"
#include "run.h"
#include "study/course.h"
#include "study/gantt.h"
#include "study/plot_axes.h"
#include "study/score_plot.h"

bool plot_only_options(const struct plot_command *c, const char *figure, const char *const *known)
{
    size_t k;

    for (size_t i = 0; i < c->opt.ngiven; i++) {
        const char *name = c->opt.given[i].spec->name;

        for (k = 0; known[k] && strcmp(known[k], name) != 0; k++)
            continue;
        if (!known[k]) {
            options_error(&c->opt, "'--%s' is not for %s", name, figure);
            return false;
        }
    }
    return true;
}

/* -- steal-timeline -- */

static bool course_options(struct plot_command *c)
{
    static const char *const known[] = {"output", "filter", "title", "size", "script", NULL};

    if (!plot_only_options(c, COURSE_FIGURE, known))
        return false;
    for (size_t i = 0; i < c->opt.ngiven; i++) {
        const char *name = c->opt.given[i].spec->name;

        if (strcmp(name, "filter") == 0 && strncmp(c->opt.given[i].value, "vm=", 3) != 0) {
            options_error(&c->opt, "'--filter' is '%s', %s knows vm=NAME only",
                          c->opt.given[i].value, COURSE_FIGURE);
            return false;
        }
    }
    if (c->opt.noperands == 2)
        return plot_read_common(c);
    options_error(&c->opt, "%s needs one file of 'tandem run --series'", COURSE_FIGURE);
    return false;
}

static int course_filter(const struct plot_command *c, struct course *course,
                         struct store_error *err)
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

static int put_course(FILE *out, const struct plot_command *c, const void *course,
                      const char *folder)
{
    return course_script(out, course, option_text(&c->opt, "title", NULL), c->size != 0,
                         (enum picture_format)c->format, folder);
}

int plot_course(struct plot_command *c)
{
    struct course course = {0};
    struct store_error err = {0};
    char buf[4096];
    const char *folder = plot_folder(COURSE_TEMPLATE, buf, sizeof(buf));
    int status;

    if (!course_options(c))
        return 2;
    if (!folder)
        return plot_no_template(c, COURSE_TEMPLATE);
    if (course_read(&course, c->opt.operand[1], &err) || course_filter(c, &course, &err))
        status = plot_failed(c, &err);
    else
        status = plot_draw(c, plot_script_of(c, &course, folder, put_course),
                           course_origin(c->opt.operand[1], run_version()));
    course_free(&course);
    return status;
}

/* -- scoreboard, whose grid is that of the published facts -- */

static int csv_of_score(FILE *out, const void *score)
{
    return score_plot_csv(out, &((const struct score_plot *)score)->board);
}

static int put_score(FILE *out, const struct plot_command *c, const void *score, const char *folder)
{
    return score_script(out, score, (enum picture_format)c->format, folder);
}

static int draw_score(struct plot_command *c, const struct plot_grid *used, const char *folder)
{
    struct score_plot p = {.title = c->request.title, .two_columns = c->size != 0};
    const char *data_file = option_text(&c->opt, "data", NULL);
    struct store_error err = {0};
    int status = 0;

    if (scoreboard_make(&p.board, c->facts, &c->data, used->used, &err) != 0)
        status = plot_failed(c, &err);
    else if (data_file)
        status = plot_write(c, data_file, &p, csv_of_score);
    if (!status)
        status = plot_draw(c, plot_script_of(c, &p, folder, put_score),
                           picture_origin(used, &c->request, &c->data));
    scoreboard_free(&p.board);
    return status;
}

int plot_score(struct plot_command *c)
{
    static const char *const known[] = {"output", "filter", "title",  "size",
                                        "facts",  "data",   "script", NULL};
    static const struct figure figure = {.name = SCORE_FIGURE};
    struct plot_grid used = {.nmetrics = 1};
    struct store_error err = {0};
    char buf[4096];
    const char *folder = plot_folder(SCORE_TEMPLATE, buf, sizeof(buf));
    int status = 0;

    if (!plot_only_options(c, SCORE_FIGURE, known) || !plot_read_filters(c) || !plot_read_common(c))
        return 2;
    c->request.figure = &figure;
    c->request.title = option_text(&c->opt, "title", NULL);
    if (!option_text(&c->opt, "facts", NULL))
        return options_error(&c->opt, "needs --facts NAME, as in --facts smoke-x86");
    if (c->opt.noperands < 2)
        return options_error(&c->opt, "needs a store");
    if (!folder)
        return plot_no_template(c, SCORE_TEMPLATE);
    status = plot_inputs(c);
    if (!status)
        status = plot_use_facts(c);
    if (status)
        return status;
    used.metric[0] = c->facts->metric;
    used.used = malloc(c->data.n + 1);
    for (size_t i = 0; used.used && i < c->data.n; i++)
        used.used[i] = true;
    if (!used.used || plot_filter_points(used.used, &c->request, &c->data, &err) != 0)
        status = used.used ? plot_failed(c, &err) : 3;
    else
        status = draw_score(c, &used, folder);
    free(used.used);
    return status;
}

/* -- gantt -- */

static bool gantt_options(struct plot_command *c, struct gantt_filter *f, const char **vm)
{
    static const char *const known[] = {"output", "filter", "title", "size",
                                        "script", "data",   NULL};

    if (!plot_only_options(c, GANTT_FIGURE, known))
        return false;
    for (size_t i = 0; i < c->opt.ngiven; i++) {
        const char *name = c->opt.given[i].spec->name, *value = c->opt.given[i].value;

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
        return plot_read_common(c);
    options_error(&c->opt, "%s needs one or two files of 'tandem run --gantt'", GANTT_FIGURE);
    return false;
}

static int put_gantt(FILE *out, const struct plot_command *c, const void *gantt, const char *folder)
{
    const struct gantt_chart *g = gantt;
    const bool two = c->size == 1 || (c->size < 0 && g->n > 1);

    return gantt_script(out, g, option_text(&c->opt, "title", NULL), two,
                        (enum picture_format)c->format, folder);
}

static int csv_of_gantt(FILE *out, const void *gantt)
{
    return gantt_csv(out, gantt);
}

static int draw_gantt(struct plot_command *c, struct gantt_chart *g, const struct gantt_filter *f)
{
    const char *data = option_text(&c->opt, "data", NULL);
    struct store_error err = {0};
    char buf[4096];
    const char *folder = plot_folder(GANTT_TEMPLATE, buf, sizeof(buf));

    if (!folder)
        return plot_no_template(c, GANTT_TEMPLATE);
    for (size_t i = 1; i < c->opt.noperands; i++)
        if (gantt_add(g, c->opt.operand[i], f, &err))
            return plot_failed(c, &err);
    gantt_titles(g);
    if (data && plot_write(c, data, g, csv_of_gantt) != 0)
        return 3;
    return plot_draw(c, plot_script_of(c, g, folder, put_gantt), gantt_origin(g));
}

int plot_gantt(struct plot_command *c)
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
