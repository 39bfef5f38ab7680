/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Content of files, and its digests by the hash's own library instead of the code under test. */

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/assert.h"
#include "base/chunk.h"
#include "base/prng.h"

static inline struct wh_digest digest_of(const void *content, uint64_t bytes)
{
	struct wh_digest digest;

	XXH128_canonicalFromHash((XXH128_canonical_t *)digest.bytes, XXH3_128bits(content, bytes));
	return digest;
}

static inline struct wh_digest digest_so_far(const XXH3_state_t *state)
{
	struct wh_digest digest;

	XXH128_canonicalFromHash((XXH128_canonical_t *)digest.bytes, XXH3_128bits_digest(state));
	return digest;
}

/* The same bytes for the same seed; to be freed. */
static inline uint8_t *content_of(uint64_t bytes, uint64_t seed)
{
	uint8_t *content = malloc(bytes + 8);
	struct wh_prng prng;

	WH_ASSERT(content != NULL);
	wh_prng_init(&prng, seed);
	for (uint64_t at = 0; at < bytes; at += 8) {
		uint64_t word = wh_prng_u64(&prng);

		memcpy(content + at, &word, 8);
	}
	return content;
}
