/* SPDX-License-Identifier: MIT */
/*
 * The ordering of a queue: a treap whose priorities are a hash of the insertion number, so that its
 * shape is random enough to be shallow and the same in every run.
 *
 * Always true: in order by (key, seq), the key being the vruntime under CFS and the deadline under
 * EEVDF; no child has a higher priority than its parent; min_vruntime of a node is the least
 * vruntime of its subtree; leftmost, tree_load and avg_vruntime agree with the nodes. The keys of a
 * node do not change while it is in the tree.
 */
#include "fair/fair_impl.h"

static uint32_t hash(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

static bool before(enum fair_kind kind, const struct fair_entity *a, const struct fair_entity *b)
{
    int64_t ka = kind == FAIR_CFS ? a->vruntime : a->deadline;
    int64_t kb = kind == FAIR_CFS ? b->vruntime : b->deadline;

    if (ka != kb)
        return ka < kb;
    return (int32_t)(a->seq - b->seq) < 0;
}

static int64_t subtree_min(const struct fair_entity *e)
{
    int64_t m = e->vruntime;

    if (e->left && e->left->min_vruntime < m)
        m = e->left->min_vruntime;
    if (e->right && e->right->min_vruntime < m)
        m = e->right->min_vruntime;
    return m;
}

/* Puts `with` (may be NULL) where `e` hangs. */
static void replace(struct fair_queue *q, struct fair_entity *e, struct fair_entity *with)
{
    if (!e->parent)
        q->root = with;
    else if (e->parent->left == e)
        e->parent->left = with;
    else
        e->parent->right = with;
    if (with)
        with->parent = e->parent;
}

/* Swaps e with its parent, keeping the order. The subtree as a whole keeps its minimum. */
static void rotate_up(struct fair_queue *q, struct fair_entity *e)
{
    struct fair_entity *p = e->parent;
    struct fair_entity *middle;

    replace(q, p, e);
    if (p->left == e) {
        middle = e->right;
        p->left = middle;
        e->right = p;
    } else {
        middle = e->left;
        p->right = middle;
        e->left = p;
    }
    if (middle)
        middle->parent = p;
    p->parent = e;
    e->min_vruntime = p->min_vruntime;
    p->min_vruntime = subtree_min(p);
}

static void add_sums(struct fair_queue *q, const struct fair_entity *e)
{
    q->tree_load += e->weight;
    if (q->kind == FAIR_EEVDF)
        q->avg_vruntime += (e->vruntime - q->min_vruntime) * (int64_t)e->weight;
}

static void subtract_sums(struct fair_queue *q, const struct fair_entity *e)
{
    q->tree_load -= e->weight;
    if (q->kind == FAIR_EEVDF)
        q->avg_vruntime -= (e->vruntime - q->min_vruntime) * (int64_t)e->weight;
}

void fair_tree_insert(struct fair_queue *q, struct fair_entity *e)
{
    struct fair_entity **link = &q->root;
    struct fair_entity *parent = NULL;
    bool first = true;

    e->seq = ++q->seq;
    e->priority = hash(e->seq);
    e->min_vruntime = e->vruntime;
    e->left = e->right = NULL;
    while (*link) {
        parent = *link;
        if (e->vruntime < parent->min_vruntime)
            parent->min_vruntime = e->vruntime;
        if (before(q->kind, e, parent)) {
            link = &parent->left;
        } else {
            link = &parent->right;
            first = false;
        }
    }
    *link = e;
    e->parent = parent;
    if (first)
        q->leftmost = e;
    while (e->parent && e->parent->priority < e->priority)
        rotate_up(q, e);
    add_sums(q, e);
}

struct fair_entity *fair_tree_next(const struct fair_entity *e)
{
    if (e->right) {
        for (e = e->right; e->left; e = e->left)
            ;
        return (struct fair_entity *)e;
    }
    while (e->parent && e->parent->right == e)
        e = e->parent;
    return e->parent;
}

void fair_tree_erase(struct fair_queue *q, struct fair_entity *e)
{
    struct fair_entity *p;

    if (q->leftmost == e)
        q->leftmost = fair_tree_next(e);
    while (e->left && e->right)
        rotate_up(q, e->left->priority > e->right->priority ? e->left : e->right);
    replace(q, e, e->left ? e->left : e->right);
    for (p = e->parent; p; p = p->parent)
        p->min_vruntime = subtree_min(p);
    e->parent = e->left = e->right = NULL;
    subtract_sums(q, e);
}
