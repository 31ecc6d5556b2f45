/* SPDX-License-Identifier: MIT */
/*
 * What the three kinds of policy have in common. A table is const and last in its file; sizes
 * instead of allocators: the core allocates, zeroes and frees.
 */
#ifndef SIM_CHANNEL_POLICY_H
#define SIM_CHANNEL_POLICY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "conf/param.h"
#include "engine/engine.h"

/* Raised whenever an operation changes its meaning or its arguments. */
#define TANDEM_POLICY_ABI 3

struct policy_head {
    uint32_t abi;               /* TANDEM_POLICY_ABI */
    const char *name;           /* YAML name: file name with dashes */
    const char *summary;        /* one line */
    const char *alias;          /* another name for it in YAML, or NULL */
    const struct param *params; /* table for params_size bytes, or NULL */
    size_t params_size;
    /* Defaults that follow the machine: called after the table's defaults were set and before the
     * scenario's values are, with the number of pCPUs. May be NULL. */
    void (*scale)(void *params, int npcpus);
    /* NULL when the parameters fit each other and a machine with so many C-states, else what is
     * wrong: static text, reported where the scenario chooses the policy. May be NULL. */
    const char *(*check)(const void *params, int ncstates);
    size_t self_size; /* private memory of an instance */
    size_t cpu_size;  /* per pCPU (host policies) or guest CPU (guest policies) */
    size_t unit_size; /* per vCPU (host, idle) or task (guest) */
};

#endif
