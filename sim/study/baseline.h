/* SPDX-License-Identifier: MIT */
/*
 * Baselines: small files meant to be committed, JSON with schema tandem.baseline/1. Per point: what it
 * was made of (`manifest`, as in a result file: version, git, hash, seed, loaded policy, the scenario with
 * every default), its labels, and of each replication the seed, the fingerprint and some metrics with all
 * digits. No histograms, no per-VM values. The same points give the same bytes.
 */
#ifndef SIM_STUDY_BASELINE_H
#define SIM_STUDY_BASELINE_H

#include "study/dataset.h"

#define BASELINE_SCHEMA "tandem.baseline/1"

/* `chosen`: metrics that are kept, as far as they have values. 0, or -1 (errno). */
int baseline_write(FILE *out, const struct dataset *d, const struct metric *const *chosen,
                   size_t nchosen);
/* Whether the file is a baseline: 1, 0, or -1 with *err when it cannot be read. */
int baseline_is(const char *path, struct store_error *err);
/* Adds its points. 0, or -1 with *err. */
int baseline_read(struct dataset *d, const char *path, struct store_error *err);
/* 0 when the baseline was made of the same scenarios as `new`; else -1 with *err, which names what
 * changed. `name`: of the baseline's file; `how`: a command that makes a new one. */
int baseline_fits(const struct dataset *base, const struct dataset *new, const char *name,
                  const char *how, struct store_error *err);

#endif
