/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/arith.h"
#include "base/assert.h"
#include "lab/tcp/tcp_internal.h"

/*
 * CUBIC as in Linux, 5.0 to 6.18, with Linux's recovery (rack.c). Differences from RFC 9438
 * (cubic.c): slow start grows by the acknowledged segments and may be ended by HyStart; the cubic
 * is evaluated the least round-trip time ahead, not the latest; before any loss, or without one
 * since a timeout, the window grows by at least a twentieth per round trip; the estimate of Reno's
 * window always grows by 8 / 15 per round trip; and beta is 717 / 1024.
 */

#define C            (410 / 1024.0)
#define BETA         (717 / 1024.0)
#define RENO_GROWTH  (8 / 15.0)
#define ACKS_MOST    100.0 /* windows of acknowledgements per segment: practically no growth */
#define ACKS_FIRST   20.0  /* acknowledgements per segment, without a loss */
#define ACKS_LEAST   2.0
#define RTT_DOUBT_PS WH_PS_PER_S /* after a loss, round-trip times are ignored for this long */

static double seconds(uint64_t span_ps)
{
	return (double)span_ps / (double)WH_PS_PER_S;
}

/* As in the RFC: flat at the latest loss's window, or at the current one where that is larger. */
static void begin_epoch(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;

	cubic->epoch_ps = now_ps;
	cubic->w_est_pkts = tcp->cwnd;
	cubic->origin_pkts = fmax(cubic->w_max_pkts, tcp->cwnd);
	cubic->k_s = wh_cbrt((cubic->origin_pkts - tcp->cwnd) / C);
}

/* Acknowledgements per segment of growth. */
static double acks_for_one(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;
	double t_s = seconds(now_ps - cubic->epoch_ps + cubic->min_rtt_ps);
	double away_s = t_s - cubic->k_s;
	double target = cubic->origin_pkts + C * away_s * away_s * away_s;
	double acks = target > tcp->cwnd ? tcp->cwnd / (target - tcp->cwnd) : ACKS_MOST * tcp->cwnd;

	if (cubic->w_max_pkts == 0)
		acks = fmin(acks, ACKS_FIRST);
	cubic->w_est_pkts += RENO_GROWTH * (double)tcp->acked_pkts / tcp->cwnd;
	if (cubic->w_est_pkts > tcp->cwnd)
		acks = fmin(acks, tcp->cwnd / (cubic->w_est_pkts - tcp->cwnd));
	return fmax(acks, ACKS_LEAST);
}

static void grow(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;

	if (tcp->cwnd < tcp->ssthresh) {
		double grown = fmin(tcp->cwnd + (double)tcp->acked_pkts, tcp->ssthresh);

		tcp->acked_pkts -= (uint64_t)(grown - tcp->cwnd);
		tcp->cwnd = grown;
		if (tcp->acked_pkts == 0 || tcp->cwnd < tcp->ssthresh)
			return;
	}
	if (cubic->epoch_ps == WH_SIM_NEVER_PS)
		begin_epoch(tcp, now_ps);
	WH_ASSERT(now_ps >= cubic->epoch_ps && tcp->cwnd >= 1);
	tcp->cwnd += (double)tcp->acked_pkts / acks_for_one(tcp, now_ps);
}

/* A round-trip sample: used by the cubic, and to end slow start. */
static void take_round_trip(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t rtt_ps)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;
	struct wh_sim_hystart_ack ack;

	if (cubic->epoch_ps != WH_SIM_NEVER_PS && now_ps < cubic->epoch_ps + RTT_DOUBT_PS)
		return;
	if (cubic->min_rtt_ps == 0 || rtt_ps < cubic->min_rtt_ps)
		cubic->min_rtt_ps = rtt_ps;
	if (!tcp->config.hystart || tcp->cwnd >= tcp->ssthresh)
		return;
	ack = (struct wh_sim_hystart_ack){
		.now_ps = now_ps,
		.una = tcp->una,
		.next = tcp->next,
		.rtt_ps = rtt_ps,
		.min_rtt_ps = cubic->min_rtt_ps,
		.cwnd_pkts = tcp->cwnd,
		.pace_bytes_ps =
			2 * tcp->cwnd * tcp->config.segment_bytes / seconds(tcp->rack.srtt_ps),
	};
	if (wh_sim_hystart_ends(&cubic->hystart, &ack))
		tcp->ssthresh = fmax(tcp->cwnd, 2);
}

/* Fast convergence: a flow whose window shrinks releases bandwidth to others. */
static double keep(struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;

	WH_ASSERT(window_pkts > 0);
	if (why == WH_SIM_CUT_BY_TIMEOUT)
		wh_sim_cubic_init(cubic);
	else if (window_pkts < cubic->w_max_pkts)
		cubic->w_max_pkts = window_pkts * (1 + BETA) / 2;
	else
		cubic->w_max_pkts = window_pkts;
	cubic->epoch_ps = WH_SIM_NEVER_PS;
	return window_pkts * BETA;
}

const struct wh_sim_tcp_ops wh_sim_tcp_cubic_linux = {
	.name = "cubic",
	.ack = wh_sim_rack_ack,
	.send = wh_sim_rack_send,
	.note_sent = wh_sim_rack_note_sent,
	.expire = wh_sim_rack_expire,
	.grow = grow,
	.keep = keep,
	.round_trip = take_round_trip,
};
