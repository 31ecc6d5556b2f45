/* SPDX-License-Identifier: MIT */
/* See outfile.h. */
#include "study/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int outfile_open(struct outfile *o, const char *name)
{
    struct stat st;
    size_t room;

    *o = (struct outfile){.file = stdout, .name = name};
    if (!name || strcmp(name, "-") == 0) {
        o->name = NULL;
        return 0;
    }
    if (stat(name, &st) == 0 && !S_ISREG(st.st_mode)) {
        o->file = fopen(name, "w");
        return o->file ? 0 : -1;
    }
    room = strlen(name) + 32;
    o->temporary = malloc(room);
    if (!o->temporary)
        return -1;
    snprintf(o->temporary, room, "%s.%ld.tmp", name, (long)getpid());
    o->file = fopen(o->temporary, "w");
    if (o->file)
        return 0;
    free(o->temporary);
    return -1;
}

int outfile_close(struct outfile *o, int failed)
{
    int error = failed ? errno : 0;

    if (fflush(o->file) != 0 && !error)
        error = errno;
    if (o->name && fclose(o->file) != 0 && !error)
        error = errno;
    if (!failed && !error && o->temporary && rename(o->temporary, o->name) != 0)
        error = errno;
    if (o->temporary && (failed || error))
        unlink(o->temporary);
    free(o->temporary);
    errno = error;
    return failed || error ? -1 : 0;
}
