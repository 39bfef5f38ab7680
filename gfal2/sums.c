/* SPDX-License-Identifier: BSD-3-Clause */

#include "sums.h"

#include <string.h>

#include <zlib.h>

static const struct {
	const char *name;
	unsigned long (*by_zlib)(unsigned long value, const unsigned char *bytes, size_t count);
	GChecksumType type;
} kinds[] = {
	{"ADLER32", adler32_z, 0},
	{"CRC32", crc32_z, 0},
	{"MD5", NULL, G_CHECKSUM_MD5},
	{"SHA1", NULL, G_CHECKSUM_SHA1},
	{"SHA256", NULL, G_CHECKSUM_SHA256},
	{"SHA512", NULL, G_CHECKSUM_SHA512},
};

bool sum_begin(struct sum *sum, const char *type)
{
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (g_ascii_strcasecmp(kinds[i].name, type) != 0)
			continue;
		*sum = (struct sum){.by_zlib = kinds[i].by_zlib};
		if (sum->by_zlib != NULL)
			sum->value = sum->by_zlib(0, NULL, 0);
		else
			sum->by_glib = g_checksum_new(kinds[i].type);
		return true;
	}
	return false;
}

void sum_add(struct sum *sum, const void *bytes, size_t count)
{
	if (sum->by_zlib != NULL)
		sum->value = sum->by_zlib(sum->value, bytes, count);
	else
		g_checksum_update(sum->by_glib, bytes, (gssize)count);
}

char *sum_end(struct sum *sum)
{
	char *text = sum->by_zlib != NULL ? g_strdup_printf("%08lx", sum->value)
					  : g_strdup(g_checksum_get_string(sum->by_glib));

	g_clear_pointer(&sum->by_glib, g_checksum_free);
	return text;
}

bool sum_is(const char *one, const char *other)
{
	return g_ascii_strcasecmp(one + strspn(one, "0"), other + strspn(other, "0")) == 0;
}
