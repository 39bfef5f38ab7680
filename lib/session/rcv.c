/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * rcv: takes one data packet: checks it against what this end offered, drops duplicates, copies
 * the payload to its place in the chunk (the receiver's one copy) unless that was done while its
 * tag was checked, and sees gaps at once.
 */

#include <string.h>

#include <rte_branch_prediction.h>

#include "session/internal.h"

void wh_rcv_ask(struct wh_session *s, uint64_t now_tsc, uint64_t first, uint64_t end)
{
	struct wh_receiver *rx = &s->rx;

	WH_ASSERT(first < end && end <= wh_recv_table_upper(&rx->table));
	wh_loss_list_insert(&rx->losses, first, end, now_tsc);

	/* When there are too many for one immediate NAK, the timer reports the rest. */
	if (rx->fresh_losses < WH_RANGES_MAX)
		rx->fresh_loss[rx->fresh_losses++] = (struct wh_loss_range){first, end};
}

void wh_rcv_note_loss(struct wh_session *s, uint64_t now_tsc, uint64_t first, uint64_t end)
{
	wh_session_add(&s->stats.losses_detected_pkts, end - first);
	wh_session_count(&s->stats.loss_events);
	if (!wh_session_mends(s))
		wh_rcv_ask(s, now_tsc, first, end);
}

/* The chunk's entry when every field of the packet agrees with it and with the parameters. */
static struct wh_rx_chunk *check_place(
	struct wh_session *s, uint64_t serial, const struct wh_data_fields *data)
{
	struct wh_receiver *rx = &s->rx;
	struct wh_rx_chunk *entry = &rx->rx_chunk[data->chunk % s->config.chunks];

	if (data->k > s->chunk_packets || data->r > s->config.repair.repair_pkts)
		return NULL;
	if (entry->buffer != NULL && entry->k != data->k)
		return NULL;
	if (data->index + 1 != data->k && data->payload_bytes != s->config.payload_bytes)
		return NULL;
	if (data->index < data->k &&
		data->index * s->config.payload_bytes + data->payload_bytes > s->config.chunk_bytes)
		return NULL;
	if (wh_session_mends(s) && !wh_mend_place(s, entry, serial, data))
		return NULL;
	return entry;
}

/* Where the payload goes. */
static uint8_t *place_of(
	struct wh_session *s, const struct wh_rx_chunk *entry, const struct wh_data_fields *data)
{
	uint32_t payload_bytes = s->config.payload_bytes;

	if (data->index < data->k)
		return entry->buffer->data + data->index * payload_bytes;
	return wh_session_repair(s, entry->buffer) + (data->index - data->k) * payload_bytes;
}

static uint64_t *have_bits_of(struct wh_receiver *rx, const struct wh_rx_chunk *entry)
{
	return rx->have_bits + (size_t)(entry - rx->rx_chunk) * rx->have_words;
}

static void begin_chunk(struct wh_session *s, struct wh_rx_chunk *entry, uint64_t serial,
	const struct wh_data_fields *data)
{
	struct wh_receiver *rx = &s->rx;

	/* Credits: no more chunks are offered than there are buffers. */
	WH_ASSERT(rx->spares > 0);
	entry->buffer = rx->spare[--rx->spares];
	entry->buffer->number = data->chunk;
	entry->k = data->k;
	entry->have = 0;
	entry->have_bytes = 0;
	entry->whole = false;
	if (wh_session_mends(s))
		wh_mend_begin(s, entry, serial, data);
	memset(have_bits_of(rx, entry), 0, rx->have_words * sizeof(uint64_t));
}

static void measure(struct wh_session *s, uint64_t arrived_tsc, const struct wh_packet *packet)
{
	struct wh_receiver *rx = &s->rx;

	rx->arrived_since_period++;
	wh_arrival_add(&rx->arrival, arrived_tsc);
	if (packet->flags & WH_FLAG_PAIR_FIRST) {
		rx->pair_first_serial = packet->serial;
		rx->pair_first_tsc = arrived_tsc;
	} else if (packet->flags & WH_FLAG_PAIR_SECOND &&
		   rx->pair_first_serial + 1 == packet->serial) {
		wh_pair_add(&rx->pair, arrived_tsc - rx->pair_first_tsc);
	}
}

/*
 * A bitmap is of the path: whatever is sent again was lost on it, and what repair packets brought
 * back, or nobody needs any more, comes in none the less.
 */
static void tell_arrival(struct wh_session *s, uint64_t now_tsc, const struct wh_packet *arrived)
{
	struct wh_receiver *rx = &s->rx;
	struct wh_packet packet; /* its union is large: only the bitmap is set */

	if (arrived->flags & WH_FLAG_RETRANSMISSION || arrived->serial < s->params.first_serial ||
		!wh_path_bitmap_arrive(&rx->path_bitmap, arrived->serial))
		return;
	wh_path_bitmap_take(&rx->path_bitmap, &packet.bitmap);
	wh_path_bitmap_pace(
		&rx->path_bitmap, wh_bitmap_loss_add(&rx->bitmap_loss, packet.bitmap.first,
					  packet.bitmap.pkts, packet.bitmap.bits));
	wh_session_push_control(s, now_tsc, WH_PACKET_BITMAP, &packet);
}

void wh_rcv_enter(struct wh_session *s, uint64_t now_tsc, uint64_t serial)
{
	struct wh_receiver *rx = &s->rx;
	uint64_t expected = rx->table.highest_end;

	if (serial > expected)
		wh_rcv_note_loss(s, now_tsc, expected, serial);
	else if (serial < expected)
		wh_loss_list_remove(&rx->losses, serial);
	wh_recv_table_enter(&rx->table, serial);
}

/* What was never received may be written over at any time: it counts with its bit alone. */
uint8_t *wh_session_place(struct wh_session *s, const struct wh_packet *packet)
{
	struct wh_receiver *rx = &s->rx;
	const struct wh_data_fields *data = &packet->data;

	WH_DEBUG_ASSERT(packet->type == WH_PACKET_DATA);
	if (s->role != WH_RECEIVER || s->phase != WH_PHASE_RUNNING || s->config.payload_virtual ||
		wh_recv_table_classify(&rx->table, packet->serial) != WH_RECV_NEW ||
		data->chunk < rx->next_deliver ||
		data->chunk >= rx->recycled_count + s->config.chunks)
		return NULL;

	const struct wh_rx_chunk *entry = check_place(s, packet->serial, data);

	if (entry == NULL || entry->buffer == NULL || entry->decoding ||
		have_bits_of(rx, entry)[data->index / 64] & UINT64_C(1) << (data->index % 64))
		return NULL;
	return place_of(s, entry, data);
}

/* The last data packet that was missing has come. */
static void complete(struct wh_session *s, struct wh_rx_chunk *entry)
{
	bool pushed = wh_fifo_push_u64(&s->rx.arrived, entry->buffer->number);

	WH_ASSERT(pushed);
	if (entry->asked)
		wh_mend_over(s, entry);
}

void wh_rcv(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	struct wh_receiver *rx = &s->rx;
	const struct wh_data_fields *data = &packet->data;
	enum wh_recv_verdict verdict = wh_recv_table_classify(&rx->table, packet->serial);

	if (unlikely(s->config.profile->bitmaps) && verdict != WH_RECV_BEYOND)
		tell_arrival(s, now_tsc, packet);
	if (verdict == WH_RECV_DUPLICATE) {
		wh_session_count(&s->stats.duplicate_pkts);
		return;
	}
	if (wh_session_mends(s) && wh_mend_is_over(s, now_tsc, packet))
		return;
	if (verdict == WH_RECV_BEYOND || data->chunk < rx->next_deliver ||
		data->chunk >= rx->recycled_count + s->config.chunks) {
		wh_session_bad(s, &s->stats.bad_window_pkts);
		return;
	}

	struct wh_rx_chunk *entry = check_place(s, packet->serial, data);

	if (entry == NULL)
		goto bad_place;
	if (entry->buffer == NULL)
		begin_chunk(s, entry, packet->serial, data);

	uint64_t *have_word = &have_bits_of(rx, entry)[data->index / 64];
	uint64_t have_bit = UINT64_C(1) << (data->index % 64);

	if (*have_word & have_bit)
		goto bad_place; /* under another serial */
	*have_word |= have_bit;
	if (likely(!s->config.payload_virtual) && packet->payload != place_of(s, entry, data))
		memcpy(place_of(s, entry, data), packet->payload, data->payload_bytes);
	if (data->index >= data->k)
		entry->have_repair++;
	else
		entry->have++;
	if (data->index + 1 == data->k)
		entry->last_bytes = data->payload_bytes;

	rx->progress_tsc = now_tsc;
	measure(s, arrived_tsc, packet);
	wh_rcv_enter(s, now_tsc, packet->serial);
	wh_session_count(data->index < data->k ? &s->stats.received_pkts : &s->stats.repair_pkts);
	if (data->index < data->k) {
		wh_session_add(&s->stats.received_bytes, data->payload_bytes);
		entry->have_bytes += data->payload_bytes;
	}
	if (entry->have == entry->k && data->index < data->k)
		complete(s, entry);
	else if (entry->asked)
		wh_mend_try(s, entry);
	return;

bad_place:
	wh_session_bad(s, &s->stats.bad_place_pkts);
}
