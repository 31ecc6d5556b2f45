/* SPDX-License-Identifier: MIT */
/* `tandem list figures`: name, kind, what it shows, and what the data must have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/commands.h"
#include "study/course.h"
#include "study/figure.h"
#include "study/gantt.h"
#include "study/score_plot.h"

static const char *kind_name(const struct figure *f)
{
    static const char *const names[] = {
        [FIGURE_LINES] = "lines", [FIGURE_BARS] = "bars",   [FIGURE_MAP] = "map",
        [FIGURE_CDF] = "cdf",     [FIGURE_STACK] = "stack", [FIGURE_BOX] = "box",
    };

    return names[f->kind];
}

/* What the data must have, as "an axis idle or look, points with guest.policy=bare". */
static void list_needs(FILE *out, const struct figure *f)
{
    const char *before = "";

    if (f->needs_x && !f->facts) { /* these bring the axis */
        fprintf(out, "%san axis ", before);
        for (const char *p = f->x; *p; p++)
            if (*p == '|')
                fputs(" or ", out);
            else
                fputc(*p, out);
        before = ", ";
    }
    if (f->relative_to_x || f->relative_to) {
        const bool pair = f->relative_to && strchr(f->relative_to, '=');

        fprintf(out, "%s%s%s", before, pair ? "points with " : "the value ",
                f->relative_to_x ? f->relative_to_x : f->relative_to);
        before = ", ";
    }
    if (f->facts) {
        fprintf(out, "%spublished facts (%s unless --facts says)", before, f->facts);
        before = ", ";
    }
    if (f->kind == FIGURE_CDF)
        fprintf(out, "%sa store, which has histograms", before);
    if (f->kind == FIGURE_STACK && !f->metric)
        fprintf(out, "%s--metric", before);
}

void figures_each(figures_fn *each, void *arg)
{
    for (size_t i = 0; i < nfigures; i++) {
        char *needs = NULL;
        size_t size;
        FILE *out = open_memstream(&needs, &size);

        if (out) {
            list_needs(out, &figures[i]);
            fclose(out);
        }
        each(arg, figures[i].name, kind_name(&figures[i]), figures[i].summary, needs ? needs : "");
        free(needs);
    }
    each(arg, SCORE_FIGURE, "scoreboard", SCORE_SUMMARY, "--facts NAME");
    each(arg, GANTT_FIGURE, "gantt", GANTT_SUMMARY, "that file");
    each(arg, COURSE_FIGURE, "course", COURSE_SUMMARY, "that file");
}

static void put_line(void *arg, const char *name, const char *kind, const char *summary,
                     const char *needs)
{
    fprintf(arg, "%-17s %-11s %s%s%s\n", name, kind, summary, *needs ? "; needs " : "", needs);
}

void figures_list(FILE *out)
{
    figures_each(put_line, out);
}
