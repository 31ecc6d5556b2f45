/* SPDX-License-Identifier: MIT */
/* The register of metrics: the rows of metrics.def as a table, searched by key or alias. */
#include <stdio.h>
#include <string.h>

#include "obs/result.h"

const struct metric metrics[METRIC_COUNT] = {
#define M(id_, key_, unit_, better_, alias_, help_)                                                \
    [METRIC_##id_] = {.key = (key_),                                                               \
                      .unit = (unit_),                                                             \
                      .better = (better_),                                                         \
                      .alias = (alias_),                                                           \
                      .help = (help_),                                                             \
                      .hist = -1},
#define Q(id_, key_, unit_, better_, alias_, help_, hist_, quantile_)                              \
    [METRIC_##id_] = {.key = (key_),                                                               \
                      .unit = (unit_),                                                             \
                      .better = (better_),                                                         \
                      .alias = (alias_),                                                           \
                      .help = (help_),                                                             \
                      .hist = (hist_),                                                             \
                      .quantile = (quantile_)},
#include "obs/metrics.def"
#undef M
#undef Q
};

const struct metric *metric_find(const char *name)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric *m = &metrics[i];

        if (strcmp(m->key, name) == 0 || (m->alias && strcmp(m->alias, name) == 0))
            return m;
    }
    return NULL;
}

const char *better_name(enum better b)
{
    static const char *const name[] = {
        [BETTER_HIGHER] = "higher", [BETTER_LOWER] = "lower", [BETTER_NONE] = "none"};

    return name[b];
}

static int wider(int width, const char *text)
{
    const int len = (int)strlen(text);

    return len > width ? len : width;
}

void metrics_list(FILE *out)
{
    static const char *const head[] = {"metric", "unit", "better", "alias"};
    int width[4];

    for (int c = 0; c < 4; c++)
        width[c] = wider(0, head[c]);
    for (int i = 0; i < METRIC_COUNT; i++) {
        width[0] = wider(width[0], metrics[i].key);
        width[1] = wider(width[1], metrics[i].unit);
        width[3] = wider(width[3], metrics[i].alias ? metrics[i].alias : "-");
    }
    fprintf(out, "%-*s  %-*s  %-*s  %-*s  meaning\n", width[0], head[0], width[1], head[1],
            width[2], head[2], width[3], head[3]);
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric *m = &metrics[i];

        fprintf(out, "%-*s  %-*s  %-*s  %-*s  %s\n", width[0], m->key, width[1], m->unit, width[2],
                better_name(m->better), width[3], m->alias ? m->alias : "-", m->help);
    }
}
