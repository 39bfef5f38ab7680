/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of which each range comes by a job of its own gets its name with the last one. */
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "bundle_job.h"

const char wh_suite_name[] = "sink_join";

#define MIB    (UINT64_C(1) << 20)
#define SIZE   (9 * MIB + 12345)
#define RANGES 3

static const struct wh_segment ranges[RANGES] = {{0, 4 * MIB}, {4 * MIB, 5 * MIB}, {5 * MIB, SIZE}};

static const char *const words_of_jobs[] = {"0123456789abcdef", "fedcba9876543210"};

static int owners; /* each job has a key of its own */

struct copy {
	struct tree from, to;
	char path[96], made[96];
	const char *paths[1];
	enum wh_resume resume;
	const char *word;
	struct job job[2]; /* two receivers of one file system */
	uint64_t *written; /* by a job that is killed */
};

static void plant(struct copy *copy, const char *base)
{
	static uint64_t words[SIZE / sizeof(uint64_t) + 1];
	struct wh_prng prng;

	memset(copy, 0, sizeof(*copy));
	copy->resume = WH_RESUME_SPARSE;
	copy->word = words_of_jobs[0];
	tree_init(&copy->from, base);
	tree_init(&copy->to, base);
	tree_folder(&copy->from, "from");
	tree_folder(&copy->to, "copy");
	wh_prng_init(&prng, 7);
	for (size_t i = 0; i <= SIZE / sizeof(words[0]); i++)
		words[i] = i / 9000 % 4 == 1 ? 0 : wh_prng_u64(&prng); /* some of it are holes */
	tree_file(&copy->from, "from/large", words, SIZE);
	snprintf(copy->path, sizeof(copy->path), "%s/from/.", copy->from.root);
	snprintf(copy->made, sizeof(copy->made), "%s/copy/large", copy->to.root);
	copy->paths[0] = copy->path;
	copy->written = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void uproot(struct copy *copy)
{
	munmap(copy->written, 4096);
	tree_free(&copy->from);
	tree_free(&copy->to);
}

static void begin(struct copy *copy, uint32_t i, const struct wh_segment *range)
{
	struct job *job = &copy->job[i];

	memset(job, 0, sizeof(*job));
	job->resume = copy->resume;
	job->keeping = (struct wh_keeping){
		.resume = copy->resume, .batch_bytes = MIB / 2, .owner.id = {(uint8_t)owners++}};
	job->extent_bytes_max = MIB / 4;
	job->join = copy->word;
	job->range = *range;
	open_lanes(job, 1, copy->paths, &copy->to);
}

/* What became of it: a letter for kept, done, skipped or failed. */
static char end(struct copy *copy, uint32_t i)
{
	const struct lane lane = copy->job[i].lanes[0];

	close_job(&copy->job[i]);
	return lane.kept[1] > 0 ? 'k' : lane.told[1] > 0 ? 'd' : lane.skipped[1] > 0 ? 's' : 'f';
}

static char bring(struct copy *copy, const struct wh_segment *range)
{
	begin(copy, 0, range);
	run(&copy->job[0]);
	return end(copy, 0);
}

static bool is_whole(const struct copy *copy)
{
	char command[512];

	snprintf(command, sizeof(command),
		"cmp -s %s/from/large %s && test $(stat -c %%Y%%a %s/from/large) = $(stat -c "
		"%%Y%%a "
		"%s)",
		copy->from.root, copy->made, copy->from.root, copy->made);
	return system(command) == 0;
}

static bool is_there(const struct copy *copy)
{
	return access(copy->made, F_OK) == 0;
}

/* The file and no more: neither parts nor notes. */
static bool is_alone(const struct copy *copy)
{
	char command[256];

	snprintf(command, sizeof(command), "test \"$(ls -A %s/copy)\" = large", copy->to.root);
	return system(command) == 0;
}

static void the_last_range_gives_the_name(void)
{
	static const uint8_t orders[][RANGES] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};

	for (size_t i = 0; i < 2 * sizeof(orders) / sizeof(orders[0]); i++) {
		const uint8_t *order = orders[i / 2];
		struct copy copy;

		plant(&copy, bases[i % 2]);
		copy.resume = i < 3 ? WH_RESUME_SPARSE : WH_RESUME_OFF;
		CU_ASSERT_EQUAL(bring(&copy, &ranges[order[0]]), 'k');
		CU_ASSERT_EQUAL(bring(&copy, &ranges[order[1]]), 'k');
		CU_ASSERT_FALSE(is_there(&copy));
		CU_ASSERT_EQUAL(bring(&copy, &ranges[order[2]]), 'd');
		CU_ASSERT(is_whole(&copy));
		CU_ASSERT(is_alone(&copy));
		CU_ASSERT_EQUAL(bring(&copy, &ranges[order[1]]), 's');
		uproot(&copy);
	}
}

/* What each job says is of its range. */
static void bytes_are_those_of_the_range(void)
{
	struct copy copy;

	plant(&copy, "/tmp");
	begin(&copy, 0, &ranges[1]);
	run(&copy.job[0]);
	CU_ASSERT_EQUAL(wh_source_progress(copy.job[0].lanes[0].source)->bytes_found, MIB);
	CU_ASSERT_EQUAL(wh_sink_progress(copy.job[0].lanes[0].sink)->bytes_found, MIB);
	CU_ASSERT_EQUAL(totals(&copy.job[0]).bytes, MIB);
	CU_ASSERT_EQUAL(end(&copy, 0), 'k');
	uproot(&copy);
}

/* Two that end at the same moment: one of both gives the name. */
static void two_come_at_once(void)
{
	for (uint64_t seed = 0; seed < 16; seed++) {
		struct wh_prng prng[2];
		struct copy copy;
		bool done = false;
		char told[3] = "";

		plant(&copy, bases[seed % 2]);
		CU_ASSERT_EQUAL(bring(&copy, &ranges[1]), 'k');
		for (uint32_t i = 0; i < 2; i++) {
			wh_prng_init(&prng[i], 2 * seed + i);
			begin(&copy, i, &ranges[2 * i]);
			copy.job[i].prng = seed % 4 < 2 ? &prng[i] : NULL;
		}
		for (uint64_t i = 0; i < POLLS_MAX && !done; i++) {
			done = poll_job(&copy.job[0], i * ROUND_TSC);
			done &= poll_job(&copy.job[1], i * ROUND_TSC);
			await_background(); /* here time is virtual */
		}
		CU_ASSERT(done);
		told[0] = end(&copy, 0);
		told[1] = end(&copy, 1);
		CU_ASSERT(strcmp(told, "kd") == 0 || strcmp(told, "dk") == 0);
		CU_ASSERT(is_whole(&copy));
		CU_ASSERT(is_alone(&copy));
		uproot(&copy);
	}
}

/* A process that is no more after so many turns; false: it was done before. */
static bool is_killed_after(struct copy *copy, const struct wh_segment *range, uint64_t turns)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		bool done = false;

		begin(copy, 0, range);
		for (uint64_t i = 0; i < turns && !done; i++) {
			done = poll_job(&copy->job[0], i * ROUND_TSC);
			await_background();
			*copy->written = wh_sink_progress(copy->job[0].lanes[0].sink)->bytes;
		}
		_exit(done ? 1 : 0);
	}
	CU_ASSERT_FATAL(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	await_locks(&copy->to);
	return WEXITSTATUS(status) == 0;
}

/* Whenever a receiver dies, another one goes on, and the file becomes whole. */
static void a_receiver_may_die(void)
{
	bool resumed = false;

	for (uint64_t turns = 3, first = 0; turns < 4000; turns += 1 + turns / 5) {
		struct copy copy;
		uint64_t missing = 2, bytes;

		plant(&copy, bases[turns % 2]);
		CU_ASSERT_EQUAL(bring(&copy, &ranges[first % RANGES]), 'k');
		CU_ASSERT_EQUAL(bring(&copy, &ranges[(first + 1) % RANGES]), 'k');
		if (is_killed_after(&copy, &ranges[(first + missing) % RANGES], turns)) {
			bool was_there = is_there(&copy);

			begin(&copy, 0, &ranges[(first + missing) % RANGES]);
			run(&copy.job[0]);
			bytes = totals(&copy.job[0]).resumed_bytes;
			resumed |= bytes > 0;
			CU_ASSERT(bytes <= *copy.written);
			CU_ASSERT_EQUAL(end(&copy, 0), was_there ? 's' : 'd');
		}
		CU_ASSERT(is_whole(&copy));
		uproot(&copy);
		first++;
	}
	CU_ASSERT(resumed);
}

/*
 * A job whose peer is gone has the part for long. Another one brings its range, whole, and gives
 * the file its name all the same.
 */
static void a_silent_job_lets_go(void)
{
	for (uint64_t some = 1; some < 3 * MIB; some += MIB) {
		struct copy copy;
		bool done = false;
		uint64_t i;

		plant(&copy, "/tmp");
		CU_ASSERT_EQUAL(bring(&copy, &ranges[1]), 'k');
		CU_ASSERT_EQUAL(bring(&copy, &ranges[2]), 'k');
		begin(&copy, 1, &ranges[0]);
		for (i = 0; wh_sink_progress(copy.job[1].lanes[0].sink)->bytes < some; i++)
			poll_job(&copy.job[1], i * ROUND_TSC);
		wh_source_close(copy.job[1].lanes[0].source);
		copy.job[1].lanes[0].source = NULL;
		begin(&copy, 0, &ranges[0]);
		for (; i < 50 * POLLS_MAX && !done; i++) {
			wh_sink_poll(copy.job[1].lanes[0].sink, i * ROUND_TSC);
			done = poll_job(&copy.job[0], i * ROUND_TSC);
			await_background();
		}
		CU_ASSERT(done);
		CU_ASSERT_EQUAL(end(&copy, 0), 'd');
		CU_ASSERT(is_whole(&copy));
		end(&copy, 1);
		uproot(&copy);
	}
}

/* Ranges with another word, or of an older version, do not go in. */
static void ranges_of_different_files_stay_apart(void)
{
	struct copy copy;
	char command[200];

	plant(&copy, "/tmp");
	CU_ASSERT_EQUAL(bring(&copy, &ranges[0]), 'k');
	CU_ASSERT_EQUAL(bring(&copy, &ranges[1]), 'k');
	copy.word = words_of_jobs[1];
	CU_ASSERT_EQUAL(bring(&copy, &ranges[2]), 'k');
	copy.word = words_of_jobs[0];
	snprintf(command, sizeof(command), "touch -d '1 hour ago' %s/from/large", copy.from.root);
	CU_ASSERT_EQUAL(system(command), 0);
	CU_ASSERT_EQUAL(bring(&copy, &ranges[2]), 'k');
	CU_ASSERT_FALSE(is_there(&copy));
	CU_ASSERT_EQUAL(bring(&copy, &ranges[0]), 'k');
	CU_ASSERT_EQUAL(bring(&copy, &ranges[1]), 'd');
	CU_ASSERT(is_whole(&copy));
	uproot(&copy);
}

/* The part is gone: somebody has cleaned up. Everything has to come again. */
static void a_part_that_is_gone_is_begun_anew(void)
{
	struct copy copy;
	char command[200];

	plant(&copy, "/tmp");
	CU_ASSERT_EQUAL(bring(&copy, &ranges[0]), 'k');
	CU_ASSERT_EQUAL(bring(&copy, &ranges[1]), 'k');
	snprintf(command, sizeof(command), "find %s/copy -type f ! -name '*.ranges' -delete",
		copy.to.root);
	CU_ASSERT_EQUAL(system(command), 0);
	CU_ASSERT_EQUAL(bring(&copy, &ranges[2]), 'k');
	CU_ASSERT_EQUAL(bring(&copy, &ranges[0]), 'k');
	CU_ASSERT_EQUAL(bring(&copy, &ranges[1]), 'd');
	CU_ASSERT(is_whole(&copy));
	uproot(&copy);
}

/* A file of that name that is another one is replaced as a whole. */
static void an_existing_file_is_replaced(void)
{
	static const char old[SIZE];
	struct copy copy;
	char command[200];

	plant(&copy, "/tmp");
	tree_file(&copy.to, "copy/large", old, SIZE);
	snprintf(command, sizeof(command), "touch -d '1 hour ago' %s", copy.made);
	CU_ASSERT_EQUAL(system(command), 0);
	for (uint32_t i = 0; i < RANGES; i++) {
		CU_ASSERT_FALSE(is_whole(&copy));
		CU_ASSERT_EQUAL(bring(&copy, &ranges[i]), i + 1 < RANGES ? 'k' : 'd');
	}
	CU_ASSERT(is_whole(&copy));
	CU_ASSERT(is_alone(&copy));
	uproot(&copy);
}

/* A peer may ask for any range. */
static void an_impossible_range_fails(void)
{
	static const struct wh_segment wrong[] = {{17, 4 * MIB}, {MIB / 2, SIZE}};
	static const struct wh_segment beyond = {10 * MIB, 11 * MIB};
	struct copy copy;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		plant(&copy, "/tmp");
		CU_ASSERT_EQUAL(bring(&copy, &wrong[i]), 'f');
		CU_ASSERT_FALSE(is_there(&copy));
		uproot(&copy);
	}
	plant(&copy, "/tmp");
	CU_ASSERT_EQUAL(bring(&copy, &beyond), 'f');
	uproot(&copy);
}

/* The limit of what a peer may leave here is one for its file, too. */
static void a_peer_has_a_limit(void)
{
	struct copy copy;

	plant(&copy, "/tmp");
	for (int i = 0; i < 2; i++) {
		memset(&copy.job[0], 0, sizeof(copy.job[0]));
		copy.job[0].keeping.owner.bytes_max = i == 0 ? SIZE - 1 : SIZE;
		copy.job[0].join = copy.word;
		copy.job[0].range = ranges[0];
		open_lanes(&copy.job[0], 1, copy.paths, &copy.to);
		for (uint64_t k = 0; k < POLLS_MAX && !poll_job(&copy.job[0], k * ROUND_TSC); k++)
			if (wh_sink_progress(copy.job[0].lanes[0].sink)->state == WH_SINK_BROKEN)
				break;
		CU_ASSERT_EQUAL(end(&copy, 0), i == 0 ? 'f' : 'k');
	}
	uproot(&copy);
}

CU_TestInfo wh_tests[] = {
	{"the last range gives the name", the_last_range_gives_the_name},
	{"bytes are those of the range", bytes_are_those_of_the_range},
	{"two come at once", two_come_at_once},
	{"a receiver may die", a_receiver_may_die},
	{"a silent job lets go", a_silent_job_lets_go},
	{"ranges of different files stay apart", ranges_of_different_files_stay_apart},
	{"a part that is gone is begun anew", a_part_that_is_gone_is_begun_anew},
	{"an existing file is replaced", an_existing_file_is_replaced},
	{"an impossible range fails", an_impossible_range_fails},
	{"a peer has a limit", a_peer_has_a_limit},
	CU_TEST_INFO_NULL,
};
