/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BUNDLE_PACK_H
#define WH_BUNDLE_PACK_H

/*
 * Records on their way out: put one after the other into chunks from `free`, which go into `ready`
 * when they are full or flushed; at the end the end marker, with the digest of all of them. Each
 * chunk closes with a seal, the digest of all records up to there: who does not know what has gone
 * before cannot put a chunk in another's place, and no record counts before its seal is checked.
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

/* Whether a record of so many bytes can be put; flushes and takes another chunk if need be. */
bool wh_pack_has_room(struct wh_pack *pack, uint32_t bytes);

/* Only after wh_pack_has_room. */
void wh_pack_put(struct wh_pack *pack, const struct wh_record *record);

/* Sends what is there. False: `ready` is full. */
bool wh_pack_flush(struct wh_pack *pack);

/* Sends what is there, then the end marker, which lies in `pack`. False: `ready` is full. */
bool wh_pack_end(struct wh_pack *pack);

/*
 * Takes the seal off a chunk that came, whose predecessors `hasher` has seen: its bytes are those
 * of its records then. False: it is not what was sent.
 */
bool wh_pack_check_seal(struct wh_hasher *hasher, struct wh_chunk *chunk);

#endif
