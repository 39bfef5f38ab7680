/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/assert.h"
#include "lab/tcp/tcp_internal.h"

/*
 * Reno: fast recovery (RFC 2001) ends with the first acknowledgement of new segments. A second
 * loss in the same window waits for the timer.
 */

/* Limited transmit, fast retransmit, or inflation by one segment that has left the path. */
static void duplicate(struct wh_sim_tcp *tcp, uint64_t now_ps)
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

static void new_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t end)
{
	if (tcp->reno.inflation_pkts > 0 && tcp->cut == WH_SIM_CUT_BY_DUPLICATES)
		tcp->cut = WH_SIM_CUT_REPAIRED;
	tcp->reno.inflation_pkts = 0;
	tcp->reno.partial = false;
	wh_sim_tcp_new_ack(tcp, now_ps, end);
}

static void reno_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment)
{
	if (segment->pn > tcp->una) {
		new_ack(tcp, now_ps, segment->pn);
	} else if (segment->pn == tcp->una) {
		duplicate(tcp, now_ps);
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

/*
 * NewReno, RFC 6582: an acknowledgement of only a part of what was outstanding at the loss is
 * partial; it triggers the retransmission of the next hole, one per round trip. The careful
 * variant; only the first partial acknowledgement restarts the timer ("impatient").
 */

/* In recovery, so that it sends at least a segment per round trip. */
#define RECOVERY_BURST_PKTS 2

/* Deflates the window by the acknowledged segments, plus one for the retransmission. */
static void deflate(struct wh_sim_tcp *tcp, uint64_t acked_pkts)
{
	uint32_t inflation = tcp->reno.inflation_pkts;

	if (inflation > acked_pkts) {
		tcp->reno.inflation_pkts -= (uint32_t)(acked_pkts - 1);
	} else {
		tcp->cwnd = fmax(tcp->cwnd - (double)(acked_pkts - inflation), 1);
		tcp->reno.inflation_pkts = 1;
	}
}

static void partial_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t end)
{
	WH_ASSERT(end > tcp->una && end < tcp->recover);
	if (!tcp->reno.partial) {
		tcp->reno.partial = true;
		wh_sim_tcp_set_timer(tcp, now_ps);
	}
	deflate(tcp, end - tcp->una);
	tcp->una = end;
	if (tcp->next < end)
		tcp->next = end;
	wh_sim_rto_acked_in_recovery(&tcp->rto, end);
	wh_sim_tcp_put(tcp, now_ps, end);
}

static void newreno_ack(
	struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment)
{
	if (segment->pn > tcp->una) {
		if (segment->pn >= tcp->recover || tcp->cut != WH_SIM_CUT_BY_DUPLICATES)
			new_ack(tcp, now_ps, segment->pn);
		else
			partial_ack(tcp, now_ps, segment->pn);
	} else if (segment->pn == tcp->una) {
		duplicate(tcp, now_ps);
	}
	if (tcp->duplicates == 0)
		wh_sim_tcp_send_window(tcp, now_ps, 0);
	else if (tcp->duplicates >= WH_SIM_DUPLICATES)
		wh_sim_tcp_send_window(tcp, now_ps, RECOVERY_BURST_PKTS);
}

const struct wh_sim_tcp_ops wh_sim_tcp_newreno = {
	.name = "newreno",
	.ack = newreno_ack,
	.send = wh_sim_tcp_send_window,
	.grow = wh_sim_tcp_grow_reno,
	.keep = wh_sim_tcp_keep_half,
};
