/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The seal without keys: a checksum, XXH3-64, and a token. Anybody who can read the path can forge
 * packets.
 *
 * First 8 bytes: XXH3-64 of the head's first 48 bytes, seeded with XXH3-64 of the body, XOR the
 * token. Head and body are hashed separately so that a payload may stay in chunk memory while its
 * head is written into a packet. Then 8 bytes: the token, which the receiving end has chosen for
 * the connection (OPEN contains the initiator's; half of ACCEPT's cookie is the acceptor's). An
 * attacker who cannot read the path has to guess it: each forged packet is accepted with a
 * probability of 2^-64, and a million of them per second for a year succeed with a probability of 2
 * in a million.
 */

#include "seal/seal.h"

#include <assert.h>
#include <string.h>

#include <rte_byteorder.h>

#include <xxh_x86dispatch.h>
#include <xxhash.h>

#include "base/assert.h"
#include "seal/hash.h"

/* Compiled for corei7 the library's inline code has no vectors; its dispatch has at least SSE2. */
static uint64_t hash_base(const uint8_t *head, const uint8_t *body, size_t body_bytes)
{
	return XXH3_64bits_withSeed_dispatch(
		head, WH_TAG_OFFSET, XXH3_64bits_dispatch(body, body_bytes));
}

static uint64_t hash_copy_base(
	const uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to)
{
	memcpy(to, body, body_bytes);
	return hash_base(head, body, body_bytes);
}

static const struct wh_seal_hash base = {"base", hash_base, hash_copy_base};
static const struct wh_seal_hash avx2 = {"avx2", wh_seal_hash_avx2, wh_seal_hash_copy_avx2};
static const struct wh_seal_hash avx512 = {"avx512", wh_seal_hash_avx512, wh_seal_hash_copy_avx512};

static struct wh_seal_hash best = {"base", hash_base, hash_copy_base};

const struct wh_seal_hash *wh_seal_hash_by(uint32_t number)
{
	switch (number) {
	case 0:
		return &base;
	case 1:
		return __builtin_cpu_supports("avx2") ? &avx2 : NULL;
	case 2:
		return __builtin_cpu_supports("avx512f") ? &avx512 : NULL;
	default:
		return NULL;
	}
}

/* Runs before main, so that no packet needs to check whether a hash was chosen. */
__attribute__((constructor)) static void choose(void)
{
	for (uint32_t number = 0; number < WH_SEAL_HASHES; number++)
		if (wh_seal_hash_by(number) != NULL)
			best = *wh_seal_hash_by(number);
}

/* The layout of the tag; the token is also the whole state of the seal. */
struct tag {
	rte_le64_t hash;
	rte_le64_t token;
} __attribute__((packed));

static_assert(sizeof(struct tag) == WH_TAG_BYTES, "hash and token are all of the tag");

static uint64_t token_of(const struct wh_seal *seal)
{
	uint64_t token;

	memcpy(&token, seal->state, sizeof(token));
	return token;
}

static bool begin(struct wh_seal *seal, const struct wh_seal_direction *direction,
	const void *secret, void *memory)
{
	(void)secret; /* not used: this seal does not authenticate */
	(void)memory;
	seal->key = 0;
	seal->keys = 1;
	memcpy(seal->state, &direction->token, sizeof(direction->token));
	return true;
}

static void keep(const struct wh_seal *seal, struct wh_seal *kept)
{
	*kept = *seal;
}

static void close_body(const struct wh_seal *seal, uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	struct tag *tag = (struct tag *)(head + WH_TAG_OFFSET);
	uint64_t token = token_of(seal);

	WH_ASSERT(body != NULL || body_bytes == 0);

	uint64_t hash = to == NULL || to == body ? best.hash(head, body, body_bytes)
						 : best.hash_copy(head, body, body_bytes, to);

	tag->hash = rte_cpu_to_le_64(hash ^ token);
	tag->token = rte_cpu_to_le_64(token);
}

static bool open_body(const struct wh_seal *seal, const uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	const struct tag *tag = (const struct tag *)(head + WH_TAG_OFFSET);
	uint64_t token = token_of(seal);

	WH_ASSERT(to != NULL);

	uint64_t hash = to == body ? best.hash(head, body, body_bytes)
				   : best.hash_copy(head, body, body_bytes, to);

	return tag->hash == rte_cpu_to_le_64(hash ^ token) && tag->token == rte_cpu_to_le_64(token);
}

const struct wh_seal_ops wh_seal_checksum = {
	.name = "checksum",
	.begin = begin,
	.keep = keep,
	.close = close_body,
	.open = open_body,
};

const struct wh_seal wh_seal_to_listener = {.ops = &wh_seal_checksum, .keys = 1};
