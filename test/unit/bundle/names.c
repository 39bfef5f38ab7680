/* SPDX-License-Identifier: BSD-3-Clause */
/* Which names a job has given already, and what remembering them costs. */
#include "bundle/names.h"

#include <unistd.h>

#include <fcntl.h>

#include "base/prng.h"
#include "bundle/record.h"
#include "unit.h"

const char wh_suite_name[] = "names";

static const struct wh_blocks_account nobody = {.take = NULL};

static enum wh_name_verdict come(struct wh_names *names, const char *path, bool folds)
{
	const struct wh_name name = {.path = path, .bytes = strlen(path), .folds = folds};

	return wh_names_claim(names, &nobody, &name);
}

static enum wh_name_verdict come_as_folder(struct wh_names *names, const char *path, bool folds)
{
	const struct wh_name name = {
		.path = path, .bytes = strlen(path), .folds = folds, .is_folder = true};

	return wh_names_claim(names, &nobody, &name);
}

static void begin(struct wh_names *names)
{
	*names = (struct wh_names){.users = 0};
	wh_names_join(names);
}

static void end(struct wh_names *names)
{
	wh_names_leave(names, &nobody);
	CU_ASSERT_PTR_NULL(names->now.keys);
	CU_ASSERT_PTR_NULL(names->before.keys);
}

static void pairs(void)
{
	static const struct {
		const char *first, *second;
		bool clash;
	} cases[] = {
		{"readme", "README", true}, {"readme", "readme2", false}, {"a/b", "a/B", true},
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
		struct wh_names names;

		begin(&names);
		CU_ASSERT_EQUAL(come(&names, cases[i].first, true), WH_NAME_NEW);
		CU_ASSERT_EQUAL(come(&names, cases[i].second, true),
			cases[i].clash ? WH_NAME_CLASH : WH_NAME_NEW);
		/* Again: it was not stored, unless it was new. */
		CU_ASSERT_EQUAL(come(&names, cases[i].second, true),
			cases[i].clash ? WH_NAME_CLASH : WH_NAME_TAKEN);
		CU_ASSERT_EQUAL(come(&names, cases[i].first, true), WH_NAME_TAKEN);
		end(&names);

		begin(&names);
		CU_ASSERT_EQUAL(come(&names, cases[i].first, false), WH_NAME_NEW);
		CU_ASSERT_EQUAL(come(&names, cases[i].second, false), WH_NAME_NEW);
		CU_ASSERT_EQUAL(come(&names, cases[i].first, false), WH_NAME_TAKEN);
		CU_ASSERT_EQUAL(come(&names, cases[i].second, false), WH_NAME_TAKEN);
		end(&names);
	}
}

/* Trees of one name merge: the same folder may come twice, a file may not. */
static void folders(void)
{
	for (int folds = 0; folds < 2; folds++) {
		struct wh_names names;

		begin(&names);
		CU_ASSERT_EQUAL(come_as_folder(&names, "r", folds), WH_NAME_NEW);
		CU_ASSERT_EQUAL(come(&names, "r/one", folds), WH_NAME_NEW);
		CU_ASSERT_EQUAL(come_as_folder(&names, "r", folds), WH_NAME_NEW);
		CU_ASSERT_EQUAL(come(&names, "r/two", folds), WH_NAME_NEW);
		CU_ASSERT_EQUAL(come(&names, "r/one", folds), WH_NAME_TAKEN);
		CU_ASSERT_EQUAL(
			come_as_folder(&names, "R", folds), folds ? WH_NAME_CLASH : WH_NAME_NEW);
		CU_ASSERT_TRUE(wh_names_may_have(&names, "r/two", 5, folds));
		CU_ASSERT_EQUAL(wh_names_may_have(&names, "r/TWO", 5, folds), folds);
		CU_ASSERT_FALSE(wh_names_may_have(&names, "r/three", 7, folds));
		end(&names);
	}
}

/* Whatever bytes: an answer, and the same one again. */
static void any_bytes(void)
{
	struct wh_names names;
	char path[WH_PATH_BYTES_MAX];
	struct wh_prng prng;

	begin(&names);
	wh_prng_init(&prng, 9);
	for (uint32_t i = 0; i < 3000; i++) {
		struct wh_name name = {.path = path, .folds = true};

		name.bytes = 1 + wh_prng_below(&prng, i % 50 == 0 ? sizeof(path) : 40);
		for (size_t at = 0; at < name.bytes; at++)
			path[at] = (char)(1 + wh_prng_below(&prng, 255));
		path[name.bytes - 1] |= (char)0x80; /* no '/' */

		enum wh_name_verdict verdict = wh_names_claim(&names, &nobody, &name);

		CU_ASSERT(verdict != WH_NAME_UNKNOWN);
		CU_ASSERT_EQUAL(wh_names_claim(&names, &nobody, &name),
			verdict == WH_NAME_NEW ? WH_NAME_TAKEN : verdict);
	}
	/* The longest there is, of a letter that takes more bytes in its other case. */
	for (size_t at = 0; at + 1 < sizeof(path); at += 2)
		memcpy(path + at, "\xc8\xba", 2);
	CU_ASSERT_EQUAL(
		wh_names_claim(&names, &nobody,
			&(struct wh_name){.path = path, .bytes = sizeof(path) - 1, .folds = true}),
		WH_NAME_NEW);
	end(&names);
}

static bool numbered(struct wh_names *names, uint32_t number, enum wh_name_verdict wanted)
{
	const struct wh_name name = {.path = (const char *)&number, .bytes = sizeof(number)};

	return wh_names_claim(names, &nobody, &name) == wanted;
}

/* Full: each name before is still known, and each further one may be taken. */
static void so_many(void)
{
	const uint32_t most = (uint32_t)(WH_NAMES_BYTES_MAX / sizeof(uint64_t)) / 4 * 3;
	struct wh_names names;
	bool all = true;

	begin(&names);
	for (uint32_t i = 0; i < most; i++) {
		all = all && numbered(&names, i, WH_NAME_NEW);
		all = all && (i % 77 != 0 || numbered(&names, i / 2, WH_NAME_TAKEN));
	}
	CU_ASSERT_TRUE(all);
	CU_ASSERT_EQUAL(names.now.slots * sizeof(names.now.keys[0]), WH_NAMES_BYTES_MAX);
	CU_ASSERT_EQUAL(come(&names, "one more", false), WH_NAME_UNKNOWN);
	CU_ASSERT_EQUAL(come(&names, "one more", false), WH_NAME_UNKNOWN);
	for (uint32_t i = 0; i < most; i += 1001)
		CU_ASSERT_TRUE(numbered(&names, i, WH_NAME_TAKEN));
	CU_ASSERT_TRUE(wh_names_may_have(&names, "anything", 8, false));
	end(&names);
}

static uint64_t had_bytes, limit_bytes;

static bool take(void *context, uint64_t bytes)
{
	(void)context;
	if (had_bytes + bytes > limit_bytes)
		return false;
	had_bytes += bytes;
	return true;
}

static void give(void *context, uint64_t bytes)
{
	(void)context;
	CU_ASSERT_FATAL(had_bytes >= bytes);
	had_bytes -= bytes;
}

/* A peer pays for its names, with all lanes together, and until the last lane has left. */
static void charged(void)
{
	const struct wh_blocks_account account = {take, give, NULL};
	struct wh_names names = {.users = 0};
	uint32_t known = 0;
	char path[32];

	limit_bytes = UINT64_C(200) << 10;
	wh_names_join(&names);
	wh_names_join(&names);
	for (enum wh_name_verdict verdict = WH_NAME_NEW; verdict == WH_NAME_NEW; known++) {
		snprintf(path, sizeof(path), "n%u", known);
		verdict = wh_names_claim(
			&names, &account, &(struct wh_name){path, strlen(path), false, false});
		CU_ASSERT(had_bytes <= limit_bytes);
	}
	/* The table of 128 KiB was the last to be had. */
	CU_ASSERT_EQUAL(known, 16384 / 4 * 3 + 1);
	CU_ASSERT_EQUAL(had_bytes, UINT64_C(128) << 10);
	wh_names_leave(&names, &account);
	CU_ASSERT_EQUAL(had_bytes, UINT64_C(128) << 10);
	wh_names_leave(&names, &account);
	CU_ASSERT_EQUAL(had_bytes, 0);
}

static void in_other_case(void)
{
	static const struct {
		const char *name, *other;
	} known[] = {
		{"name", "Name"},
		{"Name", "name"},
		{"12-a", "12-A"},
		{"\303\266a", "\303\266A"}, /* ASCII first */
		{"\303\266", "\303\226"},
		{"1\303\226", "1\303\266"},
		{"\320\226.1", "\320\266.1"},
		{"12", NULL},
		{"\377\303", NULL},
		{"", NULL},
	};
	char longest[NAME_MAX + 1] = "", other[NAME_MAX + 1];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		bool has = wh_name_in_other_case(known[i].name, other);

		CU_ASSERT_EQUAL(has, known[i].other != NULL);
		if (has)
			CU_ASSERT_STRING_EQUAL(other, known[i].other);
	}
	/* One that would be too long in another case has none. */
	memset(longest, '1', NAME_MAX - 2);
	strcat(longest, "\310\272");
	CU_ASSERT_FALSE(wh_name_in_other_case(longest, other));
	CU_ASSERT(wh_name_in_other_case(longest + 1, other));
	CU_ASSERT_EQUAL(strlen(other), NAME_MAX);
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
	{"folders", folders},
	{"any bytes", any_bytes},
	{"so many", so_many},
	{"charged", charged},
	{"in other case", in_other_case},
	{"this system does not", this_system_does_not},
	CU_TEST_INFO_NULL,
};
