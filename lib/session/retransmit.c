/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Retransmission without NAKs, a part of get_rcv_stat. The profile chooses one of three methods:
 *
 *   counted  so many receiver reports after sending (periodic-exchange.txt, "Retransmission Time
 *            Out")
 *   timed    a timer for each packet
 *   late     RACK-TLP (RFC 8985): a packet is lost if one sent sufficiently later has arrived, and
 *            the last packets are probed. Unlike in RFC 8985 the receiver measures the reordering.
 */

#include "session/session_internal.h"

/* Timers are checked this often per timeout. */
#define LOOKS_PER_TIMEOUT 16
#define LOOK_US_MIN       50

/* Observed reordering is remembered for one to two spans of this many round trips, or this long. */
#define LATE_SPAN_RTTS 16
#define LATE_SPAN_MS   1000

/* Reordering counts up to this many round trips, whatever the peer claims, or up to this time. */
#define OVERTAKEN_RTTS 4
#define OVERTAKEN_MS   10

/* Reordering below this many round trips widens the window to one round trip at most. */
#define FAR_RTTS 2

/* Reordering window while buffers run out, as a part of the round trip (RACK: a quarter). */
#define SCARCE_PART 8

/* Most packets that the search for the last unacknowledged one visits. */
#define LATE_LOOKS 4096

/* Most doublings of the pause between probes of the last packets. */
#define LATE_DOUBLINGS_MAX 6

/* A larger gap between two reports counts as this one, which makes every sent packet due. */
#define AHEAD_MAX (UINT32_C(1) << 21)

uint32_t wh_retransmit_due(const struct wh_session *s, uint64_t now_tsc)
{
	if (s->feedback.resend == WH_RESEND_LATE) /* stores the sending time */
		return s->tx.stamp_us;

	uint32_t now = s->feedback.resend == WH_RESEND_COUNTED ? s->tx.reports_counted
							       : wh_session_now_us(s, now_tsc);

	return now + s->tx.decision.resend_after;
}

static void queue_retransmit(void *context, uint64_t pn)
{
	struct wh_transmitter *tx = context;
	bool pushed = wh_fifo_push_u64(&tx->retransmits, pn);

	if (pn != tx->late.lost_end)
		tx->late.runs++;
	tx->late.lost_end = pn + 1;
	/* The FIFO holds a whole window and has no packet number twice. */
	WH_ASSERT(pushed);
}

/*
 * Queues missing packets below `end`; those above all that have arrived by `above`. Packets that
 * the report does not cover may have arrived.
 */
static void queue_missing(struct wh_session *s, const struct wh_sent_due *due,
	const struct wh_sent_due *above, const struct wh_rcv_report *report, uint64_t end)
{
	struct wh_transmitter *tx = &s->tx;

	wh_sent_table_queue_due(&tx->table, due, report->cover_first,
		wh_min_u64(report->cover_end, end), queue_retransmit, tx);
	wh_sent_table_queue_due(&tx->table, above, report->highest_end,
		wh_min_u64(tx->sent_end, end), queue_retransmit, tx);
}

void wh_retransmit_count(struct wh_session *s, uint64_t ahead, const struct wh_rcv_report *report)
{
	struct wh_transmitter *tx = &s->tx;

	tx->reports_counted += (uint32_t)wh_min_u64(ahead, AHEAD_MAX);

	const struct wh_sent_due due = {.now = tx->reports_counted, .sent_end = tx->sent_end};

	queue_missing(s, &due, &due, report, tx->sent_end);
}

uint64_t wh_retransmit_overtaken_tsc(const struct wh_session *s)
{
	const struct wh_late *late = &s->tx.late;

	return wh_min_u64(wh_max_u64(late->seen_tsc[0], late->seen_tsc[1]),
		OVERTAKEN_RTTS * wh_rtt_get(&s->rtt));
}

/*
 * Sets the reordering window: a quarter more than recent reordering, at most a round trip. Few
 * packets are later than that, and a shorter window repairs losses sooner. On a path that reorders
 * by far more the bound is OVERTAKEN_RTTS, since too many packets would be retransmitted for
 * nothing. Without reordering the window is a fraction of the round trip.
 */
static void set_window(struct wh_session *s, uint64_t overtaken_tsc)
{
	struct wh_late *late = &s->tx.late;
	uint64_t rtt_tsc = wh_rtt_get(&s->rtt);
	uint64_t ms_tsc = wh_session_ms_tsc(s, 1);
	uint64_t least_tsc = wh_min_u64(rtt_tsc / 8, ms_tsc);
	uint64_t rtts = overtaken_tsc > FAR_RTTS * rtt_tsc ? OVERTAKEN_RTTS : 1;
	uint64_t most_tsc = wh_max_u64(rtts * rtt_tsc, OVERTAKEN_MS * ms_tsc);

	late->window_tsc =
		wh_min_u64(wh_max_u64(least_tsc, overtaken_tsc + overtaken_tsc / 4), most_tsc);
	late->patience_tsc =
		rtt_tsc + rtt_tsc / 4 + 4 * s->rtt.var_tsc + late->window_tsc + ms_tsc / 4;
}

void wh_retransmit_begin(struct wh_session *s)
{
	set_window(s, 0);
}

static void widen_window(struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_report *report)
{
	struct wh_late *late = &s->tx.late;
	uint64_t span_tsc = wh_max_u64(
		LATE_SPAN_RTTS * wh_rtt_get(&s->rtt), wh_session_ms_tsc(s, LATE_SPAN_MS));

	if (now_tsc >= late->span_ends_tsc) {
		late->span_ends_tsc = now_tsc + span_tsc;
		late->seen_tsc[1] = late->seen_tsc[0];
		late->seen_tsc[0] = 0;
	}
	late->seen_tsc[0] = wh_max_u64(late->seen_tsc[0], wh_delivery_stamps_tsc(s, report->late));
	set_window(s, wh_max_u64(late->seen_tsc[0], late->seen_tsc[1]));
}

/* How many packets can still be sent while the lowest one is missing. */
static uint64_t room_pkts(const struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;
	const struct wh_chunk *open = tx->open_chunk;
	uint64_t peer_chunks =
		tx->peer_chunk_upper > tx->chunks ? tx->peer_chunk_upper - tx->chunks : 0;
	uint64_t chunks = wh_min_u64(peer_chunks, s->config.chunks - tx->chunks_out);
	uint64_t rest_pkts = open == NULL ? 0 : tx->tx_chunk[open->slot].packets - tx->open_index;

	return wh_min_u64(
		tx->table.size - (tx->table.admitted_end - wh_sent_table_lower(&tx->table)),
		chunks * s->chunk_packets + rest_pkts);
}

/*
 * Missing packets below this number hold up the flow: the table and the peer's buffers have too
 * little room behind them. The report about a retransmission comes a round trip later, and new
 * packets use up room meanwhile. So room for one round trip is needed, and for half of one more in
 * case the retransmission is slow.
 */
static uint64_t scarce_end(const struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;
	uint64_t flight_pkts = tx->transmission - tx->delivery->seen_pkts;
	uint64_t needed_pkts = flight_pkts + flight_pkts / 2;

	return wh_sent_table_lower(&tx->table) + needed_pkts -
	       wh_min_u64(needed_pkts, room_pkts(s));
}

/*
 * Queues packets below `end` that have not arrived and were sent more than `window_tsc` before the
 * latest packet that did. The time since the latest arrival counts as part of the window. The rest
 * of a burst has its stamp, and may wait in the receiver's port, which is read piece by piece: so
 * above all that have arrived only packets with an earlier stamp are late.
 */
static void queue_late(struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_report *report,
	uint64_t window_tsc, uint64_t end)
{
	uint64_t sent_tsc = wh_delivery_sent_tsc(s, now_tsc, report);
	uint64_t held_tsc = wh_delivery_stamps_tsc(s, report->held);
	uint64_t wait_tsc = window_tsc > held_tsc ? window_tsc - held_tsc : 0;

	if (sent_tsc <= wait_tsc)
		return;

	const struct wh_sent_due due = {
		.now = wh_session_now_us(s, sent_tsc - wait_tsc),
		.sent_end = s->tx.sent_end,
	};
	const struct wh_sent_due above = {.now = due.now - 1, .sent_end = due.sent_end};

	queue_missing(s, &due, &above, report, end);
}

/*
 * A packet that is later than any reordering seen so far was lost. With little room left a packet
 * that is less late is retransmitted, too: if everything waits for it the line is idle, so a
 * needless retransmission delays nothing.
 */
void wh_retransmit_late(struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_report *report)
{
	struct wh_transmitter *tx = &s->tx;

	widen_window(s, now_tsc, report);
	if (report->seen_end > tx->late.seen_end) {
		tx->late.seen_end = report->seen_end;
		tx->late.probes = 0;
	}

	uint64_t scarce_tsc = wh_min_u64(wh_rtt_get(&s->rtt) / SCARCE_PART, tx->late.window_tsc);

	queue_late(s, now_tsc, report, tx->late.window_tsc, tx->sent_end);
	queue_late(s, now_tsc, report, scarce_tsc, scarce_end(s));
}

/*
 * The pause doubles with each probe, up to a heartbeat. So a flow that has lost its data for
 * seconds continues soon after the path is back, while probes are as rare as the reports that are
 * sent anyway. On a path whose round trip is longer than a heartbeat the pause doubles once.
 */
static uint64_t probe_pause_tsc(const struct wh_session *s)
{
	const struct wh_late *late = &s->tx.late;
	uint64_t most_tsc = wh_max_u64(2 * late->patience_tsc, wh_session_heartbeat_tsc(s, 0));

	return wh_min_u64(late->patience_tsc << late->probes, most_tsc);
}

/* When the last packets are probed, because the receiver should have reported them by then. */
static uint64_t tail_tsc(const struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;

	/* Nothing is outstanding, or the next packet waits for the pacer only. */
	if (wh_sent_table_lower(&tx->table) >= tx->sent_end || tx->late.probe_waits ||
		(wh_session_data_waits(tx) && !wh_pacer_tokens_out(&tx->pacer)))
		return WH_TSC_NEVER;
	return tx->stamp_tsc + probe_pause_tsc(s);
}

/* Tail loss probe: retransmits the last outstanding packet, whose report tells about all others. */
static int32_t probe_tail(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;
	uint64_t lower = wh_sent_table_lower(&tx->table);
	uint64_t pn = tx->sent_end - 1;
	uint64_t least = tx->sent_end - wh_min_u64(LATE_LOOKS, tx->sent_end - lower);

	if (now_tsc < tail_tsc(s))
		return 0;
	while (pn > least && wh_sent_table_acked(&tx->table, pn))
		pn--;
	if (wh_sent_table_acked(&tx->table, pn))
		pn = lower;
	wh_sent_table_queue(&tx->table, pn, pn + 1, queue_retransmit, tx);
	tx->late.probe_waits = true;
	tx->late.probes = (uint32_t)wh_min_u64(tx->late.probes + 1, LATE_DOUBLINGS_MAX);
	return 1;
}

int32_t wh_retransmit_look(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;

	if (s->feedback.resend == WH_RESEND_LATE)
		return probe_tail(s, now_tsc);
	if (s->feedback.resend != WH_RESEND_TIMED || now_tsc < tx->next_look_tsc)
		return 0;

	const struct wh_sent_due due = {
		.now = wh_session_now_us(s, now_tsc),
		.sent_end = tx->sent_end,
	};
	uint64_t pause_us = wh_max_u64(tx->decision.resend_after / LOOKS_PER_TIMEOUT, LOOK_US_MIN);

	tx->next_look_tsc = now_tsc + wh_us_to_tsc(s->config.hz, pause_us);
	return (int32_t)wh_min_u64(
		wh_sent_table_queue_due(&tx->table, &due, wh_sent_table_lower(&tx->table),
			tx->sent_end, queue_retransmit, tx),
		INT32_MAX);
}

uint64_t wh_retransmit_deadline(const struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;

	if (s->feedback.resend == WH_RESEND_LATE)
		return tail_tsc(s);
	return s->feedback.resend == WH_RESEND_TIMED &&
			       wh_sent_table_lower(&tx->table) < tx->sent_end
		       ? tx->next_look_tsc
		       : WH_TSC_NEVER;
}
