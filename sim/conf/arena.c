/* SPDX-License-Identifier: MIT */
/*
 * The memory behind a tree (a list of chunks, freed together) and the growing text used for
 * messages. Always true: a failed allocation is visible to the caller, as NULL or as `failed`.
 */
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define CHUNK_FIRST 1024u
#define CHUNK_LAST  65536u

struct conf_chunk {
    struct conf_chunk *next;
    size_t used, size;
    alignas(max_align_t) char data[];
};

static size_t round_up(size_t size)
{
    size_t unit = alignof(max_align_t);
    return (size + unit - 1) / unit * unit;
}

/* Chunks double, so that the few nodes of one override stay small and a large file takes few. */
static struct conf_chunk *chunk_new(struct conf_arena *a, size_t need)
{
    size_t size = a->head == NULL ? CHUNK_FIRST : a->head->size * 2;
    if (size > CHUNK_LAST)
        size = CHUNK_LAST;
    if (size < need)
        size = need;
    struct conf_chunk *c = malloc(sizeof *c + size);
    if (c == NULL)
        return NULL;
    *c = (struct conf_chunk){.next = a->head, .size = size};
    a->head = c;
    return c;
}

void *conf_arena_alloc(struct conf_arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size_t need = round_up(size == 0 ? 1 : size);
    struct conf_chunk *c = a->head;
    if (c == NULL || c->size - c->used < need)
        c = chunk_new(a, need);
    if (c == NULL)
        return NULL;
    void *p = c->data + c->used;
    c->used += need;
    return memset(p, 0, size);
}

char *conf_arena_copy(struct conf_arena *a, const char *s, size_t len)
{
    char *p = conf_arena_alloc(a, len + 1);
    if (p != NULL && len > 0)
        memcpy(p, s, len);
    return p;
}

void conf_arena_free(struct conf_arena *a)
{
    while (a->head != NULL) {
        struct conf_chunk *next = a->head->next;
        free(a->head);
        a->head = next;
    }
}

void conf_buf_add(struct conf_buf *b, const char *s, size_t len)
{
    if (b->failed)
        return;
    if (b->cap - b->n <= len) {
        size_t cap = (b->n + len + 1) * 2;
        char *p = realloc(b->s, cap);
        if (p == NULL) {
            b->failed = true;
            return;
        }
        b->s = p;
        b->cap = cap;
    }
    if (len > 0)
        memcpy(b->s + b->n, s, len);
    b->n += len;
    b->s[b->n] = '\0';
}

void conf_buf_str(struct conf_buf *b, const char *s)
{
    conf_buf_add(b, s, strlen(s));
}
