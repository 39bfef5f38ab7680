/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Seeded random numbers, so that every run can be replayed: xoshiro256++ (Blackman and Vigna,
 * "Scrambled linear pseudorandom number generators", 2021), its state filled by splitmix64.
 * Not for secrets.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_prng {
	uint64_t state[4];
};

void wh_prng_init(struct wh_prng *prng, uint64_t seed);
uint64_t wh_prng_u64(struct wh_prng *prng);

/* Uniform in [0, bound), without modulo bias; bound > 0. */
uint64_t wh_prng_below(struct wh_prng *prng, uint64_t bound);

/* Uniform in [0, 1). */
double wh_prng_unit(struct wh_prng *prng);

/*
 * A probability as an integer threshold, so that a draw is one comparison: true in threshold out of
 * 2^64 draws; UINT64_MAX means always.
 */
uint64_t wh_chance_threshold(double probability);
bool wh_prng_chance(struct wh_prng *prng, uint64_t threshold);
