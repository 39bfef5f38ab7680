/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory that there is and is not, on machines made of files. */

#include "host/memory_room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../rig/remove_tree.h"
#include "cli/complain.h"
#include "unit.h"

const char wh_suite_name[] = "app/memory_room";

#define MIB (UINT64_C(1) << 20)

static void put(const char *root, const char *path, const char *text)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash != NULL;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(whole, 0700);
		*slash = '/';
	}

	FILE *file = fopen(whole, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

#define GROUP "/sys/fs/cgroup/a/b/"
#define ABOVE "/sys/fs/cgroup/a/"

static const struct {
	const char *what;
	const char *max;
	const char *current;
	const char *stat;
	const char *above_max;
	uint64_t mib;
	const char *bound;
} machines[] = {
	{"no group", NULL, NULL, NULL, NULL, 1600, "the free memory"},
	{"a group without bound", "max\n", "1048576\n", "", NULL, 1600, "the free memory"},
	{"a large group", "17179869184\n", "1048576\n", "", NULL, 1600, "the free memory"},
	{"a small group", "1073741824\n", "536870912\n", "", NULL, 512, "control group"},
	{"files that give way", "1073741824\n", "536870912\n",
		"anon 1\ninactive_file 268435456\nactive_file 7\n", NULL, 768, "control group"},
	{"a full group", "1048576\n", "2097152\n", "", NULL, 0, "control group"},
	{"a small group above", "max\n", "0\n", "", "335544320\n", 320, "control group"},
};

static void test_machines(void)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		char root[] = "/tmp/wavehaul-room-XXXXXX";

		CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
		put(root, "/proc/meminfo",
			"MemTotal: 24000000 kB\nMemFree: 1 kB\nMemAvailable:    1638400 kB\n");
		put(root, "/proc/self/cgroup", "1:name=x:/y\n0::/a/b\n");
		if (machines[i].max != NULL) {
			put(root, GROUP "memory.max", machines[i].max);
			put(root, GROUP "memory.current", machines[i].current);
			put(root, GROUP "memory.stat", machines[i].stat);
		}
		if (machines[i].above_max != NULL) {
			put(root, ABOVE "memory.max", machines[i].above_max);
			put(root, ABOVE "memory.current", "0\n");
		}

		struct wh_memory_room room = wh_memory_room(root, false);

		/* A sixteenth is kept for others. */
		if (room.bytes != machines[i].mib * MIB / 16 * 15)
			fprintf(stderr, "%s: %llu\n", machines[i].what,
				(unsigned long long)room.bytes);
		CU_ASSERT_EQUAL(room.bytes, machines[i].mib * MIB / 16 * 15);
		CU_ASSERT_PTR_NOT_NULL(strstr(room.bound, machines[i].bound));
		remove_tree(root);
	}
}

static void test_nothing_known(void)
{
	struct wh_memory_room room = wh_memory_room("/nowhere", false);

	CU_ASSERT_TRUE(
		wh_memory_fits(&room, UINT64_MAX - 1, "--buffers", 1) || room.bytes < UINT64_MAX);
}

static void test_words(void)
{
	const struct wh_memory_room room = {.bytes = 1000 * MIB, .bound = "the free memory"};

	CU_ASSERT_TRUE(wh_memory_fits(&room, 1000 * MIB, "--buffers", 900 * MIB));
	CU_ASSERT_FALSE(wh_memory_fits(&room, 1000 * MIB + 1, "--buffers", 900 * MIB + 1));
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), "set --buffers to 900M or less"));
	CU_ASSERT_FALSE(wh_memory_fits(&room, 3000 * MIB, "--memory", 1500 * MIB));
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), "too little even for packets"));
}

static void test_locked(void)
{
	CU_ASSERT_TRUE(wh_memory_may_be_locked(UINT64_MAX, 1000 * MIB)); /* RLIM_INFINITY */
	CU_ASSERT_TRUE(wh_memory_may_be_locked(1000 * MIB, 1000 * MIB));
	CU_ASSERT_FALSE(wh_memory_may_be_locked(8 * MIB, 1000 * MIB));
	CU_ASSERT_PTR_NOT_NULL(strstr(
		wh_last_complaint(), "locked, 1000 MiB of it, and `ulimit -l` allows 8.00 MiB: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), "prlimit --pid $$ --memlock=unlimited"));
}

CU_TestInfo wh_tests[] = {
	{"machines", test_machines},
	{"nothing known", test_nothing_known},
	{"words", test_words},
	{"locked", test_locked},
	CU_TEST_INFO_NULL,
};
