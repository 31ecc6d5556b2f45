/* SPDX-License-Identifier: MIT */
/*
 * Sweeps that must be refused: the files of data/sweep. A sweep without faults of its own tells those of
 * its points.
 */
#include "study/study.h"
#include "tests/support/refuse.h"

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
    refuse_folder("tests/reject/data/sweep", 3, refused);
}
