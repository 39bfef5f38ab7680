/* SPDX-License-Identifier: BSD-3-Clause */

/* Which files a fleet divides, how the plan has their ranges, and the page of its status. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Ranges follow each other from the first byte to the last, each from a whole MiB on. */
static void expect_ranges(const struct wh_shards *shards, uint32_t first, uint32_t count,
	uint64_t bytes, uint64_t least_bytes)
{
	uint64_t from = 0;

	for (uint32_t i = first; i < first + count; i++) {
		const struct wh_shard *shard = &shards->shard[i];

		CU_ASSERT_EQUAL(shard->from, from);
		CU_ASSERT_EQUAL(shard->from % WH_RANGES_ALIGN_BYTES, 0);
		CU_ASSERT_EQUAL(shard->bytes, shard->end - shard->from);
		CU_ASSERT_EQUAL(shard->files, i == first);
		CU_ASSERT(shard->bytes >= least_bytes || i + 1 == first + count);
		from = shard->end;
	}
	CU_ASSERT_EQUAL(from, bytes);
}

static void a_large_file_is_divided(void)
{
	struct wh_shards shards = shards_of(1000, 100 * MIB);

	CU_ASSERT(wh_shards_add(&shards, "/a/./small", 5));
	CU_ASSERT(wh_shards_add(&shards, "/a/./twice", 200 * MIB));
	CU_ASSERT(wh_shards_add(&shards, "/a/./less", 200 * MIB - 1));
	CU_ASSERT(wh_shards_add(&shards, "/a/./ten", 1000 * MIB + 3));
	CU_ASSERT(wh_shards_finish(&shards));
	CU_ASSERT_EQUAL(shards.ranges, 2 + 10);
	CU_ASSERT_EQUAL(shards.sum.files, 4);
	CU_ASSERT_EQUAL(shards.sum.bytes, 5 + 1400 * MIB + 2);
	expect_ranges(&shards, 0, 2, 200 * MIB, 100 * MIB);
	wh_shards_free(&shards);
}

/* Whatever the sizes are: no byte is missing or twice, and ranges are no more than half. */
static void any_tree(void)
{
	struct wh_prng prng;

	wh_prng_init(&prng, 4711);
	for (uint32_t round = 0; round < 200; round++) {
		uint32_t max = 1 + (uint32_t)wh_prng_below(&prng, 40);
		struct wh_shards shards = shards_of(max, 1 + wh_prng_below(&prng, 500 * MIB));
		uint64_t bytes = 0, sum = 0, files = 0;

		for (uint32_t i = 0; i < 60; i++) {
			uint64_t size = wh_prng_below(&prng, MIB << wh_prng_below(&prng, 14));

			CU_ASSERT(wh_shards_add(&shards, "/a/./f", size));
			bytes += size;
		}
		CU_ASSERT(wh_shards_finish(&shards));
		CU_ASSERT(shards.count <= max && shards.ranges <= max / 2);
		for (uint32_t i = 0; i < shards.count; i++) {
			sum += shards.shard[i].bytes;
			files += shards.shard[i].files;
		}
		CU_ASSERT_EQUAL(sum, bytes);
		CU_ASSERT_EQUAL(files, 60);
		CU_ASSERT_EQUAL(shards.sum.bytes, bytes);
		wh_shards_free(&shards);
	}
}

/* The plan says which file it was; what has changed since is another one. */
static void the_plan_has_the_version(void)
{
	struct wh_shards shards = shards_of(100, 64 * MIB);
	struct wh_plan plan = {.json = json_pack("{s:[]}", "shards")};
	char path[] = "/dev/shm/wh_ranges_XXXXXX";
	int fd = mkstemp(path);
	struct wh_shard_version version;
	struct wh_shard range;
	uint32_t first;

	CU_ASSERT_FATAL(fd >= 0 && ftruncate(fd, (off_t)(256 * MIB + 1)) == 0);
	CU_ASSERT_EQUAL(wh_shard_look(path, &version), 0);
	CU_ASSERT(wh_shards_add(&shards, path, 256 * MIB + 1));
	CU_ASSERT(wh_shards_add(&shards, "/a/./f", 1));
	CU_ASSERT(wh_shards_finish(&shards));
	CU_ASSERT_EQUAL(shards.count, 5);
	for (uint32_t i = 0; i < shards.count; i++) {
		shards.shard[i].version = version;
		json_array_append_new(
			json_object_get(plan.json, "shards"), wh_plan_shard_json(&shards.shard[i]));
	}
	for (uint32_t i = 0; i < 5; i++) {
		first = i;
		CU_ASSERT_EQUAL(wh_plan_file_shards(&plan, &first), i < 4 ? 4 : 1);
		CU_ASSERT_EQUAL(first, i < 4 ? 0 : 4);
		CU_ASSERT_EQUAL(wh_plan_range(&plan, i, &range), i < 4);
	}
	wh_plan_range(&plan, 3, &range);
	CU_ASSERT_EQUAL(range.end, 256 * MIB + 1);
	CU_ASSERT(memcmp(&range.version, &version, sizeof(version)) == 0);
	CU_ASSERT_EQUAL(ftruncate(fd, (off_t)(256 * MIB)), 0);
	CU_ASSERT_EQUAL(wh_shard_look(path, &version), 0);
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
	{"the plan has the version", the_plan_has_the_version},
	{"the page escapes", the_page_escapes},
	CU_TEST_INFO_NULL,
};
