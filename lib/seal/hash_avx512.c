/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * XXH3-64 of long inputs as in xxhash_spec.md ("XXH3 algorithm description", large inputs), with
 * vectors as wide as a stripe. Payloads are not aligned to cache lines, so that loads dominate the
 * loop. The library's code loads each stripe twice and also prefetches; this code loads it once.
 * Copying a stripe that is already in a register costs little.
 */

#include "seal/hash.h"

#include <assert.h>
#include <string.h>

#include <immintrin.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "wire/packet.h"

#define STRIPE_BYTES  64
#define BLOCK_STRIPES ((XXH_SECRET_DEFAULT_SIZE - STRIPE_BYTES) / 8) /* 8 bytes per stripe */
#define BLOCK_BYTES   (BLOCK_STRIPES * STRIPE_BYTES)

/* Offsets into the secret: for scrambling, the last stripe, merging. */
#define SCRAMBLE_AT (XXH_SECRET_DEFAULT_SIZE - STRIPE_BYTES)
#define LAST_AT     (XXH_SECRET_DEFAULT_SIZE - STRIPE_BYTES - 7)
#define MERGE_AT    11

/* Up to this length the algorithm is a different one: the library's code is used. */
#define SHORT_BYTES_MAX 240

static_assert(BLOCK_STRIPES == 16, "the default secret has 192 bytes");

static inline __m512i secret(size_t at)
{
	return _mm512_loadu_si512(XXH3_kSecret + at);
}

/* A stripe's contribution to the accumulators; `to`: where it is copied, or NULL. */
static inline __m512i stripe(const uint8_t *from, size_t secret_at, uint8_t *to)
{
	__m512i data = _mm512_loadu_si512(from);

	/* Otherwise the compiler would load it again at its next use. */
	__asm__("" : "+v"(data));
	if (to != NULL)
		_mm512_storeu_si512(to, data);

	__m512i keyed = _mm512_xor_si512(data, secret(secret_at));
	__m512i product = _mm512_mul_epu32(keyed, _mm512_srli_epi64(keyed, 32));

	return _mm512_add_epi64(product, _mm512_shuffle_epi32(data, _MM_PERM_BADC));
}

static inline __m512i scramble(__m512i acc)
{
	const __m512i prime = _mm512_set1_epi32((int)XXH_PRIME32_1);
	__m512i mixed = _mm512_xor_si512(
		_mm512_xor_si512(acc, _mm512_srli_epi64(acc, 47)), secret(SCRAMBLE_AT));
	__m512i high = _mm512_mul_epu32(_mm512_srli_epi64(mixed, 32), prime);

	return _mm512_add_epi64(_mm512_mul_epu32(mixed, prime), _mm512_slli_epi64(high, 32));
}

static inline uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t merge(__m512i acc, size_t bytes)
{
	uint64_t lane[8];
	uint64_t hash = bytes * XXH_PRIME64_1;

	_mm512_storeu_si512(lane, _mm512_xor_si512(acc, secret(MERGE_AT)));
	for (uint32_t i = 0; i < 8; i += 2)
		hash += fold(lane[i], lane[i + 1]);
	hash ^= hash >> 37;
	hash *= UINT64_C(0x165667919e3779f9);
	return hash ^ hash >> 32;
}

static inline uint8_t *behind(uint8_t *to, size_t bytes)
{
	return to != NULL ? to + bytes : NULL;
}

/* The last stripe ends with the input, and overlaps the one before it. */
static inline __attribute__((always_inline)) uint64_t hash_long(
	const uint8_t *from, size_t bytes, uint8_t *to)
{
	static const uint64_t begin[8] = XXH3_INIT_ACC;
	__m512i acc = _mm512_loadu_si512(begin);
	size_t at = 0;

	for (; bytes - 1 - at >= BLOCK_BYTES; at += BLOCK_BYTES) {
		__m512i sum[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};

#pragma GCC unroll 16
		for (size_t i = 0; i < BLOCK_STRIPES; i++)
			sum[i % 2] = _mm512_add_epi64(
				sum[i % 2], stripe(from + at + i * STRIPE_BYTES, 8 * i,
						    behind(to, at + i * STRIPE_BYTES)));
		acc = scramble(_mm512_add_epi64(acc, _mm512_add_epi64(sum[0], sum[1])));
	}
	for (size_t i = 0; bytes - 1 - at >= STRIPE_BYTES; i++, at += STRIPE_BYTES)
		acc = _mm512_add_epi64(acc, stripe(from + at, 8 * i, behind(to, at)));
	at = bytes - STRIPE_BYTES;
	acc = _mm512_add_epi64(acc, stripe(from + at, LAST_AT, behind(to, at)));
	return merge(acc, bytes);
}

static inline uint64_t hash_head(const uint8_t *head, uint64_t seed)
{
	return XXH3_64bits_withSeed(head, WH_TAG_OFFSET, seed);
}

uint64_t wh_seal_hash_avx512(const uint8_t *head, const uint8_t *body, size_t body_bytes)
{
	if (body_bytes <= SHORT_BYTES_MAX)
		return hash_head(head, XXH3_64bits(body, body_bytes));
	return hash_head(head, hash_long(body, body_bytes, NULL));
}

uint64_t wh_seal_hash_copy_avx512(
	const uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to)
{
	if (body_bytes <= SHORT_BYTES_MAX) {
		memcpy(to, body, body_bytes);
		return hash_head(head, XXH3_64bits(body, body_bytes));
	}
	return hash_head(head, hash_long(body, body_bytes, to));
}
