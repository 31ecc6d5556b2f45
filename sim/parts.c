/* SPDX-License-Identifier: MIT */
/* Helpers of the scenario and workload readers. See parts.h. */
#include "parts.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/check.h"
#include "obs/result.h"

void *parts_alloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    CHECK(p, "out of memory");
    return p;
}

char *parts_copy(const char *text)
{
    if (!text)
        return NULL;
    size_t len = strlen(text) + 1;

    return memcpy(parts_alloc(len, 1), text, len);
}

char *parts_format(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    CHECK(len >= 0, "text that cannot be formatted");
    char *text = parts_alloc((size_t)len + 1, 1);

    va_start(ap, fmt);
    vsnprintf(text, (size_t)len + 1, fmt, ap);
    va_end(ap);
    return text;
}

void *parts_grow(void *list, size_t n, size_t size)
{
    if (n & (n - 1))
        return list;
    void *p = realloc(list, (n ? 2 * n : 1) * size);

    CHECK(p, "out of memory");
    return p;
}

char *parts_unknown_metric(const char *name)
{
    const char *names[2 * METRIC_COUNT], *near;
    size_t n = 0;

    for (int m = 0; m < METRIC_COUNT; m++) {
        names[n++] = metrics[m].key;
        if (metrics[m].alias)
            names[n++] = metrics[m].alias;
    }
    near = conf_nearest(name, names, n);
    return near ? parts_format("unknown metric '%s'; did you mean '%s'?", name, near)
                : parts_format("unknown metric '%s'; 'tandem list metrics' names them", name);
}

void parts_unknown(struct conf_errors *e, const struct conf_node *at, const char *what,
                   const char *name, const char *const *names, size_t n)
{
    const char *near = conf_nearest(name, names, n);
    char *list = NULL;
    size_t len = 0;

    if (near || n == 0) {
        conf_error(e, at, "unknown %s '%s'%s%s%s", what, name, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
        return;
    }
    FILE *out = open_memstream(&list, &len);

    CHECK(out, "out of memory");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i ? ", " : "", names[i]);
    fclose(out);
    conf_error(e, at, "unknown %s '%s' (there are: %s)", what, name, list);
    free(list);
}

bool parts_read_rows(const struct param *table, void *dst, const struct conf_node *map,
                     const char *const *others, size_t nothers, const char *what,
                     struct conf_errors *e)
{
    size_t before = e->n, n = 0;
    const char **names = NULL;

    params_default(table, dst);
    if (!parts_mapping(map, what, e))
        return false;
    for (size_t i = 0; i < nothers; i++) {
        names = parts_grow(names, n, sizeof(*names));
        names[n++] = others[i];
    }
    for (const struct param *p = table; p->name; p++) {
        const struct conf_node *value = conf_get(map, p->name);

        names = parts_grow(names, n, sizeof(*names));
        names[n++] = p->name;
        if (value)
            param_read(p, dst, value, e);
    }
    if (map)
        conf_only_keys(map, names, n, what, e);
    free(names);
    return parts_clean(e, before);
}

bool parts_mapping(const struct conf_node *n, const char *what, struct conf_errors *e)
{
    if (!n || n->kind == CONF_MAP)
        return true;
    conf_error(e, n, "%s must be a mapping (key: value)", what);
    return false;
}

bool parts_name(const struct conf_node *n, const char *what, struct conf_errors *e)
{
    const char *text = conf_str(n, e);

    if (!text)
        return false;
    for (const char *c = text; *c; c++) {
        if (isalnum((unsigned char)*c) || *c == '-' || *c == '_')
            continue;
        conf_error(e, n, "%s '%s': only letters, digits, '-' and '_' may stand in a name", what,
                   text);
        return false;
    }
    return true;
}

char *parts_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *base = parts_copy(slash ? slash + 1 : path);
    size_t len = strlen(base);

    if (len > 5 && strcmp(base + len - 5, ".yaml") == 0)
        base[len - 5] = '\0';
    return base;
}

char *parts_dir(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return parts_copy(".");
    if (slash == path)
        return parts_copy("/");
    return parts_format("%.*s", (int)(slash - path), path);
}

char *parts_ns(ns_t t)
{
    static const struct param P = {.name = "time", .type = PARAM_NS, .offset = 0};

    return param_text(&P, &t);
}
