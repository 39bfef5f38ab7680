/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Losses of a stream with repair packets are settled chunk by chunk, in order, when packets above
 * all of a chunk's packet numbers have been seen. If the chunk is complete by then its other
 * packets count as received, so that they are not retransmitted. Otherwise a worker recovers what
 * repair packets can, and only the rest is requested. From then on each new packet may make
 * decoding possible.
 *
 * Any packet of a chunk tells the packet numbers of all. If none has arrived, the whole chunk is
 * requested as soon as a packet of a later chunk is seen.
 */

#include <string.h>

#include "session/session_internal.h"

static struct wh_span *span_of(struct wh_receiver *rx, uint64_t number)
{
	struct wh_span *span = &rx->span[number % rx->spans];

	return span->number_end == number + 1 ? span : NULL;
}

static struct wh_rx_chunk *entry_of(struct wh_session *s, uint64_t number)
{
	struct wh_rx_chunk *entry = &s->rx.rx_chunk[number % s->config.chunks];

	return entry->buffer != NULL && entry->buffer->number == number ? entry : NULL;
}

static uint64_t *bits_of(struct wh_receiver *rx, const struct wh_rx_chunk *entry)
{
	return rx->have_bits + (size_t)(entry - rx->rx_chunk) * rx->have_words;
}

static bool has(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static struct wh_fec_shape shape_of(const struct wh_session *s, const struct wh_data_fields *data)
{
	return (struct wh_fec_shape){
		.code = data->code,
		.k = data->k,
		.r = data->r,
		.blocks = data->blocks,
		.symbol_bytes = s->config.payload_virtual ? 0 : s->config.payload_bytes,
		.last_bytes = s->config.payload_virtual ? 0 : data->last_bytes,
	};
}

static bool same_code(const struct wh_rx_chunk *entry, const struct wh_data_fields *data)
{
	return entry->shape.code == data->code && entry->shape.r == data->r &&
	       entry->shape.blocks == data->blocks && entry->last_bytes_told == data->last_bytes;
}

bool wh_settle_place(const struct wh_session *s, const struct wh_rx_chunk *entry, uint64_t pn,
	const struct wh_data_fields *data)
{
	if (pn < s->params.first_pn + data->index)
		return false;
	if (data->index + 1 == data->k && data->code != WH_FEC_NONE &&
		data->payload_bytes != data->last_bytes)
		return false;
	if (entry->buffer != NULL) {
		const struct wh_span *span = &s->rx.span[data->chunk % s->rx.spans];

		return same_code(entry, data) && span->first == pn - data->index;
	}
	if (data->code == WH_FEC_NONE)
		return true;

	const struct wh_fec_limits limits = wh_session_fec_limits(&s->config);
	const struct wh_fec_shape shape = shape_of(s, data);

	return wh_fec_shape_ok(&shape, &limits);
}

void wh_settle_begin(struct wh_session *s, struct wh_rx_chunk *entry, uint64_t pn,
	const struct wh_data_fields *data)
{
	struct wh_receiver *rx = &s->rx;
	uint64_t number = data->chunk;

	entry->shape = shape_of(s, data);
	entry->last_bytes_told = data->last_bytes;
	entry->last_bytes = data->last_bytes;
	entry->have_repair = 0;
	entry->decoding = false;
	/* True if the chunk was requested before any of its packets arrived. */
	entry->asked = number < rx->settle_chunk || pn < rx->settle_pn;
	rx->span[number % rx->spans] = (struct wh_span){
		.number_end = number + 1,
		.first = pn - data->index,
		.end = pn - data->index + data->k + data->r,
	};
	rx->newest_chunk = wh_max_u64(rx->newest_chunk, number + 1);
}

bool wh_settle_is_decoding(struct wh_session *s, const struct wh_data_fields *data)
{
	const struct wh_rx_chunk *entry = entry_of(s, data->chunk);

	return entry != NULL && entry->decoding;
}

bool wh_settle_is_past(struct wh_session *s, const struct wh_packet *packet)
{
	struct wh_receiver *rx = &s->rx;
	const struct wh_data_fields *data = &packet->data;
	const struct wh_span *span = span_of(rx, data->chunk);

	return entry_of(s, data->chunk) == NULL && span != NULL && data->chunk < rx->next_deliver &&
	       span->first + data->index == packet->pn && packet->pn < span->end &&
	       packet->pn < wh_recv_table_upper(&rx->table);
}

/* Marks [first, end) as received: recovered, or not needed any more. */
static void close_holes(struct wh_receiver *rx, uint64_t first, uint64_t end)
{
	struct wh_recv_table *table = &rx->table;
	struct wh_loss_range hole;

	end = wh_min_u64(end, table->highest_end);
	/* Closing a hole may move `lower` far up. */
	while ((first = wh_max_u64(first, table->lower)) < end &&
		wh_recv_table_next_hole(table, first, &hole) && hole.first < end)
		for (first = hole.first; first < wh_min_u64(hole.end, end); first++) {
			wh_loss_list_remove(&rx->losses, first);
			wh_recv_table_enter(table, first);
		}
}

/* Requests from the transmitter; if the profile does not allow that, the connection fails. */
static void ask(struct wh_session *s, uint64_t now_tsc, uint64_t first, uint64_t end)
{
	if (s->config.repair.recovery == WH_RECOVERY_FEC)
		wh_session_abort(s, now_tsc, WH_STATUS_UNREPAIRED);
	else
		wh_rcv_ask(s, now_tsc, first, end);
}

/* Requests all holes in [first, end). */
static void ask_holes(struct wh_session *s, uint64_t now_tsc, uint64_t first, uint64_t end)
{
	struct wh_receiver *rx = &s->rx;
	struct wh_loss_range hole;
	uint64_t from = wh_max_u64(first, rx->table.lower);

	end = wh_min_u64(end, rx->table.highest_end);
	while (from < end && wh_recv_table_next_hole(&rx->table, from, &hole) && hole.first < end) {
		from = wh_min_u64(hole.end, end);
		ask(s, now_tsc, hole.first, from);
	}
}

/* Whether it is missing and not requested yet. Above highest_end it may not have been sent. */
static bool may_ask(const struct wh_receiver *rx, uint64_t pn)
{
	return pn < rx->table.highest_end &&
	       wh_recv_table_classify(&rx->table, pn) == WH_RECV_NEW &&
	       !wh_loss_list_contains(&rx->losses, pn);
}

/* Number of a code's interleaved blocks that lack one of the `wanted` packets. */
static uint32_t blocks_that_want(const struct wh_fec_shape *shape, const uint64_t *wanted)
{
	uint32_t blocks = 0;

	for (uint32_t b = 0; b < shape->blocks; b++)
		for (uint32_t i = b; i < shape->k; i += shape->blocks)
			if (has(wanted, i)) {
				blocks++;
				break;
			}
	return blocks;
}

/* Requests what repair packets cannot recover. */
static void ask_shortfall(struct wh_session *s, uint64_t now_tsc, struct wh_rx_chunk *entry)
{
	struct wh_receiver *rx = &s->rx;
	const struct wh_span *span = span_of(rx, entry->buffer->number);
	uint64_t wanted[WH_BLOCK_PACKETS_MAX / 64 + 1];

	memset(wanted, 0, rx->have_words * sizeof(wanted[0]));
	wh_fec_shortfall(&entry->shape, bits_of(rx, entry), wanted);
	if (!entry->asked)
		wh_session_add(
			&s->stats.undecodable_blocks, blocks_that_want(&entry->shape, wanted));
	entry->asked = true;
	for (uint32_t i = 0; i < entry->k; i++) {
		uint32_t end = i;

		while (end < entry->k && has(wanted, end) && may_ask(rx, span->first + end))
			end++;
		if (end > i)
			ask(s, now_tsc, span->first + i, span->first + end);
		i = end;
	}
}

void wh_settle_over(struct wh_session *s, const struct wh_rx_chunk *entry)
{
	const struct wh_span *span = span_of(&s->rx, entry->buffer->number);

	close_holes(&s->rx, span->first, span->end);
}

/* Hands the chunk to a worker, which owns its memory and bits until it comes back. */
static void hand_over(struct wh_receiver *rx, struct wh_rx_chunk *entry)
{
	if (entry->decoding)
		return;
	entry->decoding = true;

	bool pushed = wh_fifo_push_u64(&rx->decode, entry->buffer->number);

	WH_ASSERT(pushed);
}

/*
 * Packets that arrive during decoding are dropped, so the chunk is handed over only if decoding is
 * sure to complete it. With Tornado that is not known before, but all missing packets have been
 * requested.
 */
void wh_settle_try(struct wh_session *s, struct wh_rx_chunk *entry)
{
	uint64_t wanted[WH_BLOCK_PACKETS_MAX / 64 + 1];

	if (entry->have == entry->k || entry->shape.code != WH_FEC_RS ||
		entry->have + entry->have_repair < entry->k)
		return;
	memset(wanted, 0, s->rx.have_words * sizeof(wanted[0]));
	if (wh_fec_shortfall(&entry->shape, bits_of(&s->rx, entry), wanted) == 0)
		hand_over(&s->rx, entry);
}

/* Packets above all of the chunk's packet numbers have been seen. */
static void settle(struct wh_session *s, uint64_t now_tsc, uint64_t number)
{
	struct wh_receiver *rx = &s->rx;
	const struct wh_span *span = span_of(rx, number);
	struct wh_rx_chunk *entry = entry_of(s, number);

	if (entry == NULL || entry->have == entry->k) {
		close_holes(rx, span->first, span->end);
		return;
	}
	if (entry->shape.code == WH_FEC_NONE) {
		entry->asked = true;
		ask_holes(s, now_tsc, wh_max_u64(span->first, rx->settle_pn), span->end);
		return;
	}
	/* Recovers what it can: some blocks may be decodable even if others lack packets. */
	hand_over(rx, entry);
}

/* The next unsettled chunk of which a packet has arrived; false: none. */
static bool next_known(struct wh_receiver *rx, uint64_t *number)
{
	for (uint64_t n = rx->settle_chunk; n < rx->newest_chunk; n++)
		if (span_of(rx, n) != NULL) {
			*number = n;
			return true;
		}
	return false;
}

/*
 * Requests chunks below the next known one, of which no packet has arrived; settles the known one
 * if it is past.
 */
static bool settle_next(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;
	uint64_t seen_end = rx->table.highest_end;
	uint64_t number;

	if (!next_known(rx, &number)) {
		if (rx->settle_pn < seen_end)
			ask_holes(s, now_tsc, rx->settle_pn, seen_end);
		rx->settle_pn = wh_max_u64(rx->settle_pn, seen_end);
		return false;
	}

	const struct wh_span *span = span_of(rx, number);

	if (rx->settle_pn < span->first) {
		ask_holes(s, now_tsc, rx->settle_pn, span->first);
		rx->settle_pn = span->first;
	}
	rx->settle_chunk = number;
	if (seen_end < span->end)
		return false;
	settle(s, now_tsc, number);
	rx->settle_pn = wh_max_u64(rx->settle_pn, span->end);
	rx->settle_chunk = number + 1;
	return true;
}

/* Recovered packets count as received. */
static void close_recovered(struct wh_session *s, const struct wh_rx_chunk *entry)
{
	const struct wh_span *span = span_of(&s->rx, entry->buffer->number);
	const uint64_t *have = bits_of(&s->rx, entry);
	uint32_t packets = entry->k + entry->shape.r;

	for (uint32_t i = 0; i < packets; i++) {
		uint32_t end = i;

		while (end < packets && has(have, end))
			end++;
		if (end > i)
			close_holes(&s->rx, span->first + i, span->first + end);
		i = end;
	}
}

/* A worker has finished with the chunk. */
static void take_decoded(struct wh_session *s, uint64_t now_tsc, struct wh_rx_chunk *entry)
{
	const uint64_t *have = bits_of(&s->rx, entry);
	uint32_t data = 0;
	uint32_t repair = 0;

	WH_ASSERT(entry->decoding);
	entry->decoding = false;
	for (uint32_t i = 0; i < entry->k; i++)
		data += has(have, i);
	for (uint32_t i = entry->k; i < entry->k + entry->shape.r; i++)
		repair += has(have, i);
	WH_ASSERT(data >= entry->have && repair >= entry->have_repair);

	uint64_t bytes = (uint64_t)data * s->config.payload_bytes;

	if (has(have, entry->k - 1))
		bytes -= s->config.payload_bytes - entry->last_bytes_told;
	wh_session_add(&s->stats.repaired_pkts, data - entry->have);
	wh_session_add(&s->stats.received_bytes, bytes - entry->have_bytes);
	entry->have_bytes = bytes;
	entry->have = data;
	entry->have_repair = repair;
	s->rx.progress_tsc = now_tsc;
	if (data == entry->k) {
		bool pushed = wh_fifo_push_u64(&s->rx.arrived, entry->buffer->number);

		WH_ASSERT(pushed);
		wh_settle_over(s, entry);
	} else {
		close_recovered(s, entry);
		ask_shortfall(s, now_tsc, entry);
	}
}

/*
 * If nothing arrives for a round trip the transmitter may be waiting for us, because its window is
 * smaller than a chunk: holes are then requested before their chunk is past.
 */
static uint64_t overdue_tsc(const struct wh_session *s)
{
	return wh_add_u64(s->rx.progress_tsc, wh_max_u64(wh_rtt_get(&s->rtt), 2 * s->period_tsc));
}

static bool hole_waits(const struct wh_receiver *rx)
{
	struct wh_loss_range hole;

	return rx->settle_pn < rx->table.highest_end &&
	       wh_recv_table_next_hole(
		       &rx->table, wh_max_u64(rx->settle_pn, rx->table.lower), &hole);
}

uint64_t wh_settle_deadline(const struct wh_session *s)
{
	if (s->config.repair.recovery != WH_RECOVERY_HYBRID || !hole_waits(&s->rx))
		return WH_TSC_NEVER;
	return overdue_tsc(s);
}

static int32_t ask_overdue(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;

	if (now_tsc < wh_settle_deadline(s))
		return 0;
	ask_holes(s, now_tsc, rx->settle_pn, rx->table.highest_end);
	rx->settle_pn = rx->table.highest_end;
	return 1;
}

int32_t wh_settle(struct wh_session *s, uint64_t now_tsc)
{
	uint64_t number;
	int32_t work = 0;

	while (s->phase == WH_PHASE_RUNNING && wh_fifo_pop_u64(&s->rx.decoded, &number)) {
		take_decoded(s, now_tsc, &s->rx.rx_chunk[number % s->config.chunks]);
		work++;
	}
	while (s->phase == WH_PHASE_RUNNING && settle_next(s, now_tsc))
		work++;
	if (s->phase == WH_PHASE_RUNNING)
		work += ask_overdue(s, now_tsc);
	return work;
}
