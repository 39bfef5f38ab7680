/* SPDX-License-Identifier: BSD-3-Clause */
#include "source/given.h"

#include "unit.h"

const char wh_suite_name[] = "given";

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void paths_in_bundles(void)
{
	static const struct {
		const char *path;
		bool whole;
		int bytes;
		size_t above;
		const char *name;
	} cases[] = {
		{"a/b", false, 1, 2, "b"},
		{"a/b/", false, 1, 2, "b"},
		{"a/.", false, 0, 3, ""},
		{"..", false, 0, 2, ""},
		{"a/b", true, 3, 0, "a/b"},
		{"/a/b/", true, 3, 1, "a/b"},
		{"../x/./a//b", true, 3, 7, "a/b"},
		{".", true, 0, 1, ""},
		{"a/./", true, 0, 4, ""},
		{"a/../b", true, -EINVAL, 0, NULL},
		{"..", true, -EINVAL, 0, NULL},
		{"..a/b..", true, 7, 0, "..a/b.."},
	};
	char name[WH_PATH_BYTES_MAX + 1];
	size_t above;

	for (size_t i = 0; i < COUNT(cases); i++) {
		CU_ASSERT_EQUAL(wh_path_in_bundle(cases[i].path, cases[i].whole, name, &above),
			cases[i].bytes);
		if (cases[i].bytes < 0)
			continue;
		CU_ASSERT_EQUAL(above, cases[i].above);
		CU_ASSERT_STRING_EQUAL(name, cases[i].name);
	}
}

static void too_long(void)
{
	char path[2 * WH_PATH_BYTES_MAX + 2], name[WH_PATH_BYTES_MAX + 1];
	size_t above;

	memset(path, 'a', sizeof(path));
	path[WH_PATH_BYTES_MAX] = '\0';
	CU_ASSERT_EQUAL(wh_path_in_bundle(path, true, name, &above), -ENAMETOOLONG);
	CU_ASSERT_EQUAL(wh_path_in_bundle(path, false, name, &above), WH_PATH_BYTES_MAX);
	path[WH_PATH_BYTES_MAX] = 'a';
	path[sizeof(path) - 1] = '\0';
	CU_ASSERT_EQUAL(wh_path_in_bundle(path, false, name, &above), 0);
}

CU_TestInfo wh_tests[] = {
	{"paths in bundles", paths_in_bundles},
	{"too long", too_long},
	CU_TEST_INFO_NULL,
};
