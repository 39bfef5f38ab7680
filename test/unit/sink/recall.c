/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink/recall.h"

#include <sched.h>
#include <sys/file.h>

#include "bundle/staging_name.h"
#include "folder_rig.h"

const char wh_suite_name[] = "recall";

#define MIB  (UINT64_C(1) << 20)
#define SIZE (8 * MIB)

static struct folder folder;
static struct wh_keeping keeping;
static struct wh_keeping_file file;

static int64_t wall_s(void)
{
	return 1000;
}

static void say(const char *sentence)
{
	(void)sentence;
	CU_FAIL("nothing is to be said");
}

void wh_set_up(void)
{
	char path[128];
	struct stat status;

	folder = folder_new("/dev/shm");
	snprintf(path, sizeof(path), "%s/service.db", folder.path);

	const struct wh_journal_config config = {
		.path = path, .keep_s = 10, .wall_s = wall_s, .say = say};

	CU_ASSERT_FATAL(wh_journal_open(&keeping.journal, &config) == 0);
	CU_ASSERT_FATAL(mkdirat(folder.fd, WH_PARTS_FOLDER, 0700) == 0);
	CU_ASSERT_FATAL(fstat(folder.fd, &status) == 0);
	keeping.resume = WH_RESUME_ATTRIBUTES;
	file = (struct wh_keeping_file){
		.anchor_fd = folder.fd,
		.target = {.device = status.st_dev,
			.folder = status.st_ino,
			.path = "f",
			.path_bytes = 1},
		.source = {.size_bytes = SIZE, .mtime_s = 3},
	};
}

void wh_take_down(void)
{
	await_background();
	wh_journal_close(keeping.journal);
	folder_free(&folder);
}

static int make_part(uint32_t number)
{
	char name[64];

	snprintf(name, sizeof(name), WH_PARTS_FOLDER "/%u", number);

	int fd = openat(folder.fd, name, O_RDWR | O_CREAT, 0600);

	CU_ASSERT_FATAL(fd >= 0 && ftruncate(fd, SIZE) == 0);
	return fd;
}

static int64_t note(int fd, uint32_t number, uint64_t from, uint64_t to)
{
	struct stat status;
	struct wh_noted noted = {0};
	int rc;

	CU_ASSERT_FATAL(fstat(fd, &status) == 0);

	const struct wh_note wanted = {.fd = fd,
		.lock_fd = -1,
		.part = {.number = number,
			.inode = status.st_ino,
			.spans = 1,
			.span = {{from, to}}}};
	struct wh_noting *noting = wh_noting_begin(&keeping, &file, folder.path, &wanted);

	CU_ASSERT_FATAL(noting != NULL);
	while ((rc = wh_noting_end(noting, &noted)) == -EINPROGRESS)
		sched_yield();
	CU_ASSERT(rc == 0);
	wh_noting_free(noting);
	return noted.row;
}

static struct wh_recalled recall(uint32_t lanes)
{
	struct wh_recall *asked = wh_recall_begin(&keeping, &file, lanes, MIB / 8);
	struct wh_recalled found;
	uint64_t done;

	CU_ASSERT_FATAL(asked != NULL);
	while (wh_recall_end(asked, &found, &done) == -EINPROGRESS)
		sched_yield();
	wh_recall_free(asked);
	return found;
}

/* Whole chunks, and never all of it; each lane what is there of its part. */
static void test_lanes(void)
{
	CU_ASSERT(recall(1).fd == -1);

	int fd = make_part(1);

	CU_ASSERT(note(fd, 1, 0, 5 * MIB + 1000) != 0);
	close(fd);

	struct wh_recalled found = recall(1);

	CU_ASSERT(found.fd >= 0 && !found.changed && found.lane[0].to == 5 * MIB);
	close(found.fd);
	found = recall(4);
	CU_ASSERT(found.lane[0].to == 2 * MIB - MIB / 8 && found.lane[1].to == 4 * MIB - MIB / 8);
	CU_ASSERT(found.lane[2].to == 5 * MIB && found.lane[3].to == 6 * MIB);
	close(found.fd);
}

static void test_no_use(void)
{
	struct wh_recalled found;

	int fd = make_part(1);

	CU_ASSERT(note(fd, 1, 0, 5 * MIB) != 0);
	CU_ASSERT_FATAL(flock(fd, LOCK_EX) == 0);
	found = recall(1);
	CU_ASSERT(found.fd == -1 && found.busy);
	close(fd);
	/* Another file by now: its part goes. */
	file.source.mtime_s++;
	found = recall(1);
	CU_ASSERT(found.fd == -1 && found.changed && !found.busy);
	CU_ASSERT(!folder_has(&folder, WH_PARTS_FOLDER "/1"));
	found = recall(1);
	CU_ASSERT(found.fd == -1 && !found.changed);
	/* One that is shorter than its file, or another inode, is none. */
	fd = make_part(2);
	CU_ASSERT(note(fd, 2, 0, 5 * MIB) != 0);
	CU_ASSERT(ftruncate(fd, MIB) == 0);
	close(fd);
	CU_ASSERT(recall(1).fd == -1);
}

/* Who has not sent it does not find it, and begins beside it. */
static void test_owner(void)
{
	struct wh_recalled found;

	int fd = make_part(1);

	CU_ASSERT(note(fd, 1, 0, 5 * MIB) != 0);
	close(fd);
	keeping.owner.id[0] ^= 1;
	for (int resume = WH_RESUME_ATTRIBUTES; resume < WH_RESUMES; resume++) {
		keeping.resume = (enum wh_resume)resume;
		found = recall(1);
		CU_ASSERT(found.fd == -1 && !found.busy && !found.changed);
	}
	keeping.owner.id[0] ^= 1;
	keeping.resume = WH_RESUME_ATTRIBUTES;
	found = recall(1);
	CU_ASSERT(found.fd >= 0 && found.lane[0].to == 5 * MIB);
	close(found.fd);
}

static void test_proofs(void)
{
	struct wh_recalled sparse, full;

	int fd = make_part(1);

	CU_ASSERT(note(fd, 1, 0, 6 * MIB) != 0);
	close(fd);
	keeping.resume = WH_RESUME_SPARSE;
	sparse = recall(1);
	close(sparse.fd);
	/* Drawn anew each time. */
	full = recall(1);
	close(full.fd);
	CU_ASSERT(sparse.lane[0].seed != full.lane[0].seed);
	CU_ASSERT(memcmp(&sparse.lane[0].digest, &full.lane[0].digest, WH_DIGEST_BYTES) != 0);
	keeping.resume = WH_RESUME_FULL;
	full = recall(1);
	close(full.fd);
	CU_ASSERT(memcmp(&sparse.lane[0].digest, &full.lane[0].digest, WH_DIGEST_BYTES) != 0);
	/* Left alone, the work gives all back. */
	int before = folder_descriptors();

	wh_recall_free(wh_recall_begin(&keeping, &file, 1, MIB));
	await_background();
	CU_ASSERT(folder_descriptors() == before);
}

CU_TestInfo wh_tests[] = {
	{"lanes", test_lanes},
	{"no use", test_no_use},
	{"owner", test_owner},
	{"proofs", test_proofs},
	CU_TEST_INFO_NULL,
};
