/* SPDX-License-Identifier: MIT */
/*
 * Policies from shared objects: --policy ./mine.so.
 *
 * The object is named after the policy, as a source file in models/ is: mine.so (or libmine.so) exports
 * host_policy_mine, guest_policy_mine or idle_policy_mine, one or several. What it was built for is
 * checked (TANDEM_POLICY_ABI), and it passes the same checks as the policies of the program. It stays
 * loaded until the process ends, and worker processes inherit it.
 */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include "study/options.h"

#define OPTION_POLICY                                                                              \
    OPTION("policy", 0, "FILE.so",                                                                 \
           "load a policy from a shared object named after it; may be repeated")

/* options_read, and the policies that --policy names. */
bool options_read_policies(struct options *o, const struct command_spec *command, int argc,
                           char **argv);
/* Loads one object. NULL, or why not (malloc'ed); *status is 2 or 3 then. */
char *policy_load(const char *path, int *status);
/* Hash over all objects loaded so far, in any order; "" when there is none. */
const char *policies_hash(void);

#endif
