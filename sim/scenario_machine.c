/* SPDX-License-Identifier: MIT */
/*
 * Machine files: shape, speeds, power, C-states, prices. configs/machines/README.md describes the
 * format. A machine may derive from another (`base:`): it starts as a copy of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"

#define PCPUS_MAX 65536
#define BASES_MAX 8

struct machine_reader {
    struct machine *m;
    const char *dir;
    struct scenario_files *files;
    struct conf_errors *e;
    int bases;
};

static bool read_machine(struct machine_reader *r, const struct conf_node *n);

static void set_text(char **to, char *text)
{
    free(*to);
    *to = text;
}

static void machine_defaults(struct machine *m)
{
    m->smt_speed = 1;
    m->cpu_mhz = 2500;
    m->topo = (struct topology_conf){1, 1, 1, 1, 1};
    m->platform.preempted_rule = PREEMPTED_RUNNABLE;
    params_default(costs_params, &m->costs);
}

/* A number that may carry its source: 5 or {value: 5, source: "..."}. */
const struct conf_node *machine_value(const struct conf_node *n, struct conf_errors *e)
{
    static const char *const NAMES[] = {"value", "source"};
    const struct conf_node *value = n;

    if (n->kind == CONF_MAP) {
        value = conf_get(n, "value");
        conf_only_keys(n, NAMES, 2, n->key, e);
        if (!value)
            conf_error(e, n, "'%s' is missing its 'value'", n->key);
    }
    return value;
}

/* Reads key of map, if there, with an optional source beside the value. */
static void read_int(struct machine_reader *r, const struct conf_node *map, const char *key,
                     int64_t hi, int64_t *out)
{
    const struct conf_node *n = conf_get(map, key);

    n = n ? machine_value(n, r->e) : NULL;
    if (n)
        conf_int(n, 1, hi, out, r->e);
}

static void read_real(struct machine_reader *r, const struct conf_node *map, const char *key,
                      double hi, double *out)
{
    const struct conf_node *n = conf_get(map, key);

    n = n ? machine_value(n, r->e) : NULL;
    if (n)
        conf_real(n, 0, hi, out, r->e);
}

static void read_topology(struct machine_reader *r, const struct conf_node *n)
{
    static const char *const NAMES[] = {"sockets", "nodes", "groups", "cores", "threads", "source"};
    struct topology_conf *t = &r->m->topo;
    size_t before = r->e->n;

    if (!parts_mapping(n, "topology", r->e))
        return;
    conf_only_keys(n, NAMES, 6, "topology", r->e);
    read_int(r, n, "sockets", 64, &t->sockets);
    read_int(r, n, "nodes", 256, &t->nodes_per_socket);
    read_int(r, n, "groups", 1024, &t->groups_per_node);
    read_int(r, n, "cores", 1024, &t->cores_per_group);
    read_int(r, n, "threads", 8, &t->threads_per_core);
    if (!parts_clean(r->e, before))
        return;
    /* The limits above keep the product within an int64_t. */
    int64_t all = t->sockets * t->nodes_per_socket * t->groups_per_node * t->cores_per_group *
                  t->threads_per_core;

    if (all > PCPUS_MAX)
        conf_error(r->e, n, "a machine of %lld pCPUs is more than Tandem simulates (%d)",
                   (long long)all, PCPUS_MAX);
}

static void read_smt(struct machine_reader *r, const struct conf_node *n)
{
    static const char *const NAMES[] = {"busy_sibling", "source"};

    if (!parts_mapping(n, "smt", r->e))
        return;
    conf_only_keys(n, NAMES, 2, "smt", r->e);
    read_real(r, n, "busy_sibling", 1, &r->m->smt_speed);
    if (r->m->smt_speed < 1.0 / 1024)
        conf_error(r->e, n, "busy_sibling is the speed beside a busy sibling: above 0, up to 1");
}

static void read_power(struct machine_reader *r, const struct conf_node *n)
{
    static const char *const NAMES[] = {"active", "idle", "source"};

    if (!parts_mapping(n, "power", r->e))
        return;
    conf_only_keys(n, NAMES, 3, "power", r->e);
    read_real(r, n, "active", 10000, &r->m->power_active_w);
    read_real(r, n, "idle", 10000, &r->m->power_idle_w);
}

static void read_cstate(struct machine_reader *r, const struct conf_node *n, struct cstate *c)
{
    static const char *const NAMES[] = {"name", "exit", "residency", "power", "source"};
    const struct conf_node *name = conf_get(n, "name"), *exit = conf_get(n, "exit"),
                           *residency = conf_get(n, "residency");

    if (!parts_mapping(n, "a C-state", r->e))
        return;
    conf_only_keys(n, NAMES, 5, "C-state", r->e);
    if (!name || !exit || !residency) {
        conf_error(r->e, n, "a C-state needs name, exit and residency");
        return;
    }
    if (parts_name(name, "C-state", r->e)) {
        if (strlen(name->text) < sizeof(c->name))
            memcpy(c->name, name->text, strlen(name->text) + 1);
        else
            conf_error(r->e, name, "the name of a C-state has at most %zu letters",
                       sizeof(c->name) - 1);
    }
    conf_ns(exit, &c->exit_latency, r->e);
    conf_ns(residency, &c->residency, r->e);
    read_real(r, n, "power", 10000, &c->power_w);
}

static void read_cstates(struct machine_reader *r, const struct conf_node *n)
{
    struct machine *m = r->m;

    if (n->kind == CONF_SCALAR) {
        cstates_by_name(m, n, r->e);
        return;
    }
    if (n->kind != CONF_SEQ || n->n > CSTATES_MAX) {
        conf_error(r->e, n,
                   "cstates is a list of at most %d C-states, the lightest first, or the name of a "
                   "processor's table",
                   CSTATES_MAX);
        return;
    }
    memset(m->cstate, 0, sizeof(m->cstate));
    m->ncstates = (int)n->n;
    for (size_t i = 0; i < n->n; i++) {
        read_cstate(r, n->child[i], &m->cstate[i]);
        if (i > 0 && m->cstate[i].exit_latency < m->cstate[i - 1].exit_latency)
            conf_error(r->e, n->child[i], "C-states stand in order of their exit latency");
    }
}

/* Prices that are not named keep the value of the base machine, or the default. */
static void read_costs(struct machine_reader *r, const struct conf_node *n)
{
    size_t nnames = 1;
    const char **names = parts_grow(NULL, 0, sizeof(*names));
    const struct conf_node *zero = conf_get(n, "all_zero");
    bool all_zero = false;

    if (!parts_mapping(n, "costs", r->e)) {
        free(names);
        return;
    }
    names[0] = "all_zero";
    if (zero)
        conf_bool(zero, &all_zero, r->e);
    for (const struct param *p = costs_params; p->name; p++) {
        const struct conf_node *v = conf_get(n, p->name);

        names = parts_grow(names, nnames, sizeof(*names));
        names[nnames++] = p->name;
        if (all_zero && p->type == PARAM_NS)
            *(ns_t *)(void *)((char *)&r->m->costs + p->offset) = 0;
        v = v ? machine_value(v, r->e) : NULL;
        if (v)
            param_read(p, &r->m->costs, v, r->e);
    }
    conf_only_keys(n, names, nnames, "cost", r->e);
    free(names);
}

static void read_platform(struct machine_reader *r, const struct conf_node *n)
{
    platform_read(&r->m->platform, n, r->e);
}

static void read_mapping(struct machine_reader *r, const struct conf_node *n)
{
    static const char *const NAMES[] = {"name", "summary", "source",  "base",  "topology", "mhz",
                                        "smt",  "power",   "cstates", "costs", "platform"};
    static const struct {
        const char *key;
        void (*read)(struct machine_reader *r, const struct conf_node *n);
    } PARTS[] = {
        {"topology", read_topology}, {"smt", read_smt},     {"power", read_power},
        {"cstates", read_cstates},   {"costs", read_costs}, {"platform", read_platform},
    };
    const struct conf_node *summary = conf_get(n, "summary");
    int64_t mhz = r->m->cpu_mhz;

    conf_only_keys(n, NAMES, sizeof(NAMES) / sizeof(NAMES[0]), "machine", r->e);
    if (!conf_get(n, "topology") && !conf_get(n, "base"))
        conf_error(r->e, n, "a machine needs a topology, or a base machine");
    if (summary)
        set_text(&r->m->summary, parts_copy(conf_str(summary, r->e)));
    read_int(r, n, "mhz", 100000, &mhz);
    r->m->cpu_mhz = (int)mhz;
    for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
        if (conf_get(n, PARTS[i].key))
            PARTS[i].read(r, conf_get(n, PARTS[i].key));
}

/* A name or a path. */
static bool read_named(struct machine_reader *r, const struct conf_node *n)
{
    char *path = files_find(r->files, FIND_MACHINE, r->dir, n, r->e);
    struct conf_tree *kept = path ? files_kept(r->files, path) : NULL;
    struct conf_tree *t = path && !kept ? conf_read_file(path, r->e) : kept;
    bool ok = false;

    if (t) {
        char *dir = parts_dir(path);
        const char *outer = r->dir;

        r->dir = dir;
        ok = conf_root(t)->kind == CONF_MAP ? read_machine(r, conf_root(t))
                                            : parts_mapping(conf_root(t), "a machine file", r->e);
        r->dir = outer;
        set_text(&r->m->file, parts_copy(path));
        set_text(&r->m->name, parts_base(path));
        free(dir);
    }
    files_keep(r->files, path, kept ? NULL : t);
    free(path);
    return ok;
}

static bool read_machine(struct machine_reader *r, const struct conf_node *n)
{
    size_t before = r->e->n;
    const struct conf_node *base = conf_get(n, "base");

    if (r->bases++ > BASES_MAX) {
        conf_error(r->e, n, "machines derive from one another more than %d deep", BASES_MAX);
        return false;
    }
    if (n->kind == CONF_SCALAR)
        return read_named(r, n);
    if (!parts_mapping(n, "machine", r->e) || (base && !read_machine(r, base)))
        return false;
    read_mapping(r, n);
    return parts_clean(r->e, before);
}

/* Of a mapping in place: the name it gives itself, or says from what it derives. */
static void name_inline(struct machine *m, const struct conf_node *n, struct conf_errors *e)
{
    const struct conf_node *name = conf_get(n, "name");

    if (name)
        set_text(&m->name, parts_copy(conf_str(name, e)));
    else
        set_text(&m->name, m->name ? parts_format("%s (changed)", m->name) : parts_copy("inline"));
}

bool machine_read(struct machine *m, const struct conf_node *n, const char *dir,
                  struct scenario_files *f, struct conf_errors *e)
{
    struct machine_reader r = {.m = m, .dir = dir, .files = f, .e = e};

    machine_defaults(m);
    bool ok = read_machine(&r, n);

    m->speed_1024 = llround(m->smt_speed * 1024);
    if (n->kind == CONF_MAP)
        name_inline(m, n, e);
    return ok;
}

bool machine_load(struct machine *m, const char *name, struct conf_errors *e)
{
    const struct conf_node n = {.kind = CONF_SCALAR, .text = name};

    *m = (struct machine){0};
    return machine_read(m, &n, ".", NULL, e);
}

void machine_free(struct machine *m)
{
    free(m->name);
    free(m->summary);
    free(m->file);
    platform_free(&m->platform);
}

int machine_npcpus(const struct machine *m)
{
    const struct topology_conf *t = &m->topo;

    return (int)(t->sockets * t->nodes_per_socket * t->groups_per_node * t->cores_per_group *
                 t->threads_per_core);
}
