/* SPDX-License-Identifier: MIT */
/* Looking for machine, workload and facts files. See find.h. */
#include "find.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "parts.h"

/* The last resort, set by the build: where this program's own files are. */
#ifndef TANDEM_SOURCE_DIR
#define TANDEM_SOURCE_DIR "."
#endif

#define NROOTS   4
#define NFOLDERS 2

static const char *const FOLDERS[][NFOLDERS] = {
    [FIND_MACHINE] = {"configs/machines", "machines"},
    [FIND_WORKLOAD] = {"workloads", NULL},
    [FIND_FACTS] = {"configs/published", NULL},
};

static const char *const TITLE[] = {
    [FIND_MACHINE] = "machine", [FIND_WORKLOAD] = "workload", [FIND_FACTS] = "published facts"};

static const char *root(int i, const char *dir)
{
    switch (i) {
    case 0:
        return dir;
    case 1:
        return ".";
    case 2:
        return getenv("TANDEM_HOME");
    default:
        return TANDEM_SOURCE_DIR;
    }
}

static bool is_path(const char *name)
{
    return strpbrk(name, "/.") != NULL;
}

/* Takes `path`; gives it back when a file is there. */
static char *if_file(char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return path;
    free(path);
    return NULL;
}

static char *join(const char *dir, const char *name)
{
    return strcmp(dir, ".") == 0 ? parts_copy(name) : parts_format("%s/%s", dir, name);
}

static char *find_path(const char *dir, const char *name)
{
    if (name[0] == '/')
        return if_file(parts_copy(name));
    for (int i = 0; i < NROOTS; i++) {
        char *path = root(i, dir) ? if_file(join(root(i, dir), name)) : NULL;

        if (path)
            return path;
    }
    return NULL;
}

char *find_file(enum find_kind kind, const char *dir, const char *name)
{
    if (is_path(name))
        return find_path(dir, name);
    for (int i = 0; i < NROOTS; i++) {
        for (int f = 0; f < NFOLDERS && root(i, dir) && FOLDERS[kind][f]; f++) {
            char *local = parts_format("%s/%s.yaml", FOLDERS[kind][f], name);
            char *path = if_file(join(root(i, dir), local));

            free(local);
            if (path)
                return path;
        }
    }
    return NULL;
}

static void add_folder(const char *path, char ***names, size_t *n)
{
    DIR *d = opendir(path);
    struct dirent *entry;

    if (!d)
        return;
    while ((entry = readdir(d))) {
        size_t len = strlen(entry->d_name);

        if (len <= 5 || strcmp(entry->d_name + len - 5, ".yaml") != 0)
            continue;
        *names = parts_grow(*names, *n, sizeof(**names));
        (*names)[(*n)++] = parts_base(entry->d_name);
    }
    closedir(d);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **find_names(enum find_kind kind, const char *dir, size_t *n)
{
    char **names = NULL;
    size_t kept = 0;

    *n = 0;
    for (int i = 0; i < NROOTS; i++) {
        for (int f = 0; f < NFOLDERS && root(i, dir) && FOLDERS[kind][f]; f++) {
            char *path = parts_format("%s/%s", root(i, dir), FOLDERS[kind][f]);

            add_folder(path, &names, n);
            free(path);
        }
    }
    if (*n)
        qsort(names, *n, sizeof(*names), by_name);
    for (size_t i = 0; i < *n; i++) {
        if (kept && strcmp(names[kept - 1], names[i]) == 0)
            free(names[i]);
        else
            names[kept++] = names[i];
    }
    *n = kept;
    return names;
}

void find_names_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

char *find_or_report(enum find_kind kind, const char *dir, const struct conf_node *at,
                     struct conf_errors *e)
{
    const char *name = conf_str(at, e);
    char *path = name ? find_file(kind, dir, name) : NULL;
    size_t n;

    if (!name || path)
        return path;
    if (is_path(name)) {
        conf_error(e, at, "no such %s file: '%s'", TITLE[kind], name);
        return NULL;
    }
    char **names = find_names(kind, dir, &n);

    parts_unknown(e, at, TITLE[kind], name, (const char *const *)names, n);
    find_names_free(names, n);
    return NULL;
}
