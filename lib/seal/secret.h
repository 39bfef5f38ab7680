/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Memory for keys, and derivation of keys. The memory is whole pages, excluded from core dumps and,
 * where the process limits allow, from swap. It is wiped when released.
 */

#include <stddef.h>
#include <stdint.h>

#define WH_SECRET_BYTES 32 /* a secret from which others are derived */

/* Zeroed, aligned to a page; NULL: no memory. */
void *wh_secret_alloc(size_t bytes);

/* With the allocated size; NULL is allowed. */
void wh_secret_free(void *memory, size_t bytes);

void wh_secret_wipe(void *memory, size_t bytes);

/*
 * HKDF with SHA-256 (RFC 5869). Extract: from any secret, one of WH_SECRET_BYTES. Expand: from such
 * a one, up to 255 times as many bytes for one purpose.
 */
void wh_hkdf_extract(uint8_t secret[WH_SECRET_BYTES], const void *salt, size_t salt_bytes,
	const void *from, size_t from_bytes);
void wh_hkdf_expand(uint8_t *to, size_t to_bytes, const uint8_t secret[WH_SECRET_BYTES],
	const void *purpose, size_t purpose_bytes);

void wh_sha256(uint8_t digest[32], const void *bytes, size_t length);
