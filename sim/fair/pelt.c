/* SPDX-License-Identifier: MIT */
/*
 * The average moves from where it was towards the level of the signal, and half of the distance is
 * left after 32 periods of 1024 us.
 *
 * Always true: the part that is left falls strictly with time, from 1 at 0 ns, and is exact to
 * about 1e-8 of itself at any length, so that many short updates agree with one long one.
 */
#include "fair/pelt.h"

#include "engine/check.h"

#define FRACTION_BITS 32
#define ONE           ((uint64_t)1 << FRACTION_BITS)
#define PERIOD        (1024 * NS_US)
#define HALF_LIFE     (32 * PERIOD)

__extension__ typedef __int128 wide;

/* 2^(-i/32) in units of 2^-32: what is left after i periods. */
static const uint64_t left_after[32] = {
    0x100000000, 0x0fa83b2db, 0x0f5257d15, 0x0efe4b99c, 0x0eac0c6e8, 0x0e5b906e7, 0x0e0ccdeec,
    0x0dbfbb798, 0x0d744fccb, 0x0d2a81d92, 0x0ce248c15, 0x0c9b9bd86, 0x0c5672a11, 0x0c12c4cca,
    0x0bd08a39f, 0x0b8fbaf47, 0x0b504f334, 0x0b123f582, 0x0ad583eea, 0x0a9a15ab5, 0x0a5fed6aa,
    0x0a2704303, 0x09ef53261, 0x09b8d39ba, 0x09837f052, 0x094f4efa9, 0x091c3d374, 0x08ea4398b,
    0x08b95c1e4, 0x088980e81, 0x085aac368, 0x082cd8699,
};

/* 1 - a u + b u^2 - c u^3 is the start of the series of 2^(-u/32), u in 0..1 periods. */
static const uint64_t series_a = 93032640;
static const uint64_t series_b = 1007583;
static const uint64_t series_c = 7275;

static uint64_t mul(uint64_t a, uint64_t b)
{
    return a * b >> FRACTION_BITS;
}

/* What is left after less than a period, in units of 2^-32. */
static uint64_t within_period(uint64_t dt)
{
    const uint64_t u = (dt << FRACTION_BITS) / (uint64_t)PERIOD;

    return ONE - mul(u, series_a - mul(u, series_b - mul(u, series_c)));
}

/* What is left of a distance after dt > 0, in units of 2^-32. Most updates are less than a period
 * apart. */
static uint64_t remainder_after(ns_t dt)
{
    ns_t halvings, in_half;
    uint64_t within, left;

    if (dt < PERIOD)
        return within_period((uint64_t)dt);
    halvings = dt / HALF_LIFE;
    if (halvings > FRACTION_BITS)
        return 0;
    in_half = dt % HALF_LIFE;
    within = within_period((uint64_t)(in_half % PERIOD));
    left = left_after[in_half / PERIOD];
    /* Both factors may be 2^32 itself, whose square does not fit. */
    return (within == ONE ? left : mul(left, within)) >> halvings;
}

static int64_t value_after(const struct pelt *p, ns_t now, int64_t level)
{
    int64_t target = level * (int64_t)ONE;
    int64_t distance = p->value - target;
    ns_t dt = now - p->updated;

    if (dt <= 0 || distance == 0)
        return p->value;
    return target + (int64_t)((wide)distance * (int64_t)remainder_after(dt) >> FRACTION_BITS);
}

static int64_t rounded(int64_t value)
{
    return (value + (int64_t)(ONE / 2)) >> FRACTION_BITS;
}

void pelt_init(struct pelt *p, ns_t now, int initial)
{
    p->updated = now;
    p->value = initial * (int64_t)ONE;
}

void pelt_update(struct pelt *p, ns_t now, int64_t level)
{
    CHECK_PRE(now >= p->updated, "load average taken back in time");
    p->value = value_after(p, now, level);
    p->updated = now;
}

int64_t pelt_value(const struct pelt *p)
{
    return rounded(p->value);
}

int64_t pelt_peek(const struct pelt *p, ns_t now, int64_t level)
{
    return rounded(value_after(p, now, level));
}
