/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What tests draw. */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"

static inline bool one_in(struct wh_prng *prng, uint32_t n)
{
	return wh_prng_below(prng, n) == 0;
}

/* Both included. */
static inline uint64_t between(struct wh_prng *prng, uint64_t least, uint64_t most)
{
	return least + wh_prng_below(prng, most - least + 1);
}
