/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people write them in scenarios: "2", "1.5", "20%", "200us". Used for ranges of axes,
 * for the order of labels and for the scales of figures; what a key means by its value is decided
 * where the scenario is read.
 */
#ifndef SIM_STUDY_QUANTITY_H
#define SIM_STUDY_QUANTITY_H

#include <stdbool.h>

enum quantity_kind { QUANTITY_NONE, QUANTITY_PLAIN, QUANTITY_PERCENT, QUANTITY_TIME };

struct quantity {
    enum quantity_kind kind;
    double value;     /* plain: the number; percent: as written; time: in ns */
    const char *unit; /* "", "%", "ns", "us", "ms", "s"; static */
};

/* kind is QUANTITY_NONE when the whole text is no such number. */
struct quantity quantity_parse(const char *text);
/* How many ns the unit of a time has; 1 for the others. */
double quantity_scale(const char *unit);
/* Text of `value` (ns for times, then rounded to whole ns) in `unit`. */
void quantity_text(double value, const char *unit, char out[48]);
/* Total order: numbers by kind and size before other texts; equals by bytes. */
int quantity_compare(const char *a, const char *b);
/* The shortest of %.15g, %.16g, %.17g that reads back as the same double. */
void quantity_exact(double v, char out[48]);

#endif
