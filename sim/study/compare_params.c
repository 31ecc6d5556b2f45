/* SPDX-License-Identifier: MIT */
/* In what two scenarios differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "study/compare.h"

struct walk {
    void (*each)(void *arg, const char *path, const char *base, const char *new);
    void *arg;
};

static char *text_of(const cJSON *n)
{
    if (!n)
        return parts_copy("");
    if (cJSON_IsString(n))
        return parts_copy(n->valuestring);
    return cJSON_PrintUnformatted(n);
}

static void differ(const struct walk *w, const char *path, const cJSON *base, const cJSON *new)
{
    char *a = text_of(base), *b = text_of(new);

    if (a && b && (!base || !new || strcmp(a, b) != 0))
        w->each(w->arg, path, a, b);
    free(a);
    free(b);
}

static const char *name_of(const cJSON *n)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(n, "name"));
}

/* The element with the same name; of elements without names the one at the same place. */
static const cJSON *same_element(const cJSON *list, const cJSON *n, int at)
{
    const char *name = name_of(n);
    const cJSON *item;

    if (!name)
        return cJSON_GetArrayItem(list, at);
    cJSON_ArrayForEach(item, list)
    {
        if (name_of(item) && strcmp(name_of(item), name) == 0)
            return item;
    }
    return NULL;
}

static void walk(const struct walk *w, const char *path, const cJSON *base, const cJSON *new);

static void walk_member(const struct walk *w, const char *path, const char *name, int at,
                        const cJSON *base, const cJSON *new)
{
    char *below = name ? parts_format("%s%s%s", path, *path ? "." : "", name)
                       : parts_format("%s%s%d", path, *path ? "." : "", at);

    walk(w, below, base, new);
    free(below);
}

static void walk(const struct walk *w, const char *path, const cJSON *base, const cJSON *new)
{
    const bool maps = cJSON_IsObject(base) && cJSON_IsObject(new);
    const bool lists = cJSON_IsArray(base) && cJSON_IsArray(new);
    const cJSON *item;
    int at = 0;

    if (!maps && !lists) {
        differ(w, path, base, new);
        return;
    }
    cJSON_ArrayForEach(item, base)
    {
        walk_member(w, path, maps ? item->string : name_of(item), at, item,
                    maps ? cJSON_GetObjectItemCaseSensitive(new, item->string)
                         : same_element(new, item, at));
        at++;
    }
    at = 0;
    cJSON_ArrayForEach(item, new)
    {
        if (!(maps ? cJSON_GetObjectItemCaseSensitive(base, item->string)
                   : same_element(base, item, at)))
            walk_member(w, path, maps ? item->string : name_of(item), at, NULL, item);
        at++;
    }
}

void compare_params(const cJSON *base, const cJSON *new,
                    void (*each)(void *arg, const char *path, const char *base, const char *new),
                    void *arg)
{
    const struct walk w = {each, arg};

    walk(&w, "", base, new);
}
