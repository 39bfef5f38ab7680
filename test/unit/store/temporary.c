/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/temporary.h"

#include "store_rig.h"

const char wh_suite_name[] = "temporary";

/* Names and refusals are in file_writer.c, as its users see them; here is the life of the file. */

static void test_rename(void)
{
	struct rig rig;
	struct wh_temporary temporary = {0};

	rig_init(&rig, 65536, 0, 1);
	rig_write_file(&rig, "object", (const uint8_t *)"older", 5);
	CU_ASSERT_FATAL(wh_temporary_open(&temporary, rig.folder, "object") == 0);
	CU_ASSERT(temporary.exists && rig_count_files(&rig) == 2);
	CU_ASSERT(write(temporary.fd, "newer!", 6) == 6);
	CU_ASSERT(rig_file_equals(&rig, "object", (const uint8_t *)"older", 5));
	CU_ASSERT(wh_temporary_rename(&temporary) == 0);
	CU_ASSERT(!temporary.exists && rig_count_files(&rig) == 1);
	CU_ASSERT(rig_file_equals(&rig, "object", (const uint8_t *)"newer!", 6));
	wh_temporary_unlink(&temporary); /* must not hit the file under its final name */
	wh_temporary_close(&temporary);
	CU_ASSERT(rig_file_equals(&rig, "object", (const uint8_t *)"newer!", 6));
	rig_free(&rig);
}

static void test_unlink(void)
{
	struct rig rig;
	struct wh_temporary temporary = {0};

	rig_init(&rig, 65536, 0, 1);
	CU_ASSERT_FATAL(wh_temporary_open(&temporary, rig.folder, "object") == 0);
	wh_temporary_unlink(&temporary);
	CU_ASSERT(rig_count_files(&rig) == 0);
	CU_ASSERT(write(temporary.fd, "x", 1) == 1); /* the descriptor stays good */
	wh_temporary_close(&temporary);
	CU_ASSERT_FATAL(wh_temporary_open(&temporary, rig.folder, "object") == 0);
	wh_temporary_close(&temporary);
	CU_ASSERT(rig_count_files(&rig) == 0);
	rig_free(&rig);
}

/* Two at once of one name do not meet. */
static void test_two(void)
{
	struct rig rig;
	struct wh_temporary first = {0};
	struct wh_temporary second = {0};

	rig_init(&rig, 65536, 0, 1);
	CU_ASSERT_FATAL(wh_temporary_open(&first, rig.folder, "object") == 0);
	CU_ASSERT_FATAL(wh_temporary_open(&second, rig.folder, "object") == 0);
	CU_ASSERT(strcmp(first.name, second.name) != 0);
	CU_ASSERT(rig_count_files(&rig) == 2);
	wh_temporary_close(&first);
	CU_ASSERT(rig_count_files(&rig) == 1);
	CU_ASSERT(wh_temporary_rename(&second) == 0);
	wh_temporary_close(&second);
	CU_ASSERT(rig_count_files(&rig) == 1);
	rig_free(&rig);
}

static void test_nothing_left_open(void)
{
	struct rig rig;
	struct wh_temporary temporary = {0};
	int before = dup(0);

	close(before);
	rig_init(&rig, 65536, 0, 1);
	CU_ASSERT(wh_temporary_open(&temporary, rig.folder, "..") == -EINVAL);
	CU_ASSERT(wh_temporary_open(&temporary, "/dev/null", "object") == -ENOTDIR);
	CU_ASSERT(wh_temporary_open(&temporary, "/", "dev") == -EISDIR);
	CU_ASSERT_FATAL(wh_temporary_open(&temporary, rig.folder, "object") == 0);
	wh_temporary_close(&temporary);

	int after = dup(0);

	CU_ASSERT(after == before);
	close(after);
	rig_free(&rig);
}

CU_TestInfo wh_tests[] = {
	{"rename", test_rename},
	{"unlink", test_unlink},
	{"two of one name", test_two},
	{"nothing left open", test_nothing_left_open},
	CU_TEST_INFO_NULL,
};
