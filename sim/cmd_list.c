/* SPDX-License-Identifier: MIT */
/* tandem list: what there is, from the same tables that read the files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "conf/costs.h"
#include "guest/guest_conf.h"
#include "list.h"
#include "load.h"
#include "registry.h"
#include "run.h"
#include "study/commands.h"
#include "study/options.h"

static const char *const formats[] = {"table", "json", "csv", NULL};
static const char *const kinds[] = {"policies", "workloads", "machines", "metrics",
                                    "figures",  "programs",  NULL};

static const struct option_spec option[] = {
    OPTION_OF("format", 'f', "F", "how the list is written (default table)", formats),
    OPTION_POLICY,
    OPTION_END,
};

const struct command_spec command_list = {
    .name = "list",
    .summary = "policies, workloads, machines, metrics, figures, programs",
    .usage = "policies|workloads|machines|metrics|figures|programs [OPTION]...",
    .about = "Prints names with what they are for, parameters with default, range, help and "
             "source. 'programs' are the operations that a task's program may use.",
    .option = option,
    .operands = kinds,
    .example = "list policies",
};

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

static void put_found(void *arg, const char *name, const char *summary)
{
    (void)arg;
    printf("%-22s %s\n", name, summary);
}

static void list_machines(void)
{
    list_found(FIND_MACHINE, put_found, NULL);
    puts("\ncosts of a machine (key costs)");
    params_list(costs_params, "      ", stdout);
}

static void list_programs(void)
{
    for (size_t i = 0; list_operations[i].form; i++)
        printf("%-30s %s\n", list_operations[i].form, list_operations[i].help);
    puts("\nAMOUNT: a time (2ms), or {exponential: MEAN}, {gamma: {shape, scale}},\n"
         "{lognormal: {mean|median, sigma}}, {pareto: {min, exponent}}, {weibull: {scale, "
         "exponent}},\n"
         "{uniform: [A, B]}, {mixture: [{weight, amount}, ...]}, {histogram: [[VALUE, COUNT], "
         "...]},\n"
         "{file: PATH}; each but a time may carry scale: N");
}

static void list_table(enum list_kind kind)
{
    switch (kind) {
    case LIST_POLICIES:
        list_policies();
        break;
    case LIST_WORKLOADS:
        list_found(FIND_WORKLOAD, put_found, NULL);
        break;
    case LIST_MACHINES:
        list_machines();
        break;
    case LIST_METRICS:
        metrics_list(stdout);
        break;
    case LIST_FIGURES:
        figures_list(stdout);
        break;
    case LIST_PROGRAMS:
        list_programs();
        break;
    }
}

static int list(const struct options *o)
{
    const int format = option_choice(o, "format", 0);
    const char *what = o->operand[0], *near;
    int kind = 0;

    if (format < 0)
        return STATUS_USAGE;
    while (kinds[kind] && strcmp(what, kinds[kind]) != 0)
        kind++;
    if (!kinds[kind]) {
        near = conf_nearest(what, kinds, (size_t)kind);
        return options_error(o, "cannot list '%s'%s%s%s", what, near ? "; did you mean '" : "",
                             near ? near : "", near ? "'?" : "");
    }
    if (format == 0)
        list_table((enum list_kind)kind);
    else
        list_rows((enum list_kind)kind, stdout, format == 1);
    if (fflush(stdout) == 0)
        return STATUS_OK;
    options_error(o, "cannot write: %s", strerror(errno));
    return STATUS_IO;
}

int cmd_list(int argc, char **argv)
{
    struct options o;
    int status;

    if (!options_read_policies(&o, &command_list, argc, argv))
        return o.status;
    if (o.noperands != 1)
        status = options_error(&o, "one kind of things is wanted: policies, workloads, machines, "
                                   "metrics, figures or programs");
    else
        status = list(&o);
    options_free(&o);
    return status;
}
