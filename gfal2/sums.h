/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

/* A checksum by the names of the grid: ADLER32, CRC32, MD5, SHA1, SHA256, SHA512, in any case. */
struct sum {
	unsigned long (*by_zlib)(unsigned long value, const unsigned char *bytes, size_t count);
	unsigned long value;
	GChecksum *by_glib;
};

/* False: there is none of that name. */
bool sum_begin(struct sum *sum, const char *type);
void sum_add(struct sum *sum, const void *bytes, size_t count);

/* In lower case; the sum is over. */
char *sum_end(struct sum *sum);

/* Hexadecimal digits in any case; zeros at the front may be left out. */
bool sum_is(const char *one, const char *other);
