/* SPDX-License-Identifier: MIT */
/*
 * A machine's platform: where the hypervisor of this hardware has other defaults than the tables of
 * the policies say.
 *
 * Always true: they are defaults only. What a scenario gives wins, so that a machine may be put in
 * the place of another; a machine without a platform has the tables' own.
 */
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"

#define NRULES 3

static const char *const RULES[NRULES] = {[PREEMPTED_ANY] = "any-deschedule",
                                          [PREEMPTED_RUNNABLE] = "runnable-only",
                                          [PREEMPTED_NEVER] = "never"};

const char *preempted_name(int rule)
{
    return RULES[rule];
}

void preempted_read(const struct conf_node *n, int *rule, struct conf_errors *e)
{
    const char *name = conf_str(n, e);

    for (int i = 0; name && i < NRULES; i++) {
        if (strcmp(RULES[i], name) == 0) {
            *rule = i;
            return;
        }
    }
    if (name)
        parts_unknown(e, n, "preempted rule", name, RULES, NRULES);
}

struct platform_default *platform_find(const struct platform *f, const struct policy_head *h,
                                       const struct param *p)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].policy == h && f->list[i].param == p)
            return &f->list[i];
    return NULL;
}

/* A later machine of the chain says it anew. */
static void set_default(struct platform *f, const struct policy_head *h, const struct param *p,
                        const char *text)
{
    struct platform_default *d = platform_find(f, h, p);

    if (!d) {
        f->list = parts_grow(f->list, f->n, sizeof(*f->list));
        d = &f->list[f->n++];
        *d = (struct platform_default){.policy = h, .param = p};
    }
    free(d->text);
    d->text = parts_copy(text);
}

/* {max: {value: 50us, source: ...}, source: ...}; `scratch` takes the values that are only tried. */
static void read_params(struct platform *f, const struct policy_head *h, const struct conf_node *n,
                        void *scratch, struct conf_errors *e)
{
    size_t nnames = 1;
    const char **names = parts_grow(NULL, 0, sizeof(*names));

    names[0] = "source";
    for (const struct param *p = h->params; p && p->name; p++) {
        const struct conf_node *v = conf_get(n, p->name);

        names = parts_grow(names, nnames, sizeof(*names));
        names[nnames++] = p->name;
        v = v ? machine_value(v, e) : NULL;
        if (v && param_read(p, scratch, v, e))
            set_default(f, h, p, v->text);
    }
    conf_only_keys(n, names, nnames, h->name, e);
    free(names);
}

static void read_policy(struct platform *f, const struct conf_node *n, struct conf_errors *e)
{
    const char *const *names = registry_names(POLICY_IDLE);
    const struct policy_head *h = registry_find(POLICY_IDLE, n->key);
    size_t nnames = 0;

    while (names[nnames])
        nnames++;
    if (!h) {
        parts_unknown(e, n, "idle policy", n->key, names, nnames);
        return;
    }
    if (!parts_mapping(n, h->name, e))
        return;
    void *scratch = parts_alloc(1, h->params_size);

    read_params(f, h, n, scratch, e);
    free(scratch);
}

void platform_read(struct platform *f, const struct conf_node *n, struct conf_errors *e)
{
    static const char *const NAMES[] = {"preempted", "idle", "source"};
    const struct conf_node *rule = conf_get(n, "preempted"), *idle = conf_get(n, "idle");

    if (!parts_mapping(n, "platform", e))
        return;
    conf_only_keys(n, NAMES, 3, "platform", e);
    f->given = true;
    rule = rule ? machine_value(rule, e) : NULL;
    if (rule)
        preempted_read(rule, &f->preempted_rule, e);
    if (!idle || !parts_mapping(idle, "idle", e))
        return;
    for (size_t i = 0; i < idle->n; i++)
        if (strcmp(idle->child[i]->key, "source") != 0)
            read_policy(f, idle->child[i], e);
}

void platform_apply(const struct platform *f, const struct policy_head *h, void *params)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct conf_node n = {
            .kind = CONF_SCALAR, .text = f->list[i].text, .key = f->list[i].param->name};

        if (f->list[i].policy == h)
            param_read(f->list[i].param, params, &n, NULL);
    }
}

void platform_free(struct platform *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->list[i].text);
    free(f->list);
}
