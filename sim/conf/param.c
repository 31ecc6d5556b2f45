/* SPDX-License-Identifier: MIT */
/*
 * Parameter tables. Always true: a default goes through the same reader as a value from a file; a
 * value is stored only when it was read without fault.
 */
#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"
#include "conf/param.h"

static size_t table_rows(const struct param *table)
{
    size_t n = 0;
    while (table != NULL && table[n].name != NULL)
        n++;
    return n;
}

static size_t value_count(const struct param *p)
{
    size_t n = 0;
    while (p->values != NULL && p->values[n] != NULL)
        n++;
    return n;
}

const struct param *param_find(const struct param *table, const char *name)
{
    for (const struct param *p = table; p != NULL && p->name != NULL; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

static bool is_open(const struct param *p)
{
    return p->min == 0 && p->max == 0;
}

static int64_t upper(const struct param *p)
{
    return is_open(p) ? INT64_MAX : p->max;
}

static void *field(const struct param *p, void *dst)
{
    return (char *)dst + p->offset;
}

/* --- reading --- */

static bool read_ns(const struct param *p, void *dst, const struct conf_node *n,
                    struct conf_errors *e)
{
    ns_t v;
    if (!conf_ns(n, &v, e))
        return false;
    if (v < p->min || v > upper(p)) {
        char lo[32], hi[32], what[96];
        conf_ns_text(p->min, lo);
        conf_ns_text(p->max, hi);
        if (p->max == INT64_MAX)
            snprintf(what, sizeof what, "a time of at least %s", lo);
        else
            snprintf(what, sizeof what, "a time from %s to %s", lo, hi);
        conf_expected(e, n, what);
        return false;
    }
    memcpy(field(p, dst), &v, sizeof v);
    return true;
}

static bool read_real(const struct param *p, void *dst, const struct conf_node *n,
                      struct conf_errors *e)
{
    double v;
    int64_t max = upper(p);
    if (!conf_real(n, (double)p->min, max == INT64_MAX ? DBL_MAX : (double)max, &v, e))
        return false;
    memcpy(field(p, dst), &v, sizeof v);
    return true;
}

static bool enum_fault(const struct param *p, const struct conf_node *n, struct conf_errors *e)
{
    struct conf_buf b = {0};
    for (size_t i = 0; i < value_count(p); i++) {
        conf_buf_str(&b, i == 0 ? "" : ", ");
        conf_buf_str(&b, p->values[i]);
    }
    const char *near =
        n->kind == CONF_SCALAR ? conf_nearest(n->text, p->values, value_count(p)) : NULL;
    if (near != NULL) {
        conf_buf_str(&b, "; did you mean '");
        conf_buf_str(&b, near);
        conf_buf_str(&b, "'?");
    }
    struct conf_buf what = {0};
    conf_buf_str(&what, "one of ");
    conf_buf_str(&what, b.s == NULL ? "no values" : b.s);
    conf_expected(e, n, what.s == NULL ? "one of its values" : what.s);
    free(what.s);
    free(b.s);
    return false;
}

static bool read_enum(const struct param *p, void *dst, const struct conf_node *n,
                      struct conf_errors *e)
{
    for (size_t i = 0; n->kind == CONF_SCALAR && i < value_count(p); i++)
        if (strcmp(p->values[i], n->text) == 0) {
            int v = (int)i;
            memcpy(field(p, dst), &v, sizeof v);
            return true;
        }
    return enum_fault(p, n, e);
}

bool param_read(const struct param *p, void *dst, const struct conf_node *n, struct conf_errors *e)
{
    int64_t i;
    bool b;
    switch (p->type) {
    case PARAM_NS:
        return read_ns(p, dst, n, e);
    case PARAM_INT:
        if (!conf_int(n, p->min, upper(p), &i, e))
            return false;
        memcpy(field(p, dst), &i, sizeof i);
        return true;
    case PARAM_BOOL:
        if (!conf_bool(n, &b, e))
            return false;
        memcpy(field(p, dst), &b, sizeof b);
        return true;
    case PARAM_REAL:
        return read_real(p, dst, n, e);
    case PARAM_ENUM:
        return read_enum(p, dst, n, e);
    }
    return false;
}

static struct conf_node default_node(const struct param *p, const char *file)
{
    return (struct conf_node){.kind = CONF_SCALAR, .text = p->def, .key = p->name, .file = file};
}

void params_default(const struct param *table, void *dst)
{
    for (const struct param *p = table; p != NULL && p->name != NULL; p++) {
        struct conf_node n = default_node(p, "default");
        bool good = param_read(p, dst, &n, NULL);
        assert(good);
        (void)good;
    }
}

static void only_known(const struct param *table, const struct conf_node *map, const char *what,
                       struct conf_errors *e)
{
    size_t n = table_rows(table);
    const char **names = calloc(n + 1, sizeof *names);
    if (names == NULL) {
        conf_error(e, map, "out of memory");
        return;
    }
    for (size_t i = 0; i < n; i++)
        names[i] = table[i].name;
    conf_only_keys(map, names, n, what, e);
    free(names);
}

bool params_read(const struct param *table, void *dst, const struct conf_node *map,
                 const char *what, struct conf_errors *e)
{
    params_default(table, dst);
    return params_change(table, dst, map, what, e);
}

bool params_change(const struct param *table, void *dst, const struct conf_node *map,
                   const char *what, struct conf_errors *e)
{
    bool empty = map != NULL && map->kind == CONF_SCALAR && map->text[0] == '\0';
    if (map == NULL || empty)
        return true;
    if (map->kind != CONF_MAP) {
        conf_expected(e, map, "a mapping of parameters such as {name: value}");
        return false;
    }
    bool good = true;
    only_known(table, map, what, e);
    for (size_t i = 0; i < map->n; i++) {
        const struct param *p = param_find(table, map->child[i]->key);
        good &= p != NULL && param_read(p, dst, map->child[i], e);
    }
    return good;
}

/* --- writing --- */

char *param_text(const struct param *p, const void *src)
{
    const char *at = (const char *)src + p->offset;
    char out[32] = "";
    const char *text = out;
    int64_t i;
    double d;
    bool b;
    int v;
    switch (p->type) {
    case PARAM_NS:
        memcpy(&i, at, sizeof i);
        conf_ns_text(i, out);
        break;
    case PARAM_INT:
        memcpy(&i, at, sizeof i);
        snprintf(out, sizeof out, "%lld", (long long)i);
        break;
    case PARAM_BOOL:
        memcpy(&b, at, sizeof b);
        text = b ? "on" : "off";
        break;
    case PARAM_REAL:
        memcpy(&d, at, sizeof d);
        conf_real_text(d, out);
        break;
    case PARAM_ENUM:
        memcpy(&v, at, sizeof v);
        text = v >= 0 && (size_t)v < value_count(p) ? p->values[v] : "?";
        break;
    }
    char *copy = malloc(strlen(text) + 1);
    return copy == NULL ? NULL : strcpy(copy, text);
}

static void number_text(const struct param *p, int64_t v, char out[32])
{
    if (p->type == PARAM_NS)
        conf_ns_text(v, out);
    else
        snprintf(out, 32, "%lld", (long long)v);
}

static void add_range(const struct param *p, struct conf_buf *b)
{
    char lo[32], hi[32];
    if (p->type == PARAM_BOOL) {
        conf_buf_str(b, "on|off");
    } else if (p->type == PARAM_ENUM) {
        for (size_t i = 0; i < value_count(p); i++) {
            conf_buf_str(b, i == 0 ? "" : "|");
            conf_buf_str(b, p->values[i]);
        }
    } else {
        number_text(p, p->min, lo);
        number_text(p, p->max, hi);
        bool no_top = upper(p) == INT64_MAX;
        conf_buf_str(b, no_top ? ">= " : lo);
        conf_buf_str(b, no_top ? lo : "..");
        conf_buf_str(b, no_top ? "" : hi);
    }
}

char *param_range(const struct param *p)
{
    struct conf_buf b = {0};

    add_range(p, &b);
    return b.s;
}

static int wider(int width, const char *s)
{
    int len = s == NULL ? 0 : (int)strlen(s);
    return len > width ? len : width;
}

void params_list(const struct param *table, const char *indent, FILE *out)
{
    int name = 0, def = 0, range = 0;
    for (const struct param *p = table; p != NULL && p->name != NULL; p++) {
        struct conf_buf b = {0};
        add_range(p, &b);
        name = wider(name, p->name);
        def = wider(def, p->def);
        range = wider(range, b.s);
        free(b.s);
    }
    for (const struct param *p = table; p != NULL && p->name != NULL; p++) {
        struct conf_buf b = {0};
        add_range(p, &b);
        fprintf(out, "%s%-*s  %-*s  %-*s  %s [%s]\n", indent, name, p->name, def, p->def, range,
                b.s == NULL ? "" : b.s, p->help, p->source);
        free(b.s);
    }
}

/* --- checking a table --- */

static bool row_complete(const struct param *p, const char *what, struct conf_errors *e)
{
    if (p->def != NULL && p->help != NULL && p->source != NULL)
        return true;
    conf_error_file(e, what, "parameter '%s' has no %s", p->name,
                    p->def == NULL    ? "default"
                    : p->help == NULL ? "help"
                                      : "source");
    return false;
}

static bool row_sound(const struct param *p, const char *what, struct conf_errors *e)
{
    const char *why = NULL;
    if (p->type < PARAM_NS || p->type > PARAM_ENUM)
        why = "an unknown type";
    else if (p->type == PARAM_ENUM && value_count(p) == 0)
        why = "no values";
    else if (p->min > p->max)
        why = "a range that is empty";
    else if (p->type == PARAM_NS && p->min < 0)
        why = "a range with negative times";
    if (why != NULL)
        conf_error_file(e, what, "parameter '%s' has %s", p->name, why);
    return why == NULL;
}

static bool row_default(const struct param *p, const char *what, struct conf_errors *e)
{
    union {
        int64_t i;
        double d;
        bool b;
        int v;
    } into;
    struct param alone = *p;
    alone.offset = 0;
    struct conf_node n = default_node(p, what);
    return param_read(&alone, &into, &n, e);
}

bool params_check(const struct param *table, const char *what, struct conf_errors *e)
{
    bool good = true;
    for (const struct param *p = table; p != NULL && p->name != NULL; p++) {
        if (param_find(table, p->name) != p) {
            conf_error_file(e, what, "parameter '%s' stands in the table twice", p->name);
            good = false;
        }
        good &= row_complete(p, what, e) && row_sound(p, what, e) && row_default(p, what, e);
    }
    return good;
}
