/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/all_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include "unit.h"

const char wh_suite_name[] = "all_bytes";

static void test_file(void)
{
	char name[] = "/tmp/wh-bytes-XXXXXX";
	int fd = mkstemp(name);
	char text[16] = "";

	CU_ASSERT_FATAL(fd >= 0);
	unlink(name);
	CU_ASSERT_EQUAL(wh_write_all(fd, "0123456", 7), 0);
	CU_ASSERT_EQUAL(wh_write_all(fd, "789", 3), 0);
	CU_ASSERT_EQUAL(wh_read_all_at(fd, text, 4, 2), 4);
	CU_ASSERT_STRING_EQUAL(text, "2345");
	CU_ASSERT_EQUAL(wh_read_all_at(fd, text, sizeof(text), 5), 5);
	CU_ASSERT_EQUAL(memcmp(text, "56789", 5), 0);
	CU_ASSERT_EQUAL(wh_read_all_at(fd, text, sizeof(text), 10), 0);
	close(fd);
}

/* A write that takes a part: a pipe that does not block and has little room left. */
static void test_errors(void)
{
	static const char many[1 << 20];
	int ends[2];

	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_NONBLOCK), 0);
	CU_ASSERT_EQUAL(wh_write_all(ends[1], many, sizeof(many)), -EAGAIN);
	CU_ASSERT_EQUAL(wh_read_all_at(ends[0], (char[1]){0}, 1, 0), -ESPIPE);
	close(ends[0]);
	close(ends[1]);
	CU_ASSERT_EQUAL(wh_write_all(-1, many, 1), -EBADF);
}

CU_TestInfo wh_tests[] = {
	{"all bytes, and those at an offset", test_file},
	{"errors", test_errors},
	CU_TEST_INFO_NULL,
};
