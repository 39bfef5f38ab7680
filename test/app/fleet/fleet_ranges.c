/* SPDX-License-Identifier: BSD-3-Clause */

/* Which files a fleet divides, how the plan has their ranges, and the page of its status. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/prng.h"
#include "cli/json.h"
#include "fleet/fleet_plan.h"
#include "fleet/fleet_tell.h"
#include "fleet/shards.h"
#include "journal/range_notes.h"
#include "unit.h"

const char wh_suite_name[] = "app/fleet_ranges";

#define MIB (UINT64_C(1) << 20)

static struct wh_shards shards_of(uint32_t max, uint64_t grain_bytes)
{
	struct wh_shards shards = {
		.max = max, .grain_bytes = grain_bytes, .grain_files = 100, .divides = true};

	CU_ASSERT_EQUAL_FATAL(wh_shards_open(&shards), -1);
	return shards;
}

/* Whatever the sizes are: no byte is missing or twice, and no shard is much larger than others. */
static void any_tree(void)
{
	struct wh_prng prng;

	wh_prng_init(&prng, 4711);
	for (uint32_t round = 0; round < 300; round++) {
		uint32_t max = 1 + (uint32_t)wh_prng_below(&prng, 40);
		uint32_t names = 1 + (uint32_t)wh_prng_below(&prng, 100);
		struct wh_shards shards = shards_of(max, 1 + wh_prng_below(&prng, 500 * MIB));
		uint64_t bytes = 0, sum = 0, files = 0, most = 0, mean;

		for (uint32_t i = 0; i < names; i++) {
			uint64_t size = wh_prng_below(&prng, MIB << wh_prng_below(&prng, 18));

			CU_ASSERT(wh_shards_add(&shards, "/a/./f", size));
			bytes += size;
		}
		CU_ASSERT(wh_shards_finish(&shards));
		CU_ASSERT(shards.count <= max);
		for (uint32_t i = 0; i < shards.count; i++) {
			sum += shards.shard[i].bytes;
			files += shards.shard[i].files;
			most = wh_max_u64(most, shards.shard[i].bytes);
		}
		CU_ASSERT_EQUAL(sum, bytes);
		CU_ASSERT_EQUAL(files + shards.larges, names);
		CU_ASSERT_EQUAL(shards.sum.bytes, bytes);
		mean = wh_max_u64(bytes / shards.count, 2 * WH_RANGE_BYTES_MIN);
		CU_ASSERT(most <= 2 * wh_max_u64(mean, 2 * shards.grain_bytes));
		wh_shards_free(&shards);
	}
}

static void a_large_file_is_divided(void)
{
	struct wh_shards shards = shards_of(10, 100 * MIB);

	CU_ASSERT(wh_shards_add(&shards, "/a/./small", 5));
	CU_ASSERT(wh_shards_add(&shards, "/a/./most", 700 * MIB + 3));
	CU_ASSERT(wh_shards_add(&shards, "/a/./less", 200 * MIB - 1));
	CU_ASSERT(wh_shards_add(&shards, "/a/./twice", 240 * MIB));
	CU_ASSERT(wh_shards_finish(&shards));
	CU_ASSERT_EQUAL(shards.count, 10); /* of 114 MiB in the mean */
	CU_ASSERT_EQUAL_FATAL(shards.larges, 2);
	CU_ASSERT_STRING_EQUAL(shards.large[0].name, "/a/./most");
	CU_ASSERT_EQUAL(shards.large[0].ranges, 7); /* of 940 MiB for 10 shards */
	CU_ASSERT_EQUAL(shards.large[0].range_bytes, 101 * MIB);
	CU_ASSERT_EQUAL(shards.large[1].ranges, 2);
	CU_ASSERT_EQUAL(shards.sum.files, 4);
	wh_shards_free(&shards);
}

/* Of more large files than shards, the largest are divided. */
static void more_than_can_wait(void)
{
	struct wh_shards shards = shards_of(4, MIB);

	for (uint64_t i = 0; i < 50; i++)
		CU_ASSERT(wh_shards_add(&shards, "/a/./f", (150 + i * 7 % 50) * MIB));
	CU_ASSERT(wh_shards_add(&shards, "/a/./huge", 20000 * MIB));
	for (uint64_t i = 0; i < 50; i++)
		CU_ASSERT(wh_shards_add(&shards, "/a/./f", (150 + i * 7 % 50) * MIB));
	CU_ASSERT(wh_shards_finish(&shards));
	CU_ASSERT_EQUAL_FATAL(shards.larges, 1);
	CU_ASSERT_STRING_EQUAL(shards.large[0].name, "/a/./huge");
	CU_ASSERT(wh_shards_balance(&shards, true) < 1.1);
	wh_shards_free(&shards);
}

/* Ranges follow each other from the first byte to the last; each shard knows its own. */
static void the_plan_has_ranges_and_version(void)
{
	struct wh_shards shards = shards_of(5, 64 * MIB);
	char path[] = "/dev/shm/wh_ranges_XXXXXX", text[PATH_MAX];
	int fd = mkstemp(path);
	struct wh_plan plan = {.folder = "/p"};
	struct wh_file_range range, same;
	struct wh_version version;
	uint64_t from = 0;
	uint32_t k, count = 0;

	CU_ASSERT_FATAL(fd >= 0 && ftruncate(fd, (off_t)(256 * MIB + 1)) == 0);
	CU_ASSERT(wh_shards_add(&shards, path, 256 * MIB + 1));
	CU_ASSERT(wh_shards_add(&shards, "/a/./f", 1));
	CU_ASSERT(wh_shards_finish(&shards));
	CU_ASSERT_EQUAL_FATAL(shards.larges, 1);
	CU_ASSERT_EQUAL(wh_version_look(path, &version), 0);
	shards.large[0].version = version;
	plan.json = json_pack("{s:o, s:o}", "divided", wh_plan_divided_json(&shards), "shards",
		wh_plan_shards_json(&shards, 1));
	for (k = 0; wh_plan_file_range(&plan, 0, k, &range); k++) {
		CU_ASSERT_EQUAL(range.from, from);
		CU_ASSERT_EQUAL(range.from % WH_RANGES_ALIGN_BYTES, 0);
		CU_ASSERT(memcmp(&range.version, &version, sizeof(version)) == 0);
		from = range.end;
	}
	CU_ASSERT_EQUAL(from, 256 * MIB + 1);
	CU_ASSERT_FALSE(wh_plan_file_range(&plan, 1, 0, &range));
	for (uint32_t i = 0; i < shards.count; i++)
		for (uint32_t n = 0; wh_plan_range(&plan, i, n, &range); n++, count++) {
			CU_ASSERT_EQUAL(range.shard, i);
			CU_ASSERT(wh_plan_file_range(&plan, range.file, range.k, &same));
			CU_ASSERT_EQUAL(same.from, range.from);
		}
	CU_ASSERT_EQUAL(count, k);
	wh_plan_file_range(&plan, 0, 2, &range);
	wh_plan_range_path(&plan, &range, "state", text);
	CU_ASSERT_STRING_EQUAL(text, "/p/state/f0-2.sums");
	CU_ASSERT_EQUAL(ftruncate(fd, (off_t)(256 * MIB)), 0);
	CU_ASSERT_EQUAL(wh_version_look(path, &version), 0);
	CU_ASSERT(memcmp(&range.version, &version, sizeof(version)) != 0);
	close(fd);
	unlink(path);
	json_decref(plan.json);
	wh_shards_free(&shards);
}

/* What runs comes with the slowest first, and no name is code. */
static void the_page_escapes(void)
{
	json_t *now = json_loads(
		"{\"plan\": \"/p/<b>\", \"site\": \"far\", \"bytes\": 2048, \"bytes_done\": 1024,"
		" \"rate_bps\": 3e9, \"shards\": {\"all\": 4, \"done\": 1, \"waiting\": 1},"
		" \"waits_for\": \"Res&\", \"running\": ["
		"{\"shard\": 1, \"node\": \"fast\", \"rate_bps\": 2e9},"
		"{\"shard\": 2, \"node\": \"slow\", \"rate_bps\": 1e9}],"
		" \"failed\": [{\"shard\": 3, \"given_up\": true, \"error\": \"<script>\"}],"
		" \"nodes\": {\"n<1>\": {\"done\": 7, \"excluded\": false}},"
		" \"verified\": {\"same\": 0, \"shards\": []}}",
		0, NULL);
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(now);
	wh_fleet_page_write(to, now, 7);
	fclose(to);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "content=\"7\""));
	CU_ASSERT(strstr(text, "slow") < strstr(text, "fast"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "Res&amp;"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "&lt;script&gt;"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "n&lt;1&gt;"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "<td>yes</td>"));
	CU_ASSERT_PTR_NULL(strstr(text, "<script>"));
	CU_ASSERT_PTR_NULL(strstr(text, "<b>"));
	CU_ASSERT_PTR_NULL(strstr(text, "Verified"));
	free(text);
	json_decref(now);
}

CU_TestInfo wh_tests[] = {
	{"a large file is divided", a_large_file_is_divided},
	{"any tree", any_tree},
	{"more than can wait", more_than_can_wait},
	{"the plan has ranges and version", the_plan_has_ranges_and_version},
	{"the page escapes", the_page_escapes},
	CU_TEST_INFO_NULL,
};
