/* SPDX-License-Identifier: MIT */
/*
 * Output that appears whole or not at all: written beside its place and renamed when it is complete.
 * What is no regular file (a device, a pipe) is written in place.
 */
#ifndef SIM_STUDY_OUTFILE_H
#define SIM_STUDY_OUTFILE_H

#include <stdio.h>

struct outfile {
    FILE *file;
    const char *name; /* NULL: stdout */
    char *temporary;  /* NULL: written in place */
};

/* `name` NULL or "-": stdout. 0, or -1 with errno and nothing left behind. */
int outfile_open(struct outfile *o, const char *name);
/* `failed`: what was written is thrown away. 0, or -1 with errno when it could not be completed. */
int outfile_close(struct outfile *o, int failed);

#endif
