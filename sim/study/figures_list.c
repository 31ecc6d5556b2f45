/* SPDX-License-Identifier: MIT */
/* `tandem list figures`: name, kind, what it shows, and what the data must have. */
#include <stdio.h>
#include <string.h>

#include "study/commands.h"
#include "study/course.h"
#include "study/figure.h"
#include "study/score_plot.h"

static const char *kind_name(const struct figure *f)
{
    static const char *const names[] = {
        [FIGURE_LINES] = "lines", [FIGURE_BARS] = "bars",   [FIGURE_MAP] = "map",
        [FIGURE_CDF] = "cdf",     [FIGURE_STACK] = "stack", [FIGURE_BOX] = "box",
    };

    return names[f->kind];
}

/* What the data must have, as "; needs an axis idle or look, points with guest.policy=bare". */
static void list_needs(FILE *out, const struct figure *f)
{
    const char *before = "; needs ";

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

void figures_list(FILE *out)
{
    for (size_t i = 0; i < nfigures; i++) {
        fprintf(out, "%-17s %-11s %s", figures[i].name, kind_name(&figures[i]), figures[i].summary);
        list_needs(out, &figures[i]);
        fputc('\n', out);
    }
    fprintf(out, "%-17s %-11s %s\n", SCORE_FIGURE, "scoreboard",
            SCORE_SUMMARY "; needs --facts NAME");
    fprintf(out, "%-17s %-11s %s\n", COURSE_FIGURE, "course", COURSE_SUMMARY "; needs that file");
}
