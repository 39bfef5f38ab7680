/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a worker does for a session with repair packets. The encoder works between the reader and
 * host_trans: it plans the repair packets of a chunk by the reported losses, and makes them. The
 * decoder takes a chunk from settle.c, recovers missing packets in place, and hands the chunk back.
 * Both own a chunk's memory while they have the chunk.
 */

#include "session/session_internal.h"

/* With feedback.repair_tail only the last round trips of a stream are repaired. */
#define TAIL_ROUND_TRIPS 2

struct wh_fec_limits wh_session_fec_limits(const struct wh_session_config *config)
{
	return (struct wh_fec_limits){
		.k = (config->chunk_bytes + config->payload_bytes - 1) / config->payload_bytes,
		.r = config->repair.repair_pkts,
		.symbol_bytes = config->payload_virtual ? 0 : config->payload_bytes,
	};
}

uint64_t wh_session_chunk_stride(const struct wh_session_config *config)
{
	uint64_t bytes =
		config->chunk_bytes + (uint64_t)config->repair.repair_pkts * config->payload_bytes;

	return (bytes + WH_CHUNK_ALIGN - 1) / WH_CHUNK_ALIGN * WH_CHUNK_ALIGN;
}

/* Increase of a counter, at most at_most, since a peer may claim any value. */
static uint64_t more(uint64_t told, uint64_t known, uint64_t at_most)
{
	return told > known ? wh_min_u64(told - known, at_most) : 0;
}

/* Passes new losses to the planner. The counters change one by one, so they may contradict. */
static void learn(struct wh_transmitter *tx)
{
	struct wh_encoder *encoder = &tx->encoder;
	uint64_t lost_pkts = atomic_load_explicit(&tx->told_lost_pkts, memory_order_relaxed);
	uint64_t events = atomic_load_explicit(&tx->told_events, memory_order_relaxed);
	uint64_t pkts = atomic_load_explicit(&tx->told_pkts, memory_order_relaxed);
	uint64_t new_pkts = more(pkts, encoder->known_pkts, UINT64_MAX);
	uint64_t new_lost = more(lost_pkts, encoder->known_lost_pkts, new_pkts);
	uint64_t new_events = more(events, encoder->known_events, new_lost);

	if (new_pkts == 0)
		return;
	encoder->known_pkts = pkts;
	encoder->known_lost_pkts += new_lost;
	encoder->known_events += new_events;
	wh_fec_planner_feedback(&encoder->planner, new_pkts, new_lost,
		new_lost > 0 ? wh_max_u64(new_events, 1) : 0);
}

static uint32_t round_up_div(uint32_t value, uint32_t divisor)
{
	return value / divisor + (value % divisor != 0);
}

/* The operator's fixed repair: so many repair packets per block; for Tornado the same share. */
static void shape_as_told(const struct wh_repair_config *repair, struct wh_fec_shape *shape)
{
	uint32_t blocks = round_up_div(shape->k, repair->fixed_k);

	shape->code = repair->code;
	shape->blocks = repair->code == WH_FEC_RS ? blocks : 1;
	shape->r = (uint32_t)wh_min_u64((uint64_t)blocks * repair->fixed_r, repair->repair_pkts);
}

/*
 * Whether a loss in this chunk could delay the end of the stream, because at most two round trips
 * of data follow it. The end shows in the FIFO, since readers work ahead; if a reader does not,
 * nothing is repaired. Before the first report everything before a visible end is the tail.
 */
static bool is_tail(struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;
	const struct wh_chunk *last = wh_fifo_last(&tx->filled);
	uint64_t flight_pkts = atomic_load_explicit(&tx->told_flight_pkts, memory_order_relaxed);

	if (last == NULL || !last->end)
		return false;

	uint64_t left_pkts = (uint64_t)(wh_fifo_count(&tx->filled) - 1) * s->chunk_packets;

	return flight_pkts == 0 || left_pkts <= TAIL_ROUND_TRIPS * flight_pkts;
}

static struct wh_fec_shape plan(struct wh_session *s, const struct wh_chunk *chunk)
{
	const struct wh_repair_config *repair = &s->config.repair;
	const struct wh_fec_limits limits = wh_session_fec_limits(&s->config);
	struct wh_fec_shape shape = {
		.k = round_up_div(chunk->bytes, s->config.payload_bytes),
		.symbol_bytes = limits.symbol_bytes,
	};

	learn(&s->tx);
	if (repair->fixed_r > 0)
		shape_as_told(repair, &shape);
	else if (s->feedback.repair_tail && !is_tail(s))
		shape.code = WH_FEC_NONE;
	else
		wh_fec_planner_plan(&s->tx.encoder.planner, &shape);
	if (!s->config.payload_virtual)
		shape.last_bytes = chunk->bytes - (shape.k - 1) * s->config.payload_bytes;
	/* A short chunk may have too few packets for a code. */
	if (shape.code == WH_FEC_NONE || !wh_fec_shape_ok(&shape, &limits)) {
		shape.code = WH_FEC_NONE;
		shape.r = 0;
	}
	return shape;
}

int32_t wh_session_encode(struct wh_session *s, struct wh_fec *fec)
{
	struct wh_transmitter *tx = &s->tx;
	struct wh_chunk *chunk;

	WH_ASSERT(s->role == WH_TRANSMITTER && wh_session_repairs(s));
	if (wh_fifo_count(&tx->ready) >= WH_ENCODED_AHEAD)
		return 0;
	chunk = wh_fifo_pop(&tx->filled);
	if (chunk == NULL)
		return 0;
	if (!chunk->end) {
		struct wh_fec_shape *shape = &tx->tx_chunk[chunk->slot].shape;

		*shape = plan(s, chunk);
		if (shape->code != WH_FEC_NONE)
			wh_fec_encode(
				fec, shape, chunk->data, 0, shape->k, wh_session_repair(s, chunk));
	}

	bool pushed = wh_fifo_push(&tx->ready, chunk);

	WH_ASSERT(pushed);
	wh_session_kick(s);
	return 1;
}

int32_t wh_session_decode(struct wh_session *s, struct wh_fec *fec)
{
	struct wh_receiver *rx = &s->rx;
	uint64_t number;

	WH_ASSERT(s->role == WH_RECEIVER && wh_session_repairs(s));
	if (!wh_fifo_pop_u64(&rx->decode, &number))
		return 0;

	struct wh_rx_chunk *entry = &rx->rx_chunk[number % s->config.chunks];

	WH_ASSERT(entry->decoding && entry->buffer->number == number);
	wh_fec_decode(fec, &entry->shape, entry->buffer->data, wh_session_repair(s, entry->buffer),
		rx->have_bits + (number % s->config.chunks) * rx->have_words);

	bool pushed = wh_fifo_push_u64(&rx->decoded, number);

	WH_ASSERT(pushed);
	wh_session_kick(s);
	return 1;
}
