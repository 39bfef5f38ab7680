/* SPDX-License-Identifier: BSD-3-Clause */
/* A file by blocks: what differs, wherever it does; and a copy of it. */
#include "file/blocks.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "folder_rig.h"
#include "unit.h"

const char wh_suite_name[] = "blocks";

#define BLOCK UINT64_C(4096)
#define SIZE  (10 * BLOCK + 100)
#define SEED  UINT64_C(99)

static uint8_t content[SIZE];

static void test_lengths(void)
{
	static const struct {
		uint64_t size_bytes;
		uint64_t block_bytes;
	} cases[] = {
		{0, WH_BLOCK_BYTES_MIN},
		{(UINT64_C(32) << 30) - 1, WH_BLOCK_BYTES_MIN},
		{UINT64_C(32) << 30, 2 * WH_BLOCK_BYTES_MIN},
		{UINT64_C(1) << 40, UINT64_C(8) << 20},
		{INT64_MAX, UINT64_C(1) << 45},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_EQUAL(wh_block_bytes(cases[i].size_bytes), cases[i].block_bytes);
		CU_ASSERT(
			wh_block_count(cases[i].size_bytes, cases[i].block_bytes) <= WH_BLOCKS_MAX);
	}
	CU_ASSERT_EQUAL(wh_block_count(SIZE, BLOCK), 11);
	CU_ASSERT_EQUAL(wh_block_count(10 * BLOCK, BLOCK), 10);
}

static int await(const struct wh_blocks *blocks, uint64_t *bytes)
{
	int rc;

	CU_ASSERT_FATAL(blocks != NULL);
	while ((rc = wh_blocks_end(blocks, bytes)) == -EINPROGRESS)
		sched_yield();
	return rc;
}

static int make(const struct folder *folder, const char *name, uint64_t bytes)
{
	int fd = openat(folder->fd, name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CU_ASSERT_FATAL(fd >= 0 && write(fd, content, bytes) == (ssize_t)bytes);
	return fd;
}

static struct wh_digest seeded(uint64_t block, uint64_t seed)
{
	uint64_t at = block * BLOCK, count = SIZE - at < BLOCK ? SIZE - at : BLOCK;
	struct wh_digest digest;

	XXH128_canonicalFromHash((XXH128_canonical_t *)digest.bytes,
		XXH3_128bits_withSeed(content + at, count, seed));
	return digest;
}

static void test_list(void)
{
	struct folder folder = folder_new("/tmp");
	uint64_t bytes;
	struct wh_digest whole;

	int fd = make(&folder, "file", SIZE);
	struct wh_blocks *list = wh_blocks_list(fd, SIZE, BLOCK, SEED);

	CU_ASSERT(await(list, &bytes) == 0 && bytes == SIZE);
	CU_ASSERT_EQUAL_FATAL(wh_blocks_known(list), 11);
	for (uint32_t i = 0; i < 11; i++) {
		struct wh_digest digest = seeded(i, SEED), other = seeded(i, SEED + 1);

		CU_ASSERT(memcmp(wh_blocks_digest(list, i), &digest, sizeof(digest)) == 0);
		CU_ASSERT(memcmp(&other, &digest, sizeof(digest)) != 0);
	}
	XXH128_canonicalFromHash((XXH128_canonical_t *)whole.bytes, XXH3_128bits(content, SIZE));
	CU_ASSERT(memcmp(wh_blocks_whole(list), &whole, sizeof(whole)) == 0);
	wh_blocks_free(list);

	/* One that is shorter than it was. */
	list = wh_blocks_list(fd, SIZE + 1, BLOCK, SEED);
	CU_ASSERT_EQUAL(await(list, &bytes), -ENODATA);
	wh_blocks_free(list);
	wh_blocks_free(wh_blocks_list(fd, SIZE, BLOCK, SEED));
	wh_blocks_free(NULL);
	close(fd);
	folder_free(&folder);
}

static void compare(int fd, uint32_t told, uint32_t wrong)
{
	struct wh_digest *digests = malloc(11 * sizeof(*digests));
	uint64_t bytes;

	for (uint32_t i = 0; i < told; i++)
		digests[i] = seeded(i, SEED + (i == wrong));

	struct wh_blocks *blocks = wh_blocks_compare(fd, SIZE, BLOCK, SEED, digests, told);

	CU_ASSERT(await(blocks, &bytes) == 0 && wh_blocks_known(blocks) == 11);
	for (uint32_t i = 0; i < 11; i++)
		CU_ASSERT(wh_blocks_differs(blocks, i) == (i >= told || i == wrong));
	wh_blocks_free(blocks);
}

static void test_compare(void)
{
	struct folder folder = folder_new("/tmp");

	int fd = make(&folder, "file", SIZE);

	for (uint32_t told = 1; told <= 11; told++)
		for (uint32_t wrong = 0; wrong <= 11; wrong++)
			compare(fd, told, wrong);
	close(fd);
	folder_free(&folder);
}

static void test_copy(void)
{
	static const uint64_t hole = UINT64_C(64) << 20;
	static uint8_t found[SIZE];
	struct folder folder = folder_new("/tmp");
	struct stat status;
	uint64_t bytes;

	int from = make(&folder, "from", SIZE), to = make(&folder, "to", 0);

	CU_ASSERT_FATAL(pwrite(from, content, SIZE, (off_t)hole) == (ssize_t)SIZE);

	struct wh_blocks *copy = wh_blocks_copy(from, to, hole + SIZE);

	CU_ASSERT_EQUAL(await(copy, &bytes), 0);
	wh_blocks_free(copy);
	CU_ASSERT(fstat(to, &status) == 0 && (uint64_t)status.st_size == hole + SIZE);
	CU_ASSERT((uint64_t)status.st_blocks * 512 <= 4 * SIZE);
	CU_ASSERT(pread(to, found, SIZE, (off_t)hole) == (ssize_t)SIZE);
	CU_ASSERT(memcmp(found, content, SIZE) == 0);
	CU_ASSERT(pread(to, found, SIZE, 0) == (ssize_t)SIZE);
	CU_ASSERT(memcmp(found, content, SIZE) == 0);
	/* Where it is a pipe's end, the disk is full, or it is not for writing. */
	CU_ASSERT_FATAL(close(to) == 0);
	to = openat(folder.fd, "to", O_RDONLY);
	copy = wh_blocks_copy(from, to, SIZE);
	CU_ASSERT_EQUAL(await(copy, &bytes), -EBADF);
	wh_blocks_free(copy);
	close(from);
	close(to);
	folder_free(&folder);
}

static bool take(void *context, uint64_t bytes)
{
	uint64_t *left = context;

	if (bytes > *left)
		return false;
	*left -= bytes;
	return true;
}

static void give(void *context, uint64_t bytes)
{
	*(uint64_t *)context += bytes;
}

/* What is beyond the first bytes is charged, in both directions, and nothing if it is refused. */
static void test_memory(void)
{
	uint64_t left = 100;
	const struct wh_blocks_account account = {take, give, &left};
	struct wh_blocks_memory memory = {.account = &account, .free_bytes = 10};
	struct wh_blocks_memory unlimited = {.account = NULL};

	CU_ASSERT(wh_blocks_memory_take(&memory, 8) && left == 100);
	CU_ASSERT(wh_blocks_memory_take(&memory, 8) && left == 94);
	CU_ASSERT(!wh_blocks_memory_take(&memory, 95) && left == 94 && memory.bytes == 16);
	CU_ASSERT(wh_blocks_memory_take(&memory, 94) && left == 0);
	wh_blocks_memory_give(&memory, 99);
	CU_ASSERT(left == 99 && memory.bytes == 11);
	wh_blocks_memory_give(&memory, 2);
	CU_ASSERT(left == 100 && memory.bytes == 9);
	wh_blocks_memory_give(&memory, 9);
	CU_ASSERT(left == 100 && memory.bytes == 0);
	CU_ASSERT(wh_blocks_memory_take(&unlimited, UINT64_C(1) << 60));
	wh_blocks_memory_give(&unlimited, UINT64_C(1) << 60);
}

CU_TestInfo wh_tests[] = {
	{"memory", test_memory},
	{"lengths", test_lengths},
	{"list", test_list},
	{"compare", test_compare},
	{"copy", test_copy},
	CU_TEST_INFO_NULL,
};
