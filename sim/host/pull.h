/* SPDX-License-Identifier: MIT */
/* One balancing pass of a pCPU over one of its domains. Private to balance.c and pull.c. */
#ifndef SIM_HOST_PULL_H
#define SIM_HOST_PULL_H

#include "host/internal.h"

enum lb_kind { LB_BUSY, LB_IDLE, LB_NEWIDLE };

/* Pulls READY vCPUs to dst from the busiest other group of its domain at `depth`; returns how many.
 * May instead push a running one to dst when that has failed often. Keeps the domain's interval. */
int lb_pull(struct host *h, struct pcpu *dst, int depth, enum lb_kind kind);

#endif
