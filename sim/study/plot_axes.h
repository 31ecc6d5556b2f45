/* SPDX-License-Identifier: MIT */
/* Choosing the axes of a figure among those of the data. */
#ifndef SIM_STUDY_PLOT_AXES_H
#define SIM_STUDY_PLOT_AXES_H

#include "study/figure.h"

/* `path` as the data knows it: an axis of that name, else the only axis that ends in it, else
 * `path` itself (a key of the scenario). */
const char *axis_resolve(const char **axes, size_t n, const char *path);
/* Does `path`, a part of it, or its end match one of the alternatives, split by '|'? */
bool axis_like(const char *path, const char *alternatives);
/* Values of one axis, or of several with paths split by ',' together, over the used points, in the order of the points. 0, or -1 with *err. */
int axis_make(struct plot_axis *a, const char *path, const struct dataset *d, const bool *used,
              struct store_error *err);
void axis_free(struct plot_axis *a);
/* Fills x, series and facet of the grid. 0, or -1 with *err. */
int axes_choose(struct plot_grid *g, const struct plot_request *r, const struct dataset *d,
                struct store_error *err);
/* "the data has the axes a, b" for messages. */
void axes_describe(const struct dataset *d, char *out, size_t size);
int plot_fail(struct store_error *err, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a VM that is not among these names; `file` may be NULL. */
int plot_no_vm(struct store_error *err, const char *file, const char *vm, const char *const *names,
               size_t n);

#endif
