/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/prng.h"

#include "base/assert.h"

static uint64_t rotate_left(uint64_t value, unsigned int bits)
{
	return (value << bits) | (value >> (64 - bits));
}

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void wh_prng_init(struct wh_prng *prng, uint64_t seed)
{
	for (unsigned int i = 0; i < 4; i++)
		prng->state[i] = splitmix64(&seed);
	/* The all-zero state would never change. */
	WH_ASSERT((prng->state[0] | prng->state[1] | prng->state[2] | prng->state[3]) != 0);
}

uint64_t wh_prng_u64(struct wh_prng *prng)
{
	uint64_t *s = prng->state;
	uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t wh_prng_below(struct wh_prng *prng, uint64_t bound)
{
	WH_ASSERT(bound > 0);

	/* The first (2^64 mod bound) values would bias the result: draw again. */
	uint64_t unfair = -bound % bound;
	uint64_t value;

	do {
		value = wh_prng_u64(prng);
	} while (value < unfair);
	return value % bound;
}

double wh_prng_unit(struct wh_prng *prng)
{
	return (double)(wh_prng_u64(prng) >> 11) * 0x1.0p-53;
}

uint64_t wh_chance_threshold(double probability)
{
	if (probability <= 0.0)
		return 0;
	if (probability >= 1.0)
		return UINT64_MAX;
	return (uint64_t)(probability * 0x1.0p64);
}

bool wh_prng_chance(struct wh_prng *prng, uint64_t threshold)
{
	/*
	 * A certain outcome draws no number, so a feature that is off does not change the sequence.
	 */
	if (threshold == 0)
		return false;
	if (threshold == UINT64_MAX)
		return true;
	return wh_prng_u64(prng) < threshold;
}
