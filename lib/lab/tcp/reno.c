/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/tcp_internal.h"

/*
 * Reno: fast recovery (RFC 2001) ends with the first acknowledgement of new segments. A second
 * loss in the same window waits for the timer.
 */

void wh_sim_tcp_reno_duplicate(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	tcp->duplicates++;
	if (tcp->duplicates < WH_SIM_DUPLICATES) {
		wh_sim_tcp_send_limited(tcp, now_ps);
	} else if (tcp->duplicates > WH_SIM_DUPLICATES) {
		if (tcp->cut == WH_SIM_CUT_BY_DUPLICATES)
			tcp->reno.inflation_pkts++;
	} else if (wh_sim_tcp_may_cut(tcp)) {
		wh_sim_tcp_fast_retransmit(tcp, now_ps);
		tcp->reno.inflation_pkts = WH_SIM_DUPLICATES;
	}
}

static void reno_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment)
{
	if (segment->pn > tcp->una) {
		if (tcp->cut == WH_SIM_CUT_BY_DUPLICATES)
			tcp->cut = WH_SIM_CUT_REPAIRED;
		tcp->reno.inflation_pkts = 0;
		wh_sim_tcp_new_ack(tcp, now_ps, segment->pn);
	} else if (segment->pn == tcp->una) {
		wh_sim_tcp_reno_duplicate(tcp, now_ps);
	}
	if (tcp->duplicates == 0 || tcp->duplicates >= WH_SIM_DUPLICATES)
		wh_sim_tcp_send_window(tcp, now_ps, 0);
}

const struct wh_sim_tcp_ops wh_sim_tcp_reno = {
	.name = "reno",
	.ack = reno_ack,
	.send = wh_sim_tcp_send_window,
	.grow = wh_sim_tcp_grow_reno,
	.keep = wh_sim_tcp_keep_half,
};
