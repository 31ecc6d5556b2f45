/* SPDX-License-Identifier: MIT */
/* The scenario's host: scheduler, placement, idle, pool, channel. And how a policy is chosen. */
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"

static const char *const HOST_KEYS[] = {"scheduler", "placement", "io_cpu",
                                        "cstates",   "preempted", "wake"};

static size_t count_names(const char *const *names)
{
    size_t n = 0;

    while (names[n])
        n++;
    return n;
}

static bool is_empty(const struct conf_node *n)
{
    return n->kind == CONF_SCALAR && !n->quoted && n->text[0] == '\0';
}

/* `n`: where the policy is chosen, NULL when by default. */
static void read_params(struct reader *r, const struct policy_head *h, const struct conf_node *n,
                        const struct conf_node *map, struct policy_choice *out)
{
    const char *fault;

    if (map && is_empty(map))
        map = NULL;
    if (map && !parts_mapping(map, h->name, r->e))
        return;
    if (!h->params) {
        if (map && map->n)
            conf_error_key(r->e, map->child[0], "%s has no parameters", h->name);
        return;
    }
    out->params = parts_alloc(1, h->params_size);
    params_default(h->params, out->params);
    if (h->scale && r->machine_read)
        h->scale(out->params, machine_npcpus(&r->s->machine));
    platform_apply(&r->s->machine.platform, h, out->params);
    if (!params_change(h->params, out->params, map, h->name, r->e) || !h->check || !r->machine_read)
        return;
    fault = h->check(out->params, r->s->machine.ncstates);
    if (fault)
        conf_error(r->e, n ? n : r->root, "%s: %s", h->name, fault);
}

void scenario_read_policy(struct reader *r, const struct conf_node *n, enum policy_kind kind,
                          const char *def, struct policy_choice *out)
{
    const struct conf_node *map = n && n->kind == CONF_MAP && n->n == 1 ? n->child[0] : NULL;
    const char *name = map ? map->key : n && n->kind == CONF_SCALAR ? conf_str(n, r->e) : def;

    if (!name)
        return;
    if (n && !map && n->kind != CONF_SCALAR) {
        conf_error(r->e, n, "one policy is chosen: its name, or {name: {parameter: value}}");
        return;
    }
    const char *const *names = registry_names(kind);

    out->ops = registry_find(kind, name);
    if (out->ops)
        read_params(r, out->ops, n, map, out);
    else
        parts_unknown(r->e, n ? n : r->root,
                      kind == POLICY_HOST    ? "host scheduler"
                      : kind == POLICY_GUEST ? "guest policy"
                                             : "idle policy",
                      name, names, count_names(names));
}

/* A second way to write a setting of host, whose row may have another name. */
static void read_alias(struct reader *r, const struct conf_node *host, const struct conf_node *v,
                       size_t offset)
{
    const struct param *p = host_params;

    while (p->name && p->offset != offset)
        p++;
    if (!v || !p->name || v == conf_get(host, p->name))
        return;
    if (conf_get(host, p->name))
        conf_error_key(r->e, v, "'%s' is given twice: here and as '%s' in host", v->key, p->name);
    else
        param_read(p, &r->s->host, v, r->e);
}

/* {float: {wake: ..., balance: ...}} */
static void read_float(struct reader *r, const struct conf_node *host, const struct conf_node *map)
{
    static const char *const NAMES[] = {"wake", "balance"};

    if (is_empty(map) || !parts_mapping(map, "float", r->e))
        return;
    conf_only_keys(map, NAMES, 2, "float", r->e);
    read_alias(r, host, conf_get(map, "wake"), offsetof(struct host_conf, scope));
    read_alias(r, host, conf_get(map, "balance"), offsetof(struct host_conf, balance));
}

/* {pinned: {order: cores}} */
static void read_pinned(struct reader *r, const struct conf_node *map)
{
    static const char *const NAMES[] = {"order"};
    static const char *const ORDERS[] = {[PINNED_SHUFFLED] = "shuffled", [PINNED_CORES] = "cores"};
    const struct conf_node *order = conf_get(map, "order");
    const char *text = order ? conf_str(order, r->e) : NULL;

    if (is_empty(map) || !parts_mapping(map, "pinned", r->e))
        return;
    conf_only_keys(map, NAMES, 1, "pinned", r->e);
    for (int i = 0; text && i < 2; i++) {
        if (strcmp(ORDERS[i], text) == 0) {
            r->s->pinned_order = (enum pinned_order)i;
            return;
        }
    }
    if (text)
        parts_unknown(r->e, order, "order", text, ORDERS, 2);
}

static void read_placement(struct reader *r, const struct conf_node *host)
{
    const struct conf_node *n = conf_get(host, "placement");
    const struct conf_node *map = n && n->kind == CONF_MAP && n->n == 1 ? n->child[0] : NULL;
    const char *name = map ? map->key : n && n->kind == CONF_SCALAR ? n->text : NULL;

    if (!n)
        return;
    if (name && strcmp(name, "float") == 0) {
        if (map)
            read_float(r, host, map);
    } else if (name && strcmp(name, "pinned") == 0) {
        r->s->placement = PLACE_PINNED;
        if (map)
            read_pinned(r, map);
    } else {
        conf_error(r->e, n,
                   "placement is float, pinned, {float: {wake: ..., balance: on}} or "
                   "{pinned: {order: cores}}");
    }
}

static void read_cstates(struct reader *r, const struct conf_node *n)
{
    const struct machine *m = &r->s->machine;

    if (n->kind != CONF_SEQ) {
        conf_error(r->e, n, "cstates is a list of names: [C1]");
        return;
    }
    for (size_t i = 0; i < n->n; i++) {
        const char *name = conf_str(n->child[i], r->e);

        if (!name)
            continue;
        if (i < (size_t)m->ncstates && strcmp(m->cstate[i].name, name) == 0)
            continue;
        if (i < (size_t)m->ncstates)
            conf_error(r->e, n->child[i],
                       "the host uses the machine's C-states from the first on: here '%s' is "
                       "expected, not '%s'",
                       m->cstate[i].name, name);
        else
            conf_error(r->e, n->child[i], "the machine has no C-state '%s' (it has %d)", name,
                       m->ncstates);
        return;
    }
    r->s->host_ncstates = (int)n->n;
}

static void read_channel(struct reader *r)
{
    static const char *const NAMES[] = {"delay"};
    const struct conf_node *n = conf_get(r->root, "channel");

    if (!n || !parts_mapping(n, "channel", r->e))
        return;
    conf_only_keys(n, NAMES, 1, "channel", r->e);
    if (conf_get(n, "delay"))
        conf_ns(conf_get(n, "delay"), &r->s->channel_delay, r->e);
}

static void read_pool(struct reader *r)
{
    const struct conf_node *n = conf_get(r->root, "pool");
    int npcpus = machine_npcpus(&r->s->machine);

    if (n) {
        conf_cpulist(n, npcpus, &r->s->pool, &r->s->npool, r->e);
        return;
    }
    r->s->npool = (size_t)npcpus;
    r->s->pool = parts_alloc(r->s->npool, sizeof(*r->s->pool));
    for (int i = 0; i < npcpus; i++)
        r->s->pool[i] = i;
}

/* The host's own keys. -s host.slice=1ms is short for a parameter of the scheduler, and so it is written
 * in the same place in files, where it belongs deeper. */
static void read_keys(struct reader *r, const struct conf_node *host)
{
    const size_t own = sizeof(HOST_KEYS) / sizeof(HOST_KEYS[0]);
    const struct conf_node *chosen = conf_get(host, "scheduler");
    const char *name = !chosen                    ? "eevdf"
                       : chosen->kind == CONF_MAP ? (chosen->n == 1 ? chosen->child[0]->key : "")
                       : chosen->text             ? chosen->text
                                                  : "";
    const struct host_ops *ops = registry_find(POLICY_HOST, name);
    const struct param *params = ops ? ops->head.params : NULL;
    const char **keys;
    size_t n = own;

    for (const struct param *p = params; p && p->name; p++)
        n++;
    keys = parts_alloc(n, sizeof(*keys));
    memcpy(keys, HOST_KEYS, sizeof(HOST_KEYS));
    for (size_t i = own; i < n; i++)
        keys[i] = params[i - own].name;
    parts_read_rows(host_params, &r->s->host, host, keys, n, "host", r->e);
    for (size_t i = 0; host && host->kind == CONF_MAP && i < host->n; i++) {
        const struct conf_node *c = host->child[i];

        if (params && param_find(params, c->key) && !param_find(host_params, c->key))
            conf_error_key(r->e, c, "'%s' is a parameter of the scheduler: {%s: {%s: ...}}", c->key,
                           name, c->key);
    }
    free(keys);
}

void scenario_read_host(struct reader *r)
{
    struct scenario *s = r->s;
    const struct conf_node *host = conf_get(r->root, "host");
    const struct conf_node *n;

    s->preempted_rule = s->machine.platform.preempted_rule;
    s->host_ncstates = s->machine.ncstates ? 1 : 0;
    read_keys(r, host);
    scenario_read_policy(r, conf_get(host, "scheduler"), POLICY_HOST, "eevdf", &s->scheduler);
    read_alias(r, host, conf_get(host, "wake"), offsetof(struct host_conf, scope));
    read_placement(r, host);
    if ((n = conf_get(host, "io_cpu")))
        conf_real(n, 0, 100, &s->io_cpu, r->e);
    if (r->machine_read && (n = conf_get(host, "cstates")))
        read_cstates(r, n);
    if ((n = conf_get(host, "preempted")))
        preempted_read(n, &s->preempted_rule, r->e);
    s->host_cstates = s->host_ncstates > 0;
    read_channel(r);
    read_pool(r);
}
