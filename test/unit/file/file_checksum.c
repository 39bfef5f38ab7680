/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/file_checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

const char wh_suite_name[] = "checksum";

static const char *sum_of(const char *text, size_t times, enum wh_checksum kind)
{
	static char sum[WH_CHECKSUM_TEXT_BYTES];
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	size_t bytes = strlen(text);

	CU_ASSERT_FATAL(fd >= 0);
	for (size_t i = 0; i < times; i++)
		CU_ASSERT_FATAL(write(fd, text, bytes) == (ssize_t)bytes);
	CU_ASSERT_FATAL(lseek(fd, 0, SEEK_SET) == 0);
	strcpy(sum, "none");
	CU_ASSERT_EQUAL(wh_checksum_of(fd, UINT64_MAX, kind, NULL, sum), 0);
	close(fd);
	return sum;
}

/* Published values: of a word, of digits (RFC 3720), of RFC 1321's test suite. */
static void test_known_values(void)
{
	CU_ASSERT_STRING_EQUAL(sum_of("Wikipedia", 1, WH_CHECKSUM_ADLER32), "11e60398");
	CU_ASSERT_STRING_EQUAL(sum_of("123456789", 1, WH_CHECKSUM_CRC32C), "e3069283");
	CU_ASSERT_STRING_EQUAL(sum_of("", 1, WH_CHECKSUM_MD5), "d41d8cd98f00b204e9800998ecf8427e");
	CU_ASSERT_STRING_EQUAL(
		sum_of("abc", 1, WH_CHECKSUM_MD5), "900150983cd24fb0d6963f7d28e17f72");
	CU_ASSERT_STRING_EQUAL(sum_of("", 1, WH_CHECKSUM_XXH3), "99aa06d3014798d86001c324468d497f");
	CU_ASSERT_STRING_EQUAL(sum_of("", 1, WH_CHECKSUM_ADLER32), "00000001");
}

/* 3,000,000 bytes: more than are read at once. */
static void test_long(void)
{
	CU_ASSERT_STRING_EQUAL(sum_of("aaaaaaaaaa", 300000, WH_CHECKSUM_ADLER32), "debd52f8");
	CU_ASSERT_STRING_EQUAL(
		sum_of("aaaaaaaaaa", 300000, WH_CHECKSUM_MD5), "99ddc9a3a46ea62c95652bdf937a1fb8");
	CU_ASSERT_STRING_EQUAL(sum_of("aaaaaaaaaa", 300000, WH_CHECKSUM_CRC32C), "019a6e90");
}

static void test_names(void)
{
	enum wh_checksum kind = WH_CHECKSUM_XXH3;
	char sum[WH_CHECKSUM_TEXT_BYTES];

	CU_ASSERT_TRUE(wh_checksum_find("crc32c", &kind) && kind == WH_CHECKSUM_CRC32C);
	CU_ASSERT_FALSE(wh_checksum_find("sha1", &kind));
	CU_ASSERT_EQUAL(wh_checksum_of(-1, UINT64_MAX, WH_CHECKSUM_MD5, NULL, sum), -EBADF);
}

CU_TestInfo wh_tests[] = {
	{"known values", test_known_values},
	{"long", test_long},
	{"names", test_names},
	CU_TEST_INFO_NULL,
};
