/* SPDX-License-Identifier: MIT */
/*
 * xoshiro256++ behind GSL's generator interface, seeded by a splitmix64 hash.
 *
 * Always true: a stream depends on the four words given to rng_init and on how many draws were
 * made, on nothing else; the state is never all zero, because four successive outputs of splitmix64
 * differ.
 */
#include "engine/rng.h"

#include "engine/check.h"

#define GOLDEN 0x9e3779b97f4a7c15u

static uint64_t rotate(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

/* The output function of splitmix64: a bijection. */
static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t xoshiro_next(uint64_t *s)
{
    uint64_t out = rotate(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return out;
}

static void type_set(void *state, unsigned long seed)
{
    uint64_t *s = state;

    for (unsigned i = 0; i < 4; i++)
        s[i] = scramble(seed + GOLDEN * (i + 1));
}

static unsigned long type_get(void *state)
{
    return xoshiro_next(state);
}

static double type_get_double(void *state)
{
    return (double)(xoshiro_next(state) >> 11) * 0x1p-53;
}

static const gsl_rng_type XOSHIRO256PP = {
    .name = "xoshiro256++",
    .max = UINT64_MAX,
    .min = 0,
    .size = 4 * sizeof(uint64_t),
    .set = type_set,
    .get = type_get,
    .get_double = type_get_double,
};

const gsl_rng_type *const rng_type = &XOSHIRO256PP;

uint64_t rng_mix(uint64_t a, uint64_t b)
{
    return scramble((scramble(a + GOLDEN) ^ b) + GOLDEN);
}

void rng_init(struct rng *r, uint64_t seed, enum rng_kind kind, uint64_t id,
              enum rng_purpose purpose)
{
    uint64_t h = rng_mix(rng_mix(rng_mix(seed, (uint64_t)kind), id), (uint64_t)purpose);

    type_set(r->state, h);
    r->gsl = (gsl_rng){.type = rng_type, .state = r->state};
}

uint64_t rng_u64(struct rng *r)
{
    return xoshiro_next(r->state);
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    uint64_t x, rest;

    CHECK_PRE(n > 0, "a number below 0 was asked for");
    /* Draws above the last whole multiple of n would favour small results. */
    do {
        x = rng_u64(r);
        rest = x % n;
    } while (x - rest > UINT64_MAX - (n - 1));
    return rest;
}
