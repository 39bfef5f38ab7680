/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A chunk is the unit that travels between files and sessions: up to `chunk_bytes` (1 MiB) of one
 * stream. Any chunk may be shorter, since a source flushes what it has while it waits.
 *
 * Ownership goes with the pointer through FIFOs, always in a circle:
 *   sending:   free -> reader fills -> ready -> host_trans .. get_rcv_stat -> free
 *   receiving: free -> rcv fills -> host_rcv -> deliver -> writer -> recycled -> host_rcv
 * The owner of the pointer may read and write everything in the chunk; nobody else accesses it.
 *
 * A stream ends with an end marker: a chunk of no bytes with `end` set, `number` = count of the
 * chunks before it and the digest of all bytes. It has no data, stays owned by the side that pushes
 * it into the FIFO, and is never returned.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define WH_CHUNK_BYTES_DEFAULT (UINT32_C(1) << 20)

/* Chunk memory is aligned for O_DIRECT and for vector code. */
#define WH_CHUNK_ALIGN 4096
static_assert(WH_CHUNK_BYTES_DEFAULT % WH_CHUNK_ALIGN == 0, "chunks lie one after the other");

#define WH_DIGEST_BYTES 16

/* XXH3-128 in its canonical (big-endian) form, as printed by `xxh128sum`. */
struct wh_digest {
	uint8_t bytes[WH_DIGEST_BYTES];
};

static_assert(sizeof(struct wh_digest) == WH_DIGEST_BYTES, "a digest is its bytes");

struct wh_chunk {
	uint8_t *data;
	uint64_t number;
	uint32_t bytes;
	uint32_t slot; /* index in its pool: a key for side tables */
	bool end;
	/* Of a stream by several sessions (lib/stripe): which has it, and its place among all. */
	uint8_t path;
	uint16_t order;
	struct wh_digest digest;
};
