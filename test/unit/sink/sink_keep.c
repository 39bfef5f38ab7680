/* SPDX-License-Identifier: BSD-3-Clause */
/* What is durable of a large file is not sent again, whatever ended the job that brought it. */
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "bundle_job.h"
#include "free_room.h"

const char wh_suite_name[] = "sink_keep";

#define MIB          (UINT64_C(1) << 20)
#define SIZE         (9 * MIB + 12345)
#define SIZE_SHORT   (4 * MIB + 12345)
#define BATCH_BYTES  (MIB / 2)
#define EXTENT_BYTES (MIB / 4)

struct copy {
	struct tree from, to;
	char path[96], made[96], database[96];
	const char *paths[1];
	struct job job;
	struct wh_journal *journal;
	enum wh_resume resume;
	uint32_t lanes;
	size_t bytes;
	uint64_t *shared; /* bytes that the first run has written, by lane */
};

static int64_t wall_s;
static char said[512];

static int64_t read_wall(void)
{
	return wall_s;
}

static void say(const char *sentence)
{
	snprintf(said, sizeof(said), "%s", sentence);
}

static void put_file(const struct copy *copy, uint64_t seed)
{
	static uint64_t words[SIZE / sizeof(uint64_t) + 1];
	struct wh_prng prng;

	wh_prng_init(&prng, seed);
	for (size_t i = 0; i <= copy->bytes / sizeof(words[0]); i++)
		words[i] = i / 9000 % 4 == 1 ? 0 : wh_prng_u64(&prng); /* some of it are holes */
	tree_file(&copy->from, "from/large", words, copy->bytes);
}

static void plant_bytes(
	struct copy *copy, const char *base, uint32_t lanes, enum wh_resume resume, size_t bytes)
{
	memset(copy, 0, sizeof(*copy));
	wall_s = 1000000;
	said[0] = '\0';
	copy->lanes = lanes;
	copy->resume = resume;
	copy->bytes = bytes;
	tree_init(&copy->from, base);
	tree_init(&copy->to, base);
	tree_folder(&copy->from, "from");
	put_file(copy, 7);
	snprintf(copy->path, sizeof(copy->path), "%s/from/.", copy->from.root);
	snprintf(copy->made, sizeof(copy->made), "%s/copy/large", copy->to.root);
	snprintf(copy->database, sizeof(copy->database), "%s/service.db", copy->to.root);
	copy->paths[0] = copy->path;
	copy->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	tree_folder(&copy->to, "copy");
}

static void plant(struct copy *copy, const char *base, uint32_t lanes, enum wh_resume resume)
{
	plant_bytes(copy, base, lanes, resume, SIZE);
}

static void uproot(struct copy *copy)
{
	munmap(copy->shared, 4096);
	tree_free(&copy->from);
	tree_free(&copy->to);
}

static void begin(struct copy *copy)
{
	const struct wh_journal_config config = {
		.path = copy->database, .keep_s = 1000, .wall_s = read_wall, .say = say};

	memset(&copy->job, 0, sizeof(copy->job));
	CU_ASSERT_FATAL(wh_journal_open(&copy->journal, &config) == 0);
	copy->job.split_bytes_min = copy->lanes > 1 ? MIB : 0;
	copy->job.resume = copy->resume;
	copy->job.extent_bytes_max = EXTENT_BYTES;
	copy->job.keeping = (struct wh_keeping){
		.journal = copy->journal, .resume = copy->resume, .batch_bytes = BATCH_BYTES};
	open_lanes(&copy->job, copy->lanes, copy->paths, &copy->to);
}

static void finish(struct copy *copy)
{
	close_job(&copy->job);
	wh_journal_close(copy->journal);
}

/*
 * A process that is no more after so many turns, or bytes of the first lane; false: it was done
 * before. Such work is soon over.
 */
static bool killed_after(struct copy *copy, uint64_t turns, uint64_t bytes)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		bool done = false;

		begin(copy);
		for (uint64_t i = 0; i < turns && !done && copy->shared[0] < bytes; i++) {
			done = poll_job(&copy->job, i * ROUND_TSC);
			await_background();
			for (uint32_t l = 0; l < copy->lanes; l++)
				copy->shared[l] = wh_sink_progress(copy->job.lanes[l].sink)->bytes;
		}
		_exit(done ? 1 : 0);
	}
	CU_ASSERT_FATAL(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	await_locks(&copy->to);
	return WEXITSTATUS(status) == 0;
}

static bool is_whole(const struct copy *copy)
{
	char command[256];

	snprintf(command, sizeof(command), "cmp -s %s/from/large %s", copy->from.root, copy->made);
	return system(command) == 0;
}

/* Names beside the file. */
static bool is_clean(const struct copy *copy)
{
	char command[256];

	snprintf(command, sizeof(command), "test \"$(ls -A %s/copy)\" = large", copy->to.root);
	return system(command) == 0;
}

/* The second run: what it had not to be sent again. */
static struct wh_totals run_again(struct copy *copy)
{
	struct wh_totals sum;

	begin(copy);
	run(&copy->job);
	sum = totals(&copy->job);
	CU_ASSERT(sum.files + sum.skipped == 1 && sum.failed == 0 && is_whole(copy));
	finish(copy);
	CU_ASSERT(is_clean(copy));
	CU_ASSERT_STRING_EQUAL(said, "");
	return sum;
}

/*
 * Of what the first run has written of a lane's part: all but a batch, an extent, and what is in
 * the air at once, which may be all chunks but the oldest.
 */
static uint64_t surely_durable(uint64_t written)
{
	const uint64_t lost = BATCH_BYTES + EXTENT_BYTES + (uint64_t)CHUNKS * CHUNK_BYTES;

	return written > lost ? written - lost : 0;
}

/* False: it was done before. */
static bool check_kill(const char *base, uint32_t lanes, uint64_t turns, size_t bytes)
{
	struct copy copy;
	uint64_t least = 0;

	plant_bytes(&copy, base, lanes, turns % 2 == 0 ? WH_RESUME_SPARSE : WH_RESUME_FULL, bytes);

	bool goes = killed_after(&copy, turns, UINT64_MAX);

	for (uint32_t i = 0; goes && i < lanes; i++)
		least += surely_durable(copy.shared[i]);
	if (goes) {
		const struct wh_totals sum = run_again(&copy);

		CU_ASSERT(sum.resumed_bytes >= least || sum.skipped == 1);
		CU_ASSERT(sum.resumed_bytes < bytes && sum.began_again == 0);
		CU_ASSERT(sum.sampled_bytes == (turns % 2 == 0 ? sum.resumed_bytes : 0));
	}
	uproot(&copy);
	return goes;
}

static void test_kills(void)
{
	for (int b = 0; b < 2; b++)
		for (uint32_t lanes = 1; lanes <= 3; lanes += 2)
			for (uint64_t turns = 20; check_kill(bases[b], lanes, turns, SIZE);)
				turns += b == 0 ? 127 : 977;
}

/*
 * After each turn of a short file: before a part has a row, too, it is nobody's once its process is
 * dead.
 */
static void test_early_kills(void)
{
	for (uint32_t lanes = 1; lanes <= 3; lanes += 2)
		for (uint64_t turns = 1;
			turns < 120 && check_kill(bases[0], lanes, turns, SIZE_SHORT);)
			turns++;
}

static void begin_well(struct copy *copy, uint32_t lanes, enum wh_resume resume)
{
	plant(copy, "/dev/shm", lanes, resume);
	CU_ASSERT(killed_after(copy, UINT64_MAX, 5 * MIB / 2));
}

/* The copy's folder becomes a disk of so many MiB, in a namespace of this process. */
static bool mount_small(struct copy *copy, const char *there)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("none", there, "tmpfs", 0, "size=3m") != 0)
		return false;
	/* An open folder is in the namespace that it was opened in. */
	close(copy->to.fd);
	copy->to.fd = open(copy->to.root, O_RDONLY | O_DIRECTORY);
	return copy->to.fd >= 0;
}

/* The disk is found full in the middle of the file: with room the next job goes on from there. */
static void test_full_disk(void)
{
	struct copy copy;

	plant(&copy, "/tmp", 1, WH_RESUME_FULL);

	const char *there = tree_path(&copy.to, "copy");

	if (!mount_small(&copy, there)) {
		printf("skipped: a file system cannot be mounted\n");
		uproot(&copy);
		return;
	}
	free_room.told = true;
	free_room.blocks = free_room.free_blocks = 1 << 20;
	begin(&copy);
	for (uint64_t i = 0; i < POLLS_MAX && wh_source_progress(copy.job.lanes[0].source)->state !=
						      WH_SOURCE_BROKEN;
		i++)
		poll_job(&copy.job, i * ROUND_TSC);
	free_room.told = false;
	CU_ASSERT(wh_sink_progress(copy.job.lanes[0].sink)->error == -ENOSPC);
	CU_ASSERT(wh_source_progress(copy.job.lanes[0].source)->error == -ENOSPC);
	finish(&copy);
	CU_ASSERT(mount(NULL, there, NULL, MS_REMOUNT, "size=64m") == 0);
	CU_ASSERT(run_again(&copy).resumed_bytes >= 2 * MIB);
	CU_ASSERT(umount2(there, MNT_DETACH) == 0);
	uproot(&copy);
}

static void test_off(void)
{
	struct copy copy;

	begin_well(&copy, 1, WH_RESUME_ATTRIBUTES);
	copy.resume = WH_RESUME_OFF;
	begin(&copy);
	run(&copy.job);
	CU_ASSERT(totals(&copy.job).resumed_bytes == 0 && is_whole(&copy));
	finish(&copy);
	uproot(&copy);
}

/* A source that changed, in its bytes or in its times alone, begins again, which is told. */
static void test_changed(void)
{
	struct copy copy;

	begin_well(&copy, 1, WH_RESUME_ATTRIBUTES);
	put_file(&copy, 8);

	const struct wh_totals sum = run_again(&copy);

	CU_ASSERT(sum.resumed_bytes == 0 && sum.began_again == 1);
	uproot(&copy);
}

/* Bytes of a part that are not the source's: 1 MiB from there on. */
static void spoil(const struct copy *copy, uint64_t at)
{
	char command[512];

	snprintf(command, sizeof(command),
		"for f in %s/copy/" WH_PARTS_FOLDER "/*; do head -c 1048576 /dev/urandom | "
		"dd of=$f bs=65536 seek=%u conv=notrunc status=none; done",
		copy->to.root, (unsigned int)(at >> 16));
	CU_ASSERT(system(command) == 0);
}

static void test_spoiled(void)
{
	static const uint32_t lanes[] = {1, 3};
	struct copy copy;

	for (int i = 0; i < 4; i++) {
		begin_well(&copy, lanes[i / 2], i % 2 == 0 ? WH_RESUME_SPARSE : WH_RESUME_FULL);
		spoil(&copy, MIB / 2);

		const struct wh_totals sum = run_again(&copy);

		CU_ASSERT(sum.began_again == 1);
		CU_ASSERT((sum.resumed_bytes == 0) == (lanes[i / 2] == 1));
		uproot(&copy);
	}
}

/* Another peer, whose file is the same by all that it tells, rests on nothing that was there. */
static void test_stranger(void)
{
	struct copy copy;

	for (int resume = WH_RESUME_ATTRIBUTES; resume < WH_RESUMES; resume++) {
		begin_well(&copy, 1, (enum wh_resume)resume);
		spoil(&copy, MIB / 2);
		begin(&copy);
		close_lanes(&copy.job);
		copy.job.keeping.owner.id[0] ^= 1;
		open_lanes(&copy.job, 1, copy.paths, &copy.to);
		run(&copy.job);
		CU_ASSERT(totals(&copy.job).resumed_bytes == 0 && is_whole(&copy));
		CU_ASSERT(totals(&copy.job).began_again == 0);
		finish(&copy);
		uproot(&copy);
	}
}

/* Whoever owns the folder of parts could exchange them: nothing is kept there. */
static void test_others_folder(void)
{
	char parts[128];
	struct copy copy;

	if (geteuid() != 0) {
		printf("skipped: a folder of another user needs root\n");
		return;
	}
	for (uint32_t lanes = 1; lanes <= 3; lanes += 2) {
		plant(&copy, "/dev/shm", lanes, WH_RESUME_ATTRIBUTES);
		snprintf(parts, sizeof(parts), "%s/copy/" WH_PARTS_FOLDER, copy.to.root);
		CU_ASSERT_FATAL(mkdir(parts, 0777) == 0 && chown(parts, 1234, 1234) == 0);
		CU_ASSERT(killed_after(&copy, UINT64_MAX, 5 * MIB / 2));
		CU_ASSERT(rmdir(parts) == 0); /* it is empty */
		CU_ASSERT(run_again(&copy).resumed_bytes == 0);
		uproot(&copy);
	}
}

/* The source believes less than the sink says. */
static void test_stricter_source(void)
{
	struct copy copy;

	begin_well(&copy, 1, WH_RESUME_SPARSE);
	begin(&copy);
	finish(&copy);
	begin(&copy);
	close_lanes(&copy.job);
	copy.job = (struct job){.resume = WH_RESUME_FULL,
		.keeping = {.journal = copy.journal,
			.resume = WH_RESUME_SPARSE,
			.batch_bytes = BATCH_BYTES}};
	open_lanes(&copy.job, 1, copy.paths, &copy.to);
	run(&copy.job);
	CU_ASSERT(totals(&copy.job).resumed_bytes == 0 && is_whole(&copy));
	CU_ASSERT(totals(&copy.job).began_again == 1);
	finish(&copy);
	uproot(&copy);
}

/* Turns of both; false: the other one does not come to its end. A silent one has no source. */
static bool poll_both(struct copy *copy, bool is_silent, struct job *other, uint64_t from)
{
	bool done = false;

	for (uint64_t i = from; i < from + 100000 && !done; i++) {
		if (!is_silent && i % 32 == 0) /* slowly, or it would be done soon */
			poll_job(&copy->job, i * ROUND_TSC);
		for (uint32_t l = 0; is_silent && l < copy->lanes; l++)
			wh_sink_poll(copy->job.lanes[l].sink, i * ROUND_TSC);
		done = poll_job(other, i * ROUND_TSC);
		await_background();
	}
	return done;
}

/*
 * Two at once of the same peer do not share a part: the newer one goes on with it, from where the
 * older one is, whether that still has a source or not.
 */
static void check_two_at_once(uint32_t lanes, bool is_silent)
{
	struct copy copy;
	struct job *other = calloc(1, sizeof(*other));
	uint64_t turns = 0;

	begin_well(&copy, lanes, WH_RESUME_SPARSE);
	begin(&copy);
	while (wh_sink_progress(copy.job.lanes[0].sink)->bytes < MIB / 4) {
		poll_job(&copy.job, turns++ * ROUND_TSC);
		await_background();
	}
	other->keeping = copy.job.keeping;
	other->resume = copy.resume;
	other->split_bytes_min = copy.job.split_bytes_min;
	other->extent_bytes_max = EXTENT_BYTES;
	open_lanes(other, lanes, copy.paths, &copy.to);
	CU_ASSERT(poll_both(&copy, is_silent, other, turns));
	CU_ASSERT(totals(other).resumed_bytes > MIB && is_whole(&copy));
	CU_ASSERT(totals(other).files == 1 && totals(other).failed == 0);
	CU_ASSERT(totals(&copy.job).files == 0);
	close_job(other);
	finish(&copy);
	CU_ASSERT(is_clean(&copy));
	free(other);
	uproot(&copy);
}

static void test_two_at_once(void)
{
	check_two_at_once(1, false);
	check_two_at_once(1, true);
	check_two_at_once(3, false);
	check_two_at_once(3, true);
}

/* Too old: it goes when a journal is opened. */
static void test_expired(void)
{
	struct copy copy;

	begin_well(&copy, 1, WH_RESUME_SPARSE);
	wall_s += 1001;

	const struct wh_totals sum = run_again(&copy);

	CU_ASSERT(sum.resumed_bytes == 0 && sum.began_again == 0);
	uproot(&copy);
}

CU_TestInfo wh_tests[] = {
	{"kills", test_kills},
	{"early kills", test_early_kills},
	{"a full disk", test_full_disk},
	{"off", test_off},
	{"changed", test_changed},
	{"spoiled", test_spoiled},
	{"stranger", test_stranger},
	{"others' folder", test_others_folder},
	{"stricter source", test_stricter_source},
	{"two at once", test_two_at_once},
	{"expired", test_expired},
	CU_TEST_INFO_NULL,
};
