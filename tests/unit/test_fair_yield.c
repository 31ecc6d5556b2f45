/* SPDX-License-Identifier: MIT */
/*
 * Yielding where it is free: whoever has an earlier deadline goes first, the yielder loses nothing.
 */
#include <criterion/criterion.h>

#include "tests/unit/fair_world.h"

Test(fair_yield, free_of_charge)
{
    begin(FAIR_EEVDF);
    w.conf.free_yield = true;
    add(1024, FAIR_WAKE);
    add(1024, FAIR_WAKE);
    fair_pick(&w.q);
    fair_charge(&w.q, NS_MS);
    repick();
    cr_expect_eq(w.q.curr, &w.e[1]);
    fair_charge(&w.q, 400 * NS_US);
    fair_yield(&w.q);
    cr_expect_eq(w.q.curr->vruntime, 400 * NS_US);
    cr_expect_eq(w.q.curr->deadline, 3200 * NS_US);
}
