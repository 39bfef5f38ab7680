/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/arith.h"
#include "base/assert.h"
#include "tcp/internal.h"

/*
 * HighSpeed TCP, RFC 3649: above a window of `low` a round trip adds a(w) segments and a loss
 * takes b(w) of the window. p(w), the loss rate at which w is the mean window, is a straight line
 * between two points on a log-log scale, b(w) one over log w (section 5). As in ns-2 the lower
 * point is 1.5 / low^2, Reno's own, for which the RFC writes 1e-3: so a(low) is 1. Beyond `high`,
 * where the RFC's table ends, b stays: its line would be below 0 from seven times that on, and what
 * 100 Gb/s hold in a second is a hundred times that.
 */

void wh_sim_highspeed_init(
	struct wh_sim_highspeed *highspeed, const struct wh_sim_tcp_config *config)
{
	double low = config->highspeed_low_pkts;
	double low_p = 1.5 / (low * low);
	double log_range = wh_log(config->highspeed_high_pkts / low);

	WH_ASSERT(low >= 1 && log_range > 0);
	highspeed->log_p_slope = wh_log(config->highspeed_high_p / low_p) / log_range;
	highspeed->log_p_offset = wh_log(low_p) - highspeed->log_p_slope * wh_log(low);
	highspeed->decrease_slope = (config->highspeed_high_decrease - 0.5) / log_range;
	highspeed->decrease_offset = 0.5 - highspeed->decrease_slope * wh_log(low);
}

double wh_sim_highspeed_decrease(const struct wh_sim_tcp *tcp, double window_pkts)
{
	if (window_pkts <= tcp->config.highspeed_low_pkts)
		return 0.5;
	if (window_pkts >= tcp->config.highspeed_high_pkts)
		return tcp->config.highspeed_high_decrease;
	return tcp->highspeed.decrease_offset + tcp->highspeed.decrease_slope * wh_log(window_pkts);
}

double wh_sim_highspeed_increase(const struct wh_sim_tcp *tcp, double window_pkts)
{
	if (window_pkts <= tcp->config.highspeed_low_pkts)
		return 1;

	double p = wh_exp(
		tcp->highspeed.log_p_offset + tcp->highspeed.log_p_slope * wh_log(window_pkts));
	double b = wh_sim_highspeed_decrease(tcp, window_pkts);

	return window_pkts * window_pkts * p * 2 * b / (2 - b);
}

static void grow(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	(void)now_ps;
	if (tcp->cwnd < tcp->ssthresh) {
		tcp->cwnd += 1;
		return;
	}

	double increase = wh_sim_highspeed_increase(tcp, tcp->cwnd) / tcp->cwnd;

	tcp->cwnd += fmax(increase, wh_sim_tcp_limited_slow_start(tcp));
}

/* The first loss, and one in slow start, came of a window that had doubled. */
static double keep(struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why)
{
	bool doubled = tcp->cut == WH_SIM_CUT_NEVER || tcp->cwnd < tcp->ssthresh;

	if (doubled || why == WH_SIM_CUT_BY_TIMEOUT)
		return window_pkts / 2;
	return window_pkts * (1 - wh_sim_highspeed_decrease(tcp, tcp->cwnd));
}

const struct wh_sim_tcp_ops wh_sim_tcp_highspeed = {
	.name = "highspeed",
	.ack = wh_sim_tcp_sack_ack,
	.send = wh_sim_tcp_sack_send,
	.timeout = wh_sim_tcp_sack_timeout,
	.grow = grow,
	.keep = keep,
};
