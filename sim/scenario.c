/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: the top level of the file, key paths, and the life of what was read. The parts are
 * read in scenario_machine.c, scenario_host.c and scenario_vm.c; scenario_echo.c writes down what
 * came out.
 */
#include "scenario.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"

#define REPLICATIONS_MAX 100000

static const char *const TOP_KEYS[] = {
    "summary", "source", "machine", "duration",         "warmup",  "allow_cold",  "seed",
    "pool",    "host",   "vms",     "oversubscription", "channel", "replications"};

/* Any 64-bit number, which conf_int cannot give. */
static void read_seed(struct reader *r, const struct conf_node *n)
{
    const char *text = conf_str(n, r->e);
    uint64_t seed = 0;
    bool ok = text && text[0];

    for (const char *c = text; ok && *c; c++) {
        uint64_t digit = (uint64_t)(*c - '0');

        ok = *c >= '0' && *c <= '9' && seed <= (UINT64_MAX - digit) / 10;
        seed = seed * 10 + digit;
    }
    if (ok)
        r->s->seed = seed;
    else if (text)
        conf_error(r->e, n, "'seed' is '%s', expected a whole number from 0 to 2^64-1", text);
}

static void read_times(struct reader *r)
{
    struct scenario *s = r->s;
    const struct conf_node *duration = conf_get(r->root, "duration");
    const struct conf_node *warmup = conf_get(r->root, "warmup");
    bool ok = duration && conf_ns(duration, &s->duration, r->e);

    if (!duration)
        conf_error(r->e, r->root, "a scenario needs a 'duration'");
    else if (ok && s->duration <= 0)
        conf_error(r->e, duration, "duration must be above 0");
    if (warmup && conf_ns(warmup, &s->warmup, r->e) && ok && s->duration <= s->warmup)
        conf_error(r->e, warmup, "the warm-up takes the whole duration: nothing would be measured");
}

static void read_top(struct reader *r)
{
    const struct conf_node *n;

    conf_only_keys(r->root, TOP_KEYS, sizeof(TOP_KEYS) / sizeof(TOP_KEYS[0]), "scenario", r->e);
    read_times(r);
    if ((n = conf_get(r->root, "allow_cold")))
        conf_bool(n, &r->allow_cold, r->e);
    if ((n = conf_get(r->root, "seed")))
        read_seed(r, n);
    if ((n = conf_get(r->root, "replications")))
        conf_int(n, 1, REPLICATIONS_MAX, &r->s->replications, r->e);
}

static bool read_machine(struct reader *r)
{
    const struct conf_node *n = conf_get(r->root, "machine");

    if (!n)
        conf_error(r->e, r->root, "a scenario needs a 'machine'");
    return n && machine_read(&r->s->machine, n, r->dir, r->files, r->e);
}

static void read_all(struct reader *r)
{
    const struct conf_node *base = conf_get(r->root, "base");
    const struct conf_node *tasks = conf_get(r->root, "tasks");

    if (!parts_mapping(r->root, "a scenario", r->e))
        return;
    if (base && !conf_get(r->root, "vms")) {
        conf_error(r->e, base, "a sweep, not a scenario: 'tandem sweep' runs it, into a store");
        return;
    }
    if (tasks && !conf_get(r->root, "vms")) {
        conf_error(r->e, tasks, "a workload, not a scenario: a VM of a scenario names it");
        return;
    }
    read_top(r);
    r->machine_read = read_machine(r);
    /* After faults there, no list of pCPUs is called too long. */
    if (!r->machine_read)
        r->s->machine.topo = (struct topology_conf){1, 1, 1, 65536, 1};
    scenario_read_host(r);
    scenario_read_vms(r);
}

static void free_notes(struct reader *r)
{
    for (int i = 0; r->note && i < r->s->nvms; i++) {
        for (size_t k = 0; k < r->s->vm[i].nworkloads; k++)
            free(r->note[i].work[k].name);
        free(r->note[i].work);
    }
    free(r->note);
    free(r->dir);
}

struct scenario *scenario_from_tree(const struct conf_tree *t, const char *file,
                                    struct conf_errors *e)
{
    return scenario_from_tree_with(t, file, NULL, e);
}

struct scenario *scenario_from_tree_with(const struct conf_tree *t, const char *file,
                                         struct scenario_files *f, struct conf_errors *e)
{
    struct reader r = {.s = parts_alloc(1, sizeof(*r.s)), .e = e, .root = conf_root(t), .files = f};
    size_t before = e->n;

    r.dir = parts_dir(file);
    r.s->file = parts_copy(file);
    r.s->files = f;
    r.s->seed = 1;
    r.s->replications = 1;
    read_all(&r);
    if (parts_clean(e, before))
        scenario_write_echo(&r);
    free_notes(&r);
    if (parts_clean(e, before))
        return r.s;
    scenario_free(r.s);
    return NULL;
}

/* "KEY=VALUE" */
static bool apply_override(struct conf_tree *t, const char *set, struct conf_errors *e)
{
    const char *equals = strchr(set, '=');

    if (!equals || equals == set) {
        conf_error_file(e, "command line", "'%s' is no KEY=VALUE", set);
        return false;
    }
    char *key = parts_format("%.*s", (int)(equals - set), set);
    bool ok = scenario_set(t, key, equals + 1, e);

    free(key);
    return ok;
}

struct scenario *scenario_load(const char *file, const char *const *set, size_t nset,
                               struct conf_errors *e)
{
    struct conf_tree *t = conf_read_file(file, e);
    struct scenario *s = NULL;
    size_t before = e->n;

    for (size_t i = 0; t && i < nset; i++)
        apply_override(t, set[i], e);
    if (t && parts_clean(e, before))
        s = scenario_from_tree(t, file, e);
    conf_free(t);
    return s;
}

static void free_vm(struct vm_spec *vm, const struct scenario_files *f)
{
    free(vm->name);
    free(vm->pin);
    free(vm->guest.params);
    free(vm->idle.params);
    for (size_t k = 0; k < vm->nworkloads; k++)
        if (!files_own(f, vm->workload[k]))
            workload_free(vm->workload[k]);
    free(vm->workload);
}

void scenario_free(struct scenario *s)
{
    if (!s)
        return;
    machine_free(&s->machine);
    free(s->scheduler.params);
    for (int i = 0; i < s->nvms; i++)
        free_vm(&s->vm[i], s->files);
    free(s->vm);
    free(s->pool);
    free(s->echo);
    free(s->file);
    free(s);
}

int64_t scenario_total_vcpus(const struct scenario *s)
{
    int64_t n = 0;

    for (int i = 0; i < s->nvms; i++)
        n += s->vm[i].count * s->vm[i].vcpus;
    return n;
}

int64_t scenario_total_vms(const struct scenario *s)
{
    int64_t n = 0;

    for (int i = 0; i < s->nvms; i++)
        n += s->vm[i].count;
    return n;
}
