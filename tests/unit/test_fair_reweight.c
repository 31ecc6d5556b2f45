/* SPDX-License-Identifier: MIT */
/* Another weight for a queued entity: its lag is worth as much as before, the sums stay right, and service
 * follows the new weight. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/unit/fair_world.h"

__extension__ typedef __int128 wide;

static int64_t average(void)
{
    wide sum = 0;
    int64_t weights = 0;

    for (int i = 0; i < w.n; i++) {
        sum += (wide)w.e[i].vruntime * w.e[i].weight;
        weights += w.e[i].weight;
    }
    return (int64_t)(sum / weights);
}

Test(fair_reweight, lag_keeps_its_worth)
{
    for (int i = 0; i < 2; i++) {
        int64_t before, left, v;
        struct fair_entity *e;

        begin(FAIR_EEVDF);
        for (int k = 0; k < 4; k++)
            add(1024, FAIR_WAKE);
        fair_pick(&w.q);
        fair_charge(&w.q, 2 * NS_MS);
        e = i ? w.q.curr : &w.e[2];
        cr_assert(i || e != w.q.curr);
        v = average();
        before = v - e->vruntime;
        left = e->deadline - e->vruntime;
        cr_assert_neq(before, 0);
        fair_reweight(&w.q, e, 256);
        cr_expect_eq(e->weight, 256);
        cr_expect_leq(llabs((v - e->vruntime) - before * 4), 4, "%d", i);
        cr_expect_leq(llabs((e->deadline - e->vruntime) - left * 4), 4, "%d", i);
        cr_expect_leq(llabs(average() - v), 2, "%d", i);
        cr_expect_eq(w.q.load, 3 * 1024 + 256);
        cr_expect_eq(w.q.tree_load, i ? 3 * 1024 : 2 * 1024 + 256);
    }
}

/* Who waits elsewhere meanwhile takes along what it is owed, not what that was in virtual time. */
Test(fair_reweight, lag_keeps_its_worth_out_of_the_queue)
{
    for (int sleeps = 0; sleeps < 2; sleeps++) {
        struct fair_entity *e;
        int64_t lag, left;

        begin(FAIR_EEVDF);
        for (int k = 0; k < 4; k++)
            add(1024, FAIR_WAKE);
        fair_pick(&w.q);
        fair_charge(&w.q, 2 * NS_MS);
        e = &w.e[2];
        cr_assert(e != w.q.curr && fair_dequeue(&w.q, e, sleeps));
        lag = e->vlag;
        left = e->deadline;
        cr_assert_gt(lag, 0);
        fair_reweight(&w.q, e, 256);
        fair_enqueue(&w.q, e, sleeps ? FAIR_WAKE : FAIR_MIGRATE);
        cr_expect_leq(llabs((average() - e->vruntime) - lag * 4), 8, "%d", sleeps);
        if (!sleeps)
            cr_expect_leq(llabs((e->deadline - e->vruntime) - left * 4), 4);
    }
}

Test(fair_reweight, service_follows)
{
    const enum fair_kind kinds[] = {FAIR_CFS, FAIR_EEVDF};

    for (int k = 0; k < 2; k++) {
        ns_t ran[2] = {0, 0}, from[2];

        begin(kinds[k]);
        add(1024, FAIR_WAKE);
        add(1024, FAIR_WAKE);
        fair_pick(&w.q);
        for (int t = 0; t < 40000; t++) {
            if (t == 8000) {
                fair_reweight(&w.q, &w.e[0], 3072);
                from[0] = w.e[0].sum_exec;
                from[1] = w.e[1].sum_exec;
            }
            fair_charge(&w.q, NS_MS / 4);
            if (fair_tick(&w.q))
                repick();
        }
        for (int i = 0; i < 2; i++)
            ran[i] = w.e[i].sum_exec - from[i];
        cr_expect_float_eq((double)ran[0] / (double)(ran[0] + ran[1]), 0.75, 0.01, "%d", k);
    }
}
