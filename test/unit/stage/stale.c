/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/stale.h"

#include <sys/file.h>
#include <time.h>

#include "folder_rig.h"

const char wh_suite_name[] = "stale";

#define TWENTY "abcdefghijklmnopqrst"

/* What a dead process left goes; what is locked, is another's or holds more stays. */
static const struct {
	const char *name;
	bool stays;
} leftovers[] = {
	{".wavehaul-" TWENTY "aaaaaa.part", false},
	{".wavehaul-" TWENTY "zzzzzz.part", false},
	{".wavehaul-" TWENTY "locked.part", true},
	{".wavehaul-" TWENTY "folder.part", true}, /* there is one in it */
	{".wavehaul-" TWENTY "ffffff.part", true}, /* a file */
	{".wavehaul-" TWENTY "llllll.part", true}, /* a link to a folder of files */
	{".wavehaul-" TWENTY "aaaaa.part", true},
	{".wavehaul-" TWENTY "aaaaaaa.part", true},
	{".wavehaul-" TWENTY "aaaaaA.part", true},
	{".wavehaul-" TWENTY "aaaaa0.part", true},
	{".wavehaul-" TWENTY "aaaaaa.parts", true},
	{"wavehaul-" TWENTY "aaaaaa.part", true},
	{"precious", true},
};
#define LEFTOVERS (sizeof(leftovers) / sizeof(leftovers[0]))

static void put_leftovers(const struct folder *folder)
{
	char name[64];

	for (size_t i = 0; i < LEFTOVERS; i++) {
		if (strstr(leftovers[i].name, "ffffff") != NULL) {
			folder_put(folder, leftovers[i].name, "x");
			continue;
		}
		if (strstr(leftovers[i].name, "llllll") != NULL) {
			CU_ASSERT_FATAL(symlinkat("precious", folder->fd, leftovers[i].name) == 0);
			continue;
		}
		CU_ASSERT_FATAL(mkdirat(folder->fd, leftovers[i].name, 0700) == 0);
		snprintf(name, sizeof(name), "%s/0", leftovers[i].name);
		folder_put(folder, name, "x");
		snprintf(name, sizeof(name), "%s/1", leftovers[i].name);
		CU_ASSERT_FATAL(symlinkat("precious", folder->fd, name) == 0);
	}
	CU_ASSERT_FATAL(mkdirat(folder->fd, ".wavehaul-" TWENTY "folder.part/x", 0700) == 0);
}

/* `below`: what is in folders, too. */
static void remove_leftovers(bool below)
{
	struct folder folder = folder_new("/dev/shm"), deep = {.path = ""};

	CU_ASSERT_FATAL(mkdirat(folder.fd, "a", 0755) == 0);
	deep.fd = openat(folder.fd, "a", O_PATH | O_DIRECTORY);
	put_leftovers(below ? &deep : &folder);

	const struct folder *at = below ? &deep : &folder;
	int locked = openat(at->fd, ".wavehaul-" TWENTY "locked.part", O_RDONLY | O_DIRECTORY);
	int before = folder_descriptors();

	CU_ASSERT_FATAL(flock(locked, LOCK_EX) == 0);
	if (below)
		wh_stale_remove_below(folder.fd, INT64_MIN);
	else
		wh_stale_remove_in(folder.fd, INT64_MIN);
	for (size_t i = 0; i < LEFTOVERS; i++)
		CU_ASSERT(folder_has(at, leftovers[i].name) == leftovers[i].stays);
	CU_ASSERT(folder_has(at, ".wavehaul-" TWENTY "folder.part/0"));
	CU_ASSERT(folder_has(at, ".wavehaul-" TWENTY "locked.part/0"));
	CU_ASSERT(folder_has(at, "precious/0"));
	CU_ASSERT(folder_descriptors() == before);
	close(locked);
	close(deep.fd);
	folder_free(&folder);
}

static void test_in(void)
{
	remove_leftovers(false);
}

static void test_below(void)
{
	remove_leftovers(true);
}

/* Many jobs that begin in a large folder: one of them searches it, or the next two. */
static void test_one_at_a_time(void)
{
	struct folder folder = folder_new("/dev/shm");
	uint32_t most = 0;
	char name[16];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		folder_put(&folder, name, "");
	}
	for (int i = 0; i < 50; i++) {
		wh_stale_remove_in(folder.fd, INT64_MIN);
		most = most > wh_background_count() ? most : wh_background_count();
	}
	CU_ASSERT(most >= 1 && most <= 2);
	folder_free(&folder);
}

/* A folder deep down, one behind a link, and one of somebody else's. */
static void test_limits(void)
{
	struct folder folder = folder_new("/dev/shm"), other = folder_new("/dev/shm");
	char name[] = ".wavehaul-" TWENTY "aaaaaa.part";
	int fd = dup(folder.fd);

	CU_ASSERT_FATAL(mkdirat(other.fd, name, 0700) == 0);
	CU_ASSERT_FATAL(symlinkat(other.path, folder.fd, "link") == 0);
	for (int i = 0; i < 100; i++) {
		CU_ASSERT_FATAL(mkdirat(fd, name, 0700) == 0 && mkdirat(fd, "d", 0700) == 0);

		int next = openat(fd, "d", O_PATH | O_DIRECTORY);

		close(fd);
		fd = next;
	}
	if (geteuid() == 0) {
		CU_ASSERT_FATAL(mkdirat(folder.fd, ".wavehaul-" TWENTY "others.part", 0700) == 0);
		CU_ASSERT_FATAL(
			fchownat(folder.fd, ".wavehaul-" TWENTY "others.part", 4711, 4711, 0) == 0);
	}
	wh_stale_remove_below(folder.fd, INT64_MIN);
	CU_ASSERT(folder_has(&other, name));
	CU_ASSERT(!folder_has(&folder, name));
	CU_ASSERT(!folder_has(&folder, "d/d/d/d/d/d/.wavehaul-" TWENTY "aaaaaa.part"));
	CU_ASSERT(faccessat(fd, "../.wavehaul-" TWENTY "aaaaaa.part", F_OK, 0) == 0);
	CU_ASSERT(geteuid() != 0 || folder_has(&folder, ".wavehaul-" TWENTY "others.part"));
	close(fd);
	folder_free(&folder);
	folder_free(&other);
}

#define PARTS "a/.wavehaul-parts"

/*
 * What nobody holds, and nothing happened to for long; the folder goes with the last. A file that
 * is complete has the time of its source, which may be old, and is still to get its name.
 */
static void test_parts(void)
{
	static const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct folder folder = folder_new("/dev/shm");
	int64_t now_s = time(NULL);

	CU_ASSERT_FATAL(mkdirat(folder.fd, "a", 0755) == 0);
	CU_ASSERT_FATAL(mkdirat(folder.fd, PARTS, 0700) == 0);
	for (const char *const *name =
			(const char *const[]){PARTS "/1", PARTS "/2", PARTS "/3", NULL};
		*name != NULL; name++)
		folder_put(&folder, *name, "x");
	utimensat(folder.fd, PARTS "/1", times, 0);

	int locked = openat(folder.fd, PARTS "/2", O_RDONLY);

	CU_ASSERT_FATAL(flock(locked, LOCK_EX) == 0);
	wh_stale_remove_below(folder.fd, INT64_MIN);
	wh_stale_remove_below(folder.fd, now_s);
	CU_ASSERT(folder_has(&folder, PARTS "/1") && folder_has(&folder, PARTS "/3"));
	wh_stale_remove_below(folder.fd, now_s + 3600);
	CU_ASSERT(!folder_has(&folder, PARTS "/1") && !folder_has(&folder, PARTS "/3"));
	CU_ASSERT(folder_has(&folder, PARTS "/2"));
	close(locked);
	/* What no journal knows goes at once, unless it is just being made. */
	folder_put(&folder, PARTS "/4", "x");
	CU_ASSERT_FATAL(fchmodat(folder.fd, PARTS "/4", WH_STALE_UNNOTED, 0) == 0);
	locked = openat(folder.fd, PARTS "/4", O_RDONLY);
	CU_ASSERT_FATAL(flock(locked, LOCK_EX) == 0);
	wh_stale_remove_below(folder.fd, now_s);
	CU_ASSERT(folder_has(&folder, PARTS "/4"));
	close(locked);
	wh_stale_remove_below(folder.fd, now_s);
	CU_ASSERT(!folder_has(&folder, PARTS "/4") && folder_has(&folder, PARTS "/2"));
	wh_stale_remove_below(folder.fd, INT64_MAX);
	CU_ASSERT(!folder_has(&folder, PARTS) && folder_has(&folder, "a"));
	folder_free(&folder);
}

CU_TestInfo wh_tests[] = {
	{"in a folder", test_in},
	{"below a folder", test_below},
	{"one at a time", test_one_at_a_time},
	{"how far it goes", test_limits},
	{"parts that nobody knows", test_parts},
	CU_TEST_INFO_NULL,
};
