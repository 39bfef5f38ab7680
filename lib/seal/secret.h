/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SEAL_SECRET_H
#define WH_SEAL_SECRET_H

/*
 * Memory for keys: pages of its own, which no core dump holds and, where the limits of the process
 * allow, no swap; wiped before it goes back. And how keys are worked out of others.
 */

#include <stddef.h>
#include <stdint.h>

#define WH_SECRET_BYTES 32 /* what others are derived from */

/* Zeroed, aligned to a page; NULL when there is none. */
void *wh_secret_alloc(size_t bytes);

/* With the size that it was asked for; NULL is allowed. */
void wh_secret_free(void *memory, size_t bytes);

void wh_secret_wipe(void *memory, size_t bytes);

/*
 * HKDF with SHA-256 (RFC 5869): of a secret that may be of any form, one of WH_SECRET_BYTES; and of
 * one of these, up to 255 times as many bytes for a purpose of its own.
 */
void wh_hkdf_extract(uint8_t secret[WH_SECRET_BYTES], const void *salt, size_t salt_bytes,
	const void *from, size_t from_bytes);
void wh_hkdf_expand(uint8_t *to, size_t to_bytes, const uint8_t secret[WH_SECRET_BYTES],
	const void *purpose, size_t purpose_bytes);

void wh_sha256(uint8_t digest[32], const void *bytes, size_t length);

#endif
