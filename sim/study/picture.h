/* SPDX-License-Identifier: MIT */
/*
 * Picture files: what gnuplot drew, with the line of JSON that says where it comes from.
 *
 * Always true: the file appears whole or not at all; nothing in it tells the time, so the same
 * script and origin give the same bytes.
 */
#ifndef SIM_STUDY_PICTURE_H
#define SIM_STUDY_PICTURE_H

#include <stddef.h>
#include <stdio.h>

#include "study/store.h"

#define PICTURE_DRAWN "picture" /* name of what cairolatex writes, without the ending */

enum picture_format { PICTURE_SVG, PICTURE_PDF, PICTURE_PNG, PICTURE_TEX };

/* Of TEX, `data` has the texts and `part` the PDF below them; else `part` is NULL. */
struct picture {
    char *data, *part; /* malloc'ed */
    size_t size, part_size;
};

/* From the ending of the file's name; -1 when it is none of these. */
int picture_format(const char *file);
/* Can LaTeX include a file of this name? */
bool picture_tex_name(const char *file);

/* Runs gnuplot on the script. 0, or -1 with *err. picture_free is due either way. */
int picture_draw(struct picture *p, const char *script, enum picture_format format,
                 struct store_error *err);
void picture_free(struct picture *p);

/* Puts the origin (ASCII) into the picture (SVG: <metadata>, PNG: a tEXt chunk, PDF: the subject of
 * its document information, TEX: a comment) and writes the file; of TEX the part, too, as
 * FILE-inc.pdf. 0 or -1 with errno. */
int picture_write(const char *file, enum picture_format format, const struct picture *p,
                  const char *origin);

/* Does some font have each letter of the script? 0, or -1 with *err. */
int picture_check_fonts(const char *script, struct store_error *err);
/* The PDF with other document information. 0, or -1 without memory. */
int picture_put_pdf(FILE *out, const char *data, size_t size, const char *origin);
/* What gnuplot's cairolatex wrote, its texts made literal; `part` is the name of the PDF below them,
 * without the ending. */
void picture_put_tex(FILE *out, const char *data, const char *part, const char *origin);
/* Script for cairolatex: texts that this would take for commands of its own are marked, and
 * picture_put_tex takes the marks away. malloc'ed, NULL without memory. */
char *picture_guard_tex(const char *script);

#endif
