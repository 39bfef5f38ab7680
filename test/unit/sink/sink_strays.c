/* SPDX-License-Identifier: BSD-3-Clause */

/* What the source does not have is in the memory of its peer until it is removed. */

#include "file/purse.h"
#include "sink_rig.h"

const char wh_suite_name[] = "sink_strays";

#define NAMES 100

/* Files whose names have 200 bytes, few in each folder: the walk needs no memory for them. */
static void make_strays(struct rig *rig, int folders)
{
	char name[300];

	CU_ASSERT_FATAL(mkdir(rig_path(rig, "r"), 0755) == 0);
	for (int i = 0; i < folders; i++) {
		snprintf(name, sizeof(name), "r/%02d", i);
		CU_ASSERT_FATAL(mkdir(rig_path(rig, name), 0755) == 0);
		for (int k = 0; k < NAMES; k++) {
			snprintf(name, sizeof(name), "r/%02d/%0200d", i, k);
			rig_make_file(rig, name, "x", 1);
		}
	}
}

/* A bundle with nothing but the folder that they are in. */
static struct rig *begin(const char *base, int folders, struct purse *purse)
{
	struct rig *rig = rig_new(base);
	struct wh_sink_config config = rig_config(rig, "");
	enum wh_doing doing;

	make_strays(rig, folders);
	config.choice = (struct wh_choice){.wishes = WH_CHOICE_DELETE,
		.delete_max = 10000,
		.newer_s = INT64_MIN,
		.bytes_max = UINT64_MAX};
	config.account = purse_account(purse);
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	rig_folder(rig, 1, "r", 0755);
	rig_finish(rig);
	return rig;
}

static void end(struct rig *rig, const struct purse *purse)
{
	rig_free(rig);
	CU_ASSERT_EQUAL(purse->now, 0);
}

static void test_charged(const char *base)
{
	enum { FOLDERS = 8 };
	struct purse purse = {.most = UINT64_MAX};
	struct rig *rig = begin(base, FOLDERS, &purse);

	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT_EQUAL(rig->totals.removed, FOLDERS * (NAMES + 1));
	CU_ASSERT_EQUAL(rig_count(rig->root), 1);
	CU_ASSERT(purse.peak > (FOLDERS * NAMES * 200) - (64 << 10));
	CU_ASSERT(purse.peak < FOLDERS * NAMES * 300);
	CU_ASSERT_EQUAL(purse.now, 0); /* all are removed */
	end(rig, &purse);
}

/* Without memory for all of them none is removed. */
static void test_refused(const char *base)
{
	enum { FOLDERS = 8 };
	struct purse purse = {.most = 50 << 10};
	struct rig *rig = begin(base, FOLDERS, &purse);

	CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
	CU_ASSERT_EQUAL(wh_sink_progress(rig->sink)->error, -ENOMEM);
	CU_ASSERT_EQUAL(rig_count(rig->root), 1 + FOLDERS * (NAMES + 1));
	CU_ASSERT(purse.peak > 40 << 10);
	end(rig, &purse);
}

/* A peer whose memory is in use may still remove some. */
static void test_free(const char *base)
{
	struct purse purse = {.most = 0};
	struct rig *rig = begin(base, 2, &purse);

	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT_EQUAL(rig->totals.removed, 2 * (NAMES + 1));
	end(rig, &purse);
}

/* The sink ends while it has found some. */
static void test_left(const char *base)
{
	struct purse purse = {.most = UINT64_MAX};
	struct rig *rig = begin(base, 8, &purse);

	for (int i = 0; i < RIG_POLLS_MAX && purse.now < 20 << 10; i++)
		rig_poll(rig);
	CU_ASSERT(purse.now >= 20 << 10);
	end(rig, &purse);
}

BOTH(charged)
BOTH(refused)
BOTH(free)
BOTH(left)

CU_TestInfo wh_tests[] = {
	{"charged", both_charged},
	{"refused", both_refused},
	{"free", both_free},
	{"left", both_left},
	CU_TEST_INFO_NULL,
};
