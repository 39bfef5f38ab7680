/* SPDX-License-Identifier: BSD-3-Clause */

/* What users may read of a session, and the check of its invariants. */

#include <assert.h>
#include <stddef.h>

#include "session/session_internal.h"

struct wh_fifo *wh_session_free_chunks(struct wh_session *s)
{
	WH_ASSERT(s->role == WH_TRANSMITTER);
	return &s->tx.free;
}

struct wh_fifo *wh_session_ready_chunks(struct wh_session *s)
{
	WH_ASSERT(s->role == WH_TRANSMITTER);
	return wh_session_repairs(s) ? &s->tx.filled : &s->tx.ready;
}

struct wh_fifo *wh_session_deliver_chunks(struct wh_session *s)
{
	WH_ASSERT(s->role == WH_RECEIVER);
	return &s->rx.deliver;
}

struct wh_fifo *wh_session_recycled_chunks(struct wh_session *s)
{
	WH_ASSERT(s->role == WH_RECEIVER);
	return &s->rx.recycled;
}

enum wh_phase wh_session_phase(const struct wh_session *s)
{
	return s->phase;
}

enum wh_release_status wh_session_outcome(const struct wh_session *s)
{
	return s->outcome;
}

uint32_t wh_session_cid(const struct wh_session *s)
{
	return s->local_cid;
}

uint32_t wh_session_peer_cid(const struct wh_session *s)
{
	return __atomic_load_n(&s->peer_cid, __ATOMIC_RELAXED);
}

struct wh_session_stats wh_session_stats(const struct wh_session *s)
{
	struct wh_session_stats sum;
	const uint64_t *owner = (const uint64_t *)&s->stats;
	const uint64_t *away = (const uint64_t *)&s->away;
	uint64_t *to = (uint64_t *)&sum;

	static_assert(sizeof(sum) % sizeof(uint64_t) == 0, "all counters are of 64 bits");
	for (size_t i = 0; i < sizeof(sum) / sizeof(uint64_t); i++)
		to[i] = __atomic_load_n(&owner[i], __ATOMIC_RELAXED) +
			__atomic_load_n(&away[i], __ATOMIC_RELAXED);
	return sum;
}

void wh_session_stats_add(struct wh_session_stats *sum, const struct wh_session_stats *stats)
{
	const size_t counters =
		offsetof(struct wh_session_stats, first_sent_tsc) / sizeof(uint64_t);

	for (size_t i = 0; i < counters; i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)stats)[i];
}

struct wh_session_stats *wh_session_rx_stats(struct wh_session *s)
{
	return s->role == WH_RECEIVER && s->landing == NULL ? &s->stats : &s->away;
}

uint64_t wh_session_moved_bytes(const struct wh_session *s)
{
	return __atomic_load_n(
		s->role == WH_RECEIVER ? &s->stats.received_bytes : &s->stats.acked_bytes,
		__ATOMIC_RELAXED);
}

struct wh_session_credit wh_session_credit(const struct wh_session *s)
{
	WH_ASSERT(s->role == WH_TRANSMITTER);
	return (struct wh_session_credit){
		.end = __atomic_load_n(&s->tx.peer_chunk_upper, __ATOMIC_RELAXED),
		.chunks = __atomic_load_n(&s->tx.peer_chunks, __ATOMIC_RELAXED),
	};
}

enum wh_limit wh_session_limit_now(const struct wh_session *s)
{
	return s->role == WH_RECEIVER ? WH_LIMIT_RATE
				      : __atomic_load_n(&s->tx.limit_now, __ATOMIC_RELAXED);
}

void wh_session_tell_reader(struct wh_session *s, enum wh_limit limit)
{
	WH_ASSERT(s->role == WH_TRANSMITTER && limit <= WH_LIMIT_NONE);
	atomic_store_explicit(&s->reader_limit, limit, memory_order_relaxed);
}

bool wh_session_stalled(const struct wh_session *s)
{
	return s->role == WH_TRANSMITTER && __atomic_load_n(&s->tx.stalled, __ATOMIC_RELAXED);
}

uint64_t wh_session_rtt_tsc(const struct wh_session *s)
{
	return __atomic_load_n(&s->rtt.smoothed_tsc, __ATOMIC_RELAXED);
}

uint64_t wh_session_rtt_min_tsc(const struct wh_session *s)
{
	uint64_t min_tsc = __atomic_load_n(&s->rtt.min_tsc, __ATOMIC_RELAXED);

	return min_tsc == WH_TSC_NEVER ? 0 : min_tsc;
}

const struct wh_open_params *wh_session_params(const struct wh_session *s)
{
	return &s->params;
}

const struct wh_address *wh_session_peer(const struct wh_session *s)
{
	return wh_peer_address_now(&s->peer);
}

const struct wh_control *wh_session_control(const struct wh_session *s)
{
	WH_ASSERT(s->role == WH_TRANSMITTER);
	return &s->tx.control;
}

const struct wh_pacer *wh_session_pacer(const struct wh_session *s)
{
	WH_ASSERT(s->role == WH_TRANSMITTER);
	return &s->tx.pacer;
}

struct wh_session_pace wh_session_pace(const struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;
	uint64_t interval_fp = __atomic_load_n(&tx->pacer.interval_fp, __ATOMIC_RELAXED);
	uint64_t window_pkts = __atomic_load_n(&tx->decision.window_pkts, __ATOMIC_RELAXED);
	uint64_t full_bits_fp = (uint64_t)tx->pacer.full_bytes * 8 << WH_INTERVAL_FRACTION_BITS;

	WH_ASSERT(s->role == WH_TRANSMITTER);
	return (struct wh_session_pace){
		.rate_bps = interval_fp <= WH_INTERVAL_MIN_FP
				    ? 0
				    : wh_muldiv_u64(full_bits_fp, s->config.hz, interval_fp),
		.window_pkts = (uint32_t)wh_min_u64(window_pkts, s->config.window_pkts),
		.mode = __atomic_load_n(&tx->decision.mode, __ATOMIC_RELAXED),
	};
}

uint64_t wh_session_lost_pkts(const struct wh_session *s)
{
	if (s->role == WH_RECEIVER)
		return __atomic_load_n(&s->stats.losses_detected_pkts, __ATOMIC_RELAXED);
	return wh_max_u64(atomic_load_explicit(&s->tx.told_lost_pkts, memory_order_relaxed),
		__atomic_load_n(&s->stats.retransmitted_pkts, __ATOMIC_RELAXED));
}

static void check_transmitter(const struct wh_session *s, bool deep)
{
	const struct wh_transmitter *tx = &s->tx;
	const struct wh_sent_table *table = &tx->table;
	uint64_t fresh_pkts = wh_fifo_count(&tx->fresh);

	WH_ASSERT(table->lower <= tx->sent_end && tx->sent_end <= table->admitted_end);
	WH_ASSERT(table->admitted_end - table->lower <= table->size);
	/* New packets are sent in order: an admitted one has been sent, or waits in fresh. */
	WH_ASSERT(tx->sent_end + fresh_pkts == table->admitted_end);
	/* Of packets that another core has entered, the notes may be under way. */
	WH_ASSERT(s->acks != NULL ? tx->acked_pkts <= table->acked_pkts
				  : tx->acked_pkts == table->acked_pkts);
	WH_ASSERT(tx->decision.window_pkts >= 1);
	WH_ASSERT(!tx->pair_open);
	WH_ASSERT(s->stats.sent_pkts ==
		  tx->sent_end - s->params.first_pn + s->stats.retransmitted_pkts);
	if (!deep)
		return;
	wh_sent_table_check(table);

	/* Every admitted, unacknowledged packet is counted by exactly one chunk. */
	uint64_t unacked_pkts = 0;
	uint32_t busy_chunks = 0;

	for (uint32_t i = 0; i < s->config.chunks; i++) {
		unacked_pkts += tx->tx_chunk[i].unacked_pkts;
		busy_chunks += tx->tx_chunk[i].unacked_pkts > 0;
	}
	if (tx->open_chunk != NULL)
		unacked_pkts -= tx->tx_chunk[tx->open_chunk->slot].packets - tx->open_index;
	WH_ASSERT(unacked_pkts == wh_sent_table_unacked(table));
	WH_ASSERT(busy_chunks + wh_fifo_count(&tx->free) + wh_fifo_count(&tx->ready) <=
		  s->config.chunks + 1);
}

static void check_receiver(const struct wh_session *s, bool deep)
{
	const struct wh_receiver *rx = &s->rx;
	const struct wh_recv_table *table = &rx->table;

	WH_ASSERT(table->lower <= table->highest_end);
	WH_ASSERT(table->highest_end <= wh_recv_table_upper(table));
	WH_ASSERT(rx->next_deliver >= rx->recycled_count);
	WH_ASSERT(rx->next_deliver <= rx->recycled_count + s->config.chunks);
	WH_ASSERT(rx->spares <= s->config.chunks);
	/* A packet below highest_end has arrived or is in the loss list, never both. */
	if (!wh_session_repairs(s))
		WH_ASSERT(s->stats.received_pkts + rx->losses.lost_pkts ==
			  table->highest_end - s->params.first_pn);
	if (!deep)
		return;
	wh_recv_table_check(table);
	wh_loss_list_check(&rx->losses);

	/* Every buffer is spare, being filled, or with the writer. */
	uint32_t filling = 0;

	for (uint32_t i = 0; i < s->config.chunks; i++) {
		const struct wh_rx_chunk *entry = &rx->rx_chunk[i];

		if (entry->buffer == NULL)
			continue;
		filling++;
		WH_ASSERT(entry->have <= entry->k && entry->k <= s->chunk_packets);
		WH_ASSERT(entry->buffer->number >= rx->next_deliver);
	}
	uint64_t held = rx->spares + filling + (rx->next_deliver - rx->recycled_count);

	/* With a landing spare buffers are with the RX core. */
	WH_ASSERT(s->landing != NULL ? held <= s->config.chunks : held == s->config.chunks);
}

void wh_session_check(const struct wh_session *s, bool deep)
{
	WH_ASSERT((s->outcome == WH_STATUS_PENDING) ==
		  (s->phase == WH_PHASE_OPENING || s->phase == WH_PHASE_RUNNING));
	if (s->role == WH_TRANSMITTER)
		check_transmitter(s, deep);
	else
		check_receiver(s, deep);
}

void wh_session_looked(struct wh_session *s, uint64_t looked_tsc)
{
	if (s->landing != NULL)
		s->landing->looked_tsc = looked_tsc;
	else
		s->looked_tsc = looked_tsc;
}
