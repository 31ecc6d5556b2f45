/* SPDX-License-Identifier: MIT */
/*
 * The sweep file: a base scenario, axes, pairs, numbers to vary one at a time. It becomes a list of
 * points, each with one value of every axis.
 *
 * Always true:
 *  - points are in row-major order: the first axis of the file changes slowest. Axes of one pair
 * move together and count as one, at the place of the first of them;
 *  - a point is a number and costs no memory until its tree is asked for;
 *  - labels of an axis differ from each other, so labels tell points apart;
 *  - `vary` is an axis like any other, the last one: `none`, then each path with each percentage. A
 * point is left out where its scenario does not have the number (of a group of paths: any), or where
 * it would stay as it is (0, or a small whole number); what is nowhere is an error;
 *  - points that `only` does not name, or `except` does, are left out before anything is made of
 *    them.
 */
#ifndef SIM_STUDY_SWEEP_H
#define SIM_STUDY_SWEEP_H

#include "conf/conf.h"
#include "obs/result.h"

#define SWEEP_MAX_POINTS 1000000

/* A number to be multiplied by 1 + percent / 100. */
struct sweep_varied {
    char *path;
    const struct conf_node *node; /* where the path stands in the file */
    double percent;
};

struct sweep_axis {
    const char *path; /* as written in the file */
    const struct conf_node *at;
    size_t group; /* axes with the same group move together */
    bool varies;  /* made by `vary:`: its values change one assumption each */
    size_t n;
    struct sweep_value {
        const struct conf_node *node; /* of an axis that varies: where it stands */
        char *label;
        /* only of an axis that varies: the numbers that are changed together; 0 for `none` */
        struct sweep_varied *varied;
        size_t nvaried;
        size_t nleft; /* points left out */
    } * value;
};

/* `until:`: replications go on until the 95 % interval of a metric is narrow. */
struct sweep_until {
    const struct metric *metric; /* NULL: not given */
    double half_width;           /* of the mean */
    int64_t min, max;            /* min 0: as many as `replications` say */
};

struct sweep {
    char *file;
    char *name;      /* of the file, without folder and ending */
    char *base_file; /* what paths inside the scenario are relative to */
    struct conf_tree *tree, *base;
    struct scenario_files *files; /* what scenarios of this sweep are read with */
    struct conf_tree **made;      /* values of ranges */
    size_t nmade;
    struct sweep_axis *axis;
    size_t naxes;
    size_t *group; /* points per group */
    size_t ngroups, npoints;
    size_t *kept; /* places of the points among all combinations; NULL: every one is a point */
    int64_t replications; /* 0: the scenario's own number */
    struct sweep_until until;
    const struct metric **metrics; /* NULL-terminated; empty when the file names none */
    size_t nmetrics;
    bool has_seed;
    char *seed; /* as text: a tree takes text */
};

/* NULL with all faults of the file, and of its base, in *e. */
struct sweep *sweep_read(const char *file, struct conf_errors *e);
void sweep_free(struct sweep *s);
/* Which value of `axis` the point has. */
size_t sweep_coordinate(const struct sweep *s, size_t point, size_t axis);
const char *sweep_label(const struct sweep *s, size_t point, size_t axis);
/* The axis of this path, or the only one that ends in it; s->naxes when there is none, with words for
 * a message in `why`. */
size_t sweep_find_axis(const struct sweep *s, const char *path, char *why, size_t size);
/* A message about a value that the axis does not have: the nearest label, or what there is. */
void sweep_no_value(const struct sweep *s, size_t axis, const char *label, char *out, size_t size);
/* The scenario of a point as a tree; NULL without memory. An axis that cannot be set is reported in
 * *e and left out, so that the rest can be checked too. Axes whose path goes through a short form
 * (host.slice) are set last, so that the scheduler they mean is the point's. What varies comes after
 * all of them; where they make no sound scenario it is left out without a word, as reading the tree
 * tells the faults. */
struct conf_tree *sweep_tree(const struct sweep *s, size_t point, struct conf_errors *e);
/* "a=1, b=x" for messages; malloc'ed, NULL without memory. */
char *sweep_where(const struct sweep *s, size_t point);

#endif
