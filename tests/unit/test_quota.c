/* SPDX-License-Identifier: MIT */
/* host.quota: how the pCPUs are divided, by hand, and that whole runs measure what the VMs want. */
#include <criterion/criterion.h>

#include "cross/quota.h"
#include "cross/world.h"
#include "registry.h"
#include "tests/support/run_text.h"

#define MS10 (10 * NS_MS)

/* VMs of 8 vCPUs that used so many hundredths of a pCPU, and might use so many vCPUs. */
static const char *divided(int npcpus, int n, const int *used, const int *might, const int *weight)
{
    static char text[64];
    struct quota vm[8];
    int len = 0;

    for (int i = 0; i < n; i++)
        vm[i] = (struct quota){.weight = weight ? weight[i] : 8 * 1024,
                               .nvcpus = 8,
                               .used = used[i] * (MS10 / 100),
                               .may = might ? might[i] : 8};
    quota_divide(vm, n, npcpus, MS10);
    for (int i = 0; i < n; i++)
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%d", i ? " " : "", vm[i].may);
    return text;
}

#define expect_divided(want, ...)                                                                  \
    do {                                                                                           \
        const char *got = divided(__VA_ARGS__);                                                    \
        cr_expect_str_eq(got, want, "line %d: %s, expected %s", __LINE__, got, want);              \
    } while (0)

Test(quota, all_want_all)
{
    expect_divided("2 2 2 2", 8, 4, (int[]){800, 800, 800, 800}, NULL, NULL);
    expect_divided("8", 8, 1, (int[]){800}, NULL, NULL);
    expect_divided("8", 16, 1, (int[]){800}, NULL, NULL);
    /* A part of a vCPU needs a vCPU, whole ones do not need more. */
    expect_divided("3 3 3", 8, 3, (int[]){800, 800, 800}, NULL, NULL);
    expect_divided("1 1 1", 2, 3, (int[]){800, 800, 800}, NULL, NULL);
    expect_divided("4 2 2", 8, 3, (int[]){800, 800, 800}, NULL, (int[]){2048, 1024, 1024});
}

Test(quota, what_one_leaves_the_others_get)
{
    /* Idle ones keep the right to their share, and take nothing from the others. */
    expect_divided("8 2 2 2", 8, 4, (int[]){800, 0, 0, 0}, NULL, NULL);
    expect_divided("2 2 2 2", 8, 4, (int[]){0, 0, 0, 0}, NULL, NULL);
    expect_divided("7 2 2 2", 8, 4, (int[]){800, 50, 50, 50}, NULL, NULL);
    expect_divided("4 4 2 2", 8, 4, (int[]){800, 800, 50, 0}, NULL, NULL);
    /* What is left is divided by weight, too: 1 of 8, then 2 : 1. */
    expect_divided("5 3 2", 8, 3, (int[]){800, 800, 100}, NULL, (int[]){2048, 1024, 1024});
    /* The first fits only when the second has left its rest. */
    expect_divided("4 3 6", 9, 3, (int[]){310, 0, 800}, NULL, NULL);
}

Test(quota, a_vm_that_was_held_back_wants_all)
{
    /* Both use 2: one might use no more, the other did not want more. */
    expect_divided("6 2 2 2", 8, 4, (int[]){200, 200, 0, 0}, (int[]){2, 8, 2, 2}, NULL);
    /* Nearly all counts: from 7/8 on. */
    expect_divided("7 2 2 2", 8, 4, (int[]){175, 100, 0, 0}, (int[]){2, 8, 2, 2}, NULL);
    expect_divided("2 2 2 2", 8, 4, (int[]){174, 100, 0, 0}, (int[]){2, 8, 2, 2}, NULL);
    /* A VM that does not listen wants what it wants. */
    expect_divided("4 4", 8, 2, (int[]){800, 800}, (int[]){4, 4}, NULL);
}

Test(quota, the_order_of_the_vms_does_not_matter)
{
    int used[] = {800, 30, 250, 110}, other[4];
    char first[64], swapped[64], want[64];

    strcpy(first, divided(8, 4, used, NULL, NULL));
    for (int i = 0; i < 4; i++)
        other[i] = used[3 - i];
    strcpy(swapped, divided(8, 4, other, NULL, NULL));
    snprintf(want, sizeof(want), "%c %c %c %c", swapped[6], swapped[4], swapped[2], swapped[0]);
    cr_expect_str_eq(first, want);
    cr_expect_str_eq(first, "5 2 3 2");
}

/* -- in whole runs -- */

static int told[4000], ntold;
static ns_t told_at[4000];

static void listen(struct guest *k, uint64_t cookie)
{
    if (ntold < 4000) {
        told_at[ntold] = guest_now(k);
        told[ntold++] = guest_quota(k);
    }
    guest_timer(k, 0, guest_now(k) + NS_MS, cookie);
}

static int listen_init(struct guest *k)
{
    guest_timer(k, 0, guest_now(k) + NS_MS / 2, 0);
    return 0;
}

static const struct guest_ops listener = {
    .head = {.abi = TANDEM_POLICY_ABI, .name = "t-listener", .summary = "of a test"},
    .facts = FACT_QUOTA,
    .init = listen_init,
    .timer = listen};

/* A listener with 4 vCPUs and hogs beside `neighbour`, on 4 pCPUs. */
static void listen_beside(const char *host, const char *top, const char *neighbour)
{
    char text[1024], why[200];

    if (!registry_find(POLICY_GUEST, "t-listener"))
        cr_assert_null(registry_add(POLICY_GUEST, &listener, why));
    ntold = 0;
    snprintf(text, sizeof(text),
             "machine: {base: flat-8, topology: {sockets: 1, nodes: 1, groups: 1, cores: 4, "
             "threads: 1}}\nallow_cold: true\nhost: {scheduler: eevdf, %s}\n%s\n"
             "vms:\n  - {name: l, vcpus: 4, guest: {policy: t-listener}, workload: cpu-bound}\n"
             "  - {name: n, %s}\n",
             host, top, neighbour);
    run_values_free(run_of_text(text, 1, NULL));
}

/* The neighbour comes at 100 ms, with 4 hogs until 200 ms. */
static void run_beside(const char *quota, const char *delay)
{
    char host[64], top[128];

    snprintf(host, sizeof(host), "quota: %s", quota);
    snprintf(top, sizeof(top), "duration: 400ms\nwarmup: 50ms\nchannel: {delay: %s}", delay);
    listen_beside(host, top,
                  "vcpus: 4, start: 100ms, workload: {tasks: [{name: h, count: 4, program: [{run: "
                  "50ms}, exit]}]}");
}

static int told_by(ns_t at)
{
    for (int i = 0; i < ntold; i++)
        if (told_at[i] >= at)
            return told[i];
    return -1;
}

Test(quota, follows_what_the_vms_want)
{
    run_beside("10ms", "0");
    cr_expect_eq(told_by(5 * NS_MS), 0, "nothing is said before the first interval is over");
    cr_expect_eq(told_by(11 * NS_MS), 4, "alone");
    cr_expect_eq(told_by(99 * NS_MS), 4);
    cr_expect_eq(told_by(111 * NS_MS), 2, "two");
    cr_expect_eq(told_by(180 * NS_MS), 2);
    cr_expect_eq(told_by(260 * NS_MS), 4, "alone again");
    /* Nobody says anything by default. */
    run_beside("0", "0");
    cr_assert_gt(ntold, 300);
    for (int i = 0; i < ntold; i++)
        cr_expect_eq(told[i], 0);
}

/* Beside a VM of 12 vCPUs. */
static int told_beside_12(const char *per)
{
    char host[64];

    snprintf(host, sizeof(host), "quota: 10ms, quota-per: %s", per);
    listen_beside(host, "duration: 100ms", "vcpus: 12, workload: cpu-bound");
    return told_by(50 * NS_MS);
}

Test(quota, shares_by_vcpus_or_vms)
{
    cr_expect_eq(told_beside_12("vcpu"), 1);
    cr_expect_eq(told_beside_12("vm"), 2);
}

Test(quota, comes_late_through_a_slow_channel)
{
    run_beside("10ms", "5ms");
    cr_expect_eq(told_by(112 * NS_MS), 4);
    cr_expect_eq(told_by(116 * NS_MS), 2);
}
