/* SPDX-License-Identifier: MIT */
/* Tables of the policies found in models/, made by the Makefile from the files there. */
#ifndef SIM_REGISTRY_H
#define SIM_REGISTRY_H

#include "channel/idle_ops.h"
#include "guest/guest_ops.h"
#include "host/host_ops.h"

extern const struct host_ops *const registry_host[];
extern const struct guest_ops *const registry_guest[];
extern const struct idle_ops *const registry_idle[];
extern const size_t registry_nhost, registry_nguest, registry_nidle;

enum policy_kind { POLICY_HOST, POLICY_GUEST, POLICY_IDLE };

/* A policy loaded at run time joins the others. NULL, or why it is refused (broken, or its name is
 * taken). `ops` must stay where it is. */
const char *registry_add(enum policy_kind kind, const void *ops, char buf[200]);
/* "host", "guest", "idle". */
const char *registry_kind_name(enum policy_kind kind);
/* Any kind's table starts with this head. */
const struct policy_head *registry_head(enum policy_kind kind, size_t i);
size_t registry_count(enum policy_kind kind);
/* NULL when unknown; aliases are resolved. */
const void *registry_find(enum policy_kind kind, const char *name);
/* NULL-terminated names for hints, static. */
const char *const *registry_names(enum policy_kind kind);
/* Checks every table: required operations, ABI, duplicate names. NULL when sound, else the message.
 */
const char *registry_check(char buf[200]);

#endif
