/* SPDX-License-Identifier: MIT */
/* Tables for programs: rows of texts as CSV with a head, or as a JSON list of objects. */
#ifndef SIM_STUDY_ROWS_H
#define SIM_STUDY_ROWS_H

#include <stdbool.h>

#include "obs/json.h"

struct rows {
    FILE *out;
    bool as_json;
    const char *const *column;
    size_t
        numbers; /* from this column on texts are numbers, in JSON without quotes; SIZE_MAX: none */
    struct json json;
};

/* `column`: names, NULL-terminated; it must outlive the rows. `numbers` may be set afterwards. Errors
 * stay in `out`. */
void rows_begin(struct rows *r, FILE *out, bool as_json, const char *const *column);
/* One text per column. NULL: an empty cell, in JSON null. */
void rows_put(struct rows *r, const char *const *text);
void rows_end(struct rows *r);

#endif
