/* SPDX-License-Identifier: MIT */
/*
 * A scenario: YAML tree -> machine + host + VMs + workloads. Returns errors, never exits.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "channel/idle_ops.h"
#include "conf/conf.h"
#include "conf/costs.h"
#include "guest/guest_ops.h"
#include "guest/program.h"
#include "host/host_ops.h"

/* One parameter of an idle policy whose default is the hardware's: `text` as written in YAML. */
struct platform_default {
    const struct policy_head *policy;
    const struct param *param;
    char *text;
};

/* What the hypervisor of this hardware does unless a scenario says otherwise. */
struct platform {
    bool given;         /* the machine says something; else all is as for any machine */
    int preempted_rule; /* enum preempted_rule */
    struct platform_default *list;
    size_t n;
};

struct machine {
    char *name, *summary, *file;
    struct topology_conf topo;
    double smt_speed;   /* speed of a thread whose sibling is busy, 0..1] */
    int64_t speed_1024; /* the same in 1/1024, rounded once: what the engine uses */
    struct costs costs;
    struct cstate cstate[CSTATES_MAX];
    int ncstates;
    double power_active_w, power_idle_w; /* per hardware thread */
    int cpu_mhz;
    struct platform platform;
};

/* A machine by name or path. False with errors; machine_free is due either way. */
bool machine_load(struct machine *m, const char *name, struct conf_errors *e);
void machine_free(struct machine *m);

/* A chosen policy with its parameters (malloc'ed, ops->head.params_size bytes; NULL without). */
struct policy_choice {
    const void *ops; /* struct host_ops / guest_ops / idle_ops */
    void *params;
};

enum vm_role { ROLE_MEASURED, ROLE_BACKGROUND };

/* One entry of `vms:`, repeated `count` times. */
struct vm_spec {
    char *name;
    enum vm_role role;
    int64_t count; /* resolved: fill is computed */
    bool fill;
    int64_t vcpus;
    int *pin; /* pCPUs of this group, or NULL: the host's placement */
    size_t npin;
    bool pin_one; /* vCPU i of each VM on pin[i mod npin] alone (placement: pinned, or pin with as
                   * many entries as vCPUs); else each vCPU may use the whole list */
    int64_t numa; /* above 1: its vCPUs in so many equal blocks, block i on pCPUs of node i alone */
    uint32_t weight;
    ns_t start; /* VM k of the group starts at start + k * stagger */
    ns_t stagger;
    struct policy_choice guest;
    struct guest_conf guest_conf;
    struct policy_choice idle;
    struct workload **workload; /* VM k of the group runs workload[k % nworkloads] */
    size_t nworkloads;
    bool mix; /* given as a list */
};

enum host_placement { PLACE_FLOAT, PLACE_PINNED };

/* PLACE_PINNED: the order in which the pool is dealt for the first time. */
enum pinned_order {
    PINNED_SHUFFLED,
    PINNED_CORES /* core by core, the threads of a core one after the other */
};

struct scenario {
    char *file;
    struct machine machine;
    ns_t duration, warmup;
    uint64_t seed;
    int64_t replications;
    struct host_conf host;
    enum host_placement placement;
    enum pinned_order pinned_order;
    struct policy_choice scheduler;
    int *pool; /* pCPUs that the oversubscription counts, default all */
    size_t npool;
    double oversubscription; /* 0 = not given */
    ns_t channel_delay;
    int preempted_rule; /* enum preempted_rule */
    double io_cpu;     /* host.io_cpu: pCPU time per I/O as a share of the service time, 0 = none */
    bool host_cstates; /* host's own idle uses cstate[0..] of machine; limited to host_ncstates */
    int host_ncstates;
    struct vm_spec *vm;
    int nvms;
    const struct scenario_files *files; /* owns the workloads that it read; or NULL */
    char *echo;    /* every key with its value, defaults included: one JSON object, canonical */
    char hash[33]; /* of echo */
};

/* `t` is not kept. NULL with errors in *e. Looks for machines in <configs>/machines, workloads in
 * <workloads>: paths relative to the scenario's file first, then the working directory, then
 * $TANDEM_HOME, then the source folder compiled in. */
struct scenario *scenario_from_tree(const struct conf_tree *t, const char *file,
                                    struct conf_errors *e);
/* For many scenarios that name the same files: each file is looked for and read once, and stays what it
 * was then. scenario_from_tree_with(t, file, NULL, e) is scenario_from_tree. */
struct scenario_files;
struct scenario_files *scenario_files_new(void);
void scenario_files_free(struct scenario_files *f);
struct scenario *scenario_from_tree_with(const struct conf_tree *t, const char *file,
                                         struct scenario_files *f, struct conf_errors *e);
/* Reads the file, applies KEY=VALUE overrides in order. */
struct scenario *scenario_load(const char *file, const char *const *set, size_t nset,
                               struct conf_errors *e);
void scenario_free(struct scenario *s);
/* Resolves the short forms of key paths: host.slice -> host.scheduler.<chosen>.slice. malloc'ed. */
char *scenario_path(const struct conf_tree *t, const char *path);
/* conf_set and conf_set_node for scenarios: short forms are resolved; a policy that the tree names
 * alone
 * (`scheduler: cfs`) may be given a parameter (host.scheduler.cfs.latency), a machine that it names
 * alone may be changed (machine.costs.exit). */
bool scenario_set(struct conf_tree *t, const char *path, const char *value, struct conf_errors *e);
bool scenario_set_node(struct conf_tree *t, const char *path, const struct conf_node *value,
                       struct conf_errors *e);
/* vCPU g (global order over all VMs that use pinned fill) -> pCPU, a permutation per lap from the
 * seed. */
int scenario_pinned_pcpu(const struct scenario *s, uint64_t seed, int64_t g);
/* The same for all of them at once (each call above deals all vCPUs up to g anew). malloc'ed. */
int *scenario_pinned_all(const struct scenario *s, uint64_t seed, int64_t *n);
int64_t scenario_total_vcpus(const struct scenario *s);
int64_t scenario_total_vms(const struct scenario *s);

#endif
