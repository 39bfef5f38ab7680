/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * rcv: takes data packets, in two steps. The first finds, from a head that is not authenticated
 * yet, what the packet is and where its payload belongs: the rx slot. The second, after
 * authentication, uses the rx slot: it drops duplicates, counts new data and detects gaps. Between
 * the two the session does nothing else, so that the rx slot remains valid. With a landing the RX
 * core does only what landing.c says, and the second step is of the bookkeeping.
 */

#include <string.h>

#include <rte_branch_prediction.h>

#include "session/session_internal.h"

/* The chunk's entry; NULL: a field of the packet contradicts the entry or the parameters. */
static struct wh_rx_chunk *check_place(
	struct wh_session *s, uint64_t pn, const struct wh_data_fields *data)
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
	if (wh_session_repairs(s) && !wh_settle_place(s, entry, pn, data))
		return NULL;
	return entry;
}

/* Where the payload belongs. A new chunk will get the last spare buffer. */
static uint8_t *place_of(
	struct wh_session *s, const struct wh_rx_chunk *entry, const struct wh_data_fields *data)
{
	const struct wh_receiver *rx = &s->rx;
	uint32_t payload_bytes = s->config.payload_bytes;

	/* Credits guarantee a buffer: no more chunks are offered than there are buffers. */
	WH_ASSERT(entry->buffer != NULL || rx->spares > 0);

	const struct wh_chunk *buffer =
		entry->buffer != NULL ? entry->buffer : rx->spare[rx->spares - 1];

	if (data->index < data->k)
		return buffer->data + data->index * payload_bytes;
	return wh_session_repair(s, buffer) + (data->index - data->k) * payload_bytes;
}

static uint64_t *have_bits_of(struct wh_receiver *rx, const struct wh_rx_chunk *entry)
{
	return rx->have_bits + (size_t)(entry - rx->rx_chunk) * rx->have_words;
}

static void begin_chunk(struct wh_session *s, struct wh_rx_chunk *entry, uint64_t pn,
	const struct wh_data_fields *data)
{
	struct wh_receiver *rx = &s->rx;

	entry->buffer =
		s->landing != NULL ? wh_landing_buffer(s, data->chunk) : rx->spare[--rx->spares];
	entry->k = data->k;
	entry->order = data->order;
	entry->have = 0;
	entry->have_bytes = 0;
	entry->whole = false;
	if (wh_session_repairs(s))
		wh_settle_begin(s, entry, pn, data);
	if (s->landing != NULL)
		return; /* the RX core's bits */
	entry->buffer->number = data->chunk;
	memset(have_bits_of(rx, entry), 0, rx->have_words * sizeof(uint64_t));
}

static void measure(struct wh_session *s, uint64_t arrived_tsc, const struct wh_packet *packet)
{
	struct wh_receiver *rx = &s->rx;

	rx->arrived_since_period++;
	wh_arrival_add(&rx->arrival, arrived_tsc);
	if (packet->flags & WH_FLAG_PAIR_FIRST) {
		rx->pair_first_pn = packet->pn;
		rx->pair_first_tsc = arrived_tsc;
	} else if (packet->flags & WH_FLAG_PAIR_SECOND && rx->pair_first_pn + 1 == packet->pn) {
		wh_pair_add(&rx->pair, arrived_tsc - rx->pair_first_tsc);
	}
}

/*
 * A bitmap describes the path, not the stream. So a packet whose retransmission arrives still
 * counts as lost, and a packet that arrives after its repair counts as arrived.
 */
static void tell_arrival(struct wh_session *s, uint64_t now_tsc, const struct wh_packet *arrived)
{
	struct wh_receiver *rx = &s->rx;
	struct wh_packet packet; /* its union is large: only the bitmap is set */

	if (arrived->flags & WH_FLAG_RETRANSMISSION || arrived->pn < s->params.first_pn ||
		!wh_arrived_bitmap_arrive(&rx->arrived_bitmap, arrived->pn))
		return;
	wh_arrived_bitmap_take(&rx->arrived_bitmap, &packet.bitmap);
	wh_arrived_bitmap_pace(
		&rx->arrived_bitmap, wh_bitmap_loss_add(&rx->bitmap_loss, packet.bitmap.first,
					     packet.bitmap.pkts, packet.bitmap.bits));
	wh_session_push_control(s, now_tsc, WH_PACKET_BITMAP, &packet);
}

static void enter(struct wh_session *s, uint64_t now_tsc, uint64_t pn)
{
	struct wh_receiver *rx = &s->rx;
	uint64_t expected = rx->table.highest_end;

	if (pn > expected)
		wh_rcv_note_loss(s, now_tsc, expected, pn);
	else if (pn < expected)
		wh_loss_list_remove(&rx->losses, pn);
	wh_recv_table_enter(&rx->table, pn);
}

/* The last missing data packet has arrived. */
static void complete(struct wh_session *s, struct wh_rx_chunk *entry)
{
	bool pushed = wh_fifo_push_u64(&s->rx.arrived, entry->buffer->number);

	WH_ASSERT(pushed);
	if (entry->asked)
		wh_settle_over(s, entry);
}

static bool has_come(
	struct wh_receiver *rx, const struct wh_rx_chunk *entry, const struct wh_data_fields *data)
{
	return entry->buffer != NULL &&
	       (have_bits_of(rx, entry)[data->index / 64] >> data->index % 64 & 1) != 0;
}

static enum wh_rx_slot_kind judge(
	struct wh_session *s, const struct wh_packet *packet, struct wh_rx_chunk **entry)
{
	struct wh_receiver *rx = &s->rx;
	const struct wh_data_fields *data = &packet->data;

	if (s->role != WH_RECEIVER)
		return WH_RX_SLOT_UNEXPECTED;
	if (s->phase != WH_PHASE_RUNNING)
		return WH_RX_SLOT_DUPLICATE;

	enum wh_recv_verdict verdict = wh_recv_table_classify(&rx->table, packet->pn);

	if (verdict == WH_RECV_DUPLICATE)
		return WH_RX_SLOT_DUPLICATE;
	if (wh_session_repairs(s) && wh_settle_is_decoding(s, data))
		return WH_RX_SLOT_DUPLICATE;
	if (wh_session_repairs(s) && wh_settle_is_past(s, packet))
		return WH_RX_SLOT_PAST;
	if (verdict == WH_RECV_BEYOND || packet->pn >= s->ration.granted_end ||
		data->chunk < rx->next_deliver ||
		data->chunk >= rx->recycled_count + s->config.chunks)
		return WH_RX_SLOT_BEYOND;
	*entry = check_place(s, packet->pn, data);
	if (*entry == NULL || has_come(rx, *entry, data)) /* received under another packet number */
		return WH_RX_SLOT_CONTRADICTS;
	return WH_RX_SLOT_FITS;
}

/*
 * Writes nothing but the rx slot. The caller may write the payload at once, since bytes of a packet
 * that is not counted yet may be overwritten at any time.
 */
void wh_session_place(
	struct wh_session *s, const struct wh_packet *packet, struct wh_rx_slot *rx_slot)
{
	WH_DEBUG_ASSERT(packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR);
	rx_slot->session = s;
	rx_slot->packet = packet;
	rx_slot->entry = NULL;
	rx_slot->to = NULL;
	if (s->landing != NULL) {
		wh_landing_place(s, packet, rx_slot);
		return;
	}
	rx_slot->kind = judge(s, packet, &rx_slot->entry);
	if (rx_slot->kind == WH_RX_SLOT_UNEXPECTED)
		return; /* the owner core of the session is another one */
	rx_slot->step = s->rx.step;
	if (rx_slot->kind == WH_RX_SLOT_FITS && likely(!s->config.payload_virtual))
		rx_slot->to = place_of(s, rx_slot->entry, &packet->data);
}

static void take_new(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet, struct wh_rx_chunk *entry)
{
	struct wh_receiver *rx = &s->rx;
	const struct wh_data_fields *data = &packet->data;
	bool repair = data->index >= data->k;

	WH_ASSERT(s->phase == WH_PHASE_RUNNING);
	if (entry->buffer == NULL)
		begin_chunk(s, entry, packet->pn, data);
	if (s->landing == NULL)
		have_bits_of(rx, entry)[data->index / 64] |= UINT64_C(1) << (data->index % 64);
	if (repair)
		entry->have_repair++;
	else
		entry->have++;
	if (data->index + 1 == data->k)
		entry->last_bytes = data->payload_bytes;

	rx->progress_tsc = now_tsc;
	wh_ration_note(s, data->payload_bytes);
	measure(s, arrived_tsc, packet);
	enter(s, now_tsc, packet->pn);
	wh_session_count(repair ? &s->stats.repair_pkts : &s->stats.received_pkts);
	if (!repair) {
		wh_session_add(&s->stats.received_bytes, data->payload_bytes);
		entry->have_bytes += data->payload_bytes;
	}
	if (entry->have == entry->k && !repair)
		complete(s, entry);
	else if (entry->asked)
		wh_settle_try(s, entry);
}

/* A packet of a chunk that is delivered but not settled yet counts as arrived. */
static void take_past(struct wh_session *s, uint64_t now_tsc, const struct wh_packet *packet)
{
	const struct wh_data_fields *data = &packet->data;

	s->rx.progress_tsc = now_tsc;
	enter(s, now_tsc, packet->pn);
	wh_session_count(data->index < data->k ? &s->stats.duplicate_pkts : &s->stats.repair_pkts);
}

static void take(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet, enum wh_rx_slot_kind kind, struct wh_rx_chunk *entry)
{
	if (unlikely(s->feedback.bitmaps.n_pkts > 0) && s->phase == WH_PHASE_RUNNING &&
		packet->pn < wh_recv_table_upper(&s->rx.table))
		tell_arrival(s, now_tsc, packet);
	if (unlikely(s->feedback.delivery))
		wh_delivery_note(s, arrived_tsc, packet, kind);
	switch (kind) {
	case WH_RX_SLOT_FITS:
		take_new(s, now_tsc, arrived_tsc, packet, entry);
		break;
	case WH_RX_SLOT_DUPLICATE:
		wh_session_count(&s->stats.duplicate_pkts);
		break;
	case WH_RX_SLOT_PAST:
		take_past(s, now_tsc, packet);
		break;
	case WH_RX_SLOT_BEYOND:
		wh_session_bad(s, &s->stats.bad_window_pkts);
		break;
	default:
		WH_ASSERT(kind == WH_RX_SLOT_CONTRADICTS);
		wh_session_bad(s, &s->stats.bad_place_pkts);
	}
	if (unlikely(s->feedback.ack_each) && s->phase == WH_PHASE_RUNNING)
		wh_session_ack(s, now_tsc, packet->pn);
}

static inline void book(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet, enum wh_rx_slot_kind kind, struct wh_rx_chunk *entry)
{
	__atomic_store_n(&s->last_heard_tsc, now_tsc, __ATOMIC_RELAXED);
	wh_session_heard(s, WH_HEAD_BYTES + packet->data.payload_bytes);

	uint8_t before = wh_meter_enter(s->meter, WH_METER_RCV);

	take(s, now_tsc, arrived_tsc, packet, kind, entry);
	wh_meter_leave(s->meter, before);
}

/* Only a peer that contradicts itself sends one packet number in two places. */
static enum wh_rx_slot_kind judge_again(
	const struct wh_session *s, const struct wh_landing_note *note)
{
	if (note->kind != WH_RX_SLOT_FITS)
		return (enum wh_rx_slot_kind)note->kind;
	if (s->phase != WH_PHASE_RUNNING)
		return WH_RX_SLOT_DUPLICATE;
	return wh_recv_table_classify(&s->rx.table, note->pn) == WH_RECV_NEW
		       ? WH_RX_SLOT_FITS
		       : WH_RX_SLOT_CONTRADICTS;
}

int32_t wh_rcv_book(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_slot_fifo *notes = &s->landing->notes;
	struct wh_slot *slot;
	struct wh_packet packet; /* its union is large: only what data needs is set */
	int32_t taken = 0;

	packet.payload = NULL;
	packet.cid = s->local_cid;
	for (; (slot = wh_slot_fifo_peek(notes)) != NULL; taken++) {
		const struct wh_landing_note *note = (const struct wh_landing_note *)slot->data;

		packet.type = (enum wh_packet_type)note->type;
		packet.flags = note->flags;
		packet.pn = note->pn;
		packet.data = note->data;
		s->looked_tsc = note->looked_tsc;
		/* The time is of another core, whose turn may have begun after this one. */
		book(s, now_tsc, wh_min_u64(slot->when_tsc, now_tsc), &packet, judge_again(s, note),
			&s->rx.rx_chunk[note->data.chunk % s->config.chunks]);
		wh_slot_fifo_release(notes);
	}
	return taken;
}

void wh_session_take(struct wh_rx_slot *rx_slot, uint64_t now_tsc, uint64_t arrived_tsc)
{
	struct wh_session *s = rx_slot->session;

	WH_DEBUG_ASSERT(rx_slot->packet->cid == s->local_cid && arrived_tsc <= now_tsc);
	if (rx_slot->kind == WH_RX_SLOT_UNEXPECTED) {
		wh_session_count(&s->away.bad_pkts);
		wh_session_count(&s->away.bad_unexpected_pkts);
		return;
	}
	if (s->landing != NULL) {
		wh_landing_take(rx_slot, arrived_tsc);
		return;
	}
	WH_ASSERT(rx_slot->step == s->rx.step);
	s->rx.step++;
	book(s, now_tsc, arrived_tsc, rx_slot->packet, rx_slot->kind, rx_slot->entry);
}
