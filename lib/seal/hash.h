/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The hash of a checksum: XXH3-64 of the head's first WH_TAG_OFFSET bytes, seeded with XXH3-64 of
 * the body; alone, or while the body is copied. Several vector units compute the same result;
 * test/perf/checksum.c measures their speed.
 */

#include <stddef.h>
#include <stdint.h>

typedef uint64_t (*wh_seal_hash_fn)(const uint8_t *head, const uint8_t *body, size_t body_bytes);

/* `to` has room for the body and does not overlap it. */
typedef uint64_t (*wh_seal_hash_copy_fn)(
	const uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to);

uint64_t wh_seal_hash_avx2(const uint8_t *head, const uint8_t *body, size_t body_bytes);
uint64_t wh_seal_hash_copy_avx2(
	const uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to);
uint64_t wh_seal_hash_avx512(const uint8_t *head, const uint8_t *body, size_t body_bytes);
uint64_t wh_seal_hash_copy_avx512(
	const uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to);

struct wh_seal_hash {
	const char *name;
	wh_seal_hash_fn hash;
	wh_seal_hash_copy_fn hash_copy;
};

#define WH_SEAL_HASHES 3

/* From the one for any CPU to the widest; NULL if this CPU lacks it. */
const struct wh_seal_hash *wh_seal_hash_by(uint32_t number);
