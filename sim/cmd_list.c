/* SPDX-License-Identifier: MIT */
/* tandem list: what there is, from the same tables that read the files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "conf/costs.h"
#include "find.h"
#include "guest/guest_conf.h"
#include "registry.h"
#include "run.h"
#include "study/commands.h"
#include "study/options.h"

static const char help[] =
    "usage: tandem list policies|workloads|machines|metrics|figures|programs\n"
    "\n"
    "Prints names with what they are for, parameters with default, range, help and source.\n"
    "'programs' are the operations that a task's program may use.\n"
    "\n"
    "example: tandem list policies\n";

static const struct option_spec spec[] = {{"help", 'h', false}, {NULL, 0, false}};

static void list_kind(enum policy_kind kind, const char *key)
{
    printf("%s policies (key %s)\n", registry_kind_name(kind), key);
    for (size_t i = 0; i < registry_count(kind); i++) {
        const struct policy_head *h = registry_head(kind, i);

        printf("  %-18s %s\n", h->name, h->summary ? h->summary : "");
        if (h->params)
            params_list(h->params, "      ", stdout);
    }
    putchar('\n');
}

static void list_policies(void)
{
    list_kind(POLICY_HOST, "host.scheduler");
    list_kind(POLICY_GUEST, "vms.NAME.guest.policy");
    list_kind(POLICY_IDLE, "vms.NAME.idle");
    puts("host (key host)");
    params_list(host_params, "      ", stdout);
    puts("\nguest kernel (key vms.NAME.guest)");
    params_list(guest_params, "      ", stdout);
}

static void list_found(enum find_kind kind)
{
    size_t n;
    char **name = find_names(kind, ".", &n);

    for (size_t i = 0; i < n; i++) {
        char *path = find_file(kind, ".", name[i]);
        struct conf_errors e = {0};
        struct conf_tree *t = path ? conf_read_file(path, &e) : NULL;
        const struct conf_node *s = t ? conf_get(conf_root(t), "summary") : NULL;

        printf("%-22s %s\n", name[i], s && s->text ? s->text : "");
        conf_free(t);
        conf_errors_free(&e);
        free(path);
    }
    find_names_free(name, n);
    if (kind == FIND_MACHINE) {
        puts("\ncosts of a machine (key costs)");
        params_list(costs_params, "      ", stdout);
    }
}

static const struct {
    const char *form, *help;
} operations[] = {
    {"run: AMOUNT", "work in ns at nominal speed; {amount: A, shared: on, divide: on}"},
    {"sleep: AMOUNT", "block for that long"},
    {"timer: AMOUNT", "block until the last release + AMOUNT; {at: T} after the start"},
    {"barrier: B", "wait for all parties"},
    {"lock: L, unlock: L", "spin-then-block, spinning or rwsem; {lock: L, mode: read}"},
    {"share: LINE", "exchange of a cache line, priced by distance; {line: L, count: N}"},
    {"wait: {cond: C, lock: L}", "release L, wait for C, take L again"},
    {"signal: C, broadcast: C", "wake one, or all, that wait for C"},
    {"send: Q, recv: Q", "bounded queue; blocks while full, or empty"},
    {"io: D", "an operation of a device; {device: D, service: AMOUNT}"},
    {"turn", "the task's turn moves on: {lock: L, at: turn} or {queue: Q, at: self} of an array"},
    {"spin: AMOUNT", "burn CPU time without work"},
    {"yield", "let others of this CPU run"},
    {"fork: T", "start a task of template T"},
    {"loop: {count: N, body: [...]}", "N or forever"},
    {"mark: {op: M}", "count an operation; {open: M} and {close: M} take a latency sample"},
    {"exit", "the task ends"},
};

static void list_programs(void)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        printf("%-30s %s\n", operations[i].form, operations[i].help);
    puts("\nAMOUNT: a time (2ms), or {exponential: MEAN}, {gamma: {shape, scale}},\n"
         "{lognormal: {mean|median, sigma}}, {pareto: {min, exponent}}, {weibull: {scale, "
         "exponent}},\n"
         "{uniform: [A, B]}, {mixture: [{weight, amount}, ...]}, {histogram: [[VALUE, COUNT], "
         "...]},\n"
         "{file: PATH}; each but a time may carry scale: N");
}

static int list(const struct options *o)
{
    static const char *const kinds[] = {"policies", "workloads", "machines",
                                        "metrics",  "figures",   "programs"};
    const char *what = o->operand[0], *near;

    if (strcmp(what, "policies") == 0)
        list_policies();
    else if (strcmp(what, "workloads") == 0)
        list_found(FIND_WORKLOAD);
    else if (strcmp(what, "machines") == 0)
        list_found(FIND_MACHINE);
    else if (strcmp(what, "metrics") == 0)
        metrics_list(stdout);
    else if (strcmp(what, "figures") == 0)
        figures_list(stdout);
    else if (strcmp(what, "programs") == 0)
        list_programs();
    else {
        near = conf_nearest(what, kinds, 6);
        return options_error(o, "cannot list '%s'%s%s%s", what, near ? "; did you mean '" : "",
                             near ? near : "", near ? "'?" : "");
    }
    return STATUS_OK;
}

int cmd_list(int argc, char **argv)
{
    struct options o;
    int status = STATUS_OK;

    if (!options_read(&o, spec, argc, argv))
        return STATUS_USAGE;
    if (option_flag(&o, "help"))
        fputs(help, stdout);
    else if (o.noperands != 1)
        status = options_error(&o, "one kind of things is wanted: policies, workloads, machines, "
                                   "metrics, figures or programs");
    else
        status = list(&o);
    options_free(&o);
    return status;
}
