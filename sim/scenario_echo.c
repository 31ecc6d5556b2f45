/* SPDX-License-Identifier: MIT */
/*
 * The echo of a scenario: every key with its value, defaults included, as one JSON object, and the
 * hash of it.
 *
 * Always true: an echo reads back as a scenario with the same hash, as long as its workloads are
 * found by name and unchanged; keys come in a fixed order; no folder appears, only base names and
 * hashes of contents, so that the same scenario has the same hash on every machine; seed and
 * replications are shown but not hashed, as they say which sample of the scenario is drawn.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/check.h"
#include "obs/json.h"
#include "obs/result.h"
#include "scenario_parts.h"

static void put_ns(struct json *j, const char *key, ns_t t)
{
    char text[32];

    conf_ns_text(t, text);
    json_string(j, key, text);
}

static void put_int(struct json *j, const char *key, int64_t v)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, v);
    json_raw(j, key, text);
}

static void put_bool(struct json *j, const char *key, bool v)
{
    json_raw(j, key, v ? "true" : "false");
}

/* The shortest text that reads back as v. */
static void put_real(struct json *j, const char *key, double v)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    json_raw(j, key, text);
}

static void put_param(struct json *j, const struct param *p, const void *src)
{
    const char *at = (const char *)src + p->offset;

    switch (p->type) {
    case PARAM_NS:
        put_ns(j, p->name, *(const ns_t *)(const void *)at);
        break;
    case PARAM_INT:
        put_int(j, p->name, *(const int64_t *)(const void *)at);
        break;
    case PARAM_BOOL:
        put_bool(j, p->name, *(const bool *)(const void *)at);
        break;
    case PARAM_REAL:
        put_real(j, p->name, *(const double *)(const void *)at);
        break;
    case PARAM_ENUM:
        json_string(j, p->name, p->values[*(const int *)(const void *)at]);
        break;
    }
}

static void put_params(struct json *j, const struct param *table, const void *src)
{
    for (const struct param *p = table; p && p->name; p++)
        put_param(j, p, src);
}

/* "scheduler": {"eevdf": {...}} */
static void put_policy(struct json *j, const char *key, const struct policy_choice *c)
{
    const struct policy_head *h = c->ops;

    json_object(j, key, false);
    json_object(j, h->name, false);
    put_params(j, h->params, c->params);
    json_close(j);
    json_close(j);
}

/* "0-7,16": ascending without repeats. */
static void put_pcpus(struct json *j, const char *key, const int *list, size_t n)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    CHECK(out, "out of memory");
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && list[end] == list[end - 1] + 1; end++)
            continue;
        fprintf(out, "%s%d", i ? "," : "", list[i]);
        if (end > i + 1)
            fprintf(out, "-%d", list[end - 1]);
    }
    CHECK(fclose(out) == 0 && text, "out of memory");
    json_string(j, key, text);
    free(text);
}

static void put_cstates(struct json *j, const struct machine *m)
{
    json_array(j, "cstates", false);
    for (int i = 0; i < m->ncstates; i++) {
        const struct cstate *c = &m->cstate[i];

        json_object(j, NULL, false);
        json_string(j, "name", c->name);
        put_ns(j, "exit", c->exit_latency);
        put_ns(j, "residency", c->residency);
        put_real(j, "power", c->power_w);
        json_close(j);
    }
    json_close(j);
}

/* A mapping for each policy that has defaults here, in the order of the registry. */
static void put_platform(struct json *j, const struct platform *f)
{
    json_object(j, "platform", false);
    json_string(j, "preempted", preempted_name(f->preempted_rule));
    json_object(j, "idle", false);
    for (size_t k = 0; k < registry_count(POLICY_IDLE); k++) {
        const struct policy_head *h = registry_head(POLICY_IDLE, k);
        void *params = parts_alloc(1, h->params_size);
        bool open = false;

        platform_apply(f, h, params);
        for (const struct param *p = h->params; p && p->name; p++) {
            if (!platform_find(f, h, p))
                continue;
            if (!open)
                json_object(j, h->name, false);
            open = true;
            put_param(j, p, params);
        }
        if (open)
            json_close(j);
        free(params);
    }
    json_close(j);
    json_close(j);
}

static void put_machine(struct json *j, const struct machine *m)
{
    json_object(j, NULL, false);
    json_string(j, "name", m->name);
    json_object(j, "topology", false);
    put_int(j, "sockets", m->topo.sockets);
    put_int(j, "nodes", m->topo.nodes_per_socket);
    put_int(j, "groups", m->topo.groups_per_node);
    put_int(j, "cores", m->topo.cores_per_group);
    put_int(j, "threads", m->topo.threads_per_core);
    json_close(j);
    put_int(j, "mhz", m->cpu_mhz);
    json_object(j, "smt", false);
    put_real(j, "busy_sibling", m->smt_speed);
    json_close(j);
    json_object(j, "power", false);
    put_real(j, "active", m->power_active_w);
    put_real(j, "idle", m->power_idle_w);
    json_close(j);
    put_cstates(j, m);
    json_object(j, "costs", false);
    put_params(j, costs_params, &m->costs);
    json_close(j);
    if (m->platform.given)
        put_platform(j, &m->platform);
    json_close(j);
}

static char *machine_text(const struct machine *m)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct json j;

    CHECK(out, "out of memory");
    json_init(&j, out, true);
    put_machine(&j, m);
    CHECK(fclose(out) == 0 && text, "out of memory");
    return text;
}

/* Machines are the longest part, and the same for most points of a sweep. */
static void put_machine_once(struct json *j, const struct reader *r)
{
    const struct conf_node *n = conf_get(r->root, "machine");
    char *node = r->files && n ? conf_text(n) : NULL;
    char *key = node ? parts_format("%s %s", r->dir, node) : NULL;
    const char *kept = key ? files_machine(r->files, key) : NULL;
    char *text = kept ? NULL : machine_text(&r->s->machine);

    json_raw(j, "machine", kept ? kept : text);
    if (key && text)
        files_keep_machine(r->files, key, text);
    else {
        free(key);
        free(text);
    }
    free(node);
}

/* What is not said otherwise is written as a word. */
static void put_placement(struct json *j, const struct scenario *s)
{
    if (s->placement == PLACE_FLOAT || s->pinned_order == PINNED_SHUFFLED) {
        json_string(j, "placement", s->placement == PLACE_PINNED ? "pinned" : "float");
        return;
    }
    json_object(j, "placement", false);
    json_object(j, "pinned", false);
    json_string(j, "order", "cores");
    json_close(j);
    json_close(j);
}

static void put_host(struct json *j, const struct scenario *s)
{
    json_object(j, "host", false);
    put_policy(j, "scheduler", &s->scheduler);
    put_placement(j, s);
    put_params(j, host_params, &s->host);
    put_real(j, "io_cpu", s->io_cpu);
    json_array(j, "cstates", false);
    for (int i = 0; i < s->host_ncstates; i++)
        json_string(j, NULL, s->machine.cstate[i].name);
    json_close(j);
    json_string(j, "preempted", preempted_name(s->preempted_rule));
    json_close(j);
}

static void put_vm(struct json *j, const struct vm_spec *vm, const struct vm_note *note)
{
    json_object(j, NULL, false);
    json_string(j, "name", vm->name);
    json_string(j, "role", vm->role == ROLE_MEASURED ? "measured" : "background");
    if (vm->pin)
        put_pcpus(j, "pin", vm->pin, vm->npin);
    if (vm->numa > 1)
        put_int(j, "numa", vm->numa);
    put_int(j, "count", vm->count);
    put_bool(j, "fill", vm->fill);
    put_int(j, "vcpus", vm->vcpus);
    put_int(j, "weight", vm->weight);
    put_ns(j, "start", vm->start);
    put_ns(j, "stagger", vm->stagger);
    json_object(j, "guest", false);
    put_policy(j, "policy", &vm->guest);
    put_params(j, guest_params, &vm->guest_conf);
    json_close(j);
    put_policy(j, "idle", &vm->idle);
    if (vm->mix)
        json_array(j, "mix", false);
    for (size_t k = 0; k < vm->nworkloads; k++) {
        json_object(j, vm->mix ? NULL : "workload", false);
        json_string(j, "name", note->work[k].name);
        json_string(j, "hash", note->work[k].hash);
        json_close(j);
    }
    if (vm->mix)
        json_close(j);
    json_close(j);
}

/* The place where the sample, seed and replications, is to be told. */
static size_t put_scenario(struct json *j, const struct reader *r)
{
    const struct scenario *s = r->s;
    size_t sample;

    json_object(j, NULL, false);
    put_machine_once(j, r);
    put_ns(j, "duration", s->duration);
    put_ns(j, "warmup", s->warmup);
    put_bool(j, "allow_cold", r->allow_cold);
    sample = (size_t)ftell(j->out);
    put_pcpus(j, "pool", s->pool, s->npool);
    if (s->oversubscription > 0)
        put_real(j, "oversubscription", s->oversubscription);
    put_host(j, s);
    json_object(j, "channel", false);
    put_ns(j, "delay", s->channel_delay);
    json_close(j);
    json_array(j, "vms", false);
    for (int i = 0; i < s->nvms; i++)
        put_vm(j, &s->vm[i], &r->note[i]);
    json_close(j);
    json_close(j);
    return sample;
}

static char *echo_text(const struct reader *r, size_t *sample)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct json j;

    CHECK(out, "out of memory");
    json_init(&j, out, true);
    *sample = put_scenario(&j, r);
    CHECK(fclose(out) == 0 && text, "out of memory");
    return text;
}

void scenario_write_echo(struct reader *r)
{
    struct c_numbers numbers;
    bool c_locale = c_numbers_begin(&numbers) == 0;
    size_t sample;
    char *hashed = echo_text(r, &sample);

    hash_hex(hashed, strlen(hashed), r->s->hash);
    r->s->echo = parts_format("%.*s,\"seed\":\"%" PRIu64 "\",\"replications\":%" PRId64 "%s",
                              (int)sample, hashed, r->s->seed, r->s->replications, hashed + sample);
    free(hashed);
    if (c_locale)
        c_numbers_end(&numbers);
}
