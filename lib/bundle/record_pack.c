/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/record_pack.h"

#include <string.h>

#include "base/assert.h"

void wh_pack_init(struct wh_pack *pack, uint64_t first_chunk, uint32_t chunk_bytes,
	struct wh_fifo *free, struct wh_fifo *ready)
{
	WH_ASSERT(chunk_bytes > WH_SEAL_BYTES);
	wh_hasher_init(&pack->hasher);
	pack->free = free;
	pack->ready = ready;
	pack->chunk_bytes = chunk_bytes - (uint32_t)WH_SEAL_BYTES;
	pack->number = first_chunk;
	pack->chunk = NULL;
}

bool wh_pack_has_room(struct wh_pack *pack, uint32_t bytes)
{
	WH_ASSERT(bytes <= pack->chunk_bytes);
	if (pack->chunk != NULL && bytes <= pack->chunk_bytes - pack->chunk->bytes)
		return true;
	if (!wh_pack_flush(pack))
		return false;
	if (pack->chunk == NULL)
		pack->chunk = wh_fifo_pop(pack->free);
	if (pack->chunk == NULL)
		return false;
	pack->chunk->bytes = 0;
	pack->chunk->end = false;
	return true;
}

void wh_pack_put(struct wh_pack *pack, const struct wh_record *record)
{
	struct wh_chunk *chunk = pack->chunk;

	WH_ASSERT(chunk != NULL);

	uint32_t bytes = wh_record_encode(
		record, chunk->data + chunk->bytes, pack->chunk_bytes - chunk->bytes);

	WH_ASSERT(bytes > 0);
	chunk->bytes += bytes;
	WH_ASSERT(chunk->bytes <= pack->chunk_bytes);
}

static void seal(struct wh_hasher *hasher, struct wh_chunk *chunk)
{
	struct wh_digest digest;

	wh_hasher_add(hasher, chunk->data, chunk->bytes);
	wh_hasher_digest(hasher, &digest);
	memcpy(chunk->data + chunk->bytes, &digest, WH_SEAL_BYTES);
	chunk->bytes += (uint32_t)WH_SEAL_BYTES;
}

bool wh_pack_check_seal(struct wh_hasher *hasher, struct wh_chunk *chunk)
{
	struct wh_digest digest;

	if (chunk->bytes <= WH_SEAL_BYTES)
		return false;
	chunk->bytes -= (uint32_t)WH_SEAL_BYTES;
	wh_hasher_add(hasher, chunk->data, chunk->bytes);
	wh_hasher_digest(hasher, &digest);
	return memcmp(&digest, chunk->data + chunk->bytes, WH_SEAL_BYTES) == 0;
}

bool wh_pack_flush(struct wh_pack *pack)
{
	struct wh_chunk *chunk = pack->chunk;

	if (chunk == NULL || chunk->bytes == 0)
		return true;
	if (wh_fifo_room(pack->ready) == 0)
		return false;
	WH_ASSERT(!chunk->end && chunk->bytes <= pack->chunk_bytes);
	chunk->number = pack->number++;
	seal(&pack->hasher, chunk);
	pack->chunk = NULL;

	bool pushed = wh_fifo_push(pack->ready, chunk);

	WH_ASSERT(pushed); /* we are the only producer, so room does not disappear */
	return true;
}

bool wh_pack_end(struct wh_pack *pack)
{
	if (!wh_pack_flush(pack) || wh_fifo_room(pack->ready) == 0)
		return false;
	WH_ASSERT(pack->chunk == NULL || pack->chunk->bytes == 0);
	pack->end = (struct wh_chunk){.number = pack->number, .end = true};
	wh_hasher_digest(&pack->hasher, &pack->end.digest);

	bool pushed = wh_fifo_push(pack->ready, &pack->end);

	WH_ASSERT(pushed);
	return true;
}
