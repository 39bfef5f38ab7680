/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/xattrs.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "bundle/record.h"
#include "unit.h"

const char wh_suite_name[] = "xattrs";

/* -1: this file system has no such attributes. */
static int open_file(void)
{
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);

	if (fd >= 0 && fsetxattr(fd, "user.probe", "", 0, 0) == 0 &&
		fremovexattr(fd, "user.probe") == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	printf("skipped: no extended attributes here\n");
	return -1;
}

static void there_and_back(void)
{
	uint8_t bytes[WH_XATTR_BYTES_MAX];
	char value[8];
	bool left_out;
	int from = open_file();
	int to = open_file();

	if (from < 0 || to < 0)
		return;
	CU_ASSERT_EQUAL(fsetxattr(from, "user.a", "one", 3, 0), 0);
	CU_ASSERT_EQUAL(fsetxattr(from, "user.b", "", 0, 0), 0);

	size_t used = wh_xattrs_read(from, WH_CHOICE_XATTRS, bytes, sizeof(bytes), &left_out);

	CU_ASSERT_EQUAL(used, 2 * (3 + 6) + 3);
	CU_ASSERT_FALSE(left_out);
	CU_ASSERT_EQUAL(wh_xattrs_apply(to, 0, NULL, bytes, used), 0);
	CU_ASSERT_EQUAL(fgetxattr(to, "user.a", value, sizeof(value)), -1);
	CU_ASSERT_EQUAL(wh_xattrs_apply(to, WH_CHOICE_XATTRS, NULL, bytes, used), 0);
	CU_ASSERT_EQUAL(fgetxattr(to, "user.a", value, sizeof(value)), 3);
	CU_ASSERT_EQUAL(memcmp(value, "one", 3), 0);
	CU_ASSERT_EQUAL(fgetxattr(to, "user.b", value, sizeof(value)), 0);
	/* All of them or none. */
	CU_ASSERT_EQUAL(wh_xattrs_read(from, WH_CHOICE_XATTRS, bytes, used - 1, &left_out), 0);
	CU_ASSERT_TRUE(left_out);
	CU_ASSERT_EQUAL(wh_xattrs_read(from, WH_CHOICE_ACLS, bytes, sizeof(bytes), &left_out), 0);
	CU_ASSERT_TRUE(left_out);
	close(from);
	close(to);
}

static void hostile(void)
{
	static const struct {
		const char *bytes;
		size_t count;
		int result;
	} cases[] = {
		{"", 1, -EINVAL},          /* no name */
		{"\1\0", 2, -EINVAL},      /* no whole head */
		{"\1\0\0", 3, -EINVAL},    /* no name behind it */
		{"\1\1\0a", 4, -EINVAL},   /* no value behind it */
		{"\2\0\0a\0", 5, -EINVAL}, /* a NUL in the name */
		{"\1\xff\xff"
		 "a",
			4, -EINVAL},
		{"\1\0\0a", 4, 0},               /* of no namespace of ours */
		{"\x0c\0\0trusted.over", 15, 0}, /* likewise */
		{"\x13\1\0security.capabilityx", 23, 0},
		{"\5\0\0user.", 8, 0},
	};
	int fd = open_file();

	if (fd < 0)
		return;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(wh_xattrs_apply(fd, WH_CHOICE_XATTRS | WH_CHOICE_ACLS, NULL,
					(const uint8_t *)cases[i].bytes, cases[i].count),
			cases[i].result);
	CU_ASSERT_EQUAL(flistxattr(fd, NULL, 0), 0);
	close(fd);
}

CU_TestInfo wh_tests[] = {
	{"there and back", there_and_back},
	{"hostile", hostile},
	CU_TEST_INFO_NULL,
};
