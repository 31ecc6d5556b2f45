/* SPDX-License-Identifier: MIT */
/* Ranges of a sweep file: {from: 1ms, to: 16ms, steps: 5, scale: log}. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/quantity.h"
#include "study/sweep_internal.h"

#define MAX_STEPS 10000

struct range {
    struct quantity from, to;
    int64_t steps;
    bool log;
};

static bool read_end(const struct conf_node *range, const char *key, struct quantity *q,
                     struct conf_errors *e)
{
    const struct conf_node *n = conf_get(range, key);
    const char *text;

    if (!n) {
        conf_error(e, range, "a range needs '%s'", key);
        return false;
    }
    text = conf_str(n, e);
    if (!text)
        return false;
    *q = quantity_parse(text);
    if (q->kind == QUANTITY_NONE) {
        conf_error(e, n, "'%s' is '%s', expected a number, with a unit where the key takes one",
                   key, text);
        return false;
    }
    return true;
}

static bool read_scale(const struct conf_node *range, struct range *r, struct conf_errors *e)
{
    const struct conf_node *n = conf_get(range, "scale");
    const char *text = n ? conf_str(n, e) : "linear";

    if (!text)
        return false;
    r->log = strcmp(text, "log") == 0;
    if (!r->log && strcmp(text, "linear") != 0) {
        conf_error(e, n, "'scale' is '%s', expected linear or log", text);
        return false;
    }
    return true;
}

static bool read_fields(const struct conf_node *n, struct range *r, struct conf_errors *e)
{
    bool ok = read_end(n, "from", &r->from, e);

    ok &= read_end(n, "to", &r->to, e);
    ok &= read_scale(n, r, e);
    if (!conf_get(n, "steps")) {
        conf_error(e, n, "a range needs 'steps': how many values, both ends included");
        return false;
    }
    ok &= conf_int(conf_get(n, "steps"), 2, MAX_STEPS, &r->steps, e);
    if (!ok)
        return false;
    /* A plain 0 needs no unit. */
    if (r->from.kind == QUANTITY_PLAIN && r->from.value == 0) {
        r->from.kind = r->to.kind;
        r->from.unit = r->to.unit;
    }
    if (r->from.kind != r->to.kind) {
        conf_error(e, n, "'from' and 'to' of a range need units of the same kind");
        return false;
    }
    if (r->log && (r->from.value <= 0 || r->to.value <= 0)) {
        conf_error(e, n, "a range with scale: log needs ends above 0");
        return false;
    }
    return true;
}

/* The ends are exact; what lies between is rounded for reading, and then is the value. */
static void text_of_step(const struct range *r, int64_t i, char out[48])
{
    const double t = (double)i / (double)(r->steps - 1);
    double v;

    if (i == 0)
        v = r->from.value;
    else if (i == r->steps - 1)
        v = r->to.value;
    else if (r->log)
        v = r->from.value * pow(r->to.value / r->from.value, t);
    else
        v = r->from.value + (r->to.value - r->from.value) * t;
    quantity_text(v, r->from.kind == QUANTITY_TIME && r->from.value > 0 ? r->from.unit : r->to.unit,
                  out);
}

bool sweep_read_range(struct sweep *s, struct sweep_axis *a, const struct conf_node *range,
                      struct conf_errors *e)
{
    struct range r = {.steps = 0};
    struct conf_tree **made;

    if (!read_fields(range, &r, e))
        return true;
    made = realloc(s->made, (s->nmade + (size_t)r.steps) * sizeof(*made));
    if (!made)
        return false;
    s->made = made;
    a->value = calloc((size_t)r.steps, sizeof(*a->value));
    if (!a->value)
        return false;
    for (int64_t i = 0; i < r.steps; i++) {
        char text[48];
        struct conf_tree *t;

        text_of_step(&r, i, text);
        if (a->n > 0 && strcmp(a->value[a->n - 1].label, text) == 0) {
            conf_error(e, range, "the range has two steps with the value %s: fewer steps", text);
            return true;
        }
        t = conf_read_text(s->file, text, strlen(text), e);
        if (!t)
            return true;
        s->made[s->nmade++] = t;
        conf_root(t)->line = range->line;
        conf_root(t)->column = range->column;
        a->value[a->n].node = conf_root(t);
        a->value[a->n].label = strdup(text);
        if (!a->value[a->n].label)
            return false;
        a->n++;
    }
    return true;
}
