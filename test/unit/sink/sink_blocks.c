/* SPDX-License-Identifier: BSD-3-Clause */
/* Of a large file that is there only the blocks go that differ, and it is whole or as it was. */
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "bundle_job.h"
#include "file/blocks.h"
#include "file/purse.h"
#include "free_room.h"

const char wh_suite_name[] = "sink_blocks";

#define BLOCK WH_BLOCK_BYTES_MIN
#define SIZE  (40 * BLOCK + 777)
#define ROOM  (SIZE + 8 * BLOCK)

static uint8_t ours[ROOM], theirs[ROOM];

static uint64_t from_blocks(uint64_t seed, uint8_t *bytes)
{
	struct wh_prng prng;

	wh_prng_init(&prng, seed);
	for (uint64_t at = 0; at < ROOM; at += 8) {
		uint64_t word = wh_prng_u64(&prng);

		memcpy(bytes + at, &word, at + 8 <= ROOM ? 8 : ROOM - at);
	}
	return ROOM;
}

struct pair {
	struct tree from, to;
	char path[96], made[96];
	const char *paths[1];
	struct job job;
};

static struct pair pair;
static uint32_t more_wishes;

static struct purse purses[2]; /* of source and sink */

static void plant(const char *base)
{
	memset(&pair, 0, sizeof(pair));
	for (int i = 0; i < 2; i++)
		purses[i] = (struct purse){.most = UINT64_MAX};
	from_blocks(1, ours);
	memcpy(theirs, ours, sizeof(theirs));
	tree_init(&pair.from, base);
	tree_init(&pair.to, base);
	tree_folder(&pair.from, "from");
	tree_folder(&pair.to, "copy");
	snprintf(pair.path, sizeof(pair.path), "%s/from/.", pair.from.root);
	snprintf(pair.made, sizeof(pair.made), "%s/copy/large", pair.to.root);
	pair.paths[0] = pair.path;
}

static void uproot(void)
{
	tree_free(&pair.from);
	tree_free(&pair.to);
}

static void begin(uint32_t lanes)
{
	const struct wh_keeping keeping = pair.job.keeping;

	memset(&pair.job, 0, sizeof(pair.job));
	pair.job.keeping = keeping;
	pair.job.resume = keeping.resume;
	pair.job.wishes = WH_CHOICE_BLOCKS | more_wishes;
	pair.job.split_bytes_min = lanes > 1 ? BLOCK : 0;
	pair.job.extent_bytes_max = 4 * BLOCK;
	for (int i = 0; i < 2; i++)
		pair.job.accounts[i] = purse_account(&purses[i]);
	open_lanes(&pair.job, lanes, pair.paths, &pair.to);
}

/* Bytes of files that went. */
static uint64_t sent(void)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < pair.job.count; i++)
		bytes += wh_source_progress(pair.job.lanes[i].source)->bytes_read;
	return bytes;
}

static bool has(const uint8_t *bytes, uint64_t count)
{
	static uint8_t found[ROOM + 1];
	int fd = open(pair.made, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, found, sizeof(found));

	if (fd >= 0)
		close(fd);
	return got == (ssize_t)count && memcmp(found, bytes, count) == 0;
}

static bool is_clean(void)
{
	char command[256];

	snprintf(command, sizeof(command), "test \"$(ls -A %s/copy)\" = large", pair.to.root);
	return system(command) == 0;
}

static void flip(uint64_t at)
{
	theirs[at] ^= 0x40;
}

struct change {
	const char *what;
	uint64_t here_bytes;
	uint64_t there_bytes;
	int64_t flip[4]; /* blocks there that are other; -1: no more */
	uint64_t sent_blocks;
	bool skipped;
};

/* The last block is of 777 bytes, if it is one; compared only in files of the same size. */
static const struct change changes[] = {
	{"nothing", SIZE, SIZE, {-1}, 0, true},
	{"one block", SIZE, SIZE, {17, -1}, 1, false},
	{"both ends", SIZE, SIZE, {0, 40, -1}, 2, false},
	{"runs", SIZE, SIZE, {3, 4, 5, 30}, 4, false},
	{"grew, with its last block", SIZE, 20 * BLOCK + 5, {7, -1}, 22, false},
	{"grew by whole blocks", SIZE, 20 * BLOCK, {-1}, 21, false},
	{"shrank", 10 * BLOCK + 99, SIZE, {2, -1}, 2, false},
	{"shrank to blocks", 10 * BLOCK, SIZE, {20, -1}, 0, false},
	{"little of it", SIZE, BLOCK - 1, {-1}, 41, false},
};

static uint64_t bytes_of(const struct change *change)
{
	uint64_t bytes = change->sent_blocks * BLOCK;
	bool last = change->here_bytes % BLOCK != 0 &&
		    (change->there_bytes != change->here_bytes || change->flip[1] == 40);

	return last ? bytes - BLOCK + change->here_bytes % BLOCK : bytes;
}

static void check_change(const char *base, uint32_t lanes, const struct change *change)
{
	struct stat before, after;
	struct wh_totals sum;

	plant(base);
	for (int i = 0; i < 4 && change->flip[i] >= 0; i++)
		flip((uint64_t)change->flip[i] * BLOCK + 76);
	tree_file(&pair.from, "from/large", ours, change->here_bytes);
	tree_file(&pair.to, "copy/large", theirs, change->there_bytes);
	CU_ASSERT_FATAL(link(pair.made, tree_path(&pair.to, "other name")) == 0);
	CU_ASSERT_FATAL(stat(pair.made, &before) == 0);
	begin(lanes);
	run(&pair.job);
	sum = totals(&pair.job);
	CU_ASSERT(sum.files == !change->skipped && sum.skipped == change->skipped);
	CU_ASSERT(sum.failed == 0);
	if (sent() != bytes_of(change))
		printf("\n%s: %lu bytes, not %lu\n", change->what, sent(), bytes_of(change));
	CU_ASSERT(sent() == bytes_of(change));
	CU_ASSERT(change->skipped || change->there_bytes < BLOCK ||
		  sum.resumed_bytes == change->here_bytes - sent());
	if (lanes == 1)
		CU_ASSERT(wh_source_progress(pair.job.lanes[0].source)->digest_known &&
			  wh_sink_progress(pair.job.lanes[0].sink)->digest_known);
	close_job(&pair.job);
	CU_ASSERT(has(ours, change->here_bytes) && is_clean());
	/* The one that was there is no other than before, whatever names it has. */
	CU_ASSERT(stat(tree_path(&pair.to, "other name"), &after) == 0);
	CU_ASSERT(after.st_ino == before.st_ino && after.st_size == before.st_size);
	CU_ASSERT(stat(pair.made, &after) == 0);
	CU_ASSERT((after.st_ino == before.st_ino) == change->skipped);
	uproot();
}

static void test_changes(void)
{
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		check_change("/dev/shm", 1, &changes[i]);
		check_change("/tmp", 1, &changes[i]);
		check_change("/dev/shm", 3, &changes[i]);
	}
}

/* It was compared, so it goes from here, whatever is passed over unread besides. */
static void test_moved(void)
{
	static const uint32_t wishes[] = {
		WH_CHOICE_MOVE, WH_CHOICE_MOVE | WH_CHOICE_UPDATE, WH_CHOICE_UPDATE};
	const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		plant("/dev/shm");
		tree_file(&pair.from, "from/large", ours, SIZE);
		tree_file(&pair.to, "copy/large", theirs, SIZE);
		CU_ASSERT_FATAL(utimensat(AT_FDCWD, pair.made, long_ago, 0) == 0);
		more_wishes = wishes[i];
		begin(1);
		more_wishes = 0;
		run(&pair.job);
		CU_ASSERT(totals(&pair.job).skipped == 1 && sent() == 0);
		close_job(&pair.job);
		CU_ASSERT((access(tree_path(&pair.from, "from/large"), F_OK) == 0) ==
			  ((wishes[i] & WH_CHOICE_MOVE) == 0));
		CU_ASSERT(has(ours, SIZE) && is_clean());
		uproot();
	}
}

/* Lists are paid for, by either end; where one may not have them, the file goes as a whole. */
static void test_charged(void)
{
	static const uint64_t list = 41 * sizeof(struct wh_digest);
	static const struct {
		uint64_t most[2];
		uint64_t peak[2];
		uint64_t sent_bytes;
	} cases[] = {
		{{list, list}, {list, list}, BLOCK},
		{{list - 1, list}, {0, list}, SIZE},
		{{list, list - 1}, {0, 0}, SIZE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		plant("/dev/shm");
		flip(17 * BLOCK);
		tree_file(&pair.from, "from/large", ours, SIZE);
		tree_file(&pair.to, "copy/large", theirs, SIZE);
		for (int end = 0; end < 2; end++)
			purses[end].most = cases[i].most[end];
		begin(1);
		run(&pair.job);
		CU_ASSERT(totals(&pair.job).files == 1 && totals(&pair.job).failed == 0);
		CU_ASSERT(sent() == cases[i].sent_bytes);
		close_job(&pair.job);
		for (int end = 0; end < 2; end++)
			CU_ASSERT(purses[end].peak == cases[i].peak[end] && purses[end].now == 0);
		CU_ASSERT(has(ours, SIZE) && is_clean());
		uproot();
	}
}

/* Several at once, holes among them. */
static void test_many(void)
{
	static const uint64_t hole = 9 * BLOCK;
	char name[32];
	uint64_t bytes = 0;

	plant("/tmp");
	memset(ours + 4 * BLOCK, 0, hole);
	memset(theirs + 6 * BLOCK, 0, hole);
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "from/%d", i);
		tree_file(&pair.from, name, ours, SIZE);
		snprintf(name, sizeof(name), "copy/%d", i);
		tree_file(&pair.to, name, theirs, SIZE);
		flip((uint64_t)i * BLOCK);
	}
	begin(1);
	run(&pair.job);
	CU_ASSERT(totals(&pair.job).files == 12 && totals(&pair.job).failed == 0);
	bytes = sent();
	/* Blocks 4, 5, 13 and 14 differ by their holes, and one more in each file but the first. */
	CU_ASSERT(bytes >= 12 * 4 * BLOCK && bytes <= 12 * (4 + 12) * BLOCK);
	CU_ASSERT(bytes + totals(&pair.job).resumed_bytes == 12 * SIZE);
	close_job(&pair.job);
	snprintf(pair.made, sizeof(pair.made), "%s/copy/.", pair.to.root);
	CU_ASSERT(agree(pair.path, pair.made));
	uproot();
}

/* What has the name and is no file of ours to be read is replaced, or fails, as without blocks. */
static void test_no_basis(void)
{
	plant("/tmp");
	tree_file(&pair.from, "from/large", ours, SIZE);
	tree_file(&pair.to, "elsewhere", ours, SIZE);
	tree_link(&pair.to, "copy/large", "../elsewhere");
	begin(1);
	run(&pair.job);
	CU_ASSERT(totals(&pair.job).files == 1 && sent() == SIZE);
	close_job(&pair.job);
	CU_ASSERT(has(ours, SIZE) && is_clean());
	CU_ASSERT_FATAL(unlink(pair.made) == 0 && mkfifo(pair.made, 0600) == 0);
	begin(1);
	run(&pair.job);
	CU_ASSERT(totals(&pair.job).files == 0 && totals(&pair.job).failed == 1);
	close_job(&pair.job);
	uproot();
}

/* Turns until the sink has told what is there and wants the rest. */
static void run_to_the_list(void)
{
	bool done = false;

	for (uint64_t i = 0; i < POLLS_MAX && !done; i++) {
		wh_sink_poll(pair.job.lanes[0].sink, i * ROUND_TSC);
		if (wh_fifo_count(&pair.job.lanes[0].answered) > 0)
			done = true;
		else
			wh_source_poll(pair.job.lanes[0].source, i * ROUND_TSC);
	}
	CU_ASSERT(done);
}

static void spoil(const char *path, uint64_t at)
{
	struct timespec times[2];
	struct stat status;
	int fd = open(path, O_WRONLY);

	CU_ASSERT_FATAL(fd >= 0 && fstat(fd, &status) == 0);
	CU_ASSERT_FATAL(pwrite(fd, "spoiled", 7, (off_t)at) == 7);
	times[0] = status.st_atim;
	times[1] = status.st_mtim;
	CU_ASSERT_FATAL(futimens(fd, times) == 0);
	close(fd);
}

/* Both ends have the file, which differs in one block. */
static void plant_difference(void)
{
	plant("/tmp");
	flip(3 * BLOCK);
	tree_file(&pair.from, "from/large", ours, SIZE);
	tree_file(&pair.to, "copy/large", theirs, SIZE);
}

/* Where what is there changes once it was told, nothing gets the name that is not whole. */
static void test_changes_there(void)
{
	plant_difference();
	begin(1);
	run_to_the_list();
	spoil(pair.made, 9 * BLOCK); /* and is not to be seen */
	memcpy(theirs + 9 * BLOCK, "spoiled", 7);
	run(&pair.job);
	CU_ASSERT(totals(&pair.job).failed == 1 && totals(&pair.job).files == 0);
	close_job(&pair.job);
	CU_ASSERT(has(theirs, SIZE) && is_clean());
	begin(1);
	run_to_the_list();
	CU_ASSERT_FATAL(truncate(pair.made, 5 * BLOCK) == 0);
	run(&pair.job);
	CU_ASSERT(totals(&pair.job).failed == 1);
	close_job(&pair.job);
	CU_ASSERT(has(theirs, 5 * BLOCK) && is_clean());
	begin(1); /* and the next one brings it */
	run(&pair.job);
	CU_ASSERT(totals(&pair.job).files == 1);
	close_job(&pair.job);
	CU_ASSERT(has(ours, SIZE));
	uproot();
}

/* The source's shrinks between its entry and its comparison. */
static void test_changes_here(void)
{
	plant_difference();
	begin(1);
	run_to_the_list();
	CU_ASSERT_FATAL(truncate(tree_path(&pair.from, "from/large"), 7 * BLOCK) == 0);
	run(&pair.job);
	CU_ASSERT(totals(&pair.job).failed == 1);
	close_job(&pair.job);
	CU_ASSERT(has(theirs, SIZE) && is_clean());
	uproot();
}

/* There seems to be room for the copy, and in the middle of it there is none. */
static bool is_broken(void)
{
	return wh_sink_progress(pair.job.lanes[0].sink)->error == -ENOSPC &&
	       wh_source_progress(pair.job.lanes[0].source)->state == WH_SOURCE_BROKEN;
}

static void test_full_disk(void)
{
	plant("/tmp");
	flip(3 * BLOCK);
	tree_file(&pair.from, "from/large", ours, SIZE);

	const char *there = tree_path(&pair.to, "copy");

	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("none", there, "tmpfs", 0, "size=7m") != 0) {
		printf("skipped: a file system cannot be mounted\n");
	} else {
		/* An open folder is in the namespace that it was opened in. */
		close(pair.to.fd);
		pair.to.fd = open(pair.to.root, O_RDONLY | O_DIRECTORY);
		CU_ASSERT_FATAL(pair.to.fd >= 0);
		tree_file(&pair.to, "copy/large", theirs, SIZE);
		free_room.told = true;
		free_room.blocks = free_room.free_blocks = 1 << 20;
		begin(1);
		for (uint64_t i = 0; i < POLLS_MAX && !is_broken(); i++)
			poll_job(&pair.job, i * ROUND_TSC);
		free_room.told = false;
		CU_ASSERT(is_broken() && totals(&pair.job).files == 0);
		close_job(&pair.job);
		CU_ASSERT(has(theirs, SIZE) && is_clean());
		CU_ASSERT(umount2(there, MNT_DETACH) == 0);
	}
	uproot();
}

static int64_t read_wall(void)
{
	return 1000000;
}

static void say(const char *sentence)
{
	(void)sentence;
}

/* Ends a job after so many turns, as a kill does; whether it was done before. */
static bool kill_after(const struct wh_journal_config *config, uint64_t turns)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		bool done = false;

		wh_journal_open(&pair.job.keeping.journal, config);
		begin(1);
		for (uint64_t i = 0; i < turns && !done; i++) {
			done = poll_job(&pair.job, i * ROUND_TSC * 10000);
			await_background();
		}
		_exit(done);
	}
	CU_ASSERT_FATAL(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	await_locks(&pair.to);
	return WEXITSTATUS(status) == 1;
}

/* Killed anywhere, the next job needs no more than the first would have, and ends right. */
static void check_kill(const char *base, uint64_t turns, bool *done, uint64_t *less)
{
	char database[96];

	plant(base);
	snprintf(database, sizeof(database), "%s/service.db", pair.to.root);

	const struct wh_journal_config config = {
		.path = database, .keep_s = 1000, .wall_s = read_wall, .say = say};

	for (uint64_t block = 1; block < 40; block += 2)
		flip(block * BLOCK);
	tree_file(&pair.from, "from/large", ours, SIZE);
	tree_file(&pair.to, "copy/large", theirs, SIZE);
	pair.job.keeping = (struct wh_keeping){.resume = WH_RESUME_SPARSE, .batch_bytes = BLOCK};
	*done = kill_after(&config, turns);

	bool named = has(ours, SIZE);

	CU_ASSERT(named || (!*done && has(theirs, SIZE)));
	CU_ASSERT_FATAL(wh_journal_open(&pair.job.keeping.journal, &config) == 0);

	struct wh_journal *journal = pair.job.keeping.journal;

	begin(1);
	run(&pair.job);
	CU_ASSERT(totals(&pair.job).failed == 0 && sent() <= 20 * BLOCK);
	*less += sent() < 20 * BLOCK && !*done;
	close_job(&pair.job);
	wh_journal_close(journal);
	/* Killed with its name given, it may leave the folder of parts, in which nothing is. */
	CU_ASSERT(has(ours, SIZE) && (is_clean() || named));
	uproot();
}

static void test_kills(void)
{
	uint64_t less = 0;

	for (int b = 0; b < 2; b++) {
		bool done = false;

		for (uint64_t turns = 5; !done; turns += 1 + turns / 4)
			check_kill(bases[b], turns, &done, &less);
	}
	/* What had come by then counted sometimes. */
	CU_ASSERT(less > 0);
}

CU_TestInfo wh_tests[] = {
	{"what differs goes, and nothing else", test_changes},
	{"what is the same there goes from here, by --move", test_moved},
	{"memory of lists is charged, and given back", test_charged},
	{"many files, and holes", test_many},
	{"what is no file is none to begin with", test_no_basis},
	{"what is there changes meanwhile", test_changes_there},
	{"the source changes meanwhile", test_changes_here},
	{"the disk is full in the middle of the copy", test_full_disk},
	{"killed anywhere, it goes on with what has come", test_kills},
	CU_TEST_INFO_NULL,
};
