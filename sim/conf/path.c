/* SPDX-License-Identifier: MIT */
/*
 * Overrides: a path of keys and list elements to a value. Always true: when an override fails, the
 * tree is as it was. The rules for paths stand in conf.h; paths that mean more than they say
 * (host.slice) are resolved by whoever knows the keys, before they come here.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define NAMES_MAX 64 /* of list elements, among which a near one is looked for */

struct walk {
    struct conf_tree *tree;
    const char *path; /* as given */
    char *copy;       /* the same, its dots replaced by ends; lives in the tree */
    const char *part[CONF_MAX_DEPTH];
    size_t n;
    const struct conf_node *value; /* from the time of the walk on: its copy in the tree */
    struct conf_errors *e;
};

static struct conf_node *no_memory(struct walk *w)
{
    conf_error(w->e, w->value, "out of memory");
    return NULL;
}

static bool is_index(const char *s)
{
    size_t len = strspn(s, "0123456789");
    return len > 0 && s[len] == '\0';
}

/* The path up to and without part i, for messages. */
static const char *before(const struct walk *w, size_t i, char out[CONF_SHOWN])
{
    if (i == 0) {
        strcpy(out, "the top level");
        return out;
    }
    char shown[CONF_SHOWN];
    char *head = malloc(strlen(w->path) + 1);
    if (head == NULL)
        return "it";
    size_t len = (size_t)(w->part[i] - w->copy) - 1;
    memcpy(head, w->path, len);
    head[len] = '\0';
    conf_shown(head, shown);
    free(head);
    snprintf(out, CONF_SHOWN, "'%.60s'", shown);
    return out;
}

static bool split(struct walk *w)
{
    char show[CONF_SHOWN];
    w->copy = conf_arena_copy(&w->tree->arena, w->path, strlen(w->path));
    if (w->copy == NULL)
        return no_memory(w) != NULL;
    for (char *s = w->copy;;) {
        size_t len = strcspn(s, ".");
        bool last = s[len] == '\0';
        s[len] = '\0';
        if (len == 0) {
            conf_error(w->e, w->value, "path '%s' has an empty part", conf_shown(w->path, show));
            return false;
        }
        if (len > CONF_MAX_KEY || w->n == CONF_MAX_DEPTH) {
            conf_error(w->e, w->value, "path '%s' is too long", conf_shown(w->path, show));
            return false;
        }
        w->part[w->n++] = s;
        if (last)
            return true;
        s += len + 1;
    }
}

static size_t height(const struct conf_node *n)
{
    size_t most = 0;
    for (size_t i = 0; i < n->n; i++) {
        size_t h = height(n->child[i]);
        if (h > most)
            most = h;
    }
    return n->kind == CONF_SCALAR ? 0 : most + 1;
}

/* --- list elements --- */

static const char *name_of(const struct conf_node *element)
{
    const struct conf_node *name = conf_get(element, "name");
    return name != NULL && name->kind == CONF_SCALAR ? name->text : NULL;
}

static struct conf_node *no_element(struct walk *w, const struct conf_node *list, size_t i)
{
    char path[CONF_SHOWN], part[CONF_SHOWN], where[CONF_SHOWN + 8];
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (size_t k = 0; k < list->n && n < NAMES_MAX; k++)
        if (name_of(list->child[k]) != NULL)
            names[n++] = name_of(list->child[k]);
    struct conf_buf b = {0};
    if (list->n == 0)
        conf_buf_str(&b, "; the list is empty");
    else if (!is_index(w->part[i]) && n > 0)
        conf_hint(&b, w->part[i], names, n, n == 1 ? "the only name is" : "names are");
    else {
        snprintf(where, sizeof where, "; its elements are 0 to %zu", list->n - 1);
        conf_buf_str(&b, list->n == 1 ? "; its only element is 0" : where);
    }
    conf_error(w->e, w->value, "path '%s': %s has no element '%s'%s", conf_shown(w->path, part),
               before(w, i, path), w->part[i], b.s == NULL ? "" : b.s);
    free(b.s);
    return NULL;
}

static struct conf_node *element(struct walk *w, const struct conf_node *list, size_t i)
{
    const char *part = w->part[i];
    if (is_index(part)) {
        unsigned long k = strlen(part) > 9 ? list->n : strtoul(part, NULL, 10);
        return k < list->n ? list->child[k] : no_element(w, list, i);
    }
    struct conf_node *found = NULL;
    for (size_t k = 0; k < list->n; k++) {
        const char *name = name_of(list->child[k]);
        if (name == NULL || strcmp(name, part) != 0)
            continue;
        if (found != NULL) {
            char show[CONF_SHOWN], path[CONF_SHOWN];
            conf_error(w->e, w->value, "path '%s': %s has two elements named '%s', use an index",
                       conf_shown(w->path, show), before(w, i, path), part);
            return NULL;
        }
        found = list->child[k];
    }
    return found != NULL ? found : no_element(w, list, i);
}

/* --- mappings --- */

/* A new child `part[i]` of `map`. Once one is made, all that follows is made as well, so whatever
 * can go wrong is looked at here, before the first change. */
static bool can_make(struct walk *w, size_t i)
{
    for (size_t k = i + 1; k < w->n; k++) {
        if (!is_index(w->part[k]))
            continue;
        char show[CONF_SHOWN], path[CONF_SHOWN];
        conf_error(w->e, w->value, "path '%s': there is no list %s, and a path cannot make one",
                   conf_shown(w->path, show), before(w, k, path));
        return false;
    }
    return true;
}

static struct conf_node *make(struct walk *w, struct conf_node *map, size_t i)
{
    if (!can_make(w, i))
        return NULL;
    const struct conf_node *v = w->value;
    struct conf_node *n = conf_node_new(w->tree, CONF_MAP, v->file, v->line, v->column);
    if (n == NULL || !conf_node_append(w->tree, map, n))
        return no_memory(w);
    n->key = w->part[i];
    n->key_line = v->line;
    n->key_column = v->column;
    return n;
}

/* The parameters of a choice: `{cps-load: {threshold: 2}}` as the value of a key. A section whose
 * only key holds further mappings (`host: {scheduler: {eevdf: {}}}`) is none: there a missing key
 * is a new key of the section. */
static struct conf_node *chosen(const struct conf_node *map)
{
    if (map->key == NULL || map->n != 1 || map->child[0]->kind != CONF_MAP)
        return NULL;
    struct conf_node *inner = map->child[0];
    for (size_t i = 0; i < inner->n; i++)
        if (inner->child[i]->kind == CONF_MAP)
            return NULL;
    return inner;
}

static struct conf_node *child(struct walk *w, struct conf_node *map, size_t i)
{
    for (size_t k = 0; k < map->n; k++)
        if (strcmp(map->child[k]->key, w->part[i]) == 0)
            return map->child[k];
    struct conf_node *inner = chosen(map);
    return inner != NULL ? child(w, inner, i) : make(w, map, i);
}

/* --- scalars on the way --- */

/* Whether a text could be the name of a policy, a workload or a file: no number, time or switch. */
static bool is_name(const struct conf_node *n)
{
    char c = n->text[0];
    bool number = (c >= '0' && c <= '9') || c == '-' || c == '+';
    return !number && strlen(n->text) <= CONF_MAX_KEY && (n->quoted || conf_bool_word(n->text) < 0);
}

/* `policy: cps-load` becomes `policy: {cps-load: {}}`, an empty value an empty mapping. */
static struct conf_node *open_scalar(struct walk *w, struct conf_node *n, size_t i)
{
    if (!can_make(w, i - 1))
        return NULL;
    if (n->text[0] == '\0') {
        n->kind = CONF_MAP;
        n->text = NULL;
        n->quoted = false;
        return make(w, n, i);
    }
    struct conf_node *inner = conf_node_new(w->tree, CONF_MAP, n->file, n->line, n->column);
    if (inner == NULL)
        return no_memory(w);
    struct conf_node outer = *n;
    outer.kind = CONF_MAP;
    outer.text = NULL;
    outer.quoted = false;
    inner->key = n->text;
    inner->key_line = n->line;
    inner->key_column = n->column;
    if (!conf_node_append(w->tree, &outer, inner))
        return no_memory(w);
    *n = outer;
    return strcmp(w->part[i], inner->key) == 0 ? inner : make(w, inner, i);
}

static struct conf_node *step(struct walk *w, struct conf_node *at, size_t i)
{
    char show[CONF_SHOWN], path[CONF_SHOWN], text[CONF_SHOWN];
    if (at->kind == CONF_SEQ)
        return element(w, at, i);
    if (at->kind == CONF_MAP)
        return child(w, at, i);
    if (i > 0 && (at->text[0] == '\0' || is_name(at)))
        return open_scalar(w, at, i);
    conf_error(w->e, w->value, "path '%s': %s is '%s' and has no '%s'", conf_shown(w->path, show),
               before(w, i, path), conf_shown(at->text, text), w->part[i]);
    return NULL;
}

/* Gives `at` the value, in its place under its key. */
static void replace(struct conf_node *at, const struct conf_node *value)
{
    const char *key = at->key;
    *at = *value;
    at->key = key;
    at->key_line = value->line;
    at->key_column = value->column;
}

bool conf_set_node(struct conf_tree *t, const char *path, const struct conf_node *value,
                   struct conf_errors *e)
{
    struct walk w = {.tree = t, .path = path, .value = value, .e = e};
    char show[CONF_SHOWN];
    if (!split(&w))
        return false;
    /* A step may go through two levels of the tree. */
    if (2 * w.n + height(value) > CONF_MAX_DEPTH) {
        conf_error(e, value, "path '%s': nested deeper than %d levels", conf_shown(path, show),
                   CONF_MAX_DEPTH);
        return false;
    }
    struct conf_node *copy = conf_node_copy(t, value);
    if (copy == NULL)
        return no_memory(&w) != NULL;
    w.value = copy;
    struct conf_node *at = t->root;
    for (size_t i = 0; i < w.n; i++)
        if ((at = step(&w, at, i)) == NULL)
            return false;
    replace(at, copy);
    return true;
}

bool conf_set(struct conf_tree *t, const char *path, const char *value, struct conf_errors *e)
{
    char show[CONF_SHOWN];
    if (value[0] == '\0') {
        conf_error_at(e, "command line", 1, 1, "no value for '%s'", conf_shown(path, show));
        return false;
    }
    struct conf_errors faults = {0};
    struct conf_tree *v = conf_read_text("command line", value, strlen(value), &faults);
    bool good = v != NULL && conf_set_node(t, path, v->root, e);
    if (v == NULL) {
        char suffix[CONF_SHOWN + 32];
        snprintf(suffix, sizeof suffix, " (in the value for '%s')", conf_shown(path, show));
        conf_errors_move(e, &faults, suffix);
    }
    conf_free(v);
    return good;
}
