/* SPDX-License-Identifier: MIT */
/* Runs a scenario given as text; a fault in it fails the test with the message. */
#ifndef TESTS_SUPPORT_RUN_TEXT_H
#define TESTS_SUPPORT_RUN_TEXT_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

static inline struct scenario *scenario_of_text(const char *text)
{
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("test", text, strlen(text), &e);
    struct scenario *s = t ? scenario_from_tree(t, "configs/test.yaml", &e) : NULL;

    cr_assert(s, "%s", e.n ? e.list[0].text : "no scenario");
    conf_free(t);
    conf_errors_free(&e);
    return s;
}

static inline struct run_values *run_of_text(const char *text, uint64_t seed,
                                             struct trace_sink *trace)
{
    struct scenario *s = scenario_of_text(text);
    struct run_values *v = NULL;
    char error[256] = "";

    cr_assert(run_traced(s, seed, 0, trace, &v, error, sizeof(error)) == 0, "%s", error);
    scenario_free(s);
    return v;
}

static inline double metric_of(struct run_values *v, int row, enum metric_id m)
{
    return run_summary(&v, 1, row, m).mean;
}

#endif
