/* SPDX-License-Identifier: MIT */
/* The sweep file as a whole: its top-level keys, its base scenario, and its points as trees. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parts.h"
#include "scenario.h"
#include "study/sweep_internal.h"

#define MAX_REPLICATIONS 1000000

static const char *const top_keys[] = {"base",    "axes",        "vary",  "pair",
                                       "only",    "except",      "until", "replications",
                                       "metrics", "description", "seed"};

static char *name_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *name = strdup(slash ? slash + 1 : file);
    char *dot = name ? strrchr(name, '.') : NULL;

    if (dot && dot != name)
        *dot = '\0';
    return name;
}

/* A path as seen from the folder of `file`. */
static char *beside(const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    const size_t folder = path[0] == '/' || !slash ? 0 : (size_t)(slash - file) + 1;
    char *joined = malloc(folder + strlen(path) + 1);

    if (joined) {
        memcpy(joined, file, folder);
        strcpy(joined + folder, path);
    }
    return joined;
}

static bool inline_base(struct sweep *s, const struct conf_node *map, struct conf_errors *e)
{
    s->base_file = strdup(s->file);
    s->base = conf_read_text(s->file, "{}", 2, e);
    if (!s->base_file || !s->base)
        return false;
    for (size_t i = 0; i < map->n; i++)
        if (!conf_set_node(s->base, map->child[i]->key, map->child[i], e))
            return false;
    return true;
}

static void read_base_file(struct sweep *s, const struct conf_node *base, struct conf_errors *e)
{
    const char *name = conf_str(base, e);

    if (!name)
        return;
    s->base_file = beside(s->file, name);
    if (!s->base_file)
        conf_error_file(e, s->file, "out of memory");
    else if (access(s->base_file, R_OK) != 0)
        conf_error(e, base, "'%s' cannot be read: %s", s->base_file, strerror(errno));
    else if ((s->base = conf_read_file(s->base_file, e)) && conf_get(conf_root(s->base), "base") &&
             !conf_get(conf_root(s->base), "vms"))
        conf_error(e, base, "'%s' is a sweep itself, expected a scenario", s->base_file);
}

static void read_base(struct sweep *s, const struct conf_node *root, struct conf_errors *e)
{
    const struct conf_node *base = conf_get(root, "base");

    if (!base) {
        conf_error(e, root, "a sweep needs 'base': the file of a scenario, or one written inline");
    } else if (base->kind == CONF_MAP) {
        inline_base(s, base, e);
    } else if (base->kind == CONF_SEQ) {
        conf_error(e, base, "'base' is a list, expected a file name or a mapping");
    } else {
        read_base_file(s, base, e);
    }
}

const struct metric *sweep_read_metric(const struct conf_node *n, struct conf_errors *e)
{
    const char *name = conf_str(n, e);
    const struct metric *m = name ? metric_find(name) : NULL;
    char *text;

    if (name && !m) {
        text = parts_unknown_metric(name);
        conf_error(e, n, "%s", text);
        free(text);
    }
    return m;
}

static void read_metrics(struct sweep *s, const struct conf_node *list, struct conf_errors *e)
{
    if (list && list->kind != CONF_SEQ) {
        conf_error(e, list, "'metrics' must be a list of names, as in [throughput, p99]");
        return;
    }
    s->metrics = calloc((list ? list->n : 0) + 1, sizeof(*s->metrics));
    if (!s->metrics) {
        conf_error_file(e, s->file, "out of memory");
        return;
    }
    for (size_t i = 0; list && i < list->n; i++) {
        const struct metric *m = sweep_read_metric(list->child[i], e);

        if (m)
            s->metrics[s->nmetrics++] = m;
    }
}

static void read_seed(struct sweep *s, const struct conf_node *seed, struct conf_errors *e)
{
    int64_t value;

    if (!seed || !conf_int(seed, 0, INT64_MAX, &value, e))
        return;
    s->has_seed = true;
    s->seed = strdup(seed->text);
    if (!s->seed)
        conf_error_file(e, s->file, "out of memory");
}

/* Counts points group by group; too many of them is a slip of the pen, not a study. */
static void count_points(struct sweep *s, const struct conf_node *at, struct conf_errors *e)
{
    s->npoints = 1;
    for (size_t g = 0; g < s->ngroups; g++) {
        if (s->group[g] > SWEEP_MAX_POINTS / s->npoints) {
            conf_error(e, at, "the axes span more than %d points", SWEEP_MAX_POINTS);
            return;
        }
        s->npoints *= s->group[g];
    }
}

static void read_all(struct sweep *s, struct conf_errors *e)
{
    const struct conf_node *root = conf_root(s->tree);
    const struct conf_node *axes = conf_get(root, "axes");

    if (root->kind != CONF_MAP) {
        conf_error(e, root,
                   "a sweep is a mapping with the keys base, axes, vary, pair, only, except, "
                   "replications, until, metrics and seed");
        return;
    }
    if (!conf_get(root, "base") && conf_get(root, "vms")) {
        conf_error(e, conf_get(root, "vms"),
                   "a scenario, not a sweep: 'tandem run' runs it; a sweep has one as its 'base'");
        return;
    }
    conf_only_keys(root, top_keys, sizeof(top_keys) / sizeof(top_keys[0]), "a sweep", e);
    read_base(s, root, e);
    if (conf_get(root, "replications"))
        conf_int(conf_get(root, "replications"), 1, MAX_REPLICATIONS, &s->replications, e);
    sweep_read_until(s, conf_get(root, "until"), e);
    read_metrics(s, conf_get(root, "metrics"), e);
    read_seed(s, conf_get(root, "seed"), e);
    if (!sweep_read_axes(s, axes, e) || !sweep_read_vary(s, conf_get(root, "vary"), e) ||
        !sweep_read_pairs(s, conf_get(root, "pair"), e))
        conf_error_file(e, s->file, "out of memory");
    else if (e->n == 0)
        count_points(s, axes ? axes : root, e);
    if (e->n == 0 && (!sweep_leave_out(s, e) ||
                      !sweep_read_filters(s, conf_get(root, "only"), conf_get(root, "except"), e)))
        conf_error_file(e, s->file, "out of memory");
}

struct sweep *sweep_read(const char *file, struct conf_errors *e)
{
    struct sweep *s = calloc(1, sizeof(*s));
    const size_t before = e->n;

    if (!s || !(s->file = strdup(file)) || !(s->name = name_of(file))) {
        conf_error_file(e, file, "out of memory");
        sweep_free(s);
        return NULL;
    }
    s->files = scenario_files_new();
    s->tree = conf_read_file(file, e);
    if (s->tree)
        read_all(s, e);
    if (e->n > before || !s->tree) {
        sweep_free(s);
        return NULL;
    }
    return s;
}

void sweep_free(struct sweep *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->naxes; i++) {
        for (size_t k = 0; k < s->axis[i].n; k++) {
            struct sweep_value *v = &s->axis[i].value[k];

            for (size_t m = 0; m < v->nvaried; m++)
                free(v->varied[m].path);
            free(v->varied);
            free(v->label);
        }
        free(s->axis[i].value);
    }
    free(s->axis);
    free(s->group);
    free(s->kept);
    for (size_t i = 0; i < s->nmade; i++)
        conf_free(s->made[i]);
    free(s->made);
    scenario_files_free(s->files);
    conf_free(s->base);
    conf_free(s->tree);
    free(s->metrics);
    free(s->seed);
    free(s->base_file);
    free(s->name);
    free(s->file);
    free(s);
}

size_t sweep_coordinate(const struct sweep *s, size_t point, size_t axis)
{
    const size_t group = s->axis[axis].group;

    if (s->kept)
        point = s->kept[point];
    for (size_t g = s->ngroups; g-- > group + 1;)
        point /= s->group[g];
    return point % s->group[group];
}

const char *sweep_label(const struct sweep *s, size_t point, size_t axis)
{
    return s->axis[axis].value[sweep_coordinate(s, point, axis)].label;
}

static size_t depth_of(const char *path)
{
    size_t n = 1;

    for (; *path; path++)
        n += *path == '.';
    return n;
}

/* Sets all axes of one kind (short forms or not) and of one depth. */
static void set_axes(const struct sweep *s, size_t point, struct conf_tree *t, bool shorts,
                     size_t depth, struct conf_errors *e)
{
    for (size_t i = 0; i < s->naxes; i++) {
        const struct sweep_axis *a = &s->axis[i];
        char *path = !a->varies && depth_of(a->path) == depth ? scenario_path(t, a->path) : NULL;

        if (path && (strcmp(path, a->path) != 0) == shorts)
            scenario_set_node(t, a->path, a->value[sweep_coordinate(s, point, i)].node, e);
        free(path);
    }
}

struct conf_tree *sweep_tree_before_vary(const struct sweep *s, size_t point, struct conf_errors *e)
{
    struct conf_tree *t = conf_clone(s->base);
    size_t deepest = 0;

    if (!t) {
        conf_error_file(e, s->file, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < s->naxes; i++)
        if (depth_of(s->axis[i].path) > deepest)
            deepest = depth_of(s->axis[i].path);
    if (s->seed)
        conf_set(t, "seed", s->seed, e);
    /* What is set whole comes before its parts. */
    for (int shorts = 0; shorts <= 1; shorts++)
        for (size_t depth = 1; depth <= deepest; depth++)
            set_axes(s, point, t, shorts, depth, e);
    return t;
}

struct conf_tree *sweep_tree(const struct sweep *s, size_t point, struct conf_errors *e)
{
    struct conf_tree *t = sweep_tree_before_vary(s, point, e);

    for (size_t i = 0; t && i < s->naxes; i++)
        if (s->axis[i].varies)
            sweep_apply_vary(s, t, &s->axis[i].value[sweep_coordinate(s, point, i)], e);
    return t;
}

char *sweep_where(const struct sweep *s, size_t point)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    for (size_t i = 0; i < s->naxes; i++)
        fprintf(out, "%s%s=%s", i ? ", " : "", s->axis[i].path, sweep_label(s, point, i));
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
