/* SPDX-License-Identifier: MIT */
/*
 * A pairing heap: the node with the least key is found at once, joining is a comparison, leaving
 * costs the logarithm on average. For policies that need "the first of many" without a scan.
 * All-zero memory is an empty heap and a node in none. A node is in at most one heap and its key
 * fixed while it is; among equal keys the order is that of the calls, hence the same in every run.
 */
#ifndef SIM_HOST_HEAP_H
#define SIM_HOST_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_node {
    struct heap_node *child, *next;
    struct heap_node **from; /* what points here; NULL: in no heap */
    int64_t key;
    void *owner;
};

struct heap {
    struct heap_node *top;
};

static inline void *heap_top(const struct heap *h)
{
    return h->top ? h->top->owner : NULL;
}

/* Joins two trees without siblings; either may be NULL. */
static inline struct heap_node *heap_join(struct heap_node *a, struct heap_node *b)
{
    struct heap_node *least = !b || (a && a->key <= b->key) ? a : b;
    struct heap_node *other = least == a ? b : a;

    if (least && other) {
        other->next = least->child;
        if (other->next)
            other->next->from = &other->next;
        other->from = &least->child;
        least->child = other;
    }
    return least;
}

static inline void heap_set_top(struct heap *h, struct heap_node *n)
{
    h->top = n;
    if (n)
        n->from = &h->top;
}

static inline void heap_push(struct heap *h, struct heap_node *n, int64_t key, void *owner)
{
    *n = (struct heap_node){.key = key, .owner = owner};
    heap_set_top(h, heap_join(h->top, n));
}

/* Pairs of siblings from left to right, then all pairs from right to left. */
static inline struct heap_node *heap_pairs(struct heap_node *n)
{
    struct heap_node *pairs = NULL, *all = NULL;

    while (n) {
        struct heap_node *a = n, *b = n->next;

        n = b ? b->next : NULL;
        a->next = NULL;
        if (b)
            b->next = NULL;
        a = heap_join(a, b);
        a->next = pairs;
        pairs = a;
    }
    while (pairs) {
        struct heap_node *a = pairs;

        pairs = a->next;
        a->next = NULL;
        all = heap_join(all, a);
    }
    return all;
}

/* Without effect on a node in no heap; `h` must be the heap that it is in otherwise. */
static inline void heap_remove(struct heap *h, struct heap_node *n)
{
    struct heap_node *below;

    if (!n->from)
        return;
    *n->from = n->next;
    if (n->next)
        n->next->from = n->from;
    below = heap_pairs(n->child);
    *n = (struct heap_node){0};
    heap_set_top(h, heap_join(h->top, below));
}

#endif
