/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * trans: chooses what is sent next: control first, then retransmissions, then new data. Data and
 * retransmissions wait for the pacer.
 */

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "session/apart/acks.h"
#include "session/session_internal.h"

/* Bytes that each packet takes on the wire beside its own. */
static uint32_t frame_overhead_bytes(const struct wh_session *s)
{
	return s->config.wire_bytes - s->config.payload_bytes - WH_HEAD_BYTES;
}

/*
 * If the profile's rate includes control packets, they are charged as well. At a very low rate the
 * reports of every period would leave nothing for data. So no more than one packet's worth is
 * charged between two data packets.
 */
static void charge_control(struct wh_session *s, uint64_t now_tsc, uint32_t packet_bytes)
{
	struct wh_transmitter *tx = &s->tx;
	uint64_t interval_tsc = tx->pacer.interval_fp >> WH_INTERVAL_FRACTION_BITS;
	uint32_t wire_bytes = packet_bytes + frame_overhead_bytes(s);

	if (s->phase != WH_PHASE_RUNNING || !s->config.profile->control_is_paced ||
		tx->pacer.due_tsc > now_tsc + interval_tsc ||
		tx->control_charged_bytes >= s->config.wire_bytes)
		return;
	wh_pacer_charge(&tx->pacer, now_tsc, wire_bytes);
	tx->control_charged_bytes += wire_bytes;
}

/* May run on the other core of a receiver: it uses only the outbox and `stats`. */
static uint32_t send_control(struct wh_session *s, struct wh_session_stats *stats, uint64_t now_tsc,
	struct wh_out *out, uint32_t count)
{
	uint32_t sent = 0;

	while (sent < count) {
		struct wh_slot *slot = wh_slot_fifo_peek(&s->outbox);

		if (slot == NULL)
			break;
		WH_ASSERT(slot->bytes <= WH_CONTROL_BYTES_MAX);
		memcpy(out[sent].head, slot->data, slot->bytes);
		out[sent].head_bytes = slot->bytes;
		out[sent].payload = NULL;
		out[sent].payload_bytes = 0;
		out[sent].to = wh_peer_address_now(&s->peer);
		out[sent].cut = false; /* short enough for any path */
		wh_slot_fifo_release(&s->outbox);
		if (s->role == WH_TRANSMITTER)
			charge_control(s, now_tsc, out[sent].head_bytes);
		wh_session_count(&stats->control_sent_pkts);
		sent++;
	}
	return sent;
}

/* Computed once per turn: the division costs more than the rest of the head. */
static uint32_t stamp(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;

	if (tx->stamp_tsc != now_tsc) {
		tx->stamp_tsc = now_tsc;
		tx->stamp = wh_session_stamp(s, now_tsc);
		if (s->feedback.resend == WH_RESEND_LATE)
			tx->stamp_us = wh_session_now_us(s, now_tsc);
	}
	return tx->stamp;
}

static const uint8_t *payload_of(
	const struct wh_session *s, const struct wh_chunk *chunk, uint32_t index)
{
	const struct wh_tx_chunk *sending = &s->tx.tx_chunk[chunk->slot];
	size_t payload_bytes = s->config.payload_bytes;

	if (s->config.payload_virtual)
		return NULL;
	if (index < sending->shape.k)
		return chunk->data + index * payload_bytes;
	return wh_session_repair(s, chunk) + (index - sending->shape.k) * payload_bytes;
}

static void write_data(
	struct wh_session *s, uint64_t now_tsc, uint64_t pn, uint8_t flags, struct wh_out *out)
{
	struct wh_transmitter *tx = &s->tx;
	struct wh_sent_record *record = wh_sent_table_record(&tx->table, pn);
	const struct wh_chunk *chunk = &s->chunk[record->chunk_slot];
	const struct wh_tx_chunk *sending = &tx->tx_chunk[record->chunk_slot];
	struct wh_packet packet; /* its union is large: only what data needs is set */
	uint32_t wire_bytes;

	packet.type = record->index < sending->shape.k ? WH_PACKET_DATA : WH_PACKET_REPAIR;
	packet.flags = flags;
	packet.cid = s->peer_cid;
	packet.pn = pn;
	packet.payload = payload_of(s, chunk, record->index);
	packet.data = (struct wh_data_fields){
		.chunk = (uint32_t)chunk->number,
		.index = record->index,
		.k = (uint16_t)sending->shape.k,
		.r = (uint16_t)sending->shape.r,
		.code = (uint8_t)sending->shape.code,
		.payload_bytes = (uint16_t)wh_session_payload_bytes(s, record),
		.order = chunk->order,
		.transmission = tx->transmission++,
		.stamp = stamp(s, now_tsc),
	};
	if (sending->shape.code != WH_FEC_NONE) {
		packet.data.blocks = (uint16_t)sending->shape.blocks;
		packet.data.last_bytes =
			(uint16_t)(chunk->bytes - (sending->shape.k - 1) * s->config.payload_bytes);
	}
	wh_packet_encode_data(&packet, out->head);
	out->payload = packet.payload;
	out->head_bytes = WH_HEAD_BYTES;
	out->payload_bytes = packet.data.payload_bytes;
	out->to = wh_peer_address_now(&s->peer);
	out->cut = now_tsc < tx->cut_until_tsc;

	if (unlikely(tx->sent_tsc != NULL))
		tx->sent_tsc[pn & tx->table.mask] = flags & WH_FLAG_RETRANSMISSION ? 0 : now_tsc;
	if (pn >= tx->sent_end)
		tx->sent_end = pn + 1;
	if (s->feedback.resend != WH_RESEND_ASKED)
		wh_sent_table_set_due(&tx->table, pn, wh_retransmit_due(s, now_tsc));
	if (s->stats.first_sent_tsc == 0)
		__atomic_store_n(&s->stats.first_sent_tsc, now_tsc, __ATOMIC_RELAXED);
	wh_session_count(&s->stats.sent_pkts);
	if (packet.type == WH_PACKET_REPAIR)
		wh_session_count(&s->stats.repair_pkts);
	wire_bytes = out->head_bytes + out->payload_bytes + frame_overhead_bytes(s);
	wh_pacer_charge(&tx->pacer, now_tsc, wire_bytes);
	wh_ration_spend(s, now_tsc, wire_bytes);
	tx->control_charged_bytes = 0;
}

/* The next packet number in the retransmission FIFO that is still unacknowledged. */
static bool next_retransmission(struct wh_transmitter *tx, uint64_t *pn)
{
	while (wh_fifo_pop_u64(&tx->retransmits, pn))
		if (wh_sent_table_unqueue(&tx->table, *pn))
			return true;
	return false;
}

/*
 * Packet pairs (udt.txt III C): after every pair_period_pkts-th packet the next one does not wait.
 * The paper does not say whether it is charged. It is here, so that the mean rate is the one that
 * the controller assumes: the paper's own evaluation needs C to be the rate. The second packet must
 * be full, because (6) takes its time on the line for that of a full packet.
 */
static uint8_t pair_flags(struct wh_session *s, uint64_t pn, uint32_t room)
{
	struct wh_transmitter *tx = &s->tx;
	uint32_t period_pkts = s->feedback.pair_period_pkts;

	if (tx->pair_open) {
		tx->pair_open = false;
		return WH_FLAG_PAIR_SECOND;
	}
	if (period_pkts == 0 || pn % period_pkts != 0 || room < 2 ||
		wh_fifo_count(&tx->fresh) == 0 ||
		wh_session_payload_bytes(s, wh_sent_table_record(&tx->table, pn + 1)) <
			s->config.payload_bytes)
		return 0;
	tx->pair_open = true;
	return WH_FLAG_PAIR_FIRST;
}

/* Stops data for this turn; unused time is not saved up. */
static enum wh_limit pause_data(struct wh_transmitter *tx, uint64_t now_tsc, enum wh_limit limit)
{
	wh_pacer_idle(&tx->pacer, now_tsc);
	tx->paused = true;
	return limit;
}

/* Writes the heads of data packets while allowed, unsealed; returns why it stopped. */
static enum wh_limit write_burst(
	struct wh_session *s, uint64_t now_tsc, struct wh_out *out, uint32_t count, uint32_t *sent)
{
	struct wh_transmitter *tx = &s->tx;
	uint64_t pn;

	while (*sent < count) {
		if (!wh_session_data_waits(tx)) {
			tx->held_up |= tx->admission_held_up;
			return pause_data(tx, now_tsc, tx->admission_limit);
		}
		/* A silent peer gets no data until it sends again. */
		if (tx->peer_silent)
			return pause_data(tx, now_tsc, WH_LIMIT_PEER);
		if (!tx->pair_open && !tx->late.probe_waits && !wh_pacer_due(&tx->pacer, now_tsc))
			return wh_ration_limit(s, tx->pace_limit);
		if (!tx->pair_open && !wh_ration_allows(s, now_tsc)) {
			tx->held_up = true;
			return pause_data(tx, now_tsc, WH_LIMIT_RATE);
		}
		if (!tx->pair_open && next_retransmission(tx, &pn)) {
			tx->late.probe_waits = false;
			write_data(s, now_tsc, pn, WH_FLAG_RETRANSMISSION, &out[*sent]);
			wh_session_count(&s->stats.retransmitted_pkts);
		} else if (!tx->late.probe_waits && wh_fifo_pop_u64(&tx->fresh, &pn)) {
			uint8_t flags = pair_flags(s, pn, count - *sent);

			write_data(s, now_tsc, pn, flags, &out[*sent]);
		} else {
			/* All of `retransmits` was acknowledged meanwhile: there is no probe. */
			tx->late.probe_waits = false;
			continue;
		}
		(*sent)++;
	}
	/* The burst is full. If the next packet is due, the pacer counts the delay as lateness. */
	return wh_ration_limit(s, tx->pace_limit);
}

/* Seals the payload. A short or encrypted one is written behind the head in the same pass. */
static void close_data(const struct wh_session *s, struct wh_out *out)
{
	const uint8_t *payload = out->payload;
	bool copied = out->payload_bytes < s->config.attach_bytes || s->sa != NULL;
	uint8_t *to = copied ? out->head + WH_HEAD_BYTES : NULL;

	wh_seal_close(&s->send_seal, out->head, payload, out->payload_bytes, to);
	if (copied)
		out->payload = to;
}

/*
 * Prefetches the payload that is sealed next. Behind the last packet of a burst lies, most likely,
 * the first one of a later burst. Chunks are larger than caches, and the processor's own
 * prefetching does not keep up with a cipher (test/perf/packet.c).
 */
static void fetch_next(const struct wh_session *s, const struct wh_out *out, bool is_last)
{
	const uint8_t *next = is_last ? out->payload + out->payload_bytes : out[1].payload;
	uint32_t bytes = is_last ? out->payload_bytes : out[1].payload_bytes;

	if (!s->send_seal.ops->encrypts)
		return;
	for (uint32_t at = 0; at < bytes; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(next + at);
}

/*
 * Sends data while allowed; returns why it stopped. Packets are sealed after all heads are written:
 * the seal loads a head in wider pieces than it was stored in, so store forwarding fails and the
 * load would wait until the stores are in the cache (test/perf/packet.c).
 */
static enum wh_limit send_data(
	struct wh_session *s, uint64_t now_tsc, struct wh_out *out, uint32_t count, uint32_t *sent)
{
	uint32_t first = *sent;
	enum wh_limit limit = write_burst(s, now_tsc, out, count, sent);

	for (uint32_t i = first; i < *sent && likely(!s->config.payload_virtual); i++) {
		fetch_next(s, &out[i], i + 1 == *sent);
		close_data(s, &out[i]);
	}
	return limit;
}

/* Once everything is sent, waiting for the last acknowledgements limits no flow. */
static bool is_all_sent(const struct wh_transmitter *tx)
{
	return tx->end_seen && tx->sent_end == tx->table.admitted_end && !wh_session_data_waits(tx);
}

/*
 * Attributes the time since the last turn to what limited the flow then. If that was the pace, the
 * lateness that the pacer has forfeited since goes to the CPU: packets were due and the core was
 * late.
 */
static void count_limit(struct wh_session *s, uint64_t span_tsc, uint64_t late_tsc)
{
	enum wh_limit limit = s->tx.limit_now;

	late_tsc = wh_min_u64(late_tsc, span_tsc);
	wh_session_add(&s->stats.limit_tsc[WH_LIMIT_CPU], late_tsc);
	if (limit != WH_LIMIT_NONE)
		wh_session_add(&s->stats.limit_tsc[limit], span_tsc - late_tsc);
}

uint32_t wh_trans(struct wh_session *s, uint64_t now_tsc, struct wh_out *out, uint32_t count)
{
	struct wh_transmitter *tx = &s->tx;

	if (s->role == WH_RECEIVER)
		return send_control(s, &s->away, now_tsc, out, count);

	/* Packets that arrive in this turn are not late if none waited before. */
	if (!wh_session_data_waits(tx)) {
		wh_pacer_idle(&tx->pacer, now_tsc);
		tx->control_charged_bytes = 0;
	}
	bool was_paced = !tx->paused;
	uint64_t forfeited_tsc = tx->pacer.forfeited_tsc;

	tx->paused = false;

	uint32_t sent = send_control(s, &s->stats, now_tsc, out, count);

	if (s->phase != WH_PHASE_RUNNING)
		return sent;

	bool was_all_sent = is_all_sent(tx);
	enum wh_limit limit = send_data(s, now_tsc, out, count, &sent);

	if (s->acks != NULL)
		wh_acks_tell_sent(s);
	if (!was_all_sent)
		count_limit(s, now_tsc - tx->limit_since_tsc,
			was_paced ? tx->pacer.forfeited_tsc - forfeited_tsc : 0);
	tx->limit_since_tsc = now_tsc;
	__atomic_store_n(&tx->limit_now, limit, __ATOMIC_RELAXED);
	return sent;
}
