/* SPDX-License-Identifier: MIT */
/*
 * From a grid to a picture file: a gnuplot script with the numbers, the templates in plots/,
 * gnuplot itself, and the metadata that says where the picture comes from.
 *
 * Always true: text of users reaches gnuplot in single quotes only, in which nothing is special but
 * the quote itself (which stands by itself in double ones), and with enhanced mode off: it is shown as it is and nothing in it is run.
 */
#ifndef SIM_STUDY_PLOT_H
#define SIM_STUDY_PLOT_H

#include "study/figure.h"
#include "study/picture.h"

/* The script, complete. `folder` is where the templates are. 0 or -1. */
int plot_script(FILE *out, const struct plot_grid *g, const struct plot_request *r,
                enum picture_format format, const char *folder);
/* Parts of a script: a text as an expression, that of a tic, which gnuplot takes as a format (its % are
 * doubled), a variable that holds a text, the terminal (lengths in em). */
void plot_put_text(FILE *out, const char *text);
void plot_put_tic(FILE *out, const char *text);
void plot_put_variable(FILE *out, const char *name, const char *text);
void plot_put_terminal(FILE *out, double width, double height, enum picture_format format);
/* Folder of the templates: $TANDEM_HOME/plots, then the source folder, then ./plots. Static; NULL
 * when no `name` is there. */
const char *plot_folder(const char *name, char *buf, size_t size);

/* Non-ASCII and control characters become '?': chunks of a PNG hold Latin-1. */
void picture_make_ascii(char *text);
/* Members `scenario`, the hash of the only one, or one over those of all; `points`, how many there are; and
 * `scenarios`, where they are few. */
struct json;
void origin_put_scenarios(struct json *j, const char **hashes, size_t n);
/* Where a picture comes from, as one line of JSON in ASCII. malloc'ed, NULL without memory. */
char *picture_origin(const struct plot_grid *g, const struct plot_request *r,
                     const struct dataset *d);
#endif
