/* SPDX-License-Identifier: MIT */
/*
 * The workload format: YAML -> struct workload (guest/program.h). workloads/README.md describes it.
 * Everything that can be said about a program without running it is checked here, so that a
 * workload that loads neither waits for ever by construction nor loops without time.
 */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include "conf/conf.h"
#include "guest/program.h"

/* `name`: for results; `file`: where it stands (messages carry the positions of the nodes); `dir`:
 * where files of measured values are looked for. `hash`: of everything but summary and source,
 * files of values included. NULL with errors in *e. */
struct workload *workload_from_node(const struct conf_node *n, const char *name, const char *file,
                                    const char *dir, char hash[33], struct conf_errors *e);
/* The same from a file; its base name is the workload's name. */
struct workload *workload_load(const char *path, char hash[33], struct conf_errors *e);

/* An amount without a spread: "2ms", {exponential: 2ms}, ... False with errors, and nothing to free
 * then. */
bool amount_read(const struct conf_node *n, const char *dir, struct dist *out,
                 struct conf_errors *e);

#endif
