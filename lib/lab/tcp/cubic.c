/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/arith.h"
#include "base/assert.h"
#include "lab/tcp/tcp_internal.h"

/*
 * CUBIC, RFC 9438, with the loss recovery of SACK and plain slow start: in congestion avoidance
 * the window follows a cubic of the time since the latest loss, flat where that loss was.
 */

#define C            0.4
#define BETA         0.7
#define MOST_PER_RTT 1.5 /* times the window, section 4.2 */

void wh_sim_cubic_init(struct wh_sim_cubic *cubic)
{
	*cubic = (struct wh_sim_cubic){.epoch_ps = WH_SIM_NEVER_PS};
}

/* Equation (1). */
double wh_sim_cubic_window(const struct wh_sim_cubic *cubic, double t_s)
{
	double away_s = t_s - cubic->k_s;

	return C * away_s * away_s * away_s + cubic->w_max_pkts;
}

/* Equation (2); after a timeout, or before any loss, the cubic begins flat (section 4.8). */
static void begin_epoch(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;

	cubic->epoch_ps = now_ps;
	cubic->w_est_pkts = tcp->cwnd;
	if (tcp->cwnd < cubic->w_max_pkts) {
		cubic->k_s = wh_cbrt((cubic->w_max_pkts - tcp->cwnd) / C);
	} else {
		cubic->k_s = 0;
		cubic->w_max_pkts = tcp->cwnd;
	}
	WH_ASSERT(cubic->k_s >= 0 && cubic->w_max_pkts >= tcp->cwnd);
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
	if (cubic->epoch_ps == WH_SIM_NEVER_PS)
		begin_epoch(tcp, now_ps);
	WH_ASSERT(now_ps >= cubic->epoch_ps && tcp->cwnd >= 1);
	estimate_reno(tcp);

	double t_s = (double)(now_ps - cubic->epoch_ps) / (double)WH_PS_PER_S;
	double rtt_s = (double)tcp->rto.sample_ps / (double)WH_PS_PER_S;

	if (wh_sim_cubic_window(cubic, t_s) < cubic->w_est_pkts) {
		tcp->cwnd = fmax(tcp->cwnd, cubic->w_est_pkts);
		return;
	}

	double target = wh_sim_cubic_window(cubic, t_s + rtt_s);

	target = fmin(fmax(target, tcp->cwnd), MOST_PER_RTT * tcp->cwnd);
	tcp->cwnd += (target - tcp->cwnd) / tcp->cwnd;
}

/*
 * Sections 4.6 to 4.8; fast convergence: a flow whose window shrinks releases bandwidth to others.
 */
static double keep(struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why)
{
	struct wh_sim_cubic *cubic = &tcp->cubic;

	if (why == WH_SIM_CUT_BY_TIMEOUT)
		cubic->w_max_pkts = 0;
	else if (window_pkts < cubic->w_max_pkts)
		cubic->w_max_pkts = window_pkts * (1 + BETA) / 2;
	else
		cubic->w_max_pkts = window_pkts;
	WH_ASSERT(window_pkts > 0);
	cubic->prior_cwnd_pkts = window_pkts;
	cubic->epoch_ps = WH_SIM_NEVER_PS;
	return window_pkts * BETA;
}

const struct wh_sim_tcp_ops wh_sim_tcp_cubic = {
	.name = "cubic",
	.ack = wh_sim_tcp_sack_ack,
	.send = wh_sim_tcp_sack_send,
	.timeout = wh_sim_tcp_sack_timeout,
	.grow = grow,
	.keep = keep,
};
