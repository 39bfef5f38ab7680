/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * host_rcv: gives whole chunks to the writer, in order, and takes their buffers back. At the
 * stream's end it gives the writer the end marker with the transmitter's digest.
 */

#include "session/session_internal.h"

void wh_host_rcv_give_back(struct wh_session *s, struct wh_chunk *chunk)
{
	struct wh_receiver *rx = &s->rx;

	if (s->landing != NULL) {
		bool pushed = wh_fifo_push(&s->landing->spare, chunk);

		WH_ASSERT(pushed);
		return;
	}
	WH_ASSERT(rx->spares < s->config.chunks);
	rx->spare[rx->spares++] = chunk;
}

static int32_t take_back_buffers(struct wh_session *s)
{
	struct wh_receiver *rx = &s->rx;
	struct wh_chunk *chunk;
	int32_t taken = 0;

	while ((chunk = wh_fifo_pop(&rx->recycled)) != NULL) {
		wh_host_rcv_give_back(s, chunk);
		rx->recycled_count++;
		taken++;
	}
	return taken;
}

static int32_t mark_whole(struct wh_session *s)
{
	struct wh_receiver *rx = &s->rx;
	uint64_t number;
	int32_t marked = 0;

	while (wh_fifo_pop_u64(&rx->arrived, &number)) {
		struct wh_rx_chunk *entry = &rx->rx_chunk[number % s->config.chunks];

		WH_ASSERT(entry->buffer != NULL && entry->buffer->number == number);
		entry->whole = true;
		marked++;
	}
	return marked;
}

static int32_t deliver_in_order(struct wh_session *s)
{
	struct wh_receiver *rx = &s->rx;
	int32_t delivered = 0;

	for (;;) {
		struct wh_rx_chunk *entry = &rx->rx_chunk[rx->next_deliver % s->config.chunks];
		struct wh_chunk *chunk = entry->buffer;

		if (chunk == NULL || !entry->whole)
			return delivered;
		WH_ASSERT(chunk->number == rx->next_deliver);
		chunk->bytes = (entry->k - 1) * s->config.payload_bytes + entry->last_bytes;
		chunk->end = false;
		chunk->order = entry->order;

		bool pushed = wh_fifo_push(&rx->deliver, chunk);

		WH_ASSERT(pushed);
		*entry = (struct wh_rx_chunk){0};
		rx->next_deliver++;
		delivered++;
	}
}

static int32_t deliver_end(struct wh_session *s)
{
	struct wh_receiver *rx = &s->rx;

	if (!rx->total_known || rx->end_delivered || rx->next_deliver < rx->chunks)
		return 0;
	rx->end_marker = (struct wh_chunk){
		.number = rx->chunks,
		.end = true,
		.digest = rx->digest,
	};

	bool pushed = wh_fifo_push(&rx->deliver, &rx->end_marker);

	WH_ASSERT(pushed);
	rx->end_delivered = true;
	return 1;
}

int32_t wh_host_rcv(struct wh_session *s, uint64_t now_tsc)
{
	int32_t mended = wh_session_repairs(s) ? wh_settle(s, now_tsc) : 0;

	return mended + take_back_buffers(s) + mark_whole(s) + deliver_in_order(s) + deliver_end(s);
}
