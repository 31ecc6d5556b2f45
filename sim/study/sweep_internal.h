/* SPDX-License-Identifier: MIT */
/* What the readers of a sweep file share, and nobody else needs. */
#ifndef SIM_STUDY_SWEEP_INTERNAL_H
#define SIM_STUDY_SWEEP_INTERNAL_H

#include "study/sweep.h"

/* `axes:`, `pair:`; false without memory, all else is reported and reading goes on. */
bool sweep_read_axes(struct sweep *s, const struct conf_node *axes, struct conf_errors *e);
bool sweep_read_pairs(struct sweep *s, const struct conf_node *pair, struct conf_errors *e);
/* {from, to, steps, scale} -> values of the axis. */
bool sweep_read_range(struct sweep *s, struct sweep_axis *a, const struct conf_node *range,
                      struct conf_errors *e);
/* Paths that would change what the sweep itself decides: seed, replications. */
bool sweep_path_is_ours(const char *path);

/* `vary:`, which may be NULL -> one more axis; after the axes, before the pairs. False without
 * memory. */
bool sweep_read_vary(struct sweep *s, const struct conf_node *vary, struct conf_errors *e);
/* Multiplies the number that the value means in a point's tree, wherever it comes from: the tree
 * itself, a named machine or workload, or a default. False, and reported, when there is no such
 * number or it would stay as it is. A tree that is no sound scenario stays as it is. */
bool sweep_apply_vary(const struct sweep *s, struct conf_tree *t, const struct sweep_value *v,
                      struct conf_errors *e);
/* Leaves out the points in which nothing varies. Once, when all axes are known; false without
 * memory. */
bool sweep_leave_out(struct sweep *s, struct conf_errors *e);
/* A metric by key or alias; NULL and reported, with the nearest, when there is none. */
const struct metric *sweep_read_metric(const struct conf_node *n, struct conf_errors *e);
/* `until:`, which may be NULL. After `replications`. */
void sweep_read_until(struct sweep *s, const struct conf_node *until, struct conf_errors *e);
/* `only:` and `except:`, which may be NULL: leaves points out. After all axes; false without memory. */
bool sweep_read_filters(struct sweep *s, const struct conf_node *only,
                        const struct conf_node *except, struct conf_errors *e);
/* The tree of a point with all axes but `vary` set. */
struct conf_tree *sweep_tree_before_vary(const struct sweep *s, size_t point,
                                         struct conf_errors *e);

#endif
