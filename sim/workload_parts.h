/* SPDX-License-Identifier: MIT */
/* What the files of the workload reader share. Nobody else includes this. */
#ifndef SIM_WORKLOAD_PARTS_H
#define SIM_WORKLOAD_PARTS_H

#include "parts.h"
#include "workload.h"

enum object_kind {
    OBJ_LOCK,
    OBJ_BARRIER,
    OBJ_QUEUE,
    OBJ_DEVICE,
    OBJ_COND,
    OBJ_MARK,
    OBJ_TASK,
    OBJ_SPREAD,
    OBJ_LINE,
    OBJ_KINDS
};

/* One object or task, in step with its array in the workload. */
struct object_note {
    const struct conf_node *node;     /* where it is declared, or first used */
    const struct conf_node **op_node; /* tasks: of each operation */
};

struct parser {
    struct workload *w;
    struct conf_errors *e;
    const char *dir;
    bool conds_declared;
    struct object_note *note[OBJ_KINDS];
};

extern const char *const object_title[OBJ_KINDS]; /* "lock", "barrier", ... */

int object_count(const struct workload *w, enum object_kind kind);
const char *object_name(const struct workload *w, enum object_kind kind, int i);
/* Index of the object that `n` names; conditions and marks come into being when first named. -1
 * with an error. */
int object_find(struct parser *p, const struct conf_node *n, enum object_kind kind);
/* Appends an object; its name is copied. Returns its index. */
int object_add(struct parser *p, enum object_kind kind, const char *name,
               const struct conf_node *at);

/* An amount that may say `spread: NAME`; *spread as in struct op. */
bool amount_read_spread(struct parser *p, const struct conf_node *n, struct dist *out, int *spread);

/* Reads `objects:`, which may be absent. */
void objects_read(struct parser *p, const struct conf_node *objects);
/* Compiles `program:` of task number `task`. */
void ops_read(struct parser *p, int task, const struct conf_node *program);

/* Everything that is wrong with a workload that was read without errors. */
void workload_check(struct parser *p);

#endif
