/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fuzz target: what a peer may wish of a tree. Terms, one a line, are judged and matched against a
 * path, the last line; bytes behind a NUL are extended attributes. What is taken decides on any
 * path; what stands for a path, letter by letter, matches it.
 */

#include "bundle/choice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "bundle/xattrs.h"
#include "fuzz.h"
#include "text_seed.h"

#define NOWHERE_FD (-1)

static uint64_t taken, left_out, refused, attributes;

static const char *const seeds[] = {
	"+*.txt\n-**/cache/\n>100\n<1000\n@5\na/cache/b.txt",
	"-/a/[!b-d]?\\*\n+**\n-[]x-]/\na/e?*",
	"\n",
};

/* A '\' before each letter: the pattern means the path itself. */
static void check_literal(const char *path)
{
	char pattern[WH_PATTERN_BYTES_MAX + 1];
	size_t used = 0, bytes = strlen(path);

	if (bytes == 0 || 2 * bytes + 1 > WH_PATTERN_BYTES_MAX || path[0] == '/' ||
		path[bytes - 1] == '/')
		return;
	pattern[used++] = '/';
	for (size_t i = 0; i < bytes; i++) {
		pattern[used++] = '\\';
		pattern[used++] = path[i];
	}
	pattern[used] = '\0';
	WH_ASSERT(wh_pattern_matches(pattern, path, bytes, false));
	WH_ASSERT(wh_pattern_matches(pattern, path, bytes, true));
	WH_ASSERT(wh_pattern_matches("**", path, bytes, false));
	WH_ASSERT(!wh_pattern_matches("**/", path, bytes, false));
}

static void check_terms(char *text, uint32_t wishes)
{
	const char *term[WH_TERMS_MAX + 1];
	struct wh_choice choice;
	const struct stat status = {.st_size = 100};
	uint32_t terms = 0;
	char *path = text, *end;

	while ((end = strchr(path, '\n')) != NULL && terms <= WH_TERMS_MAX) {
		*end = '\0';
		term[terms++] = path;
		path = end + 1;
	}
	check_literal(path);
	if (wh_choice_parse(&choice, wishes, term, terms) < 0) {
		refused++;
		return;
	}
	taken++;
	for (uint32_t i = 0; i < terms; i++)
		WH_ASSERT(wh_term_wrong(term[i]) == NULL);
	left_out += !wh_choice_takes_path(&choice, path, strlen(path), false);
	(void)wh_choice_takes_path(&choice, path, strlen(path), true);
	(void)wh_choice_takes_file(&choice, &status);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const uint8_t *nul = length > 0 ? memchr(bytes, '\0', length) : NULL;
	size_t chars = nul != NULL ? (size_t)(nul - bytes) : length;
	char *text = malloc(chars + 1);

	WH_ASSERT(text != NULL);
	if (chars > 0)
		memcpy(text, bytes, chars);
	text[chars] = '\0';
	check_terms(text, chars % 64 == 0 ? UINT32_MAX : (uint32_t)chars % 8);
	free(text);
	if (nul == NULL)
		return 0;

	static const struct wh_owners owners = {.users = {.has_others = true, .others = 7}};

	/* Nothing is kept of them, or they are for a file that is not open. */
	int rc = wh_xattrs_apply(NOWHERE_FD, 0, NULL, nul + 1, length - chars - 1);

	WH_ASSERT(rc == 0 || rc == -EINVAL);
	attributes += rc == 0;
	rc = wh_xattrs_apply(NOWHERE_FD, WH_CHOICES_ALL, &owners, nul + 1, length - chars - 1);
	WH_ASSERT(rc <= 0);
	return 0;
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	static const char attribute[] = "\0\6\3\0user.axyz\x18\0\0system.posix_acl_access_";

	if (number != sizeof(seeds) / sizeof(seeds[0]))
		return wh_fuzz_text_seed(
			seeds, sizeof(seeds) / sizeof(seeds[0]), number, bytes, room);
	WH_ASSERT(sizeof(attribute) - 1 <= room);
	memcpy(bytes, attribute, sizeof(attribute) - 1);
	return sizeof(attribute) - 1;
}

/* Terms and a path of few letters, so that they meet. */
size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	static const char signs[] = "+-+-+-+-<>@[]", letters[] = "ab/*?[]!-^\\.ab/*",
			  names[] = "ab/.";
	size_t used = 0;

	for (uint64_t lines = wh_prng_below(prng, 5); lines > 0; lines--) {
		uint64_t count = wh_prng_below(prng, wh_prng_below(prng, 20) > 0 ? 12 : 300);
		char sign = signs[wh_prng_below(prng, sizeof(signs) - 1)];

		if (used + count + 2 > room)
			break;
		bytes[used++] = (uint8_t)sign;
		for (; count > 0; count--)
			bytes[used++] = (uint8_t)(strchr("<>@[]", sign) != NULL
							  ? '0' + wh_prng_below(prng, 10)
							  : (uint64_t)letters[wh_prng_below(
								    prng, sizeof(letters) - 1)]);
		bytes[used++] = '\n';
	}
	for (uint64_t count = wh_prng_below(prng, 16); count > 0 && used < room; count--)
		bytes[used++] = (uint8_t)names[wh_prng_below(prng, sizeof(names) - 1)];
	return used;
}

void wh_fuzz_report(void)
{
	printf("%" PRIu64 " lists of terms taken, %" PRIu64 " left a path out; %" PRIu64
	       " refused; %" PRIu64 " lists of attributes\n",
		taken, left_out, refused, attributes);
}
