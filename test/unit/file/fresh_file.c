/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/fresh_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../rig/remove_tree.h"
#include "unit.h"

const char wh_suite_name[] = "fresh_file";

static char folder[64];

void wh_set_up(void)
{
	strcpy(folder, "/tmp/wh-fresh-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	CU_ASSERT_EQUAL_FATAL(chdir(folder), 0);
}

void wh_take_down(void)
{
	CU_ASSERT_EQUAL(chdir("/"), 0);
	remove_tree(folder);
}

static bool is_there(const char *name)
{
	struct stat facts;

	return lstat(name, &facts) == 0;
}

static int make(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	CU_ASSERT_FATAL(fd >= 0);
	return fd;
}

static void test_sweep(void)
{
	static const char *const kept[] = {"key", "key.20260101", "key.0badcafe.pem",
		"key.0badcafe.part.old", "key.0badcaf.part", "key.0badcafe0.part",
		"keys.0badcafe.part", "key.0BADCAFE.part", "0badcafe.part"};
	char at_work[PATH_MAX], again[PATH_MAX];
	int copy;
	int fd;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		close(make(kept[i]));
	close(make("key.00000000.part"));
	close(make("key.89abcdef.part"));
	CU_ASSERT_EQUAL(mkdir("key.11111111.part", 0700), 0);
	CU_ASSERT_EQUAL(symlink("key", "key.22222222.part"), 0);
	CU_ASSERT_EQUAL(mkfifo("key.33333333.part", 0600), 0);
	fd = wh_fresh_file_open(at_work, "key", 0640);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FALSE(is_there("key.00000000.part"));
	CU_ASSERT_FALSE(is_there("key.89abcdef.part"));
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		CU_ASSERT(is_there(kept[i]));
	CU_ASSERT(is_there("key.11111111.part"));
	CU_ASSERT(is_there("key.22222222.part"));
	CU_ASSERT(is_there("key.33333333.part"));

	/* Of one that is at work nothing goes, as long as a copy of its descriptor is open. */
	copy = dup(fd);
	close(fd);
	fd = wh_fresh_file_open(again, "key", 0640);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT(is_there(at_work));
	close(copy);
	wh_fresh_file_sweep("key");
	CU_ASSERT_FALSE(is_there(at_work));
	CU_ASSERT(is_there(again));
	close(fd);
}

/* By a path with folders; and what cannot be. */
static void test_open(void)
{
	char path[PATH_MAX], fresh[PATH_MAX];
	struct stat facts;
	int fd;

	snprintf(path, sizeof(path), "%s/key", folder);
	umask(027);
	fd = wh_fresh_file_open(fresh, path, 0666);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(fstat(fd, &facts), 0);
	CU_ASSERT_EQUAL(facts.st_mode & 07777, 0640);
	CU_ASSERT_EQUAL(strlen(fresh), strlen(path) + strlen(".01234567.part"));
	CU_ASSERT_EQUAL(strncmp(fresh, path, strlen(path)), 0);
	CU_ASSERT_EQUAL(open(fresh, O_WRONLY | O_CREAT | O_EXCL, 0600), -1);
	close(fd);
	wh_fresh_file_sweep(path);
	CU_ASSERT_FALSE(is_there(fresh));
	CU_ASSERT_EQUAL(wh_fresh_file_open(fresh, "no/such/folder", 0666), -ENOENT);
	memset(path, 'a', sizeof(path));
	path[PATH_MAX - 1] = '\0';
	CU_ASSERT_EQUAL(wh_fresh_file_open(fresh, path, 0666), -ENAMETOOLONG);
}

CU_TestInfo wh_tests[] = {
	{"what was left goes, what is at work stays", test_sweep},
	{"opened", test_open},
	CU_TEST_INFO_NULL,
};
