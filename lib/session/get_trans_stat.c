/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * get_trans_stat: processes what the transmitter sends. Its report reveals losses at the end of a
 * burst, which no later packet shows. Its ACK2 gives the RTT and the trend of the delay. Its
 * release request ends the stream.
 */

#include "session/session_internal.h"

/* All packet numbers below `upper` were sent: those above the highest received are missing. */
static void see_losses_below(struct wh_session *s, uint64_t now_tsc, uint64_t upper)
{
	struct wh_receiver *rx = &s->rx;

	if (upper <= rx->table.highest_end)
		return;
	wh_rcv_note_loss(s, now_tsc, rx->table.highest_end, upper);
	wh_recv_table_extend(&rx->table, upper);
}

/* Binary search: packet numbers ascend. */
static struct wh_ack_sample *find_sample(struct wh_receiver *rx, uint64_t pn)
{
	uint64_t end = rx->ack_samples;
	uint64_t first = end > rx->ack_history ? end - rx->ack_history : 0;

	while (first < end) {
		uint64_t middle = first + (end - first) / 2;
		struct wh_ack_sample *sample = &rx->ack_sample[middle % rx->ack_history];

		if (sample->pn == pn)
			return sample;
		if (sample->pn < pn)
			first = middle + 1;
		else
			end = middle;
	}
	return NULL;
}

/*
 * The round trip in profiles without ACK2: the age of the report that the transmitter echoes, less
 * the time for which the transmitter held it.
 */
static void take_echo(
	struct wh_session *s, uint64_t arrived_tsc, const struct wh_trans_report *report)
{
	struct wh_receiver *rx = &s->rx;
	struct wh_ack_sample *sample;
	uint64_t away_tsc = wh_us_to_tsc(s->config.hz, report->held_us);

	if (report->heard_end <= rx->acked_end)
		return;
	rx->acked_end = report->heard_end;
	sample = find_sample(rx, report->heard_end - 1);
	if (sample == NULL || sample->sent_tsc == 0 ||
		arrived_tsc <= wh_add_u64(sample->sent_tsc, away_tsc))
		return;
	wh_rtt_add(&s->rtt, arrived_tsc - sample->sent_tsc - away_tsc);
	sample->sent_tsc = 0;
}

/* No transmitter can have more than a window waiting, whatever it claims. */
static void note_queued(struct wh_session *s, uint32_t told_pkts)
{
	struct wh_half *half = atomic_load_explicit(&s->half, memory_order_relaxed);
	uint32_t pkts = (uint32_t)wh_min_u64(told_pkts, s->config.window_pkts);

	if (half != NULL)
		wh_session_add(&half->queued_pkts, (uint64_t)pkts - s->rx.peer_queued_pkts);
	s->rx.peer_queued_pkts = pkts;
}

static void take_report(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	struct wh_receiver *rx = &s->rx;
	uint64_t upper = packet->trans_report.upper;

	if (upper > wh_recv_table_upper(&rx->table) ||
		packet->trans_report.heard_end > s->control_pn[WH_PACKET_RCV_REPORT]) {
		wh_session_bad(s, &s->stats.bad_window_pkts);
		return;
	}
	if (!wh_session_is_younger(
		    s, now_tsc, packet->pn, &rx->next_trans_pn, &rx->trans_report_tsc))
		return;
	/* `upper` only grows, so one of the two values is wrong; the next report shows which. */
	if (upper < rx->previous_trans_upper) {
		wh_session_bad(s, &s->stats.bad_window_pkts);
		rx->previous_trans_upper = upper;
		return;
	}

	/* One report late, so that packets that were merely reordered have a period to arrive. */
	see_losses_below(s, now_tsc, rx->previous_trans_upper);
	rx->previous_trans_upper = upper;
	note_queued(s, packet->trans_report.queued_pkts);
	if (s->feedback.no_ack2)
		take_echo(s, arrived_tsc, &packet->trans_report);
}

static void warn_of_growing_delay(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;

	if (!s->feedback.delay_warnings || now_tsc < rx->next_warning_tsc ||
		!wh_trend_increasing(&rx->trend))
		return;

	struct wh_packet packet = {
		.delay_warning =
			{
				.highest_end = rx->table.highest_end,
				.pct_milli = (uint16_t)(wh_trend_pct(&rx->trend) * 1000),
				.pdt_milli = (uint16_t)(wh_trend_pdt(&rx->trend) * 1000),
			},
	};

	wh_session_push_control(s, now_tsc, WH_PACKET_DELAY_WARNING, &packet);
	wh_session_count(&s->stats.delay_warnings);
	/* udt.txt III C: no more than one warning in two round trips. */
	rx->next_warning_tsc = now_tsc + 2 * wh_rtt_get(&s->rtt);
}

/*
 * Until the skew of the clocks is known the trend is taken of the round trip, then of the one-way
 * delay without skew (udt.txt V). Stamps wrap; only their differences are used.
 */
static void watch_one_way(
	struct wh_session *s, uint64_t arrived_tsc, uint32_t stamp_us, int64_t rtt_tsc)
{
	struct wh_receiver *rx = &s->rx;
	uint32_t delay_us = wh_session_now_us(s, arrived_tsc) - stamp_us;
	bool was_known = wh_skew_known(rx->skew);

	if (rx->skew->samples == 0)
		rx->skew_base_us = delay_us;
	wh_skew_add(rx->skew, arrived_tsc,
		(int64_t)(int32_t)(delay_us - rx->skew_base_us) *
			(int64_t)(s->config.hz / WH_US_PER_S));
	if (!wh_skew_known(rx->skew)) {
		wh_trend_add(&rx->trend, rtt_tsc);
		return;
	}
	if (!was_known)
		wh_trend_init(&rx->trend);
	wh_trend_add(&rx->trend, wh_skew_corrected(rx->skew));
}

static void take_ack2(
	struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc, const struct wh_ack2 *ack2)
{
	struct wh_receiver *rx = &s->rx;
	uint64_t sent = s->control_pn[WH_PACKET_RCV_REPORT];

	if (ack2->ack_pn >= sent || ack2->lower > rx->table.lower) {
		wh_session_bad(s, &s->stats.bad_window_pkts);
		return;
	}
	rx->acked_end = wh_max_u64(rx->acked_end, ack2->ack_pn + 1);

	struct wh_ack_sample *sample = find_sample(rx, ack2->ack_pn);

	if (sample == NULL)
		return; /* no sample, or overwritten */

	uint64_t sent_tsc = sample->sent_tsc;

	if (sent_tsc == 0 || arrived_tsc < sent_tsc)
		return; /* a duplicate, or a path shorter than the clock's resolution */
	sample->sent_tsc = 0;
	wh_rtt_add(&s->rtt, arrived_tsc - sent_tsc);

	int64_t rtt_tsc = (int64_t)(arrived_tsc - sent_tsc);

	if (s->feedback.trend_one_way)
		watch_one_way(s, arrived_tsc, ack2->stamp_us, rtt_tsc);
	else
		wh_trend_add(&rx->trend, rtt_tsc);
	warn_of_growing_delay(s, now_tsc);
}

void wh_get_trans_stat_take(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	switch (packet->type) {
	case WH_PACKET_TRANS_REPORT:
		take_report(s, now_tsc, arrived_tsc, packet);
		break;
	case WH_PACKET_ACK2:
		take_ack2(s, now_tsc, arrived_tsc, &packet->ack2);
		break;
	default:
		wh_session_bad(s, &s->stats.bad_unexpected_pkts);
	}
}

/* The transmitter has the whole stream: its size and digest are known now. */
bool wh_get_trans_stat_end(struct wh_session *s, uint64_t now_tsc, const struct wh_release *release)
{
	struct wh_receiver *rx = &s->rx;

	if (release->stage != WH_RELEASE_REQUEST || rx->total_known)
		return true;
	if (release->pn_end > wh_recv_table_upper(&rx->table) ||
		release->pn_end < rx->table.highest_end || release->chunks < rx->next_deliver) {
		wh_session_bad(s, &s->stats.bad_window_pkts);
		return false;
	}
	rx->total_known = true;
	rx->chunks = release->chunks;
	rx->total_bytes = release->total_bytes;
	rx->digest = release->digest;
	see_losses_below(s, now_tsc, release->pn_end);
	return true;
}

static void notice_silence(struct wh_session *s, uint64_t now_tsc)
{
	if (now_tsc - s->last_heard_tsc > s->peer_timeout_tsc)
		wh_session_give_up(s, now_tsc);
}

/*
 * Stall: the peer reports that it has data and sends none although a buffer is free. If our writer
 * holds all buffers the stall is not the peer's. If the peer is silent the peer timeout applies.
 */
static void notice_stall(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;
	bool owed = rx->peer_queued_pkts > 0 || rx->table.lower < rx->table.highest_end ||
		    rx->table.lower < rx->previous_trans_upper;
	bool buffers_wait = rx->next_deliver - rx->recycled_count < s->config.chunks;

	if (!owed || !buffers_wait)
		rx->progress_tsc = now_tsc;
	if (now_tsc - s->last_heard_tsc <= wh_session_exp_tsc(s) &&
		now_tsc - rx->progress_tsc > wh_ns_to_tsc(s->config.hz, s->config.stall_timeout_ns))
		wh_session_abort(s, now_tsc, WH_STATUS_STALLED);
}

void wh_get_trans_stat(struct wh_session *s, uint64_t now_tsc)
{
	if (s->phase == WH_PHASE_RUNNING)
		notice_silence(s, now_tsc);
	if (s->phase == WH_PHASE_RUNNING)
		notice_stall(s, now_tsc);
}
