/* SPDX-License-Identifier: MIT */
/*
 * Trees of nodes: making, copying, looking up and writing them as text. Always true: every node and
 * every string of a tree lives in the arena of that tree, so a copy outlives its original.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

struct conf_tree *conf_tree_new(void)
{
    return calloc(1, sizeof(struct conf_tree));
}

void conf_free(struct conf_tree *t)
{
    if (t == NULL)
        return;
    conf_arena_free(&t->arena);
    free(t);
}

struct conf_node *conf_root(const struct conf_tree *t)
{
    return t == NULL ? NULL : t->root;
}

struct conf_node *conf_node_new(struct conf_tree *t, enum conf_kind kind, const char *file,
                                int line, int column)
{
    struct conf_node *n = conf_arena_alloc(&t->arena, sizeof *n);
    if (n == NULL)
        return NULL;
    n->kind = kind;
    n->text = kind == CONF_SCALAR ? "" : NULL;
    n->file = file;
    n->line = line;
    n->column = column;
    return n;
}

/* Rare (overrides only), so the array has no spare room: a new one each time. */
bool conf_node_append(struct conf_tree *t, struct conf_node *parent, struct conf_node *child)
{
    struct conf_node **list =
        conf_arena_alloc(&t->arena, (parent->n + 1) * sizeof(struct conf_node *));
    if (list == NULL)
        return false;
    if (parent->n > 0)
        memcpy(list, parent->child, parent->n * sizeof(struct conf_node *));
    list[parent->n++] = child;
    parent->child = list;
    return true;
}

/* Neighbours nearly always come from one file: its name is copied once for all of them. */
struct copier {
    struct conf_tree *to;
    const char *file, *file_copy;
};

static char *copy_str(struct copier *c, const char *s)
{
    return conf_arena_copy(&c->to->arena, s, strlen(s));
}

static bool copy_strings(struct copier *c, struct conf_node *n)
{
    if (n->text != NULL && (n->text = copy_str(c, n->text)) == NULL)
        return false;
    if (n->key != NULL && (n->key = copy_str(c, n->key)) == NULL)
        return false;
    if (n->file != NULL && n->file != c->file) {
        c->file = n->file;
        c->file_copy = copy_str(c, n->file);
    }
    if (n->file != NULL)
        n->file = c->file_copy;
    return n->file != NULL || c->file == NULL;
}

/* Recursion is bounded: a tree is never deeper than CONF_MAX_DEPTH. */
static struct conf_node *copy_node(struct copier *c, const struct conf_node *from)
{
    struct conf_node *n = conf_arena_alloc(&c->to->arena, sizeof *n);
    if (n == NULL)
        return NULL;
    *n = *from;
    if (!copy_strings(c, n))
        return NULL;
    if (from->n == 0)
        return n;
    n->child = conf_arena_alloc(&c->to->arena, from->n * sizeof(struct conf_node *));
    if (n->child == NULL)
        return NULL;
    for (size_t i = 0; i < from->n; i++)
        if ((n->child[i] = copy_node(c, from->child[i])) == NULL)
            return NULL;
    return n;
}

struct conf_node *conf_node_copy(struct conf_tree *t, const struct conf_node *n)
{
    struct copier c = {.to = t};
    return copy_node(&c, n);
}

struct conf_tree *conf_clone(const struct conf_tree *t)
{
    struct conf_tree *copy = t == NULL ? NULL : conf_tree_new();
    if (copy == NULL)
        return NULL;
    copy->root = conf_node_copy(copy, t->root);
    if (copy->root == NULL) {
        conf_free(copy);
        return NULL;
    }
    return copy;
}

const struct conf_node *conf_get(const struct conf_node *map, const char *key)
{
    if (map == NULL || map->kind != CONF_MAP)
        return NULL;
    for (size_t i = 0; i < map->n; i++)
        if (strcmp(map->child[i]->key, key) == 0)
            return map->child[i];
    return NULL;
}
