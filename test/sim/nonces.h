/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Every key and nonce with which anything was closed: no two may be the same. */

#include <stddef.h>
#include <stdint.h>

/* Forgets all, for another run. */
void wh_nonces_clear(void);

/* Asserts that this nonce was not used with that key. */
void wh_nonces_note(const uint8_t *key, size_t key_bytes, const uint8_t *nonce, size_t nonce_bytes);

uint64_t wh_nonces_count(void);
