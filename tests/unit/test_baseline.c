/* SPDX-License-Identifier: MIT */
/* Baselines that somebody edited or merged. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study/baseline.h"

static const char *const good_run = "{\"seed\": \"1\", \"replication\": 0, \"fingerprint\": \"f\", "
                                    "\"metrics\": {\"latency_p99_us\": 2}}";

/* A baseline of `runs`; true when it is read, else *err tells why not. */
static bool reads(const char *runs, const char *behind, struct store_error *err)
{
    char path[] = "/tmp/tandem-baseline-XXXXXX";
    const int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");
    struct dataset d = {0};
    int status;

    cr_assert(out);
    fprintf(out,
            "{\"schema\": \"tandem.baseline/1\", \"points\": [{\"labels\": {}, \"manifest\": "
            "{\"hash\": "
            "\"1\", \"scenario\": {}}, \"replications\": [%s]}]}%s",
            runs, behind);
    fclose(out);
    *err = (struct store_error){0};
    status = baseline_read(&d, path, err);
    dataset_free(&d);
    remove(path);
    return status == 0;
}

/* What was edited by hand or merged badly is refused: as missing numbers it would pass for ever. */
Test(baseline, damaged)
{
    static const char *const bad[][2] = {
        {"3", "point 0 has in run 0 no seed"},
        {"{\"seed\": 1}", "no seed"},
        {"{\"seed\": \"1\", \"replication\": \"0\"}", "no replication"},
        {"{\"seed\": \"1\", \"replication\": 0, \"fingerprint\": 7}", "no fingerprint"},
        {"{\"seed\": \"1\", \"replication\": 0, \"fingerprint\": \"f\", \"metrics\": "
         "{\"latency_p99_us\": "
         "\"2\"}}",
         "a metric that is no number"}};
    struct store_error err;
    char twice[300];

    cr_assert(reads(good_run, "\n", &err), "%s", err.text);
    cr_expect(!reads(good_run, ">>>> theirs", &err));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_expect(!reads(bad[i][0], "", &err), "reads %s", bad[i][0]);
        cr_expect(strstr(err.text, bad[i][1]) && err.status == 2, "%s: %s", bad[i][0], err.text);
    }
    snprintf(twice, sizeof(twice), "%s, %s", good_run, good_run);
    cr_expect(!reads(twice, "", &err) && strstr(err.text, "has in run 1 the seed"), "%s", err.text);
}

static void add(struct dataset *d, int a)
{
    struct store_error err;
    char text[300];

    snprintf(text, sizeof(text),
             "{\"schema\": \"tandem.result/1\", \"manifest\": {\"hash\": \"%d\", \"scenario\": "
             "{\"a\": %d}}, \"replications\": [%s]}",
             a, a, good_run);
    cr_assert(dataset_add_text(d, "result", text, &err) == 0, "%s", err.text);
}

Test(baseline, of_another_scenario)
{
    struct dataset a = {0}, b = {0};
    struct store_error err = {0};

    add(&a, 1);
    add(&b, 10);
    cr_expect_eq(baseline_fits(&a, &a, "b.json", "do this", &err), 0);
    cr_expect_eq(baseline_fits(&a, &b, "b.json", "do this", &err), -1);
    cr_expect_eq(err.status, 2);
    cr_expect_str_eq(err.text, "b.json was made of another scenario: a was 1, is 10. If the change "
                               "is wanted, make a new one: do this");
    dataset_free(&a);
    dataset_free(&b);
}
