/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Bytes as two hexadecimal digits each, and back. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* `text` has room for 2 * count + 1. */
static inline void wh_hex_write(const uint8_t *bytes, size_t count, char *text)
{
	text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* False: the text is not `count` bytes in lower-case hexadecimal. */
static inline bool wh_hex_read(const char *text, uint8_t *bytes, size_t count)
{
	if (strlen(text) != 2 * count || strspn(text, "0123456789abcdef") != 2 * count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (sscanf(text + 2 * i, "%2hhx", &bytes[i]) != 1)
			return false;
	return true;
}
