/* SPDX-License-Identifier: MIT */
/* What many scenarios of one study read: each file once. See scenario_files_new in scenario.h. */
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"

struct kept_file {
    char *path;
    struct conf_tree *tree;
};

/* Where a name was found. */
struct kept_path {
    enum find_kind kind;
    char *dir, *name, *path;
};

struct kept_workload {
    char *path;
    int mode;
    char hash[33];
    struct workload *w;
};

struct scenario_files {
    struct kept_workload *workload;
    size_t nworkloads;
    struct kept_file *file;
    struct kept_path *path;
    size_t nfiles, npaths;
    struct kept_text {
        char *key, *text;
    } machine; /* the last one */
};

struct scenario_files *scenario_files_new(void)
{
    return parts_alloc(1, sizeof(struct scenario_files));
}

void scenario_files_free(struct scenario_files *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->nfiles; i++) {
        free(f->file[i].path);
        conf_free(f->file[i].tree);
    }
    for (size_t i = 0; i < f->npaths; i++) {
        free(f->path[i].dir);
        free(f->path[i].name);
        free(f->path[i].path);
    }
    for (size_t i = 0; i < f->nworkloads; i++) {
        free(f->workload[i].path);
        workload_free(f->workload[i].w);
    }
    free(f->workload);
    free(f->file);
    free(f->path);
    free(f->machine.key);
    free(f->machine.text);
    free(f);
}

char *files_find(struct scenario_files *f, enum find_kind kind, const char *dir,
                 const struct conf_node *at, struct conf_errors *e)
{
    char *path;

    for (size_t i = 0; f && at->text && i < f->npaths; i++) {
        const struct kept_path *k = &f->path[i];

        if (k->kind == kind && strcmp(k->name, at->text) == 0 && strcmp(k->dir, dir) == 0)
            return parts_copy(k->path);
    }
    path = find_or_report(kind, dir, at, e);
    if (f && path) {
        f->path = parts_grow(f->path, f->npaths, sizeof(*f->path));
        f->path[f->npaths++] =
            (struct kept_path){kind, parts_copy(dir), parts_copy(at->text), parts_copy(path)};
    }
    return path;
}

struct conf_tree *files_kept(const struct scenario_files *f, const char *path)
{
    for (size_t i = 0; f && i < f->nfiles; i++)
        if (strcmp(f->file[i].path, path) == 0)
            return f->file[i].tree;
    return NULL;
}

void files_keep(struct scenario_files *f, const char *path, struct conf_tree *t)
{
    if (!t)
        return;
    if (!f) {
        conf_free(t);
        return;
    }
    f->file = parts_grow(f->file, f->nfiles, sizeof(*f->file));
    f->file[f->nfiles++] = (struct kept_file){parts_copy(path), t};
}

struct workload *files_workload(const struct scenario_files *f, const char *path, int mode,
                                char hash[33])
{
    for (size_t i = 0; f && i < f->nworkloads; i++) {
        const struct kept_workload *k = &f->workload[i];

        if (k->mode == mode && strcmp(k->path, path) == 0) {
            memcpy(hash, k->hash, sizeof(k->hash));
            return k->w;
        }
    }
    return NULL;
}

void files_keep_workload(struct scenario_files *f, const char *path, int mode, const char *hash,
                         struct workload *w)
{
    struct kept_workload *k;

    if (!f || !w)
        return;
    f->workload = parts_grow(f->workload, f->nworkloads, sizeof(*f->workload));
    k = &f->workload[f->nworkloads++];
    *k = (struct kept_workload){.path = parts_copy(path), .mode = mode, .w = w};
    memcpy(k->hash, hash, sizeof(k->hash));
}

bool files_own(const struct scenario_files *f, const struct workload *w)
{
    for (size_t i = 0; f && i < f->nworkloads; i++)
        if (f->workload[i].w == w)
            return true;
    return false;
}

const char *files_machine(const struct scenario_files *f, const char *key)
{
    return f && f->machine.key && strcmp(f->machine.key, key) == 0 ? f->machine.text : NULL;
}

void files_keep_machine(struct scenario_files *f, char *key, char *text)
{
    free(f->machine.key);
    free(f->machine.text);
    f->machine = (struct kept_text){key, text};
}
