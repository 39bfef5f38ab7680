/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * XXH3-128 of bytes that are added piece by piece. The state is opaque so that the hash is compiled
 * only once, in digest.c.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/chunk.h"
#include "base/hex.h"

#define WH_HASHER_ALIGN 64

struct wh_hasher {
	_Alignas(WH_HASHER_ALIGN) uint8_t state[576];
};

void wh_hasher_init(struct wh_hasher *hasher);
void wh_hasher_init_seeded(struct wh_hasher *hasher, uint64_t seed);
void wh_hasher_add(struct wh_hasher *hasher, const void *bytes, size_t count);

/* The digest of all bytes so far; more may be added afterwards. */
void wh_hasher_digest(const struct wh_hasher *hasher, struct wh_digest *digest);

/* 32 hexadecimal digits and a NUL. */
static inline void wh_digest_text(
	const struct wh_digest *digest, char text[2 * WH_DIGEST_BYTES + 1])
{
	wh_hex_write(digest->bytes, WH_DIGEST_BYTES, text);
}
