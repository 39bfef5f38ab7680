/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "lab/tcp/tcp_internal.h"

/* HighSpeed TCP, RFC 3649, on SACK, optionally with limited slow start. */

static void grow(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	(void)now_ps;
	if (tcp->cwnd < tcp->ssthresh) {
		tcp->cwnd += 1;
		return;
	}

	double increase = wh_highspeed_increase(&tcp->highspeed, tcp->cwnd) / tcp->cwnd;

	tcp->cwnd += fmax(increase, wh_sim_tcp_limited_slow_start(tcp));
}

/* The first loss, and one in slow start, follows a doubling of the window. */
static double keep(struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why)
{
	bool doubled = tcp->cut == WH_SIM_CUT_NEVER || tcp->cwnd < tcp->ssthresh;

	if (doubled || why == WH_SIM_CUT_BY_TIMEOUT)
		return window_pkts / 2;
	return window_pkts * (1 - wh_highspeed_decrease(&tcp->highspeed, tcp->cwnd));
}

const struct wh_sim_tcp_ops wh_sim_tcp_highspeed = {
	.name = "highspeed",
	.ack = wh_sim_tcp_sack_ack,
	.send = wh_sim_tcp_sack_send,
	.timeout = wh_sim_tcp_sack_timeout,
	.grow = grow,
	.keep = keep,
};
