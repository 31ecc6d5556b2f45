/* SPDX-License-Identifier: MIT */
/*
 * Key paths of scenarios: short forms, and names that get a parameter (`policy: cps-load`, then
 * vms.web.guest.policy.cps-load.threshold=2).
 */
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"

/* The name of the chosen scheduler, NULL when the file does not say. */
static const char *chosen_scheduler(const struct conf_tree *t)
{
    const struct conf_node *n = conf_get(conf_get(conf_root(t), "host"), "scheduler");

    if (!n)
        return "eevdf";
    if (n->kind == CONF_SCALAR)
        return n->text;
    return n->kind == CONF_MAP && n->n == 1 ? n->child[0]->key : NULL;
}

char *scenario_path(const struct conf_tree *t, const char *path)
{
    const char *key = strncmp(path, "host.", 5) == 0 ? path + 5 : NULL;
    const char *name = chosen_scheduler(t);
    const struct host_ops *ops = name ? registry_find(POLICY_HOST, name) : NULL;

    /* The host's own keys come first: a policy's parameter of that name has its long path. */
    if (!key || strchr(key, '.') || param_find(host_params, key) || !ops || !ops->head.params ||
        !param_find(ops->head.params, key))
        return parts_copy(path);
    return parts_format("host.scheduler.%s.%s", name, key);
}

static const struct conf_node *element(const struct conf_node *n, const char *part)
{
    if (n->kind == CONF_MAP)
        return conf_get(n, part);
    char *end;
    unsigned long index = strtoul(part, &end, 10);

    if (part[0] >= '0' && part[0] <= '9' && *end == '\0')
        return index < n->n ? n->child[index] : NULL;
    for (size_t i = 0; i < n->n; i++) {
        const struct conf_node *name = conf_get(n->child[i], "name");

        if (name && name->kind == CONF_SCALAR && strcmp(name->text, part) == 0)
            return n->child[i];
    }
    return NULL;
}

/* Replaces a bare name by a mapping: {NAME: {}} for policies, {base: NAME} for machines. */
static bool open_name(struct conf_tree *t, const char *path, const struct conf_node *name,
                      bool machine, struct conf_errors *e)
{
    char *text = conf_text(name);
    char *value =
        parts_format("{%s%s%s}", machine ? "base: " : "", text ? text : "", machine ? "" : ": {}");
    bool ok = conf_set(t, path, value, e);

    free(text);
    free(value);
    return ok;
}

/* Opens the bare name of a policy or of the machine that the path goes through. */
static bool open_names(struct conf_tree *t, const char *path, struct conf_errors *e)
{
    const struct conf_node *n = conf_root(t);
    char *copy = parts_copy(path), *save = NULL, *part = strtok_r(copy, ".", &save);
    bool ok = true;

    while (part && n && n->kind != CONF_SCALAR) {
        bool machine = n == conf_root(t) && strcmp(part, "machine") == 0;

        n = element(n, part);
        part = strtok_r(NULL, ".", &save);
        if (!n || n->kind != CONF_SCALAR || !part || (!machine && strcmp(n->text, part) != 0))
            continue;
        char *head = parts_format("%.*s", (int)(part - copy - 1), path);

        ok = open_name(t, head, n, machine, e);
        free(head);
        break;
    }
    free(copy);
    return ok;
}

bool scenario_set(struct conf_tree *t, const char *path, const char *value, struct conf_errors *e)
{
    char *whole = scenario_path(t, path);
    bool ok = open_names(t, whole, e) && conf_set(t, whole, value, e);

    free(whole);
    return ok;
}

bool scenario_set_node(struct conf_tree *t, const char *path, const struct conf_node *value,
                       struct conf_errors *e)
{
    char *whole = scenario_path(t, path);
    bool ok = open_names(t, whole, e) && conf_set_node(t, whole, value, e);

    free(whole);
    return ok;
}
