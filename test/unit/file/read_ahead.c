/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/read_ahead.h"

#include <sched.h>
#include <unistd.h>

#include "base/prng.h"
#include "ring_fault.h"
#include "unit.h"

const char wh_suite_name[] = "read_ahead";

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KIB          UINT64_C(1024)
#define CHUNK        (UINT32_C(64) << 10)
#define CHUNKS_MAX   16
#define POLLS_MAX    2000000 /* a hang fails the test instead of stopping the suite */

/* An open file without a name, and what reading it brought. */
struct reader {
	int fd;
	struct io_uring ring;
	struct wh_read_ahead ahead;
	struct wh_chunk chunks[CHUNKS_MAX];
	struct wh_chunk *idle[CHUNKS_MAX];
	uint32_t idle_count;
	uint32_t chunk_bytes;
	uint8_t *bytes;
	uint64_t room;
	uint64_t count;
	uint64_t taken;
	bool by_ring;
};

static uint8_t *make_content(uint64_t bytes)
{
	uint8_t *content = malloc(bytes + 8);
	struct wh_prng prng;

	CU_ASSERT_PTR_NOT_NULL_FATAL(content);
	wh_prng_init(&prng, bytes);
	for (uint64_t at = 0; at < bytes; at += 8) {
		uint64_t word = wh_prng_u64(&prng) | 1;

		memcpy(content + at, &word, 8);
	}
	return content;
}

static int make_file(const uint8_t *content, uint64_t bytes)
{
	char path[] = "/tmp/wh_read_XXXXXX";
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0 && unlink(path) == 0);
	for (uint64_t at = 0; at < bytes;) {
		ssize_t put = pwrite(fd, content + at, bytes - at, (off_t)at);

		CU_ASSERT_FATAL(put > 0);
		at += (uint64_t)put;
	}
	return fd;
}

static void open_reader(
	struct reader *reader, int fd, uint32_t chunk_bytes, uint32_t chunks, bool by_ring)
{
	struct stat status;

	*reader = (struct reader){.fd = fd, .chunk_bytes = chunk_bytes, .by_ring = by_ring};
	CU_ASSERT_FATAL(fstat(fd, &status) == 0);
	if (by_ring)
		CU_ASSERT_FATAL(io_uring_queue_init(WH_RING_DEPTH, &reader->ring, 0) == 0);
	wh_read_ahead_init(
		&reader->ahead, by_ring ? &reader->ring : NULL, fd, &status, chunk_bytes, false);
	reader->room = (uint64_t)status.st_size;
	reader->bytes = malloc(reader->room + 1);
	for (uint32_t i = 0; i < chunks; i++) {
		reader->chunks[i].data = aligned_alloc(WH_CHUNK_ALIGN, chunk_bytes);
		memset(reader->chunks[i].data, 0xa5, chunk_bytes);
		reader->idle[reader->idle_count++] = &reader->chunks[i];
	}
}

/* Also with requests in the air: the chunk memory goes right after. */
static void close_reader(struct reader *reader)
{
	if (reader->by_ring) {
		wh_ring_drain(&reader->ring, reader->ahead.in_air);
		io_uring_queue_exit(&reader->ring);
	}
	for (uint32_t i = 0; i < CHUNKS_MAX; i++)
		free(reader->chunks[i].data);
	free(reader->bytes);
	close(reader->fd);
}

static void take_all(struct reader *reader)
{
	for (struct wh_chunk *chunk; (chunk = wh_read_ahead_take(&reader->ahead)) != NULL;) {
		CU_ASSERT_FATAL(reader->count + chunk->bytes <= reader->room);
		memcpy(reader->bytes + reader->count, chunk->data, chunk->bytes);
		reader->count += chunk->bytes;
		reader->taken++;
		memset(chunk->data, 0xa5, reader->chunk_bytes);
		reader->idle[reader->idle_count++] = chunk;
	}
}

static void turn(struct reader *reader)
{
	wh_read_ahead_poll(&reader->ahead);
	take_all(reader);
	while (reader->idle_count > 0 && wh_read_ahead_wants(&reader->ahead))
		wh_read_ahead_start(&reader->ahead, reader->idle[--reader->idle_count]);
	wh_read_ahead_submit(&reader->ahead);
	sched_yield();
}

/* Until so many chunks are taken, or all, or it fails. */
static void run(struct reader *reader, uint64_t chunks)
{
	for (int i = 0; i < POLLS_MAX && reader->taken < chunks && reader->ahead.error == 0 &&
			!wh_read_ahead_is_over(&reader->ahead);
		i++)
		turn(reader);
}

static void expect_read(struct reader *reader, const uint8_t *content, uint64_t bytes)
{
	run(reader, UINT64_MAX);
	CU_ASSERT(reader->ahead.error == 0 && wh_read_ahead_is_over(&reader->ahead));
	CU_ASSERT_EQUAL(reader->count, bytes);
	CU_ASSERT_EQUAL(memcmp(reader->bytes, content, bytes), 0);
	CU_ASSERT(reader->ahead.in_air == 0 && !wh_read_ahead_wants(&reader->ahead));
	close_reader(reader);
}

static void read_file(const uint8_t *content, uint64_t bytes, uint32_t chunk_bytes, uint32_t chunks)
{
	for (int by_ring = 0; by_ring < 2; by_ring++) {
		struct reader reader;

		open_reader(&reader, make_file(content, bytes), chunk_bytes, chunks, by_ring);
		expect_read(&reader, content, bytes);
	}
}

static const uint64_t sizes[] = {
	0, 1, 4095, 4096, 4097, CHUNK - 1, CHUNK, CHUNK + 1, 10 * CHUNK + 123};

static void test_sizes(void)
{
	for (size_t i = 0; i < COUNT(sizes); i++) {
		uint8_t *content = make_content(sizes[i]);

		read_file(content, sizes[i], CHUNK, 16);
		read_file(content, sizes[i], 16 * CHUNK, 3);
		read_file(content, sizes[i], CHUNK, 1);
		free(content);
	}
}

/* A part, which begins and ends at blocks, or at the file's end. */
static void test_parts(void)
{
	const uint64_t bytes = 10 * CHUNK + 123;
	const uint64_t parts[][2] = {{0, CHUNK}, {4096, 8192}, {3 * CHUNK + 4096, bytes},
		{10 * CHUNK, bytes}, {5 * CHUNK, 5 * CHUNK}};
	uint8_t *content = make_content(bytes);

	for (size_t i = 0; i < 2 * COUNT(parts); i++) {
		const uint64_t *part = parts[i / 2];
		struct reader reader;

		open_reader(&reader, make_file(content, bytes), CHUNK, 4, i % 2 == 1);
		wh_read_ahead_limit(&reader.ahead, part[0], part[1]);
		expect_read(&reader, content + part[0], part[1] - part[0]);
	}
	free(content);
}

/* Data at 0, in the middle of a chunk, and at the very end; the rest holes. */
static void test_holes(void)
{
	static const uint64_t data_at[] = {0, 5 * CHUNK + 8192, 39 * CHUNK + 60000};
	const uint64_t bytes = 40 * CHUNK;
	uint8_t *content = calloc(1, bytes);

	for (size_t n = 0; n <= COUNT(data_at); n++) {
		for (int by_ring = 0; by_ring < 2; by_ring++) {
			struct reader reader;
			int fd = make_file(NULL, 0);

			CU_ASSERT_FATAL(ftruncate(fd, (off_t)bytes) == 0);
			for (size_t i = 0; i < n; i++) {
				memset(content + data_at[i], 0x77, 3000);
				CU_ASSERT_FATAL(pwrite(fd, content + data_at[i], 3000,
							(off_t)data_at[i]) == 3000);
			}
			CU_ASSERT_FATAL(fsync(fd) == 0);
			open_reader(&reader, fd, CHUNK, 16, by_ring);
			expect_read(&reader, content, bytes);
		}
	}
	free(content);
}

/* One chunk at a time, so that it cannot have read the whole file before it shrinks. */
static void shrink(uint64_t bytes, uint64_t left_bytes, bool by_ring)
{
	uint8_t *content = make_content(bytes);
	struct reader reader;

	open_reader(&reader, make_file(content, bytes), CHUNK, 1, by_ring);
	run(&reader, 1);
	CU_ASSERT_FATAL(ftruncate(reader.fd, (off_t)left_bytes) == 0);
	run(&reader, UINT64_MAX);
	CU_ASSERT(reader.ahead.error == -EIO && reader.ahead.shrunk);
	CU_ASSERT(reader.count < bytes && memcmp(reader.bytes, content, reader.count) == 0);
	close_reader(&reader);
	free(content);
}

static void test_shrinking_file(void)
{
	for (int by_ring = 0; by_ring < 2; by_ring++) {
		shrink(8 * CHUNK, 4 * CHUNK, by_ring);
		shrink(8 * CHUNK, 4 * CHUNK + 1, by_ring);
		shrink(8 * CHUNK, 4 * CHUNK + 4097, by_ring);
		shrink(8 * CHUNK, 0, by_ring);
		shrink(8 * CHUNK + 4097, 8 * CHUNK + 4096, by_ring);
	}
}

/* By a descriptor of its own: the reader's may be O_DIRECT. */
static void grow(int fd, const uint8_t *bytes, uint64_t count, uint64_t offset)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	int other_fd = open(path, O_WRONLY);

	CU_ASSERT_FATAL(other_fd >= 0);
	CU_ASSERT_EQUAL(pwrite(other_fd, bytes, count, (off_t)offset), (ssize_t)count);
	close(other_fd);
}

static void test_growing_file(void)
{
	uint8_t *content = make_content(CHUNK + 4096);

	for (int by_ring = 0; by_ring < 2; by_ring++) {
		struct reader reader;

		open_reader(&reader, make_file(content, CHUNK + 100), CHUNK, 1, by_ring);
		grow(reader.fd, content + CHUNK, 4096, CHUNK);
		expect_read(&reader, content, CHUNK + 100);
	}
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
	const uint64_t bytes = 10 * CHUNK + 123;
	uint8_t *content = make_content(bytes);

	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		bool tail = i % 2 == 1;
		bool refuses = cases[i / 2].result == -EINVAL;
		struct reader reader;

		if (refuses && !direct_here("/tmp"))
			continue;
		open_reader(&reader, make_file(content, bytes), CHUNK, 16, true);
		ring_fault.dropped = 0;
		ring_fault.result = cases[i / 2].result;
		ring_fault.at_most = cases[i / 2].at_most;
		ring_fault.after = tail ? 10 : 0;
		ring_fault.times = tail ? 1 : cases[i / 2].times;
		expect_read(&reader, content, bytes);
		CU_ASSERT(ring_fault.times == 0);
		CU_ASSERT(ring_fault.dropped == refuses);
		memset(&ring_fault, 0, sizeof(ring_fault));
	}
	free(content);
}

static void test_no_direct(void)
{
	ring_fault.refuse_direct = true;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		uint8_t *content = make_content(sizes[i]);
		struct reader reader;

		open_reader(&reader, make_file(content, sizes[i]), CHUNK, 16, true);
		ring_fault.at_most = 4001; /* and short besides: goes on at any byte */
		ring_fault.times = 3;
		expect_read(&reader, content, sizes[i]);
		free(content);
	}
	CU_ASSERT(ring_fault.refused == COUNT(sizes));
	memset(&ring_fault, 0, sizeof(ring_fault));
}

/* Several at once are one error; then nothing more is asked for, and chunks can be had back. */
static void test_read_error(void)
{
	static const int results[] = {-EIO, -EBADF, 0};
	const uint64_t bytes = 12 * CHUNK;
	uint8_t *content = make_content(bytes);

	for (size_t i = 0; i < COUNT(results); i++) {
		struct reader reader;

		open_reader(&reader, make_file(content, bytes), CHUNK, 16, true);
		ring_fault.result = results[i];
		ring_fault.after = 1;
		ring_fault.times = 5;
		turn(&reader);
		usleep(10000);
		run(&reader, UINT64_MAX);
		CU_ASSERT(reader.ahead.error == (results[i] == 0 ? -EIO : results[i]));
		CU_ASSERT(reader.ahead.shrunk == (results[i] == 0));
		CU_ASSERT(!wh_read_ahead_wants(&reader.ahead) && reader.taken < 12);
		ring_fault.times = 0;
		for (int p = 0; p < POLLS_MAX && reader.ahead.in_air > 0; p++)
			wh_read_ahead_poll(&reader.ahead);
		while (wh_read_ahead_give_up(&reader.ahead) != NULL)
			reader.idle_count++;
		CU_ASSERT_EQUAL(reader.idle_count, 16);
		close_reader(&reader);
		memset(&ring_fault, 0, sizeof(ring_fault));
	}
	free(content);
}

static void test_close_midway(void)
{
	const uint64_t bytes = 12 * KIB * KIB;
	uint8_t *content = make_content(bytes);

	for (int turns = 0; turns < 8; turns++) {
		struct reader reader;

		open_reader(&reader, make_file(content, bytes), 1 << 20, 12, true);
		for (int i = 0; i < turns; i++)
			turn(&reader);
		close_reader(&reader);
	}
	free(content);
}

CU_TestInfo wh_tests[] = {
	{"sizes", test_sizes},
	{"parts", test_parts},
	{"holes", test_holes},
	{"shrinking file", test_shrinking_file},
	{"growing file", test_growing_file},
	{"faults survived", test_faults_survived},
	{"no O_DIRECT", test_no_direct},
	{"read error", test_read_error},
	{"close midway", test_close_midway},
	CU_TEST_INFO_NULL,
};
