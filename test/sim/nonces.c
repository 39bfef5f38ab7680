/* SPDX-License-Identifier: BSD-3-Clause */
#include "nonces.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/assert.h"

/* Two that differ have one hash of 128 bits in 10^20 runs or so. */
static struct {
	XXH128_hash_t *slot;
	uint64_t slots; /* a power of two, at most half of them taken */
	uint64_t count;
} noted;

void wh_nonces_clear(void)
{
	if (noted.slots > 0)
		memset(noted.slot, 0, noted.slots * sizeof(*noted.slot));
	noted.count = 0;
}

uint64_t wh_nonces_count(void)
{
	return noted.count;
}

static XXH128_hash_t *find(XXH128_hash_t hash)
{
	uint64_t at = hash.low64 & (noted.slots - 1);

	while (noted.slot[at].low64 != 0 && !XXH128_isEqual(noted.slot[at], hash))
		at = (at + 1) & (noted.slots - 1);
	return &noted.slot[at];
}

static void grow(void)
{
	XXH128_hash_t *old = noted.slot;
	uint64_t olds = noted.slots;

	noted.slots = olds == 0 ? 4096 : 2 * olds;
	noted.slot = calloc(noted.slots, sizeof(*noted.slot));
	WH_ASSERT(noted.slot != NULL);
	for (uint64_t i = 0; i < olds; i++)
		if (old[i].low64 != 0)
			*find(old[i]) = old[i];
	free(old);
}

void wh_nonces_note(const uint8_t *key, size_t key_bytes, const uint8_t *nonce, size_t nonce_bytes)
{
	XXH128_hash_t of_key = XXH3_128bits(key, key_bytes);
	XXH128_hash_t hash = XXH3_128bits_withSeed(nonce, nonce_bytes, of_key.low64);

	hash.high64 ^= of_key.high64;
	hash.low64 |= 1; /* 0: a slot that is free */
	if (2 * (noted.count + 1) > noted.slots)
		grow();

	XXH128_hash_t *slot = find(hash);

	WH_ASSERT(slot->low64 == 0); /* two packets under one nonce */
	*slot = hash;
	noted.count++;
}
