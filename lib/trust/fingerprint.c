/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/fingerprint.h"

#include <string.h>

#include "base/assert.h"
#include "base/hex.h"

#define ID_PREFIX   "sha256:"
#define GROUP_CHARS 4
#define CHAR_BITS   5

/* Crockford's Base32: without i, l, o and u, which look like another letter or a digit. */
static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";

/* Bits are counted from the most significant one of the first byte. */
static uint32_t bits_at(const uint8_t *bytes, uint32_t from, uint32_t count)
{
	uint32_t value = 0;

	WH_ASSERT(from + count <= 8 * WH_IDENTITY_BYTES);
	for (uint32_t bit = from; bit < from + count; bit++)
		value = value << 1 | (bytes[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

const char *wh_fingerprint_text(
	const uint8_t id[WH_IDENTITY_BYTES], char text[WH_FINGERPRINT_BYTES])
{
	char *to = text;

	for (uint32_t i = 0; i < WH_FINGERPRINT_BITS / CHAR_BITS; i++) {
		if (i > 0 && i % GROUP_CHARS == 0)
			*to++ = '-';
		*to++ = letters[bits_at(id, i * CHAR_BITS, CHAR_BITS)];
	}
	*to = '\0';
	WH_ASSERT(to - text == WH_FINGERPRINT_BYTES - 1);
	return text;
}

const char *wh_id_text(const uint8_t id[WH_IDENTITY_BYTES], char text[WH_ID_TEXT_BYTES])
{
	wh_hex_write(id, WH_IDENTITY_BYTES, stpcpy(text, ID_PREFIX));
	return text;
}

bool wh_id_read(const char *text, uint8_t id[WH_IDENTITY_BYTES])
{
	return strncmp(text, ID_PREFIX, strlen(ID_PREFIX)) == 0 &&
	       wh_hex_read(text + strlen(ID_PREFIX), id, WH_IDENTITY_BYTES);
}
