/* SPDX-License-Identifier: MIT */
/* The tables of C-states by name: the same numbers as the published ones, where those are at hand. */
#include <stdlib.h>

#include "tests/support/run_text.h"

static struct scenario *with_table(const char *name)
{
    char text[400];

    snprintf(text, sizeof(text),
             "machine: {base: x86-32, cstates: %s}\nduration: 1ms\nvms:\n"
             "  - {vcpus: 1, workload: {tasks: [{program: [{run: 1us}]}]}}\n",
             name);
    return scenario_of_text(text);
}

static const struct cstate *find(const struct machine *m, const char *name)
{
    for (int i = 0; i < m->ncstates; i++)
        if (strcmp(m->cstate[i].name, name) == 0)
            return &m->cstate[i];
    return NULL;
}

Test(cstates, a_name_stands_for_a_table)
{
    struct scenario *s = with_table("bdw");

    cr_assert_eq(s->machine.ncstates, 4);
    cr_expect_eq(find(&s->machine, "C3")->exit_latency, 40 * NS_US);
    cr_expect_eq(find(&s->machine, "C3")->residency, 100 * NS_US);
    cr_expect_str_eq(s->machine.cstate[0].name, "C1", "the lightest first");
    scenario_free(s);
}

Test(cstates, tables_are_those_of_intel_idle)
{
    const char *dir = getenv("TANDEM_SHARED");
    char path[512], line[200], table[16], state[16];
    struct scenario *s = NULL;
    int exit_us, residency_us, rows = 0;
    FILE *in;

    snprintf(path, sizeof(path), "%s/facts/intel_idle_cstates_us.csv", dir ? dir : "../shared");
    in = fopen(path, "r");
    if (!in)
        cr_skip_test("../shared/facts is not here");
    while (fgets(line, sizeof(line), in)) {
        const struct cstate *c;

        if (sscanf(line, "%15[^,],%15[^,],%d,%d", table, state, &exit_us, &residency_us) != 4)
            continue;
        s = with_table(table);
        c = find(&s->machine, state);
        cr_assert(c, "%s has no %s", table, state);
        cr_expect(c->exit_latency == exit_us * NS_US && c->residency == residency_us * NS_US,
                  "%s %s", table, state);
        scenario_free(s);
        rows++;
    }
    fclose(in);
    cr_expect_eq(rows, 25);
}
