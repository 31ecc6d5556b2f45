/* SPDX-License-Identifier: MIT */
/* The course of one run, as `tandem run --series` wrote it, and the script of its figure. */
#ifndef SIM_STUDY_COURSE_H
#define SIM_STUDY_COURSE_H

#include "study/plot.h"

#define COURSE_FIGURE   "steal-timeline"
#define COURSE_TEMPLATE "steal-timeline.gp"
#define COURSE_SUMMARY                                                                             \
    "preferred vCPUs, steal, throughput and idle pCPUs over time, of a run --series"
#define COURSE_VMS 10 /* lines that can be told apart */

enum course_value {
    COURSE_PREFERRED,
    COURSE_BUSY,
    COURSE_STEAL,
    COURSE_THROUGHPUT,
    COURSE_IDLE,
    COURSE_VALUES
};

struct course {
    size_t nvms, n;
    char **vm;
    struct course_row {
        double time;                 /* s, the end of the step */
        size_t vm;                   /* nvms: the machine */
        double value[COURSE_VALUES]; /* NAN = none */
    } * row;                         /* in the order of the file */
};

/* 0, or -1 with *err. course_free is due either way. */
int course_read(struct course *c, const char *file, struct store_error *err);
void course_free(struct course *c);
/* Keeps these VMs only. 0, or -1 with *err when one of them is not there. */
int course_keep(struct course *c, const char *const *vm, size_t n, struct store_error *err);
/* Where the picture comes from, as one line of JSON in ASCII: the name of the file and a hash of what is
 * in it, as a series knows no scenario. malloc'ed, NULL without memory or file. */
char *course_origin(const char *file, const char *version);
/* The script, complete. 0 or -1. */
int course_script(FILE *out, const struct course *c, const char *title, bool two_columns,
                  enum picture_format format, const char *folder);

#endif
