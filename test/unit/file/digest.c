/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/digest.h"

#include "../../rig/content.h"
#include "unit.h"

const char wh_suite_name[] = "digest";

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint8_t *make_content(uint64_t bytes, uint64_t seed)
{
	uint8_t *content = malloc(bytes);
	struct wh_prng prng;

	CU_ASSERT_PTR_NOT_NULL_FATAL(content);
	wh_prng_init(&prng, seed);
	for (uint64_t at = 0; at < bytes; at++)
		content[at] = (uint8_t)wh_prng_u64(&prng);
	return content;
}

static void digest_pieces(
	const uint8_t *content, uint64_t bytes, uint64_t piece, struct wh_digest *digest)
{
	struct wh_hasher hasher;

	wh_hasher_init(&hasher);
	for (uint64_t at = 0; at < bytes; at += piece)
		wh_hasher_add(&hasher, content + at, at + piece < bytes ? piece : bytes - at);
	wh_hasher_digest(&hasher, digest);
}

/* What `printf '' | xxh128sum` and `printf a | xxh128sum` print. */
static void test_known_answers(void)
{
	struct wh_digest digest;
	char text[2 * WH_DIGEST_BYTES + 1];

	digest_pieces(NULL, 0, 1, &digest);
	wh_digest_text(&digest, text);
	CU_ASSERT_STRING_EQUAL(text, "99aa06d3014798d86001c324468d497f");
	digest_pieces((const uint8_t *)"a", 1, 1, &digest);
	wh_digest_text(&digest, text);
	CU_ASSERT_STRING_EQUAL(text, "a96faf705af16834e6c632b61e964e1f");
}

static void test_text(void)
{
	struct wh_digest digest = {{0x00, 0x01, 0x0f, 0x10, 0x7f, 0x80, 0x9a, 0xbc, 0xde, 0xf0,
		0xff, 0xfe, 0x12, 0x34, 0x56, 0x78}};
	char text[2 * WH_DIGEST_BYTES + 1];

	memset(text, 'x', sizeof(text));
	wh_digest_text(&digest, text);
	CU_ASSERT_STRING_EQUAL(text, "00010f107f809abcdef0fffe12345678");
}

/* Around the borders inside XXH3: 16, 128 and 240 bytes, stripes of 64, blocks of 1024. */
static void test_pieces_equal_whole(void)
{
	static const uint64_t sizes[] = {
		1, 8, 16, 17, 128, 129, 240, 241, 256, 257, 1023, 1024, 1025, 4096, 100003};
	static const uint64_t pieces[] = {1, 7, 64, 255, 256, 257, 1024, 65536};
	uint8_t *content = make_content(100003, 1);

	for (size_t s = 0; s < COUNT(sizes); s++) {
		struct wh_digest whole = digest_of(content, sizes[s]);

		for (size_t p = 0; p < COUNT(pieces); p++) {
			struct wh_digest digest;

			digest_pieces(content, sizes[s], pieces[p], &digest);
			CU_ASSERT(memcmp(&digest, &whole, sizeof(digest)) == 0);
		}
	}
	free(content);
}

static void test_digest_midway(void)
{
	uint8_t *content = make_content(5000, 2);
	struct wh_hasher hasher;
	struct wh_digest digest;
	struct wh_digest half = digest_of(content, 2500);
	struct wh_digest whole = digest_of(content, 5000);

	wh_hasher_init(&hasher);
	wh_hasher_add(&hasher, content, 2500);
	wh_hasher_digest(&hasher, &digest);
	CU_ASSERT(memcmp(&digest, &half, sizeof(digest)) == 0);
	wh_hasher_add(&hasher, content + 2500, 2500);
	wh_hasher_digest(&hasher, &digest);
	CU_ASSERT(memcmp(&digest, &whole, sizeof(digest)) == 0);

	content[4999] ^= 1;
	wh_hasher_init(&hasher);
	wh_hasher_add(&hasher, content, 5000);
	wh_hasher_digest(&hasher, &digest);
	CU_ASSERT(memcmp(&digest, &whole, sizeof(digest)) != 0);
	free(content);
}

CU_TestInfo wh_tests[] = {
	{"known answers", test_known_answers},
	{"text", test_text},
	{"pieces equal the whole", test_pieces_equal_whole},
	{"digest midway", test_digest_midway},
	CU_TEST_INFO_NULL,
};
