/* SPDX-License-Identifier: MIT */
/*
 * The list of faults. Always true: a report is one line, whatever the file held (control characters
 * are shown as escapes, very long messages are cut); and once something was reported the list is
 * not empty, even without memory.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define MESSAGE_MAX 1200 /* bytes */
#define LIST_FIRST  8

/* Stand-ins that need no memory; never freed. */
static char no_memory_text[] = "out of memory";
static struct conf_error no_memory_list[] = {{.text = no_memory_text}};

static bool is_tail(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

const char *conf_shown(const char *text, char out[CONF_SHOWN])
{
    const size_t keep = CONF_SHOWN - 4;
    size_t len = strlen(text);
    if (len <= keep) {
        memcpy(out, text, len + 1);
        return out;
    }
    len = keep;
    while (len > 0 && is_tail(text[len]))
        len--;
    memcpy(out, text, len);
    memcpy(out + len, "...", 4);
    return out;
}

/* Copies what a terminal may show; the rest becomes \n, \t or \xNN. */
static void add_visible(struct conf_buf *b, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        bool c1 = c == 0xc2 && i + 1 < len && (unsigned char)s[i + 1] < 0xa0;
        char esc[16];
        if (c == '\n' || c == '\t') {
            conf_buf_str(b, c == '\n' ? "\\n" : "\\t");
        } else if (c < 0x20 || c == 0x7f || c1) {
            snprintf(esc, sizeof esc, "\\x%02x", c1 ? (unsigned char)s[++i] : c);
            conf_buf_str(b, esc);
        } else {
            conf_buf_add(b, s + i, 1);
        }
    }
}

static void add_message(struct conf_buf *b, const char *message)
{
    size_t len = strlen(message);
    if (len <= MESSAGE_MAX) {
        add_visible(b, message, len);
        return;
    }
    len = MESSAGE_MAX;
    while (len > 0 && is_tail(message[len]))
        len--;
    add_visible(b, message, len);
    conf_buf_str(b, "...");
}

static bool same_file(const struct conf_error *a, const char *text, size_t file_len)
{
    return a->file_len == file_len && memcmp(a->text, text, file_len) == 0;
}

/* Rank of a file: the order in which files were first named. */
static size_t file_rank(const struct conf_errors *e, const char *text, size_t file_len)
{
    size_t next = 0;
    for (size_t i = e->n; i-- > 0;) {
        const struct conf_error *x = &e->list[i];
        if (same_file(x, text, file_len))
            return x->file;
        if (x->file >= next)
            next = x->file + 1;
    }
    return next;
}

/* The list has room for LIST_FIRST, then for the next power of two. */
static bool make_room(struct conf_errors *e)
{
    if (e->list == no_memory_list)
        return false;
    bool full = e->n == 0 || (e->n >= LIST_FIRST && (e->n & (e->n - 1)) == 0);
    if (!full)
        return true;
    size_t cap = e->n < LIST_FIRST ? LIST_FIRST : e->n * 2;
    struct conf_error *p = realloc(e->list, cap * sizeof *p);
    if (p != NULL)
        e->list = p;
    return p != NULL;
}

/* Takes `text`. */
static void append(struct conf_errors *e, struct conf_error x)
{
    if (make_room(e)) {
        x.file = file_rank(e, x.text, x.file_len);
        e->list[e->n++] = x;
        return;
    }
    if (x.text != no_memory_text)
        free(x.text);
    if (e->n == 0) {
        e->list = no_memory_list;
        e->n = 1;
    }
}

/* `line` 0: no position. */
static void report(struct conf_errors *e, const char *file, int line, int column, const char *fmt,
                   va_list args)
{
    if (e == NULL)
        return;
    char message[MESSAGE_MAX + 8];
    vsnprintf(message, sizeof message, fmt, args);

    struct conf_buf b = {0};
    size_t file_len = 0;
    if (file != NULL && file[0] != '\0') {
        add_visible(&b, file, strlen(file));
        file_len = b.n;
        char where[40] = ": ";
        if (line > 0)
            snprintf(where, sizeof where, ":%d:%d: ", line, column);
        conf_buf_str(&b, where);
    }
    add_message(&b, message);
    if (b.failed || b.s == NULL) {
        free(b.s);
        append(e, (struct conf_error){.text = no_memory_text});
        return;
    }
    append(e,
           (struct conf_error){.text = b.s, .line = line, .column = column, .file_len = file_len});
}

void conf_error_at(struct conf_errors *e, const char *file, int line, int column, const char *fmt,
                   ...)
{
    va_list args;
    va_start(args, fmt);
    report(e, file, line, column, fmt, args);
    va_end(args);
}

void conf_error(struct conf_errors *e, const struct conf_node *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(e, at ? at->file : NULL, at ? at->line : 0, at ? at->column : 0, fmt, args);
    va_end(args);
}

void conf_error_key(struct conf_errors *e, const struct conf_node *at, const char *fmt, ...)
{
    bool key = at != NULL && at->key != NULL && at->key_line > 0;
    int line = at == NULL ? 0 : key ? at->key_line : at->line;
    int column = at == NULL ? 0 : key ? at->key_column : at->column;
    va_list args;
    va_start(args, fmt);
    report(e, at ? at->file : NULL, line, column, fmt, args);
    va_end(args);
}

void conf_error_file(struct conf_errors *e, const char *name, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(e, name, 0, 0, fmt, args);
    va_end(args);
}

void conf_errors_free(struct conf_errors *e)
{
    if (e->list != no_memory_list) {
        for (size_t i = 0; i < e->n; i++)
            if (e->list[i].text != no_memory_text)
                free(e->list[i].text);
        free(e->list);
    }
    *e = (struct conf_errors){0};
}

/* Entries lie in one array: their addresses are the order of reporting. */
static int by_position(const void *pa, const void *pb)
{
    const struct conf_error *a = *(const struct conf_error *const *)pa;
    const struct conf_error *b = *(const struct conf_error *const *)pb;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* NULL without memory or without faults. */
static struct conf_error **sorted(const struct conf_errors *e)
{
    struct conf_error **p = e->n == 0 ? NULL : malloc(e->n * sizeof *p);
    if (p == NULL)
        return NULL;
    for (size_t i = 0; i < e->n; i++)
        p[i] = &e->list[i];
    qsort(p, e->n, sizeof *p, by_position);
    return p;
}

/* Whether p[i] was printed already: its equals stand in the same position, just before it. */
static bool repeated(struct conf_error *const *p, size_t i)
{
    for (size_t k = i; k-- > 0 && p[k]->line == p[i]->line && p[k]->column == p[i]->column;)
        if (strcmp(p[k]->text, p[i]->text) == 0)
            return true;
    return false;
}

void conf_errors_print(const struct conf_errors *e, FILE *out)
{
    struct conf_error **p = sorted(e);
    for (size_t i = 0; i < e->n; i++) {
        if (p == NULL)
            fprintf(out, "%s\n", e->list[i].text);
        else if (!repeated(p, i))
            fprintf(out, "%s\n", p[i]->text);
    }
    free(p);
}

static void move_one(struct conf_errors *to, struct conf_error *x, const char *suffix)
{
    if (x->text != no_memory_text && suffix[0] != '\0') {
        struct conf_buf b = {0};
        conf_buf_str(&b, x->text);
        conf_buf_str(&b, suffix);
        if (b.failed) {
            free(b.s);
        } else {
            free(x->text);
            x->text = b.s;
        }
    }
    append(to, *x);
    x->text = no_memory_text;
}

void conf_errors_move(struct conf_errors *to, struct conf_errors *from, const char *suffix)
{
    if (to != NULL) {
        struct conf_error **p = sorted(from);
        for (size_t i = 0; i < from->n; i++)
            move_one(to, p == NULL ? &from->list[i] : p[i], suffix);
        free(p);
    }
    conf_errors_free(from);
}
