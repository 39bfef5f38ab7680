/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A fuzzer's input as a source of decisions. The first 8 bytes seed a generator; those after them
 * change its draws, one after the other, and where they end the draws are the generator's own. So 8
 * bytes are a whole run, and a fuzzer may still bend any single decision of it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/prng.h"

struct wh_script {
	struct wh_prng prng;
	const uint8_t *at;
	size_t left;
};

static inline uint64_t wh_script_take(struct wh_script *script, uint32_t bytes)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < bytes && script->left > 0; i++, script->left--)
		value |= (uint64_t)*script->at++ << 8 * i;
	return value;
}

static inline void wh_script_init(struct wh_script *script, const uint8_t *bytes, size_t length)
{
	*script = (struct wh_script){.at = bytes, .left = length};
	wh_prng_init(&script->prng, wh_script_take(script, 8));
}

static inline uint64_t wh_script_u64(struct wh_script *script)
{
	return wh_prng_u64(&script->prng) ^ wh_script_take(script, 8);
}

/* In [0, bound), near enough to uniform for bounds far below 2^64. */
static inline uint64_t wh_script_below(struct wh_script *script, uint64_t bound)
{
	WH_ASSERT(bound > 0);
	return (wh_prng_u64(&script->prng) ^ wh_script_take(script, bound <= 256 ? 1 : 4)) % bound;
}

static inline bool wh_script_one_in(struct wh_script *script, uint64_t n)
{
	return wh_script_below(script, n) == 0;
}
