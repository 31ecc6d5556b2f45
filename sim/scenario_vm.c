/* SPDX-License-Identifier: MIT */
/*
 * The scenario's VMs: one struct vm_spec per entry of `vms:`, and how many of the group marked
 * `fill` reach the oversubscription asked for.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"
#include "traces/trace.h"
#include "workload.h"

#define VCPUS_MAX  4096 /* of one VM */
#define GROUPS_MAX 10000
#define MIX_MAX    10000
#define TOTAL_MAX  1000000 /* vCPUs of a scenario */

static const struct conf_node *entry_key(const struct reader *r, int vm, const char *key)
{
    return conf_get(r->note[vm].node, key);
}

static void read_name(struct reader *r, int i)
{
    const struct conf_node *n = entry_key(r, i, "name");
    struct vm_spec *vm = &r->s->vm[i];

    if (n && !parts_name(n, "VM", r->e))
        n = NULL;
    vm->name = n ? parts_copy(n->text) : parts_format("vm%d", i);
    for (int k = 0; k < i; k++)
        if (strcmp(r->s->vm[k].name, vm->name) == 0)
            conf_error(r->e, n ? n : r->note[i].node, "two groups of VMs are called '%s'",
                       vm->name);
}

static void read_role(struct reader *r, int i)
{
    static const char *const NAMES[] = {
        [ROLE_MEASURED] = "measured", [ROLE_BACKGROUND] = "background"};
    const struct conf_node *n = entry_key(r, i, "role");
    const char *text = n ? conf_str(n, r->e) : NULL;

    if (!text)
        return;
    for (int k = 0; k < 2; k++) {
        if (strcmp(NAMES[k], text) == 0) {
            r->s->vm[i].role = (enum vm_role)k;
            return;
        }
    }
    parts_unknown(r->e, n, "role", text, NAMES, 2);
}

static void read_size(struct reader *r, int i)
{
    struct vm_spec *vm = &r->s->vm[i];
    const struct conf_node *vcpus = entry_key(r, i, "vcpus"), *count = entry_key(r, i, "count"),
                           *fill = entry_key(r, i, "fill"), *weight = entry_key(r, i, "weight");
    int64_t w = vm->weight;

    if (vcpus)
        conf_int(vcpus, 1, VCPUS_MAX, &vm->vcpus, r->e);
    else
        conf_error(r->e, r->note[i].node, "VM '%s' needs 'vcpus'", vm->name);
    if (count)
        conf_int(count, 1, TOTAL_MAX, &vm->count, r->e);
    if (fill)
        conf_bool(fill, &vm->fill, r->e);
    if (weight && conf_int(weight, 2, 262144, &w, r->e))
        vm->weight = (uint32_t)w;
}

static void read_pin(struct reader *r, int i)
{
    struct vm_spec *vm = &r->s->vm[i];
    const struct conf_node *n = entry_key(r, i, "pin");

    if (!n || !conf_cpulist(n, machine_npcpus(&r->s->machine), &vm->pin, &vm->npin, r->e))
        return;
    vm->pin_one = r->s->placement == PLACE_PINNED || vm->npin == (size_t)vm->vcpus;
}

/* Has the VM a pCPU in this node that it may use? pCPUs are numbered by node, second threads behind. */
static bool in_node(const struct scenario *s, const struct vm_spec *vm, int64_t node)
{
    const struct topology_conf *t = &s->machine.topo;
    const int64_t cores = t->groups_per_node * t->cores_per_group;
    const int64_t first_threads = cores * t->nodes_per_socket * t->sockets;
    const int *list = vm->pin ? vm->pin : s->pool;
    const size_t n = vm->pin ? vm->npin : s->npool;

    for (size_t i = 0; i < n; i++)
        if (list[i] % first_threads / cores == node)
            return true;
    return false;
}

static void read_numa(struct reader *r, int i)
{
    struct vm_spec *vm = &r->s->vm[i];
    const struct conf_node *n = entry_key(r, i, "numa");

    /* A single node is none: the VM may be anywhere. */
    if (!n || !conf_int(n, 1, 1024, &vm->numa, r->e) || vm->numa == 1)
        return;
    if (vm->vcpus % vm->numa != 0)
        conf_error(r->e, n, "%" PRId64 " vCPUs do not make %" PRId64 " equal NUMA nodes", vm->vcpus,
                   vm->numa);
    if (vm->pin_one || (!vm->pin && r->s->placement == PLACE_PINNED))
        conf_error(r->e, n, "each vCPU is pinned already, numa has nothing to choose");
    for (int64_t k = 0; k < vm->numa; k++) {
        if (in_node(r->s, vm, k))
            continue;
        conf_error(r->e, n, "the VM may use no pCPU of node %" PRId64, k);
        return;
    }
}

static void read_guest(struct reader *r, int i)
{
    static const char *const NAMES[] = {"policy"};
    struct vm_spec *vm = &r->s->vm[i];
    const struct conf_node *n = entry_key(r, i, "guest");

    if (n && n->kind == CONF_SCALAR) {
        conf_error(r->e, n, "guest is a mapping: guest: {policy: %s}", n->text);
        n = NULL;
    }
    parts_read_rows(guest_params, &vm->guest_conf, n, NAMES, 1, "guest", r->e);
    if (vm->guest_conf.hints != HINTS_OFF && !vm->guest_conf.channel)
        conf_error_key(r->e, conf_get(n, "hints"), "hints travel by the channel, which is off");
    scenario_read_policy(r, conf_get(n, "policy"), POLICY_GUEST, "bare", &vm->guest);
    scenario_read_policy(r, entry_key(r, i, "idle"), POLICY_IDLE, "hlt", &vm->idle);
}

static void read_times(struct reader *r, int i)
{
    struct vm_spec *vm = &r->s->vm[i];
    const struct conf_node *start = entry_key(r, i, "start"), *stagger = entry_key(r, i, "stagger");

    if (start && conf_ns(start, &vm->start, r->e) && vm->start >= r->s->duration &&
        r->s->duration > 0)
        conf_error(r->e, start, "VM '%s' starts after the end of the run", vm->name);
    if (stagger)
        conf_ns(stagger, &vm->stagger, r->e);
}

/* -- workloads -- */

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);

    return len >= n && strcmp(text + len - n, end) == 0;
}

/* A recorded trace becomes the text of a program, which is read as any other. */
static struct workload *load_trace(struct reader *r, struct work_note *note,
                                   const struct conf_node *at, const char *path,
                                   const struct trace_import_options *o)
{
    char *error = NULL, *text = trace_import_text(path, o, &error);
    struct conf_tree *t = NULL;
    struct workload *w = NULL;

    if (!text)
        conf_error(r->e, at, "%s", error ? error : "the trace cannot be read");
    else
        t = conf_read_text(path, text, strlen(text), r->e);
    if (t)
        w = workload_from_node(conf_root(t), note->name, path, ".", note->hash, r->e);
    conf_free(t);
    free(text);
    free(error);
    return w;
}

static struct workload *load_named(struct reader *r, struct work_note *note,
                                   const struct conf_node *at, const struct trace_import_options *o)
{
    const int mode = o ? (int)o->mode : -1;
    char *path = files_find(r->files, FIND_WORKLOAD, r->dir, at, r->e);
    struct workload *w = path ? files_workload(r->files, path, mode, note->hash) : NULL;

    if (!path)
        return NULL;
    note->name = parts_base(path);
    if (w) {
        free(path);
        return w;
    }
    if (ends_with(path, ".yaml"))
        w = workload_load(path, note->hash, r->e);
    else
        w = load_trace(r, note, at, path, o);
    files_keep_workload(r->files, path, mode, note->hash, w);
    free(path);
    return w;
}

/* {trace: FILE, mode: closed|open} */
static struct workload *load_trace_entry(struct reader *r, struct work_note *note)
{
    static const char *const NAMES[] = {"trace", "mode"};
    static const char *const MODES[] = {[TRACE_CLOSED] = "closed", [TRACE_OPEN] = "open"};
    const struct conf_node *n = note->node;
    const struct conf_node *mode = conf_get(n, "mode");
    const char *text = mode ? conf_str(mode, r->e) : MODES[TRACE_CLOSED];
    struct trace_import_options o;
    int chosen = -1;

    trace_import_defaults(&o);
    conf_only_keys(n, NAMES, 2, "workload", r->e);
    for (int k = 0; text && k < 2; k++)
        if (strcmp(MODES[k], text) == 0)
            chosen = k;
    if (text && chosen < 0)
        parts_unknown(r->e, mode, "mode", text, MODES, 2);
    if (chosen < 0)
        return NULL;
    o.mode = (enum trace_mode)chosen;
    /* Timed wake-ups lie in the past on a second lap. */
    o.loop = o.loop && o.mode == TRACE_CLOSED;
    return load_named(r, note, conf_get(n, "trace"), &o);
}

/* {name: NAME, hash: HASH}: as a name, and nothing else may have that name by now. */
static struct workload *load_recorded(struct reader *r, struct work_note *note)
{
    static const char *const NAMES[] = {"name", "hash"};
    const struct conf_node *n = note->node;
    const struct conf_node *hash = conf_get(n, "hash");
    struct workload *w = load_named(r, note, conf_get(n, "name"), NULL);
    const char *text = hash ? conf_str(hash, r->e) : NULL;

    conf_only_keys(n, NAMES, 2, "workload", r->e);
    if (w && text && strcmp(text, note->hash) != 0)
        conf_error(r->e, hash, "workload '%s' has changed: its hash is %s now", w->name,
                   note->hash);
    return w;
}

static struct workload *load_workload(struct reader *r, struct work_note *note)
{
    const struct conf_node *n = note->node;

    if (n->kind == CONF_SCALAR)
        return load_named(r, note, n, NULL);
    if (conf_get(n, "trace"))
        return load_trace_entry(r, note);
    if (conf_get(n, "name"))
        return load_recorded(r, note);
    note->name = parts_copy("inline");
    return workload_from_node(n, "inline", n->file, r->dir, note->hash, r->e);
}

/* Either one workload for all VMs of the group, or a list dealt to them in turn. */
static void read_workloads(struct reader *r, int i)
{
    const struct conf_node *one = entry_key(r, i, "workload"), *mix = entry_key(r, i, "mix");
    struct vm_spec *vm = &r->s->vm[i];

    if (!one && !mix)
        conf_error(r->e, r->note[i].node, "VM '%s' needs a 'workload' (or a 'mix')", vm->name);
    else if (one && mix)
        conf_error_key(r->e, mix, "VM '%s' has either a workload or a mix", vm->name);
    else if (mix && (mix->kind != CONF_SEQ || mix->n == 0 || mix->n > MIX_MAX))
        conf_error(r->e, mix, "mix is a list of workloads, with at least one");
    else
        vm->nworkloads = mix ? mix->n : 1;
    vm->mix = mix != NULL;
    vm->workload = parts_alloc(vm->nworkloads, sizeof(*vm->workload));
    r->note[i].work = parts_alloc(vm->nworkloads, sizeof(*r->note[i].work));
    for (size_t k = 0; k < vm->nworkloads; k++) {
        r->note[i].work[k].node = mix ? mix->child[k] : one;
        vm->workload[k] = load_workload(r, &r->note[i].work[k]);
    }
}

static bool has_samples(const struct workload *w)
{
    for (int i = 0; i < w->ntasks; i++)
        for (int k = 0; k < w->task[i].nops; k++)
            if (w->task[i].op[k].code == OP_MARK_OPEN)
                return true;
    return false;
}

static void check_task(struct reader *r, const struct vm_spec *vm, const struct workload *w,
                       const struct task_spec *t, const struct conf_node *at)
{
    if (t->vcpu >= vm->vcpus)
        conf_error(r->e, at,
                   "task '%s' of workload '%s' is bound to vCPU %" PRId64
                   ", but VM '%s' has only %" PRId64,
                   t->name, w->name, t->vcpu, vm->name, vm->vcpus);
    for (int k = 0; k < t->nops; k++)
        if (t->op[k].code == OP_POKE && t->op[k].obj >= vm->vcpus)
            conf_error(r->e, at,
                       "task '%s' of workload '%s' pokes vCPU %d (line %d), but VM '%s' has only "
                       "%" PRId64,
                       t->name, w->name, t->op[k].obj, t->op[k].line, vm->name, vm->vcpus);
        else if (t->op[k].code == OP_IO && t->op[k].obj2 >= vm->vcpus)
            conf_error(r->e, at,
                       "task '%s' of workload '%s' wants interrupts on vCPU %d (line %d), but VM "
                       "'%s' has only %" PRId64,
                       t->name, w->name, t->op[k].obj2, t->op[k].line, vm->name, vm->vcpus);
}

/* What depends on both the VM and its program. */
static void check_workload(struct reader *r, const struct vm_spec *vm, const struct workload *w,
                           const struct conf_node *at)
{
    for (int k = 0; k < w->ntasks; k++)
        check_task(r, vm, w, &w->task[k], at);
    if (vm->role == ROLE_MEASURED && r->s->warmup == 0 && !r->allow_cold && has_samples(w))
        conf_error(r->e, at,
                   "workload '%s' measures latency: add 'warmup: 200ms' (or 'allow_cold: true', to "
                   "measure from the first moment on)",
                   w->name);
}

static void read_vm(struct reader *r, int i)
{
    static const char *const NAMES[] = {"name",  "role",     "pin",   "count",   "fill",
                                        "vcpus", "weight",   "start", "stagger", "guest",
                                        "idle",  "workload", "mix",   "numa"};

    conf_only_keys(r->note[i].node, NAMES, sizeof(NAMES) / sizeof(NAMES[0]), "VM", r->e);
    r->s->vm[i] = (struct vm_spec){.count = 1, .vcpus = 1, .weight = 1024};
    read_name(r, i);
    read_role(r, i);
    read_size(r, i);
    read_pin(r, i);
    read_numa(r, i);
    read_guest(r, i);
    read_times(r, i);
    read_workloads(r, i);
    for (size_t k = 0; k < r->s->vm[i].nworkloads; k++)
        if (r->s->vm[i].workload[k])
            check_workload(r, &r->s->vm[i], r->s->vm[i].workload[k], r->note[i].work[k].node);
}

/* -- oversubscription -- */

struct fill {
    double ratio;
    int64_t pool, others, size; /* pCPUs; vCPUs of the other groups; of one VM that fills */
    int group;
};

static double ratio_of(const struct fill *f, int64_t count)
{
    return (double)(f->others + count * f->size) / (double)f->pool;
}

static void report_misfit(struct reader *r, const struct conf_node *at, const struct fill *f,
                          double count)
{
    const char *name = r->s->vm[f->group].name;
    int64_t below = count < 1 ? 1 : (int64_t)count, best = below;

    if (count < 1) {
        conf_error(r->e, at,
                   "oversubscription %.12g of %" PRId64 " pCPUs leaves no room for a VM '%s' of "
                   "%" PRId64 " vCPUs; the smallest that fits is %.12g",
                   f->ratio, f->pool, name, f->size, ratio_of(f, 1));
        return;
    }
    if (fabs(ratio_of(f, below + 1) - f->ratio) < fabs(ratio_of(f, below) - f->ratio))
        best = below + 1;
    conf_error(r->e, at,
               "oversubscription %.12g of %" PRId64 " pCPUs is no whole number of VMs '%s' of "
               "%" PRId64 " vCPUs; the nearest that fits is %.12g",
               f->ratio, f->pool, name, f->size, ratio_of(f, best));
}

/* A count beside `fill` is superfluous (an echo has it) but must not say something else. */
static void set_count(struct reader *r, const struct fill *f, int64_t count)
{
    const struct conf_node *given = entry_key(r, f->group, "count");
    struct vm_spec *vm = &r->s->vm[f->group];

    if (given && vm->count != count)
        conf_error(r->e, given, "%" PRId64 " VMs '%s' fill, not %" PRId64 ": leave the count out",
                   count, vm->name, vm->count);
    vm->count = count;
}

static void resolve_fill(struct reader *r, const struct conf_node *at, struct fill *f)
{
    struct scenario *s = r->s;

    for (int i = 0; i < s->nvms; i++)
        if (i != f->group)
            f->others += s->vm[i].count * s->vm[i].vcpus;
    f->size = s->vm[f->group].vcpus;
    double count = (f->ratio * (double)f->pool - (double)f->others) / (double)f->size;
    double whole = round(count);

    /* 1.333333333333 is meant to be 4/3: a millionth of a vCPU is no remainder. */
    if (whole < 1 || fabs(count - whole) * (double)f->size > 1e-6)
        report_misfit(r, at, f, count);
    else if (whole > TOTAL_MAX)
        conf_error(r->e, at, "oversubscription %.12g needs too many VMs", f->ratio);
    else
        set_count(r, f, (int64_t)whole);
}

static void read_oversubscription(struct reader *r)
{
    struct scenario *s = r->s;
    const struct conf_node *n = conf_get(r->root, "oversubscription");
    struct fill f = {.pool = (int64_t)s->npool, .group = -1};
    size_t before = r->e->n;

    for (int i = 0; i < s->nvms; i++) {
        if (s->vm[i].fill && f.group >= 0)
            conf_error(r->e, r->note[i].node, "only one group may fill: '%s' or '%s'",
                       s->vm[f.group].name, s->vm[i].name);
        if (s->vm[i].fill && f.group < 0)
            f.group = i;
    }
    if (n && !conf_real(n, 0, 100000, &s->oversubscription, r->e))
        return;
    f.ratio = s->oversubscription;
    if (!n && f.group >= 0)
        conf_error(r->e, r->note[f.group].node,
                   "VM '%s' fills: say how far with 'oversubscription: R' at the top",
                   s->vm[f.group].name);
    else if (n && f.ratio <= 0)
        conf_error(r->e, n, "oversubscription is vCPUs per pCPU: above 0");
    else if (n && f.group < 0)
        conf_error(r->e, n, "oversubscription needs a group of VMs with 'fill: true'");
    if (n && f.group >= 0 && f.pool > 0 && parts_clean(r->e, before))
        resolve_fill(r, n, &f);
}

/* Gathering moves vCPUs between pCPUs: somebody must have two to choose from. */
static void check_gather(struct reader *r)
{
    const struct scenario *s = r->s;
    const struct conf_node *n = conf_get(conf_get(r->root, "host"), "gather");

    if (!s->host.gather)
        return;
    for (int i = 0; i < s->nvms; i++) {
        const struct vm_spec *vm = &s->vm[i];

        if (vm->pin ? !vm->pin_one && vm->npin > 1 : s->placement == PLACE_FLOAT && s->npool > 1)
            return;
    }
    conf_error(
        r->e, n ? n : r->root,
        "gather moves vCPUs between pCPUs, but each is bound to one: use 'placement: float', "
        "or a pin list that a VM's vCPUs share");
}

void scenario_read_vms(struct reader *r)
{
    const struct conf_node *list = conf_get(r->root, "vms");

    if (!list) {
        conf_error(r->e, r->root, "a scenario needs 'vms'");
        return;
    }
    if (list->kind != CONF_SEQ || list->n == 0 || list->n > GROUPS_MAX) {
        conf_error(r->e, list, "vms is a list of groups of VMs, with at least one");
        return;
    }
    r->s->vm = parts_alloc(list->n, sizeof(*r->s->vm));
    r->note = parts_alloc(list->n, sizeof(*r->note));
    for (size_t i = 0; i < list->n; i++) {
        if (!parts_mapping(list->child[i], "a group of VMs", r->e))
            continue;
        r->note[r->s->nvms].node = list->child[i];
        read_vm(r, r->s->nvms++);
    }
    read_oversubscription(r);
    check_gather(r);
    if (scenario_total_vcpus(r->s) > TOTAL_MAX)
        conf_error(r->e, list, "more than %d vCPUs in all", TOTAL_MAX);
}
