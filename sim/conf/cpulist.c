/* SPDX-License-Identifier: MIT */
/*
 * Lists of CPUs: "0-3,8,10-11", a list of whole numbers, or a list of such texts. Always true: the
 * result is a set, ascending, each number once and below the limit, and never empty.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define LIST_FORM "CPUs such as 0-3,8,10-11"

/* A number below 10^9 at *s, which moves behind it. */
static bool take_number(const char **s, int *out)
{
    int v = 0, len = 0;
    for (; **s >= '0' && **s <= '9'; (*s)++) {
        if (++len > 9)
            return false;
        v = v * 10 + (**s - '0');
    }
    *out = v;
    return len > 0;
}

static bool fault(const struct conf_node *n, struct conf_errors *e, const char *why, int a, int b)
{
    struct conf_buf subject = {0};
    char text[96];
    snprintf(text, sizeof text, why, a, b);
    conf_subject(n, &subject);
    conf_error(e, n, "%s: %s", subject.s == NULL ? "wrong value" : subject.s, text);
    free(subject.s);
    return false;
}

static bool add_text(const struct conf_node *n, int limit, bool *in, struct conf_errors *e)
{
    const char *s = n->text;
    for (;;) {
        int from, to;
        if (!take_number(&s, &from))
            break;
        to = from;
        if (*s == '-' && (s++, !take_number(&s, &to)))
            break;
        if (to < from)
            return fault(n, e, "the range %d-%d goes backwards", from, to);
        if (to >= limit)
            return fault(n, e, "there is no CPU %d, the last one is %d", from < limit ? to : from,
                         limit - 1);
        memset(in + from, 1, (size_t)(to - from) + 1);
        if (*s == '\0')
            return true;
        if (*s++ != ',')
            break;
        while (*s == ' ')
            s++;
    }
    conf_expected(e, n, LIST_FORM);
    return false;
}

static bool add_node(const struct conf_node *n, int limit, bool *in, struct conf_errors *e)
{
    if (n->kind == CONF_SCALAR && n->text[0] != '\0')
        return add_text(n, limit, in, e);
    conf_expected(e, n, LIST_FORM);
    return false;
}

static bool add_all(const struct conf_node *n, int limit, bool *in, struct conf_errors *e)
{
    if (n->kind != CONF_SEQ || n->n == 0)
        return add_node(n, limit, in, e);
    bool good = true;
    for (size_t i = 0; i < n->n; i++)
        good &= add_node(n->child[i], limit, in, e);
    return good;
}

bool conf_cpulist(const struct conf_node *n, int limit, int **out, size_t *count,
                  struct conf_errors *e)
{
    size_t size = limit > 0 ? (size_t)limit : 1;
    bool *in = calloc(size, sizeof *in);
    int *list = malloc(size * sizeof *list);
    bool good = in != NULL && list != NULL;
    if (!good)
        conf_error(e, n, "out of memory");
    good = good && add_all(n, limit, in, e);
    if (good) {
        *out = list;
        *count = 0;
        for (int i = 0; i < limit; i++)
            if (in[i])
                list[(*count)++] = i;
        list = NULL;
    }
    free(list);
    free(in);
    return good;
}
