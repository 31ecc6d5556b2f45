/* SPDX-License-Identifier: MIT */
/*
 * Nodes and numbers as text. Always true: what conf_text writes reads back as the same tree, with
 * the same answers of every scalar reader; it is one line of printable UTF-8.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Words and numbers that no reader of YAML could take for anything else. */
static bool is_plain(const char *s)
{
    bool negative = s[0] == '-' && is_alnum(s[1]);
    if (!is_alnum(s[0]) && s[0] != '_' && s[0] != '/' && !negative)
        return false;
    for (; *s != '\0'; s++)
        if (!is_alnum(*s) && strchr("_./%+-", *s) == NULL)
            return false;
    return true;
}

/* One character of valid UTF-8; returns its length. */
static size_t decode(const char *s, unsigned *code)
{
    unsigned char c = (unsigned char)s[0];
    size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    unsigned v = len == 1 ? c : c & (0x7fu >> len);
    for (size_t i = 1; i < len && s[i] != '\0'; i++)
        v = v << 6 | ((unsigned char)s[i] & 0x3fu);
    *code = v;
    return len;
}

static bool needs_escape(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
           code == 0xfeff || code == 0xfffe || code == 0xffff;
}

static void add_quoted(struct conf_buf *b, const char *s)
{
    conf_buf_str(b, "\"");
    size_t left = strlen(s);
    while (left > 0) {
        unsigned code;
        size_t len = decode(s, &code);
        if (len > left)
            len = left;
        if (code == '"' || code == '\\')
            conf_buf_str(b, "\\");
        if (needs_escape(code)) {
            char esc[16];
            snprintf(esc, sizeof esc, "\\u%04x", code);
            conf_buf_str(b, esc);
        } else {
            conf_buf_add(b, s, len);
        }
        s += len;
        left -= len;
    }
    conf_buf_str(b, "\"");
}

static void add_node(struct conf_buf *b, const struct conf_node *n)
{
    if (n->kind == CONF_SCALAR) {
        if (!n->quoted && is_plain(n->text))
            conf_buf_str(b, n->text);
        else
            add_quoted(b, n->text);
        return;
    }
    conf_buf_str(b, n->kind == CONF_MAP ? "{" : "[");
    for (size_t i = 0; i < n->n; i++) {
        if (i > 0)
            conf_buf_str(b, ",");
        if (n->kind == CONF_MAP) {
            add_quoted(b, n->child[i]->key);
            conf_buf_str(b, ":");
        }
        add_node(b, n->child[i]);
    }
    conf_buf_str(b, n->kind == CONF_MAP ? "}" : "]");
}

char *conf_text(const struct conf_node *n)
{
    struct conf_buf b = {0};
    add_node(&b, n);
    if (b.failed) {
        free(b.s);
        return NULL;
    }
    return b.s;
}

void conf_ns_text(ns_t v, char out[32])
{
    static const struct {
        ns_t ns;
        const char *name;
    } units[] = {{NS_SEC, "s"}, {NS_MS, "ms"}, {NS_US, "us"}, {1, "ns"}};

    size_t u = 0;
    while (v % units[u].ns != 0)
        u++;
    if (v == 0)
        snprintf(out, 32, "0");
    else
        snprintf(out, 32, "%lld%s", (long long)(v / units[u].ns), units[u].name);
}

void conf_real_text(double v, char out[32])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, v);
        if (strtod(out, NULL) == v)
            break;
    }
    const char *point = localeconv()->decimal_point;
    char *at = strstr(out, point);
    if (at != NULL && strcmp(point, ".") != 0) {
        size_t len = strlen(point);
        *at = '.';
        memmove(at + 1, at + len, strlen(at + len) + 1);
    }
}
