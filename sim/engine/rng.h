/* SPDX-License-Identifier: MIT */
/*
 * One random stream per (seed, kind of entity, id, purpose), behind GSL's generator interface.
 * Two streams with any of the four different are independent for every practical purpose; a policy
 * change therefore leaves arrivals and service times untouched. No allocation: a stream is
 * embedded. `gsl` points into the struct, so a stream must not be copied or moved: initialise it in
 * place.
 */
#ifndef SIM_ENGINE_RNG_H
#define SIM_ENGINE_RNG_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

enum rng_kind { RNG_HOST, RNG_VM, RNG_VCPU, RNG_TASK, RNG_DEVICE, RNG_WORKLOAD, RNG_TEST };
enum rng_purpose {
    RNG_PLACEMENT,
    RNG_PROGRAM,
    RNG_SERVICE,
    RNG_PHASE,
    RNG_POLICY,
    RNG_IDS,
    RNG_SPREAD
};

struct rng {
    gsl_rng gsl;       /* type and state pointer for GSL's functions */
    uint64_t state[4]; /* xoshiro256++ */
};

extern const gsl_rng_type *const rng_type;

void rng_init(struct rng *r, uint64_t seed, enum rng_kind kind, uint64_t id,
              enum rng_purpose purpose);
uint64_t rng_u64(struct rng *r);
/* Uniform in [0, n), unbiased, n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);
/* splitmix64 step chain over the words: the hash behind rng_init, also for virtual ids. */
uint64_t rng_mix(uint64_t a, uint64_t b);

#endif
