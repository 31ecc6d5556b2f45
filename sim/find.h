/* SPDX-License-Identifier: MIT */
/*
 * Where machines, workloads and published facts are found. A name (no slash, no dot) is looked for as
 * NAME.yaml in the kind's folders below each root; anything else is a path, tried from each root. Roots,
 * in order: the folder of the scenario's file, the working directory, $TANDEM_HOME, the source folder
 * compiled in.
 */
#ifndef SIM_FIND_H
#define SIM_FIND_H

#include "conf/conf.h"

enum find_kind { FIND_MACHINE, FIND_WORKLOAD, FIND_FACTS };

/* malloc'ed path of a file that exists, or NULL. `dir`: the first root. */
char *find_file(enum find_kind kind, const char *dir, const char *name);
/* The same; a failure is reported at `at`, with the nearest name there is. */
char *find_or_report(enum find_kind kind, const char *dir, const struct conf_node *at,
                     struct conf_errors *e);
/* Names of all files of a kind, sorted, each once. Free the names and the list. */
char **find_names(enum find_kind kind, const char *dir, size_t *n);
void find_names_free(char **names, size_t n);

#endif
