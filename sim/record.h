/* SPDX-License-Identifier: MIT */
/* What `tandem run` writes about the course of a run: its timeline, its series, its lanes, or several of them. */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include "run.h"
#include "study/outfile.h"

struct timeline;
struct series;
struct lanes;

enum record_kind { RECORD_TIMELINE, RECORD_SERIES, RECORD_GANTT, RECORD_KINDS };

struct record {
    const char *name[RECORD_KINDS]; /* files, NULL = not asked for */
    ns_t step;                      /* of the series */
    ns_t from, to;                  /* of timeline and lanes; to = 0: the end of the run */
    const struct scenario *scenario;
    struct outfile out[RECORD_KINDS];
    /* while it runs */
    const struct world *world;
    struct timeline *timeline;
    struct series *series;
    struct lanes *lanes;
    struct trace_sink all;
    char buf[128];
};

/* The files; nothing is there yet when the run is not finished. 0, or -1 with errno and the file in
 * *which. */
int record_open(struct record *r, const char **which);
int record_close(struct record *r, int failed, const char **which);
/* Any file asked for? */
static inline bool record_wanted(const struct record *r)
{
    return r->name[RECORD_TIMELINE] || r->name[RECORD_SERIES] || r->name[RECORD_GANTT];
}
struct run_watch record_watch(struct record *r);

#endif
