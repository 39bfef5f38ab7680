/* SPDX-License-Identifier: BSD-3-Clause */

/* XXH3-64 by the library's inline code; this file's compiler flags (meson.build) allow AVX2. */

#include "seal/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "wire/packet.h"

uint64_t wh_seal_hash_avx2(const uint8_t *head, const uint8_t *body, size_t body_bytes)
{
	return XXH3_64bits_withSeed(head, WH_TAG_OFFSET, XXH3_64bits(body, body_bytes));
}

uint64_t wh_seal_hash_copy_avx2(
	const uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to)
{
	memcpy(to, body, body_bytes);
	return wh_seal_hash_avx2(head, body, body_bytes);
}
