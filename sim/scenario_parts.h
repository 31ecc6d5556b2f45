/* SPDX-License-Identifier: MIT */
/* What the files of the scenario reader share. Nobody else includes this. */
#ifndef SIM_SCENARIO_PARTS_H
#define SIM_SCENARIO_PARTS_H

#include "find.h"
#include "parts.h"
#include "registry.h"
#include "scenario.h"

/* What is known of a VM's workload beyond its struct workload. */
struct work_note {
    const struct conf_node *node;
    char *name; /* base name, no folder */
    char hash[33];
};

/* What is known of a VM entry beyond its struct vm_spec, which is in step with it. */
struct vm_note {
    const struct conf_node *node;
    struct work_note *work; /* in step with vm_spec.workload */
};

struct reader {
    struct scenario *s;
    struct conf_errors *e;
    const struct conf_node *root;
    char *dir;                    /* of the scenario's file */
    struct scenario_files *files; /* or NULL */
    struct vm_note *note;         /* [s->nvms] */
    bool machine_read;            /* without faults: what depends on its shape can be judged */
    bool allow_cold;
};

/* A policy's name, or {name: {parameters}}; `def` when absent. */
void scenario_read_policy(struct reader *r, const struct conf_node *n, enum policy_kind kind,
                          const char *def, struct policy_choice *out);

/* scenario_machine.c. `n`: a name, a path or a mapping. */
bool machine_read(struct machine *m, const struct conf_node *n, const char *dir,
                  struct scenario_files *f, struct conf_errors *e);
int machine_npcpus(const struct machine *m);
/* scenario_cstates.c: the table called n->text. False with an error that names the nearest. */
bool cstates_by_name(struct machine *m, const struct conf_node *n, struct conf_errors *e);

/* A value that may carry its source, `{value: 5, source: ...}`: the value alone. NULL without one. */
const struct conf_node *machine_value(const struct conf_node *n, struct conf_errors *e);

/* scenario_platform.c. Apply: the machine's defaults of the policy `h`, over those of its table. */
void platform_read(struct platform *f, const struct conf_node *n, struct conf_errors *e);
void platform_apply(const struct platform *f, const struct policy_head *h, void *params);
/* NULL when the machine says nothing of this parameter. */
struct platform_default *platform_find(const struct platform *f, const struct policy_head *h,
                                       const struct param *p);
void platform_free(struct platform *f);
void preempted_read(const struct conf_node *n, int *rule, struct conf_errors *e);
const char *preempted_name(int rule);

/* scenario_host.c: host, pool, channel. After the machine. */
void scenario_read_host(struct reader *r);

/* scenario_vm.c: vms, oversubscription. After the host. */
void scenario_read_vms(struct reader *r);

/* scenario_files.c. `f` may be NULL in all of these but the last. */
/* As find_or_report. */
char *files_find(struct scenario_files *f, enum find_kind kind, const char *dir,
                 const struct conf_node *at, struct conf_errors *e);
/* The tree of a path, still owned by `f`; NULL when it is not kept. */
struct conf_tree *files_kept(const struct scenario_files *f, const char *path);
/* Takes the tree, which lives as long as `f`, or ends here without one. NULL does nothing. */
void files_keep(struct scenario_files *f, const char *path, struct conf_tree *t);
/* The workload of a path, read in this mode of traces (-1: none), and its hash; NULL when it is not
 * kept. */
struct workload *files_workload(const struct scenario_files *f, const char *path, int mode,
                                char hash[33]);
/* Owns the workload from now on. Without `f` or workload nothing happens. */
void files_keep_workload(struct scenario_files *f, const char *path, int mode, const char *hash,
                         struct workload *w);
bool files_own(const struct scenario_files *f, const struct workload *w);
/* The echo of the machine that `key` says, if it is that of the last scenario. */
const char *files_machine(const struct scenario_files *f, const char *key);
/* Takes both. */
void files_keep_machine(struct scenario_files *f, char *key, char *text);

/* scenario_echo.c: fills s->echo and s->hash. */
void scenario_write_echo(struct reader *r);

#endif
