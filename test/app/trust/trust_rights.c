/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/rights/rights.h"

#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "trust_rights";

static struct wh_rights rights;

static void begin(void)
{
	wh_rights_init(&rights);
	strcpy(rights.folder[rights.folders++], "in");
	strcpy(rights.folder[rights.folders++], "out/a");
}

static bool may(enum wh_job_verb verb, const char *path, uint32_t wanted_folder)
{
	uint32_t folder = 77;
	const char *wrong = wh_rights_wrong(&rights, verb, &path, 1, &folder);

	CU_ASSERT_EQUAL(folder, wanted_folder);
	return wrong == NULL;
}

#define NONE UINT32_MAX

static void test_verbs(void)
{
	static const enum wh_job_verb verbs[] = {WH_JOB_GET, WH_JOB_SEND, WH_JOB_BENCH, WH_JOB_LIST,
		WH_JOB_REMOVE, WH_JOB_IDLE, WH_JOB_USAGE, WH_JOB_MAKE, WH_JOB_BENCH, WH_JOB_LIST,
		WH_JOB_MOVE, WH_JOB_IDLE};

	for (uint32_t right = 0; right < 3; right++) {
		wh_rights_init(&rights);
		rights.read = right != 0;
		rights.write = right != 1;
		rights.measure = right != 2;
		for (uint32_t verb = 0; verb < sizeof(verbs) / sizeof(verbs[0]); verb++)
			CU_ASSERT_EQUAL(may(verbs[verb], "x", NONE), verb % 3 != right);
		CU_ASSERT_TRUE(may(WH_JOB_PING, "x", NONE));
	}
}

/* Orders are a right of their own, and go no further than what may be read. */
static void test_orders(void)
{
	begin();
	CU_ASSERT_FALSE(may(WH_JOB_ORDER, "in/x", NONE));
	rights.orders = true;
	rights.write = rights.measure = false;
	CU_ASSERT_TRUE(may(WH_JOB_ORDER, "in/x", 0));
	CU_ASSERT_FALSE(may(WH_JOB_ORDER, "secret", NONE));
	rights.read = false;
	CU_ASSERT_FALSE(may(WH_JOB_ORDER, "in/x", NONE));
}

static void test_folders(void)
{
	begin();
	CU_ASSERT_TRUE(may(WH_JOB_SEND, "in", 0));
	CU_ASSERT_TRUE(may(WH_JOB_SEND, "in/", 0));
	CU_ASSERT_TRUE(may(WH_JOB_LIST, "in/x/y", 0));
	CU_ASSERT_FALSE(may(WH_JOB_REMOVE, "secret", NONE));
	CU_ASSERT_TRUE(may(WH_JOB_GET, "in/x/y", 0));
	CU_ASSERT_TRUE(may(WH_JOB_GET, "out/a/x", 1));
	CU_ASSERT_TRUE(may(WH_JOB_GET, "out/a", 1));
	CU_ASSERT_FALSE(may(WH_JOB_GET, "out", NONE));
	CU_ASSERT_FALSE(may(WH_JOB_GET, ".", NONE));
	CU_ASSERT_FALSE(may(WH_JOB_GET, "inner", NONE));
	CU_ASSERT_FALSE(may(WH_JOB_GET, "./in", NONE));
	CU_ASSERT_FALSE(may(WH_JOB_GET, "", NONE));
	CU_ASSERT_FALSE(may(WH_JOB_GET, "../in", NONE));
	/* What leads out of it again finds nothing: it is looked for below the folder. */
	CU_ASSERT_TRUE(may(WH_JOB_GET, "in/../secret", 0));
	CU_ASSERT_STRING_EQUAL(wh_rights_below("in", "in/../secret"), "../secret");
	CU_ASSERT_STRING_EQUAL(wh_rights_below("in", "in//etc/passwd"), "etc/passwd");
	CU_ASSERT_STRING_EQUAL(wh_rights_below("in", "in/"), ".");
	CU_ASSERT_STRING_EQUAL(wh_rights_below("in", "in"), ".");
	CU_ASSERT_PTR_NULL(wh_rights_below("in", "inner"));
}

static void test_several_paths(void)
{
	static const char *const together[] = {"in/a", "in/b"};
	static const char *const apart[] = {"in/a", "out/a/b"};
	uint32_t folder;

	begin();
	CU_ASSERT_PTR_NULL(wh_rights_wrong(&rights, WH_JOB_GET, together, 2, &folder));
	CU_ASSERT_EQUAL(folder, 0);
	CU_ASSERT_PTR_NOT_NULL(wh_rights_wrong(&rights, WH_JOB_GET, apart, 2, &folder));
	CU_ASSERT_EQUAL(folder, NONE);
}

CU_TestInfo wh_tests[] = {
	{"verbs", test_verbs},
	{"orders", test_orders},
	{"folders", test_folders},
	{"several paths", test_several_paths},
	CU_TEST_INFO_NULL,
};
