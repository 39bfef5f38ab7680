/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FILE_READ_AHEAD_H
#define WH_FILE_READ_AHEAD_H

/*
 * An open file read into chunks, several at once, taken in
 * order. By io_uring, with O_DIRECT where the file system has it; or, without a ring, piece by
 * piece where reading never waits. The file has the size that it had at first: bytes that came
 * later are not read, bytes that went are an error. Chunks that lie in a hole are zeros without
 * touching the disk.
 *
 * A chunk belongs to the read-ahead from start to take, or to give_up.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/chunk.h"
#include "file/ring.h"

/* Without a ring a poll copies no more than this. */
#define WH_READ_PIECE_BYTES (UINT32_C(256) << 10)

struct wh_read_slot {
	struct wh_chunk *chunk;
	uint64_t offset;
	uint32_t have_bytes; /* at the front of the chunk; the request in the air goes on there */
	bool direct;         /* that request was made with O_DIRECT */
};

/* Chunk `index` of the file is in slot index % WH_RING_DEPTH. */
struct wh_read_ahead {
	struct io_uring *ring;
	int fd;
	bool direct;
	bool sparse; /* fewer blocks than bytes: worth looking for holes */
	bool shrunk; /* that is the error */
	int error;   /* negative errno: nothing more is read */
	uint32_t chunk_bytes;
	uint64_t from;       /* where it begins, a multiple of WH_DIRECT_BYTES, ... */
	uint64_t end;        /* ... and ends */
	uint64_t hole_until; /* known: no data between the last offset asked for and here */
	uint64_t started;    /* chunks asked for; the index of the next one */
	uint64_t taken;
	uint32_t in_air;
	struct wh_read_slot slots[WH_RING_DEPTH];
};

/*
 * `fd` and `ring` are borrowed; the ring, or NULL, is used by one read-ahead at a time. `cached`:
 * somebody else reads by a copy of the descriptor, which O_DIRECT would be for, too.
 */
void wh_read_ahead_init(struct wh_read_ahead *ahead, struct io_uring *ring, int fd,
	const struct stat *status, uint32_t chunk_bytes, bool cached);

/* Then, before the first start: only that part of the file, which ends in a block's end or its. */
void wh_read_ahead_limit(struct wh_read_ahead *ahead, uint64_t from, uint64_t end);

/* Whether another chunk may be started. */
bool wh_read_ahead_wants(const struct wh_read_ahead *ahead);
void wh_read_ahead_start(struct wh_read_ahead *ahead, struct wh_chunk *chunk);

/* Books what was read; how much was done. See `error` afterwards. */
int32_t wh_read_ahead_poll(struct wh_read_ahead *ahead);

/* Hands over what was started: last in every turn. See `error` afterwards. */
void wh_read_ahead_submit(struct wh_read_ahead *ahead);

/* The next chunk in order if it is complete, or NULL; `bytes` is set, `number` is the caller's. */
struct wh_chunk *wh_read_ahead_peek(const struct wh_read_ahead *ahead);
struct wh_chunk *wh_read_ahead_take(struct wh_read_ahead *ahead);

/* A chunk that will not be taken any more, or NULL: there is none, or requests are in the air. */
struct wh_chunk *wh_read_ahead_give_up(struct wh_read_ahead *ahead);

/* Whether every byte was taken. */
bool wh_read_ahead_is_over(const struct wh_read_ahead *ahead);

#endif
