/* SPDX-License-Identifier: MIT */
/*
 * Workloads: the life of a reader, tasks, and the hash of what was read. Objects are read in
 * workload_objects.c, programs compiled in workload_ops.c and checked in workload_check.c; amounts
 * are read in workload_dist.c.
 */
#include "workload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/check.h"
#include "fair/fair.h"
#include "obs/result.h"
#include "workload_parts.h"

#define TASKS_MAX     100000
#define FOOTPRINT_MAX ((int64_t)1 << 36)

/* Weight of each nice level from -20 to 19: a step is a factor of about 1.25 (Linux). */
static const uint32_t NICE_WEIGHT[40] = {
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906,  3121,  2501,  1991,  1586,  1277,  1024,  820,   655,   526,   423,  335,  272,  215,
    172,   137,   110,   87,    70,    56,    45,    36,    29,    23,    18,   15};

/* "A", "A/B" or "*A/B" after the word vcpus: a positive fraction. */
static bool read_fraction(const char *text, int64_t *mul, int64_t *div)
{
    char *end = (char *)text;

    *mul = *div = 1;
    if (*text == '*')
        *mul = strtoll(text + 1, &end, 10);
    else if (*text != '/')
        *mul = strtoll(text, &end, 10);
    if (*end == '/') {
        const char *second = end + 1;

        *div = strtoll(second, &end, 10);
        if (end == second)
            return false;
    }
    return *end == '\0' && *mul >= 1 && *mul <= TASKS_MAX && *div >= 1 && *div <= TASKS_MAX;
}

static void read_count(struct parser *p, const struct conf_node *n, struct task_spec *t)
{
    const struct conf_node *share = conf_get(n, "vcpus");
    bool vcpus = n->kind == CONF_SCALAR && strncmp(n->text, "vcpus", 5) == 0;
    const char *rest = vcpus ? n->text + 5 : share && share->kind == CONF_SCALAR ? share->text : "";
    bool ok = true;

    if (n->kind == CONF_MAP && (!share || n->n != 1))
        ok = false;
    else if (vcpus && *rest == '\0')
        t->count = 0;
    else if (vcpus || share)
        ok = read_fraction(rest, &t->count_mul, &t->count_div);
    else
        conf_int(n, 1, TASKS_MAX, &t->count, p->e);
    if (!ok)
        conf_error(p->e, n, "count is a number, vcpus, vcpus*2 or vcpus/4");
    if (!ok || vcpus || share)
        t->count = 0;
}

static void read_weight(struct parser *p, const struct conf_node *map, struct task_spec *t)
{
    const struct conf_node *nice = conf_get(map, "nice"), *weight = conf_get(map, "weight");
    int64_t v = 0;

    if (nice && weight)
        conf_error_key(p->e, weight, "a task has either nice or weight");
    if (nice && conf_int(nice, -20, 19, &v, p->e))
        t->weight = NICE_WEIGHT[v + 20];
    else if (weight && conf_int(weight, 2, 262144, &v, p->e))
        t->weight = (uint32_t)v;
}

static void read_place(struct parser *p, const struct conf_node *n, struct task_spec *t)
{
    if (n->kind == CONF_SCALAR && strcmp(n->text, "spread") == 0)
        t->spread = true;
    else
        conf_int(n, 0, 65535, &t->vcpu, p->e);
}

static void read_start(struct parser *p, const struct conf_node *n, struct task_spec *t)
{
    if (amount_read_spread(p, n, &t->start_dist, &t->start_spread) &&
        t->start_dist.kind == DIST_CONST && t->start_spread == 0) {
        t->start = (ns_t)t->start_dist.a;
        t->start_dist.a = 0;
    }
}

/* A number: all tasks of the template; {of: N}: each N of them in a row. */
static void read_group(struct parser *p, const struct conf_node *n, struct task_spec *t)
{
    static const char *const NAMES[] = {"of"};
    const struct conf_node *of = conf_get(n, "of");
    int64_t group = 0;

    if (n->kind == CONF_MAP) {
        conf_only_keys(n, NAMES, 1, "group", p->e);
        if (of)
            conf_int(of, 1, TASKS_MAX, &t->tag_of, p->e);
        else
            conf_error(p->e, n, "group is a number, or {of: N} for groups of N tasks");
    } else if (conf_int(n, 1, UINT32_MAX, &group, p->e)) {
        t->tag = (uint32_t)group;
    }
}

/* Bytes: a whole number with B, KB or MB, in steps of 1024. */
static void read_footprint(struct parser *p, const struct conf_node *n, struct task_spec *t)
{
    static const struct {
        const char *unit;
        int64_t bytes;
    } UNITS[] = {{"B", 1}, {"KB", 1024}, {"MB", 1024 * 1024}};
    const char *text = conf_str(n, p->e);
    char *end = NULL;
    int64_t v;

    if (!text)
        return;
    v = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : -1;
    while (end && *end == ' ')
        end++;
    for (size_t i = 0; v >= 0 && v <= FOOTPRINT_MAX && i < 3; i++) {
        if (strcmp(end, UNITS[i].unit) == 0 && v * UNITS[i].bytes <= FOOTPRINT_MAX) {
            t->footprint = v * UNITS[i].bytes;
            return;
        }
    }
    conf_error(p->e, n, "a footprint is a whole number of B, KB or MB up to 65536MB: 256KB");
}

/* Everything of a task but its program. */
static void read_task(struct parser *p, const struct conf_node *n, struct task_spec *t)
{
    static const char *const NAMES[] = {"name",  "count",   "on_demand", "vcpu",
                                        "nice",  "weight",  "group",     "kernel",
                                        "start", "program", "footprint"};
    const struct conf_node *v;

    conf_only_keys(n, NAMES, sizeof(NAMES) / sizeof(NAMES[0]), "task", p->e);
    if ((v = conf_get(n, "count")))
        read_count(p, v, t);
    if ((v = conf_get(n, "on_demand")))
        conf_bool(v, &t->on_demand, p->e);
    if ((v = conf_get(n, "vcpu")))
        read_place(p, v, t);
    read_weight(p, n, t);
    if ((v = conf_get(n, "group")))
        read_group(p, v, t);
    if ((v = conf_get(n, "footprint")))
        read_footprint(p, v, t);
    if ((v = conf_get(n, "kernel")))
        conf_bool(v, &t->kernel, p->e);
    if ((v = conf_get(n, "start")))
        read_start(p, v, t);
    if (!conf_get(n, "program"))
        conf_error(p->e, n, "task '%s' has no program", t->name);
}

static void add_task(struct parser *p, const struct conf_node *n, size_t i)
{
    const struct conf_node *name = conf_get(n, "name");
    char *text = NULL;

    if (!parts_mapping(n, "a task", p->e))
        return;
    if (name && !parts_name(name, "task", p->e))
        return;
    text = name ? parts_copy(name->text) : parts_format("task%zu", i);
    for (int k = 0; k < p->w->ntasks; k++)
        if (strcmp(p->w->task[k].name, text) == 0)
            conf_error(p->e, name ? name : n, "there are two tasks '%s'", text);
    int at = object_add(p, OBJ_TASK, text, n);

    free(text);
    read_task(p, n, &p->w->task[at]);
}

static void read_tasks(struct parser *p, const struct conf_node *root)
{
    const struct conf_node *tasks = conf_get(root, "tasks");

    if (!tasks) {
        conf_error(p->e, root, "a workload needs 'tasks'");
        return;
    }
    if (tasks->kind != CONF_SEQ || tasks->n == 0) {
        conf_error(p->e, tasks, "tasks is a list of tasks, with at least one");
        return;
    }
    for (size_t i = 0; i < tasks->n; i++)
        add_task(p, tasks->child[i], i);
    /* All names are known only now, and fork names tasks. */
    for (int i = 0; i < p->w->ntasks; i++) {
        const struct conf_node *program = conf_get(p->note[OBJ_TASK][i].node, "program");

        if (program)
            ops_read(p, i, program);
    }
}

static char *read_text(struct parser *p, const struct conf_node *root, const char *key)
{
    const struct conf_node *n = conf_get(root, key);

    return n ? parts_copy(conf_str(n, p->e)) : NULL;
}

static void read_workload(struct parser *p, const struct conf_node *root)
{
    static const char *const NAMES[] = {"summary", "source", "objects", "tasks"};

    if (!parts_mapping(root, "a workload", p->e))
        return;
    conf_only_keys(root, NAMES, 4, "workload", p->e);
    p->w->summary = read_text(p, root, "summary");
    p->w->source = read_text(p, root, "source");
    objects_read(p, conf_get(root, "objects"));
    read_tasks(p, root);
}

static void hash_values(FILE *out, const struct dist *d)
{
    if (d->kind == DIST_EMPIRICAL)
        for (size_t i = 0; i < d->n; i++)
            fprintf(out, "%" PRId64 "\n", d->value[i]);
    if (d->kind == DIST_MIXTURE)
        for (size_t i = 0; i < d->n; i++)
            hash_values(out, &d->parts[i]);
}

/* Over the text that matters, and the values that stand in other files. */
static void hash_workload(const struct workload *w, const struct conf_node *root, char hash[33])
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    CHECK(out, "out of memory");
    for (size_t i = 0; i < root->n; i++) {
        const struct conf_node *n = root->child[i];
        char *part = conf_text(n);

        if (strcmp(n->key, "summary") != 0 && strcmp(n->key, "source") != 0)
            fprintf(out, "%s: %s\n", n->key, part ? part : "");
        free(part);
    }
    for (int i = 0; i < w->ndevices; i++)
        hash_values(out, &w->device[i].service);
    for (int i = 0; i < w->ntasks; i++) {
        hash_values(out, &w->task[i].start_dist);
        for (int k = 0; k < w->task[i].nops; k++)
            hash_values(out, &w->task[i].op[k].amount);
    }
    fclose(out);
    CHECK(text, "out of memory");
    hash_hex(text, len, hash);
    free(text);
}

static void free_notes(struct parser *p)
{
    for (int i = 0; i < p->w->ntasks; i++)
        free(p->note[OBJ_TASK][i].op_node);
    for (int kind = 0; kind < OBJ_KINDS; kind++)
        free(p->note[kind]);
}

struct workload *workload_from_node(const struct conf_node *n, const char *name, const char *file,
                                    const char *dir, char hash[33], struct conf_errors *e)
{
    struct parser p = {.w = parts_alloc(1, sizeof(*p.w)), .e = e, .dir = dir};
    size_t before = e->n;

    p.w->name = parts_copy(name);
    p.w->file = parts_copy(file);
    read_workload(&p, n);
    if (parts_clean(e, before))
        workload_check(&p);
    free_notes(&p);
    if (!parts_clean(e, before)) {
        workload_free(p.w);
        return NULL;
    }
    hash_workload(p.w, n, hash);
    return p.w;
}

struct workload *workload_load(const char *path, char hash[33], struct conf_errors *e)
{
    struct conf_tree *t = conf_read_file(path, e);

    if (!t)
        return NULL;
    char *name = parts_base(path), *dir = parts_dir(path);
    struct workload *w = workload_from_node(conf_root(t), name, path, dir, hash, e);

    free(name);
    free(dir);
    conf_free(t);
    return w;
}
