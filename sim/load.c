/* SPDX-License-Identifier: MIT */
/* See load.h. */
#include "load.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "obs/result.h"
#include "parts.h"
#include "registry.h"

#define LOADED_MAX 96 /* more than the registry takes of all kinds together */

static char own[LOADED_MAX][33]; /* of each object, ascending */
static size_t nloaded;
static char hash[33]; /* of all that was loaded; "" before */

const char *policies_hash(void)
{
    return hash;
}

/* The whole file; NULL with errno. */
static char *read_file(const char *path, size_t *size)
{
    size_t room = 1 << 16, n;
    char *text = NULL;
    struct stat st;
    FILE *f;

    if (stat(path, &st) != 0)
        return NULL;
    if (!S_ISREG(st.st_mode)) { /* a device may never end, a pipe never begin */
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return NULL;
    }
    f = fopen(path, "rb");
    if (!f)
        return NULL;
    *size = 0;
    do {
        char *more = realloc(text, room);

        if (!more) {
            free(text);
            fclose(f);
            return NULL;
        }
        text = more;
        n = fread(text + *size, 1, room - *size, f);
        *size += n;
        if (*size == room)
            room *= 2;
    } while (n > 0);
    if (ferror(f)) {
        free(text);
        text = NULL;
    }
    fclose(f);
    return text;
}

static int by_hash(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The objects are told apart by what is in them, whatever they are called, and in whatever order they
 * are loaded. */
static void add_hash(const char *bytes, size_t n)
{
    char all[LOADED_MAX * 32 + 1] = "";
    size_t size = 0;

    hash_hex(bytes, n, own[nloaded++]);
    qsort(own, nloaded, sizeof(own[0]), by_hash);
    for (size_t i = 0; i < nloaded; i++)
        size += (size_t)snprintf(all + size, sizeof(all) - size, "%s", own[i]);
    if (nloaded == 1)
        memcpy(hash, own[0], sizeof(hash));
    else
        hash_hex(all, size, hash);
}

/* "libtwo-choices.so.1" -> "two_choices"; malloc'ed. */
static char *symbol_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *copy;

    if (strncmp(name, "lib", 3) == 0)
        name += 3;
    copy = parts_copy(name);
    copy[strcspn(copy, ".")] = '\0';
    for (char *p = copy; *p; p++)
        if (*p == '-')
            *p = '_';
    return copy;
}

/* How many policies the object has; the first that is refused ends it with *why. */
static int add_policies(void *object, const char *path, const char *name, char **why)
{
    char text[200];
    int n = 0;

    for (int k = POLICY_HOST; k <= POLICY_IDLE && !*why; k++) {
        char *symbol = parts_format("%s_policy_%s", registry_kind_name((enum policy_kind)k), name);
        const void *ops = dlsym(object, symbol);
        const char *wrong = ops ? registry_add((enum policy_kind)k, ops, text) : NULL;

        if (wrong)
            *why = parts_format("%s: %s", path, wrong);
        n += ops != NULL;
        free(symbol);
    }
    return n;
}

static char *load_object(const char *path)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    char *name, *why = NULL;

    if (!object) {
        const char *text = dlerror();
        const size_t n = strlen(path);

        /* The message begins with the path as a rule. */
        if (text && strncmp(text, path, n) == 0 && text[n] == ':')
            text += n + 1 + (text[n + 1] == ' ');
        return parts_format("%s: cannot be loaded: %s", path, text ? text : "unknown reason");
    }
    name = symbol_of(path);
    if (add_policies(object, path, name, &why) == 0)
        why = parts_format("%s: exports none of host_policy_%s, guest_policy_%s, idle_policy_%s: a "
                           "policy is named after its file",
                           path, name, name, name);
    free(name);
    return why;
}

char *policy_load(const char *path, int *status)
{
    char *full = strchr(path, '/') ? parts_copy(path) : parts_format("./%s", path);
    size_t size = 0;
    char *bytes = read_file(full, &size), *why;

    *status = 2;
    if (!bytes) {
        *status = 3;
        why = parts_format("%s: cannot be read: %s", full, strerror(errno));
    } else {
        why = nloaded < LOADED_MAX ? load_object(full)
                                   : parts_format("%s: too many loaded policies", full);
        if (!why)
            add_hash(bytes, size);
    }
    free(bytes);
    free(full);
    return why;
}

static bool load_all(struct options *o)
{
    for (size_t i = 0; i < o->ngiven; i++) {
        char *why;

        if (strcmp(o->given[i].spec->name, "policy") != 0)
            continue;
        why = policy_load(o->given[i].value, &o->status);
        if (!why) {
            options_tell(o, "loaded %s", o->given[i].value);
            continue;
        }
        options_error(o, "%s", why);
        free(why);
        return false;
    }
    return true;
}

bool options_read_policies(struct options *o, const struct command_spec *command, int argc,
                           char **argv)
{
    if (!options_read(o, command, argc, argv))
        return false;
    if (load_all(o))
        return true;
    options_free(o);
    return false;
}
