/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "file/background.h"
#include "file/digest.h"

/* Most bytes read, or copied, between two checks of `stop`. */
#define PIECE_BYTES (UINT64_C(256) << 10)
#define COPY_BYTES  (UINT64_C(8) << 20)

struct wh_blocks {
	struct wh_hasher all; /* first, for its alignment */
	struct wh_hasher one;
	int (*work)(struct wh_blocks *blocks);
	int fd;
	int to_fd;
	uint64_t bytes;
	uint64_t block_bytes;
	uint64_t seed;
	uint8_t *piece;
	struct wh_digest *digest; /* of a list; or as received, for a comparison */
	uint32_t told;
	uint8_t *other; /* result of a comparison: a bit for each block that differs */
	struct wh_digest whole;
	int rc;
	_Atomic uint32_t known;
	_Atomic uint64_t done;
	_Atomic bool stop;
	struct wh_background_shared shared;
};

bool wh_blocks_charge(const struct wh_blocks_account *account, uint32_t blocks, uint64_t *charged)
{
	uint64_t bytes = (uint64_t)blocks * sizeof(struct wh_digest);

	WH_ASSERT(*charged == 0);
	if (account->take == NULL)
		return true;
	if (!account->take(account->context, bytes))
		return false;
	*charged = bytes;
	return true;
}

void wh_blocks_repay(const struct wh_blocks_account *account, uint64_t *charged)
{
	if (*charged > 0)
		account->give(account->context, *charged);
	*charged = 0;
}

/* Of that much in use. */
static uint64_t charged_bytes(const struct wh_blocks_memory *memory, uint64_t bytes)
{
	return bytes - wh_min_u64(bytes, memory->free_bytes);
}

bool wh_blocks_memory_take(struct wh_blocks_memory *memory, uint64_t bytes)
{
	const struct wh_blocks_account *account = memory->account;
	uint64_t more =
		charged_bytes(memory, memory->bytes + bytes) - charged_bytes(memory, memory->bytes);

	if (more > 0 && account != NULL && account->take != NULL &&
		!account->take(account->context, more))
		return false;
	memory->bytes += bytes;
	return true;
}

void wh_blocks_memory_give(struct wh_blocks_memory *memory, uint64_t bytes)
{
	const struct wh_blocks_account *account = memory->account;
	uint64_t before = charged_bytes(memory, memory->bytes);

	WH_ASSERT(bytes <= memory->bytes);
	memory->bytes -= bytes;

	uint64_t less = before - charged_bytes(memory, memory->bytes);

	if (less > 0 && account != NULL && account->give != NULL)
		account->give(account->context, less);
}

uint64_t wh_block_bytes(uint64_t size_bytes)
{
	uint64_t block_bytes = WH_BLOCK_BYTES_MIN;

	while (size_bytes / block_bytes >= WH_BLOCKS_MAX)
		block_bytes *= 2;
	return block_bytes;
}

uint32_t wh_block_count(uint64_t bytes, uint64_t block_bytes)
{
	uint64_t count = bytes / block_bytes + (bytes % block_bytes != 0);

	WH_ASSERT(count <= WH_BLOCKS_MAX);
	return (uint32_t)count;
}

static bool is_stopped(const struct wh_blocks *blocks)
{
	return atomic_load_explicit(&blocks->stop, memory_order_relaxed);
}

static int hash_block(struct wh_blocks *blocks, uint64_t at, uint64_t end)
{
	wh_hasher_init_seeded(&blocks->one, blocks->seed);
	while (at < end) {
		ssize_t got = pread(
			blocks->fd, blocks->piece, wh_min_u64(PIECE_BYTES, end - at), (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ENODATA;
		wh_hasher_add(&blocks->one, blocks->piece, (size_t)got);
		wh_hasher_add(&blocks->all, blocks->piece, (size_t)got);
		at += (uint64_t)got;
		atomic_fetch_add_explicit(&blocks->done, (uint64_t)got, memory_order_relaxed);
		if (is_stopped(blocks))
			return -ECANCELED;
	}
	return 0;
}

static void see_block(struct wh_blocks *blocks, uint32_t block)
{
	struct wh_digest digest;

	wh_hasher_digest(&blocks->one, &digest);
	if (blocks->other == NULL)
		blocks->digest[block] = digest;
	else if (block >= blocks->told ||
		 memcmp(&digest, &blocks->digest[block], sizeof(digest)) != 0)
		blocks->other[block / 8] |= (uint8_t)(1 << block % 8);
	atomic_store_explicit(&blocks->known, block + 1, memory_order_release);
}

static int hash_all(struct wh_blocks *blocks)
{
	int rc = 0;
	uint32_t block = 0;

	wh_hasher_init(&blocks->all);
	for (uint64_t at = 0; at < blocks->bytes && rc == 0; at += blocks->block_bytes) {
		rc = hash_block(blocks, at, wh_min_u64(blocks->bytes, at + blocks->block_bytes));
		if (rc == 0)
			see_block(blocks, block++);
	}
	wh_hasher_digest(&blocks->all, &blocks->whole);
	return rc;
}

/* Reads and writes where the kernel cannot copy between these two files. */
static ssize_t copy_piece(const struct wh_blocks *blocks, uint64_t at, uint64_t bytes)
{
	off_t from = (off_t)at, to = (off_t)at;
	ssize_t done = copy_file_range(blocks->fd, &from, blocks->to_fd, &to, bytes, 0);

	if (done >= 0 || (errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP &&
				 errno != ENOSYS && errno != EPERM))
		return done;
	done = pread(blocks->fd, blocks->piece, wh_min_u64(PIECE_BYTES, bytes), (off_t)at);
	return done > 0 ? pwrite(blocks->to_fd, blocks->piece, (size_t)done, (off_t)at) : done;
}

static int copy_run(struct wh_blocks *blocks, uint64_t at, uint64_t end)
{
	while (at < end) {
		ssize_t done = copy_piece(blocks, at, wh_min_u64(COPY_BYTES, end - at));

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -ENODATA;
		at += (uint64_t)done;
		atomic_store_explicit(&blocks->done, at, memory_order_relaxed);
		if (is_stopped(blocks))
			return -ECANCELED;
	}
	return 0;
}

/* Finds the next data or hole; if the file system cannot tell, everything is data. */
static uint64_t find(const struct wh_blocks *blocks, uint64_t at, int whence)
{
	off_t found = lseek(blocks->fd, (off_t)at, whence);

	if (found >= 0)
		return wh_min_u64((uint64_t)found, blocks->bytes);
	return whence == SEEK_DATA && errno != ENXIO ? at : blocks->bytes;
}

static int copy_all(struct wh_blocks *blocks)
{
	int rc = 0;

	for (uint64_t at = 0; at < blocks->bytes && rc == 0;) {
		uint64_t from = find(blocks, at, SEEK_DATA);

		if (from >= blocks->bytes)
			break;
		at = find(blocks, from, SEEK_HOLE);
		rc = copy_run(blocks, from, at);
	}
	return rc;
}

static void drop(struct wh_blocks *blocks)
{
	if (blocks->fd >= 0)
		close(blocks->fd);
	if (blocks->to_fd >= 0)
		close(blocks->to_fd);
	free(blocks->piece);
	free(blocks->digest);
	free(blocks->other);
	free(blocks);
}

static void run(void *argument)
{
	struct wh_blocks *blocks = argument;

	blocks->rc = blocks->work(blocks);
	if (wh_background_finish(&blocks->shared))
		drop(blocks);
}

static struct wh_blocks *make(int (*work)(struct wh_blocks *blocks), int fd, uint64_t bytes)
{
	struct wh_blocks *blocks = aligned_alloc(WH_HASHER_ALIGN, sizeof(*blocks));

	static_assert(sizeof(*blocks) % WH_HASHER_ALIGN == 0, "a size for aligned_alloc");
	if (blocks == NULL)
		return NULL;
	memset(blocks, 0, sizeof(*blocks));
	blocks->work = work;
	blocks->bytes = bytes;
	blocks->to_fd = -1;
	blocks->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	blocks->piece = malloc(PIECE_BYTES);
	if (blocks->fd >= 0 && blocks->piece != NULL)
		return blocks;
	drop(blocks);
	return NULL;
}

static struct wh_blocks *start(struct wh_blocks *blocks)
{
	if (wh_background(run, blocks) == 0)
		return blocks;
	drop(blocks);
	return NULL;
}

struct wh_blocks *wh_blocks_list(int fd, uint64_t bytes, uint64_t block_bytes, uint64_t seed)
{
	struct wh_blocks *blocks = make(hash_all, fd, bytes);

	if (blocks == NULL)
		return NULL;
	blocks->block_bytes = block_bytes;
	blocks->seed = seed;
	blocks->digest = calloc(wh_block_count(bytes, block_bytes) + 1UL, sizeof(*blocks->digest));
	if (blocks->digest != NULL)
		return start(blocks);
	drop(blocks);
	return NULL;
}

struct wh_blocks *wh_blocks_compare(int fd, uint64_t bytes, uint64_t block_bytes, uint64_t seed,
	struct wh_digest *told, uint32_t count)
{
	struct wh_blocks *blocks = make(hash_all, fd, bytes);

	if (blocks == NULL) {
		free(told);
		return NULL;
	}
	blocks->block_bytes = block_bytes;
	blocks->seed = seed;
	blocks->digest = told;
	blocks->told = count;
	blocks->other = calloc(wh_block_count(bytes, block_bytes) / 8 + 1, 1);
	if (blocks->other != NULL)
		return start(blocks);
	drop(blocks);
	return NULL;
}

struct wh_blocks *wh_blocks_copy(int from_fd, int to_fd, uint64_t bytes)
{
	struct wh_blocks *blocks = make(copy_all, from_fd, bytes);

	if (blocks == NULL)
		return NULL;
	blocks->to_fd = fcntl(to_fd, F_DUPFD_CLOEXEC, 0);
	if (blocks->to_fd >= 0)
		return start(blocks);
	drop(blocks);
	return NULL;
}

int wh_blocks_end(const struct wh_blocks *blocks, uint64_t *bytes)
{
	*bytes = atomic_load_explicit(&blocks->done, memory_order_relaxed);
	if (!wh_background_is_over(&blocks->shared))
		return -EINPROGRESS;
	return blocks->rc;
}

uint32_t wh_blocks_known(const struct wh_blocks *blocks)
{
	return atomic_load_explicit(&blocks->known, memory_order_acquire);
}

const struct wh_digest *wh_blocks_digest(const struct wh_blocks *blocks, uint32_t block)
{
	WH_ASSERT(blocks->other == NULL && block < wh_blocks_known(blocks));
	return &blocks->digest[block];
}

bool wh_blocks_differs(const struct wh_blocks *blocks, uint32_t block)
{
	WH_ASSERT(blocks->other != NULL && block < wh_blocks_known(blocks));
	return (blocks->other[block / 8] >> block % 8 & 1) != 0;
}

const struct wh_digest *wh_blocks_whole(const struct wh_blocks *blocks)
{
	WH_ASSERT(wh_background_is_over(&blocks->shared));
	return &blocks->whole;
}

void wh_blocks_free(struct wh_blocks *blocks)
{
	if (blocks == NULL)
		return;
	atomic_store_explicit(&blocks->stop, true, memory_order_relaxed);
	if (wh_background_leave(&blocks->shared))
		drop(blocks);
}
