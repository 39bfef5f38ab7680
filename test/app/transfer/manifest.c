/* SPDX-License-Identifier: BSD-3-Clause */

/* What a manifest has of a transfer that was tried more than once. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <CUnit/CUnit.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "transfer/transfer.h"
#include "unit.h"

const char wh_suite_name[] = "app/manifest";

static struct wh_transfer transfer;

static void begin(const char *path)
{
	memset(&transfer, 0, sizeof(transfer));
	pthread_mutex_init(&transfer.told.telling, NULL);
	wh_failures_init(&transfer.told.failures);
	snprintf(transfer.wanted.settings.manifest, sizeof(transfer.wanted.settings.manifest), "%s",
		path);
	snprintf(transfer.wanted.settings.digest, sizeof(transfer.wanted.settings.digest), "md5");
	CU_ASSERT_FATAL(wh_manifest_open(&transfer.running.manifest, &transfer.wanted.settings,
				true, -1) == WH_EXIT_OK);
}

static void tell(const char *path, bool skipped, int error)
{
	wh_transfer_on_file(&transfer, &(struct wh_file_result){.path = path,
					       .kind = WH_ENTRY_FILE,
					       .skipped = skipped,
					       .error = error,
					       .doing = error != 0 ? WH_DOING_READING : 0});
}

/* Any file of the bundle is empty. */
static int open_nothing(void *context, const char *path)
{
	CU_ASSERT(context == &transfer && path != NULL);
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void test_tries(void)
{
	static const char nothing[] = "d41d8cd98f00b204e9800998ecf8427e";
	char path[] = "/tmp/wh_manifest_XXXXXX", wanted[256], text[256] = "";
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	begin(path);
	tell("a", false, 0);
	tell("b", false, 0);
	wh_transfer_forget(&transfer);
	/* The next one tells of what is there already, too. */
	tell("a", true, 0);
	tell("b", false, EIO);
	wh_transfer_forget(&transfer);
	tell("a", true, 0);
	tell("b", false, 0);
	tell("c", false, 0);
	CU_ASSERT_EQUAL(
		wh_manifest_finish(&transfer.running.manifest, open_nothing, &transfer, WH_EXIT_OK),
		WH_EXIT_OK);
	CU_ASSERT_EQUAL(transfer.running.manifest.summed, 3);
	snprintf(wanted, sizeof(wanted), "%s  a\n%s  b\n%s  c\n", nothing, nothing, nothing);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT(read(fd, text, sizeof(text) - 1) > 0);
	CU_ASSERT_STRING_EQUAL(text, wanted);
	wh_manifest_free(&transfer.running.manifest);
	close(fd);
	unlink(path);
}

/* "gone" cannot be read again. */
static int open_most(void *context, const char *path)
{
	return strcmp(path, "gone") == 0 ? -ENOENT : open_nothing(context, path);
}

static int judged(const char *path, const char *expected)
{
	FILE *file = fopen(path, "w");
	int status;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(expected, file);
	fclose(file);
	memset(&transfer, 0, sizeof(transfer));
	pthread_mutex_init(&transfer.told.telling, NULL);
	wh_failures_init(&transfer.told.failures);
	snprintf(transfer.wanted.settings.expect, sizeof(transfer.wanted.settings.expect), "%s",
		path);
	snprintf(transfer.wanted.settings.digest, sizeof(transfer.wanted.settings.digest), "md5");
	CU_ASSERT_FATAL(wh_manifest_open(&transfer.running.manifest, &transfer.wanted.settings,
				true, -1) == WH_EXIT_OK);
	tell("a", false, 0);
	tell("gone", false, 0);
	status = wh_manifest_finish(&transfer.running.manifest, open_most, &transfer, WH_EXIT_OK);
	wh_manifest_free(&transfer.running.manifest);
	return status;
}

/* A file that is listed twice came once; one that cannot be read is no different one. */
static void test_expected(void)
{
#define NOTHING   "d41d8cd98f00b204e9800998ecf8427e"
#define SOMETHING "00000000000000000000000000000000"
	char path[] = "/tmp/wh_expect_XXXXXX";
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	CU_ASSERT_EQUAL(judged(path, NOTHING "  a\n" NOTHING "  gone\n"), WH_EXIT_OTHER);
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), "1 file is without a checksum"));
	CU_ASSERT_EQUAL(judged(path, NOTHING "  a\n" NOTHING "  a\n"), WH_EXIT_OTHER);
	CU_ASSERT_EQUAL(judged(path, NOTHING "  a\n" SOMETHING "  a\n"), WH_EXIT_VERIFY);
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), "1 file differs"));
	CU_ASSERT_EQUAL(judged(path, NOTHING "  a\n" NOTHING "  b\n"), WH_EXIT_VERIFY);
	unlink(path);
}

CU_TestInfo wh_tests[] = {
	{"what is expected", test_expected},
	{"each file is there once, however many tries it took", test_tries},
	CU_TEST_INFO_NULL,
};
