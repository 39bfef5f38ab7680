/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Inputs of a target whose bytes are a script's seed, and no format: for its one source. */

#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "fuzz.h"
#include "script.h"

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	if (number > 4)
		return 0;
	WH_ASSERT(room >= 16);
	memset(bytes, (int)number, 16);
	return 16;
}

size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	const uint64_t seed = wh_prng_u64(prng);

	WH_ASSERT(room >= sizeof(seed));
	memcpy(bytes, &seed, sizeof(seed));
	return sizeof(seed);
}
