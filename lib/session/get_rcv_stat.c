/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * get_rcv_stat: processes what the receiver sends. A receiver report frees packets and chunks
 * (apart/acks.c) and renews the credits. A NAK schedules retransmissions. Both feed the rate
 * controller, and so do delay warnings and the period (the papers' SYN). This task also detects
 * silence and stalls.
 */

#include "session/apart/acks.h"
#include "session/session_internal.h"

/* So many packets, and none arrives for so long: a narrower path, for so long. */
#define NARROW_PKTS     8
#define NARROW_MS       500
#define NARROW_LASTS_MS 600000

static void take_credits(struct wh_session *s, uint8_t flags, const struct wh_rcv_report *report)
{
	struct wh_transmitter *tx = &s->tx;

	/* Credits only grow; one that is too large counts until the next report. */
	tx->peer_upper = report->upper;
	s->ration.behind = (flags & WH_FLAG_BEHIND) != 0;
	s->ration.peer_grants =
		!s->ration.behind && report->upper - report->lower < s->params.window_pkts;
	__atomic_store_n(&tx->peer_chunks, report->buffer_chunks, __ATOMIC_RELAXED);
	__atomic_store_n(&tx->peer_chunk_upper, report->chunk_upper, __ATOMIC_RELAXED);
	tx->peer_writer_behind = report->queued_chunks * 2 > report->buffer_chunks;
}

/* Round trip of the highest packet number acknowledged, which caused this report. */
static uint64_t round_trip_tsc(const struct wh_transmitter *tx, uint64_t now_tsc)
{
	uint64_t sent_tsc;

	/* The acknowledgement may come late enough for its slot to have another packet's. */
	if (tx->sent_tsc == NULL || tx->acked_end == 0 ||
		tx->sent_end - tx->acked_end >= tx->table.size)
		return 0;
	sent_tsc = tx->sent_tsc[(tx->acked_end - 1) & tx->table.mask];
	return sent_tsc > 0 && sent_tsc < now_tsc ? now_tsc - sent_tsc : 0;
}

/* The receiver measures the RTT (udt.txt III C) and this end uses its value. */
static void take_rtt(struct wh_session *s, const struct wh_rcv_report *report)
{
	if (report->rtt_us == 0 || s->feedback.delivery)
		return;
	/* A larger RTT than the peer timeout makes no sense. */
	s->rtt.smoothed_tsc =
		wh_min_u64(wh_us_to_tsc(s->config.hz, report->rtt_us), s->peer_timeout_tsc);
	s->rtt.var_tsc =
		wh_min_u64(wh_us_to_tsc(s->config.hz, report->rtt_var_us), s->peer_timeout_tsc);
	s->rtt.samples++;
}

/* Publishes the counters from which the encoder plans repair packets. */
static void tell_losses(
	struct wh_transmitter *tx, uint64_t pkts, uint64_t lost_pkts, uint64_t loss_events)
{
	atomic_store_explicit(&tx->told_events, loss_events, memory_order_relaxed);
	atomic_store_explicit(&tx->told_lost_pkts, lost_pkts, memory_order_relaxed);
	atomic_store_explicit(&tx->told_pkts, pkts, memory_order_relaxed);
}

/* With a bitmap profile the encoder plans by the bitmaps alone. */
static void take_losses(struct wh_session *s, const struct wh_rcv_report *report)
{
	if (!wh_session_repairs(s))
		return;
	/* With delivery reports reordered packets do not count as lost. */
	if (s->feedback.delivery)
		tell_losses(&s->tx, s->tx.delivery->seen_pkts,
			s->tx.delivery->seen_pkts - s->tx.delivery->delivered_pkts,
			report->loss_events);
	else if (s->feedback.bitmaps.n_pkts == 0)
		tell_losses(&s->tx, report->highest_end - s->params.first_pn, report->lost_pkts,
			report->loss_events);
	__atomic_store_n(&s->stats.repaired_pkts, report->repaired_pkts, __ATOMIC_RELAXED);
	__atomic_store_n(
		&s->stats.undecodable_blocks, report->undecodable_blocks, __ATOMIC_RELAXED);
}

static void answer_report(struct wh_session *s, uint64_t now_tsc, const struct wh_packet *packet)
{
	struct wh_packet answer = {
		.ack2 =
			{
				.ack_pn = packet->pn,
				.lower = packet->rcv_report.lower,
				.stamp_us = wh_session_now_us(s, now_tsc),
			},
	};

	wh_session_push_control(s, now_tsc, WH_PACKET_ACK2, &answer);
}

/* What the other core has entered counts with the first report that is used after it. */
static struct wh_acked acknowledge(struct wh_session *s, const struct wh_rcv_report *report)
{
	struct wh_acked acked;

	if (s->acks == NULL)
		return wh_acks_enter(s, report);
	acked = s->acks->acked;
	s->acks->acked = (struct wh_acked){0};
	return acked;
}

static uint64_t take_acks(
	struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_report *report)
{
	const struct wh_acked acked = acknowledge(s, report);

	s->tx.acked_end = acked.end;
	s->tx.acked_pkts += acked.pkts;
	if (acked.pkts > 0) {
		s->tx.progress_tsc = now_tsc;
		s->tx.progress_sent_pkts = s->stats.sent_pkts;
	}
	return acked.pkts;
}

static void take_report(struct wh_session *s, uint64_t now_tsc, const struct wh_packet *packet)
{
	struct wh_transmitter *tx = &s->tx;
	const struct wh_rcv_report *report = &packet->rcv_report;

	/* The receiver cannot have received more than was sent, nor less than nothing. */
	if (report->highest_end > tx->sent_end || report->highest_end < s->params.first_pn) {
		wh_session_bad(s, &s->stats.bad_window_pkts);
		return;
	}
	if (!wh_delivery_possible(s, packet->flags, report)) {
		wh_session_bad(s, &s->stats.bad_window_pkts);
		return;
	}
	if (!s->feedback.no_ack2)
		answer_report(s, now_tsc, packet); /* III C: for each received ACK */

	uint64_t expected = tx->next_report_pn;

	if (!wh_session_is_younger(s, now_tsc, packet->pn, &tx->next_report_pn, &tx->report_tsc)) {
		if (s->feedback.ack_each) /* overtaken, but its acknowledgement is still true */
			take_acks(s, now_tsc, report);
		return;
	}
	tx->report_seen = true;
	take_credits(s, packet->flags, report);
	take_rtt(s, report);
	take_losses(s, report);

	struct wh_delivery_event delivery;
	bool is_told = (packet->flags & WH_FLAG_DELIVERY) != 0 &&
		       wh_delivery_take(s, now_tsc, report, &delivery);

	if (is_told) /* as it was before this report */
		delivery.overtaken_tsc = wh_retransmit_overtaken_tsc(s);
	uint64_t acked_pkts = take_acks(s, now_tsc, report);

	if (s->feedback.resend == WH_RESEND_COUNTED)
		wh_retransmit_count(
			s, packet->pn >= expected ? packet->pn - expected + 1 : 0, report);
	if (s->feedback.resend == WH_RESEND_LATE)
		wh_retransmit_late(s, now_tsc, report);
	if (is_told) /* now the runs of missing packets are known */
		wh_delivery_tell(s, &delivery);

	const struct wh_feedback_event event = {
		.now_tsc = now_tsc,
		.acked_pkts = acked_pkts,
		.acked_pkts_total = tx->acked_pkts,
		.arrival_pps = report->arrival_pps,
		.capacity_pps = report->capacity_pps,
		.rtt_tsc = wh_rtt_get(&s->rtt),
		.sent_pkts_total = s->stats.sent_pkts,
		.duplicate_pkts_total =
			wh_min_u64(report->duplicate_pkts, s->stats.retransmitted_pkts),
		.sample_rtt_tsc = round_trip_tsc(tx, now_tsc),
	};

	WH_CONTROL_TELL(&tx->control, on_feedback, &event);
	wh_session_apply(s);
}

static void queue_retransmit(void *context, uint64_t pn)
{
	struct wh_transmitter *tx = context;
	bool pushed = wh_fifo_push_u64(&tx->retransmits, pn);

	WH_ASSERT(pushed); /* as large as the table */
}

/*
 * False if the path has duplicated this NAK, which would decrease the rate twice. An overtaken NAK
 * counts as new, since each NAK reports losses of its own. One far behind the newest counts only if
 * the newest is old, because the newest's packet number may have been forged.
 */
static bool nak_is_new(struct wh_session *s, uint64_t now_tsc, uint64_t pn)
{
	struct wh_transmitter *tx = &s->tx;

	if (pn + 64 <= tx->nak_end && now_tsc - tx->nak_tsc > wh_session_ms_tsc(s, WH_YOUNGEST_MS))
		tx->nak_end = tx->naks_before = 0;
	if (pn >= tx->nak_end) {
		uint64_t ahead = pn - tx->nak_end + 1;

		tx->naks_before = ahead < 64 ? tx->naks_before << ahead | 1 : 1;
		tx->nak_end = pn + 1;
		tx->nak_tsc = now_tsc;
		return true;
	}

	uint64_t behind = tx->nak_end - 1 - pn;
	uint64_t bit = behind < 64 ? UINT64_C(1) << behind : 0;

	if (bit == 0 || (tx->naks_before & bit) != 0)
		return false;
	tx->naks_before |= bit;
	return true;
}

static void take_nak(struct wh_session *s, uint64_t now_tsc, const struct wh_packet *packet)
{
	struct wh_transmitter *tx = &s->tx;
	const struct wh_nak *nak = &packet->nak;
	const struct wh_range *last = &nak->losses[nak->n_losses - 1];
	struct wh_loss_event event = {
		.now_tsc = now_tsc,
		.last_lost_pn = nak->base + last->offset + last->count - 1,
		.sent_end = tx->sent_end,
		.sent_pkts_total = s->stats.sent_pkts,
	};

	if (event.last_lost_pn >= tx->sent_end) {
		wh_session_bad(s, &s->stats.bad_window_pkts);
		return;
	}
	if (!nak_is_new(s, now_tsc, packet->pn)) {
		wh_session_count(&s->stats.control_stale_pkts);
		return;
	}
	for (uint32_t i = 0; i < nak->n_losses; i++) {
		uint64_t first = nak->base + nak->losses[i].offset;

		wh_sent_table_queue(
			&tx->table, first, first + nak->losses[i].count, queue_retransmit, tx);
		event.lost_pkts += nak->losses[i].count;
	}
	wh_session_count(&s->stats.naks);
	WH_CONTROL_TELL(&tx->control, on_loss, &event);
	wh_session_apply(s);
}

static void take_delay_warning(
	struct wh_session *s, uint64_t now_tsc, const struct wh_packet *packet)
{
	const struct wh_delay_event event = {
		.now_tsc = now_tsc,
		.sent_end = s->tx.sent_end,
	};

	if (!wh_session_is_younger(
		    s, now_tsc, packet->pn, &s->tx.next_warning_pn, &s->tx.warning_tsc))
		return;
	wh_session_count(&s->stats.delay_warnings);
	WH_CONTROL_TELL(&s->tx.control, on_delay, &event);
	wh_session_apply(s);
}

/*
 * ttp.txt II B and C. The rate follows from one bitmap compared with all before it. The repair
 * packets of the next chunk follow from the weighted mean of short-term and long-term loss.
 */
static void take_bitmap(struct wh_session *s, uint64_t now_tsc, const struct wh_packet *packet)
{
	struct wh_transmitter *tx = &s->tx;
	const struct wh_bitmap *bitmap = &packet->bitmap;
	struct wh_bitmap_loss *loss = &tx->bitmap_loss;
	uint64_t end = bitmap->first + bitmap->pkts;

	if (s->feedback.bitmaps.n_pkts == 0) {
		wh_session_bad(s, &s->stats.bad_unexpected_pkts);
		return;
	}
	if (bitmap->first < s->params.first_pn || end > tx->sent_end) {
		wh_session_bad(s, &s->stats.bad_window_pkts);
		return;
	}
	if (end <= loss->end) {
		wh_session_count(&s->stats.control_stale_pkts);
		return;
	}

	const struct wh_bitmap_event event = {
		.now_tsc = now_tsc,
		.finding = wh_bitmap_loss_add(loss, bitmap->first, bitmap->pkts, bitmap->bits),
		.first = bitmap->first,
		.sent_end = tx->sent_end,
	};

	/* II B: without a transition the encoding stays; these losses count at the next one. */
	if (event.finding != WH_BITMAP_BEARABLE)
		tell_losses(tx, wh_bitmap_loss_pkts(loss), loss->lost_pkts, loss->loss_events);
	WH_CONTROL_TELL(&tx->control, on_bitmap, &event);
	wh_session_apply(s);
}

void wh_get_rcv_stat_take(struct wh_session *s, uint64_t now_tsc, const struct wh_packet *packet)
{
	switch (packet->type) {
	case WH_PACKET_RCV_REPORT:
		take_report(s, now_tsc, packet);
		break;
	case WH_PACKET_NAK:
		take_nak(s, now_tsc, packet);
		break;
	case WH_PACKET_DELAY_WARNING:
		take_delay_warning(s, now_tsc, packet);
		break;
	case WH_PACKET_BITMAP:
		take_bitmap(s, now_tsc, packet);
		break;
	default:
		wh_session_bad(s, &s->stats.bad_unexpected_pkts);
	}
}

static void tick(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;

	if (now_tsc < tx->next_tick_tsc)
		return;
	tx->next_tick_tsc += s->period_tsc;
	if (tx->next_tick_tsc <= now_tsc)
		tx->next_tick_tsc = now_tsc + s->period_tsc; /* late: no catching up */
	if (tx->idle)
		return; /* time without anything to send tells the controller nothing */

	const struct wh_tick_event event = {
		.now_tsc = now_tsc,
		.sent_pkts_total = s->stats.sent_pkts,
		.rtt_tsc = s->rtt.samples > 0 ? wh_rtt_get(&s->rtt) : 0,
	};

	WH_CONTROL_TELL(&tx->control, on_tick, &event);
	wh_session_apply(s);
}

static void tell_silence(struct wh_session *s, uint64_t now_tsc, uint64_t since_tsc)
{
	const struct wh_silence_event event = {.now_tsc = now_tsc, .since_tsc = since_tsc};

	WH_CONTROL_TELL(&s->tx.control, on_silence, &event);
	wh_session_apply(s);
}

static void notice_silence(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;
	/* An idle peer may be silent: silence counts from when it had reason to send. */
	uint64_t since_tsc = wh_max_u64(s->last_heard_tsc, tx->busy_since_tsc);

	tx->peer_silent = now_tsc - since_tsc > wh_session_exp_tsc(s);
	if (tx->peer_silent && now_tsc >= tx->next_exp_tsc) {
		wh_session_count(&s->stats.exp_events);
		tx->next_exp_tsc = now_tsc + wh_session_exp_tsc(s);
		tell_silence(s, now_tsc, since_tsc);
	}
	if (now_tsc - s->last_heard_tsc > s->peer_timeout_tsc)
		wh_session_give_up(s, now_tsc);
}

/*
 * Detection of a black hole (RFC 8899, 4.3): the peer is heard, and none of the latest packets has
 * reached it. Their length may be the cause, if the path has become narrower, and routers are not
 * believed, since anybody may forge what they say. Later whole packets are tried again (5.1.1).
 */
static void notice_narrower(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;
	uint64_t patience_tsc =
		wh_max_u64(wh_session_ms_tsc(s, NARROW_MS), 4 * wh_rtt_get(&s->rtt));

	if (tx->peer_silent || now_tsc < tx->cut_until_tsc ||
		now_tsc - tx->progress_tsc < patience_tsc ||
		s->stats.sent_pkts - tx->progress_sent_pkts < NARROW_PKTS)
		return;
	tx->cut_until_tsc = now_tsc + wh_session_ms_tsc(s, NARROW_LASTS_MS);
	wh_session_count(&s->stats.narrowings);
}

static void notice_stalls(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;
	uint64_t notice_tsc =
		wh_max_u64(wh_session_ms_tsc(s, WH_STALL_NOTICE_MS), 4 * wh_rtt_get(&s->rtt));

	/* The reader of an object of known size owes the rest of it; a stream may pause. */
	if (tx->idle && s->params.object_bytes == WH_OBJECT_BYTES_UNKNOWN)
		tx->progress_tsc = now_tsc;

	/* A peer whose writer holds most of its buffers may take long, but not for ever. */
	uint64_t patience = tx->peer_writer_behind ? WH_DISK_PATIENCE : 1;
	uint64_t stuck_tsc = now_tsc - tx->progress_tsc;
	bool stalled = stuck_tsc > notice_tsc;

	if (!tx->stalled && stalled)
		wh_session_count(&s->stats.stalls);
	__atomic_store_n(&tx->stalled, stalled, __ATOMIC_RELAXED);
	/* A silent peer is the peer timeout's case, which has a status of its own. */
	if (!tx->peer_silent &&
		stuck_tsc > patience * wh_ns_to_tsc(s->config.hz, s->config.stall_timeout_ns))
		wh_session_abort(s, now_tsc, WH_STATUS_STALLED);
}

int32_t wh_get_rcv_stat(struct wh_session *s, uint64_t now_tsc)
{
	int32_t sent = 0;

	if (s->phase == WH_PHASE_RUNNING) {
		sent += wh_retransmit_look(s, now_tsc);
		tick(s, now_tsc);
		notice_silence(s, now_tsc);
	}
	if (s->phase == WH_PHASE_RUNNING) {
		notice_narrower(s, now_tsc);
		notice_stalls(s, now_tsc);
	}
	return sent;
}
