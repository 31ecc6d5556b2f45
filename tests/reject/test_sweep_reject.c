/* SPDX-License-Identifier: MIT */
/*
 * Sweeps that must be refused. Each file in data/sweep says itself what is wrong with it: one line
 * "# want LINE:COLUMN: message" per fault, in order. All faults of the file come out at once; when
 * it has none, those of its points do.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "study/study.h"

#define FOLDER "tests/reject/data/sweep"
#define WANT   "# want "

/* The lines that the file wants, as they will be printed. malloc'ed. */
static char *wanted(const char *path)
{
    char *text = NULL, line[1024];
    size_t len = 0;
    FILE *in = fopen(path, "r"), *out = open_memstream(&text, &len);

    cr_assert_not_null(in, "%s", path);
    while (fgets(line, sizeof(line), in))
        if (strncmp(line, WANT, strlen(WANT)) == 0)
            fprintf(out, "%s:%s", path, line + strlen(WANT));
    fclose(in);
    fclose(out);
    return text;
}

static char *refused(const char *path)
{
    struct conf_errors e = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct sweep *s = sweep_read(path, &e);
    struct study *st = s ? study_new(s, "1", "", &e) : NULL;

    cr_expect_null(st, "%s was accepted", path);
    conf_errors_print(&e, out);
    fclose(out);
    conf_errors_free(&e);
    study_free(st);
    sweep_free(s);
    return text;
}

Test(sweep_reject, every_fault_of_a_file_with_its_position)
{
    DIR *d = opendir(FOLDER);
    struct dirent *entry;
    int files = 0;

    cr_assert_not_null(d, "run from the top folder of the source");
    while ((entry = readdir(d))) {
        char path[512];

        if (!strstr(entry->d_name, ".yaml"))
            continue;
        snprintf(path, sizeof(path), FOLDER "/%s", entry->d_name);
        char *want = wanted(path), *got = refused(path);

        cr_expect(strlen(want) > 0, "%s wants nothing", path);
        cr_expect_str_eq(got, want, "%s\n got: %s\nwant: %s", path, got, want);
        free(want);
        free(got);
        files++;
    }
    closedir(d);
    cr_expect_geq(files, 3);
}
