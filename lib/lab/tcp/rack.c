/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/assert.h"
#include "lab/tcp/tcp_internal.h"

/*
 * A sender's recovery as in Linux: losses are detected by time, RACK-TLP (RFC 8985), so lost
 * retransmissions are detected without the timer; the window is reduced by proportional rate
 * reduction (RFC 6937); a timeout marks only old enough segments as lost, and is undone when
 * segments sent before it still arrive (the idea of RFC 5682). Each acknowledgement yields a sample
 * of the delivery rate, for varieties that use it (BBR).
 *
 * Unlike in Linux, acknowledgements report no duplicates and echo no timestamps, so spurious
 * retransmissions are not detected, and the reordering window stays at a quarter of the least
 * round-trip time.
 */

#define RTT_MEMORY_PS      (300 * WH_PS_PER_S)
#define REORDERED_PKTS_MAX 300

/* Information from one acknowledgement. */
struct news {
	uint64_t before_pkts; /* in flight */
	uint64_t lost_before_pkts;
	uint64_t delivered_pkts;
	bool advanced;
	bool original;     /* one arrived that was sent once, before the latest loss or timeout */
	bool again;        /* one arrived in order that was retransmitted */
	uint64_t first_ps; /* when the first in order that was sent once left; NEVER: none */
	uint64_t last_ps;  /* when the last of these left */
	uint64_t sacked_first_ps; /* the same for those out of order */
	uint64_t sacked_last_ps;
	uint64_t lowest; /* lowest packet number that was sent once and arrived */

	/* Of the segments that arrived, the one sent last: start of the rate sample. */
	bool has_prior;
	uint64_t prior_sent_ps;
	uint64_t prior_pn;
	struct wh_sim_rate_sample sample;
};

void wh_sim_rack_init(struct wh_sim_tcp *tcp)
{
	tcp->rack = (struct wh_sim_rack){
		.min_rtt_ps = WH_SIM_NO_RTT_PS,
		.reordered_pkts = WH_SIM_DUPLICATES,
		.backoff = 1,
		.burst_pkts = 1,
	};
	wh_sim_sent_init(&tcp->rack.sent);
	wh_sim_event_init(&tcp->rack.pacer, wh_sim_rack_pace, tcp);
}

void wh_sim_rack_free(struct wh_sim_tcp *tcp)
{
	wh_sim_event_cancel(wh_sim_events(tcp->sim), &tcp->rack.pacer);
	wh_sim_sent_free(&tcp->rack.sent);
}

static struct wh_sim_rate_sample standing_sample(const struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	const struct wh_sim_rack *rack = &tcp->rack;

	return (struct wh_sim_rate_sample){
		.now_ps = now_ps,
		.rtt_ps = rack->min_rtt_ps,
		.state = rack->state,
		.in_flight_pkts = wh_sim_sent_in_flight(&rack->sent),
		.all_delivered_pkts = rack->delivered_pkts,
		.all_lost_pkts = rack->sent.lost_ever_pkts,
		.delivered_ps = rack->delivered_ps,
		.srtt_ps = rack->srtt_ps,
		.next_send_ps = rack->next_send_ps,
	};
}

void wh_sim_rack_tell(struct wh_sim_tcp *tcp, uint64_t now_ps, enum wh_sim_rack_event event)
{
	struct wh_sim_rate_sample standing = standing_sample(tcp, now_ps);

	if (tcp->ops->hear != NULL)
		tcp->ops->hear(tcp, event, &standing);
}

static bool went_after(uint64_t ps, uint64_t pn, uint64_t other_ps, uint64_t other_pn)
{
	return ps > other_ps || (ps == other_ps && pn > other_pn);
}

/* RFC 8985, 6.2, step 2: a reply within the least round-trip time is to the first transmission. */
static void note_latest(
	struct wh_sim_rack *rack, uint64_t now_ps, uint64_t pn, const struct wh_sim_sent_slot *slot)
{
	uint64_t rtt_ps = now_ps - slot->sent_ps;

	if (slot->twice && rtt_ps < rack->min_rtt_ps)
		return;
	rack->latest_rtt_ps = rtt_ps;
	if (went_after(slot->sent_ps, pn, rack->latest_ps, rack->latest_pn)) {
		rack->latest_ps = slot->sent_ps;
		rack->latest_pn = pn;
	}
}

static void note_rate(struct wh_sim_rack *rack, struct news *news, uint64_t pn,
	const struct wh_sim_sent_slot *slot)
{
	if (news->has_prior && !went_after(slot->sent_ps, pn, news->prior_sent_ps, news->prior_pn))
		return;
	news->has_prior = true;
	news->prior_sent_ps = slot->sent_ps;
	news->prior_pn = pn;
	news->sample.prior_delivered_pkts = slot->delivered_pkts;
	news->sample.delivered_ps = slot->delivered_ps;
	news->sample.interval_ps = slot->sent_ps - slot->first_sent_ps;
	news->sample.limited = slot->limited;
	news->sample.sent_in_flight_pkts = slot->in_flight_pkts;
	news->sample.lost_since_pkts = slot->lost_ever_pkts; /* until then, to be subtracted */
	rack->first_sent_ps = slot->sent_ps;
}

/* Handles a segment newly known to have arrived. */
static void note_delivered(struct wh_sim_tcp *tcp, uint64_t now_ps, struct news *news, uint64_t pn)
{
	struct wh_sim_rack *rack = &tcp->rack;
	const struct wh_sim_sent_slot *slot = wh_sim_sent_slot(&rack->sent, pn);

	news->delivered_pkts++;
	rack->delivered_pkts++;
	note_latest(rack, now_ps, pn, slot);
	note_rate(rack, news, pn, slot);
	if (slot->twice)
		return;
	if (pn < tcp->recover)
		news->original = true;
	if (pn < news->lowest)
		news->lowest = pn;
}

static void take_in_order(struct wh_sim_tcp *tcp, uint64_t now_ps, struct news *news, uint64_t end)
{
	struct wh_sim_rack *rack = &tcp->rack;

	WH_ASSERT(end <= rack->sent.end);
	if (end <= tcp->una)
		return;
	while (rack->sent.una < end) {
		const struct wh_sim_sent_slot *slot = wh_sim_sent_slot(&rack->sent, rack->sent.una);

		if (!slot->sacked) {
			note_delivered(tcp, now_ps, news, rack->sent.una);
			news->again |= slot->twice;
			news->last_ps = slot->sent_ps;
			if (news->first_ps == WH_SIM_NEVER_PS)
				news->first_ps = slot->sent_ps;
		}
		wh_sim_sent_pass(&rack->sent);
	}
	wh_sim_ranges_forget(&rack->sent.sacked, end);
	news->advanced = true;
	tcp->acked_pkts = end - tcp->una;
	tcp->una = end;
	WH_ASSERT(tcp->una == rack->sent.una);
}

static void take_range(
	struct wh_sim_tcp *tcp, uint64_t now_ps, struct news *news, struct wh_sim_sack range)
{
	struct wh_sim_rack *rack = &tcp->rack;
	uint64_t pn;

	/* Ignores ranges of overtaken acknowledgements, and of packet numbers never sent. */
	if (range.first <= tcp->una)
		range.first = tcp->una + 1;
	if (range.end <= range.first || range.end > rack->sent.end)
		return;
	pn = range.first;
	while ((pn = wh_sim_sent_unsacked(&rack->sent, pn, range.end)) < range.end) {
		const struct wh_sim_sent_slot *slot = wh_sim_sent_slot(&rack->sent, pn);

		note_delivered(tcp, now_ps, news, pn);
		if (!slot->twice) {
			news->sacked_last_ps = slot->sent_ps;
			if (news->sacked_first_ps == WH_SIM_NEVER_PS)
				news->sacked_first_ps = slot->sent_ps;
		}
		wh_sim_sent_sack(&rack->sent, pn);
		pn++;
	}
	wh_sim_ranges_add(&rack->sent.sacked, range.first, range.end);
	if (range.end > rack->sacked_end)
		rack->sacked_end = range.end;
}

/* Reordering: a segment sent once arrived after later ones. */
static void look_for_reordering(struct wh_sim_rack *rack, const struct news *news, uint64_t beyond)
{
	uint64_t distance;

	if (news->lowest >= beyond)
		return;
	distance = beyond - news->lowest;
	rack->reorders = true;
	if (distance > rack->reordered_pkts)
		rack->reordered_pkts =
			distance < REORDERED_PKTS_MAX ? distance : REORDERED_PKTS_MAX;
}

/* RFC 6298; the variance term is at least the minimum timeout, as in Linux. */
static void smooth(struct wh_sim_tcp *tcp, uint64_t rtt_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;
	uint64_t away_ps = rtt_ps > rack->srtt_ps ? rtt_ps - rack->srtt_ps : rack->srtt_ps - rtt_ps;

	if (rack->srtt_ps == 0) {
		rack->srtt_ps = rtt_ps;
		rack->rttvar_ps = rtt_ps / 2;
	} else {
		rack->rttvar_ps = (3 * rack->rttvar_ps + away_ps) / 4;
		rack->srtt_ps = (7 * rack->srtt_ps + rtt_ps) / 8;
	}
	if (rack->srtt_ps == 0)
		rack->srtt_ps = 1;
	rack->backoff = 1;
	tcp->rto.sample_ps = rtt_ps;
}

/*
 * Takes a round-trip sample from the first segment acknowledged in order, if sent once, otherwise
 * from the first one SACKed. Returns the round-trip time of the last one.
 */
static uint64_t take_times(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct news *news)
{
	struct wh_sim_rack *rack = &tcp->rack;
	bool in_order = news->first_ps != WH_SIM_NEVER_PS && !news->again;
	bool beyond = news->sacked_first_ps != WH_SIM_NEVER_PS;
	uint64_t rtt_ps;

	if (!in_order && !beyond)
		return WH_SIM_NO_RTT_PS;
	rtt_ps = now_ps - (beyond ? news->sacked_last_ps : news->last_ps);
	if (rtt_ps <= rack->min_rtt_ps || now_ps > rack->min_rtt_at_ps + RTT_MEMORY_PS) {
		rack->min_rtt_ps = rtt_ps;
		rack->min_rtt_at_ps = now_ps;
	}
	smooth(tcp, now_ps - (in_order ? news->first_ps : news->sacked_first_ps));
	return rtt_ps;
}

/* RFC 8985, 6.2, step 4. */
static uint64_t reordering_window_ps(const struct wh_sim_tcp *tcp)
{
	const struct wh_sim_rack *rack = &tcp->rack;

	if (!rack->reorders && (rack->state >= WH_SIM_RACK_RECOVERY ||
				       rack->sent.sacked_pkts >= rack->reordered_pkts))
		return 0;
	if (rack->min_rtt_ps == WH_SIM_NO_RTT_PS)
		return 0;
	return rack->min_rtt_ps / 4 < rack->srtt_ps ? rack->min_rtt_ps / 4 : rack->srtt_ps;
}

void wh_sim_rack_lose(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t pn)
{
	struct wh_sim_sent *sent = &tcp->rack.sent;
	const struct wh_sim_sent_slot *slot = wh_sim_sent_slot(sent, pn);

	wh_sim_sent_lose(sent, pn);
	if (tcp->ops->lose != NULL)
		tcp->ops->lose(
			tcp, &(struct wh_sim_rate_loss){
				     .now_ps = now_ps,
				     .pn = pn,
				     .sent_in_flight_pkts = slot->in_flight_pkts,
				     .lost_since_pkts = sent->lost_ever_pkts - slot->lost_ever_pkts,
				     .limited = slot->limited,
				     .all_delivered_pkts = tcp->rack.delivered_pkts,
			     });
}

bool wh_sim_rack_detect(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;
	uint64_t patience_ps = rack->latest_rtt_ps + reordering_window_ps(tcp);
	uint64_t pn = rack->sent.oldest;
	bool twice = false;

	rack->patience_ps = 0;
	while (pn != WH_SIM_NO_PN) {
		const struct wh_sim_sent_slot *slot = wh_sim_sent_slot(&rack->sent, pn);
		uint64_t later = slot->later;
		uint64_t waited_ps = now_ps - slot->sent_ps;

		if (!went_after(rack->latest_ps, rack->latest_pn, slot->sent_ps, pn))
			break;
		if (waited_ps >= patience_ps) {
			twice |= slot->again;
			wh_sim_rack_lose(tcp, now_ps, pn);
		} else if (patience_ps - waited_ps > rack->patience_ps) {
			rack->patience_ps = patience_ps - waited_ps;
		}
		pn = later;
	}
	return twice;
}

void wh_sim_rack_recover(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;

	WH_ASSERT(rack->sent.lost_pkts > 0 && rack->state != WH_SIM_RACK_RECOVERY);
	wh_sim_rack_tell(tcp, now_ps, WH_SIM_RACK_RECOVERS);
	if (tcp->ops->sample == NULL) {
		rack->prior_cwnd = tcp->cwnd;
		rack->prior_ssthresh = tcp->ssthresh;
		tcp->ssthresh =
			fmax(floor(tcp->ops->keep(tcp, tcp->cwnd, WH_SIM_CUT_BY_DUPLICATES)), 2);
		tcp->cut = WH_SIM_CUT_BY_DUPLICATES;
	}
	rack->reduced_delivered_pkts = rack->reduced_sent_pkts = 0;
	rack->probe_end = 0;
	rack->state = WH_SIM_RACK_RECOVERY;
	tcp->recover = tcp->sent_end;
}

static void leave(struct wh_sim_tcp *tcp)
{
	if (tcp->rack.state == WH_SIM_RACK_RECOVERY && tcp->ops->sample == NULL) {
		tcp->cwnd = tcp->ssthresh;
		tcp->cut = WH_SIM_CUT_REPAIRED;
	}
	tcp->rack.state = WH_SIM_RACK_OPEN;
}

/* After a timeout, a segment sent before it arrived: it was late, not lost. */
static void undo(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;

	wh_sim_sent_lose_none(&rack->sent);
	rack->doubtful = false;
	if (tcp->ops->sample == NULL) {
		tcp->cwnd = fmax(tcp->cwnd, rack->prior_cwnd);
		tcp->ssthresh = fmax(tcp->ssthresh, rack->prior_ssthresh);
	}
	rack->state = WH_SIM_RACK_OPEN;
	wh_sim_rack_tell(tcp, now_ps, WH_SIM_RACK_UNDONE);
}

static void judge(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct news *news)
{
	struct wh_sim_rack *rack = &tcp->rack;
	bool lost_again;

	if (rack->state >= WH_SIM_RACK_RECOVERY && tcp->una >= tcp->recover)
		leave(tcp);
	else if (rack->state == WH_SIM_RACK_LOSS && rack->doubtful && news->original)
		undo(tcp, now_ps);
	lost_again = wh_sim_rack_detect(tcp, now_ps);
	if (rack->state == WH_SIM_RACK_RECOVERY || (rack->state == WH_SIM_RACK_LOSS && !lost_again))
		return;
	if (rack->sent.lost_pkts > 0)
		wh_sim_rack_recover(tcp, now_ps);
	else
		rack->state = rack->sent.sacked_pkts > 0 ? WH_SIM_RACK_DISORDER : WH_SIM_RACK_OPEN;
}

/* draft-cheng-iccrg-delivery-rate-estimation, 3.3: the longer of sending and arrival intervals. */
static void finish_sample(
	struct wh_sim_tcp *tcp, uint64_t now_ps, const struct news *news, uint64_t rtt_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;
	struct wh_sim_rate_sample sample = standing_sample(tcp, now_ps);
	uint64_t arrival_ps = now_ps - news->sample.delivered_ps;

	if (rack->limited_pkts != 0 && rack->delivered_pkts > rack->limited_pkts)
		rack->limited_pkts = 0;
	if (news->delivered_pkts > 0)
		rack->delivered_ps = now_ps;
	sample.delivered_ps = rack->delivered_ps;
	sample.rtt_ps = rtt_ps;
	sample.prior_in_flight_pkts = news->before_pkts;
	sample.acked_pkts = news->delivered_pkts;
	sample.lost_pkts = rack->sent.lost_ever_pkts - news->lost_before_pkts;
	if (news->has_prior) {
		sample.prior_delivered_pkts = news->sample.prior_delivered_pkts;
		sample.limited = news->sample.limited;
		sample.sent_in_flight_pkts = news->sample.sent_in_flight_pkts;
		sample.lost_since_pkts = rack->sent.lost_ever_pkts - news->sample.lost_since_pkts;
		sample.window_was_limit = rack->window_was_limit;
		sample.delivered_pkts = rack->delivered_pkts - sample.prior_delivered_pkts;
		sample.interval_ps = news->sample.interval_ps > arrival_ps
					     ? news->sample.interval_ps
					     : arrival_ps;
		/* Shorter than a round trip: the reply was to an earlier transmission. */
		sample.valid = sample.interval_ps > 0 && sample.interval_ps >= rack->min_rtt_ps;
	}
	tcp->ops->sample(tcp, &sample);
}

/* RFC 6937, with the slow-start bound while there are no further losses. */
static void reduce(struct wh_sim_tcp *tcp, const struct news *news)
{
	struct wh_sim_rack *rack = &tcp->rack;
	double in_flight = (double)wh_sim_sent_in_flight(&rack->sent);
	double room = tcp->ssthresh - in_flight;
	double delivered, sent = (double)rack->reduced_sent_pkts;
	double may;

	if (news->delivered_pkts == 0)
		return;
	rack->reduced_delivered_pkts += news->delivered_pkts;
	delivered = (double)rack->reduced_delivered_pkts;
	if (room < 0) {
		may = ceil(tcp->ssthresh * delivered / rack->prior_cwnd) - sent;
	} else {
		may = fmax(delivered - sent, (double)news->delivered_pkts);
		if (news->advanced && rack->sent.lost_ever_pkts == news->lost_before_pkts)
			may += 1;
		may = fmin(may, room);
	}
	may = fmax(may, rack->reduced_sent_pkts > 0 ? 0 : 1);
	tcp->cwnd = fmax(in_flight + may, 1);
}

/*
 * In slow start the window grows if at least half of it was used; later only if it was the limit.
 */
static bool may_grow(const struct wh_sim_tcp *tcp, const struct news *news)
{
	if (!news->advanced && !(tcp->rack.reorders && news->delivered_pkts > 0))
		return false;
	if (tcp->cwnd < tcp->ssthresh)
		return tcp->cwnd < 2 * (double)news->before_pkts;
	return tcp->rack.window_was_limit;
}

static void control(
	struct wh_sim_tcp *tcp, uint64_t now_ps, const struct news *news, uint64_t rtt_ps)
{
	if (tcp->ops->sample != NULL) {
		finish_sample(tcp, now_ps, news, rtt_ps);
		return;
	}
	if (news->delivered_pkts > 0)
		tcp->rack.delivered_ps = now_ps;
	tcp->acked_pkts = news->delivered_pkts;
	if (rtt_ps != WH_SIM_NO_RTT_PS && tcp->ops->round_trip != NULL)
		tcp->ops->round_trip(tcp, now_ps, rtt_ps);
	if (tcp->rack.state == WH_SIM_RACK_RECOVERY)
		reduce(tcp, news);
	else if (may_grow(tcp, news))
		tcp->ops->grow(tcp, now_ps);
}

void wh_sim_rack_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment)
{
	struct wh_sim_rack *rack = &tcp->rack;
	bool opens = !rack->stands;
	uint64_t beyond = rack->sacked_end;
	struct news news = {
		.before_pkts = wh_sim_sent_in_flight(&rack->sent),
		.lost_before_pkts = rack->sent.lost_ever_pkts,
		.first_ps = WH_SIM_NEVER_PS,
		.sacked_first_ps = WH_SIM_NEVER_PS,
		.lowest = WH_SIM_NO_PN,
	};
	uint64_t rtt_ps;

	take_in_order(tcp, now_ps, &news, segment->pn);
	for (uint32_t i = 0; i < segment->n_sacks; i++)
		take_range(tcp, now_ps, &news, segment->sack[i]);
	rtt_ps = take_times(tcp, now_ps, &news);
	if (rack->probe_end != 0 && tcp->una >= rack->probe_end)
		rack->probe_end = 0;
	if (opens) {
		rack->delivered_ps = now_ps;
		tcp->cwnd = tcp->initial_cwnd;
	} else {
		look_for_reordering(rack, &news, beyond);
		judge(tcp, now_ps, &news);
		control(tcp, now_ps, &news, rtt_ps);
	}
	if (news.delivered_pkts > 0)
		wh_sim_rack_set_timer(tcp, now_ps);
	wh_sim_rack_send(tcp, now_ps, 0);
}
