/* SPDX-License-Identifier: MIT */
/* What the result writers share, and nobody else needs. */
#ifndef SIM_OBS_RESULTFILE_H
#define SIM_OBS_RESULTFILE_H

#include "obs/json.h"
#include "obs/result.h"

/* Around every writer. Begin refuses replications with different VMs (EINVAL) and sets the locale
 * of numbers; on failure nothing needs to be ended. End flushes and says whether everything was
 * written: 0, or -1 with errno. */
int result_begin(FILE *out, struct run_values *const *runs, int n, struct c_numbers *locale);
int result_end(FILE *out, struct c_numbers *locale);

const char *result_vm(const struct run_values *r, int vm); /* its name, "" without one */
/* Sums by name over the replications, sorted; to be freed. Their number, or -1 without memory. */
int result_counters(struct run_values *const *runs, int n, struct run_counter **total);

#endif
