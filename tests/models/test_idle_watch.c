/* SPDX-License-Identifier: MIT */
/*
 * WATCH on machines of two to four pCPUs, worked out by hand: when the host looks, who pays,
 * what it sees, and what a VM-wide wake-up does. Each test begins with its time line; the log of the
 * run must be the same to the nanosecond. Prices are in idle_log.h.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/models/idle_log.h"

/*
 * p1 is empty while v1 waits.
 *      0  v1 in: C-state 101, switch 13, entry 11, start interrupt 17
 *    142  its task waits; exit 7
 *    149  off. Looks 1000 after the exit, then 1000 after the end of each look, which takes 101 to
 *         wake the pCPU and 23 to look
 *   9642  v0 has done its work: work for v1, which nobody sees
 *  10141  the ninth look does. v1 pays what the host still owes, 124, then 13 and 11: no C-state
 *  10289  its task runs, waits again, exit 7
 */
Test(idle_watch, looks_of_an_empty_pcpu)
{
    struct run_values *v;

    il.plan[1] = il.then[1] = il_watch(1000);
    by_hand.expire = il_expire;
    v = il_run_pair("5us", "", "12us");
    want("142 enter v1 since 142 rivals 0");
    want("142 v1 exits: idle");
    want("149 v1 BLOCKED");
    for (int k = 0; k < 8; k++)
        want("%d expire v1 since 142", 1149 + 1124 * k);
    want("10141 wake v1 by look");
    want("10141 v1 READY");
    want("10141 v1 on p1");
    want("10141 reflect v1 after 9500 by look");
    want("10289 v1 mark");
    want("10289 enter v1 since 10289 rivals 0");
    want("10289 v1 exits: idle");
    want("10296 v1 BLOCKED");
    want("11296 expire v1 since 10289");
    want_that("looks");
    EXPECT_NS(il_count(v, 0, METRIC_LOOKS), 10);
    EXPECT_NS(il_ns(v, 0, METRIC_LOOKS_EMPTY, 10), 9);
    EXPECT_NS(il_ns(v, 0, METRIC_UNSEEN, 24000), 10141 - 9642);
    EXPECT_NS(il_us(v, 0, METRIC_UNSEEN_MAX), 10141 - 9642);
    EXPECT_NS(il_ns(v, 0, METRIC_STEAL_TIME, 24000), 0);
    EXPECT_NS(il_ns(v, 0, METRIC_HYP, 24000), 142 + 7 + 142 + 7 + 8 * 124 + 148 + 7 + 124);
    run_values_free(v);
}

/* The same without an `expire`: the default is the same plan again, not a longer one. */
Test(idle_watch, the_default_repeats_the_slice)
{
    struct run_values *v;

    il.plan[1] = il_watch(1000);
    il.shows = SHOW_STATE;
    v = il_run_pair("5us", "", "12us");
    want("149 v1 BLOCKED");
    want("10141 v1 READY");
    want("10141 v1 on p1");
    want("10296 v1 BLOCKED");
    want_that("states");
    EXPECT_NS(il_count(v, 0, METRIC_LOOKS), 10);
    run_values_free(v);
}

/*
 * Slice 0: the timer is armed at once, but its floor is 500.
 *    149  off; first look at 649, then 500 after the end of each: every 624
 *  10009  the sixteenth (649 + 15 * 624) sees the work of 9642; v1 in: 124 + 13 + 11
 *  10157  mark, exit 7; 10164 off; looks at 10664, 11288, 11912
 */
Test(idle_watch, slice_0_is_the_timers_floor)
{
    struct run_values *v;

    for (int with = 0; with < 2; with++) {
        il.plan[1] = il.then[1] = il_watch(0);
        by_hand.expire = with ? il_expire : NULL;
        il.shows = SHOW_STATE | SHOW_MARK;
        v = il_run_pair("5us", "", "12us");
        want("149 v1 BLOCKED");
        want("10009 v1 READY");
        want("10009 v1 on p1");
        want("10157 v1 mark");
        want("10164 v1 BLOCKED");
        want_that(with ? "expire" : "default");
        EXPECT_NS(il_count(v, 0, METRIC_LOOKS), 19);
        run_values_free(v);
    }
}

/*
 * p1 runs v2 while v1 waits; rr lets a vCPU run for 5000 while another one is READY.
 *    149  v1 off, v2 in: 13 + 11 + 17
 *   1149  first look: v2 pays exit 7, look 23, entry 11; the next one 1000 after its end: every 1041
 *  10518  the tenth sees the work of 9642: v1 READY
 *  15149  end of v2's third slice: exit 7; v1 in: 7 + 13 + 11
 *  15180  mark, waits again, exit 7
 *  15187  v1 off, v2 in: 13 + 11
 *  16187  look; the next would be at 17228
 */
Test(idle_watch, looks_under_a_running_vcpu)
{
    struct run_values *v;

    il.plan[1] = il.then[1] = il_watch(1000);
    by_hand.expire = il_expire;
    v = il_run_pair("5us", IL_HOG, "17us");
    want("142 enter v1 since 142 rivals 1");
    want("142 v1 exits: idle");
    want("149 v1 BLOCKED");
    want("149 v2 on p1");
    for (int k = 0; k < 9; k++) {
        want("%d v2 exits: irq", 1149 + 1041 * k);
        want("%d expire v1 since 142", 1149 + 1041 * k);
    }
    want("10518 v2 exits: irq");
    want("10518 wake v1 by look");
    want("10518 v1 READY");
    want("15149 v2 exits: preempt");
    want("15149 v2 READY");
    want("15149 v1 on p1");
    want("15149 reflect v1 after 9500 by look");
    want("15180 v1 mark");
    want("15180 enter v1 since 15180 rivals 1");
    want("15180 v1 exits: idle");
    want("15187 v1 BLOCKED");
    want("15187 v2 on p1");
    want("16187 v2 exits: irq");
    want("16187 expire v1 since 15180");
    want_that("looks");
    EXPECT_NS(il_ns(v, 1, METRIC_UNSEEN, 34000), 10518 - 9642);
    EXPECT_NS(il_ns(v, 1, METRIC_STEAL_TIME, 34000), 15149 - 10518);
    EXPECT_NS(il_ns(v, 1, METRIC_STEAL_WANTED, 34000), 15149 - 10518);
    EXPECT_NS(il_ns(v, 2, METRIC_STEAL_TIME, 17000), 149 + 15187 - 15149);
    EXPECT_NS(il_ns(v, 2, METRIC_GUEST_CPU_VCPU, 17000),
              15000 - 41 - 10 * 41 + 17000 - 15187 - 24 - 41);
    run_values_free(v);
}

/* The look that sees the work is cut short by the end of v2's slice, 12 later: what the host still
 * owes for it, 29, then the exit of v2, 7, then the switch, 13 and 11, delay v1's task. */
Test(idle_watch, a_look_cut_short_delays_the_next_one_in)
{
    struct run_values *v;

    il.plan[1] = il.then[1] = il_watch(1000);
    by_hand.expire = il_expire;
    il.shows = SHOW_STATE | SHOW_MARK;
    v = il_run_pair("10381ns", IL_HOG, "11us");
    want("149 v1 BLOCKED");
    want("149 v2 on p1");
    want("10518 v1 READY");
    want("10530 v2 READY");
    want("10530 v1 on p1");
    want("10590 v1 mark");
    want("10597 v1 BLOCKED");
    want("10597 v2 on p1");
    want_that("order of debts");
    run_values_free(v);
}

/*
 * The vCPU looks for itself.
 *   1149  v1 READY: the look began
 *   5149  end of v2's slice: v1 in, 7 + 13 + 11, finds nothing, asks for a plan, exit 7
 *   5187  off: v2 in. The next look 1000 later
 *   6187  READY
 *   9642  work for v1, which waits for its turn: nobody needs to notice it
 *  10187  v1 in: it finds work, and says so once
 *  10218  mark, exit 7; 10225 off
 *  11225  READY
 */
Test(idle_watch, a_vcpu_that_looks_for_itself)
{
    struct run_values *v;

    il.plan[1] = il_watch(1000);
    il.plan[1].self_look = true;
    il.vcpus = 2;
    v = il_run_pair("5us", IL_HOG, "12us");
    want("142 enter v1 since 142 rivals 1");
    want("142 v1 exits: idle");
    want("149 v1 BLOCKED");
    want("1149 v1 READY");
    want("5149 v1 on p1");
    want("5149 enter v1 since 142 rivals 1");
    want("5149 v1 exits: idle");
    want("5187 v1 BLOCKED");
    want("6187 v1 READY");
    want("10187 v1 on p1");
    want("10187 wake v1 by look");
    want("10187 reflect v1 after 9500 by look");
    want("10218 v1 mark");
    want("10218 enter v1 since 10218 rivals 1");
    want("10218 v1 exits: idle");
    want("10225 v1 BLOCKED");
    want("11225 v1 READY");
    want_that("looks");
    EXPECT_NS(il_count(v, 1, METRIC_LOOKS), 3);
    EXPECT_NS(il_ns(v, 1, METRIC_LOOKS_EMPTY, 3), 1);
    EXPECT_NS(il_ns(v, 1, METRIC_UNSEEN, 24000), 0);
    EXPECT_NS(il_ns(v, 1, METRIC_STEAL_TIME, 24000), 2 * 4000 + 775);
    EXPECT_NS(il_ns(v, 1, METRIC_STEAL_WANTED, 24000), 10187 - 9642);
    EXPECT_NS(il_count(v, 1, METRIC_WAKES_EMPTY), 1);
    run_values_free(v);
}

/* The timer of such a look is an interrupt on p1 like that of any look: v2 pays exit 7 and entry 11
 * for it, at 1149, 6187 and 11225. */
Test(idle_watch, its_timer_interrupts_whoever_runs)
{
    struct run_values *v;

    il.plan[1] = il_watch(1000);
    il.plan[1].self_look = true;
    v = il_run_pair("5us", IL_HOG, "12us");
    EXPECT_NS(il_count(v, 2, METRIC_EXITS_IRQ), 3);
    EXPECT_NS(il_ns(v, 2, METRIC_GUEST_CPU_VCPU, 12000),
              5000 - 41 - 18 + 5000 - 24 - 18 + 12000 - 10225 - 24 - 18);
    run_values_free(v);
}

/* -- who else ends a wait -- */

/*
 * A timer of v1 at 3000.
 * It waits: the look of 3397 finds it, which is no satisfied wait of the VM. v1 in: 124, 13 + 11, inject 17; 3562: its task works.
 * It does not: v1 is READY at once. C-state 101, 13 + 11, inject 17.
 */
Test(idle_watch, interrupts_that_wait)
{
    for (int waits = 0; waits < 2; waits++) {
        struct run_values *v;

        il.plan[1] = il.then[1] = il_watch(1000);
        il.plan[1].irq_waits = il.then[1].irq_waits = waits;
        by_hand.expire = il_expire;
        il.tasks = ", {name: c, vcpu: 1, start: 3us, program: [{mark: {op: y}}]}";
        il.vcpus = 2;
        v = il_run_pair("5us", "", "4us");
        EXPECT_NS(time_of("wake v1 by timer", 200), waits ? -1 : 3000);
        EXPECT_NS(time_of("wake v1 by irq", 200), waits ? 3397 : -1);
        EXPECT_NS(time_of("v1 READY", 200), waits ? 3397 : 3000);
        EXPECT_NS(time_of("v1 mark", 200), waits ? 3397 + 165 : 3000 + 142);
        EXPECT_NS(il_ns(v, 1, METRIC_UNSEEN, 8000), waits ? 397 : 0);
        forget_log();
        run_values_free(v);
    }
}

/*
 * Monitored, and p1 runs v2: the work of 9642 is written at 9701. That stops v2, exit 7 and entry 11,
 * and makes v1 READY; rr lets v2 go on to 15149.
 */
Test(idle_watch, a_monitored_word_interrupts_whoever_runs)
{
    struct run_values *v;

    il.plan[1] = il_watch(NS_NEVER);
    il.plan[1].monitored = true;
    v = il_run_pair("5us", IL_HOG, "15200ns");
    want("142 enter v1 since 142 rivals 1");
    want("142 v1 exits: idle");
    want("149 v1 BLOCKED");
    want("149 v2 on p1");
    want("9701 v2 exits: irq");
    want("9701 wake v1 by store");
    want("9701 v1 READY");
    want("10149 v2 exits: preempt");
    want("10149 v2 READY");
    want("10149 v1 on p1");
    want("10149 reflect v1 after 9500 by store");
    want("10180 v1 mark");
    want("10180 enter v1 since 10180 rivals 1");
    want("10180 v1 exits: idle");
    want("10187 v1 BLOCKED");
    want("10187 v2 on p1");
    want_that("monitored");
    EXPECT_NS(il_ns(v, 1, METRIC_UNSEEN, 30400), 9701 - 9642);
    EXPECT_NS(il_ns(v, 2, METRIC_GUEST_CPU_VCPU, 15200), 10000 - 41 - 18 + 15200 - 10187 - 24);
    run_values_free(v);
}

/*
 * HOLD through host ticks at 50 and 150 us, each of 41 and the C-state's 101: one episode. v0 has a
 * tick too, 41 at 100 us: it is done at 142 + 159500 + 41, its store 59 later, v1 awake after 101.
 */
Test(idle_watch, host_ticks_do_not_end_an_episode)
{
    struct run_values *v;

    il.plan[1] = (struct idle_plan){.act = IDLE_HOLD, .until = NS_NEVER};
    il.host = "tick: 10000";
    il.waker = "{run: 159500ns}, {send: q}";
    il.vcpus = 2;
    v = il_run_pair("5us", "", "170us");
    want("142 enter v1 since 142 rivals 0");
    want("50000 v1 exits: preempt");
    want("150000 v1 exits: preempt");
    want("159843 reflect v1 after 159541 by store");
    want("159843 v1 mark");
    want("159843 enter v1 since 159843 rivals 0");
    want_that("ticks");
    EXPECT_NS(il_ns(v, 0, METRIC_HYP, 340000), 142 + 41 + 7 + 142 + 2 * 142);
    run_values_free(v);
}

/* -- VM-wide wake-ups -- */

/*
 * v0 on p0 wakes v1, which waits on p1 under looks; v2 waits on p2, without a look so soon; v3 works
 * on p3, where v4 and v5 do the same in turns of `slice`.
 */
static struct run_values *run_group(const char *slice, const char *on_p1, const char *duration)
{
    static const char vms[] =
        "  - {name: vm, vcpus: 4, pin: \"0-3\", idle: by-hand, " IL_GUEST
        ", workload: {objects: {queues: {q: {capacity: 9}, r: {capacity: 9}}}, tasks: [{name: a, "
        "vcpu: 0, program: [{run: 9500ns}, {send: q}, {run: 10us}, {send: r}]}, {name: b, vcpu: 1, "
        "program: [{loop: {count: forever, body: [{recv: q}, {mark: {op: x}}]}}]}, {name: c, vcpu: "
        "2, "
        "program: [{loop: {count: forever, body: [{recv: r}, {mark: {op: x}}]}}]}, {name: d, vcpu: "
        "3, "
        "program: [{run: 1s}]}]}}\n"
        "  - {name: p3, role: background, count: 2, vcpus: 1, pin: \"3\", idle: hlt, " IL_GUEST
        ", workload: {tasks: [{program: [{run: 1s}]}]}}\n%s";
    char host[200], text[4096], more[100];

    snprintf(host, sizeof(host), "scheduler: {rr: {slice: %s}}, placement: pinned", slice);
    snprintf(text, sizeof(text), vms, on_p1);
    snprintf(more, sizeof(more), "duration: %s", duration);
    il.plan[0] = il.plan[3] = il_block;
    il.plan[1] = il.then[1] = il_watch(1000);
    il.plan[2] = il.then[2] = il_watch(50 * NS_US);
    by_hand.expire = il_expire;
    il.from = 200;
    return il_run(4, IL_PRICES, host, text, more);
}

/*
 * Slices of 5250: v3 to 5250, v4 to 10500; then v5 is first, unless v3 is moved to the head.
 *  10141  the look on p1 sees v1's work. It marks v2 and then, to boost it, v3: 5 each, on p1
 *         v1 in: 124, the marks, 13 + 11
 *  10270  the look (124) and the first mark (5) are done: v2 in: 101 + 13 + 11, finds nothing, exit 7
 *  10500  boosted: v3 in: exit 7, 13 + 11: all have run at 10531, 390 after the look
 *         else v5; all have run when v2 has: 124 + 5 + 125
 *  19701  v0 (9642 + 59 + 10000) has work for v2, which still waits since 142: an episode of 19559
 *  60402  v2's look, 50 us after it went off again at 10402, sees that
 */
Test(idle_watch, vm_wide_wakeups)
{
    for (int boost = 0; boost < 2; boost++) {
        const int marks = boost ? 10 : 5;
        struct run_values *v;

        il.whom = boost ? WAKE_VM : WAKE_VM_MARK;
        il.shows = SHOW_STATE | SHOW_CALL | SHOW_MARK;
        il.vcpus = 2 | 4 | 8 | 16 | 32;
        v = run_group("5250ns", "", "75us");
        EXPECT_NS(time_of("wake v1 by look", 200), 10141);
        EXPECT_NS(time_of("v1 on p1", 200), 10141);
        EXPECT_NS(time_of("v1 mark", 200), 10141 + 124 + marks + 24);
        EXPECT_NS(time_of("v2 READY", 200), 10141 + 124 + 5);
        EXPECT_NS(time_of("v2 on p2", 200), 10270);
        EXPECT_NS(time_of("enter v2 since 142 rivals 0", 200), 10270);
        EXPECT_NS(time_of("v2 BLOCKED", 200), 10270 + 125 + 7);
        EXPECT_NS(time_of(boost ? "v3 on p3" : "v5 on p3", 200 + 5250), 10500);
        EXPECT_NS(time_of("reflect v2 after 19559 by look", 200), 10402 + 50000);
        EXPECT_NS(il_count(v, 1, METRIC_VM_WAKES), 2);
        forget_log();
        run_values_free(v);
        v = run_group("5250ns", "", "19us");
        EXPECT_NS(il_count(v, 1, METRIC_VM_WAKES), 1);
        EXPECT_NS(il_us(v, 1, METRIC_VM_MARK), marks);
        EXPECT_NS(il_us(v, 1, METRIC_VM_ALL_MEAN), boost ? 390 : 124 + 5 + 125);
        EXPECT_NS(il_count(v, 1, METRIC_WAKES_EMPTY), 1);
        forget_log();
        run_values_free(v);
    }
}

/*
 * The same while p1 runs another vCPU: the look stops it once. Exit 7, look 23, two marks, entry 11;
 * looks are every 1041, the tenth at 10518 sees the work.
 */
Test(idle_watch, one_visit_looks_and_marks)
{
    struct run_values *v;

    il.whom = WAKE_VM;
    v = run_group("5250ns",
                  "  - {name: hog, role: background, vcpus: 1, pin: \"1\", idle: hlt, " IL_GUEST
                  ", workload: {tasks: [{program: [{run: 1s}]}]}}\n",
                  "10600ns");
    EXPECT_NS(time_of("wake v1 by look", 200), 10518);
    EXPECT_NS(il_count(v, 4, METRIC_EXITS_IRQ), 10);
    EXPECT_NS(il_ns(v, 4, METRIC_GUEST_CPU_VCPU, 10600), 10600 - 149 - 41 - 10 * 41 - 10);
    run_values_free(v);
}

/*
 * All have run when the last debts are paid: those of v2, 125 after it came in at 10270, not of v3, which
 * is marked at 10275, comes in at 10290 (the end of a slice) and works 31 later.
 */
Test(idle_watch, all_have_run_when_the_last_one_has)
{
    struct run_values *v;

    il.whom = WAKE_VM;
    v = run_group("5145ns", "", "19us");
    EXPECT_NS(time_of("v3 on p3", 10000), 10290);
    EXPECT_NS(il_us(v, 1, METRIC_VM_ALL_MEAN), 124 + 5 + 125);
    run_values_free(v);
}
