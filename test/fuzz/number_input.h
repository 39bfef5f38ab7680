/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* For targets whose input is a seed: any 8 bytes are as good as any other. */

#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "fuzz.h"

size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	uint64_t seed = wh_prng_u64(prng);

	WH_ASSERT(room >= sizeof(seed));
	memcpy(bytes, &seed, sizeof(seed));
	return sizeof(seed);
}
