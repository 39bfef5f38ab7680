/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring_fault.h"
#include "store_rig.h"

const char wh_suite_name[] = "file_reader";

/* What came out of `ready`, put together again. */
struct received {
	uint8_t *bytes;
	uint64_t count;
	uint64_t chunks;
	bool end;
	uint64_t end_number;
	struct wh_digest end_digest;
};

static struct wh_reader *open_reader(struct rig *rig, const char *name, uint32_t chunks)
{
	struct wh_reader *reader = NULL;
	char path[PATH_MAX];

	rig_path(rig, name, path);
	for (uint32_t i = 0; i < chunks; i++)
		CU_ASSERT_FATAL(wh_fifo_push(&rig->in, &rig->chunks[i]));
	CU_ASSERT_FATAL(
		wh_file_reader_open(&reader, path, rig->chunk_bytes, &rig->in, &rig->out) == 0);
	return reader;
}

static void receive(struct rig *rig, struct received *received, uint64_t room)
{
	for (struct wh_chunk *chunk; (chunk = wh_fifo_pop(&rig->out)) != NULL;) {
		CU_ASSERT_FATAL(!received->end);
		if (chunk->end) {
			received->end = true;
			received->end_number = chunk->number;
			received->end_digest = chunk->digest;
			CU_ASSERT(chunk->bytes == 0);
			return;
		}
		CU_ASSERT_FATAL(chunk->number == received->chunks);
		CU_ASSERT_FATAL(received->count + chunk->bytes <= room);
		memcpy(received->bytes + received->count, chunk->data, chunk->bytes);
		received->count += chunk->bytes;
		received->chunks++;
		memset(chunk->data, 0xa5, rig->chunk_bytes);
		CU_ASSERT_FATAL(wh_fifo_push(&rig->in, chunk));
	}
}

/* Polls to the end; `out` of the rig is emptied at every `drain_every`th poll only. */
static void run(struct rig *rig, struct wh_reader *reader, struct received *received, uint64_t room,
	int drain_every)
{
	for (int i = 1; i < RIG_POLLS_MAX && !received->end; i++) {
		wh_reader_poll(reader, 0);
		if (i % drain_every == 0)
			receive(rig, received, room);
		if (atomic_load(&reader->done) == WH_STORE_FAILED)
			break;
		sched_yield();
	}
	receive(rig, received, room);
}

/* Reads `name` with `chunks` chunks and compares everything with `content`. */
static void expect_content(struct rig *rig, const char *name, const uint8_t *content,
	uint64_t bytes, uint32_t chunks, int drain_every)
{
	struct wh_reader *reader = open_reader(rig, name, chunks);
	struct received received = {.bytes = malloc(bytes + 1)};
	struct wh_digest digest = rig_digest(content, bytes);
	uint64_t count = (bytes + rig->chunk_bytes - 1) / rig->chunk_bytes;

	CU_ASSERT(reader->object_bytes == bytes);
	run(rig, reader, &received, bytes, drain_every);
	CU_ASSERT(atomic_load(&reader->done) == WH_STORE_OK);
	CU_ASSERT(received.end && received.end_number == count);
	CU_ASSERT(received.chunks == count && received.count == bytes);
	CU_ASSERT(memcmp(received.bytes, content, bytes) == 0);
	CU_ASSERT(memcmp(&received.end_digest, &digest, sizeof(digest)) == 0);
	CU_ASSERT(memcmp(&reader->digest, &digest, sizeof(digest)) == 0);
	CU_ASSERT(reader->bytes == bytes);
	CU_ASSERT(wh_reader_poll(reader, 0) == 0);
	CU_ASSERT(wh_fifo_count(&rig->out) == 0);
	wh_reader_close(reader);
	free(received.bytes);
	while (wh_fifo_pop(&rig->in) != NULL)
		;
}

static void test_sizes(void)
{
	for (size_t c = 0; c < RIG_COUNT(rig_chunk_bytes); c++) {
		const uint64_t sizes[] = RIG_SIZES((uint64_t)rig_chunk_bytes[c]);
		struct rig rig;

		rig_init(&rig, rig_chunk_bytes[c], 16, 16);
		for (size_t s = 0; s < RIG_COUNT(sizes); s++) {
			uint8_t *content = rig_content(sizes[s], s);

			rig_write_file(&rig, "object", content, sizes[s]);
			expect_content(&rig, "object", content, sizes[s], 16, 1);
			free(content);
		}
		rig_free(&rig);
	}
}

static void test_back_pressure(void)
{
	static const struct {
		uint32_t out;
		uint32_t chunks;
		int drain_every;
	} cases[] = {{1, 1, 1}, {1, 3, 50}, {2, 2, 7}, {2, 16, 100}, {16, 1, 1}, {16, 16, 1000}};
	const uint64_t bytes = 20 * 65536 + 5;
	uint8_t *content = rig_content(bytes, 3);

	for (size_t i = 0; i < RIG_COUNT(cases); i++) {
		struct rig rig;

		rig_init(&rig, 65536, cases[i].chunks, cases[i].out);
		rig_write_file(&rig, "object", content, bytes);
		expect_content(
			&rig, "object", content, bytes, cases[i].chunks, cases[i].drain_every);
		rig_free(&rig);
	}
	free(content);
}

/* The end marker too waits for room. */
static void test_end_marker_waits(void)
{
	struct rig rig;
	uint8_t *content = rig_content(100, 4);

	rig_init(&rig, 65536, 2, 1);
	rig_write_file(&rig, "object", content, 100);

	struct wh_reader *reader = open_reader(&rig, "object", 2);

	for (int i = 0; i < RIG_POLLS_MAX && wh_fifo_count(&rig.out) == 0; i++)
		wh_reader_poll(reader, 0);
	for (int i = 0; i < 100; i++)
		wh_reader_poll(reader, 0);
	CU_ASSERT(atomic_load(&reader->done) == WH_STORE_RUNNING);

	struct wh_chunk *chunk = wh_fifo_pop(&rig.out);

	CU_ASSERT_FATAL(chunk != NULL);
	CU_ASSERT(!chunk->end && chunk->bytes == 100);
	CU_ASSERT(wh_reader_poll(reader, 0) > 0);
	CU_ASSERT(atomic_load(&reader->done) == WH_STORE_OK);
	chunk = wh_fifo_pop(&rig.out);
	CU_ASSERT_FATAL(chunk != NULL);
	CU_ASSERT(chunk->end && chunk->number == 1);
	wh_reader_close(reader);
	rig_free(&rig);
	free(content);
}

/* Data at 0, in the middle of a chunk, and at the very end; the rest holes. */
static void test_holes(void)
{
	static const uint64_t data_at[] = {0, 5 * 65536 + 8192, 39 * 65536 + 60000};
	const uint64_t bytes = 40 * 65536;
	struct rig rig;
	uint8_t *content = calloc(1, bytes);
	char path[PATH_MAX];

	rig_init(&rig, 65536, 16, 16);
	rig_path(&rig, "object", path);

	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	CU_ASSERT_FATAL(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
	for (size_t i = 0; i < RIG_COUNT(data_at); i++) {
		memset(content + data_at[i], 0x77, 3000);
		CU_ASSERT_FATAL(pwrite(fd, content + data_at[i], 3000, (off_t)data_at[i]) == 3000);
	}
	CU_ASSERT_FATAL(fsync(fd) == 0 && close(fd) == 0);
	expect_content(&rig, "object", content, bytes, 16, 1);

	/* Nothing but a hole. */
	memset(content, 0, bytes);
	CU_ASSERT_FATAL(truncate(path, 0) == 0 && truncate(path, 12345) == 0);
	expect_content(&rig, "object", content, 12345, 16, 1);
	rig_free(&rig);
	free(content);
}

static void test_refused(void)
{
	struct rig rig;
	struct wh_reader *reader = NULL;
	char path[PATH_MAX];

	rig_init(&rig, 65536, 1, 1);
	rig_path(&rig, "missing", path);
	CU_ASSERT(wh_file_reader_open(&reader, path, 65536, &rig.in, &rig.out) == -ENOENT);
	CU_ASSERT(wh_file_reader_open(&reader, rig.folder, 65536, &rig.in, &rig.out) == -EISDIR);
	CU_ASSERT(wh_file_reader_open(&reader, "/dev/zero", 65536, &rig.in, &rig.out) == -EINVAL);
	rig_path(&rig, "pipe", path);
	CU_ASSERT_FATAL(mkfifo(path, 0644) == 0);
	CU_ASSERT(wh_file_reader_open(&reader, path, 65536, &rig.in, &rig.out) == -EINVAL);
	rig_path(&rig, "unreadable", path);
	rig_write_file(&rig, "unreadable", (const uint8_t *)"x", 1);
	CU_ASSERT_FATAL(chmod(path, 0) == 0);
	if (geteuid() != 0) /* root reads everything */
		CU_ASSERT(wh_file_reader_open(&reader, path, 65536, &rig.in, &rig.out) == -EACCES);
	CU_ASSERT(reader == NULL);
	wh_reader_close(NULL);
	rig_free(&rig);
}

/* One chunk at a time, so that the reader cannot have read the whole file before it shrinks. */
static void shrink(uint64_t bytes, uint64_t left_bytes, bool hole)
{
	struct rig rig;
	uint8_t *content = rig_content(bytes, 5);
	char path[PATH_MAX];

	rig_init(&rig, 65536, 1, 1);
	rig_path(&rig, "object", path);
	rig_write_file(&rig, "object", content, hole ? 0 : bytes);
	CU_ASSERT_FATAL(truncate(path, (off_t)bytes) == 0);

	struct wh_reader *reader = open_reader(&rig, "object", 1);
	struct received received = {.bytes = malloc(bytes)};

	for (int i = 0; i < RIG_POLLS_MAX && received.chunks == 0; i++) {
		wh_reader_poll(reader, 0);
		receive(&rig, &received, bytes);
	}
	CU_ASSERT_FATAL(truncate(path, (off_t)left_bytes) == 0);
	run(&rig, reader, &received, bytes, 1);
	CU_ASSERT(atomic_load(&reader->done) == WH_STORE_FAILED);
	CU_ASSERT(reader->error == -EIO);
	CU_ASSERT_STRING_EQUAL(reader->doing, "reading (the file has shrunk)");
	CU_ASSERT(!received.end);
	wh_reader_close(reader);
	free(received.bytes);
	rig_free(&rig);
	free(content);
}

static void test_shrinking_file(void)
{
	shrink(8 * 65536, 4 * 65536, false);
	shrink(8 * 65536, 4 * 65536 + 1, false);
	shrink(8 * 65536, 4 * 65536 + 4097, false);
	shrink(8 * 65536, 0, false);
	shrink(8 * 65536, 4 * 65536, true);
	shrink(8 * 65536 + 4097, 8 * 65536 + 4096, false);
}

static void test_growing_file(void)
{
	struct rig rig;
	uint8_t *content = rig_content(65536 + 4096, 6);
	char path[PATH_MAX];

	rig_init(&rig, 65536, 1, 1);
	rig_path(&rig, "object", path);
	rig_write_file(&rig, "object", content, 65536 + 100);

	struct wh_reader *reader = open_reader(&rig, "object", 1);
	struct received received = {.bytes = malloc(65536 + 100)};

	rig_write_file(&rig, "object", content, 65536 + 4096);
	run(&rig, reader, &received, 65536 + 100, 1);
	CU_ASSERT(atomic_load(&reader->done) == WH_STORE_OK);
	CU_ASSERT(received.count == 65536 + 100);
	CU_ASSERT(memcmp(received.bytes, content, 65536 + 100) == 0);
	wh_reader_close(reader);
	free(received.bytes);
	rig_free(&rig);
	free(content);
}

/* Results that are no failure: the bytes must come all the same. */
static void test_faults_survived(void)
{
	static const struct {
		int result;
		int at_most;
		int times;
	} cases[] = {
		{-EINTR, 0, 5},
		{-EAGAIN, 0, 30},
		{-EINVAL, 0, 1}, /* O_DIRECT refused by one read */
		{0, 4096, 20},
		{0, 5000, 20}, /* O_DIRECT goes on at 4096 */
		{0, 61440, 3},
	};
	const uint64_t bytes = 10 * 65536 + 123;
	uint8_t *content = rig_content(bytes, 7);

	for (size_t i = 0; i < RIG_COUNT(cases); i++) {
		for (int tail = 0; tail < 2; tail++) {
			struct rig rig;
			bool refuses = cases[i].result == -EINVAL;

			rig_init(&rig, 65536, 16, 16);
			if (!direct_here(rig.folder) && refuses) {
				rig_free(&rig);
				continue;
			}
			ring_fault.dropped = 0;
			rig_write_file(&rig, "object", content, bytes);
			ring_fault.result = cases[i].result;
			ring_fault.at_most = cases[i].at_most;
			ring_fault.after = tail ? 10 : 0;
			ring_fault.times = tail ? 1 : cases[i].times;
			expect_content(&rig, "object", content, bytes, 16, 1);
			CU_ASSERT(ring_fault.times == 0);
			CU_ASSERT(ring_fault.dropped == refuses);
			ring_fault.times = 0;
			rig_free(&rig);
		}
	}
	free(content);
}

static void test_no_direct(void)
{
	const uint64_t sizes[] = RIG_SIZES(65536);

	ring_fault.refuse_direct = true;
	for (size_t s = 0; s < RIG_COUNT(sizes); s++) {
		struct rig rig;
		uint8_t *content = rig_content(sizes[s], s);

		rig_init(&rig, 65536, 16, 16);
		rig_write_file(&rig, "object", content, sizes[s]);
		ring_fault.after = 0;
		ring_fault.at_most = 4001; /* and short besides: goes on at any byte */
		ring_fault.times = 3;
		expect_content(&rig, "object", content, sizes[s], 16, 1);
		ring_fault.times = 0;
		rig_free(&rig);
		free(content);
	}
	CU_ASSERT(ring_fault.refused == RIG_COUNT(sizes));
	ring_fault.refuse_direct = false;
}

static void test_read_error(void)
{
	static const int results[] = {-EIO, -EBADF, 0};
	const uint64_t bytes = 12 * 65536;
	uint8_t *content = rig_content(bytes, 8);

	for (size_t i = 0; i < RIG_COUNT(results); i++) {
		struct rig rig;

		rig_init(&rig, 65536, 16, 16);
		rig_write_file(&rig, "object", content, bytes);
		ring_fault.result = results[i];
		ring_fault.at_most = 0;
		ring_fault.after = 1;
		ring_fault.times = 5;

		struct wh_reader *reader = open_reader(&rig, "object", 16);
		struct received received = {.bytes = malloc(bytes)};

		/* Then several errors come at once. */
		wh_reader_poll(reader, 0);
		wh_reader_poll(reader, 0);
		usleep(10000);
		run(&rig, reader, &received, bytes, 1);
		CU_ASSERT(atomic_load(&reader->done) == WH_STORE_FAILED);
		CU_ASSERT(reader->error == (results[i] == 0 ? -EIO : results[i]));
		CU_ASSERT(strncmp(reader->doing, "reading", 7) == 0);
		for (int p = 0; p < 100; p++)
			CU_ASSERT(wh_reader_poll(reader, 0) == 0);
		CU_ASSERT(wh_fifo_count(&rig.out) == 0);
		CU_ASSERT(!received.end && received.chunks < 12);
		ring_fault.times = 0;
		wh_reader_close(reader);
		free(received.bytes);
		rig_free(&rig);
	}
	free(content);
}

/* With requests in the air, prepared or not yet begun; the chunk memory goes right after. */
static void test_close_midway(void)
{
	const uint64_t bytes = UINT64_C(12) << 20;
	uint8_t *content = rig_content(bytes, 9);

	for (int polls = 0; polls < 8; polls++) {
		struct rig rig;

		rig_init(&rig, 1 << 20, 12, 16);
		rig_write_file(&rig, "object", content, bytes);

		struct wh_reader *reader = open_reader(&rig, "object", 12);

		for (int i = 0; i < polls; i++)
			wh_reader_poll(reader, 0);
		wh_reader_close(reader);
		rig_free(&rig);
	}
	free(content);
}

CU_TestInfo wh_tests[] = {
	{"sizes", test_sizes},
	{"back-pressure", test_back_pressure},
	{"end marker waits", test_end_marker_waits},
	{"holes", test_holes},
	{"refused", test_refused},
	{"shrinking file", test_shrinking_file},
	{"growing file", test_growing_file},
	{"faults survived", test_faults_survived},
	{"no O_DIRECT", test_no_direct},
	{"read error", test_read_error},
	{"close midway", test_close_midway},
	CU_TEST_INFO_NULL,
};
