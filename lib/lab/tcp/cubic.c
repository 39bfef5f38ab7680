/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/arith.h"
#include "base/assert.h"
#include "lab/tcp/tcp_internal.h"

/*
 * CUBIC twice: in congestion avoidance the window follows a cubic of the time since the latest
 * loss, flat where that loss was.
 *
 * By RFC 9438, with the loss recovery of SACK and plain slow start.
 *
 * As in Linux, 5.0 to 6.18, with Linux's recovery (rack.c): slow start grows by the acknowledged
 * segments and may be ended by HyStart; the cubic is evaluated the least round-trip time ahead, not
 * the latest; before any loss, or without one since a timeout, the window grows by at least a
 * twentieth per round trip; the estimate of Reno's window always grows by 8 / 15 per round trip;
 * and constants are in 1024ths.
 */

#define C            0.4
#define BETA         0.7
#define MOST_PER_RTT 1.5 /* times the window, section 4.2 */

#define LINUX_C      (410 / 1024.0)
#define LINUX_BETA   (717 / 1024.0)
#define RENO_GROWTH  (8 / 15.0)
#define ACKS_MOST    100.0 /* windows of acknowledgements per segment: practically no growth */
#define ACKS_FIRST   20.0  /* acknowledgements per segment, without a loss */
#define ACKS_LEAST   2.0
#define RTT_DOUBT_PS WH_PS_PER_S /* after a loss, round-trip times are ignored for this long */

void wh_sim_cubic_init(struct wh_sim_cubic *cubic)
{
	*cubic = (struct wh_sim_cubic){.epoch_ps = WH_SIM_NEVER_PS};
}

/* Equation (1). */
double wh_sim_cubic_window(const struct wh_sim_cubic *cubic, double c, double t_s)
{
	double away_s = t_s - cubic->k_s;

	return c * away_s * away_s * away_s + cubic->origin_pkts;
}

/*
 * Equation (2): flat at the latest loss's window, or at the current one where that is larger, as
 * after a timeout, or before any loss (section 4.8).
 */
static void begin_epoch(struct wh_sim_tcp *tcp, uint64_t now_ps, double c)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;

	if (cubic->epoch_ps != WH_SIM_NEVER_PS)
		return;
	cubic->epoch_ps = now_ps;
	cubic->w_est_pkts = tcp->cwnd;
	cubic->origin_pkts = fmax(cubic->w_max_pkts, tcp->cwnd);
	cubic->k_s = wh_cbrt((cubic->origin_pkts - tcp->cwnd) / c);
}

/* Section 4.3, equation (4): the window that Reno would have at the same loss rate. */
static void estimate_reno(struct wh_sim_tcp *tcp)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;
	double alpha = cubic->w_est_pkts < cubic->prior_cwnd_pkts ? 3 * (1 - BETA) / (1 + BETA) : 1;

	cubic->w_est_pkts += alpha * (double)tcp->acked_pkts / tcp->cwnd;
}

static void grow(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;

	if (tcp->cwnd < tcp->ssthresh) {
		tcp->cwnd += 1;
		return;
	}
	if (tcp->cut == WH_SIM_CUT_NEVER && tcp->config.max_ssthresh_pkts > 0) {
		tcp->cwnd += wh_sim_tcp_limited_slow_start(tcp);
		return;
	}
	begin_epoch(tcp, now_ps, C);
	WH_ASSERT(now_ps >= cubic->epoch_ps && tcp->cwnd >= 1);
	estimate_reno(tcp);

	double t_s = wh_ps_to_seconds(now_ps - cubic->epoch_ps);
	double target = wh_sim_cubic_window(cubic, C, t_s + wh_ps_to_seconds(tcp->rto.sample_ps));

	if (wh_sim_cubic_window(cubic, C, t_s) < cubic->w_est_pkts) {
		tcp->cwnd = fmax(tcp->cwnd, cubic->w_est_pkts);
		return;
	}
	target = fmin(fmax(target, tcp->cwnd), MOST_PER_RTT * tcp->cwnd);
	tcp->cwnd += (target - tcp->cwnd) / tcp->cwnd;
}

/*
 * Sections 4.6 to 4.8; fast convergence: a flow whose window shrinks releases bandwidth to others.
 */
static double keep_beta(
	struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why, double beta)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;

	WH_ASSERT(window_pkts > 0);
	if (why == WH_SIM_CUT_BY_TIMEOUT)
		cubic->w_max_pkts = 0;
	else if (window_pkts < cubic->w_max_pkts)
		cubic->w_max_pkts = window_pkts * (1 + beta) / 2;
	else
		cubic->w_max_pkts = window_pkts;
	cubic->prior_cwnd_pkts = window_pkts;
	cubic->epoch_ps = WH_SIM_NEVER_PS;
	return window_pkts * beta;
}

static double keep(struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why)
{
	return keep_beta(tcp, window_pkts, why, BETA);
}

static double linux_keep(struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why)
{
	if (why == WH_SIM_CUT_BY_TIMEOUT)
		wh_sim_cubic_init(&tcp->cubic);
	return keep_beta(tcp, window_pkts, why, LINUX_BETA);
}

/* Acknowledgements per segment of growth. */
static double acks_for_one(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;
	double t_s = wh_ps_to_seconds(now_ps - cubic->epoch_ps + cubic->min_rtt_ps);
	double target = wh_sim_cubic_window(cubic, LINUX_C, t_s);
	double acks = target > tcp->cwnd ? tcp->cwnd / (target - tcp->cwnd) : ACKS_MOST * tcp->cwnd;

	if (cubic->w_max_pkts == 0)
		acks = fmin(acks, ACKS_FIRST);
	cubic->w_est_pkts += RENO_GROWTH * (double)tcp->acked_pkts / tcp->cwnd;
	if (cubic->w_est_pkts > tcp->cwnd)
		acks = fmin(acks, tcp->cwnd / (cubic->w_est_pkts - tcp->cwnd));
	return fmax(acks, ACKS_LEAST);
}

static void linux_grow(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	if (tcp->cwnd < tcp->ssthresh) {
		double grown = fmin(tcp->cwnd + (double)tcp->acked_pkts, tcp->ssthresh);

		tcp->acked_pkts -= (uint64_t)(grown - tcp->cwnd);
		tcp->cwnd = grown;
		if (tcp->acked_pkts == 0 || tcp->cwnd < tcp->ssthresh)
			return;
	}
	begin_epoch(tcp, now_ps, LINUX_C);
	WH_ASSERT(now_ps >= tcp->cubic.epoch_ps && tcp->cwnd >= 1);
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
		.pace_bytes_ps = 2 * tcp->cwnd * tcp->config.segment_bytes /
				 wh_ps_to_seconds(tcp->rack.srtt_ps),
	};
	if (wh_sim_hystart_ends(&cubic->hystart, &ack))
		tcp->ssthresh = fmax(tcp->cwnd, 2);
}

const struct wh_sim_tcp_ops wh_sim_tcp_cubic = {
	.name = "cubic",
	.ack = wh_sim_tcp_sack_ack,
	.send = wh_sim_tcp_sack_send,
	.timeout = wh_sim_tcp_sack_timeout,
	.grow = grow,
	.keep = keep,
};

const struct wh_sim_tcp_ops wh_sim_tcp_cubic_linux = {
	.name = "cubic",
	.ack = wh_sim_rack_ack,
	.send = wh_sim_rack_send,
	.note_sent = wh_sim_rack_note_sent,
	.expire = wh_sim_rack_expire,
	.grow = linux_grow,
	.keep = linux_keep,
	.round_trip = take_round_trip,
};
