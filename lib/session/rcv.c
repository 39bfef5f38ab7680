/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * rcv: takes one data packet: checks it against what this end offered, drops duplicates, copies
 * the payload to its place in the chunk (the receiver's one copy) unless that was done while its
 * tag was checked, and sees gaps at once.
 */

#include <string.h>

#include <rte_branch_prediction.h>

#include "session/internal.h"

void wh_rcv_note_loss(struct wh_session *s, uint64_t now_tsc, uint64_t first, uint64_t end)
{
	struct wh_receiver *rx = &s->rx;

	WH_ASSERT(first < end && end <= wh_recv_table_upper(&rx->table));
	wh_loss_list_insert(&rx->losses, first, end, now_tsc);
	wh_session_add(&s->stats.losses_detected_pkts, end - first);

	/* When there are too many for one immediate NAK, the timer reports the rest. */
	if (rx->fresh_losses < WH_RANGES_MAX)
		rx->fresh_loss[rx->fresh_losses++] = (struct wh_loss_range){first, end};
}

/* The chunk's entry when every field of the packet agrees with it and with the parameters. */
static struct wh_rx_chunk *check_place(struct wh_session *s, const struct wh_data_fields *data)
{
	struct wh_receiver *rx = &s->rx;
	struct wh_rx_chunk *entry = &rx->rx_chunk[data->chunk % s->config.chunks];

	if (data->block != 0 || data->r != 0 || data->k > s->chunk_packets)
		return NULL;
	if (entry->buffer != NULL && entry->k != data->k)
		return NULL;
	if (data->index + 1 < data->k && data->payload_bytes != s->config.payload_bytes)
		return NULL;
	if (data->index * s->config.payload_bytes + data->payload_bytes > s->config.chunk_bytes)
		return NULL;
	return entry;
}

static uint64_t *have_bits_of(struct wh_receiver *rx, const struct wh_rx_chunk *entry)
{
	return rx->have_bits + (size_t)(entry - rx->rx_chunk) * rx->have_words;
}

static void begin_chunk(
	struct wh_session *s, struct wh_rx_chunk *entry, const struct wh_data_fields *data)
{
	struct wh_receiver *rx = &s->rx;

	/* Credits: no more chunks are offered than there are buffers. */
	WH_ASSERT(rx->spares > 0);
	entry->buffer = rx->spare[--rx->spares];
	entry->buffer->number = data->chunk;
	entry->k = data->k;
	entry->have = 0;
	entry->whole = false;
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

static void enter(struct wh_session *s, uint64_t now_tsc, uint64_t serial)
{
	struct wh_receiver *rx = &s->rx;
	uint64_t expected = rx->table.highest_end;

	if (serial > expected)
		wh_rcv_note_loss(s, now_tsc, expected, serial);
	else if (serial < expected)
		wh_loss_list_remove(&rx->losses, serial);
	wh_recv_table_enter(&rx->table, serial);
}

static uint8_t *place_in(const struct wh_session *s, const struct wh_rx_chunk *entry,
	const struct wh_data_fields *data)
{
	return entry->buffer->data + (size_t)data->index * s->config.payload_bytes;
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

	const struct wh_rx_chunk *entry = check_place(s, data);

	if (entry == NULL || entry->buffer == NULL ||
		have_bits_of(rx, entry)[data->index / 64] & UINT64_C(1) << (data->index % 64))
		return NULL;
	return place_in(s, entry, data);
}

void wh_rcv(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	struct wh_receiver *rx = &s->rx;
	const struct wh_data_fields *data = &packet->data;
	enum wh_recv_verdict verdict = wh_recv_table_classify(&rx->table, packet->serial);

	if (verdict == WH_RECV_DUPLICATE) {
		wh_session_count(&s->stats.duplicate_pkts);
		return;
	}
	if (verdict == WH_RECV_BEYOND || data->chunk < rx->next_deliver ||
		data->chunk >= rx->recycled_count + s->config.chunks) {
		wh_session_bad(s, &s->stats.bad_window_pkts);
		return;
	}

	struct wh_rx_chunk *entry = check_place(s, data);

	if (entry == NULL)
		goto bad_place;
	if (entry->buffer == NULL)
		begin_chunk(s, entry, data);

	uint64_t *have_word = &have_bits_of(rx, entry)[data->index / 64];
	uint64_t have_bit = UINT64_C(1) << (data->index % 64);

	if (*have_word & have_bit)
		goto bad_place; /* under another serial */
	*have_word |= have_bit;
	if (likely(!s->config.payload_virtual) && packet->payload != place_in(s, entry, data))
		memcpy(place_in(s, entry, data), packet->payload, data->payload_bytes);
	if (data->index + 1 == data->k)
		entry->last_bytes = data->payload_bytes;
	if (++entry->have == entry->k) {
		bool pushed = wh_fifo_push_u64(&rx->arrived, data->chunk);

		WH_ASSERT(pushed);
	}

	rx->progress_tsc = now_tsc;
	measure(s, arrived_tsc, packet);
	enter(s, now_tsc, packet->serial);
	wh_session_count(&s->stats.received_pkts);
	wh_session_add(&s->stats.received_bytes, data->payload_bytes);
	return;

bad_place:
	wh_session_bad(s, &s->stats.bad_place_pkts);
}
