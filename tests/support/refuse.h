/* SPDX-License-Identifier: MIT */
/*
 * Files that must be refused. Each says itself what is wrong with it: one line
 * "# want LINE:COLUMN: message" per fault, in order; all faults of a file come out at once.
 */
#ifndef TESTS_SUPPORT_REFUSE_H
#define TESTS_SUPPORT_REFUSE_H

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define REFUSE_WANT "# want "

/* The lines that the file wants, as they will be printed. malloc'ed. */
static inline char *refuse_wanted(const char *path)
{
    char *text = NULL, line[1024];
    size_t len = 0;
    FILE *in = fopen(path, "r"), *out = open_memstream(&text, &len);

    cr_assert_not_null(in, "%s", path);
    while (fgets(line, sizeof(line), in))
        if (strncmp(line, REFUSE_WANT, strlen(REFUSE_WANT)) == 0)
            fprintf(out, "%s:%s", path, line + strlen(REFUSE_WANT));
    fclose(in);
    fclose(out);
    return text;
}

/* Every YAML file of the folder; `refused` reads one and returns what was printed, malloc'ed. */
static inline void refuse_folder(const char *folder, int least, char *(*refused)(const char *path))
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    int files = 0;

    cr_assert_not_null(d, "run from the top folder of the source");
    while ((entry = readdir(d))) {
        char path[512];

        if (!strstr(entry->d_name, ".yaml"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        char *want = refuse_wanted(path), *got = refused(path);

        cr_expect(strlen(want) > 0, "%s wants nothing", path);
        cr_expect_str_eq(got, want, "%s\n got: %s\nwant: %s", path, got, want);
        free(want);
        free(got);
        files++;
    }
    closedir(d);
    cr_expect_geq(files, least);
}

#endif
