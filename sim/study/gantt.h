/* SPDX-License-Identifier: MIT */
/*
 * The figure gantt: a window of one run at two levels, vCPUs on pCPUs and tasks on vCPUs, or of two runs beside each
 * other, from what `tandem run --gantt` wrote.
 */
#ifndef SIM_STUDY_GANTT_H
#define SIM_STUDY_GANTT_H

#include <cjson/cJSON.h>

#include "obs/spans.h"
#include "study/plot.h"

#define GANTT_FIGURE   "gantt"
#define GANTT_TEMPLATE "gantt.gp"
#define GANTT_SUMMARY                                                                              \
    "a time window at two levels, vCPUs on pCPUs and tasks on vCPUs, of one run --gantt or two"
#define GANTT_INPUTS 2
#define GANTT_VMS    9    /* colours that can be told apart, from white too */
#define GANTT_LANES  80   /* of one run that are drawn */
#define GANTT_SPANS  6000 /* likewise */

enum gantt_level { GANTT_PCPUS, GANTT_VCPUS, GANTT_LEVELS };

struct gantt_span {
    enum gantt_level level;
    size_t lane; /* in its level */
    size_t vm;   /* pCPUs: of the vCPU there; nvms: nobody */
    int vcpu;
    enum span_state state; /* vCPUs */
    char *task;            /* current, or "" */
    ns_t from, to;
};

/* A wake-up between lanes of vCPUs. */
struct gantt_wake {
    size_t from_lane, to_lane;
    ns_t from, to;
};

struct gantt_vm {
    const char *name; /* the origin's */
    int vcpus;
    size_t first_lane; /* lanes of its vCPUs follow each other; SIZE_MAX: left out */
};

/* One run. */
struct gantt_run {
    char *name;     /* of the file without folder and ending */
    cJSON *origin;  /* its first line */
    char title[96]; /* "" or what tells it from the other */
    ns_t from, to;
    int npcpus;
    size_t nvms;
    struct gantt_vm *vm;
    size_t nlanes[GANTT_LEVELS];
    int *pcpu; /* by lane */
    struct gantt_span *span;
    size_t nspans, spans_room;
    struct gantt_wake *wake;
    size_t nwakes, wakes_room;
};

struct gantt_chart {
    struct gantt_run run[GANTT_INPUTS];
    size_t n;
};

/* Which lanes: names of VMs for level 2, a list as in "0-3,8" for level 1. NULL and 0: all. */
struct gantt_filter {
    const char *const *vm;
    size_t nvms;
    const char *pcpus;
};

/* Reads one more run. 0, or -1 with *err; gantt_chart_free is due either way. */
int gantt_add(struct gantt_chart *g, const char *file, const struct gantt_filter *filter,
              struct store_error *err);
void gantt_chart_free(struct gantt_chart *g);
/* Titles for two runs: what their scenarios differ in, else the names of the files. */
void gantt_titles(struct gantt_chart *g);
/* What is drawn, as CSV. 0 or -1. */
int gantt_csv(FILE *out, const struct gantt_chart *g);
/* The script, complete. 0 or -1. */
int gantt_script(FILE *out, const struct gantt_chart *g, const char *title, bool two_columns,
                 enum picture_format format, const char *folder);
/* As picture_origin. */
char *gantt_origin(const struct gantt_chart *g);

#endif
