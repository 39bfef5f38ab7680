/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * ".wavehaul-X.part", with 26 random letters from a to z as X: the name of a staging folder.
 * Staging folders are hidden from peers: names that look like one are neither listed nor found. A
 * bundle must not contain them, or it could change files of another bundle before they are renamed.
 * The same applies to the folder of parts.
 */

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define WH_STAGING_HEAD    ".wavehaul-"
#define WH_STAGING_TAIL    ".part"
#define WH_STAGING_LETTERS 26
#define WH_STAGING_NAME_BYTES                                                                      \
	(sizeof(WH_STAGING_HEAD) - 1 + WH_STAGING_LETTERS + sizeof(WH_STAGING_TAIL) - 1)

static inline void wh_staging_name(
	char name[WH_STAGING_NAME_BYTES + 1], const unsigned char random[WH_STAGING_LETTERS])
{
	char *letters = name + sizeof(WH_STAGING_HEAD) - 1;

	memcpy(name, WH_STAGING_HEAD, sizeof(WH_STAGING_HEAD) - 1);
	for (int i = 0; i < WH_STAGING_LETTERS; i++)
		letters[i] = (char)('a' + random[i] % 26);
	memcpy(letters + WH_STAGING_LETTERS, WH_STAGING_TAIL, sizeof(WH_STAGING_TAIL));
}

/* Whether it is exactly such a name: then its contents may be removed. */
static inline bool wh_is_staging_name(const char *name, size_t bytes)
{
	const char *letters = name + sizeof(WH_STAGING_HEAD) - 1;

	if (bytes != WH_STAGING_NAME_BYTES ||
		memcmp(name, WH_STAGING_HEAD, sizeof(WH_STAGING_HEAD) - 1) != 0)
		return false;
	for (int i = 0; i < WH_STAGING_LETTERS; i++)
		if (letters[i] < 'a' || letters[i] > 'z')
			return false;
	return memcmp(letters + WH_STAGING_LETTERS, WH_STAGING_TAIL, sizeof(WH_STAGING_TAIL) - 1) ==
	       0;
}

/* Contains incomplete files for a later job. */
#define WH_PARTS_FOLDER ".wavehaul-parts"

/* Whether it resembles either name, in any case: refused to peers. */
static inline bool wh_looks_like_staging(const char *name, size_t bytes)
{
	const size_t head = sizeof(WH_STAGING_HEAD) - 1, tail = sizeof(WH_STAGING_TAIL) - 1;

	if (bytes == sizeof(WH_PARTS_FOLDER) - 1 && strncasecmp(name, WH_PARTS_FOLDER, bytes) == 0)
		return true;
	return bytes >= head + tail && strncasecmp(name, WH_STAGING_HEAD, head) == 0 &&
	       strncasecmp(name + bytes - tail, WH_STAGING_TAIL, tail) == 0;
}

/* Whether any name of the path does. */
static inline bool wh_path_has_staging_name(const char *path, size_t bytes)
{
	const char *end = path + bytes;

	for (const char *name = path; name < end;) {
		const char *slash = memchr(name, '/', (size_t)(end - name));
		const char *name_end = slash == NULL ? end : slash;

		if (wh_looks_like_staging(name, (size_t)(name_end - name)))
			return true;
		name = name_end + 1;
	}
	return false;
}
