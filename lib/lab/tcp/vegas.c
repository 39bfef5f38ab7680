/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/assert.h"
#include "lab/tcp/tcp_internal.h"

/*
 * Vegas (Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet",
 * 1995) with ns-2's arithmetic. Once per round trip the window is compared with what the path holds
 * at the least RTT: the rest is queued, and should be between alpha and beta. Retransmissions
 * depend on each segment's own time, not on the coarse clock.
 *
 * Two bugs of ns-2.35 are left out: it does not free the records of segments when one
 * acknowledgement covers the end of its ring, and, when worried with nothing outstanding, it sends
 * the next segment twice. With both, a short queue would drop up to a sixth fewer packets.
 */

#define ALPHA_PKTS         1
#define BETA_PKTS          3
#define GAMMA_PKTS         1
#define CWND_AFTER_TIMEOUT 2
#define CWND_MIN           2
#define WORRIED_ACKS       2 /* after a loss: check for further ones */
#define UNUSED_WINDOW_PKTS 2 /* unused part of the window up to which it still grows */

static const struct wh_sim_sent_slot *slot_of(const struct wh_sim_tcp *tcp, uint64_t pn)
{
	return wh_sim_sent_slot(&tcp->rack.sent, pn);
}

void wh_sim_vegas_note_sent(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t pn)
{
	if (tcp->sent_end == 0)
		tcp->vegas.start_ps = now_ps;
	wh_sim_sent_note(&tcp->rack.sent, now_ps, pn);
}

static void start(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_vegas *vegas = &tcp->vegas;
	double rtt_ps = (double)(now_ps - vegas->start_ps);

	vegas->started = true;
	vegas->growing = true;
	vegas->mark_ps = vegas->start_ps;
	vegas->base_rtt_ps = rtt_ps;
	vegas->srtt_ps8 = 8 * rtt_ps;
	vegas->rttvar_ps4 = rtt_ps;
	vegas->patience_ps = 1.5 * rtt_ps;
}

/* Grows in every second round only, so that the other one can be measured. */
static void judge_slow_start(struct wh_sim_tcp *tcp, double waiting_pkts)
{
	struct wh_sim_vegas *vegas = &tcp->vegas;

	vegas->growing = !vegas->growing;
	vegas->growth_pkts = 0;
	if (!vegas->growing)
		return;
	if (waiting_pkts > GAMMA_PKTS) {
		tcp->ssthresh = 2;
		tcp->cwnd = fmax(tcp->cwnd - tcp->cwnd / 8, CWND_MIN);
	} else {
		vegas->growth_pkts = 1;
	}
}

static void judge_avoidance(struct wh_sim_tcp *tcp, double waiting_pkts)
{
	tcp->vegas.growth_pkts = 0;
	if (waiting_pkts > BETA_PKTS)
		tcp->cwnd = fmax(tcp->cwnd - 1, CWND_MIN);
	else if (waiting_pkts < ALPHA_PKTS)
		tcp->vegas.growth_pkts = 1 / tcp->cwnd;
}

static void end_round(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_vegas *vegas = &tcp->vegas;
	double rtt_ps = vegas->rtt_count > 0 ? vegas->rtt_sum_ps / vegas->rtt_count
					     : (double)(now_ps - vegas->mark_ps);
	uint64_t round_pkts = tcp->next - vegas->mark;

	WH_ASSERT(tcp->next >= vegas->mark && now_ps >= vegas->mark_ps);
	vegas->rtt_sum_ps = 0;
	vegas->rtt_count = 0;
	if (rtt_ps > 0) {
		if (rtt_ps < vegas->base_rtt_ps || round_pkts <= 1)
			vegas->base_rtt_ps = rtt_ps;

		double actual_pkts = (double)round_pkts * vegas->base_rtt_ps / rtt_ps;
		double expected_pkts = (double)(tcp->next - tcp->una + 1);
		double waiting_pkts = trunc(expected_pkts - actual_pkts + 0.5);

		if (tcp->cwnd < tcp->ssthresh)
			judge_slow_start(tcp, waiting_pkts);
		else
			judge_avoidance(tcp, waiting_pkts);
	}
	vegas->mark = tcp->next;
	vegas->mark_ps = now_ps;
}

static void open_window(struct wh_sim_tcp *tcp)
{
	struct wh_sim_vegas *vegas = &tcp->vegas;
	double used_pkts = (double)(tcp->next - tcp->una + 1);

	if (vegas->growth_pkts >= 1 && tcp->cwnd >= tcp->ssthresh)
		vegas->growth_pkts = 0;
	if (vegas->growth_pkts > 0 && tcp->cwnd - used_pkts <= UNUSED_WINDOW_PKTS)
		tcp->cwnd += vegas->growth_pkts;
}

static void time_segment(struct wh_sim_vegas *vegas, double rtt_ps)
{
	vegas->rtt_sum_ps += rtt_ps;
	vegas->rtt_count++;
	if (rtt_ps <= 0)
		return;
	vegas->base_rtt_ps = fmin(vegas->base_rtt_ps, rtt_ps);

	double away_ps = rtt_ps - vegas->srtt_ps8 / 8;

	vegas->srtt_ps8 += away_ps;
	vegas->rttvar_ps4 += fabs(away_ps) - vegas->rttvar_ps4 / 4;
	vegas->patience_ps = (vegas->srtt_ps8 / 4 + vegas->rttvar_ps4) / 2 * (17.0 / 16);
}

uint64_t wh_sim_vegas_round_trip(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_sent_slot last = *slot_of(tcp, tcp->una - 1);

	WH_ASSERT(now_ps >= last.sent_ps);
	while (tcp->rack.sent.una < tcp->una)
		wh_sim_sent_pass(&tcp->rack.sent);
	return last.twice ? 0 : now_ps - last.sent_ps;
}

static bool is_expired(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	if (tcp->una == tcp->sent_end)
		return false;

	uint64_t sent_ps = slot_of(tcp, tcp->una)->sent_ps;

	return (double)(now_ps - sent_ps) >= tcp->vegas.patience_ps;
}

static void new_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t end)
{
	struct wh_sim_vegas *vegas = &tcp->vegas;
	uint64_t from = tcp->una;

	if (tcp->config.handshake && from == 1)
		tcp->cwnd = tcp->initial_cwnd;
	if (tcp->duplicates > WH_SIM_DUPLICATES && vegas->kept_cwnd_pkts > 0 &&
		tcp->cwnd > vegas->kept_cwnd_pkts) {
		tcp->cwnd = vegas->kept_cwnd_pkts;
		tcp->ssthresh = 2;
	}
	wh_sim_tcp_advance(tcp, now_ps, end);
	if (end > vegas->mark)
		end_round(tcp, now_ps);
	open_window(tcp);

	uint64_t rtt_ps = wh_sim_vegas_round_trip(tcp, now_ps);

	if (rtt_ps > 0)
		time_segment(vegas, (double)rtt_ps);
	if (vegas->worried > 0) {
		vegas->worried--;
		if (is_expired(tcp, now_ps)) {
			tcp->duplicates = WH_SIM_DUPLICATES;
			wh_sim_tcp_put(tcp, now_ps, tcp->una);
		} else {
			vegas->worried = 0;
		}
	}
}

/* A loss reduces the window only if the segment was sent after the latest reduction. */
static void cut_window(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_sent_slot *lost)
{
	uint64_t window = (uint64_t)wh_sim_tcp_window(tcp);

	if (tcp->vegas.kept_cwnd_pkts > 0 && tcp->vegas.cut_ps >= lost->sent_ps)
		return;
	if (window <= 3)
		window = CWND_MIN;
	else if (lost->twice)
		window /= 2;
	else
		window -= window / 4;
	WH_ASSERT(window >= CWND_MIN);
	tcp->vegas.kept_cwnd_pkts = (double)window;
	tcp->vegas.cut_ps = now_ps;
	tcp->cwnd = (double)(window + tcp->duplicates);
}

static void lose(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_vegas *vegas = &tcp->vegas;
	struct wh_sim_sent_slot lost;
	uint64_t used_pkts = tcp->next - tcp->una + 1;

	if (tcp->una == tcp->sent_end)
		return;
	if (tcp->una <= tcp->recover && tcp->cut == WH_SIM_CUT_BY_TIMEOUT)
		return;
	lost = *slot_of(tcp, tcp->una);
	tcp->cut = WH_SIM_CUT_BY_DUPLICATES;
	tcp->recover = tcp->sent_end;
	vegas->worried = used_pkts < WORRIED_ACKS ? (uint32_t)used_pkts : WORRIED_ACKS;
	vegas->patience_ps *= lost.twice ? 2 : 1.125;
	cut_window(tcp, now_ps, &lost);
	tcp->rto.timing = false;
	wh_sim_rto_back_off(&tcp->rto);
	wh_sim_tcp_set_timer(tcp, now_ps);
	wh_sim_tcp_put(tcp, now_ps, tcp->una);
	if (!lost.twice)
		tcp->duplicates = WH_SIM_DUPLICATES;
}

static void vegas_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment)
{
	if (!tcp->vegas.started)
		start(tcp, now_ps);
	if (segment->pn > tcp->una) {
		new_ack(tcp, now_ps, segment->pn);
	} else if (segment->pn == tcp->una) {
		tcp->duplicates++;
		if (is_expired(tcp, now_ps) || tcp->duplicates == WH_SIM_DUPLICATES)
			lose(tcp, now_ps);
		else if (tcp->duplicates > WH_SIM_DUPLICATES)
			tcp->cwnd += 1;
	}
	if (tcp->duplicates == 0 || tcp->duplicates >= WH_SIM_DUPLICATES)
		wh_sim_tcp_send_window(tcp, now_ps, 0);
}

static void timeout(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	tcp->cwnd = CWND_AFTER_TIMEOUT;
	tcp->vegas.kept_cwnd_pkts = CWND_AFTER_TIMEOUT;
	tcp->vegas.cut_ps = now_ps;
}

const struct wh_sim_tcp_ops wh_sim_tcp_vegas = {
	.name = "vegas",
	.long_handshake = true,
	.ack = vegas_ack,
	.send = wh_sim_tcp_send_window,
	.timeout = timeout,
	.keep = wh_sim_tcp_keep_half,
	.note_sent = wh_sim_vegas_note_sent,
};
