/* SPDX-License-Identifier: BSD-3-Clause */
/* Which names are the same but for case, and what remembering them costs. */
#include "bundle/folded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>

#include "base/prng.h"
#include "bundle/record.h"
#include "unit.h"

const char wh_suite_name[] = "folded";

static enum wh_folded_verdict come(struct wh_folded *folded, const char *path)
{
	return wh_folded_add(folded, path, strlen(path));
}

static void pairs(void)
{
	static const struct {
		const char *first, *second;
		bool clash;
	} cases[] = {
		{"readme", "readme", false}, {"readme", "README", true},
		{"readme", "readme2", false}, {"a/b", "a/B", true},
		{"Dir/one", "dir/two", true}, /* the folders clash */
		{"Dir/one", "Dir/two", false}, {"dir", "DIR/x", true}, {"a/bc", "ab/c", false},
		{"\xc3\xa4", "\xc3\x84", true},   /* ae */
		{"\xd0\x96", "\xd0\xb6", true},   /* zhe */
		{"\xcf\x82", "\xcf\x83", true},   /* two sigmas */
		{"\xe2\x84\xaa", "k", true},      /* Kelvin */
		{"a\xcc\x88", "\xc3\xa4", false}, /* composed, or not */
		{"\xff", "\xfe", false},          /* no UTF-8 */
		{"a\xff", "A\xff", true}, {"\xc3", "\xe3", false},
		{"\xf0\x90\x90\x80", "\xf0\x90\x90\xa8", true}, /* Deseret */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_folded folded = {0};

		CU_ASSERT_EQUAL(come(&folded, cases[i].first), WH_FOLDED_NEW);
		CU_ASSERT_EQUAL(come(&folded, cases[i].second),
			cases[i].clash ? WH_FOLDED_CLASH : WH_FOLDED_NEW);
		CU_ASSERT_EQUAL(come(&folded, cases[i].first), WH_FOLDED_NEW);
		wh_folded_free(&folded);
	}
}

/* Whatever bytes: an answer, and the same one again. */
static void any_bytes(void)
{
	struct wh_folded folded = {0};
	char path[WH_PATH_BYTES_MAX];
	struct wh_prng prng;

	wh_prng_init(&prng, 9);
	for (uint32_t i = 0; i < 3000; i++) {
		size_t bytes = 1 + wh_prng_below(&prng, i % 50 == 0 ? sizeof(path) : 40);

		for (size_t at = 0; at < bytes; at++)
			path[at] = (char)(1 + wh_prng_below(&prng, 255));

		enum wh_folded_verdict verdict = wh_folded_add(&folded, path, bytes);

		CU_ASSERT(verdict != WH_FOLDED_FULL);
		CU_ASSERT_EQUAL(wh_folded_add(&folded, path, bytes), verdict);
	}
	/* The longest there is, of a letter that takes more bytes in its other case. */
	for (size_t at = 0; at + 1 < sizeof(path); at += 2)
		memcpy(path + at, "\xc8\xba", 2);
	CU_ASSERT_EQUAL(wh_folded_add(&folded, path, sizeof(path) - 1), WH_FOLDED_NEW);
	wh_folded_free(&folded);
	CU_ASSERT_PTR_NULL(folded.name);
}

static void so_many(void)
{
	struct wh_folded folded = {0};
	char path[32];

	for (uint32_t i = 0; i < WH_FOLDED_MAX; i++) {
		snprintf(path, sizeof(path), "n%u", i);
		if (wh_folded_add(&folded, path, strlen(path)) != WH_FOLDED_NEW)
			CU_FAIL_FATAL("a name that is new");
	}
	CU_ASSERT_EQUAL(folded.slots, 1u << 22); /* 64 MiB */
	CU_ASSERT_EQUAL(come(&folded, "one more"), WH_FOLDED_FULL);
	CU_ASSERT_EQUAL(come(&folded, "N77"), WH_FOLDED_FULL);
	wh_folded_free(&folded);
}

static void this_system_does_not(void)
{
	int fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FALSE(wh_folds_case(fd));
	close(fd);
}

CU_TestInfo wh_tests[] = {
	{"pairs", pairs},
	{"any bytes", any_bytes},
	{"so many", so_many},
	{"this system does not", this_system_does_not},
	CU_TEST_INFO_NULL,
};
