/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/assert.h"
#include "lab/tcp/tcp_internal.h"

/*
 * What a sender with rack.c sends, and when: lost segments first, then new ones, while the window
 * has room and the pacing allows; and the single timer for missing acknowledgements. Pacing sends a
 * burst, and the next one after the time that the burst takes at the pace, or up to half of that
 * sooner when this one was late; as in Linux, where the first ten segments are unpaced, too.
 */

#define UNPACED_PKTS 10
#define TIMER_PS     (WH_PS_PER_S / 500) /* timers of Linux fire at least this late */

void wh_sim_rack_note_sent(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t pn)
{
	struct wh_sim_rack *rack = &tcp->rack;
	struct wh_sim_sent_slot *slot;

	if (wh_sim_sent_in_flight(&rack->sent) == 0 && rack->limited_pkts != 0)
		wh_sim_rack_tell(tcp, now_ps, WH_SIM_RACK_RESTARTS);
	if (rack->sent.una == rack->sent.end)
		rack->first_sent_ps = rack->delivered_ps = now_ps;
	slot = wh_sim_sent_note(&rack->sent, now_ps, pn);
	slot->first_sent_ps = rack->first_sent_ps;
	slot->delivered_ps = rack->delivered_ps;
	slot->delivered_pkts = rack->delivered_pkts;
	slot->limited = rack->limited_pkts != 0;
	slot->in_flight_pkts = wh_sim_sent_in_flight(&rack->sent);
	slot->lost_ever_pkts = rack->sent.lost_ever_pkts;
	rack->reduced_sent_pkts++;
}

static bool pace_forbids(const struct wh_sim_rack *rack, uint64_t now_ps)
{
	return rack->next_send_ps > now_ps;
}

static void take_pace(struct wh_sim_rack *rack, uint64_t now_ps, uint64_t pkts)
{
	uint64_t late_ps = now_ps > rack->next_send_ps ? now_ps - rack->next_send_ps : 0;
	double span_ps;

	rack->data_pkts += pkts;
	rack->next_send_ps += late_ps;
	if (rack->pace_pps <= 0 || rack->data_pkts < UNPACED_PKTS)
		return;
	span_ps = (double)pkts / rack->pace_pps * (double)WH_PS_PER_S;
	span_ps -= fmin(span_ps / 2, (double)late_ps);
	rack->next_send_ps += (uint64_t)ceil(span_ps);
}

static uint64_t window_room(const struct wh_sim_tcp *tcp)
{
	uint64_t in_flight = wh_sim_sent_in_flight(&tcp->rack.sent);
	uint64_t window = (uint64_t)fmax(tcp->cwnd, 1);

	return window > in_flight ? window - in_flight : 0;
}

static bool send_lost(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;
	uint64_t pn;

	while ((pn = wh_sim_sent_lowest_lost(&rack->sent)) != WH_SIM_NO_PN) {
		if (window_room(tcp) == 0 || pace_forbids(rack, now_ps) ||
			wh_sim_tcp_device_is_full(tcp))
			return false;
		wh_sim_tcp_put(tcp, now_ps, pn);
		take_pace(rack, now_ps, 1);
	}
	return true;
}

/* Only the application limits: samples of what is in flight are marked accordingly. */
static void note_limited(struct wh_sim_tcp *tcp)
{
	struct wh_sim_rack *rack = &tcp->rack;
	uint64_t until = rack->delivered_pkts + wh_sim_sent_in_flight(&rack->sent);

	rack->limited_pkts = until > 0 ? until : 1;
}

static bool has_new(struct wh_sim_tcp *tcp)
{
	return (double)(tcp->next - tcp->una) < tcp->window && wh_sim_tcp_has(tcp, tcp->next);
}

static void send_new(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;
	uint64_t room;

	while ((room = window_room(tcp)) > 0 && !pace_forbids(rack, now_ps) &&
		!wh_sim_tcp_device_is_full(tcp)) {
		uint64_t pkts = 0;

		if (rack->pace_pps > 0 && room > rack->burst_pkts)
			room = rack->burst_pkts;
		while (pkts < room && has_new(tcp)) {
			wh_sim_tcp_put(tcp, now_ps, tcp->next++);
			pkts++;
		}
		if (pkts == 0) {
			if (!wh_sim_tcp_has(tcp, tcp->next))
				note_limited(tcp);
			return;
		}
		take_pace(rack, now_ps, pkts);
	}
	rack->window_was_limit = room == 0;
}

void wh_sim_rack_send(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts)
{
	struct wh_sim_rack *rack = &tcp->rack;
	uint64_t before = tcp->stats->sent_pkts;

	(void)burst_pkts;
	if (!rack->stands && (!tcp->config.handshake || tcp->una > 0)) {
		rack->stands = true;
		wh_sim_rack_tell(tcp, now_ps, WH_SIM_RACK_STANDS);
	}
	if (send_lost(tcp, now_ps))
		send_new(tcp, now_ps);
	if (rack->next_send_ps > now_ps)
		wh_sim_event_at(wh_sim_events(tcp->sim), &rack->pacer, rack->next_send_ps);
	if (tcp->stats->sent_pkts != before && rack->patience != WH_SIM_RACK_FOR_ORDER)
		wh_sim_rack_set_timer(tcp, now_ps);
}

void wh_sim_rack_pace(void *context, uint64_t now_ps)
{
	struct wh_sim_tcp *tcp = context;

	wh_sim_rack_send(tcp, now_ps, 0);
	wh_sim_tcp_check(tcp);
}

/* As in Linux: the variance term is at least the minimum timeout. */
static uint64_t timeout_ps(const struct wh_sim_tcp *tcp)
{
	const struct wh_sim_rack *rack = &tcp->rack;
	uint64_t rto_ps = tcp->config.initial_rto_ps;

	if (rack->srtt_ps != 0)
		rto_ps = rack->srtt_ps + (4 * rack->rttvar_ps > tcp->config.min_rto_ps
							 ? 4 * rack->rttvar_ps
							 : tcp->config.min_rto_ps);
	rto_ps *= rack->backoff;
	return rto_ps < tcp->config.max_rto_ps ? rto_ps : tcp->config.max_rto_ps;
}

/* RFC 8985, 7.2: two round trips; a single segment's acknowledgement may be delayed. */
static uint64_t probe_timeout_ps(const struct wh_sim_tcp *tcp)
{
	bool alone = tcp->sent_end - tcp->una == 1;

	return 2 * tcp->rack.srtt_ps + (alone ? tcp->config.min_rto_ps : TIMER_PS);
}

static void wait_for(struct wh_sim_tcp *tcp, enum wh_sim_rack_patience patience, uint64_t due_ps)
{
	tcp->rack.patience = patience;
	wh_sim_event_at(wh_sim_events(tcp->sim), &tcp->timer, due_ps);
}

void wh_sim_rack_set_timer(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;
	uint64_t rto_ps = timeout_ps(tcp);
	bool calm = rack->state == WH_SIM_RACK_OPEN && rack->sent.sacked_pkts == 0;

	if (tcp->una == tcp->sent_end) {
		rack->patience = WH_SIM_RACK_FOR_ANYTHING;
		wh_sim_event_cancel(wh_sim_events(tcp->sim), &tcp->timer);
	} else if (rack->patience_ps > 0) {
		wait_for(tcp, WH_SIM_RACK_FOR_ORDER, now_ps + rack->patience_ps + TIMER_PS);
	} else if (calm && rack->srtt_ps != 0 && rack->probe_end == 0 &&
		   probe_timeout_ps(tcp) < rto_ps) {
		wait_for(tcp, WH_SIM_RACK_FOR_TAIL, now_ps + probe_timeout_ps(tcp));
	} else {
		wait_for(tcp, WH_SIM_RACK_FOR_ANYTHING, now_ps + rto_ps);
	}
}

/* RFC 8985, 7.3: sends a new segment, or the last one again; ignores window and pacing. */
static void probe(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;
	uint64_t head_ps = wh_sim_sent_slot(&rack->sent, tcp->una)->sent_ps;
	uint64_t due_ps = head_ps + timeout_ps(tcp);

	if (has_new(tcp))
		wh_sim_tcp_put(tcp, now_ps, tcp->next++);
	else
		wh_sim_tcp_put(tcp, now_ps, tcp->sent_end - 1);
	take_pace(rack, now_ps, 1);
	rack->probe_end = tcp->sent_end;
	wait_for(tcp, WH_SIM_RACK_FOR_ANYTHING,
		due_ps > now_ps + TIMER_PS ? due_ps : now_ps + TIMER_PS);
}

static void stop_waiting_for_order(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;

	wh_sim_rack_detect(tcp, now_ps);
	if (rack->sent.lost_pkts > 0 && rack->state < WH_SIM_RACK_RECOVERY) {
		wh_sim_rack_recover(tcp, now_ps);
		if (tcp->ops->sample == NULL)
			tcp->cwnd = (double)wh_sim_sent_in_flight(&rack->sent) + 1;
	}
	wh_sim_rack_set_timer(tcp, now_ps);
	wh_sim_rack_send(tcp, now_ps, 0);
}

/* Marks the first, and all sent long enough ago, as lost. */
static void lose_old(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_sent *sent = &tcp->rack.sent;
	const struct wh_sim_sent_slot *head = wh_sim_sent_slot(sent, tcp->una);

	WH_ASSERT(!head->sacked);
	if (head->listed)
		wh_sim_rack_lose(tcp, now_ps, tcp->una);
	while (sent->oldest != WH_SIM_NO_PN &&
		now_ps - wh_sim_sent_slot(sent, sent->oldest)->sent_ps >= tcp->rack.latest_rtt_ps)
		wh_sim_rack_lose(tcp, now_ps, sent->oldest);
}

/* A timeout during an unfinished recovery does not reduce the window again. */
static void cut(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;
	bool anew = rack->state < WH_SIM_RACK_RECOVERY || tcp->una >= tcp->recover ||
		    (rack->state == WH_SIM_RACK_LOSS && rack->backoff == 1);

	if (anew)
		wh_sim_rack_tell(tcp, now_ps, WH_SIM_RACK_RECOVERS);
	if (anew && tcp->ops->sample == NULL) {
		rack->prior_cwnd = tcp->cwnd;
		rack->prior_ssthresh = tcp->ssthresh;
		tcp->ssthresh =
			fmax(floor(tcp->ops->keep(tcp, tcp->cwnd, WH_SIM_CUT_BY_TIMEOUT)), 2);
	}
	rack->doubtful = anew || rack->state == WH_SIM_RACK_LOSS;
	tcp->cut = WH_SIM_CUT_BY_TIMEOUT;
	tcp->cwnd = (double)wh_sim_sent_in_flight(&rack->sent) + 1;
	rack->state = WH_SIM_RACK_LOSS;
	tcp->recover = tcp->sent_end;
	wh_sim_rack_tell(tcp, now_ps, WH_SIM_RACK_TIMES_OUT);
}

static void time_out(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_rack *rack = &tcp->rack;

	tcp->timeouts++;
	if (tcp->config.handshake && tcp->una == 0) {
		wh_sim_tcp_put(tcp, now_ps, 0);
	} else {
		lose_old(tcp, now_ps);
		cut(tcp, now_ps);
		wh_sim_tcp_put(tcp, now_ps, tcp->una);
		take_pace(rack, now_ps, 1);
	}
	rack->patience_ps = 0;
	rack->probe_end = 0;
	if (timeout_ps(tcp) < tcp->config.max_rto_ps)
		rack->backoff *= 2;
	wh_sim_rack_set_timer(tcp, now_ps);
	wh_sim_rack_send(tcp, now_ps, 0);
}

void wh_sim_rack_expire(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	WH_ASSERT(tcp->una < tcp->sent_end);
	switch (tcp->rack.patience) {
	case WH_SIM_RACK_FOR_ORDER:
		stop_waiting_for_order(tcp, now_ps);
		break;
	case WH_SIM_RACK_FOR_TAIL:
		probe(tcp, now_ps);
		break;
	case WH_SIM_RACK_FOR_ANYTHING:
		time_out(tcp, now_ps);
		break;
	}
}
