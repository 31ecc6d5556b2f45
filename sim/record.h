/* SPDX-License-Identifier: MIT */
/* What `tandem run` writes about the course of a run: its timeline, its series, or both. */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include "run.h"
#include "study/outfile.h"

struct timeline;
struct series;

struct record {
    const char *timeline, *series; /* files, NULL = not asked for */
    ns_t step;
    struct outfile timeline_out, series_out;
    /* while it runs */
    const struct world *world;
    struct timeline *t;
    struct series *s;
    struct trace_sink both;
    char name[128];
};

/* The files; nothing is there yet when the run is not finished. 0, or -1 with errno and the file in
 * *which. */
int record_open(struct record *r, const char **which);
int record_close(struct record *r, int failed, const char **which);
/* Any file asked for? */
static inline bool record_wanted(const struct record *r)
{
    return r->timeline || r->series;
}
struct run_watch record_watch(struct record *r);

#endif
