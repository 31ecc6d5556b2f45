/* SPDX-License-Identifier: MIT */
/*
 * "Did you mean": edit distance where swapping two neighbours is one edit and the case of a letter
 * none. Names are short; a longer one has no near name.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define NAME_MAX_BYTES 64

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Three rows of the usual table are enough for swaps of neighbours. */
static int distance(const char *a, size_t la, const char *b, size_t lb)
{
    int rows[3][NAME_MAX_BYTES + 1];
    for (size_t j = 0; j <= lb; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        int *now = rows[i % 3];
        const int *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            char ca = fold(a[i - 1]), cb = fold(b[j - 1]);
            now[j] = least(last[j], now[j - 1]) + 1;
            now[j] = least(now[j], last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == fold(b[j - 2]) && fold(a[i - 2]) == cb)
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return rows[la % 3][lb];
}

const char *conf_nearest(const char *name, const char *const *names, size_t n)
{
    size_t len = strlen(name);
    if (len == 0 || len > NAME_MAX_BYTES)
        return NULL;
    const char *best = NULL;
    int limit = 1 + (int)(len / 3);
    for (size_t i = 0; i < n; i++) {
        size_t other = strlen(names[i]);
        if (other > NAME_MAX_BYTES)
            continue;
        int d = distance(name, len, names[i], other);
        /* Names without a letter in common are not near, however short they are. */
        if (d <= limit && d < (int)(len > other ? len : other)) {
            best = names[i];
            limit = d - 1;
        }
    }
    return best;
}

void conf_hint(struct conf_buf *b, const char *name, const char *const *names, size_t n,
               const char *list_title)
{
    const char *near = conf_nearest(name, names, n);
    if (near != NULL) {
        conf_buf_str(b, "; did you mean '");
        conf_buf_str(b, near);
        conf_buf_str(b, "'?");
        return;
    }
    if (n == 0 || n > CONF_LIST_MAX)
        return;
    conf_buf_str(b, "; ");
    conf_buf_str(b, list_title);
    for (size_t i = 0; i < n; i++) {
        conf_buf_str(b, i == 0 ? " " : ", ");
        conf_buf_str(b, names[i]);
    }
}

static bool is_known(const char *key, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(key, names[i]) == 0)
            return true;
    return false;
}

void conf_only_keys(const struct conf_node *map, const char *const *names, size_t n,
                    const char *what, struct conf_errors *e)
{
    if (map == NULL || map->kind != CONF_MAP)
        return;
    for (size_t i = 0; i < map->n; i++) {
        const struct conf_node *c = map->child[i];
        if (is_known(c->key, names, n))
            continue;
        char show[CONF_SHOWN];
        struct conf_buf hint = {0};
        conf_hint(&hint, c->key, names, n, n == 1 ? "the only key is" : "keys are");
        conf_error_key(e, c, "unknown key '%s'%s%s%s", conf_shown(c->key, show),
                       what == NULL ? "" : " in ", what == NULL ? "" : what,
                       hint.s == NULL ? (n == 0 ? "; it has no keys" : "") : hint.s);
        free(hint.s);
    }
}
