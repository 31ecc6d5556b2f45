/* SPDX-License-Identifier: MIT */
/*
 * Load averages against the closed form, and the properties that make lazy evaluation legitimate.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "fair/pelt.h"

#define HALF_LIFE_NS 32768000.0

static double decayed(double from, double to, ns_t dt)
{
    return to + (from - to) * exp2(-(double)dt / HALF_LIFE_NS);
}

/* In units, with all digits. */
static double exact_value(const struct pelt *p)
{
    return ldexp((double)p->value, -32);
}

static uint64_t below(uint64_t *state, uint64_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % n;
}

Test(pelt, rises_and_falls_as_the_closed_form)
{
    for (ns_t dt = 1; dt < 10 * NS_SEC; dt += 1 + dt / 50) {
        struct pelt up, down;
        pelt_init(&up, 5, 0);
        pelt_update(&up, 5 + dt, 1024);
        pelt_init(&down, 5, 1024);
        pelt_update(&down, 5 + dt, 0);
        cr_expect_float_eq(exact_value(&up), decayed(0, 1024, dt), 1e-4, "up, %lld ns",
                           (long long)dt);
        cr_expect_float_eq(exact_value(&down), decayed(1024, 0, dt), 1e-4, "down, %lld ns",
                           (long long)dt);
        cr_expect_float_eq((double)pelt_value(&up), decayed(0, 1024, dt), 0.501);
    }
}

Test(pelt, known_points)
{
    struct pelt p;

    pelt_init(&p, 0, 0);
    cr_expect_eq(pelt_value(&p), 0);
    cr_expect_eq(pelt_peek(&p, 32768000, 1024), 512);
    cr_expect_eq(pelt_peek(&p, 2 * 32768000, 1024), 768);
    cr_expect_eq(pelt_value(&p), 0, "peeking changes nothing");
    pelt_update(&p, 32768000, 1024);
    cr_expect_eq(pelt_value(&p), 512);
    pelt_update(&p, 32768000, 0);
    cr_expect_eq(pelt_value(&p), 512, "no time has passed");
    cr_expect_eq(pelt_peek(&p, 48 * 3600 * NS_SEC, 1024), 1024);
    pelt_update(&p, 48 * 3600 * NS_SEC, 0);
    cr_expect_eq(pelt_value(&p), 0);
    /* 100 entities of nice 0, and of the heaviest weight. */
    pelt_update(&p, 49 * 3600 * NS_SEC, 100 * 1024);
    cr_expect_eq(pelt_value(&p), 100 * 1024);
    pelt_update(&p, 50 * 3600 * NS_SEC, 500 * 88761);
    cr_expect_eq(pelt_value(&p), 500 * 88761);
}

Test(pelt, falls_strictly)
{
    /* Around each period and half-life, nanosecond by nanosecond. */
    for (ns_t period = 0; period < 70; period++) {
        int64_t last = INT64_MAX;
        for (ns_t dt = period * 1024000 - 500; dt < period * 1024000 + 500; dt++) {
            struct pelt p;
            pelt_init(&p, 0, 1024);
            if (dt < 0)
                continue;
            pelt_update(&p, dt, 0);
            cr_assert_lt(p.value, last, "after %lld ns", (long long)dt);
            last = p.value;
        }
    }
}

Test(pelt, parts_agree_with_the_whole)
{
    static const ns_t longest[] = {3, 50, 2000, 100000, 5000000, 300000000};
    uint64_t state = 11;

    for (size_t k = 0; k < sizeof longest / sizeof *longest; k++) {
        struct pelt parts, whole;
        int start = (int)below(&state, 1025);
        int64_t level = (int64_t)below(&state, 1025);
        ns_t now = 0;
        pelt_init(&parts, 0, start);
        pelt_init(&whole, 0, start);
        for (int i = 0; i < 5000; i++) {
            now += (ns_t)below(&state, (uint64_t)longest[k]);
            pelt_update(&parts, now, level);
        }
        pelt_update(&whole, now, level);
        cr_expect_float_eq(exact_value(&parts), exact_value(&whole), 0.01, "parts up to %lld ns",
                           (long long)longest[k]);
        cr_expect_float_eq(exact_value(&whole), decayed(start, (double)level, now), 1e-4);
    }
}

Test(pelt, half_load_settles_at_half)
{
    /* 1 us on, 1 us off, for a second. */
    struct pelt p;

    pelt_init(&p, 0, 1024);
    for (ns_t now = NS_US; now < NS_SEC; now += 2 * NS_US) {
        pelt_update(&p, now, 1024);
        pelt_update(&p, now + NS_US, 0);
    }
    cr_expect_float_eq(exact_value(&p), 512, 0.05);
}
