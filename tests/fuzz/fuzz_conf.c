/* SPDX-License-Identifier: MIT */
/*
 * Any bytes through the reader of YAML. The first line is also tried as the path of an override.
 * What was read must come back from its text unchanged, and what was refused must have a reason.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* Every reader on every node: each must answer or give a reason. */
static void read_scalars(const struct conf_node *n)
{
    struct conf_errors e = {0};
    ns_t ns;
    int64_t i;
    double d;
    bool b;
    int *list;
    size_t count;
    require(conf_ns(n, &ns, &e) ? ns >= 0 && ns < NS_NEVER : e.n > 0);
    if (conf_int(n, -5, INT64_MAX, &i, &e))
        require(i >= -5);
    if (conf_real(n, 0, 1, &d, &e))
        require(d >= 0 && d <= 1);
    conf_bool(n, &b, &e);
    conf_str(n, &e);
    if (conf_cpulist(n, 64, &list, &count, &e)) {
        require(count > 0 && list[0] >= 0 && list[count - 1] < 64);
        free(list);
    }
    for (size_t k = 0; k < n->n; k++)
        read_scalars(n->child[k]);
    for (size_t k = 0; k < e.n; k++)
        require(strpbrk(e.list[k].text, "\n\r\x1b") == NULL);
    conf_errors_free(&e);
}

static void same_again(const struct conf_node *root)
{
    struct conf_errors e = {0};
    char *text = conf_text(root);
    struct conf_tree *t = conf_read_text("again", text, strlen(text), &e);
    /* Escapes may make a text of nearly 4 MB longer than that. */
    require(t != NULL || strlen(text) > (size_t)4 << 20);
    if (t != NULL) {
        char *twice = conf_text(conf_root(t));
        require(strcmp(text, twice) == 0);
        free(twice);
    }
    conf_free(t);
    conf_errors_free(&e);
    free(text);
}

static void override(const struct conf_tree *from, const unsigned char *data, size_t size)
{
    size_t len = 0;
    while (len < size && data[len] != '\n' && data[len] != ':')
        len++;
    char *path = malloc(len + 1);
    require(path != NULL);
    if (len > 0)
        memcpy(path, data, len);
    path[len] = '\0';

    struct conf_errors e = {0};
    struct conf_tree *t = conf_clone(from);
    char *before = conf_text(conf_root(t));
    bool good = conf_set(t, path, "{a: 1, b: [x]}", &e);
    char *after = conf_text(conf_root(t));
    require(good ? e.n == 0 : e.n > 0 && strcmp(before, after) == 0);
    conf_set_node(t, "vms.0.guest.policy", conf_root(from), &e);
    conf_set_node(t, "a.b", conf_root(t), &e);
    same_again(conf_root(t));
    free(after);
    free(before);
    conf_errors_free(&e);
    conf_free(t);
    free(path);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const char *const names[] = {"vms", "guest", "policy", "duration"};
    struct conf_errors e = {0};
    struct conf_tree *t = conf_read_text("fuzz", (const char *)data, size, &e);
    require((t != NULL) == (e.n == 0));
    if (t != NULL) {
        conf_only_keys(conf_root(t), names, 4, "scenario", &e);
        read_scalars(conf_root(t));
        same_again(conf_root(t));
        override(t, data, size);
    }
    conf_free(t);
    conf_errors_free(&e);
    return 0;
}
