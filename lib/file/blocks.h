/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A file in blocks of a fixed length, so that two ends find out which blocks differ: digests of the
 * blocks, a comparison with such digests, and a copy of a file. Each runs in the background
 * (file/background.h) and belongs to its creator until free.
 *
 * The digests have a seed that is unknown before the job. So nobody can prepare different blocks
 * with the same digest.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"

#define WH_BLOCK_BYTES_MIN (UINT64_C(128) << 10)

/* Limit per file: its list of digests takes at most 4 MiB. */
#define WH_BLOCKS_MAX (UINT32_C(1) << 18)

/* A power of two, derived from the file's final size, so that both ends use the same. */
uint64_t wh_block_bytes(uint64_t size_bytes);

/* Number of blocks, including a short last one. */
uint32_t wh_block_count(uint64_t bytes, uint64_t block_bytes);

/* Charges the memory of lists to a peer; take returns false beyond its limit. Zeros: unlimited. */
struct wh_blocks_account {
	bool (*take)(void *context, uint64_t bytes);
	void (*give)(void *context, uint64_t bytes);
	void *context;
};

/* *charged, 0 at first, is the amount charged; _repay sets it back to 0. */
bool wh_blocks_charge(const struct wh_blocks_account *account, uint32_t blocks, uint64_t *charged);
void wh_blocks_repay(const struct wh_blocks_account *account, uint64_t *charged);

/*
 * Memory that grows step by step: what is beyond its first bytes is charged, so that there is some
 * even for a peer whose memory is in use.
 */
struct wh_blocks_memory {
	const struct wh_blocks_account *account; /* NULL: unlimited */
	uint64_t free_bytes;
	uint64_t bytes; /* in use, 0 at first */
};

/* take, before memory is allocated: false, and nothing is taken, beyond the peer's limit. */
bool wh_blocks_memory_take(struct wh_blocks_memory *memory, uint64_t bytes);
void wh_blocks_memory_give(struct wh_blocks_memory *memory, uint64_t bytes);

struct wh_blocks;

/* The next three duplicate the descriptor. NULL: no memory, descriptor or thread. */

/* Digests of the blocks of a file's first `bytes`, and of these as a whole, without a seed. */
struct wh_blocks *wh_blocks_list(int fd, uint64_t bytes, uint64_t block_bytes, uint64_t seed);

/*
 * Compares with `count` received digests; blocks beyond them differ. `told` is from malloc and is
 * taken over in any case.
 */
struct wh_blocks *wh_blocks_compare(int fd, uint64_t bytes, uint64_t block_bytes, uint64_t seed,
	struct wh_digest *told, uint32_t count);

/*
 * Copies the first `bytes` of a file into an empty one; holes stay holes, and blocks are shared if
 * the file system can.
 */
struct wh_blocks *wh_blocks_copy(int from_fd, int to_fd, uint64_t bytes);

/*
 * -EINPROGRESS; 0: finished; or a negative errno, -ENODATA: the file is shorter. *bytes: done so
 * far.
 */
int wh_blocks_end(const struct wh_blocks *blocks, uint64_t *bytes);

/* Number of blocks finished so far, from the first one on; at any time. */
uint32_t wh_blocks_known(const struct wh_blocks *blocks);

/* Results for a finished block: its digest in a list; whether it differs in a comparison. */
const struct wh_digest *wh_blocks_digest(const struct wh_blocks *blocks, uint32_t block);
bool wh_blocks_differs(const struct wh_blocks *blocks, uint32_t block);

/* Digest of all bytes, after success. */
const struct wh_digest *wh_blocks_whole(const struct wh_blocks *blocks);

/* Finished or not. NULL is allowed. */
void wh_blocks_free(struct wh_blocks *blocks);
