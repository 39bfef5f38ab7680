/* SPDX-License-Identifier: BSD-3-Clause */
/* Large files on a disk that misbehaves. */
#include <sched.h>
#include <sys/mount.h>

#include "ring_fault.h"
#include "sink_rig.h"

const char wh_suite_name[] = "sink_faults";

#define BYTES (9 * RIG_CHUNK_BYTES + 4097)

static const char *const disk = "/tmp";

/* Of the file system in /tmp: space cannot be reserved, though holes can be made. */
static bool no_reserving;

int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	if (no_reserving && mode == 0) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, bytes);
}

/* One file, with the disk as ring_fault says, and then another; both must arrive. */
static void expect_written_in(uint32_t extent_bytes, uint32_t zeros)
{
	struct rig *rig = rig_begin(disk);
	uint8_t *content = content_of(BYTES, 7);

	memset(content, 0, zeros);
	rig_send(rig, 1, "file", 0640, content, BYTES, extent_bytes);
	rig_send(rig, 2, "other", 0640, content, BYTES - 1, BYTES);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_holds(rig, "file", content, BYTES) && rig_looks(rig, "file", 0640));
	CU_ASSERT(rig_holds(rig, "other", content, BYTES - 1));
	CU_ASSERT(rig->totals.files == 2 && rig->totals.bytes == 2 * BYTES - 1);
	CU_ASSERT(wh_sink_progress(rig->sink)->bytes == 2 * BYTES - 1);
	CU_ASSERT(ring_fault.times == 0); /* all of them happened */
	rig_free(rig);
	free(content);
	memset(&ring_fault, 0, sizeof(ring_fault));
}

static void expect_written_with(uint32_t zeros)
{
	expect_written_in(4 * RIG_CHUNK_BYTES, zeros);
}

static void expect_written(void)
{
	expect_written_with(0);
}

static void test_short_writes(void)
{
	static const int lengths[] = {1, 4095, 4096, 5000, 65535};

	for (size_t i = 0; i < RIG_COUNT(lengths); i++) {
		/* Less than a block is no progress for O_DIRECT. */
		ring_fault.refuse_direct = lengths[i] < 4096;
		ring_fault.after = (int)i;
		ring_fault.times = 5;
		ring_fault.at_most = lengths[i];
		expect_written();
	}
}

/* Extents that begin and end within blocks, of bytes, of zeros and of both; and short writes. */
static void test_odd_extents(void)
{
	static const uint32_t extents[] = {4095, 4097, RIG_CHUNK_BYTES - 1, 2 * RIG_CHUNK_BYTES + 3,
		5 * RIG_CHUNK_BYTES + 4096 + 1};
	static const int lengths[] = {0, 1, 4095, 4096, 5000};

	for (size_t i = 0; i < RIG_COUNT(extents); i++)
		for (size_t j = 0; j < RIG_COUNT(lengths); j++) {
			expect_written_in(extents[i], j % 2 == 0 ? BYTES / 2 : BYTES);
			if (extents[i] < RIG_CHUNK_BYTES - 1)
				continue;
			ring_fault.refuse_direct = lengths[j] > 0 && lengths[j] < 4096;
			ring_fault.after = (int)j;
			ring_fault.times = lengths[j] > 0 ? 3 : 0;
			ring_fault.at_most = lengths[j];
			expect_written_in(extents[i], 0);
		}
}

static void test_again(void)
{
	ring_fault.times = 7;
	ring_fault.result = -EAGAIN;
	expect_written();
	ring_fault.after = 9;
	ring_fault.times = 1; /* the last chunk, which is padded */
	ring_fault.result = -EINTR;
	expect_written();
}

static void test_no_direct(void)
{
	ring_fault.refuse_direct = true;
	expect_written();
	if (!direct_here(disk))
		return;
	ring_fault.after = 2;
	ring_fault.times = 1;
	ring_fault.result = -EINVAL;
	expect_written();
}

/* All is zeros, and a hole of it not made: asked for again, or, where there are none, written. */
static void test_no_holes(void)
{
	static const int results[] = {-EAGAIN, -EINTR, -EOPNOTSUPP, -EINVAL, -ENOSPC};

	for (size_t i = 0; i < RIG_COUNT(results); i++) {
		ring_fault.after = (int)i;
		ring_fault.times = 1;
		ring_fault.result = results[i];
		expect_written_with(BYTES);
	}
}

/* Nothing but the file's size says where it ends: of a hole, and of a block that was padded. */
static void test_no_reserving(void)
{
	no_reserving = true;
	expect_written_with(BYTES);
	expect_written_with(BYTES - 1);
	expect_written();
	no_reserving = false;
}

/* The file fails, the source is told while it still sends, and the next file is not concerned. */
static void expect_failed(int error)
{
	struct rig *rig = rig_begin(disk);
	uint8_t *content = content_of(BYTES, 7);

	rig_ask(rig, 1, "file", 0640, BYTES);
	rig_await(rig, WH_RECORD_WANT, 1);
	rig_extent(rig, 1, 0, content, 4 * RIG_CHUNK_BYTES);
	rig_await(rig, WH_RECORD_OUTCOME, 1);
	CU_ASSERT(rig_failed(rig, 1, error, WH_DOING_WRITING));
	ring_fault.times = 0; /* chunks that came after the failure were not written */
	rig_extent(rig, 1, 4 * RIG_CHUNK_BYTES, content, 3 * RIG_CHUNK_BYTES);
	rig_file_end(rig, 1, NULL, ECANCELED, WH_DOING_WRITING);
	rig_send(rig, 2, "other", 0640, content, BYTES, BYTES);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_holds(rig, "other", content, BYTES));
	CU_ASSERT(rig_count(rig->root) == 1);
	CU_ASSERT(rig->totals.files == 1 && rig->totals.failed == 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig_result(rig, "file"));
	CU_ASSERT(rig_result(rig, "file")->error == error && !rig_result(rig, "file")->at_peer);
	rig_free(rig);
	free(content);
	memset(&ring_fault, 0, sizeof(ring_fault));
}

static void test_write_fails(void)
{
	for (int after = 0; after < 4; after++) {
		ring_fault.after = after;
		ring_fault.times = 1;
		ring_fault.result = -EIO;
		expect_failed(EIO);
	}
	ring_fault.times = 1;
	ring_fault.result = 0; /* not a byte was taken */
	expect_failed(EIO);
}

/* No file after it would fare better: what is complete gets its name, and the bundle ends. */
static void test_full(void)
{
	static const int errors[] = {ENOSPC, EDQUOT};

	for (int i = 0; i < 8; i++) {
		struct rig *rig = rig_begin(disk);
		uint8_t *content = content_of(BYTES, 7);

		rig_text(rig, 1, "small", "text");
		rig_ask(rig, 2, "file", 0640, BYTES);
		rig_await(rig, WH_RECORD_WANT, 2);
		rig_extent(rig, 2, 0, content, 4 * RIG_CHUNK_BYTES);
		ring_fault.after = i / 2;
		ring_fault.times = 4 - i / 2;
		ring_fault.result = -errors[i % 2];
		rig_flush(rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
		CU_ASSERT(wh_sink_progress(rig->sink)->error == -errors[i % 2]);
		CU_ASSERT(wh_sink_progress(rig->sink)->totals.files == 1);
		CU_ASSERT(rig_failed(rig, 2, errors[i % 2], WH_DOING_WRITING));
		CU_ASSERT(rig_find(rig, WH_RECORD_COMMITTED, 2) != NULL);
		CU_ASSERT(rig_holds_text(rig, "small", "text"));
		rig_free(rig);
		free(content);
		memset(&ring_fault, 0, sizeof(ring_fault));
	}
}

/* Broken or closed with writes in the air: their chunks come back, or the ring lets go of them. */
static void test_in_the_air(void)
{
	for (int polls = 0; polls < 12; polls++) {
		struct rig *rig = rig_begin(disk);
		uint8_t *content = content_of(BYTES, 7);

		rig_ask(rig, 1, "file", 0640, BYTES);
		rig_await(rig, WH_RECORD_WANT, 1);
		rig_extent(rig, 1, 0, content, BYTES);
		for (int i = 0; i < polls; i++)
			rig_poll(rig);
		if (polls % 2 == 0) {
			rig_text(rig, 2, "a lie", "x");
			rig_flush(rig);
			CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
		}
		wh_sink_close(rig->sink);
		rig->sink = NULL;
		CU_ASSERT(rig_count(rig->root) == 0);
		rig_free(rig);
		free(content);
	}
}

/* A file system of its own below the root, in a namespace of this process. */
static bool mount_small(struct rig *rig, const char *options)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("none", rig->root, "tmpfs", 0, options) != 0)
		return false;
	close(rig->root_fd);
	rig->root_fd = open(rig->root, O_PATH | O_DIRECTORY);
	return rig->root_fd >= 0;
}

/*
 * On a disk of 16 chunks: a file of four times as many whose data fit is taken; one of a source
 * that tells of holes, where it has data, ends when there is no room, and nothing else does.
 */
static void test_holes_that_are_none(void)
{
	const uint64_t size = 64 * RIG_CHUNK_BYTES, data = 4 * RIG_CHUNK_BYTES;
	struct rig *rig = rig_new(disk);
	uint8_t *content = content_of(size, 3), *sparse = calloc(1, size);
	struct wh_digest digest = digest_of(content, size);

	if (!mount_small(rig, "size=1m")) {
		printf("skipped: a file system cannot be mounted\n");
	} else {
		memcpy(sparse + 9 * RIG_CHUNK_BYTES, content, data);
		rig_open(rig, "");

		struct wh_digest other = digest_of(sparse, size);

		rig_ask_sparse(rig, 1, "sparse", 0640, size, size - data);
		rig_await(rig, WH_RECORD_WANT, 1);
		rig_extent(rig, 1, 0, sparse, size);
		rig_file_end(rig, 1, &other, 0, 0);
		rig_text(rig, 2, "small", "text");
		rig_ask_sparse(rig, 3, "lies", 0640, size, size - data);
		rig_await(rig, WH_RECORD_WANT, 3);
		rig_extent(rig, 3, 0, content, size);
		rig_file_end(rig, 3, &digest, 0, 0);
		rig_finish(rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
		CU_ASSERT(rig_failed(rig, 3, ENOSPC, WH_DOING_WRITING));
		CU_ASSERT(wh_sink_progress(rig->sink)->totals.files == 2);
		CU_ASSERT(rig_holds(rig, "sparse", sparse, size));
		CU_ASSERT(rig_holds_text(rig, "small", "text") && rig_count(rig->root) == 2);
		umount2(rig->root, MNT_DETACH);
	}
	rig_free(rig);
	free(content);
	free(sparse);
}

CU_TestInfo wh_tests[] = {
	{"short writes", test_short_writes},
	{"odd extents", test_odd_extents},
	{"again", test_again},
	{"no O_DIRECT", test_no_direct},
	{"no holes", test_no_holes},
	{"no reserving", test_no_reserving},
	{"a write fails", test_write_fails},
	{"a full disk", test_full},
	{"writes in the air", test_in_the_air},
	{"holes that are none", test_holes_that_are_none},
	CU_TEST_INFO_NULL,
};
