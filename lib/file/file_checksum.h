/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Checksums of files by usual algorithms, beside XXH3-128, by which transfers are compared. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WH_CHECKSUM_TEXT_BYTES 33
#define WH_CHECKSUM_NAMES      "xxh3 adler32 crc32c md5"

enum wh_checksum {
	WH_CHECKSUM_XXH3 = 0, /* XXH3-128, as xxh128sum has it */
	WH_CHECKSUM_ADLER32,
	WH_CHECKSUM_CRC32C, /* Castagnoli's */
	WH_CHECKSUM_MD5,
	WH_CHECKSUMS,
};

/* False: unknown name. */
bool wh_checksum_find(const char *name, enum wh_checksum *kind);

/*
 * Calculates the checksum of what can be read from the descriptor, at most so many bytes, as
 * hexadecimal digits. 0 or a negative errno: -ECANCELED once *stop is true (`stop` may be NULL).
 */
int wh_checksum_of(int fd, uint64_t bytes, enum wh_checksum kind, const _Atomic bool *stop,
	char text[WH_CHECKSUM_TEXT_BYTES]);
