/* SPDX-License-Identifier: MIT */
/*
 * From libyaml's events to a tree. Events, because a document of libyaml knows no duplicate keys,
 * is cyclic with aliases and is built before its depth can be checked.
 *
 * Always true: faults that leave the structure intact (duplicate keys, anchors, tags, keys that are
 * no words) are collected and reported together; a syntax error is reported alone, because what
 * comes before it was read with a structure that may be wrong.
 */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "conf/internal.h"

/* Faults after which a file is given up: nobody reads more of them. */
#define FAULTS_MAX 1000

/* Key of a child whose real key was refused; its text is in no other key. */
static const char refused[] = "";

/* An open mapping or sequence. */
struct level {
    struct conf_node *node;
    size_t cap;
    const char *key; /* mapping: the key that waits for its value */
    int key_line, key_column;
};

struct reader {
    yaml_parser_t yaml;
    struct conf_tree *tree;
    const char *file;
    const char *text;
    size_t len;
    struct conf_errors faults;
    struct level level[CONF_MAX_DEPTH];
    size_t depth;
    size_t documents;
    bool stop, no_memory;
};

static int line_of(yaml_mark_t m)
{
    return (int)m.line + 1;
}

static int column_of(yaml_mark_t m)
{
    return (int)m.column + 1;
}

/* Passes a pointer through and notes a failed allocation. */
static void *need(struct reader *r, void *p)
{
    if (p == NULL)
        r->no_memory = r->stop = true;
    return p;
}

static void take_key(struct reader *r, struct level *l, const struct conf_node *n)
{
    l->key = refused;
    l->key_line = n->line;
    l->key_column = n->column;
    if (n->kind != CONF_SCALAR)
        conf_error_at(&r->faults, r->file, n->line, n->column, "a key must be a word, not a %s",
                      n->kind == CONF_MAP ? "mapping" : "list");
    else if (n->text == NULL)
        return; /* an alias, reported already */
    else if (n->text[0] == '\0')
        conf_error_at(&r->faults, r->file, n->line, n->column, "an empty key");
    else if (strlen(n->text) > CONF_MAX_KEY)
        conf_error_at(&r->faults, r->file, n->line, n->column,
                      "a key of %zu bytes, at most %d are allowed", strlen(n->text), CONF_MAX_KEY);
    else
        l->key = n->text;
}

static void append(struct reader *r, struct level *l, struct conf_node *n)
{
    struct conf_node *parent = l->node;
    if (parent->n == l->cap) {
        size_t cap = l->cap == 0 ? 4 : l->cap * 2;
        struct conf_node **list =
            need(r, conf_arena_alloc(&r->tree->arena, cap * sizeof(struct conf_node *)));
        if (list == NULL)
            return;
        if (parent->n > 0)
            memcpy(list, parent->child, parent->n * sizeof(struct conf_node *));
        parent->child = list;
        l->cap = cap;
    }
    parent->child[parent->n++] = n;
}

static void attach(struct reader *r, struct conf_node *n)
{
    if (r->depth == 0) {
        r->tree->root = n;
        return;
    }
    struct level *l = &r->level[r->depth - 1];
    if (l->node->kind == CONF_MAP && l->key == NULL) {
        take_key(r, l, n);
        return;
    }
    if (l->node->kind == CONF_MAP) {
        n->key = l->key;
        n->key_line = l->key_line;
        n->key_column = l->key_column;
        l->key = NULL;
    }
    append(r, l, n);
}

static void refuse_extras(struct reader *r, const yaml_event_t *ev, const yaml_char_t *anchor,
                          const yaml_char_t *tag)
{
    int line = line_of(ev->start_mark), column = column_of(ev->start_mark);
    char show[CONF_SHOWN];
    if (anchor != NULL)
        conf_error_at(&r->faults, r->file, line, column,
                      "anchor '&%s': anchors and aliases are not supported",
                      conf_shown((const char *)anchor, show));
    if (tag != NULL)
        conf_error_at(&r->faults, r->file, line, column, "tag '%s': tags are not supported",
                      conf_shown((const char *)tag, show));
}

static void on_alias(struct reader *r, const yaml_event_t *ev)
{
    char show[CONF_SHOWN];
    int line = line_of(ev->start_mark), column = column_of(ev->start_mark);
    conf_error_at(&r->faults, r->file, line, column,
                  "alias '*%s': anchors and aliases are not supported",
                  conf_shown((const char *)ev->data.alias.anchor, show));
    struct conf_node *n = need(r, conf_node_new(r->tree, CONF_SCALAR, r->file, line, column));
    if (n == NULL)
        return;
    n->text = NULL;
    attach(r, n);
}

static void on_scalar(struct reader *r, const yaml_event_t *ev)
{
    int line = line_of(ev->start_mark), column = column_of(ev->start_mark);
    refuse_extras(r, ev, ev->data.scalar.anchor, ev->data.scalar.tag);
    const char *value = (const char *)ev->data.scalar.value;
    if (memchr(value, '\0', ev->data.scalar.length) != NULL)
        conf_error_at(&r->faults, r->file, line, column, "a NUL character (\\0) in a text");

    struct conf_node *n = need(r, conf_node_new(r->tree, CONF_SCALAR, r->file, line, column));
    if (n == NULL)
        return;
    n->text = need(r, conf_arena_copy(&r->tree->arena, value, ev->data.scalar.length));
    n->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (n->text != NULL)
        attach(r, n);
}

static void on_start(struct reader *r, const yaml_event_t *ev)
{
    bool map = ev->type == YAML_MAPPING_START_EVENT;
    int line = line_of(ev->start_mark), column = column_of(ev->start_mark);
    refuse_extras(r, ev, map ? ev->data.mapping_start.anchor : ev->data.sequence_start.anchor,
                  map ? ev->data.mapping_start.tag : ev->data.sequence_start.tag);
    if (r->depth == CONF_MAX_DEPTH) {
        conf_error_at(&r->faults, r->file, line, column, "nested deeper than %d levels",
                      CONF_MAX_DEPTH);
        r->stop = true;
        return;
    }
    struct conf_node *n =
        need(r, conf_node_new(r->tree, map ? CONF_MAP : CONF_SEQ, r->file, line, column));
    if (n == NULL)
        return;
    attach(r, n);
    r->level[r->depth++] = (struct level){.node = n};
}

static int by_key(const void *pa, const void *pb)
{
    const struct conf_node *a = *(const struct conf_node *const *)pa;
    const struct conf_node *b = *(const struct conf_node *const *)pb;
    int c = strcmp(a->key, b->key);
    if (c != 0)
        return c;
    if (a->key_line != b->key_line)
        return a->key_line < b->key_line ? -1 : 1;
    return a->key_column < b->key_column ? -1 : a->key_column > b->key_column;
}

/* Sorting keeps a file of a million keys from taking minutes. */
static void refuse_duplicates(struct reader *r, const struct conf_node *map)
{
    if (map->kind != CONF_MAP || map->n < 2)
        return;
    struct conf_node **list = need(r, malloc(map->n * sizeof(struct conf_node *)));
    if (list == NULL)
        return;
    memcpy(list, map->child, map->n * sizeof(struct conf_node *));
    qsort(list, map->n, sizeof(struct conf_node *), by_key);
    const struct conf_node *first = list[0];
    for (size_t i = 1; i < map->n && r->faults.n < FAULTS_MAX; i++) {
        char show[CONF_SHOWN];
        if (strcmp(list[i]->key, first->key) != 0)
            first = list[i];
        else if (first->key != refused)
            conf_error_at(&r->faults, r->file, list[i]->key_line, list[i]->key_column,
                          "key '%s' is given twice, first on line %d", conf_shown(first->key, show),
                          first->key_line);
    }
    free(list);
}

static void on_event(struct reader *r, const yaml_event_t *ev)
{
    switch (ev->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->documents++ == 0)
            break;
        conf_error_at(&r->faults, r->file, line_of(ev->start_mark), column_of(ev->start_mark),
                      "a second document starts here, expected one only");
        r->stop = true;
        break;
    case YAML_ALIAS_EVENT:
        on_alias(r, ev);
        break;
    case YAML_SCALAR_EVENT:
        on_scalar(r, ev);
        break;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        on_start(r, ev);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        refuse_duplicates(r, r->level[--r->depth].node);
        break;
    case YAML_STREAM_END_EVENT:
        r->stop = true;
        break;
    default:
        break;
    }
}

/* The character at a mark; marks count characters, not bytes. */
static char char_at(const struct reader *r, yaml_mark_t m)
{
    size_t i = 0;
    for (size_t chars = 0; i < r->len && chars < m.index; chars++) {
        i++;
        while (i < r->len && ((unsigned char)r->text[i] & 0xc0) == 0x80)
            i++;
    }
    return i < r->len ? r->text[i] : '\0';
}

/* libyaml's words for the commonest slips, and what they mean to somebody who writes a file. */
static const char *plain_words(const char *problem)
{
    static const char *const words[][2] = {
        {"mapping values are not allowed in this context",
         "an unexpected ':' (wrong indentation, or a text that needs quotes)"},
        {"did not find expected key", "expected a key here (check the indentation)"},
        {"could not find expected ':'", "expected a ':' after the key"},
        {"did not find expected '-' indicator",
         "expected the '-' of a list element here (check the indentation)"},
        {"did not find expected ',' or ']'", "expected ',' or ']'"},
        {"did not find expected ',' or '}'", "expected ',' or '}'"},
        {"block sequence entries are not allowed in this context",
         "an unexpected '-' (a list starts on a line of its own)"},
        {"found unexpected end of stream", "the text ends inside an open quote"},
        {"found a tab character that violates indentation", "a tab cannot indent, use spaces"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], problem) == 0)
            return words[i][1];
    return problem;
}

static void report_syntax(struct reader *r, struct conf_errors *e)
{
    const yaml_parser_t *y = &r->yaml;
    int line = line_of(y->problem_mark), column = column_of(y->problem_mark);
    int last_line, last_column;
    /* At the end of a text without a final line break, libyaml is one line too far. */
    conf_position(r->text, r->len, r->len, &last_line, &last_column);
    if (line > last_line) {
        line = last_line;
        column = last_column;
    }
    const char *problem = y->problem == NULL ? "syntax error" : y->problem;
    char since[48] = "";
    if (y->context != NULL && line_of(y->context_mark) < line)
        snprintf(since, sizeof since, "; see what starts on line %d", line_of(y->context_mark));
    if (strcmp(problem, "found character that cannot start any token") == 0) {
        char c = char_at(r, y->problem_mark);
        if (c == '\t')
            conf_error_at(e, r->file, line, column,
                          "not valid YAML: a tab cannot indent, use spaces");
        else
            conf_error_at(e, r->file, line, column,
                          "not valid YAML: a text that starts with '%c' needs quotes", c);
        return;
    }
    conf_error_at(e, r->file, line, column, "not valid YAML: %s%s", plain_words(problem), since);
}

static void report_stop(struct reader *r, struct conf_errors *e)
{
    int line, column;
    conf_errors_free(&r->faults);
    switch (r->yaml.error) {
    case YAML_MEMORY_ERROR:
        r->no_memory = true;
        break;
    case YAML_READER_ERROR: /* its mark is always 1:1 */
        conf_position(r->text, r->len, r->yaml.problem_offset, &line, &column);
        if (r->yaml.problem_value >= 0 && r->yaml.problem_value < 0x100 &&
            strcmp(r->yaml.problem, "control characters are not allowed") == 0)
            conf_error_at(e, r->file, line, column, "control character 0x%02x, expected YAML text",
                          (unsigned)r->yaml.problem_value);
        else
            conf_error_at(e, r->file, line, column, "not UTF-8 text: %s", r->yaml.problem);
        break;
    default:
        report_syntax(r, e);
    }
}

static void check_content(struct reader *r)
{
    const struct conf_node *n = r->tree->root;
    bool empty = n == NULL ||
                 (n->kind == CONF_SCALAR && !n->quoted && n->text != NULL && n->text[0] == '\0');
    if (empty && r->faults.n == 0)
        conf_error_at(&r->faults, r->file, 1, 1, "only blanks and comments, expected YAML text");
}

static void check_fault_count(struct reader *r, const yaml_event_t *ev)
{
    if (r->faults.n < FAULTS_MAX)
        return;
    conf_error_at(&r->faults, r->file, line_of(ev->end_mark), column_of(ev->end_mark),
                  "%d faults so far, the rest is not listed", FAULTS_MAX);
    r->stop = true;
}

/* libyaml compares each %TAG directive with all before it, for minutes in a hostile file. Tags are
 * not supported anyway, so a line that starts with one is refused before parsing. */
static bool has_tag_directive(struct reader *r)
{
    const char *end = r->text + r->len, *at = r->text;
    for (; (at = memchr(at, '%', (size_t)(end - at))) != NULL; at++) {
        bool line_start = at == r->text || at[-1] == '\n' || at[-1] == '\r' ||
                          ((unsigned char)at[-1] & 0x80) != 0; /* breaks outside ASCII */
        if (!line_start || end - at < 4 || memcmp(at, "%TAG", 4) != 0)
            continue;
        int line, column;
        conf_position(r->text, r->len, (size_t)(at - r->text), &line, &column);
        conf_error_at(&r->faults, r->file, line, column, "directive %%TAG: tags are not supported");
        return true;
    }
    return false;
}

static void run(struct reader *r, struct conf_errors *e)
{
    r->stop = has_tag_directive(r);
    while (!r->stop) {
        yaml_event_t ev;
        if (!yaml_parser_parse(&r->yaml, &ev)) {
            report_stop(r, e);
            r->tree->root = NULL;
            return;
        }
        on_event(r, &ev);
        check_fault_count(r, &ev);
        yaml_event_delete(&ev);
    }
    if (!r->no_memory)
        check_content(r);
    if (r->faults.n > 0)
        r->tree->root = NULL;
    conf_errors_move(e, &r->faults, "");
}

struct conf_tree *conf_parse(const char *name, const char *text, size_t len, struct conf_errors *e)
{
    struct reader *r = calloc(1, sizeof *r);
    struct conf_tree *tree = conf_tree_new();
    const char *file = tree == NULL ? NULL : conf_arena_copy(&tree->arena, name, strlen(name));
    if (r == NULL || file == NULL || !yaml_parser_initialize(&r->yaml)) {
        conf_error_file(e, name, "out of memory");
        conf_free(tree);
        free(r);
        return NULL;
    }
    r->tree = tree;
    r->file = file;
    r->text = text;
    r->len = len;
    yaml_parser_set_encoding(&r->yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->yaml, (const unsigned char *)text, len);
    run(r, e);
    if (r->no_memory)
        conf_error_file(e, name, "out of memory");
    yaml_parser_delete(&r->yaml);
    bool good = !r->no_memory && tree->root != NULL;
    free(r);
    if (good)
        return tree;
    conf_free(tree);
    return NULL;
}
