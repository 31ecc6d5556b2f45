/* SPDX-License-Identifier: MIT */
/* The table of figures. A new one is one row here, and a template only when it is of a new kind. */
#include <stdio.h>
#include <string.h>

#include "study/commands.h"
#include "study/figure.h"

static const char *const templates[] = {
    [FIGURE_LINES] = "lines.gp",
    [FIGURE_BARS] = "bars.gp",
    [FIGURE_MAP] = "map.gp",
};

const char *figure_template(enum figure_kind kind)
{
    return templates[kind];
}

const struct figure *figure_find(const char *name)
{
    for (size_t i = 0; i < nfigures; i++)
        if (strcmp(figures[i].name, name) == 0)
            return &figures[i];
    return NULL;
}

void figures_list(FILE *out)
{
    for (size_t i = 0; i < nfigures; i++)
        fprintf(out, "%-17s %s\n", figures[i].name, figures[i].summary);
}

const struct figure figures[] = {
    {
        .name = "lines",
        .summary = "a metric along an axis, one line per value of another, 95 % intervals",
        .kind = FIGURE_LINES,
    },
    {
        .name = "bars",
        .summary = "grouped bars with 95 % intervals",
        .kind = FIGURE_BARS,
    },
    {
        .name = "map",
        .summary = "a heat map of a metric over two axes, with the values in the cells",
        .kind = FIGURE_MAP,
    },
    {
        .name = "oversubscription",
        .summary = "throughput against oversubscription, one line per guest policy, a panel per "
                   "workload",
        .kind = FIGURE_LINES,
        .x = "oversubscription",
        .needs_x = true,
        .series = "guest.policy|guest|policy|idle",
        .facet = "workload",
        .metric = "throughput_per_s",
        .xlabel = "oversubscription (vCPUs per pCPU)",
    },
};
const size_t nfigures = sizeof(figures) / sizeof(figures[0]);
