/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FILE_BLOCKS_H
#define WH_FILE_BLOCKS_H

/*
 * A file by blocks of a fixed length, so that two ends find out which of them are other: digests of
 * them, a comparison with such digests, and a copy of a file. Each is an errand done aside
 * (file/aside.h), its maker's from begin to free.
 *
 * The digests of blocks have a seed, which nobody knows before the job: bytes that somebody has
 * made up for two blocks to have one digest do not.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"

#define WH_BLOCK_BYTES_MIN (UINT64_C(128) << 10)

/* Of one file: a list of digests takes 4 MiB at most. */
#define WH_BLOCKS_MAX (UINT32_C(1) << 18)

/* A power of two; it follows from the size of the file as it is to be, so both ends know it. */
uint64_t wh_block_bytes(uint64_t size_bytes);

/* Of so many bytes; what is left at the end is a block, too. */
uint32_t wh_block_count(uint64_t bytes, uint64_t block_bytes);

/* Who is charged with the memory of lists: false: it is too much for him. Zeros: nobody is. */
struct wh_blocks_account {
	bool (*take)(void *context, uint64_t bytes);
	void (*give)(void *context, uint64_t bytes);
	void *context;
};

/* *charged, 0 before, is what is owed; paid back, it is 0 again. */
bool wh_blocks_charge(const struct wh_blocks_account *account, uint32_t blocks, uint64_t *charged);
void wh_blocks_repay(const struct wh_blocks_account *account, uint64_t *charged);

struct wh_blocks;

/* All have a copy of the descriptor. NULL: there is no memory, descriptor or thread. */

/* Digests of the blocks of a file's first bytes, and of these as a whole, without a seed. */
struct wh_blocks *wh_blocks_list(int fd, uint64_t bytes, uint64_t block_bytes, uint64_t seed);

/* Compared with those that were told of the first so many; what is beyond them differs. What was
 * told is from malloc, and belongs to it from now on, in any case. */
struct wh_blocks *wh_blocks_compare(int fd, uint64_t bytes, uint64_t block_bytes, uint64_t seed,
	struct wh_digest *told, uint32_t count);

/* The first bytes of a file into an empty one, holes as holes; blocks are shared where the file
 * system can. */
struct wh_blocks *wh_blocks_copy(int from_fd, int to_fd, uint64_t bytes);

/* -EINPROGRESS; 0: it is over; or a negative errno, -ENODATA: the file is shorter. *bytes: done. */
int wh_blocks_end(const struct wh_blocks *blocks, uint64_t *bytes);

/* Blocks that are known, from the first on, at any time. */
uint32_t wh_blocks_known(const struct wh_blocks *blocks);

/* Of a known block: of a list; of a comparison. */
const struct wh_digest *wh_blocks_digest(const struct wh_blocks *blocks, uint32_t block);
bool wh_blocks_differs(const struct wh_blocks *blocks, uint32_t block);

/* Of all bytes, once it has ended well. */
const struct wh_digest *wh_blocks_whole(const struct wh_blocks *blocks);

/* It goes, over or not. NULL is allowed. */
void wh_blocks_free(struct wh_blocks *blocks);

#endif
