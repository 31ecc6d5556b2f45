/* SPDX-License-Identifier: MIT */
/* Numbers with units: reading, writing, order. The program never leaves the C locale for numbers.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/quantity.h"

static const struct unit {
    const char *name;
    enum quantity_kind kind;
    double scale;
} units[] = {
    {"", QUANTITY_PLAIN, 1},    {"%", QUANTITY_PERCENT, 1}, {"ns", QUANTITY_TIME, 1},
    {"us", QUANTITY_TIME, 1e3}, {"ms", QUANTITY_TIME, 1e6}, {"s", QUANTITY_TIME, 1e9},
};
#define NUNITS (sizeof(units) / sizeof(units[0]))

struct quantity quantity_parse(const char *text)
{
    const char *p = text + (*text == '-' || *text == '+');
    struct quantity q = {.kind = QUANTITY_NONE, .unit = ""};
    char *end;

    /* strtod also takes hex, inf and nan, which no scenario means as a number. */
    if (!isdigit((unsigned char)*p) && !(*p == '.' && isdigit((unsigned char)p[1])))
        return q;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        return q;
    const double v = strtod(text, &end);

    while (*end == ' ')
        end++;
    for (size_t i = 0; i < NUNITS && isfinite(v); i++)
        if (strcmp(end, units[i].name) == 0)
            return (struct quantity){units[i].kind, v * units[i].scale, units[i].name};
    return q;
}

double quantity_scale(const char *unit)
{
    for (size_t i = 0; i < NUNITS; i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].scale;
    return 1;
}

void quantity_text(double value, const char *unit, char out[48])
{
    const double scale = quantity_scale(unit);
    double v = value;
    int digits = 6;

    if (scale > 1 || strcmp(unit, "ns") == 0) {
        v = round(value) / scale;
        digits = 12; /* all of a time up to a quarter of an hour */
    } else if (fabs(v - round(v)) < 1e-9 * fabs(v)) {
        v = round(v);
        digits = 15;
    }
    snprintf(out, 48, "%.*g%s", digits, v, unit);
    if (strchr(out, 'e')) /* no exponents: a time or a count is easier to read in full */
        snprintf(out, 48, "%.*f%s", fabs(v) < 1 ? 9 : 0, v, unit);
}

int quantity_compare(const char *a, const char *b)
{
    const struct quantity x = quantity_parse(a), y = quantity_parse(b);

    if (x.kind != y.kind) {
        if (x.kind == QUANTITY_NONE || y.kind == QUANTITY_NONE)
            return x.kind == QUANTITY_NONE ? 1 : -1;
        return x.kind < y.kind ? -1 : 1;
    }
    if (x.kind != QUANTITY_NONE && x.value != y.value)
        return x.value < y.value ? -1 : 1;
    return strcmp(a, b);
}

void quantity_exact(double v, char out[48])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, 48, "%.*g", digits, v);
        if (strtod(out, NULL) == v)
            return;
    }
}
