/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * send_rcv_stat: sends the receiver's complete report to the transmitter every period. It also
 * sends NAKs for what is missing: at once when a gap is detected, and again by the NAK timer
 * (udt.txt III E).
 */

#include "session/session_internal.h"

/* Most report packets per period, so that trans is never flooded. */
#define REPORT_PACKETS_MAX 32

/* Data count as paused after this many mean arrival intervals without a packet. */
#define PAUSE_ARRIVALS 8

/* With an acknowledgement per packet: round trip samples per period. */
#define SAMPLES_PER_PERIOD 8

/*
 * Where the report replaces NAKs, a hole must be reported as soon as no reordered packet can still
 * fill it. So while there are more holes than fit into a report, the first report of a period
 * starts with the holes that are new since the report before the last. The following reports
 * contain the others in rotation.
 */
static uint64_t cover_from(const struct wh_receiver *rx, bool first)
{
	const struct wh_arrivals *arrivals = &rx->arrivals;

	if (!first)
		return arrivals->round_cursor;
	return arrivals->cut ? arrivals->told_end[1] : rx->table.lower;
}

static void go_round(struct wh_receiver *rx, uint64_t from, uint64_t end, bool first)
{
	struct wh_arrivals *arrivals = &rx->arrivals;
	bool all = end == rx->table.highest_end;

	if (first && arrivals->cut)
		return;
	arrivals->round_cursor = all ? rx->table.lower : end;
	arrivals->cut = !(all && from == rx->table.lower);
}

/*
 * Reports holes from the cursor on, as many as fit. The next report continues where this one ends.
 */
static void cover_holes(struct wh_session *s, struct wh_rcv_report *report, bool first)
{
	struct wh_receiver *rx = &s->rx;
	bool both = s->feedback.delivery && wh_session_repairs(s);
	uint32_t holes_most = both ? WH_HOLES_BESIDE_BOTH : WH_RANGES_MAX;
	struct wh_loss_range hole;
	uint64_t highest_end = rx->table.highest_end;
	uint64_t from = rx->cover_cursor;

	if (s->feedback.resend == WH_RESEND_LATE)
		from = cover_from(rx, first);
	/* Each report shall be complete, so the next one continues only if there was no room. */
	if (s->feedback.resend == WH_RESEND_COUNTED && from == rx->told_highest_end)
		from = rx->table.lower;
	if (from < rx->table.lower || from >= highest_end)
		from = rx->table.lower;
	report->cover_first = from;
	report->cover_end = highest_end;
	while (wh_recv_table_next_hole(&rx->table, from, &hole)) {
		if (report->n_holes == holes_most) {
			report->cover_end = from;
			break;
		}
		report->holes[report->n_holes++] = (struct wh_range){
			.offset = (uint32_t)(hole.first - report->cover_first),
			.count = (uint32_t)(hole.end - hole.first),
		};
		from = hole.end;
	}
	rx->cover_cursor = report->cover_end;
	if (s->feedback.resend == WH_RESEND_LATE)
		go_round(rx, report->cover_first, report->cover_end, first);
}

/* A report without holes. A sample includes measured rates, and gives a round trip. */
static struct wh_rcv_report report_now(struct wh_session *s, uint64_t now_tsc, bool sample)
{
	const struct wh_receiver *rx = &s->rx;
	uint64_t rtt_us = wh_tsc_to_us(s->config.hz, wh_rtt_get(&s->rtt));

	return (struct wh_rcv_report){
		.lower = rx->table.lower,
		.upper = wh_ration_upper(s, now_tsc),
		.highest_end = rx->table.highest_end,
		.received_pkts = s->stats.received_pkts,
		.duplicate_pkts = s->stats.duplicate_pkts,
		.bad_pkts = s->stats.bad_pkts,
		.chunk_upper =
			(uint32_t)wh_min_u64(rx->recycled_count + s->config.chunks, UINT32_MAX),
		.queued_chunks = wh_fifo_count(&rx->deliver),
		.buffer_chunks = s->config.chunks,
		.arrival_pps = sample ? wh_arrival_get(&rx->arrival) : 0,
		.capacity_pps = sample ? wh_pair_get(&rx->pair) : 0,
		.rtt_us = s->rtt.samples > 0 ? (uint32_t)wh_max_u64(1, rtt_us) : 0,
		.rtt_var_us = (uint32_t)wh_tsc_to_us(s->config.hz, s->rtt.var_tsc),
		.lost_pkts = s->stats.losses_detected_pkts,
		.loss_events = s->stats.loss_events,
		.repaired_pkts = s->stats.repaired_pkts,
		.undecodable_blocks = s->stats.undecodable_blocks,
	};
}

static void take_sample(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;

	rx->sampled_tsc = now_tsc;
	rx->ack_sample[rx->ack_samples++ % rx->ack_history] = (struct wh_ack_sample){
		.pn = s->control_pn[WH_PACKET_RCV_REPORT],
		.sent_tsc = now_tsc,
	};
}

/*
 * Only the `first` report of a period is a sample. The reports after it just continue with holes,
 * so that (1) and (6) of udt.txt and the trend of the delay get one sample per SYN.
 */
static void push_report(struct wh_session *s, uint64_t now_tsc, bool first)
{
	struct wh_packet packet = {.rcv_report = report_now(s, now_tsc, first)};

	if (s->feedback.ack_each) /* each packet is acknowledged when it arrives */
		packet.rcv_report.cover_first = packet.rcv_report.cover_end = s->rx.table.lower;
	else
		cover_holes(s, &packet.rcv_report, first);
	if (s->feedback.delivery)
		wh_delivery_say(s, now_tsc, &packet.rcv_report);
	if (first)
		take_sample(s, now_tsc);
	wh_session_push_control(s, now_tsc, WH_PACKET_RCV_REPORT, &packet);
}

/*
 * Number of report packets this period, so that every hole is reported once per round trip (or per
 * period, if that is longer).
 */
static uint32_t report_packets(const struct wh_session *s)
{
	if (s->feedback.resend == WH_RESEND_COUNTED)
		return 1; /* each report counts as an interval; the next one continues it */

	uint64_t periods_per_rtt = wh_max_u64(1, wh_rtt_get(&s->rtt) / s->period_tsc);
	uint64_t packets = (s->rx.losses.ranges + WH_RANGES_MAX - 1) / WH_RANGES_MAX;

	packets = (packets + periods_per_rtt - 1) / periods_per_rtt;
	if (s->rx.arrivals.cut)
		packets = wh_max_u64(packets, 2);
	return (uint32_t)wh_min_u64(wh_max_u64(1, packets), REPORT_PACKETS_MAX);
}

static bool has_news(const struct wh_session *s)
{
	const struct wh_receiver *rx = &s->rx;

	return s->ration.told_end != s->ration.granted_end || rx->told_lower != rx->table.lower ||
	       rx->told_highest_end != rx->table.highest_end ||
	       rx->told_recycled != rx->recycled_count;
}

/*
 * With every profile the receiver rests, sending only heartbeats, if nothing is missing or expected
 * and the transmitter is known to have the latest news.
 */
static bool may_rest(const struct wh_session *s)
{
	const struct wh_receiver *rx = &s->rx;

	return !has_news(s) && rx->table.lower == rx->table.highest_end &&
	       rx->previous_trans_upper <= rx->table.highest_end && rx->peer_queued_pkts == 0 &&
	       rx->acked_end > rx->news_pn;
}

/*
 * A heartbeat of the transmitter is answered without the doubled pause, so that the transmitter's
 * own timer determines how often it receives a report.
 */
static uint64_t rest_ends_tsc(const struct wh_session *s)
{
	const struct wh_receiver *rx = &s->rx;
	bool asked = rx->told_trans_pn != rx->next_trans_pn;

	return rx->last_report_tsc + wh_session_heartbeat_tsc(s, asked ? 0 : rx->rest_reports);
}

/* A peer that has not been heard for longer than a living one is silent may be gone. */
static bool is_silent(const struct wh_session *s, uint64_t now_tsc)
{
	uint64_t heard_tsc = __atomic_load_n(&s->last_heard_tsc, __ATOMIC_RELAXED);

	return now_tsc > heard_tsc && now_tsc - heard_tsc > wh_session_exp_tsc(s);
}

/*
 * Earliest time for the next report. udt.txt III E: a report without news waits for two round trips
 * after the previous one. News in the paper is the acknowledged number. This report is selective,
 * so arrivals above a hole are news as well, and so is a freed buffer.
 */
static uint64_t report_due_tsc(const struct wh_session *s, uint64_t now_tsc)
{
	const struct wh_receiver *rx = &s->rx;

	if (rx->at_rest)
		return rest_ends_tsc(s);
	if (!wh_session_may_say(s))
		return rx->last_report_tsc + wh_session_heartbeat_tsc(s, rx->unearned_reports);
	if (is_silent(s, now_tsc))
		return rx->last_report_tsc + wh_session_heartbeat_tsc(s, 0);
	if (!s->feedback.report_on_news_only || has_news(s))
		return 0;

	uint64_t wait_tsc = 2 * wh_rtt_get(&s->rtt);

	/* The transmitter knows all news, so only heartbeats are needed. */
	if (rx->acked_end > rx->news_pn)
		wait_tsc = wh_max_u64(wait_tsc, wh_session_heartbeat_tsc(s, 0));
	return wh_add_u64(rx->last_report_tsc, wait_tsc);
}

static uint64_t interval_tsc(const struct wh_session *s)
{
	if (s->feedback.delivery)
		return s->rx.arrivals.interval_tsc;
	return s->feedback.resend == WH_RESEND_COUNTED ? wh_control_interval_tsc(s) : s->period_tsc;
}

/* At the end of a period: the mean interval of arrivals. */
static void measure_period(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;
	/* Of a rest only two intervals count. */
	uint64_t span_tsc = wh_min_u64(now_tsc - rx->period_began_tsc, 2 * interval_tsc(s));

	rx->period_began_tsc = now_tsc;
	if (rx->arrived_since_period > 0)
		rx->mean_arrival_tsc = span_tsc / rx->arrived_since_period;
	rx->arrived_since_period = 0;
}

static void note_told(struct wh_session *s)
{
	struct wh_receiver *rx = &s->rx;

	rx->told_lower = rx->table.lower;
	rx->told_highest_end = rx->table.highest_end;
	rx->told_recycled = rx->recycled_count;
	s->ration.told_end = s->ration.granted_end;
	rx->told_received_pkts = s->stats.received_pkts;
	rx->told_trans_pn = rx->next_trans_pn;
}

/* The reports of a period, or one within a period, which gives no round trip sample. */
static void push_reports(struct wh_session *s, uint64_t now_tsc, bool of_period)
{
	struct wh_receiver *rx = &s->rx;
	uint32_t packets = of_period ? report_packets(s) : 1;

	if (has_news(s))
		rx->news_pn = s->control_pn[WH_PACKET_RCV_REPORT];
	rx->rest_reports = rx->at_rest ? rx->rest_reports + 1 : 0;
	rx->unearned_reports = wh_session_may_say(s) ? 0 : rx->unearned_reports + 1;
	for (uint32_t i = 0; i == 0 || (i < packets && wh_session_may_say(s)); i++)
		push_report(s, now_tsc, of_period && i == 0);
	rx->last_report_tsc = now_tsc;
	if (s->feedback.delivery) {
		wh_delivery_pace(s);
		wh_delivery_offer(s, now_tsc);
	}
	rx->arrivals.told_end[1] = rx->arrivals.told_end[0];
	rx->arrivals.told_end[0] = rx->table.highest_end;
	note_told(s);
}

/*
 * Whether a report is due within a period. On a fast line and a short path the transmitter has the
 * data of a period in flight rather than those of a round trip. More reports let it reuse chunks
 * that are still in its caches. With feedback.report_per_packet one report covers all packets of a
 * turn.
 */
static bool much_has_come(const struct wh_session *s)
{
	const struct wh_receiver *rx = &s->rx;

	if (s->feedback.report_per_packet && rx->told_received_pkts != s->stats.received_pkts)
		return wh_session_may_say(s);

	uint64_t bytes = (rx->table.highest_end - rx->told_highest_end) * s->config.payload_bytes;

	return s->feedback.report_bytes > 0 && bytes >= s->feedback.report_bytes;
}

/* A report that must wait is skipped and counted, too. */
static bool skip_report(struct wh_session *s, uint64_t now_tsc)
{
	if (now_tsc < report_due_tsc(s, now_tsc)) {
		s->control_pn[WH_PACKET_RCV_REPORT]++;
		return true;
	}
	return wh_control_skip(s, has_news(s));
}

/*
 * With feedback.delivery: reports follow the round trip while arriving data pay for them. One is
 * also sent when data pause, because the last packet may have arrived.
 */
static void keep_step(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;
	const struct wh_arrivals *arrivals = &rx->arrivals;
	bool earned = wh_delivery_earned(s);
	bool hurries = has_news(s) && wh_delivery_short(s);
	uint64_t interval_tsc = hurries ? arrivals->short_tsc : arrivals->interval_tsc;

	rx->next_report_tsc =
		rx->last_report_tsc + (earned ? interval_tsc : arrivals->patience_tsc);
	if (!earned && arrivals->pkts > 0) {
		uint64_t pause_tsc =
			wh_max_u64(arrivals->interval_tsc, PAUSE_ARRIVALS * rx->mean_arrival_tsc);

		rx->next_report_tsc =
			wh_min_u64(rx->next_report_tsc, arrivals->last_tsc + pause_tsc);
	}
	/* No need to poll before the report may be sent. */
	rx->next_report_tsc = wh_max_u64(rx->next_report_tsc, report_due_tsc(s, now_tsc));
}

static int32_t send_report(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;
	bool rested = rx->at_rest;

	rx->at_rest = may_rest(s);
	if (rested && !rx->at_rest) /* news ends a rest and waits for a period only */
		rx->next_report_tsc =
			wh_min_u64(rx->next_report_tsc, rx->last_report_tsc + s->period_tsc);
	if (s->feedback.delivery)
		keep_step(s, now_tsc);
	if (rx->at_rest)
		rx->next_report_tsc = rest_ends_tsc(s);
	if (now_tsc < rx->next_report_tsc) {
		if (!much_has_come(s))
			return 0;
		push_reports(s, now_tsc, false);
		return 1;
	}
	measure_period(s, now_tsc);
	rx->next_report_tsc = now_tsc + interval_tsc(s);
	if (s->feedback.resend == WH_RESEND_COUNTED && rx->at_rest)
		wh_session_count_on(s, now_tsc, WH_PACKET_RCV_REPORT, rx->last_report_tsc);
	else if (s->feedback.resend == WH_RESEND_COUNTED && skip_report(s, now_tsc))
		return 0;
	if (now_tsc < report_due_tsc(s, now_tsc))
		return 0;
	push_reports(s, now_tsc, true);
	if (rx->at_rest)
		rx->next_report_tsc = rest_ends_tsc(s);
	return 1;
}

static void push_nak(struct wh_session *s, uint64_t now_tsc, struct wh_packet *packet)
{
	wh_session_push_control(s, now_tsc, WH_PACKET_NAK, packet);
	wh_session_count(&s->stats.naks);
}

static int compare_ranges(const void *a, const void *b)
{
	uint64_t first_a = ((const struct wh_loss_range *)a)->first;
	uint64_t first_b = ((const struct wh_loss_range *)b)->first;

	return (first_a > first_b) - (first_a < first_b);
}

/* The wire format: ranges ascend from a base. All lie within one window. */
static void fill_nak(struct wh_nak *nak, struct wh_loss_range *range, uint32_t count)
{
	WH_ASSERT(count > 0 && count <= WH_RANGES_MAX);
	qsort(range, count, sizeof(*range), compare_ranges);
	nak->base = range[0].first;
	nak->n_losses = (uint16_t)count;
	for (uint32_t i = 0; i < count; i++)
		nak->losses[i] = (struct wh_range){
			.offset = (uint32_t)(range[i].first - nak->base),
			.count = (uint32_t)(range[i].end - range[i].first),
		};
}

/*
 * Reports losses found since the last call. III E sends a NAK for each packet that reveals a loss;
 * here all packets of a turn share one NAK.
 */
static int32_t send_immediate_nak(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;
	struct wh_packet packet;

	if (rx->fresh_losses == 0)
		return 0;
	fill_nak(&packet.nak, rx->fresh_loss, rx->fresh_losses);
	rx->fresh_losses = 0;
	push_nak(s, now_tsc, &packet);
	return 1;
}

/* Reports losses that were reported k round trips ago and are still missing. */
static int32_t send_timed_naks(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;
	uint64_t rtt_tsc = wh_rtt_get(&s->rtt);
	struct wh_loss_range range[WH_RANGES_MAX];
	struct wh_packet packet;
	int32_t naks = 0;

	if (now_tsc < rx->next_nak_tsc)
		return 0;
	/* III E: the larger of RTT and the mean arrival interval since the last SYN. */
	rx->next_nak_tsc = now_tsc + wh_max_u64(rtt_tsc, rx->mean_arrival_tsc);
	if (is_silent(s, now_tsc))
		rx->next_nak_tsc = now_tsc + wh_max_u64(rtt_tsc, wh_session_heartbeat_tsc(s, 0));

	for (uint32_t i = 0; i < s->feedback.nak_packets_max && wh_session_may_say(s); i++) {
		uint32_t count = 0;

		while (count < WH_RANGES_MAX &&
			wh_loss_list_next_due(&rx->losses, now_tsc, rtt_tsc, &range[count]))
			count++;
		if (count == 0)
			break;
		fill_nak(&packet.nak, range, count);
		push_nak(s, now_tsc, &packet);
		naks++;
	}
	return naks;
}

/*
 * Acknowledges this packet, and otherwise reports only the free buffers. A few of these reports per
 * period are round trip samples, no more than the table of samples can hold.
 */
void wh_session_ack(struct wh_session *s, uint64_t now_tsc, uint64_t pn)
{
	struct wh_receiver *rx = &s->rx;
	bool sample = now_tsc - rx->sampled_tsc >= s->period_tsc / SAMPLES_PER_PERIOD;
	struct wh_packet packet = {.rcv_report = report_now(s, now_tsc, sample)};
	struct wh_rcv_report *report = &packet.rcv_report;

	/* No report reaches back further than a window, and nothing older is outstanding. */
	if (pn < s->params.first_pn || pn >= rx->table.highest_end ||
		rx->table.highest_end - pn > rx->table.size ||
		wh_recv_table_classify(&rx->table, pn) != WH_RECV_DUPLICATE ||
		!wh_session_may_say(s))
		return;
	if (s->feedback.ack_in_order)
		pn = report->lower;
	else /* the packet may be a duplicate below `lower` */
		report->lower = wh_min_u64(report->lower, pn);
	report->upper = wh_min_u64(report->upper, report->lower + WH_WINDOW_PACKETS_MAX);
	report->cover_first = pn;
	report->cover_end = s->feedback.ack_in_order ? pn : pn + 1;
	if (sample)
		take_sample(s, now_tsc);
	if (has_news(s))
		rx->news_pn = s->control_pn[WH_PACKET_RCV_REPORT];
	wh_session_push_control(s, now_tsc, WH_PACKET_RCV_REPORT, &packet);
	rx->last_report_tsc = now_tsc;
	note_told(s);
}

int32_t wh_send_rcv_stat(struct wh_session *s, uint64_t now_tsc)
{
	if (s->feedback.resend != WH_RESEND_ASKED) {
		s->rx.fresh_losses = 0;
		return send_report(s, now_tsc);
	}
	return send_immediate_nak(s, now_tsc) + send_timed_naks(s, now_tsc) +
	       send_report(s, now_tsc);
}
