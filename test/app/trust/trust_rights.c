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
	const char *wrong = wh_rights_wrong(&rights, verb, 0, &path, 1, &folder);

	CU_ASSERT_EQUAL(folder, wanted_folder);
	return wrong == NULL;
}

#define NONE UINT32_MAX

#define READ    1
#define WRITE   2
#define MEASURE 4
#define ORDERS  8
#define DELETES 16
#define ALL     (READ | WRITE | MEASURE | ORDERS | DELETES)

/*
 * Each verb, and its variants that remove files: the rights without which it is refused, whether a
 * folder binds it, and whether it counts for the bytes of a day. A verb of record.h without a row
 * fails test_every_verb.
 */
static const struct {
	enum wh_job_verb verb;
	uint32_t wishes;
	uint32_t needs;
	bool bound;
	bool moves;
} rows[] = {
	{WH_JOB_SEND, 0, WRITE, true, true},
	{WH_JOB_SEND, WH_CHOICE_DELETE, READ | WRITE, true, true},
	{WH_JOB_SEND, WH_CHOICE_UPDATE, READ | WRITE, true, true},
	{WH_JOB_SEND, WH_CHOICE_ABSENT, READ | WRITE, true, true},
	{WH_JOB_SEND, WH_CHOICE_QUICK, READ | WRITE, true, true},
	{WH_JOB_SEND, WH_CHOICE_DELETE_TOP, READ | WRITE, true, true},
	{WH_JOB_SEND, WH_CHOICE_DRY, READ | WRITE, true, true},
	{WH_JOB_SEND, WH_CHOICE_BLOCKS, READ | WRITE, true, true},
	{WH_JOB_SEND, WH_CHOICE_MOVE, WRITE, true, true}, /* from the peer's own host */
	{WH_JOB_GET, 0, READ, true, true},
	{WH_JOB_GET, WH_CHOICE_DELETE, READ, true, true}, /* likewise */
	{WH_JOB_GET, WH_CHOICE_MOVE, READ | WRITE, true, true},
	{WH_JOB_BENCH, 0, MEASURE, false, true},
	{WH_JOB_IDLE, 0, MEASURE, false, false},
	{WH_JOB_LIST, 0, READ, true, false},
	{WH_JOB_USAGE, 0, READ, true, false},
	{WH_JOB_REMOVE, 0, READ | WRITE, true, false},
	{WH_JOB_MAKE, 0, READ | WRITE, true, false},
	{WH_JOB_MOVE, 0, READ | WRITE, true, false},
	{WH_JOB_PING, 0, 0, false, false},
	{WH_JOB_ORDER, 0, READ | ORDERS, true, false}, /* charged when it runs */
	{WH_JOB_ORDER, WH_CHOICE_MOVE, READ | ORDERS | WRITE, true, false},
	{WH_JOB_ORDER, WH_CHOICE_DELETE, READ | ORDERS | DELETES, true, false},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void give(uint32_t given)
{
	wh_rights_init(&rights);
	rights.read = (given & READ) != 0;
	rights.write = (given & WRITE) != 0;
	rights.measure = (given & MEASURE) != 0;
	rights.orders = (given & ORDERS) != 0;
	rights.orders_delete = (given & DELETES) != 0;
}

static bool row_passes(size_t row, const char *path)
{
	uint32_t folder;

	return wh_rights_wrong(&rights, rows[row].verb, rows[row].wishes, &path, 1, &folder) ==
	       NULL;
}

static void test_matrix(void)
{
	for (size_t row = 0; row < ROWS; row++) {
		for (uint32_t given = 0; given <= ALL; given++) {
			give(given);
			CU_ASSERT_EQUAL(row_passes(row, "x"), (rows[row].needs & ~given) == 0);
		}
		give(ALL);
		strcpy(rights.folder[rights.folders++], "in");
		CU_ASSERT_EQUAL(row_passes(row, "x"), !rows[row].bound);
		CU_ASSERT_TRUE(row_passes(row, "in/x"));
		CU_ASSERT_EQUAL(wh_rights_moves(rows[row].verb), rows[row].moves);
	}
}

static void test_every_verb(void)
{
	for (uint32_t verb = WH_JOB_SEND; verb < WH_JOB_VERBS; verb++) {
		size_t found = 0;

		for (size_t row = 0; row < ROWS; row++)
			found += rows[row].verb == verb;
		CU_ASSERT_NOT_EQUAL(found, 0);
	}
	give(ALL);
	CU_ASSERT_FALSE(may(WH_JOB_VERBS, "x", NONE));
	CU_ASSERT_FALSE(may(0, "x", NONE));
	CU_ASSERT_TRUE(wh_rights_moves(WH_JOB_VERBS));
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
	CU_ASSERT_PTR_NULL(wh_rights_wrong(&rights, WH_JOB_GET, 0, together, 2, &folder));
	CU_ASSERT_EQUAL(folder, 0);
	CU_ASSERT_PTR_NOT_NULL(wh_rights_wrong(&rights, WH_JOB_GET, 0, apart, 2, &folder));
	CU_ASSERT_EQUAL(folder, NONE);
}

CU_TestInfo wh_tests[] = {
	{"every verb and right", test_matrix},
	{"no verb is forgotten", test_every_verb},
	{"folders", test_folders},
	{"several paths", test_several_paths},
	CU_TEST_INFO_NULL,
};
