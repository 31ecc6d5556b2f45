/* SPDX-License-Identifier: MIT */
/* Scenarios that must be refused: the files of data/scenario, and overrides. */
#include "scenario.h"
#include "tests/support/refuse.h"

static char *refused(const char *path, const char *const *set, size_t nset)
{
    struct conf_errors e = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct scenario *s = scenario_load(path, set, nset, &e);

    cr_expect_null(s, "%s was accepted", path);
    conf_errors_print(&e, out);
    fclose(out);
    conf_errors_free(&e);
    scenario_free(s);
    return text;
}

static char *refused_file(const char *path)
{
    return refused(path, NULL, 0);
}

Test(scenario_reject, every_fault_of_a_file_with_its_position)
{
    refuse_folder("tests/reject/data/scenario", 25, refused_file);
}

Test(scenario_reject, overrides)
{
    static const struct {
        const char *set, *want;
    } CASES[] = {
        {"seed", "command line: 'seed' is no KEY=VALUE\n"},
        {"=3", "command line: '=3' is no KEY=VALUE\n"},
        {"vms.barriers.vcpus=many",
         "command line:1:1: 'vcpus' is 'many', expected a whole number from 1 to 4096\n"},
        {"machine=flat-88",
         "command line:1:1: unknown machine 'flat-88'; did you mean 'flat-8'?\n"},
        {"vms.barriers.mix=[cpu-bound]",
         "command line:1:1: VM 'barriers' has either a workload or a mix\n"},
        {"warmup=0", NULL},
        {"vms.barriers.workload=busy-service", NULL},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        if (!CASES[i].want)
            continue;
        char *got = refused("configs/quickstart.yaml", &CASES[i].set, 1);

        cr_expect_str_eq(got, CASES[i].want, "%s\n got: %s", CASES[i].set, got);
        free(got);
    }
    const char *both[] = {CASES[5].set, CASES[6].set};
    char *got = refused("configs/quickstart.yaml", both, 2);

    cr_expect(strstr(got, "measures latency"), "cold latency: %s", got);
    free(got);
}

Test(scenario_reject, files_that_are_not_there)
{
    char *got = refused("no/such/file.yaml", NULL, 0);

    cr_expect_str_eq(got, "no/such/file.yaml: cannot be opened: No such file or directory\n", "%s",
                     got);
    free(got);
}
