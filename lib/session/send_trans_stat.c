/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * send_trans_stat: sends the transmitter's report to the receiver every period. `upper` in it
 * reveals losses at the end of a burst, where no later packet shows the gap.
 */

#include "session/session_internal.h"

/* Includes the rest of the open chunk, which is not admitted yet if the peer lacks buffers. */
static uint64_t queued_pkts(const struct wh_transmitter *tx)
{
	uint64_t pkts = wh_fifo_count(&tx->fresh) + wh_fifo_count(&tx->retransmits);

	if (tx->open_chunk != NULL)
		pkts += tx->tx_chunk[tx->open_chunk->slot].packets - tx->open_index;
	return pkts;
}

static bool has_news(const struct wh_transmitter *tx)
{
	return tx->told_lower != wh_sent_table_lower(&tx->table) ||
	       tx->told_upper != tx->sent_end || tx->told_queued != (queued_pkts(tx) > 0);
}

/*
 * The longest time between two reports while data are queued. If the profile limits reports to a
 * small share of the data it is longer while data are sent, since data also show that we are alive.
 */
static uint64_t quiet_tsc(const struct wh_session *s, uint64_t now_tsc)
{
	uint64_t quiet_tsc = wh_session_ms_tsc(s, WH_QUIET_MS);
	bool sends = now_tsc < wh_add_u64(s->tx.stamp_tsc, quiet_tsc);

	return sends && s->feedback.data_per_report > 0 ? wh_session_ms_tsc(s, WH_QUIET_DATA_MS)
							: quiet_tsc;
}

/*
 * The pause before the next report. With feedback.delivery our reports only give the receiver round
 * trips. So one is sent per round trip, and while data are sent no more than a share of them. A
 * silent peer gets no data, only heartbeats: they alone make it answer, and keep switches aware of
 * where we are. Once nothing is queued a report says so soon.
 */
static uint64_t step_tsc(const struct wh_session *s, uint64_t now_tsc)
{
	const struct wh_transmitter *tx = &s->tx;
	uint32_t report_bytes = s->config.wire_bytes - s->config.payload_bytes;
	uint64_t bytes = (tx->transmission - tx->told_transmission) * s->config.wire_bytes;

	if (!s->feedback.delivery)
		return s->period_tsc;
	if (tx->peer_silent)
		return wh_session_heartbeat_tsc(s, 0);
	if (tx->told_queued && bytes < (uint64_t)WH_DATA_PER_REPORT * report_bytes)
		return quiet_tsc(s, now_tsc);
	if (tx->told_queued && queued_pkts(tx) > 0 &&
		bytes < (uint64_t)s->feedback.data_per_report * report_bytes)
		return quiet_tsc(s, now_tsc);
	return wh_max_u64(s->period_tsc, wh_rtt_get(&s->rtt));
}

/*
 * Low activity: control packets are skipped (periodic-exchange.txt, "Control Packet Transmission
 * Time"), but only after the latest news was repeated often enough.
 */
static uint64_t pause_tsc(const struct wh_session *s, uint64_t now_tsc)
{
	const struct wh_transmitter *tx = &s->tx;

	if (tx->same_reports + 1 < WH_REPORT_REPEATS)
		return step_tsc(s, now_tsc);
	return wh_session_heartbeat_tsc(s, tx->idle ? tx->same_reports + 1 - WH_REPORT_REPEATS : 0);
}

/*
 * Age of the receiver's latest report, from which the receiver computes the round trip without an
 * ACK2.
 */
static uint32_t held_us(const struct wh_session *s, uint64_t now_tsc)
{
	uint64_t held_tsc = now_tsc - s->tx.report_tsc;

	return (uint32_t)wh_min_u64(wh_tsc_to_us(s->config.hz, held_tsc), UINT32_MAX);
}

static void push_report(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;
	struct wh_packet packet = {
		.trans_report =
			{
				.lower = wh_sent_table_lower(&tx->table),
				.upper = tx->sent_end,
				.queued_pkts = (uint32_t)queued_pkts(tx),
				.heard_end = tx->next_report_pn,
				.held_us = held_us(s, now_tsc),
			},
	};

	wh_session_count_on(s, now_tsc, WH_PACKET_TRANS_REPORT, tx->last_trans_report_tsc);
	wh_session_push_control(s, now_tsc, WH_PACKET_TRANS_REPORT, &packet);
	tx->told_lower = packet.trans_report.lower;
	tx->told_upper = tx->sent_end;
	tx->told_transmission = tx->transmission;
	tx->told_queued = queued_pkts(tx) > 0;
	tx->last_trans_report_tsc = now_tsc;
	if (tx->unanswered_tsc == 0)
		tx->unanswered_tsc = now_tsc;
}

/*
 * Until when data packets make reports unnecessary; 0: they do not. While more data are queued and
 * the last packet was sent recently, a gap shows in the next packet. After a round trip and its
 * deviation without data, as when a whole window was lost, reports are needed again.
 */
static uint64_t quiet_until_tsc(const struct wh_session *s, uint64_t now_tsc, bool is_doubted)
{
	const struct wh_transmitter *tx = &s->tx;

	if (!s->feedback.data_tell || !tx->told_queued || tx->peer_silent || queued_pkts(tx) == 0 ||
		is_doubted)
		return 0;

	uint64_t patience_tsc = wh_rtt_get(&s->rtt) + 4 * s->rtt.var_tsc + 2 * s->period_tsc;
	uint64_t until_tsc = wh_add_u64(tx->stamp_tsc, patience_tsc);

	return wh_session_data_waits(tx) ? wh_max_u64(until_tsc, now_tsc + s->period_tsc)
					 : until_tsc;
}

/*
 * If reports are limited to a small share of the data they only echo the receiver's reports. So
 * before the receiver's first one there is nothing to say, and data follow anyway.
 */
static bool has_nothing_to_say(const struct wh_session *s)
{
	return s->feedback.data_per_report > 0 && !s->tx.report_seen && !s->tx.peer_silent &&
	       queued_pkts(&s->tx) > 0;
}

int32_t wh_send_trans_stat(struct wh_session *s, uint64_t now_tsc, bool is_doubted)
{
	struct wh_transmitter *tx = &s->tx;
	uint64_t until_tsc = quiet_until_tsc(s, now_tsc, is_doubted);
	bool news = has_news(tx);

	if (has_nothing_to_say(s)) {
		tx->next_trans_report_tsc = now_tsc + s->period_tsc;
		return 0;
	}
	if (now_tsc < until_tsc) {
		tx->next_trans_report_tsc = until_tsc;
		return 0;
	}
	/* News waits for the end of a period, not for a heartbeat. */
	if (news)
		tx->next_trans_report_tsc = wh_min_u64(tx->next_trans_report_tsc,
			tx->last_trans_report_tsc + step_tsc(s, now_tsc));
	else if (tx->peer_silent && !tx->idle) /* it fell silent after a longer pause began */
		tx->next_trans_report_tsc = wh_min_u64(tx->next_trans_report_tsc,
			tx->last_trans_report_tsc + wh_session_heartbeat_tsc(s, 0));
	if (now_tsc < tx->next_trans_report_tsc)
		return 0;
	tx->same_reports = news ? 0 : tx->same_reports + 1;
	push_report(s, now_tsc);
	tx->next_trans_report_tsc = now_tsc + pause_tsc(s, now_tsc);
	return 1;
}
