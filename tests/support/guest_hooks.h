/* SPDX-License-Identifier: MIT */
/* Hooks of a guest whose CPUs always execute: what cross/ would price happens at once. */
#ifndef TESTS_SUPPORT_GUEST_HOOKS_H
#define TESTS_SUPPORT_GUEST_HOOKS_H

#include "guest/guest.h"

static inline void take_irq(void *arg, struct gcpu *g, enum irq_kind kind)
{
    (void)arg;
    (void)kind;
    gcpu_kick(g);
}

static inline void take_notice(void *arg, struct gcpu *from, struct gcpu *to)
{
    (void)arg;
    (void)from;
    gcpu_kick(to);
}

static inline void ignore(void *arg, struct gcpu *g)
{
    (void)arg;
    (void)g;
}

#endif
