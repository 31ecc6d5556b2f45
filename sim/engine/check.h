/* SPDX-License-Identifier: MIT */
/*
 * Checks and the crash report. A wrong number is worse than a crash.
 *
 * Three levels: CHECK is always on (identities, contract of a policy), CHECK_PRE guards
 * preconditions and goes away with -DTANDEM_CHECKS=1, CHECK_INV guards costly invariants and is on
 * with -DTANDEM_CHECKS=3 (tests, sanitizers). Default level 2: CHECK and CHECK_PRE. A failing check
 * prints simulated time, entity, condition, seed and scenario hash, lets `dump` print the policies'
 * state, and ends the process with status 70.
 */
#ifndef SIM_ENGINE_CHECK_H
#define SIM_ENGINE_CHECK_H

#include <stdint.h>
#include <stdio.h>

#ifndef TANDEM_CHECKS
#define TANDEM_CHECKS 2
#endif

#define EXIT_BUG 70

struct engine;

/* What a crash report says about the run. One per process: a run is a process's only run at a time.
 */
struct crash_context {
    const struct engine *engine;
    uint64_t seed;
    uint64_t replication;
    const char *scenario; /* file name */
    const char *hash;     /* scenario hash, hex */
    void (*dump)(void *arg, FILE *out);
    void *arg;
};

void crash_set_context(const struct crash_context *c); /* copied; NULL clears */
/* Set while a policy operation runs ("guest cps-load", "select"), so that a fault inside names it.
 */
void crash_enter(const char *policy, const char *op);
void crash_leave(void);
/* From now on an invalid memory access, an arithmetic fault or an abort ends in a crash report too,
 * with status 70 but without the dump. For main(), once. */
void crash_catch_faults(void);

_Noreturn void crash_bug(const char *file, int line, const char *cond, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A policy broke its contract. `entity` such as "pcpu 3", "vm0 vcpu 1". */
_Noreturn void crash_policy(const char *policy, const char *op, const char *entity, const char *fmt,
                            ...) __attribute__((format(printf, 4, 5)));

#define CHECK(cond, ...) ((cond) ? (void)0 : crash_bug(__FILE__, __LINE__, #cond, __VA_ARGS__))
#if TANDEM_CHECKS >= 2
#define CHECK_PRE(cond, ...) CHECK(cond, __VA_ARGS__)
#else
#define CHECK_PRE(cond, ...) ((void)sizeof(cond))
#endif
#if TANDEM_CHECKS >= 3
#define CHECK_INV(cond, ...) CHECK(cond, __VA_ARGS__)
#else
#define CHECK_INV(cond, ...) ((void)sizeof(cond))
#endif

#endif
