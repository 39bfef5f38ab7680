/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"
#include "lab/tcp/tcp_internal.h"

/*
 * SACK as in ns-2's sack1, the predecessor of RFC 3517 (Fall and Floyd, "Simulation-based
 * comparisons of Tahoe, Reno, and SACK TCP", 1996): in recovery `pipe` counts the segments in
 * flight; while it is below the window, the lowest hole is retransmitted, each once, or a new
 * segment is sent. A hole that is lost again waits for the timer.
 */

/* Records what arrived beyond the first hole. True: something is new. */
static bool learn(struct wh_sim_tcp *tcp, const struct wh_sim_segment *segment)
{
	bool news = wh_sim_ranges_forget(&tcp->sacked.ranges, tcp->una);

	for (uint32_t i = 0; i < segment->n_sacks; i++) {
		const struct wh_sim_sack *sack = &segment->sack[i];

		if (sack->end > tcp->una &&
			wh_sim_ranges_add(&tcp->sacked.ranges, sack->first, sack->end))
			news = true;
	}
	return news;
}

static void enter_recovery(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	WH_ASSERT(!tcp->sacked.recovering && tcp->una < tcp->sent_end);
	tcp->sacked.recovering = true;
	tcp->sacked.pipe_pkts = (int64_t)(tcp->sent_end - tcp->una) - WH_SIM_DUPLICATES;
	tcp->sacked.repaired_end = tcp->una + 1;
	wh_sim_tcp_fast_retransmit(tcp, now_ps);
}

static void ack_outside(
	struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment)
{
	struct wh_sim_tcp_sacked *sacked = &tcp->sacked;

	if (segment->pn > tcp->una) {
		wh_sim_tcp_new_ack(tcp, now_ps, segment->pn);
		sacked->after_timeout = false;
		wh_sim_ranges_clear(&sacked->ranges);
	} else if (segment->pn == tcp->una && !sacked->after_timeout && learn(tcp, segment)) {
		tcp->duplicates++;
		if (tcp->duplicates < WH_SIM_DUPLICATES)
			wh_sim_tcp_send_limited(tcp, now_ps);
		else if (tcp->duplicates == WH_SIM_DUPLICATES && wh_sim_tcp_may_cut(tcp))
			enter_recovery(tcp, now_ps);
	}
	if (tcp->duplicates == 0)
		wh_sim_tcp_sack_send(tcp, now_ps, 0);
}

static void partial_ack(
	struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment)
{
	WH_ASSERT(segment->pn > tcp->una && segment->pn < tcp->recover);
	tcp->una = segment->pn;
	if (tcp->next < tcp->una)
		tcp->next = tcp->una;
	learn(tcp, segment);
	/* Two have left the path: the lost segment and its retransmission. */
	tcp->sacked.pipe_pkts--;
	tcp->rto.backoff = 1;
	wh_sim_tcp_set_timer(tcp, now_ps);
}

static void ack_inside(
	struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment)
{
	tcp->sacked.pipe_pkts--;
	if (segment->pn >= tcp->recover) {
		tcp->sacked.recovering = false;
		tcp->recover = 0;
		tcp->cut = WH_SIM_CUT_REPAIRED;
		wh_sim_tcp_advance(tcp, now_ps, segment->pn);
		wh_sim_ranges_clear(&tcp->sacked.ranges);
	} else if (segment->pn > tcp->una) {
		partial_ack(tcp, now_ps, segment);
	} else {
		learn(tcp, segment);
	}
	wh_sim_tcp_sack_send(tcp, now_ps, 0);
}

void wh_sim_tcp_sack_ack(
	struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment)
{
	if (tcp->sacked.recovering)
		ack_inside(tcp, now_ps, segment);
	else
		ack_outside(tcp, now_ps, segment);
}

/* Sends a hole or a new segment; false: the window or the application has none. */
static bool send_in_recovery(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	struct wh_sim_tcp_sacked *sacked = &tcp->sacked;
	uint64_t from = sacked->repaired_end > tcp->una ? sacked->repaired_end : tcp->una;
	uint64_t pn = wh_sim_ranges_hole(&sacked->ranges, from);
	uint64_t end = tcp->una + (uint64_t)tcp->window;

	if (pn == WH_SIM_NO_HOLE) {
		pn = tcp->next;
		if (pn >= end || !wh_sim_tcp_has(tcp, pn))
			return false;
	} else {
		if (pn >= end)
			return false;
		WH_ASSERT(pn >= tcp->una && pn < tcp->sent_end);
		sacked->repaired_end = pn + 1;
	}
	wh_sim_tcp_put(tcp, now_ps, pn);
	if (tcp->next <= pn)
		tcp->next = pn + 1;
	sacked->pipe_pkts++;
	return true;
}

void wh_sim_tcp_sack_send(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts)
{
	if (!tcp->sacked.recovering) {
		wh_sim_tcp_send_window(tcp, now_ps, burst_pkts);
		return;
	}
	while (tcp->sacked.pipe_pkts < (int64_t)tcp->cwnd && send_in_recovery(tcp, now_ps))
		continue;
}

void wh_sim_tcp_sack_timeout(struct wh_sim_tcp *tcp, uint64_t now_ps)
{
	(void)now_ps;
	tcp->sacked.recovering = false;
	tcp->sacked.after_timeout = true;
	wh_sim_ranges_clear(&tcp->sacked.ranges);
}

const struct wh_sim_tcp_ops wh_sim_tcp_sack = {
	.name = "sack",
	.ack = wh_sim_tcp_sack_ack,
	.send = wh_sim_tcp_sack_send,
	.timeout = wh_sim_tcp_sack_timeout,
	.grow = wh_sim_tcp_grow_reno,
	.keep = wh_sim_tcp_keep_half,
};
