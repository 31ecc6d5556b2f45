/* SPDX-License-Identifier: MIT */
/*
 * Looking up policies. The tables are made by sim/registry.sh; loaded policies are kept behind
 * them.
 *
 * Always true: every table begins with a struct policy_head, so that what is common to all kinds is
 * written once.
 */
#include "registry.h"

#include <stdlib.h>
#include <string.h>

#define KINDS      3
#define LOADED_MAX 32
#define NAMES_MAX  256

static const void *loaded[KINDS][LOADED_MAX];
static size_t nloaded[KINDS];

static size_t built_in(enum policy_kind kind)
{
    switch (kind) {
    case POLICY_HOST:
        return registry_nhost;
    case POLICY_GUEST:
        return registry_nguest;
    default:
        return registry_nidle;
    }
}

const char *registry_kind_name(enum policy_kind kind)
{
    static const char *const NAME[KINDS] = {"host", "guest", "idle"};

    return NAME[kind];
}

size_t registry_count(enum policy_kind kind)
{
    return built_in(kind) + nloaded[kind];
}

const struct policy_head *registry_head(enum policy_kind kind, size_t i)
{
    if (i >= built_in(kind))
        return loaded[kind][i - built_in(kind)];
    switch (kind) {
    case POLICY_HOST:
        return &registry_host[i]->head;
    case POLICY_GUEST:
        return &registry_guest[i]->head;
    default:
        return &registry_idle[i]->head;
    }
}

static bool is_called(const struct policy_head *h, const char *name)
{
    return (h->name && strcmp(h->name, name) == 0) || (h->alias && strcmp(h->alias, name) == 0);
}

const void *registry_find(enum policy_kind kind, const char *name)
{
    for (size_t i = 0; i < registry_count(kind); i++)
        if (is_called(registry_head(kind, i), name))
            return registry_head(kind, i);
    return NULL;
}

const char *const *registry_names(enum policy_kind kind)
{
    static const char *names[KINDS][NAMES_MAX + 1];
    size_t n = 0;

    for (size_t i = 0; i < registry_count(kind) && n + 2 <= NAMES_MAX; i++) {
        const struct policy_head *h = registry_head(kind, i);

        names[kind][n++] = h->name;
        if (h->alias)
            names[kind][n++] = h->alias;
    }
    names[kind][n] = NULL;
    return names[kind];
}

static const char *refuse(char buf[200], enum policy_kind kind, const struct policy_head *h,
                          const char *what)
{
    snprintf(buf, 200, "%s policy '%.40s': %.120s", registry_kind_name(kind),
             h->name ? h->name : "(without a name)", what);
    return buf;
}

static const char *check_head(const struct policy_head *h, char text[80])
{
    if (h->abi != TANDEM_POLICY_ABI) {
        snprintf(text, 80, "built for contract version %u, this is version %u", (unsigned)h->abi,
                 (unsigned)TANDEM_POLICY_ABI);
        return text;
    }
    if (!h->name || !h->name[0])
        return "it has no name";
    if (h->name[strspn(h->name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
        return "only a-z, 0-9 and '-' may stand in its name";
    if (!h->summary || !h->summary[0])
        return "it has no summary";
    if (!h->params != !h->params_size)
        return "a table of parameters needs params_size, and the other way round";
    return NULL;
}

static const char *check_one(enum policy_kind kind, const struct policy_head *h, char buf[200])
{
    char text[160];
    const char *wrong = check_head(h, text);

    if (!wrong && kind == POLICY_HOST)
        wrong = host_ops_check((const struct host_ops *)h, text);
    else if (!wrong && kind == POLICY_GUEST)
        wrong = guest_ops_check((const struct guest_ops *)h, text);
    else if (!wrong && !((const struct idle_ops *)h)->enter)
        wrong = "the required operation 'enter' is missing";
    return wrong ? refuse(buf, kind, h, wrong) : NULL;
}

/* The first n policies of the kind must not bear one of h's names. */
static const char *check_name(enum policy_kind kind, const struct policy_head *h, size_t n,
                              char buf[200])
{
    for (size_t i = 0; i < n; i++) {
        const struct policy_head *other = registry_head(kind, i);

        if (is_called(other, h->name) || (h->alias && is_called(other, h->alias)))
            return refuse(buf, kind, h, "another policy has this name");
    }
    return NULL;
}

const char *registry_check(char buf[200])
{
    for (int k = 0; k < KINDS; k++) {
        enum policy_kind kind = (enum policy_kind)k;

        for (size_t i = 0; i < registry_count(kind); i++) {
            const struct policy_head *h = registry_head(kind, i);
            const char *wrong = check_one(kind, h, buf);

            if (!wrong)
                wrong = check_name(kind, h, i, buf);
            if (wrong)
                return wrong;
        }
    }
    return NULL;
}

const char *registry_add(enum policy_kind kind, const void *ops, char buf[200])
{
    const struct policy_head *h = ops;
    const char *wrong = check_one(kind, h, buf);

    if (!wrong)
        wrong = check_name(kind, h, registry_count(kind), buf);
    if (!wrong && nloaded[kind] == LOADED_MAX)
        wrong = refuse(buf, kind, h, "too many loaded policies");
    if (!wrong)
        loaded[kind][nloaded[kind]++] = ops;
    return wrong;
}
