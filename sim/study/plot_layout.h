/* SPDX-License-Identifier: MIT */
/* Where the parts of a picture stand. */
#ifndef SIM_STUDY_PLOT_LAYOUT_H
#define SIM_STUDY_PLOT_LAYOUT_H

#include "study/figure.h"

#define TIC_CHARS   32   /* of the text of a category, at most */
#define FACET_LINES 3    /* of the name of a panel, at most */
#define EM_PER_CHAR 0.62 /* DejaVu Sans, on the wide side */

/* Lengths in em, the size of the font. */
struct layout {
    double width, height;
    double top; /* title and legend */
    double title, legend, foot;
    size_t key_cols, key_rows;
    size_t cols, rows;                 /* of panels */
    double left, right, bottom, above; /* around the axes of one panel */
    size_t facet_chars;                /* of a line of a panel's name, at most */
    int rotate;                        /* texts of the x axis, in degrees */
};

struct layout lay_out(const struct plot_grid *g, const struct plot_request *r);
double panel_width(const struct layout *l);

/* How the x axis is drawn. */
bool x_is_categories(const struct plot_grid *g, const struct plot_request *r);
bool x_is_log(const struct plot_grid *g, const struct plot_request *r);
/* Where the value stands on the axis: categories at 1, 2, ...; a 0 on a logarithmic axis has a place
 * of its own left of the others. */
double x_place(const struct plot_grid *g, const struct plot_request *r, size_t x);
/* Is the first value such a 0? */
bool x_zero_apart(const struct plot_grid *g, const struct plot_request *r);

#endif
