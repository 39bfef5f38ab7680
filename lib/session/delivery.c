/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a receiver reports about received packets, and what a transmitter derives from it: how many
 * of its transmissions arrived, over which time, and the delay in both directions. Transmission
 * numbers never repeat, so a retransmission is not mistaken for the original.
 *
 * A lying receiver does no harm here. Counts only grow and never exceed what was sent; times are
 * differences of clocks that wrap.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "session/session_internal.h"

/* Most reports in a round trip while buffers are short. */
#define SHORT_REPORTS 64

/* Data credit that can be saved, in reports. */
#define REPORTS_SAVED 16

/* The first blocks of delays for the skew estimate are shorter by this factor. */
#define EARLY_BLOCKS 10

/* A receiver that looks at its port less often than this has paused. */
#define PAUSE_US 50

/* Both directions show the same skew if their slopes differ by no more than this. */
#define AGREED 5e-6

/* A steeper slope of the direction back may be a growing queue; a flatter one shows the skew. */
#define LOADED 10e-6

/* Larger sums come from false reports and are reset to 0. */
#define LEAST_MOST 1e15

/* Size of a report without holes and without the headers of its frame. */
#define REPORT_BYTES (WH_HEAD_BYTES + 64 + 48)

static uint64_t stamps_to_tsc(uint64_t hz, uint64_t stamps)
{
	return wh_muldiv_u64(stamps, hz * WH_STAMP_NS, WH_NS_PER_S);
}

static uint64_t tsc_to_stamps(uint64_t hz, uint64_t span_tsc)
{
	return wh_tsc_to_ns(hz, span_tsc) / WH_STAMP_NS;
}

static int64_t signed_to_tsc(uint64_t hz, int64_t stamps)
{
	uint64_t size = stamps < 0 ? -(uint64_t)stamps : (uint64_t)stamps;
	int64_t span_tsc = (int64_t)wh_min_u64(stamps_to_tsc(hz, size), INT64_MAX);

	return stamps < 0 ? -span_tsc : span_tsc;
}

/* The receiver's part. */

static uint32_t clock_of(struct wh_session *s, uint64_t arrived_tsc)
{
	struct wh_arrivals *arrivals = &s->rx.arrivals;

	if (arrivals->clock_tsc != arrived_tsc) {
		arrivals->clock_tsc = arrived_tsc;
		arrivals->clock = wh_session_stamp(s, arrived_tsc);
	}
	return arrivals->clock;
}

/*
 * After a pause the receiver reads all packets that arrived meanwhile at once, and their true
 * arrival times are unknown. A packet is assumed to have had the delay of the one before, if that
 * puts its arrival within the pause. So the receiver's own pauses do not look like a queue.
 */
static uint64_t came_tsc(struct wh_session *s, uint64_t taken_tsc, uint32_t stamp)
{
	const struct wh_arrivals *arrivals = &s->rx.arrivals;
	uint64_t since_tsc = wh_max_u64(s->looked_tsc, arrivals->last_tsc);

	if (arrivals->delivered_pkts == 0 || since_tsc >= taken_tsc)
		return taken_tsc;

	int32_t more = (int32_t)(clock_of(s, taken_tsc) - stamp - arrivals->delay);
	uint64_t more_tsc = more > 0 ? stamps_to_tsc(s->config.hz, (uint64_t)more) : 0;

	return taken_tsc - wh_min_u64(more_tsc, taken_tsc - since_tsc);
}

/* Arrival rate, measured on either side of a pause but not across it. */
static void measure_span(struct wh_arrivals *arrivals, uint64_t taken_tsc, bool paused)
{
	/* A port delivers a burst at one time, so the duration of the first burst is unknown. */
	if (arrivals->pkts > 0 && !paused && taken_tsc > arrivals->taken_tsc) {
		arrivals->span_tsc += taken_tsc - arrivals->taken_tsc;
		arrivals->span_pkts++;
	} else if (arrivals->pkts > 0 && !paused) {
		arrivals->span_pkts += arrivals->span_tsc > 0;
	}
	arrivals->taken_tsc = taken_tsc;
}

void wh_delivery_note(struct wh_session *s, uint64_t taken_tsc, const struct wh_packet *packet,
	enum wh_rx_slot_kind kind)
{
	struct wh_arrivals *arrivals = &s->rx.arrivals;
	uint32_t stamp = packet->data.stamp;
	bool paused = s->looked_tsc > 0 && taken_tsc >= s->looked_tsc + arrivals->pause_tsc;
	uint64_t arrived_tsc = unlikely(paused) ? came_tsc(s, taken_tsc, stamp) : taken_tsc;
	uint32_t delay = clock_of(s, arrived_tsc) - stamp;
	bool retransmission = (packet->flags & WH_FLAG_RETRANSMISSION) != 0;

	measure_span(arrivals, taken_tsc, paused);
	if (arrivals->pkts++ == 0 || (int32_t)(delay - arrivals->least_delay) < 0)
		arrivals->least_delay = delay;
	arrivals->last_tsc = arrived_tsc;
	arrivals->delay = delay;
	arrivals->delivered_pkts++;
	if (packet->data.transmission >= arrivals->seen_end) {
		arrivals->seen_end = packet->data.transmission + 1;
		arrivals->latest_tsc = arrived_tsc;
		arrivals->stamp = stamp;
	} else if (kind != WH_RX_SLOT_DUPLICATE && (int32_t)(arrivals->stamp - stamp) > 0) {
		arrivals->late = (uint32_t)wh_max_u64(arrivals->late, arrivals->stamp - stamp);
	}
	if (retransmission && kind == WH_RX_SLOT_DUPLICATE) {
		arrivals->retransmitted_pkts++;
		wh_session_count(&s->stats.spurious_pkts);
	}
}

/*
 * Whether the transmitter has to wait for our buffers, or soon will: it uses them up within two
 * round trips, or packets behind a hole fill half of the table. While it waits the line is idle and
 * has room for reports.
 */
bool wh_delivery_short(const struct wh_session *s)
{
	const struct wh_recv_table *table = &s->rx.table;

	return table->highest_end - table->lower > table->size / 2 ||
	       table->highest_end >= s->rx.arrivals.told_upper[1];
}

/* Data that must have arrived before a report may be sent. */
static int64_t price(const struct wh_session *s, uint32_t holes)
{
	uint32_t frame_bytes = s->config.wire_bytes - s->config.payload_bytes - WH_HEAD_BYTES;

	return (wh_delivery_short(s) ? WH_DATA_PER_SHORT_REPORT : WH_DATA_PER_REPORT) *
	       (int64_t)(REPORT_BYTES + frame_bytes + holes * sizeof(struct wh_range));
}

static int64_t credit(const struct wh_session *s)
{
	int64_t heard_bytes = (int64_t)s->rx.arrivals.pkts * s->config.wire_bytes;
	int64_t most = REPORTS_SAVED * price(s, 0);
	int64_t sum = s->rx.arrivals.credit_bytes + heard_bytes;

	return sum < most ? sum : most;
}

void wh_delivery_begin(struct wh_session *s)
{
	s->rx.arrivals.pause_tsc = wh_us_to_tsc(s->config.hz, PAUSE_US);
	s->rx.arrivals.told_upper[0] = s->rx.arrivals.told_upper[1] = UINT64_MAX;
	s->rx.arrivals.credit_bytes = REPORTS_SAVED * price(s, 0);
	wh_delivery_pace(s);
}

void wh_delivery_say(struct wh_session *s, uint64_t now_tsc, struct wh_rcv_report *report)
{
	struct wh_arrivals *arrivals = &s->rx.arrivals;
	uint64_t hz = s->config.hz;
	uint64_t held = tsc_to_stamps(hz, now_tsc - arrivals->latest_tsc);
	uint64_t span = tsc_to_stamps(hz, arrivals->span_tsc);

	arrivals->credit_bytes = credit(s) - price(s, report->n_holes);
	report->delivered_pkts = arrivals->delivered_pkts;
	report->seen_end = arrivals->seen_end;
	if (arrivals->seen_end == 0)
		return;
	report->stamp = arrivals->stamp;
	report->held = (uint32_t)wh_min_u64(held, UINT32_MAX);
	report->arrived = wh_session_stamp(s, arrivals->latest_tsc);
	report->least_delay = report->arrived - report->stamp;
	report->retransmitted_pkts = arrivals->retransmitted_pkts;
	if (arrivals->pkts == 0)
		return;
	report->least_delay = arrivals->least_delay;
	report->span = (uint32_t)wh_min_u64(span, UINT32_MAX);
	report->span_pkts = arrivals->span_pkts;
	report->late = arrivals->late;
	arrivals->pkts = 0;
	arrivals->span_tsc = 0;
	arrivals->span_pkts = 0;
	arrivals->late = 0;
}

void wh_delivery_offer(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_arrivals *arrivals = &s->rx.arrivals;

	if (now_tsc - arrivals->told_upper_tsc < wh_rtt_get(&s->rtt))
		return;
	arrivals->told_upper[1] = arrivals->told_upper[0];
	arrivals->told_upper[0] = wh_ration_upper(s, now_tsc);
	arrivals->told_upper_tsc = now_tsc;
}

bool wh_delivery_earned(const struct wh_session *s)
{
	return credit(s) >= price(s, 0);
}

/*
 * Four reports per round trip, and at least one per WH_DELIVERY_PERIOD_MS, as far as arriving data
 * pay for them. After a round trip, or a heartbeat if that is shorter, one is sent even unpaid.
 */
void wh_delivery_pace(struct wh_session *s)
{
	struct wh_arrivals *arrivals = &s->rx.arrivals;
	uint64_t rtt_tsc = wh_rtt_get(&s->rtt);
	uint64_t period_tsc = wh_session_ms_tsc(s, WH_DELIVERY_PERIOD_MS);
	uint64_t most_tsc = s->rtt.samples > 0 ? period_tsc : wh_session_ms_tsc(s, 1);

	arrivals->interval_tsc = wh_max_u64(wh_min_u64(rtt_tsc / 4, most_tsc), most_tsc / 1000);
	arrivals->short_tsc =
		wh_max_u64(wh_min_u64(rtt_tsc / SHORT_REPORTS, most_tsc), most_tsc / 1000);
	arrivals->patience_tsc =
		wh_max_u64(wh_min_u64(rtt_tsc, wh_session_heartbeat_tsc(s, 0)), period_tsc);
}

/* The transmitter's part. */

int wh_delivery_init(struct wh_session *s)
{
	uint64_t grain_tsc = wh_max_u64(stamps_to_tsc(s->config.hz, 1), 1);

	s->tx.delivery = calloc(1, sizeof(*s->tx.delivery));
	if (s->tx.delivery == NULL)
		return -ENOMEM;
	wh_skew_init(&s->tx.delivery->there, s->config.hz, grain_tsc);
	wh_skew_init(&s->tx.delivery->back, s->config.hz, grain_tsc);
	wh_straight_init(&s->tx.delivery->straight, s->config.hz);
	s->tx.delivery->there.block_tsc /= EARLY_BLOCKS;
	s->tx.delivery->back.block_tsc /= EARLY_BLOCKS;
	return 0;
}

bool wh_delivery_possible(
	const struct wh_session *s, uint8_t flags, const struct wh_rcv_report *report)
{
	bool told = (flags & WH_FLAG_DELIVERY) != 0;

	return told == s->feedback.delivery && report->seen_end <= s->tx.transmission;
}

/* 0: unknown, because the packet is too old or its stamp was never sent. */
static uint64_t rtt_of(
	const struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_report *report)
{
	uint32_t age = wh_session_stamp(s, now_tsc) - report->stamp;

	if (report->held == UINT32_MAX || report->held > age ||
		(int32_t)(s->tx.stamp - report->stamp) < 0)
		return 0;

	uint64_t rtt_tsc = wh_max_u64(stamps_to_tsc(s->config.hz, age - report->held), 1);

	return wh_min_u64(rtt_tsc, s->peer_timeout_tsc);
}

uint64_t wh_delivery_stamps_tsc(const struct wh_session *s, uint64_t stamps)
{
	return stamps_to_tsc(s->config.hz, stamps);
}

uint64_t wh_delivery_sent_tsc(
	const struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_report *report)
{
	uint32_t age = wh_session_stamp(s, now_tsc) - report->stamp;
	uint64_t age_tsc = stamps_to_tsc(s->config.hz, age);

	if (report->seen_end == 0 || (int32_t)(s->tx.stamp - report->stamp) < 0)
		return 0;
	return now_tsc > age_tsc ? now_tsc - age_tsc : 0;
}

/* The reported count wraps. No more packets count as spurious than were retransmitted. */
static void take_spurious(struct wh_session *s, const struct wh_rcv_report *report)
{
	struct wh_session_stats *stats = &s->stats;
	uint64_t more = report->retransmitted_pkts - s->tx.delivery->retransmitted_pkts;
	uint64_t most = stats->retransmitted_pkts - stats->spurious_pkts;

	s->tx.delivery->retransmitted_pkts = report->retransmitted_pkts;
	wh_session_add(&stats->spurious_pkts, wh_min_u64(more, most));
}

/* Counts only grow. If the path duplicates packets, no more are counted than were sent. */
static void take_counts(struct wh_delivery *delivery, const struct wh_rcv_report *report)
{
	delivery->seen_pkts = wh_max_u64(delivery->seen_pkts, report->seen_end);
	delivery->delivered_pkts = wh_min_u64(
		wh_max_u64(delivery->delivered_pkts, report->delivered_pkts), delivery->seen_pkts);
}

/* Sums the steps of the wrapping clocks. */
static void take_clocks(struct wh_session *s, const struct wh_rcv_report *report)
{
	struct wh_delivery *delivery = s->tx.delivery;
	uint32_t delay = report->arrived - report->stamp;

	if (delivery->begun) {
		delivery->arrived_stamps += report->arrived - delivery->arrived;
		delivery->delay_stamps = (int64_t)((uint64_t)delivery->delay_stamps +
						   (uint64_t)(int32_t)(delay - delivery->delay));
	}
	delivery->begun = true;
	delivery->arrived = report->arrived;
	delivery->delay = delay;
}

/* Whether the slope is steeper than any clock skew, so that the path must cause it. */
static bool is_of_path(double slope)
{
	return fabs(slope) >= WH_SKEW_MOST_PPM * 1e-6 * 0.999;
}

/*
 * The part of the slope that both directions agree on: a growing or draining queue changes the
 * delay of one direction only. If one slope is too steep for clock skew the other one is used. If
 * they disagree, a slope that was measured on the forward direction alone takes precedence
 * (measure/straight.h).
 */
static double agreed_slope(const struct wh_delivery *delivery)
{
	double there = wh_skew_slope(&delivery->there);
	double back = -wh_skew_slope(&delivery->back);

	if (delivery->straight.slope > 0.0 && fabs(there - back) > AGREED && fabs(back) > LOADED)
		return delivery->straight.slope;
	if (is_of_path(there) && is_of_path(back))
		return 0.0;
	if (is_of_path(back))
		return there;
	if (is_of_path(there))
		return back;
	if ((there > 0.0) != (back > 0.0))
		return 0.0;
	return fabs(there) < fabs(back) ? there : back;
}

static void add_to_skew(
	struct wh_skew *skew, uint64_t block_tsc, uint64_t at_tsc, int64_t delay_tsc)
{
	if (skew->blocks == WH_SKEW_BLOCKS)
		skew->block_tsc = block_tsc;
	wh_skew_add(skew, at_tsc, delay_tsc);
}

/* When the slope becomes known, removes the skew of all earlier time, which looked like a queue. */
static void take_straight(struct wh_delivery *delivery, uint64_t at_tsc, int64_t least_tsc)
{
	const struct wh_straight_point point = {
		.at_tsc = at_tsc,
		.delay_tsc = least_tsc,
		.sent_pkts = delivery->seen_pkts,
		.sent_tsc = at_tsc - (uint64_t)least_tsc,
	};

	if (!wh_straight_add(&delivery->straight, point) ||
		agreed_slope(delivery) != delivery->straight.slope)
		return;

	double all_tsc = delivery->straight.slope * (double)(at_tsc - delivery->first_at_tsc);
	double more_tsc = fmax(all_tsc - delivery->taken_tsc, 0.0);

	delivery->least_tsc -= more_tsc;
	delivery->taken_tsc += more_tsc;
}

/*
 * Takes the least delay of the interval, and the delay of the report itself. The skew is removed
 * step by step, as in measure/skew.c, so that a new slope bends the delays but causes no jump.
 */
static void take_delay(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	int64_t least_tsc, const struct wh_rcv_report *report)
{
	struct wh_delivery *delivery = s->tx.delivery;
	uint64_t hz = s->config.hz;
	uint64_t block_tsc = hz / 1000 * WH_SKEW_BLOCK_MS;
	uint64_t said_tsc = arrived_tsc + stamps_to_tsc(hz, report->held);

	if (delivery->delayed) {
		int64_t step_tsc =
			(int64_t)((uint64_t)least_tsc - (uint64_t)delivery->least_raw_tsc);
		double span_tsc = (double)(arrived_tsc - delivery->least_at_tsc);
		double taken_tsc = agreed_slope(delivery) * span_tsc;

		delivery->least_tsc += (double)step_tsc - taken_tsc;
		delivery->taken_tsc += taken_tsc;
		if (fabs(delivery->least_tsc) > LEAST_MOST)
			delivery->least_tsc = 0.0;
	} else {
		delivery->first_at_tsc = arrived_tsc;
	}
	delivery->delayed = true;
	delivery->least_raw_tsc = least_tsc;
	delivery->least_at_tsc = arrived_tsc;
	add_to_skew(&delivery->there, block_tsc, arrived_tsc, least_tsc);
	take_straight(delivery, arrived_tsc, least_tsc);
	if (report->held < UINT32_MAX)
		add_to_skew(&delivery->back, block_tsc, now_tsc, (int64_t)(now_tsc - said_tsc));
}

bool wh_delivery_take(struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_report *report,
	struct wh_delivery_event *event)
{
	struct wh_delivery *delivery = s->tx.delivery;
	uint64_t hz = s->config.hz;
	bool fresh = report->seen_end > delivery->seen_pkts;
	uint64_t rtt_tsc = rtt_of(s, now_tsc, report);

	if (report->seen_end == 0)
		return false;
	take_counts(delivery, report);
	take_clocks(s, report);
	take_spurious(s, report);
	if (fresh && rtt_tsc > 0)
		wh_rtt_add(&s->rtt, rtt_tsc);

	/* How much slower the latest packet was than the fastest. */
	int64_t more_tsc = signed_to_tsc(hz, (int32_t)(delivery->delay - report->least_delay));
	uint64_t arrived_tsc = stamps_to_tsc(hz, delivery->arrived_stamps);
	int64_t delay_tsc = signed_to_tsc(hz, delivery->delay_stamps);

	take_delay(s, now_tsc, arrived_tsc, (int64_t)((uint64_t)delay_tsc - (uint64_t)more_tsc),
		report);

	atomic_store_explicit(&s->tx.told_flight_pkts, s->tx.transmission - delivery->seen_pkts,
		memory_order_relaxed);

	*event = (struct wh_delivery_event){
		.now_tsc = now_tsc,
		.sent_pkts = s->tx.transmission,
		.seen_pkts = delivery->seen_pkts,
		.delivered_pkts = delivery->delivered_pkts,
		.arrived_tsc = arrived_tsc,
		.span_tsc = stamps_to_tsc(hz, report->span),
		.span_pkts = report->span_pkts,
		.rtt_tsc = rtt_tsc,
		.delay_tsc = (int64_t)delivery->least_tsc + more_tsc,
		.least_delay_tsc = (int64_t)delivery->least_tsc,
		.late_tsc = wh_pacer_take_late(&s->tx.pacer),
		.held_up = s->tx.held_up,
	};

	s->tx.held_up = false;
	return true;
}

void wh_delivery_tell(struct wh_session *s, struct wh_delivery_event *event)
{
	event->lost_runs = s->tx.late.runs;
	WH_CONTROL_TELL(&s->tx.control, on_delivery, event);
}
