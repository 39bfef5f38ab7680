/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * host_trans: admits the packets of ready chunks, in order, while the peer has buffers and the
 * window allows. An admitted packet gets a packet number and an entry in the sender's table.
 */

#include "session/session_internal.h"

/* False: no next chunk, because none is ready or the stream has ended. */
static bool open_next_chunk(struct wh_session *s)
{
	struct wh_transmitter *tx = &s->tx;
	struct wh_chunk *chunk = wh_fifo_pop(&tx->ready);

	if (chunk == NULL)
		return false;
	if (chunk->end) {
		tx->end_seen = true;
		tx->digest = chunk->digest;
		WH_ASSERT(chunk->number == tx->chunks);
		return false;
	}
	WH_ASSERT(chunk->number == tx->chunks && chunk->bytes > 0);
	WH_ASSERT(chunk->bytes <= s->config.chunk_bytes);
	tx->chunks++;
	tx->total_bytes += chunk->bytes;

	struct wh_tx_chunk *sending = &tx->tx_chunk[chunk->slot];

	WH_ASSERT(sending->unacked_pkts == 0);
	if (!wh_session_repairs(s))
		sending->shape.k =
			(chunk->bytes + s->config.payload_bytes - 1) / s->config.payload_bytes;
	sending->packets = sending->shape.k + sending->shape.r;
	sending->unacked_pkts = sending->packets;
	tx->open_chunk = chunk;
	tx->open_index = 0;
	tx->chunks_out++;
	return true;
}

/* A window smaller than the table is the controller's, unless the operator sets the rate. */
static enum wh_limit window_limit(const struct wh_session *s)
{
	const struct wh_decision *decision = &s->tx.decision;

	if (s->config.profile->rate_is_told || decision->window_pkts >= s->config.window_pkts)
		return WH_LIMIT_WINDOW;
	return wh_ration_limit(s, decision->limit);
}

/* Why the peer offers no more. */
static enum wh_limit credit_limit(struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;
	bool has_chunks = tx->open_chunk->number < tx->peer_chunk_upper;

	if (has_chunks && s->ration.behind)
		return WH_LIMIT_CPU;
	if (has_chunks && s->ration.peer_grants) {
		s->ration.held_up = true;
		return WH_LIMIT_RATE;
	}
	return tx->peer_writer_behind ? WH_LIMIT_PEER_DISK : WH_LIMIT_MEMORY;
}

/* Whether one more packet may be admitted; if not, admission_limit says why. */
static bool may_admit(struct wh_session *s)
{
	struct wh_transmitter *tx = &s->tx;
	uint64_t unacked_pkts = wh_sent_table_unacked(&tx->table);
	uint32_t span_pkts = tx->decision.span_pkts;

	tx->admission_held_up = unacked_pkts < tx->decision.window_pkts;
	if (unacked_pkts >= tx->decision.window_pkts || !wh_sent_table_has_room(&tx->table) ||
		(span_pkts > 0 &&
			tx->table.admitted_end - wh_sent_table_lower(&tx->table) >= span_pkts)) {
		tx->admission_limit = window_limit(s);
		return false;
	}
	if (tx->open_chunk->number >= tx->peer_chunk_upper ||
		tx->table.admitted_end >= tx->peer_upper) {
		tx->admission_limit = credit_limit(s);
		return false;
	}
	return true;
}

/*
 * Why no chunk is ready. After the end of the stream only acknowledgements are missing. A reader
 * that blames its disk while no chunk is free could read ahead if it had one: that is memory.
 */
static enum wh_limit no_chunk_limit(const struct wh_session *s)
{
	enum wh_limit limit =
		(enum wh_limit)atomic_load_explicit(&s->reader_limit, memory_order_relaxed);

	if (s->tx.end_seen)
		return WH_LIMIT_PEER;
	if (limit == WH_LIMIT_DISK && wh_fifo_count(&s->tx.free) == 0 &&
		s->tx.chunks_out >= s->config.chunks / 2)
		return WH_LIMIT_MEMORY;
	return limit;
}

int32_t wh_host_trans(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;
	uint32_t room = wh_fifo_room(&tx->fresh);
	int32_t admitted = 0;

	(void)now_tsc;
	for (; room > 0; room--) {
		if (tx->open_chunk == NULL && !open_next_chunk(s)) {
			tx->admission_limit = no_chunk_limit(s);
			tx->admission_held_up = true;
			break;
		}
		if (!may_admit(s))
			break;

		struct wh_chunk *chunk = tx->open_chunk;
		uint64_t pn = wh_sent_table_admit(
			&tx->table, (uint16_t)chunk->slot, (uint16_t)tx->open_index);
		bool pushed = wh_fifo_push_u64(&tx->fresh, pn);

		WH_ASSERT(pushed);
		if (++tx->open_index == tx->tx_chunk[chunk->slot].packets)
			tx->open_chunk = NULL;
		admitted++;
	}
	return admitted;
}
