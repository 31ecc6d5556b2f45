/* SPDX-License-Identifier: MIT */
/* FIFO lists of tasks through task.link. A task is in one list at most; `on` names a wait list. */
#include "guest/core.h"

void list_init(struct task_list *l)
{
    l->head = NULL;
    l->tail = &l->head;
}

void list_push(struct task_list *l, struct task *t)
{
    CHECK_INV(!t->on, "task %d is in a list already", t->id);
    t->link = NULL;
    t->on = l;
    *l->tail = t;
    l->tail = &t->link;
}

void list_push_head(struct task_list *l, struct task *t)
{
    t->link = l->head;
    t->on = l;
    if (!l->head)
        l->tail = &t->link;
    l->head = t;
}

struct task *list_pop(struct task_list *l)
{
    struct task *t = l->head;

    if (!t)
        return NULL;
    l->head = t->link;
    if (!l->head)
        l->tail = &l->head;
    t->link = NULL;
    t->on = NULL;
    return t;
}

void list_remove(struct task_list *l, struct task *t)
{
    struct task **at = &l->head;

    while (*at && *at != t)
        at = &(*at)->link;
    CHECK(*at == t, "task %d is not in the list it should be in", t->id);
    *at = t->link;
    if (l->tail == &t->link)
        l->tail = at;
    t->link = NULL;
    t->on = NULL;
}
