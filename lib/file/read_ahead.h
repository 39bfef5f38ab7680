/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Reads an open file into chunks, several at once, which are taken in order. Uses io_uring, with
 * O_DIRECT if the file system supports it. Without a ring it reads piece by piece, where reading
 * never blocks. The file's size is that at the beginning: bytes appended later are not read, a file
 * that has shrunk is an error. Chunks within a hole are filled with zeros without disk access.
 *
 * A chunk belongs to the read-ahead from start to take, or to give_up.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/chunk.h"
#include "file/ring.h"

/* Without a ring: most bytes read per poll. */
#define WH_READ_PIECE_BYTES (UINT32_C(256) << 10)

struct wh_read_slot {
	struct wh_chunk *chunk;
	uint64_t offset;
	uint32_t have_bytes; /* read, from its start on; the outstanding request continues there */
	bool direct;         /* the outstanding request uses O_DIRECT */
};

/* Chunk `index` of the file is in slot index % WH_RING_DEPTH. */
struct wh_read_ahead {
	struct io_uring *ring;
	int fd;
	bool direct;
	bool sparse; /* fewer blocks than bytes: may have holes */
	bool shrunk; /* the error is that the file has shrunk */
	int error;   /* negative errno: nothing more is read */
	uint32_t chunk_bytes;
	uint64_t from;       /* start of the range */
	uint64_t end;        /* end of the range */
	uint64_t hole_until; /* no data between the last offset asked about and this one */
	uint64_t started;    /* number of chunks started, and index of the next one */
	uint64_t taken;
	uint32_t in_air;
	struct wh_read_slot slots[WH_RING_DEPTH];
};

/*
 * `fd` and `ring` are borrowed; the ring, or NULL, is used by one read-ahead at a time. `cached`:
 * no O_DIRECT, because it would also apply to other users of duplicates of the descriptor.
 */
void wh_read_ahead_init(struct wh_read_ahead *ahead, struct io_uring *ring, int fd,
	const struct stat *status, uint32_t chunk_bytes, bool cached);

/*
 * Before the first start: restricts reading to this range. Unless it is cached, the range begins at
 * a block boundary, and ends at one or at the end of the file.
 */
void wh_read_ahead_limit(struct wh_read_ahead *ahead, uint64_t from, uint64_t end);

/* Whether another chunk may be started. */
bool wh_read_ahead_wants(const struct wh_read_ahead *ahead);
void wh_read_ahead_start(struct wh_read_ahead *ahead, struct wh_chunk *chunk);

/* Processes finished reads; returns their number. May set `error`. */
int32_t wh_read_ahead_poll(struct wh_read_ahead *ahead);

/* Submits started reads: last in every turn. May set `error`. */
void wh_read_ahead_submit(struct wh_read_ahead *ahead);

/*
 * The next chunk in order if it is complete, or NULL; `bytes` is set, `number` is up to the caller.
 */
struct wh_chunk *wh_read_ahead_take(struct wh_read_ahead *ahead);

/*
 * After an error or a stop: returns a started chunk, unread. NULL: none is left, or requests are
 * outstanding.
 */
struct wh_chunk *wh_read_ahead_give_up(struct wh_read_ahead *ahead);

/* Whether every byte was taken. */
bool wh_read_ahead_is_over(const struct wh_read_ahead *ahead);
