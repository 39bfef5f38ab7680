/* SPDX-License-Identifier: BSD-3-Clause */
/* Large files that go by several lanes: whole under their names, or not there at all. */
#include "bundle/waits.h"
#include "bundle_job.h"

const char wh_suite_name[] = "bundle_lanes";

#define MIB   (UINT64_C(1) << 20)
#define LARGE 4

static const uint64_t sizes[LARGE] = {5 * MIB + 1, 4 * MIB, 9 * MIB - 4097, 6 * MIB + 65536};

struct copy {
	struct tree from, to;
	char path[96], made[96];
	const char *paths[1];
	struct wh_prng prng;
	struct job job;
};

static void put_large(const struct copy *copy, int number, struct wh_prng *prng)
{
	static uint64_t words[9 * MIB / sizeof(uint64_t)];
	char name[64];

	for (uint64_t i = 0; i < sizes[number] / sizeof(words[0]) + 1; i++)
		words[i] = wh_prng_u64(prng);
	snprintf(name, sizeof(name), "from/large %d", number);
	tree_file(&copy->from, name, words, sizes[number]);
}

static void plant(struct copy *copy, const char *base, uint64_t seed)
{
	char name[64];

	memset(copy, 0, sizeof(*copy));
	wh_prng_init(&copy->prng, seed);
	tree_init(&copy->from, base);
	tree_init(&copy->to, base);
	tree_folder(&copy->from, "from");
	for (int i = 0; i < LARGE; i++)
		put_large(copy, i, &copy->prng);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "from/%c%d", 'a' + i % 26, i);
		tree_file(&copy->from, name, name, (size_t)i);
	}
	snprintf(copy->path, sizeof(copy->path), "%s/from/.", copy->from.root);
	snprintf(copy->made, sizeof(copy->made), "%s/copy", copy->to.root);
	copy->paths[0] = copy->path;
	tree_folder(&copy->to, "copy");
}

static void uproot(struct copy *copy)
{
	tree_free(&copy->from);
	tree_free(&copy->to);
}

static void begin(struct copy *copy, uint32_t lanes)
{
	memset(&copy->job, 0, sizeof(copy->job));
	copy->job.split_bytes_min = MIB;
	copy->job.prng = &copy->prng;
	open_lanes(&copy->job, lanes, copy->paths, &copy->to);
}

/* Bytes that the lane with the fewest has written. */
static uint64_t least_bytes(const struct job *job)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < job->count; i++) {
		uint64_t bytes = wh_sink_progress(job->lanes[i].sink)->bytes;

		least = bytes < least ? bytes : least;
	}
	return least;
}

static void copy_all(const char *base, uint32_t lanes, uint64_t seed)
{
	static struct copy copy;
	uint64_t bytes = 780;

	for (int i = 0; i < LARGE; i++)
		bytes += sizes[i];
	plant(&copy, base, seed);
	begin(&copy, lanes);
	run(&copy.job);
	CU_ASSERT(totals(&copy.job).files == LARGE + 40 && totals(&copy.job).failed == 0);
	CU_ASSERT(totals(&copy.job).bytes == bytes);
	CU_ASSERT(least_bytes(&copy.job) >= bytes / lanes - LARGE * MIB);
	close_job(&copy.job);
	CU_ASSERT(agree(copy.path, copy.made));

	begin(&copy, lanes);
	run(&copy.job);
	CU_ASSERT(totals(&copy.job).files == 0 && totals(&copy.job).skipped == LARGE + 40);
	CU_ASSERT(totals(&copy.job).bytes == 0);
	close_job(&copy.job);

	/* The same size, and other bytes. */
	put_large(&copy, 2, &copy.prng);
	begin(&copy, lanes);
	run(&copy.job);
	CU_ASSERT(totals(&copy.job).files == 1 && totals(&copy.job).skipped == LARGE + 39);
	CU_ASSERT(least_bytes(&copy.job) >= MIB);
	close_job(&copy.job);
	CU_ASSERT(agree(copy.path, copy.made));
	CU_ASSERT(names_in(&copy.to) == 1);
	uproot(&copy);
}

static void test_copies(void)
{
	for (uint32_t seed = 0; seed < 6; seed++)
		copy_all(seed % 3 == 0 ? "/tmp" : "/dev/shm", 2 + seed % 3, seed);
}

/* Of each large file: whole, or not there; and nothing else is left. */
static void check_whole_or_none(const struct copy *copy)
{
	struct stat status;
	char command[400];

	for (int i = 0; i < LARGE; i++) {
		snprintf(command, sizeof(command), "copy/large %d", i);
		if (fstatat(copy->to.fd, command, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		snprintf(command, sizeof(command), "cmp '%s/large %d' '%s/large %d' >&2",
			copy->path, i, copy->made, i);
		CU_ASSERT(system(command) == 0);
	}
	snprintf(command, sizeof(command), "test -z \"$(find '%s' -name '.wavehaul*')\"",
		copy->to.root);
	CU_ASSERT(system(command) == 0);
}

static bool poll_some(struct job *job, uint64_t polls, uint64_t *turn)
{
	bool done = false;

	for (uint64_t i = 0; i < polls && !done; i++)
		done = poll_job(job, (*turn)++ * ROUND_TSC);
	return done;
}

/* A lane ends at any moment: the others' files are whole, or fail. */
static void lose_a_lane(uint64_t seed)
{
	static struct copy copy;
	uint64_t turn = 0;

	plant(&copy, seed % 4 == 0 ? "/tmp" : "/dev/shm", seed);
	begin(&copy, 3);
	if (!poll_some(&copy.job, wh_prng_below(&copy.prng, 1500), &turn))
		end_lane(&copy.job.lanes[wh_prng_below(&copy.prng, 3)]);
	poll_some(&copy.job, 3000, &turn);
	close_job(&copy.job);
	check_whole_or_none(&copy);
	uproot(&copy);
}

static void test_lost_lane(void)
{
	for (uint64_t seed = 0; seed < 12; seed++)
		lose_a_lane(seed);
}

/* A file changes at any moment: it fails for all, told once, and the rest goes on. */
static void change_a_file(uint64_t seed)
{
	static struct copy copy;
	uint64_t turn = 0;

	plant(&copy, seed % 4 == 0 ? "/tmp" : "/dev/shm", seed);
	begin(&copy, 3);
	if (!poll_some(&copy.job, wh_prng_below(&copy.prng, 800), &turn))
		CU_ASSERT(truncate(tree_path(&copy.from, "from/large 2"), 1000) == 0);
	run(&copy.job);
	CU_ASSERT(totals(&copy.job).failed <= 1);
	CU_ASSERT(totals(&copy.job).failed + totals(&copy.job).files == LARGE + 40);

	bool failed = totals(&copy.job).failed == 1;

	close_job(&copy.job);
	CU_ASSERT(!failed || faccessat(copy.to.fd, "copy/large 2", F_OK, 0) != 0);
	uproot(&copy);
}

static void test_changed_file(void)
{
	for (uint64_t seed = 0; seed < 8; seed++)
		change_a_file(seed);
}

/* A lane that has nothing of its own waits for what others may find. */
static void test_early_lane(void)
{
	static struct copy copy;
	struct lane *early = &copy.job.lanes[1];

	plant(&copy, "/dev/shm", 2);
	begin(&copy, 2);
	for (uint64_t i = 0; i < 5000; i++) {
		wh_source_poll(early->source, i * ROUND_TSC);
		wh_sink_poll(early->sink, i * ROUND_TSC);
	}
	CU_ASSERT(wh_source_progress(early->source)->walked);
	CU_ASSERT(wh_source_progress(early->source)->state == WH_SOURCE_RUNNING);
	CU_ASSERT(wh_source_waits(early->source) == WH_WAITS_SEGMENTS ||
		  wh_source_waits(early->source) == WH_WAITS_ANSWER);
	run(&copy.job);
	CU_ASSERT(least_bytes(&copy.job) > LARGE * MIB);
	CU_ASSERT(totals(&copy.job).files == LARGE + 40);
	close_job(&copy.job);
	CU_ASSERT(agree(copy.path, copy.made));

	/* Where it finds none, it waits for nothing but the others' walks. */
	for (int i = 0; i < LARGE; i++) {
		char name[64];

		snprintf(name, sizeof(name), "from/large %d", i);
		CU_ASSERT(unlinkat(copy.from.fd, name, 0) == 0);
	}
	begin(&copy, 2);
	for (uint64_t i = 0; i < 5000; i++) {
		wh_source_poll(early->source, i * ROUND_TSC);
		wh_sink_poll(early->sink, i * ROUND_TSC);
	}
	CU_ASSERT(wh_source_progress(early->source)->state == WH_SOURCE_RUNNING);
	CU_ASSERT(wh_source_waits(early->source) == WH_WAITS_SEGMENTS);
	run(&copy.job);
	close_job(&copy.job);
	uproot(&copy);
}

/* A folder has the name: the head cannot place it, and the others do not wait for ever. */
static void test_in_the_way(void)
{
	static struct copy copy;

	plant(&copy, "/dev/shm", 1);
	tree_folder(&copy.to, "copy/large 1");
	begin(&copy, 4);
	run(&copy.job);
	CU_ASSERT(totals(&copy.job).failed == 1 && totals(&copy.job).files == LARGE + 39);
	close_job(&copy.job);
	uproot(&copy);
}

/* More than may be under way at once: those beyond go by one lane each. */
static void test_many(void)
{
	static struct copy copy;
	char name[64];

	plant(&copy, "/dev/shm", 1);
	for (int i = 0; i < 3 * WH_SPLITS_MAX; i++) {
		snprintf(name, sizeof(name), "from/many %d", i);
		tree_file(&copy.from, name, "", 0);
		CU_ASSERT(truncate(tree_path(&copy.from, name), 4 * MIB + i) == 0);
	}
	begin(&copy, 4);
	run(&copy.job);
	CU_ASSERT(totals(&copy.job).failed == 0);
	CU_ASSERT(totals(&copy.job).files == LARGE + 40 + 3 * WH_SPLITS_MAX);
	close_job(&copy.job);
	CU_ASSERT(agree(copy.path, copy.made));
	uproot(&copy);
}

static void test_holes(void)
{
	static struct copy copy;
	struct stat status;

	for (int i = 0; i < 2; i++) {
		plant(&copy, bases[i], 3);
		tree_file(&copy.from, "from/hole", "x", 1);
		CU_ASSERT(truncate(tree_path(&copy.from, "from/hole"), 8 * MIB + 3) == 0);
		begin(&copy, 4);
		run(&copy.job);
		close_job(&copy.job);
		CU_ASSERT(agree(copy.path, copy.made));
		CU_ASSERT_FATAL(stat(tree_path(&copy.to, "copy/hole"), &status) == 0);
		CU_ASSERT(status.st_blocks * 512 <= 2 * 65536);
		uproot(&copy);
	}
}

CU_TestInfo wh_tests[] = {
	{"files come whole by all lanes, and are skipped when they are there", test_copies},
	{"holes stay holes", test_holes},
	{"a lane that is through early", test_early_lane},
	{"something is in the way", test_in_the_way},
	{"more files than may be split at once", test_many},
	{"a lane ends at any moment", test_lost_lane},
	{"a file changes at any moment", test_changed_file},
	CU_TEST_INFO_NULL,
};
