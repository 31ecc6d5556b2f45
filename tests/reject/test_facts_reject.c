/* SPDX-License-Identifier: MIT */
/*
 * Published facts that must be refused: the descriptions of data/facts, and tables, whose faults are
 * told with the line of the table.
 */
#include "study/facts.h"
#include "tests/support/refuse.h"
#include "tests/unit/study_fake.h"

static char *refused(const char *path)
{
    struct conf_errors e = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct facts *f = facts_read(path, &e);

    cr_expect_null(f, "%s was accepted", path);
    conf_errors_print(&e, out);
    fclose(out);
    conf_errors_free(&e);
    facts_free(f);
    return text;
}

Test(facts_reject, every_fault_of_a_description_with_its_position)
{
    refuse_folder("tests/reject/data/facts", 5, refused);
}

static const char description[] =
    "source: somewhere\n"
    "facts: table.csv\n"
    "change: delta\n"
    "metric: throughput_per_s\n"
    "axes: {workload: bench, count: vms}\n"
    "policy: {axis: policy, base: bare, new: other}\n"
    "group: bench\n"
    "ratio: {sold: [vms], of: host}\n"
    "predictors: {null: {below: 0, above: 1}, oracle: group-means}\n"
    "claims: [{claim: trend, limit: 50%, along: cpus, direction: up}]\n";

/* What the program says of this table, after the name of the file. */
static void expect_table(const char *table, const char *want)
{
    char wanted[600] = "", *got;
    const char *file;

    fake_file("table.csv", table);
    got = refused(fake_file("facts.yaml", description));
    file = fake_path("table.csv");
    for (const char *line = want; *line; line += strcspn(line, "\n") + 1)
        snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), "%s:%.*s\n", file,
                 (int)strcspn(line, "\n"), line);
    cr_expect_str_eq(got, wanted, "\n got: %s\nwant: %s", got, wanted);
    free(got);
}

Test(facts_reject, every_fault_of_a_table_with_its_line, .init = fake_dir_make,
     .fini = fake_dir_remove)
{
    expect_table("# none\n\nbench,vms,cpus,delta,host\na,2,4,1,8\na,2,4,1\n",
                 "5:1: 4 fields, expected 5 as in the line of names\n");
    expect_table("bench,vms,cpus,delta,host\na,2,4,x,8\na,4,,1,8\n", "3:1: no value of 'cpus'\n");
    expect_table("bench,vms,cpus,delta,host\na,2,4,+2 %,8\na,4,4,1,none\n",
                 "2:1: 'delta' is '+2 %', expected a number\n"
                 "3:1: 'host' is 'none', expected a number\n"
                 "3:1: 'host' must be above 0\n");
    expect_table("bench,vms,cpus,delta,host\r\na,2,4,1,8\r\nb,2,4,1,8\r\na , 2,5,1,8\r\n",
                 "4:1: the same cell as in line 2\n");
    expect_table("bench,vms,cpus,delta,host\na,2,few,1,8\n",
                 "2:1: 'cpus' is 'few', expected a number\n");
    expect_table("bench,vms,cpus,vms,delta,host\na,2,4,2,1,8\n",
                 "1:1: two columns are called 'vms'\n");
}
