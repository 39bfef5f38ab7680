/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Packs records into chunks from `free`. They go into `ready` when they are full or flushed, and at
 * last the end marker, with the digest of all records. Each chunk ends with a seal, the digest of
 * all records up to there. An attacker who does not know the previous records cannot replace a
 * chunk: records count only after their seal was checked.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"
#include "base/fifo.h"
#include "bundle/record.h"
#include "file/digest.h"

#define WH_SEAL_BYTES (sizeof(struct wh_digest))

struct wh_pack {
	struct wh_hasher hasher;
	struct wh_fifo *free;
	struct wh_fifo *ready;
	uint32_t chunk_bytes;   /* of records */
	uint64_t number;        /* of the next chunk */
	struct wh_chunk *chunk; /* being filled, or NULL */
	struct wh_chunk end;
};

void wh_pack_init(struct wh_pack *pack, uint64_t first_chunk, uint32_t chunk_bytes,
	struct wh_fifo *free, struct wh_fifo *ready);

/* Whether a record of that length can be put; flushes and takes another chunk if necessary. */
bool wh_pack_has_room(struct wh_pack *pack, uint32_t bytes);

/* Only after wh_pack_has_room. */
void wh_pack_put(struct wh_pack *pack, const struct wh_record *record);

/* Sends the present chunk. False: `ready` is full. */
bool wh_pack_flush(struct wh_pack *pack);

/*
 * Sends the present chunk, then the end marker, which is stored in `pack`. False: `ready` is full.
 */
bool wh_pack_end(struct wh_pack *pack);

/*
 * Checks and removes the seal of a received chunk; `hasher` has processed all previous chunks.
 * False: not what was sent.
 */
bool wh_pack_check_seal(struct wh_hasher *hasher, struct wh_chunk *chunk);
