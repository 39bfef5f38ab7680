/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Two notations of an identity, which is a SHA-256:
 *
 *   text  to read out or compare: the first 100 bits, 20 characters of Crockford's Base32
 *   id    in files: all 256 bits in hexadecimal
 *
 * A forgery must match all bits of the notation that is compared.
 */

#include <stdbool.h>
#include <stdint.h>

#include "trust/identity.h"

#define WH_FINGERPRINT_BITS  100
#define WH_FINGERPRINT_BYTES 25 /* five groups of four, four '-', the end */
#define WH_ID_TEXT_BYTES     (sizeof("sha256:") + 2 * WH_IDENTITY_BYTES)

/* Both return the text that they have written. */
const char *wh_fingerprint_text(
	const uint8_t id[WH_IDENTITY_BYTES], char text[WH_FINGERPRINT_BYTES]);

/* "sha256:" and 64 digits. wh_id_read returns false for any other text. */
const char *wh_id_text(const uint8_t id[WH_IDENTITY_BYTES], char text[WH_ID_TEXT_BYTES]);
bool wh_id_read(const char *text, uint8_t id[WH_IDENTITY_BYTES]);
