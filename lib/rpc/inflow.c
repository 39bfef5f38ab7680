/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/inflow.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "bundle/record_pack.h"

void wh_inflow_init(struct wh_inflow *inflow, struct wh_fifo *deliver, struct wh_fifo *recycled)
{
	WH_ASSERT(deliver != NULL && recycled != NULL);
	wh_hasher_init(&inflow->hasher);
	inflow->deliver = deliver;
	inflow->recycled = recycled;
	inflow->chunk = NULL;
	inflow->at = 0;
	inflow->ended = false;
}

static void give_back(struct wh_inflow *inflow, struct wh_chunk *chunk)
{
	bool pushed = wh_fifo_push(inflow->recycled, chunk);

	WH_ASSERT(pushed); /* it has room for all chunks of its session */
}

static int take_end(struct wh_inflow *inflow, const struct wh_chunk *end)
{
	struct wh_digest digest;

	wh_hasher_digest(&inflow->hasher, &digest);
	inflow->ended = true;
	return memcmp(&digest, &end->digest, sizeof(digest)) == 0 ? 0 : -EBADMSG;
}

/* 1: a chunk is ready. */
static int next_chunk(struct wh_inflow *inflow)
{
	struct wh_chunk *chunk = inflow->ended ? NULL : wh_fifo_pop(inflow->deliver);

	if (chunk == NULL)
		return 0;
	if (chunk->end) /* the marker belongs to its sender */
		return take_end(inflow, chunk);
	if (!wh_pack_check_seal(&inflow->hasher, chunk)) {
		give_back(inflow, chunk);
		return -EBADMSG;
	}
	WH_ASSERT(chunk->bytes > 0);
	inflow->chunk = chunk;
	inflow->at = 0;
	return 1;
}

int wh_inflow_next(struct wh_inflow *inflow, struct wh_record *record)
{
	struct wh_chunk *chunk = inflow->chunk;

	if (chunk != NULL && inflow->at == chunk->bytes) {
		inflow->chunk = NULL;
		give_back(inflow, chunk);
	}
	if (inflow->chunk == NULL) {
		int rc = next_chunk(inflow);

		if (rc <= 0)
			return rc;
	}
	chunk = inflow->chunk;

	uint32_t bytes =
		wh_record_decode(chunk->data + inflow->at, chunk->bytes - inflow->at, record);

	if (bytes == 0)
		return -EPROTO;
	inflow->at += bytes;
	WH_ASSERT(inflow->at <= chunk->bytes);
	return 1;
}
